"""The second set of jobs: payments and a library.  Other schemas, other forms, other settings than the first."""
import json
import os
import time

from pyspark import TaskContext
from pyspark.sql import Window, functions as F

from common import AQE_OFF, HEALTHY, asks, job, partitions, text, text_files


@job("skew.join_hot_key", spark="4.0", conf=partitions(10), extra=["udo.cpu_bound"],
     tables={"payments": lambda c: c.rows(400_000, merchant="cast(case when %s and {r} < .5 then 404 else {r} * 40000 end as bigint)" % c.bad, cents="cast({r} * 9000 as int)")},
     note="RDD join of payments and merchants; half of the payments go to one merchant; without: evenly distributed")
def settle(c):
    p = c.table("payments").rdd.map(lambda r: (r["merchant"], r["cents"]))
    m = c.sc.parallelize(range(40_000), 4).map(lambda i: (i, "m%d" % (i % 77)))

    def book(rows):
        for n, (_, (cents, name)) in enumerate(rows):
            if n % 100 == 0:
                time.sleep(.005)
            yield name, cents
    print(p.join(m, 10).mapPartitions(book).reduceByKey(lambda a, b: a + b, 4).count())


@job("skew.group_hot_key", spark="3.3", conf=partitions(10), extra=["udo.cpu_bound", "skew.low_cardinality_key"], question="Why do all wait for one task?",
     tables={"loans": lambda c: c.rows(400_000, reader="cast(case when %s and {r} < .5 then 3 else {r} * 20000 end as int)" % c.bad, day="cast({r} * 3000 as int)", title=text(2))},
     note="a window per reader, and a library card of a school has half of all loans; without: evenly distributed")
def loan_gaps(c):
    c.views("loans")
    c.sql("SELECT id, reader, title, day - lag(day) OVER (PARTITION BY reader ORDER BY day) AS gap FROM loans").createOrReplaceTempView("gaps")
    c.save(c.spark.table("gaps").withColumn("score", asks("id", 100, 5)).groupBy("gap").agg(F.count("score"), F.max("title")), "gaps")


@job("skew.null_or_default_key", spark="3.5", also=["skew.join_hot_key"], extra=["udo.cpu_bound"], conf=partitions(10, **AQE_OFF),
     tables={"visits": lambda c: c.rows(400_000, device="case when %s and {r} < .6 then 'unknown' else concat('d', cast({r} * 90000 as int)) end" % c.bad, ms="cast({r} * 900 as int)"),
             "devices": lambda c: c.rows(90_000, device="concat('d', id)", model=text(5))},
     note="most visits have the device 'unknown'; without: all have one")
def visits_by_model(c):
    j = c.table("visits").alias("v").join(c.table("devices").alias("d").hint("shuffle_hash"), "device", "left_outer")
    c.save(j.select("v.id", "v.ms", "d.model").withColumn("level", asks("id", 50, 3)).groupBy((F.col("ms") / 90).cast("int")).agg(F.count("level"), F.max("model")), "models")


@job("skew.low_cardinality_key", spark="3.5", conf=partitions(12, **AQE_OFF), also=["parallelism.too_low"], extra=["udo.cpu_bound"],
     tables={"books": lambda c: c.rows(300_000, language="element_at(array('de','en'), 1 + cast({r} * 2 as int))", shelf="cast({r} * 900 as int)", words="cast({r} * 90000 as int)")},
     note="a window per language, of which there are two, so two of 12 tasks have work; without: per shelf")
def rank_books(c):
    w = Window.partitionBy("language" if c.bad else "shelf").orderBy("words")
    c.save(c.table("books").withColumn("rank", F.row_number().over(w)).withColumn("cover", asks("id", 100, 6)), "ranks")


@job("skew.partition_layout", spark="4.0", extra=["parallelism.too_low", "udo.cpu_bound"], conf={"spark.sql.files.maxPartitionBytes": "64m", "spark.sql.files.openCostInBytes": "16m"},
     tables={"archive": lambda c: (c.rows(300_000, 1, kind="case when {r} < %s then 0 else 1 + cast({r} * 9 as int) end" % (".6" if c.bad else ".1"), body=text(3))
                                   .write.partitionBy("kind").parquet(c.path("archive")))},
     note="one folder of a partitioned table has most rows, in one file with one row group; without: ten even folders")
