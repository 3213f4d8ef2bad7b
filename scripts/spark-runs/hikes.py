"""Slow and fixed forms of the ideas in the examples of AmadeusITGroup/spark-perf-hikes, on generated places and bookings.
The jobs are written anew."""
import fcntl
import os
import time

from pyspark.sql import functions as F

from common import AQE_OFF, HEALTHY, asks, job, partitions, shared, text

WORK = "sha2(concat_ws('|', code, name, sha2(concat(name, note), 512), sha2(concat(note, code), 512), sha2(concat(name, code), 512)), 512)"

shared(places=lambda c: c.rows(600_000, 8, code="concat(chr(65 + cast({r} * 26 as int)), chr(65 + cast({r} * 26 as int)), id)", country="cast({r} * 240 as int)", name=text(2), note=text(4)))


@job("driver.bottleneck", local=2, extra=["overhead.unexplained", "compute.costly_expression", "cache.ineffective"], question="The executors wait most of the time. For what?",
     note="columns are added one at a time before each of seven actions, so that the driver analyzes growing plans; without: all columns in one step")
def many_columns(c):
    p = c.table("places")
    for step in range(7):
        new = {"f%d" % k: F.col("country") * (k + step) % 97 for k in range(110)}
        wide = p
        if c.bad:
            for name, col in new.items():
                wide = wide.withColumn(name, col)
        else:
            wide = p.withColumns(new)
        wide.groupBy(F.col("country") % 20).agg(*[F.max(name) for name in list(new)[::30]], F.max(F.sha2("note", 256))).collect()


@job("parallelism.too_low", workers=(2, 1, 1024), also=["parallelism.idle_slots"], fixed=True, extra=["compute.costly_expression", "allocation.over", "udo.cpu_bound"], question="Why is half of the cluster idle?",
     bad={"spark.sql.files.maxPartitionBytes": "512m", "spark.sql.files.minPartitionNum": "1"}, good={"spark.sql.files.maxPartitionBytes": "8m"},
     tables={"registry": lambda c: c.rows(1_100_000, 1, code="concat('P', id)", country="cast({r} * 240 as int)", name=text(1), note=text(1)).coalesce(1).write.option("parquet.block.size", str(8 << 20)).parquet(c.path("registry"))},
     note="the input is one Parquet file with many row groups, which one task reads (maxPartitionBytes=512m); without: split into 8 MB")
def one_input_split(c):
    r = c.table("registry").withColumn("mark", F.expr(WORK)).withColumn("mark2", F.expr(WORK.replace("512", "384")))
    c.save(r.groupBy("country").agg(F.max("mark"), F.max("mark2"), F.count("*")), "marks")


@job("parallelism.too_low", workers=(2, 2, 1024), also=["parallelism.idle_slots"], fixed=True, extra=["allocation.over", "udo.cpu_bound", "shuffle.serial_gather"], question="The second half uses one core. Why?",
     conf={"spark.sql.adaptive.coalescePartitions.parallelismFirst": "false"}, bad={"spark.sql.adaptive.advisoryPartitionSizeInBytes": "128m"}, good={"spark.sql.adaptive.advisoryPartitionSizeInBytes": "256k"},
     note="adaptive execution merges a small shuffle into one partition, but each of its groups takes long; without: a small advisory size")
def merged_partitions(c):
    groups = c.table("places").groupBy((F.col("id") % 40_000).alias("route")).agg(F.max("name").alias("name"), F.count("*").alias("n"))
    c.save(groups.withColumn("fare", asks("route, name", 20, 10)).select("route", "fare", "n"), "fares")


