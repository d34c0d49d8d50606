"""Texts with `${…}` in them, and values with such texts in them.

A text that is one `${…}` and nothing else keeps the type of its value. In any other the values are written into the
text: a text as it is, everything else as JSON. What is filled in is never looked at again.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from perdure.plan.expr.errors import LEFT_OUT, NOT_JSON, SYNTAX, TOO_MUCH, ExpressionError
from perdure.plan.expr.expression import MAX_SOURCE, Expression, parse
from perdure.plan.expr.path import Part, Scope
from perdure.plan.expr.tokens import tokens_in
from perdure.plan.raw import Raw, is_list, is_mapping

MAX_TEXT: Final = 16 * 1024 * 1024
"""The most characters that filling in may make of texts."""
_CACHED_TEXT: Final = 8192

_OPENING: Final = re.compile(r"\$?\$\{")
_ESCAPED: Final = "$${"
_DEEPER: Final = {"{": 1, "}": -1}


@dataclass(frozen=True)
class Template:
    """A text, its expressions, and where each starts in it."""

    source: str
    expressions: tuple[tuple[Expression, int], ...]
    is_whole: bool
    """Whether it is one `${…}` and nothing else."""
    texts: tuple[str, ...]
    """What stands around the expressions: one text more than there are expressions."""

    @property
    def is_literal(self) -> bool:
        """Whether there is nothing to fill in."""
        return not self.expressions

    def fill(self, scope: Scope) -> Raw:
        """The text with its values in it, or the value itself if there is nothing else."""
        values = [_evaluate(expression, offset, scope) for expression, offset in self.expressions]
        return values[0] if self.is_whole else _join(self.texts, values)


def _evaluate(expression: Expression, offset: int, scope: Scope) -> Raw:
    try:
        return expression.evaluate(scope)
    except ExpressionError as error:
        raise error.moved(offset) from None


def _join(texts: tuple[str, ...], values: list[Raw]) -> str:
    pieces, length = [texts[0]], len(texts[0])
    for value, text in zip(values, texts[1:], strict=True):
        pieces += (value if isinstance(value, str) else _as_json(value), text)
        length += len(pieces[-2]) + len(text)
        if length > MAX_TEXT:
            raise _too_long()
    return "".join(pieces)


def _as_json(value: Raw) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise ExpressionError(NOT_JSON, "a value that is to be written into a text is not JSON") from None


def _too_long() -> ExpressionError:
    return ExpressionError(TOO_MUCH, f"the text becomes longer than {MAX_TEXT // 2**20} million characters")


# ------------------------------------------------------------------------------- reading


def template(text: str) -> Template:
    """Read a text; raise `ExpressionError` if an expression in it is not closed or cannot be read."""
    return _cached(text) if len(text) <= _CACHED_TEXT else _read(text)


def _read(text: str) -> Template:
    texts: list[list[str]] = [[]]
    expressions: list[tuple[Expression, int]] = []
    for piece, offset in _pieces(text):
        if isinstance(piece, str):
            texts[-1].append(piece)
        else:
            expressions.append((piece, offset))
            texts.append([])
    around = tuple("".join(pieces) for pieces in texts)
    return Template(text, tuple(expressions), len(expressions) == 1 and not any(around), around)


def _pieces(text: str) -> Iterator[tuple[str | Expression, int]]:
    at = 0
    while opening := _OPENING.search(text, at):
        yield text[at : opening.start()], at
        at = opening.end()
        if opening[0] == _ESCAPED:
            yield "${", at
        else:
            end = _closing(text, at)
            yield _parse(text[at:end], at), at
            at = end + 1
    yield text[at:], at


_cached = lru_cache(maxsize=4096)(_read)


def _parse(source: str, offset: int) -> Expression:
    try:
        return parse(source)
    except ExpressionError as error:
        raise error.moved(offset) from None


def _closing(text: str, start: int) -> int:
    depth, end = 1, min(start + MAX_SOURCE + 1, len(text))
    for token in tokens_in(text, start, end):
        depth += _DEEPER.get(token[0], 0)
        if not depth:
            return token.start()
    message = "`${` is not closed" if end == len(text) else f"`${{` is not closed within {MAX_SOURCE:,} characters"
    raise ExpressionError(SYNTAX, message, "close it with }; for the characters ${ write $${", start - 2)


# ------------------------------------------------------------------------------- values


def templates_in(value: Raw) -> Iterator[tuple[tuple[Part, ...], Template]]:
    """Every template in a JSON value, with its path; raises at the first that cannot be read."""
    for path, text in texts_in(value):
        yield path, template(text)


def texts_in(value: Raw) -> Iterator[tuple[tuple[Part, ...], str]]:
    """Every text in a JSON value that holds `${`, with its path, in the order of the document."""
    stack: list[tuple[tuple[Part, ...], Raw]] = [((), value)]
    while stack:
        path, each = stack.pop()
        if isinstance(each, str):
            if "${" in each:
                yield path, each
        else:
            stack += [((*path, key), inner) for key, inner in reversed(_entries(each))]


def _entries(value: Raw) -> list[tuple[Part, Raw]]:
    if is_mapping(value):
        return list(value.items())
    return list(enumerate(value)) if is_list(value) else []


def fill(value: Raw, scope: Scope) -> Raw:
    """A new JSON value like this one, with every text in it filled. What is filled in is shared with the scope."""
    room = MAX_TEXT

    def filled(text: Template) -> Raw:
        nonlocal room
        value = text.fill(scope)
        if not text.is_whole:
            room -= len(value)
            if room < 0:
                raise _too_long()
        return value

    return _with_texts(value, filled)


def fill_but(value: Raw, scope: Scope, root: str) -> Raw:
    """As `fill`, but what is about `root` stays, to be filled later. What is filled in now is not looked at then."""
    return _with_texts(value, lambda text: _half_filled(text, scope, root))


def _with_texts(value: Raw, filled: Callable[[Template], Raw]) -> Raw:
    """A new JSON value like this one, with another value for every text that has something to fill in."""
    whole: list[Raw] = [value]
    stack: list[tuple[Raw, Part]] = [(whole, 0)]
    while stack:
        holder, key = stack.pop()
        each = holder[key]
        if is_mapping(each) or is_list(each):
            holder[key] = copy = dict(each) if is_mapping(each) else list(each)
            stack += [(copy, inner) for inner, _ in reversed(_entries(copy))]
        elif isinstance(each, str) and "${" in each:
            holder[key] = filled(template(each))
    return whole[0]


# ------------------------------------------------------------------------------- filling in two goes


def _half_filled(text: Template, scope: Scope, root: str) -> Raw:
    if not any(_is_about(expression, root) for expression, _ in text.expressions):
        return escaped(text.fill(scope))
    if text.is_whole:
        return text.source
    written, plain = "", text.texts[0]
    for (expression, offset), after in zip(text.expressions, text.texts[1:], strict=True):
        if _is_about(expression, root):
            written += f"{_apart(escaped(plain))}${{{expression.source}}}"
            plain = after
        else:
            value = _evaluate(expression, offset, scope)
            plain += (value if isinstance(value, str) else _as_json(value)) + after
    return written + escaped(plain)


def _is_about(expression: Expression, root: str) -> bool:
    named = {reference.root for reference in expression.references}
    if root in named and len(named) > 1:
        message = f"{root} cannot stand in one expression with other values here"
        raise ExpressionError(LEFT_OUT, message, "write an expression for each, side by side")
    return root in named


def escaped(value: Raw) -> Raw:
    """A JSON value that `fill` gives back as this one."""
    if isinstance(value, str):
        return value.replace("${", _ESCAPED)
    if is_mapping(value):
        return {key: escaped(inner) for key, inner in value.items()}
    return [escaped(inner) for inner in value] if is_list(value) else value


def _apart(text: str) -> str:
    """A text that an expression can follow: a dollar sign at its end would be read together with what follows."""
    plain = text.rstrip("$")
    return text if plain == text else f'{plain}${{"{text[len(plain) :]}"}}'
