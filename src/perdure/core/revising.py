"""Revision: the plan of a run that is under way is edited. Taken whole, or refused whole.

The past is pinned: a step that is over keeps its result; it can be changed only if something leads back to it, and
then for its next visit. The present is protected: what is at work is neither changed nor taken out; a group that is
under way may get new steps, and lose those that were not reached. The future is free.

Whoever is refused is told every reason, in sentences that edits can be repaired from.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from perdure.collector import Undisturbed
from perdure.core import events as e
from perdure.core.cells import Body, Cell, Graph, Serial
from perdure.core.refitting import bodies_in, cells_at, first_new, owned
from perdure.core.refusing import NotRevised, OtherRevision
from perdure.core.reopening import GOES_ON, Fate
from perdure.core.state import State
from perdure.core.widening import widenings
from perdure.plan.checks import check_section
from perdure.plan.edits import EditError, as_data, read_edits, too_large
from perdure.plan.flow import SerialFlow, may_jump
from perdure.plan.grafting import Graft, take
from perdure.plan.index import Node, Section, within
from perdure.plan.limits import Limits
from perdure.plan.model.edits import Amend, AnyEdit, Insert, Remove, Replace
from perdure.plan.problems import Problem

ANY = -1
"""Stands for the present revision, whatever it is."""
OF_PLAN = frozenset({"budget", "policy", "output", "limit", "recovery", "name", "meta"})
"""What can be amended of a plan that is being carried out."""
OF_LIVE = frozenset({"title", "limit"})
"""What can be amended of a group that is under way."""


def as_facts(edits: Sequence[Any]) -> tuple[dict[str, Any], ...]:
    """Edits as a fact holds them; `NotRevised` if something is no edit."""
    try:
        return tuple(map(as_data, read_edits(edits)))
    except EditError as error:
        raise NotRevised(error.problems) from error


def check_revision(state: State, message: e.RunRevised, fates: Mapping[Cell, Fate] | None = None) -> list[Node]:
    """Raise `Refused` if the plan cannot be revised so; the steps that will have others in them, or other fields.

    `fates` is what becomes of a run that is over before it is revised.
    """
    if message.base not in (ANY, state.revision):
        raise OtherRevision(*_told_since(state, message.base))
    try:
        edits = read_edits(message.edits)
    except EditError as error:
        raise NotRevised(error.problems) from error
    with Undisturbed():
        return _Proposal(state, message, _Standing(fates or {})).check(edits)


def _told_since(state: State, base: int) -> tuple[str, str]:
    told = f"the plan of the run is at revision {state.revision}, and these edits were made for {base}"
    since = [f"{each.base + 1} by {each.by or 'somebody'}: {each.why or '-'}" for each in state.revised[max(base, 0) :]]
    changed = f"; since then: {'; '.join(since[-5:])}" if since else ""
    return told + changed, "read the plan again and make the edits anew"


class _Standing:
    """How steps stand, or will stand once a run that is over goes on."""

    def __init__(self, fates: Mapping[Cell, Fate]) -> None:
        self._fates = fates
        bodies = ((cell, cell.parent.body) for cell in fates if cell.parent)
        self._cursors = {body: cell.position for cell, body in bodies if isinstance(body, Serial)}

    def is_live(self, cell: Cell) -> bool:
        return cell.is_live or self._fates.get(cell) in GOES_ON

    def is_active(self, cell: Cell) -> bool:
        return cell.status == "active" or self._fates.get(cell) == "active"

    def comes(self, cell: Cell) -> bool:
        """Whether it is about to be entered, perhaps anew."""
        return cell.status == "idle" or self._fates.get(cell) in {"again", "unpassed"}

    def here(self, body: Serial) -> Cell | None:
        """Where a serial group is."""
        return body.children.get(self._cursors.get(body, body.cursor))


class _Proposal:
    """Edits while they are looked at. The tree is edited for that, and put back."""

    def __init__(self, state: State, message: e.RunRevised, standing: _Standing) -> None:
        self._state = state
        self._standing = standing
        self._message = message
        self._outline = owned(state)
        self._graft = Graft(self._outline.index)
        self._index = self._graft.index
        self._flow = SerialFlow(self._index)
        self._present: dict[Node, list[tuple[Cell, Body]]] = {}
        """Where the steps of a group stand now; found before places change."""
        self._more: set[Node] = set()
        """Maps that have items which were not begun."""
        self._past: dict[str, list[Cell]] = {}
        """Steps that were done and are edited, by id."""
        self._wanted: dict[str, int] = {}
        """Steps that must be able to come, by the edit that says so."""

    def check(self, edits: list[AnyEdit]) -> list[Node]:
        """Raise `NotRevised` with every reason; the steps that will have others in them, or other fields."""
        try:
            problems = take(self._graft, edits, self._guard)
            problems = problems or [*self._never_run(), *self._broken()]
            if problems:
                raise NotRevised(problems)
            return [*self._graft.touched, *self._graft.amended, *self._graft.reordered]
        finally:
            self._graft.undo()

    # ------------------------------------------------------------ what is pinned and what is protected

    def _guard(self, edit: AnyEdit, number: int) -> Problem | None:
        """Why a step cannot be edited, before it is."""
        if isinstance(edit, Insert):
            return self._guard_insert(edit, number)
        name = edit.replace if isinstance(edit, Replace) else edit.remove if isinstance(edit, Remove) else edit.amend
        node = self._index.by_id.get(name) if name else self._index.root
        if node is not None and node.id in self._past:
            return self._guard_past(node, self._past[node.id], edit, number)  # it may have been replaced just now
        return None if node is None or self._is_new(node) else self._guard_node(node, edit, number)

    def _is_new(self, node: Node) -> bool:
        return any(each in self._graft.born for each in (node, *node.around))

    def _guard_insert(self, edit: Insert, number: int) -> None:
        beside = self._index.by_id.get(edit.after or edit.before or "")
        group = beside.parent if beside else self._index.by_id.get(edit.into or "", self._index.root)
        if group is not None and not self._is_new(group):
            self._note(group)
            self._wanted[edit.insert.id] = number

    def _note(self, group: Node) -> None:
        """Find where the steps of a group stand, and those of all groups around it."""
        for each in (group, *group.around):
            if each not in self._present:
                cells = cells_at(self._state, each, past=False)
                self._present[each] = [pair for cell in cells for pair in bodies_in(cell, past=False)]
                self._more |= {each for cell in cells if self._standing.is_active(cell) and _has_more(cell)}

    def _guard_node(self, node: Node, edit: AnyEdit, number: int) -> Problem | None:
        if node.parent is None:
            return _of_live(edit, OF_PLAN, "the plan", number)
        self._note(node.parent)
        cells = cells_at(self._state, node, past=False)
        live = next((cell for cell in cells if self._standing.is_live(cell)), None)
        if live is not None:
            return _at_work(live, edit, number)
        reached = [cell for cell in cells if cell.result is not None]
        if not reached:
            return None
        self._past[node.id], self._wanted[node.id] = reached, number
        return self._guard_past(node, reached, edit, number)

    def _guard_past(self, node: Node, cells: list[Cell], edit: AnyEdit, number: int) -> Problem | None:
        """A step that was done keeps its name; as a group it keeps its steps, too."""
        is_group = any(isinstance(cell.body, Body) for cell in cells)
        match edit:
            case Remove():
                told = "and what was done cannot be taken out of the plan"
                comes = all(map(self._standing.comes, cells))
                hint = 'give it `when: "false"` to pass it by' if comes else "leave it; edit what comes after it"
            case Replace() if edit.step.id != node.id:
                told, hint = "and its result is known by this id", f'give the new step the id "{node.id}"'
            case Replace() if is_group:
                told, hint = "and it is known what was done in it", "amend it, or edit the steps inside it"
            case Amend() if is_group and "mode" in edit.fields:
                told, hint = "and it is known what was done in it", "insert a group with the other mode"
            case _:
                return None
        return Problem("PRD1508", f'"{node.id}" is over, {told}', (number,), hint)

    # ------------------------------------------------------------ what would never run

    def _never_run(self) -> Iterator[Problem]:
        for name, number in self._wanted.items():
            node = self._index.by_id.get(name)
            if node is None or self._comes(node):
                continue
            if node in self._graft.born and name not in self._graft.gone:
                yield self._too_late(node, number)
            else:
                hint = "insert a step with another id after what is under way"
                yield Problem("PRD1508", f'"{name}" is over, and nothing leads back to it', (number,), hint)

    def _too_late(self, node: Node, number: int) -> Problem:
        here = [self._here(body) for _, body in self._present.get(node.parent or node, ()) if isinstance(body, Serial)]
        last = max((each for each in here if each is not None), key=lambda each: each.position, default=None)
        hint = f'insert it after "{last.id}"' if last is not None else "insert it into a group that is under way"
        return Problem("PRD1509", f'"{node.id}" would never run: what comes there is over', (number,), hint)

    def _comes(self, node: Node) -> bool:
        """Whether a step, or a group around it, can still be entered."""
        child = node
        for parent in node.around:
            pairs = self._present.get(parent, ())
            active = (body for cell, body in pairs if self._standing.is_active(cell))
            if parent in self._more or any(self._fits(child, body) for body in active):
                return True
            child = parent
        return False

    def _fits(self, child: Node, body: Body) -> bool:
        if isinstance(body, Serial):
            here = self._here(body)
            return here is None or child.position >= self._next(here, body) or child.position in self._after(here)
        known = (cell for cell in body.children.values() if cell.node.id == child.id)
        return all(self._standing.comes(cell) or not (cell.result or self._standing.is_live(cell)) for cell in known)

    def _here(self, body: Serial) -> Node | None:
        cell = self._standing.here(body)
        return self._index.by_id[cell.node.id] if cell else None

    def _next(self, here: Node, body: Serial) -> int:
        """The first place that comes: after the step where the group is; if that is next, what is new before it."""
        cell = self._standing.here(body)
        if cell is None or here.parent is None or not self._standing.comes(cell):
            return here.position + 1
        nodes = here.parent.children
        return first_new(here.position, lambda place: self._is_fresh(nodes[place]))

    def _is_fresh(self, node: Node) -> bool:
        return node in self._graft.born and node.id not in self._past

    def _after(self, here: Node) -> set[int]:
        assert here.parent is not None  # noqa: S101  it stands in a serial group
        edges, found, stack = self._flow.edges[here.parent], set[int](), [here.position]
        while stack:
            for following in edges[stack.pop()] - found:
                found.add(following)
                stack.append(following)
        return found

    # ------------------------------------------------------------ what would be wrong with the plan

    def _broken(self) -> list[Problem]:
        graft = self._graft
        problems = too_large(graft, Limits())
        before, after = self._index.plan, self._index.root.holder
        problems += [] if after is None else widenings(before, after, widen=self._message.widen)
        return problems or check_section(self._section(), self._index, self._state.rules.toolbox())

    def _section(self) -> Section:
        """What is new, what is amended, and whoever names what is gone or other now."""
        graft, index = self._graft, self._index
        amended = [node for node in graft.amended if node.parent]
        new = [node for top in graft.born for node in (top, *within(top))]
        old = [node for top in graft.gone.values() for node in (top, *within(top))]
        names = {each.id for each in (*old, *amended)}
        nodes = dict.fromkeys((*new, *amended))
        nodes = [*nodes, *(self._outline.naming(names, nodes.keys()) if names else ())]
        inside = [node for each in graft.amended for node in within(each) if getattr(node.step, "budget", None)]
        about_plan = (index.root,) if names or index.root in graft.amended else ()
        groups = list(dict.fromkeys((*about_plan, *graft.touched, *nodes, *inside)))
        return Section(index, nodes, groups, jumps=any(map(may_jump, (*new, *old, *amended))))


def _has_more(cell: Cell) -> bool:
    """Whether it is a map that has items which were not begun."""
    body = cell.body
    if cell.kind != "map" or not isinstance(body, Graph):
        return False
    return not body.grown or len(body.children) < body.total


def _at_work(cell: Cell, edit: AnyEdit, number: int) -> Problem | None:
    name = cell.node.id
    if isinstance(cell.body, Body):
        return _of_live(edit, OF_LIVE, f'"{name}"', number)
    told = "replaced" if isinstance(edit, Replace) else "removed" if isinstance(edit, Remove) else "changed"
    hint = f'cancel it first (`perdure cancel RUN {cell.key}`), or insert a step after "{name}"'
    return Problem("PRD1507", f'"{name}" is at work and cannot be {told}', (number,), hint)


def _of_live(edit: AnyEdit, fields: frozenset[str], what: str, number: int) -> Problem | None:
    wanted = edit.fields.keys() - fields if isinstance(edit, Amend) else {"all of it"}
    if not wanted:
        return None
    told = f"{what} is under way; what cannot change now: {', '.join(sorted(wanted))}"
    hint = f"edit the steps inside it that were not reached yet, or amend {', '.join(sorted(fields))}"
    return Problem("PRD1507", told, (number,), hint)
