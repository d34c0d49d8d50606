"""Runs that are observed while they are carried on: who is told of them is said by settings and by the environment."""

import os
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.util import find_spec
from typing import ClassVar, Final

from perdure.cli.codes import USAGE
from perdure.config.settings import Telling
from perdure.documents.listing import fork_of
from perdure.engine import Engine
from perdure.errors import PerdureError
from perdure.ports import Run

_NAMED: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_LIBRARY: Final = "opentelemetry.exporter.otlp.proto.http"


class NoTracing(PerdureError):
    """What sends traces is not installed."""

    code: ClassVar[str] = "PRD6070"
    exit_code: int = USAGE


@asynccontextmanager
async def observed(engine: Engine, telling: Telling) -> AsyncGenerator[None]:
    """While this lasts, those who want to know are told what happens."""
    async with AsyncExitStack() as closing:
        if wants_traces(telling):
            await _trace(engine, telling, closing)
        if telling.log:
            from perdure.observing.logged import logged  # noqa: PLC0415  only where somebody wants lines

            await closing.enter_async_context(logged(engine.journal, copied_in, telling.log))
        yield


def wants_traces(telling: Telling) -> bool:
    """Whether there is somebody to send traces to. What the environment names may be meant for other programs."""
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    if telling.traces and not _is_installed():
        raise NoTracing("what sends traces is not installed", 'pip install "perdure[otel]"')
    return bool(telling.traces) or (any(os.environ.get(each) for each in _NAMED) and _is_installed())


def _is_installed() -> bool:
    try:
        return find_spec(_LIBRARY) is not None
    except ModuleNotFoundError:
        return False


async def _trace(engine: Engine, telling: Telling, closing: AsyncExitStack) -> None:
    from perdure.observing.place import Place, directory_beside  # noqa: PLC0415  few are traced, and it loads much
    from perdure.observing.sending import Collector  # noqa: PLC0415  as above
    from perdure.observing.tracing import traced  # noqa: PLC0415  as above

    beside = directory_beside(engine.state)
    place = Place(None if beside is None else beside / "traced.json")
    await closing.enter_async_context(traced(engine.journal, copied_in, place, Collector(telling.traces)))


def copied_in(run: Run) -> int:
    """Up to which fact a run is the copy of another one."""
    return fork_of(run)[1]
