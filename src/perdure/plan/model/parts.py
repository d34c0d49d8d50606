"""The small records a step is made of: durations, budgets, calls, criteria.

Nothing here knows about steps. Every record is frozen, refuses fields it does not know and
converts nothing silently: `"3"` is not 3.
"""

import math
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Final, Literal, TypeVar, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PlainValidator,
    Tag,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from perdure.plan.raw import Raw, is_list, is_mapping

T = TypeVar("T")


def _listed(value: Raw) -> Raw:
    return tuple(cast("list[Raw]", value)) if isinstance(value, list) else value


Many = Annotated[tuple[T, ...], BeforeValidator(_listed)]
"""A list in the document, a tuple in Python."""


class Part(BaseModel):
    """What all records of a plan have in common."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        allow_inf_nan=False,
        defer_build=True,  # most programs need few of the validators, and building them all takes a while
    )


# ------------------------------------------------------------------------------- plain values

ID_PATTERN: Final = r"^[A-Za-z_][A-Za-z0-9_]*$"
NAME_PATTERN: Final = r"^[A-Za-z_][A-Za-z0-9_.-]*$"
TOOL_PATTERN: Final = r"^[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*)+$"

Id = Annotated[str, Field(pattern=ID_PATTERN, max_length=200)]
"""A step's name: letters, digits and underscores, because a hyphen is minus in an expression."""
Word = Annotated[str, Field(pattern=ID_PATTERN, max_length=200)]
"""An exit, a verdict or a choice."""
Name = Annotated[str, Field(pattern=NAME_PATTERN, max_length=200)]
"""The name of an agent, a lock, a skill, a signal."""
ToolName = Annotated[str, Field(pattern=TOOL_PATTERN, max_length=200)]
"""`domain.tool`, as in `http.get`."""


def _whole_pairs(text: str) -> str:
    if SURROGATE.search(text):
        raise PydanticCustomError("not_json", "a text holds half of a Unicode pair (a lone surrogate)")
    return text


SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
Line = Annotated[str, AfterValidator(_whole_pairs)]
"""Any text."""
Text = Line
"""Text that may hold `${…}`."""
Expression = Annotated[Line, Field(min_length=1)]
"""A bare CEL expression, without `${…}` around it."""
Target = Word
"""`next`, `done`, `fail`, `recover`, or the id of a step."""

MAX_INTEGER: Final = 2**53 - 1
LEAST_EXPONENT: Final = 1e21
"""From here on RFC 8785 writes a number with an exponent, so that it is read as a fraction again."""
MAX_DATA_DEPTH: Final = 64


Place = tuple[str | int, ...]
_NO_KEY: Final = object()
"""Stands for a key that is not a text, which no value of a document can be."""


def _json_parts(value: Raw) -> Iterator[tuple[Raw, Place]]:
    stack: list[tuple[Raw, Place]] = [(value, ())]
    while stack:
        item, place = stack.pop()
        yield item, place
        if is_mapping(item):
            stack.extend((key if isinstance(key, str) else _NO_KEY, place) for key in item)
            stack.extend((each, (*place, key)) for key, each in item.items())
        elif is_list(item):
            stack.extend((each, (*place, n)) for n, each in enumerate(item))


def flaw_of(value: Raw) -> tuple[str, Place] | None:
    """Why a value cannot be kept as JSON that every reader understands alike, and where in it."""
    for item, place in _json_parts(value):
        if len(place) > MAX_DATA_DEPTH:
            return f"a value is nested more than {MAX_DATA_DEPTH} deep", place[:8]
        if flaw := _scalar_flaw(item):
            return flaw, place
    return None


def _scalar_flaw(item: Raw) -> str | None:
    match item:
        case None | bool() | dict() | list() | tuple():
            return None
        case str():
            return "a text holds half of a Unicode pair (a lone surrogate)" if SURROGATE.search(item) else None
        case int():
            return None if abs(item) <= MAX_INTEGER else "a number is beyond ±(2^53-1)"
        case float():
            if MAX_INTEGER < abs(item) < LEAST_EXPONENT:
                return "a number is beyond ±(2^53-1)"
            return None if math.isfinite(item) else "NaN and Infinity are not JSON"
        case _:
            return "a value is not JSON"


def _well_formed(value: Raw) -> Raw:
    if found := flaw_of(value):
        flaw, place = found
        raise PydanticCustomError("not_json", "{flaw}", {"flaw": flaw, "place": place})
    return value