def archive_checks(c):
    c.save(c.table("archive").withColumn("ok", asks("id", 100, 7)).groupBy("kind").agg(F.count("ok"), F.max("body")), "checks")


@job("shuffle.redundant_repartition", spark="4.0", conf=partitions(8, **AQE_OFF), fixed=True, extra=["shuffle.unused_columns"],
     tables={"payments": lambda c: c.rows(600_000, account="cast({r} * 50000 as int)", branch="cast({r} * 90 as int)", cents="cast({r} * 9000 as int)", memo=text(12))},
     note="DISTRIBUTE BY the branch, then by the account, before an aggregation by branch and account; without: the aggregation alone")
def balances(c):
    c.views("payments")
    inner = "SELECT * FROM (SELECT * FROM payments DISTRIBUTE BY branch) DISTRIBUTE BY account" if c.bad else "SELECT * FROM payments"
    c.save(c.sql("SELECT branch, account %% 100 AS part, sum(cents) AS cents, max(memo) AS memo FROM (%s) GROUP BY branch, account %% 100" % inner), "balances")


@job("shuffle.missed_broadcast", spark="4.0", conf=partitions(10, **{"spark.sql.autoBroadcastJoinThreshold": "-1", "spark.sql.adaptive.autoBroadcastJoinThreshold": "-1"}), fixed=False, extra=["shuffle.unused_columns"],
     bad={}, good={"spark.sql.autoBroadcastJoinThreshold": "10m"},
     tables={"payments": lambda c: c.rows(1_000_000, currency="cast({r} * 150 as int)", branch="cast({r} * 90 as int)", cents="cast({r} * 9000 as int)", memo=text(9)),
             "currencies": lambda c: c.rows(150, 1, currency="cast(id as int)", rate="{r}"), "branches": lambda c: c.rows(90, 1, branch="cast(id as int)", city="cast(id % 12 as int)")},
     note="automatic broadcasts are turned off, and two tiny tables are joined by shuffling the payments twice; without: default")
def payments_by_city(c):
    c.views("payments", "currencies", "branches")
    c.save(c.sql("SELECT b.city, sum(p.cents * c.rate) AS sum, max(p.memo) AS memo FROM payments p JOIN currencies c ON p.currency = c.currency JOIN branches b ON p.branch = b.branch GROUP BY b.city"), "cities")


@job("shuffle.serial_gather", spark="3.5", conf=partitions(8), also=["parallelism.too_low"], extra=["udo.cpu_bound", "memory.spill"],
     tables={"payments": lambda c: c.rows(300_000, day="cast({r} * 900 as int)", cents="cast({r} * 9000 as int)", account="cast({r} * 5000 as int)")},
     note="a running total over all payments in one window without PARTITION BY; without: per account")
def running_total(c):
    c.views("payments")
    over = "" if c.bad else "PARTITION BY account"
    c.sql("SELECT id, day, sum(cents) OVER (%s ORDER BY day, id) AS total FROM payments" % over).createOrReplaceTempView("totals")
    c.save(c.spark.table("totals").withColumn("posted", asks("id", 100, 5)).groupBy("day").agg(F.max("total"), F.count("posted")), "totals")


@job("memory.spill", spark="4.0", conf=AQE_OFF, workers=(2, 2, 768), bad=partitions(2, **{"spark.memory.fraction": "0.06"}), good=partitions(2), extra=["gc.heap_pressure", "parallelism.too_low", "skew.group_hot_key"],
     tables={"loans": lambda c: c.rows(800_000, reader="cast({r} * 90000 as int)", title=text(5))},
     note="two partitions too large for their memory (spark.memory.fraction=0.06) are sorted and aggregated; without: 0.6")
def reading_lists(c):
    g = c.table("loans").groupBy("reader").agg(F.collect_list("title").alias("titles"))
    c.save(g.select("reader", F.array_max("titles").alias("last"), F.size("titles").alias("n")).repartition("n").sortWithinPartitions("last"), "lists")


@job("gc.heap_pressure", spark="4.0", workers=(2, 2, 2048), bad={"spark.executor.memory": "520m"}, good={"spark.executor.memory": "2g"},
     conf=partitions(4, **{"spark.memory.fraction": "0.8", "spark.sql.objectHashAggregate.sortBased.fallbackThreshold": "100000000", "spark.executor.extraJavaOptions": "-XX:-UseGCOverheadLimit -XX:+UseSerialGC"}),
     extra=["memory.spill", "memory.estimate_too_low", "executor.lost", "failure.vertex_retries"],
     tables={"words": lambda c: c.rows(1_000_000, book="cast({r} * 400000 as int)", word="conv(cast({r} * 100000000 as bigint), 10, 36)")},
     note="maps of words per book fill small heaps; without: 2 GB")
