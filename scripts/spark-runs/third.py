"""The third set of jobs: a web shop and weather stations.  Other mechanisms than in the first and second, and written without
knowledge of the rules.  Jobs for Spark 3.3 use no Python functions."""
import os
import signal
import threading
import time

from pyspark import StorageLevel, TaskContext
from pyspark.sql import Window, functions as F

from common import AQE_OFF, HEALTHY, asks, job, partitions, text, text_files


@job("skew.join_hot_key", spark="3.5", conf=partitions(12, **{"spark.sql.adaptive.coalescePartitions.enabled": "false"}), extra=["udo.cpu_bound", "shuffle.unused_columns"],
     question="Most of the tasks are done at once, and then it hangs. Why?",
     tables={"items": lambda c: c.rows(500_000, ord="cast({r} * 150000 as int)", seller="cast(case when %s and {r} < .55 then 9 else {r} * 40000 end as int)" % c.bad, cents="cast({r} * 9000 as int)"),
             "orders": lambda c: c.rows(150_000, ord="cast(id as int)", customer="cast({r} * 5000 as int)", note=text(5)),
             "sellers": lambda c: c.rows(40_000, seller="cast(id as int)", region="cast(id % 30 as int)", terms=text(20)),
             "customers": lambda c: c.rows(5_000, 1, customer="cast(id as int)", grade="cast(id % 7 as int)")},
     note="the second of three joins has a hot key, a seller with more than half of all items; without: evenly distributed")
def seller_fees(c):
    c.views("items", "orders", "sellers", "customers")
    c.sql("SELECT i.id, i.cents, o.customer, length(o.note) AS noted, s.region, length(s.terms) AS terms FROM items i JOIN orders o ON i.ord = o.ord JOIN sellers s ON i.seller = s.seller"
          ).withColumn("fee", asks("id", 100, 6)).createOrReplaceTempView("fees")
    c.save(c.sql("SELECT f.region, u.grade, count(f.fee) AS n, sum(f.cents) AS cents, max(f.noted) AS noted, max(f.terms) AS terms FROM fees f JOIN customers u ON f.customer = u.customer GROUP BY f.region, u.grade"), "fees")


@job("skew.join_hot_key", spark="4.0", extra=["udo.cpu_bound", "shuffle.unused_columns"],
     conf=partitions(12, **{"spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": "1m", "spark.sql.adaptive.advisoryPartitionSizeInBytes": "2m", "spark.sql.adaptive.skewJoin.skewedPartitionFactor": "2"}),
     tables={"readings": lambda c: c.rows(400_000, station="cast(case when %s and {r} < .5 then 17 else {r} * 60000 end as int)" % c.bad, unit=text(2)), "stations": lambda c: c.rows(60_000, station="cast(id as int)", history=text(8))},
     note="half of all readings come from one station; adaptive execution is set up to split that, but cannot in a full outer join; without: evenly distributed")
def station_history(c):
    r, s = c.table("readings").alias("r"), c.table("stations").alias("s")
    j = r.join(s, F.col("r.station") == F.col("s.station"), "full_outer").select("r.id", F.coalesce("r.station", "s.station").alias("station"), F.length("history").alias("n"), "unit")
    c.save(j.withColumn("quality", asks("id", 100, 7)).select("station", "n", "quality", F.substring("unit", 1, 4).alias("unit")), "history")


@job("skew.group_hot_key", spark="3.3", conf=partitions(10, **AQE_OFF), extra=["udo.cpu_bound"], question="What does the last task do?",
     tables={"clicks": lambda c: c.rows(400_000, visitor="case when %s and {r} < .5 then 'crawler' else concat('v', cast({r} * 30000 as int)) end" % c.bad, page="cast({r} * 900 as int)", at="{r}")},
     note="lists of pages per visitor are collected and exploded again, and a crawler has half of all clicks; without: evenly distributed")
def click_paths(c):
    c.views("clicks")
    c.sql("SELECT visitor, pos, step.page AS page FROM (SELECT visitor, array_sort(collect_list(named_struct('at', at, 'page', page))) AS steps FROM clicks GROUP BY visitor) LATERAL VIEW posexplode(steps) AS pos, step").createOrReplaceTempView("paths")
    c.save(c.spark.table("paths").withColumn("campaign", asks("visitor, pos", 100, 7)).select("visitor", "pos", "page", "campaign"), "paths")


@job("skew.null_or_default_key", spark="3.5", also=["skew.group_hot_key", "skew.join_hot_key"], extra=["udo.cpu_bound"],
     note="RDD cogroup by the tracking code, which is empty for most parcels; without: all have one")
def track_parcels(c):
    bad = c.bad
    parcels = c.sc.parallelize(range(240_000), 8).map(lambda i: ("" if bad and i % 5 < 3 else "T%d" % (i * 7919 % 50_000), i))
    scans = c.sc.parallelize(range(50_000), 4).map(lambda i: ("T%d" % i, i % 31))

    def trace(pair):
        mine, seen = list(pair[1][0]), list(pair[1][1])
        time.sleep(len(mine) * .0001)
        return len(mine) if seen else 0
    print(parcels.cogroup(scans, 12).map(trace).sum())


