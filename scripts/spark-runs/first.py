"""The first set of jobs: public transport and sensors."""
import os
import time

from pyspark import StorageLevel, TaskContext
from pyspark.sql import Window, functions as F

from common import AQE_OFF, HEALTHY, asks, job, partitions, text, text_files


@job("skew.join_hot_key", spark="3.3", conf=partitions(12, **AQE_OFF), extra=["udo.cpu_bound", "shuffle.unused_columns"], fixed=False,
     tables={"rides": lambda c: c.rows(600_000, station="cast(case when %s and {r} < .55 then 17 else {r} * 30000 end as int)" % c.bad, minutes="cast({r} * 50 as int)"),
             "stations": lambda c: c.rows(30_000, station="cast(id as int)", city="cast(id % 40 as int)", about=text(22))},
     note="more than half of the rides start at one station; without: evenly distributed")
def rides_per_city(c):
    c.views("rides", "stations")
    joined = c.sql("SELECT s.city, s.about, r.minutes, r.id FROM rides r JOIN stations s ON r.station = s.station").withColumn("fare", asks("id", 100, 4))
    c.save(joined.groupBy("city").agg(F.count("fare"), F.sum("minutes"), F.max(F.length("about"))), "fares")


@job("skew.group_hot_key", spark="3.5", extra=["udo.cpu_bound"], question="One task runs and runs. Why?",
     tables={"events": lambda c: text_files(c, "events", 120_000, 6, lambda i: "%s,%d" % ("bus-7" if c.bad and c.random.random() < .6 else "bus-%d" % c.random.randrange(4000), i))},
     note="RDD groupByKey; one vehicle sends most events; without: evenly distributed")
def vehicle_sessions(c):
    def session(pair):
        values = sorted(pair[1])
        time.sleep(len(values) * .0002)
        return len(values)
    print(c.sc.textFile(c.path("events"), 8).map(lambda l: tuple(l.split(","))).groupByKey(12).map(session).sum())


@job("skew.null_or_default_key", spark="4.0", also=["skew.join_hot_key"], extra=["udo.cpu_bound", "shuffle.unused_columns"], conf=partitions(12),
     tables={"tickets": lambda c: c.rows(500_000, card="case when %s and {r} < .6 then null else cast({r} * 200000 as int) end" % c.bad, price="{r} * 9"),
             "cards": lambda c: c.rows(200_000, card="cast(id as int)", holder=text(6))},
     note="most tickets were sold without a card, and the left join keeps them; without: all have one")
def ticket_holders(c):
    t, k = c.table("tickets"), c.table("cards")
    out = t.join(k, t.card == k.card, "left").select(t.id, t.price, k.holder).withColumn("tier", asks("id", 100, 5))
    c.save(out.groupBy((F.col("price") / 3).cast("int").alias("zone")).agg(F.count("tier"), F.max("holder")), "tiers")


@job("skew.low_cardinality_key", spark="3.5", conf=partitions(16, **AQE_OFF), workers=(3, 2, 1024), also=["parallelism.too_low"], extra=["udo.cpu_bound", "shuffle.redundant_repartition"],
     tables={"readings": lambda c: c.rows(300_000, depot="cast({r} * 2 as int)", sensor="cast({r} * 900 as int)", value="{r}")},
     note="rows are dealt out by a column with two values, so two of 16 tasks have work; without: by the sensor")
def calibrate(c):
    def fit(rows):
        n = 0
        for n, _ in enumerate(rows, 1):
            if n % 100 == 0:
                time.sleep(.007)
        yield n
    print(c.table("readings").repartition(16, "depot" if c.bad else "sensor").rdd.mapPartitions(fit).collect())


@job("skew.partition_layout", spark="3.5", workers=(2, 2, 1024), extra=["parallelism.too_low", "udo.cpu_bound"], question="Reading takes most of the time. Why?",
     tables={"log.gz": lambda c: text_files(c, "log.gz", 240_000, 8, lambda i: "%d,%d,%s" % (i, i % 97, "%x" % (i * 2654435761 % 2**32)), "part-%05d.csv.gz", .65 if c.bad else None)},
     note="one of eight gzip files has most lines, and gzip cannot be split; without: eight even files")
