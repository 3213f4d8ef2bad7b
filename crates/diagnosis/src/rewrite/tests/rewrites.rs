//! One rewrite a group of tests.

use job::script::Script;

use super::{applied, parse};
use crate::rewrite::hint::{self, Side};
use crate::rewrite::split::HotKeys;
use crate::rewrite::{aggregate, filter, layout, projection, split, window};

fn hot(literals: &[&str], null: bool, nullable: bool) -> HotKeys {
    let literals = literals
        .iter()
        .map(|literal| (*literal).to_owned())
        .collect();
    HotKeys {
        literals,
        null,
        nullable,
    }
}

const JOIN: &str = "L = SELECT K, A FROM (SSTREAM @l);\nR = SELECT K, B FROM (SSTREAM @r);\n\
    J =\n    SELECT l.K, l.A, r.B\n    FROM L AS l\n         LEFT OUTER JOIN R AS r\n         ON l.K == r.K;\n\
    OUTPUT J TO SSTREAM @o;\n";

#[test]
fn hot_rows_are_joined_by_broadcast_and_the_others_as_before() {
    let script = parse(JOIN);
    let rewrite =
        split::hot_key_split(&script, &script.statements[2], 0, &hot(&["7"], false, true));
    let text = applied(&script, rewrite);
    for part in [
        "WHERE K == 7;",
        "WHERE K == null OR (K != 7);",
        "FROM JHotRows AS l\n         LEFT OUTER BROADCASTRIGHT JOIN JHotMatch AS r",
        "FROM JOtherRows AS l\n         LEFT OUTER JOIN R AS r",
        "FROM JHot\n    UNION ALL\n    SELECT *\n    FROM JOther;",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn null_goes_with_the_hot_rows_only_if_it_is_hot() {
    assert_eq!(
        hot(&["\"x\""], true, true).inside("K"),
        "K == null OR K == \"x\""
    );
    assert_eq!(
        hot(&["\"x\""], true, true).outside("K"),
        "K != null AND K != \"x\""
    );
    assert_eq!(
        hot(&["1", "2"], false, true).outside("K"),
        "K == null OR (K != 1 AND K != 2)"
    );
    assert_eq!(hot(&["1"], false, false).outside("K"), "K != 1");
}

#[test]
fn joins_that_look_at_several_rows_are_not_split() {
    for (from, to) in [
        ("LEFT OUTER", "FULL OUTER"),
        ("LEFT OUTER", "RIGHT OUTER"),
        ("SELECT l.K, l.A, r.B\n", "SELECT DISTINCT l.K, l.A, r.B\n"),
        ("SELECT l.K, l.A, r.B\n", "SELECT TOP 5 l.K, l.A, r.B\n"),
        ("ON l.K == r.K;", "ON l.K == r.K\n    ORDER BY K;"),
        ("LEFT OUTER JOIN", "LEFT OUTER PAIR JOIN"),
    ] {
        let script = parse(&JOIN.replace(from, to));
        let join = &script.statements[2];
        assert_eq!(
            split::hot_key_split(&script, join, 0, &hot(&["7"], false, false)),
            None,
            "{to}"
        );
    }
    let grouped = parse(
        "J = SELECT l.K, COUNT() AS N FROM L AS l INNER JOIN R AS r ON l.K == r.K GROUP BY l.K;",
    );
    let join = &grouped.statements[0];
    assert_eq!(
        split::hot_key_split(&grouped, join, 0, &hot(&["7"], false, false)),
        None
    );
}

#[test]
fn hints_stay_with_the_name_they_belong_to() {
    let script = parse(&JOIN.replace("J =\n", "[Privacy.Asset.NonPersonal]\nJ =\n"));
    let join = &script.statements[2];
    let text = applied(
        &script,
        split::hot_key_split(&script, join, 0, &hot(&["7"], false, false)),
    );
    assert!(
        text.contains("[Privacy.Asset.NonPersonal]\nJ =\n    SELECT *"),
        "{text}"
    );
}

const GROUPED: &str = "T = SELECT K, U, X FROM (SSTREAM @t);\n\
    G = SELECT K, COUNT() AS N, SUM(X) AS S, MAX(X) AS M FROM T WHERE X > 0 GROUP BY K HAVING N > 2;\n\
    OUTPUT G TO SSTREAM @o;\n";

#[test]
fn aggregates_are_taken_in_two_levels() {
    let script = parse(GROUPED);
    let text = applied(
        &script,
        aggregate::two_level(&script, &script.statements[1], "U % 32"),
    );
    for part in [
        "U % 32 AS SaltKey\n    FROM T\n    WHERE X > 0;",
        "GROUP BY K, SaltKey;",
        "SELECT K,\n           SUM(N) AS N,\n           SUM(S) AS S,\n           MAX(M) AS M\n    FROM GPartial\n    GROUP BY K\n    HAVING N > 2;",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn comments_of_a_rewritten_statement_survive() {
    let script = parse(&GROUPED.replace("COUNT() AS N,", "COUNT() AS N, // all of them\n"));
    let text = applied(
        &script,
        aggregate::two_level(&script, &script.statements[1], "U % 32"),
    );
    assert!(text.contains("// all of them\nGSalted ="), "{text}");
}

#[test]
fn statements_with_branches_are_not_replaced() {
    let branched = GROUPED.replace(
        "COUNT() AS N,",
        "COUNT() AS N,\n#IF (WIDE)\nMIN(X) AS L,\n#ENDIF\n",
    );
    let script = parse(&branched);
    let rewrite = aggregate::two_level(&script, &script.statements[1], "U % 32");
    assert_eq!(
        rewrite.and_then(|rewrite| rewrite.checked(&script, &|_| None)),
        None
    );
    let hinted = hint::add(&script, &script.statements[1], "ROWCOUNT", "=5");
    assert!(
        hinted
            .and_then(|rewrite| rewrite.checked(&script, &|_| None))
            .is_some()
    );
}

#[test]
fn aggregates_that_cannot_be_put_together_are_left_alone() {
    for other in [
        "AVG(X)",
        "LIST(X)",
        "COUNT(DISTINCT X)",
        "SUM(X) + 1",
        "MyAgg(X)",
    ] {
        let script = parse(&GROUPED.replace("MAX(X)", other));
        let grouped = &script.statements[1];
        assert_eq!(
            aggregate::two_level(&script, grouped, "U % 32"),
            None,
            "{other}"
        );
    }
}

#[test]
fn distinct_values_are_counted_in_two_steps() {
    let script = parse(&GROUPED.replace("COUNT()", "COUNT(DISTINCT U)"));
    let text = applied(
        &script,
        aggregate::distinct_first(&script, &script.statements[1]),
    );
    assert!(text.contains("GROUP BY K, U;"), "{text}");
    assert!(
        text.contains("COUNT(U) AS N,\n           SUM(S) AS S"),
        "{text}"
    );
    let all = parse("D = SELECT COUNT(DISTINCT U) AS N FROM T;\nOUTPUT D TO @o;");
    let text = applied(&all, aggregate::distinct_first(&all, &all.statements[0]));
    assert!(
        text.contains(
            "FROM T\n    GROUP BY U;\n\nD =\n    SELECT COUNT(U) AS N\n    FROM DValues;"
        ),
        "{text}"
    );
    for other in [
        "COUNT(DISTINCT K)",
        "SUM(DISTINCT U)",
        "COUNT(DISTINCT U + 1)",
    ] {
        let script = parse(&GROUPED.replace("COUNT()", other));
        assert_eq!(
            aggregate::distinct_first(&script, &script.statements[1]),
            None,
            "{other}"
        );
    }
}

#[test]
fn ranks_are_taken_in_two_levels_where_only_the_first_ones_are_kept() {
    let here = "T = SELECT K, U, X FROM (SSTREAM @t);\n\
        W = SELECT *, ROW_NUMBER() OVER (PARTITION BY K ORDER BY X) AS rn FROM T HAVING rn <= 3;\n\
        OUTPUT W TO SSTREAM @o;\n";
    let script = parse(here);
    let text = applied(
        &script,
        window::two_level_rank(&script, &script.statements[1], "U % 32"),
    );
    for part in [
        "ROW_NUMBER() OVER (PARTITION BY K, SaltKey ORDER BY X) AS LocalRank",
        "WHERE LocalRank <= 3;",
        "SELECT K,\n           U,\n           X,\n           ROW_NUMBER() OVER (PARTITION BY K ORDER BY X) AS rn",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let later = "T = SELECT K, U, X FROM (SSTREAM @t);\n\
        W = SELECT K, X, ROW_NUMBER() OVER (PARTITION BY K ORDER BY X) AS rn FROM T;\n\
        V = SELECT K, X FROM W WHERE rn == 1;\nOUTPUT V TO SSTREAM @o;\n";
    let script = parse(later);
    let text = applied(
        &script,
        window::two_level_rank(&script, &script.statements[1], "U % 32"),
    );
    assert!(text.contains("WHERE LocalRank <= 1;"), "{text}");
    for (from, to) in [
        ("rn <= 3", "rn > 3"),
        ("ROW_NUMBER", "RANK"),
        (" HAVING rn <= 3", ""),
    ] {
        let script = parse(&here.replace(from, to));
        let ranked = &script.statements[1];
        assert_eq!(
            window::two_level_rank(&script, ranked, "U % 32"),
            None,
            "{to}"
        );
    }
}

#[test]
fn columns_that_nobody_needs_leave_the_lists() {
    let script = parse(
        "A = SELECT K, X, Y, Z FROM (SSTREAM @a);\n\
         B = SELECT Z, K, Y FROM A WHERE X > 1;\nC = SELECT K FROM B;\nOUTPUT C TO SSTREAM @o;\n",
    );
    let text = applied(&script, projection::drop_columns(&script, &|_| None));
    assert!(text.starts_with("A = SELECT K, X FROM"), "{text}");
    assert!(text.contains("B = SELECT K FROM A WHERE X > 1;"), "{text}");
    let all = parse("A = SELECT X FROM (SSTREAM @a);\nOUTPUT A TO SSTREAM @o;\n");
    assert_eq!(projection::drop_columns(&all, &|_| None), None);
}

#[test]
fn columns_that_the_statement_itself_names_stay() {
    let script = parse(
        "A = SELECT K, COUNT() AS N, SUM(X) AS S FROM (SSTREAM @a) GROUP BY K HAVING N > 5;\n\
         C = SELECT K FROM A;\nOUTPUT C TO SSTREAM @o;\n",
    );
    let text = applied(&script, projection::drop_columns(&script, &|_| None));
    assert!(
        text.starts_with("A = SELECT K, COUNT() AS N FROM"),
        "{text}"
    );
}

#[test]
fn user_code_keeps_the_columns_it_reads() {
    let text = "A = SELECT K, X, Y FROM (SSTREAM @a);\nB = REDUCE A ON K PRODUCE K, N USING R();\nOUTPUT B TO SSTREAM @o;\n";
    let script = parse(text);
    assert_eq!(projection::drop_columns(&script, &|_| None), None);
    let reads = |class: &str| (class == "R").then(|| vec!["X".to_owned()]);
    let rewrite = projection::drop_columns(&script, &reads).expect("Y is not read");
    let new = rewrite.apply(&script).expect("the edits fit together");
    assert!(new.starts_with("A = SELECT K, X FROM"), "{new}");
    assert!(rewrite.checked(&script, &reads).is_some());
}

const FILTERED: &str = "L = SELECT K, A, C FROM (SSTREAM @l);\nR = SELECT K, B FROM (SSTREAM @r);\n\
    J = SELECT l.K, l.A AS Ms, r.B FROM L AS l LEFT OUTER JOIN R AS r ON l.K == r.K;\n\
    F = SELECT K, B FROM J WHERE U.Keep(Ms) AND B > 1;\nOUTPUT F TO SSTREAM @o;\n";

#[test]
fn a_filter_moves_before_the_join_under_the_name_it_has_there() {
    let script = parse(FILTERED);
    let text = applied(&script, filter::push_down(&script, &script.statements[3]));
    assert!(
        text.contains("LFiltered =\n    SELECT *\n    FROM L\n    WHERE U.Keep(A);"),
        "{text}"
    );
    assert!(
        text.contains("FROM LFiltered AS l LEFT OUTER JOIN R AS r"),
        "{text}"
    );
    assert!(
        text.contains("F = SELECT K, B FROM J WHERE B > 1;"),
        "{text}"
    );
}

#[test]
fn a_filter_on_rows_that_the_join_may_add_stays() {
    let script = parse(&FILTERED.replace("U.Keep(Ms) AND ", ""));
    assert_eq!(filter::push_down(&script, &script.statements[3]), None);
    let inner = parse(
        &FILTERED
            .replace("U.Keep(Ms) AND ", "")
            .replace("LEFT OUTER", "INNER"),
    );
    let text = applied(&inner, filter::push_down(&inner, &inner.statements[3]));
    assert!(
        text.contains("FROM L AS l INNER JOIN RFiltered AS r"),
        "{text}"
    );
    assert!(text.contains("F = SELECT K, B FROM J;"), "{text}");
}

#[test]
fn a_filter_stays_where_others_read_the_join() {
    let script = parse(&format!("{FILTERED}OUTPUT J TO SSTREAM @p;\n"));
    assert_eq!(filter::push_down(&script, &script.statements[3]), None);
}

#[test]
fn joins_get_the_strategy_that_keeps_their_rows() {
    let words = |words: &str, side| {
        let script = parse(&format!("x = SELECT A.K FROM A {words} B ON A.K == B.K;"));
        hint::broadcast(&script, &script.statements[0], 0, side)
            .map(|rewrite| rewrite.edits[0].text.clone())
    };
    assert_eq!(
        words("JOIN", Side::Right).as_deref(),
        Some("INNER BROADCASTRIGHT JOIN")
    );
    assert_eq!(
        words("INNER JOIN", Side::Left).as_deref(),
        Some("INNER BROADCASTLEFT JOIN")
    );
    let left = words("LEFT  OUTER\n JOIN", Side::Right);
    assert_eq!(left.as_deref(), Some("LEFT  OUTER BROADCASTRIGHT JOIN"));
    assert_eq!(words("LEFT OUTER JOIN", Side::Left), None);
    assert_eq!(words("FULL OUTER JOIN", Side::Right), None);
    assert_eq!(words("INNER HASH JOIN", Side::Right), None);
    let semi = words("LEFT SEMIJOIN", Side::Right);
    assert_eq!(semi.as_deref(), Some("LEFT BROADCASTRIGHT SEMIJOIN"));
}

fn hinted(text: &str, statement: usize, name: &str, rest: &str) -> Option<String> {
    let script = parse(text);
    let rewrite = hint::add(&script, &script.statements[statement], name, rest)?;
    Some(applied(&script, Some(rewrite)))
}

#[test]
fn hints_are_written_in_the_way_of_the_language() {
    let scope = hinted(
        "#DECLARE p string = \"/a\";\n  x = SSTREAM @p;\n",
        1,
        "ROWCOUNT",
        "=5",
    );
    assert_eq!(
        scope.as_deref(),
        Some("#DECLARE p string = \"/a\";\n  [ROWCOUNT=5]\n  x = SSTREAM @p;\n")
    );
    let usql = "DECLARE @p string = \"/a\";\n@x =\n    SELECT a\n    FROM @t;\n";
    let new = hinted(usql, 1, "ROWCOUNT", "=5").expect("it has none yet");
    assert!(new.ends_with("FROM @t\n    OPTION(ROWCOUNT=5);\n"), "{new}");
    let more = usql.replace("@t;", "@t OPTION(SKEWFACTOR(a)=0.5);");
    let new = hinted(&more, 1, "ROWCOUNT", "=5").expect("it has another one");
    assert!(
        new.contains("OPTION(SKEWFACTOR(a)=0.5, ROWCOUNT=5);"),
        "{new}"
    );
    assert_eq!(hinted(&more, 1, "SKEWFACTOR", "(a)=0.8"), None);
}

#[test]
fn hints_are_changed_and_taken_away() {
    let change = |text: &str, key| hint::with_number(text, key, 9);
    assert_eq!(
        change(
            "[PARTITION(a)=(PARTITIONFUNCTION=HASH, PARTITIONCOUNT = 636)]",
            "PARTITIONCOUNT"
        )
        .as_deref(),
        Some("[PARTITION(a)=(PARTITIONFUNCTION=HASH, PARTITIONCOUNT = 9)]")
    );
    assert_eq!(change("[ROWCOUNT]", "ROWCOUNT"), None);
    let remove = |text: &str| {
        let script = parse(text);
        let statement = &script.statements[0];
        applied(
            &script,
            hint::remove(&script, statement, &statement.hints[0]),
        )
    };
    assert_eq!(
        remove("[ROWCOUNT=5]\nx = SSTREAM @p;\n"),
        "x = SSTREAM @p;\n"
    );
    assert_eq!(
        remove("@x = SELECT a FROM @t\n    OPTION(ROWCOUNT=5);\n"),
        "@x = SELECT a FROM @t;\n"
    );
}

#[test]
fn a_sorted_stream_is_clustered_by_its_sort_keys() {
    let cluster = |text: &str| -> Option<String> {
        let script: Script = parse(text);
        let rewrite = layout::cluster_sorted_output(&script, &script.statements[0])?;
        Some(applied(&script, Some(rewrite)))
    };
    let text = "OUTPUT x\nTO SSTREAM @o\n    SORTED BY a, b DESC;\n";
    let new = "OUTPUT x\nTO SSTREAM @o\n    CLUSTERED BY a, b\n    SORTED BY a, b DESC;\n";
    assert_eq!(cluster(text).as_deref(), Some(new));
    assert_eq!(
        cluster(&text.replace("SSTREAM ", "")),
        None,
        "text has no clusters"
    );
    assert_eq!(
        cluster(&text.replace("SORTED", "CLUSTERED BY c SORTED")),
        None
    );
}
