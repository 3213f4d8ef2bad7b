"""Structured Streaming: events of machines arrive as files, and queries keep up with them, fall behind or fail."""
import gzip
import os
import shutil
import threading
import time

from pyspark.sql import functions as F

from common import HEALTHY, job, partitions, text

TWO = (2, 1, 1024)
SCHEMA = "id long, machine int, at timestamp, value double, note string"
AT = "timestamp_seconds(1700000000 + cast(id / 50 as long))"
HEAVY = "sha2(concat(note, sha2(concat(note, sha2(concat(note, sha2(concat(note, sha2(concat(note, id), 512)), 512)), 512)), 512)), 512)"


def events(n, files, **more):
    """A table of n events in JSON files."""
    columns = dict(machine="cast({r} * 900 as int)", at=AT, value="{r} * 40", note=text(3), **more)
    return lambda c: c.rows(n, files, **columns).write.json(c.path("events"))


def source(c, folder=None, **options):
    return c.spark.readStream.schema(SCHEMA).options(**options).json(folder or c.path("events"))


def start(c, frame, write=None, **trigger):
    """Starts a query that writes Parquet files, or calls `write` for each batch."""
    q = frame.writeStream.option("checkpointLocation", os.path.join(c.out, "checkpoint")).trigger(**trigger)
    if write:
        return q.foreachBatch(write).start()
    return q.format("parquet").option("path", os.path.join(c.out, "sink")).start()


def drain(c, frame, write=None, mode=None):
    """Processes the available files, batch by batch."""
    q = frame.writeStream.option("checkpointLocation", os.path.join(c.out, "checkpoint")).trigger(availableNow=True)
    q = q.outputMode(mode) if mode else q
    q = q.foreachBatch(write) if write else q.format("noop")
    q.start().awaitTermination()


def feed(c, every):
    """A folder that gets a file at a regular interval, and an event that is set after the last file."""
    folder, done = os.path.join(c.out, "inbox"), threading.Event()
    os.makedirs(folder)
    names = sorted(n for n in os.listdir(c.path("events")) if n.startswith("part-"))

    def arrive():
        for n in names:
            shutil.copy(os.path.join(c.path("events"), n), os.path.join(folder, "." + n))
            os.rename(os.path.join(folder, "." + n), os.path.join(folder, n))
            time.sleep(every)
        done.set()
    threading.Thread(target=arrive, daemon=True).start()
    return folder, done


def finish(query, done):
    """Waits until all files have arrived and been worked on."""
    done.wait()
    query.processAllAvailable()
    query.stop()


# Queries that wait or work without a problem.


@job(local=2, question=HEALTHY, extra=["allocation.over"], tables={"events": events(40_000, 6)}, note="a small file every five seconds and a trigger of five seconds: it keeps up and waits most of the time")
def waits_for_files(c):
    folder, done = feed(c, 5)
    finish(start(c, source(c, folder).withColumn("mark", F.expr(HEAVY)), processingTime="5 seconds"), done)


@job(workers=TWO, spark="4.0", question=HEALTHY, extra=["allocation.over"], tables={"events": events(24_000, 4)}, note="an idle query with executors: four small files in 28 seconds, a trigger of two seconds")
def mostly_idle(c):
    folder, done = feed(c, 7)
    finish(start(c, source(c, folder).filter("value > 20"), processingTime="2 seconds"), done)


@job(local=2, question=HEALTHY, extra=["compute.costly_expression", "allocation.under"], tables={"events": events(360_000, 24)}, note="a file per second, a trigger of three seconds, batches of one to two seconds: busy, and it keeps up")
def keeps_up(c):
    folder, done = feed(c, 1)
    finish(start(c, source(c, folder).withColumn("mark", F.expr(HEAVY)), processingTime="3 seconds"), done)