def import_log(c):
    log = c.spark.read.schema("id long, line int, tag string").csv(c.path("log.gz"))
    c.save(log.withColumn("checked", asks("id", 100, 9)).groupBy("line").agg(F.count("checked"), F.max("tag")), "log")


@job("shuffle.redundant_repartition", spark="3.5", conf=partitions(8), extra=["shuffle.late_filter"], fixed=True,
     tables={"stops": lambda c: c.rows(700_000, line="cast({r} * 300 as int)", stop="cast({r} * 40 as int)", delay="{r} * 600", remark=text(14))},
     note="wide rows are dealt out round robin and then by line, before an aggregation that reduces them on its own; without: neither")
def delays_per_stop(c):
    s = c.table("stops")
    if c.bad:
        s = s.repartition(24).withColumn("late", F.col("delay") > 120).repartition(12, "line")
    else:
        s = s.withColumn("late", F.col("delay") > 120)
    c.save(s.groupBy("line", "stop").agg(F.avg("delay"), F.sum(F.col("late").cast("int")), F.max("remark")), "delays")


@job("shuffle.missed_broadcast", spark="3.5", conf=partitions(12, **AQE_OFF), extra=["shuffle.unused_columns", "parallelism.tiny_vertices"], fixed=True,
     tables={"validations": lambda c: c.rows(1_200_000, gate="cast({r} * 600 as int)", amount="{r} * 9", trace=text(9))},
     note="the small side comes from an RDD, so Spark knows no size and sorts both sides; without: broadcast()")
def gate_income(c):
    gates = c.spark.createDataFrame(c.sc.parallelize([(i, "line %d" % (i % 9)) for i in range(600)], 2), "gate int, line string")
    joined = c.table("validations").join(gates if c.bad else F.broadcast(gates), "gate")
    c.save(joined.groupBy("line").agg(F.sum("amount"), F.max("trace")), "income")


@job("shuffle.serial_gather", spark="3.5", conf=partitions(8), also=["parallelism.too_low"], extra=["udo.cpu_bound"],
     tables={"trips": lambda c: c.rows(400_000, km="{r} * 30", path=text(5))},
     note="repartition(1) before the work, to get one output file; without: eight partitions")
def price_trips(c):
    trips = c.table("trips").repartition(1 if c.bad else 8)
    c.save(trips.withColumn("price", asks("id", 100, 4)), "prices")


@job("memory.spill", spark="3.5", conf=partitions(6), bad={"spark.memory.fraction": "0.02"}, extra=["gc.heap_pressure", "parallelism.too_low"],
     tables={"positions": lambda c: c.rows(900_000, vehicle="cast({r} * 3000 as int)", at="{r}", frame=text(6))},
     note="spark.memory.fraction=0.02, so that sorts for a window spill; without: 0.6")
def movements(c):
    w = Window.partitionBy("vehicle").orderBy("at")
    p = c.table("positions").withColumn("before", F.lag("frame").over(w)).withColumn("n", F.row_number().over(w))
    c.save(p.filter(F.col("frame") != F.col("before")).groupBy("n").agg(F.count("*"), F.max("before")), "moves")


@job("gc.heap_pressure", spark="3.5", workers=(2, 2, 1024), bad={"spark.executor.memory": "512m"}, good={"spark.executor.memory": "2g"},
     conf=partitions(4, **{"spark.sql.objectHashAggregate.sortBased.fallbackThreshold": "10000000", "spark.executor.extraJavaOptions": "-XX:+UseParallelGC -XX:-UseGCOverheadLimit"}),
     extra=["memory.spill", "memory.estimate_too_low", "executor.lost", "failure.vertex_retries"], cluster=dict(memory=2048),
     tables={"taps": lambda c: c.rows(900_000, card="cast({r} * 250000 as int)", gate="cast({r} * 5000 as int)", code="hex(cast({r} * 100000000 as long))")},
     note="sets of strings per card fill a heap of 512 MB; without: 2 GB")
