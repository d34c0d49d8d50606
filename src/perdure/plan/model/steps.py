"""The kinds of step. A step either acts, pauses, groups others, or ends its group.

The union is flat: `kind` tells which one it is. In a document `kind` may be left out, because the
key a step is written with (`tool:`, `ask:`, `steps:` …) says it already.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    model_validator,
)
from pydantic_core import PydanticCustomError

from perdure.plan.model.parts import (
    AgentCall,
    Budget,
    Call,
    Context,
    Count,
    Criterion,
    Estimate,
    Expression,
    Growth,
    Id,
    Join,
    Json,
    JsonObject,
    JsonSchema,
    Line,
    Many,
    ModelCall,
    Name,
    Part,
    Policy,
    Recovery,
    Retry,
    Seconds,
    Target,
    Text,
    ToolCall,
    Wait,
    Whole,
    Word,
)
from perdure.plan.raw import Raw, is_list, is_mapping

if TYPE_CHECKING:
    from perdure.plan.model.document import Plan

RESERVED_TARGETS: Final = ("next", "done", "fail", "recover")
RESERVED_IDS: Final = frozenset({*RESERVED_TARGETS, "in", "true", "false", "null"})
"""Targets that are no steps, and words that an expression cannot have after a dot."""

KIND_KEYS: Final = (
    "tool",
    "model",
    "agent",
    "decide",
    "ask",
    "wait",
    "checkpoint",
    "rollback",
    "map",
    "plan",
    "done",
    "fail",
)
GROUP_KEYS: Final = ("steps", "parallel")


def kinds_in(raw: Mapping[str, Raw]) -> list[str]:
    """Every kind that the keys of a raw step speak for."""
    found = [key for key in KIND_KEYS if key in raw]
    return found or (["group"] if any(key in raw for key in GROUP_KEYS) else [])


def kind_of(value: Raw) -> str | None:
    """The kind of a raw or finished step, or nothing where it cannot be told."""
    if not is_mapping(value):
        return getattr(value, "kind", None)
    written = value.get("kind")
    if isinstance(written, str):
        return written
    found = kinds_in(value)
    return found[0] if len(found) == 1 else None


def regroup(raw: Raw) -> Raw:
    """Write `parallel:` as a graph, and say which mode a list of steps is in."""
    if not is_mapping(raw) or ("parallel" not in raw and ("mode" in raw or "steps" not in raw)):
        return raw
    if "parallel" in raw:
        if "steps" in raw or raw.get("mode", "graph") != "graph":
            return raw  # both at once: refused as an unknown field
        return {"mode": "graph", "steps": raw["parallel"], **{k: v for k, v in raw.items() if k != "parallel"}}
    return {"mode": _mode_of(raw["steps"]), **raw}


def _mode_of(steps: Raw) -> str:
    children = steps if is_list(steps) else ()
    return "graph" if any(is_mapping(child) and "needs" in child for child in children) else "serial"


def _text_or_other(value: Raw) -> str:
    return "text" if isinstance(value, str) else "other"


def _just_true(value: Raw) -> Raw:
    """1 equals true in Python, but is not true."""
    if value is not True:
        raise PydanticCustomError("just_true", "Input should be true")
    return value


def _list_or_text(value: Raw) -> Raw:
    if not is_list(value) and not (isinstance(value, str) and "${" in value):
        raise PydanticCustomError("items", "Input should be a list, or ${…} that gives one")
    return value


ExpressionOrCall = Annotated[
    Annotated[Expression, Tag("text")] | Annotated[Call, Tag("other")], Discriminator(_text_or_other)
]
JustTrue = Annotated[Literal[True], BeforeValidator(_just_true)]
TextOrTrue = Annotated[Annotated[Text, Tag("text")] | Annotated[JustTrue, Tag("other")], Discriminator(_text_or_other)]
PlanOrName = Annotated["Annotated[Name, Tag('text')] | Annotated[Plan, Tag('other')]", Discriminator(_text_or_other)]

# ------------------------------------------------------------------------------- what steps share


class AnyStep(Part):
    """What every step has."""

    id: Id
    """The step's name, unique in the document."""
    title: Line = ""
    """A line for people."""
    needs: Many[Id] = ()
    """In a graph: the siblings that must be over before this step is looked at."""
    when: Expression | None = None
    """A condition, looked at once when the step would be entered; false: the step is skipped."""


