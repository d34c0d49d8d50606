"""A run, held by its id: it can be watched, waited for and talked to."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from perdure.engine.result import Result
from perdure.journal import follow
from perdure.ports import Entry

if TYPE_CHECKING:
    from perdure.engine.engine import Engine
    from perdure.plan.edits import AnyEdit


class RunHandle:
    """One run of an engine."""

    def __init__(self, engine: "Engine", run: str) -> None:
        self._engine = engine
        self.id = run

    async def watch(self, after: int = 0) -> AsyncIterator[Entry]:
        """Every fact of the run, those that are there and those that come, until it is over."""
        async for entry in follow(self._engine.journal, self.id, after):
            yield entry
            if entry.type == "run_ended" and entry.seq >= (await self._engine.journal.run(self.id)).head_seq:
                return  # otherwise it was opened again

    async def result(self) -> Result:
        """What became of it, once it is over. A run that waits for a person is waited for."""
        return Result(await self._engine.host.over(self.id))

    async def rested(self) -> Result:
        """As far as it comes by itself: over, paused, or waiting for a person, a signal or a later hour."""
        return Result(await self._engine.host.rested(self.id))

    @property
    def is_idle(self) -> bool:
        """Whether nothing is at work here, nor about to be: what its journal says now is all there is."""
        runner = self._engine.host.runners.get(self.id)
        return runner is None or runner.is_idle

    async def pause(self, reason: str = "", by: str = "") -> None:
        """Begin nothing new. What is at work goes on to its end."""
        await self._engine.pause(self.id, reason, by)

    async def resume(self, by: str = "", map: Mapping[str, str] | None = None) -> None:  # noqa: A002  the word users write
        """Go on after a pause; `map` says what is called otherwise now, as `Engine.resume`."""
        await self._engine.resume(self.id, by, map)

    async def retry(self, step: str = "", by: str = "", **said: Any) -> None:
        """Go on after a failure or a cancel, as `Engine.retry`: with a step, or with whatever was cut off."""
        await self._engine.retry(self.id, step, by, **said)

    async def fork(self, **wish: Any) -> "RunHandle":
        """A new run that goes its own way from where this one stood, as `Engine.fork`."""
        return await self._engine.fork(self.id, **wish)

    async def rollback(self, to: str = "", reason: str = "", by: str = "") -> None:
        """Take back what it has done, all of it or what came after a checkpoint."""
        await self._engine.rollback(self.id, to, reason, by)

    async def cancel(self, step: str = "", reason: str = "", by: str = "") -> None:
        """End the run, or one of its steps, with `cancelled`. What was done stays done."""
        await self._engine.cancel(self.id, step, reason, by)

    async def answer(self, question: str, value: Any, by: str = "", reason: str = "") -> bool:
        """Answer a question; whether that is news."""
        return await self._engine.answer(self.id, question, value, by, reason)

    async def signal(self, name: str, value: Any = None, by: str = "") -> None:
        """Tell the run that something happened outside."""
        await self._engine.signal(self.id, name, value, by)

    async def revise(self, edits: "Sequence[AnyEdit | Mapping[str, Any]]", **said: Any) -> int:
        """Edit its plan, as `Engine.revise`; the number of the new revision."""
        return await self._engine.revise(self.id, edits, **said)

    def __repr__(self) -> str:
        return f"<run {self.id}>"