def gates_per_card(c):
    sets = c.table("taps").groupBy("card").agg(F.collect_set("code").alias("codes"), F.collect_set("gate").alias("gates"))
    c.save(sets.groupBy(F.size("codes").alias("n")).agg(F.count("*"), F.max(F.size("gates"))), "gates")


@job("parallelism.too_low", spark="4.0", workers=(3, 2, 1024), also=["allocation.over"], extra=["udo.cpu_bound"], question="The cluster is nearly idle while this runs. Why?",
     note="an RDD of two slices on six cores; without: twelve")
def simulate_lines(c):
    def simulate(line):
        time.sleep(.2)
        return line * line % 7
    print(c.sc.parallelize(range(110), 2 if c.bad else 12).map(simulate).sum())


@job("parallelism.tiny_vertices", spark="3.5", fixed=True, extra=["allocation.over"], question="Why does such a small computation take that long?", note="an RDD of 2,400 slices for 60,000 numbers; without: eight")
def histogram(c):
    n = 2400 if c.bad else 8
    counts = c.sc.parallelize(range(60_000), n).map(lambda x: (x % 31, 1)).reduceByKey(lambda a, b: a + b, 8).collect()
    print(len(counts))


@job("io.small_files", spark="3.3", fixed=True, extra=["parallelism.tiny_vertices", "driver.bottleneck"],
     tables={"day": lambda c: text_files(c, "day", 90_000, 3000 if c.bad else 6, lambda i: "%d,%d,%d" % (i, i % 400, i * 7 % 1009))},
     note="3,000 CSV files of 30 lines; without: six files with the same lines")
def stops_of_a_day(c):
    day = c.spark.read.schema("id long, stop int, seconds int").csv(c.path("day"))
    c.save(day.groupBy("stop").agg(F.avg("seconds"), F.count("*")), "stops")


@job("join.explosion", spark="3.5", conf=partitions(12), extra=["skew.join_hot_key", "shuffle.missed_broadcast", "skew.low_cardinality_key", "parallelism.tiny_vertices", "cardinality.misestimate", "parallelism.too_low"], fixed=True,
     tables={"legs": lambda c: c.rows(60_000, day="cast({r} * 40 as int)", rider="cast({r} * 9000 as int)", km="{r}")},
     note="legs are joined on the day instead of day and rider; without: on both")
def transfers(c):
    a, b = c.table("legs").alias("a"), c.table("legs").alias("b")
    on = (F.col("a.day") == F.col("b.day")) if c.bad else ((F.col("a.day") == F.col("b.day")) & (F.col("a.rider") == F.col("b.rider")))
    j = a.join(b, on).withColumn("gap", F.abs(F.col("a.km") - F.col("b.km")))
    c.save(j.groupBy((F.col("gap") * 10).cast("int").alias("bucket")).agg(F.count("*"), F.avg("gap")), "transfers")


@job("udo.cpu_bound", spark="4.0", fixed=True, extra=["allocation.under"], question="Where does the time of this job go?",
     tables={"notes": lambda c: c.rows(160_000, note=text(3))},
     note="a Python UDF that computes for every row; without: built-in functions")
def normalize_notes(c):
    def clean(s):
        out = 0
        for ch in s:
            out = (out * 31 + ord(ch)) % 1000003
        return "".join(sorted(s))[:8] + str(out)
    n = c.table("notes").repartition(8)
    col = F.udf(clean, "string")("note") if c.bad else F.concat(F.substring(F.array_join(F.array_sort(F.split("note", "")), ""), 1, 8), F.crc32("note").cast("string"))
    c.save(n.withColumn("key", col).groupBy(F.substring("key", 1, 1).alias("k")).agg(F.count("*"), F.max("key")), "keys")


@job("failure.vertex_retries", spark="3.5", extra=["udo.cpu_bound", "failure.user_code"], question="It ends well, but takes longer than last week. Why?",
     note="most tasks fail once at their end (a connection is reset) and are repeated; without: no failures")