class Leading(AnyStep):
    """What every step has that leads somewhere."""

    on: dict[Word, Target] = {}
    """Where each exit leads: `next`, `done`, `fail`, `recover`, or the id of a step."""
    max_visits: Count | None = None
    """How often it may be entered while its group is entered once; one more: exit `exhausted`."""


class Working(Leading):
    """What every step has that does something."""

    timeout: Seconds | None = None
    """The most that one attempt of an acting step, or one try of a group, may take."""
    retry: Retry | None = None
    """How a failed attempt is tried again; of a group: how it is done again as a whole."""
    requires: Many[Expression] = ()
    """Must hold before the step starts."""
    ensures: Many[Expression] = ()
    """Must hold after it ended with success."""
    accept: Many[Criterion] = ()
    """What its output must fulfil; not met is the failure `unmet`."""
    effects: Many[Line] = ()
    """What it changes in the world: `reads`, `writes`, `network`, `irreversible`, `costs`, or facts for planners."""
    undo: Call | None = None
    """How its effect is taken back."""
    budget: Budget | None = None
    """The most it may spend."""
    policy: Policy | None = None
    """What it may touch; can only narrow what is around it."""
    priority: Whole = 0
    """Among steps that could start, higher goes first, whatever they are expected to take."""
    context: Context | None = None
    """Which earlier results its model or agent is shown: `all`, `needs`, a list of steps, or `{from, tokens}`."""
    estimate: Estimate | None = None
    """What one visit is expected to take; by `seconds` a graph with a `limit` begins the longest way first."""
    skills: Many[Name] = ()
    """What its agent, or a tool that stands in for its own when that fails, must be able to do."""
    locks: Many[Name] = ()
    """Named resources it holds alone, from its start to its end."""
    verdicts: Many[Word] = ()
    """Words, beside `success` and `failure`, that it may end with."""
    alternates: Many[Call] = ()
    """Other ways to do it, tried in order when this way fails."""
    simpler: Call | None = None
    """A lighter way to do it."""
    relaxed: Many[Criterion] = ()
    """Criteria that will do instead of `accept`."""
    recovery: Recovery = {}
    """What to try when it fails, by kind of failure."""
    seed: Whole | None = None
    """Fixes its random numbers."""


class Grouping(Working):
    """What every step has that holds other steps."""

    mode: Literal["serial", "graph"] = "serial"
    """`serial`: one after another, jumps and loops allowed. `graph`: by `needs`, at once where possible."""
    join: Join = "all"
    """In a graph, when it is over."""
    limit: Count | None = None
    """In a graph, how many steps may be live at once."""
    losers: Literal["undo", "keep"] = "undo"
    """What becomes of the finished effects of steps that turned out not to be wanted."""
    exit: Expression | None = None
    """Gives the word the group ends with, instead of `success`."""

    @model_validator(mode="before")
    @classmethod
    def _regroup(cls, raw: Raw) -> Raw:
        return regroup(raw)


# ------------------------------------------------------------------------------- steps that act


class Growing(Working):
    """What every step has that may add to the plan."""

    grows: Growth | None = None
    """Lets its result add steps to the plan."""


class ToolStep(Growing, ToolCall):
    """Call a tool."""

    kind: Literal["tool"] = "tool"
    """Always `tool`."""


class ModelStep(Growing, ModelCall):
    """Call a language model once."""

    kind: Literal["model"] = "model"
    """Always `model`."""


class AgentStep(Growing, AgentCall):
    """Give a piece of work to an agent; it grows into steps of its own."""

    kind: Literal["agent"] = "agent"
    """Always `agent`."""
    losers: Literal["undo", "keep"] = "undo"
    """What becomes of the finished effects of ways it tried and dropped."""


class DecideStep(Working):
    """Choose one of the declared choices; it becomes the exit."""

    kind: Literal["decide"] = "decide"
    """Always `decide`."""
    decide: ExpressionOrCall
    """An expression that gives the choice, or the tool, model or agent that chooses."""
    choices: Annotated[Many[Word], Field(min_length=1)]
    """All words it may give; any other is the failure `invalid`."""


# ------------------------------------------------------------------------------- steps that pause


