"""An expression as CEL has parsed and checked it: a tree that can be asked what it names and what it does.

CEL hands its tree out as a serialized `cel.expr.CheckedExpr`; the numbers here are the field numbers of that
message and do not change. Recursion is bounded: CEL refuses what is nested deeper than 32.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from perdure.plan.expr.errors import LEFT_OUT, ExpressionError
from perdure.plan.expr.path import ROOTS, Part, Reference, unknown_root
from perdure.plan.expr.wire import Message
from perdure.plan.raw import Raw

# ------------------------------------------------------------------------------- nodes


@dataclass(frozen=True, slots=True)
class Const:
    """A literal."""

    value: Raw


@dataclass(frozen=True, slots=True)
class Name:
    """A root, a loop variable or a type. A dot before it says that no loop variable is meant."""

    name: str
    offset: int


@dataclass(frozen=True, slots=True)
class Member:
    """One constant part further into a value: `.a`, `.?a`, `["a"]`, `[0]`, or the test of `has()`."""

    of: "Node"
    part: Part
    optional: bool
    tested: bool


@dataclass(frozen=True, slots=True)
class Call:
    """A function or an operator; what a method is called on is its first argument."""

    function: str
    arguments: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Literal:
    """A list, or an object by its keys and values in turn."""

    elements: tuple["Node", ...]
    is_object: bool


@dataclass(frozen=True, slots=True)
class Loop:
    """What `exists`, `all` and `exists_one` become."""

    variable: str
    over: "Node"
    each: tuple["Node", ...]
    """Evaluated for each element."""
    result: "Node"
    """Evaluated once, at the end."""


Node = Const | Name | Member | Call | Literal | Loop

# ------------------------------------------------------------------------------- what it may do

TYPE_NAMES: Final = frozenset(
    {"int", "uint", "double", "bool", "string", "bytes", "list", "map", "null_type", "type"}
    | {"google.protobuf.Timestamp", "google.protobuf.Duration"}
)
"""Names that stand for a type, as in `type(item) == string`."""
LOGIC: Final = frozenset({"_&&_", "_||_", "!_", "_?_:_", "@not_strictly_false"})
ARITHMETIC: Final = frozenset({"_+_", "_-_", "_*_", "_/_", "_%_", "-_"})
COMPARING: Final = frozenset({"_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "startsWith", "endsWith"})
SEARCHING: Final = frozenset({"@in", "contains", "size"})
CONVERTING: Final = frozenset({"int", "uint", "double", "string", "bool", "bytes", "timestamp", "duration"})
INDEXING: Final = {"_[_]": False, "_[?_]": True, "_?._": True}
"""How a part is reached, and whether it may be missing."""
PASSING: Final = frozenset(
    {"dyn", "type", "first", "last", "or", "orValue", "value", "hasValue"}
    | {"optional.of", "optional.ofNonZeroValue", "optional.none"}
)
CLOCK: Final = frozenset(
    {"getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear"}
    | {"getHours", "getMinutes", "getSeconds", "getMilliseconds"}
)
FUNCTIONS: Final = LOGIC | ARITHMETIC | COMPARING | SEARCHING | CONVERTING | INDEXING.keys() | PASSING | CLOCK
"""What can be called: each has a known cost. Whatever else CEL may learn stays out until it has one."""
_ADDING_ANYTHING: Final = frozenset({b"add_int64", b"add_double"})


def _refuse_call(function: str, arguments: int, overloads: list[bytes], offset: int) -> None:
    if function not in FUNCTIONS:
        raise ExpressionError(LEFT_OUT, f"{function}() is not available", offset=offset)
    if function in CLOCK and arguments > 1:  # time zones are read from the disk, and differ between machines
        raise ExpressionError(LEFT_OUT, f"{function}() knows UTC only", "leave out the time zone", offset)
    if function == "_+_" and _ADDING_ANYTHING.issubset(overloads):
        raise ExpressionError(
            LEFT_OUT,
            "`+` has to know what it adds",
            "say what is added: int(a) + int(b), double(a) + double(b); texts are joined by writing ${a}${b}",
            offset,
        )


# ------------------------------------------------------------------------------- reading

_ID, _CONST, _NAME, _FIELD, _CALL, _LIST, _OBJECT, _LOOP = range(2, 10)
_BOOL, _INT, _UINT, _DOUBLE, _TEXT, _BYTES = range(2, 8)


def read_tree(serialized: bytes) -> Node:
    """The tree of a compiled expression; an error if it does something that is left out."""
    checked = Message(serialized).part(2)
    return _Reader(checked).node(checked.part(4))


class _Reader:
    """Reads the nodes of one checked expression."""

    def __init__(self, checked: Message) -> None:
        self._offsets = {place.number(1): place.number(2) for place in checked.part(5).parts(4)}
        self._overloads = {entry.number(1): entry.part(2).all(3) for entry in checked.parts(2)}

    def node(self, message: Message) -> Node:
        """A node and all below it."""
        number = message.number(_ID)
        offset = self._offsets.get(number, 0)
        if _NAME in message:
            return Name(message.part(_NAME).text(1), offset)
        if _FIELD in message:
            return self._field(message.part(_FIELD))
        if _CALL in message:
            return self._call(message.part(_CALL), self._overloads.get(number, []), offset)
        if _LOOP in message:
            return self._loop(message.part(_LOOP), offset)
        if _CONST in message:
            return Const(_constant(message.part(_CONST)))
        return self._literal(message.part(_LIST), message.part(_OBJECT), offset, is_object=_OBJECT in message)

    def _field(self, message: Message) -> Node:
        tested = bool(message.number(3))
        return Member(self.node(message.part(1)), message.text(2), optional=tested, tested=tested)

    def _call(self, message: Message, overloads: list[bytes], offset: int) -> Node:
        function = message.text(2)
        arguments = tuple(self.node(part) for part in (*message.parts(1), *message.parts(3)))
        _refuse_call(function, len(arguments), overloads, offset)
        if function in INDEXING and isinstance(key := arguments[1], Const) and type(key.value) in (str, int):
            return Member(arguments[0], key.value, optional=INDEXING[function], tested=False)
        return Call(function, arguments)

    def _literal(self, items: Message, entries: Message, offset: int, *, is_object: bool) -> Node:
        if name := entries.text(1):
            raise ExpressionError(LEFT_OUT, f"{name}{{…}} is not available", "write the value itself", offset)
        elements = [self.node(part) for part in items.parts(1)]
        for place in items.packed(2):
            elements[place] = _marked(elements[place])
        for entry in entries.parts(2):
            key, value = self.node(entry.part(3)), self.node(entry.part(4))
            elements += [key, _marked(value) if entry.number(5) else value]
        return Literal(tuple(elements), is_object)

    def _loop(self, message: Message, offset: int) -> Node:
        over, start, condition, step, result = (self.node(message.part(field)) for field in (2, 4, 5, 6, 7))
        if not isinstance(start, Const):  # optMap and optFlatMap can double a value with each call
            advice = "go on into an optional value with .?name, and end it with .orValue(…)"
            raise ExpressionError(LEFT_OUT, "optMap and optFlatMap are not available", advice, offset)
        return Loop(message.text(1), over, (condition, step), result)


def _marked(node: Node) -> Node:
    """What `[?a]` puts into the list: the value, if it is there."""
    return Call("value", (node,))


def _constant(message: Message) -> Raw:
    if _BOOL in message:
        return bool(message.number(_BOOL))
    if _INT in message:
        return message.signed(_INT)
    if _UINT in message:
        return message.number(_UINT)
    if _DOUBLE in message:
        return message.double(_DOUBLE)
    if _TEXT in message:
        return message.text(_TEXT)
    return message.all(_BYTES)[-1] if _BYTES in message else None


# ------------------------------------------------------------------------------- asking


def references_in(tree: Node) -> tuple[Reference, ...]:
    """Every value that a tree names, by its longest constant path, in the order of the source."""
    found: dict[tuple[str, tuple[Part, ...], int, bool], Reference] = {}
    for each in sorted(_references(tree), key=lambda reference: reference.offset):
        found.setdefault((each.root, each.parts, each.required, each.tested), each)
    return tuple(found.values())


def _references(tree: Node) -> Iterator[Reference]:
    stack: list[tuple[Node, frozenset[str]]] = [(tree, frozenset())]
    while stack:
        node, bound = stack.pop()
        if path := path_of(node, bound):
            yield path
        stack += _below(node, bound)


def _below(node: Node, bound: frozenset[str]) -> list[tuple[Node, frozenset[str]]]:
    _, start = _chain(node)
    if isinstance(start, Loop):
        return [(start.over, bound), *((each, bound | {start.variable}) for each in start.each)]
    if isinstance(start, (Call, Literal)):
        return [(each, bound) for each in (start.arguments if isinstance(start, Call) else start.elements)]
    return []


def path_of(node: Node, bound: frozenset[str] = frozenset()) -> Reference | None:
    """The path that a node is, if it starts from a root and has constant parts only."""
    members, start = _chain(node)
    if not isinstance(start, Name) or not _is_root(start.name, bound):
        return None
    parts = tuple(member.part for member in members)
    marked = [member.optional for member in members]
    tested = any(member.tested for member in members)
    return Reference.of(start.name.removeprefix("."), parts, marked, start.offset, tested=tested)


def _chain(node: Node) -> tuple[list[Member], Node]:
    members: list[Member] = []
    while isinstance(node, Member):
        members.append(node)
        node = node.of
    return members[::-1], node


def _is_root(name: str, bound: frozenset[str]) -> bool:
    plain = name.removeprefix(".")
    if name in bound or name.startswith("@") or plain in TYPE_NAMES:
        return False
    if plain not in ROOTS:
        raise unknown_root(plain, 0)
    return True