@job("skew.low_cardinality_key", spark="4.0", workers=(3, 2, 1024), also=["parallelism.too_low"], extra=["udo.cpu_bound", "shuffle.redundant_repartition", "allocation.over"],
     tables={"readings": lambda c: c.rows(250_000, warm="{r} < .5", station="cast({r} * 900 as int)", value="{r} * 40 - 10")},
     note="repartitionByRange over a column with two values makes two ranges of work instead of 18; without: over the id")
def warm_days(c):
    r = c.table("readings").repartitionByRange(18, "warm" if c.bad else "id")
    c.save(r.withColumn("corrected", asks("id", 100, 12)), "corrected")


@job("skew.partition_layout", spark="3.3", conf={"spark.sql.files.maxPartitionBytes": "512k"}, extra=["parallelism.too_low", "udo.cpu_bound"], question="One task of the first stage takes very long. Why?",
     tables={"catalogue": lambda c: text_files(c, "catalogue", 240_000, 8, lambda i: '%d,%d,"article %x"' % (i, i % 97, i * 2654435761 % 2**32), "export-%03d.csv", .65 if c.bad else None, 2)},
     note="CSV with multiLine, which cannot be split, and one of eight files has most rows; without: eight even files")
def read_catalogue(c):
    a = c.spark.read.option("multiLine", "true").schema("id long, category int, label string").csv(c.path("catalogue"))
    c.save(a.withColumn("image", asks("id", 100, 9)).groupBy("category").agg(F.count("image"), F.max("label")), "catalogue")


@job("shuffle.redundant_repartition", spark="3.3", conf=partitions(8), fixed=True, extra=["shuffle.late_filter", "shuffle.unused_columns"],
     tables={"baskets": lambda c: c.rows(600_000, shop="cast({r} * 200 as int)", shelf="cast({r} * 50 as int)", ordered="{r}", cents="cast({r} * 9000 as int)", memo=text(12))},
     note="hints deal wide rows out by ranges and then round robin, before an aggregation that needs neither; without: no hints")
def basket_values(c):
    c.views("baskets")
    c.sql("SELECT %s * FROM baskets" % ("/*+ REPARTITION_BY_RANGE(16, ordered) */" if c.bad else "")).createOrReplaceTempView("ready")
    c.sql("SELECT %s shop, shelf, memo, cents, cents > 4000 AS large FROM ready" % ("/*+ REPARTITION(12) */" if c.bad else "")).createOrReplaceTempView("marked")
    c.save(c.sql("SELECT shop, shelf, sum(cents) AS cents, sum(CAST(large AS INT)) AS large, max(memo) AS memo FROM marked GROUP BY shop, shelf"), "values")


@job("shuffle.missed_broadcast", spark="3.5", conf=partitions(10), fixed=True, extra=["shuffle.unused_columns"],
     tables={"readings": lambda c: c.rows(800_000, station="cast({r} * 500 as int)", sensor="cast({r} * 120 as int)", value="{r} * 40", raw=text(9)),
             "stations": lambda c: c.rows(500, 1, station="cast(id as int)", region="cast(id % 16 as int)"), "sensors": lambda c: c.rows(120, 1, sensor="cast(id as int)", kind="cast(id % 5 as int)")},
     note="MERGE hints from old times make two joins with tiny tables shuffle and sort all readings twice; without: no hints")
def region_readings(c):
    c.views("readings", "stations", "sensors")
    hint = "/*+ MERGE(s), MERGE(k) */" if c.bad else ""
    c.save(c.sql("SELECT %s s.region, k.kind, avg(r.value) AS value, max(r.raw) AS raw FROM readings r JOIN stations s ON r.station = s.station JOIN sensors k ON r.sensor = k.sensor GROUP BY s.region, k.kind" % hint), "regions")


@job("shuffle.serial_gather", spark="4.0", workers=(3, 2, 1024), also=["parallelism.too_low"], extra=["udo.cpu_bound", "allocation.over"],
     tables={"parcels": lambda c: c.rows(300_000, zip="cast({r} * 90000 as int)", grams="cast({r} * 9000 as int)")},
     note="a LIMIT above the number of rows, meant as a safety belt, brings all rows into one task before the work; without: no LIMIT")
def parcel_labels(c):
    c.views("parcels")
    c.sql("SELECT * FROM parcels %s" % ("LIMIT 1000000" if c.bad else "")).createOrReplaceTempView("todo")
    c.save(c.spark.table("todo").withColumn("label", asks("id", 100, 6)), "labels")


@job("memory.spill", spark="3.5", bad={"spark.python.worker.memory": "16m"}, good={"spark.python.worker.memory": "1500m"}, extra=["udo.cpu_bound", "parallelism.too_low", "gc.heap_pressure"],
     note="groupByKey in Python workers that may use 16 MB and spill all the time; without: 1.5 GB")
def pages_per_visitor(c):
    clicks = c.sc.parallelize(range(1_400_000), 4).map(lambda i: (i * 7919 % 90_001, "/shop/%d/%d" % (i % 977, i * 2654435761 % 2**32)))
    print(clicks.groupByKey(4).map(lambda p: len(set(p[1]))).sum())


