"""Order: needs, targets, loops, and steps that nothing leads to."""

from collections.abc import Iterable, Iterator, Sequence

from perdure.plan.flow import STANDARD_EXITS, SerialFlow, aimed_at, choices_of, known_exits, leads, needed_by
from perdure.plan.index import Holder, Index, Node, Section
from perdure.plan.model.parts import Quorum
from perdure.plan.model.steps import RESERVED_TARGETS, DecideStep, Leading, MapStep, Working
from perdure.plan.paths import circles
from perdure.plan.problems import Path, Problem, did_you_mean


def check_order(index: Index, flow: SerialFlow) -> Iterator[Problem]:
    """Everything about which step comes when."""
    for node in index.nodes:
        yield from _check_targets(node, index)
        yield from _check_words(node)
        yield from _check_choices(node, index)
    for group in index.groups:
        if group.holder is None:
            continue
        yield from _check_join(group, group.holder)
        if isinstance(index, Section):
            yield from _check_section(group, index, flow)
        elif group.serial:
            yield from _check_no_needs(group.children)
            yield from _check_ways(group, flow)
        else:
            yield from _check_needs(group)


def _check_section(group: Node, section: Section, flow: SerialFlow) -> Iterator[Problem]:
    """A group of which most steps are as they were: nothing is wrong among those."""
    children = section.looked_at(group)
    if not group.serial:
        yield from _check_new_needs(group, children, section)
        return
    yield from _check_no_needs(children)
    if section.jumps or not all(_is_followed(group, child, section) for child in children):
        yield from _check_ways(group, flow)


def _check_ways(group: Node, flow: SerialFlow) -> Iterator[Problem]:
    yield from _check_reachable(group, flow)
    yield from _check_loops(group, flow)


def _is_followed(group: Node, child: Node, index: Index) -> bool:
    """Whether a step is reached from the one before it; else only a jump may lead to it."""
    before = group.children[child.position - 1] if child.position else None
    return before is None or any(target == "next" for _, target in leads(before, index))


# ------------------------------------------------------------------------------- needs


def _check_no_needs(children: Iterable[Node]) -> Iterator[Problem]:
    for child in children:
        if child.step and child.step.needs:
            hint = "give the group `mode: graph`, or leave `needs` out: here a step follows the one before it"
            message = f'"{child.id}" has needs, but its group is serial'
            yield Problem("PRD1304", message, (*child.path, "needs"), hint)


def _check_needs(group: Node) -> Iterator[Problem]:
    yield from _check_named(group, group.children)
    yield from _check_circles(group)


def _check_named(group: Node, children: Iterable[Node]) -> Iterator[Problem]:
    siblings = {child.id for child in group.children}
    for child in children:
        for n, need in enumerate(child.step.needs if child.step else ()):
            if need not in siblings:
                hint = did_you_mean(need, siblings - {child.id}) or "needs name siblings in the same group"
                message = f'"{child.id}" needs "{need}", which is not in its group'
                yield Problem("PRD1305", message, (*child.path, "needs", n), hint)


def _check_new_needs(group: Node, children: Sequence[Node], index: Index) -> Iterator[Problem]:
    """The needs of some children: a circle that was not there before leads through one of them."""
    yield from _check_named(group, children)
    if any(child in _needed_by_way(child, index) for child in children):
        yield from _check_circles(group)


def _needed_by_way(child: Node, index: Index) -> set[Node]:
    """All that has to be over before a step."""
    found, stack = set[Node](), [child]
    while stack:
        step = stack.pop().step
        for need in step.needs if step else ():
            node = index.by_id.get(need)
            if node is not None and node.parent is child.parent and node not in found:
                found.add(node)
                stack.append(node)
    return found


def _check_circles(group: Node) -> Iterator[Problem]:
    for circle in circles(needed_by(group)):
        names = [group.children[n].id for n in circle[::-1]]  # each needs the one after it
        text = " → ".join(_shortened([*names, names[0]]))
        hint = "take one of these needs away; to repeat steps, put them into a serial group and jump back"
        first = group.children[min(circle)]
        yield Problem("PRD1306", f"needs go round in a circle: {text}", (*first.path, "needs"), hint)


def _shortened(names: list[str]) -> list[str]:
    return names if len(names) <= 8 else [*names[:4], "…", *names[-3:]]  # noqa: PLR2004  what a line can hold


# ------------------------------------------------------------------------------- targets


def _check_targets(node: Node, index: Index) -> Iterator[Problem]:
    if not isinstance(node.step, Leading) or not node.step.on:
        return
    known = known_exits(node.step)
    for exit_, target in node.step.on.items():
        path = (*node.path, "on", exit_)
        if exit_ not in known:
            hint = did_you_mean(exit_, known)
            hint = f"{hint}; or add it to `verdicts`" if isinstance(node.step, Working) else hint
            yield Problem("PRD1310", f'"{node.id}" never ends with "{exit_}"', path, hint)
        if target not in RESERVED_TARGETS:
            yield from check_target(node, target, path, index)


