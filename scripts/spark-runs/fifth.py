"""A fifth set of jobs, written together with the fourth and before its failures were known; other mechanisms of the same causes."""
import json
import os
import random
import time

from pyspark import StorageLevel
from pyspark.sql import Window, functions as F

from common import AQE_OFF, HEALTHY, asks, job, partitions, shared, text, text_files

shared(
    # A mail-order shop, a hospital's sensors, and a museum.
    orders=lambda c: c.rows(1200000, 8, order_id="id", buyer="cast({r} * 70000 as int)", placed="timestamp_seconds(1704067200 + cast({r} * 31000000 as bigint))", total="round({r} * 300, 2)", remark=text(2)),
    vitals=lambda c: c.rows(1600000, 10, bed="cast({r} * 900 as int)", at="1704067200 + cast({r} * 2592000 as bigint)", pulse="cast(50 + {r} * 90 as int)", spo2="{r}", device=text(1)),
    objects=lambda c: c.rows(300000, 6, obj="id", hall="cast({r} * 40 as int)", year="cast(1400 + {r} * 600 as int)", title=text(2)),
)


# ---- problems -----------------------------------------------------------------------------------------------------------------

def tickets(c):
    hot = .6 if c.bad else 0
    return c.rows(1500000, 8, customer="if({r} < %s, 11, cast({r} * 50000 as int))" % hot, minutes="cast({r} * 90 as int)", body=text(4))


@job("skew.join_hot_key", {"tickets": tickets, "contracts": lambda c: c.rows(50000, 2, customer="id", plan="cast({r} * 9 as int)", terms=text(2))}, spark="3.5", workers=(4, 1, 1024), conf=partitions(12, **AQE_OFF, **{"spark.sql.autoBroadcastJoinThreshold": "-1"}),
     extra=("memory.spill", "shuffle.missed_broadcast", "compute.costly_expression", "udo.cpu_bound"), note="pandas API on Spark: merge on a customer who has 60 % of the tickets")
def tickets_pandas_merge(c):
    import pyspark.pandas as ps
    ps.set_option("compute.default_index_type", "distributed")
    t, k = ps.DataFrame(c.table("tickets")), ps.DataFrame(c.table("contracts"))
    m = t.merge(k, on="customer")
    frame = m.to_spark().withColumn("sig", F.sha2(F.concat("body", "terms"), 512)).withColumn("sig", F.sha2(F.concat("sig", "body"), 512))
    c.save(frame.groupBy("plan").agg(F.avg("minutes").alias("m"), F.max("sig").alias("s")), "plans")


@job("cache.ineffective", {"nodes": lambda c: c.rows(300000, 4, node="id", next="cast({r} * 300000 as bigint)", w="{r}")}, spark="3.5", workers=(2, 2, 1024), conf=partitions(4, **{"spark.sql.autoBroadcastJoinThreshold": "-1"}), extra=("driver.bottleneck", "shuffle.redundant_repartition", "shuffle.missed_broadcast"),
     note="an iteration without a checkpoint: each round's count computes all rounds before it again")
def nodes_rounds(c):
    links = c.table("nodes")
    state = links.select("node", F.col("w").alias("v"))
    for i in range(6):
        state = links.join(state.withColumnRenamed("node", "next"), "next").groupBy("node").agg((F.sum(F.expr("v * w")) + i).alias("v"))
        if not c.bad:
            state = state.localCheckpoint()
        state.where("v > 1").count()
    c.save(state, "state")


@job("udo.cpu_bound", {"arrivals": lambda c: c.rows(450000, 8, ship="cast({r} * 3000 as int)", eta="date_format(timestamp_seconds(1704067200 + cast({r} * 31000000 as bigint)), 'dd/MM/yyyy HH:mm:ss')", berth="cast({r} * 60 as int)")}, spark="3.3", workers=(2, 1, 1024), conf=partitions(4), extra=("compute.costly_expression",),
     note="dates are parsed by strptime in a row-at-a-time Python UDF")
