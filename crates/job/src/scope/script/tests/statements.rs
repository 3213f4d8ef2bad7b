//! One construct a test.

use super::{kinds, one, parse};
use crate::script::{
    Dialect, Expression, HintForm, JoinKind, PartitioningKind, Query, RowsetSource, StatementKind,
    TokenKind, hints,
};

/// Joins the items with blanks.
fn joined<'a>(items: impl IntoIterator<Item = &'a str>) -> String {
    items.into_iter().collect::<Vec<_>>().join(" ")
}

fn columns(query: &Query) -> String {
    joined(query.columns.iter().filter_map(|c| c.name.as_deref()))
}

fn uses(expression: &Expression) -> String {
    joined(expression.uses.iter().map(|column| column.name.as_str()))
}

#[test]
fn select_gives_columns_filter_groups_and_aggregates() {
    let (script, statement) = one(
        "Stats = SELECT Market, COUNT() AS Hits, SUM(c.Ms) AS Total, MAX(Ms) ?? 0 AS M\n\
         FROM Clicks AS c WHERE Market != \"xx\" AND (c.Ms > 0 || Ms < -1)\n\
         GROUP BY Market HAVING COUNT() > 5;",
    );
    let query = &statement.query;
    assert_eq!(statement.kind, StatementKind::Select);
    assert_eq!(statement.target.as_deref(), Some("Stats"));
    assert_eq!(statement.lines, (1, 3));
    assert_eq!(columns(query), "Market Hits Total M");
    let total = &query.columns[2].expression.uses[0];
    assert_eq!(total.qualifier.as_deref(), Some("c"));
    let filter = query
        .filter
        .iter()
        .map(|c| script.slice(&c.expression.span));
    let filter: Vec<_> = filter.collect();
    assert_eq!(filter, ["Market != \"xx\"", "(c.Ms > 0 || Ms < -1)"]);
    assert_eq!(uses(&query.group_by[0]), "Market");
    let aggregates = query.aggregates.iter();
    let aggregates: Vec<_> = aggregates.map(|a| (&*a.function, a.column)).collect();
    let expected = [
        ("COUNT", Some(1)),
        ("SUM", Some(2)),
        ("MAX", Some(3)),
        ("COUNT", None),
    ];
    assert_eq!(aggregates, expected);
    assert_eq!(query.having.len(), 1);
}

#[test]
fn join_keys_are_known_left_from_right_however_they_are_written() {
    let (_, statement) = one("J = SELECT a.X, b.Y FROM A AS a LEFT OUTER JOIN B AS b\n\
         ON b.K == a.K AND a.L == b.L AND a.T > b.T;");
    let join = &statement.query.joins[0];
    assert_eq!(join.kind, JoinKind::LeftOuter);
    assert_eq!((join.left, join.right), (0, 1));
    for ((left, right), name) in join.keys.iter().zip(["K", "L"]) {
        assert_eq!((left.qualifier.as_deref(), &*left.name), (Some("a"), name));
        assert_eq!(
            (right.qualifier.as_deref(), &*right.name),
            (Some("b"), name)
        );
    }
    assert_eq!(join.keys.len(), 2);
    assert_eq!(join.condition.len(), 3);
}

#[test]
fn every_join_word_is_known() {
    for (words, kind, strategy) in [
        ("JOIN", JoinKind::Inner, ""),
        ("INNER JOIN", JoinKind::Inner, ""),
        (
            "INNER BROADCASTRIGHT JOIN",
            JoinKind::Inner,
            "BROADCASTRIGHT",
        ),
        (
            "LEFT OUTER PAIR HASH JOIN",
            JoinKind::LeftOuter,
            "PAIR HASH",
        ),
        ("FULL OUTER JOIN", JoinKind::FullOuter, ""),
        ("RIGHT OUTER JOIN", JoinKind::RightOuter, ""),
        ("CROSS JOIN", JoinKind::Cross, ""),
        ("LEFT SEMIJOIN", JoinKind::LeftSemi, ""),
        ("LEFT ANTISEMIJOIN", JoinKind::LeftAntiSemi, ""),
        ("RIGHT ANTISEMI JOIN", JoinKind::RightAntiSemi, ""),
    ] {
        let on = match kind {
            JoinKind::Cross => "",
            _ => "ON A.K == B.K",
        };
        let (script, statement) = one(&format!("x = SELECT A.K FROM A {words} B {on};"));
        let join = &statement.query.joins[0];
        assert_eq!((join.kind, script.slice(&join.keyword_span)), (kind, words));
        assert_eq!(join.strategy.join(" "), strategy);
    }
}

