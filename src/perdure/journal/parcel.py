"""One run as one file: lines of JSON with everything that is needed to believe it and to go on with it.

The first line is the header, then come artifacts, then turns. Nothing in it is trusted: digests are computed again,
and the chain must lead to the head that the header names.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from msgspec.structs import replace

from perdure.journal import packing
from perdure.journal.chain import START, Kept, digest_of, hash_of, marks_of, name_of, seal_of, shown_of
from perdure.journal.turns import check
from perdure.ports import Artifact, BadExport, Entry, JournalError, Run, Summary, Turn

VERSION: Final = 1


def header(run: Run) -> bytes:
    """The first line."""
    summary = run.summary
    fields = {name: getattr(summary, name) for name in ("status", "goal", "session", "parent", "wake_at", "over")}
    shown = {**fields, "counters": _bytes_out(summary.counters)}
    return _line({"perdure_run": VERSION, "run": run.id, "entries": run.head_seq, "head": run.head, "summary": shown})


def artifact_line(digest: str, data: bytes) -> bytes:
    """An artifact."""
    return _line({"artifact": digest, "data": b64encode(data).decode()})


def turn_line(run: str, turn: Kept) -> bytes:
    """A turn."""
    found = packing.unpack(run, turn.seq, turn.at, turn.body)
    entries = [[entry.type, entry.at, _bytes_out(entry.body)] for entry in found]
    lists = {"artifacts": turn.marks.artifacts, "asked": turn.marks.asked, "answered": turn.marks.answered}
    return _line({"turn": found[0].seq, "entries": entries, **{key: list(v) for key, v in lists.items() if v}})


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _bytes_out(data: bytes) -> str | dict[str, str]:
    """Text where it is text, so that people can read an export."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": b64encode(data).decode()}


def _bytes_in(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else b64decode(value["base64"], validate=True)


def unpack(lines: Iterable[bytes]) -> list[Turn]:
    """The turns of an exported run, verified; the last one carries the summary."""
    try:
        return _Unpacking().all(line for line in lines if line.strip())
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise BadExport(f"this is not an exported run: {error}") from error
    except BadExport:
        raise
    except JournalError as error:
        raise BadExport(f"the exported run is damaged: {error.message}") from error


@dataclass
class _Unpacking:
    artifacts: dict[str, bytes] = field(default_factory=dict[str, bytes])
    turns: list[Turn] = field(default_factory=list[Turn])

    def all(self, lines: Iterator[bytes]) -> list[Turn]:
        head = json.loads(next(lines, b"null"))
        if not isinstance(head, dict) or head.get("perdure_run") != VERSION:  # pyright: ignore[reportUnknownMemberType]
            raise BadExport("this is not an exported run, or one of a newer release")
        for line in lines:
            self._line(json.loads(line), str(head["run"]))  # pyright: ignore[reportUnknownArgumentType]
        return self._believed(head)  # pyright: ignore[reportUnknownArgumentType]

    def _line(self, value: Any, run: str) -> None:
        if "artifact" in value:
            data = b64decode(value["data"], validate=True)
            if digest_of(data) != value["artifact"]:
                raise BadExport(f"artifact {value['artifact']} is damaged")
            self.artifacts[value["artifact"]] = data
            return
        first = int(value["turn"])
        entries = [
            Entry(run, seq, type_, at, _bytes_in(body)) for seq, (type_, at, body) in enumerate(value["entries"], first)
        ]
        held = [Artifact(digest, self.artifacts[digest]) for digest in value.get("artifacts", ())]
        turn = Turn(run, first, entries, held, None, value.get("asked", ()), value.get("answered", ()))
        check(turn)
        self.turns.append(turn)

    def _believed(self, head: dict[str, Any]) -> list[Turn]:
        shown: dict[str, Any] = {**head["summary"], "counters": _bytes_in(head["summary"]["counters"])}
        summary = Summary(**shown)
        last = replace(self.turns[-1], summary=summary)
        check(last)
        if sealed(self.turns, summary) != head["head"]:
            raise BadExport("the exported run does not lead to the head that it names")
        first = replace(self.turns[0], summary=summary)
        return [first, *self.turns[1:-1], last] if len(self.turns) > 1 else [last]


def sealed(turns: list[Turn], summary: Summary) -> str:
    """The head of a run that consists of these turns."""
    name, last, seq = name_of(turns[0].run), START, 0
    for turn in turns:
        if turn.first_seq != seq + 1:
            raise BadExport(f"entry {seq + 1} is missing")
        seq = turn.entries[-1].seq
        last = hash_of(name, seq, turn.entries[-1].at, packing.pack(turn.entries), marks_of(turn), last)
    created, updated = turns[0].entries[0].at, turns[-1].entries[-1].at
    return seal_of(shown_of(turns[0].run, summary), seq, created, updated, last).hex()