def arrivals_strptime(c):
    from datetime import datetime
    a = c.table("arrivals")
    if c.bad:
        parse = F.udf(lambda s: datetime.strptime(s, "%d/%m/%Y %H:%M:%S").isocalendar()[1] + datetime.strptime(s[:10], "%d/%m/%Y").day, "int")
        a = a.withColumn("k", parse("eta"))
    else:
        a = a.withColumn("k", F.weekofyear(F.to_timestamp("eta", "dd/MM/yyyy HH:mm:ss")) + F.substring("eta", 1, 2).cast("int"))
    c.save(a.groupBy("berth", "k").agg(F.countDistinct("ship").alias("n")), "weeks")


@job("compute.costly_expression", {"forms": lambda c: c.rows(420000, 8, form="id", birth="date_format(date_add(date'1940-01-01', cast({r} * 25000 as int)), element_at(array('dd.MM.yyyy','MM/dd/yyyy','yyyyMMdd','dd MMM yyyy'), 1 + cast({r} * 4 as int)))", name=text(1))}, spark="3.5", workers=(2, 2, 1024), conf=partitions(4, **{"spark.sql.legacy.timeParserPolicy": "CORRECTED"}),
     extra=("udo.cpu_bound",), note="each date is tried in six formats, and most throw inside")
def forms_dates(c):
    c.views("forms")
    formats = ["EEEE, d MMMM yyyy", "dd MMM yyyy HH:mm", "yyyy-MM-dd HH:mm", "dd MMM yyyy", "MM/dd/yyyy", "yyyyMMdd", "dd.MM.yyyy"] if c.bad else ["dd.MM.yyyy"]
    dates = "coalesce(%s)" % ", ".join("to_timestamp(birth, '%s')" % f for f in formats)
    c.save(c.sql("SELECT year(d) AS y, count(*) AS n, max(name) AS m FROM (SELECT %s AS d, name FROM forms) GROUP BY year(d)" % dates), "years")


@job("parallelism.too_low", spark="3.5", workers=(4, 2, 768), extra=("udo.cpu_bound", "parallelism.idle_slots", "allocation.over"), note="96 pages of a service are fetched by an RDD of two slices")
def pages_two_slices(c):
    def fetch(page):
        time.sleep(.45)
        return [(page, k, k * page % 97) for k in range(200)]
    r = c.sc.parallelize(range(96), 2 if c.bad else 24).flatMap(fetch)
    c.save(r.toDF(["page", "k", "v"]), "pages")


@job("driver.bottleneck", {"hourly": lambda c: c.rows(300000, 4, h="cast({r} * 150 as int)", host="cast({r} * 500 as int)", load="{r}")}, spark="3.5", workers=(4, 1, 768), conf=partitions(2), also=("cache.ineffective",), extra=("allocation.over", "parallelism.too_low", "parallelism.tiny_vertices"),
     note="a loop with one small query for each of 150 hours")
def hourly_loop(c):
    h = c.table("hourly")
    out = []
    if c.bad:
        for i in range(150):
            r = h.where(F.col("h") == i).agg(F.avg("load"), F.max("host")).first()
            out.append((i, float(r[0] or 0), int(r[1] or 0)))
    else:
        out = [(r[0], float(r[1]), int(r[2])) for r in h.groupBy("h").agg(F.avg("load"), F.max("host")).collect()]
    c.save(c.spark.createDataFrame(out, "h int, l double, m int"), "hours")


@job("parallelism.tiny_vertices", spark="3.5", workers=(2, 2, 768), extra=("udo.cpu_bound",), note="one task for each of 2,500 numbers")
def numbers_slices(c):
    c.sc.parallelize(range(2500), 2500 if c.bad else 8).map(lambda i: (i % 7, i * i)).reduceByKey(lambda a, b: a + b, 8).saveAsTextFile(os.path.join(c.out, "sums"))


