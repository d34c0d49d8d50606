"""Plans: checked, drawn, rehearsed, made."""

from typing import Any, Literal

from typing_extensions import TypedDict

from perdure.server.answers.problems import Flaw
from perdure.server.answers.told import Range, told


@told
class Plan(TypedDict):
    """A plan in its canonical form."""

    schema: Literal["perdure.plan/1"]
    hash: str
    plan: dict[str, Any]


@told
class Checked(TypedDict):
    """What is wrong with a plan, and what it measures."""

    file: str
    ok: bool
    """Whether it can be used."""
    dialect: str
    hash: str | None
    measures: dict[str, Any] | None
    problems: list[Flaw]
    """Errors and warnings."""
    unknown_tools: list[str]


@told
class Check(TypedDict):
    """Plans that were checked; here it is one."""

    schema: Literal["perdure.check/1"]
    plans: list[Checked]


@told
class Drawing(TypedDict):
    """A picture of a plan."""

    schema: Literal["perdure.drawing/1"]
    form: Literal["tree", "mermaid", "svg", "html"]
    drawing: str


@told
class Planned(TypedDict):
    """A plan for a goal, who made it and why, and what stands in its way."""

    schema: Literal["perdure.planned/1"]
    planner: str
    why: list[str]
    asks: list[str]
    """What a person is asked for first."""
    leaves_out: list[str]
    """What the goal says and the plan does not do."""
    problems: list[Flaw]
    plan: dict[str, Any]
    numbered: dict[str, Any] | None
    """The same plan as a numbered one, where it was made so."""


@told
class StepExit(TypedDict):
    """A step, and how it would end."""

    step: str
    exit: str


@told
class StepText(TypedDict):
    """A step, and something that is said of it."""

    step: str
    text: str


@told
class Rehearsal(TypedDict):
    """What a plan would do, as far as that can be foreseen."""

    schema: Literal["perdure.rehearsal/1"]
    status: str
    """How it would end; `unforeseen`: it failed on something that is assumed."""
    failure: str | None
    output: Any
    steps: list[StepExit]
    deeds: list[dict[str, Any]]
    """What would be read, written, run, connected to and used, and what the rules say about it."""
    questions: list[StepText]
    outside: list[StepText]
    """Which values of a call came from outside."""
    unforeseen: list[StepText]
    """What had to be assumed."""
    costs: dict[str, float]
    diff: str
    """What would change in the workspace."""
    lacks: list[Flaw]
    """What would stand in its way."""


@told
class Basis(TypedDict):
    """What an estimate rests on."""

    runs: int
    """Earlier runs of the same plan."""
    steps: dict[str, int]
    """How many steps rest on `history`, how many on what is `declared`, and of how many it is a `guess`."""
    guessed: list[str]
    open_ended: list[str]
    """Maps of which nobody knows how many items they will have."""
    simulated: int
    counted: int
    """Simulated runs that the numbers are of: those that succeed, or all if hardly any does."""


@told
class Estimate(TypedDict):
    """What a plan will take. Times are in seconds."""

    schema: Literal["perdure.estimate/1"]
    plan: str
    goal: str
    seconds: Range
    """In which somebody is at work."""
    elapsed: Range
    """From the beginning to the end, with what is waited for."""
    waiting: Range
    """For people."""
    tokens: Range
    usd: Range
    unpriced: bool
    """Whether models are asked whose price nobody knows."""
    calls: Range
    steps: Range
    megabytes: Range
    at_once: Range
    succeeds: float
    """How many of the runs succeed, as a share."""
    guess: bool
    """Whether some of it is a guess."""
    basis: Basis
    budget: list[dict[str, Any]]
    """For each limit of the budget, whether it suffices."""
    capacity: list[dict[str, Any]]
    """What more of something would gain."""
    advice: list[str]
