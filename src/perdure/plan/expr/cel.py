"""The one place that knows CEL. The library is loaded when the first expression that is more than a path is read."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Protocol, cast

from perdure.plan.expr.cost import refuse_costly
from perdure.plan.expr.data import Given, checked, checked_keys, weigh
from perdure.plan.expr.errors import LEFT_OUT, SYNTAX, ExpressionError
from perdure.plan.expr.failures import is_about_absence, run_time_error
from perdure.plan.expr.messages import issues_in, refusal
from perdure.plan.expr.optional import OrValue, refuse_optional
from perdure.plan.expr.path import ROOTS, Reference, Scope, look_up
from perdure.plan.expr.tokens import tokens_in
from perdure.plan.expr.tree import Node, read_tree, references_in
from perdure.plan.raw import Raw

_CONFIG: Final = """
stdlib:
  exclude_macros: [map, filter]
  exclude_functions:
    - name: "_+_"
      overloads: [{id: add_string}, {id: add_bytes}, {id: add_list}]
    - name: matches
"""
"""What is left out can make a small expression work without end: join texts, build lists, match patterns."""

MAX_WORDS: Final = 1000
"""The most names, numbers, texts and opening brackets of an expression."""
_DOUBLING: Final = frozenset({"optMap", "optFlatMap"})
"""Macros that write their operand twice: a row of 25 fills the memory while CEL still reads."""

Types = tuple[tuple[str, str], ...]
"""Names with the CEL types that are known of them."""


class _Type(Protocol):
    def name(self) -> str: ...


class _Value(Protocol):
    def type(self) -> _Type: ...
    def value(self) -> Any: ...


class _Program(Protocol):
    def eval(self, *, data: Mapping[str, Any]) -> _Value: ...
    def return_type(self) -> _Type: ...
    def serialize(self) -> bytes: ...


class _Environment(Protocol):
    def compile(self, expression: str) -> _Program: ...


@dataclass(frozen=True, slots=True)
class Compiled:
    """An expression that CEL has read."""

    program: _Program
    tree: Node
    references: tuple[Reference, ...]
    or_value: OrValue | None
    """What it is looked up as, if it is no more than that."""


@lru_cache(maxsize=64)
def _environment(types: Types = ()) -> _Environment:
    from cel_expr_python import cel  # noqa: PLC0415  a plan without expressions does not load CEL
    from cel_expr_python.ext import ext_optional  # noqa: PLC0415  likewise

    variables = dict.fromkeys(ROOTS, cel.Type.DYN) | {name: cel.Type(word) for name, word in types}
    config = cel.NewEnvConfigFromYaml(_CONFIG)
    return cel.NewEnv(config=config, variables=variables, extensions=[ext_optional.ExtOptional()])


@lru_cache(maxsize=256)
def compiled(source: str) -> Compiled:
    """Read an expression; raise `ExpressionError` if CEL or we refuse it."""
    program = _compile(source)
    tree = read_tree(program.serialize())
    refuse_optional(tree)
    return Compiled(program, tree, references_in(tree), OrValue.read(tree))


def _compile(source: str) -> _Program:
    _refuse_unread(source)
    try:
        return _environment().compile(source)
    except RuntimeError as error:
        raise refusal(issues_in(str(error), source), source) from None


def _refuse_unread(source: str) -> None:
    """Raise an error for what would take CEL too much to read."""
    words = 0
    for token in tokens_in(source):
        words += _words_in(token[0])
        if words > MAX_WORDS:
            raise ExpressionError(SYNTAX, f"the expression has more than {MAX_WORDS:,} words", "let a step do it")
        if token[0] in _DOUBLING:
            advice = "go on into an optional value with .?name, and end it with .orValue(…)"
            raise ExpressionError(LEFT_OUT, f"{token[0]} is not available", advice, token.start())


def _words_in(token: str) -> int:
    if token[0].isalnum() or token[0] in "_'\"":
        return 1
    return 0 if token.startswith("//") else token.count("[") + token.count("{")


# ------------------------------------------------------------------------------- evaluating


def evaluate(source: str, scope: Scope) -> Raw:
    """The value of an expression; an error if it has none, or would be too much work."""
    expression = compiled(source)
    if expression.or_value:
        return expression.or_value.look_up(scope)
    given = Given(expression.references, scope)
    refuse_costly(expression.tree, given, weigh(given))
    try:
        value = expression.program.eval(data=given.roots)
    except RuntimeError as error:
        raise _failure(str(error), expression.references, scope) from None
    if value.type().name() == "ERROR":
        raise _failure(str(value.value()), expression.references, scope)
    return _json(value)


def _json(value: _Value) -> Raw:
    """A result, converted here: the binding would crash on some, and take a reference of None for each null."""
    if value.type().name() == "NULL":
        return None
    plain = value.value()
    if isinstance(plain, dict):
        entries = cast("dict[Raw, _Value]", plain)
        return {key: _json(entries[key]) for key in checked_keys(entries)}
    if isinstance(plain, list):
        return [_json(each) for each in cast("list[_Value]", plain)]
    return checked(plain)


def _failure(message: str, references: tuple[Reference, ...], scope: Scope) -> ExpressionError:
    """What went wrong: most often a value that is not there, and then we can say more than CEL."""
    for reference in references if is_about_absence(message) else ():
        try:
            look_up(reference, scope)
        except ExpressionError as error:
            return error
    if any(reference.root == "secrets" for reference in references):
        message = "the expression cannot be evaluated"  # CEL's message may hold a value
    return run_time_error(message)


# ------------------------------------------------------------------------------- checking


def static_type(source: str, types: Types) -> str:
    """The CEL type that an expression has for sure, as in `BOOL`; `DYN` if that is not known."""
    try:
        return _environment(types).compile(source).return_type().name()
    except RuntimeError as error:
        harmful = [issue for issue in issues_in(str(error), source) if not issue.is_harmless]
        if harmful:
            raise refusal(harmful, source) from None
    return compiled(source).program.return_type().name()
