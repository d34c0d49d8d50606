"""Edits as data: what is to be inserted, replaced, removed or amended."""

from typing import Annotated, Final

from pydantic import ConfigDict, Discriminator, Field, Tag, TypeAdapter, model_validator
from pydantic_core import PydanticCustomError

from perdure.plan.model.parts import Id, JsonObject, Part
from perdure.plan.model.steps import Step
from perdure.plan.raw import Raw, is_mapping


class Insert(Part):
    """Put a step after another one, before another one, or at the end of a group."""

    insert: Step
    """The new step."""
    after: Id | None = None
    """The step it follows."""
    before: Id | None = None
    """The step it precedes."""
    into: str | None = None
    """The group it is added to; empty for the plan itself."""

    @model_validator(mode="after")
    def _one_place(self) -> "Insert":
        if sum(place is not None for place in (self.after, self.before, self.into)) != 1:
            raise PydanticCustomError("insert", "an insert has exactly one of after, before, into")
        return self


class Replace(Part):
    """Put a step in the place of another one."""

    replace: Id
    """The step that goes."""
    step: Step
    """The step that comes; it may keep the id."""


class Remove(Part):
    """Take a step out, with everything inside it."""

    remove: Id
    """The step that goes."""


class Amend(Part):
    """Change some fields of a step, or of the plan itself, and leave the others as they are."""

    amend: str
    """The step; empty for the plan itself."""
    fields: Annotated[JsonObject, Field(min_length=1)]
    """The fields, as in a plan; null leaves one out."""


AnyEdit = Insert | Replace | Remove | Amend


def _edit_of(value: Raw) -> str | None:
    words = ("insert", "replace", "remove", "amend")
    return next((word for word in words if (word in value if is_mapping(value) else hasattr(value, word))), None)


Edit = Annotated[
    Annotated[Insert, Tag("insert")]
    | Annotated[Replace, Tag("replace")]
    | Annotated[Remove, Tag("remove")]
    | Annotated[Amend, Tag("amend")],
    Discriminator(
        _edit_of, custom_error_type="edit", custom_error_message="an edit is insert, replace, remove or amend"
    ),
]
EDIT: Final[TypeAdapter[AnyEdit]] = TypeAdapter(Edit, config=ConfigDict(defer_build=True))
