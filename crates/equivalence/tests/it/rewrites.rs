//! Rewrites of the rules: known ones are proven, and every one survives its execution.

use equivalence::{Facts, Judgement, Unknown, execute, judge};
use job::script::Script;

use crate::support::all;

/// Every rewrite that the rules suggest gives the rows that the script gave, whatever its user
/// code does; next to none is beyond execution.
#[test]
fn suggested_rewrites_keep_the_rows() {
    let (mut same, mut unknown, mut different) = (0, Vec::new(), Vec::new());
    let (mut jobs, mut settings) = (0, 0);
    for rewritten in all() {
        jobs += 1;
        let job = &rewritten.job;
        for (title, text) in &rewritten.changed {
            let after = Script::parse(&rewritten.script().file, text.clone());
            let reads = |class: &str| diagnosis::columns_read(job, class);
            let rewrites = [text.clone()];
            let facts = Facts {
                tables: &job.tables,
                reads: &reads,
                rewrites: &rewrites,
            };
            assert_eq!(
                judge(rewritten.script(), &after, &facts),
                Judgement::Proven,
                "{}: {title}",
                rewritten.name
            );
            let about = |what: String| format!("{}: {title}: {what}", rewritten.name);
            match execute(rewritten.script(), &after, &facts) {
                Judgement::Proven | Judgement::Tested => same += 1,
                // Settings and layouts change no rows, and are not executed.
                Judgement::Unknown(Unknown::Environment { .. } | Unknown::Layout { .. }) => {
                    settings += 1
                }
                Judgement::Unknown(why) => unknown.push(about(why.text().en)),
                Judgement::Different(found) => {
                    different.push(about(format!("{}\n{text}", found.text().en)))
                }
            }
        }
    }
    println!(
        "{jobs} jobs, rewrites executed: {same} the same, {settings} of settings or layouts, {} unknown, {} different",
        unknown.len(),
        different.len()
    );
    println!("{}", unknown.join("\n"));
    assert!(different.is_empty(), "{}", different.join("\n\n"));
    assert!(same > 60, "{same}");
    assert!(
        unknown.len() * 20 <= same + unknown.len(),
        "{} unknown",
        unknown.len()
    );
}

/// A model that writes the rewrite of a rule, with names and blanks of its own, is as right as the rule.
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
    assert_eq!(judged(renamed(text)), Judgement::Proven);
    assert_ne!(
        judged(renamed(text).replace("UNION ALL", "UNION")),
        Judgement::Proven
    );
}