def fetch_prices(c):
    bad = c.bad

    def fetch(index, rows):
        n = sum(1 for _ in rows)
        time.sleep(1.5)
        if bad and index % 4 and TaskContext.get().attemptNumber() == 0:
            raise ConnectionResetError("connection reset by peer")
        yield n
    print(c.sc.parallelize(range(24_000), 24).mapPartitionsWithIndex(fetch).sum())


@job("failure.user_code", spark="4.0", pair=False, extra=["failure.vertex_retries"], question="Why did it fail?",
     tables={"rides": lambda c: c.rows(300_000, km="{r} * 30", minutes="case when id = 212121 then 0 else 1 + cast({r} * 50 as int) end")},
     note="SQL divides by zero in ANSI mode, and the job fails")
def speeds(c):
    c.views("rides")
    print(c.sql("SELECT max(km) FROM rides").collect())
    c.save(c.sql("SELECT minutes % 7 AS d, avg(cast(km * 60 AS int) div minutes) AS speed FROM rides GROUP BY minutes % 7"), "speeds")


@job("failure.slow_machine", spark="3.5", workers=(3, 1, 1024), conf=AQE_OFF, extra=["udo.cpu_bound"], question="Some tasks take far longer, and the data is even. Why?",
     note="one of three executors is stopped for most of the time, as on a host that others overload; without: not stopped")
def simulate_delays(c):
    if c.bad:
        c.throttle_executor(1, .12)
    def step(i):
        x = i
        for k in range(60_000):
            x = (x * 1103515245 + k) % 2147483648
            if k % 20_000 == 0:
                time.sleep(.01)
        return x % 10
    print(c.sc.parallelize(range(400), 40).map(step).sum())
    c.quiet()


@job("failure.limit", spark="3.5", pair=False, conf={"spark.driver.maxResultSize": "6m"}, extra=["driver.bottleneck", "failure.vertex_retries", "failure.user_code"], question="Why did the application end with an error?",
     tables={"taps": lambda c: c.rows(500_000, code=text(2))}, note="collect() of more than spark.driver.maxResultSize")
def export_taps(c):
    c.table("taps").collect()


@job("memory.estimate_too_low", spark="3.5", pair=False, also=["executor.lost"], workers=(2, 2, 1024), conf=partitions(4, **{"spark.executor.memory": "512m"}), question="Why did this application fail?",
     extra=["skew.group_hot_key", "failure.vertex_retries", "failure.limit", "gc.heap_pressure", "memory.spill", "failure.user_code"],
     tables={"frames": lambda c: c.rows(1_000_000, line="cast(id % 3 as int)", frame=text(12))},
     note="lists of all frames of a line do not fit into executors of 512 MB, which die of it")
def frames_of_a_line(c):
    f = c.table("frames").groupBy("line").agg(F.collect_list("frame").alias("frames"))
    c.save(f.select("line", F.size(F.array_sort("frames"))), "frames")


@job("driver.bottleneck", spark="3.5", conf={"spark.driver.maxResultSize": "2g"}, question="The executors idle most of the time. Why?",
     tables={"fares": lambda c: c.rows(700_000, zone="cast({r} * 60 as int)", fare="{r} * 9", code=text(1))}, fixed=True,
     note="all rows are fetched into the driver and aggregated in Python there; without: in Spark")
def zone_totals(c):
    if c.bad:
        sums = {}
        for row in c.table("fares").collect():
            key = (row["zone"], row["code"][:1])
            sums[key] = sums.get(key, 0.0) + row["fare"]
        out = c.spark.createDataFrame([(k[0], k[1], v) for k, v in sums.items()], "zone int, code string, fare double")
    else:
        out = c.table("fares").groupBy("zone", F.substring("code", 1, 1)).agg(F.sum("fare"))
    c.save(out.coalesce(1), "zones", compression="gzip")


@job("executor.lost", spark="3.5", workers=(3, 1, 1024), conf=partitions(12, **AQE_OFF), also=["failure.vertex_retries"], extra=["udo.cpu_bound", "allocation.under"], question="Why was this slower than yesterday?",
     tables={"rides": lambda c: c.rows(300_000, line="cast({r} * 5000 as int)", km="{r}")},
     note="an executor is killed while its shuffle files are being read, so its map tasks run again; without: it lives")
