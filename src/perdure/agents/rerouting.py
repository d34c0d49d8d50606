"""Another way in a plan that is being carried out (X8): what is over stays, and what is to come goes round what failed.

Whatever stands in for a step that failed gets an id of its own, and all that is to come takes its results instead. What
failed stays in the plan, marked by its failure. Every way is a list of edits, for the checks of revisions to judge.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from perdure.agents.replanning import BadReplan, NoWay
from perdure.agents.substituting import references, substitute
from perdure.core.occasion import Occasion
from perdure.core.staying import LIMITS, Named, asks_of, inside, limits_of
from perdure.plan.expr import escaped
from perdure.plan.grafting import FIXED
from perdure.plan.index import Index, Node
from perdure.plan.model.document import own_fields
from perdure.plan.model.parts import UNPLANNED, UNPLANNED_STEP
from perdure.plan.problems import did_you_mean
from perdure.plan.raw import Raw
from perdure.plan.referring import referring
from perdure.tools.tool import AnyTool

Edit = dict[str, Raw]
Step = Mapping[str, Any]
REST: Final = "rest"
"""What the step is called that does what is left without a plan."""
ANEW: Final = "go on with another plan: perdure retry RUN --edit"
NEVER: Final[Edit] = {"when": "false"}
"""What a step gets that is not to be done any more."""


@dataclass(frozen=True, slots=True)
class Route:
    """A plan under way, in which some steps have failed."""

    occasion: Occasion
    index: Index
    failed: tuple[Node, ...]

    @classmethod
    def of(cls, occasion: Occasion, failed: Sequence[str]) -> "Route":
        """Look at the plan as it is. `BadReplan` if a step is not there, or nothing can stand in for it now."""
        index = occasion.index
        return cls(occasion, index, tuple(_found(occasion, index, each) for each in dict.fromkeys(failed)))

    # ------------------------------------------------------------ another tool

    def by_tools(self, known: Mapping[str, AnyTool], *, drops: bool = False) -> tuple[list[Edit], list[Edit]]:
        """Another tool with the same skills for each step that failed; and what follows. `NoWay` where there is none.

        `drops`: where there is none, the step and all that takes its results are left out, if something else is left.
        """
        edits, names, lost = list[Edit](), dict[str, str](), dict[str, str]()
        for node in self.failed:
            step = substitute(self.index, node, known)
            if isinstance(step, str):
                lost[node.id] = step
            else:
                names[node.id] = node.id if self._is_to_come(node) else self.fresh(node.id)
                edits.append(self._in_place_of(node, {**step, "id": names[node.id]}))
        if lost and not (drops and self._is_left_without(lost)):
            raise NoWay(f"there is no other way: {'; '.join(lost.values())}", "say `steps` or `edits` yourself")
        dropped: list[Edit] = [{"amend": node.id, "fields": NEVER} for node in self._dependents(lost)]
        return [*edits, *dropped], [*self._amendments(names, names)]

    def _is_left_without(self, lost: Mapping[str, str]) -> bool:
        gone = {node.id for node in self._dependents(lost)}
        return any(node.id not in gone for node in self._coming() if not node.children)

    def _dependents(self, lost: Mapping[str, str]) -> list[Node]:
        """The steps to come that failed, or that take results of such."""
        gone, found = set(lost), list[Node]()
        for node in self._coming() if lost else ():
            if node.id in gone or _refers(node, gone):
                gone.add(node.id)
                found.append(node)
        return found

    # ------------------------------------------------------------ steps that somebody wants

    def by_steps(self, steps: Sequence[Step]) -> tuple[list[Edit], list[Edit]]:
        """Other steps in the place of those that failed, or after whoever wants them; and what follows from that."""
        names = dict(self._fresh_names(steps))
        made = [self._renamed(each, names) for each in steps]
        alone = self.fresh(f"{made[0]['id']}_way")
        limits = self._limits()
        top = made[0] if len(made) == 1 and not limits else {"id": alone, "mode": "graph", "steps": made, **limits}
        failed = [node.id for node in self.failed]
        result = _result_of(steps, names, failed)
        if not result and any(node.id not in failed and _refers(node, set(failed)) for node in self._coming()):
            told = "several of the new steps could stand for what failed, whose result others take"
            raise BadReplan(told, f"give one of them the id {failed[0]}")
        place = self._in_place_of(self.failed[0], top) if failed else self._after(self._here, top)
        passed: list[Edit] = [{"amend": each.id, "fields": NEVER} for each in self.failed[1:] if self._is_to_come(each)]
        take = self._amendments(dict.fromkeys(failed, result), dict.fromkeys(failed, str(top["id"])))
        return [place], [*passed, *take]

    def _fresh_names(self, steps: Sequence[Step]) -> Iterator[tuple[str, str]]:
        """A new name for each step. One that takes the place of one that was not reached takes its name, too."""
        taken = set[str]()
        one = len(steps) == 1 and len(self.failed) == 1 and not self._limits()
        alone = one and self._is_to_come(self.failed[0])
        for step in steps:
            new = self.failed[0].id if alone else self.fresh(_id_of(step), taken)
            taken.add(new)
            yield _id_of(step), new

    def _limits(self) -> Edit:
        """The policy and the budget of what failed: they hold for whatever is done in its place."""
        held = (node for top in self.failed for node in inside(top, self.occasion.named) if any(limits_of(node)))
        if (node := next(held, None)) is not None:
            whose = f'"{node.id}"' if node.id else "a plan that is called"
            told = f"{whose} has a policy or a budget of its own, which would be lost with what is around it"
            raise BadReplan(told, "name single steps in `failed_steps`")
        found = [own_fields(node.step) for node in self.failed if node.step and any(limits_of(node))]
        if len(found) > 1:
            raise BadReplan("several of what failed have a policy or a budget of their own", "name one at a time")
        return {word: value for fields in found for word, value in fields.items() if word in LIMITS}

    def _renamed(self, step: Step, names: Mapping[str, str]) -> dict[str, Any]:
        made = referring(step, names)
        needs = [each for each in made.get("needs", ()) if each in names.values() or not self._is_over(str(each))]
        if late := next((each for each in needs if each not in names.values()), None):
            raise BadReplan(f'"{_id_of(step)}" needs "{late}", which is not over', "let it need new steps, or none")
        return {**made, "id": names[_id_of(step)], "needs": needs}

    def _is_over(self, name: str) -> bool:
        return name in self.index.by_id and self.occasion.standing(name) == "over"

    # ------------------------------------------------------------ a planner, or no plan at all

    def by_planner(self, group: Step) -> list[Edit]:
        """Steps that plan what is left, right after what failed; whatever takes its results waits for them."""
        [failed] = self.failed
        siblings = failed.parent.children if failed.parent and not failed.parent.serial else ()
        waiting = [node for node in siblings if self._is_to_come(node) and failed.id in _needs(node)]
        wait: list[Edit] = [
            {"amend": each.id, "fields": {"needs": [*_needs(each), str(group["id"])]}} for each in waiting
        ]
        return [self._after(failed, group), *wait]

    def without_plan(self, agent: str, why: str) -> tuple[list[Edit], list[Edit]]:
        """An agent does what is left (X7): it takes the place of all that is to come around what failed.

        `NoWay` if a person is to be asked there, or a step is limited: it would know of neither.
        """
        around = self.failed[0] if self.failed else self._here
        coming = [each for each in around.parent.children if self._is_to_come(each)] if around.parent else []
        _refuse_to_forget(coming, self.occasion.named)
        name = self.fresh(REST)
        step = {"id": name, "title": "What is left, without a plan", "agent": agent, "task": self._task(why)}
        removed: list[Edit] = [{"remove": each.id} for each in coming]
        told: Edit = {"amend": "", "fields": {"meta": {**self.index.plan.meta, UNPLANNED: why, UNPLANNED_STEP: name}}}
        names = dict.fromkeys([each.id for each in (*self.failed, *coming)], name)
        return [self._after(around, step)], [*removed, *self._output(names), told]

    def _task(self, why: str) -> str:
        told = f"The plan for this could not be carried out: {why}\nDo what is left of it, in your own way."
        return "${run.goal}\n\n" + str(escaped("\n".join([told, "", "The plan:", *self.occasion.lines])))

    # ------------------------------------------------------------ where it goes

    @property
    def _here(self) -> Node:
        return self.index.by_id[self.occasion.place]

    def _in_place_of(self, node: Node, step: Step) -> Edit:
        if not self._is_to_come(node):
            return self._after(node, step)
        bare = {word: value for word, value in step.items() if word != "needs"}
        return {"replace": node.id, "step": {**bare, **({"needs": list(_needs(node))} if _needs(node) else {})}}

    def _after(self, node: Node, step: Step) -> Edit:
        """After what is at work in its group; in a graph, as soon as what the step itself needed is over."""
        group = node.parent
        if group is None or (group.parent is not None and self.occasion.standing(group.id) != "at work"):
            told = f'"{node.id}" is over, and so is the group around it'
            raise NoWay(told, "edit steps that are still to come")
        if not group.serial:
            needs = [node.id] if node.id == self.occasion.step else list(_needs(node))
            return {"insert": {**step, "needs": needs}, "into": group.id}
        here = [each.id for each in group.children if self.occasion.standing(each.id) == "at work"]
        bare = {word: value for word, value in step.items() if word != "needs"}
        return {"insert": bare, "after": here[0] if here else node.id}

    def _is_to_come(self, node: Node) -> bool:
        return self.occasion.standing(node.id) == "to come"

    def _coming(self) -> Iterator[Node]:
        """The steps to come that see what failed."""
        yield from (node for node in self.index.nodes if node.scope is self.index.root and self._is_to_come(node))

    def fresh(self, name: str, taken: set[str] | None = None) -> str:
        """An id that no step has."""
        known = self.index.by_id.keys() | (taken or set())
        return name if name not in known else next(new for n in count(2) if (new := f"{name}_{n}") not in known)

    # ------------------------------------------------------------ who takes the results

    def _amendments(self, results: Mapping[str, str], needs: Mapping[str, str]) -> Iterator[Edit]:
        """All that is to come, with the results of what stands in."""
        changed = {old: new for old, new in results.items() if new and new != old}
        failed = {node.id for node in self.failed}
        for node in self._coming() if changed else ():
            if node.id not in failed and (fields := _other_fields(node, changed, needs)):
                yield {"amend": node.id, "fields": fields}
        yield from self._output(changed)

    def _output(self, names: Mapping[str, str]) -> Iterator[Edit]:
        output = {"output": self.index.plan.output}
        if names and referring(output, names) != output:
            yield {"amend": "", "fields": referring(output, names)}


def _found(occasion: Occasion, index: Index, name: str) -> Node:
    node = index.by_id.get(name)
    if node is None:
        raise BadReplan(f'the plan has no step "{name}"', did_you_mean(name, index.by_id) or "name steps of the plan")
    if node.scope is not index.root:
        raise BadReplan(f'"{name}" stands inside a map or a plan', "say `edits` yourself, or name the step around it")
    if occasion.standing(name) == "at work" and name != occasion.step:
        raise BadReplan(f'"{name}" is at work', "name steps that have failed, or that are still to come")
    return node


def _refuse_to_forget(coming: Sequence[Node], named: Named) -> None:
    for node in (each for top in coming for each in (top, *inside(top, named))):
        if told := asks_of(node, named):
            raise NoWay(f"nobody goes on without a plan where {told}", ANEW)
        if any(limits_of(node)):
            whose = f'"{node.id}"' if node.id else "a plan that is called"
            raise NoWay(f"nobody goes on without a plan where {whose} has a policy or a budget of its own", ANEW)


def _needs(node: Node) -> tuple[str, ...]:
    return tuple(node.step.needs) if node.step else ()


def _id_of(step: Step) -> str:
    return str(step.get("id", "")) or "another"


def _refers(node: Node, names: set[str]) -> bool:
    named = {str(each.parts[0]) for each in references(node) if each.root == "steps" and each.parts}
    return bool((named | set(_needs(node))) & names)


def _other_fields(node: Node, results: Mapping[str, str], needs: Mapping[str, str]) -> Edit:
    if node.step is None:
        return {}
    fields = own_fields(node.step)
    other = {**referring(fields, results), "needs": [needs.get(each, each) for each in _needs(node)]}
    return {word: value for word, value in other.items() if value != fields.get(word, []) and word not in FIXED}


def _result_of(steps: Sequence[Step], names: Mapping[str, str], failed: Sequence[str]) -> str:
    """The new step that gives what the failed one should have given: the one of that name, else the only last one."""
    for name in failed:
        if name in names:
            return names[name]
    needed = {str(each) for step in steps for each in step.get("needs", ())}
    last = [name for name in names if name not in needed]
    return names[last[0]] if len(last) == 1 else ""
