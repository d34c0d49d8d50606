"""What an expression sees: only the values it names, found where it stands."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final

from perdure.core.calls import CALL_KINDS, Call, CallKind, Failure
from perdure.core.cells import Cell, Graph, Scope, Serial
from perdure.core.context import Shown, fitted, seen_by
from perdure.core.conversing import asked_of_model
from perdure.core.learning import verdict_of
from perdure.core.outline import Asked, Form
from perdure.core.state import State
from perdure.core.values import digest_of
from perdure.plan.expr import Reference, escaped, fill, fill_but, parse
from perdure.plan.model.document import Plan
from perdure.plan.model.parts import AgentCall, ModelCall, ToolCall
from perdure.plan.model.steps import DecideStep, MapStep, SubplanStep
from perdure.plan.shortening import shortened

Seen = dict[str, Any]
MOST_WORDS: Final = 1_000
"""Of what a judge says, in pieces of tokens, that whoever tries again is told."""


class Masked(dict[str, Any]):
    """Stands for the secrets where their values must not be: each is a note of its own name."""

    def __missing__(self, name: str) -> Any:
        return {"secret": name}

    def get(self, name: str, default: Any = None) -> Any:  # noqa: ARG002  every name has a note
        """The note of a name."""
        return self[name]


# ------------------------------------------------------------------------------- asking


NOTHING: Final[Mapping[str, Any]] = {}


def evaluate(state: State, scope: Scope, source: str, extra: Mapping[str, Any] = NOTHING) -> Any:
    """The value of a bare expression, as it is seen from a scope with what is there besides."""
    expression = parse(source)
    if extra and expression.plain is not None:  # perhaps about nothing but what is at hand, as most criteria are
        found = expression.plain(extra)
        if found is not None:
            return found
    return expression.evaluate(see(state, scope, expression.references, extra))


def filled(state: State, scope: Scope, value: Any, **extra: Any) -> Any:
    """A value of the plan, with all that it names put in."""
    form: Form = scope.outline.form(value)
    return value if form.is_literal else fill(value, see(state, scope, form.references, extra))


def filled_once(state: State, scope: Scope, value: Any) -> Any:
    """As `filled`, for a value that the plan does not hold."""
    return fill(value, see(state, scope, Form(value).references))


def see(state: State, scope: Scope, references: Iterable[Reference], extra: Mapping[str, Any] = NOTHING) -> Seen:
    """The values that are named."""
    seen: Seen = dict(extra)
    for reference in references:
        match reference.root:
            case "steps":
                _see_step(state, scope, reference, seen.setdefault("steps", {}))
            case "inputs":
                seen["inputs"] = inputs_of(state, scope)
            case "item" | "index" if scope.kind == "item":
                seen["index"], seen["item"] = scope.item, item_of(state, scope)
            case "run":
                seen["run"] = {"id": state.run, "goal": state.started.goal if state.started else ""}
            case "secrets":
                seen.setdefault("secrets", Masked())
            case _:
                pass
    return seen


def _see_step(state: State, scope: Scope, reference: Reference, steps: Seen) -> None:
    if not reference.parts:
        for id_ in scope.outline.index.by_id:
            _add_step(state, scope, id_, "", steps)
        return
    id_, *rest = reference.parts
    _add_step(state, scope, str(id_), str(rest[0]) if rest else "", steps)


def _add_step(state: State, scope: Scope, id_: str, part: str, steps: Seen) -> None:
    cell = scope.find(id_)
    if cell is None or cell.result is None:
        return
    view = steps.setdefault(id_, {"exit": cell.result.exit, "visits": cell.laps, "failure": None})
    if cell.result.failure is not None:
        view["failure"] = _told(cell.result.failure)
    if part in {"output", ""} and "output" not in view:
        view["output"] = output_of(state, cell)


def _told(failure: Failure) -> Seen:
    told = {"kind": failure.kind, "message": failure.message}
    return told if failure.detail is None else {**told, "detail": failure.detail}


# ------------------------------------------------------------------------------- what there is to see


def output_of(state: State, cell: Cell) -> Any:
    """What the last finished visit of a step gave."""
    result = cell.result
    if result is None or result.undone:
        return None
    if result.output is not None:
        return result.output.load(state.read)
    return outcome_of(state, cell, result.body)


def outcome_of(state: State, cell: Cell, body: Any) -> Any:
    """What follows from a group's steps: the last one's output, or all of them."""
    if isinstance(body, Serial):
        return output_of(state, body.last) if body.last else None
    if not isinstance(body, Graph):
        return None
    if cell.kind == "map":
        return [_good_output(state, body.children.get(n)) for n in range(body.total)]
    by_id = {child.id: _good_output(state, body.children.get(child.position)) for child in cell.tree.children}
    if body.told is None or (cell.body is body and cell.is_live):
        return by_id
    return {id_: by_id.get(id_) for id_ in body.told}


def _good_output(state: State, cell: Cell | None) -> Any:
    return output_of(state, cell) if cell and cell.result and verdict_of(cell.result) == "good" else None


def inputs_of(state: State, scope: Scope) -> Any:
    """What the steps of a scope see as `inputs`; a grown step sees those of its agent, which holds them for all."""
    if scope.kind == "grown" and scope.outer is not None:
        scope = scope.outer
    if "inputs" not in scope.cached:
        scope.cached["inputs"] = _inputs_of(state, scope)
    return scope.cached["inputs"]


def _inputs_of(state: State, scope: Scope) -> Any:
    if scope.kind == "run" or scope.outer is None or scope.holder is None:
        return state.started.inputs.load(state.read) if state.started else {}
    step = scope.holder.step
    if scope.kind == "plan" and isinstance(step, SubplanStep):
        plan = scope.outline.plan if not isinstance(step.plan, Plan) else step.plan
        return with_defaults(plan, filled(state, scope.holder.scope, step.with_))
    if scope.kind == "item" and isinstance(step, MapStep) and step.with_ is not None:
        return filled(state, scope.outer, step.with_)
    call = scope.holder.traits.call
    if scope.kind == "agent" and isinstance(call, AgentCall):
        context = {"context": shown_in(state, scope)} if scope.holder.traits.shows else {}
        more = {**context, REFUSED: _refusals(scope.holder)} if scope.holder.refused else context
        return {"task": filled(state, scope.outer, call.task), **more, **filled(state, scope.outer, call.with_)}
    return inputs_of(state, scope.outer)


REFUSED: Final = "refused"
"""The fact by which an agent that tries again is told why."""


def _refusals(cell: Cell) -> list[str]:
    return [f"An earlier result was refused. {shortened(why, MOST_WORDS)}" for why in cell.refused]


def context_of(state: State, cell: Cell) -> list[Shown]:
    """What a step is shown of earlier results; nothing if it does not say so."""
    wanted = cell.traits.shows
    return [] if wanted is None else fitted(seen_by(cell, wanted), wanted.tokens, partial(output_of, state))


def shown_in(state: State, scope: Scope) -> list[Shown]:
    """What an agent is shown of earlier results. It stays the same for all that is grown at a visit."""
    if "context" not in scope.cached:
        scope.cached["context"] = context_of(state, scope.holder) if scope.holder else []
    return scope.cached["context"]


def with_defaults(plan: Plan, given: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs of a plan, with the defaults of those that were not given."""
    missing = {name: schema["default"] for name, schema in plan.inputs.items() if "default" in schema}
    return {**missing, **given}


