"""What a run took: one sample for each try, each agent at work, each answer of a person. A fold over its facts."""

from collections import Counter, defaultdict
from collections.abc import Iterable

import msgspec

from perdure.core import events as e
from perdure.core.calls import Usage
from perdure.core.cells import Cell
from perdure.core.evolve import evolve
from perdure.core.ledger import told
from perdure.core.outline import Traits
from perdure.core.state import Rules, State
from perdure.plan.model.parts import AgentCall, ModelCall, ToolCall
from perdure.plan.model.steps import DecideStep, SubplanStep, WaitStep
from perdure.ports import Entry


class Sample(msgspec.Struct, frozen=True, gc=False):
    """What something took once, and how it ended."""

    took: int
    """Milliseconds, on the run's own clock."""
    exit: str = "success"
    kind: str = ""
    """The kind of failure, if it failed."""
    tokens: int = 0
    usd: float | None = 0.0
    """None: models were asked, and nobody knows the price."""
    calls: int = 0


class Past(msgspec.Struct, gc=False):
    """A run that is over, as far as others can learn from it."""

    run: str
    plan: str
    """The plan's name, or its digest."""
    digest: str = ""
    """The digest of the plan that it began with."""
    status: str = ""
    at: int = 0
    """When it began, and when it was over, in milliseconds."""
    over: int = 0
    worked: int = 0
    """Milliseconds in which somebody was at work, as a budget counts them."""
    took: int = 0
    """Milliseconds in all, pauses left out."""
    tokens: int = 0
    usd: float = 0.0
    calls: int = 0
    samples: dict[str, list[Sample]] = {}
    """By what was at work, the first one first."""
    passed: dict[str, int] = {}
    """How often steps were passed by."""
    items: dict[str, list[int]] = {}
    """How many items maps had."""


def step_key(plan: str, step: str) -> str:
    """What samples of one step of a plan are kept under."""
    return f"step {plan} {step}"


def call_key(call: ToolCall | ModelCall | AgentCall) -> str:
    """What samples of whatever a step calls are kept under."""
    match call:
        case ToolCall():
            return f"tool {call.tool}"
        case ModelCall():
            return f"model {call.model}"
        case AgentCall():
            return f"agent {call.agent}"


