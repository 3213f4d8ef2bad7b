//! Several files together, told apart by their content, and everything that is derived from them.
//! A line `=====` separates the files.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

/// Made once: they hold the catalogue, which takes longer to check than most inputs to read.
static OPTIONS: LazyLock<job::Options> = LazyLock::new(job::Options::default);

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let files: Vec<(String, &str)> = text
        .split("=====\n")
        .enumerate()
        .map(|(n, part)| (format!("f{n}"), part))
        .collect();
    let known: Vec<(&str, job::model::FileKind, &[u8])> = files
        .iter()
        .map(|(name, part)| {
            (
                name.as_str(),
                job::kind_of(part.as_bytes()),
                part.as_bytes(),
            )
        })
        .collect();
    let job = job::read_memory(&known, &OPTIONS);
    for (s, stage) in job.stages.iter().enumerate().take(50) {
        for o in 0..stage.operators.len().min(50) {
            let _ = (
                job.line_of(s, o),
                job.counters_of(s, o),
                job.estimate_of(s, o),
            );
        }
        for node in 0..stage.counters.as_ref().map_or(0, |c| c.nodes.len()).min(50) {
            let _ = job.rows_per_vertex(s, node);
        }
        let _ = (
            job.vertex_count(s),
            job.bytes_read_per_vertex(s),
            job.run_ms_per_vertex(s),
        );
        let _ = (
            job.time_split(s),
            job.waves(s),
            job.gc_share(s),
            job.spills(s),
            job.memory_use(s),
        );
        let _ = job.exclusive_times(s);
    }
    let _ = job.critical_path();
    for edge in job.edges.iter().take(100) {
        let _ = job.edge_sources(edge);
    }
    for statement in 0..job
        .script
        .as_ref()
        .map_or(0, |s| s.statements.len())
        .min(20)
    {
        let _ = job.stage_of(statement);
    }
});
