"""Contracts as a document: what there is, what holds, what is wanted, and what can be done about it."""

from collections.abc import Iterable
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from perdure.plan.facts import KIND, OBJECT, fact_of, flaw_of, told
from perdure.plan.model.parts import (
    Budget,
    Estimate,
    Id,
    JsonObject,
    JsonSchema,
    Line,
    Many,
    Name,
    Number,
    Part,
    Policy,
    ToolName,
)

TEMPLATE_OWN: Final = ("id", "needs", "effects")
"""What the planner says of a step, and nobody else."""


def _a_fact(text: str) -> str:
    if flaw := flaw_of(text):
        raise PydanticCustomError("fact", "{flaw}", {"flaw": flaw[0], "hint": flaw[1]})
    return text.strip()


def _about_objects(text: str) -> str:
    if any(fact_of(text).variables):
        hint = "name the objects: variables stand only in actions"
        raise PydanticCustomError("fact", "{flaw}", {"flaw": f'"{text}" has a variable', "hint": hint})
    return text


def _positive(text: str) -> str:
    if not fact_of(text).holds:
        hint = "leave it out: what is not written here does not hold"
        raise PydanticCustomError("fact", "{flaw}", {"flaw": f'"{text}" says what does not hold', "hint": hint})
    return text


def _an_object(text: str) -> str:
    if not OBJECT.fullmatch(text):
        hint = "letters, digits and _ . / @ + - without spaces"
        raise PydanticCustomError("fact", "{flaw}", {"flaw": f'"{text[:60]}" cannot name an object', "hint": hint})
    return text


def _a_kind(text: str) -> str:
    if not KIND.fullmatch(text):
        hint = "letters, digits and _ . - without spaces, beginning with a letter"
        raise PydanticCustomError("fact", "{flaw}", {"flaw": f'"{text[:60]}" cannot name a kind', "hint": hint})
    return text


Pattern = Annotated[str, AfterValidator(_a_fact)]
"""A fact, or `not` one; it may have variables."""
Wanted = Annotated[Pattern, AfterValidator(_about_objects)]
"""A fact about objects, or `not` one."""
Given = Annotated[Wanted, AfterValidator(_positive)]
"""A fact about objects."""
Kind = Annotated[str, AfterValidator(_a_kind)]
Object = Annotated[str, AfterValidator(_an_object)]


class Action(Part):
    """Something that can be done: what it requires, what it changes, what it costs and how it is called.

    `?x` stands for an object wherever the action speaks of itself; two variables stand for two objects.
    """

    requires: Many[Pattern] = ()
    """What has to hold before."""
    effects: Many[Pattern] = ()
    """What holds afterwards, and, with `not`, what no longer does. Left out, with a `tool`: what that declares."""
    cost: Number = 1
    """What it counts when plans are compared; the cheapest is taken, and of those the shortest."""
    tool: ToolName | None = None
    """The tool that does it; left out: the action's own name, if that is one."""
    with_: Annotated[JsonObject, Field(alias="with")] = {}
    """Its arguments."""
    takes: dict[Id, Pattern] = {}
    """Arguments that are the output of the step that has made a required fact true."""
    step: JsonObject | None = None
    """Instead of a tool: any step of a plan, without `id`, `needs` and `effects`."""
    title: Line = ""
    """A line for people."""
    estimate: Estimate | None = None
    """What it is expected to take."""

    @model_validator(mode="after")
    def _is_one_thing(self) -> "Action":
        if self.step is not None and (self.tool is not None or self.with_ or self.takes):
            raise _refused("an action is done by a tool or by a `step`", "leave `tool`, `with` and `takes` out")
        for word in TEMPLATE_OWN:
            if self.step is not None and word in self.step:
                raise _refused(f"`{word}` of the step is the planner's to say", "leave it out")
        required = {fact_of(text).atom({}) for text in self.requires if fact_of(text).holds}
        for taken in self.takes.values():
            if fact_of(taken).atom({}) not in required:
                raise _refused(f'it takes what comes with "{taken}", but does not require that', "add it to `requires`")
        for verb, texts in (("requires", self.requires), ("makes", self.effects)):
            if both := _said_both_ways(texts):
                raise _refused(f'it {verb} "{both}" both true and false', "decide for one")
        return self


def _said_both_ways(texts: Iterable[str]) -> str:
    """A fact of which it is said that it holds and that it does not; empty: none."""
    said = {(fact_of(text).atom({}), fact_of(text).holds) for text in texts}
    return next((told(atom) for atom, holds in sorted(said) if holds and (atom, False) in said), "")


def _refused(flaw: str, hint: str) -> PydanticCustomError:
    return PydanticCustomError("fact", "{flaw}", {"flaw": flaw, "hint": hint})


class Contracts(Part):
    """A problem for the planner. What is not given does not hold."""

    contracts: Literal[1] = 1
    """The version of this format."""
    goal: Line = ""
    """What is to be achieved, in a sentence; left out: the wanted facts."""
    objects: dict[Kind, Many[Object]] = {}
    """The objects that variables stand for, by their kind; one may be of several kinds."""
    given: Many[Given] = ()
    """What holds now."""
    wanted: Annotated[Many[Wanted], Field(min_length=1)]
    """What has to hold in the end."""
    actions: dict[Name, Action] = {}
    """What can be done, by name."""
    inputs: dict[Id, JsonSchema] = {}
    """Inputs of the plan, which `with` may name as in `${inputs.version}`."""
    budget: Budget | None = None
    """The budget of the plan."""
    policy: Policy | None = None
    """The policy of the plan."""
    meta: JsonObject = {}
    """Anything else worth keeping; it is handed on to the plan."""

    @model_validator(mode="after")
    def _can_be(self) -> "Contracts":
        if both := _said_both_ways(self.wanted):
            raise _refused(f'"{both}" is wanted both true and false', "decide for one")
        return self