def check_target(node: Node, target: str, path: Path, index: Index) -> Iterator[Problem]:
    """Whether a jump from a node to a step id is possible."""
    if aimed_at(node, target, index):
        return
    found = index.by_id.get(target)
    if found is None:
        hint = did_you_mean(target, [*RESERVED_TARGETS, *_in_reach(node)])
        yield Problem("PRD1301", f'there is no step "{target}" to go to', path, hint)
    elif found.parent is not None and found.parent in node.around and not found.parent.serial:
        hint = "in a graph order comes from `needs`; to jump or to loop, put these steps into a serial group"
        yield Problem("PRD1307", f'"{target}" is a sibling in a graph; one cannot jump to it', path, hint)
    elif found.scope is not node.scope:
        hint = "a sub-plan and the body of a map are worlds of their own: let them end, and jump from their step"
        yield Problem("PRD1313", f'"{target}" is in another scope', path, hint)
    else:
        yield Problem("PRD1302", f'"{target}" is inside a group that "{node.id}" is not in', path, _outer(node, found))


def _in_reach(node: Node) -> Iterator[str]:
    for group in node.around:
        if group.serial:
            yield from (child.id for child in group.children)
        if group.is_scope:
            return


def _outer(node: Node, found: Node) -> str:
    around = {id(group) for group in node.around}
    outer = next((group for group in found.around if group.parent and id(group.parent) in around), None)
    return f'jump to the group itself: "{outer.id}"' if outer else "jumps go sideways or outward, never inward"


def _check_words(node: Node) -> Iterator[Problem]:
    """A choice or a verdict must be told apart from the exits that every step has."""
    step = node.step
    verdicts = step.verdicts if isinstance(step, Working) else ()
    for name, words in (("choices", choices_of(step) if step else ()), ("verdicts", verdicts)):
        for n, word in enumerate(words):
            if word in STANDARD_EXITS:
                hint = "choose another word: every step can end so"
                yield Problem("PRD1315", f'"{word}" is an exit of every step', (*node.path, name, n), hint)


def _check_choices(node: Node, index: Index) -> Iterator[Problem]:
    step = node.step
    if not isinstance(step, DecideStep) or node.parent is None or not node.parent.serial:
        return
    for n, choice in enumerate(choices_of(step)):
        if choice not in step.on and not aimed_at(node, choice, index):
            hint = did_you_mean(choice, _in_reach(node))
            hint = f"write `on: {{{choice}: …}}` ({hint or 'next, done, fail, or a step'})"
            message = f'the choice "{choice}" leads nowhere: no step in reach has that id'
            yield Problem("PRD1311", message, (*node.path, "choices", n), hint)


# ------------------------------------------------------------------------------- serial groups


def _check_reachable(group: Node, flow: SerialFlow) -> Iterator[Problem]:
    reachable = flow.reachable(group)
    for child in group.children:
        if child.position not in reachable:
            yield _unreached(child)


def _unreached(child: Node) -> Problem:
    hint = "jump to it, move it, or take it out"
    return Problem("PRD1308", f'nothing leads to "{child.id}"', child.path, hint)


def _check_loops(group: Node, flow: SerialFlow) -> Iterator[Problem]:
    """A bound stops a step from being entered, but not the ways around it: its `exhausted` and `skipped` exits."""
    free = [
        flow.unvisited[group][n] if _bounded(child) else flow.edges[group][n] for n, child in enumerate(group.children)
    ]
    for circle in circles(free):
        names = [group.children[n].id for n in circle]
        text = " → ".join(_shortened([*names, names[0]]))
        free_step = next((group.children[n].id for n in circle if not _bounded(group.children[n])), None)
        hint = f"give one of them `max_visits`, as in: {{id: {free_step}, max_visits: 10, …}}"
        hint = hint if free_step else "let `exhausted` and `skipped` lead out of the loop"
        yield Problem("PRD1309", f"this loop has no bound: {text}", group.children[circle[0]].path, hint)


def _bounded(node: Node) -> bool:
    return isinstance(node.step, Leading) and node.step.max_visits is not None


# ------------------------------------------------------------------------------- joining


def _check_join(group: Node, holder: Holder) -> Iterator[Problem]:
    path = (*group.path, "plan", "join") if holder is not group.step and group.step else (*group.path, "join")
    if isinstance(holder, MapStep):
        if isinstance(holder.join, Quorum) and isinstance(holder.map, list):
            yield from _check_quorum(holder.join, len(holder.map), path)  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]  a literal list of anything
    elif isinstance(holder.join, Quorum) and not group.serial:
        yield from _check_quorum(holder.join, len(group.children), path)
    if group.serial and not isinstance(holder, MapStep) and (holder.join != "all" or holder.limit is not None):
        word = "join" if holder.join != "all" else "limit"
        hint = "write `parallel:` or `mode: graph` if the steps are to run at once"
        yield Problem("PRD1314", f"`{word}` means nothing in a serial group", (*path[:-1], word), hint)


def _check_quorum(join: Quorum, count: int, path: Path) -> Iterator[Problem]:
    if join.quorum > count:
        message = f"a quorum of {join.quorum} cannot be reached by {count} steps"
        yield Problem("PRD1312", message, path, f"write at most {count}")
