use std::collections::BTreeSet;

use super::needs::Definitions;
use super::{Language, Part, Program, Scope, sql};

const JOB: &str = r#"from pyspark.sql import functions as F, Window

def table(name):
    return spark.read.parquet(f"{LAKE}/{name}")

@F.udf("double")
def score(key):
    return len(key) / 2.0

orders = table("orders")
users = table("users").repartition(24)
w = Window.partitionBy("country").orderBy("day")
joined = (orders.join(users, "user_id")
    .join(table("stores"), orders.store == F.col("store_id"), "left")
    .withColumn("rank", F.row_number().over(w))
    .withColumn("score", score("note")))
joined.groupBy("country").agg(F.sum("amount")).write.mode("overwrite").parquet("/out/by_country")
users.groupBy("city").count().write.parquet("/out/by_city")
rows = users.collect()
print(", ".join(store_id for store_id in rows), os.path.join("a", "store_id"))
spark.sql("""
  SELECT /*+ MERGE(b) */ a.x -- JOIN c
  FROM t a
  JOIN (SELECT k, count(*) n FROM u JOIN v ON u.z = v.z GROUP BY k) b
    ON a.k = b.k
  WHERE a.x > 1
""").show()
"#;

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn pieces_are_found_by_their_words() {
    let program = Program::parse("job.py", JOB);
    assert_eq!(
        (program.language, program.is_sound()),
        (Language::Python, true)
    );
    for (part, named, line) in [
        (Part::Join, "user_id", Some(13)),
        (Part::Join, "store store_id", Some(14)),
        (Part::Join, "z", Some(24)),
        (Part::Join, "k", Some(24)),
        (Part::Aggregate, "country", Some(17)),
        (Part::Aggregate, "city", Some(18)),
        (Part::Window, "country", Some(15)),
        (Part::UserCode, "score", Some(16)),
        (Part::Partitioning, "24", Some(11)),
        (Part::Read, "stores", Some(14)),
        (Part::Write, "by_city", Some(18)),
        // no piece has the word, and there are several pieces
        (Part::Join, "other", None),
        (Part::Aggregate, "other", None),
        // the order of a window is no sort of the rows
        (Part::Sort, "day", None),
        (Part::Explode, "tags", None),
    ] {
        let found = program.find(part, &words(named), None);
        let found = found.map(|place| program.lines(&place.span).first);
        assert_eq!(found, line, "{part:?} {named}");
    }
}

#[test]
fn only_the_statements_that_an_action_needs_count() {
    let program = Program::parse("job.py", JOB);
    let action = program.statement_at(18).expect("a statement");
    let lines: BTreeSet<u32> = Definitions::of(&program)
        .needed_by(BTreeSet::from([action]))
        .iter()
        .map(|at| program.lines(&program.statements[*at].span).first)
        .collect();
    assert_eq!(lines, BTreeSet::from([4, 11, 18]));
}

const JOBS: &str = r#"from pyspark.sql import functions as F
HOT = "SELECT a FROM t JOIN u ON t.k = u.k"
COLD = "SELECT b FROM v JOIN w ON v.z = w.z"

def run(text):
    return spark.sql(text).collect()

def hot():
    d = run(HOT)

def cold():
    d = run(COLD.format(1))
    d.join(e, "k").count()

def numbers(n, slices):
    return sc.parallelize(range(n), slices)

def both():
    print(numbers(24, 5).count(), numbers(5, 8).count())
"#;

#[test]
fn the_code_of_other_jobs_is_outside_of_the_scope() {
    let program = Program::parse("jobs.py", JOBS);
    let lines = |action: u32| -> Vec<u32> {
        let action = program.statement_at(action).expect("a statement");
        let scope = Scope::of(&program, &BTreeSet::from([action]));
        let own = (0..program.statements.len()).filter(|at| scope.contains(*at));
        own.map(|at| program.lines(&program.statements[at].span).first)
            .collect()
    };
    assert_eq!(lines(13), [3, 6, 12, 13]);
    // two functions call it
    assert_eq!(lines(6), [6]);
}

#[test]
fn texts_and_numbers_are_followed_through_helpers() {
    let program = Program::parse("jobs.py", JOBS);
    let join = |key: &str| {
        let place = program.find(Part::Join, &words(key), None)?;
        Some(program.lines(&place.span).first)
    };
    assert_eq!((join("z"), join("t u")), (Some(3), Some(2)));
    let asked = |number: u64| {
        let place = program.with_number(number, None)?;
        Some(program.slice(&place.span))
    };
    assert_eq!(asked(5), Some("numbers(24, 5)"));
    assert_eq!(asked(24), None);
}

