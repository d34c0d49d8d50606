"""What other processes ask of the one that owns the journal."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final

from perdure.control import Request
from perdure.errors import PerdureError

if TYPE_CHECKING:
    from perdure.engine.engine import Engine

Reply = Mapping[str, Any]


class BadRequest(PerdureError):
    """A request cannot be understood."""

    code: ClassVar[str] = "PRD3102"
    exit_code: int = 2


def handler(engine: "Engine") -> Callable[[Request], Awaitable[Reply]]:
    """Answers requests by the engine."""

    async def handle(request: Request) -> Reply:
        asked = request.body
        verb = asked.get("do")
        known = _VERBS.get(str(verb))
        if known is None:
            raise BadRequest(f"there is no request {verb!r}", f"known are: {', '.join(_VERBS)}")
        names = {name: asked[name] for name in _FIELDS[str(verb)] if name in asked}
        missing = [name for name in _NEEDED.get(str(verb), ()) if name not in names]
        if missing:
            raise BadRequest(f"the request {verb!r} lacks {', '.join(missing)}")
        return {"done": await known(engine, names)}

    return handle


async def _resume(engine: "Engine", given: dict[str, Any]) -> Any:
    return await engine.resume(given.get("run"), given.get("by", ""))


async def _stop(engine: "Engine", given: dict[str, Any]) -> Any:
    return await engine.stop(given.get("by", ""))


def _about_run(name: str) -> Callable[["Engine", dict[str, Any]], Awaitable[Any]]:
    async def about_run(engine: "Engine", given: dict[str, Any]) -> Any:
        await getattr(engine, name)(**given)

    return about_run


_VERBS: Final[dict[str, Callable[["Engine", dict[str, Any]], Awaitable[Any]]]] = {
    "resume": _resume,
    "stop": _stop,
    "pause": _about_run("pause"),
    "cancel": _about_run("cancel"),
    "answer": _about_run("answer"),
    "signal": _about_run("signal"),
}
_FIELDS: Final = {
    "resume": ("run", "by"),
    "stop": ("by",),
    "pause": ("run", "reason", "by"),
    "cancel": ("run", "step", "reason", "by"),
    "answer": ("run", "question", "value", "by"),
    "signal": ("run", "name", "value", "by"),
}
_NEEDED: Final = {
    "pause": ("run",),
    "cancel": ("run",),
    "answer": ("run", "question", "value"),
    "signal": ("run", "name"),
}
