//! The executor: scripts of the simulator run, equal scripts give equal rows, wrong rewrites are found out.

use job::script::Script;
use simulator::exec::World;
use simulator::{Cause, Dialect, Mechanisms, Request, Scale, SimulatedJob, simulate, ways};

fn text(job: &SimulatedJob, file: &str) -> String {
    let text = String::from_utf8_lossy(job.files.get(file).map(Vec::as_slice).unwrap_or_default())
        .into_owned();
    text.trim_start_matches('\u{feff}').to_owned()
}

fn world(job: &SimulatedJob) -> World {
    World::new(
        &text(job, "tables.json"),
        &text(job, "__ScopeCodeGen__.dll.cs"),
        1,
    )
    .expect("tables")
}

fn script(job: &SimulatedJob) -> Script {
    let file = job.truth["script_file"]
        .as_str()
        .expect("script")
        .to_owned();
    Script::parse(&file, text(job, &file))
}

fn request(cause: Cause, dialect: Dialect, seed: u64) -> Request {
    Request {
        scale: Scale::Small,
        dialect: Some(dialect),
        tidy: true,
        ..Request::single(cause, seed)
    }
}

#[test]
fn every_generated_script_runs() {
    let mut run = 0;
    for way in ways() {
        if way.cause == Cause::Compile && !way.near_miss {
            continue;
        }
        let code = way.name;
        for (i, dialect) in [Dialect::Scope, Dialect::Usql].into_iter().enumerate() {
            let of_cause = request(way.cause, dialect, 31 + i as u64);
            let request = Request {
                mechanisms: Mechanisms::Only(vec![code.to_owned()]),
                ..if way.near_miss {
                    Request {
                        near_miss: Some(way.cause),
                        dialect: Some(dialect),
                        scale: Scale::Small,
                        ..Request::healthy(31)
                    }
                } else {
                    of_cause
                }
            };
            let Some(job) = simulate(&request) else {
                continue;
            };
            let outputs = world(&job)
                .run(&script(&job))
                .unwrap_or_else(|e| panic!("{code}: {e}"));
            assert!(!outputs.is_empty(), "{code}");
            for (path, output) in outputs {
                assert!(
                    !output.rows.is_empty() && !output.columns.is_empty(),
                    "{code}: {path}"
                );
            }
            run += 1;
        }
    }
    assert!(run > 180, "{run}");
}

#[test]
fn comments_and_hints_change_nothing() {
    let job = simulate(&request(Cause::MissedBroadcast, Dialect::Scope, 3)).expect("a job");
    let before = script(&job);
    let without: String = before
        .text
        .lines()
        .filter(|l| !l.trim_start().starts_with(['[', '/']))
        .map(|l| format!("{l}\n"))
        .collect();
    let after = Script::parse("scope.script", without);
    assert_eq!(world(&job).compare(&before, &after).expect("runs"), None);
}

#[test]
fn a_lost_filter_is_found_out() {
    let job = simulate(&request(Cause::LateFilter, Dialect::Scope, 3)).expect("a job");
    let before = script(&job);
    let lost: String = before
        .text
        .lines()
        .map(|l| {
            if l.contains("WHERE RowRules") {
                ";\n".to_owned()
            } else {
                format!("{l}\n")
            }
        })
        .collect();
    let after = Script::parse("scope.script", lost);
    assert!(
        world(&job)
            .compare(&before, &after)
            .expect("runs")
            .is_some()
    );
}

#[test]
fn a_column_that_the_reducer_does_not_read_may_go_and_one_that_it_reads_may_not() {
    let job = simulate(&request(Cause::UnusedColumns, Dialect::Scope, 3)).expect("a job");
    let before = script(&job);
    let clean = before
        .statements
        .iter()
        .find(|s| s.target.as_deref().is_some_and(|t| t.ends_with("Rows")))
        .expect("the SELECT");
    let columns: Vec<&str> = clean
        .query
        .columns
        .iter()
        .filter_map(|c| c.name.as_deref())
        .collect();
    let rewrite = |dropped: &str| {
        let kept: Vec<&str> = columns.iter().copied().filter(|c| *c != dropped).collect();
        let first = clean.query.columns.first().expect("columns").span.start;
        let last = clean.query.columns.last().expect("columns").span.end;
        let text = format!(
            "{}{}{}",
            &before.text[..first],
            kept.join(", "),
            &before.text[last..]
        );
        Script::parse("scope.script", text)
    };
    let world = world(&job);
    let unused = columns.last().expect("columns");
    assert_eq!(
        world.compare(&before, &rewrite(unused)).expect("runs"),
        None
    );
    // The attribute is the third column, which the reducer reads.
    assert!(world.compare(&before, &rewrite(columns[2])).is_err());
}
