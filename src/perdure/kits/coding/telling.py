"""A run on code as it goes on, in few lines: what was planned, changed, tried, learned and kept.

What is said follows from which tools were called and what agents have given, and not from the names of steps: so every
way of working is told. What an agent gives is a model's word, and may be of any form.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from perdure.engine import Visit
from perdure.plan import is_list, is_mapping
from perdure.plan.visible import number_of

FEW: Final = 4
"""Files that a line names."""
LAST: Final = 3
"""Lines of what a command has said."""
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
        yield from _of_facts(visit, visit.output)
    elif visit.agent and "/" not in visit.step and isinstance(visit.output, str):
        word = "" if visit.exit == "success" else f", {visit.exit}"
        yield f"{visit.agent}{word}: {_short(visit.output)}"


def _of_facts(visit: Visit, given: Mapping[str, Any]) -> Iterator[str]:
    if visit.agent:
        yield from _planned(given)
        yield from _understood(given)
    elif tell := _TELLERS.get(visit.tool):
        yield from tell(given)


def _copied(given: Mapping[str, Any]) -> Iterator[str]:
    if "commit" in given:
        yield f"copied {given['files']} files of commit {given['commit'][:10]}"


def _planned(given: Mapping[str, Any]) -> Iterator[str]:
    changes = given.get("changes")
    if not is_list(changes) or not isinstance(given.get("summary"), str):
        return
    titles = [each["title"] for each in changes if is_mapping(each) and "title" in each]
    yield f"planned {number_of(len(titles), 'change')}: {given['summary']}"
    yield from (f"  {number}. {title}" for number, title in enumerate(titles, 1))


def _changed(echoed: Mapping[str, Any]) -> Iterator[str]:
    if {"branch", "title", "said"} <= echoed.keys():
        yield f"changed, on a copy of its own: {echoed['title']}"


def _written(given: Mapping[str, Any]) -> Iterator[str]:
    both = f"; merged line by line: {_few(given['merged'])}" if given.get("merged") else ""
    yield f"brought in: {_few([each['path'] for each in given['changes']]) or 'nothing, no file was changed'}{both}"


def _read(given: Mapping[str, Any]) -> Iterator[str]:
    """The end of what a command has said of which only the exit code is known; of others the failures are named."""
    if given.get("how") == "exit_code" and given.get("failures"):
        said = [line for line in str(given["failures"][0].get("detail", "")).splitlines() if line.strip()]
        yield from (f"the tests said: {_short(line)}" for line in said[-LAST:])


def _compared(given: Mapping[str, Any]) -> Iterator[str]:
    yield f"tests: {given['summary']}"


def _understood(given: Mapping[str, Any]) -> Iterator[str]:
    if not {"cause", "lesson"} <= given.keys():
        return
    yield f"cause: {given['cause']}"
    yield f"learned: {given['lesson']}"


def _committed(given: Mapping[str, Any]) -> Iterator[str]:
    if given["count"]:
        yield f"committed {given['commit'][:10]}: {_few([each['path'] for each in given['files']])}"


_TELLERS: Final[Mapping[str, Callable[[Mapping[str, Any]], Iterator[str]]]] = {
    "tests.read": _read,
    "tests.compare": _compared,
    "git.commit": _committed,
    "branch.open": _copied,
    "flow.echo": _changed,
    **dict.fromkeys(("branch.place", "files.write", "files.edit", "files.patch"), _written),
}
"""What is said of what a tool has given."""


def _few(paths: list[str]) -> str:
    more = f" and {len(paths) - FEW} more" if len(paths) > FEW else ""
    return ", ".join(paths[:FEW]) + more


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
