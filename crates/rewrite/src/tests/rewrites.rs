//! Scripts before and after each rewrite, with the same rows; and refused scripts.

use job::script::Script;

use super::{applied, parse};
use crate::hint::{self, Side};
use crate::split::HotKeys;
use crate::{Rewrite, aggregate, filter, layout, projection, salted_join, split, window};

type Rewriting = fn(&Script) -> Option<Rewrite>;

const JOIN: &str = "L = SELECT K, A, U FROM (SSTREAM @l);\nR = SELECT K, B FROM (SSTREAM @r);\n\
    J =\n    SELECT l.K, l.A, r.B\n    FROM L AS l\n         LEFT OUTER JOIN R AS r\n         ON l.K == r.K;\n\
    OUTPUT J TO SSTREAM @o;\n";
const GROUPED: &str = "T = SELECT K, U, X FROM (SSTREAM @t);\n\
    G = SELECT K, COUNT() AS N, SUM(X) AS S, MAX(X) AS M FROM T WHERE X > 0 GROUP BY K HAVING N > 2;\n\
    OUTPUT G TO SSTREAM @o;\n";
const COUNTED: &str = "T = SELECT K, U, X FROM (SSTREAM @t);\n\
    G = SELECT K, COUNT(DISTINCT U) AS N, SUM(X) AS S FROM T GROUP BY K;\nOUTPUT G TO SSTREAM @o;\n";
const RANKED: &str = "T = SELECT K, U, Time FROM (SSTREAM @t);\n\
    W = SELECT *, ROW_NUMBER() OVER (PARTITION BY K ORDER BY Time) AS rn FROM T HAVING rn <= 3;\n\
    OUTPUT W TO SSTREAM @o;\n";
const TOP: &str = "T = SELECT K, U, Time FROM (SSTREAM @t);\n\
    W =\n    SELECT TOP 5 *\n    FROM T\n    WHERE K > 1\n    ORDER BY Time DESC;\nOUTPUT W TO SSTREAM @o;\n";
const FILTERED: &str = "L = SELECT K, A, U FROM (SSTREAM @l);\nR = SELECT K, B FROM (SSTREAM @r);\n\
    J = SELECT l.K, l.A AS Ms, r.B FROM L AS l LEFT OUTER JOIN R AS r ON l.K == r.K;\n\
    F = SELECT K, B FROM J WHERE Util.IsGood(Ms) AND B > 1;\nOUTPUT F TO SSTREAM @o;\n";
const UNUSED: &str = "A = SELECT K, U, X, Time FROM (SSTREAM @t);\n\
    B = SELECT Time, K, U FROM A WHERE X > 1;\nC = SELECT K FROM B;\nOUTPUT C TO SSTREAM @o;\n";

const SALT: &str = "(int)(((U ?? 0) % 4 + 4) % 4)";

fn hot(literals: &[&str], null: bool, nullable: bool) -> HotKeys {
    HotKeys {
        literals: literals
            .iter()
            .map(|literal| (*literal).to_owned())
            .collect(),
        null,
        nullable,
    }
}

fn split_seven(script: &Script) -> Option<Rewrite> {
    split::hot_key_split(script, &script.statements[2], 0, &hot(&["7"], false, true))
}

fn salt_left(script: &Script) -> Option<Rewrite> {
    salted_join::salted_join(script, &script.statements[2], Side::Left, SALT, 4)
}

fn salt_right(script: &Script) -> Option<Rewrite> {
    salted_join::salted_join(
        script,
        &script.statements[2],
        Side::Right,
        "(int)((B % 4 + 4) % 4)",
        4,
    )
}

fn two_level(script: &Script) -> Option<Rewrite> {
    aggregate::two_level(script, &script.statements[1], "U % 32")
}

fn distinct_first(script: &Script) -> Option<Rewrite> {
    aggregate::distinct_first(script, &script.statements[1])
}

