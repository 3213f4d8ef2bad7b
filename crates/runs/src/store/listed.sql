-- What runs are listed by, from their report and findings; a damaged report leaves it unknown.
UPDATE runs SET
    (owner, script, week, elapsed_seconds, avoidable_seconds) = (
        SELECT json_extract(report, '$.job.owner'),
            CASE WHEN json_valid(summary) THEN json_extract(summary, '$.script.file') END,
            strftime('%G-W%V', coalesce(datetime(json_extract(report, '$.job.submitted')), runs.created_at)),
            coalesce(json_extract(report, '$.job.total_seconds'), json_extract(report, '$.job.elapsed_seconds')),
            coalesce(json_extract(report, '$.time.avoidable_seconds'),
                (SELECT max(seconds_saved) FROM findings f WHERE f.run_id = runs.run_id))
        FROM documents d WHERE d.run_id = runs.run_id AND json_valid(report)),
    findings = (SELECT count(*) FROM findings f WHERE f.run_id = runs.run_id),
    top_cause = (SELECT cause FROM findings f WHERE f.run_id = runs.run_id ORDER BY CAST(substr(id, 2) AS INTEGER) LIMIT 1)
