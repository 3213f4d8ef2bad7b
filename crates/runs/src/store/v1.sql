CREATE TABLE runs (
    run_id        TEXT PRIMARY KEY,
    job           TEXT NOT NULL,
    job_name      TEXT,
    question      TEXT,
    language      TEXT NOT NULL,
    status        TEXT NOT NULL CHECK (status IN ('running', 'finished', 'interrupted', 'failed')),
    created_at    TEXT NOT NULL,
    finished_at   TEXT,
    verdict       TEXT,
    problem_type  TEXT,
    reasoner      TEXT,
    model         TEXT,
    failure       TEXT,
    report        TEXT,
    picture       TEXT
) STRICT;
CREATE INDEX runs_by_time ON runs (created_at);
CREATE TABLE findings (
    run_id        TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
    id            TEXT NOT NULL,
    cause         TEXT NOT NULL,
    stage         TEXT,
    severity      TEXT NOT NULL,
    confidence    REAL NOT NULL,
    seconds_saved REAL,
    PRIMARY KEY (run_id, id)
) STRICT;
CREATE TABLE suggestions (
    run_id        TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
    id            TEXT NOT NULL,
    finding       TEXT,
    cause         TEXT,
    kind          TEXT NOT NULL,
    title         TEXT NOT NULL,
    sources       TEXT NOT NULL,
    PRIMARY KEY (run_id, id)
) STRICT;
CREATE TABLE experiences (
    run_id        TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
    step          TEXT NOT NULL,
    rank          INTEGER NOT NULL,
    chunk         TEXT NOT NULL,
    score         REAL,
    PRIMARY KEY (run_id, step, rank)
) STRICT;
CREATE TABLE steps (
    run_id        TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    id            TEXT NOT NULL,
    text          TEXT NOT NULL,
    conclusion    TEXT NOT NULL,
    tokens_in     INTEGER NOT NULL,
    tokens_out    INTEGER NOT NULL,
    elapsed_ms    REAL NOT NULL,
    PRIMARY KEY (run_id, position)
) STRICT;
CREATE TABLE feedback (
    id            INTEGER PRIMARY KEY,
    run_id        TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
    suggestion    TEXT NOT NULL,
    action        TEXT NOT NULL CHECK (action IN ('accept', 'ignore')),
    note          TEXT,
    saved_seconds REAL,
    created_at    TEXT NOT NULL
) STRICT;
CREATE INDEX feedback_by_run ON feedback (run_id);
