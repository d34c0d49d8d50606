"""Optional values, which `.?`, `[?…]`, `first()` and `last()` give, must end before anything else is done with them.

CEL itself lets some of them through: it then finds them unequal to everything, and cannot hand them out.
"""

from dataclasses import dataclass
from typing import Final

from perdure.plan.expr.errors import MISTYPED, ExpressionError
from perdure.plan.expr.functions import INDEXING
from perdure.plan.expr.path import MISSING, Reference, Scope, look_up
from perdure.plan.expr.tree import Call, Const, Literal, Loop, Member, Name, Node, path_of
from perdure.plan.raw import Raw

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


# ------------------------------------------------------------------------------- something in its place


@dataclass(frozen=True, slots=True)
class OrValue:
    """A path with something to take in its place. It is a lookup like a path, however large the value is."""

    path: Reference
    other: Node

    @classmethod
    def read(cls, tree: Node) -> "OrValue | None":
        """The tree as such, if it is one."""
        if not isinstance(tree, Call) or tree.function != "orValue":
            return None
        of, other = tree.arguments
        path = path_of(of)
        return cls(path, other) if path and path.optional and (_is_plain(other) or path_of(other)) else None

    def look_up(self, scope: Scope) -> Raw:
        """The value at the path, or else the other one."""
        value = look_up(self.path, scope, otherwise=MISSING)
        if value is not MISSING:
            return value
        other = path_of(self.other)
        return look_up(other, scope) if other else _plain(self.other)


def _is_plain(node: Node) -> bool:
    if isinstance(node, Literal):
        return not node.elements
    return isinstance(node, Const) and not isinstance(node.value, bytes)


def _plain(node: Node) -> Raw:
    if isinstance(node, Literal):
        return {} if node.is_object else []
    return node.value if isinstance(node, Const) else None
