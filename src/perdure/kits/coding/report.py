"""The report of a run on code: what changed and why, tests before and after, what was tried, what it cost.

It is a view of the journal, like all that people see: of a run that is over, of one that failed, of one under way.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from perdure.engine import Result, Visit
from perdure.kits.coding.results.report import WHOLE
from perdure.kits.coding.telling import told
from perdure.plan import is_list, is_mapping
from perdure.plan.visible import visible

WANTING: Final = "needs_work"
"""How a review ends that is not content."""
NONE_PASSES: Final = "no test passes"
LAST: Final = 8
"""Lines of what a command has said."""
_WHOLE: Final = frozenset({"succeeded", "rolled_back"})
"""Of what is done, or gone, nobody asks how far it came."""
_GROWN: Final = re.compile(r"/[0-9]+\.")
"""The key of what an agent grew; of an item of a list it is `/1[2].`."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that stands on the branch."""

    id: str
    title: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Round:
    """One time that the tests were run, and what was made of it."""

    tests: str
    failing: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    """The last lines of a command that has failed, where nobody knows more of it than that."""
    unproven: str = ""
    """Why it proves nothing; empty: it does."""
    skipped: tuple[str, ...] = ()
    """Tests that were run before any change, and are skipped now."""
    gone: tuple[str, ...] = ()
    """Tests that were run before any change, and are not there now, or not by that name."""
    cause: str = ""
    lesson: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """What became of a goal."""

    run: str
    status: str
    goal: str
    branch: str
    """Where the work stands; empty: nothing was kept, and the repository is as it was."""
    base: str
    summary: str
    commits: tuple[Commit, ...]
    rounds: tuple[Round, ...]
    """The first one is before any change."""
    failure: str
    story: tuple[str, ...] = ()
    """How far it came, in lines; empty if it was done, or taken back."""
    partial: bool = False
    """Whether it is done as far as it came: a bound was reached, or something failed and it went on."""
    unproven: str = ""
    """Why the tests have proven nothing in the end; empty: they have."""
    hint: str = ""
    """What may help where the tests fail for want of something."""
    left_out: tuple[str, ...] = ()
    """Changes that were planned and are not there in the end, though others are."""
    ignored: tuple[str, ...] = ()
    """What the work has left that git ignores, and that is on no branch because of that."""
    wanted: tuple[str, ...] = ()
    """What reviews still wanted when their rounds were over."""
    diff: str = ""
    joined: bool = False
    """Whether the work was merged with what others have put onto the branch meanwhile; no tests were run on that."""
    usage: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def as_json(self) -> dict[str, Any]:
        """The report as plain data."""
        return {"schema": "perdure.code/1", **asdict(self)}


def is_told(step: str) -> bool:
    """Whether a step's visits are of interest: what the plan names, also in items of lists, not what agents grew."""
    return _GROWN.search(step) is None


def report(result: Result, visits: Iterable[Visit]) -> Report:
    """Put together what there is to say of a run, however far it came."""
    steps, given, usage, visits = result.steps, result.inputs, result.usage, list(visits)
    kept, tested = _commits(result), tuple(rounds(visits))
    return Report(
        run=result.id,
        status=result.status,
        goal=str(given.get("goal", "")),
        branch=_branch(result, str(given.get("branch", ""))) if kept else "",
        base=_at(steps["open"].output if "open" in steps else None, "commit") or "",
        summary=_at(steps["shape"].output if "shape" in steps else None, "summary") or "",
        commits=kept,
        rounds=tested,
        story=() if result.status in _WHOLE else tuple(line for each in visits for line in told(each)),
        partial=result.partial,
        unproven=tested[-1].unproven if tested else "",
        hint=str(given.get("hint", "")),
        left_out=_left_out(result, kept),
        ignored=tuple(map(str, _list(_at(_output(result, "held_back"), "ignored")))),
        wanted=tuple(_wanted(visits)),
        diff=_at(_output(result, "difference"), "text") or "",
        joined=_is_merged(result),
        failure=f"in {result.cause}: {result.failure.message}" if result.failure else "",
        usage={word: getattr(usage, word) for word in ("calls", "tokens", "usd", "unpriced", "seconds")},
    )


def _branch(result: Result, branch: str) -> str:
    """The branch that was asked for; or the one beside it, as long as the two are not joined."""
    aside = str(_at(_output(result, "aside"), "ref") or "").removeprefix("refs/heads/")
    return branch if _is_joined(result) else aside or branch


def _is_merged(result: Result) -> bool:
    """Whether the branch had something of its own when the work was joined with it."""
    return _at(_output(result, "join"), "how") == "merge"


def _is_joined(result: Result) -> bool:
    return "join" in result.steps and result.steps["join"].exit == "success"