fn two_level_rank(script: &Script) -> Option<Rewrite> {
    window::two_level_rank(script, &script.statements[1], "U % 32")
}

fn two_level_top(script: &Script) -> Option<Rewrite> {
    window::two_level_top(script, &script.statements[1], "U % 2")
}

fn push_down(script: &Script) -> Option<Rewrite> {
    filter::push_down(script, &script.statements[3])
}

fn drop_columns(script: &Script) -> Option<Rewrite> {
    Some(projection::drop_columns(script, &|_| None)?.0)
}

#[test]
fn rewrites_make_the_statements_that_they_promise() {
    let inner = FILTERED
        .replace("Util.IsGood(Ms) AND ", "")
        .replace("LEFT OUTER", "INNER");
    #[rustfmt::skip]
    let cases: &[(&str, Rewriting, &[&str])] = &[
        (JOIN, split_seven, &[
            "WHERE K == 7;",
            "WHERE K == null OR (K != 7);",
            "FROM JHotRows AS l\n         LEFT OUTER BROADCASTRIGHT JOIN JHotMatch AS r",
            "FROM JOtherRows AS l\n         LEFT OUTER JOIN R AS r",
            "FROM JHot\n    UNION ALL\n    SELECT *\n    FROM JOther;",
        ]),
        (&JOIN.replace("J =\n", "[Privacy.Asset.NonPersonal]\nJ =\n"), split_seven, &["[Privacy.Asset.NonPersonal]\nJ =\n    SELECT *"]),
        (JOIN, salt_left, &[
            "JSalted =\n    SELECT *,\n           (int)(((U ?? 0) % 4 + 4) % 4) AS SaltKey\n    FROM L;",
            "SELECT *, 3 AS SaltKey FROM R;",
            "FROM JSalted AS l\n         LEFT OUTER JOIN JCopies AS r\n         ON l.K == r.K AND l.SaltKey == r.SaltKey;",
        ]),
        (&JOIN.replace("LEFT OUTER", "INNER"), salt_right, &["FROM JCopies AS l\n         INNER JOIN JSalted AS r"]),
        (GROUPED, two_level, &[
            "U % 32 AS SaltKey\n    FROM T\n    WHERE X > 0;",
            "GROUP BY K, SaltKey;",
            "SELECT K,\n           SUM(N) AS N,\n           SUM(S) AS S,\n           MAX(M) AS M\n    FROM GPartial\n    GROUP BY K\n    HAVING N > 2;",
        ]),
        (&GROUPED.replace("COUNT() AS N,", "COUNT() AS N, // all of them\n"), two_level, &["// all of them\nGSalted ="]),
        (COUNTED, distinct_first, &["GROUP BY K, U;", "COUNT(U) AS N,\n           SUM(S) AS S"]),
        (&COUNTED.replace("SELECT K, COUNT", "SELECT COUNT").replace(" GROUP BY K", ""), distinct_first, &[
            "FROM T\n    GROUP BY U;\n\nG =\n    SELECT COUNT(U) AS N,\n           SUM(S) AS S\n    FROM GValues;",
        ]),
        (RANKED, two_level_rank, &[
            "ROW_NUMBER() OVER (PARTITION BY K, SaltKey ORDER BY Time) AS LocalRank",
            "WHERE LocalRank <= 3;",
            "SELECT K,\n           U,\n           Time,\n           ROW_NUMBER() OVER (PARTITION BY K ORDER BY Time) AS rn",
        ]),
        // no ties: otherwise the first rows would be undetermined
        (&RANKED.replace("PARTITION BY K ORDER BY Time", "ORDER BY Time, U, K"), two_level_rank, &[
            "OVER (PARTITION BY SaltKey ORDER BY Time, U, K) AS LocalRank",
            "ROW_NUMBER() OVER (ORDER BY Time, U, K) AS rn\n    FROM WLocal",
        ]),
        (&RANKED.replace(" HAVING rn <= 3", "").replace("OUTPUT W", "V = SELECT K FROM W WHERE rn == 1;\nOUTPUT V"), two_level_rank, &["WHERE LocalRank <= 1;"]),
        (TOP, two_level_top, &[
            "U % 2 AS SaltKey\n    FROM T\n    WHERE K > 1;",
            "OVER (PARTITION BY SaltKey ORDER BY Time DESC) AS LocalRank",
            "WHERE LocalRank <= 5;",
            "W =\n    SELECT TOP 5 K, U, Time\n    FROM WLocal AS T\n    ORDER BY Time DESC;",
        ]),
        (&TOP.replace("TOP 5 *", "K, Time").replace("DESC;", "DESC FETCH FIRST 5 ROWS;"), two_level_top, &["WHERE LocalRank <= 5;", "ORDER BY Time DESC FETCH FIRST 5 ROWS;"]),
        (FILTERED, push_down, &[
            "LFiltered =\n    SELECT *\n    FROM L\n    WHERE Util.IsGood(A);",
            "FROM LFiltered AS l LEFT OUTER JOIN R AS r",
            "F = SELECT K, B FROM J WHERE B > 1;",
        ]),
        (&inner, push_down, &["INNER JOIN RFiltered AS r", "F = SELECT K, B FROM J;"]),
        (UNUSED, drop_columns, &["A = SELECT K, X FROM", "B = SELECT K FROM A WHERE X > 1;"]),
        // A column that the statement itself names stays.
        ("A = SELECT K, COUNT() AS N, SUM(X) AS S FROM (SSTREAM @t) GROUP BY K HAVING N > 5;\nC = SELECT K FROM A;\nOUTPUT C TO SSTREAM @o;\n",
            drop_columns, &["A = SELECT K, COUNT() AS N FROM"]),
    ];
    for (text, rewrite, parts) in cases {
        let script = parse(text);
        let new = applied(&script, rewrite(&script));
        for part in *parts {
            assert!(new.contains(part), "{part} is not in\n{new}");
        }
    }
}

