"""Contracts: budgets, questions, checkpoints, inputs, and what the toolbox knows."""

from collections.abc import Iterator, Mapping
from typing import Final

from perdure.plan.checks.literals import check_literals
from perdure.plan.index import Index, Node
from perdure.plan.model.document import Plan
from perdure.plan.model.parts import AgentCall, Budget, Criterion, ModelCall, ToolCall
from perdure.plan.model.steps import AskStep, CheckpointStep, DecideStep, RollbackStep, SubplanStep, Working
from perdure.plan.problems import Path, Problem, did_you_mean
from perdure.plan.raw import KINDS, Raw, is_a, is_list, is_mapping
from perdure.plan.toolbox import Toolbox
from perdure.plan.uses import calls_in

AMOUNTS: Final = ("seconds", "usd", "tokens", "steps", "calls", "depth")
Limits = Mapping[str, float]


def check_contracts(index: Index, toolbox: Toolbox | None) -> Iterator[Problem]:
    """What steps promise, spend and rely on."""
    yield from _check_budgets(index)
    yield from _check_plans(index)
    for node in index.nodes:
        yield from _check_schemas(node)
        yield from _check_models(node, index)
        yield from _check_handed_in(node)
        if isinstance(node.step, AskStep):
            yield from _check_question(node.step, node.path)
        if isinstance(node.step, RollbackStep):
            yield from _check_checkpoint(node.step.rollback, (*node.path, "rollback"), index, node.scope)
        if toolbox is not None:
            yield from _check_known(node, toolbox)


# ------------------------------------------------------------------------------- budgets


def _check_budgets(index: Index) -> Iterator[Problem]:
    limits: dict[Node, Limits] = {}
    for node in index.groups:
        around = _limits_in(node.parent, limits)
        for budget, path in _budgets_of(node):
            yield from _over(budget, around, path)
            around = _narrowed(around, budget)
        limits[node] = around


def _limits_in(node: Node | None, known: dict[Node, Limits]) -> Limits:
    """What the budgets around a step leave to it."""
    if node is None:
        return {}
    if node not in known:
        around = _limits_in(node.parent, known)
        for budget, _ in _budgets_of(node):
            around = _narrowed(around, budget)
        known[node] = around
    return known[node]


def _narrowed(around: Limits, budget: Budget) -> Limits:
    return {**around, **{word: min(most, around.get(word, most)) for word, most in _amounts(budget)}}


def _over(budget: Budget, around: Limits, path: Path) -> Iterator[Problem]:
    for word, most in _amounts(budget):
        if most > around.get(word, most):
            message = f"a budget of {most:g} {word} is more than the {around[word]:g} around it"
            hint = "a part cannot have more than the whole: lower this one or raise that one"
            yield Problem("PRD1405", message, (*path, word), hint)


def _budgets_of(node: Node) -> Iterator[tuple[Budget, Path]]:
    """A step's own budget, then that of the plan inside it."""
    if isinstance(node.step, Working) and node.step.budget:
        yield node.step.budget, (*node.path, "budget")
    if isinstance(node.holder, Plan) and node.holder.budget:
        yield node.holder.budget, (*node.path, *(("plan",) if node.step else ()), "budget")


def _amounts(budget: Budget) -> Iterator[tuple[str, float]]:
    for word in AMOUNTS:
        most: float | None = getattr(budget, word)
        if most is not None:
            yield word, most


# ------------------------------------------------------------------------------- plans


def _check_plans(index: Index) -> Iterator[Problem]:
    for node in index.groups:
        if isinstance(node.holder, Plan):
            path = (*node.path, "plan") if node.step else ()
            yield from _check_lookahead(node.holder, path)
            yield from _check_inputs(node.holder, path)
            for n, name in enumerate(node.holder.checkpoints):
                yield from _check_checkpoint(name, (*path, "checkpoints", n), index, node, "PRD1407")


