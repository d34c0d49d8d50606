"""Bodies: what can be said with a request. The fields are those of `perdure.engine.requests`."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

Seq = Annotated[int, Field(ge=0, le=2**53)]
Goal = Annotated[str, Field(min_length=1)]
Inputs = dict[str, JsonValue]


class Body(BaseModel):
    """What is sent with a request."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)


class Sent(Body):
    """A plan, perhaps."""

    plan: dict[str, JsonValue] | None = None
    """The plan as JSON."""
    text: str | None = None
    """The plan as a text of YAML or JSON, as in a file."""


class Planned(Sent):
    """A plan, in one of two ways."""

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.plan is None) == (self.text is None):
            raise ValueError("say either `plan` or `text`")
        return self


class Wish(Body):
    """What somebody says besides a goal."""

    inputs: Inputs = {}
    """Values that are known: what the plan asks for as its inputs."""
    planner: Literal["auto", "template", "tools", "contracts", "model"] = "auto"
    """Who makes the plan for a goal."""
    template: str = ""
    """Which template to take for a goal, whatever fits better."""


class Make(Wish):
    """A plan that is made."""

    goal: Goal
    """What is wanted, in plain words."""


class Start(Sent, Wish):
    """A run that begins: with a plan, or with one that is made for a goal."""

    goal: Goal | None = None
    """What is wanted, in plain words."""
    session: str = ""
    """The session that the run belongs to."""
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)] | None = None
    """The seed of all random numbers in the run."""
    workspace: str = ""
    """The directory it is meant for; another one than that of the server is refused."""

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if [self.plan, self.text, self.goal].count(None) != len(("plan", "text")):
            raise ValueError("say one of `plan`, `text` and `goal`")
        return self


class Check(Planned):
    """A plan that is checked."""

    feasible: bool = False
    """Whether also to say what is not here: tools, agents, models, secrets, budget."""


class Draw(Planned):
    """A plan that is drawn."""

    form: Literal["tree", "mermaid", "svg", "html"] = "svg"
    """What is made of it."""


class Compare(Body):
    """Two plans."""

    before: Planned
    after: Planned


class Estimate(Planned):
    """A plan whose runs are foreseen."""

    inputs: Inputs = {}
    """What the plan asks for as its inputs, as far as it is known."""


class Rehearse(Planned):
    """A plan that is walked, while nothing is done to the world."""

    inputs: Inputs = {}
    """What the plan asks for as its inputs."""
    like: str = ""
    """An earlier run; what its steps gave is assumed again."""
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)] = 0
    """The seed of all random numbers."""


class Said(Body):
    """What anybody can say with a message."""

    by: str = ""
    """Who says it, where the server does not know better."""


class Reasoned(Said):
    """A message with a reason."""

    reason: str = ""
    """Why; it stands in the journal."""


class Resume(Said):
    """Go on after a pause."""

    map: dict[str, str] = {}
    """What a tool, a strategy or a plan is called now, by its old name."""


class Cancel(Reasoned):
    """End a run, or one of its steps."""

    step: str = ""
    """The step; empty: the whole run."""


class Rollback(Reasoned):
    """Take back what a run has done."""

    to: str = ""
    """The checkpoint to go back to; empty: all of it is taken back."""


class Fork(Said):
    """A new run that goes its own way from where another one stood."""

    at: Seq | None = None
    """After so many facts."""
    step: str = ""
    """Before the last visit of this step."""
    inputs: Inputs = {}
    """What is seen in place of the inputs of the run."""
    plan: dict[str, JsonValue] | None = None
    """What its plan is to be from there on."""


class Edited(Said):
    """Edits of a plan."""

    edits: list[dict[str, JsonValue]] = []
    """`insert`, `replace`, `remove` and `amend`, as in the guide on changing a plan."""
    why: str = ""
    """Why; it stands in the journal."""
    base: Seq | None = None
    """The revision that the edits were made for; `If-Match` says the same."""
    widen: bool = False
    """Whether the budget or the policy of the plan may become wider."""


class Retry(Edited):
    """Go on with a run that failed or was cancelled."""

    step: str = ""
    """The step that is entered anew; empty: whatever was cut off."""


class Revise(Edited):
    """Change the plan of a run that is not over."""

    dry: bool = False
    """Whether only to say what would be changed, or why it would be refused."""


class Signal(Said):
    """Something that happened outside."""

    name: Annotated[str, Field(min_length=1)]
    """Which signal."""
    value: JsonValue = None
    """What comes with it."""


class Answer(Reasoned):
    """An answer to a question."""

    value: JsonValue
    """What is answered, as the question wants it: yes or no, a choice, a text, a form that is filled in."""


class Note(Said):
    """Something to be remembered."""

    text: Annotated[str, Field(min_length=1)]
    """What is to be remembered."""
    kind: Literal["lesson", "fact"] = "lesson"
    """What it is."""
    about: str = ""
    """What it is about, in words that somebody may look for."""
