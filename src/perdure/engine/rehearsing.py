"""A rehearsal: a plan is walked from its start to its end, and nothing is done to the world.

What changes files, and nothing else, is done for real on a copy of the workspace. Everything else is judged, and then
assumed: what an earlier run gave at the same step, or the plainest value that the tool's or the step's schema allows.
People say yes, signals come, clocks jump, secrets are some text. Whatever had to be assumed is told.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from perdure.core import events as e
from perdure.core.accepting import Look, Message
from perdure.core.allowing import branches_around, layers_around
from perdure.core.calls import Call, Outcome
from perdure.core.cells import Cell
from perdure.core.deciding import Moment
from perdure.core.origins import explained, origins, told
from perdure.core.policy import OURSELVES, Judgement, Layer
from perdure.core.seeing import call_of, output_of
from perdure.core.state import Rules, State
from perdure.core.turn import Command, StartAttempt, pending, status_of, turn
from perdure.core.values import keep
from perdure.engine.assuming import Assumptions, Over, StandIns, assumed_answer
from perdure.engine.secrets import Secrets, redacted
from perdure.plan.model.steps import Working
from perdure.plan.sampling import sample
from perdure.ports import Attempt
from perdure.runtime.keys import key_of
from perdure.tools import AnyTool, ToolPerformer

RUN: Final = "r_rehearsal"
MOST_TURNS: Final = 100_000
"""So much is walked; a plan that goes on for longer is told so far."""
ASSUMED: Final = "assumed"
"""The word for a value that nobody has given."""
COSTS: Final = ("seconds", "usd", "tokens", "calls")


@dataclass(slots=True)
class Rehearsal:
    """What a plan would do, as far as that can be foreseen."""

    status: str = ""
    """How it would end: `succeeded`, `failed`, …; or how far the walk came.

    `unforeseen`: it failed on something that is assumed.
    """
    failure: str = ""
    output: Any = None
    steps: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Steps in the order of their ends, with their exits."""
    deeds: list[Judgement] = field(default_factory=list[Judgement])
    """What would be read, written, run, connected to and used, and what the rules say about it."""
    questions: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """What people would be asked, by step."""
    outside: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Which values of a call came from outside, and from which step, by step."""
    unforeseen: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """What had to be assumed, by step."""
    costs: dict[str, float] = field(default_factory=dict[str, float])
    """What the steps on the way are declared to take, all together."""
    diff: str = ""
    """What would change in the workspace."""


class Walk:
    """Carries one rehearsal out."""

    def __init__(
        self,
        rules: Rules,
        performer: ToolPerformer,
        layers: tuple[Layer, ...],
        recorded: Mapping[str, Any],
        secrets: Secrets,
    ) -> None:
        self._performer, self._layers, self._recorded, self._secrets = performer, layers, recorded, secrets
        self._assumptions = Assumptions()
        self.state = State(RUN, rules)
        self.now = 0
        self.found = Rehearsal()

    async def through(self, started: e.RunStarted, kept: Mapping[str, bytes], now: int) -> Rehearsal:
        """From the start to the end, or as far as it goes. Nothing is ever stored: the state holds all values."""
        self.now = now
        self.state.kept.update(kept)
        self._send(started)
        for _ in range(MOST_TURNS):
            if self.state.ended is not None or not await self._go_on():
                break
        return self._told()

    def _told(self) -> Rehearsal:
        found, state = self.found, self.state
        found.status = status_of(state)
        found.output = output_of(state, state.cells[""]) if found.status == "succeeded" else None
        ended = state.ended
        if ended is not None and ended.failure is not None:
            found.failure = f"{ended.cause + ': ' if ended.cause else ''}{ended.failure.message}"
            if self._assumptions.decided(ended, state.cells[""]):
                found.status = "unforeseen"
        return found

    async def _go_on(self) -> bool:
        """Do what comes next; whether there was something."""
        state = self.state
        commands = pending(state)
        if commands:
            await self._perform(commands[0])
        elif state.questions:
            self._answer(next(iter(state.questions.values())))
        elif name := next((name for name, cells in state.waiting.items() if cells), None):
            self._signal(name)
        elif state.wake_at is not None:
            self.now = max(self.now, state.wake_at)
            self._send(Look())
        else:
            return False
        return True

    def _send(self, message: Message) -> None:
        events = turn(self.state, message, Moment(self.now))
        for event in events:
            if e.ends_step(event) and event.step:
                self.found.steps.append((event.step, event.exit))
                self._look_at(event, self.state.cells[event.step])

    def _look_at(self, event: Over, cell: Cell) -> None:
        tool = self._performer.tool_of(Call("tool", cell.traits.tool, {}))
        if why := self._assumptions.doubt(event, cell, on_files=tool is not None and tool.works_on_files):
            self.found.unforeseen.append((cell.key, why))

    # ------------------------------------------------------------ people and the outside

    def _answer(self, question: e.QuestionAsked) -> None:
        self.found.questions.append((question.step, question.text))
        value = keep(assumed_answer(question, self.state.cells[question.step]), self.state.kept)
        self._send(e.QuestionAnswered(question=question.question, value=value, by="rehearsal"))

    def _signal(self, name: str) -> None:
        step = next(iter(self.state.waiting[name]))
        self.found.unforeseen.append((step, f"waits for the signal {name}; it is assumed to come with nothing"))
        self._send(e.SignalReceived(name=name))

    # ------------------------------------------------------------ attempts

    async def _perform(self, command: Command) -> None:
        about: dict[str, Any] = {
            "step": command.step, "visit": command.visit, "attempt": command.attempt, "deed": command.deed
        }  # fmt: skip
        outcome = await self._outcome(command)
        end: dict[str, Any] = {"exit": outcome.exit, "failure": outcome.failure}
        if command.deed == "do" and outcome.approval is not None:
            end["approval"] = explained(outcome.approval, self.state.cells[command.step], self._performer.outside)
        self._send(e.AttemptEnded(**about, output=keep(outcome.output, self.state.kept), **end))

    async def _outcome(self, command: Command) -> Outcome:
        if command.deed == "judge":
            self.found.unforeseen.append((command.step, "is judged by a tool, which is assumed to be content"))
            return Outcome(output=True)
        if command.deed != "do" or not isinstance(command, StartAttempt):
            return Outcome()
        cell = self.state.cells[command.step]
        try:
            attempt = self._attempt(command, cell)
        except Exception as error:  # noqa: BLE001  as the runner has it: a secret that is not there
            self._assumptions.certain.add(cell.key)
            return Outcome.failed("invalid", f"it could not begin: {error}")
        self._count(cell, attempt.call)
        if attempt.number == 1:
            self._trace(cell, self._performer.tool_of(attempt.call))
        outcome = redacted(self._secrets.redactor, await self._done_or_assumed(cell, attempt))
        self.found.deeds.extend(outcome.judged)
        if any(each.verdict == "deny" and each.by != OURSELVES for each in outcome.judged):
            self._assumptions.certain.add(cell.key)
        return outcome

    async def _done_or_assumed(self, cell: Cell, attempt: Attempt) -> Outcome:
        if not self._performer.may_rehearse(attempt):
            return await self._assumed(cell, attempt, self._performer.tool_of(attempt.call))
        if cell.traits.wants_secrets:
            self.found.unforeseen.append((cell.key, "is done with other texts in place of its secrets"))
        return await self._performer.perform(attempt)

    def _attempt(self, command: StartAttempt, cell: Cell) -> Attempt:
        call = cell.work.call or call_of(self.state, cell)
        if cell.traits.literal is None and cell.traits.wants_secrets:
            call = call_of(self.state, cell, StandIns(self._secrets))
        key = key_of(RUN, command.step, command.visit, cell.work.digest)
        layers = layers_around(cell, self._layers)
        return Attempt(
            RUN, command.step, command.visit, command.attempt, key, call,
            layers=layers, approved=frozenset(cell.work.approved), contained=branches_around(cell, layers),
        )  # fmt: skip

    def _trace(self, cell: Cell, tool: AnyTool | None) -> None:
        """Where it gets from what it hands to a tool that does something to the world, or may."""
        if tool is not None and tool.declared.effects != ():
            self.found.outside.extend((cell.key, line) for line in told(origins(cell, self._performer.outside)))

    def _count(self, cell: Cell, call: Call) -> None:
        """What it is declared to take: in the plan, or by the tool."""
        declared = cell.traits.working.estimate if cell.traits.working else None
        tool = self._performer.tool_of(call)
        of_tool = dict(tool.declared.estimate or {}) if tool is not None else {}
        for cost in COSTS:
            value = getattr(declared, cost, None) if declared is not None else None
            value = of_tool.get(cost) if value is None else value
            if value is not None:
                self.found.costs[cost] = self.found.costs.get(cost, 0) + value

    async def _assumed(self, cell: Cell, attempt: Attempt, tool: AnyTool | None) -> Outcome:
        """Nothing is done: the deeds are judged, and the result is one that might be."""
        said = Outcome()
        if tool is not None:
            said = await self._performer.judged(attempt)
            if said.failure is not None or said.approval is not None:
                return said
        value, why = self._foreseen(cell, attempt.call, tool)
        if unknown := [*(_undone(tool) if tool else ()), *([why] if why else [])]:
            self.found.unforeseen.append((cell.key, "; ".join(unknown)))
        if attempt.call.kind == "agent" or (tool is not None and tool.may_write):
            self._assumptions.are_files = True
        return Outcome(value, judged=said.judged)

    def _foreseen(self, cell: Cell, call: Call, tool: AnyTool | None) -> tuple[Any, str]:
        if cell.key in self._recorded:
            return self._recorded[cell.key], ""
        returns: Any = getattr(cell.traits.call, "returns", None)
        returns = tool.facts().returns if returns is None and tool is not None else returns
        choices = getattr(cell.step, "choices", ())
        value = choices[0] if choices else sample(returns)
        if returns == {"type": "null"}:
            return None, ""
        self._assumptions.add(cell)
        what = "an agent" if call.kind == "agent" else "a model" if call.kind == "model" else call.name
        return value, f"what {what} gives is not known; {ASSUMED}: {_short(value)}"


def _undone(tool: AnyTool) -> Iterator[str]:
    """What is not known of a call that is not made, besides what it gives."""
    if tool.declared.staged is not None:
        yield f"{tool.name} is not done, since not all of it would stay on the copy"
    if tool.declared.judges and tool.declared.foresee is None:
        yield f"what {tool.name} would touch is not known"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"  # noqa: PLR2004  a line


def outputs_of(state: State) -> Iterator[tuple[str, Any]]:
    """What each finished step of an earlier run gave, by its key."""
    for key, cell in state.cells.items():
        if key and cell.result is not None and isinstance(cell.step, Working) and cell.result.output is not None:
            yield key, cell.result.output.load(state.read)