def items_of(state: State, cell: Cell) -> Any:
    """The list that a map runs over. It cannot change while the map is live, so it is looked up once."""
    step, body = cell.step, cell.body
    assert isinstance(step, MapStep)  # noqa: S101  asked of maps alone
    assert isinstance(body, Graph)  # noqa: S101  a map's body is one
    if body.items is None:
        body.items = filled(state, cell.scope, step.map)
    return body.items


def item_of(state: State, scope: Scope) -> Any:
    """The item that the steps of a scope are for."""
    if "item" not in scope.cached:
        parent = scope.holder.parent if scope.holder else None
        assert parent is not None  # noqa: S101  an item has a map around it
        scope.cached["item"] = items_of(state, parent)[scope.item]
    return scope.cached["item"]


# ------------------------------------------------------------------------------- calls


def call_of(state: State, cell: Cell, secrets: Mapping[str, Any] | None = None) -> Call:
    """What a step asks its performer to do. Without secrets, each is a note of its name."""
    found = filled_call(state, cell.scope, cell.traits.call, secrets)
    more = _besides(state, cell) if found.kind != "tool" else None
    return Call(found.kind, found.name, {**more, **found.arguments}) if more else found


def _besides(state: State, cell: Cell) -> dict[str, Any]:
    """What a model or an agent is given by the step, and not by the call."""
    more: dict[str, Any] = {} if cell.traits.shows is None else {"context": context_of(state, cell)}
    if isinstance(cell.step, DecideStep):
        more["choices"] = list(cell.step.choices)
    return more