/// Parts of a script, each with its replacement.
type Edits<'a> = &'a [(&'a str, &'a str)];

#[test]
fn rewrites_refuse_what_could_change_rows() {
    #[rustfmt::skip]
    let cases: &[(&str, Rewriting, Edits)] = &[
        (JOIN, split_seven, &[
            ("LEFT OUTER", "FULL OUTER"), ("LEFT OUTER", "RIGHT OUTER"), ("LEFT OUTER JOIN", "LEFT OUTER PAIR JOIN"),
            ("SELECT l.K", "SELECT DISTINCT l.K"), ("SELECT l.K", "SELECT TOP 5 l.K"), ("l.A, r.B\n", "COUNT() AS N\n"),
            ("ON l.K == r.K;", "ON l.K == r.K\n    ORDER BY K;"),
        ]),
        (JOIN, salt_left, &[
            ("LEFT OUTER", "FULL OUTER"), ("LEFT OUTER", "RIGHT OUTER"),
            ("l.K, l.A, r.B", "*"), ("R AS r", "(SSTREAM @r) AS r"), ("l.K == r.K", "l.K > r.K"),
        ]),
        (JOIN, salt_right, &[("LEFT OUTER", "LEFT OUTER")]),
        (GROUPED, two_level, &[
            ("MAX(X)", "AVG(X)"), ("MAX(X)", "LIST(X)"), ("MAX(X)", "COUNT(DISTINCT X)"), ("MAX(X)", "SUM(X) + 1"),
            ("MAX(X)", "MyAgg(X)"), (" GROUP BY K", ""),
        ]),
        (COUNTED, distinct_first, &[
            ("COUNT(DISTINCT U)", "COUNT(DISTINCT K)"), ("COUNT(DISTINCT U)", "SUM(DISTINCT U)"), ("DISTINCT U", "DISTINCT U + 1"),
        ]),
        (RANKED, two_level_rank, &[("rn <= 3", "rn > 3"), ("ROW_NUMBER", "RANK"), (" HAVING rn <= 3", "")]),
        (TOP, two_level_top, &[("TOP 5 *", "TOP 5 K, Time + 1 AS Time"), ("TOP 5 *", "*"), ("\n    ORDER BY Time DESC", "")]),
        (FILTERED, push_down, &[("Util.IsGood(Ms) AND ", ""), ("OUTPUT F", "OUTPUT J TO SSTREAM @p;\nOUTPUT F")]),
        (UNUSED, drop_columns, &[("SELECT K FROM B", "SELECT K, Time, U FROM B WHERE X > 0")]),
    ];
    for (text, rewrite, changes) in cases {
        for (from, to) in *changes {
            assert!(text.contains(from), "{from}");
            let script = Script::parse("scope.script", text.replace(from, to));
            assert_eq!(rewrite(&script), None, "{to}");
        }
    }
}

