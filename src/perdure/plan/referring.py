"""Referring: a step whose expressions and needs name other steps than before. Texts that are no expressions stay."""

from collections.abc import Callable, Mapping
from typing import Final

from perdure.plan.expr import Expression, ExpressionError, Reference, parse, template
from perdure.plan.raw import Raw, is_list, is_mapping

Names = Mapping[str, str]
"""The new names of steps, by the old ones."""
Change = Callable[[str, Reference], str]
"""The source of an expression with one of its references changed."""
BARE: Final = frozenset({"when", "exit", "decide", "requires", "ensures", "expr"})
"""Fields that are expressions as they stand."""
CALLS: Final = frozenset({"undo", "simpler", "alternates", "accept", "relaxed", "decide"})
"""Fields that hold calls, with fields of their own."""
INSIDE: Final = frozenset({"steps", "parallel"})


def referring(step: Mapping[str, Raw], names: Names) -> dict[str, Raw]:
    """A step, as it is written, that names others; its own id stays, and those of steps inside it do too."""
    return {word: _field(word, value, names) for word, value in step.items()}


def _field(word: str, value: Raw, names: Names) -> Raw:
    if word == "needs" and is_list(value):
        return [names.get(str(each), each) for each in value]
    if word in INSIDE and is_list(value):
        return [referring(each, names) if is_mapping(each) else each for each in value]
    if word in CALLS and not isinstance(value, str):
        return _calls(value, names)
    return _bare(value, names) if word in BARE else retold(value, lambda s, each: _step_renamed(s, each, names))


def _calls(value: Raw, names: Names) -> Raw:
    if is_mapping(value):
        return referring(value, names)
    return [_bare(each, names) if isinstance(each, str) else _calls(each, names) for each in value or ()]


def _bare(value: Raw, names: Names) -> Raw:
    if is_list(value):
        return [_bare(each, names) for each in value]
    try:
        return _renamed(parse(value), names) if isinstance(value, str) else value
    except ExpressionError:
        return value  # the checks say what is wrong with it


def _renamed(expression: Expression, names: Names) -> str:
    return _changed(expression, lambda source, each: _step_renamed(source, each, names))


def _step_renamed(source: str, each: Reference, names: Names) -> str:
    name = str(each.parts[0]) if each.root == "steps" and each.parts else ""
    if name not in names:
        return source
    place = source.index(name, each.offset + len("steps"))
    return source[:place] + names[name] + source[place + len(name) :]


# ------------------------------------------------------------------------------- the same in other words


def retold(value: Raw, change: Change) -> Raw:
    """A value of a plan, with every reference in its expressions changed. What is no expression stays as it is."""
    if isinstance(value, str):
        return _text(value, change)
    if is_mapping(value):
        return {word: retold(each, change) for word, each in value.items()}
    return [retold(each, change) for each in value] if is_list(value) else value


def _text(text: str, change: Change) -> str:
    """From the end to the beginning, so that the places of those before stay; what was written is not read again."""
    try:
        expressions = template(text).expressions
    except ExpressionError:
        return text
    for expression, offset in reversed(expressions):
        text = text[:offset] + _changed(expression, change) + text[offset + len(expression.source) :]
    return text


def _changed(expression: Expression, change: Change) -> str:
    source = expression.source
    for each in sorted(expression.references, key=lambda each: each.offset, reverse=True):
        source = change(source, each)
    return source
