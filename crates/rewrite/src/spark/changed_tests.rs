//! Where a change edits a program: the argument that the plan names, and only the code that ran.

use job::code::{Part, Place, Program, Scope};
use report::SameResult;

use super::{Rewrite, columns, partitions, reuse};

fn changed(text: &str, change: impl Fn(&Program) -> Option<Rewrite>) -> Option<String> {
    let program = Program::parse("job.py", text);
    assert!(program.is_sound(), "{text}");
    change(&program)?.apply(text)
}

#[test]
fn a_number_of_partitions_changes_only_where_it_is_one() {
    for (before, after) in [
        (
            "SLICES = 2500\nr = sc.parallelize(range(2500), SLICES)\n",
            Some("SLICES = 16\nr = sc.parallelize(range(2500), SLICES)\n"),
        ),
        (
            "r = sc.parallelize(range(2500), max(8, 2500))\n",
            Some("r = sc.parallelize(range(2500), 16)\n"),
        ),
        (
            "r = sc.parallelize(range(2500), 2500 if x else 8)\n",
            Some("r = sc.parallelize(range(2500), 16)\n"),
        ),
        (
            "N = 2500\nr = sc.parallelize(range(N), numSlices=N)\n",
            Some("N = 2500\nr = sc.parallelize(range(N), numSlices=16)\n"),
        ),
        (
            "def numbers(n, slices):\n    return sc.parallelize(range(n), slices)\n\nr = numbers(2_500, 2_500)\n",
            Some(
                "def numbers(n, slices):\n    return sc.parallelize(range(n), slices)\n\nr = numbers(2_500, 16)\n",
            ),
        ),
        // the parameter has another use
        (
            "def numbers(n):\n    return sc.parallelize(range(n), n)\n\nr = numbers(2500)\n",
            None,
        ),
        // a lower limit: each file has a partition for its rest
        (
            "SLICES = 2499\nr = sc.textFile(path, SLICES)\n",
            Some("SLICES = 16\nr = sc.textFile(path, SLICES)\n"),
        ),
        ("r = sc.textFile(path, 900)\n", None),
        ("r = sc.parallelize(range(2500))\n", None),
        ("r = a.repartition(\"k\")\n", None),
        ("r = a.join(b, \"k\")\n", None),
        (
            "def f():\n    n = 2500\n    ALS(rank=2500, numUserBlocks=n, numItemBlocks=n).fit(a)\n",
            Some(
                "def f():\n    n = 16\n    ALS(rank=2500, numUserBlocks=n, numItemBlocks=n).fit(a)\n",
            ),
        ),
    ] {
        let resized = changed(before, |program| {
            let named = |name: &str| {
                let mut calls = program.calls.iter();
                calls.position(|call| call.name == name)
            };
            let call = ["parallelize", "ALS", "repartition", "join", "textFile"]
                .into_iter()
                .find_map(named)?;
            partitions::resize(program, &program.place_of(call)?, 2500, 16)
        });
        assert_eq!(resized.as_deref(), after, "{before}");
    }
}

#[test]
fn rows_that_depend_on_their_partitions_are_not_proven() {
    let text = "r = sc.parallelize(range(9), 2500).zipWithUniqueId()\n";
    let program = Program::parse("job.py", text);
    let call = program.calls.iter().position(|c| c.name == "parallelize");
    let place = call.and_then(|at| program.place_of(at)).expect("its place");
    let rewrite = partitions::resize(&program, &place, 2500, 16).expect("a change");
    let checked = rewrite.checked_program(&program).expect("a sound change");
    assert_eq!(checked.verified.same_result, SameResult::Unknown);
}

#[test]
fn columns_that_read_each_other_stay_in_their_loop() {
    for text in [
        "for i in range(9):\n    d = d.withColumn(\"r%d\" % i, F.col(\"r%d\" % (i - 1)) + 1)\n",
        "new = {\"f%d\" % k: F.expr(\"f%d + 1\" % (k - 1)) for k in range(9)}\nfor n, c in new.items():\n    d = d.withColumn(n, c)\n",
        "for i in range(9):\n    d = d.withColumn(names[i], F.col(names[i - 1]))\n",
    ] {
        let at_once = |p: &Program| columns::at_once(p, &Scope::whole(p));
        assert_eq!(changed(text, at_once), None, "{text}");
    }
}

#[test]
fn columns_that_are_selected_already_are_not_selected_again() {
    for (text, read) in [
        (
            "t = spark.read.parquet(p).select(\"a\", \"b\")\nfor r in t.limit(9).collect():\n    print(r.a)\n",
            None,
        ),
        // most of the columns
        (
            "for r in d.collect():\n    print(r.a, r.b, r.c, r.d)\n",
            Some(5),
        ),
    ] {
        let needed = |p: &Program| columns::needed(p, &Scope::whole(p), read);
        assert_eq!(changed(text, needed), None, "{text}");
    }
}