def _check_lookahead(plan: Plan, path: Path) -> Iterator[Problem]:
    if plan.requires_lookahead and not plan.checkpoints:
        hint = "add a step {id: found, checkpoint: true} after the lookup, and `checkpoints: [found]`"
        message = "the plan requires a lookahead but names no checkpoint to go on from"
        yield Problem("PRD1406", message, (*path, "requires_lookahead"), hint)


def _check_checkpoint(name: str, path: Path, index: Index, scope: Node, code: str = "PRD1408") -> Iterator[Problem]:
    found = index.by_id.get(name)
    if found is not None and isinstance(found.step, CheckpointStep) and found.scope is scope:
        return
    known = [node.id for node in index.by_id.values() if isinstance(node.step, CheckpointStep) and node.scope is scope]
    what = "does not exist" if not found else "is in another scope" if found.scope is not scope else "is no checkpoint"
    hint = did_you_mean(name, known) or "add a step {id: …, checkpoint: true}"
    yield Problem(code, f'"{name}" {what}', path, hint)


# ------------------------------------------------------------------------------- schemas


def _check_inputs(plan: Plan, path: Path) -> Iterator[Problem]:
    for name, schema in plan.inputs.items():
        yield from _check_schema(schema, (*path, "inputs", name))
        yield from _check_default(schema, (*path, "inputs", name))


def _check_schemas(node: Node) -> Iterator[Problem]:
    step = node.step
    if isinstance(step, (ModelCall, AgentCall)) and step.returns:
        yield from _check_schema(step.returns, (*node.path, "returns"))
    if isinstance(step, AskStep) and step.form:
        yield from _check_schema(step.form, (*node.path, "form"))


def _check_models(node: Node, index: Index) -> Iterator[Problem]:
    """What models are asked: something, and in a conversation that there is."""
    for call, inner in calls_in(node.step) if node.step else ():
        if not isinstance(call, ModelCall):
            continue
        path = (*node.path, *inner)
        if not call.prompt and call.after is None:
            yield Problem("PRD1102", "`prompt` is missing", path, "write what to ask")
        if call.results and call.after is None:
            yield Problem(
                "PRD1416", "`results` of which calls?", (*path, "results"), "write `after: STEP`, who asked for them"
            )
        if call.choices and (call.returns is not None or call.tools is not None):
            message = "`choices` say what is answered already"
            yield Problem("PRD1416", message, (*path, "choices"), "leave out `returns` and `tools`, or the choices")
        if call.after in index.by_id and not _asks_model(index.by_id[call.after]):
            yield Problem("PRD1416", f'"{call.after}" asks no model', (*path, "after"), "name a step that asks a model")


def _asks_model(node: Node) -> bool:
    asked = node.step.decide if isinstance(node.step, DecideStep) else node.step
    return isinstance(asked, ModelCall)


def _check_handed_in(node: Node) -> Iterator[Problem]:
    """What an inline sub-plan is given, against what it takes."""
    step, plan = node.step, node.holder
    if not isinstance(step, SubplanStep) or not isinstance(plan, Plan):
        return
    for name in step.with_:
        if name not in plan.inputs:
            hint = did_you_mean(name, plan.inputs) or "declare it under `inputs` of the sub-plan"
            yield Problem("PRD1205", f'the sub-plan has no input "{name}"', (*node.path, "with", name), hint)
    for name, schema in plan.inputs.items():
        if name not in step.with_ and "default" not in schema:
            hint = f"write `with: {{{name}: …}}`, or give the input a default"
            yield Problem("PRD1413", f'the sub-plan needs the input "{name}"', node.path, hint)


def _check_default(schema: Mapping[str, Raw], path: Path) -> Iterator[Problem]:
    kind = schema.get("type")
    if "default" in schema and isinstance(kind, str) and kind in KINDS and not is_a(kind, schema["default"]):
        message = f"the default {schema['default']!r} is no {kind}"
        yield Problem("PRD1410", message, (*path, "default"), f"write a default of type {kind}")