@job("memory.spill", spark="3.3", conf=partitions(3, **AQE_OFF), bad={"spark.memory.fraction": "0.02", "spark.shuffle.spill.numElementsForceSpillThreshold": "4000"}, good={},
     extra=["gc.heap_pressure", "parallelism.too_low", "shuffle.unused_columns"],
     tables={"prices": lambda c: c.rows(600_000, product="cast({r} * 400000 as int)", text=text(9)), "offers": lambda c: c.rows(600_000, product="cast({r} * 400000 as int)", terms=text(9))},
     note="both sides of a sort-merge join are sorted in little memory and spill every 4,000 rows; without: defaults")
def matching_offers(c):
    j = c.table("prices").alias("p").join(c.table("offers").alias("o").hint("merge"), "product").select("product", "text", "terms", F.col("p.id").alias("a"), F.col("o.id").alias("b"))
    w = Window.partitionBy("product").orderBy("text", "b")
    c.save(j.withColumn("n", F.row_number().over(w)).groupBy("n").agg(F.count("*"), F.max("terms"), F.max("text")), "offers")


@job("gc.heap_pressure", spark="3.5", workers=(2, 2, 1024), bad={"spark.executor.memory": "560m"}, good={"spark.executor.memory": "2g"}, cluster=dict(memory=2048),
     conf=partitions(4, **{"spark.sql.objectHashAggregate.sortBased.fallbackThreshold": "100000000", "spark.executor.extraJavaOptions": "-XX:+UseParallelGC -XX:-UseGCOverheadLimit"}),
     extra=["memory.spill", "memory.estimate_too_low", "executor.lost", "failure.vertex_retries", "cache.ineffective"],
     tables={"readings": lambda c: c.rows(1_200_000, station="cast({r} * 110000 as int)", value="{r} * 40", code="cast({r} * 1000000 as int)")},
     note="rows cached as Java objects and exact medians fill heaps of 560 MB; without: 2 GB")
def station_medians(c):
    c.views("readings")
    rows = c.table("readings")._jdf.javaRDD().persist(c.sc._jvm.org.apache.spark.storage.StorageLevel.MEMORY_ONLY())
    print(rows.count())
    for column in ("value", "code"):
        c.sql("SELECT cast(m AS INT) AS m, count(*) AS n FROM (SELECT station, percentile(%s, .5) AS m FROM readings GROUP BY station) GROUP BY cast(m AS INT) ORDER BY n DESC LIMIT 5" % column).collect()
    print(rows.count())


@job("parallelism.too_low", spark="3.3", workers=(3, 2, 1024), extra=["udo.cpu_bound", "allocation.over", "shuffle.serial_gather"], question="Why does the cluster have so little to do?",
     tables={"reviews": lambda c: c.rows(240_000, 12, product="cast({r} * 9000 as int)", stars="cast(1 + {r} * 5 as int)", body=text(2))},
     note="coalesce(2) before writing, to get two files, pulls the whole work into two tasks; without: no coalesce")
def export_reviews(c):
    r = c.table("reviews").filter("stars < 6").withColumn("mood", asks("id", 100, 11))
    c.save(r.coalesce(2) if c.bad else r, "reviews")


@job("parallelism.tiny_vertices", spark="4.0", conf=partitions(8), fixed=True, extra=["shuffle.redundant_repartition", "allocation.over", "driver.bottleneck"], question="It is little data. Why does it take so long?",
     tables={"readings": lambda c: c.rows(60_000, 4, month="cast({r} * 12 as int)", station="cast({r} * 300 as int)", value="{r} * 40")},
     note="repartition(350) on some thousand rows in each of six queries; without: no repartition")
def month_reports(c):
    for month in range(6):
        m = c.table("readings").filter(F.col("month") == month)
        m = m.repartition(350) if c.bad else m
        m.groupBy("station").agg(F.avg("value").alias("v"), F.count("*")).orderBy("v").limit(5).collect()


@job("io.small_files", spark="3.5", extra=["driver.bottleneck", "parallelism.tiny_vertices"], question="Why does writing take so long?",
     tables={"orders": lambda c: c.rows(160_000, day="cast({r} * 320 as int)", customer="cast({r} * 9000 as int)", cents="cast({r} * 9000 as int)")},
     note="eight tasks write into 320 folders each, 2,560 files of 60 rows; without: repartitioned by the day, one file per folder")
def orders_by_day(c):
    o = c.table("orders").repartition(8, *(["customer"] if c.bad else ["day"]))
    o.write.mode("overwrite").partitionBy("day").parquet(os.path.join(c.out, "orders"))


@job("join.explosion", spark="3.5", conf=partitions(8), fixed=True, extra=["shuffle.missed_broadcast", "cardinality.misestimate", "udo.cpu_bound", "parallelism.too_low"], question="Why does it read so little and take so long?",
     note="a comma join with a forgotten condition: all pairs of orders and vouchers; without: of the same customer")
def voucher_hits(c):
    c.spark.createDataFrame(c.sc.parallelize(range(20_000), 4).map(lambda i: (i, i * 7919 % 3000, i * 31 % 9000)), "id int, customer int, cents int").createOrReplaceTempView("orders")
    c.spark.createDataFrame(c.sc.parallelize(range(8_000), 4).map(lambda i: (i, i * 104729 % 3000, i * 17 % 5000)), "id int, customer int, minimum int").createOrReplaceTempView("vouchers")
    more = "" if c.bad else "AND o.customer = v.customer"
    c.save(c.sql("SELECT o.id %% 100 AS part, count(*) AS n, sum(o.cents - v.minimum) AS rest FROM orders o, vouchers v WHERE o.cents > 50 AND v.minimum > 20 %s GROUP BY o.id %% 100" % more), "hits")