def _commits(result: Result) -> tuple[Commit, ...]:
    """Those that stand, in the order they were made; one that had nothing to say is none.

    What others have taken away from the branch meanwhile does not stand there.
    """
    titles = [_at(each, "title") for each in _changes(result)]
    made = [(_output(result, key), titles[_item(key)]) for key in _own_commits(result)]
    shape = _output(result, "shape")
    made += [
        (_output(result, "rest"), _first(_at(shape, "rest"))),
        (_output(result, "aside"), _first(_at(shape, "summary"))),
    ]
    seen = {_at(each, "commit") for each in _list(_output(result, "made"))}
    there = [(each, title) for each, title in made if _at(each, "count") and (not seen or each["commit"] in seen)]
    return tuple(_commit(each, str(title)) for each, title in there)


def _own_commits(result: Result) -> list[str]:
    """The steps that commit one change each."""
    return [key for key in result.steps if key.startswith("commits/") and key.endswith(".commit")]


def _first(text: Any) -> str:
    return str(text or "").partition("\n")[0]


def _changes(result: Result) -> Sequence[Any]:
    """What was planned."""
    return _list(_at(_output(result, "shape"), "changes"))


def _item(key: str) -> int:
    """Which item of a map a step belongs to: `commits/1[2].commit`."""
    return int(key.partition("[")[2].partition("]")[0])


def _left_out(result: Result, kept: Sequence[Commit]) -> tuple[str, ...]:
    """Changes that were planned, that have no commit of their own, and of whose files none is in another one."""
    there = {path for each in kept for path in each.files}
    own = {_item(key) for key in _own_commits(result) if _at(_output(result, key), "count")}
    planned = [(str(_at(each, "title")), _list(_at(each, "files"))) for each in _changes(result)]
    absent = [n for n, (_, files) in enumerate(planned) if n not in own and files and not there & {*map(str, files)}]
    return tuple(planned[n][0] for n in absent if kept)


def _commit(output: Any, title: str) -> Commit:
    return Commit(output["commit"], title, tuple(each["path"] for each in output["files"]))


def rounds(visits: Iterable[Visit]) -> Iterator[Round]:
    """Each time that tests were compared, with what was read before it and the diagnosis that followed it."""
    read, last = None, None
    for each in visits:
        if each.tool == "tests.read":
            read = each.output
        elif each.tool == "tests.compare" and each.output is not None:
            yield from (last,) if last else ()
            last, read = _round(each.output, read), None
        elif last and each.agent and _at(each.output, "lesson"):
            cause, lesson = (str(_at(each.output, word) or "") for word in ("cause", "lesson"))
            last = replace(last, cause=cause, lesson=lesson)
    yield from (last,) if last else ()


def _round(compared: Mapping[str, Any], read: Any) -> Round:
    failing = [test for word in ("broken_now", "unsure", "still") for test in compared[word]]
    said = _said(read) if WHOLE in failing else ()
    return Round(
        compared["summary"],
        tuple(failing),
        flaky=tuple(_list(_at(read, "flaky"))),
        skipped=tuple(_list(_at(compared, "skipped_now"))),
        gone=tuple(_list(_at(compared, "gone"))),
        said=said,
        unproven=_unproven(read),
    )


def _said(read: Any) -> tuple[str, ...]:
    """The end of what was said by a command of which only the exit code is known."""
    details = [str(_at(each, "detail")) for each in _list(_at(read, "failures")) if _at(each, "test") == WHOLE]
    return tuple([line for text in details[:1] for line in text.splitlines() if line.strip()][-LAST:])


def _unproven(read: Any) -> str:
    """Why a run of the tests proves nothing. A test that was skipped has not run."""
    if not is_mapping(read) or read.get("broken") is not None:
        return "no tests ran"
    passed, others = read.get("passed"), (read.get("failed"), read.get("errors"))
    if passed != 0 or None in others:
        return ""
    return NONE_PASSES if any(others) else "no tests ran"


def _wanted(visits: Iterable[Visit]) -> Iterator[str]:
    """What the last reviews have found wanting, unless one of the same step was content since."""
    last = {each.step: each for each in visits if each.exit in {WANTING, "success"}}
    yield from (str(each.output) for each in last.values() if each.exit == WANTING)


def _output(result: Result, step: str) -> Any:
    return result.steps[step].output if step in result.steps else None


def _at(value: Any, name: str) -> Any:
    return value.get(name) if is_mapping(value) else None


def _list(value: Any) -> Sequence[Any]:
    return value if is_list(value) else ()


# ------------------------------------------------------------------------------- for people

FEW = 10
"""Tests and files that are named one by one."""
LINES = 200
"""Lines that are shown: of a diff, of a story."""