@job(local=2, spark="3.3", question=HEALTHY, conf=partitions(2), extra=["compute.costly_expression"], tables={"events": events(900_000, 8)}, note="state of 900 machines does not grow; batches are even")
def bounded_state(c):
    e = source(c, maxFilesPerTrigger=4).withColumn("mark", F.expr(HEAVY))
    drain(c, e.groupBy("machine").agg(F.avg("value"), F.max("mark")), mode="update")


# Queries with a problem, and their forms without it.


@job("udo.cpu_bound", local=2, fixed=True, also=["allocation.under", "compute.costly_expression"], extra=["overhead.unexplained"], question="The stream lags behind. Why?", tables={"events": events(200_000, 18)},
     note="a file per second, but a Python function needs more than two seconds of two cores per file: each batch is larger than the one before; without: a built-in function")
def falls_behind(c):
    def grade(note):
        total = 0
        for k in range(16):
            for ch in note:
                total = (total * 31 + ord(ch) + k) % 1000003
        return total
    folder, done = feed(c, 1)
    e = source(c, folder).withColumn("grade", F.udf(grade, "int")("note") if c.bad else F.crc32("note"))
    finish(start(c, e, processingTime="2 seconds"), done)


@job("parallelism.tiny_vertices", local=2, fixed=True, conf=partitions(2), bad={"spark.sql.shuffle.partitions": "200"}, extra=["io.small_files", "overhead.unexplained", "driver.bottleneck"], question="Each batch has little data. Why does it take so long?", tables={"events": events(500_000, 6)},
     note="a stateful query with the default of 200 shuffle partitions, each with its own state store, for 900 machines; without: two")
def default_partitions(c):
    e = source(c, maxFilesPerTrigger=2).withColumn("mark", F.expr(HEAVY))
    drain(c, e.groupBy("machine").agg(F.avg("value"), F.max("mark"), F.count("*")), mode="update")


@job("io.small_files", workers=TWO, fixed=True, also=["parallelism.tiny_vertices"], extra=["driver.bottleneck", "overhead.unexplained", "compute.costly_expression"], question="Why does the backlog take so long?", conf=partitions(2),
     tables={"events": lambda c: events(180_000, 1800 if c.bad else 6)(c)}, note="a backlog of 1,800 files of 100 events; without: six files")
def file_backlog(c):
    e = source(c).withColumn("mark", F.expr(HEAVY))
    drain(c, e.filter("machine < 600"), lambda batch, n: batch.groupBy("machine").agg(F.max("mark"), F.count("*")).write.mode("append").parquet(os.path.join(c.out, "sink")))


@job("driver.bottleneck", local=2, fixed=True, also=["overhead.unexplained", "driver.commit", "parallelism.tiny_vertices", "io.small_files"], question="Why is it no faster with more executors?", tables={"events": events(160_000, 48)},
     note="maxFilesPerTrigger=1 makes 48 micro-batches of half a second of planning and log writing each; without: 24 files per batch")
def tiny_batches(c):
    e = source(c, maxFilesPerTrigger=1 if c.bad else 24).withColumn("mark", F.expr(HEAVY))
    drain(c, e, lambda batch, n: batch.write.mode("append").parquet(os.path.join(c.out, "sink")))


@job("driver.bottleneck", local=2, fixed=True, extra=["overhead.unexplained"], question="What do the batches wait for?", tables={"events": events(480_000, 8)},
     note="each batch is collected and written by a loop on the driver; without: written by the tasks")
def collecting_batches(c):
    bad = c.bad

    def write(batch, n):
        if not bad:
            batch.select("machine", F.upper("note"), "value").write.mode("append").csv(os.path.join(c.out, "sink"))
            return
        with open(os.path.join(c.out, "batch-%d.csv" % n), "w") as fh:
            for row in batch.collect():
                fh.write("%d,%s,%.3f,%d\n" % (row["machine"], row["note"].upper(), row["value"], sum(map(ord, row["note"])) % 97))
    drain(c, source(c, maxFilesPerTrigger=4), write)


