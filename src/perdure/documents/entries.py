"""Entries: facts as they are stored. Their bodies are handed on as the bytes that they are."""

from collections.abc import Iterable

import msgspec

from perdure.documents.moments import moment
from perdure.ports import Entry


def entry_json(entry: Entry) -> bytes:
    """An entry as JSON. Nothing of its body is read."""
    said = {"run": entry.run, "seq": entry.seq, "type": entry.type, "at": moment(entry.at)}
    return msgspec.json.encode({**said, "body": msgspec.Raw(entry.body)})


def listed_json(entries: Iterable[Entry]) -> bytes:
    """Entries as a list of JSON."""
    return b"[" + b",".join(map(entry_json, entries)) + b"]"