def _check_schema(schema: Raw, path: Path) -> Iterator[Problem]:
    stack: list[tuple[Raw, Path]] = [(schema, path)]
    while stack:
        item, place = stack.pop()
        if not is_mapping(item):
            continue
        kinds = item.get("type")
        for kind in kinds if is_list(kinds) else [kinds]:
            if kind is not None and kind not in KINDS:
                hint = f"write one of: {', '.join(KINDS)}"
                yield Problem("PRD1410", f"there is no type {kind!r} in JSON Schema", (*place, "type"), hint)
        stack.append((item.get("items"), (*place, "items")))
        if is_mapping(properties := item.get("properties")):
            stack.extend((inner, (*place, "properties", name)) for name, inner in properties.items())


# ------------------------------------------------------------------------------- questions


def _check_question(step: AskStep, path: Path) -> Iterator[Problem]:
    if (step.answer == "choice") != bool(step.choices):
        hint = "write `answer: choice` with `choices: […]`, or neither"
        yield Problem("PRD1411", f"a question for {step.answer} and its choices do not fit", (*path, "answer"), hint)
    if (step.answer == "form") != (step.form is not None):
        hint = "write `answer: form` with `form: {…}`, or neither"
        yield Problem("PRD1411", f"a question for {step.answer} and its form do not fit", (*path, "answer"), hint)
    allowed = {"approval": ("approved", "rejected"), "choice": step.choices}.get(step.answer)
    if step.default is not None and step.deadline is None:
        hint = "add `deadline`: the default is the answer when nobody answers in time"
        yield Problem("PRD1411", "the default would never be used", (*path, "default"), hint)
    if step.default is not None and allowed and step.default not in allowed:
        message = f"the default {step.default!r} is none of the answers"
        yield Problem("PRD1411", message, (*path, "default"), "write one of: " + ", ".join(allowed))


# ------------------------------------------------------------------------------- the toolbox


def _check_known(node: Node, toolbox: Toolbox) -> Iterator[Problem]:
    for call, place in calls_in(node.step) if node.step else ():
        path = (*node.path, *place)
        if isinstance(call, (ToolCall, Criterion)) and call.tool is not None:
            yield from _check_tool(call.tool, call.with_, path, toolbox)
        if isinstance(call, (AgentCall, Criterion)) and call.agent is not None:
            yield from _check_listed("PRD1402", "agent", call.agent, toolbox.agents, path)
    if isinstance(node.step, SubplanStep) and isinstance(node.step.plan, str):
        yield from _check_listed("PRD1409", "plan", node.step.plan, toolbox.plans, node.path)


def _check_listed(code: str, what: str, name: str, known: tuple[str, ...] | None, path: Path) -> Iterator[Problem]:
    if known is not None and name not in known:
        hint = did_you_mean(name, known) or "add it to the toolbox, or name another"
        yield Problem(code, f'there is no {what} "{name}"', (*path, what), hint)


def _check_tool(tool: str, with_: Mapping[str, Raw], path: Path, toolbox: Toolbox) -> Iterator[Problem]:
    facts = toolbox.tools.get(tool)
    if facts is None:
        hint = did_you_mean(tool, toolbox.tools) or "add it to the toolbox, or name another"
        yield Problem("PRD1401", f'there is no tool "{tool}"', (*path, "tool"), hint)
    elif facts.inputs is not None:
        yield from check_arguments(tool, facts.inputs, with_, path)
        yield from check_literals(tool, facts.inputs, with_, path)


def check_arguments(tool: str, schema: Mapping[str, Raw], with_: Mapping[str, Raw], path: Path) -> Iterator[Problem]:
    """Arguments that a tool does not have, and those that it needs."""
    properties, required = schema.get("properties"), schema.get("required")
    known = list(properties) if is_mapping(properties) else []
    for name in with_ if is_mapping(properties) else ():
        if name not in known and schema.get("additionalProperties") in (None, False):
            hint = did_you_mean(name, known) or "it takes no arguments"
            yield Problem("PRD1403", f'"{tool}" has no argument "{name}"', (*path, "with", name), hint)
    for name in required if is_list(required) else ():
        if name not in with_:
            yield Problem("PRD1403", f'"{tool}" needs the argument "{name}"', path, f"write `with: {{{name}: …}}`")
