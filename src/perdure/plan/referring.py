"""Referring: a step whose expressions and needs name other steps than before. Texts that are no expressions stay."""

from collections.abc import Mapping
from typing import Final

from perdure.plan.expr import Expression, ExpressionError, parse, template
from perdure.plan.raw import Raw, is_list, is_mapping

Names = Mapping[str, str]
"""The new names of steps, by the old ones."""
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
    return _bare(value, names) if word in BARE else _texts(value, names)


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


def _texts(value: Raw, names: Names) -> Raw:
    if isinstance(value, str):
        return _text(value, names)
    if is_mapping(value):
        return {word: _texts(each, names) for word, each in value.items()}
    return [_texts(each, names) for each in value] if is_list(value) else value


def _text(text: str, names: Names) -> str:
    try:
        expressions = template(text).expressions
    except ExpressionError:
        return text
    for expression, _ in expressions:
        text = text.replace(f"${{{expression.source}}}", f"${{{_renamed(expression, names)}}}")
    return text


def _renamed(expression: Expression, names: Names) -> str:
    """The source with every `steps.ID` of it renamed, from the end to the beginning."""
    source = expression.source
    for each in sorted(expression.references, key=lambda each: each.offset, reverse=True):
        if each.root == "steps" and each.parts and each.parts[0] in names:
            name = str(each.parts[0])
            place = source.index(name, each.offset + len("steps"))
            source = source[:place] + names[name] + source[place + len(name) :]
    return source