Json = Annotated[Any, AfterValidator(_well_formed), WithJsonSchema({})]
"""Any JSON value; texts in it may hold `${…}`."""
JsonObject = Annotated[dict[str, Any], AfterValidator(_well_formed)]
JsonSchema = Annotated[dict[str, Any], AfterValidator(_well_formed)]
"""A JSON Schema."""

_DURATION: Final = re.compile(r"(?=.)(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?(?:(\d+)ms)?")
_UNITS: Final = (86_400.0, 3_600.0, 60.0, 1.0, 0.001)


def seconds_of(value: Raw) -> Raw:
    """Read `90`, `1m30s` or `250ms` as seconds; leave everything else to be refused."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return value
    if not isinstance(value, str):
        return int(value) if isinstance(value, float) and value.is_integer() else value
    match = _DURATION.fullmatch(value)
    if not match:
        raise PydanticCustomError(
            "duration",
            "{value} is no duration; write seconds, or units as in 500ms, 10s, 5m, 1h30m, 2d",
            {"value": repr(value)},
        )
    total = sum(float(number) * unit for number, unit in zip(match.groups(), _UNITS, strict=True) if number)
    total = round(total, 3)
    return int(total) if total.is_integer() else total


def _number(value: Raw, least: float = 0, most: float = MAX_INTEGER) -> Raw:
    """A number as it was written: a whole number stays one, a text is not read as one."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise PydanticCustomError("float_type", "Input should be a number")
    if not least <= value <= most:
        span = f"from {least:g} to {most:g}" if most < MAX_INTEGER else f"at least {least:g}"
        raise PydanticCustomError("number_range", "Input should be {span}", {"span": span})
    return value


def _seconds(value: Raw) -> Raw:
    return _number(seconds_of(value))


def _lapse(value: Raw) -> Raw:
    return value if isinstance(value, str) and "${" in value else _seconds(value)


Number = Annotated[float, PlainValidator(_number), WithJsonSchema({"type": "number", "minimum": 0})]
"""A number, not negative."""
Share = Annotated[
    float,
    PlainValidator(lambda value: _number(value, 0, 1)),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1}),
]
"""A number from 0 to 1."""
Factor = Annotated[
    float,
    PlainValidator(lambda value: _number(value, 1, 1000)),
    WithJsonSchema({"type": "number", "minimum": 1, "maximum": 1000}),
]
"""A number from 1 to 1000."""
Seconds = Annotated[
    float,
    PlainValidator(_seconds),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "minimum": 0},
                {"type": "string", "pattern": r"^(\d+d)?(\d+h)?(\d+m)?(\d+(\.\d+)?s)?(\d+ms)?$"},
            ]
        }
    ),
]
"""A length of time: seconds, or `500ms`, `10s`, `5m`, `1h30m`, `2d`."""
Lapse = Annotated[int | float | str, PlainValidator(_lapse), WithJsonSchema({"type": ["number", "string"]})]
"""A length of time that may be computed: as `Seconds`, or `${…}`."""

Whole = Annotated[int, Field(ge=-MAX_INTEGER, le=MAX_INTEGER)]
Count = Annotated[int, Field(ge=1, le=MAX_INTEGER)]
Amount = Annotated[int, Field(ge=0, le=MAX_INTEGER)]

# ------------------------------------------------------------------------------- vocabularies

EffectWord = Literal["reads", "writes", "network", "irreversible", "costs"]
FailureKind = Literal[
    "transient",
    "rate_limited",
    "timeout",
    "unavailable",
    "invalid",
    "unmet",
    "logic",
    "denied",
    "budget",
    "stalled",
    "in_doubt",
    "cancelled",
    "unknown",
]
Rung = Literal["retry", "simplify", "relax", "alternate", "replan", "ask", "rollback", "continue", "fail"]
Recovery = dict[FailureKind | Literal["other"], Many[Rung]]
"""Which rungs to try, in order, for each kind of failure; `other` stands for the kinds not named."""

# ------------------------------------------------------------------------------- time and money


class Retry(Part):
    """How often, and how patiently, one visit of a step is tried."""

    attempts: Count = 3
    """All tries together, the first one included."""
    wait: Seconds = 1
    """Pause before the second try."""
    factor: Factor = 2
    """Each pause is this many times the one before."""
    max_wait: Seconds = 60
    """No pause is longer."""
    jitter: Share = 0.2
    """Share of a pause that is drawn by lot, so that many runs do not knock at once."""
    within: Seconds | None = None
    """No try begins later than this after the first one began."""


