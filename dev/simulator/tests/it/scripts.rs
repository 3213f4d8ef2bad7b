//! Scripts of simulated jobs: they run, every output gets rows, and a change of the rows is noticed.

use advice::columns_read;
use equivalence::{Facts, Judgment, Unknown, execute};
use job::Job;
use job::script::Script;
use simulator::{Cause, Dialect, Mechanisms, Request, Scale, SimulatedJob, simulate, ways};

fn loaded(simulated: &SimulatedJob) -> Job {
    let folder = tempfile::tempdir().expect("a folder");
    simulated.write(folder.path()).expect("writes");
    job::load(folder.path()).expect("loads")
}

fn script(job: &Job) -> &Script {
    job.script.as_ref().expect("a script")
}

/// Executes the script of a job and a changed one.
fn compared(job: &Job, changed: String) -> Judgment {
    let facts = Facts {
        tables: &job.tables,
        reads: &|class| columns_read(job, class),
        rewrites: &[],
    };
    let script = script(job);
    execute(script, &Script::parse(&script.file, changed), &facts)
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
            // A new declaration affects every statement; an output without rows would be `Unknown`.
            let declaration = match dialect {
                Dialect::Scope => "#DECLARE Unused int = 1;\n",
                Dialect::Usql => "DECLARE @Unused int = 1;\n",
            };
            let job = loaded(&job);
            let changed = declaration.to_owned() + &script(&job).text;
            assert_eq!(compared(&job, changed), Judgment::Tested, "{code}");
            run += 1;
        }
    }
    assert!(run > 180, "{run}");
}

fn simulated(cause: Cause) -> Job {
    loaded(&simulate(&request(cause, Dialect::Scope, 3)).expect("a job"))
}

#[test]
fn comments_and_hints_change_nothing() {
    let job = simulated(Cause::MissedBroadcast);
    let without: String = script(&job)
        .text
        .lines()
        .filter(|l| !l.trim_start().starts_with(['[', '/']))
        .map(|l| format!("{l}\n"))
        .collect();
    assert_ne!(without, script(&job).text);
    assert_eq!(compared(&job, without), Judgment::Proven);
}

#[test]
fn a_lost_filter_is_found_out() {
    let job = simulated(Cause::LateFilter);
    let lost: String = script(&job)
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
    let found = compared(&job, lost);
    assert!(matches!(found, Judgment::Different(_)), "{found:?}");
}

#[test]
fn a_column_that_the_reducer_does_not_read_may_go_and_one_that_it_reads_may_not() {
    let job = simulated(Cause::UnusedColumns);
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
    let without = |dropped: &str| {
        let kept: Vec<&str> = columns.iter().copied().filter(|c| *c != dropped).collect();
        let first = clean.query.columns.first().expect("columns").span.start;
        let last = clean.query.columns.last().expect("columns").span.end;
        let (head, tail) = (&before.text[..first], &before.text[last..]);
        compared(&job, format!("{head}{}{tail}", kept.join(", ")))
    };
    let unused = columns.last().expect("columns");
    assert_eq!(without(unused), Judgment::Tested);
    // The attribute is the third column, which the reducer reads.
    let found = without(columns[2]);
    assert!(
        matches!(found, Judgment::Unknown(Unknown::UserCode { .. })),
        "{found:?}"
    );
}
