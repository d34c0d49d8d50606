"""An expression: a path that is looked up, or CEL that is evaluated.

All that is about CEL is loaded with the first expression that is more than a path: most plans have none.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

from perdure.plan.expr.errors import MISTYPED, SYNTAX, ExpressionError
from perdure.plan.expr.path import Reference, Scope, look_up, read_path
from perdure.plan.expr.schemas import Schemas, cel_types, schema_at, type_of
from perdure.plan.raw import Raw

if TYPE_CHECKING:
    from perdure.plan.expr.plain import Truth

MAX_SOURCE: Final = 4096
"""The most characters that an expression may have."""

Want = Literal["bool", "text", "list", "any"]


@dataclass(frozen=True)
class Expression:
    """Something that has a value once there are values to look at."""

    source: str
    references: tuple[Reference, ...]
    """Every value it names."""
    is_path: bool
    """Whether it is one path and nothing else: then it is looked up, and CEL is not asked."""
    plain: "Truth | None" = field(default=None, compare=False, repr=False)
    """How to find its value without CEL, if that may be possible."""

    def evaluate(self, scope: Scope) -> Raw:
        """The value in a scope such as `{"inputs": {…}, "steps": {…}}`; raise `ExpressionError` if there is none."""
        if self.is_path:
            return look_up(self.references[0], scope)
        found = self.plain(scope) if self.plain else None
        if found is not None:
            return found
        from perdure.plan.expr.cel import evaluate  # noqa: PLC0415  see above

        return evaluate(self.source, scope)

    def check(self, types: Schemas | None = None, want: Want = "any") -> None:
        """Raise `ExpressionError` if its types cannot go together, or it cannot give what is wanted.

        `types` holds what is known: dotted paths with a JSON Schema, or only its `type`.
        """
        if self.is_path:
            word = type_of(schema_at(self.references[0], types or {}))
        else:
            from perdure.plan.expr.cel import static_type  # noqa: PLC0415  see above

            word = _json_type(static_type(self.source, cel_types(self.references, types or {})))
        _refuse_other(word, want)


@lru_cache(maxsize=4096)
def parse(source: str) -> Expression:
    """Read an expression without evaluating it; raise `ExpressionError` if it cannot be read."""
    if len(source) > MAX_SOURCE:
        raise ExpressionError(SYNTAX, f"the expression has more than {MAX_SOURCE:,} characters", "let a step do it")
    _refuse_unreadable(source)
    path = read_path(source)
    if path:
        return Expression(source, (path,), is_path=True)
    from perdure.plan.expr.cel import compiled  # noqa: PLC0415  see above
    from perdure.plan.expr.plain import plain_of  # noqa: PLC0415  see above

    found = compiled(source)
    return Expression(source, found.references, is_path=False, plain=plain_of(found.tree))


def _refuse_unreadable(source: str) -> None:
    if not source.strip():
        raise ExpressionError(SYNTAX, "the expression is empty")
    try:
        source.encode()
    except UnicodeEncodeError as error:
        message = "the expression holds half of a Unicode pair (a lone surrogate)"
        raise ExpressionError(SYNTAX, message, offset=error.start) from None


# ------------------------------------------------------------------------------- types

_WANTED: Final = {"bool": "boolean", "text": "string", "list": "array"}
_JSON_TYPES: Final = {
    "bool": "boolean",
    "string": "string",
    "list": "array",
    "int": "integer",
    "uint": "integer",
    "double": "number",
    "map": "object",
    "null": "null",
    "dyn": "",
}
_SAID: Final = {
    "boolean": "true or false",
    "string": "a text",
    "array": "a list",
    "integer": "an integer",
    "number": "a number",
    "object": "an object",
}
_ADVICE: Final = {"bool": "compare it with something, as in a == b", "text": "write string(…) around it"}


def _json_type(name: str) -> str:
    plain, _, _ = name.lower().partition("<")
    if plain not in _JSON_TYPES:
        raise ExpressionError(MISTYPED, f"the result is a {plain}, which is not JSON", "write string(…) around it")
    return _JSON_TYPES[plain]


def _refuse_other(word: str, want: Want) -> None:
    wanted = _WANTED.get(want, word)
    if word and word != wanted:
        message = f"the expression gives {_SAID.get(word, word)} where {_SAID[wanted]} is wanted"
        raise ExpressionError(MISTYPED, message, _ADVICE.get(want, ""))
