"""What every tool must do that says it can be repeated, found out about, taken back or judged.

    def make():
        shop = Shop()  # a world of its own, each time
        return Trial(shop.order, {"article": "A-7"}, world=shop.orders, unreachable=shop.closed)

    check_tool(make)

`check_tool` tries the laws that the tool's declaration makes it subject to, each in a fresh world, through the same
performer that runs use. A broken law is an `AssertionError` that says which one, and what was seen.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AbstractContextManager
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final

from perdure.core.calls import Call, Outcome
from perdure.core.policy import Layer, Terms
from perdure.ports import Attempt
from perdure.testing.contracts import same
from perdure.tools.declaring import WORDS, Happened, NotHappened
from perdure.tools.hands import Hands
from perdure.tools.performing import ToolPerformer
from perdure.tools.tool import AnyTool

__all__ = ["Trial", "check_tool"]

KEY: Final = "key-of-the-deed"
MOST_APPROVALS: Final = 10
_DENYING: Final = Layer("the contract", effects=Terms(deny=WORDS))
_ASKING: Final = Layer("the contract", effects=Terms(ask=WORDS))


@dataclass(frozen=True)
class Trial:
    """A tool, a call of it that succeeds, and the world that the call changes."""

    tool: AnyTool
    arguments: Mapping[str, Any]
    world: Callable[[], Any] = lambda: None
    """What the world looks like now, as far as the tool changes it; without times and other things left to chance."""
    hands: Hands | None = None
    """The workspace, for a tool that needs one."""
    unreachable: Callable[[], AbstractContextManager[Any]] | None = None
    """While it is entered, the world cannot be asked. For tools with a probe."""
    _performer: list[ToolPerformer] = field(default_factory=list[ToolPerformer])

    def look(self) -> Any:
        """The world as it is now, which later calls do not change."""
        return deepcopy(self.world())

    async def call(self, *layers: Layer, approved: frozenset[str] = frozenset()) -> Outcome:
        """Call the tool as a run does; always the same deed."""
        return await self._perform(layers=layers, approved=approved)

    async def probe(self) -> Happened | NotHappened | None:
        """What the probe finds; None if nobody knows."""
        found = await self._perform(by="probe")
        if found.failure or found.output["happened"] is None:
            return None
        return Happened(found.output["output"]) if found.output["happened"] else NotHappened()

    async def undo(self, output: Any) -> Outcome:
        """Take the call back."""
        return await self._perform(by="undo", deed="undo", output=output)

    async def _perform(self, **more: Any) -> Outcome:
        if not self._performer:
            self._performer.append(ToolPerformer([self.tool], hands=self.hands))
        call = Call("tool", self.tool.name, self.arguments)
        return await self._performer[0].perform(Attempt("r_contract", "tried", 1, 1, KEY, call, **more))


Make = Callable[[], Trial]
Law = Callable[[Make], Coroutine[Any, Any, None]]


def check_tool(make: Make) -> list[str]:
    """Try all laws that hold for the tool; the names of those that were tried."""
    return asyncio.run(_checked(make))


async def _checked(make: Make) -> list[str]:
    laws = laws_for(make().tool)
    for law in laws:
        await law(make)
    return [law.__name__ for law in laws]


def laws_for(tool: AnyTool) -> list[Law]:
    """The laws that a tool's declaration makes it subject to."""
    found: list[Law] = [_it_succeeds]
    careful = tool.repeat == "never"
    if not callable(tool.repeat) and tool.repeat != "never":
        found.append(_a_repetition_changes_nothing)
    if tool.declared.probe:
        found += [_a_probe_finds_what_happened, _a_probe_finds_what_did_not_happen, _a_probe_that_cannot_look_says_so]
        found.append(_a_crash_leaves_one_effect)
    if tool.declared.undo:
        found += [_an_undo_takes_back, _an_undo_may_be_repeated]
    if tool.declared.words(careful=careful):
        found += [_what_is_denied_is_not_done, _what_is_asked_about_waits]
    return found


# ------------------------------------------------------------------------------- laws


async def _it_succeeds(make: Make) -> None:
    outcome = await make().call()
    _true(outcome.failure is None and outcome.approval is None, "the call of a trial succeeds", outcome)


