"""Memories: what runs have taught."""

from collections.abc import Sequence
from typing import Any

from perdure.documents.moments import moment
from perdure.ports import Memory


def memories_document(memories: Sequence[Memory], more: int | None) -> dict[str, Any]:
    """A page of memories, and where the next one begins."""
    return {"schema": "perdure.memories/1", "memories": [_memory(each) for each in memories], "next": more}


def _memory(found: Memory) -> dict[str, Any]:
    said = {word: getattr(found, word) for word in ("id", "number", "kind", "text", "about")}
    whence = {word: getattr(found, word) or None for word in ("run", "step", "by")}
    return {**said, **whence, "at": moment(found.at)}


def memory_document(id_: str) -> dict[str, Any]:
    """What became of one that was noted or forgotten."""
    return {"schema": "perdure.memory/1", "id": id_}
