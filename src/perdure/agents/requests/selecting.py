"""Tools for a request, found by search and without a model: one for each thing that the request asks for, in its order.

A request is read part by part: "read notes.txt, count the words and wait 5 seconds" has three. For each part the tool
is taken that fits it best, if enough of the part speaks of it and of no other. A part that no tool fits is said.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Final

from perdure.agents.requests.extracting import Request, formed, named
from perdure.agents.requests.searching import Hit, Search, words_of
from perdure.agents.requests.wanting import wants_of, words_in
from perdure.tools.docstring import described
from perdure.tools.signature import Signature
from perdure.tools.tool import AnyTool

Span = tuple[int, int]
PLANNING: Final = "planning."
"""What the names of tools begin with that plan."""
WEIGHTS: Final = {"name": 6.0, "skills": 5.0, "summary": 2.0, "parameters": 1.0}
CLEAR: Final = frozenset({"name", "skills"})
"""Columns in which one word is enough."""
ENOUGH: Final = 2
"""Words that are enough elsewhere."""
FEW: Final = 3
"""Tools that are named where several fit."""
_JOINT: Final = re.compile(
    r"[,;:.!?](?=\s|$)|\n|\b(?:and(?:\s+then)?|then|after\s+that|afterwards|finally)\b", re.IGNORECASE
)
_BY_KIND: Final = {"url": ("url",), "email": ("email",), "path": ("path", "file"), "date": ("date",)}
"""What a value says of the tool that takes it."""


@dataclass(frozen=True)
class Choice:
    """A tool that was selected, for which part of the request, and why."""

    tool: AnyTool
    span: Span
    score: float
    why: str


@dataclass(frozen=True)
class Selection:
    """The tools for a request, in its order, and the parts that none of them fits."""

    choices: tuple[Choice, ...]
    unmatched: tuple[str, ...] = ()

    @property
    def tools(self) -> tuple[AnyTool, ...]:
        """The tools alone."""
        return tuple(choice.tool for choice in self.choices)

    @property
    def spans(self) -> tuple[Span, ...]:
        """Where the request speaks of each."""
        return tuple(choice.span for choice in self.choices)


@dataclass(frozen=True)
class _Rated:
    tool: AnyTool
    score: float
    why: str
    grounds: tuple[object, ...] = ()
    """What was heard of it: words, those that are clear, how much of what it needs, and what its values say."""


class Catalogue:
    """Tools that can be searched. Those that plan are not among them: plans do not plan."""

    def __init__(self, tools: Mapping[str, AnyTool]) -> None:
        self._tools = {name: each for name, each in tools.items() if not name.startswith(PLANNING)}

    @cached_property
    def _search(self) -> Search:
        return Search(WEIGHTS, {name: _row(tool) for name, tool in self._tools.items()})

    def select(self, request: str) -> Selection:
        """The tools that a request asks for."""
        read = Request(request)
        parts = [(span, self._rated(read, span)) for span in parts_of(read)]
        choices = [_choice(span, rated) for span, rated in parts if len(_alike(rated)) == 1]
        unmatched = [_told(read, span, _alike(rated)) for span, rated in parts if len(_alike(rated)) != 1]
        return Selection(tuple(choices), tuple(filter(None, unmatched)))

    def ranked(self, request: str) -> list[str]:
        """All tools by name: those first that a search finds for a request, the best before the others."""
        found = sorted(self._search.find(words_of(request)), key=lambda hit: (-hit.score, hit.name))
        return list(dict.fromkeys((*(hit.name for hit in found), *sorted(self._tools))))

    def _rated(self, request: Request, span: Span) -> list[_Rated]:
        """The tools for a part of a request, the best first."""
        if by_name := [tool for name, tool in self._tools.items() if _is_named(name, request.text[slice(*span)])]:
            return [_Rated(tool, inf, "it is named", (tool.name,)) for tool in by_name[:1]]
        said = words_of(request.bare[slice(*span)])
        hits = self._search.find([*said, *_hints(request, span)])
        rated = [self._rate(hit, frozenset(said), request, span) for hit in hits]
        return sorted(filter(None, rated), key=lambda each: (-each.score, each.tool.name))

    def _rate(self, hit: Hit, said: frozenset[str], request: Request, span: Span) -> _Rated | None:
        """Nothing, where a part says too little of the tool: a value alone is not enough, nor is one word of many."""
        tool, heard = self._tools[hit.name], frozenset(word for word in hit.words if word in said)
        found = _found(tool, Request(request.text[slice(*span)]))
        clear = frozenset(word for word in heard if CLEAR & set(hit.words[word]))
        is_told = bool(clear) if 2 * len(heard) >= len(said) else False
        if is_told or (heard and found == 1 and (clear or len(hit.words) >= ENOUGH)):
            grounds = (heard, clear, found, frozenset(hit.words))
            return _Rated(tool, round(hit.score * (1 + (found or 0)), 6), _why(hit), grounds)
        return None


def _found(tool: AnyTool, part: Request) -> float | None:
    """How much of what the tool needs stands in a part of a request; nothing, if it needs nothing."""
    wants = wants_of(tool.facts().inputs)
    needed = [want for want in wants if want.required]
    values = named(part, wants)
    formed(part, wants, values, part.pieces)
    return sum(not values.lacks(want) for want in needed) / len(needed) if needed else None


def _is_named(name: str, text: str) -> bool:
    return name in text and re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w/-]|\.\w)", text) is not None


def _alike(rated: Sequence[_Rated]) -> list[_Rated]:
    """The best, and all for which the same can be said. That one has a shorter description says nothing."""
    return [each for each in rated if each.grounds == rated[0].grounds]


def _choice(span: Span, rated: Sequence[_Rated]) -> Choice:
    return Choice(rated[0].tool, span, rated[0].score, rated[0].why)


def _told(request: Request, span: Span, alike: Sequence[_Rated]) -> str:
    """A part that no tool fits, or more than one."""
    text = request.text[slice(*span)].strip()
    if not alike:
        return text if words_of(request.bare[slice(*span)]) else ""
    return f"{text} (is it {' or '.join(each.tool.name for each in alike[:FEW])}?)"


def select(request: str, tools: Mapping[str, AnyTool]) -> Selection:
    """The tools that a request asks for, of those that there are."""
    return Catalogue(tools).select(request)


def parts_of(request: Request) -> Iterator[Span]:
    """Where the parts of a request begin and end."""
    begun, at = 0, 0
    joints = [(found.start(), found.end()) for found in _JOINT.finditer(request.bare)]
    for start, end in [*joints, (len(request.bare), len(request.bare))]:
        if request.bare[at:start].strip() and begun < at:
            yield begun, at  # a part that holds only values belongs to the one before
            begun = at
        at = end
    if request.text[begun:].strip():
        yield begun, len(request.text)


def without_joint(part: str) -> str:
    """A part as it would stand alone."""
    end = len(part)
    for joint in reversed([*_JOINT.finditer(part)]):
        if part[joint.end() : end].strip():
            break
        end = joint.start()
    return part[:end].strip()


def _hints(request: Request, span: Span) -> list[str]:
    inside = [piece for piece in request.pieces if span[0] <= piece.start < span[1]]
    return list(dict.fromkeys(word for piece in inside for word in _BY_KIND.get(piece.kind, ())))


def _row(tool: AnyTool) -> dict[str, str]:
    skills = " ".join(" ".join(words_of(each)) for each in tool.declared.skills)
    parameters = " ".join(f"{' '.join(words_in(name))} {told}" for name, told in _parameters(tool).items())
    return {"name": " ".join(words_in(tool.name)), "skills": skills, "summary": tool.summary, "parameters": parameters}


def _parameters(tool: AnyTool) -> Mapping[str, str]:
    """What the parameters are called, and what is said of them. No schema is made for that: most tools are not used."""
    if isinstance(tool.signature, Signature):
        told = described(tool.function)
        return {name: told.get(name, "") for name in tool.signature.names.values()}
    return {want.name: str(want.schema.get("description", "")) for want in wants_of(tool.signature.inputs)}


def _why(hit: Hit) -> str:
    told = [f'"{word}" in its {" and ".join(columns)}' for word, columns in hit.words.items()]
    return ", ".join(told)
