"""A run on code as it goes on, in few lines: what was planned, changed, tried, learned and kept.

What is said follows from what steps have given, and not from how they are called: so every way of working is told.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from perdure.engine import Visit
from perdure.plan.raw import is_mapping
from perdure.plan.visible import number_of

FEW: Final = 4
"""Files that a line names."""
LONGEST: Final = 160
"""Letters of what an agent has said."""


def is_named(step: str) -> bool:
    """Whether the plan names a step, maybe in a list; what agents grew has numbers."""
    return step.rpartition(".")[2].isidentifier()


def told(visit: Visit) -> Iterator[str]:
    """What there is to say of a visit that is over; mostly nothing. A group has given what somebody in it gave."""
    if visit.is_group:
        return
    if visit.failure is not None:
        yield f"{visit.step} failed, {visit.failure.kind}: {_short(visit.failure.message)}"
    elif is_mapping(visit.output):
        yield from _of_facts(visit.output)
    elif visit.agent and "/" not in visit.step and isinstance(visit.output, str):
        word = "" if visit.exit == "success" else f", {visit.exit}"
        yield f"{visit.agent}{word}: {_short(visit.output)}"


def _of_facts(given: Mapping[str, Any]) -> Iterator[str]:
    for words, tell in _TELLERS:
        if words <= given.keys():
            yield from tell(given)
            return


def _copied(given: Mapping[str, Any]) -> Iterator[str]:
    yield f"copied {given['files']} files of commit {given['commit'][:10]}"


def _planned(given: Mapping[str, Any]) -> Iterator[str]:
    titles = [each["title"] for each in given["changes"] if is_mapping(each) and "title" in each]
    yield f"planned {number_of(len(titles), 'change')}: {given['summary']}"
    yield from (f"  {number}. {title}" for number, title in enumerate(titles, 1))


def _changed(given: Mapping[str, Any]) -> Iterator[str]:
    yield f"changed, on a copy of its own: {given['title']}"


def _written(given: Mapping[str, Any]) -> Iterator[str]:
    both = f"; merged line by line: {_few(given['merged'])}" if given.get("merged") else ""
    yield f"brought in: {_few([each['path'] for each in given['changes']])}{both}"


def _compared(given: Mapping[str, Any]) -> Iterator[str]:
    yield f"tests: {given['summary']}"


def _understood(given: Mapping[str, Any]) -> Iterator[str]:
    yield f"cause: {given['cause']}"
    yield f"learned: {given['lesson']}"


def _committed(given: Mapping[str, Any]) -> Iterator[str]:
    if given["count"]:
        yield f"committed {given['commit'][:10]}: {_few([each['path'] for each in given['files']])}"


_TELLERS: Final[tuple[tuple[frozenset[str], Callable[[Mapping[str, Any]], Iterator[str]]], ...]] = (
    (frozenset({"broken_now", "summary"}), _compared),
    (frozenset({"cause", "lesson"}), _understood),
    (frozenset({"set", "changes"}), _written),
    (frozenset({"summary", "changes"}), _planned),
    (frozenset({"title", "said"}), _changed),
    (frozenset({"commit", "count", "files"}), _committed),
    (frozenset({"commit", "bytes", "files"}), _copied),
)
"""By which words somebody who gave something is known; the first that has all of them counts."""


def _few(paths: list[str]) -> str:
    more = f" and {len(paths) - FEW} more" if len(paths) > FEW else ""
    return ", ".join(paths[:FEW]) + more


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
