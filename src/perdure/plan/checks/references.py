"""References: every value an expression names must exist, be visible, and have been made before."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from perdure.plan.expr import ExpressionError, Reference
from perdure.plan.flow import SerialFlow, needed_by
from perdure.plan.index import Index, Node, meeting
from perdure.plan.model.document import Plan
from perdure.plan.model.parts import ModelCall
from perdure.plan.model.steps import (
    AgentStep,
    AnyStep,
    CheckpointStep,
    MapStep,
    ModelStep,
    RollbackStep,
    ToolStep,
    Working,
)
from perdure.plan.paths import Dominators, unconnected
from perdure.plan.problems import Path, Problem, did_you_mean
from perdure.plan.raw import Raw, is_mapping
from perdure.plan.toolbox import Toolbox
from perdure.plan.uses import Moment, Use, calls_in, uses_of, uses_of_plan

STEP_ATTRIBUTES: Final = ("output", "exit", "failure", "visits")
"""What is known of a finished step."""
EXPRESSION_HELP: Final = "expressions are CEL over inputs, steps, item and output, as in: steps.test.output.passed > 3"


class _Order(NamedTuple):
    """A question to be answered for a whole group at once: whether `before` can come before `after`."""

    before: int
    after: int
    problem: Problem
    optional: bool = False


def check_references(index: Index, flow: SerialFlow, toolbox: Toolbox | None) -> Iterator[Problem]:
    """All references in a plan."""
    checker = _References(index, toolbox)
    for node in index.groups:
        yield from checker.check(node)
    for group, orders in checker.orders.items():
        edges = flow.edges[group] if group.serial else needed_by(group)
        missing = unconnected(edges, ((each.before, each.after) for each in orders))
        yield from (each.problem for each in orders if (each.before, each.after) in missing)
        if group.serial:
            yield from _check_first_visits(
                flow, group, [each for each in orders if (each.before, each.after) not in missing]
            )


def _check_first_visits(flow: SerialFlow, group: Node, orders: list[_Order]) -> Iterator[Problem]:
    """In a loop, a step that can only run after this one is not there at the first visit."""
    backward = [each for each in orders if each.before > each.after and not each.optional]
    gates = Dominators(flow.edges[group]) if backward else None
    for each in backward:
        if gates and gates.holds(each.after, each.before):
            name, here = group.children[each.before].id, group.children[each.after].id
            hint = f"write steps.?{name}, which is null until it has run"
            message = f'at the first visit of "{here}" there is no result of "{name}" yet'
            yield Problem("PRD1204", message, each.problem.path, hint)


class _Spot(NamedTuple):
    """Where a reference stands, and what can be seen from there."""

    node: Node
    scope: Node
    path: Path
    moment: Moment = "start"


class _References:
    """Looks at one reference after another, and collects the questions about order."""

    def __init__(self, index: Index, toolbox: Toolbox | None) -> None:
        self.index = index
        self.toolbox = toolbox
        self.orders: dict[Node, list[_Order]] = {}
        self._ids: dict[Node, set[str]] = {}

    def check(self, node: Node) -> Iterator[Problem]:
        """All references of a step, and of the plan inside it."""
        if isinstance(node.holder, Plan):
            inside = (*node.path, "plan") if node.step else ()
            for use in uses_of_plan(node.holder):
                yield from self._use(use, _Spot(node, node, (*inside, *use.path), use.moment))
        if node.step is not None:
            for use in uses_of(node.step):
                yield from self._use(use, _Spot(node, node.scope, (*node.path, *use.path), use.moment))
            yield from self._named(node, node.step)

    def _named(self, node: Node, step: AnyStep) -> Iterator[Problem]:
        """Steps that are named without an expression."""
        if isinstance(step, RollbackStep) and isinstance(self._step(step.rollback), CheckpointStep):
            yield from self._visible(step.rollback, _Spot(node, node.scope, (*node.path, "rollback")), optional=False)
        if isinstance(step, Working) and step.context and not isinstance(step.context.from_, str):
            for n, name in enumerate(step.context.from_):
                spot = _Spot(node, node.scope, (*node.path, "context", "from", n))
                yield from self._visible(name, spot, optional=True)
        for call, path in calls_in(step):
            if isinstance(call, ModelCall):
                yield from self._conversation(node, call, (*node.path, *path))

    def _conversation(self, node: Node, call: ModelCall, path: Path) -> Iterator[Problem]:
        """The steps that a conversation goes on with."""
        if call.after is not None:
            yield from self._visible(call.after, _Spot(node, node.scope, (*path, "after")), optional=False)
        for n, each in enumerate(call.results):
            if isinstance(each, str):
                yield from self._visible(each, _Spot(node, node.scope, (*path, "results", n)), optional=False)

    def _step(self, name: str) -> AnyStep | None:
        return self.index.by_id[name].step if name in self.index.by_id else None

    def _use(self, use: Use, spot: _Spot) -> Iterator[Problem]:
        if isinstance(use.expression, ExpressionError):
            yield _of(use.expression, spot.path)
            return
        found = [problem for each in use.expression.references for problem in self._reference(each, use, spot)]
        yield from found
        if not found:
            yield from self._types(use, spot)

    def _reference(self, ref: Reference, use: Use, spot: _Spot) -> Iterator[Problem]:
        if ref.root == "inputs":
            yield from self._input(ref, spot)
        elif use.path == ("goal",) and ref.root != "run":
            yield _not_here(ref, spot, "a goal is read before anything runs: only `inputs` are known")
        elif ref.root == "steps":
            yield from self._result(ref, spot)
        elif ref.root == "secrets" and not use.secrets:
            yield _not_here(ref, spot, "secrets go into `with` of a tool or an agent, and nowhere else")
        elif ref.root in ("item", "index") and not isinstance(spot.scope.step, MapStep):
            yield _not_here(ref, spot, "only steps inside a `map` have an item")
        elif ref.root in ("output", "exit") and use.moment != "end":
            yield _not_here(ref, spot, "the step has no output yet; name an earlier step: steps.ID.output")

    # ------------------------------------------------------------ inputs

    def _input(self, ref: Reference, spot: _Spot) -> Iterator[Problem]:
        known = inputs_of(spot.scope)
        if ref.parts and known is not None and ref.parts[0] not in known:
            hint = did_you_mean(str(ref.parts[0]), known) or "declare it under `inputs`"
            yield Problem("PRD1205", f'there is no input "{ref.parts[0]}"', spot.path, hint)

    # ------------------------------------------------------------ steps

    def _result(self, ref: Reference, spot: _Spot) -> Iterator[Problem]:
        if not ref.parts or not isinstance(ref.parts[0], str):
            yield Problem("PRD1202", "a reference must name its step", spot.path, "write steps.ID.output")
            return
        name = ref.parts[0]
        yield from self._visible(name, spot, optional=ref.optional)
        if name in self.index.by_id:
            yield from self._fields(ref, self.index.by_id[name], spot.path)

    def _visible(self, name: str, spot: _Spot, *, optional: bool) -> Iterator[Problem]:
        found, node = self.index.by_id.get(name), spot.node
        if found is None:
            hint = did_you_mean(name, self._seen_from(spot.scope))
            yield Problem("PRD1202", f'there is no step "{name}"', spot.path, hint or "name a step of this plan")
        elif found.scope is not spot.scope:
            yield _other_scope(found, spot)
        elif node is found:
            yield from self._itself(spot, optional=optional)
        elif node is spot.scope or (spot.moment == "end" and node in found.around):
            return
        elif found in node.around or node in found.around:
            hint = "it is over only when this step is: name a step before it"
            yield Problem("PRD1204", f'"{name}" is still under way here', spot.path, hint)
        else:
            self._ask_order(found, spot, optional=optional)

    def _seen_from(self, scope: Node) -> set[str]:
        if scope not in self._ids:
            self._ids[scope] = {each.id for each in self.index.by_id.values() if each.scope is scope}
        return self._ids[scope]

    def _itself(self, spot: _Spot, *, optional: bool) -> Iterator[Problem]:
        name = spot.node.id
        if spot.moment == "end":
            yield Problem("PRD1204", f'"{name}" names itself', spot.path, "write `output` for the output of this visit")
        elif not optional:
            hint = f"write steps.?{name} to see the visit before this one, if there was one"
            yield Problem("PRD1204", f'"{name}" names itself; at its first visit there is nothing', spot.path, hint)
        else:
            self._ask_order(spot.node, spot, optional=True)

    def _ask_order(self, before: Node, spot: _Spot, *, optional: bool) -> None:
        group, one, other = meeting(before, spot.node)
        if group.serial:
            hint = "refer to a step before this one, or move it"
            message = f'"{before.id}" cannot have run before "{spot.node.id}"'
        else:
            hint = f'add "{one.id}" to the needs of "{other.id}"'
            message = f'"{spot.node.id}" does not wait for "{before.id}"'
        order = _Order(one.position, other.position, Problem("PRD1204", message, spot.path, hint), optional)
        self.orders.setdefault(group, []).append(order)

    def _fields(self, ref: Reference, found: Node, path: Path) -> Iterator[Problem]:
        if len(ref.parts) < 2:  # noqa: PLR2004  the step as a whole
            return
        attribute, rest = ref.parts[1], ref.parts[2:]
        if attribute not in STEP_ATTRIBUTES:
            near = did_you_mean(str(attribute), STEP_ATTRIBUTES)
            hint = near if near.startswith("did") else f"write steps.{found.id}.output, or a field of it"
            yield Problem("PRD1202", f'a step has no "{attribute}"', path, hint)
        elif attribute == "output":
            schema, missing = schema_at(self.output_of(found), rest)
            if missing is not None:
                hint = did_you_mean(str(missing), _properties(schema))
                message = f'the output of "{found.id}" has no "{missing}"'
                yield Problem("PRD1203", message, path, f"{hint} {found.id} returns {_summary(schema)}".strip())

    def output_of(self, node: Node) -> Raw:
        """The schema of a step's output, where one is declared."""
        step = node.step
        if isinstance(step, (ModelStep, AgentStep)):
            return step.returns
        if isinstance(step, ToolStep) and self.toolbox and (facts := self.toolbox.tools.get(step.tool)):
            return facts.returns
        return None

    # ------------------------------------------------------------ types

    def _types(self, use: Use, spot: _Spot) -> Iterator[Problem]:
        if isinstance(use.expression, ExpressionError):
            return
        types = {str(ref): schema for ref in use.expression.references if (schema := self._type_of(ref, spot.scope))}
        try:
            use.expression.check(types, use.want)
        except ExpressionError as error:
            yield _of(error, spot.path)

    def _type_of(self, ref: Reference, scope: Node) -> Raw:
        if ref.optional or not ref.parts:
            return None
        if ref.root == "inputs":
            known = inputs_of(scope) or {}
            return schema_at(known.get(str(ref.parts[0])), ref.parts[1:])[0]
        if ref.root == "steps" and ref.parts[1:2] == ("output",):
            return schema_at(self.output_of(self.index.by_id[str(ref.parts[0])]), ref.parts[2:])[0]
        return None