#[test]
fn code_that_did_not_run_is_not_edited() {
    let text = "def one():\n    for r in d.collect():\n        print(r.a)\n";
    assert_eq!(
        changed(text, |p| columns::needed(p, &Scope::default(), None)),
        None
    );
    assert_eq!(changed(text, |p| reuse::stream(p, &Scope::default())), None);
}

#[test]
fn hints_of_queries_are_removed_and_resized() {
    type Change = fn(&Program, &Place) -> Option<Rewrite>;
    let remove: Change = partitions::remove;
    let resize: Change = |program, place| partitions::resize(program, place, 9, 4);
    for (before, change, after) in [
        (
            "r = spark.sql(\"SELECT /*+ COALESCE(1) */ x FROM t\")\n",
            remove,
            Some("r = spark.sql(\"SELECT x FROM t\")\n"),
        ),
        (
            "r = spark.sql(\"\"\"\n  SELECT /*+ COALESCE(1) */\n         x\n  FROM t\"\"\")\n",
            remove,
            Some("r = spark.sql(\"\"\"\n  SELECT\n         x\n  FROM t\"\"\")\n"),
        ),
        (
            "r = spark.sql(\"SELECT /*+ BROADCAST(u), REBALANCE */ x FROM t JOIN u USING (k)\")\n",
            remove,
            Some("r = spark.sql(\"SELECT /*+ BROADCAST(u) */ x FROM t JOIN u USING (k)\")\n"),
        ),
        (
            "r = spark.sql(\"SELECT /*+ REPARTITION(9, k), MERGE(u) */ x FROM t JOIN u USING (k)\")\n",
            remove,
            Some("r = spark.sql(\"SELECT /*+ MERGE(u) */ x FROM t JOIN u USING (k)\")\n"),
        ),
        (
            "r = spark.sql(\"SELECT /*+ REPARTITION_BY_RANGE(9, k) */ x FROM t\")\n",
            resize,
            Some("r = spark.sql(\"SELECT /*+ REPARTITION_BY_RANGE(4, k) */ x FROM t\")\n"),
        ),
        // another number than the plan's
        (
            "r = spark.sql(\"SELECT /*+ REPARTITION(8) */ x FROM t\")\n",
            resize,
            None,
        ),
        (
            "r = a.hint(\"coalesce\", 9).write.csv(\"o\")\n",
            resize,
            Some("r = a.hint(\"coalesce\", 4).write.csv(\"o\")\n"),
        ),
    ] {
        let changed = changed(before, |program| {
            let place = program.find(Part::Partitioning, &[], None);
            change(program, &place.expect(before))
        });
        assert_eq!(changed.as_deref(), after, "{before}");
    }
}

#[test]
fn a_query_that_depends_on_its_partitions_is_not_proven() {
    for (column, same) in [
        ("sum(x)", SameResult::Proven),
        ("first_value(x)", SameResult::Unknown),
        ("COLLECT_LIST(x)", SameResult::Unknown),
        ("monotonically_increasing_id()", SameResult::Unknown),
    ] {
        let text = format!("r = spark.sql(\"SELECT /*+ COALESCE(1) */ {column} FROM t\")\n");
        let program = Program::parse("job.py", &text);
        let place = program.find(Part::Partitioning, &[], None);
        let rewrite = partitions::remove(&program, &place.expect("a hint")).expect("a change");
        let checked = rewrite.checked_program(&program).expect("a diff");
        assert_eq!(checked.verified.same_result, same, "{column}");
    }
}

#[test]
fn a_limit_of_rows_per_file_is_removed_from_its_writer() {
    for (before, after) in [
        (
            "a.write.option(\"maxRecordsPerFile\", 150).mode(\"overwrite\").parquet(\"o\")\n",
            Some("a.write.mode(\"overwrite\").parquet(\"o\")\n"),
        ),
        (
            "a.write.option(\"compression\", \"gzip\").parquet(\"o\")\n",
            None,
        ),
    ] {
        let changed = changed(before, |program| {
            let write = program.calls.iter().find(|c| c.name == "parquet");
            partitions::without_file_limit(program, write.expect("a write"))
        });
        assert_eq!(changed.as_deref(), after, "{before}");
    }
}

#[test]
fn a_cache_is_removed_and_a_distinct_only_unproven() {
    let text = "a = t.select(\"k\")\na = a.cache()  # for later\nb = a.distinct()\nb.count()\n";
    let program = Program::parse("job.py", text);
    let uncached = reuse::uncache(&program, &Scope::whole(&program)).expect("a change");
    let after = uncached.apply(text);
    let expected = "a = t.select(\"k\")\nb = a.distinct()\nb.count()\n";
    assert_eq!(after.as_deref(), Some(expected));
    for (part, same) in [
        (Part::Distinct, Some(SameResult::Unknown)),
        // not a partitioning
        (Part::Expression, None),
    ] {
        let place = program.find(part, &[], None).expect("a piece");
        let found = partitions::remove(&program, &place);
        let found = found.and_then(|rewrite| rewrite.checked_program(&program));
        assert_eq!(found.map(|checked| checked.verified.same_result), same);
    }
}
