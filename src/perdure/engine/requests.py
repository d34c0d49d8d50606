"""What other processes ask of the one that owns the journal."""

import os
from collections.abc import Awaitable, Callable, Mapping
from secrets import token_hex
from typing import TYPE_CHECKING, Any, ClassVar, Final

from perdure.control import Request
from perdure.errors import PerdureError
from perdure.plan import Plan

if TYPE_CHECKING:
    from perdure.engine.engine import Engine

Reply = Mapping[str, Any]


class BadRequest(PerdureError):
    """A request cannot be understood."""

    code: ClassVar[str] = "PRD3102"
    exit_code: int = 2


class Passing(PerdureError):
    """The owner has the journal for a moment only, and begins nothing."""

    code: ClassVar[str] = "PRD3103"
    exit_code: int = 75  # EX_TEMPFAIL: the same command can succeed later


class OtherModels(PerdureError):
    """Who asks for a run means other models than the owner has."""

    code: ClassVar[str] = "PRD3109"
    exit_code: int = 75  # EX_TEMPFAIL: once the owner has left, the same command can succeed


def replies_of(engine: "Engine") -> Callable[[Request], Awaitable[Reply]]:
    """Answers requests by the engine. Each answer says who gives it, so that whoever follows sees when that changes."""
    owner = token_hex(8)

    async def reply_to(request: Request) -> Reply:
        asked = request.body
        verb = asked.get("do")
        if verb in engine.faces:
            return {"done": await engine.faces[verb](asked), "driven": not engine.idle, "owner": owner}
        known = _VERBS.get(str(verb))
        if known is None:
            raise BadRequest(f"there is no request {verb!r}", f"known are: {', '.join(_VERBS)}")
        names = {name: asked[name] for name in _FIELDS[str(verb)] if name in asked}
        missing = [name for name in _NEEDED.get(str(verb), ()) if name not in names]
        if missing:
            raise BadRequest(f"the request {verb!r} lacks {', '.join(missing)}")
        if engine.idle and verb in _BEGINNING:
            raise Passing("the process that has the journal only hands on a message", "try again")
        return {"done": await known(engine, names), "driven": not engine.idle, "owner": owner}

    return reply_to


async def _start(engine: "Engine", given: dict[str, Any]) -> Any:
    plan = _plan(given.pop("plan"))
    _refuse_other_models(engine, plan, given.pop("models", None))
    return (await engine.start(plan, given.pop("inputs", {}), **given)).id


def _refuse_other_models(engine: "Engine", plan: Plan, wanted: Mapping[str, str] | None) -> None:
    """Nobody is silently answered by another model than they have named."""
    if not wanted or not any(word in plan.canonical_json() for word in _THINKING):
        return
    here = engine.models
    if dict(wanted) != dict(here):
        told = f"it asks {_named(here)}, and this run shall be answered by {_named(wanted)}"
        raise OtherModels(told, "wait until it has left, name the same models, or another journal with --db")


_THINKING: Final = (b'"model":', b'"agent":', b'"planner":')
"""One of these is in every plan that asks a model."""


def _named(models: Mapping[str, str]) -> str:
    return ", ".join(dict.fromkeys(models.values())) or "no model"


def _plan(raw: Any) -> Plan:
    try:
        return Plan.model_validate(raw)
    except ValueError as error:
        raise BadRequest(f"what came is no plan: {error}", "send a plan's canonical JSON") from error


async def _fork(engine: "Engine", given: dict[str, Any]) -> Any:
    plan = given.pop("plan", None)
    return (await engine.fork(given.pop("run"), plan=None if plan is None else _plan(plan), **given)).id


async def _who(engine: "Engine", given: dict[str, Any]) -> Any:  # noqa: ARG001  the signature of all
    return {"pid": os.getpid(), "tools": sorted(engine.tools)}


async def _resume(engine: "Engine", given: dict[str, Any]) -> Any:
    """A run, or all of them: those that go on, and why some do not."""
    if given.get("run") is not None:
        return await engine.resume(**given)
    runs = await engine.resume(by=given.get("by", ""))
    return {"runs": runs, "left": {run: f"{why.code}: {why.message}" for run, why in engine.left.items()}}


async def _stop(engine: "Engine", given: dict[str, Any]) -> Any:
    return await engine.stop(given.get("by", ""))


async def _note(engine: "Engine", given: dict[str, Any]) -> Any:
    if given.get("kind", "lesson") not in ("lesson", "fact"):
        raise BadRequest(f"nobody notes a {given['kind']!r}", "say lesson, or fact")
    return await engine.memory.note(**given)


async def _forget(engine: "Engine", given: dict[str, Any]) -> Any:
    await engine.memory.forget(str(given["memory"]))


def _about_run(name: str) -> Callable[["Engine", dict[str, Any]], Awaitable[Any]]:
    async def about_run(engine: "Engine", given: dict[str, Any]) -> Any:
        return await getattr(engine, name)(**given)

    return about_run


_VERBS: Final[dict[str, Callable[["Engine", dict[str, Any]], Awaitable[Any]]]] = {
    "start": _start,
    "who": _who,
    "resume": _resume,
    "stop": _stop,
    "retry": _about_run("retry"),
    "fork": _fork,
    "rollback": _about_run("rollback"),
    "pause": _about_run("pause"),
    "cancel": _about_run("cancel"),
    "answer": _about_run("answer"),
    "signal": _about_run("signal"),
    "revise": _about_run("revise"),
    "note": _note,
    "forget": _forget,
}
_BEGINNING: Final = frozenset({"start", "resume", "retry", "fork", "rollback"})
"""What makes no sense where nothing is begun."""
_FIELDS: Final = {
    "start": ("plan", "inputs", "session", "seed", "workspace", "models"),
    "who": (),
    "resume": ("run", "by", "map"),
    "stop": ("by",),
    "retry": ("run", "step", "by", "edits", "why", "base", "widen"),
    "fork": ("run", "at", "step", "inputs", "by", "plan"),
    "rollback": ("run", "to", "reason", "by"),
    "pause": ("run", "reason", "by"),
    "cancel": ("run", "step", "reason", "by"),
    "answer": ("run", "question", "value", "by", "reason"),
    "signal": ("run", "name", "value", "by"),
    "revise": ("run", "edits", "by", "why", "base", "widen"),
    "note": ("text", "kind", "about", "by"),
    "forget": ("memory",),
}
_NEEDED: Final = {
    "start": ("plan",),
    "retry": ("run",),
    "fork": ("run",),
    "rollback": ("run",),
    "pause": ("run",),
    "cancel": ("run",),
    "answer": ("run", "question", "value"),
    "signal": ("run", "name"),
    "revise": ("run", "edits"),
    "note": ("text",),
    "forget": ("memory",),
}
