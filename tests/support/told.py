"""Journals whose facts are looked at from outside: the golden ones, run by run."""

from pathlib import Path

from perdure.journal import MemoryJournal

GOLDEN = Path(__file__).parents[1] / "golden"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.jsonl"))


async def golden(name):
    """A journal with one golden run in it, and the entries of that."""
    journal = MemoryJournal()
    taken = await journal.take_in((GOLDEN / f"{name}.jsonl").read_bytes().splitlines(keepends=True))
    return journal, await journal.read(taken.id)