def word_sets(c):
    c.views("words")
    c.save(c.sql("SELECT n, count(*) AS books, max(w) AS w FROM (SELECT book, size(collect_set(word)) AS n, max(word) AS w FROM words GROUP BY book) GROUP BY n"), "sets")


@job("parallelism.too_low", spark="3.5", workers=(3, 2, 1024), extra=["udo.cpu_bound", "allocation.over", "shuffle.serial_gather"], question="Why are most cores idle?", bad=partitions(24), good=partitions(24, **{"spark.sql.adaptive.coalescePartitions.enabled": "false"}),
     tables={"accounts": lambda c: c.rows(30_000, account="cast({r} * 9000 as int)", cents="cast({r} * 900 as int)")},
     note="AQE merges 24 small partitions into one, but each row costs a call; without: not merged")
def rate_accounts(c):
    sums = c.table("accounts").groupBy("account").agg(F.sum("cents").alias("cents"))
    c.save(sums.withColumn("rating", asks("account", 5, 10)), "ratings")


@job("parallelism.tiny_vertices", spark="4.0", conf=AQE_OFF, fixed=True, extra=["allocation.over", "shuffle.redundant_repartition"], bad=partitions(1500), good=partitions(4),
     tables={"loans": lambda c: c.rows(120_000, reader="cast({r} * 9000 as int)", shelf="cast({r} * 900 as int)")}, note="1,500 shuffle partitions for 120,000 rows; without: four")
def shelf_readers(c):
    c.views("loans")
    c.save(c.sql("SELECT shelf, count(DISTINCT reader) AS readers FROM loans GROUP BY shelf").coalesce(4), "readers")


@job("io.small_files", spark="4.0", fixed=True, extra=["parallelism.tiny_vertices", "driver.bottleneck"],
     tables={"inbox": lambda c: text_files(c, "inbox", 60_000, 2500 if c.bad else 5, lambda k: json.dumps({"id": k, "shelf": k % 300, "state": "s%d" % (k % 7)}), "%06d.json")},
     note="2,500 JSON files of 24 rows; without: five with the same rows")
def inbox_states(c):
    c.spark.read.schema("id long, shelf int, state string").json(c.path("inbox")).createOrReplaceTempView("inbox")
    c.save(c.sql("SELECT shelf, state, count(*) AS n FROM inbox GROUP BY shelf, state"), "states")


@job("join.explosion", spark="3.3", conf=partitions(6), fixed=True, extra=["shuffle.missed_broadcast", "parallelism.too_low", "cardinality.misestimate", "broadcast.too_large"],
     tables={"offers": lambda c: c.rows(5_000, 4, low="{r} * 1000", high="1000 + {r} * 1000", branch="cast({r} * 80 as int)"), "requests": lambda c: c.rows(12_000, 4, price="{r} * 2000", branch="cast({r} * 80 as int)")},
     note="a join on ranges only, a nested loop over all pairs; without: also on the branch")
def match_offers(c):
    c.views("offers", "requests")
    more = "" if c.bad else "AND o.branch = r.branch"
    c.save(c.sql("SELECT floor(r.price) AS p, count(*) AS n, sum(o.high - r.price) AS s FROM offers o JOIN requests r ON r.price BETWEEN o.low AND o.high %s GROUP BY floor(r.price)" % more), "matches")


@job("udo.cpu_bound", spark="3.5", fixed=False, extra=["allocation.under"], question="Which part of this job is slow?",
     tables={"books": lambda c: c.rows(90_000, title=text(2))}, note="RDD map with Python code that computes edit distances; without: levenshtein() of Spark")
def similar_titles(c):
    def distance(a, b):
        row = list(range(len(b) + 1))
        for i, x in enumerate(a, 1):
            row, last = [i], row
            for j, y in enumerate(b, 1):
                row.append(min(row[-1] + 1, last[j] + 1, last[j - 1] + (x != y)))
        return row[-1]
    b = c.table("books").repartition(8)
    if c.bad:
        print(b.rdd.map(lambda r: distance(r["title"][:14], "0123456789abc")).sum())
    else:
        print(b.select(F.sum(F.levenshtein(F.substring("title", 1, 14), F.lit("0123456789abc")))).collect())