@job("cache.ineffective", workers=TWO, fixed=True, extra=["compute.costly_expression", "udo.cpu_bound"], question="Each batch reads its files several times. Why?", conf=partitions(2), tables={"events": events(420_000, 8)},
     note="foreachBatch writes four results of the same computed rows, which are computed four times; without: the batch is persisted")
def four_sinks(c):
    bad = c.bad

    def write(batch, n):
        batch = batch if bad else batch.persist()
        for key in ("machine % 9", "machine % 7", "substring(mark, 1, 1)", "cast(value as int)"):
            batch.groupBy(F.expr(key).alias("k")).agg(F.max("mark"), F.avg("value")).write.mode("append").parquet(os.path.join(c.out, "sink"))
        if not bad:
            batch.unpersist()
    drain(c, source(c, maxFilesPerTrigger=4).withColumn("mark", F.expr(HEAVY)), write)


@job("cache.ineffective", local=2, fixed=True, conf=partitions(2), extra=["shuffle.missed_broadcast", "compute.costly_expression", "io.scan_without_filter", "driver.bottleneck"], question="The events are few. What else does each batch do?",
     tables={"events": events(60_000, 8), "machines": lambda c: c.rows(260_000, 4, m="cast(id % 900 as int)", since="{r}", plan=text(4)).write.json(c.path("machines"))},
     note="a static table is parsed and aggregated again in each of eight batches; without: cached")
def static_side(c):
    m = c.spark.read.schema("m int, since double, plan string").json(c.path("machines")).groupBy("m").agg(F.max("plan").alias("plan"), F.max("since").alias("since"), F.max(F.sha2("plan", 512)).alias("mark"))
    m = m if c.bad else m.cache()
    e = source(c, maxFilesPerTrigger=1).join(F.broadcast(m), F.col("machine") == F.col("m"))
    drain(c, e.select("id", "plan", "mark"))


@job("overhead.unexplained", local=2, fixed=True, also=["cache.ineffective", "compute.costly_expression", "gc.heap_pressure", "memory.spill", "driver.commit", "straggler.unexplained"], extra=["udo.cpu_bound", "cardinality.misestimate"], question="Each batch takes longer than the one before. Why?",
     conf=partitions(2, **{"spark.driver.memory": "2g"}), tables={"events": events(700_000, 10)}, note="output mode complete writes all groups that were ever seen in every batch, and there is a group per event; without: update, which writes what changed")
def ever_growing(c):
    e = source(c, maxFilesPerTrigger=1).groupBy("id").agg(F.max("note").alias("note"), F.sum("value").alias("v"))
    drain(c, e, lambda batch, n: batch.withColumn("mark", F.expr(HEAVY)).write.mode("overwrite").parquet(os.path.join(c.out, "sink")), mode="complete" if c.bad else "update")


@job("failure.user_code", local=2, pair=False, extra=["failure.vertex_retries", "failure.input"], question="Why did the stream stop?", tables={"events": events(90_000, 6)},
     note="one event of the fifth batch has a note that a Python function cannot parse")
def poisoned_event(c):
    def parse(i, note):
        return int(note[:8], 16) + (1 // (71234 - i))
    drain(c, source(c, maxFilesPerTrigger=1).withColumn("parsed", F.udf(parse, "long")("id", "note")), lambda batch, n: batch.write.mode("append").parquet(os.path.join(c.out, "sink")))


@job("failure.input", local=2, pair=False, extra=["failure.vertex_retries", "failure.user_code"], question="Why did it end?", tables={"events": events(90_000, 4)},
     note="the last file that arrives is a gzip file that was cut off")
def cut_off_file(c):
    folder, done = feed(c, 2)
    query = start(c, source(c, folder).withColumn("mark", F.expr(HEAVY)), processingTime="2 seconds")
    done.wait()
    with open(os.path.join(folder, "part-late.json.gz"), "wb") as fh:
        fh.write(gzip.compress(b'{"id": 1, "machine": 2, "note": "abcdef"}\n' * 40_000)[:2000])
    query.awaitTermination()