@job("join.explosion", {"stays": lambda c: c.rows(24000, 4, stay="id", a="cast({r} * 100000 as int)", len="cast({r} * 50 as int)"), "alarms": lambda c: c.rows(12000, 4, alarm="id", t="cast({r} * 100000 as int)", code="cast({r} * 30 as int)")}, spark="3.5", workers=(2, 2, 1024), conf=partitions(4),
     also=("compute.costly_expression",), extra=("broadcast.too_large", "parallelism.too_low"), note="a join by interval only compares each pair: 288 million")
def stays_alarms(c):
    c.views("stays", "alarms")
    if c.bad:
        q = "SELECT s.stay, count(*) AS n, max(code) AS m FROM stays s JOIN alarms x ON x.t >= s.a AND x.t < s.a + s.len GROUP BY s.stay"
    else:
        q = """SELECT s.stay, count(*) AS n, max(code) AS m FROM (SELECT *, explode(sequence(a div 50, (a + len) div 50)) AS b FROM stays) s JOIN (SELECT *, t div 50 AS b FROM alarms) x ON s.b = x.b AND x.t >= s.a AND x.t < s.a + s.len GROUP BY s.stay"""
    c.save(c.sql(q), "alarms")


def archive(c):
    sizes = [900000] + [30000] * 15 if c.bad else [84375] * 16
    c.spark.sparkContext._jsc.hadoopConfiguration().setInt("parquet.block.size", 512 << 20)
    for i, n in enumerate(sizes):
        f = c.rows(n, 1, doc="id", box="cast({r} * 700 as int)", page=text(3)).coalesce(1)
        f.write.parquet(os.path.join(c.path("archive"), "scan=%02d" % i))


@job("skew.partition_layout", {"archive": archive}, spark="3.5", workers=(4, 1, 1024), conf=partitions(8, **{"spark.sql.files.maxPartitionBytes": "12m"}), also=("parallelism.too_low",), extra=("compute.costly_expression", "io.small_files"), note="one of 16 files has two thirds of the rows in one row group, which cannot be split")
def archive_row_group(c):
    a = c.table("archive").withColumn("h", F.sha2(F.repeat("page", 5), 512)).withColumn("h", F.sha2(F.concat("h", F.repeat("page", 5)), 512))
    c.save(a.groupBy("box").agg(F.max("h").alias("h"), F.count("*").alias("n")), "boxes")


@job("memory.spill", {"cards": lambda c: c.rows(1400000, 8, card="id", shelf="cast({r} * 1000000 as int)", words=text(7))}, spark="3.5", workers=(2, 1, 640), conf=partitions(4, **AQE_OFF), bad={"spark.executor.memory": "640m", "spark.memory.fraction": "0.14"}, good={"spark.executor.memory": "1500m"}, cluster={"memory": 1600},
     extra=("gc.heap_pressure", "parallelism.too_low"), note="a window over wide rows sorts in too little memory")
def cards_window(c):
    w = Window.partitionBy("shelf").orderBy("words")
    k = c.table("cards").withColumn("shelf", F.col("shelf") % 40000).withColumn("nr", F.row_number().over(w)).withColumn("prev", F.lag("words").over(w))
    c.save(k.where("nr > 1").select("card", "shelf", "nr", "words", F.substring("prev", 1, 8).alias("p")), "numbered")


def sensors(c):
    for i in range(1800 if c.bad else 6):
        text_file = os.path.join(c.path("sensors"), "site=%d" % (i % 60), "f%04d.csv" % i)
        os.makedirs(os.path.dirname(text_file), exist_ok=True)
        with open(text_file, "w") as fh:
            fh.write("t,v,q\n")
            fh.writelines("%d,%.3f,%d\n" % (k, (k * 37 + i) % 997 / 9, k % 4) for k in range(40 if c.bad else 12000))


