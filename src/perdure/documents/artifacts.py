"""Artifacts: values that facts name by their digest, because they are large."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

import msgspec

from perdure.core import events as e
from perdure.core.values import Value
from perdure.ports import Entry


def artifacts_document(run: str, entries: Iterable[Entry]) -> dict[str, Any]:
    """What the facts of a run name, each with the fact that names it first."""
    found: dict[str, Entry] = {}
    for entry in entries:
        event = e.decode(entry.type, entry.body)
        if isinstance(event, e.RunStarted):
            found.setdefault(event.plan, entry)
        for digest in _named(event):
            found.setdefault(digest, entry)
    told = [{"digest": digest, "seq": entry.seq, "type": entry.type} for digest, entry in found.items()]
    return {"schema": "perdure.artifacts/1", "run": run, "artifacts": told}


def _named(part: Any) -> Iterator[str]:
    """The digests in a fact. What somebody has written into a value is no name of one."""
    if isinstance(part, Value):
        yield from filter(None, (part.sha256,))
    elif isinstance(part, msgspec.Struct):
        yield from _named([getattr(part, name) for name in part.__struct_fields__])
    elif isinstance(part, list | tuple):
        yield from (digest for each in cast("Iterable[Any]", part) for digest in _named(each))
    elif isinstance(part, Mapping):
        yield from _named(list(cast("Mapping[str, Any]", part).values()))
