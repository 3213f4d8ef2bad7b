//! One case per kind of change: a program, the change, and the program after it.

use job::code::{Part, Place, Program, Scope};
use report::{SameResult, Setting};

use super::{Rewrite, columns, hints, partitions, rdd, reuse, schema, settings, udf};
use crate::hint::Side;

const HEAD: &str = "from pyspark.sql import SparkSession, functions as F\n\nspark = SparkSession.builder.appName(\"x\").getOrCreate()\n";

struct Case {
    name: &'static str,
    before: &'static str,
    change: fn(&Program) -> Option<Rewrite>,
    /// The lines that change; `None` if there is no change.
    after: Option<&'static str>,
}

fn at(program: &Program, method: &str) -> Place {
    let call = program.calls.iter().rposition(|c| c.name == method);
    program.place_of(call.expect("a call")).expect("its place")
}

fn join(program: &Program, side: Side) -> Option<Rewrite> {
    let place = program.find(Part::Join, &["k".to_owned()], None)?;
    hints::broadcast(program, &place, side)
}

fn salt(program: &Program, large: Side) -> Option<Rewrite> {
    let place = program.find(Part::Join, &["k".to_owned()], None)?;
    hints::salt(program, &place, large, 8)
}

fn by_udf(program: &Program) -> Option<Rewrite> {
    let call = program
        .calls
        .iter()
        .find(|c| c.name == "f" || c.name.is_empty())?;
    udf::builtin(program, call)
}

fn remove(program: &Program) -> Option<Rewrite> {
    let place = program.find(Part::Partitioning, &[], None)?;
    partitions::remove(program, &place)
}

fn set(program: &Program) -> Option<Rewrite> {
    let wanted = |key: &str, suggested: &str| Setting {
        key: key.to_owned(),
        current: None,
        source: None,
        suggested: suggested.to_owned(),
        unit: None,
        reason: String::new(),
    };
    let all = [wanted("spark.sql.shuffle.partitions", "48")];
    settings::set(program, &all.each_ref())
}

fn cache(program: &Program) -> Option<Rewrite> {
    let statement = program
        .statements
        .iter()
        .position(|s| s.target.as_deref() == Some("d"))?;
    reuse::cache(program, statement)
}

fn reduce(program: &Program) -> Option<Rewrite> {
    rdd::reduce_by_key(program, at(program, "groupByKey").statement)
}

fn json(program: &Program) -> Option<Rewrite> {
    let read = [
        "struct<a:bigint,b:array<string>>",
        "struct<c:double,a:bigint>",
    ];
    schema::json(program, &at(program, "json"), &read)
}

