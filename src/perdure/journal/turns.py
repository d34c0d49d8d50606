"""What must be true of a turn before it is kept."""

import re
from functools import lru_cache
from typing import Final

from perdure.journal.chain import digest_of
from perdure.ports import Malformed, OutOfOrder, Summary, Turn

_WORD: Final = re.compile(r"[A-Za-z0-9_@][A-Za-z0-9_.:/@\[\]-]{0,199}\Z")
IN_WORDS: Final = "write letters, digits and _ . : / @ - [ ], at most 200 of them"
_DIGEST: Final = re.compile(r"[0-9a-f]{64}\Z")
_INTEGERS: Final = range(-(2**63), 2**63)


def check(turn: Turn) -> None:
    """Raise unless the turn makes sense by itself."""
    if not turn.entries:
        raise Malformed("a turn has at least one entry")
    run, seq = turn.run, turn.first_seq
    _check_word("run id", run)
    for entry in turn.entries:
        if entry.seq != seq or entry.run != run:
            raise Malformed(f"entry {entry.seq} of {entry.run} does not belong at {seq} of {run}")
        if not is_word(entry.type) or entry.at not in _INTEGERS:
            raise Malformed(f"entry {seq} has the type {entry.type!r} and the time {entry.at}")
        seq += 1
    if turn.artifacts:
        _check_artifacts(turn)
    for question in (*turn.asked, *turn.answered):
        _check_word("question", question)
    if turn.summary:
        _check_summary(turn.summary)


def _check_artifacts(turn: Turn) -> None:
    for artifact in turn.artifacts:
        if not _DIGEST.match(artifact.digest) or (
            artifact.data is not None and digest_of(artifact.data) != artifact.digest
        ):
            raise Malformed(f"{artifact.digest[:80]!r} is not the SHA-256 of the artifact, in hex")


def _check_summary(summary: Summary) -> None:
    _check_word("status", summary.status)
    for name, word in (("session", summary.session), ("parent", summary.parent)):
        if word:
            _check_word(name, word)
    if summary.wake_at is not None and summary.wake_at not in _INTEGERS:
        raise Malformed(f"the time to wake up is {summary.wake_at}")


@lru_cache(maxsize=2_000)  # the same few words come with every turn
def is_word(text: str) -> bool:
    """Whether it is a plain word, as ids and the names of sessions are."""
    return _WORD.match(text) is not None


def _check_word(what: str, word: str) -> None:
    if not is_word(word):
        raise Malformed(f"the {what} is {word[:80]!r}", IN_WORDS)


def check_order(turn: Turn, head_seq: int) -> None:
    """Raise unless the turn follows on what is stored."""
    if turn.first_seq != head_seq + 1:
        raise OutOfOrder(
            f"{turn.run} has {head_seq} entries; a turn that begins with {turn.first_seq} does not follow",
            "somebody else has written, or the answer to an earlier turn was lost: load the run again",
        )
    if head_seq == 0 and turn.summary is None:
        raise Malformed(f"the first turn of {turn.run} has no summary")