@job("udo.cpu_bound", spark="3.5", conf=partitions(8, **{"spark.sql.adaptive.coalescePartitions.enabled": "false"}), fixed=True, extra=["allocation.under"], question="Which part of this is slow, and why?",
     tables={"readings": lambda c: c.rows(330_000, station="cast({r} * 550 as int)", value="round({r} * 40, 3)")},
     note="a Python aggregate (a UDF over collect_list) compares all pairs of a station; without: the same number from a sorted rank in SQL")
def station_spread(c):
    def spread(values):
        total = 0.0
        for i, a in enumerate(values):
            for b in values[:i]:
                total += a - b if a > b else b - a
        return total
    r = c.table("readings")
    if c.bad:
        out = r.groupBy("station").agg(F.collect_list("value").alias("v")).select("station", F.udf(spread, "double")("v").alias("spread"))
    else:
        w = Window.partitionBy("station")
        ranked = r.withColumn("k", F.row_number().over(w.orderBy("value"))).withColumn("n", F.count("*").over(w))
        out = ranked.groupBy("station").agg(F.sum((2 * F.col("k") - F.col("n") - 1) * F.col("value")).alias("spread"))
    c.save(out, "spread")


@job("failure.vertex_retries", spark="4.0", extra=["failure.user_code", "udo.cpu_bound", "memory.estimate_too_low"], question="The result is right, but it takes longer than usual. Why?",
     note="in most tasks the Python worker dies at the end of the first attempt (a native library crashes); without: never")
def radar_tiles(c):
    bad = c.bad

    def decode(index, rows):
        n = 0
        for n, _ in enumerate(rows, 1):
            time.sleep(.1)
        if bad and index % 5 and TaskContext.get().attemptNumber() == 0:
            os.kill(os.getpid(), signal.SIGSEGV)
        yield index % 3, n
    print(c.sc.parallelize(range(480), 24).mapPartitionsWithIndex(decode).reduceByKey(lambda a, b: a + b, 2).collect())


@job("failure.user_code", spark="3.5", pair=False, extra=["failure.vertex_retries"], question="Why did it fail?",
     tables={"orders": lambda c: c.rows(300_000, customer="cast({r} * 9000 as int)", cents="case when id = 171717 then -5 else cast({r} * 9000 as int) end")},
     note="a check that the SQL itself makes (raise_error for a negative price) fails")
def check_orders(c):
    c.views("orders")
    print(c.sql("SELECT max(cents) FROM orders").collect())
    c.save(c.sql("SELECT customer, sum(if(cents < 0, raise_error(concat('order ', id, ' has a negative price')), cents)) AS cents FROM orders GROUP BY customer"), "checked")


@job("failure.user_code", spark="4.0", pair=False, extra=["failure.vertex_retries", "failure.limit"], question="Why did the import stop?",
     tables={"gauges": lambda c: text_files(c, "gauges", 60_000, 6, lambda i: "%d,%s,%d" % (i, "broken" if i == 47_111 else "%.2f" % (i % 700 / 7), i % 40), "export-%03d.csv")},
     note="a value that is no number, read in FAILFAST mode")
def import_gauges(c):
    g = c.spark.read.option("mode", "FAILFAST").schema("id long, level double, gauge int").csv(c.path("gauges"))
    c.save(g.groupBy("gauge").agg(F.avg("level"), F.count("*")), "gauges")


@job("failure.slow_machine", spark="3.5", workers=(4, 1, 768), extra=["udo.cpu_bound"], question="The same work takes very different times. Why?",
     note="the service behind the tasks answers nine times slower to one of four executors (a bad network card); without: equally fast")
def poll_gauges(c):
    bad = c.bad

    def poll(seconds):
        def step(index, rows):
            n = sum(1 for _ in rows)
            slow = bad and os.path.basename(os.getcwd()) == "2"
            for _ in range(20):
                time.sleep(seconds / 20 * (9 if slow else 1))
            yield index % 8, n
        return step
    polled = c.sc.parallelize(range(1600), 16).mapPartitionsWithIndex(poll(1.5))
    print(polled.reduceByKey(lambda a, b: a + b, 8).mapPartitionsWithIndex(poll(1.2)).count())


@job("failure.limit", spark="3.5", pair=False, conf={"spark.rpc.message.maxSize": "1"}, extra=["driver.bottleneck", "failure.user_code"], question="Why did it end with an error?",
     note="a list of the driver makes tasks larger than spark.rpc.message.maxSize")
def load_price_list(c):
    print(c.sc.parallelize(range(2000), 8).map(lambda i: i % 7).countByValue())
    prices = [(i, "article %d, %x" % (i, i * 2654435761 % 2**32)) for i in range(300_000)]
    c.save(c.spark.createDataFrame(c.sc.parallelize(prices, 3), "id int, label string"), "prices")


