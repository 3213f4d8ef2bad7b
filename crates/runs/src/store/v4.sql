-- Lists of runs read narrow rows: what is long has a table of its own, and what runs are listed by a column each.
CREATE TABLE documents (
    run_id        TEXT PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
    report        TEXT,
    summary       TEXT,
    picture       TEXT,
    shape         TEXT
) STRICT;
INSERT INTO documents SELECT run_id, report, summary, picture, shape FROM runs WHERE report IS NOT NULL;
UPDATE runs SET report = NULL, summary = NULL, picture = NULL, shape = NULL;
ALTER TABLE runs DROP COLUMN report;
ALTER TABLE runs DROP COLUMN summary;
ALTER TABLE runs DROP COLUMN picture;
ALTER TABLE runs DROP COLUMN shape;
ALTER TABLE runs ADD COLUMN owner TEXT;
ALTER TABLE runs ADD COLUMN script TEXT;
-- ISO week in which the job was submitted, or else analyzed: 2026-W07
ALTER TABLE runs ADD COLUMN week TEXT;
ALTER TABLE runs ADD COLUMN elapsed_seconds REAL;
ALTER TABLE runs ADD COLUMN avoidable_seconds REAL;
ALTER TABLE runs ADD COLUMN findings INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN top_cause TEXT;
CREATE INDEX runs_by_avoidable ON runs (avoidable_seconds, created_at);
CREATE INDEX runs_by_owner ON runs (owner);
CREATE INDEX runs_by_week ON runs (week);
CREATE INDEX runs_by_script ON runs (script);
CREATE INDEX findings_by_cause ON findings (cause, run_id);
