//! Results for the tests of tables and page.

use serde_json::{Value, json};

use crate::tables::{Rows, Stored};

/// A result with three findings: two share 90 avoidable seconds two to one, the third has an unknown saving.
pub(crate) fn known() -> Value {
    let finding = |id: &str, cause: &str, stage: &str, saved: Option<f64>| {
        json!({
            "id": id, "cause": cause, "problem_type": "data_skew", "severity": "high", "confidence": 0.9,
            "stage": stage, "script_lines": [12, 18], "summary": "a summary", "evidence": ["E1"],
            "impact": saved.map(|s| json!({ "seconds_saved": s, "share_of_elapsed": 0.25, "method": "replayed" })),
        })
    };
    let segment = |kind: &str, seconds: f64, finding: Option<&str>| json!({ "kind": kind, "stage": null, "start_seconds": 0.0, "seconds": seconds, "finding": finding, "evidence": [] });
    json!({
        "version": 1, "key": format!("{:064x}", 0xabcd), "uri": "s3://logs/a", "etag": "1", "size": 5, "status": "done",
        "report": {
            "job": {
                "id": "id-1", "name": "Daily_20260112", "path": "s3://logs/a", "state": "succeeded", "engine": "scope",
                "elapsed_seconds": 300.0004, "total_seconds": 400.0, "stages": 3, "vertices": 25, "owner": "mei",
                "queue": "batch", "submitted": "2026-01-14T23:30:00Z", "script_hash": "aa", "script_shape": "bb",
            },
            "verdict": "problem", "problem_type": "data_skew",
            "time": {
                "segments": [segment("queue", 100.0, None), segment("compute", 300.0, Some("F1"))],
                "explained_share": 1.0, "avoidable_seconds": 90.0,
            },
            "cost": { "vertex_hours": 2.5, "wasted_vertex_hours": 0.5, "unit": "AU-hour" },
            "findings": [
                finding("F1", "skew.join_hot_key", "SV3_Combine", Some(80.0)),
                finding("F2", "memory.spill", "SV4_Aggregate", Some(40.0)),
                finding("F3", "failure.user_code", "Stage 4", None),
            ],
            "suggestions": [
                { "finding": "F1", "kind": "hint", "title": "hint `Joined`", "gain": "up to 80 s", "steps": [],
                  "verified": { "parses": true, "columns_preserved": true, "hints_known": true, "same_result": "proven" } },
            ],
            "missing_information": [{ "info": "gc_time", "file": "profile", "present": false, "would_decide": [], "reason": "r" }],
        },
    })
}

/// A result with a report but without any known value.
pub(crate) fn bare() -> Value {
    json!({
        "version": 1, "key": format!("{:064x}", 0xbeef), "uri": "s3://logs/b", "etag": "1", "size": 5, "status": "done",
        "report": {
            "job": { "path": "s3://logs/b", "state": "unknown" }, "verdict": "insufficient_information",
            "problem_type": "none", "findings": [], "suggestions": [], "missing_information": [],
        },
    })
}

pub(crate) fn failed(reason: &str) -> Value {
    json!({
        "version": 1, "key": format!("{:064x}", 0xf00d), "uri": "s3://logs/c", "etag": "1", "size": 5, "status": "failed",
        "tries": 5, "reason": reason,
    })
}

pub(crate) fn rows(result: Value) -> Rows {
    let stored: Stored = serde_json::from_value(result).expect("a result");
    Rows::of(stored)
}
