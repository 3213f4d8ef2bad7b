//! Joins on one equality or another as one join per equality: Spark joins by keys instead of comparing every pair of rows.

use job::code::sql::{self, Token};
use job::code::{Call, Place, Program};

use super::{Rewrite, call, function, on_rows, partitions};
use crate::indentation;

/// Words of a query whose result is not the union of its parts.
const WHOLE: &str = "DISTINCT|GROUP|HAVING|ORDER|SORT|CLUSTER|DISTRIBUTE|LIMIT|OFFSET|WINDOW|OVER|LATERAL|PIVOT|UNPIVOT|\
     LEFT|RIGHT|FULL|CROSS|SEMI|ANTI|NATURAL|USING|TABLESAMPLE|QUALIFY|SELECT|UNION|EXCEPT|INTERSECT|MINUS";

/// Words between two queries.
const BETWEEN: &str = "UNION|EXCEPT|INTERSECT|MINUS|ALL|DISTINCT";

/// Words in front of a parenthesis that are no functions of several rows.
const OF_ROWS: &str = "COALESCE|CONCAT|CONCAT_WS|LOWER|UPPER|TRIM|CAST|ROUND|ABS|SUBSTRING|SUBSTR|LENGTH|TO_DATE|DATE|YEAR|\
     MONTH|DATEDIFF|IF|NVL|LEAST|GREATEST|IN|AND|OR|NOT|ON|WHERE|AS|JOIN|FROM|WHEN|THEN|ELSE";

/// An inner join on `a.x = b.x OR a.y = b.y` as a union of joins on each equality. Each but the first leaves out the rows
/// of those before it, so every row comes as often as before.
pub fn by_each_key(program: &Program, place: &Place) -> Option<Rewrite> {
    match call(program, place) {
        Some(join) => of_frames(program, join),
        None => of_query(program, place),
    }
}

/// Both sides are computed once per part.
fn new_rewrite(program: &Program) -> Rewrite {
    Rewrite {
        reorders: partitions::is_unstable(program),
        ..Rewrite::default()
    }
}

fn of_frames(program: &Program, join: &Call) -> Option<Rewrite> {
    let syntax = &program.syntax;
    let how = program.argument(join, 2, "how");
    let is_inner = how.is_none_or(|at| program.string(at) == Some("inner"));
    let on = program.argument(join, 1, "on").filter(|_| is_inner)?;
    let other = program.text_of(program.argument(join, 0, "other")?);
    let mut equalities = Vec::new();
    let mut open = vec![program.bound(on, join.statement)];
    while let Some(node) = open.pop() {
        let parts: Vec<usize> = syntax.children(node).collect();
        let between = parts.windows(2).next().map_or("", |two| {
            program.slice(&(syntax.span(two[0]).end..syntax.span(two[1]).start))
        });
        let frames: Vec<Option<&str>> = parts.iter().map(|at| frame_of(program, *at)).collect();
        let meets = matches!(frames[..], [Some(l), Some(r)] if l != r && [l, r].contains(&other));
        match (syntax.kind(node), between.trim()) {
            ("parenthesized_expression", "") | ("binary_operator", "|") => {
                open.extend(parts.into_iter().rev());
            }
            ("comparison_operator", "==") if meets => {
                equalities.push(format!("({})", program.text_of(node)));
            }
            _ => return None,
        }
    }
    let (first, rest) = equalities.split_first()?;
    let mut rewrite = new_rewrite(program);
    let coalesce = function(program, "coalesce", &mut rewrite)?;
    let lit = function(program, "lit", &mut rewrite)?;
    on_rows(program, join, &mut rewrite, |rows| {
        let mut text = format!("{rows}.join({other}, {})", &first[1..first.len() - 1]);
        for (at, equality) in rest.iter().enumerate() {
            let known = equalities[..=at].join(" | ");
            let left = format!("~{coalesce}({known}, {lit}(False))");
            text += &format!(".union({rows}.join({other}, {equality} & {left}))");
        }
        text
    })?;
    (!rest.is_empty()).then_some(rewrite)
}

/// The name of the DataFrame in `a.k` or `a["k"]`.
fn frame_of(program: &Program, column: usize) -> Option<&str> {
    let syntax = &program.syntax;
    let field = match syntax.kind(column) {
        "attribute" => "object",
        "subscript" => "value",
        _ => return None,
    };
    let frame = syntax.child(column, field)?;
    (syntax.kind(frame) == "identifier").then(|| program.text_of(frame))
}

