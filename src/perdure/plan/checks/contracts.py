"""Contracts: budgets, questions, checkpoints, inputs, and what the toolbox knows."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from perdure.plan.index import Index, Node
from perdure.plan.model.document import Plan
from perdure.plan.model.parts import AgentCall, Budget, Call, ToolCall
from perdure.plan.model.steps import AskStep, CheckpointStep, DecideStep, RollbackStep, SubplanStep, Working
from perdure.plan.problems import Path, Problem, did_you_mean
from perdure.plan.raw import Raw, is_list, is_mapping
from perdure.plan.toolbox import Toolbox

AMOUNTS: Final = ("seconds", "usd", "tokens", "steps", "calls", "depth")
TYPES: Final = ("string", "integer", "number", "boolean", "array", "object", "null")


def check_contracts(index: Index, toolbox: Toolbox | None) -> Iterator[Problem]:
    """What steps promise, spend and rely on."""
    yield from _check_budgets(index)
    yield from _check_plans(index)
    for node in index.nodes:
        if isinstance(node.step, AskStep):
            yield from _check_question(node.step, node.path)
        if isinstance(node.step, RollbackStep):
            yield from _check_checkpoint(node.step.rollback, (*node.path, "rollback"), index)
        if toolbox is not None:
            yield from _check_known(node, toolbox)


# ------------------------------------------------------------------------------- budgets


def _check_budgets(index: Index) -> Iterator[Problem]:
    limits: dict[Node, Mapping[str, float]] = {index.root: {}}
    for node in (index.root, *index.nodes):
        around = limits[node.parent] if node.parent else {}
        own, path = _budget_of(node)
        for word, most in _amounts(own):
            if most > around.get(word, most):
                message = f"a budget of {most:g} {word} is more than the {around[word]:g} around it"
                hint = "a part cannot have more than the whole: lower this one or raise that one"
                yield Problem("PRD1405", message, (*path, word), hint)
        limits[node] = {**around, **{word: min(most, around.get(word, most)) for word, most in _amounts(own)}}


def _budget_of(node: Node) -> tuple[Budget | None, Path]:
    if isinstance(node.step, SubplanStep) and isinstance(node.holder, Plan) and node.holder.budget:
        return node.holder.budget, (*node.path, "plan", "budget")
    if isinstance(node.step, Working):
        return node.step.budget, (*node.path, "budget")
    return (node.holder.budget if node.holder else None), ("budget",)


def _amounts(budget: Budget | None) -> Iterator[tuple[str, float]]:
    for word in AMOUNTS if budget else ():
        most: float | None = getattr(budget, word)
        if most is not None:
            yield word, most


# ------------------------------------------------------------------------------- plans


def _check_plans(index: Index) -> Iterator[Problem]:
    for node in (index.root, *index.nodes):
        if isinstance(node.holder, Plan):
            path = (*node.path, "plan") if node.step else ()
            yield from _check_lookahead(node.holder, path)
            yield from _check_inputs(node.holder, path)
            for n, name in enumerate(node.holder.checkpoints):
                yield from _check_checkpoint(name, (*path, "checkpoints", n), index, "PRD1407")


def _check_lookahead(plan: Plan, path: Path) -> Iterator[Problem]:
    if plan.requires_lookahead and not plan.checkpoints:
        hint = "add a step {id: found, checkpoint: true} after the lookup, and `checkpoints: [found]`"
        message = "the plan requires a lookahead but names no checkpoint to go on from"
        yield Problem("PRD1406", message, (*path, "requires_lookahead"), hint)


def _check_checkpoint(name: str, path: Path, index: Index, code: str = "PRD1408") -> Iterator[Problem]:
    found = index.by_id.get(name)
    if found is not None and isinstance(found.step, CheckpointStep):
        return
    known = [node.id for node in index.nodes if isinstance(node.step, CheckpointStep)]
    what = "is not a checkpoint" if found else "does not exist"
    hint = did_you_mean(name, known) or "add a step {id: …, checkpoint: true}"
    yield Problem(code, f'"{name}" {what}', path, hint)


def _check_inputs(plan: Plan, path: Path) -> Iterator[Problem]:
    for name, schema in plan.inputs.items():
        kinds = schema.get("type")
        for kind in kinds if is_list(kinds) else [kinds]:
            if kind is not None and kind not in TYPES:
                hint = did_you_mean(str(kind), TYPES)
                message = f'input "{name}": there is no type {kind!r} in JSON Schema'
                yield Problem("PRD1410", message, (*path, "inputs", name, "type"), hint)


# ------------------------------------------------------------------------------- questions


def _check_question(step: AskStep, path: Path) -> Iterator[Problem]:
    if (step.answer == "choice") != bool(step.choices):
        hint = "write `answer: choice` with `choices: […]`, or neither"
        yield Problem("PRD1411", f"a question for {step.answer} and its choices do not fit", (*path, "answer"), hint)
    if (step.answer == "form") != (step.form is not None):
        hint = "write `answer: form` with `form: {…}`, or neither"
        yield Problem("PRD1411", f"a question for {step.answer} and its form do not fit", (*path, "answer"), hint)
    allowed = {"approval": ("approved", "rejected"), "choice": step.choices}.get(step.answer)
    if step.default is not None and allowed and step.default not in allowed:
        message = f"the default {step.default!r} is none of the answers"
        yield Problem("PRD1411", message, (*path, "default"), "write one of: " + ", ".join(allowed))


# ------------------------------------------------------------------------------- the toolbox


def _check_known(node: Node, toolbox: Toolbox) -> Iterator[Problem]:
    for call, path in _calls(node):
        if isinstance(call, ToolCall):
            yield from _check_tool(call, path, toolbox)
        elif isinstance(call, AgentCall) and toolbox.agents is not None and call.agent not in toolbox.agents:
            hint = did_you_mean(call.agent, toolbox.agents)
            yield Problem("PRD1402", f'there is no agent "{call.agent}"', (*path, "agent"), hint)
    step = node.step
    if isinstance(step, SubplanStep) and isinstance(step.plan, str):
        if toolbox.plans is not None and step.plan not in toolbox.plans:
            hint = did_you_mean(step.plan, toolbox.plans)
            yield Problem("PRD1409", f'there is no plan "{step.plan}"', (*node.path, "plan"), hint)


def _calls(node: Node) -> Iterator[tuple[Call, Path]]:
    step = node.step
    if isinstance(step, (ToolCall, AgentCall)):
        yield step, node.path
    if isinstance(step, DecideStep) and not isinstance(step.decide, str):
        yield step.decide, (*node.path, "decide")
    if isinstance(step, Working):
        yield from ((call, (*node.path, "alternates", n)) for n, call in enumerate(step.alternates))
        if step.undo:
            yield step.undo, (*node.path, "undo")
        if step.simpler:
            yield step.simpler, (*node.path, "simpler")


def _check_tool(call: ToolCall, path: Path, toolbox: Toolbox) -> Iterator[Problem]:
    facts = toolbox.tools.get(call.tool)
    if facts is None:
        hint = did_you_mean(call.tool, toolbox.tools)
        yield Problem("PRD1401", f'there is no tool "{call.tool}"', (*path, "tool"), hint)
        return
    schema = facts.inputs
    if schema is None:
        return
    properties: Raw = schema.get("properties")
    known: Iterable[str] = properties if is_mapping(properties) else ()
    for name in call.with_:
        if name not in known and schema.get("additionalProperties") in (None, False):
            hint = did_you_mean(name, known) or "it takes no arguments"
            message = f'"{call.tool}" has no argument "{name}"'
            yield Problem("PRD1403", message, (*path, "with", name), hint)
    required: Raw = schema.get("required")
    for name in required if is_list(required) else ():
        if name not in call.with_:
            yield Problem("PRD1403", f'"{call.tool}" needs the argument "{name}"', path, f"write `with: {{{name}: …}}`")
