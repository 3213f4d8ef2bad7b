//! Rewrites of the rules: known ones are proven, and every one survives its execution.

use equivalence::{Facts, Judgment, Unknown, execute, judge};
use job::script::Script;

use crate::support::{Rewritten, all, shared};

/// Judges and executes every rewrite: each is proven, and gives the rows of the original script
/// for any result of its user code. Returns the number of executed rewrites, and the number of rewrites with rows
/// that would not show a change.
fn check(rewritten: &[Rewritten]) -> (usize, usize) {
    let (mut executed, mut idle, mut wrong) = (0, 0, Vec::new());
    for rewritten in rewritten {
        let (job, before) = (&rewritten.job, rewritten.script());
        for (title, text) in &rewritten.changed {
            let after = Script::parse(&before.file, text.clone());
            let facts = Facts {
                tables: &job.tables,
                reads: &|class| advice::columns_read(job, class),
                rewrites: std::slice::from_ref(text),
            };
            let about = format!("{}: {title}", rewritten.name);
            assert_eq!(judge(before, &after, &facts), Judgment::Proven, "{about}");
            match execute(before, &after, &facts) {
                Judgment::Proven | Judgment::Tested => executed += 1,
                // Settings and layouts change no rows, and are not executed.
                Judgment::Unknown(Unknown::Environment { .. } | Unknown::Layout { .. })
                    if rowsets(before) == rowsets(&after) => {}
                Judgment::Unknown(Unknown::NotExercised { .. }) => idle += 1,
                found => wrong.push(format!("{about}: {found:?}\n{text}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    (executed, idle)
}

/// The statements of a script that bind rowsets.
fn rowsets(script: &Script) -> Vec<&str> {
    let made = script.statements.iter().filter(|s| s.makes_rowset());
    made.map(|s| script.slice(&s.span)).collect()
}

#[test]
fn suggested_rewrites_keep_the_rows() {
    let (executed, idle) = check(all());
    assert!(executed > 60, "{executed}");
    assert!(idle * 20 <= executed, "{idle} of {executed} not exercised");
}

#[test]
fn rewrites_of_the_shared_jobs_keep_the_rows() {
    if let Some(jobs) = shared() {
        check(&jobs);
    }
}

/// A model's script that equals a rule's rewrite except for names and blanks is proven as well.
#[test]
fn a_known_rewrite_is_known_by_other_names() {
    let renamed = |text: &str| {
        let (script, code) = text.split_at(text.find("#CS").unwrap_or(text.len()));
        let script = script
            .replace("HotRows", "Frequent")
            .replace("OtherRows", "Rest");
        script.replace("    ", "  ") + code
    };
    let all = all();
    let split = |(_, text): &&(String, String)| text.contains("HotRows");
    let found = all
        .iter()
        .find_map(|job| Some((job, job.changed.iter().find(split)?)));
    let (rewritten, (_, text)) = found.expect("a split");
    let known = [text.clone()];
    let facts = Facts {
        tables: &[],
        reads: &|_| None,
        rewrites: &known,
    };
    let judged = |text: String| {
        judge(
            rewritten.script(),
            &Script::parse("scope.script", text),
            &facts,
        )
    };
    assert_eq!(judged(renamed(text)), Judgment::Proven);
    assert_ne!(
        judged(renamed(text).replace("UNION ALL", "UNION")),
        Judgment::Proven
    );
}
