"""An expression as CEL has parsed and checked it: a tree that can be asked what it names and what it does.

CEL hands its tree out as a serialized `cel.expr.CheckedExpr`; the numbers here are the field numbers of that
message and do not change. Recursion is bounded: CEL refuses what is nested deeper than 32.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from perdure.plan.expr.errors import LEFT_OUT, ExpressionError
from perdure.plan.expr.functions import CLOCK, FUNCTIONS, INDEXING, TYPE_NAMES
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

# ------------------------------------------------------------------------------- reading

_ADDING_ANYTHING: Final = frozenset({b"add_int64", b"add_double"})
_SAY_WHAT: Final = "say what is added: int(a) + int(b), double(a) + double(b); texts are joined by writing ${a}${b}"
_ID, _CONST, _NAME, _FIELD, _CALL, _LIST, _OBJECT, _LOOP = range(2, 10)
_BOOL, _INT, _UINT, _DOUBLE, _TEXT, _BYTES = range(2, 8)


def read_tree(serialized: bytes) -> Node:
    """The tree of a compiled expression; an error if it does something that is left out."""
    checked = Message(serialized).part(2)
    return _Reader(checked).node(checked.part(4))


class _Reader:
    """Reads the nodes of one checked expression."""

    def __init__(self, checked: Message) -> None:
        self._checked = checked

    @cached_property
    def _offsets(self) -> dict[int, int]:
        return {place.number(1): place.number(2) for place in self._checked.part(5).parts(4)}

    @cached_property
    def _overloads(self) -> dict[int, list[bytes]]:
        return {entry.number(1): entry.part(2).all(3) for entry in self._checked.parts(2)}

    def node(self, message: Message) -> Node:
        """A node and all below it."""
        number = message.number(_ID)
        if _NAME in message:
            return Name(message.part(_NAME).text(1), self._offsets.get(number, 0))
        if _FIELD in message:
            return self._field(message.part(_FIELD))
        if _CALL in message:
            return self._call(message.part(_CALL), number)
        if _LOOP in message:
            return self._loop(message.part(_LOOP), number)
        if _CONST in message:
            return Const(_constant(message.part(_CONST)))
        return self._object(message.part(_OBJECT), number) if _OBJECT in message else self._list(message.part(_LIST))

    def _field(self, message: Message) -> Node:
        tested = bool(message.number(3))
        return Member(self.node(message.part(1)), message.text(2), optional=tested, tested=tested)

    def _call(self, message: Message, number: int) -> Node:
        function = message.text(2)
        arguments: list[Node] = [self.node(part) for part in (*message.parts(1), *message.parts(3))]
        if function not in FUNCTIONS:
            raise self._left_out(number, f"{function}() is not available")
        if function in CLOCK and len(arguments) > 1:  # time zones are read from the disk, and differ between machines
            raise self._left_out(number, f"{function}() knows UTC only", "leave out the time zone")
        if function == "_+_" and _ADDING_ANYTHING.issubset(self._overloads.get(number, ())):
            raise self._left_out(number, "`+` has to know what it adds", _SAY_WHAT)
        if function in INDEXING and isinstance(key := arguments[1], Const) and type(key.value) in (str, int):
            if "\0" in str(key.value):  # CEL cuts off the keys it is given there
                raise self._left_out(number, "a key with the character U+0000 is not available")
            return Member(arguments[0], key.value, optional=INDEXING[function], tested=False)
        return Call(function, tuple(arguments))

    def _list(self, message: Message) -> Node:
        elements = [self.node(part) for part in message.parts(1)]
        for place in message.packed(2):
            elements[place] = _marked(elements[place])
        return Literal(tuple(elements), is_object=False)

    def _object(self, message: Message, number: int) -> Node:
        if name := message.text(1):
            raise self._left_out(number, f"{name}{{…}} is not available", "write the value itself")
        elements: list[Node] = []
        for entry in message.parts(2):
            key, value = self.node(entry.part(3)), self.node(entry.part(4))
            elements += [key, _marked(value) if entry.number(5) else value]
        return Literal(tuple(elements), is_object=True)

    def _loop(self, message: Message, number: int) -> Node:
        over, start, condition, step, result = (self.node(message.part(field)) for field in (2, 4, 5, 6, 7))
        if not isinstance(start, Const):  # it would bind a value, whose size is not followed
            raise self._left_out(number, "this macro is not available")
        return Loop(message.text(1), over, (condition, step), result)

    def _left_out(self, number: int, message: str, advice: str = "") -> ExpressionError:
        return ExpressionError(LEFT_OUT, message, advice, self._offsets.get(number, 0))


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
