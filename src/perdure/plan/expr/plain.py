"""Comparisons of plain values, which most conditions are: they are looked up and compared, and CEL is not asked.

Only where nobody could tell the difference: integers with each other, and likewise fractions, short texts, true and
false; and what `&&`, `||` and `!` make of that. Whatever else there is, or is missing, is for CEL, which also says what
is wrong with it.
"""

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from perdure.plan.expr.path import MISSING, Reference, Scope, step_into
from perdure.plan.expr.tree import Call, Const, Node, path_of
from perdure.plan.raw import OBJECT, Raw

Truth = Callable[[Scope], bool | None]
"""Whether something holds; None: CEL has to be asked."""
Look = Callable[[Scope], Raw]
Compare = Callable[[Any, Any], bool]
MAX_TEXT: Final = 1000
MAX_INTEGER: Final = 2**53 - 1
_COMPARING: Final[Mapping[str, Compare]] = {
    "_==_": operator.eq,
    "_!=_": operator.ne,
    "_<_": operator.lt,
    "_<=_": operator.le,
    "_>_": operator.gt,
    "_>=_": operator.ge,
}
_JOINING: Final[Mapping[str, Callable[[list[bool | None]], bool]]] = {
    "_&&_": all,
    "_||_": any,
    "!_": lambda truths: not truths[0],
}


def plain_of(tree: Node) -> Truth | None:
    """How to find out whether a tree holds; None if that is no comparison of plain values."""
    if not isinstance(tree, Call):
        return None
    if tree.function in _COMPARING:
        return _comparison(_COMPARING[tree.function], *tree.arguments)
    if tree.function not in _JOINING:
        return None
    parts = [plain_of(each) for each in tree.arguments]
    found = [each for each in parts if each is not None]
    return _joined(tree.function, found) if len(found) == len(parts) else None


def _joined(function: str, parts: list[Truth]) -> Truth:
    join = _JOINING[function]

    def truth(scope: Scope) -> bool | None:
        truths = [each(scope) for each in parts]  # all of them: if one is for CEL, everything is
        return None if None in truths else join(truths)

    return truth


def _comparison(compare: Compare, left: Node, right: Node) -> Truth | None:
    one, other = _operand(left), _operand(right)
    if one is None or other is None:
        return None
    if isinstance(one, Reference) and isinstance(other, Const):
        return _compared_with(compare, one, other.value)
    return _compared(compare, _look(one), _look(other))


def _compared(compare: Compare, one: Look, other: Look) -> Truth:
    def truth(scope: Scope) -> bool | None:
        a, b = one(scope), other(scope)
        return compare(a, b) if type(a) is type(b) and _is_plain(a) and _is_plain(b) else None

    return truth


def _compared_with(compare: Compare, path: Reference, constant: Raw) -> Truth | None:
    """As most people write it, `output.n > 3`: half of it is known now. It is all in one place, for speed."""
    root, parts = path.root, path.parts

    def truth(scope: Scope) -> bool | None:
        value = scope.get(root, MISSING)
        for part in parts:
            value = value.get(part, MISSING) if type(value) is OBJECT else step_into(value, part)
        return compare(value, constant) if type(value) is type(constant) and _is_plain(value) else None

    return truth if _is_plain(constant) else None


def _operand(node: Node) -> Const | Reference | None:
    if isinstance(node, Const):
        return node
    path = path_of(node)
    return None if path is None or path.optional or path.tested or path.root == "secrets" else path


def _look(operand: Const | Reference) -> Look:
    if isinstance(operand, Const):
        return lambda _: operand.value
    return lambda scope: _looked_up(operand, scope)


def _looked_up(path: Reference, scope: Scope) -> Raw:
    value = scope.get(path.root, MISSING)
    for part in path.parts:
        value = step_into(value, part)
    return value


def _is_plain(value: Raw) -> bool:
    if type(value) is int:
        return -MAX_INTEGER <= value <= MAX_INTEGER
    if type(value) is str:
        return len(value) <= MAX_TEXT and value.isascii() and "\0" not in value
    return type(value) is bool or type(value) is float