class Budget(Part):
    """The most that may be spent here, counted with everything inside."""

    seconds: Seconds | None = None
    """Working time; waiting for people is free."""
    usd: Number | None = None
    """Number, in US dollars."""
    tokens: Amount | None = None
    """Model tokens, in and out."""
    steps: Amount | None = None
    """Visits of acting steps."""
    calls: Amount | None = None
    """Model calls."""
    depth: Amount | None = None
    """Agents within agents."""
    then: Literal["ask", "finish", "fail"] = "fail"
    """When it is used up: ask a person for more, finish with what there is, or fail."""


class Questions(Part):
    """The terms of questions that no step asks: about doubts, budgets, rules and failures."""

    within: Seconds | None = None
    """How long the answer may take; then it is as if somebody had said no. Left out: for ever."""
    to: Many[Line] = ()
    """Who may answer; left out: anybody."""


class Estimate(Part):
    """What the author expects one visit to take."""

    seconds: Seconds | None = None
    """Time."""
    usd: Number | None = None
    """Number, in US dollars."""
    tokens: Amount | None = None
    """Model tokens."""
    calls: Amount | None = None
    """Model calls."""
    megabytes: Amount | None = None
    """Memory."""


# ------------------------------------------------------------------------------- what is allowed


class Terms(Part):
    """Names that are allowed, asked about and denied; `*` stands for any letters, `?` for one."""

    allow: Many[Line] | None = None
    """What may be used; left out: as the layer around it says. An empty list means nothing."""
    ask: Many[Line] = ()
    """What may be used only after a person has agreed."""
    deny: Many[Line] = ()
    """What may not be used, whatever `allow` says."""


class Files(Part):
    """Which files may be read and written, as globs from the workspace's root; `**` stands for any directories."""

    read: Many[Line] | None = None
    """Readable files; left out: as the layer around it says."""
    write: Many[Line] | None = None
    """Writable files; left out: as the layer around it says."""
    ask: Many[Line] = ()
    """Files that are written only after a person has agreed."""
    deny: Many[Line] = ()
    """Files that are neither read nor written, whatever `read` and `write` say."""


class Commands(Part):
    """Which commands may run, each a list of words; `*` stands for any words."""

    allow: Many[Many[Line]] | None = None
    """Commands that may run."""
    ask: Many[Many[Line]] | None = None
    """Commands that run only after a person has agreed."""
    deny: Many[Many[Line]] | None = None
    """Commands that may not, whatever `allow` says; also called by their path."""


def _short_network(value: Raw) -> Raw:
    """`{allow: [...]}` says no more than the list does, and is kept as the list."""
    return value["allow"] if is_mapping(value) and set(value) == {"allow"} and is_list(value["allow"]) else value


def _network_of(value: Raw) -> str:
    return "terms" if is_mapping(value) or isinstance(value, Terms) else "hosts"


Network = Annotated[
    Annotated[Many[Line], Tag("hosts")] | Annotated[Terms, Tag("terms")],
    Discriminator(_network_of),
    BeforeValidator(_short_network),
]
"""The hosts that may be connected to, or what is allowed, asked about and denied."""


class Policy(Part):
    """What may be touched. A layer can only take away from the layers around it."""

    files: Files | None = None
    """Files."""
    network: Network | None = None
    """Hosts, as `host:port`, or `{allow, ask, deny}`; an empty list means none. `*.example.com` is what is below it."""
    commands: Commands | None = None
    """Commands."""
    tools: Terms | None = None
    """Tools, as in `files.*`."""
    resources: Terms | None = None
    """Resources that tools say they use."""
    ask: Many[EffectWord] = ()
    """Effects that need a person's approval first."""
    deny: Many[EffectWord] = ()
    """Effects that nothing may have."""
    contained: bool = False
    """Whether all that is done to files is done on a branch's copy (`branch.open`), and nothing else to the world."""


# ------------------------------------------------------------------------------- calls


class ToolCall(Part):
    """A call of a tool."""

    tool: ToolName
    """The tool, as `domain.tool`."""
    with_: Annotated[JsonObject, Field(alias="with")] = {}
    """Its arguments; texts may hold `${…}`."""


class NoResult(Part):
    """What a model hears of a call that was not made."""

    error: Text
    """Why not; may hold `${…}`."""


def _id_or_error(value: Raw) -> str:
    return "id" if isinstance(value, str) else "error"


CallResult = Annotated[Annotated[Id, Tag("id")] | Annotated[NoResult, Tag("error")], Discriminator(_id_or_error)]
"""The step that made a call, or why nobody did."""


