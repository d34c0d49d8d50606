"""The plan: a goal, its inputs, and an ordered tree of steps."""

import hashlib
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from perdure.collector import Undisturbed
from perdure.plan.canonical import canonical_json
from perdure.plan.model import steps
from perdure.plan.model.parts import (
    Adjusting,
    Budget,
    Count,
    Expression,
    Id,
    Join,
    Json,
    JsonObject,
    JsonSchema,
    Line,
    Many,
    Part,
    Policy,
    Questions,
    Recovery,
    Seconds,
    Text,
)
from perdure.plan.model.steps import AnyStep, DoneStep, GroupStep, MapStep, Step, SubplanStep, kind_of, regroup
from perdure.plan.raw import Raw

FORMAT = 1
"""The version of the plan format that this release reads and writes."""


def _exact(value: Raw) -> Raw:
    """`true` and `1.0` equal 1 in Python, but are not the number 1."""
    if type(value) is not int:
        raise PydanticCustomError("format", "Input should be 1")
    return value


class Plan(Part):
    """A plan is data: an ordered tree of steps, and what they may use."""

    perdure: Annotated[Literal[1], BeforeValidator(_exact)] = FORMAT
    """Version of the plan format."""
    name: Line = ""
    """A short name, by which other plans can refer to it."""
    goal: Text = ""
    """What is to be achieved; may hold `${inputs.…}`."""
    inputs: dict[Id, JsonSchema] = {}
    """What a run is given: a JSON Schema for each; one without `default` is required."""
    budget: Budget | None = None
    """The most that a run may spend."""
    policy: Policy | None = None
    """What a run may touch; can only narrow what the user allows."""
    recovery: Recovery = {}
    """What to try when a step fails, by kind of failure."""
    questions: Questions | None = None
    """How long people are waited for, and who may answer, where no step asks: after a failure, at a limit."""
    adjust: Adjusting | None = None
    """Rules by which the rest of the plan changes while it is carried out."""
    timeout: Seconds | None = None
    """The most that a whole run may take."""
    mode: Literal["serial", "graph"] = "serial"
    """How `steps` are ordered, as in a group."""
    join: Join = "all"
    """In a graph, when it is over."""
    limit: Count | None = None
    """In a graph, how many steps may be live at once."""
    losers: Literal["undo", "keep"] = "undo"
    """What becomes of the finished effects of steps that turned out not to be wanted."""
    exit: Expression | None = None
    """Gives the word the plan ends with, instead of `success`."""
    steps: "Annotated[Many[Step], Field(min_length=1)]"
    """What is done: a list of steps, each with an `id` and its kind, as in `{id: hello, tool: flow.echo}`."""
    output: Json = None
    """What the run gives back; left out: the output of its steps."""
    requires_lookahead: bool = False
    """Whether something has to be looked up before the plan can act."""
    checkpoints: Many[Id] = ()
    """The checkpoints a later turn goes on from."""
    meta: JsonObject = {}
    """Anything else worth keeping: who made it, why."""

    @model_validator(mode="before")
    @classmethod
    def _regroup(cls, raw: Raw) -> Raw:
        return regroup(raw)

    # ---------------------------------------------------------------- written

    def canonical(self) -> dict[str, Raw]:
        """The plan as plain data, in the one form that is hashed: kinds written, defaults left out."""
        return written_out(self)

    def canonical_json(self) -> bytes:
        """The canonical form as RFC 8785 bytes."""
        with Undisturbed():
            return canonical_json(self.canonical())

    @cached_property
    def hash(self) -> str:
        """The name of this plan: `sha256-jcs-v1:` and the digest of its canonical form."""
        return name_of(self.canonical_json())

    # ---------------------------------------------------------------- read

    @classmethod
    def load(cls, path: str | Path) -> "Plan":
        """Read a plan from a YAML or JSON file; raise `PlanError` with every problem in it."""
        from perdure.plan.reading import load  # noqa: PLC0415  the one door upwards, see the layers

        return load(Path(path))

    @classmethod
    def from_steps(cls, steps: "Iterable[Mapping[str, Raw] | object]", goal: str = "") -> "Plan":
        """Read a plan from label steps (`LabelStep`, dictionaries or records with those fields)."""
        from perdure.plan.reading import from_steps  # noqa: PLC0415  the one door upwards, see the layers

        return from_steps(steps, goal)

    def model_copy(self, *, update: Mapping[str, Raw] | None = None, deep: bool = False) -> Self:
        """A copy with some fields changed; it does not keep the hash of the old one."""
        copied = super().model_copy(update=update, deep=deep)
        vars(copied).pop("hash", None)
        return copied

    def with_steps(self, steps: tuple[Raw, ...]) -> Self:
        """The same plan with other steps."""
        return self.model_copy(update={"steps": steps})


def name_of(written: bytes) -> str:
    """The name of the plan with this canonical form."""
    return f"sha256-jcs-v1:{hashlib.sha256(written).hexdigest()}"


def own_fields(item: Plan | AnyStep) -> dict[str, Raw]:
    """The canonical fields of a plan or a step, without the steps inside it."""
    inline = isinstance(item, SubplanStep) and isinstance(item.plan, Plan)
    own = item.model_dump(mode="json", exclude_defaults=True, exclude={"plan"} if inline else {"steps"})
    if isinstance(item, Plan):
        return {"perdure": item.perdure, **own}
    if isinstance(item, DoneStep) and item.done is not True:
        own["done"] = item.done  # 1 equals true, which is the default, but is not the same
    return {"id": item.id, "kind": kind_of(item), **own}


def written_out(item: Plan | AnyStep) -> dict[str, Raw]:
    """A plan or a step in canonical form, with all that is inside.

    One level at a time: Pydantic alone would stop at half the depth that a plan may have.
    """
    own = own_fields(item)
    if isinstance(item, (Plan, GroupStep, MapStep)):
        own["steps"] = [written_out(step) for step in item.steps]
    if isinstance(item, SubplanStep) and isinstance(item.plan, Plan):
        own["plan"] = written_out(item.plan)
    return own


setattr(steps, "Plan", Plan)  # noqa: B010  a sub-plan holds a plan; whoever builds its validator finds the name where it stands