@job("udo.cpu_bound", workers=(2, 1, 1024), fixed=True, extra=["compute.costly_expression"], question="Would built-in functions help?", note="two Python UDFs where built-in functions do the same; without: the built-in functions")
def prefix_udf(c):
    def label(code, name):
        return "-".join("%02x" % (ord(ch) * 7 % 256) for ch in name[:24]) + "/" + code

    def check(name):
        return sum(ord(ch) * (k + 1) for k, ch in enumerate(name)) % 9973
    p = c.table("places")
    if c.bad:
        p = p.select("country", F.udf(label, "string")("code", "name").alias("label"), F.udf(check, "int")("name").alias("check"))
    else:
        p = p.select("country", F.concat(F.hex(F.substring("name", 1, 24)), F.lit("/"), "code").alias("label"), F.expr("pmod(crc32(name), 9973)").alias("check"))
    c.save(p.groupBy("country").agg(F.max("label"), F.sum("check")), "labels")


@job("io.scan_without_filter", workers=(2, 1, 1024), fixed=True, extra=["shuffle.late_filter", "shuffle.unused_columns", "compute.costly_expression"], question="It returns little. What does it read so much for?",
     tables={"visits": lambda c: c.rows(900_000, 4, at="timestamp_seconds(1577836800 + cast({r} * 189000000 as long))", country="cast({r} * 240 as int)", note=text(6)).withColumn("year", F.year("at")).repartition(6, "year").write.partitionBy("year").json(c.path("visits"))},
     note="the filter is on the time stamp, not on the year by which the JSON files are partitioned, so all years are parsed; without: also on the year")
def forgotten_partition(c):
    visits = c.spark.read.schema("id long, at timestamp, country int, note string, year int").json(c.path("visits"))
    v = visits.filter("date_format(at, 'yyyy-MM') >= '2025-07'")
    if not c.bad:
        v = v.filter("year = 2025")
    c.save(v.groupBy("country").agg(F.count("*"), F.max("note")), "late")


@job(workers=(2, 1, 1024), looks=True, extra=["memory.spill", "parallelism.too_low", "gc.heap_pressure", "shuffle.unused_columns"], conf=dict(AQE_OFF, **{"spark.memory.fraction": "0.04"}), question=HEALTHY,
     bad={"spark.sql.shuffle.partitions": "2"}, good={"spark.sql.shuffle.partitions": "48"},
     tables={"stays": lambda c: c.rows(1_300_000, 4, guest="cast({r} * 90000 as int)", note=text(9))},
     note="two shuffle partitions spill a lot while they are sorted, but 48 that need not spill take as long")
def few_partitions_spill(c):
    s = c.table("stays").repartition("guest").sortWithinPartitions("note")
    c.save(s.select("guest", F.substring("note", 1, 20).alias("note")), "sorted")


@job("udo.cpu_bound", workers=(2, 1, 1024), fixed=True, extra=["shuffle.late_filter", "shuffle.unused_columns", "shuffle.redundant_repartition", "compute.costly_expression", "memory.spill"], conf=partitions(8), question="Why is a simple sum so slow?",
     note="each of 7,000 groups is handed to a pandas function that sums it; without: sum()")
def materialized_groups(c):
    import pandas

    def total(group):
        return pandas.DataFrame({"g": [group["g"].iloc[0]], "total": [float(group["id"].sum())], "most": [group["name"].max()]})
    p = c.table("places").select((F.col("id") % 7_000).alias("g"), "id", "name")
    if c.bad:
        p = p.groupBy("g").applyInPandas(total, "g long, total double, most string")
    else:
        p = p.groupBy("g").agg(F.sum("id").alias("total"), F.max("name").alias("most"))
    c.save(p, "totals")


@job("udo.cpu_bound", workers=(1, 4, 1500), fixed=True, also=["overhead.unexplained", "straggler.unexplained", "compute.costly_expression"], extra=["parallelism.tiny_vertices"], question="The tasks use no CPU. Why are they slow?",
     note="a Python function works under a lock that all tasks of the machine share, so that one of four works; without: no lock")
