"""The planning task in numbers: what holds is a set of bits, and a way to do an action a mask over them.

Facts that never change are not in it, nor ways that nothing wanted can come of. `not f` is a fact of its own where
somebody requires it, so that requirements are only ever facts that hold.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Final

from perdure.agents.contracts.grounding import Ground, Way
from perdure.plan.facts import Atom

Literal = tuple[Atom, bool]
"""A fact, and whether it is that it holds."""
FINEST: Final = 10**6
"""The smallest share of a cost that counts."""
SHORTER: Final = 10_000
"""Steps that weigh as much as the smallest difference of costs: first the cheapest plan, then the shortest."""


@dataclass(frozen=True, slots=True)
class Move:
    """A way to do an action, as masks and as positions of facts."""

    number: int
    needs: int
    makes: int
    ends: int
    weight: int
    needed: tuple[int, ...]
    made: tuple[int, ...]
    way: Way


@dataclass(frozen=True, slots=True)
class Task:
    """From where, to where, and by which moves."""

    facts: tuple[Literal, ...]
    moves: tuple[Move, ...]
    start: int
    goal: int
    unit: int
    """The weight of a cost of one."""

    def cost_of(self, moves: Iterable[Move]) -> float:
        """What moves cost together, in the words of the document."""
        total = float(sum(Fraction(str(move.way.action.cost)) for move in moves))
        return int(total) if total.is_integer() else total

    def after(self, state: int, moves: Iterable[Move]) -> int | None:
        """What holds after some moves; None if one of them cannot be made."""
        for move in moves:
            if state & move.needs != move.needs:
                return None
            state = state & ~move.ends | move.makes
        return state

    def literals(self, mask: int) -> list[Literal]:
        """The facts of a mask."""
        return [self.facts[number] for number in bits(mask)]


def bits(mask: int) -> Iterator[int]:
    """The positions of the bits that are set."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def requirements(way: Way) -> list[Literal]:
    """What a way to do an action requires, in an order that does not depend on chance."""
    return [*((atom, True) for atom in sorted(way.needs)), *((atom, False) for atom in sorted(way.bars))]


def task_of(found: Ground, given: Iterable[Atom], wanted: Sequence[Literal]) -> Task:
    """Put what could be done into numbers."""
    holding = set(given)
    changing = _changing(found.ways, holding)
    ways = _relevant([way for way in found.ways if _is_possible(way, holding, changing)], wanted)
    asked = {atom for way in ways for atom in way.bars} | {atom for atom, holds in wanted if not holds}
    numbers = _numbered(ways, wanted, changing, asked)
    unit, weights = _weights(ways)
    moves = [_move(n, way, weight, numbers) for n, (way, weight) in enumerate(zip(ways, weights, strict=True))]
    start = _mask((literal for literal in numbers if (literal[0] in holding) == literal[1]), numbers)
    goal = _mask((literal for literal in wanted if literal in numbers), numbers)
    return Task(tuple(numbers), tuple(moves), start, goal, unit)


def _changing(ways: Sequence[Way], holding: set[Atom]) -> set[Atom]:
    """Facts that do not stay as they are."""
    made = {atom for way in ways for atom in way.makes if atom not in holding}
    ended = {atom for way in ways for atom in way.ends if atom in holding}
    return made | ended


def _is_possible(way: Way, holding: set[Atom], changing: set[Atom]) -> bool:
    lost = any(atom not in changing and atom not in holding for atom in way.needs)
    return not lost and not any(atom not in changing and atom in holding for atom in way.bars)


def _relevant(ways: Sequence[Way], wanted: Sequence[Literal]) -> list[Way]:
    """Those that make something wanted, or something that such ones require, and so on."""
    makers: dict[Literal, list[int]] = {}
    for number, way in enumerate(ways):
        for literal in _made(way):
            makers.setdefault(literal, []).append(number)
    kept, asked, stack = set[int](), set(wanted), list(wanted)
    while stack:
        for number in makers.get(stack.pop(), ()):
            if number not in kept:
                kept.add(number)
                fresh = [literal for literal in requirements(ways[number]) if literal not in asked]
                asked.update(fresh)
                stack.extend(fresh)
    return [way for number, way in enumerate(ways) if number in kept]


def _made(way: Way) -> list[Literal]:
    return [*((atom, True) for atom in way.makes), *((atom, False) for atom in way.ends)]


def _numbered(
    ways: Sequence[Way], wanted: Sequence[Literal], changing: set[Atom], asked: set[Atom]
) -> dict[Literal, int]:
    """Facts that change and are spoken of, in an order that does not depend on chance."""
    needed = {atom for way in ways for atom in way.needs} | {atom for atom, holds in wanted if holds}
    literals = [(atom, True) for atom in needed & changing] + [(atom, False) for atom in asked & changing]
    lost = [(atom, holds) for atom, holds in wanted if atom not in changing]  # held, or beyond reach: the goal says so
    return {literal: number for number, literal in enumerate(sorted({*literals, *lost}))}


def _mask(literals: Iterable[Literal], numbers: dict[Literal, int]) -> int:
    return sum({1 << numbers[literal] for literal in literals if literal in numbers})


def _move(number: int, way: Way, weight: int, numbers: dict[Literal, int]) -> Move:
    needs = _mask(requirements(way), numbers)
    makes = _mask(_made(way), numbers)
    ends = _mask([(atom, not holds) for atom, holds in _made(way)], numbers)
    return Move(number, needs, makes, ends, weight, tuple(bits(needs)), tuple(bits(makes)), way)


def _weights(ways: Sequence[Way]) -> tuple[int, list[int]]:
    """Costs as whole numbers, so that no sum is ever a little off; each step weighs something, also one for free."""
    costs = [Fraction(str(way.action.cost)).limit_denominator(FINEST) for way in ways]
    scale = lcm(*(each.denominator for each in costs)) if costs else 1
    unit = scale * SHORTER
    return unit, [int(each * unit) + 1 for each in costs]
