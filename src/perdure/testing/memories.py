"""What everyone must do who remembers what runs have taught.

An author of a journal runs these laws against it, beside those of `perdure.testing.contracts`:

    @pytest.mark.parametrize("law", MEMORY_LAWS, ids=lambda law: law.__name__)
    async def test_it_keeps_the_law(law):
        await law(make_my_journal)

Each law is given a way to make an empty journal, closes what it makes, and raises `AssertionError` with a sentence.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final, Protocol

from msgspec.structs import replace

from perdure.ports import OUTCOME, TASK, Journal, JournalError, Memories, Memory, UnknownMemory
from perdure.testing.contracts import NOON, OVER, a_turn, made, same

__all__ = ["MEMORY_LAWS"]


class Remembering(Journal, Memories, Protocol):
    """A journal that also remembers."""


Make = Callable[[], Awaitable[Remembering]]
Law = Callable[[Make], Awaitable[None]]
HOSTILE: Final = (
    "", " ", '"', '""', "'", "*", "(", "a AND", "NOT a", "NEAR(a b", "text : a", "-a", "^a", "a*", "{a b} : c", "\x00",
    "\ud800", "🦊", "; DROP TABLE memories; --", "%", "_", "\\", "a\nb", "ﬁ", "é" * 9,
    "word " * 200_000, "x" * 1_000_000,
)  # fmt: skip
"""What people and models may look for."""


def a_memory(id_: str, text: str, **said: Any) -> Memory:
    """Something that a step noted."""
    return replace(Memory(id=id_, kind="lesson", text=text, by="step", at=NOON), **said)


async def _found(journal: Remembering, text: str, **said: Any) -> list[str]:
    return [each.id for each in await journal.search(text, **said)]


# ------------------------------------------------------------ keeping


async def a_memory_comes_back_as_it_was(make: Make) -> None:
    """With all that is known of where it comes from."""
    async with made(make) as journal:
        memory = a_memory("m_1", "The API answers 429 on Mondays", about="weather é 𝄞", run="r_1", step="fetch/1.2")
        await journal.remember(memory)
        wanted = [replace(memory, number=1)]
        same(await journal.search("mondays"), wanted, "a memory is found by a word")
        same(await journal.search("weather"), wanted, "a memory is found by what it is about")
        same(await journal.memories(), wanted, "a memory is listed")


async def the_same_memory_is_kept_once(make: Make) -> None:
    """Said again it is the same; said otherwise it is what was said last."""
    async with made(make) as journal:
        first = a_memory("m_1", "Ask before you pay")
        for at in (NOON, NOON + 1):
            await journal.remember(replace(first, at=at))
        same(await journal.memories(), [replace(first, number=1)], "the same again changes nothing")
        await journal.search("ask")
        await journal.remember(replace(first, text="Pay nothing", at=NOON + 2))
        same([each.text for each in await journal.memories()], ["Pay nothing"], "what was said last")
        same(await _found(journal, "ask"), [], "old words are gone")
        same(await _found(journal, "nothing"), ["m_1"], "new words are there")


async def any_text_can_be_remembered(make: Make) -> None:
    """Nothing in it is an error. Halves of Unicode pairs, and what is very long, come back as far as they can."""
    async with made(make) as journal:
        for n, text in enumerate(HOSTILE):
            await journal.remember(a_memory(f"m_{n}", text, about=text))
        same(len(await journal.memories(limit=100)), len(HOSTILE), "all of it is there")
        await journal.remember(a_memory("m_last", "half \ud800 of it"))
        same((await journal.memories(limit=1))[0].text, "half ? of it", "what is no text is marked")


# ------------------------------------------------------------ finding


async def words_are_found_in_other_forms(make: Make) -> None:
    """By their stems, in capitals or not, with accents or without."""
    async with made(make) as journal:
        await journal.remember(a_memory("m_1", "Retrying the uploads of Café Ångström failed"))
        for text in ("retry", "UPLOAD", "cafe", "cafe\u0301", "failing", "angstrom", "is there an upload?"):
            same(await _found(journal, text), ["m_1"], f"{text!r} finds it")
        for text in ("loads", "caf", "download"):
            same(await _found(journal, text), [], f"{text!r} does not")


async def the_best_comes_first(make: Make) -> None:
    """More and rarer words count more; what is equally good comes newest first, then by id."""
    async with made(make) as journal:
        for n in range(9):
            await journal.remember(a_memory(f"m_{n}", f"the host is slow {n}", at=NOON + n // 2))
        await journal.remember(a_memory("m_rare", "the host is a zebra 9", at=0))
        wanted = ["m_rare", "m_8", "m_6", "m_7", "m_4", "m_5"]
        same(await _found(journal, "a slow host, or a zebra", limit=6), wanted, "the order of what is found")
        same(await _found(journal, "a slow host, or a zebra", limit=6), wanted, "the same each time")


async def whatever_is_looked_for_is_words(make: Make) -> None:
    """No text is an error, and none is read as a query."""
    async with made(make) as journal:
        await journal.remember(a_memory("m_1", "near and not or drop table memories"))
        for text in HOSTILE:
            await journal.search(text)
        for text in ("NOT", "near AND", "OR", '"drop', "memories*", "NEAR(near, 9)"):
            same(await _found(journal, text), ["m_1"], f"{text!r} is words")
        same(await _found(journal, "table -near"), ["m_1"], "nothing is excluded by a sign")


async def kinds_and_limits_hold(make: Make) -> None:
    """For searches and for lists."""
    async with made(make) as journal:
        for n in range(12):
            await journal.remember(a_memory(f"m_{n:02}", f"a slow host {n}", kind=("lesson", "fact", OUTCOME)[n % 3]))
        same(await _found(journal, "host", kinds=["fact"], limit=2), ["m_01", "m_04"], "of one kind")
        same(len(await journal.search("host", ["fact", "lesson"])), 8, "of two kinds")
        same(len(await journal.search("host")), 10, "ten, if nobody says otherwise")
        for limit in (0, -1):
            same(await journal.search("host", limit=limit), [], "none, if none is wanted")
        page = await journal.memories(limit=5)
        rest = await journal.memories(before=page[-1].number, limit=50)
        same([each.id for each in [*page, *rest]], [f"m_{n:02}" for n in reversed(range(12))], "pages join")
        same(len(await journal.memories(["fact"])), 4, "a list of one kind")


async def common_words_do_not_hide_rare_ones(make: Make) -> None:
    """However many memories have a word, one that says something is found."""
    async with made(make) as journal:
        await journal.remember(a_memory("m_zebra", "a zebra on the road", at=0))
        for n in range(1_100):
            await journal.remember(a_memory(f"m_{n:04}", f"on the road {n}", at=NOON + n))
        same(await _found(journal, "what is on the road? a zebra!", limit=1), ["m_zebra"], "the rare word counts")
        same(await _found(journal, "on the road", limit=2), ["m_1099", "m_1098"], "else the newest come first")


async def outcomes_do_not_hide_lessons(make: Make) -> None:
    """However many runs have ended since, and however alike their goals are."""
    async with made(make) as journal:
        await journal.remember(a_memory("m_lesson", "Ring twice at the harbour", at=0))
        for n in range(1_100):
            said = {"kind": OUTCOME, "about": f"Deliver to the harbour {n}", "at": NOON + n}
            await journal.remember(a_memory(f"m_{n:04}", "succeeded", **said))
        lessons = [each for each in await _found(journal, "deliver to the harbour") if each == "m_lesson"]
        same(lessons, ["m_lesson"], "the lesson is found")
        same(await _found(journal, "the harbour", kinds=["lesson"]), ["m_lesson"], "and if only lessons are wanted")
        same(await _found(journal, "harbour", kinds=[OUTCOME], limit=1), ["m_1099"], "else the newest outcome")


async def what_is_said_often_is_told_once(make: Make) -> None:
    """By the newest. A list has them all."""
    async with made(make) as journal:
        for n in range(5):
            await journal.remember(a_memory(f"m_{n}", "a slow host", at=NOON + n, run=f"r_{n}"))
        await journal.remember(a_memory("m_fact", "a slow host", kind="fact", at=NOON + 9))
        same(await _found(journal, "host"), ["m_fact", "m_4"], "each thing once")
        same(len(await journal.memories()), 6, "all of them are listed")


# ------------------------------------------------------------ with runs


async def a_turn_is_remembered_with_it(make: Make) -> None:
    """What a turn hands over is there when the turn is; what is refused with it is not."""
    async with made(make) as journal:
        memory = a_memory("m_r_1", "succeeded", kind=OUTCOME, run="r_1", about="Ship it")
        await journal.append(replace(a_turn("r_1", 1), memories=[memory]))
        with suppress(JournalError):
            await journal.append(replace(a_turn("r_1", 7), memories=[replace(memory, text="failed")]))
        same(await journal.search("ship"), [replace(memory, number=1)], "only what was kept is remembered")
        same((await journal.verify("r_1")).bad_seq, None, "the chain holds")


async def outcomes_go_with_their_runs(make: Make) -> None:
    """What was learned stays."""
    async with made(make) as journal:
        for run in ("r_1", "r_2"):
            outcome = a_memory(f"m_{run}", "succeeded", kind=OUTCOME, run=run)
            await journal.append(replace(a_turn(run, 1), summary=OVER, memories=[outcome]))
            await journal.remember(a_memory(f"m_{run}_lesson", f"it succeeded in {run}", run=run))
        await journal.sweep(NOON * 2, keep=1)
        wanted = ["m_r_2_lesson", "m_r_2", "m_r_1_lesson"]
        same([each.id for each in await journal.memories()], wanted, "the outcome of a swept run is forgotten")
        same(sorted(await _found(journal, "succeeded")), sorted(wanted), "and not found")


async def tasks_are_counted_and_not_read(make: Make) -> None:
    """They are listed if they are asked for, found by no word, and go with their runs."""
    async with made(make) as journal:
        for run in ("r_1", "r_2"):
            task = a_memory(f"t_{run}", "success", kind=TASK, run=run, about="clerk")
            await journal.append(replace(a_turn(run, 1), summary=OVER, memories=[task]))
        await journal.remember(a_memory("m_1", "success comes to a clerk who waits"))
        same(await _found(journal, "clerk success"), ["m_1"], "no word finds a task")
        same([each.id for each in await journal.memories()], ["m_1"], "and nobody lists it")
        same([each.id for each in await journal.memories([TASK])], ["t_r_2", "t_r_1"], "unless it is asked for")
        await journal.sweep(NOON * 2, keep=1)
        same([each.id for each in await journal.memories([TASK])], ["t_r_2"], "it goes with its run")


async def what_is_forgotten_is_gone(make: Make) -> None:
    """By its id, once."""
    async with made(make) as journal:
        for n in range(3):
            await journal.remember(a_memory(f"m_{n}", f"a slow host {n}"))
        await journal.search("host")
        await journal.forget("m_2")
        same(await _found(journal, "host"), ["m_0", "m_1"], "it is not found any more")
        await journal.remember(a_memory("m_3", "a zebra"))
        same(await _found(journal, "host"), ["m_0", "m_1"], "what comes later does not take its words over")
        same(await _found(journal, "zebra"), ["m_3"], "but has its own")
        for name in ("m_2", "", "m_", "%"):
            try:
                await journal.forget(name)
            except UnknownMemory:
                continue
            raise AssertionError(f"there is no memory {name!r} to forget")


MEMORY_LAWS: Final[tuple[Law, ...]] = (
    a_memory_comes_back_as_it_was,
    the_same_memory_is_kept_once,
    any_text_can_be_remembered,
    words_are_found_in_other_forms,
    the_best_comes_first,
    whatever_is_looked_for_is_words,
    kinds_and_limits_hold,
    common_words_do_not_hide_rare_ones,
    outcomes_do_not_hide_lessons,
    what_is_said_often_is_told_once,
    a_turn_is_remembered_with_it,
    outcomes_go_with_their_runs,
    tasks_are_counted_and_not_read,
    what_is_forgotten_is_gone,
)