#[test]
fn reduce_clauses_come_in_any_order() {
    for clauses in [
        "ON K, L PRESORT T DESC PRODUCE K, N int USING R.Best(@a, \"x\")",
        "USING R.Best(@a, \"x\") PRODUCE K, N:int PRESORT T DESC ON K, L",
        "PRODUCE K, N int USING R.Best(@a, \"x\") ON K, L PRESORT T DESC",
    ] {
        let (_, statement) = one(&format!("x = REDUCE Src {clauses};"));
        let query = &statement.query;
        assert_eq!(joined(query.on.iter().map(|key| &*key.name)), "K L");
        assert!(query.presort[0].descending);
        assert_eq!(query.using_class.as_deref(), Some("R.Best"));
        assert_eq!(query.columns[1].type_name.as_deref(), Some("int"));
    }
}

#[test]
fn combine_reads_two_rowsets() {
    let (_, statement) = one(
        "x = COMBINE A AS L PRESORT T WITH (SSTREAM @p) AS R PRESORT T DESC\n\
         ON L.K == R.K PRODUCE K USING new My.Combiner(1);",
    );
    let query = &statement.query;
    assert_eq!(query.inputs.len(), 2);
    assert!(matches!(query.inputs[1].source, RowsetSource::Query(_)));
    assert_eq!(query.inputs[0].presort.len(), 1);
    assert_eq!(query.inputs[1].presort.len(), 1);
    assert_eq!(query.joins[0].keys.len(), 1);
    assert_eq!(query.using_class.as_deref(), Some("My.Combiner"));
}

#[test]
fn a_name_bound_again_leads_to_the_last_binding() {
    let script =
        parse("a = SSTREAM @p;\na = SELECT X FROM a;\nb = SELECT X FROM a;\nOUTPUT TO @o;");
    // the last one names no source and reads the previous rowset
    for (at, definition) in [(1, 0), (2, 1), (3, 2)] {
        let input = &script.statements[at].query.inputs[0];
        assert_eq!(input.definition, Some(definition));
    }
}

#[test]
fn statements_without_a_name_read_the_rowset_before() {
    let script = parse(
        "EXTRACT a:int, b FROM @in USING DefaultTextExtractor(skipFirstNRows:1) HAVING a > 1;\n\
         SELECT a, COUNT(*) AS n;\nPROCESS USING P(@x);\nOUTPUT TO SSTREAM \"/out.ss\";",
    );
    use StatementKind::{Extract, Output, Process, Select};
    assert_eq!(kinds(&script), [Extract, Select, Process, Output]);
    for statement in &script.statements[1..] {
        let input = &statement.query.inputs[0];
        assert_eq!(input.definition, Some(statement.index - 1));
        assert_eq!(input.source, RowsetSource::Previous);
    }
    let first = &script.statements[0].query.columns[0];
    assert_eq!(first.type_name.as_deref(), Some("int"));
}

#[test]
fn directives_inside_a_statement_leave_one_branch() {
    let (script, statement) = one(
        "x = SELECT a,\n#IF (WIDE)\n b, c,\n#ELSE\n d,\n#ENDIF\n e FROM t\n\
         #IF (LOCAL)\nWHERE a == 1;\n#ELSE\nWHERE a == 2 AND b == 3;\n#ENDIF",
    );
    assert_eq!(columns(&statement.query), "a b c e");
    let text = script.slice(&statement.span);
    assert_eq!(statement.query.filter.len(), 2, "{text}");
}

