"""Tables of what was measured: the rows come from a run and are kept as they were told, in docs/measured."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

KEPT: Final = Path(__file__).parent.parent / "docs" / "measured"


def campaigns() -> Iterator[str]:
    """What the last soak has tried, and what broke."""
    rows = _kept("soak")
    yield f"Tried on {' and on '.join(sorted({row['machine'] for row in rows.values()}))}.\n\n"
    yield "| campaign | what it attacks | holds | tried | seconds | failures | in a soak of |\n"
    yield "|---|---|---|--:|--:|--:|---|\n"
    for name, row in rows.items():
        soak = f"{row['minutes']} minutes, {row['began']}, Perdure {row['version']}"
        counted = f"{_tried(row)} | {row['seconds']:,} | {len(row['failures'])}"
        yield f"| {_link(name)} | {row['attacks']} | {row['holds']} | {counted} | {soak} |\n"
    yield from _failures(rows)


def _link(name: str) -> str:
    """The name of a test, as a sentence, leading to its file."""
    path, _, test = name.partition("::")
    return f"[{test.removeprefix('test_').replace('_', ' ')}](../../{path})"


def _tried(row: dict[str, Any]) -> str:
    """How much of what; all of it where there is an end to it."""
    if not row["tried"]:
        return "could not run here"
    return f"{row['tried']:,} {row['of']}{', all there are' if row['all'] else ''}"


def _failures(rows: dict[str, Any]) -> Iterator[str]:
    found = [each for row in rows.values() for each in row["failures"]]
    if found:
        yield "\nWhat failed then, and the command that tries it again, which passes once it is mended:\n\n"
    for each in found:
        mended = f", mended {each['mended']}" if "mended" in each else ""
        yield f"- `{each['what'].strip()}`{mended}:\n  `{each['again']}`\n"


def kills() -> Iterator[str]:
    """What happened to the same plan on engines that were killed alike."""
    found = _kept("kills")
    yield _when(found)
    yield "| engine | kills | steps done | effects there twice | of these known to be over | steps lost "
    yield "| a person was asked | first new step after, s (median, slowest) |\n|---|--:|--:|--:|--:|--:|--:|--:|\n"
    for row in found["engines"]:
        lost = row["lost"] if row["ended"] else f"{row['lost']}, and it did not come to its end"
        counted = (row["kills"], row["effects"], row["twice"], row["over"], lost, row["asked"])
        name, soon = f"{row['engine']}: {row['setting']}", f"{row['recovery']:.2f}, {row['slowest']:.2f}"
        yield f"| {' | '.join(map(str, (name, *counted, soon)))} |\n"


def mutants() -> Iterator[str]:
    """How many small changes of a room its tests have noticed."""
    yield "| room | changes there are | tried | noticed | of these, did not come to an end | missed | score "
    yield "| with 95 % confidence | could not be made | in a sample of |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|---|\n"
    for room, row in _kept("mutants").items():
        counted = (f"{row[each]:,}" for each in ("there_are", "tried", "noticed", "endless", "missed"))
        sure = "{} % to {} %".format(*row["between"])
        sample = f"{row['minutes']} minutes, {row['began']}, seed {row['seed']}, Perdure {row['version']}"
        yield f"| {room} | {' | '.join(counted)} | {row['score']} % | {sure} | {row['unplaced']:,} | {sample} |\n"


def _when(found: dict[str, Any]) -> str:
    """When, where and of what."""
    return f"{found['began']}, seed {found['seed']}; {found['machine']}.\n\n"


def _kept(name: str) -> Any:
    return json.loads((KEPT / f"{name}.json").read_text(encoding="utf-8"))