@job("memory.estimate_too_low", spark="4.0", pair=False, conf=partitions(2, **{"spark.executor.memory": "512m", **AQE_OFF}), also=["executor.lost"], question="Why did this query fail?",
     extra=["failure.vertex_retries", "failure.limit", "gc.heap_pressure", "memory.spill", "failure.user_code", "parallelism.too_low"],
     tables={"orders": lambda c: c.rows(400_000, customer="cast({r} * 900000 as int)", cents="cast({r} * 9000 as int)"), "profiles": lambda c: c.rows(900_000, customer="cast(id as int)", profile=text(12))},
     note="a SHUFFLE_HASH hint: the hash table of a partition does not fit into executors of 512 MB")
def customer_profiles(c):
    c.views("orders", "profiles")
    c.save(c.sql("SELECT /*+ SHUFFLE_HASH(p) */ o.id, o.cents, p.profile FROM orders o JOIN profiles p ON o.customer = p.customer"), "profiles")


@job("memory.estimate_too_low", spark="3.5", pair=False, conf={"spark.executor.pyspark.memory": "500m"}, also=["failure.limit"], question="Why did it fail?",
     extra=["failure.user_code", "failure.vertex_retries"], note="Python workers may use 250 MB each (spark.executor.pyspark.memory), and the grid of a region needs more: MemoryError")
def grid_cells(c):
    def grid(region):
        cells = ["cell %d of %d" % (i, region) for i in range(200_000 if region < 5 else 4_000_000)]
        return len(set(cells))
    print(c.sc.parallelize(range(8), 8).map(grid).sum())


@job("driver.bottleneck", spark="3.5", fixed=True, question="The executors do next to nothing. Why?",
     tables={"customers": lambda c: c.rows(320_000, city="cast({r} * 400 as int)", mail=text(2))},
     note="toLocalIterator brings all rows to the driver, which works on them and writes a file alone; without: in Spark")
def mail_list(c):
    customers = c.table("customers")
    if c.bad:
        with open(os.path.join(c.out, "mails.csv"), "w") as fh:
            for row in customers.toLocalIterator():
                key = sum(ord(ch) * k for k, ch in enumerate(row["mail"])) % 9973
                fh.write("%d,%d,%s,%d\n" % (row["id"], row["city"], row["mail"].upper(), key))
    else:
        key = F.expr("pmod(crc32(mail), 9973)")
        customers.select("id", "city", F.upper("mail"), key).write.mode("overwrite").csv(os.path.join(c.out, "mails"))


@job("executor.lost", spark="3.5", workers=(3, 2, 768), conf={"spark.network.timeout": "14s", "spark.network.timeoutInterval": "2s", "spark.executor.heartbeatInterval": "3s"}, also=["failure.vertex_retries"],
     extra=["udo.cpu_bound", "failure.slow_machine"], question="Why did it take twice as long today?",
     note="an executor hangs in the middle of the second stage and is given up after spark.network.timeout=14s; without: it does not hang")
def forecast_runs(c):
    if c.bad:
        c.once_done(4, lambda: c.hang_executor(1, 40), stage=1)

    def simulate(i):
        time.sleep(.05)
        return i % 60, 1

    def rank(p):
        time.sleep(.4)
        return p
    print(c.sc.parallelize(range(720), 18).map(simulate).reduceByKey(lambda a, b: a + b, 15).map(rank).count())
    c.quiet()


@job("executor.lost", spark="4.0", workers=(3, 2, 768), extra=["cache.ineffective", "udo.cpu_bound"], question="Why are the later steps slower than they used to be?",
     note="two of three executors are killed between two steps, and their cached partitions are computed again; without: they live")
def tuned_models(c):
    def train(i):
        time.sleep(.5)
        return i, [i * k % 101 for k in range(2000)]
    models = c.sc.parallelize(range(120), 24).map(train).cache()
    print(models.count())
    if c.bad:
        for number in (0, 1):
            c.kill_executor(number, 0)
    time.sleep(3)
    print(models.map(lambda m: sum(m[1])).sum(), models.map(lambda m: max(m[1])).max())
    c.quiet()


@job("broadcast.too_large", spark="3.5", conf=partitions(8, **{"spark.driver.memory": "3g"}), workers=(2, 2, 2048), extra=["gc.heap_pressure", "driver.bottleneck", "cardinality.misestimate", "shuffle.unused_columns"],
     tables={"customers": lambda c: c.rows(60_000, k="cast({r} * 3000000 as bigint)", code=text(4, "k")), "orders": lambda c: c.rows(1_800_000, k="cast({r} * 3000000 as bigint)", code=text(4, "k"))},
     note="NOT IN makes Spark broadcast 1.8 million wide keys, whatever their size; without: NOT EXISTS, a sort-merge join")
def never_bought(c):
    c.views("customers", "orders")
    c.save(c.sql("SELECT id, code FROM customers c WHERE %s" % ("code NOT IN (SELECT code FROM orders)" if c.bad else "NOT EXISTS (SELECT 1 FROM orders o WHERE o.code = c.code)")), "never")


@job("cache.ineffective", spark="4.0", conf=partitions(8), bad={"spark.memory.fraction": "0.1", "spark.executor.memory": "512m"}, good={"spark.memory.fraction": "0.6", "spark.executor.memory": "1g"},
     extra=["udo.cpu_bound", "memory.estimate_too_low", "memory.spill", "gc.heap_pressure"], question="We cache it. Why is each query as slow as the first?",
     tables={"tiles": lambda c: c.rows(400_000, 16, tile="cast({r} * 500 as int)", image=text(10))},
     note="MEMORY_ONLY in executors that can keep a third of the blocks, so the rest is computed for every query; without: enough memory")