class ModelCall(Part):
    """One call of a language model."""

    model: Annotated[Line, Field(min_length=1)]
    """A tier (`weak`, `default`, `strong`) or `provider:model`."""
    prompt: Text = ""
    """What to ask; may hold `${…}`."""
    instructions: Text = ""
    """What it is told before all else; may hold `${…}`. Left out in a conversation: as it was told before."""
    returns: JsonSchema | None = None
    """JSON Schema of the answer; left out: plain text."""
    choices: Many[Word] = ()
    """The answers to choose from: one of them alone, not in a sentence. The output is `{choice, probabilities}`."""
    tools: Many[Line] | None = None
    """Tools it may ask for, as in `files.*`; the output is `{text, calls}` then, and nothing is called by that."""
    after: Id | None = None
    """The step whose conversation it goes on with."""
    results: Many[CallResult] = ()
    """What the calls came to that the model asked for in `after`, in their order: steps, or `{error}`."""
    tokens: Count | None = None
    """The most it may answer with."""
    temperature: Number | None = None
    """How freely it chooses its words, from 0."""


TIERS: Final = ("weak", "default", "strong")
"""Models by what they are for, not by their names."""
ANYBODY: Final = "any"
"""Stands for an agent: whoever has the skills of the step."""


class AgentCall(Part):
    """A piece of work for an agent."""

    agent: Name
    """The agent's name; `any`: whoever has the `skills` of the step, by past success, load and price."""
    task: Text = ""
    """What it is to do; may hold `${…}`."""
    with_: Annotated[JsonObject, Field(alias="with")] = {}
    """Facts to work with; texts may hold `${…}`."""
    strategy: Name | None = None
    """How it works, if not in its own way."""
    returns: JsonSchema | None = None
    """JSON Schema of the result; left out: whatever it gives."""


CALLS: Final = ("tool", "model", "agent")


def _call_of(value: Raw) -> str | None:
    if is_mapping(value):
        found = [key for key in CALLS if key in value]
        return found[0] if len(found) == 1 else None
    return next((key for key in CALLS if hasattr(value, key)), None)


Call = Annotated[
    Annotated[ToolCall, Tag("tool")] | Annotated[ModelCall, Tag("model")] | Annotated[AgentCall, Tag("agent")],
    Discriminator(
        _call_of,
        custom_error_type="call",
        custom_error_message="a call names exactly one of tool, model, agent",
    ),
]
"""A tool, a model or an agent put to work outside the plan's order: to undo, to replace, to choose."""

# ------------------------------------------------------------------------------- criteria and context


class Criterion(Part):
    """One thing a result must fulfil; exactly one of `expr`, `schema`, `tool`, `agent`."""

    expr: Expression | None = None
    """An expression over `output` that must be true."""
    schema_: Annotated[JsonSchema | None, Field(alias="schema")] = None
    """A JSON Schema the output must match."""
    tool: ToolName | None = None
    """A tool that judges the output."""
    agent: Name | None = None
    """An agent that judges the output."""
    with_: Annotated[JsonObject, Field(alias="with")] = {}
    """Arguments for the judging tool or agent."""
    title: Line = ""
    """What is judged, for people."""

    @model_validator(mode="before")
    @classmethod
    def _read_text(cls, raw: Raw) -> Raw:
        return {"expr": raw} if isinstance(raw, str) else raw

    @model_validator(mode="after")
    def _one_judge(self) -> "Criterion":
        judges = [judge for judge in (self.expr, self.schema_, self.tool, self.agent) if judge is not None]
        if len(judges) != 1:
            raise PydanticCustomError("criterion", "a criterion has exactly one of expr, schema, tool, agent")
        return self


def _word_or_ids(value: Raw) -> str:
    return "word" if isinstance(value, str) else "ids"


WordOrIds = Annotated[
    Annotated[Literal["all", "needs"], Tag("word")] | Annotated[Many[Id], Tag("ids")], Discriminator(_word_or_ids)
]


LEAST_SHOWN: Final = 20
"""In fewer tokens nothing can be said."""


class Context(Part):
    """Which earlier results a model or an agent is shown, and how much of them."""

    from_: Annotated[WordOrIds, Field(alias="from")] = "all"
    """`all` steps that are over before it begins; those it `needs`, or the one before it; or the steps named."""
    tokens: Annotated[int, Field(ge=LEAST_SHOWN, le=MAX_INTEGER)] = 4_000
    """The most it may take: the newest first, as whole results, then summaries, then references."""

    @model_validator(mode="before")
    @classmethod
    def _read_short(cls, raw: Raw) -> Raw:
        return {"from": raw} if isinstance(raw, str) or is_list(raw) else raw


