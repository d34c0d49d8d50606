"""The most work an expression can be, known before it is evaluated.

CEL bounds the rounds of its loops but not its time: a comparison of two long lists is one step, and nothing can
interrupt it. So the tree is walked once with the values it will be given, and at every node is counted how often
it can be evaluated and how much it can have to look at. No clock is asked: the same expression with the same
values is always taken or always refused.

One unit is about a nanosecond of the machine on which the numbers were measured.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from perdure.plan.expr.calls import COMPARE_BYTES, given_by, price
from perdure.plan.expr.data import MAX_SIZE, Given, Size
from perdure.plan.expr.errors import TOO_MUCH, ExpressionError
from perdure.plan.expr.functions import TYPE_NAMES
from perdure.plan.expr.held import Held, Lump, Sizes, length_of, loop_variable, members
from perdure.plan.expr.path import MISSING
from perdure.plan.expr.tree import Call, Literal, Loop, Member, Name, Node
from perdure.plan.raw import Raw

MAX_COST: Final = 20_000_000
MAX_ROUNDS: Final = 10_000
"""CEL's own limit for all loops of an expression together."""

_GIVE_NODE, _GIVE_KEY, _TAKE_NODE = 350, 350, 3500
_NODE, _PART, _OPTIONAL, _ROUND, _LOOP, _ELEMENT, _ENTRY, _ERROR = 60, 60, 350, 250, 300, 60, 150, 1000
_LOOK, _WEIGH_NODE = 120, 250  # the work of the walk itself


@dataclass(frozen=True, slots=True)
class Place:
    """Where a node stands: how often it is evaluated, and the loop variables around it."""

    count: int
    width: int
    """The longest ranges of the loops around, multiplied."""
    variables: Mapping[str, tuple[Held, int]]
    """With the width at which each was bound."""

    def holds(self, *values: Raw) -> Held:
        """Something that is one of these values here."""
        return Held(list(values), self.count, self.count)

    @property
    def truth(self) -> Held:
        """True or false."""
        return Held([True], self.count, self.count)


def refuse_costly(tree: Node, given: Given, size: Size) -> None:
    """Raise an error if an expression can be more work, or give more, than is allowed."""
    cost = _Cost(given.roots)
    cost.spend(size.nodes * _GIVE_NODE + size.keys * _GIVE_KEY + size.bytes)
    result = cost.sizes.of(cost.of(tree, Place(1, 1, {})))
    cost.spend(result.most_nodes * _TAKE_NODE + result.most_bytes)
    if result.most_bytes > MAX_SIZE:
        raise ExpressionError(TOO_MUCH, "the result can be larger than 1 MB", "name only the parts that are needed")


class _Cost:
    """Adds up what a tree can cost."""

    def __init__(self, roots: Mapping[str, Raw]) -> None:
        self._roots = roots
        self.sizes = Sizes()
        self._spent = 0
        self._rounds = 0

    def spend(self, units: int) -> None:
        """Count some work."""
        self._spent += units
        if self._spent + self.sizes.measured * _WEIGH_NODE > MAX_COST:
            message = "the expression is too much work for the values it is given"
            raise ExpressionError(TOO_MUCH, message, "compare less, or let a step do it")

    def of(self, node: Node, place: Place) -> Held:
        """Count the work of a node and all below it, and tell what it can be."""
        self.spend(_NODE * place.count)
        if isinstance(node, Name):
            return self._name(node.name, place)
        if isinstance(node, Member):
            return self._member(node, place)
        if isinstance(node, Call):
            return self._call(node, place)
        if isinstance(node, Loop):
            return self._loop(node, place)
        return self._literal(node, place) if isinstance(node, Literal) else place.holds(node.value)

    def _name(self, name: str, place: Place) -> Held:
        if name in place.variables:
            held, width = place.variables[name]
            return Held(held.values, held.times * (place.width // width), place.count)
        if name.startswith("@") or name in TYPE_NAMES:
            return place.truth
        value = self._roots.get(name.removeprefix("."), MISSING)
        return place.holds() if value is MISSING else place.holds(value)

    def _member(self, node: Member, place: Place) -> Held:
        of = self.of(node.of, place)
        found = members(of.values, node.part)
        missing = min((len(of.values) - len(found)) * of.times, of.count)
        self.spend(len(of.values) * _LOOK + missing * _ERROR + place.count * (_OPTIONAL if node.optional else _PART))
        return place.truth if node.tested else Held(found, of.times, of.count)

    def _call(self, node: Call, place: Place) -> Held:
        arguments = [self.of(argument, place) for argument in node.arguments]
        self.spend(sum(len(argument.values) for argument in arguments) * _LOOK)
        self.spend(price(node.function, arguments, place.count, self.sizes))
        return given_by(node.function, arguments, place.count, self.sizes)

    def _literal(self, node: Literal, place: Place) -> Held:
        sizes = [self.sizes.of(self.of(each, place)) for each in node.elements]
        size = Size(sum(each.most_bytes for each in sizes), 1 + sum(each.most_nodes for each in sizes))
        units = len(sizes) * (_ENTRY if node.is_object else _ELEMENT)
        self.spend(place.count * (units + size.bytes // COMPARE_BYTES))
        return place.holds(Lump(size, dict if node.is_object else list, len(sizes)))

    def _loop(self, node: Loop, place: Place) -> Held:
        over = self.of(node.over, place)
        lengths = [length_of(value) for value in over.values]
        longest = max(lengths, default=0)
        rounds = over.at_most(sum(lengths), longest)
        self._go_round(rounds)
        self.spend(place.count * _LOOP + rounds * _ROUND + sum(lengths) * _LOOK)
        if rounds:
            inside = _inside(node.variable, over, rounds, place, longest)
            for each in node.each:
                self.of(each, inside)
        self.of(node.result, place)
        return place.truth

    def _go_round(self, rounds: int) -> None:
        self._rounds += rounds
        if self._rounds > MAX_ROUNDS:
            message = f"the expression can go through more than {MAX_ROUNDS:,} elements"
            raise ExpressionError(TOO_MUCH, message, "look at fewer, or let a step do it")


def _inside(variable: str, over: Held, rounds: int, place: Place, longest: int) -> Place:
    is_exact = not any(isinstance(value, Lump) for value in over.values)
    held = Held(loop_variable(over.values), over.times if is_exact else rounds, rounds)
    width = place.width * longest
    return Place(rounds, width, {**place.variables, variable: (held, width)})