class AskStep(Working):
    """Ask a person."""

    kind: Literal["ask"] = "ask"
    """Always `ask`."""
    ask: Text
    """The question; may hold `${…}`."""
    answer: Literal["approval", "choice", "text", "form"] = "approval"
    """What kind of answer; told by `choices` and `form` where it is left out."""
    choices: Many[Word] = ()
    """The answers to choose from; the chosen one becomes the exit."""
    form: JsonSchema | None = None
    """JSON Schema of the answer."""
    deadline: Seconds | None = None
    """How long the answer may take; then `default`, or else the exit `expired`."""
    default: Json = None
    """The answer when nobody answers in time."""
    to: Many[Line] = ()
    """Who may answer; left out: anybody."""

    @model_validator(mode="before")
    @classmethod
    def _tell_answer(cls, raw: Raw) -> Raw:
        if not is_mapping(raw) or "answer" in raw:
            return raw
        told = "choice" if raw.get("choices") else "form" if raw.get("form") is not None else "approval"
        return {**raw, "answer": told}


class WaitStep(Leading):
    """Wait for a time, an outside signal, or whichever comes first."""

    kind: Literal["wait"] = "wait"
    """Always `wait`."""
    wait: Wait
    """A duration, or `{for | until, signal}`."""


class CheckpointStep(Leading):
    """A savepoint: a place that a rollback can go back to and a later turn can go on from."""

    kind: Literal["checkpoint"] = "checkpoint"
    """Always `checkpoint`."""
    checkpoint: JustTrue = True
    """Always `true`."""


class RollbackStep(Working):
    """Undo, in reverse order, what was done since a checkpoint."""

    kind: Literal["rollback"] = "rollback"
    """Always `rollback`."""
    rollback: Id
    """The id of the checkpoint."""


# ------------------------------------------------------------------------------- steps that group


class GroupStep(Grouping):
    """Steps in order (`steps:`), by needs (`mode: graph`) or all at once (`parallel:`)."""

    kind: Literal["group"] = "group"
    """Always `group`."""
    steps: "Many[Step]"
    """The steps inside."""


class MapStep(Grouping):
    """The same steps for each item of a list, as `item` and `index`."""

    kind: Literal["map"] = "map"
    """Always `map`."""
    map: Annotated[Json, AfterValidator(_list_or_text)]
    """A list, or `${…}` that gives one."""
    steps: "Annotated[Many[Step], Field(min_length=1)]"
    """The steps for one item; they see `inputs`, `item`, `index` and each other."""
    with_: Annotated[JsonObject | None, Field(alias="with")] = None
    """What the steps inside see as `inputs`; left out: the inputs around the map."""


class SubplanStep(Working):
    """Another plan as one step."""

    kind: Literal["plan"] = "plan"
    """Always `plan`."""
    plan: "PlanOrName"
    """The plan's name, or the plan itself."""
    with_: Annotated[JsonObject, Field(alias="with")] = {}
    """Its inputs."""


# ------------------------------------------------------------------------------- steps that end


class DoneStep(AnyStep):
    """End the enclosing group with success."""

    kind: Literal["done"] = "done"
    """Always `done`."""
    done: Json = True
    """`true` hands on the output of the step before; anything else is the output itself."""


class FailStep(AnyStep):
    """End the enclosing group with failure."""

    kind: Literal["fail"] = "fail"
    """Always `fail`."""
    fail: TextOrTrue = True
    """Why, for people; may hold `${…}`."""


Step = Annotated[
    Annotated[ToolStep, Tag("tool")]
    | Annotated[ModelStep, Tag("model")]
    | Annotated[AgentStep, Tag("agent")]
    | Annotated[DecideStep, Tag("decide")]
    | Annotated[AskStep, Tag("ask")]
    | Annotated[WaitStep, Tag("wait")]
    | Annotated[CheckpointStep, Tag("checkpoint")]
    | Annotated[RollbackStep, Tag("rollback")]
    | Annotated[GroupStep, Tag("group")]
    | Annotated[MapStep, Tag("map")]
    | Annotated[SubplanStep, Tag("plan")]
    | Annotated[DoneStep, Tag("done")]
    | Annotated[FailStep, Tag("fail")],
    Discriminator(kind_of),
]
"""One step of a plan, of any kind."""

STEP_TYPES: Final[dict[str, type[AnyStep]]] = {
    "tool": ToolStep,
    "model": ModelStep,
    "agent": AgentStep,
    "decide": DecideStep,
    "ask": AskStep,
    "wait": WaitStep,
    "checkpoint": CheckpointStep,
    "rollback": RollbackStep,
    "group": GroupStep,
    "map": MapStep,
    "plan": SubplanStep,
    "done": DoneStep,
    "fail": FailStep,
}