class Witness:
    """Sees the facts of one run go by."""

    def __init__(self, state: State) -> None:
        self.state = state
        """The run as it stands after the last fact that was seen."""
        self.plan = ""
        self.tries: Counter[str] = Counter()
        """Finished tries of each step of the plan itself, by id."""
        self.labour = 0
        """What all finished tries took, one after another."""
        self._busy = False
        self._samples: defaultdict[str, list[Sample]] = defaultdict(list)
        self._passed: defaultdict[str, int] = defaultdict(int)
        self._items: defaultdict[str, list[int]] = defaultdict(list)
        self._began: dict[str, int] = {}
        """When the try under way at each step began."""
        self._open: dict[str, tuple[Traits, Sample]] = {}
        """The last try at each step, until it is known what became of it."""
        self._spent: dict[str, Usage] = {}
        """What was spent inside of each agent that is at work."""
        self._entered: dict[str, int] = {}
        """When the visit under way of each step that is entered began."""
        self.worked = 0
        self._at = self._began_at = 0
        self._before: dict[str, int] = {}
        """What another run had spent, whose facts these were."""

    def see(self, event: e.Event) -> None:
        """The fact that the state has just taken."""
        state = self.state
        at = state.clock(state.at)
        if self._busy:
            self.worked += max(0, at - self._at)
        self._at, self._busy = at, bool(state.flying)
        self._note(event)

    def began(self, step: str) -> int:
        """When the try or the visit under way at a step began, on the run's own clock."""
        return self._began.get(step, self._entered.get(step, self._at))

    def _note(self, event: e.Event) -> None:  # noqa: C901  one line for each kind of fact that says something
        match event:
            case e.RunStarted():
                root = self.state.root
                self.plan = (root.scope.outline.plan.name if root else "") or event.plan
                self._began_at = self._at
            case e.RunForked():
                self._forget()  # the facts before it are those of another run
            case e.StepEntered():
                self._entered[event.step] = self._at
            case e.AttemptStarted(deed="do"):
                self._settle(event.step)
                self._began[event.step] = self._at
            case e.AttemptEnded(deed="do"):
                self._end_try(event)
            case e.AttemptLost(deed="do"):
                self._began.pop(event.step, None)
            case e.RetryPlanned() | e.RungTaken():
                self._settle(event.step, event.rejected.kind if event.rejected else "")
            case e.StepsGrown() if event.items is not None:
                self._items[self._step_key(self.state.cells[event.step])].append(event.items)
            case e.StepPassed():
                if (cell := self.state.cells.get(event.step)) is not None:
                    self._passed[self._step_key(cell)] += 1
            case _:
                pass
        if e.ends_step(event) and not isinstance(event, e.StepPassed):
            self._end_visit(self.state.cells[event.step])

    def _forget(self) -> None:
        for each in (self._samples, self._passed, self._items, self._began, self._open, self._spent, self._entered):
            each.clear()
        self.worked, self.labour, self._began_at = 0, 0, self._at
        self._before = dict(self.state.books.used)

    # ------------------------------------------------------------ tries

    def _end_try(self, event: e.AttemptEnded) -> None:
        cell, began = self.state.cells[event.step], self._began.pop(event.step, None)
        if began is None or event.approval is not None:
            return  # nothing was done
        usage = event.usage or Usage(calls=cell.traits.asks)
        calls = max(usage.calls, cell.traits.asks)
        usd = usage.usd if usage.usd is not None or calls else 0.0
        kind = event.failure.kind if event.failure else ""
        sample = Sample(max(0, self._at - began), event.exit, kind, usage.tokens, usd, calls)
        self._open[event.step] = (cell.traits, sample)
        self.labour += sample.took
        self.tries[cell.node.id] += 1
        for group in cell.around:
            if group.kind == "agent" or isinstance(group.step, SubplanStep):
                self._spend(group, sample)

    def _spend(self, group: Cell, sample: Sample) -> None:
        had = self._spent.get(group.key, Usage(usd=0.0))
        usd = None if had.usd is None or sample.usd is None else had.usd + sample.usd
        self._spent[group.key] = Usage(tokens=had.tokens + sample.tokens, usd=usd, calls=had.calls + sample.calls)

    def _settle(self, step: str, rejected: str = "", exit_: str = "") -> None:
        """It is known what became of a try: what it gave was not good enough, or the visit ended with a word."""
        found = self._open.pop(step, None)
        if found is None:
            return
        traits, sample = found
        if rejected or exit_ == "failure":
            sample = msgspec.structs.replace(sample, exit="failure", kind=rejected or sample.kind or "unmet")
        elif exit_:
            sample = msgspec.structs.replace(sample, exit=exit_)
        cell = self.state.cells[step]
        if traits.usual is None:
            self._keep(self._step_key(cell), sample)
        if isinstance(traits.call, (ToolCall, ModelCall, AgentCall)):
            self._keep(self._called(traits.call), sample)

    def _called(self, call: ToolCall | ModelCall | AgentCall) -> str:
        if isinstance(call, ToolCall):
            return f"tool {self.state.names.tool(call.tool)}"
        return call_key(call)

    # ------------------------------------------------------------ visits

    def _end_visit(self, cell: Cell) -> None:
        result = cell.result
        if result is None:
            return
        self._settle(cell.key, exit_=result.exit)
        key = _visited(cell)
        if not key:
            return
        spent = self._spent.pop(cell.key, Usage(usd=0.0))
        kind = result.failure.kind if result.failure else ""
        took = max(0, self._at - self._entered.pop(cell.key, self._at))
        sample = Sample(took, result.exit, kind, spent.tokens, spent.usd, spent.calls)
        self._keep(self._step_key(cell), sample)
        self._keep(key, sample)

    def _step_key(self, cell: Cell) -> str:
        """Steps that an agent has grown are known by what they call alone: their names say nothing."""
        if any(group.kind == "agent" for group in cell.around):
            return ""
        return step_key(self.identity(cell), cell.node.id)

    def identity(self, cell: Cell) -> str:
        """The plan that a step stands in."""
        outline = cell.scope.outline
        root = self.state.root
        own = root is None or outline is root.scope.outline
        return outline.plan.name or (self.plan if own else outline.digest)

    def _keep(self, key: str, sample: Sample) -> None:
        if key:
            self._samples[key].append(sample)

    # ------------------------------------------------------------ what is told

    def past(self) -> Past:
        """All that is to be learned from it."""
        state = self.state
        for step in tuple(self._open):
            self._settle(step)
        tokens, usd, calls = (told(word, self._spent_on(word)) for word in ("tokens", "usd", "calls"))
        return Past(
            state.run,
            self.plan,
            digest=state.started.plan if state.started else "",
            status=state.ended.status if state.ended else "",
            at=state.root.at if state.root else 0,
            over=state.at,
            worked=self.worked,
            took=max(0, self._at - self._began_at),
            tokens=int(tokens),
            usd=usd,
            calls=int(calls),
            samples=dict(self._samples),
            passed=dict(self._passed),
            items=dict(self._items),
        )

    def _spent_on(self, word: str) -> int:
        return self.state.books.used.get(word, 0) - self._before.get(word, 0)


def _visited(cell: Cell) -> str:
    """What a whole visit of a step is a sample of; empty: of nothing, its tries are."""
    step = cell.step
    if cell.kind == "agent" and isinstance(step, AgentCall):
        return f"agent {step.agent}"
    if cell.kind == "ask":
        return "people"
    if isinstance(step, DecideStep) and cell.kind == "mark":
        return "choice"
    if isinstance(step, SubplanStep) and isinstance(step.plan, str):
        return f"plan {step.plan}"
    if isinstance(step, WaitStep) and step.wait.signal:
        return f"signal {step.wait.signal}"
    return ""


def witnessed(run: str, entries: Iterable[Entry], rules: Rules) -> Past:
    """What a run took."""
    witness = Witness(State(run, rules))
    for entry in entries:
        event = e.decode(entry.type, entry.body)
        evolve(witness.state, event, entry.at)
        witness.see(event)
    return witness.past()
