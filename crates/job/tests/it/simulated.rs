//! Simulated cluster folders: every number against the file it comes from, every operator against
//! its script line.

use std::path::{Path, PathBuf};

use job::Job;
use job::model::{DiagnosticSeverity, FileKind, Operator, OperatorKind};

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

/// Stage and index of every operator of a job.
fn operators(job: &Job) -> impl Iterator<Item = (usize, usize, &Operator)> {
    let stages = job.stages.iter().enumerate();
    stages.flat_map(|(s, stage)| (0..).zip(&stage.operators).map(move |(o, op)| (s, o, op)))
}

#[test]
fn every_operator_is_tied_to_its_line() {
    each(|name, job| {
        let script = job.script.as_ref().expect("a script");
        for (s, o, op) in operators(job) {
            let place = format!("{name} {}", op.id);
            let found = job.line_of(s, o).expect(&place).value;
            let line = op.line.expect("simulated operators have lines");
            assert!((found.first..=found.last).contains(&line), "{place}");
            let (statement, _) = job.statement_of(s, o).expect(&place);
            assert!(job.stages_of(statement).contains(&s), "{place}");
            assert!(script.statements[statement].lines.0 <= line);
        }
    });
}

/// Without the lines in the definition, the link by keys and classes must find the same statement.
#[test]
fn most_operators_are_tied_without_lines_too() {
    let (mut right, mut wrong, mut none) = (0, 0, 0);
    for folder in folders() {
        let mut job = job::load(&folder).expect("a job");
        let statement = |(s, o, _)| job.statement_of(s, o).map(|(at, _)| at);
        let truth: Vec<_> = operators(&job).map(statement).collect();
        let all = job.stages.iter_mut().flat_map(|s| &mut s.operators);
        all.for_each(|o| o.line = None);
        for ((s, o, op), expected) in operators(&job).zip(truth) {
            match job.statement_of(s, o) {
                None => none += 1,
                Some((at, _)) if Some(at) == expected => right += 1,
                Some((at, sure)) => {
                    let place = format!("{} {} {:?}", folder.display(), op.id, op.kind);
                    eprintln!("{place}: {at} ({sure:.2}) for {expected:?}");
                    wrong += 1;
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
                    let [whole, exact] = [format!("{value:.0}"), format!("{value}")];
                    let is_there = |value| text.contains(&format!("{name}=\"{value}\""));
                    assert!(
                        is_there(whole) || is_there(exact),
                        "{}: {name}",
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
    use OperatorKind as K;
    let counted = |op: &Operator| matches!(op.kind, K::Join | K::Aggregate | K::PartialAggregate);
    each(|name, job| {
        for (s, o, op) in operators(job).filter(|(_, _, op)| counted(op)) {
            let estimate = job.estimate_of(s, o);
            assert!(
                estimate.is_some_and(|e| e.value.card.is_some()),
                "{name} {}",
                op.id
            );
            let facts = job.stage_facts(s);
            let rows = facts.operator(o).and_then(|c| c.rows.as_ref());
            assert!(
                rows.is_some() || facts.counted.is_none(),
                "{name} {}",
                op.id
            );
        }
    });
}

#[test]
fn edges_know_how_rows_cross() {
    use job::model::ExchangeKind as X;
    each(|name, job| {
        for edge in &job.edges {
            let place = format!("{name} {}", edge.channel);
            assert_ne!(edge.exchange, X::Unknown, "{place}");
            if matches!(edge.exchange, X::Hash | X::Range) {
                assert!(
                    !edge.keys.is_empty() && edge.partitions.is_some(),
                    "{place}"
                );
            }
            let ran = |stage: usize| job.stages[stage].counters.is_some();
            if ran(edge.from) && ran(edge.to) {
                assert!(
                    edge.bytes_written.is_some() && edge.rows_read.is_some(),
                    "{place}"
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
            let place = format!("{name} {}", stage.name);
            assert!((split.run_ms - run.mean).abs() < 1.0, "{place}");
            assert!(run.max_over_mean >= 1.0 && run.p50 <= run.p95, "{place}");
            for rows in facts.operators.iter().filter_map(|o| facts.rows_spread(o)) {
                assert!(rows.max_over_mean >= 0.99, "{place} {rows:?}");
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
        let mut diagnostics = job.diagnostics.iter();
        let error = diagnostics.find(|d| d.severity == DiagnosticSeverity::Error);
        assert_eq!(error, None, "{name}");
        let mut files = job.files.iter();
        let unread = files.find(|f| !f.read && f.kind != FileKind::Unknown);
        assert_eq!(unread, None, "{name}");
        assert!(job.info.elapsed_seconds.is_some(), "{name}");
    });
}

#[test]
fn a_stage_that_never_ran_has_read_nothing_that_was_measured() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases");
    let job = job::load(&cases.join("user-code-failure/job")).expect("a job");
    let read = |stage| job.bytes_read_per_vertex(stage).map(|d| d.value.total);
    let ran = |stage| !job.never_ran(stage) && read(stage).is_some_and(|bytes| bytes > 0.0);
    let never_ran = |stage| job.never_ran(stage) && read(stage).is_none();
    assert!(ran(0) && never_ran(1), "{:?} {:?}", read(0), read(1));
}
