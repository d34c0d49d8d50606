"""Edits: insert, replace, remove and amend steps. Taken whole or refused whole, with sentences to repair from."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, ClassVar, Final

from pydantic import Discriminator, Field, Tag, TypeAdapter, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from perdure.plan.checks import check
from perdure.plan.grafting import Graft
from perdure.plan.index import Index, within
from perdure.plan.limits import Limits
from perdure.plan.model.document import Plan, written_out
from perdure.plan.model.parts import Id, JsonObject, Part
from perdure.plan.model.steps import Step
from perdure.plan.problems import PlanError, Problem, errors_in
from perdure.plan.raw import Raw, is_mapping
from perdure.plan.reading.shape import shape
from perdure.plan.sayings import sentence
from perdure.plan.toolbox import Toolbox

ROOT: Final = ""


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
Guard = Callable[[AnyEdit, int], Problem | None]
"""Says why an edit, by its number, must not be taken."""


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
EDIT: Final[TypeAdapter[AnyEdit]] = TypeAdapter(Edit)


def as_data(edit: AnyEdit) -> dict[str, Raw]:
    """An edit as plain data, which `read_edits` reads again."""
    match edit:
        case Insert():
            places = {"after": edit.after, "before": edit.before, "into": edit.into}
            return {"insert": written_out(edit.insert)} | {k: v for k, v in places.items() if v is not None}
        case Replace():
            return {"replace": edit.replace, "step": written_out(edit.step)}
        case Remove() | Amend():
            return edit.model_dump(mode="json")


class EditError(PlanError):
    """The edits were refused; the plan is as it was."""

    code: ClassVar[str] = "PRD1500"


def read_edits(edits: Sequence[Raw]) -> list[AnyEdit]:
    """Edits from plain data, as a model writes them; raise `EditError` with every problem in them."""
    problems: list[Problem] = []
    found: list[AnyEdit] = []
    for number, edit in enumerate(edits):
        try:
            found.append(EDIT.validate_python(edit))
        except ValidationError as error:
            problems += _problems_in(edit, number, error)
    if problems:
        raise EditError(problems)
    return found


def _problems_in(edit: Raw, number: int, error: ValidationError) -> list[Problem]:
    step = next((key for key in ("insert", "step") if is_mapping(edit) and is_mapping(edit.get(key))), None)
    inside = shape({"steps": [edit[step]]}, Limits()).problems if step else []
    if inside:
        return [replace(problem, path=(number, str(step), *problem.path[2:])) for problem in inside]
    message = sentence(error.errors(include_url=False)[0])
    hint = "write {insert: STEP, after | before | into: ID}, {replace: ID, step: STEP}, {remove: ID} or "
    hint += "{amend: ID, fields: {…}}"
    return [Problem("PRD1505", f"this is no edit: {message}", (number,), hint)]


def revise(
    plan: Plan,
    edits: Sequence[AnyEdit | Mapping[str, Raw]],
    base: str | None = None,
    toolbox: Toolbox | None = None,
    limits: Limits | None = None,
) -> Plan:
    """The plan after all edits, or `EditError` with every reason; `base` is the hash the edits were made for."""
    if base is not None and base != plan.hash:
        hint = "read the plan again and make the edits anew"
        raise EditError([Problem("PRD1501", "the plan has changed since these edits were made", (), hint)])
    graft = Graft(Index(plan))
    if problems := take(graft, read_edits(edits)):
        raise EditError(problems)
    graft.close()
    index = graft.index
    problems = [*too_large(graft, limits or Limits()), *errors_in(check(index.plan, toolbox, index))]
    if problems:
        raise EditError(problems)
    return index.plan


def take(graft: Graft, edits: Iterable[AnyEdit], guard: Guard = lambda _, __: None) -> list[Problem]:
    """Apply edits to a tree, one after another; why that cannot be. Then the tree is to be put back."""
    problems = [problem for n, edit in enumerate(edits) if (problem := guard(edit, n) or _take(graft, edit, n))]
    graft.renumber()
    return problems or graft.emptied()


def _take(graft: Graft, edit: AnyEdit, number: int) -> Problem | None:
    match edit:
        case Insert(after=str(name)):
            return graft.insert_beside(name, edit.insert, 1, number)
        case Insert(before=str(name)):
            return graft.insert_beside(name, edit.insert, 0, number)
        case Insert():
            return graft.insert_into(edit.into or ROOT, edit.insert, number)
        case Replace():
            return graft.swap(edit.replace, [edit.step], number)
        case Remove():
            return graft.swap(edit.remove, [], number)
        case Amend():
            return graft.amend(edit.amend, edit.fields, number)


def too_large(graft: Graft, limits: Limits) -> list[Problem]:
    """Whether a plan has become larger than plans may be."""
    new = (node for top in graft.born for node in (top, *within(top)))
    if len(graft.index.by_id) <= limits.steps and all(node.depth <= limits.depth for node in new):
        return []
    message = f"the plan would pass its limits of {limits.steps:,} steps and {limits.depth} levels"
    return [Problem("PRD1004", message, (), "insert fewer steps")]
