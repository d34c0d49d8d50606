"""Parameters taken from a request, where their types allow it. No value is made up: each one stands in the request.

A value is taken for a parameter because the request names it (`city: Berlin`, `5 seconds`), because it is one of the
words that the parameter may be, or because of its form: an address for a `url`, a file for a `path`. Where two
parameters of one tool could be meant, none is filled: somebody is asked.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from perdure.agents.requests.pieces import Kind, Piece, pieces_in, without
from perdure.agents.requests.wanting import Want
from perdure.plan.raw import Raw

FOUND: Final = "what a model found in the request"
"""Where a value comes from that nobody but a model has seen there."""
FORMS: Final[tuple[Kind, ...]] = ("url", "email", "date", "path")
_YES: Final = frozenset({"true", "yes", "on"})
_NO: Final = frozenset({"false", "no", "off"})
_SMALL: Final = frozenset({"as", "at", "by", "for", "from", "in", "of", "on", "to", "with"})
"""Words that say something else more often than they name a parameter."""
_GOING_ON: Final = _SMALL | {"and", "then", "or", "but", "before", "after", "please"}
"""Words that may follow a number without being what it counts."""
_SAID: Final = re.compile(r"\s*[:=]\s*|\s+is\s+")
_BESIDE: Final = re.compile(r"\s+#?")
_TOKEN: Final = re.compile(r"[^\s,;]*[^\s,;.!?)\]]")
_PROPER: Final = re.compile(r"(?=[^\W\d_])[\w'-]+(?:[ ][\w'-]+)*")
_NEXT: Final = re.compile(r"\s*([^\W\d_]+)?")


@dataclass(frozen=True)
class Taken:
    """A value from a request: where it stands there, and why it was taken."""

    value: Raw
    start: int
    end: int
    how: str


@dataclass(frozen=True)
class Request:
    """A request, with all that could be a value in it."""

    text: str

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """What could be a value."""
        return pieces_in(self.text)

    @cached_property
    def bare(self) -> str:
        """The request without its values, as long as before."""
        return without(self.text, self.pieces)

    @cached_property
    def by_place(self) -> dict[int, Piece]:
        """Pieces by where they begin."""
        return {piece.outer[0]: piece for piece in self.pieces}


@dataclass
class Values:
    """What was found for the parameters of one tool."""

    taken: dict[str, Taken] = field(default_factory=dict[str, Taken])

    def lacks(self, want: Want) -> bool:
        """Whether nothing was found for it yet."""
        return want.name not in self.taken

    def holds(self, start: int, end: int) -> bool:
        """Whether something that stands there was taken already."""
        return any(each.start < end and start < each.end for each in self.taken.values())

    def take(self, want: Want, found: Iterable[Taken]) -> None:
        """The first value that it may be, unless it has one or that one is taken."""
        for each in found if self.lacks(want) else ():
            if want.fits(each.value) and not self.holds(each.start, each.end):
                self.taken[want.name] = each
                return


# ------------------------------------------------------------------------------- by name


def named(request: Request, wants: Sequence[Want]) -> Values:
    """What the request says of parameters by their names. The plainest way of saying it counts first."""
    found = Values()
    open_ = [want for want in wants if want.sort != "secret"]
    for way in (_said, _counted, _mentioned, _beside):
        for want in open_:
            found.take(want, way(request, want))
    return found


def _said(request: Request, want: Want) -> Iterator[Taken]:
    """`city: Berlin`, `city = Berlin`, `city is Berlin`."""
    for at, name in _after_name(request, want.words, _SAID):
        yield from _values_at(request, want, at, f'after "{name}"', at_word=True)


def _beside(request: Request, want: Want) -> Iterator[Taken]:
    """`city Berlin`, `path notes.txt`, and `issue 5` for the number of an issue."""
    if not want.required and len(want.words) == 1 and want.words[0] in _SMALL:
        return
    aliases = [want.words, want.words[:-1]] if want.sort == "id" and want.numeric else [want.words]
    for words in filter(None, aliases):
        for at, name in _after_name(request, words, _BESIDE):
            yield from _values_at(request, want, at, f'after "{name}"', at_word=False)


def _counted(request: Request, want: Want) -> Iterator[Taken]:
    """`5 seconds`."""
    if not want.numeric or not want.words:
        return
    name = re.compile(r"\s+" + _name(want.words).pattern.removesuffix(r"(?!\w)") + r"?(?!\w)", re.IGNORECASE)
    for piece in request.pieces:
        if piece.kind == "number" and not piece.quoted and (after := name.match(request.bare, piece.end)):
            yield Taken(piece.number, piece.start, piece.end, f'before "{after[0].strip()}"')


def _mentioned(request: Request, want: Want) -> Iterator[Taken]:
    """A flag by its name, and a choice that must be made by one of its words."""
    if want.sort == "flag" and want.words:
        for name in _name(want.words).finditer(request.bare):
            yes = not re.search(
                r"\b(?:no|not|without|never)\s+(?:the\s+)?$", request.bare[: name.start()], re.IGNORECASE
            )
            if yes is not want.default:
                yield Taken(yes, name.start(), name.end(), f'"{name[0]}" is mentioned')
    if want.sort == "choice" and want.required and not want.many:
        spans = [found for choice in want.choices for found in _spans(request.text, choice)]
        if len({value for value, _, _ in spans}) == 1:
            value, start, end = spans[0]
            yield Taken(value, start, end, "the only one of its words that is mentioned")


def _spans(text: str, choice: Raw) -> Iterator[tuple[Raw, int, int]]:
    if isinstance(choice, str) and choice:
        for found in re.finditer(rf"(?<![\w-]){re.escape(choice)}(?![\w-])", text, re.IGNORECASE):
            yield choice, found.start(), found.end()


def _name(words: Sequence[str]) -> re.Pattern[str]:
    return re.compile(r"(?<!\w)" + r"[\s_-]*".join(map(re.escape, words)) + r"(?!\w)", re.IGNORECASE)


def _after_name(request: Request, words: Sequence[str], joint: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """Where something stands that a name leads to."""
    for name in _name(words).finditer(request.bare) if words else ():
        if after := joint.match(request.bare, name.end()):
            yield _first_of(request, name.end(), after.end()), name[0]


def _first_of(request: Request, start: int, end: int) -> int:
    """Where a joint really ends: blanks in the place of a piece belong to the piece."""
    return next((at for at in range(start, end) if at in request.by_place), end)


def _values_at(request: Request, want: Want, at: int, how: str, *, at_word: bool) -> Iterator[Taken]:
    """What could be a value there. A plain word counts only where something says that a value follows."""
    piece = request.by_place.get(at)
    if piece is not None:
        value = piece.number if want.numeric and piece.kind == "number" else piece.text
        yield Taken([value] if want.many else value, piece.start, piece.end, how)
        return
    proper = _proper(request.text, at)
    token = _TOKEN.match(request.text, at)
    if proper and want.sort != "id":
        yield from _read(want, proper, at, how)
    if token and (at_word or any(each.isdigit() for each in token[0])):
        yield from _read(want, token[0], at, how)


def _proper(text: str, at: int) -> str:
    """A name in the request: words that begin with a capital letter, one after the other."""
    found = _PROPER.match(text, at)
    words = found[0].split(" ") if found else []
    count = next((n for n, word in enumerate(words) if not word[:1].isupper()), len(words))
    return " ".join(words[:count])


def _read(want: Want, text: str, at: int, how: str) -> Iterator[Taken]:
    word = text.casefold()
    if want.sort == "flag":
        if word in _YES | _NO:
            yield Taken(word in _YES, at, at + len(text), how)
    elif want.sort == "choice":
        same = [each for each in want.choices if isinstance(each, str) and each.casefold() == word]
        yield from (Taken(each, at, at + len(text), how) for each in same)
    elif not want.numeric:
        yield Taken([text] if want.many else text, at, at + len(text), how)


# ------------------------------------------------------------------------------- by form


def formed(
    request: Request, wants: Sequence[Want], found: Values, free: Sequence[Piece], own: Sequence[Piece] = ()
) -> None:
    """Fill in parameters by the form of values that nobody has taken. One of two is never guessed.

    What has to be there may be any of the `free` ones. What can be left out is filled only with one of its `own`, which
    stands where the request speaks of this tool, and only if there is one such value for one such parameter.
    """
    for sort in {want.sort: None for want in wants}:
        alike = [want for want in wants if want.sort == sort]
        open_ = [want for want in alike if found.lacks(want)]
        needed = [want for want in open_ if want.required]
        if len(needed) == 1:
            found.take(needed[0], _by_form(request, needed[0], _left(free, found)))
        elif not needed and len(alike) == 1 and sort in FORMS and len(left := _of(sort, _left(own, found))) == 1:
            found.take(alike[0], _by_form(request, alike[0], left))
        elif not needed and sort == "text" and len(spoken := [want for want in open_ if want.speaks]) == 1:
            found.take(spoken[0], _by_form(request, spoken[0], _left(own or free, found)))


def _left(pieces: Sequence[Piece], found: Values) -> list[Piece]:
    return [piece for piece in pieces if not found.holds(piece.start, piece.end)]


def _of(sort: str, pieces: Sequence[Piece]) -> list[Piece]:
    return [piece for piece in pieces if piece.kind == sort]


def _by_form(request: Request, want: Want, free: Sequence[Piece]) -> Iterator[Taken]:
    if want.sort in FORMS:
        alike = [piece for piece in free if piece.kind == want.sort and _is_moment(want, piece)]
        yield from _all(alike, want) if want.many else _each(alike, f"the next {want.sort} in the request")
    elif want.sort == "text" and not want.many:
        quoted = sorted((piece for piece in free if piece.quoted), key=lambda piece: piece.kind != "text")
        yield from _each(quoted, "the next quoted text in the request")
    elif want.sort == "number":
        numbers = [piece for piece in free if piece.kind == "number" and _counts_nothing(request, piece)]
        if len(numbers) == 1:
            yield Taken(numbers[0].number, numbers[0].start, numbers[0].end, "the only number that counts nothing else")
    elif want.sort == "pattern":
        yield from _patterned(request, want)


def _each(pieces: Iterable[Piece], how: str) -> Iterator[Taken]:
    yield from (Taken(piece.text, piece.start, piece.end, how) for piece in pieces)


def _all(pieces: Sequence[Piece], want: Want) -> Iterator[Taken]:
    if pieces:
        told = f"each {want.sort} in the request"
        yield Taken([piece.text for piece in pieces], pieces[0].start, pieces[-1].end, told)


def _is_moment(want: Want, piece: Piece) -> bool:
    """A date has no hour, and a moment has one."""
    said = want.schema.get("format")
    return said not in ("date", "date-time") or (said == "date") == (len(piece.text) == len("2000-01-01"))


def _counts_nothing(request: Request, piece: Piece) -> bool:
    """Whether no word follows that says what is counted: 5 minutes are no 5 seconds."""
    after = _NEXT.match(request.bare, piece.end)
    word = after[1] if after else None
    return piece.quoted is False and (word is None or word.casefold() in _GOING_ON)


def _patterned(request: Request, want: Want) -> Iterator[Taken]:
    """The only word that matches a pattern from its beginning to its end."""
    if not want.pattern or want.many:
        return
    like = Want(want.name, {**want.schema, "pattern": want.pattern}, want.sort)
    words = [(found[0], found.start(), found.end()) for found in _TOKEN.finditer(request.text)]
    alike = [each for each in words if like.fits(each[0])]
    if len({text for text, _, _ in alike}) == 1:
        yield Taken(*alike[0], "the only word that matches its pattern")