def tile_queries(c):
    t = c.table("tiles").repartition(16, "id").withColumn("cloud", asks("id", 100, 5)).persist(StorageLevel.MEMORY_ONLY)
    t.createOrReplaceTempView("t")
    for q in ("SELECT count(cloud), max(image) FROM t", "SELECT tile, count(cloud) FROM t GROUP BY tile", "SELECT min(image), max(cloud) FROM t", "SELECT tile % 9, max(cloud), count(*) FROM t GROUP BY tile % 9"):
        c.sql(q).collect()


@job("cache.ineffective", spark="3.5", conf=partitions(8), extra=["udo.cpu_bound"], question="What costs most here, and do we need it?",
     tables={"orders": lambda c: c.rows(500_000, customer="cast({r} * 9000 as int)", cents="cast({r} * 9000 as int)", memo=text(8))},
     note="an enriched frame is cached and counted, and never read again; without: not cached")
def customer_totals(c):
    o = c.table("orders")
    if c.bad:
        enriched = o.withColumn("risk", asks("id", 100, 7)).withColumn("upper", F.upper("memo")).cache()
        print(enriched.count())
    for limit in (1000, 3000):
        o.filter(F.col("cents") > limit).groupBy("customer").agg(F.sum("cents").alias("s"), F.max("memo")).orderBy(F.desc("s")).limit(9).collect()
    c.save(o.groupBy("customer").agg(F.sum("cents").alias("s"), F.max("memo").alias("memo")), "totals")


@job("allocation.over", spark="3.5", workers=(5, 2, 700), conf=partitions(20), resource_only=True, also=["parallelism.too_low"], extra=["udo.cpu_bound", "shuffle.serial_gather", "driver.bottleneck"], question="Is this cluster too large for what runs on it?",
     tables={"orders": lambda c: c.rows(100_000, 20, product="cast({r} * 3000 as int)", cents="cast({r} * 9000 as int)")},
     note="a short stage on ten cores, then a long tail of one task (an upload), with ten cores held all the time; saves core time, not wall time")
def upload_totals(c):
    sums = c.table("orders").withColumn("checked", asks("id", 100, 10)).groupBy("product").agg(F.sum("cents").alias("cents"), F.count("checked").alias("n"))
    c.save(sums.coalesce(1).withColumn("sent", asks("product, cents", 3, 24)), "upload")


@job("allocation.under", spark="4.0", workers=(3, 2, 768), extra=["udo.cpu_bound"], question="Would it be faster with more executors?",
     conf={"spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.shuffleTracking.enabled": "true", "spark.dynamicAllocation.minExecutors": "1", "spark.dynamicAllocation.initialExecutors": "1", "spark.executor.cores": "2"},
     bad={"spark.dynamicAllocation.maxExecutors": "1"}, good={"spark.dynamicAllocation.maxExecutors": "3"},
     note="dynamic allocation may have one executor for a hundred even tasks; without: three")
def render_maps(c):
    def render(i):
        time.sleep(.035)
        return i % 11
    print(c.sc.parallelize(range(1_200), 100).map(render).countByValue())


@job("queue.wait", spark="3.5", extra=["driver.bottleneck", "allocation.under"], question="It is a small job. What took so long?",
     bad={"spark.cores.max": "8", "spark.scheduler.minRegisteredResourcesRatio": "1.0", "spark.scheduler.maxRegisteredResourcesWaitingTime": "28s"}, good={"spark.cores.max": "4"},
     tables={"orders": lambda c: c.rows(300_000, product="cast({r} * 300 as int)", cents="cast({r} * 9000 as int)")},
     note="the application waits 28 s at its start for eight cores, of which the cluster has four; without: it asks for four")
def product_sums(c):
    c.save(c.table("orders").groupBy("product").agg(F.sum("cents")), "sums")


@job("cardinality.misestimate", spark="4.0", also=["broadcast.too_large"], conf={"spark.sql.ui.explainMode": "cost", "spark.driver.memory": "3g"}, workers=(2, 2, 2048), extra=["driver.bottleneck", "gc.heap_pressure", "join.explosion"],
     tables={"stations": lambda c: c.rows(1_500, 4, station="cast(id as int)", name=text(1)), "days": lambda c: c.rows(2_000, 2, day="cast(id + 1 as int)", season="cast(id % 4 as int)", about=text(8))},
     note="Spark takes the exploded side (3 million rows) for a table of some KB and broadcasts it; without: a hint broadcasts the side that is small")
def station_days(c):
    s = c.table("stations").select("station", "name", F.explode(F.sequence(F.lit(1), F.lit(2000))).alias("day")).withColumn("label", F.concat_ws(" ", "name", "day", "name"))
    d = c.table("days")
    j = s.join(d if c.bad else F.broadcast(d), "day")
    c.save(j.groupBy("season").agg(F.count("*"), F.max(F.length("label")), F.max(F.length("about"))), "days")


# Healthy jobs that look like a problem at first sight.


@job(spark="3.5", question=HEALTHY, extra=["udo.cpu_bound"], note="one station has half of all readings, but each task takes the same time: it is spent per station")
def calibrate_stations(c):
    readings = c.sc.parallelize(range(160_000), 8).map(lambda i: (7 if i % 2 else i * 7919 % 480, i % 40))

    def calibrate(pair):
        time.sleep(.1)
        return sum(pair[1])
    print(readings.groupByKey(12).map(calibrate).count())