def inputs_of(scope: Node) -> Mapping[str, Raw] | None:
    """The inputs that steps in a scope see, with their schemas; nothing where anything goes."""
    if isinstance(scope.step, MapStep):
        return inputs_of(scope.scope) if scope.step.with_ is None else dict.fromkeys(scope.step.with_)
    return scope.holder.inputs if isinstance(scope.holder, Plan) else None


def schema_at(schema: Raw, parts: tuple[str | int, ...]) -> tuple[Raw, str | int | None]:
    """The schema of a part of a value; or the schema around it, and the part that it does not have."""
    for part in parts:
        if not is_mapping(schema):
            return None, None
        properties = schema.get("properties")
        if isinstance(part, int):
            schema = schema.get("items")
        elif not is_mapping(properties):
            return None, None
        elif part in properties:
            schema = properties[part]
        else:
            return (None, None) if schema.get("additionalProperties") else (schema, part)
    return (schema if is_mapping(schema) else None), None


def _properties(schema: Raw) -> list[str]:
    return list(schema["properties"])


def _summary(schema: Raw) -> str:
    properties: Mapping[str, Raw] = schema["properties"]
    shown = [f"{name}: {_word(each)}" for name, each in list(properties.items())[:8]]
    return "{" + ", ".join(shown) + (", …" if len(properties) > len(shown) else "") + "}"


def _word(schema: Raw) -> str:
    return str(schema.get("type", "any")) if is_mapping(schema) else "any"


def _of(error: ExpressionError, path: Path) -> Problem:
    return Problem(error.code, error.message, path, error.help or EXPRESSION_HELP)


def _not_here(ref: Reference, spot: _Spot, hint: str) -> Problem:
    return Problem("PRD1208", f"`{ref.root}` cannot be used here", spot.path, hint)


def _other_scope(found: Node, spot: _Spot) -> Problem:
    named = "rollback" in spot.path or "context" in spot.path
    if named:
        hint = "name a step in the same scope"
    elif spot.scope in found.around:
        inner = next(group for group in (found, *found.around) if group.scope is spot.scope)
        hint = f"outside only its output is seen: write steps.{inner.id}.output"
    else:
        kind = "map" if isinstance(spot.scope.step, MapStep) else "sub-plan"
        hint = f"hand the value in: with: {{value: ${{steps.{found.id}.output}}}} on the {kind}, then inputs.value"
    return Problem("PRD1213", f'"{found.id}" is in another scope', spot.path, hint)
