-- The first form of a journal. A release never edits a numbered file; it adds the next one.

CREATE TABLE owner (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    token INTEGER NOT NULL               -- goes up each time a process takes the file; every commit looks at it
) STRICT;
INSERT INTO owner VALUES (1, 0);

CREATE TABLE runs (
    number INTEGER PRIMARY KEY,          -- order of creation; keeps the keys of entries small
    id TEXT NOT NULL UNIQUE,
    head_seq INTEGER NOT NULL,
    head BLOB NOT NULL,                  -- seals the last hash and this row
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
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

CREATE TABLE entries (
    run INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    type TEXT NOT NULL,
    at INTEGER NOT NULL,
    body BLOB NOT NULL,
    hash BLOB,                           -- of the turn, in its last row; where a hash stands, a turn ends
    PRIMARY KEY (run, seq)
) WITHOUT ROWID, STRICT;

CREATE TABLE artifacts (
    number INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    data BLOB                            -- none if the value lies in a file of its own
) STRICT;

CREATE TABLE named (                     -- which turn names which artifact
    run INTEGER NOT NULL,
    seq INTEGER NOT NULL,
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
