//! Needed columns, keys, and the partitioning that they imply.

use super::parse;
use crate::script::{PartitioningKind, Script, flow::user_code};

fn dropped(script: &Script, statement: usize) -> Vec<String> {
    let rowset = script
        .flow()
        .of_statement(statement)
        .expect("it is in the flow");
    rowset.dropped.clone()
}

#[test]
fn columns_that_no_output_needs_are_dropped() {
    let script = parse(
        "a = SELECT K, X, Y, Z FROM (SSTREAM @p);\n\
         j = SELECT a.K, a.X, b.V, a.Z FROM a INNER JOIN (SSTREAM @q) AS b ON a.K == b.K WHERE a.Y > 1;\n\
         g = SELECT K, SUM(V) AS S FROM j GROUP BY K;\nOUTPUT g TO @o;",
    );
    assert_eq!(dropped(&script, 0), ["X", "Z"]);
    assert_eq!(dropped(&script, 1), ["X", "Z"]);
    assert!(dropped(&script, 2).is_empty());
}

#[test]
fn stars_unions_and_renames_pass_needs_on() {
    let script = parse(
        "a = SELECT K, X AS Y, Z FROM t;\nb = SELECT * FROM a;\n\
         c = SELECT K, Y, Z FROM b UNION ALL SELECT K, Z, Y FROM b;\n\
         d = SELECT Y FROM c;\nOUTPUT d TO @o;",
    );
    assert_eq!(dropped(&script, 2), ["K", "Z"]);
    assert_eq!(
        dropped(&script, 0),
        ["K"],
        "Y from one branch, Z from the other"
    );
}

#[test]
fn user_code_needs_everything_unless_it_names_its_columns() {
    let script = parse(
        "a = SELECT K, X, Y FROM t;\nb = REDUCE a ON K PRODUCE K, N USING R();\nOUTPUT b TO @o;",
    );
    assert!(dropped(&script, 0).is_empty());
    let script = parse(
        "a = SELECT K, X, Y FROM t;\nb = REDUCE a ON K PRODUCE K, N USING R();\nOUTPUT b TO @o;\n\
         #CS\nclass R : Reducer { void Reduce() { var x = row[\"X\"].String; } }\n#ENDCS\n",
    );
    assert_eq!(dropped(&script, 0), ["Y"]);
}

#[test]
fn code_that_goes_by_position_may_read_any_column() {
    let read = |body: &str| user_code::columns_read(&format!("class R {{ {body} }}"), "My.R");
    assert_eq!(
        read("row[\"A\"].Set(row[@\"B\"]); // }\n"),
        Some(vec!["A".into(), "B".into()])
    );
    assert_eq!(read("row[0].Long;"), None);
    assert_eq!(read("foreach (var c in input.Schema.Columns) {}"), None);
    assert_eq!(user_code::columns_read("class S {}", "R"), None);
}

#[test]
fn keys_show_what_is_partitioned_how() {
    let script = parse(
        "a = SELECT K, L, V FROM t;\n\
         g = SELECT K AS Key, SUM(V) AS S FROM a GROUP BY K;\n\
         j = SELECT g.Key, a.L FROM g LEFT OUTER JOIN a ON g.Key == a.K;\n\
         b = SELECT g.S FROM g INNER BROADCASTRIGHT JOIN a ON g.Key == a.K;\n\
         s = SELECT Key FROM j ORDER BY Key;\n\
         w = SELECT *, ROW_NUMBER() OVER (PARTITION BY L, K ORDER BY V DESC) AS rn FROM a;",
    );
    let flow = script.flow();
    let of = |statement| flow.of_statement(statement).expect("it is in the flow");
    let left = |statement| &of(statement).leaves;
    assert_eq!(left(1).keys, ["Key"]);
    assert_eq!(left(2).keys, ["Key"]);
    assert_eq!(
        left(3).kind,
        PartitioningKind::Unknown,
        "its key is not a column"
    );
    assert_eq!(left(4).kind, PartitioningKind::Single);
    assert_eq!(left(5).keys, ["L", "K"]);
    assert_eq!(of(1).readers.len(), 2);
}