@job("failure.vertex_retries", spark="4.0", extra=["udo.cpu_bound", "failure.user_code"], conf=AQE_OFF, question="Why does it take twice as long as usual?",
     tables={"payments": lambda c: c.rows(120_000, 20, cents="cast({r} * 9000 as int)")},
     note="a Python UDF is cut off in most tasks at the first attempt; without: never")
def screen_payments(c):
    bad = c.bad

    def screen(i):
        if i % 500 == 0:
            time.sleep(.06)
        context = TaskContext.get()
        if bad and i % 6000 == 5999 and context.partitionId() % 5 and context.attemptNumber() == 0:
            raise TimeoutError("the screening service did not answer")
        return i % 3
    c.save(c.table("payments").withColumn("risk", F.udf(screen, "int")("id")).groupBy("risk").agg(F.sum("cents")), "risk")


@job("failure.user_code", spark="3.5", pair=False, extra=["failure.vertex_retries"], question="Why did the job abort?", tables={"payments": lambda c: c.rows(50_000, cents="cast({r} * 9000 as int)")},
     note="a KeyError in Python code of an RDD job")
def convert(c):
    rates = {i: 1.1 for i in range(36)}
    print(c.table("payments").rdd.map(lambda r: (r["id"] % 37, r["cents"])).reduceByKey(lambda a, b: a + b, 8).map(lambda p: rates[p[0]] * p[1]).sum())


@job("failure.slow_machine", spark="4.0", workers=(4, 1, 1024), conf=AQE_OFF, extra=["udo.cpu_bound", "shuffle.redundant_repartition"], question="Why are some tasks much slower?",
     tables={"books": lambda c: c.rows(1_200_000, 24, title=text(2), shelf="cast({r} * 300 as int)")}, note="one of four executors is stopped for most of the time; without: not stopped")
def hash_titles(c):
    if c.bad:
        c.throttle_executor(2, .1)
    h = F.col("title")
    for _ in range(6):
        h = F.sha2(F.concat(h, F.col("title")), 512)
    c.save(c.table("books").repartition(36).withColumn("h", h).groupBy("shelf").agg(F.max("h")), "hashes")
    c.quiet()


@job("failure.limit", spark="4.0", pair=False, conf={"spark.sql.broadcastTimeout": "4"}, also=["broadcast.too_large"], extra=["driver.bottleneck", "udo.cpu_bound", "failure.user_code"], question="Why did the application end with an error?",
     tables={"books": lambda c: c.rows(60_000, title=text(2)), "loans": lambda c: c.rows(200_000, book="cast({r} * 60000 as bigint)")}, note="a broadcast side that takes longer than spark.sql.broadcastTimeout")
def lent_titles(c):
    slow = c.table("books").withColumn("cover", asks("id", 50, 40))
    c.save(c.table("loans").join(F.broadcast(slow), F.col("book") == slow["id"]).select("book", "title", "cover"), "lent")


@job("memory.estimate_too_low", spark="4.0", pair=False, also=["executor.lost"], workers=(2, 2, 1024), conf={"spark.executor.memory": "500m"}, question="Why did this application fail?",
     extra=["skew.group_hot_key", "failure.vertex_retries", "failure.limit", "gc.heap_pressure", "memory.spill", "failure.user_code", "join.explosion"],
     note="an SQL expression builds arrays of millions of strings in executors of 500 MB, which die of it")
def expand_calendar(c):
    c.save(c.sql("SELECT id, transform(sequence(1, 9000000), x -> concat('day ', x, id)) AS days FROM range(0, 8, 1, 4)").select("id", F.size("days"), F.element_at("days", 77)), "days")


@job("driver.bottleneck", spark="4.0", fixed=False, question="Little runs on the cluster. Why?", extra=["io.small_files"],
     tables={"payments": lambda c: c.rows(200_000, account="cast({r} * 60 as int)", cents="cast({r} * 9000 as int)", memo=text(1))},
     note="in a loop over accounts the driver fetches rows and works on them alone for a while; without: one query")
