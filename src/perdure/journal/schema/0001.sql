-- The first form of a journal. A release never edits a numbered file; it adds the next one.

CREATE TABLE owner (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    token INTEGER NOT NULL               -- goes up each time a process takes the file; every commit looks at it
) STRICT;
INSERT INTO owner VALUES (1, 0);

CREATE TABLE runs (
    number INTEGER PRIMARY KEY,          -- order of creation; the first part of where its turns lie
    id TEXT NOT NULL UNIQUE,
    created INTEGER NOT NULL,
    status TEXT NOT NULL,
    goal BLOB NOT NULL,                  -- UTF-8, but a goal may hold half a surrogate pair, which TEXT may not
    session TEXT NOT NULL,
    parent TEXT NOT NULL,
    wake_at INTEGER,
    over INTEGER NOT NULL,
    counters BLOB NOT NULL
) STRICT;
CREATE INDEX runs_by_status ON runs (status);
CREATE INDEX runs_by_session ON runs (session) WHERE session <> '';
CREATE INDEX runs_by_parent ON runs (parent) WHERE parent <> '';
CREATE INDEX runs_by_creation ON runs (created);
CREATE INDEX runs_by_wake_up ON runs (wake_at) WHERE wake_at IS NOT NULL;

CREATE TABLE turns (
    place INTEGER PRIMARY KEY,           -- run * 2^32 + seq, so that a run grows at one place and pages stay full
    run INTEGER AS (place >> 32),
    seq INTEGER AS (place & 4294967295), -- of its last entry
    at INTEGER NOT NULL,                 -- the time of its last entry
    body BLOB NOT NULL,                  -- a line for each entry: type, milliseconds before `at`, length, body
    hash BLOB NOT NULL,                  -- of the hash before it, this row and what the turn names
    seal BLOB                            -- of the hash and the row in runs; only the last turn of a run has it
) STRICT;

CREATE TABLE artifacts (
    number INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    data BLOB                            -- none if the value lies in a file of its own
) STRICT;

CREATE TABLE named (                     -- which turn names which artifact
    run INTEGER NOT NULL,
    seq INTEGER NOT NULL,                -- the last entry of the turn
    artifact INTEGER NOT NULL,
    PRIMARY KEY (run, seq, artifact)
) WITHOUT ROWID, STRICT;

CREATE TABLE questions (
    number INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    id TEXT NOT NULL,
    asked_seq INTEGER NOT NULL,          -- the last entry of the turn that asked; its time is the question's
    answered_seq INTEGER,
    UNIQUE (run, id)
) STRICT;
CREATE INDEX questions_open ON questions (number) WHERE answered_seq IS NULL;
