"""Adopting: the steps of a plan as steps that an agent grows, under the names that they get there."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from perdure.plan.expr import ExpressionError, template


def adopted(steps: Sequence[Mapping[str, Any]], born: int) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Steps without ids, whose needs and references are the new names; and the new name of each."""
    names = {each["id"]: f"s{born + n}" for n, each in enumerate(steps, 1)}
    return [_renamed(each, names) for each in steps], names


def _renamed(step: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    made = {word: _with_names(value, names) for word, value in step.items() if word not in {"id", "needs"}}
    return {**made, "needs": [names[each] for each in step.get("needs", ())]}


def _with_names(value: Any, names: Mapping[str, str]) -> Any:
    """A value of a plan, whose expressions name steps by their new names."""
    if isinstance(value, str):
        return _text(value, names)
    if isinstance(value, Mapping):
        given = cast("Mapping[str, Any]", value)
        return {word: _with_names(each, names) for word, each in given.items()}
    return [_with_names(each, names) for each in cast("list[Any]", value)] if isinstance(value, list) else value


def _text(text: str, names: Mapping[str, str]) -> str:
    """A text in which every `steps.ID` inside `${…}` is another one. What is no expression stays as it is."""
    try:
        expressions = template(text).expressions
    except ExpressionError:
        return text
    for expression, _ in expressions:
        new = expression.source
        for each in sorted(expression.references, key=lambda each: each.offset, reverse=True):
            if each.root == "steps" and each.parts and each.parts[0] in names:
                new = _at(new, each.offset, str(each.parts[0]), names)
        text = text.replace(f"${{{expression.source}}}", f"${{{new}}}")
    return text


def _at(source: str, offset: int, name: str, names: Mapping[str, str]) -> str:
    """The source with the first mention of a name after an offset replaced."""
    place = source.index(name, offset + len("steps"))
    return source[:place] + names[name] + source[place + len(name) :]
