"""Grounding: actions with objects for their variables, and only those that could ever come to be done.

It begins with what is given and goes on from fact to fact, as if nothing that holds could ever be lost. A way to do an
action is made when the last fact it requires has come up, so most of what could be written down never is.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Final

from perdure.agents.contracts.document import Action, Contracts
from perdure.agents.contracts.errors import TooManyWays
from perdure.plan.facts import Atom, Fact, Variable, fact_of, kinds_of

MOST_WAYS: Final = 20_000
"""Ways to do actions, with all objects, that are made."""
MOST_TRIED: Final = 2_000_000
"""Objects that are tried for variables."""
Bound = dict[str, str]
"""Objects by the variables they stand for."""


@dataclass(frozen=True, slots=True)
class Schema:
    """An action with variables."""

    name: str
    action: Action
    requires: tuple[Fact, ...]
    effects: tuple[Fact, ...]
    kinds: Mapping[str, str]
    needed: tuple[Fact, ...]
    """What has to hold, of all that it requires."""

    @classmethod
    def of(cls, name: str, action: Action) -> "Schema":
        """An action as it is written, taken apart."""
        requires, effects = (tuple(map(fact_of, texts)) for texts in (action.requires, action.effects))
        needed = tuple(each for each in requires if each.holds)
        return cls(name, action, requires, effects, kinds_of((*requires, *effects)), needed)


@dataclass(frozen=True, slots=True)
class Way:
    """An action with objects."""

    name: str
    objects: tuple[str, ...]
    """In the order in which the action names its variables."""
    bound: Mapping[str, str]
    action: Action
    needs: frozenset[Atom]
    bars: frozenset[Atom]
    """What must not hold."""
    makes: frozenset[Atom]
    ends: frozenset[Atom]
    """What no longer holds afterwards."""

    @classmethod
    def of(cls, schema: Schema, bound: Bound) -> "Way":
        """A schema with objects. What it makes true and false at once is true."""
        needs, bars = _parted(schema.requires, bound)
        makes, ends = _parted(schema.effects, bound)
        objects = tuple(bound[each] for each in schema.kinds)
        return cls(schema.name, objects, bound, schema.action, needs, bars, makes, ends - makes)

    def __str__(self) -> str:
        """As people would call it."""
        return f"{self.name}({', '.join(self.objects)})" if self.objects else self.name


def _parted(facts: Sequence[Fact], bound: Bound) -> tuple[frozenset[Atom], frozenset[Atom]]:
    return (
        frozenset(each.atom(bound) for each in facts if each.holds),
        frozenset(each.atom(bound) for each in facts if not each.holds),
    )


@dataclass
class Ground:
    """All that could ever hold, and all that could ever be done."""

    ways: list[Way] = field(default_factory=list[Way])
    reached: dict[Atom, None] = field(default_factory=dict[Atom, None])
    """In the order in which it came up."""


def ground(contracts: Contracts, schemas: Sequence[Schema], most: int = MOST_WAYS) -> Ground:
    """Make all ways to do these actions that could come to be done; `TooManyWays` if there is no end to them."""
    grounding = _Grounding(contracts, schemas, most)
    grounding.run()
    return grounding.found


class _Grounding:
    def __init__(self, contracts: Contracts, schemas: Sequence[Schema], most: int) -> None:
        self.found: Final = Ground()
        self._contracts, self._schemas, self._most = contracts, schemas, most
        self._members: Final = {kind: frozenset(names) for kind, names in contracts.objects.items()}
        self._known: Final[dict[str, list[Atom]]] = {}
        self._queue: Final[list[Atom]] = []
        self._made: Final[set[tuple[str, tuple[str, ...]]]] = set()
        self._waiting: Final = _waiting_for(schemas)
        self._fixed: Final = _fixed_names(schemas)
        self._given: Final = {fact_of(text).atom({}) for text in contracts.given}
        self._tried = 0

    def run(self) -> None:
        for text in self._contracts.given:
            self._reach(fact_of(text).atom({}))
        for schema in self._schemas:
            if not schema.needed:
                self._complete(schema, {}, ())
        for atom in self._queue:  # it grows while it is gone through
            self._known.setdefault(atom[0], []).append(atom)
            for schema, position in self._waiting.get(atom[0], ()):
                bound = self._matched(schema, schema.needed[position], atom, {})
                if bound is not None:
                    rest = schema.needed[:position] + schema.needed[position + 1 :]
                    self._complete(schema, bound, rest)

    def _reach(self, atom: Atom) -> None:
        if atom not in self.found.reached:
            self.found.reached[atom] = None
            self._queue.append(atom)

    def _complete(self, schema: Schema, bound: Bound, rest: tuple[Fact, ...]) -> None:
        """Find objects for all that is still open, with what is known by now."""
        stack = [(bound, rest)]
        while stack:
            bound, rest = stack.pop()
            self._count(schema)
            if rest:
                fact = min(rest, key=lambda each: sum(v.name not in bound for v in each.variables))
                others = tuple(each for each in rest if each is not fact)
                stack.extend((found, others) for found in self._matches(schema, fact, bound))
            elif (free := next((each for each in schema.kinds if each not in bound), None)) is not None:
                objects = self._contracts.objects.get(schema.kinds[free], ())
                taken = set(bound.values())
                stack.extend(({**bound, free: each}, ()) for each in reversed(objects) if each not in taken)
            else:
                self._make(schema, bound)

    def _matches(self, schema: Schema, fact: Fact, bound: Bound) -> Iterator[Bound]:
        if all(each.name in bound for each in fact.variables):
            if fact.atom(bound) in self.found.reached:
                yield bound
            return
        for atom in self._known.get(fact.name, ()):
            self._count(schema)
            found = self._matched(schema, fact, atom, bound)
            if found is not None:
                yield found

    def _matched(self, schema: Schema, fact: Fact, atom: Atom, bound: Bound) -> Bound | None:
        """The objects under which a fact is this very one, if there are any."""
        if len(atom) != len(fact.terms) + 1:
            return None
        found = dict(bound)
        for term, name in zip(fact.terms, atom[1:], strict=True):
            if not isinstance(term, Variable):
                if term != name:
                    return None
            elif term.name in found:
                if found[term.name] != name:
                    return None
            elif name in found.values() or name not in self._members.get(schema.kinds[term.name], ()):
                return None
            else:
                found[term.name] = name
        return found

    def _make(self, schema: Schema, bound: Bound) -> None:
        key = (schema.name, tuple(bound[each] for each in schema.kinds))
        if key in self._made:
            return
        self._made.add(key)
        way = Way.of(schema, bound)
        if any(each[0] in self._fixed and each in self._given for each in way.bars):
            return
        self.found.ways.append(way)
        if len(self.found.ways) > self._most:
            raise self._too_many(schema)
        for atom in sorted(way.makes):
            self._reach(atom)

    def _count(self, schema: Schema) -> None:
        self._tried += 1
        if self._tried > MOST_TRIED:
            raise self._too_many(schema)

    def _too_many(self, schema: Schema) -> TooManyWays:
        sizes = [len(self._contracts.objects.get(kind, ())) for kind in schema.kinds.values()]
        by_all = " times ".join(map(str, sizes)) or "1"
        return TooManyWays(
            f"there are more than {self._most:,} ways to do these actions; "
            f'"{schema.name}" alone could be tried in {prod(sizes):,} ({by_all} objects)',
            "give it fewer variables, or require a given fact that says which objects go together: road(?from, ?to)",
        )


def _waiting_for(schemas: Sequence[Schema]) -> dict[str, list[tuple[Schema, int]]]:
    waiting: dict[str, list[tuple[Schema, int]]] = {}
    for schema in schemas:
        for position, fact in enumerate(schema.needed):
            waiting.setdefault(fact.name, []).append((schema, position))
    return waiting


def _fixed_names(schemas: Sequence[Schema]) -> frozenset[str]:
    """Names of facts that no action changes."""
    changed = {each.name for schema in schemas for each in schema.effects}
    return frozenset(each.name for schema in schemas for each in schema.requires) - changed
