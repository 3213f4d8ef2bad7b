//! Simulated cluster folders: every number against the file it comes from, every operator against
//! its script line.

use std::path::PathBuf;

use job::Job;
use job::model::{DiagnosticSeverity, FileKind};

use testkit::shared;

fn folders() -> Vec<PathBuf> {
    let Some(root) = shared("jobs-dev") else {
        return Vec::new();
    };
    let mut folders: Vec<_> = std::fs::read_dir(root)
        .expect("listed")
        .flatten()
        .map(|e| e.path())
        .collect();
    folders.retain(|p| p.join("ScopeVertexDef.xml").is_file());
    folders.sort();
    folders
}

fn each(check: impl Fn(&str, &Job)) {
    for folder in folders() {
        let job = job::load(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        check(&folder.file_name().expect("a name").to_string_lossy(), &job);
    }
}

#[test]
fn every_operator_is_tied_to_its_line() {
    each(|name, job| {
        let script = job
            .script
            .as_ref()
            .unwrap_or_else(|| panic!("{name}: no script"));
        for (s, stage) in job.stages.iter().enumerate() {
            for (o, op) in stage.operators.iter().enumerate() {
                let found = job
                    .line_of(s, o)
                    .unwrap_or_else(|| panic!("{name}: no line of {}", op.id));
                let line = op.line.expect("simulated operators have lines");
                assert!(
                    found.value.first <= line && line <= found.value.last,
                    "{name} {}",
                    op.id
                );
                let (statement, _) = job
                    .statement_of(s, o)
                    .unwrap_or_else(|| panic!("{name}: {}", op.id));
                assert!(job.stages_of(statement).contains(&s), "{name} {}", op.id);
                assert!(script.statements[statement].lines.0 <= line);
            }
        }
    });
}

/// Without the lines in the definition, the link by keys and classes must find the same statement.
#[test]
fn most_operators_are_tied_without_lines_too() {
    let (mut right, mut wrong, mut none) = (0, 0, 0);
    for folder in folders() {
        let mut job = job::load(&folder).expect("a job");
        let truth: Vec<Vec<_>> = (0..job.stages.len())
            .map(|s| {
                (0..job.stages[s].operators.len())
                    .map(|o| job.statement_of(s, o).map(|(at, _)| at))
                    .collect()
            })
            .collect();
        job.stages
            .iter_mut()
            .flat_map(|s| &mut s.operators)
            .for_each(|o| o.line = None);
        for (s, ops) in truth.iter().enumerate() {
            for (o, expected) in ops.iter().enumerate() {
                match job.statement_of(s, o) {
                    None => none += 1,
                    Some((at, _)) if Some(at) == *expected => right += 1,
                    Some((at, sure)) => {
                        eprintln!(
                            "{} {} {:?}: {at} ({sure:.2}) for {expected:?}",
                            folder.display(),
                            job.stages[s].operators[o].id,
                            job.stages[s].operators[o].kind
                        );
                        wrong += 1;
                    }
                }
            }
        }
    }
    eprintln!("tied without lines: {right} right, {wrong} wrong, {none} not tied");
    // a wrong link is worse than none
    assert!(
        right >= 100 * wrong && right >= 25 * none,
        "{right} right, {wrong} wrong, {none} not tied"
    );
}

#[test]
fn counters_equal_the_files() {
    for folder in folders() {
        let path = folder.join("__ScopeRuntimeStatistics__.xml");
        let Ok(text) = std::fs::read_to_string(path) else {
            continue;
        };
        let job = job::load(&folder).expect("a job");
        let mut kept = 0;
        for tree in job.stages.iter().filter_map(|s| s.counters.as_ref()) {
            for node in tree.nodes.iter().chain([&tree.vertex]) {
                kept += node.values.len() + node.texts.len() + usize::from(node.op_id.is_some());
                for (name, value) in node.values.iter() {
                    let written = [
                        format!("{name}=\"{value:.0}\""),
                        format!("{name}=\"{value}\""),
                    ];
                    assert!(
                        written.iter().any(|w| text.contains(w)),
                        "{}: {written:?}",
                        folder.display()
                    );
                }
            }
        }
        // every attribute of every stage is there
        let outside = |line: &&str| line.contains("<?xml") || line.contains("<CollectorInfo");
        let attributes = |text: &str| text.matches("=\"").count();
        let written =
            attributes(&text) - text.lines().filter(outside).map(attributes).sum::<usize>();
        assert_eq!(kept, written, "{}", folder.display());
    }
}

#[test]
fn joins_and_aggregates_have_counters_and_estimates() {
    each(|name, job| {
        for (s, stage) in job.stages.iter().enumerate() {
            for (o, op) in stage.operators.iter().enumerate() {
                use job::model::OperatorKind as K;
                if matches!(op.kind, K::Join | K::Aggregate | K::PartialAggregate) {
                    assert!(
                        job.estimate_of(s, o)
                            .is_some_and(|e| e.value.card.is_some()),
                        "{name} {}",
                        op.id
                    );
                    if stage.counters.is_some() {
                        let facts = job.stage_facts(s);
                        assert!(
                            facts.operator(o).is_some_and(|c| c.rows.is_some()),
                            "{name} {}",
                            op.id
                        );
                    }
                }
            }
        }
    });
}

#[test]
fn edges_know_how_rows_cross() {
    use job::model::ExchangeKind as X;
    each(|name, job| {
        for edge in &job.edges {
            assert_ne!(edge.exchange, X::Unknown, "{name} {}", edge.channel);
            if matches!(edge.exchange, X::Hash | X::Range) {
                assert!(
                    !edge.keys.is_empty() && edge.partitions.is_some(),
                    "{name} {}",
                    edge.channel
                );
            }
            let ran = |stage: usize| job.stages[stage].counters.is_some();
            if ran(edge.from) && ran(edge.to) {
                assert!(
                    edge.bytes_written.is_some() && edge.rows_read.is_some(),
                    "{name} {}",
                    edge.channel
                );
            }
        }
    });
}

#[test]
fn derived_facts_agree_with_each_other() {
    each(|name, job| {
        for (s, stage) in job.stages.iter().enumerate() {
            let Some(runs) = &stage.runs else { continue };
            if runs.completed == 0 {
                continue;
            }
            let facts = job.stage_facts(s);
            let split = facts.waits.as_ref().expect("events give times").value;
            let run = facts.run_ms.as_ref().expect("events give times").value;
            assert!(
                (split.run_ms - run.mean).abs() < 1.0,
                "{name} {}",
                stage.name
            );
            assert!(
                run.max_over_mean >= 1.0 && run.p50 <= run.p95,
                "{name} {}",
                stage.name
            );
            for operator in &facts.operators {
                if let Some(rows) = facts.rows_spread(operator) {
                    assert!(rows.max_over_mean >= 0.99, "{name} {} {rows:?}", stage.name);
                }
            }
        }
        if let Some(path) = job.critical_path() {
            let steps = path.value;
            assert!(steps.windows(2).all(|w| w[0].to_ms <= w[1].to_ms), "{name}");
        }
    });
}

#[test]
fn only_cut_files_have_faults() {
    each(|name, job| {
        for diagnostic in &job.diagnostics {
            assert_ne!(
                diagnostic.severity,
                DiagnosticSeverity::Error,
                "{name}: {diagnostic:?}"
            );
        }
        let unread: Vec<_> = job
            .files
            .iter()
            .filter(|f| !f.read)
            .map(|f| (&f.name, f.kind))
            .collect();
        assert!(
            unread.iter().all(|(_, kind)| *kind == FileKind::Unknown),
            "{name}: {unread:?}"
        );
        assert!(job.info.elapsed_seconds.is_some(), "{name}");
    });
}