async def _a_repetition_changes_nothing(make: Make) -> None:
    """Of a safe tool, and of a keyed one that is called again under its key."""
    trial = make()
    first = await trial.call()
    once = trial.look()
    again = await trial.call()
    same(trial.look(), once, "a second call of the same deed changes nothing")
    if trial.tool.repeat == "keyed":
        same(again.output, first.output, "a second call under the same key gives what the first one gave")


async def _a_probe_finds_what_happened(make: Make) -> None:
    trial = make()
    outcome = await trial.call()
    before, found = trial.look(), await trial.probe()
    _true(found != NotHappened(), "a probe never says NotHappened of what happened: it would be done twice")
    _true(found is not None, "a probe finds what happened, while the world can be reached")
    same(found, Happened(outcome.output), "Happened carries what the call gave")
    same(trial.look(), before, "a probe changes nothing")


async def _a_probe_finds_what_did_not_happen(make: Make) -> None:
    trial = make()
    before, found = trial.look(), await trial.probe()
    _true(not isinstance(found, Happened), "a probe never says Happened of what did not: it would never be done")
    same(found, NotHappened(), "a probe finds that nothing happened")
    same(trial.look(), before, "a probe changes nothing")


async def _a_probe_that_cannot_look_says_so(make: Make) -> None:
    """Whether it raises or returns something else: nobody knows."""
    for done in (False, True):
        trial = make()
        if trial.unreachable is None:
            raise AssertionError("a tool with a probe is tried while its world is unreachable: hand in `unreachable`")
        if done:
            await trial.call()
        with trial.unreachable():
            found = await trial.probe()
        same(found, None, "a probe that cannot reach the world says neither Happened nor NotHappened")


async def _a_crash_leaves_one_effect(make: Make) -> None:
    """Before the effect or after it: what follows from the probe leaves the world as one call does."""
    wanted = make()
    await wanted.call()
    for done in (False, True):
        trial = make()
        if done:
            await trial.call()
        if await trial.probe() == NotHappened():
            await trial.call()
        where = "after" if done else "before"
        same(trial.look(), wanted.look(), f"a crash {where} the effect leaves one effect")


async def _an_undo_takes_back(make: Make) -> None:
    trial = make()
    before = trial.look()
    outcome = await trial.call()
    undone = await trial.undo(outcome.output)
    _true(undone.failure is None, "an undo succeeds", undone)
    same(trial.look(), before, "an undo leaves the world as it was")


async def _an_undo_may_be_repeated(make: Make) -> None:
    """The process may die after an undo and before anybody has heard of it."""
    trial = make()
    outcome = await trial.call()
    await trial.undo(outcome.output)
    once = trial.look()
    again = await trial.undo(outcome.output)
    _true(again.failure is None, "an undo of what was undone succeeds", again)
    same(trial.look(), once, "an undo of what was undone changes nothing")


async def _what_is_denied_is_not_done(make: Make) -> None:
    trial = make()
    before = trial.look()
    outcome = await trial.call(_DENYING)
    same(outcome.failure and outcome.failure.kind, "denied", "a call whose effects are denied fails with `denied`")
    same(trial.look(), before, "what is denied is not done")


async def _what_is_asked_about_waits(make: Make) -> None:
    trial, wanted = make(), make()
    before, approved = trial.look(), frozenset[str]()
    outcome = await trial.call(_ASKING)
    for _ in range(MOST_APPROVALS):
        if outcome.approval is None:
            break
        same(trial.look(), before, "nothing is done before a person has agreed")
        approved |= {outcome.approval.digest}
        outcome = await trial.call(_ASKING, approved=approved)
    _true(bool(approved), "a call whose effects are asked about waits for a person", outcome)
    _true(outcome.failure is None and outcome.approval is None, "what was agreed to is done", outcome)
    await wanted.call()
    same(trial.look(), wanted.look(), "what was agreed to is done once")


def _true(fact: bool, law: str, seen: Outcome | None = None) -> None:  # noqa: FBT001  it is what it says
    if not fact:
        told = f": {seen.failure or seen.approval or seen.exit}" if seen else ""
        raise AssertionError(law + told[:500])