const HINTED: &str = r#"SLICES = 1800
lines = sc.textFile(PATH, SLICES).map(parse)
counts = lines.reduceByKey(add, 4)
spark.sql("""
    CREATE TEMP VIEW ranked AS
    SELECT /*+ BROADCAST(u), repartition(12, k) */
           row_number() OVER (PARTITION BY 1 ORDER BY k) AS rn,
           lag(v) OVER (PARTITION BY 1 ORDER BY k) AS before
    FROM t JOIN u USING (k)
""")
one = spark.sql("SELECT /*+ COALESCE(1) */ k FROM ranked")
"#;

#[test]
fn numbers_of_partitions_are_found_in_hints_and_behind_lower_limits() {
    let program = Program::parse("job.py", HINTED);
    let asked = |number: u64| {
        let place = program.with_number(number, None)?;
        Some(program.slice(&place.span))
    };
    // each of several files has a partition for its rest
    assert_eq!(asked(1801), Some(".textFile(PATH, SLICES)"));
    assert_eq!(asked(5000), None);
    assert_eq!(asked(4), Some(".reduceByKey(add, 4)"));
    assert_eq!(asked(12), Some("repartition(12, k)"));
    assert_eq!(asked(1), Some("COALESCE(1)"));
    let found = |part, named: &str| {
        let place = program.find(part, &words(named), None)?;
        Some(<[u32; 2]>::from(program.lines(&place.span)))
    };
    assert_eq!(found(Part::Partitioning, "k 12"), Some([6, 6]));
    assert_eq!(found(Part::Gather, ""), None, "a window and a hint");
    // equal windows are one piece
    assert_eq!(found(Part::Window, "k"), Some([7, 8]));
}

#[test]
fn hints_of_a_query() {
    let text = "SELECT /*+ MERGE(a, b) REBALANCE */ x /* no hint */ FROM t";
    let hints = sql::hints(text, &(0..text.len()));
    let shown: Vec<(&str, &str, usize)> = hints
        .iter()
        .map(|h| (h.name.as_str(), &text[h.span.clone()], h.arguments.len()))
        .collect();
    assert_eq!(
        shown,
        [("MERGE", "MERGE(a, b)", 2), ("REBALANCE", "REBALANCE", 0)]
    );
    assert!(hints.iter().all(|h| h.of == 2));
}

#[test]
fn joins_of_a_query() {
    let text = "SELECT a.x FROM t AS a LEFT JOIN u b ON a.k = b.k INNER JOIN `v` USING (k) WHERE x IN (SELECT 1)";
    let joins = sql::joins(text, &(0..text.len()));
    let shown: Vec<(&str, &str)> = joins
        .iter()
        .map(|j| (&text[j.span.clone()], j.table.as_str()))
        .collect();
    assert_eq!(
        shown,
        [
            ("JOIN u b ON a.k = b.k", "b"),
            ("JOIN `v` USING (k)", "`v`")
        ]
    );
    assert!(joins.iter().all(|j| j.select == Some(0..6)));
    let groups = sql::clauses(text, &(0..text.len()), "WHERE");
    assert_eq!(&text[groups[0].clone()], "WHERE x IN (SELECT 1)");
}

#[test]
fn the_language_is_recognized_by_the_content() {
    for (text, language) in [
        ("-- daily\nINSERT INTO t SELECT 1;\nSELECT 2", Language::Sql),
        (
            "import org.apache.spark.sql.SparkSession\nobject A",
            Language::Other,
        ),
        ("df = spark.table('t')\n", Language::Python),
        ("object { val x = ", Language::Other),
    ] {
        let program = Program::parse("x", text);
        assert_eq!(program.language, language, "{text}");
    }
    let queries = Program::parse("x.sql", "SET a=1;\nSELECT x\nFROM t JOIN u ON t.k = u.k;\n");
    let place = queries
        .find(Part::Join, &words("k"), None)
        .expect("the join");
    assert_eq!(<[u32; 2]>::from(queries.lines(&place.span)), [3, 3]);
}

#[test]
fn broken_and_deep_programs_end() {
    let deep = format!("x = {}", "(".repeat(100_000));
    let program = Program::parse("x.py", &format!("import pyspark\n{deep}"));
    assert!(!program.is_sound());
    for end in 0..JOB.len() {
        if let Some(cut) = JOB.get(..end) {
            let program = Program::parse("x.py", cut);
            let _ = program.find(Part::Join, &words("k"), None);
        }
    }
}