# ------------------------------------------------------------------------------- joining and waiting


class Quorum(Part):
    """Enough of the steps have to succeed."""

    quorum: Count
    """How many."""


class Tolerate(Part):
    """Some of the steps may fail."""

    tolerate: Amount
    """How many."""


def _join_of(value: Raw) -> str | None:
    if isinstance(value, str):
        return "word"
    return next((n for n in ("quorum", "tolerate") if (n in value if is_mapping(value) else hasattr(value, n))), None)


Join = Annotated[
    Annotated[Literal["all", "any", "settled"], Tag("word")]
    | Annotated[Quorum, Tag("quorum")]
    | Annotated[Tolerate, Tag("tolerate")],
    Discriminator(
        _join_of,
        custom_error_type="join",
        custom_error_message="a join is all, any, settled, {quorum: n} or {tolerate: n}",
    ),
]
"""When a graph of steps is over: `all`, `any`, `settled`, `{quorum: n}` or `{tolerate: n}`."""


class Wait(Part):
    """A clock, an outside signal, or whichever comes first."""

    for_: Annotated[Lapse | None, Field(alias="for")] = None
    """How long; may be `${…}`."""
    until: Text | None = None
    """A moment, as in 2026-11-15T09:00:00+01:00; may be `${…}`."""
    signal: Name | None = None
    """The outside event to wait for; its value becomes the output."""

    @model_validator(mode="before")
    @classmethod
    def _read_short(cls, raw: Raw) -> Raw:
        return raw if isinstance(raw, Wait) or is_mapping(raw) else {"for": raw}

    @model_validator(mode="after")
    def _something(self) -> "Wait":
        if self.for_ is None and self.until is None and self.signal is None:
            raise PydanticCustomError("wait", "a wait has a time (for, until), a signal, or both")
        if self.for_ is not None and self.until is not None:
            raise PydanticCustomError("wait", "a wait has `for` or `until`, not both")
        if self.until is not None and "${" not in self.until and not _is_moment(self.until):
            raise PydanticCustomError("wait", "`until` is a moment with its zone, as in 2026-11-15T09:00:00+01:00")
        return self


def _is_moment(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


# ------------------------------------------------------------------------------- plans that change by themselves


class Growth(Part):
    """What a step's result may add to the plan: the steps that it lists as `next_steps`."""

    into: Id
    """The group that they come into; it may be empty until then."""
    most: Count = 10
    """How many steps it may add, in all of a run."""
    tools: Many[Line] | None = None
    """What they may call, as in `web.*`; left out: the tools that the plan calls itself."""


class AdjustmentRule(Part):
    """A rule: when a step is over, and something holds, the rest of the plan is edited."""

    after: Many[Id] = ()
    """The steps it is about; left out: every step."""
    on: Many[Word] = ("success",)
    """The exits it is about; `replan`: when a step has failed, and recovery comes to that."""
    kinds: Many[FailureKind] = ()
    """The kinds of failure it is about; left out: every kind."""
    when: Expression | None = None
    """What must hold; it sees `output` and `exit` of the step, besides what the plan's steps see."""
    edits: Annotated[Many[JsonObject], Field(min_length=1)]
    """What changes: `insert`, `replace`, `remove` and `amend`."""
    times: Count = 1
    """How often it holds in a run."""
    why: Line = ""
    """The reason, for people."""


UNPLANNED: Final = "unplanned"
"""Where the `meta` of a plan says why it is none: nobody could make one, or find another way."""
UNPLANNED_STEP: Final = "unplanned_step"
"""Where it says which step does what is left then. There is one in a run: nobody goes on after it without a plan."""
TOOLS: Final = "tools"
"""The planner that asks no model: tools with the same skills stand in for what failed."""
REPLAN: Final = "replan"
"""Stands for an exit, in a rule: a step has failed, and recovery comes to planning anew."""


class Adjusting(Part):
    """How a plan changes itself while it is carried out."""

    rules: Many[AdjustmentRule] = ()
    """Looked at in this order; after each end of a step, the first that holds is taken."""
    most: Count = 20
    """How many revisions a run gets by rules, adjusters, planners and agents together."""
    planner: Name | None = None
    """Who finds another way when a step has failed for good: an agent that plans what is left; `tools`: no model, only
    tools with the same skills. Left out: nobody."""
    otherwise: Name | None = None
    """The agent that does what is left without a plan, where no planner finds another way; left out: the step fails."""