#[test]
fn directives_around_statements_keep_them_all() {
    let script = parse(
        "#IF (LOCAL)\n#DECLARE p string = @\"D:\\a.ss\";\n#ELSE\n#DECLARE p string = \"/a\";\n\
         #ENDIF\n#IF (!EXISTS(@p))\n#ERROR \"no input\"\n#ENDIF\na = SSTREAM @p;",
    );
    use StatementKind::{Declare, SStream};
    assert_eq!(kinds(&script), [Declare, Declare, SStream]);
}

#[test]
fn hints_are_read_with_their_columns_and_values() {
    let (_, statement) = one(
        "[SKEWJOIN=(SKEW=FROMLEFT, REPARTITION=FULLJOIN)]\n[LOWDISTINCTNESS(a, b)]\n\
         [PARTITION(a)=(PARTITIONFUNCTION=HASH, PARTITIONCOUNT=500)]\n\
         j = SELECT A.a FROM A INNER JOIN B ON A.a == B.a;",
    );
    let found = joined(statement.hints.iter().map(|hint| &*hint.name));
    assert_eq!(found, "SKEWJOIN LOWDISTINCTNESS PARTITION");
    assert_eq!(statement.hints[1].columns, ["a", "b"]);
    let value = "(SKEW=FROMLEFT, REPARTITION=FULLJOIN)";
    assert_eq!(statement.hints[0].value.as_deref(), Some(value));
    assert_eq!(statement.hints.iter().find_map(hints::problem), None);

    let (_, statement) = one("@x = SELECT a FROM @t OPTION(SKEWFACTOR(Query)=0.5, ROWCOUNT=500);");
    let forms: Vec<_> = statement.hints.iter().map(|hint| hint.form).collect();
    assert_eq!(forms, [HintForm::Option; 2]);
    assert_eq!(statement.hints[0].columns, ["Query"]);
}

#[test]
fn hints_that_do_not_exist_are_named() {
    for wrong in [
        "[SKEWJION=(SKEW=FROMLEFT)] x = SELECT a FROM t;",
        "[SKEWJOIN=(SKEWED=FROMLEFT)] x = SELECT a FROM t;",
        "[SKEWJOIN=(SKEW=FROMABOVE)] x = SELECT a FROM t;",
        "[PARTITION=(PARTITIONFUNCTION=MAGIC)] x = SELECT a FROM t;",
        "[MAXDOP=3] x = SELECT a FROM t;",
        // U-SQL has no PARTITION hint
        "@x = SELECT a FROM @t OPTION(PARTITION=(PARTITIONCOUNT=5));",
    ] {
        let (_, statement) = one(wrong);
        assert!(hints::problem(&statement.hints[0]).is_some(), "{wrong}");
    }
}

#[test]
fn privacy_annotations_and_pins_are_hints() {
    let script = parse("[PIN]REFERENCE \"a.dll\";\n[Privacy.Asset.NonPersonal]\nx = SSTREAM @p;");
    use StatementKind::{Reference, SStream};
    assert_eq!(kinds(&script), [Reference, SStream]);
    let hint = &script.statements[1].hints[0];
    assert_eq!(hint.name, "PRIVACY.ASSET.NONPERSONAL");
    assert_eq!(hints::problem(hint), None);
}

#[test]
fn output_layout_is_read_in_any_order() {
    let (script, statement) = one(
        "OUTPUT x TO SSTREAM @o HASH CLUSTERED BY a, b INTO 250 SORTED BY a DESC\n\
         PARTITIONED BY d WITH STREAMEXPIRY \"30\" USING Out.Putter(1);",
    );
    let output = statement.output.as_ref().expect("it is an output");
    assert!(output.sstream);
    assert_eq!((output.clustered_by.len(), output.sorted_by.len()), (2, 1));
    assert_eq!(output.partitions, Some(250));
    let layout = script.slice(output.layout_span.as_ref().expect("it has a layout"));
    assert!(layout.starts_with("HASH CLUSTERED") && layout.ends_with("PARTITIONED BY d"));
    let (_, statement) = one("OUTPUT (SELECT TOP 5 * FROM t) USING A.B(\"x\") TO @o;");
    let source = &statement.query.inputs[0].source;
    assert!(matches!(source, RowsetSource::Query(_)));
}