def line_kilometers(c):
    if c.bad:
        c.kill_executor(1, 14)
    r = c.table("rides").withColumn("snapped", asks("id", 100, 6)).groupBy("line").agg(F.sum("km").alias("km"), F.count("snapped").alias("n"))
    c.save(r.withColumn("audited", asks("line", 5, 20)).groupBy((F.col("km") / 10).cast("int")).agg(F.count("audited"), F.sum("n")), "kilometers")


@job("broadcast.too_large", spark="3.5", conf={"spark.driver.memory": "3g"}, workers=(2, 2, 2048), also=["cardinality.misestimate"], extra=["gc.heap_pressure", "driver.bottleneck", "shuffle.unused_columns"],
     tables={"plans": lambda c: c.rows(1_600_000, plan="cast(id as int)", detail=text(4)), "bookings": lambda c: c.rows(60_000, plan="cast({r} * 1600000 as int)")},
     note="a BROADCAST hint on 1.6 million wide rows; without: the small side is broadcast")
def booked_plans(c):
    c.views("plans", "bookings")
    joined = c.sql("SELECT /*+ BROADCAST(%s) */ b.id, p.detail FROM bookings b JOIN plans p ON b.plan = p.plan" % ("p" if c.bad else "b"))
    c.save(joined, "booked")


@job("cache.ineffective", spark="3.3", conf=partitions(8), extra=["udo.cpu_bound"], fixed=False, question="Each report takes as long as the first. Why?",
     tables={"passes": lambda c: c.rows(400_000, gate="cast({r} * 500 as int)", hour="cast({r} * 24 as int)")},
     note="five queries compute the same expensive view; without: CACHE TABLE")
def gate_reports(c):
    c.table("passes").withColumn("person", asks("id", 100, 3)).groupBy("gate", "hour").agg(F.count("person").alias("n")).createOrReplaceTempView("per_hour")
    if not c.bad:
        c.sql("CACHE TABLE per_hour")
    for q in ("SELECT max(n) FROM per_hour", "SELECT hour, sum(n) FROM per_hour GROUP BY hour", "SELECT gate, avg(n) FROM per_hour GROUP BY gate",
              "SELECT count(*) FROM per_hour WHERE n > 9", "SELECT min(n), hour FROM per_hour GROUP BY hour"):
        c.sql(q).collect()


@job("allocation.over", spark="3.5", workers=(5, 2, 768), bad={}, resource_only=True, also=["parallelism.too_low"], extra=["udo.cpu_bound", "shuffle.serial_gather", "driver.bottleneck"], question="Do we need that many executors?",
     note="ten cores are held and two are used; saves core time, not wall time")
def poll_gates(c):
    def poll(rows):
        for _ in rows:
            time.sleep(.05)
            yield 1
    print(c.sc.parallelize(range(500), 2).mapPartitions(poll).count())


@job("allocation.under", spark="3.5", workers=(3, 2, 1024), cluster=dict(bad=(1, 1, 1024)), extra=["udo.cpu_bound"], question="Would more cores help?",
     tables={"cars": lambda c: c.rows(320_000, 32, line="cast({r} * 500 as int)")}, conf={"spark.sql.files.maxPartitionBytes": "64k", "spark.sql.files.openCostInBytes": "48k"},
     note="one core for dozens of even tasks that wait for a service; without: six cores")
def car_states(c):
    s = c.table("cars").repartition(48).withColumn("state", asks("id", 100, 5))
    c.save(s.groupBy("line").agg(F.count("state")), "states")


@job("queue.wait", spark="3.5", workers=(2, 2, 1024), cluster=dict(held=20), conf={"spark.cores.max": "4"}, question="The query is simple. Why did it take so long?",
     tables={"rides": lambda c: c.rows(400_000, line="cast({r} * 500 as int)", km="{r}")},
     note="standalone cluster on which another application holds all cores at first; without: it is free")