fn of_query(program: &Program, place: &Place) -> Option<Rewrite> {
    let text = &program.text;
    let query = program.query_of(&place.span)?;
    let joins = sql::joins(text, &query.span);
    let join = joins.iter().find(|join| join.span == place.span)?;
    let select = join.select.clone()?;
    let tokens = sql::tokens(text, &query.span);
    let first = tokens.iter().position(|t| t.span == select)?;
    let word = |t: &Token| text[t.span.clone()].to_ascii_uppercase();
    let is_of = |t: &Token, words: &str| words.split('|').any(|own| own == word(t));
    let depth = tokens[first].depth;
    let length = tokens[first + 1..]
        .iter()
        .take_while(|t| t.depth >= depth && word(t) != ";");
    let block = &tokens[first..=first + length.count()];
    let before = first.checked_sub(1).map(|at| &tokens[at]);
    let is_alone = !before.is_some_and(|t| is_of(t, BETWEEN));
    let is_whole = block[1..].iter().any(|t| is_of(t, WHOLE));
    let is_single = block.iter().filter(|t| word(t) == "JOIN").count() == 1;
    let calls_others = block.windows(2).any(|two| {
        let is_name = word(&two[0]).starts_with(char::is_alphabetic);
        word(&two[1]) == "(" && is_name && !is_of(&two[0], OF_ROWS)
    });
    let span = select.start..block.last()?.span.end;
    let copied = program.slice(&span);
    let is_filled = copied.contains(['%', '?']) || copied.contains("{}");
    if !is_alone || is_whole || !is_single || calls_others || is_filled {
        return None;
    }
    let own = block.iter().filter(|t| join.span.contains(&t.span.start));
    let condition: Vec<&Token> = own.skip_while(|t| word(t) != "ON").skip(1).collect();
    let whole = condition.first()?.span.start..condition.last()?.span.end;
    let equalities = equalities(text, &condition)?;
    let names: Vec<&str> = equalities
        .iter()
        .flat_map(|e| e.split('=').map(str::trim))
        .collect();
    let table = |name: &&str| Some(name.split_once('.')?.0.to_owned());
    let tables: Vec<String> = names.iter().map(table).collect::<Option<_>>()?;
    let meets = |two: &[String]| two[0] != two[1] && two.contains(&join.table);
    if !tables.chunks(2).all(meets) {
        return None;
    }
    let gap = match copied.contains('\n') {
        true => format!("\n{}", indentation(text, select.start)),
        false => " ".to_owned(),
    };
    let (head, tail) = (&text[span.start..whole.start], &text[whole.end..span.end]);
    let mut others = String::new();
    for (at, equality) in equalities.iter().enumerate().skip(1) {
        let known = equalities[..at].join(" OR ");
        others += &format!("{gap}UNION ALL{gap}{head}{equality} AND ({known}) IS NOT TRUE{tail}");
    }
    let mut rewrite = new_rewrite(program);
    rewrite.replace(place.statement, whole, equalities[0].clone());
    rewrite.replace(place.statement, span.end..span.end, others);
    Some(rewrite)
}

/// The equalities of columns in `a.x = b.x OR (a.y = b.y)`; `None` for any other condition.
fn equalities(text: &str, condition: &[&Token]) -> Option<Vec<String>> {
    let words = condition.iter().map(|t| &text[t.span.clone()]);
    // only alternatives are in parentheses
    let words: Vec<&str> = words.filter(|w| !matches!(*w, "(" | ")")).collect();
    let is_column = |word: &str| word.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let equality = |part: &[&str]| match part {
        [left, "=", right] | [left, "=", "=", right] => {
            (is_column(left) && is_column(right)).then(|| format!("{left} = {right}"))
        }
        _ => None,
    };
    let parts = words.split(|w| w.eq_ignore_ascii_case("OR"));
    let found: Vec<String> = parts.map(equality).collect::<Option<_>>()?;
    (found.len() > 1).then_some(found)
}

#[cfg(test)]
mod tests {
    use job::code::{Part, Program};
    use report::SameResult;

    use super::by_each_key;

    fn changed(text: &str) -> Option<String> {
        let program = Program::parse("a.py", text);
        let place = program.find(Part::Join, &["k".to_owned()], None)?;
        let rewrite = by_each_key(&program, &place)?;
        let checked = rewrite.checked_program(&program).expect("a sound change");
        assert_eq!(checked.verified.same_result, SameResult::Proven);
        rewrite.apply(text)
    }

