"""Grafting: a tree of steps is edited in its place, and can be put back as it was.

Only the lists that are edited are made anew. The models of a plan never change: those around an edit are copied,
one for each group from the edit up to the plan, when the edits are to stay.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from perdure.plan.index import Holder, Index, Node, grown, held_by, within
from perdure.plan.model.document import Plan, own_fields
from perdure.plan.model.edits import Amend, AnyEdit, Insert, Remove, Replace
from perdure.plan.model.steps import STEP_TYPES, AnyStep, GroupStep, MapStep, SubplanStep, kind_of
from perdure.plan.problems import Problem, did_you_mean
from perdure.plan.raw import Raw

FIXED: Final = frozenset({"id", "kind", "steps", "parallel", "plan", "perdure"})
"""What an amendment cannot be about."""
_STUB: Final = {"id": "stub", "checkpoint": True}
Guard = Callable[[AnyEdit, int], Problem | None]
"""Says why an edit, by its number, must not be taken."""


class Graft:
    """Edits of a tree while they are taken. After `renumber` the tree is as they want it."""

    def __init__(self, index: Index) -> None:
        self.index: Final = index
        self.born: dict[Node, None] = {}
        """New steps as they were put in, without those inside them."""
        self.gone: dict[str, Node] = {}
        """Steps that stood there before, by id."""
        self._lists: dict[Node, list[Node]] = {}
        self._parts: dict[Node, tuple[AnyStep | None, Holder | None]] = {}
        self._ids: dict[str, Node | None] = {}

    @property
    def touched(self) -> dict[Node, list[Node]]:
        """Groups with other children now, and the children they had."""
        return {group: before for group, before in self._lists.items() if self._stands(group)}

    @property
    def amended(self) -> list[Node]:
        """Steps that stood there before and have other fields now."""
        return [node for node in self._parts if self._stands(node)]

    def _stands(self, node: Node) -> bool:
        return node.parent is None or self.index.by_id.get(node.id) is node

    # ------------------------------------------------------------ edits

    def insert_beside(self, name: str, step: AnyStep, offset: int, number: int) -> Problem | None:
        """Put a step next to another one."""
        node = self.index.by_id.get(name)
        if node is None or node.parent is None:
            return self._unknown(name, number)
        return self._put(node.parent, node.parent.children.index(node) + offset, step, number, "insert")

    def insert_into(self, group: str, step: AnyStep, number: int) -> Problem | None:
        """Put a step at the end of a group."""
        node = self.index.by_id.get(group) if group else self.index.root
        if node is None:
            return self._unknown(group, number)
        if node.holder is None:
            hint = "name a group, a map or an inline sub-plan; to add a step beside it, use `after`"
            return Problem("PRD1503", f'"{group}" holds no steps', (number, "into"), hint)
        return self._put(node, len(node.children), step, number, "insert")

    def swap(self, name: str, steps: Iterable[AnyStep], number: int) -> Problem | None:
        """Put steps, or none, in the place of another one."""
        node = self.index.by_id.get(name)
        if node is None or node.parent is None:
            return self._unknown(name, number)
        parent, position = node.parent, node.parent.children.index(node)
        del self._opened(parent)[position]
        if node not in self.born:
            self.gone.setdefault(name, node)
        for each in (node, *within(node)):
            self._note(each.id, None)
            self.born.pop(each, None)
        for step in steps:
            if problem := self._put(parent, position, step, number, "step"):
                return problem
        return None

    def amend(self, name: str, fields: dict[str, Raw], number: int) -> Problem | None:
        """Change fields of a step, or of the plan; one that is null is left out from now on."""
        node = self.index.by_id.get(name) if name else self.index.root
        if node is None:
            return self._unknown(name, number)
        fixed = sorted(FIXED & fields.keys())
        if fixed:
            hint = "replace the step, or edit the steps inside it"
            return Problem("PRD1506", f"an amendment cannot change {', '.join(fixed)}", (number, "fields"), hint)
        self._parts.setdefault(node, (node.step, node.holder))
        try:
            _set(node, _amended(node.step or node.holder or self.index.plan, fields))
        except ValidationError as error:
            return _of(error, number)
        return None

    def _put(self, parent: Node, position: int, step: AnyStep, number: int, word: str) -> Problem | None:
        top = Node(step, held_by(step), parent, position, parent.depth + 1)
        for node in (top, *grown(top)):
            if node.id in self.index.by_id:
                hint = "give the new step another id, or use `replace`"
                return Problem("PRD1107", f'the id "{node.id}" is taken', (number, word, "id"), hint)
            self._note(node.id, node)
        self._opened(parent).insert(position, top)
        self.born[top] = None
        return None

    def _unknown(self, name: str, number: int) -> Problem:
        hint = did_you_mean(name, self.index.by_id)
        return Problem("PRD1502", f'there is no step "{name}" to edit', (number,), hint)

    # ------------------------------------------------------------ noting

    def _opened(self, group: Node) -> list[Node]:
        if group not in self._lists:
            self._lists[group], group.children = group.children, list(group.children)
        return group.children

    def _note(self, id_: str, node: Node | None) -> None:
        known = self.index.by_id
        self._ids.setdefault(id_, known.get(id_))
        known.pop(id_, None)
        if node is not None:
            known[id_] = node

    def renumber(self) -> None:
        """Let every child know its place, and forget how the tree was."""
        for group in self._lists:
            for position, child in enumerate(group.children):
                child.position = position
        self.index.__dict__.pop("nodes", None)

    def undo(self) -> None:
        """Put everything back."""
        for group, children in self._lists.items():
            group.children = children
        self.renumber()
        for id_, node in self._ids.items():
            self.index.by_id.pop(id_, None)
            if node is not None:
                self.index.by_id[id_] = node
        for node, (step, holder) in self._parts.items():
            node.step, node.holder = step, holder

    # ------------------------------------------------------------ closing

    def emptied(self) -> list[Problem]:
        """Plans and maps that would be left without a step."""
        hint = "remove the step around it, or put another step in"
        return [
            Problem("PRD1504", f"{group.id or 'the plan'} would be left without steps", (), hint)
            for group in self.touched
            if not group.children and not isinstance(group.holder, GroupStep)
        ]

    def close(self) -> list[Node]:
        """Write the edits into models, up to the plan. All nodes whose models are others now, the innermost first."""
        amended = self.amended
        dirty = dict.fromkeys((*self.touched, *(node for node in amended if node.holder)))
        dirty |= {node.parent: None for node in amended if node.parent}
        around = {each: None for node in dirty for each in node.around}
        closed = sorted(dirty | around, key=lambda node: -node.depth)
        for node in closed:
            self._close(node)
        root = self.index.root.holder
        assert isinstance(root, Plan)  # noqa: S101  as every root
        self.index.plan = root
        return [*(node for node in amended if node.holder is None), *closed]

    def _close(self, node: Node) -> None:
        steps = tuple(child.step for child in node.children)
        holder = node.holder
        assert holder is not None  # noqa: S101  whoever has children holds them
        if isinstance(holder, Plan):
            node.holder = holder.with_steps(steps)
            if isinstance(node.step, SubplanStep):
                node.step = node.step.model_copy(update={"plan": node.holder})
        else:
            node.step = node.holder = holder.model_copy(update={"steps": steps})


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
            return graft.insert_into(edit.into or "", edit.insert, number)
        case Replace():
            return graft.swap(edit.replace, [edit.step], number)
        case Remove():
            return graft.swap(edit.remove, [], number)
        case Amend():
            return graft.amend(edit.amend, edit.fields, number)


def _of(error: ValidationError, number: int) -> Problem:
    first = error.errors(include_url=False)[0]
    place = tuple(each for each in first["loc"] if isinstance(each, (str, int)))
    hint = "write the field as in a plan; null leaves it out"
    return Problem("PRD1506", f"{first['msg']}", (number, "fields", *place), hint)


# ------------------------------------------------------------------------------- amending


def _set(node: Node, part: AnyStep | Plan) -> None:
    node.step, node.holder = (None, part) if isinstance(part, Plan) else (part, held_by(part))


def _amended(part: AnyStep | Holder, fields: dict[str, Raw]) -> AnyStep | Plan:
    """A step or a plan with other fields, and with what it held."""
    raw = {word: value for word, value in {**own_fields(part), **fields}.items() if value is not None}
    if isinstance(part, Plan):
        return _kept(Plan.model_validate, {**raw, "steps": [_STUB]}, part, "steps")
    make = STEP_TYPES[str(kind_of(part))].model_validate
    if isinstance(part, (GroupStep, MapStep)):
        return _kept(make, {"mode": "serial", **raw, "steps": [_STUB]}, part, "steps")
    if isinstance(part, SubplanStep):
        return _kept(make, {**raw, "plan": "stub"}, part, "plan")
    return make(raw)


def _kept(make: Callable[[Any], Any], raw: dict[str, Raw], part: BaseModel, word: str) -> Any:
    return make(raw).model_copy(update={word: getattr(part, word)})