def kilometers(c):
    c.save(c.table("rides").groupBy("line").agg(F.sum("km")), "km")


@job("cardinality.misestimate", spark="3.5", also=["broadcast.too_large"], conf={"spark.sql.ui.explainMode": "cost", "spark.driver.memory": "3g"}, workers=(2, 2, 2048),
     good={"spark.sql.autoBroadcastJoinThreshold": "-1"}, extra=["driver.bottleneck", "gc.heap_pressure", "join.explosion"],
     tables={"calendar": lambda c: c.rows(4_500_000, 1, day="cast(id % 900 as int)", label="repeat(concat('day ', cast(id % 900 as string)), 12)", kind="cast(id % 3 as int)").drop("id"),
             "plan": lambda c: c.rows(900, 2, day="cast(id as int)", season="cast(id % 4 as int)")},
     note="4.5 million rows compress into a file of less than 10 MB, so Spark takes them for small and broadcasts them; without: no broadcast by size")
def season_days(c):
    plan, cal = c.table("plan"), c.table("calendar")
    joined = plan.join(cal, "day", "left").groupBy("season", "kind").agg(F.count("*"), F.max("label"))
    c.save(joined, "seasons")


# Healthy jobs; several look like a problem at first sight.


@job(spark="3.5", question=HEALTHY, tables={"notes": lambda c: c.rows(1_500_000, note=text(5), line="cast({r} * 400 as int)")}, note="a Python UDF, but on 400 rows")
def label_lines(c):
    per = c.table("notes").groupBy("line").agg(F.count("*").alias("n"), F.max("note").alias("note"), F.approx_count_distinct("note"))
    c.save(per.withColumn("label", F.udf(lambda n, s: "%d %s" % (n, s[:9]))("n", "note")), "labels")


@job(spark="3.3", question=HEALTHY, conf=partitions(8), extra=["shuffle.unused_columns"],
     tables={"rides": lambda c: c.rows(1_200_000, line="cast(pow({r}, 1.3) * 4000 as int)", km="{r}", trace=text(4)), "lines": lambda c: c.rows(4_000, line="cast(id as int)", about=text(90))},
     note="mild skew: the largest partition is somewhat larger than the median")
def ride_lines(c):
    j = c.table("rides").hint("merge").join(c.table("lines").hint("merge"), "line")
    c.save(j.groupBy("line").agg(F.sum("km"), F.max("trace"), F.max("about")), "lines")


@job(spark="4.0", question=HEALTHY, conf=partitions(8), extra=["shuffle.unused_columns"],
     tables={"taps": lambda c: c.rows(1_000_000, card="cast({r} * 600000 as int)", t=text(3)), "trips": lambda c: c.rows(900_000, card="cast({r} * 600000 as int)", u=text(3))},
     note="two large sides are joined: the shuffle is necessary")
def taps_and_trips(c):
    j = c.table("taps").join(c.table("trips"), "card")
    c.save(j.groupBy("card").agg(F.max("t"), F.max("u"), F.count("*")).filter("count(1) > 3"), "cards")


@job(spark="3.5", question=HEALTHY, conf=partitions(8, **{"spark.memory.fraction": "0.3"}), extra=["memory.spill"],
     tables={"frames": lambda c: c.rows(800_000, at="{r}", frame=text(5))}, note="a global sort by range, which may spill a little")
def sorted_frames(c):
    c.save(c.table("frames").orderBy("at"), "sorted")


@job(spark="3.5", question=HEALTHY, tables={"rides": lambda c: c.rows(900_000, line="cast({r} * 500 as int)", km="{r}", t=text(3))}, extra=["allocation.over"], conf={"spark.app.name": "PySparkShell"},
     note="a person looks at the first result for 15 s before asking again, so the driver holds up nothing")
def notebook(c):
    c.table("rides").groupBy("line").agg(F.sum("km"), F.max("t")).collect()
    time.sleep(15)
    c.table("rides").groupBy((F.col("km") * 10).cast("int")).agg(F.count("*"), F.max("t")).collect()


