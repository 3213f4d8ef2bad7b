//! Mutations of good rewrites that change the result: none passes as the same.

use std::collections::BTreeMap;

use equivalence::{Facts, Judgment, judge};
use job::script::{Script, StatementKind};

use crate::cases::{OTHER, SAME, SCRIPT, judged};
use crate::support::{Rewritten, all};

/// A way to change the result of a script; `None` if it does not apply to the script.
type Mutation = (&'static str, fn(&str) -> Option<String>);

const MUTATIONS: [Mutation; 13] = [
    ("filter dropped", |text| {
        let script = Script::parse("scope.script", text.to_owned());
        let filter = script
            .statements
            .iter()
            .find_map(|s| s.query.filter_span.clone())?;
        Some(format!("{}{}", &text[..filter.start], &text[filter.end..]))
    }),
    ("never true", |text| after(text, "WHERE ", "1 == 0 AND ")),
    ("literal changed", |text| {
        let at = text.find(" != ")? + 4;
        let digit = text[at..].chars().next().filter(char::is_ascii_digit)?;
        let other = if digit == '9' { '8' } else { '9' };
        Some(format!("{}{other}{}", &text[..at], &text[at + 1..]))
    }),
    ("test turned around", |text| once(text, " != ", " == ")),
    ("inner to left outer", |text| {
        once(text, "INNER JOIN", "LEFT OUTER JOIN")
    }),
    ("inner to full outer", |text| {
        once(text, "INNER JOIN", "FULL OUTER JOIN")
    }),
    ("sum to max", |text| once(text, "SUM(", "MAX(")),
    ("sum to count", |text| once(text, "SUM(", "COUNT(")),
    ("top 1", |text| last_select(text, "SELECT TOP 1")),
    ("union", |text| once(text, "UNION ALL", "UNION")),
    ("output column renamed", |text| {
        let at = text.rfind(" AS RowsSeen")? + " AS ".len();
        Some(format!(
            "{}Rows{}",
            &text[..at],
            &text[at + "RowsSeen".len()..]
        ))
    }),
    ("group key dropped", |text| {
        let at = text.rfind("GROUP BY ")?;
        let line = &text[at..at + text[at..].find([';', '\n']).unwrap_or(text.len() - at)];
        let (keys, _) = line.rsplit_once(", ")?;
        Some(text.replacen(line, keys, 1))
    }),
    ("process started", |text| {
        once(
            text,
            "int seen = 0;",
            "int seen = 0; System.Diagnostics.Process.Start(\"sh\");",
        )
    }),
];

fn once(text: &str, from: &str, to: &str) -> Option<String> {
    text.contains(from).then(|| text.replacen(from, to, 1))
}

fn after(text: &str, word: &str, more: &str) -> Option<String> {
    once(text, word, &format!("{word}{more}"))
}

/// The last `SELECT` feeds an output.
fn last_select(text: &str, with: &str) -> Option<String> {
    let at = text
        .rfind("SELECT ")
        .filter(|at| !text[*at..].contains("UNION"))?;
    Some(format!(
        "{}{with}{}",
        &text[..at],
        &text[at + "SELECT".len()..]
    ))
}

fn facts_of<'a>(
    rewritten: &'a Rewritten,
    rewrites: &'a [String],
    reads: &'a dyn Fn(&str) -> Option<Vec<String>>,
) -> Facts<'a> {
    Facts {
        tables: &rewritten.job.tables,
        reads,
        rewrites,
    }
}

/// Lines that only the mutant has.
fn changes(before: &str, mutant: &str) -> String {
    let new = mutant
        .lines()
        .filter(|line| before.lines().all(|old| old != *line));
    new.collect::<Vec<_>>().join("\n")
}

#[test]
fn no_change_of_the_result_is_shown_as_the_same() {
    let mut counts: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    let mut wrong = Vec::new();
    for rewritten in all() {
        let reads = |class: &str| advice::columns_read(&rewritten.job, class);
        let known: Vec<String> = rewritten
            .changed
            .iter()
            .map(|(_, text)| text.clone())
            .collect();
        let facts = facts_of(rewritten, &known, &reads);
        // without a rewrite, mutates the script itself
        let good = known
            .first()
            .cloned()
            .unwrap_or_else(|| rewritten.script().text.clone());
        for (name, mutate) in MUTATIONS {
            let Some(text) = mutate(&good).filter(|text| *text != good) else {
                continue;
            };
            let mutant = Script::parse(&rewritten.script().file, text.clone());
            let count = counts.entry(name).or_default();
            match judge(rewritten.script(), &mutant, &facts) {
                Judgment::Different(_) => count[0] += 1,
                Judgment::Unknown(_) => count[1] += 1,
                found => {
                    count[2] += 1;
                    wrong.push(format!(
                        "{}: {name}: {found:?}\n{}",
                        rewritten.name,
                        changes(&rewritten.script().text, &text)
                    ));
                }
            }
        }
    }
    let mut made: usize = counts.values().flatten().sum();
    for (from, to) in OTHER {
        made += 1;
        let found = judged(SCRIPT, &SCRIPT.replacen(from, to, 1));
        if matches!(found, Judgment::Proven | Judgment::Tested) {
            wrong.push(format!("{from} -> {to}"));
        }
    }
    for (name, [different, unknown, same]) in &counts {
        println!("{name}: {different} different, {unknown} unknown, {same} shown as the same");
    }
    println!("{made} mutants, {} shown as the same", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(
        made >= 300 && counts.len() == MUTATIONS.len(),
        "{made}: {counts:?}"
    );
}

/// At least 95 of 100 good changes, by hand and by rule, are recognized as such.
#[test]
fn good_changes_are_shown_as_the_same() {
    let (mut good, mut all_good) = (0, 0);
    let mut count = |found: Judgment| {
        all_good += 1;
        good += usize::from(matches!(found, Judgment::Proven | Judgment::Tested));
    };
    for rewritten in all() {
        let reads = |class: &str| advice::columns_read(&rewritten.job, class);
        let known: Vec<String> = rewritten
            .changed
            .iter()
            .map(|(_, text)| text.clone())
            .collect();
        for text in &known {
            let after = Script::parse(&rewritten.script().file, text.clone());
            count(judge(
                rewritten.script(),
                &after,
                &facts_of(rewritten, &known, &reads),
            ));
        }
        let script = rewritten.script();
        let mut selects = script
            .statements
            .iter()
            .filter(|s| s.kind == StatementKind::Select);
        if let Some(select) = selects.next_back() {
            let (start, text) = (select.span.start, &script.text);
            let commented = format!("{}// the same rows\n{}", &text[..start], &text[start..]);
            count(judge(
                script,
                &Script::parse(&script.file, commented),
                &facts_of(rewritten, &[], &reads),
            ));
        }
    }
    for (from, to) in SAME {
        count(judged(SCRIPT, &SCRIPT.replacen(from, to, 1)));
    }
    println!("{good} of {all_good} good changes proven or tested");
    assert!(
        all_good > 200 && good * 100 >= all_good * 95,
        "{good} of {all_good}"
    );
}