const CASES: &[Case] = &[
    Case {
        name: "broadcast the right side",
        before: "r = a.join(b, \"k\")\n",
        change: |p| join(p, Side::Right),
        after: Some("r = a.join(F.broadcast(b), \"k\")\n"),
    },
    Case {
        name: "broadcast a side in parentheses",
        before: "r = (a\n    .join((b), \"k\", \"left\"))  # all\n",
        change: |p| join(p, Side::Right),
        after: Some("r = (a\n    .join(F.broadcast(b), \"k\", \"left\"))  # all\n"),
    },
    Case {
        name: "broadcast a chain",
        before: "r = a.join(b.where(\"x > 1\").distinct(), on=[\"k\"])\n",
        change: |p| join(p, Side::Right),
        after: Some("r = a.join(F.broadcast(b.where(\"x > 1\").distinct()), on=[\"k\"])\n"),
    },
    Case {
        name: "broadcast the left side",
        before: "r = a.select(\"k\").join(b, \"k\")\n",
        change: |p| join(p, Side::Left),
        after: Some("r = F.broadcast(a.select(\"k\")).join(b, \"k\")\n"),
    },
    Case {
        name: "a side that is broadcast already",
        before: "r = a.join(F.broadcast(b), \"k\")\n",
        change: |p| join(p, Side::Right),
        after: None,
    },
    Case {
        name: "hint in SQL",
        before: "r = spark.sql(\"\"\"\n    SELECT x FROM a JOIN b z ON a.k = z.k WHERE x > 1\n\"\"\")\n",
        change: |p| join(p, Side::Right),
        after: Some(
            "r = spark.sql(\"\"\"\n    SELECT /*+ BROADCAST(z) */ x FROM a JOIN b z ON a.k = z.k WHERE x > 1\n\"\"\")\n",
        ),
    },
    Case {
        name: "hint for the left side in SQL",
        before: "r = spark.sql(\"SELECT x FROM a AS y JOIN b ON y.k = b.k\")\n",
        change: |p| join(p, Side::Left),
        after: Some(
            "r = spark.sql(\"SELECT /*+ BROADCAST(y) */ x FROM a AS y JOIN b ON y.k = b.k\")\n",
        ),
    },
    Case {
        name: "remove broadcast()",
        before: "r = a.join(F.broadcast(b), \"k\")\n",
        change: |p| hints::no_broadcast(p, &Scope::whole(p)),
        after: Some("r = a.join(b, \"k\")\n"),
    },
    Case {
        name: "remove a hint of a DataFrame",
        before: "r = a.join(b.hint(\"broadcast\"), \"k\")\n",
        change: |p| hints::no_broadcast(p, &Scope::whole(p)),
        after: Some("r = a.join(b, \"k\")\n"),
    },
    Case {
        name: "remove a hint of SQL",
        before: "r = spark.sql(\"SELECT /*+ BROADCAST(i) */ x FROM o JOIN i ON o.k = i.k\")\n",
        change: |p| hints::no_broadcast(p, &Scope::whole(p)),
        after: Some("r = spark.sql(\"SELECT x FROM o JOIN i ON o.k = i.k\")\n"),
    },
    Case {
        name: "a broadcast variable stays",
        before: "v = spark.sparkContext.broadcast(titles)\n",
        change: |p| hints::no_broadcast(p, &Scope::whole(p)),
        after: None,
    },
    Case {
        name: "remove a repartition",
        before: "r = a.repartition(8, \"k\").groupBy(\"k\").count()\n",
        change: remove,
        after: Some("r = a.groupBy(\"k\").count()\n"),
    },
    Case {
        name: "remove a statement that only repartitions",
        before: "a = t.select(\"k\")\na = a.repartition(8)\na.write.parquet(\"o\")\n",
        change: remove,
        after: Some("a = t.select(\"k\")\na.write.parquet(\"o\")\n"),
    },
    Case {
        name: "remove a coalesce before a write",
        before: "r.coalesce(1).write.parquet(\"o\")\n",
        change: remove,
        after: Some("r.write.parquet(\"o\")\n"),
    },
    Case {
        name: "remove DISTRIBUTE BY",
        before: "r = spark.sql(\"SELECT k FROM (SELECT * FROM t DISTRIBUTE BY k) GROUP BY k\")\n",
        change: remove,
        after: Some("r = spark.sql(\"SELECT k FROM (SELECT * FROM t) GROUP BY k\")\n"),
    },
    Case {
        name: "another number of partitions",
        before: "r = a.repartition(2400, \"k\")\n",
        change: |p| partitions::resize(p, &at(p, "repartition"), 2400, 16),
        after: Some("r = a.repartition(16, \"k\")\n"),
    },
    Case {
        name: "slices of an RDD",
        before: "r = sc.parallelize(range(100), 2400)\n",
        change: |p| partitions::resize(p, &at(p, "parallelize"), 2400, 16),
        after: Some("r = sc.parallelize(range(100), 16)\n"),
    },
    Case {
        name: "spread rows after reading",
        before: "r = spark.read.csv(\"x.gz\")\n",
        change: |p| partitions::spread(p, &at(p, "csv"), 16),
        after: Some("r = spark.read.csv(\"x.gz\").repartition(16)\n"),
    },
    Case {
        name: "a new setting",
        before: "",
        change: set,
        after: Some("spark.conf.set(\"spark.sql.shuffle.partitions\", \"48\")\n"),
    },
    Case {
        name: "a setting of the program",
        before: "spark.conf.set(\"spark.sql.shuffle.partitions\", 2)\n",
        change: set,
        after: Some("spark.conf.set(\"spark.sql.shuffle.partitions\", 48)\n"),
    },
    Case {
        name: "cache",
        before: "d = (a.where(\"x > 1\")\n    .select(\"k\"))\n",
        change: cache,
        after: Some("d = (a.where(\"x > 1\")\n    .select(\"k\")).cache()\n"),
    },
    Case {
        name: "rows that are cached already",
        before: "d = a.select(\"k\").persist()\n",
        change: cache,
        after: None,
    },
    Case {
        name: "an RDD cached in memory alone",
        before: "import sys\nd = sc.textFile(sys.argv[1]).map(parse)\nd.cache()\n",
        change: |p| reuse::spill_to_disk(p, &Scope::whole(p)),
        after: Some(
            "import sys\nfrom pyspark import StorageLevel\nd = sc.textFile(sys.argv[1]).map(parse)\nd.persist(StorageLevel.MEMORY_AND_DISK)\n",
        ),
    },
    Case {
        name: "rows persisted in memory alone",
        before: "from pyspark import StorageLevel as Level\nd = a.persist(Level.MEMORY_ONLY)\n",
        change: |p| reuse::spill_to_disk(p, &Scope::whole(p)),
        after: Some(
            "from pyspark import StorageLevel as Level\nd = a.persist(Level.MEMORY_AND_DISK)\n",
        ),
    },
    Case {
        name: "groupByKey and sum",
        before: "r = p.groupByKey(8).mapValues(sum)\n",
        change: reduce,
        after: Some("r = p.reduceByKey(lambda a, b: a + b, 8)\n"),
    },
    Case {
        name: "groupByKey and count",
        before: "r = p.groupByKey().mapValues(lambda v: len(list(v)))\n",
        change: reduce,
        after: Some("r = p.mapValues(lambda _: 1).reduceByKey(lambda a, b: a + b)\n"),
    },
    Case {
        name: "groupByKey and max",
        before: "r = p.groupByKey().mapValues(max).collect()\n",
        change: reduce,
        after: Some("r = p.reduceByKey(max).collect()\n"),
    },
    Case {
        name: "groupByKey and a list",
        before: "r = p.groupByKey().mapValues(list)\n",
        change: reduce,
        after: None,
    },
    Case {
        name: "a loop over collected rows",
        before: "for row in d.collect():\n    print(row)\n",
        change: |p| reuse::stream(p, &Scope::whole(p)),
        after: Some("for row in d.toLocalIterator():\n    print(row)\n"),
    },
    Case {
        name: "count to see whether there are rows",
        before: "if d.where(\"x\").count() > 0:\n    print(1)\n",
        change: |p| reuse::any_row(p, &Scope::whole(p)),
        after: Some("if len(d.where(\"x\").take(1)) > 0:\n    print(1)\n"),
    },
    Case {
        name: "a count that is used",
        before: "if d.count() > 10:\n    print(1)\n",
        change: |p| reuse::any_row(p, &Scope::whole(p)),
        after: None,
    },
    Case {
        name: "schema of JSON",
        before: "d = spark.read.json(\"x\")\n",
        change: json,
        after: Some("d = spark.read.schema(\"a bigint, b array<string>, c double\").json(\"x\")\n"),
    },
    Case {
        name: "JSON with a schema",
        before: "d = spark.read.schema(\"a int\").json(\"x\")\n",
        change: json,
        after: None,
    },
    Case {
        name: "udf: upper",
        before: "f = F.udf(lambda s: s.upper())\nr = d.withColumn(\"u\", f(\"s\"))\n",
        change: by_udf,
        after: Some(
            "f = F.udf(lambda s: s.upper())\nr = d.withColumn(\"u\", F.upper(F.col(\"s\")))\n",
        ),
    },
    Case {
        name: "udf: a decorated function",
        before: "@F.udf(\"string\")\ndef f(s):\n    \"\"\"Cleans.\"\"\"\n    return s.strip().lower()[0:9]\n\nr = d.select(f(\"s\").alias(\"u\"))\n",
        change: by_udf,
        after: Some(
            "@F.udf(\"string\")\ndef f(s):\n    \"\"\"Cleans.\"\"\"\n    return s.strip().lower()[0:9]\n\nr = d.select(F.substring(F.lower(F.regexp_replace(F.col(\"s\"), r\"(?U)^[\\s\\x1c-\\x1f]+|[\\s\\x1c-\\x1f]+$\", \"\")), 1, 9).alias(\"u\"))\n",
        ),
    },
    Case {
        name: "udf: inline",
        before: "r = d.withColumn(\"u\", F.udf(lambda s: len(s), \"int\")(F.col(\"s\")))\n",
        change: by_udf,
        after: Some("r = d.withColumn(\"u\", (F.length(F.col(\"s\"))).cast(\"int\"))\n"),
    },
    Case {
        name: "udf: arithmetic",
        before: "f = F.udf(lambda x, y: x * 1.5 + y, \"double\")\nr = d.withColumn(\"u\", f(\"x\", d.y))\n",
        change: by_udf,
        after: Some(
            "f = F.udf(lambda x, y: x * 1.5 + y, \"double\")\nr = d.withColumn(\"u\", ((F.col(\"x\") * F.lit(1.5)) + d.y))\n",
        ),
    },
    Case {
        name: "udf: concatenation",
        before: "f = F.udf(lambda a, b: a + \"-\" + b, \"string\")\nr = d.withColumn(\"u\", f(\"a\", \"b\"))\n",
        change: by_udf,
        after: Some(
            "f = F.udf(lambda a, b: a + \"-\" + b, \"string\")\nr = d.withColumn(\"u\", F.concat(F.concat(F.col(\"a\"), F.lit(\"-\")), F.col(\"b\")))\n",
        ),
    },
    Case {
        name: "udf: null",
        before: "f = F.udf(lambda s: None if s is None else s.lower(), \"string\")\nr = d.withColumn(\"u\", f(\"s\"))\n",
        change: by_udf,
        after: Some(
            "f = F.udf(lambda s: None if s is None else s.lower(), \"string\")\nr = d.withColumn(\"u\", F.when(~((F.col(\"s\")).isNull()), F.lower(F.col(\"s\"))))\n",
        ),
    },
    Case {
        name: "udf: a choice",
        before: "f = F.udf(lambda s: \"y\" if s in (\"a\", \"b\") else \"n\", \"string\")\nr = d.withColumn(\"u\", f(\"s\"))\n",
        change: by_udf,
        after: Some(
            "f = F.udf(lambda s: \"y\" if s in (\"a\", \"b\") else \"n\", \"string\")\nr = d.withColumn(\"u\", F.when(F.coalesce((F.col(\"s\")).isin(\"a\", \"b\"), F.lit(False)), F.lit(\"y\")).otherwise(F.lit(\"n\")))\n",
        ),
    },
    Case {
        name: "udf: a column whose name is its expression",
        before: "f = F.udf(lambda s: s.upper())\nr = d.select(f(\"s\"))\n",
        change: by_udf,
        after: None,
    },
    Case {
        name: "udf: a whole number declared as a real one is null",
        before: "f = F.udf(lambda s: len(s), \"double\")\nr = d.withColumn(\"u\", f(\"s\"))\n",
        change: by_udf,
        after: None,
    },
    Case {
        name: "salt the left side of a join",
        before: "r = a.join(b, \"k\", \"left\").groupBy(\"x\").count()\n",
        change: |p| salt(p, Side::Left),
        after: Some(
            "r = a.withColumn(\"salt\", (F.rand() * 8).cast(\"int\")).join(b.withColumn(\"salt\", F.explode(F.sequence(F.lit(0), F.lit(7)))), [\"k\", \"salt\"], \"left\").drop(\"salt\").groupBy(\"x\").count()\n",
        ),
    },
    Case {
        name: "salt the right side of a join by two names",
        before: "r = a.where(\"x > 0\").join(b, [\"k\", \"j\"])\n",
        change: |p| salt(p, Side::Right),
        after: Some(
            "r = a.where(\"x > 0\").withColumn(\"salt\", F.explode(F.sequence(F.lit(0), F.lit(7)))).join(b.withColumn(\"salt\", (F.rand() * 8).cast(\"int\")), [\"k\", \"j\", \"salt\"]).drop(\"salt\")\n",
        ),
    },
    Case {
        name: "a join by a condition keeps its columns apart",
        before: "r = a.join(b, a.k == b.k)\n",
        change: |p| salt(p, Side::Left),
        after: None,
    },
    Case {
        name: "cast that fails",
        before: "r = spark.sql(\"SELECT sum(CAST(x AS INT)) FROM t\")\n",
        change: |p| hints::try_cast(p, &Scope::whole(p)),
        after: Some("r = spark.sql(\"SELECT sum(TRY_CAST(x AS INT)) FROM t\")\n"),
    },
    Case {
        name: "one of two casts fails",
        before: "r = spark.sql(\"SELECT CAST(y AS DATE), CAST(x AS INT) FROM t\")\n",
        change: |p| hints::try_cast(p, &Scope::whole(p)),
        after: None,
    },
    Case {
        name: "columns one at a time",
        before: "for name, col in new.items():\n    d = d.withColumn(name, col)\nd.show()\n",
        change: |p| columns::at_once(p, &Scope::whole(p)),
        after: Some("d = d.withColumns({name: col for name, col in new.items()})\nd.show()\n"),
    },
    Case {
        name: "columns that build on each other",
        before: "for c in names:\n    d = d.withColumn(c, d[c] + 1)\n",
        change: |p| columns::at_once(p, &Scope::whole(p)),
        after: None,
    },
    Case {
        name: "columns of a loop over collected rows",
        before: "rows = d.collect()\nfor r in rows:\n    print(r[\"k\"], r.x)\n",
        change: |p| columns::needed(p, &Scope::whole(p), None),
        after: Some(
            "rows = d.select(\"k\", \"x\").collect()\nfor r in rows:\n    print(r[\"k\"], r.x)\n",
        ),
    },
    Case {
        name: "columns of a comprehension",
        before: "s = sum(r[\"x\"] for r in d.where(\"x > 0\").collect())\n",
        change: |p| columns::needed(p, &Scope::whole(p), None),
        after: Some("s = sum(r[\"x\"] for r in d.where(\"x > 0\").select(\"x\").collect())\n"),
    },
    Case {
        name: "rows that are used whole",
        before: "rows = d.collect()\nprint(len(rows))\nfor r in rows:\n    print(r[\"k\"])\n",
        change: |p| columns::needed(p, &Scope::whole(p), None),
        after: None,
    },
    Case {
        name: "rows that are counted by a method",
        before: "for r in d.collect():\n    print(r.asDict())\n",
        change: |p| columns::needed(p, &Scope::whole(p), None),
        after: None,
    },
    Case {
        name: "free cached rows",
        before: "d = a.where(\"x > 0\").cache()\nprint(d.count())\nprint(b.count())\n",
        change: |p| reuse::free(p, &Scope::whole(p)),
        after: Some(
            "d = a.where(\"x > 0\").cache()\nprint(d.count())\nd.unpersist()\nprint(b.count())\n",
        ),
    },
    Case {
        name: "cached rows that are used to the end",
        before: "d = a.where(\"x > 0\").cache()\nprint(b.count())\nprint(d.count())\nspark.stop()\n",
        change: |p| reuse::free(p, &Scope::whole(p)),
        after: None,
    },
    Case {
        name: "filter of the key behind a shuffle",
        before: "r = p.reduceByKey(max).mapValues(abs).filter(lambda kv: kv[0] > 3).collect()\n",
        change: |p| rdd::early_filter(p, &Scope::whole(p)),
        after: Some(
            "r = p.filter(lambda kv: kv[0] > 3).reduceByKey(max).mapValues(abs).collect()\n",
        ),
    },
    Case {
        name: "filter of the value behind a shuffle",
        before: "r = p.reduceByKey(max).filter(lambda kv: kv[1] > 3).collect()\n",
        change: |p| rdd::early_filter(p, &Scope::whole(p)),
        after: None,
    },
    Case {
        name: "udf: statements",
        before: "@F.udf(\"string\")\ndef f(x, y):\n    net = x * y\n    if x is None or net < 3:\n        return \"low\"\n    elif not net < 9:\n        return None\n    return \"mid\"\n\nr = d.withColumn(\"u\", f(\"x\", \"y\"))\n",
        change: by_udf,
        after: Some(
            "@F.udf(\"string\")\ndef f(x, y):\n    net = x * y\n    if x is None or net < 3:\n        return \"low\"\n    elif not net < 9:\n        return None\n    return \"mid\"\n\nr = d.withColumn(\"u\", F.when(((F.col(\"x\")).isNull() | ((F.col(\"x\") * F.col(\"y\")) < F.lit(3))), F.lit(\"low\")).otherwise(F.when(~(~(((F.col(\"x\") * F.col(\"y\")) < F.lit(9)))), F.lit(\"mid\"))))\n",
        ),
    },
    Case {
        name: "udf: state",
        before: "@F.udf(\"string\")\ndef f(s):\n    global n\n    n += 1\n    return s.upper()\n\nr = d.withColumn(\"u\", f(\"s\"))\n",
        change: by_udf,
        after: None,
    },
];

