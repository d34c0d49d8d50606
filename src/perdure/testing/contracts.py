"""What every journal must do.

An author of one runs these laws against it:

    @pytest.mark.parametrize("law", JOURNAL_LAWS, ids=lambda law: law.__name__)
    async def test_it_keeps_the_law(law):
        await law(make_my_journal)

Each law is given a way to make an empty journal, closes what it makes, and raises `AssertionError` with a sentence.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, Final, TypeVar

from msgspec.structs import replace

from perdure.journal.following import follow
from perdure.ports import (
    AlreadyThere,
    Ambiguous,
    Arrived,
    Artifact,
    BadExport,
    Closed,
    Entry,
    Filter,
    Journal,
    JournalError,
    Malformed,
    OutOfOrder,
    Summary,
    Turn,
    UnknownArtifact,
    UnknownRun,
)

__all__ = ["JOURNAL_LAWS"]

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

J = TypeVar("J", bound=Journal)
Make = Callable[[], Awaitable[Journal]]
Law = Callable[[Make], Awaitable[None]]
NOON: Final = 1_800_000_000_000
RUNNING: Final = Summary("running", goal="Ship it")
OVER: Final = Summary("succeeded", goal="Ship it", over=True)
MB: Final = 1024 * 1024


def a_turn(run: str, first: int, count: int = 1, at: int = NOON, body: bytes = b'{"n":1}') -> Turn:
    """A turn of some entries; the first one of a run has a summary."""
    entries = [Entry(run, seq, "StepEnded", at + seq, body) for seq in range(first, first + count)]
    return Turn(run, first, entries, summary=RUNNING if first == 1 else None)


def an_artifact(data: bytes) -> Artifact:
    """A value under its digest."""
    return Artifact(sha256(data).hexdigest(), data)


def same(found: object, wanted: object, law: str) -> None:
    """Whether what was found is what the law wants; `AssertionError` if not."""
    if found != wanted:
        raise AssertionError(f"{law}: found {str(found)[:500]}, wanted {str(wanted)[:500]}")


async def _refused(work: Awaitable[object], error: type[JournalError], law: str) -> None:
    try:
        await work
    except error:
        return
    raise AssertionError(f"{law}: {error.__name__} was not raised")


@asynccontextmanager
async def made(make: Callable[[], Awaitable[J]]) -> "AsyncGenerator[J]":
    """An empty journal, closed at the end."""
    journal = await make()
    try:
        yield journal
    finally:
        await journal.close()


async def _sequence(journal: Journal, run: str) -> list[int]:
    return [entry.seq for entry in await journal.read(run)]


# ------------------------------------------------------------ turns


async def entries_come_back_as_they_were(make: Make) -> None:
    """Order, types, times and bytes."""
    async with made(make) as journal:
        turns = [a_turn("r_1", 1, 3), a_turn("r_1", 4, 1, body=b"null"), a_turn("r_1", 5, 2)]
        for turn in turns:
            await journal.append(turn)
        wanted = [entry for turn in turns for entry in turn.entries]
        same(await journal.read("r_1"), wanted, "what is read is what was written")
        same(await journal.load("r_1"), (await journal.run("r_1"), wanted), "loading gives all of it")


async def any_bytes_are_kept(make: Make) -> None:
    """A body is not looked at; a goal may hold half a surrogate pair."""
    async with made(make) as journal:
        bodies = [b"", b'"\\ud800"', '"é\u2028𝄞"'.encode(), b"\xff\x00'; DROP TABLE entries; --", b"[" * 100_000]
        entries = [Entry("r_1", seq, "Odd", seq, body) for seq, body in enumerate(bodies, 1)]
        summary = Summary("running", goal="half \ud800 of 𝄞 \x00", counters=b'{"steps":3}')
        await journal.append(Turn("r_1", 1, entries, summary=summary))
        same([entry.body for entry in await journal.read("r_1")], bodies, "bodies are kept")
        same((await journal.run("r_1")).summary, summary, "a summary is kept")
        same((await journal.verify("r_1")).bad_seq, None, "odd bytes verify")


async def a_turn_must_follow(make: Make) -> None:
    """Only the next number is taken: none twice, none left out."""
    async with made(make) as journal:
        await _refused(journal.append(a_turn("r_1", 2)), OutOfOrder, "a run begins with entry 1")
        await journal.append(a_turn("r_1", 1, 2))
        for first in (0, 1, 2, 4):
            turn = replace(a_turn("r_1", first), summary=RUNNING)
            await _refused(journal.append(turn), OutOfOrder, f"a turn that begins with {first} does not follow 2")
        same(await _sequence(journal, "r_1"), [1, 2], "what is refused leaves nothing behind")


async def a_turn_is_whole(make: Make) -> None:
    """A turn that contradicts itself is refused, with everything in it."""
    value = an_artifact(b"kept with its turn or not at all")
    good = replace(a_turn("r_1", 1, 2), artifacts=[value], asked=["q_1"])
    first, second = good.entries
    bad = {
        "no entries": replace(good, entries=[]),
        "a gap": replace(good, entries=[first, second._replace(seq=3)]),
        "another run's entry": replace(good, entries=[first, second._replace(run="r_2")]),
        "a time beyond 64 bits": replace(good, entries=[first, second._replace(at=2**63)]),
        "a type that is no word": replace(good, entries=[first, second._replace(type="no word")]),
        "a run id that is no word": Turn("\ud800", 1, [first._replace(run="\ud800")], summary=RUNNING),
        "no summary": replace(good, summary=None),
        "a status that is no word": replace(good, summary=Summary("")),
        "a session that is no word": replace(good, summary=replace(RUNNING, session="a b")),
        "a wake-up beyond 64 bits": replace(good, summary=replace(RUNNING, wake_at=2**63)),
        "a wrong digest": replace(good, artifacts=[value, Artifact("0" * 64, b"else")]),
        "a digest that is none": replace(good, artifacts=[Artifact("zz", None)]),
        "a question that is no word": replace(good, asked=["what now?"]),
        "a question asked twice": replace(good, asked=["q_1", "q_1"]),
        "an answer to no question": replace(good, answered=["q_2"]),
    }
    async with made(make) as journal:
        for what, turn in bad.items():
            await _refused(journal.append(turn), Malformed, what)
        missing = replace(good, artifacts=[value, Artifact("0" * 64)])
        await _refused(journal.append(missing), UnknownArtifact, "an artifact that is not there")
        same(await journal.runs(), [], "nothing is left of a refused turn")
        same(await journal.questions(), [], "no question is left of a refused turn")
        await _refused(journal.artifact(value.digest), UnknownArtifact, "no artifact is left of a refused turn")
        await journal.append(good)
        same(await _sequence(journal, "r_1"), [1, 2], "the same turn made right is taken")


async def a_bad_turn_stands_alone(make: Make) -> None:
    """Turns that are handed over together share a commit, never a failure."""
    async with made(make) as journal:
        good = [a_turn(f"r_{n}", 1) for n in range(40)]
        bad = [
            a_turn("r_x", 7),
            replace(a_turn("r_y", 1), answered=["q_9"]),
            replace(a_turn("r_z", 1), artifacts=[Artifact("0" * 64)]),
        ]
        mixed = [*good[:20], *bad, *good[20:]]
        outcomes = await asyncio.gather(*map(journal.append, mixed), return_exceptions=True)
        failed = [turn.run for turn, outcome in zip(mixed, outcomes, strict=True) if outcome is not None]
        same(failed, ["r_x", "r_y", "r_z"], "only the bad ones fail")
        same(len(await journal.runs(limit=100)), 40, "the others are kept")


async def turns_are_kept_in_the_order_of_the_calls(make: Make) -> None:
    """Nobody has to wait for one turn before handing over the next."""
    async with made(make) as journal:
        await asyncio.gather(*(journal.append(a_turn("r_1", first, 2)) for first in range(1, 401, 2)))
        same(await _sequence(journal, "r_1"), list(range(1, 401)), "turns follow one another")
        same((await journal.verify("r_1")).entries, 400, "the chain holds")


async def a_cancelled_wait_cancels_no_turn(make: Make) -> None:
    """What was handed over is kept, whether somebody waits for it or not."""
    async with made(make) as journal:
        waiting = asyncio.ensure_future(journal.append(a_turn("r_1", 1)))
        waiting.cancel()
        await journal.append(a_turn("r_1", 2))
        same(await _sequence(journal, "r_1"), [1, 2], "the turn was kept")


async def time_is_only_written_down(make: Make) -> None:
    """A clock that is set back a day changes no order."""
    async with made(make) as journal:
        for first, at in ((1, NOON), (2, NOON - 86_400_000), (3, NOON + 5)):
            await journal.append(a_turn("r_1", first, at=at))
        await journal.append(a_turn("r_2", 1, at=NOON - 86_400_000))
        same(await _sequence(journal, "r_1"), [1, 2, 3], "order comes from the numbers")
        same([run.id for run in await journal.runs()], ["r_2", "r_1"], "runs are listed by creation")


# ------------------------------------------------------------ reading


async def reading_is_paged(make: Make) -> None:
    """By the last number seen."""
    async with made(make) as journal:
        await journal.append(a_turn("r_1", 1, 25))
        found: list[int] = []
        while page := await journal.read("r_1", found[-1] if found else 0, 10):
            found += [entry.seq for entry in page]
        same(found, list(range(1, 26)), "pages join without a gap")
        same(await journal.read("r_2"), [], "a run that is not there has no entries")


async def runs_are_listed_newest_first(make: Make) -> None:
    """Filtered, and paged by the number of the last one seen, also while new ones come."""
    async with made(make) as journal:
        for n in range(30):
            status = Summary("failed" if n % 3 else "running", session=f"s_{n % 2}", parent="r_p", over=bool(n % 3))
            await journal.append(replace(a_turn(f"r_{n:02}", 1, at=NOON + n), summary=status))
        first = await journal.runs(limit=10)
        await journal.append(a_turn("r_new", 1))
        rest = await journal.runs(before=first[-1].number, limit=100)
        same([run.id for run in [*first, *rest]], [f"r_{n:02}" for n in reversed(range(30))], "pages join")
        for where, wanted in (
            (Filter(statuses=["running"], session="s_0"), [n for n in range(30) if n % 6 == 0]),
            (Filter(statuses=["running", "failed"], parent="r_p", since=NOON + 21), list(range(20, 30))),
            (Filter(over=True, session="s_1"), [n for n in range(30) if n % 3 and n % 2]),
            (Filter(statuses=["' OR 1=1 --"]), []),
        ):
            found = [run.id for run in await journal.runs(where, limit=100)]
            same(found, [f"r_{n:02}" for n in reversed(wanted)], f"{where}")
        same([run.id for run in await journal.runs(Filter(session="", parent=""))], ["r_new"], "an empty word is one")


async def runs_are_found_by_name(make: Make) -> None:
    """By the id, its unique beginning, or `@last`."""
    async with made(make) as journal:
        await _refused(journal.run("@last"), UnknownRun, "there is no last run yet")
        for run in ("r_ab", "r_abc", "r_xy"):
            await journal.append(a_turn(run, 1))
        names = {"r_x": "r_xy", "r_ab": "r_ab", "r_abc": "r_abc", "@last": "r_xy"}
        same({name: (await journal.run(name)).id for name in names}, names, "names lead to runs")
        await _refused(journal.run("r_a"), Ambiguous, "a beginning of two ids")
        for name in ("r_z", "", "%", "r_\ud800", "R_AB"):
            await _refused(journal.run(name), UnknownRun, f"{name!r} names nothing")
        for work in (journal.load("r_z"), journal.verify("r_z")):
            await _refused(work, UnknownRun, "a run that is not there")


async def runs_wake_up(make: Make) -> None:
    """Those whose time has come, longest overdue first."""
    async with made(make) as journal:
        for n, wake_at in enumerate((30, None, 10, 20, 99)):
            await journal.append(replace(a_turn(f"r_{n}", 1), summary=replace(RUNNING, wake_at=wake_at)))
        same([run.id for run in await journal.due(30)], ["r_2", "r_3", "r_0"], "due at 30")
        await journal.append(replace(a_turn("r_2", 2), summary=RUNNING))
        same([run.id for run in await journal.due(30, limit=1)], ["r_3"], "one that was looked at is not due")


async def questions_stay_until_they_are_answered(make: Make) -> None:
    """In the order of asking, for one run or for all."""
    async with made(make) as journal:
        await journal.append(replace(a_turn("r_1", 1), asked=["q_b", "q_a"]))
        await journal.append(replace(a_turn("r_2", 1), asked=["q_a"]))
        await journal.append(replace(a_turn("r_1", 2), answered=["q_a"]))
        opened = await journal.questions()
        same([(each.run, each.id) for each in opened], [("r_1", "q_b"), ("r_2", "q_a")], "open questions")
        same(opened[0].asked_at, NOON + 1, "a question has the time of its turn")
        done = await journal.questions("r_1", answered=True)
        same([(each.id, each.answered) for each in done], [("q_a", True)], "answered questions of one run")
        rest = await journal.questions(after=opened[0].number)
        same([each.run for each in rest], ["r_2"], "the next page")
        for turn in (replace(a_turn("r_1", 3), answered=["q_a"]), replace(a_turn("r_1", 3), asked=["q_b"])):
            await _refused(journal.append(turn), Malformed, "a question is asked once and answered once")
        same((await journal.verify("r_1")).bad_seq, None, "questions verify")


async def artifacts_are_kept_once(make: Make) -> None:
    """Small or large, under their digest, as long as a run names them."""
    async with made(make) as journal:
        values = [an_artifact(bytes([n]) * size) for n, size in enumerate((0, 10, MB, MB + 1, 3 * MB))]
        await journal.append(replace(a_turn("r_1", 1), artifacts=values))
        await journal.append(replace(a_turn("r_2", 1), artifacts=[*values[:2], Artifact(values[4].digest)]))
        for value in values:
            same(await journal.artifact(value.digest), value.data, "a value comes back")
        await _refused(journal.artifact("0" * 64), UnknownArtifact, "no such value")
        await _refused(journal.artifact("no digest"), UnknownArtifact, "no such name")
        same((await journal.verify("r_1")).bad_seq, None, "artifacts verify")
        await journal.append(replace(a_turn("r_1", 2), summary=OVER))
        same((await journal.sweep(NOON * 2)).artifacts, 2, "values that another run names stay")
        same(await journal.artifact(values[4].digest), values[4].data, "a named value stays")


async def followers_see_every_entry(make: Make) -> None:
    """What is there, then what comes."""
    async with made(make) as journal:
        await journal.append(a_turn("r_1", 1, 3))
        found: list[int] = []

        async def watch() -> None:
            async for entry in follow(journal, "r_1", after=1):
                found.append(entry.seq)
                if entry.seq == 12:  # noqa: PLR2004  the last one written below
                    return

        watching = asyncio.create_task(watch())
        for first in range(4, 13):
            await asyncio.sleep(0.001)
            await journal.append(a_turn("r_1", first))
        await asyncio.wait_for(watching, 10)
        same(found, list(range(2, 13)), "nothing is missed, nothing comes twice")
        same([await journal.grown("r_1", 12, 0.01)], [False], "waiting ends")


# ------------------------------------------------------------ over all runs


async def _arrivals(journal: Journal, runs: Sequence[str] = (), after: int = 0) -> list[Arrived]:
    """All turns, by pages that are small enough to need several."""
    found: list[Arrived] = []
    while page := await journal.arrived(after, 3, runs):
        found += page
        after = page[-1].number
    return found


def _shown(turns: Sequence[Arrived] | Sequence[Turn]) -> list[tuple[str, int]]:
    return [(turn.run, turn.entries[0].seq) for turn in turns]


async def turns_arrive_in_one_order(make: Make) -> None:
    """Over all runs, as they were kept, whatever their clocks say; what is refused gets no place."""
    async with made(make) as journal:
        same([await journal.arrived(), await journal.last_arrival()], [list[Arrived](), 0], "nothing has come yet")
        later = a_turn("r_2", 1, at=NOON - 86_400_000)
        turns = [a_turn("r_1", 1, 3), later, a_turn("r_1", 4), a_turn("r_3", 1, body=b"\xff"), a_turn("r_2", 2)]
        for turn in turns:
            await journal.append(turn)
            await _refused(journal.append(turn), OutOfOrder, "a turn comes once")
        found = await _arrivals(journal)
        same([each.entries for each in found], [tuple(turn.entries) for turn in turns], "each turn, as it was written")
        same([each.run for each in found], [turn.run for turn in turns], "each with its run")
        numbers = [each.number for each in found]
        same(numbers, sorted(set(numbers)), "later turns have higher numbers")
        same(await journal.last_arrival(), numbers[-1], "the last number is the last turn's")
        same(await journal.arrived(numbers[-1]), [], "nothing comes after it")
        same(_shown(await _arrivals(journal, ["r_2"])), [("r_2", 1), ("r_2", 2)], "turns of one run")
        same(_shown(await _arrivals(journal, ["r_3", "r_2"])), _shown([later, *turns[3:]]), "turns of two runs")
        same(await journal.arrived(runs=["r_9"]), [], "a run that is not there has no turns")
        same(_shown(await journal.arrived(numbers[1], 1)), [("r_1", 4)], "a page begins after a number")


async def followers_of_all_runs_see_every_turn_once(make: Make) -> None:
    """In their order, also where turns of many runs share a commit."""
    async with made(make) as journal:
        found: list[Arrived] = []

        async def watch() -> None:
            while len(found) < 300:  # noqa: PLR2004  as many as are written below
                after = found[-1].number if found else 0
                await journal.arrives(after, 5)
                found.extend(await journal.arrived(after, 7))

        watching = asyncio.create_task(watch())
        for first in range(1, 11):
            await asyncio.gather(*(journal.append(a_turn(f"r_{n}", first)) for n in range(30)))
        await asyncio.wait_for(watching, 60)
        same(len(set(_shown(found))), 300, "nothing is missed, nothing comes twice")
        same([each.number for each in found], sorted(each.number for each in found), "nothing comes too late")
        for run in ("r_0", "r_29"):
            seqs = [seq for each, seq in _shown(found) if each == run]
            same(seqs, list(range(1, 11)), "turns of a run come in its order")
        same([await journal.arrives(await journal.last_arrival(), 0.01)], [False], "waiting ends")


async def a_number_is_given_once(make: Make) -> None:
    """What is forgotten leaves a gap, and what comes in comes last."""
    async with made(make) as source, made(make) as journal:
        await _rich(source)
        await journal.append(a_turn("r_0", 1))
        await journal.append(replace(a_turn("r_9", 1), summary=OVER))
        last = await journal.last_arrival()
        await journal.sweep(NOON * 2)
        same(_shown(await _arrivals(journal)), [("r_0", 1)], "turns go with their run")
        same(await journal.last_arrival(), last, "the last number stays")
        await journal.take_in(await _lines(source, "r_1"))
        await journal.begin([a_turn("r_9", 1), replace(a_turn("r_9", 2), summary=RUNNING)])
        found = await _arrivals(journal, after=last)
        same(_shown(found), [("r_1", 1), ("r_1", 4), ("r_1", 5), ("r_9", 1), ("r_9", 2)], "what comes in comes last")
        bad = [a_turn("r_8", 1), replace(a_turn("r_8", 2), artifacts=[Artifact("0" * 64)], summary=RUNNING)]
        await _refused(journal.begin(bad), UnknownArtifact, "a run that does not begin")
        same(await _arrivals(journal, after=found[-1].number), [], "nothing of it comes")


# ------------------------------------------------------------ carrying, forgetting, closing


async def _rich(journal: Journal) -> None:
    values = [an_artifact(b"small"), an_artifact(b"large" * MB)]
    await journal.append(replace(a_turn("r_1", 1, 3), artifacts=values, asked=["q_1", "q_2"]))
    await journal.append(a_turn("r_1", 4, body=b"\xff\xfe"))
    summary = Summary("waiting", "Go \ud800 on", "s_1", "r_0", wake_at=5, counters=b'{"steps":4}')
    await journal.append(replace(a_turn("r_1", 5), summary=summary, answered=["q_1"], artifacts=values[:1]))


async def _lines(journal: Journal, run: str) -> list[bytes]:
    return [line async for line in journal.export(run)]


async def a_run_can_be_carried(make: Make) -> None:
    """Exported from one journal and taken into another, it is the same run and goes on there."""
    async with made(make) as source, made(make) as target:
        await _rich(source)
        await target.append(a_turn("r_0", 1))
        lines = await _lines(source, "r_1")
        carried = await target.take_in(lines)
        same(replace(carried, number=1), await source.run("r_1"), "the same run, with the same head")
        same(await target.read("r_1"), await source.read("r_1"), "the same entries")
        same((await target.verify("r_1")).bad_seq, None, "it verifies")
        same([each.id for each in await target.questions()], ["q_2"], "its questions are open")
        same(await _lines(target, "r_1"), lines, "exported again, it is the same file")
        await target.append(a_turn("r_1", 6))
        await _refused(target.take_in(lines), AlreadyThere, "a run is taken in once")


async def a_run_begins_whole_or_not_at_all(make: Make) -> None:
    """Several turns of a new run are kept together; where one is wrong, none is."""
    async with made(make) as journal:
        await _rich(journal)
        shown = Summary("running")
        turns = [a_turn("r_2", 1), a_turn("r_2", 2), replace(a_turn("r_2", 3), summary=shown)]
        bad = [turns[0], turns[1], replace(turns[2], artifacts=[Artifact("0" * 64)])]
        await _refused(journal.begin(bad), UnknownArtifact, "one turn names what is not there")
        await _refused(journal.run("r_2"), UnknownRun, "nothing of it was kept")
        same((await journal.begin(turns)).head_seq, 3, "all of it was kept")
        same((await journal.verify("r_2")).bad_seq, None, "it verifies")
        await journal.append(a_turn("r_2", 4))
        await _refused(journal.begin(turns), AlreadyThere, "a run begins once")


async def a_damaged_export_is_refused(make: Make) -> None:
    """Whatever was changed in it, and nothing of it is kept."""
    async with made(make) as source, made(make) as target:
        await _rich(source)
        lines = await _lines(source, "r_1")
        for damage in _damages(lines):
            await _refused(target.take_in(damage), BadExport, f"{b''.join(damage)[:300]!r}")
        same(await target.runs(), [], "nothing was kept")


def _damages(lines: Sequence[bytes]) -> list[list[bytes]]:
    one_less = [[*lines[:n], *lines[n + 1 :]] for n in range(len(lines))]
    header = json.loads(lines[0])
    headers: list[object] = [
        {**header, "perdure_run": 2},
        {**header, "head": "0" * 64},
        {**header, "run": "r_2"},
        [],
        {},
    ]
    changed = [[json.dumps(each).encode(), *lines[1:]] for each in headers]
    words = ((b"StepEnded", b"StepFaked"), (b"StepEnded", b"Step Ended"), (b'"data":"', b'"data":"AAAA'))
    flipped = [[line.replace(*each) for line in lines] for each in words]
    torn = [[], [b"\xff"], [b"{"], [*lines[:-1], lines[-1][:-5]], [*lines, b'{"else":1}']]
    return [*one_less, *changed, *flipped, *torn]


async def what_is_over_can_be_forgotten(make: Make) -> None:
    """Runs that are over and old, except the newest."""
    async with made(make) as journal:
        for n in range(6):
            summary = RUNNING if n == 1 else OVER
            question = ["q_1"] if n == 0 else []
            turn = replace(a_turn(f"r_{n}", 1, at=NOON + n * 10), summary=summary, asked=question)
            await journal.append(replace(turn, artifacts=[an_artifact(b"%d" % n)]))
        swept = await journal.sweep(NOON + 45, keep=2)
        same((swept.runs, swept.artifacts), (3, 3), "three are over, old, and not among the newest two")
        same([run.id for run in await journal.runs()], ["r_5", "r_4", "r_1"], "the others stay")
        same(await journal.questions(), [], "questions go with their run")
        same(await journal.read("r_0"), [], "entries go with their run")
        await journal.append(a_turn("r_1", 2))
        await journal.append(a_turn("r_0", 1))
        same((await journal.sweep(NOON * 2, keep=2)).runs, 0, "the newest stay whatever their age")


async def a_closed_journal_takes_nothing(make: Make) -> None:
    """What was handed over before is kept."""
    journal = await make()
    before = journal.append(a_turn("r_1", 1))
    await journal.close()
    await before
    await _refused(journal.append(a_turn("r_1", 2)), Closed, "after the end")
    await journal.close()


JOURNAL_LAWS: Final[tuple[Law, ...]] = (
    entries_come_back_as_they_were,
    any_bytes_are_kept,
    a_turn_must_follow,
    a_turn_is_whole,
    a_bad_turn_stands_alone,
    turns_are_kept_in_the_order_of_the_calls,
    a_cancelled_wait_cancels_no_turn,
    time_is_only_written_down,
    reading_is_paged,
    runs_are_listed_newest_first,
    runs_are_found_by_name,
    runs_wake_up,
    questions_stay_until_they_are_answered,
    artifacts_are_kept_once,
    followers_see_every_entry,
    turns_arrive_in_one_order,
    followers_of_all_runs_see_every_turn_once,
    a_number_is_given_once,
    a_run_can_be_carried,
    a_run_begins_whole_or_not_at_all,
    a_damaged_export_is_refused,
    what_is_over_can_be_forgotten,
    a_closed_journal_takes_nothing,
)
