"""Plans that change themselves: where results may add steps, and whether the rules can be taken."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pydantic import ValidationError

from perdure.plan.flow import known_exits
from perdure.plan.grafting import Graft, take
from perdure.plan.index import Index, Node
from perdure.plan.model.document import Plan
from perdure.plan.model.edits import EDIT, AnyEdit, Insert, Replace
from perdure.plan.model.parts import REPLAN, AdjustmentRule, Growth
from perdure.plan.model.steps import GroupStep, Growing
from perdure.plan.problems import Path, Problem, did_you_mean
from perdure.plan.sayings import sentence
from perdure.plan.toolbox import Toolbox

BAD_GROWTH, BAD_RULE = "PRD1420", "PRD1421"

# ------------------------------------------------------------------------------- steps that add others


def check_growth(index: Index) -> Iterator[Problem]:
    """Whether there is a place for what steps may add, and rules stand where they are looked at."""
    for node in index.nodes:
        if node.step is not None and isinstance(node.holder, Plan) and node.holder.adjust is not None:
            hint = "write the rules in the plan around it, about the steps there"
            told = f'the rules of the plan in "{node.id}" would never be looked at: the run has another plan'
            yield Problem(BAD_RULE, told, (*node.path, "plan", "adjust"), hint)
        growth = node.step.grows if isinstance(node.step, Growing) else None
        if growth is not None:
            yield from _check_into(node, growth, index)


def _check_into(node: Node, growth: Growth, index: Index) -> Iterator[Problem]:
    path, group = (*node.path, "grows", "into"), index.by_id.get(growth.into)
    if group is None or not isinstance(group.step, GroupStep):
        groups = [each.id for each in index.by_id.values() if isinstance(each.step, GroupStep)]
        hint = did_you_mean(growth.into, groups) or "put a group there: {id: more, parallel: []}"
        yield Problem(BAD_GROWTH, f'"{node.id}" grows into "{growth.into}", which is no group', path, hint)
    elif node.scope is not index.root or group.scope is not index.root:
        inner = node if node.scope is not index.root else group
        hint = "the plan is one for all items: let a step outside of the map or the sub-plan add to it"
        yield Problem(BAD_GROWTH, f'"{inner.id}" is inside of "{inner.scope.id}", where no steps are added', path, hint)


# ------------------------------------------------------------------------------- rules


def check_rules(index: Index, toolbox: Toolbox | None) -> Iterator[Problem]:
    """Whether the rules of a plan, which is right otherwise, can be meant."""
    adjusting = index.plan.adjust
    rules = adjusting.rules if adjusting else ()
    read = [_read(rule, ("adjust", "rules", n)) for n, rule in enumerate(rules)]
    new = {each.id for edits, _ in read for each in _added(edits)}
    for n, (rule, (edits, problems)) in enumerate(zip(rules, read, strict=True)):
        path = ("adjust", "rules", n)
        yield from problems
        yield from _check_after(rule, index, new, path)
        if not problems and new.isdisjoint(_named(edits)):
            yield from _check_taken(edits, index.plan, toolbox, path)


def _read(rule: AdjustmentRule, path: Path) -> tuple[list[AnyEdit], list[Problem]]:
    edits: list[AnyEdit] = []
    problems: list[Problem] = []
    for n, raw in enumerate(rule.edits):
        try:
            edits.append(EDIT.validate_python(raw))
        except ValidationError as error:
            told = f"this is no edit: {sentence(error.errors(include_url=False)[0])}"
            hint = "write it as for any plan: {insert: STEP, after: ID}, {remove: ID} and so on"
            problems.append(Problem(BAD_RULE, told, (*path, "edits", n), hint))
    return edits, problems


def _added(edits: Sequence[AnyEdit]) -> Iterator[Node]:
    for edit in edits:
        step = edit.insert if isinstance(edit, Insert) else edit.step if isinstance(edit, Replace) else None
        if step is not None:
            yield from Index(Plan.model_construct(steps=(step,))).nodes


def _named(edits: Sequence[AnyEdit]) -> Iterator[str]:
    """The steps that there must be before edits can be taken."""
    for edit in edits:
        for word in ("after", "before", "into", "replace", "remove", "amend"):
            name = getattr(edit, word, None)
            if isinstance(name, str):
                yield name


def _check_after(rule: AdjustmentRule, index: Index, new: set[str], path: Path) -> Iterator[Problem]:
    words: set[str] = {REPLAN}
    for n, name in enumerate(rule.after):
        node = index.by_id.get(name)
        if node is None and name not in new:
            hint = did_you_mean(name, [*index.by_id, *new])
            yield Problem(BAD_RULE, f'there is no step "{name}"', (*path, "after", n), hint or "name a step")
        elif node is not None and node.scope is not index.root:
            hint = f'name "{node.scope.id}": a rule is looked at when all of it is over'
            yield Problem(BAD_RULE, f'"{name}" is inside of "{node.scope.id}"', (*path, "after", n), hint)
        words |= known_exits(node.step) if node is not None and node.step else set(rule.on)
    for n, word in enumerate(rule.on if rule.after else ()):
        if word not in words:
            hint = did_you_mean(word, sorted(words))
            yield Problem(BAD_RULE, f'no step of this rule ends with "{word}"', (*path, "on", n), hint)


def _check_taken(edits: Sequence[AnyEdit], plan: Plan, toolbox: Toolbox | None, path: Path) -> Iterator[Problem]:
    """Take the edits of a rule as if nothing else had changed, and look at the plan that comes out."""
    from perdure.plan.checks import check  # noqa: PLC0415  the whole of which this is a part

    graft = Graft(Index(plan.model_copy(update={"adjust": None})))
    problems = take(graft, edits)
    if not problems:
        graft.close()
        problems = check(graft.index.plan, toolbox, graft.index)
    for problem in problems:
        if problem.severity == "error":
            told = f"the plan would be wrong then: {problem.message}"
            yield replace(problem, code=BAD_RULE, message=told, path=(*path, "edits"))
