"""The loop of an agent while it runs: it stands still wherever it wants something done, until it is told what came.

A held loop can be lost at any time. What was wanted and what came of it are facts, so another one is begun, and led to
the same place: what it wants again is answered at once. If it wants something else then, it is not the same work.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import Any, Final

from perdure.agents.adapted.errors import Changed
from perdure.tools import ToolFailure

SPINS: Final = 25
"""Rounds of the event loop without a new want, after which no more are waited for."""
LONGEST: Final = 10.0
"""Seconds that a want may stay away that was there the last time, after others have come."""
GRACE: Final = 2.0
"""Seconds that an agent has to put things in order."""
FEW: Final = 200

Deed = Callable[[], Awaitable[Any]]
"""Does what is wanted, and gives it as JSON."""


@dataclass(slots=True)
class Want:
    """Something that the agent wants done."""

    told: Mapping[str, Any]
    """What it is, as facts hold it."""
    do: Deed
    answer: "asyncio.Future[Mapping[str, Any]]"
    context: Context = field(default_factory=copy_context)
    """Where the agent wants it done."""

    @property
    def id(self) -> str:
        """By what it is known again."""
        return str(self.told["id"])

    async def done(self) -> Any:
        """Do it, in a task of its own, which ends with the one that waits for it."""
        task = asyncio.get_running_loop().create_task(_awaited(self.do), context=self.context)
        try:
            return await task
        finally:
            task.cancel()


async def _awaited(do: Deed) -> Any:
    return await do()


class HeldLoop:
    """One agent at work."""

    def __init__(self, known: Sequence[Mapping[str, Any]] = (), results: Sequence[Mapping[str, Any]] = ()) -> None:
        """`known`: what was wanted in the work so far; `results`: what came of it."""
        self._known: Final = {str(each["id"]): each for each in known}
        self._results: Final = {str(each["of"]): each for each in results}
        self._missing: Final = set(self._known)
        """What was wanted, and was not wanted again yet."""
        self._open: Final[dict[str, Want]] = {}
        self._moved: Final = asyncio.Event()
        self.places: Final[dict[int, str]] = {}
        """Which want the step with a number is for."""
        self.users = 0
        """How many steps wait for it, or do what it wants."""
        self.loop: Final = asyncio.get_running_loop()
        self._task: asyncio.Task[Any] | None = None
        self._changed: Changed | None = None
        """What it wants otherwise than before; the agent may hide it, and goes on in vain."""

    def begin(self, work: Deed) -> None:
        """Let the agent work. If it is given up before, nothing has begun."""
        self._task = self.loop.create_task(_awaited(work))
        self._task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[Any]") -> None:
        if not task.cancelled():
            task.exception()  # somebody asks for it later, or nobody needs it any more
        self._moved.set()

    def close(self) -> None:
        """Give it up. The agent is told once, so that it can put things in order."""
        if self._task is not None and not self._task.cancelling():
            self._task.cancel()

    async def gone(self) -> None:
        """Give it up, and let the agent put things in order."""
        self.close()
        if self._task is not None and self.is_here:
            await asyncio.wait([self._task], timeout=GRACE)

    # ------------------------------------------------------------ what the agent sees

    async def want(self, told: Mapping[str, Any], do: Deed) -> Mapping[str, Any]:
        """Want something; what came of it. `Changed` if it was something else before."""
        want = Want(told, do, self.loop.create_future())
        self._missing.discard(want.id)
        self._moved.set()
        try:
            _check_same(self._known.get(want.id), told)
        except Changed as changed:
            self._changed = changed
            raise
        if want.id in self._results:
            return self._results[want.id]
        self._open[want.id] = want
        return await want.answer

    # ------------------------------------------------------------ what its steps see

    @property
    def is_over(self) -> bool:
        """Whether the agent has come to an end."""
        return self._task is not None and self._task.done()

    @property
    def is_here(self) -> bool:
        """Whether it can be gone on with: it belongs to the event loop that it began in."""
        return self.loop is asyncio.get_running_loop()

    @property
    def wants(self) -> list[Mapping[str, Any]]:
        """What is to be done."""
        return [each.told for each in self._open.values()]

    async def wanted(self, place: int) -> Want:
        """What a step is for. `Changed` if the agent does not have it any more."""
        id_ = self.places.get(place, "")
        if id_ not in self._open:
            await self.settled()
        if id_ not in self._open:
            raise Changed("the agent does not want any more what this step is for", ADVICE)
        return self._open[id_]

    def tell(self, results: Sequence[Mapping[str, Any]]) -> None:
        """Say what came of wants."""
        for each in results:
            want = self._open.pop(str(each["of"]), None)
            if want is not None and not want.answer.done():
                want.answer.set_result(each)

    async def settled(self) -> Any:
        """Wait until the agent wants something, or has come to its end; what it gave, or None."""
        await self._caught_up()
        while not self._open and not self.is_over:
            await self._moved.wait()
            self._moved.clear()
        await self._quiet()
        if self._changed is not None:
            raise self._changed
        if self._task is not None and self._task.done():
            return _given(self._task)
        return None

    async def _quiet(self) -> None:
        """Give those a chance to come that want something at the same time."""
        spins, seen = 0, len(self._open)
        while spins < SPINS and not self.is_over:
            await asyncio.sleep(0)
            spins, seen = (spins + 1, seen) if len(self._open) == seen else (0, len(self._open))

    async def _caught_up(self) -> None:
        """Wait until all was wanted again. `Changed` if it is not."""
        while self._missing and not self.is_over:
            try:
                async with asyncio.timeout(LONGEST if self._open else None):
                    await self._moved.wait()
            except TimeoutError:
                break
            self._moved.clear()
        if self._missing and not self._has_failed and self._changed is None:
            lost = ", ".join(sorted(map(_named, (self._known[each] for each in self._missing))))
            raise Changed(f"the agent does not want any more what it has wanted before: {lost}", ADVICE)

    @property
    def _has_failed(self) -> bool:
        task = self._task
        return task is not None and task.done() and (task.cancelled() or task.exception() is not None)


def _given(task: "asyncio.Task[Any]") -> Any:
    """What an agent gave. One that was cancelled, by itself or from outside, may do better when it is begun again."""
    if task.cancelled():
        raise ToolFailure("transient", "the agent's loop was given up before its end")
    return task.result()


ADVICE: Final = (
    "an agent has to do the same when it is told the same; put it back as it was, or let the step begin anew"
)


def _check_same(was: Mapping[str, Any] | None, now: Mapping[str, Any]) -> None:
    if was is None or was == now:
        return
    words = [word for word in ("tool", "with", "prompt") if was.get(word) != now.get(word)]
    told = [f"`{word}` was {_short(was.get(word))} and is {_short(now.get(word))}" for word in words]
    told += [f"its {each} are others" for each in _others(was.get("parts", {}), now.get("parts", {}))]
    raise Changed(f"the agent wants something else than before, in {_named(now)}: {'; '.join(told)}", ADVICE)


def _others(was: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Which parts of a question are other than they were; the messages only where nothing else is."""
    found = sorted(each for each in now if was.get(each) != now[each])
    return [each for each in found if each != "messages"] or found


def _named(told: Mapping[str, Any]) -> str:
    return str(told["tool"]) if told["kind"] == "tool" else f"question {told['id'][1:]} to its model"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= FEW else f"{text[:FEW]}…"