def markdown(report: Report) -> str:
    """The report as people read it. Much of it is a model's word or a stranger's file: nothing in it is hidden."""
    parts = (_head, _story, _kept, _tests, _cost, _diff, _next)
    return "\n".join(_plain(line) for part in parts for line in part(report)) + "\n"


def _plain(line: str) -> str:
    """One line, which tells a terminal nothing but its letters."""
    return "\t".join(map(visible, line.split("\t")))


def _head(report: Report) -> Iterator[str]:
    yield f"# {report.goal}"
    yield ""
    part = ", as far as it came" if report.partial and not report.failure else ""
    why, *more = report.failure.splitlines() or [""]
    yield f"{_ENDS.get(report.status, report.status)}{part}{f': {why}' if why else ''}."
    if report.unproven:
        yield f"Nothing was proven: {report.unproven}."
    if not report.branch:
        yield "Nothing was kept: the repository is as it was."
    if more:
        yield ""
        yield from (f"    {line}" for line in more)
    if report.summary:
        yield ""
        yield report.summary


_ENDS = {
    "succeeded": "It is done",
    "failed": "It could not be done",
    "cancelled": "It was cancelled",
    "rolled_back": "It was taken back",
    "waiting": "It waits for an answer",
    "paused": "It is paused",
    "running": "It is under way",
}


def _story(report: Report) -> Iterator[str]:
    if not report.story:
        return
    yield ""
    yield "## How far it came"
    yield ""
    if len(report.story) > LINES:
        yield f"… {len(report.story) - LINES:,} lines before that: perdure logs {report.run}"
    yield from (f"    {line}" for line in report.story[-LINES:])


def _kept(report: Report) -> Iterator[str]:
    if not report.branch:
        return
    yield ""
    yield f"## On branch {report.branch}"
    yield ""
    for each in report.commits:
        yield f"- `{each.id[:10]}` {each.title} ({_few(each.files)})"
    for title in report.left_out:
        yield f"- not there: {title}"
    if report.ignored:
        yield f"- not there, because git ignores it: {_few(report.ignored)}"
    for each in report.wanted:
        yield f"- the last review still wanted: {each}"
    if report.joined:
        yield ""
        yield "Others have put commits there meanwhile. Both were merged, and no tests were run on what came of it."


def _tests(report: Report) -> Iterator[str]:
    if not report.rounds:
        return
    yield ""
    yield "## Tests"
    yield ""
    for n, each in enumerate(report.rounds):
        yield f"{n + 1}. {'before' if not n else 'then'}: {each.tests}"
        yield from (f"   {line}" for line in _details(each))
    if report.rounds[0].said and report.status != "succeeded":
        yield ""
        yield "The command failed before anything was changed, and only its exit code is known: it has to end well now."
    if report.hint and (report.unproven == NONE_PASSES or (report.rounds[0].said and report.status != "succeeded")):
        yield ""
        yield f"{report.hint}."


def _details(tried: Round) -> Iterator[str]:
    if tried.failing:
        yield f"failing: {_few(tried.failing)}"
    if tried.flaky:
        yield f"flaky, they failed once and passed when run again: {_few(tried.flaky)}"
    if tried.skipped:
        yield f"skipped now: {_few(tried.skipped)}"
    if tried.gone:
        yield f"not run any more, or not by that name: {_few(tried.gone)}"
    if tried.cause:
        yield f"cause: {tried.cause}"
        yield f"learned: {tried.lesson}"
    yield from (f"it said: {line}" for line in tried.said)


def _cost(report: Report) -> Iterator[str]:
    used = report.usage
    yield ""
    known = "" if used["unpriced"] and not used["usd"] else f", {used['usd']:.4f} USD"
    unknown = f" Nobody knows what {used['unpriced']} of the calls have cost." if used["unpriced"] else ""
    yield (
        f"It took {used['calls']} calls of models, {used['tokens']:,} tokens{known} and {used['seconds']:.0f} seconds."
        f"{unknown}"
    )


def _diff(report: Report) -> Iterator[str]:
    lines = report.diff.splitlines()
    if not lines or not report.branch:
        return
    yield ""
    yield "```diff"
    yield from lines[:LINES]
    yield "```"
    if len(lines) > LINES:
        yield f"… and {len(lines) - LINES:,} more lines: git diff {report.base[:12]} {report.branch}"


def _next(report: Report) -> Iterator[str]:
    if not report.branch:
        return
    yield ""
    if report.status == "succeeded":
        yield f"Take it with: git merge {report.branch}"
    else:
        yield f"That is not all of it. Have it go on, or take it back with: perdure rollback {report.run}"


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return ", ".join(names[:FEW]) + more