@job("io.small_files", {"sensors": sensors}, spark="4.0", workers=(2, 2, 1024), conf=partitions(4), extra=("parallelism.tiny_vertices", "driver.bottleneck"), note="1,800 CSV files with a header each, schema inferred")
def sensors_csv(c):
    s = c.spark.read.option("header", True).option("inferSchema", True).csv(c.path("sensors"))
    c.save(s.groupBy("site").agg(F.avg("v").alias("v"), F.max("q").alias("q")), "sites")


@job("shuffle.missed_broadcast", spark="3.5", workers=(2, 1, 1024), extra=("udo.cpu_bound", "shuffle.unused_columns", "skew.join_hot_key"), note="RDD join with 40 halls, where a broadcast variable would do")
def objects_rdd_join(c):
    rows = c.table("objects").rdd.map(lambda r: (r.hall, (r.obj, r.title, r.year)))
    halls = {i: "hall-%d" % i for i in range(40)}
    if c.bad:
        j = rows.join(c.sc.parallelize(sorted(halls.items()), 2), 8).map(lambda kv: (kv[1][0][2] // 10, (1, kv[1][1], kv[1][0][1])))
    else:
        b = c.sc.broadcast(halls)
        j = rows.map(lambda kv: (kv[1][2] // 10, (1, b.value[kv[0]], kv[1][1])))
    j.reduceByKey(lambda a, b: (a[0] + b[0], max(a[1], b[1]), max(a[2], b[2])), 4).saveAsTextFile(os.path.join(c.out, "decades"))


@job("queue.wait", spark="3.5", workers=(2, 1, 768), conf=partitions(4), cluster={"held": 25}, extra=("allocation.under",), note="another application holds all cores for 25 s")
def orders_queue(c):
    c.save(c.table("orders").groupBy("buyer").agg(F.sum("total").alias("t"), F.max(F.sha2("remark", 256)).alias("r")), "buyers")


@job("failure.limit", spark="3.5", workers=(2, 1, 1024), conf={"spark.driver.maxResultSize": "24m"}, fails=True, pair=False, also=("driver.bottleneck",), question="Why did this application fail?", note="toPandas of everything exceeds spark.driver.maxResultSize")
def vitals_to_pandas(c):
    c.table("vitals").toPandas()


@job("shuffle.unused_columns", {"people": lambda c: c.rows(700000, 8, person="id", city="cast({r} * 900 as int)", income="cast({r} * 90000 as int)", bio=text(9))}, spark="3.5", workers=(2, 1, 1024), conf=partitions(6, **AQE_OFF), also=("shuffle.redundant_repartition",), extra=("cache.ineffective", "memory.spill"),
     note="distributed by city and kept on disk with a long biography that nothing reads later")
def people_wide(c):
    p = c.table("people") if c.bad else c.table("people").select("person", "city", "income")
    p = p.repartition(6, "city").persist(StorageLevel.DISK_ONLY)
    c.save(p.groupBy("city").agg(F.avg("income").alias("i")), "income")
    c.save(p.groupBy("city").agg(F.count("person").alias("n"), F.max("income").alias("m")), "people")


# ---- healthy ------------------------------------------------------------------------------------------------------------------

@job(tables={"old": lambda c: c.rows(700000, 6, key="id", v="{r}", info=text(2)), "new": lambda c: c.rows(500000, 6, key="id + 400000", v="{r}", info=text(2))}, spark="3.5", workers=(2, 2, 1024), conf=partitions(8), question=HEALTHY, note="an upsert: old and new rows meet by key, as they must")
def upsert_keys(c):
    o, n = c.table("old"), c.table("new").withColumnRenamed("v", "v2").withColumnRenamed("info", "info2")
    c.save(o.join(n, "key", "full_outer").select("key", F.coalesce("v2", "v").alias("v"), F.coalesce("info2", "info").alias("info")), "merged")


def lines(c):
    text_files(c, "lines", 60000, 6, lambda i: " ".join("w%d" % (i * k % 4001) for k in range(9)), "l-%02d.txt")


@job(tables={"lines": lines}, spark="3.5", workers=(2, 1, 768), question=HEALTHY, note="a short word count")
def words_short(c):
    c.sc.textFile(c.path("lines"), 6).flatMap(str.split).map(lambda w: (w, 1)).reduceByKey(lambda a, b: a + b, 4).saveAsTextFile(os.path.join(c.out, "words"))


@job(spark="3.5", workers=(2, 2, 1024), question=HEALTHY, note="pandas API on Spark with plain group-bys")
def vitals_pandas_api(c):
    import pyspark.pandas as ps
    ps.set_option("compute.default_index_type", "distributed")
    v = ps.DataFrame(c.table("vitals"))
    v["hour"] = v["at"] // 3600
    c.save(v.groupby(["bed", "hour"])[["pulse", "spo2"]].agg({"pulse": "max", "spo2": "mean"}).reset_index().to_spark(), "hours")


@job(spark="3.3", workers=(2, 2, 1024), conf=partitions(8), question=HEALTHY, note="sampling, quantiles and one compact output")
def orders_quantiles(c):
    o = c.table("orders")
    q = o.approxQuantile("total", [.1, .5, .9], .01)
    c.save(o.withColumn("band", F.expr("CASE WHEN total < %f THEN 0 WHEN total < %f THEN 1 WHEN total < %f THEN 2 ELSE 3 END" % tuple(q))).groupBy("buyer", "band").agg(F.count("*").alias("n"), F.max("placed").alias("p")), "bands")


@job(tables={"baskets": lambda c: c.rows(400000, 8, basket="id", items="transform(sequence(1, 1 + cast({r} * 7 as int)), x -> named_struct('sku', cast((id * x) % 9001 as int), 'qty', x))")}, spark="4.0", workers=(2, 2, 1024), conf=partitions(8), question=HEALTHY, note="nested items are exploded four-fold: that is the grain of the output")
def baskets_items(c):
    b = c.table("baskets").select("basket", F.explode("items").alias("i")).select("basket", "i.sku", "i.qty")
    top = b.groupBy("sku").agg(F.sum("qty").alias("q"), F.countDistinct("basket").alias("n"))
    c.save(top.orderBy(F.desc("q")).limit(500), "top")
    c.save(b.groupBy("basket").agg(F.collect_list("sku").alias("s")).where(F.size("s") > 2), "sets")


@job(spark="3.5", workers=(2, 2, 1024), question=HEALTHY, note="default settings: adaptive execution joins 200 partitions to a few")
def orders_defaults(c):
    o = c.table("orders")
    big = o.groupBy("buyer").agg(F.sum("total").alias("sum"))
    c.save(o.join(big, "buyer").where("total > sum / 20").withColumn("m", F.month("placed")).groupBy("m").agg(F.count("*").alias("n"), F.sum("total").alias("t"), F.max("remark").alias("r")), "months")


@job(spark="3.5", workers=(2, 2, 1024), conf=partitions(8), question=HEALTHY, note="one task fails early, is repeated, and costs nothing")
def vitals_one_retry(c):
    def check(rows):
        from pyspark import TaskContext
        t = TaskContext.get()
        if t.partitionId() == 1 and t.attemptNumber() == 0:
            raise IOError("connection reset")
        return rows
    c.save(c.spark.createDataFrame(c.sc.parallelize(range(8), 8).mapPartitions(check).map(lambda i: (i * 100,)), "bed int").join(c.table("vitals"), "bed").groupBy("bed").count(), "few")
    c.save(c.table("vitals").groupBy("bed", F.expr("at div 600")).agg(F.max("pulse").alias("p"), F.avg("spo2").alias("s")), "tens")


@job(spark="3.5", workers=(2, 2, 1024), conf=partitions(8), question=HEALTHY, note="sorted within files by need of later readers")
def vitals_sorted(c):
    c.save(c.table("vitals").repartition(8, "bed").sortWithinPartitions("bed", "at"), "sorted")
