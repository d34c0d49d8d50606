"""The difference of two texts as a unified diff, in bounded time."""

from collections.abc import Iterator, Sequence
from typing import Final

CONTEXT: Final = 3
COMPARED: Final = 4_000_000
"""Lines times lines; where there are more, everything between the first and the last difference counts as changed."""
NO_NEWLINE: Final = "\\ No newline at end of file"
Opcode = tuple[str, int, int, int, int]


def lines_of(text: str) -> list[str]:
    """The lines, each with its newline but for the last one."""
    found = text.split("\n")
    return [f"{line}\n" for line in found[:-1]] + ([found[-1]] if found[-1] else [])


def opcodes_of(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    """What to do to one list to get the other, as of `SequenceMatcher`."""
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    middle_old, middle_new = old[head : len(old) - tail], new[head : len(new) - tail]
    found: list[Opcode] = [("equal", 0, head, 0, head)] if head else []
    found += [(tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in _between(middle_old, middle_new)]
    if tail:
        found.append(("equal", len(old) - tail, len(old), len(new) - tail, len(new)))
    return found


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    return next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))


def _between(old: Sequence[str], new: Sequence[str]) -> Sequence[Opcode]:
    if not old and not new:
        return ()
    if len(old) * len(new) > COMPARED:
        return (("replace", 0, len(old), 0, len(new)),)
    from difflib import SequenceMatcher  # noqa: PLC0415  most programs compare nothing

    return SequenceMatcher(None, old, new, autojunk=False).get_opcodes()


def unified(old: str, new: str) -> Iterator[str]:
    """The hunks of a diff, line by line, without newlines."""
    before, after = lines_of(old), lines_of(new)
    for group in _hunks(opcodes_of(before, after)):
        (_, a, _, c, _), (_, _, b, _, d) = group[0], group[-1]
        yield f"@@ -{_span(a, b)} +{_span(c, d)} @@"
        for tag, i, j, k, m in group:
            for sign, lines in _shown(tag, before[i:j], after[k:m]):
                yield from _written(sign, lines)


def _hunks(opcodes: Sequence[Opcode]) -> Iterator[list[Opcode]]:
    """Changes that are near each other, with some lines around them."""
    group: list[Opcode] = []
    for tag, i, j, k, m in _trimmed(opcodes):
        if tag == "equal" and j - i > 2 * CONTEXT:
            yield [*group, (tag, i, i + CONTEXT, k, k + CONTEXT)]
            group = [(tag, j - CONTEXT, j, m - CONTEXT, m)]
        else:
            group.append((tag, i, j, k, m))
    if any(tag != "equal" for tag, *_ in group):
        yield group


def _trimmed(opcodes: Sequence[Opcode]) -> list[Opcode]:
    """Without the lines that are far before the first change and far behind the last."""
    found = list(opcodes)
    if found and found[0][0] == "equal":
        tag, i, j, k, m = found[0]
        found[0] = (tag, max(i, j - CONTEXT), j, max(k, m - CONTEXT), m)
    if found and found[-1][0] == "equal":
        tag, i, j, k, m = found[-1]
        found[-1] = (tag, i, min(j, i + CONTEXT), k, min(m, k + CONTEXT))
    return found


def _shown(tag: str, old: Sequence[str], new: Sequence[str]) -> tuple[tuple[str, Sequence[str]], ...]:
    return ((" ", old),) if tag == "equal" else (("-", old), ("+", new))


def _written(sign: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield f"{sign}{line.removesuffix(chr(10))}"
        if not line.endswith("\n"):
            yield NO_NEWLINE


def _span(first: int, last: int) -> str:
    """As diff(1) writes it: an empty span is named by the line before it."""
    length = last - first
    start = first + 1 if length else first
    return f"{start}" if length == 1 else f"{start},{length}"