#[test]
fn streamsets_views_modules_and_imports_are_read() {
    let script = parse(
        "MODULE \"m.module\" AS M;\nIMPORT \"x.script\" AS X PARAMS d = @d;\n\
         s = SSTREAM SPARSE STREAMSET @base PATTERN @pat RANGE __date=[@a, @b], __hour=[\"0\",\"23\"];\n\
         v = VIEW @path PARAMS (A = @a, B = \"x\");\n\
         t = M.Clicks(INPUT = s, END = @d.AddHours(-2));\n\
         u = SELECT * FROM (VIEW @path PARAMS (A = 1)) AS w;",
    );
    use StatementKind::{Module, Rowset, SStream, Select, View};
    assert_eq!(
        kinds(&script),
        [Module, Module, SStream, View, Rowset, Select]
    );
    assert_eq!(script.statements[3].query.params.len(), 2);
    let source = &script.statements[4].query.inputs[0].source;
    assert!(matches!(source, RowsetSource::Call(_)));
}

#[test]
fn set_operations_keep_their_branches() {
    let (_, statement) = one(
        "x = SELECT a FROM A UNION ALL SELECT a FROM B WHERE a > 1 EXCEPT DISTINCT (SELECT a FROM C);",
    );
    assert_eq!(statement.kind, StatementKind::Union);
    assert_eq!(statement.query.branches.len(), 3);
    let operators = ["UNION ALL", "EXCEPT DISTINCT"];
    assert_eq!(statement.query.set_operators, operators);
}

#[test]
fn usql_statements_are_read() {
    let script = parse(
        "USE DATABASE [My Db];\nREFERENCE ASSEMBLY [Json];\nUSING Q = A.B;\n\
         DECLARE EXTERNAL @d DateTime = DateTime.Now.AddDays(-1);\n\
         DECLARE @f Func<string, SqlArray<string>> = (s) => { var x = s; return null; };\n\
         SET @@FeaturePreviews = \"InputFileGrouping:on\";\n\
         @r = EXTRACT a int, m SQL.MAP<string, int?>, b byte[] FROM @\"/in/{*}.csv\", \"/b\" USING Extractors.Csv(skipFirstNRows:1);\n\
         @s = SELECT a, m[\"k\"] AS k, [Order Id] AS o FROM @r CROSS APPLY EXPLODE(m) AS t(key, value);\n\
         @v = SELECT * FROM (VALUES (1, \"x\"), (2, \"y\")) AS t(i, s);\n\
         CREATE TABLE IF NOT EXISTS dbo.T (a int, INDEX i CLUSTERED (a) DISTRIBUTED BY HASH (a));\n\
         INSERT INTO dbo.T (a) SELECT a FROM @s;\n\
         IF @d > 1 THEN\n OUTPUT @s TO \"/o\" ORDER BY k FETCH 10 ROWS USING Outputters.Tsv();\nELSE\n DROP TABLE dbo.T;\nEND;",
    );
    assert_eq!(script.dialect, Dialect::USql);
    use StatementKind::*;
    assert_eq!(
        kinds(&script),
        [
            Use, Reference, Using, Declare, Declare, Set, Extract, Select, Select, Create, Insert,
            If, Output, If, Ddl, End
        ]
    );
    let select = &script.statements[7].query;
    assert_eq!(select.columns.len(), 3);
    assert_eq!(uses(&select.columns[2].expression), "Order Id");
    assert!(matches!(select.inputs[1].source, RowsetSource::Apply(_)));
    assert_eq!(script.statements[12].parent, Some(11));
}