@job(spark="3.3", question=HEALTHY, conf=partitions(8, **{"spark.driver.memory": "2g"}), extra=["shuffle.unused_columns"],
     tables={"clicks": lambda c: c.rows(1_600_000, product="cast({r} * 120000 as int)", trace=text(6)), "products": lambda c: c.rows(120_000, product="cast(id as int)", label=text(8))},
     note="a hint broadcasts 35 MB, and saves the shuffle of 300 MB of clicks")
def product_clicks(c):
    j = c.table("clicks").join(F.broadcast(c.table("products")), "product")
    c.save(j.groupBy((F.col("product") % 50).alias("k")).agg(F.max(F.crc32("trace")), F.max(F.length("label")), F.count("*")), "clicks")


@job(spark="4.0", question=HEALTHY, extra=["udo.cpu_bound"], tables={"dump": lambda c: c.rows(240_000, 1, gauge="cast({r} * 900 as int)", level="{r}")},
     note="repartition(8) of a table with one file pays: all cores work after it")
def check_levels(c):
    c.save(c.table("dump").repartition(8).withColumn("ok", asks("id", 100, 16)).groupBy("gauge").agg(F.count("ok"), F.max("level")), "levels")


@job(spark="4.0", question=HEALTHY, extra=["udo.cpu_bound", "allocation.under"], note="many tasks, and all of them have work")
def nightly_forecasts(c):
    print(c.sc.parallelize(range(640), 160).map(lambda i: (time.sleep(.12), i % 5)[1]).countByValue())


@job(spark="3.5", question=HEALTHY, extra=["udo.cpu_bound"], note="six of 60 tasks fail at once at their start and are repeated, which costs nothing")
def fetch_reviews(c):
    def fetch(index, rows):
        if index % 10 == 3 and TaskContext.get().attemptNumber() == 0:
            raise ConnectionRefusedError("connection refused")
        for _ in rows:
            time.sleep(.03)
        yield index
    print(c.sc.parallelize(range(1_800), 60).mapPartitionsWithIndex(fetch).count())


@job(spark="3.3", question=HEALTHY, conf=partitions(8), tables={"orders": lambda c: c.rows(1_400_000, customer="cast({r} * 400 as int)", cents="cast({r} * 9000 as int)", memo=text(5))},
     note="the last stages have one task, for 400 rows")
def best_customers(c):
    c.views("orders")
    c.sql("SELECT customer, sum(cents) AS cents, max(memo) AS memo, approx_count_distinct(memo) AS n FROM orders GROUP BY customer").createOrReplaceTempView("sums")
    c.save(c.sql("SELECT *, cents / sum(cents) OVER () AS share, ntile(10) OVER (ORDER BY cents) AS decile FROM sums"), "best")


@job(spark="4.0", question=HEALTHY, conf=partitions(6), extra=["udo.cpu_bound"], tables={"readings": lambda c: c.rows(300_000, station="cast({r} * 2000 as int)", hour="cast({r} * 24 as int)", value="{r} * 40")},
     note="CACHE TABLE of an expensive table that four queries use")
def cached_readings(c):
    c.table("readings").withColumn("checked", asks("id", 100, 9)).createOrReplaceTempView("checked")
    c.sql("CACHE TABLE good_readings AS SELECT * FROM checked")
    for q in ("SELECT hour, avg(value) FROM good_readings GROUP BY hour", "SELECT station, max(value) FROM good_readings GROUP BY station", "SELECT count(checked) FROM good_readings", "SELECT hour, count(*) FROM good_readings WHERE value > 39 GROUP BY hour"):
        c.sql(q).collect()


@job(spark="3.5", question=HEALTHY, conf={"spark.speculation": "true", "spark.speculation.multiplier": "1.4", "spark.speculation.quantile": "0.2"}, extra=["udo.cpu_bound"],
     note="speculation is on with sharp settings and four tasks are longer, but no copy was started; nothing is lost")
def speculating(c):
    def work(index, rows):
        n = sum(1 for _ in rows)
        time.sleep(3.6 if index in (14, 20, 27, 34) else 1)
        yield n
    print(c.sc.parallelize(range(4_800), 48).mapPartitionsWithIndex(work).sum())


@job(spark="4.0", question=HEALTHY, conf=partitions(8), tables={"readings": lambda c: c.rows(1_400_000, region="cast({r} * 60 as int)", value="{r} * 40", raw=text(5))},
     note="coalesce(1) for one small file of 60 rows, after an aggregation")
def region_sheet(c):
    sheet = c.table("readings").groupBy("region").agg(F.avg("value"), F.max("raw"), F.approx_count_distinct("raw"))
    sheet.coalesce(1).write.mode("overwrite").option("header", "true").csv(os.path.join(c.out, "sheet"))