#[test]
fn statements_with_branches_are_not_replaced() {
    let script = parse(&GROUPED.replace(
        "COUNT() AS N,",
        "COUNT() AS N,\n#IF (WIDE)\nMIN(X) AS L,\n#ENDIF\n",
    ));
    let checked = |rewrite: Option<Rewrite>| rewrite.and_then(|r| r.checked(&script, &|_| None));
    assert_eq!(checked(two_level(&script)), None);
    let hinted = hint::add(&script, &script.statements[1], "ROWCOUNT", "=5");
    assert!(checked(hinted).is_some());
}

#[test]
fn null_goes_with_the_hot_rows_only_if_it_is_hot() {
    for (keys, inside, outside) in [
        (
            hot(&["\"x\""], true, true),
            "K == null OR K == \"x\"",
            "K != null AND K != \"x\"",
        ),
        (
            hot(&["1", "2"], false, true),
            "K == 1 OR K == 2",
            "K == null OR (K != 1 AND K != 2)",
        ),
        (hot(&["1"], false, false), "K == 1", "K != 1"),
    ] {
        assert_eq!(
            (keys.inside("K"), keys.outside("K")),
            (inside.to_owned(), outside.to_owned())
        );
    }
}

#[test]
fn removed_columns_are_declared_and_user_code_keeps_what_it_reads() {
    let text = "A = SELECT K, X, Y FROM (SSTREAM @a);\nB = REDUCE A ON K PRODUCE K, N USING R();\nOUTPUT B TO SSTREAM @o;\n";
    let script = parse(text);
    assert_eq!(projection::drop_columns(&script, &|_| None), None);
    let reads = |class: &str| (class == "R").then(|| vec!["X".to_owned()]);
    let (rewrite, dropped) = projection::drop_columns(&script, &reads).expect("Y is not read");
    let declared = [projection::Dropped {
        rowset: "A".to_owned(),
        columns: vec!["Y".to_owned()],
    }];
    assert_eq!(dropped, declared);
    let new = rewrite.apply(&script.text).expect("the edits fit together");
    assert!(new.starts_with("A = SELECT K, X FROM"), "{new}");
    assert!(rewrite.checked(&script, &reads).is_some());
}

#[test]
fn joins_get_the_strategy_that_keeps_their_rows() {
    for (words, side, expected) in [
        ("JOIN", Side::Right, Some("INNER BROADCASTRIGHT JOIN")),
        ("INNER JOIN", Side::Left, Some("INNER BROADCASTLEFT JOIN")),
        (
            "LEFT  OUTER\n JOIN",
            Side::Right,
            Some("LEFT  OUTER BROADCASTRIGHT JOIN"),
        ),
        (
            "LEFT SEMIJOIN",
            Side::Right,
            Some("LEFT BROADCASTRIGHT SEMIJOIN"),
        ),
        ("LEFT OUTER JOIN", Side::Left, None),
        ("FULL OUTER JOIN", Side::Right, None),
        ("INNER HASH JOIN", Side::Right, None),
    ] {
        let script = parse(&format!("x = SELECT A.K FROM A {words} B ON A.K == B.K;"));
        let rewrite = hint::broadcast(&script, &script.statements[0], 0, side);
        let found = rewrite.map(|rewrite| rewrite.edits[0].text.clone());
        assert_eq!(found.as_deref(), expected, "{words}");
    }
}

