"""Edits: insert, replace and remove steps. Taken whole or refused whole, with sentences to repair from."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, ClassVar, Final

from pydantic import Discriminator, Tag, TypeAdapter, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from perdure.plan.checks import check
from perdure.plan.index import Holder, Index
from perdure.plan.limits import Limits
from perdure.plan.model.document import Plan
from perdure.plan.model.parts import Id, Part
from perdure.plan.model.steps import AnyStep, GroupStep, MapStep, Step, SubplanStep
from perdure.plan.problems import PlanError, Problem, did_you_mean, errors_in
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


def _edit_of(value: Raw) -> str | None:
    words = ("insert", "replace", "remove")
    return next((word for word in words if (word in value if is_mapping(value) else hasattr(value, word))), None)


Edit = Annotated[
    Annotated[Insert, Tag("insert")] | Annotated[Replace, Tag("replace")] | Annotated[Remove, Tag("remove")],
    Discriminator(_edit_of, custom_error_type="edit", custom_error_message="an edit is insert, replace or remove"),
]
EDIT: Final[TypeAdapter[Insert | Replace | Remove]] = TypeAdapter(Edit)


class EditError(PlanError):
    """The edits were refused; the plan is as it was."""

    code: ClassVar[str] = "PRD1500"


def read_edits(edits: Sequence[Raw]) -> list[Insert | Replace | Remove]:
    """Edits from plain data, as a model writes them; raise `EditError` with every problem in them."""
    problems: list[Problem] = []
    found: list[Insert | Replace | Remove] = []
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
    hint = "write {insert: STEP, after | before | into: ID}, {replace: ID, step: STEP} or {remove: ID}"
    return [Problem("PRD1505", f"this is no edit: {message}", (number,), hint)]


def revise(
    plan: Plan,
    edits: Sequence[Insert | Replace | Remove | Mapping[str, Raw]],
    base: str | None = None,
    toolbox: Toolbox | None = None,
    limits: Limits | None = None,
) -> Plan:
    """The plan after all edits, or `EditError` with every reason; `base` is the hash the edits were made for."""
    if base is not None and base != plan.hash:
        hint = "read the plan again and make the edits anew"
        raise EditError([Problem("PRD1501", "the plan has changed since these edits were made", (), hint)])
    draft = _Draft(plan)
    problems = [problem for n, edit in enumerate(read_edits(edits)) if (problem := draft.take(edit, n))]
    problems += draft.emptied()
    if problems:
        raise EditError(problems)
    revised = draft.plan()
    problems = [*_too_large(revised, limits or Limits()), *errors_in(check(revised, toolbox))]
    if problems:
        raise EditError(problems)
    return revised


def _too_large(plan: Plan, limits: Limits) -> list[Problem]:
    nodes = Index(plan).nodes
    if len(nodes) <= limits.steps and all(node.depth <= limits.depth for node in nodes):
        return []
    message = f"the plan would pass its limits of {limits.steps:,} steps and {limits.depth} levels"
    return [Problem("PRD1004", message, (), "insert fewer steps")]


class _Draft:
    """The lists of a plan, opened for editing; what is not touched stays shared with the old plan."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._lists: dict[str, list[AnyStep]] = {ROOT: list(plan.steps)}
        self._parents: dict[str, str] = {}
        self._holders: dict[str, Holder | SubplanStep] = {ROOT: plan}
        self._touched: dict[str, None] = {}
        self._learn(plan, ROOT)

    def _learn(self, plan: Plan, around: str) -> None:
        """Know every step of a plan, or of a new step that is put into one, by its place."""
        for node in Index(plan).nodes:
            self._parents[node.id] = (node.parent.id if node.parent else "") or around
            if node.holder is not None:
                self._lists[node.id] = list(node.holder.steps)
            if isinstance(node.step, (GroupStep, MapStep, SubplanStep)):
                self._holders[node.id] = node.step

    # ------------------------------------------------------------ edits

    def take(self, edit: Insert | Replace | Remove, number: int) -> Problem | None:
        """Apply one edit, or say why not."""
        match edit:
            case Insert(after=str(name)):
                return self._beside(name, edit.insert, 1, number)
            case Insert(before=str(name)):
                return self._beside(name, edit.insert, 0, number)
            case Insert():
                return self._into(edit.into or ROOT, edit.insert, number)
            case Replace():
                return self._swap(edit.replace, [edit.step], number)
            case Remove():
                return self._swap(edit.remove, [], number)

    def _beside(self, name: str, step: AnyStep, offset: int, number: int) -> Problem | None:
        if name not in self._parents:
            return self._unknown(name, number)
        return self._put(self._parents[name], self._position(name) + offset, step, number)

    def _into(self, group: str, step: AnyStep, number: int) -> Problem | None:
        if group not in self._lists:
            if group not in self._parents:
                return self._unknown(group, number)
            hint = "name a group, a map or an inline sub-plan; to add a step beside it, use `after`"
            return Problem("PRD1503", f'"{group}" holds no steps', (number, "into"), hint)
        return self._put(group, len(self._lists[group]), step, number)

    def _put(self, parent: str, position: int, step: AnyStep, number: int, word: str = "insert") -> Problem | None:
        if taken := self._taken(step):
            hint = "give the new step another id, or use `replace`"
            return Problem("PRD1107", f'the id "{taken}" is taken', (number, word, "id"), hint)
        self._lists[parent].insert(position, step)
        self._touched[parent] = None
        self._learn(Plan.model_construct(steps=(step,)), parent)
        return None

    def _swap(self, name: str, steps: list[AnyStep], number: int) -> Problem | None:
        if name not in self._parents:
            return self._unknown(name, number)
        parent, position = self._parents[name], self._position(name)
        del self._lists[parent][position]
        self._forget(name)
        for step in steps:
            if problem := self._put(parent, position, step, number, "step"):
                return problem
        self._touched[parent] = None
        return None

    def _unknown(self, name: str, number: int) -> Problem:
        return Problem("PRD1502", f'there is no step "{name}" to edit', (number,), did_you_mean(name, self._parents))

    def _position(self, name: str) -> int:
        return next(n for n, step in enumerate(self._lists[self._parents[name]]) if step.id == name)

    # ------------------------------------------------------------ what is in it

    def _taken(self, step: AnyStep) -> str | None:
        names = [node.id for node in Index(Plan.model_construct(steps=(step,))).nodes]
        return next((name for name in names if name in self._parents), None)

    def _forget(self, name: str) -> None:
        """A step is gone, with all that is in it by now."""
        stack = [name]
        while stack:
            gone = stack.pop()
            stack.extend(step.id for step in self._lists.get(gone, ()))
            for known in (self._parents, self._lists, self._holders, self._touched):
                known.pop(gone, None)

    # ------------------------------------------------------------ closing

    def emptied(self) -> list[Problem]:
        """Plans and maps that would be left without a step."""
        hint = "remove the step around it, or put another step in"
        return [
            Problem("PRD1504", f"{name or 'the plan'} would be left without steps", (), hint)
            for name in self._touched
            if not self._lists[name] and not isinstance(self._holders[name], GroupStep)
        ]

    def plan(self) -> Plan:
        """The edited plan."""
        for name in sorted(self._touched, key=self._depth, reverse=True):
            self._close(name)
        return self._plan.with_steps(tuple(self._lists[ROOT]))

    def _depth(self, name: str) -> int:
        depth = 0
        while name != ROOT:
            name = self._parents[name]
            depth += 1
        return depth

    def _close(self, name: str) -> None:
        """Write a touched list back into its holder, and the holder into the list around it, up to the root."""
        while name != ROOT:
            holder, steps = self._holders[name], tuple(self._lists[name])
            if isinstance(holder, SubplanStep) and isinstance(holder.plan, Plan):
                closed: AnyStep = holder.model_copy(update={"plan": holder.plan.with_steps(steps)})
            elif isinstance(holder, Plan):
                return
            else:
                closed = holder.model_copy(update={"steps": steps})
            parent = self._parents[name]
            self._lists[parent][self._position(name)] = closed
            name = parent
