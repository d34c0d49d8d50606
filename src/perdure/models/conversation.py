"""Conversations, put together from calls that each say only what is new.

A call names the one before it by its digest. Those that were put together stay at hand, so that a turn costs what is
said in it; after a restart the calls before are asked for once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, overload

from perdure.core.calls import Call
from perdure.core.values import digest_of
from perdure.models.answering import Form, form_of, said_again, written
from perdure.ports import Answered, Attempt, Remark, Returned, Said, Wish

MOST: Final = 1024
"""Conversations that are kept at hand."""
INHERITED: Final = ("instructions", "tools", "temperature")
"""What holds for the rest of a conversation, until it is said anew."""


class Forgotten(Exception):
    """A conversation cannot be put together as it was."""


class Remarks(Sequence[Remark]):
    """The beginning of a list that others may go on with."""

    __slots__ = ("_all", "_length")

    def __init__(self, remarks: list[Remark], length: int) -> None:
        self._all, self._length = remarks, length

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Remark: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Remark]: ...
    def __getitem__(self, index: int | slice) -> Remark | Sequence[Remark]:
        if isinstance(index, slice):
            return [self._all[n] for n in range(*index.indices(self._length))]
        if not -self._length <= index < self._length:
            raise IndexError(index)
        return self._all[index % self._length]

    def with_more(self, news: Sequence[Remark]) -> "Remarks":
        """The same and more. Whoever is the first to go on shares the list; others get one of their own."""
        line = self._all if len(self._all) == self._length else self._all[: self._length]
        line.extend(news)
        return Remarks(line, len(line))


@dataclass(frozen=True, slots=True)
class Thread:
    """A conversation up to a call."""

    remarks: Remarks = field(default_factory=lambda: Remarks([], 0))
    held: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What holds for the rest of it."""
    form: Form = "text"
    """What the last call wants to be answered with."""


class Conversations:
    """Those at hand, by the digests of their last calls."""

    def __init__(self) -> None:
        self._known: dict[str, Thread] = {}

    def up_to(self, attempt: Attempt) -> Thread:
        """The conversation with what an attempt says in it."""
        after = attempt.call.arguments.get("after")
        if after is not None and after not in self._known:
            for call, later in pairwise((*attempt.before(), attempt.call)):
                self._go_on(call, _same(call, str(later.arguments["after"])), attempt)
        return self._go_on(attempt.call, attempt.digest, attempt)

    def _go_on(self, call: Call, digest: str, attempt: Attempt) -> Thread:
        given = call.arguments
        earlier = self._known.get(str(given["after"]), Thread()) if "after" in given else Thread()
        news = list(_news(given, earlier.form, attempt))
        held = {**earlier.held, **{word: given[word] for word in INHERITED if word in given}}
        thread = Thread(earlier.remarks.with_more(news), held, form_of({**given, **held}))
        self._keep(digest, thread)
        return thread

    def _keep(self, digest: str, thread: Thread) -> None:
        self._known.pop(digest, None)
        self._known[digest] = thread
        if len(self._known) > MOST:
            del self._known[next(iter(self._known))]


def _same(call: Call, digest: str) -> str:
    """The digest, if the call is the one that was made under it: a step that it names may have run again since."""
    if digest_of(call.data) != digest:
        raise Forgotten("what was said before cannot be told again: a step that it names has run again since")
    return digest


def _news(given: Mapping[str, Any], form: Form, attempt: Attempt) -> Iterator[Remark]:
    """What a call adds: what was answered, what came of that, and what is asked now."""
    if "answer" in given:
        answered = said_again(_loaded(given["answer"], attempt), form)
        yield answered
        yield from _returned(answered, given.get("results", ()), attempt)
    if given.get("context"):
        yield Said(written(given["context"]))
    if given.get("prompt"):
        yield Said(str(given["prompt"]))


def _returned(answered: Answered, results: Sequence[Mapping[str, Any]], attempt: Attempt) -> Iterator[Returned]:
    """A result for each call; providers refuse a conversation in which one is missing."""
    for n, wish in enumerate(answered.wishes):
        yield _result(wish, results[n] if n < len(results) else {"error": "it was not made"}, attempt)


def _result(wish: Wish, result: Mapping[str, Any], attempt: Attempt) -> Returned:
    if "error" in result:
        return Returned(wish, str(result["error"]), is_error=True)
    return Returned(wish, written(_loaded(result["output"], attempt)))


def _loaded(value: Mapping[str, Any], attempt: Attempt) -> Any:
    return attempt.read(value["sha256"]) if "sha256" in value else value.get("data")
