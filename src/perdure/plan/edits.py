"""Edits: insert, replace, remove and amend steps. Taken whole or refused whole, with sentences to repair from."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from pydantic import ValidationError

from perdure.plan.checks import check
from perdure.plan.grafting import Graft, take
from perdure.plan.index import Index, within
from perdure.plan.limits import Limits
from perdure.plan.model.document import Plan, written_out
from perdure.plan.model.edits import EDIT, Amend, AnyEdit, Insert, Remove, Replace
from perdure.plan.problems import PlanError, Problem, errors_in
from perdure.plan.raw import Raw, is_mapping
from perdure.plan.reading.shape import shape
from perdure.plan.sayings import sentence
from perdure.plan.toolbox import Toolbox


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


def too_large(graft: Graft, limits: Limits) -> list[Problem]:
    """Whether a plan has become larger than plans may be."""
    new = (node for top in graft.born for node in (top, *within(top)))
    if len(graft.index.by_id) <= limits.steps and all(node.depth <= limits.depth for node in new):
        return []
    message = f"the plan would pass its limits of {limits.steps:,} steps and {limits.depth} levels"
    return [Problem("PRD1004", message, (), "insert fewer steps")]