#[test]
fn hints_are_written_in_the_way_of_the_language() {
    let usql = "DECLARE @p string = \"/a\";\n@x =\n    SELECT a\n    FROM @t;\n";
    let hinted = usql.replace("@t;", "@t OPTION(SKEWFACTOR(a)=0.5);");
    for (text, name, rest, expected) in [
        (
            "#DECLARE p string = \"/a\";\n  x = SSTREAM @p;\n",
            "ROWCOUNT",
            "=5",
            Some("#DECLARE p string = \"/a\";\n  [ROWCOUNT=5]\n  x = SSTREAM @p;\n"),
        ),
        (
            usql,
            "ROWCOUNT",
            "=5",
            Some("FROM @t\n    OPTION(ROWCOUNT=5);\n"),
        ),
        (
            &hinted,
            "ROWCOUNT",
            "=5",
            Some("OPTION(SKEWFACTOR(a)=0.5, ROWCOUNT=5);\n"),
        ),
        (&hinted, "SKEWFACTOR", "(a)=0.8", None),
        (usql, "PARTITION", "=(PARTITIONCOUNT=5)", None),
    ] {
        let script = parse(text);
        let rewrite = hint::add(&script, &script.statements[1], name, rest);
        let new = rewrite.map(|rewrite| applied(&script, Some(rewrite)));
        match (&new, expected) {
            (Some(new), Some(expected)) => assert!(new.ends_with(expected), "{new}"),
            _ => assert_eq!(new.as_deref(), expected, "{name}"),
        }
    }
}

#[test]
fn hints_are_changed_and_taken_away() {
    for (text, key, expected) in [
        (
            "[PARTITION(a)=(PARTITIONFUNCTION=HASH, PARTITIONCOUNT = 636)]",
            "PARTITIONCOUNT",
            Some("[PARTITION(a)=(PARTITIONFUNCTION=HASH, PARTITIONCOUNT = 9)]"),
        ),
        ("[ROWCOUNT]", "ROWCOUNT", None),
    ] {
        assert_eq!(hint::with_number(text, key, 9).as_deref(), expected);
    }
    for (text, expected) in [
        ("[ROWCOUNT=5]\nx = SSTREAM @p;\n", "x = SSTREAM @p;\n"),
        (
            "@x = SELECT a FROM @t\n    OPTION(ROWCOUNT=5);\n",
            "@x = SELECT a FROM @t;\n",
        ),
    ] {
        let script = parse(text);
        let statement = &script.statements[0];
        let removed = hint::remove(&script, statement, &statement.hints[0]);
        assert_eq!(applied(&script, removed), expected);
    }
}

#[test]
fn a_sorted_stream_is_clustered_by_its_sort_keys() {
    let text = "OUTPUT x\nTO SSTREAM @o\n    SORTED BY a, b DESC;\n";
    let new = "OUTPUT x\nTO SSTREAM @o\n    CLUSTERED BY a, b\n    SORTED BY a, b DESC;\n";
    for (text, expected) in [
        (text.to_owned(), Some(new)),
        (text.replace("SSTREAM ", ""), None),
        (text.replace("SORTED", "CLUSTERED BY c SORTED"), None),
    ] {
        let script = parse(&text);
        let rewrite = layout::cluster_sorted_output(&script, &script.statements[0]);
        let found = rewrite.map(|rewrite| applied(&script, Some(rewrite)));
        assert_eq!(found.as_deref(), expected, "{text}");
    }
}