def one_lock(c):
    bad, lock = c.bad, os.path.join(c.out, "lock")

    def price(rows):
        with open(lock, "a") as fh:
            for i in rows:
                if bad:
                    fcntl.flock(fh, fcntl.LOCK_EX)
                time.sleep(.02)
                if bad:
                    fcntl.flock(fh, fcntl.LOCK_UN)
                yield i % 17
    print(c.sc.parallelize(range(1_100), 16).mapPartitions(price).sum())


@job("join.explosion", local=2, fixed=True, conf=partitions(8), extra=["cardinality.misestimate", "shuffle.missed_broadcast", "skew.join_hot_key", "skew.group_hot_key", "compute.costly_expression"], question="Which rows does it work on?",
     tables={"updates": lambda c: c.rows(180_000, 4, code="cast({r} * 3000 as int)", version="{r}", fare="cast({r} * 900 as int)"), "offers": lambda c: c.rows(150_000, 4, code="cast({r} * 3000 as int)", base="cast({r} * 700 as int)", note=text(1))},
     note="a batch of changes holds every version of a record, and all of them are joined; without: only the newest version")
def stale_versions(c):
    u = c.table("updates")
    if not c.bad:
        u = u.groupBy("code").agg(F.max_by("fare", "version").alias("fare"))
    j = c.table("offers").join(u, "code").withColumn("price", F.expr("pmod(xxhash64(note, fare), 1000) + base"))
    c.save(j.groupBy("code").agg(F.sum("price"), F.max("note")), "prices")


@job("failure.input", local=2, pair=False, extra=["failure.vertex_retries", "failure.user_code"], also=["failure.user_code"], question="Why did it fail?",
     tables={"days": lambda c: c.rows(400_000, 8, day="cast(id % 8 as int)", note=text(4)).write.partitionBy("day").parquet(c.path("days"))},
     note="a Parquet file that a copy cut short has no footer any more")
def truncated_file(c):
    print(c.table("places").groupBy("country").agg(F.max("note")).count())
    folder = os.path.join(c.path("days"), "day=3")
    for name in os.listdir(folder):
        if name.endswith(".parquet"):
            with open(os.path.join(folder, name), "r+b") as fh:
                fh.truncate(os.path.getsize(fh.name) // 2)
    days = c.spark.read.schema("id long, note string, day int").parquet(c.path("days"))
    c.save(days.groupBy("day").agg(F.count("*"), F.max(F.sha2("note", 256))), "days")


# Healthy jobs that look like a problem.


@job(local=2, question=HEALTHY, looks=True, note="a loop adds 10 columns one by one, which costs the driver next to nothing here")
def few_columns(c):
    p = c.table("places")
    new = {"f%d" % k: F.col("country") * k % 97 for k in range(10)}
    if c.bad:
        for name, col in new.items():
            p = p.withColumn(name, col)
    else:
        p = p.withColumns(new)
    c.save(p.withColumn("mark", F.expr(WORK)).withColumn("mark2", F.expr(WORK.replace("512", "384"))).groupBy("country").agg(F.max("mark"), F.max("mark2"), F.max("f3"), F.max("f9")), "marks")


@job(workers=(2, 1, 1024), question=HEALTHY, looks=True, extra=["udo.cpu_bound", "compute.costly_expression"], note="a Python UDF, but on 240 rows after the aggregation")
def late_udf(c):
    sums = c.table("places").withColumn("mark", F.expr(WORK)).groupBy("country").agg(F.max("mark").alias("mark"), F.count("*").alias("n"))
    sums = sums.repartition(2)
    c.save(sums.withColumn("label", F.udf(lambda m: m[:9].upper(), "string")("mark") if c.bad else F.upper(F.substring("mark", 1, 9))), "labels")


@job(workers=(2, 1, 1024), spark="3.3", question=HEALTHY, conf=partitions(8), extra=["compute.costly_expression", "shuffle.unused_columns"], note="all rows have to be sorted for the output, over eight even ranges")
def sorted_places(c):
    c.save(c.table("places").withColumn("mark", F.expr(WORK)).orderBy("name"), "sorted")