@job(spark="3.5", question=HEALTHY, tables={"words": lambda c: text_files(c, "words", 400_000, 6, lambda i: " ".join("w%d" % (i * k % 7919) for k in (3, 7, 11, 13)))},
     extra=["udo.cpu_bound"], note="RDD word count, all in Python; the work is what it is")
def count_words(c):
    counts = c.sc.textFile(c.path("words"), 8).flatMap(str.split).map(lambda w: (w, 1)).reduceByKey(lambda a, b: a + b, 8)
    print(counts.takeOrdered(20, lambda p: -p[1]))


@job(spark="3.3", question=HEALTHY, conf=partitions(4), tables={"rides": lambda c: c.rows(500_000, line="cast({r} * 500 as int)", km="{r}", hour="cast({r} * 24 as int)")},
     extra=["cache.ineffective"], note="ten different short queries on one table")
def dashboard(c):
    c.views("rides")
    for hour in range(10):
        c.sql("SELECT line, sum(km) AS km FROM rides WHERE hour = %d GROUP BY line ORDER BY km DESC LIMIT 5" % (hour * 2)).collect()


@job(spark="4.0", question=HEALTHY, conf=partitions(12, **{"spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": "1m", "spark.sql.adaptive.advisoryPartitionSizeInBytes": "2m", "spark.sql.adaptive.skewJoin.skewedPartitionFactor": "2"}),
     extra=["shuffle.unused_columns"],
     tables={"rides": lambda c: c.rows(900_000, station="cast(case when {r} < .4 then 17 else {r} * 60000 end as int)", t=text(3)), "stations": lambda c: c.rows(60_000, station="cast(id as int)", about=text(14))},
     note="a hot key, which adaptive execution splits by itself")
def split_stations(c):
    j = c.table("rides").join(c.table("stations"), "station")
    c.save(j.select("station", F.sha2(F.concat("t", "about"), 256).alias("h")), "stations")


@job(spark="3.5", question=HEALTHY, extra=["udo.cpu_bound"], note="one of 40 tasks fails once")
def one_retry(c):
    def work(index, rows):
        n = sum(x * x % 7 for x in rows for _ in range(12))
        if index == 11 and TaskContext.get().attemptNumber() == 0:
            raise ConnectionResetError("connection reset by peer")
        yield n
    print(c.sc.parallelize(range(600_000), 40).mapPartitionsWithIndex(work).sum())


@job(spark="3.5", question=HEALTHY, conf=partitions(8), tables={"rides": lambda c: c.rows(1_500_000, line="cast({r} * 300 as int)", km="{r}", t=text(4))},
     note="a window over all rows and a sort in one partition, but on 300 rows")
def ranking(c):
    per = c.table("rides").groupBy("line").agg(F.sum("km").alias("km"), F.max("t").alias("t"), F.approx_count_distinct("t"))
    c.save(per.withColumn("rank", F.row_number().over(Window.orderBy(F.desc("km")))).orderBy("rank"), "ranks")


@job(spark="3.5", question=HEALTHY, conf=partitions(8), tables={"rides": lambda c: c.rows(900_000, line="cast({r} * 3000 as int)", km="{r}", t=text(4))},
     note="a cached intermediate that three queries use")
def reuse(c):
    per = c.table("rides").groupBy("line").agg(F.sum("km").alias("km"), F.max("t").alias("t"), F.approx_count_distinct("t")).persist(StorageLevel.MEMORY_AND_DISK)
    print(per.count(), per.agg(F.max("km")).collect(), per.filter("km > 100").count())
    per.unpersist()


@job(verdict="insufficient_information", spark="3.5", question="Why did this application end?", note="the driver is killed while its first query runs: no end, no error",
     tables={"rides": lambda c: c.rows(300_000, line="cast({r} * 3000 as int)")})
def cut_short(c):
    import threading
    threading.Timer(4, lambda: os.kill(os.getpid(), 9)).start()
    c.sc.parallelize(range(40), 40).map(lambda x: time.sleep(1)).count()