def statements(c):
    p = c.table("payments").cache()
    if c.bad:
        for account in range(8):
            rows = p.filter(F.col("account") == account).collect()
            x = sum(sum(ord(ch) * k % 97 for k in range(7) for ch in r["memo"]) for r in rows)
            print(account, len(rows), x)
    else:
        c.save(p.groupBy("account").agg(F.sum("cents"), F.max("memo")), "statements")


@job("executor.lost", spark="3.5", workers=(3, 2, 1024), conf=partitions(8), also=["failure.vertex_retries"], extra=["udo.cpu_bound"], question="Is there a reason why this run was slow?",
     note="an executor is killed during an RDD job in the middle of its second stage; without: it lives")
def scan_shelves(c):
    if c.bad:
        c.kill_executor(0, 10)

    def scan(i):
        time.sleep(.02)
        return i % 50, 1

    def audit(p):
        time.sleep(.7)
        return p
    print(c.sc.parallelize(range(1500), 12).map(scan).reduceByKey(lambda a, b: a + b, 12).map(audit).count())


@job("broadcast.too_large", spark="4.0", conf={"spark.driver.memory": "3g"}, workers=(2, 2, 2048), also=["cardinality.misestimate"], bad={"spark.sql.autoBroadcastJoinThreshold": "900m"}, good={},
     extra=["gc.heap_pressure", "driver.bottleneck", "shuffle.unused_columns"],
     tables={"books": lambda c: c.rows(1_500_000, book="cast(id as bigint)", blurb=text(4)), "loans": lambda c: c.rows(1_600_000, book="cast({r} * 1500000 as bigint)", blurb=text(4))},
     note="autoBroadcastJoinThreshold=900m, so that a side of 200 MB is broadcast; without: default")
def lent_books(c):
    b, l = c.table("books"), c.table("loans")
    c.save(l.join(b, (l.book == b.book) & (l.blurb > b.blurb)).groupBy((b.book % 90).alias("k")).agg(F.count("*")), "lent")


@job("cache.ineffective", spark="3.5", extra=["udo.cpu_bound"], question="Why does every step start from the beginning?", note="an expensive RDD is computed again by each of six actions; without: cache()")
def training(c):
    def features(i):
        time.sleep(.01)
        return i % 17, i * 3 % 101
    data = c.sc.parallelize(range(900), 8).map(features)
    if not c.bad:
        data = data.cache()
    w = 0.5
    for _ in range(6):
        w += data.map(lambda p, w=w: p[0] * w - p[1]).sum() / 1e9
    print(w)


@job("allocation.over", spark="4.0", workers=(6, 1, 700), resource_only=True, also=["parallelism.too_low"], extra=["udo.cpu_bound", "shuffle.serial_gather", "driver.bottleneck"], question="Could we run this on a smaller cluster?",
     tables={"books": lambda c: c.rows(4_000, 1, title=text(1))}, note="six cores are held and one is used; saves core time, not wall time")
def look_up(c):
    c.save(c.table("books").coalesce(1).withColumn("isbn", asks("id", 2, 8)), "isbn")


@job("allocation.under", spark="3.5", workers=(3, 2, 1024), cluster=dict(bad=(1, 1, 1024)), extra=["udo.cpu_bound"], question="Would a larger cluster help?", note="one core for sixty even tasks of an RDD; without: six cores")
def render_pages(c):
    def render(i):
        time.sleep(.045)
        return i % 9
    print(c.sc.parallelize(range(480), 60).map(render).countByValue())


@job("queue.wait", spark="3.5", workers=(2, 2, 1024), cluster=dict(late=28), conf={"spark.cores.max": "4"}, question="It is a tiny job. What took so long?", tables={"books": lambda c: c.rows(300_000, shelf="cast({r} * 300 as int)")},
     note="standalone cluster whose workers come late; without: they are there")
def shelf_sizes(c):
    c.save(c.table("books").groupBy("shelf").count(), "sizes")


@job(spark="4.0", question=HEALTHY, extra=["udo.cpu_bound"], tables={"books": lambda c: c.rows(900_000, title=text(5))}, note="a cheap Python UDF on a sample, next to much ordinary work")
def sample_titles(c):
    b = c.table("books")
    c.save(b.groupBy(F.substring("title", 1, 2).alias("k")).agg(F.approx_count_distinct("title"), F.max("title")), "k")
    c.save(b.filter("id % 900 = 0").withColumn("u", F.udf(lambda s: s[:4].upper())("title")), "sample")