#[test]
fn blocks_hold_their_statements() {
    let script = parse(
        "CREATE VIEW v AS BEGIN\n a = SSTREAM @p;\n SELECT x FROM a;\nEND;\n\
         LOOP (i, 3) {\n b = SELECT x + @@i@@ AS x FROM a;\n}\nc = SELECT x FROM b;",
    );
    use StatementKind::{Create, End, Loop, SStream, Select};
    assert_eq!(
        kinds(&script),
        [Create, SStream, Select, End, Loop, Select, End, Select]
    );
    let parents: Vec<_> = script.statements.iter().map(|s| s.parent).collect();
    let expected = [None, Some(0), Some(0), None, None, Some(4), None, None];
    assert_eq!(parents, expected);
}

#[test]
fn classes_are_distinguished_from_columns() {
    let script = parse(
        "x = SELECT UrlHelper.Domain(Url) AS d, Time.Date AS day, Math.Max(A, B) AS m,\n\
         string.IsNullOrEmpty(C) ? (long) D : new Node(E).Value AS e, Name.ToUpper() AS n\n\
         FROM t;\ny = SELECT Name FROM t;\n#CS\npublic static class UrlHelper { }\n#ENDCS\n",
    );
    let columns = &script.statements[0].query.columns;
    let found: Vec<_> = columns.iter().map(|c| uses(&c.expression)).collect();
    assert_eq!(found, ["Url", "Time", "A B", "C D E", "Name"]);
    assert_eq!(script.statements[2].kind, StatementKind::CsBlock);
    assert_eq!(columns[0].expression.calls, ["UrlHelper.Domain"]);
}

#[test]
fn comments_strings_and_verbatim_strings_hide_what_is_in_them() {
    let (_, statement) = one(
        "x = SELECT /* , b; */ a // ; c\n, \"; FROM y\" AS s, @\"C:\\\" AS p, ';' AS q FROM t;",
    );
    assert_eq!(statement.query.columns.len(), 4);
    assert_eq!(statement.query.inputs[0].name, "t");
}

#[test]
fn macros_can_be_parts_of_names() {
    let (_, statement) = one("x@@N@@ = SELECT a FROM @@Table@@_v2 WHERE a > @@Min@@;");
    assert_eq!(statement.query.inputs[0].name, "@@Table@@_v2");
    assert_eq!(statement.query.filter[0].expression.parameters, ["@@Min@@"]);
}

#[test]
fn lines_count_from_one_whatever_ends_them() {
    let script =
        parse("\u{feff}// 注释\r\na = SSTREAM @p;\r\n\r\nb =\r\n  SELECT x\r\n  FROM a;\r\n");
    assert_eq!(script.statements[0].lines, (2, 2));
    assert_eq!(script.statements[1].lines, (4, 6));
    assert_eq!(script.statement_at_line(5).map(|s| s.index), Some(1));
    assert!(script.statement_at_line(3).is_none());
    assert_eq!(script.tree().tokens()[0].kind, TokenKind::Space);
    let rowset = script.flow().of_statement(1).expect("it is in the flow");
    assert_eq!(rowset.leaves.kind, PartitioningKind::Unknown);
}

/// Sixty joins of a rowset with itself would have more columns than any machine can hold.
#[test]
fn the_columns_of_doubling_joins_are_known_up_to_a_bound() {
    let mut text = "r0 = SELECT a, b, c FROM t;\n".to_owned();
    for n in 0..14 {
        let next = n + 1;
        text += &format!(
            "r{next} = SELECT l.*, r.* FROM r{n} AS l INNER JOIN r{n} AS r ON l.a == r.a;\n"
        );
    }
    let script = parse(&text);
    let flow = script.flow();
    let columns = |statement: usize| {
        let rowset = flow.of_statement(statement).expect("it is in the flow");
        rowset.columns.as_ref().map(Vec::len)
    };
    assert_eq!(columns(3), Some(24));
    assert_eq!(columns(14), None);
}