def call_of_usual(state: State, cell: Cell) -> Call:
    """What a step asks for in its usual way, whichever it goes now; without secrets."""
    return filled_call(state, cell.scope, (cell.traits.usual or cell.traits).call)


def asked(state: State, cell: Cell) -> Asked:
    """What a step asks its performer to do, without secrets, and the digest of that."""
    found = cell.traits.literal
    if found is not None:
        return found
    call = call_of(state, cell)
    return call, digest_of(call.data)


def filled_call(state: State, scope: Scope, call: Any, secrets: Mapping[str, Any] | None = None, **extra: Any) -> Call:
    """A call with its arguments put in."""
    if secrets is not None:
        extra["secrets"] = secrets
    match call:
        case ToolCall():
            return Call("tool", call.tool, filled(state, scope, call.with_, **extra))
        case ModelCall():
            fill = partial(filled, state, scope, **extra)
            return Call("model", call.model, asked_of_model(scope, call, fill))
        case AgentCall():
            task = filled(state, scope, call.task, **extra)
            given = filled(state, scope, call.with_, **extra)
            return Call("agent", call.agent, {"task": task, "with": given, **_returns(call)})
        case _:
            raise TypeError(call)


def bare_call(call: Any) -> Call:
    """A call without its arguments."""
    kind: CallKind = next(kind for kind in CALL_KINDS if hasattr(call, kind))
    return Call(kind, getattr(call, kind), {})


def _returns(call: AgentCall) -> dict[str, Any]:
    return {"returns": call.returns} if call.returns is not None else {}


# ------------------------------------------------------------------------------- calls that are made later

SECRETS: Final = "secrets"
"""Marks a call that was written down with its secrets still to be put in."""


def call_for_later(state: State, scope: Scope, call: Any, **extra: Any) -> dict[str, Any]:
    """A call as it is written down, to be made at another time: with all values as they are now, but no secrets."""
    if not _wants_secrets(scope, call):
        return filled_call(state, scope, call, **extra).data
    given = {"task": call.task, "with": call.with_} if isinstance(call, AgentCall) else call.with_
    half = fill_but(given, see(state, scope, Form(given).references, extra), SECRETS)
    if isinstance(call, AgentCall):
        return {**Call("agent", call.agent, {**half, **escaped(_returns(call))}).data, SECRETS: True}
    return {**Call("tool", call.tool, half).data, SECRETS: True}


def _wants_secrets(scope: Scope, call: Any) -> bool:
    form: Form | None = scope.outline.form(call.with_) if isinstance(call, (ToolCall, AgentCall)) else None
    return form is not None and any(reference.root == SECRETS for reference in form.references)


def with_secrets(call: Call, secrets: Mapping[str, Any]) -> Call:
    """A call that was written down, ready to be made."""
    return Call(call.kind, call.name, fill(call.arguments, {SECRETS: secrets}))


def refusal(state: State, question: str) -> Failure:
    """That somebody said no, and why, if they told; or that nobody said anything in time."""
    if question not in state.answers:
        return Failure("denied", "a person was asked, and nobody answered in time")
    why = state.reasons.get(question, "")
    return Failure("denied", "a person was asked, and said no" + (f": {why}" if why else ""))