#[test]
fn each_kind_of_change() {
    for case in CASES {
        let before = format!("{HEAD}{}", case.before);
        let program = Program::parse("job.py", &before);
        assert!(program.is_sound(), "{}", case.name);
        let changed = (case.change)(&program).map(|rewrite| {
            let checked = rewrite.checked_program(&program);
            assert!(
                checked.is_some(),
                "{}: the change does not apply",
                case.name
            );
            rewrite.apply(&program.text).expect("edits that fit")
        });
        let after = case.after.map(|after| format!("{HEAD}{after}"));
        assert_eq!(changed, after, "{}", case.name);
    }
}

#[test]
fn a_missing_import_is_added_and_a_direct_one_is_used() {
    for (head, after) in [
        (
            "import sys\n",
            "import sys\nfrom pyspark.sql import functions as F\nr = a.join(F.broadcast(b), \"k\")\n",
        ),
        (
            "from pyspark.sql.functions import col, broadcast as small\n",
            "from pyspark.sql.functions import col, broadcast as small\nr = a.join(small(b), \"k\")\n",
        ),
        (
            "from pyspark.sql.functions import *\n",
            "from pyspark.sql.functions import *\nr = a.join(broadcast(b), \"k\")\n",
        ),
        (
            "import pyspark.sql.functions as fn\n",
            "import pyspark.sql.functions as fn\nr = a.join(fn.broadcast(b), \"k\")\n",
        ),
    ] {
        let program = Program::parse("job.py", &format!("{head}r = a.join(b, \"k\")\n"));
        let rewrite = join(&program, Side::Right).expect("a change");
        assert_eq!(rewrite.apply(&program.text).as_deref(), Some(after));
    }
}

#[test]
fn only_changes_that_keep_all_rows_are_proven() {
    let verdict = |text: &str, change: fn(&Program) -> Option<Rewrite>| {
        let program = Program::parse("job.py", &format!("{HEAD}{text}"));
        let checked = change(&program)?.checked_program(&program)?;
        Some(checked.verified.same_result)
    };
    assert_eq!(
        verdict("d = a.select(\"k\")\n", cache),
        Some(SameResult::Proven)
    );
    assert_eq!(
        verdict("d = a.withColumn(\"r\", F.rand())\n", cache),
        Some(SameResult::Unknown)
    );
    let udf = "f = F.udf(lambda s: s.upper())\nr = d.withColumn(\"u\", f(\"s\"))\n";
    assert_eq!(verdict(udf, by_udf), Some(SameResult::Unknown));
    assert_eq!(
        verdict("d = a.select(\n", cache),
        None,
        "the program does not parse"
    );
}
