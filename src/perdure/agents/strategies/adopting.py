"""Adopting: the steps of a plan as steps that an agent grows, under the names that they get there."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from perdure.plan.expr import ExpressionError, Reference, template
from perdure.plan.referring import referring

Change = Callable[[str, Reference], str]
"""The source of an expression with one of its references changed."""


def adopted(steps: Sequence[Mapping[str, Any]], born: int) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Steps without ids, whose needs and references are the new names; and the new name of each."""
    names = {each["id"]: f"s{born + n}" for n, each in enumerate(steps, 1)}
    return [_renamed(each, names) for each in steps], names


def _renamed(step: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    made = referring({word: value for word, value in step.items() if word != "id"}, names)
    return {**made, "needs": made.get("needs", [])}


# ------------------------------------------------------------------------------- the same in other words


def retold(value: Any, change: Change) -> Any:
    """A value of a plan, with every reference in its expressions changed. What is no expression stays as it is."""
    if isinstance(value, str):
        return _text(value, change)
    if isinstance(value, Mapping):
        given = cast("Mapping[str, Any]", value)
        return {word: retold(each, change) for word, each in given.items()}
    return [retold(each, change) for each in cast("list[Any]", value)] if isinstance(value, list) else value


def _text(text: str, change: Change) -> str:
    try:
        expressions = template(text).expressions
    except ExpressionError:
        return text
    for expression, _ in expressions:
        new = expression.source
        for each in sorted(expression.references, key=lambda each: each.offset, reverse=True):
            new = change(new, each)
        text = text.replace(f"${{{expression.source}}}", f"${{{new}}}")
    return text
