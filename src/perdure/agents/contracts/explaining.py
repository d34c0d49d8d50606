"""Why there is no plan: which wanted fact is out of reach, and the nearest thing that is missing for it."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import islice
from typing import Final

from perdure.agents.contracts.document import Contracts
from perdure.agents.contracts.grounding import Bound, Ground, Schema, Way
from perdure.agents.contracts.task import Literal, requirements
from perdure.plan.facts import Atom, Fact, Variable, told
from perdure.plan.problems import did_you_mean

MOST_LOOKED: Final = 2_000
"""Ways to do actions that are compared."""
DEEPEST: Final = 40
"""Requirements of requirements that are followed."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A wanted fact that nothing leads to."""

    fact: str
    """What is wanted."""
    because: tuple[str, ...]
    """From the wanted fact on: what each would require, down to what nobody makes true."""
    hint: str = ""
    """What is known and looks alike."""

    def __str__(self) -> str:
        """As a sentence."""
        return f"{'; '.join(self.because)}" + (f" ({self.hint})" if self.hint else "")


class Reach:
    """What could hold some time, if nothing were ever lost, and why the rest could not."""

    def __init__(
        self, contracts: Contracts, schemas: Sequence[Schema], found: Ground, given: AbstractSet[Atom]
    ) -> None:
        self._contracts, self._schemas, self._given = contracts, schemas, given
        self._reached = set(found.reached)
        self._ended = {atom for way in found.ways for atom in way.ends}
        self._names = {atom[0] for atom in found.reached} | {each.name for schema in schemas for each in schema.effects}

    def has(self, literal: Literal) -> bool:
        """Whether a fact could hold, or could not hold, some time."""
        atom, holds = literal
        return atom in self._reached if holds else atom not in self._given or atom in self._ended

    def missing(self, wanted: Sequence[Literal]) -> list[Missing]:
        """Each wanted fact that is out of reach, with its reasons."""
        return [self._why(literal) for literal in wanted if not self.has(literal)]

    def _why(self, wanted: Literal) -> Missing:
        because, hint, seen, literal = list[str](), "", {wanted}, wanted
        while len(because) < DEEPEST:
            way = self._nearest(literal)
            if way is None:
                because.append(f"no action makes `{told(literal[0])}` {'true' if literal[1] else 'false'}")
                hint = did_you_mean(literal[0][0], self._names - {each[0][0] for each in seen})
                return Missing(_text(wanted), tuple(because), hint if hint.startswith("did") else "")
            lost = [each for each in requirements(way) if not self.has(each)]
            because.append(f"`{_text(literal)}` would come of {way}, which requires `{_text(lost[0])}`")
            literal = lost[0]
            if literal in seen:
                return Missing(_text(wanted), (*because, "which goes round in a circle"))
            seen.add(literal)
        return Missing(_text(wanted), tuple(because))

    def _nearest(self, literal: Literal) -> Way | None:
        """Of all ways that would make a fact true, the one that lacks least."""
        most = MOST_LOOKED // len(self._schemas) + 1 if self._schemas else 0
        ways = [way for schema in self._schemas for way in islice(self._makers(schema, literal), most)]
        ways = [way for way in ways if any(not self.has(each) for each in requirements(way))]
        return min(ways, key=lambda way: sum(not self.has(each) for each in requirements(way)), default=None)

    def _makers(self, schema: Schema, literal: Literal) -> Iterator[Way]:
        for effect in schema.effects:
            bound = _bound(effect, literal[0]) if effect.holds == literal[1] else None
            if bound is not None and self._is_in_kind(schema, bound):
                yield from (Way.of(schema, each) for each in self._completed(schema, bound))

    def _is_in_kind(self, schema: Schema, bound: Bound) -> bool:
        return all(each in self._contracts.objects.get(schema.kinds[name], ()) for name, each in bound.items())

    def _completed(self, schema: Schema, bound: Bound) -> Iterator[Bound]:
        """All objects for the variables that are still free; those that meet known facts first."""
        free = [name for name in schema.kinds if name not in bound]
        if not free:
            yield bound
            return
        for each in self._likely(schema, free[0], bound):
            if each not in bound.values():
                yield from self._completed(schema, {**bound, free[0]: each})

    def _likely(self, schema: Schema, name: str, bound: Bound) -> list[str]:
        objects = self._contracts.objects.get(schema.kinds[name], ())
        return sorted(objects, key=lambda each: -self._met(schema, {**bound, name: each}))

    def _met(self, schema: Schema, bound: Bound) -> int:
        facts = (each for each in schema.needed if all(variable.name in bound for variable in each.variables))
        return sum(each.atom(bound) in self._reached for each in facts)


def _bound(fact: Fact, atom: Atom) -> Bound | None:
    if fact.name != atom[0] or len(fact.terms) != len(atom) - 1:
        return None
    bound: Bound = {}
    for term, name in zip(fact.terms, atom[1:], strict=True):
        known = bound.setdefault(term.name, name) if isinstance(term, Variable) else term
        if known != name:
            return None
    return bound if len(set(bound.values())) == len(bound) else None


def _text(literal: Literal) -> str:
    return told(literal[0], holds=literal[1])
