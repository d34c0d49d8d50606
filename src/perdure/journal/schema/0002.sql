-- Memories: what runs have taught, beside the runs. No hash covers them, and nothing of a run depends on them.
-- The index of their words is not made here: it follows from this table, and a file without it is a whole journal.

CREATE TABLE memories (
    number INTEGER PRIMARY KEY,          -- order of remembering; also where the index has its words
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    about TEXT NOT NULL,
    run TEXT NOT NULL,                   -- an id, of a run that may be gone
    step TEXT NOT NULL,
    said_by TEXT NOT NULL,
    at INTEGER NOT NULL,
    indexed INTEGER NOT NULL             -- whether the index has its words as they are now
) STRICT;
CREATE INDEX memories_to_index ON memories (number) WHERE indexed = 0;

INSERT INTO memories (id, kind, text, about, run, step, said_by, at, indexed)  -- runs that ended before there were any
SELECT 'm_' || id, 'outcome', status, CAST(goal AS TEXT), id, '', 'run', coalesce((
    SELECT at FROM turns WHERE place = (
        SELECT max(place) FROM turns WHERE place BETWEEN number << 32 AND (number << 32) + 4294967295
    )
), created), 0 FROM runs WHERE over = 1 ORDER BY number;
