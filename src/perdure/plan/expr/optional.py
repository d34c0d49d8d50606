"""Optional values, which `.?`, `[?…]`, `first()` and `last()` give, must end before anything else is done with them.

CEL itself lets some of them through: it then finds them unequal to everything, and cannot hand them out.
"""

from typing import Final

from perdure.plan.expr.errors import MISTYPED, ExpressionError
from perdure.plan.expr.tree import INDEXING, Call, Literal, Loop, Member, Name, Node

_GIVING: Final = frozenset({"first", "last", "or", "optional.of", "optional.ofNonZeroValue", "optional.none"})
_TAKING: Final = {"or": (0, 1), "orValue": (0,), "hasValue": (0,), "value": (0,), "_?_:_": (1, 2)}
"""Which arguments may be optional."""


def refuse_optional(node: Node) -> None:
    """Raise an error if a node, or anything in it that has to be there, is optional."""
    if _is_optional(node):
        raise ExpressionError(
            MISTYPED, "the value is optional: it may not be there", "end it with .orValue(…)", _offset(node)
        )


def _is_optional(node: Node) -> bool:
    if isinstance(node, Member):
        return (_is_optional(node.of) or node.optional) and not node.tested
    if isinstance(node, Call):
        return _call(node)
    if isinstance(node, Loop):
        _refuse_all(node.over, *node.each, node.result)
    elif isinstance(node, Literal):
        _refuse_all(*node.elements)
    return False


def _call(node: Call) -> bool:
    taking = (0,) if node.function in INDEXING else _TAKING.get(node.function, ())
    _refuse_all(*(each for place, each in enumerate(node.arguments) if place not in taking))
    found = [_is_optional(node.arguments[place]) for place in taking]
    if node.function in INDEXING:
        return INDEXING[node.function] or found[0]
    return node.function in _GIVING or (node.function == "_?_:_" and any(found))


def _refuse_all(*nodes: Node) -> None:
    for node in nodes:
        refuse_optional(node)


def _offset(node: Node) -> int:
    while isinstance(node, (Member, Call)):
        if isinstance(node, Call) and not node.arguments:
            return 0
        node = node.of if isinstance(node, Member) else node.arguments[0]
    return node.offset if isinstance(node, Name) else 0