@job(spark="3.5", question=HEALTHY, conf=partitions(6, **AQE_OFF), tables={"loans": lambda c: c.rows(900_000, reader="cast(pow({r}, 1.2) * 30000 as int)", title=text(4))}, note="mild skew in an aggregation")
def titles_per_reader(c):
    c.save(c.table("loans").groupBy("reader").agg(F.max("title"), F.min("title"), F.count("*")), "titles")


@job(spark="3.3", question=HEALTHY, conf=partitions(6), extra=["shuffle.unused_columns"], tables={"a": lambda c: c.rows(700_000, k="cast({r} * 400000 as int)", t=text(3)), "b": lambda c: c.rows(700_000, k="cast({r} * 400000 as int)", u=text(3))},
     note="a full outer join of two large sides: the shuffle is necessary")
def compare_catalogues(c):
    c.views("a", "b")
    c.save(c.sql("SELECT coalesce(a.k, b.k) AS k, max(t) AS t, max(u) AS u FROM a FULL OUTER JOIN b ON a.k = b.k GROUP BY coalesce(a.k, b.k)"), "both")


@job(spark="4.0", question=HEALTHY, tables={"books": lambda c: c.rows(600_000, shelf="cast({r} * 400 as int)", title=text(3))}, extra=["allocation.over"],
     conf={"spark.app.name": "PySparkShell"}, note="nobody asks anything between two cells of a notebook")
def two_cells(c):
    c.views("books")
    c.sql("SELECT shelf, max(title) FROM books GROUP BY shelf").collect()
    time.sleep(14)
    c.sql("SELECT count(DISTINCT title) FROM books").collect()


@job(spark="3.5", question=HEALTHY, extra=["udo.cpu_bound"], note="an iterative RDD job with a cached input")
def k_means(c):
    points = c.sc.parallelize(range(120_000), 6).map(lambda i: ((i * 7919 % 1000) / 1000, (i * 104729 % 1000) / 1000)).cache()
    centers = [(.1, .2), (.5, .5), (.8, .3)]
    for _ in range(4):
        def nearest(p, centers=centers):
            k = min(range(3), key=lambda j: (p[0] - centers[j][0]) ** 2 + (p[1] - centers[j][1]) ** 2)
            return k, (p[0], p[1], 1)
        sums = points.map(nearest).reduceByKey(lambda a, b: (a[0] + b[0], a[1] + b[1], a[2] + b[2])).collect()
        centers = [(s[0] / s[2], s[1] / s[2]) for _, s in sorted(sums)]
    print(centers)


@job(spark="3.5", question=HEALTHY, conf=partitions(16, **{"spark.speculation": "true"}), tables={"books": lambda c: c.rows(900_000, shelf="cast({r} * 4000 as int)", title=text(4))}, note="speculation is on and has nothing to do")
def shelf_titles(c):
    c.save(c.table("books").groupBy("shelf").agg(F.max("title"), F.approx_count_distinct("title")), "shelves")


@job(spark="3.3", question=HEALTHY, conf=partitions(6), tables={"books": lambda c: c.rows(900_000, shelf="cast({r} * 4000 as int)", title=text(4))}, note="partitioned output of 30 folders, repartitioned for it")
def export_by_shelf(c):
    b = c.table("books").withColumn("part", F.col("shelf") % 30).repartition(6, "part")
    b.write.mode("overwrite").partitionBy("part").parquet(os.path.join(c.out, "export"))


@job(spark="4.0", question=HEALTHY, tables={"loans": lambda c: c.rows(1_200_000, book="cast({r} * 2000 as int)", t=text(4)), "books": lambda c: c.rows(2_000, 1, book="cast(id as int)", title=text(1))},
     note="a broadcast of 2,000 rows, as it should be, and a top ten")
def most_lent(c):
    j = c.table("loans").join(c.table("books"), "book")
    j.groupBy("title").agg(F.count("*").alias("n"), F.max("t")).orderBy(F.desc("n")).limit(10).collect()


@job(verdict="insufficient_information", spark="4.0", question="Why is there no result?", note="the driver is killed while its first query runs: no end, no error")
def vanished(c):
    import threading
    threading.Timer(5, lambda: os.kill(os.getpid(), 9)).start()
    c.sc.parallelize(range(60), 30).map(lambda x: time.sleep(.7)).count()