    #[test]
    fn each_equality_becomes_a_join() {
        for (before, after) in [
            (
                "r = spark.sql(\"\"\"\n  SELECT a.x, coalesce(b.y, 0) AS y\n  FROM t a\n  JOIN u b ON a.k = b.k OR (a.l = b.l)\n  WHERE a.x > 1\n\"\"\")\n",
                "r = spark.sql(\"\"\"\n  SELECT a.x, coalesce(b.y, 0) AS y\n  FROM t a\n  JOIN u b ON a.k = b.k\n  WHERE a.x > 1\n  UNION ALL\n  SELECT a.x, coalesce(b.y, 0) AS y\n  FROM t a\n  JOIN u b ON a.l = b.l AND (a.k = b.k) IS NOT TRUE\n  WHERE a.x > 1\n\"\"\")\n",
            ),
            (
                "r = spark.sql(\"SELECT n FROM (SELECT a.n FROM t a JOIN u ON (a.k = u.k OR a.l = u.l OR a.m = u.m)) GROUP BY n\")\n",
                "r = spark.sql(\"SELECT n FROM (SELECT a.n FROM t a JOIN u ON a.k = u.k UNION ALL SELECT a.n FROM t a JOIN u ON a.l = u.l AND (a.k = u.k) IS NOT TRUE UNION ALL SELECT a.n FROM t a JOIN u ON a.m = u.m AND (a.k = u.k OR a.l = u.l) IS NOT TRUE) GROUP BY n\")\n",
            ),
            (
                "from pyspark.sql import functions as F\nr = a.join(b, (a.k == b.k) | (a[\"l\"] == b[\"l\"]))\n",
                "from pyspark.sql import functions as F\nr = a.join(b, a.k == b.k).union(a.join(b, (a[\"l\"] == b[\"l\"]) & ~F.coalesce((a.k == b.k), F.lit(False))))\n",
            ),
            (
                "from pyspark.sql import functions as F\nsame = (a.k == b.z) | (b.l == a.y)\nr = a.where(\"x > 1\").join(b, same, \"inner\")\n",
                "from pyspark.sql import functions as F\nsame = (a.k == b.z) | (b.l == a.y)\nr = a.where(\"x > 1\").transform(lambda rows: rows.join(b, a.k == b.z).union(rows.join(b, (b.l == a.y) & ~F.coalesce((a.k == b.z), F.lit(False)))))\n",
            ),
            (
                "from pyspark.sql import functions as F\nrows = 5\nr = a.where(\"x > 1\").join(b, (a.k == b.k) | (a.l == b.l))\n",
                "from pyspark.sql import functions as F\nrows = 5\nr = a.where(\"x > 1\").transform(lambda frame: frame.join(b, a.k == b.k).union(frame.join(b, (a.l == b.l) & ~F.coalesce((a.k == b.k), F.lit(False)))))\n",
            ),
        ] {
            assert_eq!(changed(before).as_deref(), Some(after), "{before}");
        }
    }

    #[test]
    fn other_joins_stay() {
        let joins = "FROM t a JOIN u b ON a.k = b.k OR a.l = b.l";
        for query in [
            format!("SELECT count(*) {joins}"),
            format!("SELECT DISTINCT a.x {joins}"),
            format!("SELECT a.x {joins} ORDER BY 1"),
            format!("SELECT a.x {joins} GROUP BY a.x"),
            format!("SELECT x FROM v UNION SELECT a.x {joins}"),
            format!("SELECT a.x, rand() AS r {joins}"),
            format!("SELECT a.x {joins} WHERE a.x > ?"),
            format!("SELECT a.x {joins} JOIN v ON a.k = v.k"),
            "SELECT a.x FROM t a LEFT JOIN u b ON a.k = b.k OR a.l = b.l".to_owned(),
            "SELECT a.x FROM t a JOIN u b ON a.k = b.k OR a.l > b.l".to_owned(),
            "SELECT a.x FROM t a JOIN u b ON a.k = b.k OR a.l = a.m".to_owned(),
            "SELECT a.x FROM t a JOIN u b ON a.k = b.k AND (a.l = b.l OR a.m = b.m)".to_owned(),
            "SELECT a.x FROM t a JOIN u b ON a.k = b.k".to_owned(),
        ] {
            assert_eq!(
                changed(&format!("r = spark.sql(\"{query}\")\n")),
                None,
                "{query}"
            );
        }
        for join in [
            "a.join(b, (a.k == b.k) | (a.l == b.l), \"left\")",
            "a.join(b, (a.k == b.k) | (a.l > b.l))",
            "a.join(b, (a.k == b.k) & (a.l == b.l))",
            "a.join(b, (a.k == b.k) | (a.l == 1))",
            "a.join(b, (a.k == b.k) | (b.l == b.m))",
            "a.join(b, (a.k == b.k) | (F.col(\"l\") == b.l))",
        ] {
            assert_eq!(changed(&format!("import x\nr = {join}\n")), None, "{join}");
        }
    }

    #[test]
    fn inputs_that_differ_per_computation_are_unproven() {
        for input in [
            "t.dropDuplicates([\"k\"])",
            "t.limit(5)",
            "t.selectExpr(\"RAND() AS k\")",
            "t.withColumn(\"n\", F.row_number().over(w))",
            "t.groupBy(\"k\").agg(F.first(\"l\"))",
            "spark.sql(\"SELECT k FROM t limit 5\")",
        ] {
            let text = format!(
                "from pyspark.sql import functions as F\na = {input}\nr = a.join(b, (a.k == b.k) | (a.l == b.l))\n"
            );
            let program = Program::parse("a.py", &text);
            let place = program.find(Part::Join, &["k".to_owned()], None);
            let rewrite = by_each_key(&program, &place.expect("a join")).expect("a change");
            let checked = rewrite.checked_program(&program).expect("a sound change");
            assert_eq!(checked.verified.same_result, SameResult::Unknown, "{input}");
        }
    }
}
