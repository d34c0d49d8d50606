"""Facts: what holds or does not, as texts such as `tested`, `at(truck, depot)` or `not at(?truck, ?from:place)`.

They are what planners reason about: an action requires some and makes others true or false. `?x` stands for an object
of the kind `x`, `?x:place` for one of the kind `place`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, get_args

from perdure.plan.model.parts import EffectWord

LONGEST: Final = 400
"""Letters of a fact."""
_NAME: Final = r"[A-Za-z_][A-Za-z0-9_.-]*"
_OBJECT: Final = r"[A-Za-z0-9_][A-Za-z0-9_./@+-]*"
_TERM: Final = rf"(?:\?[A-Za-z_][A-Za-z0-9_]*(?::{_NAME})?|{_OBJECT})"
_FACT: Final = re.compile(rf"(not +)?({_NAME})(?:\( *({_TERM}(?: *, *{_TERM})*) *\))?")
OBJECT: Final = re.compile(_OBJECT)
KIND: Final = re.compile(_NAME)
_WORDS: Final = frozenset(get_args(EffectWord))
Atom = tuple[str, ...]
"""A fact about objects: its name, then they."""


@dataclass(frozen=True, slots=True)
class Variable:
    """Stands for an object of a kind."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that holds, or does not."""

    name: str
    terms: tuple[str | Variable, ...] = ()
    holds: bool = True

    @property
    def variables(self) -> Iterator[Variable]:
        """What stands for objects in it."""
        return (term for term in self.terms if isinstance(term, Variable))

    def atom(self, bound: Mapping[str, str]) -> Atom:
        """What it speaks of, with objects for its variables; a variable that is not bound stays as it is written."""
        return (
            self.name,
            *(term if isinstance(term, str) else bound.get(term.name, f"?{term.name}") for term in self.terms),
        )


@lru_cache(maxsize=4096)
def fact_of(text: str) -> Fact:
    """The fact that a text tells; `ValueError` if it tells none."""
    found = _FACT.fullmatch(text.strip()) if len(text) <= LONGEST else None
    if found is None or found[2] == "not":
        raise ValueError(f"{text[:LONGEST]!r} is no fact")
    terms = tuple(_term(each.strip()) for each in found[3].split(",")) if found[3] else ()
    return Fact(found[2], terms, holds=not found[1])


def _term(text: str) -> str | Variable:
    if not text.startswith("?"):
        return text
    name, _, kind = text[1:].partition(":")
    return Variable(name, kind or name)


def told(atom: Atom, *, holds: bool = True) -> str:
    """A fact about objects as people write it."""
    name, *objects = atom
    text = f"{name}({', '.join(objects)})" if objects else name
    return text if holds else f"not {text}"


def flaw_of(text: str) -> tuple[str, str] | None:
    """Why a text tells no fact, and what to write instead."""
    try:
        fact = fact_of(text)
    except ValueError:
        return f'"{text[:60]}" is no fact', _hint(text)
    if fact.name in _WORDS:
        return f'"{fact.name}" is an effect word and no fact', f"choose another name, as in {fact.name}_it"
    return None


def _hint(text: str) -> str:
    if text.count("(") != text.count(")"):
        return 'put a fact with commas in quotes, as in ["at(truck, depot)"]: YAML ends a text in […] at a comma'
    if text.startswith("!") or "=" in text:
        return "write what holds by its name, and `not` before what does not, as in: not tested"
    return "write tested, or at(truck, depot), or not before it; ?x and ?x:place stand for objects"


def kinds_of(facts: Iterable[Fact]) -> dict[str, str]:
    """The variables of some facts with their kinds; a kind that is written once counts for all mentions."""
    found: dict[str, str] = {}
    for each in (variable for fact in facts for variable in fact.variables):
        if found.get(each.name, each.name) == each.name:
            found[each.name] = each.kind
    return found