@job(spark="3.5", question=HEALTHY, extra=["allocation.over"], tables={"clicks": lambda c: c.rows(900_000, page="cast({r} * 700 as int)", visitor="cast({r} * 90000 as int)", t=text(4))},
     conf={"spark.app.name": "PySparkShell", "spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.shuffleTracking.enabled": "true", "spark.dynamicAllocation.shuffleTracking.timeout": "4s",
           "spark.dynamicAllocation.executorIdleTimeout": "4s", "spark.dynamicAllocation.minExecutors": "1", "spark.dynamicAllocation.initialExecutors": "2", "spark.dynamicAllocation.maxExecutors": "2", "spark.executor.cores": "2"},
     note="a person thinks between two queries of a shell, and idle executors are given back meanwhile")
def explore_clicks(c):
    c.views("clicks")
    c.sql("SELECT page, count(*) AS n, max(t) FROM clicks GROUP BY page ORDER BY n DESC LIMIT 20").collect()
    time.sleep(16)
    c.sql("SELECT count(DISTINCT visitor), max(t) FROM clicks WHERE page < 300").collect()


@job(spark="3.5", question=HEALTHY, workers=(3, 2, 768), extra=["executor.lost", "udo.cpu_bound", "failure.vertex_retries"], note="an executor is killed just after the next job began, when its own work is done: two tasks are repeated at once, which costs next to nothing")
def left_early(c):
    print(c.sc.parallelize(range(360), 36).map(lambda i: (time.sleep(.15), i % 7)[1]).countByValue())
    c.kill_executor(2, 0)
    print(c.sc.parallelize(range(360), 36).map(lambda i: (time.sleep(.15), i % 9)[1]).countByValue())
    c.quiet()


@job(spark="4.0", question=HEALTHY, extra=["udo.cpu_bound"], note="an RDD job sorts and writes all rows: both shuffles are necessary")
def sorted_index(c):
    words = c.sc.parallelize(range(500_000), 8).map(lambda i: ("%08x" % (i * 2654435761 % 2**32), i))
    words.sortByKey(numPartitions=8).map(lambda p: "%s %d" % p).saveAsTextFile(os.path.join(c.out, "index"))


@job(spark="3.3", question=HEALTHY, tables={"readings": lambda c: c.rows(1_500_000, station="cast({r} * 900 as int)", value="{r} * 40", raw=text(4)), "stations": lambda c: c.rows(900, 1, station="cast(id as int)", region="cast(id % 12 as int)")},
     note="200 shuffle partitions by default, which adaptive execution merges into one: there are 12 rows")
def region_means(c):
    c.views("readings", "stations")
    c.save(c.sql("SELECT region, avg(value) AS value, max(raw) AS raw, approx_count_distinct(raw) AS n FROM readings JOIN stations USING (station) GROUP BY region ORDER BY region"), "means")


@job(verdict="insufficient_information", spark="3.5", question="Is this job efficient?", note="the JVM of the driver is killed in the middle of a stage: no end, no error")
def jvm_gone(c):
    pid = c.sc._jvm.java.lang.ProcessHandle.current().pid()
    threading.Timer(7, lambda: os.kill(int(pid), signal.SIGKILL)).start()
    c.sc.parallelize(range(90), 45).map(lambda i: time.sleep(.6)).count()


# Further forms of causes that are above already.


@job("join.explosion", spark="4.0", conf=partitions(8), fixed=True, extra=["cardinality.misestimate", "shuffle.missed_broadcast", "skew.join_hot_key", "shuffle.late_filter", "shuffle.unused_columns"], question="Where do all these rows come from?",
     tables={"orders": lambda c: c.rows(150_000, product="cast({r} * 20000 as int)", pieces="cast({r} * 9 as int)"),
             "prices": lambda c: c.rows(1_600_000, product="cast(id % 20000 as int)", since="cast(id / 20000 as int)", cents="cast({r} * 9000 as int)", valid="id < 20000")},
     note="80 old prices of each product are joined because the condition on the valid one was forgotten; without: with it")
def order_values(c):
    prices = c.table("prices") if c.bad else c.table("prices").filter("valid")
    j = c.table("orders").join(prices, "product")
    c.save(j.groupBy("product", "since").agg(F.sum(F.col("pieces") * F.col("cents")).alias("value"), F.max(F.sha1(F.concat_ws("-", "product", "cents")))), "values")


@job("io.small_files", spark="4.0", also=["parallelism.tiny_vertices"], extra=["driver.bottleneck"], question="Why is this export slow?",
     note="saveAsTextFile of 1,600 slices for 40,000 lines; without: four slices")
def label_files(c):
    c.sc.parallelize(range(40_000), 1600 if c.bad else 4).map(lambda i: "%d;parcel %x" % (i, i * 2654435761 % 2**32)).saveAsTextFile(os.path.join(c.out, "labels"))


@job("driver.bottleneck", spark="3.3", question="There is hardly any work for the executors. What happens in between?",
     tables={"readings": lambda c: c.rows(20_000, 2, station="cast({r} * 900 as int)", value="{r} * 40")},
     note="columns are added one by one in a loop, so that the driver analyzes ever larger plans; without: in one select")
def wide_features(c):
    r = c.table("readings")
    print(r.count())
    if c.bad:
        for k in range(240):
            r = r.withColumn("f%d" % k, F.round(F.col("value") * k + F.col("station"), 2))
    else:
        r = r.select("*", *[F.round(F.col("value") * k + F.col("station"), 2).alias("f%d" % k) for k in range(240)])
    r.groupBy().agg(*[F.max("f%d" % k) for k in range(0, 240, 30)]).collect()
