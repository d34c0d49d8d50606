"""The entries of a turn as one text: it is stored as it is, and hashed as it is.

Each entry is a line: its type, how many milliseconds it is older than the last one, the length of its body, its body.
A body is never looked into, so where it ends is told by its length and not by the end of the line.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import Final

from perdure.ports import Corrupt, Entry

_HEAD: Final = re.compile(rb"([!-~]+) (-?\d{1,20}) (\d{1,19}) ")


def pack(entries: Sequence[Entry]) -> bytes:
    """Entries that follow one another, as one text."""
    at = entries[-1].at
    return b"".join(
        [b"%b %d %d %b\n" % (each.type.encode(), at - each.at, len(each.body), each.body) for each in entries]
    )


def unpack(run: str, seq: int, at: int, body: bytes) -> list[Entry]:
    """The entries of a turn, given the number and the time of its last one."""
    found: list[tuple[str, int, bytes]] = []
    place = 0
    while place < len(body) and (head := _HEAD.match(body, place)):
        start, place = head.end(), head.end() + int(head[3]) + 1
        found.append((head[1].decode(), at - int(head[2]), body[start : place - 1]))
    if place != len(body) or not found:
        raise Corrupt(f"the turn that ends with entry {seq} of {run} cannot be read")
    first = seq - len(found) + 1
    return [Entry(run, number, *each) for number, each in enumerate(found, first)]


def page_of(run: str, turns: Iterable[tuple[int, int, bytes]], after: int, limit: int) -> list[Entry]:
    """The entries after a seq, from turns that are looked at one by one until there are enough."""
    entries = chain.from_iterable(unpack(run, seq, at, body) for seq, at, body in turns)
    return list(islice((entry for entry in entries if entry.seq > after), limit))
