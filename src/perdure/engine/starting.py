"""From a plan and its inputs to the first fact of a run."""

from collections.abc import Mapping
from typing import Any, ClassVar

from perdure import __version__
from perdure.core import events as e
from perdure.core.outline import Outline
from perdure.core.seeing import with_defaults
from perdure.core.values import keep
from perdure.errors import PerdureError
from perdure.journal.turns import IN_WORDS, is_word
from perdure.plan import Plan
from perdure.plan.conforming import flaws
from perdure.plan.expr import ExpressionError, fill
from perdure.ports import Artifact


class BadInputs(PerdureError):
    """The inputs do not fit the plan."""

    code: ClassVar[str] = "PRD3101"
    exit_code: int = 2


class NoSession(PerdureError):
    """What was named as the session of a run is no name of one."""

    code: ClassVar[str] = "PRD3110"
    exit_code: int = 2


def check_session(session: str) -> None:
    """`NoSession` unless a session can be called so; empty is none."""
    if session and not is_word(session):
        from perdure.plan.visible import visible  # noqa: PLC0415  a run that goes on needs none of it

        raise NoSession(f"a session cannot be called {visible(session, 80)!r}", IN_WORDS)


def accepted(plan: Plan, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs of a run, defaults included; `BadInputs` if they do not fit."""
    given = with_defaults(plan, inputs)
    if not plan.inputs and not given:
        return given
    required = [name for name, schema in plan.inputs.items() if "default" not in schema]
    schema = {"type": "object", "properties": plan.inputs, "required": required, "additionalProperties": False}
    found = flaws(given, schema, place=("inputs",))
    if found:
        known = ", ".join(plan.inputs) or "none"
        raise BadInputs(f"the inputs do not fit the plan: {'; '.join(found)}", f"its inputs are: {known}")
    return given


def goal_of(plan: Plan, inputs: Mapping[str, Any]) -> str:
    """The goal, with the inputs put in."""
    try:
        return str(fill(plan.goal, {"inputs": inputs}))
    except ExpressionError as error:
        raise BadInputs(f"the goal cannot be told: {error.message}", error.help) from error


def first_fact(
    outline: Outline, inputs: Mapping[str, Any], at: int, **terms: Any
) -> tuple[e.RunStarted, list[Artifact]]:
    """The fact that begins a run, and the values it names."""
    plan = outline.plan
    kept: dict[str, bytes] = {}
    due = None if plan.timeout is None else at + round(plan.timeout * 1000)
    terms["release"] = __version__
    terms["goal"], terms["inputs"] = goal_of(plan, inputs), keep(dict(inputs), kept)
    values = [Artifact(name, data) for name, data in kept.items()]
    return e.RunStarted(plan=outline.digest, due=due, **terms), [Artifact(outline.digest, outline.data), *values]
