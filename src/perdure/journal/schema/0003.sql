-- Memories of one kind are looked up by those who count them, among many of other kinds.

CREATE INDEX memories_by_kind ON memories (kind, number);
