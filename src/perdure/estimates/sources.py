"""Where a simulated run takes from what a step takes: from earlier runs, as far as there are any.

The fewer samples there are, the more often one is drawn from what is less alike: from all calls of the same tool, then
from what the plan or the tool declares, then from a guess. So an estimate moves from one to the other by itself.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final, NamedTuple

from perdure.estimates.history import History
from perdure.estimates.past import Sample, call_key, step_key
from perdure.plan.model.parts import AgentCall, ModelCall, ToolCall
from perdure.plan.model.steps import AnyStep, AskStep, DecideStep, Leading, Working

AnyCall = ToolCall | ModelCall | AgentCall
BELIEF: Final = 1.5
"""So many samples weigh as much as what is less alike."""
DECLARED_WIDTH: Final = 0.4
"""How far off, as a power of e, what people declare usually is."""
GUESSED_WIDTH: Final = 1.0
USUAL: Final[Mapping[str, float]] = {"tool": 2.0, "model": 8.0, "agent": 60.0, "plan": 60.0}
"""Seconds of what nobody has said or seen anything about."""
MODEL_TOKENS: Final = 1_500
AGENT_TOKENS: Final = 15_000
AGENT_CALLS: Final = 6
LESS_LIKELY: Final = 0.2
"""How often a step ends with another word than success, where it has some that lead on and was never seen."""


class Drawn(NamedTuple):
    """What one try takes in a simulated run."""

    micros: int
    exit: str
    kind: str
    tokens: int
    usd: float | None
    calls: int


@dataclass(frozen=True, slots=True)
class Means:
    """What is known besides earlier runs."""

    tools: Mapping[str, Mapping[str, float]] = field(default_factory=dict[str, Mapping[str, float]])
    """What tools declare that one call takes, by name."""
    limits: Mapping[str, int] = field(default_factory=dict[str, int])
    """How many calls of a tool may be under way at once."""
    price: Callable[[str, int, int], float | None] = lambda _model, _in, _out: None
    """What a call of a model costs, with so many tokens in and out."""
    slots: int = 64
    """Attempts that may be under way at once in a run."""


class Source:
    """What one way to do a step takes."""

    __slots__ = ("_levels", "_said", "_weights", "basis", "others", "own", "words")

    def __init__(self, levels: Sequence[Sequence[Sample]], said: "Said", words: Sequence[str] = ()) -> None:
        self.own = levels[0] if levels else ()
        """Samples of this very step."""
        self._levels = [list(map(_drawn, level)) for level in levels if level]
        self._weights = [len(level) / (len(level) + BELIEF) for level in self._levels]
        self._said = said
        self.words = words
        """What else than success it may end with, if it was never seen."""
        seen = max(map(len, self._levels), default=0)
        self.basis = "history" if seen >= 3 else said.basis  # noqa: PLR2004  twice may be chance

    def draw(self, chance: Random, spread: float) -> Drawn:
        """What one try takes."""
        for level, weight in zip(self._levels, self._weights, strict=True):
            if chance.random() < weight:
                found = level[int(chance.random() * len(level))]
                return _wider(found, chance, spread * 0.25 / math.sqrt(len(level)))
        drawn = self._said.draw(chance, spread)
        if self._levels:  # how it ends is known better than how long it takes
            last = self._levels[-1][int(chance.random() * len(self._levels[-1]))]
            return drawn._replace(exit=last.exit, kind=last.kind)
        if self.words and spread and chance.random() < LESS_LIKELY:
            return drawn._replace(exit=chance.choice(self.words))
        return drawn


def _drawn(sample: Sample) -> Drawn:
    return Drawn(sample.took * 1_000, sample.exit, sample.kind, sample.tokens, sample.usd, sample.calls)


def again(sample: Sample) -> Drawn:
    """The same once more."""
    return _drawn(sample)


def _wider(drawn: Drawn, chance: Random, width: float) -> Drawn:
    return drawn._replace(micros=round(drawn.micros * math.exp(width * chance.gauss(0, 1)))) if width else drawn


@dataclass(frozen=True, slots=True)
class Said:
    """What is declared of a call, or guessed."""

    micros: int
    width: float
    basis: str
    """`declared` or `guess`."""
    tokens: int = 0
    usd: float | None = 0.0
    calls: int = 0

    def draw(self, chance: Random, spread: float) -> Drawn:
        """One that is likely."""
        width = self.width * spread
        factor = math.exp(width * chance.gauss(0, 1)) if width else 1.0
        return Drawn(round(self.micros * factor), "success", "", self.tokens, self.usd, self.calls)


class Sources:
    """Makes the sources of a plan's steps."""

    def __init__(self, history: History, means: Means) -> None:
        self._history, self._means = history, means

    def of(self, plan: str, step: AnyStep, call: AnyCall | None, usual: float | None) -> Source:
        """What a step takes by its own call. `usual`: what steps of this plan take that declare something."""
        own = self._history.of(step_key(plan, step.id))
        same = self._history.of(call_key(call)) if call is not None else ()
        return Source([each for each in (own, same) if each], self._said(step, call, usual), words_of(step))

    def way(self, step: AnyStep, call: AnyCall, usual: float | None) -> Source:
        """What another way to do a step takes."""
        same = self._history.of(call_key(call))
        return Source([same] if same else [], self._said(step, call, usual))

    def named(self, plan: str, step: AnyStep, key: str) -> Source:
        """What a plan takes that is called by name, or how long somebody or something outside is waited for."""
        own = self._history.of(step_key(plan, step.id))
        same = self._history.of(key)
        said = self._said(step, None, None) if key.startswith("plan ") else Said(0, 0.0, "guess")
        return Source([each for each in (own, same) if each], said, words_of(step))

    def _said(self, step: AnyStep, call: AnyCall | None, usual: float | None) -> Said:
        said = self._declared(step, call)
        kind = "tool" if isinstance(call, ToolCall) else "model" if isinstance(call, ModelCall) else "agent"
        seconds = said.get("seconds")
        basis = "guess" if seconds is None else "declared"
        if seconds is None:
            seconds = usual if usual is not None and kind == "tool" else USUAL["plan" if call is None else kind]
        width = DECLARED_WIDTH if basis == "declared" else GUESSED_WIDTH
        tokens, usd, calls = self._spends(said, call)
        return Said(round(seconds * 1_000_000), width, basis, tokens, usd, calls)

    def _declared(self, step: AnyStep, call: AnyCall | None) -> Mapping[str, float]:
        said = step.estimate.model_dump(exclude_none=True) if isinstance(step, Working) and step.estimate else {}
        none: Mapping[str, float] = {}
        of_tool = self._means.tools.get(call.tool, none) if isinstance(call, ToolCall) else none
        return {**of_tool, **said}

    def _spends(self, said: Mapping[str, float], call: AnyCall | None) -> tuple[int, float | None, int]:
        asks = isinstance(call, (ModelCall, AgentCall))
        usual = 0 if not asks else MODEL_TOKENS if isinstance(call, ModelCall) else AGENT_TOKENS
        tokens = round(said.get("tokens", usual))
        calls = round(said.get("calls", 0 if not asks else 1 if isinstance(call, ModelCall) else AGENT_CALLS))
        if "usd" in said or not asks:
            return tokens, said.get("usd", 0.0), calls
        model = call.model if isinstance(call, ModelCall) else "default"
        return tokens, self._means.price(model, tokens * 2 // 3, tokens // 3), calls

    def megabytes(self, step: AnyStep, call: AnyCall | None) -> float:
        """What it is declared to take of memory."""
        return self._declared(step, call).get("megabytes", 0)


def words_of(step: AnyStep) -> tuple[str, ...]:
    """What a step may well end with besides success."""
    if isinstance(step, (DecideStep, AskStep)):
        return ()
    verdicts = step.verdicts if isinstance(step, Working) else ()
    led = ("failure",) if isinstance(step, Leading) and step.on.get("failure") not in (None, "fail", "recover") else ()
    return (*verdicts, *led)
