"""A fourth set of jobs: many small companies, each with its own data and style of code.  Written without a look at the rules or at the other sets."""
import json
import os
import random
import time

from pyspark import StorageLevel
from pyspark.sql import Row, Window, functions as F, types as T

from common import AQE_OFF, HEALTHY, asks, job, partitions, shared, text, text_files

shared(
    # A taxi company.
    trips=lambda c: c.rows(1200000, 12, trip_id="id", driver="cast({r} * 20000 as int)", zone="cast({r} * 260 as int)", started="timestamp_seconds(1704067200 + cast({r} * 7776000 as bigint))",
                           km="round({r} * 30, 2)", fare="round({r} * 90, 2)", note=text(2)),
    # A bank's ledger.
    ledger=lambda c: c.rows(1500000, 10, entry="id", account="cast({r} * 90000 as int)", booked="timestamp_seconds(1672531200 + cast({r} * 31536000 as bigint))", amount="round({r} * 2000 - 1000, 2)",
                            kind="element_at(array('card','wire','fee','atm','check'), 1 + cast({r} * 5 as int))"),
    accounts=lambda c: c.rows(90000, 4, account="id", branch="cast({r} * 120 as int)", opened="date_add(date'2001-01-01', cast({r} * 8000 as int))", holder=text(1)),
    # A game's events.
    plays=lambda c: c.rows(2000000, 12, player="cast({r} * 150000 as int)", level="cast({r} * 80 as int)", score="cast({r} * 10000 as int)", at="1700000000 + cast({r} * 2592000 as bigint)", device=text(1)),
)


# ---- problems -----------------------------------------------------------------------------------------------------------------

def readings(c):
    hot = .62 if c.bad else 0
    return c.rows(900000, 8, gateway="if({r} < %s, 7, cast({r} * 40000 as int))" % hot, celsius="round({r} * 40, 1)", raw="substr(md5(cast(id as string)), 1, 16)")


@job("skew.join_hot_key", {"readings": readings}, spark="3.5", workers=(3, 1, 1024), also=("skew.group_hot_key",), extra=("udo.cpu_bound", "memory.spill", "parallelism.too_low"), fixed=True, fixed_extra=("udo.cpu_bound",),
     note="RDD join: one gateway sends 62 % of the readings")
def gateway_rdd_join(c):
    left = c.table("readings").rdd.map(lambda r: (r.gateway, (r.celsius, r.raw)))
    places = c.sc.parallelize(range(40000), 4).map(lambda i: (i, "place-%d" % (i % 97)))
    joined = left.leftOuterJoin(places, 12)
    means = joined.mapValues(lambda v: (sum(ord(x) for x in v[0][1]), v[0][0])).map(lambda kv: ("%s" % (kv[1][0] % 50), kv[1][1])).reduceByKey(max, 4)
    means.saveAsTextFile(os.path.join(c.out, "means"))


def claims(c):
    none = .7 if c.bad else 0
    return c.rows(1800000, 10, claim="id", provider="if({r} < %s, -1, cast({r} * 60000 as int))" % none, paid="round({r} * 500, 2)", memo=text(3))


@job("skew.null_or_default_key", {"claims": claims, "providers": lambda c: c.rows(60001, 4, provider="id - 1", city="concat('city', cast({r} * 500 as int))", license=text(4))}, spark="3.3", workers=(4, 1, 1024),
     conf=partitions(16, **{"spark.sql.autoBroadcastJoinThreshold": "-1", "spark.sql.adaptive.skewJoin.enabled": "false"}), also=("skew.join_hot_key",), extra=("memory.spill", "shuffle.missed_broadcast", "shuffle.late_filter"),
     note="claims of an unknown provider have -1; all of them meet in one task, which sorts them and computes on them")
def claims_unknown_provider(c):
    c.views("claims", "providers")
    c.sql("""CREATE OR REPLACE TEMP VIEW j AS SELECT c.claim, c.paid, p.city, sha2(concat(c.memo, p.license), 512) AS token
             FROM claims c LEFT JOIN providers p ON c.provider = p.provider""")
    c.save(c.sql("SELECT city, sum(paid) AS paid, max(token) AS t FROM j GROUP BY city"), "by_city")


def sales(c):
    hot = .5 if c.bad else 0
    return c.rows(1600000, 8, seller="if({r} < %s, 4242, cast({r} * 30000 as int))" % hot, sold="timestamp_seconds(1704067200 + cast({r} * 31000000 as bigint))", price="round({r} * 80, 2)", title=text(2))


@job("skew.group_hot_key", {"sales": sales}, spark="4.0", workers=(4, 1, 1024), conf=partitions(16), also=("skew.partition_layout",), extra=("memory.spill", "gc.heap_pressure"), fixed=True,
     note="a window per seller, and one seller has half of all sales")
def seller_window(c):
    w = Window.partitionBy("seller").orderBy("sold")
    s = c.table("sales").withColumn("n", F.row_number().over(w)).withColumn("before", F.lag("price", 1).over(w)).withColumn("running", F.sum("price").over(w)).withColumn("t", F.sha2(F.concat("title", "n"), 256))
    c.save(s.where("running > 10 OR before IS NULL"), "numbered")


@job("skew.low_cardinality_key", {"visits": lambda c: c.rows(60000, 8, country="element_at(array('de','fr','it'), 1 + cast({r} * 3 as int))", visitor="cast({r} * 9000 as int)", url=text(1))}, spark="3.5", workers=(4, 2, 1024),
     conf=partitions(16), also=("parallelism.too_low",), extra=("skew.partition_layout", "skew.group_hot_key", "udo.cpu_bound", "shuffle.redundant_repartition", "parallelism.idle_slots"), fixed=True, fixed_extra=("udo.cpu_bound",),
     note="repartition by country, which has three values, before calls to a service")
def visits_by_country(c):
    def look_up(frames):
        for f in frames:
            time.sleep(len(f) * .0012)
            yield f.assign(segment=f.visitor % 7)
    v = c.table("visits").drop("id")
    v = v.repartition(16, "country") if c.bad else v.repartition(16, "visitor")
    c.save(v.mapInPandas(look_up, "country string, visitor int, url string, segment int"), "segments")


@job("shuffle.serial_gather", spark="3.5", workers=(2, 2, 1024), conf=partitions(8), extra=("memory.spill", "parallelism.too_low"), note="row_number over the whole ledger")
def ledger_numbers(c):
    c.views("ledger")
    part = "" if c.bad else "PARTITION BY account"
    c.save(c.sql("SELECT *, row_number() OVER (%s ORDER BY booked, entry) AS nr, sum(amount) OVER (%s ORDER BY booked, entry) AS balance FROM ledger" % (part, part)), "numbered")


@job("broadcast.too_large", {"parts": lambda c: c.rows(1500000, 6, part="id", maker="cast({r} * 800 as int)", descr=text(2)), "lines": lambda c: c.rows(1200000, 8, line="id", part="cast({r} * 1500000 as int)", qty="cast({r} * 9 as int)")},
     spark="3.5", workers=(4, 1, 1400), conf=partitions(8, **{"spark.driver.memory": "3g", "spark.executor.memory": "1400m"}), also=("cardinality.misestimate",), extra=("gc.heap_pressure", "driver.bottleneck"),
     note="a broadcast hint on a table of 1.5 million rows")
def parts_hint(c):
    parts = F.broadcast(c.table("parts")) if c.bad else c.table("parts").hint("shuffle_hash")
    c.save(c.table("lines").join(parts, "part").groupBy("maker").agg(F.sum("qty").alias("q"), F.max("descr").alias("d")), "makers")


def stations(c):
    rnd = random.Random(c.seed)
    for i in range(500 if c.bad else 4):
        folder = os.path.join(c.path("weather"), "station=%03d" % i)
        os.makedirs(folder)
        for k in range(6):
            with open(os.path.join(folder, "day-%d.json" % k), "w") as fh:
                fh.writelines(json.dumps({"t": rnd.random() * 40, "wind": {"dir": rnd.randrange(360), "speed": rnd.random()}, "h": h}) + "\n" for h in range(60 if c.bad else 7500))


@job("io.small_files", {"weather": stations}, spark="3.5", workers=(2, 2, 1024), extra=("parallelism.tiny_vertices", "driver.bottleneck"), note="3,000 JSON files of 4 KB, read with schema inference")
def weather_json(c):
    w = c.spark.read.json(c.path("weather"))
    c.save(w.groupBy("station", F.expr("wind.dir div 30")).agg(F.avg("t"), F.max("wind.speed")), "rose")


@job("compute.costly_expression", {"reads": lambda c: c.rows(260000, 8, rid="id", seq="concat(repeat(substr(md5(cast(id as string)), 1, 3), 3), repeat('a', 17), if({r} < .5, 'b', '!'))", q="cast({r} * 40 as int)")},
     spark="3.5", workers=(2, 2, 1024), extra=("udo.cpu_bound",), note="a regular expression that backtracks")
def reads_pattern(c):
    pattern = "(a+)+b$" if c.bad else "a+b$"
    r = c.table("reads").where("rid % 12 = 0").withColumn("tail", F.regexp_extract("seq", pattern, 0)).groupBy("q").agg(F.count(F.expr("nullif(tail, '')")).alias("hits"))
    c.save(r, "hits")


@job("compute.costly_expression", {"bids": lambda c: c.rows(350000, 8, bid="""concat('{"id":', id, ',"user":{"age":', cast({r} * 80 as int), ',"geo":"', md5(cast(id as string)), '"},"price":', {r}, ',"cats":[', repeat('"sport","news",', 12), '"x"],"ua":"', repeat(sha2(cast(id as string), 256), 5), '"}')""")},
     spark="3.3", workers=(2, 2, 1024), conf={"spark.sql.optimizer.enableJsonExpressionOptimization": "false"}, extra=("udo.cpu_bound",), note="the same JSON text is parsed once for each of 16 fields")
def bids_json(c):
    b = c.table("bids")
    if c.bad:
        fields = [F.get_json_object("bid", p).alias("c%d" % i) for i, p in enumerate(["$.id", "$.user.age", "$.user.geo", "$.price"] + ["$.cats[%d]" % k for k in range(11)] + ["$.ua"])]
        b = b.select(*fields).select(F.col("c1").alias("age"), F.col("c3").cast("double").alias("price"), F.hash(*["c%d" % i for i in range(16)]).alias("h"))
    else:
        b = b.select(F.from_json("bid", "id bigint, user struct<age:int,geo:string>, price double, cats array<string>, ua string").alias("j")).select("j.user.age", "j.price", F.hash("j.user", "j.cats", "j.ua").alias("h"))
    c.save(b.groupBy("age").agg(F.avg("price").alias("p"), F.max("h").alias("h")), "ages")


@job("join.explosion", {"flights": lambda c: c.rows(60000, 4, flight="id", airport="cast({r} * 60 as int)", day="cast({r} * 20 as int)", delay="cast({r} * 90 as int)"),
                        "metar": lambda c: c.rows(240000, 4, airport="cast({r} * 60 as int)", day="cast({r} * 20 as int)", minute="cast({r} * 1440 as int)", gust="round({r} * 60, 1)")},
     spark="4.0", workers=(2, 2, 1024), conf=partitions(8), note="flights meet every observation of the day: 12 million rows, of which the job needs 60,000")
def flights_weather(c):
    c.views("flights", "metar")
    m = "metar" if c.bad else "(SELECT airport, day, max(gust) AS gust, max(minute) AS minute FROM metar GROUP BY airport, day)"
    c.save(c.sql("SELECT f.flight, max(m.gust) AS gust, max(struct(m.minute, f.delay)) AS last, min(sha2(concat(m.gust, f.delay), 256)) AS h FROM flights f JOIN %s m ON f.airport = m.airport AND f.day = m.day GROUP BY f.flight" % m), "gusts")


def posts(c):
    text_files(c, "posts", 240000, 8, lambda i: " ".join(words[(i * 31 + k * k) % 997] for k in range(24)), "part-%03d.txt") if (words := ["w%x" % (k * 2654435761 % 100003) for k in range(997)]) else None


@job("udo.cpu_bound", {"posts": posts}, spark="3.5", workers=(2, 1, 1024), extra=("compute.costly_expression",), note="an RDD of lines: Python counts pairs of words with nested loops")
def posts_pairs_rdd(c):
    def pairs(line):
        w = line.split()
        seen = {}
        for i in range(len(w)):
            for k in range(i + 1, min(len(w), i + 16)):
                seen[(w[i], w[k])] = seen.get((w[i], w[k]), 0) + 1
        return sorted(seen.items(), key=lambda x: -x[1])[:1]
    lines = c.sc.textFile(c.path("posts"), 8)
    if c.bad:
        lines.flatMap(pairs).reduceByKey(lambda a, b: a + b, 4).map(lambda x: "%s %s" % x).saveAsTextFile(os.path.join(c.out, "pairs"))
    else:
        c.save(c.spark.read.text(c.path("posts")).select(F.explode(F.split("value", " ")).alias("w")).groupBy("w").count(), "pairs")


@job("udo.cpu_bound", {"meters": lambda c: c.rows(160000, 8, meter="cast({r} * 800 as int)", hour="id", kwh="{r} * 3")}, spark="3.5", workers=(2, 2, 1024), conf=partitions(8), note="a forecast per meter in plain Python loops inside applyInPandas")
def meters_forecast(c):
    def fit(f):
        level, best = 0.0, None
        values = f.kwh.tolist()
        for alpha in range(1, 60 if c_bad else 3):
            err = 0.0
            for v in values:
                err += abs(v - level)
                level += alpha / 60 * (v - level)
            best = min(best or (err, alpha), (err, alpha))
        return f.head(1).assign(kwh=best[0])
    c_bad = c.bad
    c.save(c.table("meters").select("meter", "hour", "kwh").groupBy("meter").applyInPandas(fit, "meter int, hour long, kwh double"), "fits")


@job("driver.bottleneck", spark="3.5", workers=(2, 1, 1024), extra=("cache.ineffective", "allocation.over"), note="columns are added one after another in a loop: the driver analyzes the plan again and again")
def ratios_loop(c):
    df = c.table("plays").limit(2000)
    n = 340
    if c.bad:
        for i in range(n):
            df = df.withColumn("r%d" % i, F.col("score") / F.lit(i + 1.0) + (F.col("r%d" % (i - 1)) if i % 20 else F.lit(0)))
    else:
        df = df.select("*", *[(F.col("score") / F.lit(i + 1.0)).alias("r%d" % i) for i in range(n)])
    c.save(df, "ratios")


@job("driver.bottleneck", spark="3.3", workers=(2, 2, 1024), conf={"spark.driver.memory": "3g", "spark.driver.maxResultSize": "2g"}, extra=("udo.cpu_bound", "parallelism.too_low", "allocation.over"), note="all trips are collected, changed in the driver, and sent back")
def trips_collect(c):
    t = c.table("trips").select("driver", "zone", "fare")
    if c.bad:
        best = {}
        for r in t.limit(500000).collect():
            best[r.driver] = max(best.get(r.driver, 0), r.fare * (1 + r.zone % 7))
        t = c.spark.createDataFrame([Row(driver=k, best=float(v)) for k, v in best.items()])
    else:
        t = t.groupBy("driver").agg(F.max(F.expr("fare * (1 + zone % 7)")).alias("best"))
    c.save(t, "best")


@job("parallelism.too_low", {"staff": lambda c: c.rows(900000, 12, person="id", unit="cast({r} * 300 as int)", salary="cast({r} * 9000 as int)", cv=text(3))}, spark="3.5", workers=(4, 1, 1024), also=("shuffle.serial_gather",), extra=("udo.cpu_bound", "compute.costly_expression", "parallelism.idle_slots"),
     note="coalesce(1) for a single output file pulls the hashing before it into one task")
def payroll_file(c):
    s = c.table("staff").withColumn("sign", F.sha2(F.concat_ws("|", "cv", "salary"), 512)).withColumn("sign", F.sha2(F.concat("sign", "cv"), 512)).withColumn("z", F.length(F.encode(F.upper("cv"), "UTF-16")))
    wait = asks("person", 900, 14)
    s = s.withColumn("hr", wait)
    (s.coalesce(1) if c.bad else s.coalesce(4)).write.mode("overwrite").option("header", True).csv(os.path.join(c.out, "payroll"))


@job("parallelism.tiny_vertices", {"calls": lambda c: c.rows(400000, 8, caller="cast({r} * 5000 as int)", cell="cast({r} * 900 as int)", secs="cast({r} * 600 as int)")}, spark="3.3", workers=(2, 2, 1024), conf=AQE_OFF, bad=partitions(1600), good=partitions(8), note="1,600 shuffle partitions for 400,000 rows")
def calls_cells(c):
    a = c.table("calls").groupBy("caller", "cell").agg(F.sum("secs").alias("s"), F.count("*").alias("n"))
    c.save(a.groupBy("cell").agg(F.max("s").alias("s"), F.sum("n").alias("n")), "cells")


@job("cache.ineffective", {"songs": lambda c: c.rows(700000, 8, song="id", artist="cast({r} * 3000 as int)", lyrics=text(6))}, spark="4.0", workers=(2, 2, 1024), conf=partitions(8), extra=("compute.costly_expression",), fixed=True, note="five outputs compute the same features again")
def songs_features(c):
    f = c.table("songs").select("song", "artist", F.sha2(F.reverse("lyrics"), 512).alias("print"), F.levenshtein(F.substring("lyrics", 1, 30), F.substring("lyrics", 60, 30)).alias("dist"), F.size(F.split("lyrics", "[0-4]")).alias("parts"))
    if not c.bad:
        f = f.cache()
    for i, g in enumerate([f.groupBy("artist").agg(F.avg("dist").alias("d")), f.groupBy("parts").count(), f.groupBy("dist").count(), f.where("dist > 28").select("song", "print"), f.groupBy("artist").agg(F.max("print").alias("p"))]):
        c.save(g, "out%d" % i)


@job("cache.ineffective", {"points": lambda c: c.rows(500000, 8, pid="id", x="{r}", y="{r}", tag=text(22))}, spark="3.5", workers=(2, 1, 640), conf={"spark.executor.memory": "640m", "spark.memory.fraction": "0.4"}, good={"spark.executor.memory": "1500m", "spark.memory.fraction": "0.7"},
     cluster={"memory": 1600}, extra=("gc.heap_pressure", "memory.spill", "compute.costly_expression", "udo.cpu_bound"), note="persisted in memory only, but it does not fit: most partitions are computed again in every round")
def points_rounds(c):
    p = c.table("points").repartition(12).select("x", "y", F.concat("tag", F.sha2("tag", 512), F.sha2(F.reverse("tag"), 512)).alias("tag"), F.levenshtein(F.substring("tag", 1, 20), F.substring("tag", 300, 20)).alias("d")).persist(StorageLevel.MEMORY_ONLY)
    centre = .5
    for i in range(6):
        r = p.agg(F.avg(F.expr("x * d + %f" % centre)).alias("a"), F.max(F.length("tag"))).first()
        centre = r[0] % 1
    c.save(c.spark.createDataFrame([(float(centre),)], "c double"), "centre")


@job("shuffle.late_filter", {"stock_a": lambda c: c.rows(1500000, 8, sku="cast({r} * 400000 as int)", day="cast({r} * 365 as int)", cnt="cast({r} * 9 as int)", bin=text(2)), "stock_b": lambda c: c.rows(1500000, 8, sku="cast({r} * 400000 as int)", day="cast({r} * 365 as int)", m="cast({r} * 9 as int)", bay=text(2))},
     spark="3.5", workers=(2, 2, 1024), conf=partitions(8), extra=("memory.spill", "io.scan_without_filter"), note="a full outer join, and the day is chosen after it: Spark cannot push that down")
def stock_diff(c):
    a, b = c.table("stock_a").drop("id"), c.table("stock_b").drop("id")
    if not c.bad:
        a, b = a.where("day < 14"), b.where("day < 14")
    j = a.join(b, ["sku", "day"], "full_outer").where("day < 14").withColumn("off", F.expr("coalesce(cnt, 0) - coalesce(m, 0)"))
    c.save(j.where("off <> 0"), "diff")


@job("shuffle.redundant_repartition", spark="3.5", workers=(2, 2, 1024), conf=partitions(8), extra=("memory.spill", "shuffle.unused_columns"), fixed=True, note="rows are dealt out at random before each aggregation that shuffles by player anyway")
def plays_dealt(c):
    p = c.table("plays")
    if c.bad:
        p = p.repartition(24)
    p = p.withColumn("mark", F.concat("device", "level"))
    if c.bad:
        p = p.repartition(16, "level")
    best = p.groupBy("player").agg(F.max("score").alias("s"), F.max("mark").alias("m"), F.countDistinct("level").alias("n"))
    c.save(best, "best")


def notes(c):
    os.makedirs(c.path("patients"))
    n = 1 if c.bad else 8
    for i in range(n):
        with open(os.path.join(c.path("patients"), "notes-%d.json" % i), "w") as fh:
            json.dump([{"patient": k % 5000, "ward": k % 40, "text": "%x" % (k * 2654435761 % 2 ** 32) * 6} for k in range(i, 180000, n)], fh)


@job("parallelism.too_low", {"patients": notes}, spark="3.5", workers=(2, 2, 1400), conf=partitions(8, **{"spark.executor.memory": "1400m"}), extra=("compute.costly_expression", "gc.heap_pressure", "parallelism.idle_slots", "memory.spill"), note="one JSON document of many lines cannot be split")
def patients_json(c):
    p = c.spark.read.schema("patient int, ward int, text string").option("multiLine", True).json(c.path("patients"))
    p = p.withColumn("t", F.sha2(F.repeat("text", 8), 512)).withColumn("w", asks("text", 300, 22))
    c.save(p.groupBy("ward").agg(F.count("w").alias("n"), F.max("t").alias("t"), F.countDistinct("patient").alias("p")), "wards")


@job("memory.spill", {"frames": lambda c: c.rows(900000, 8, frame="id", cam="cast({r} * 12 as int)", k="cast({r} * 1000000 as int)", data=text(12))}, spark="3.5", workers=(2, 1, 640), conf=partitions(4, **AQE_OFF), bad={"spark.executor.memory": "640m", "spark.memory.fraction": "0.15"}, good={"spark.executor.memory": "1500m"}, cluster={"memory": 1600},
     extra=("gc.heap_pressure", "parallelism.too_low", "shuffle.unused_columns"), note="four large sorts in little memory")
def frames_sort(c):
    c.save(c.table("frames").repartition(4, "k").sortWithinPartitions("data", "k"), "sorted")


@job("gc.heap_pressure", {"tags": lambda c: c.rows(2400000, 8, item="cast({r} * 200000 as int)", tag="substr(md5(cast(id as string)), 1, 12)")}, spark="3.5", workers=(2, 1, 512), conf=partitions(4, **{"spark.sql.objectHashAggregate.sortBased.fallbackThreshold": "100000000", **AQE_OFF}), bad={"spark.executor.memory": "512m"}, good={"spark.executor.memory": "2g"}, cluster={"memory": 2100},
     extra=("memory.spill", "parallelism.too_low"), note="lists of tags as objects fill a small heap")
def tags_lists(c):
    c.save(c.table("tags").groupBy("item").agg(F.collect_list("tag").alias("l")).select("item", F.size("l").alias("n"), F.array_max("l").alias("m")), "lists")


@job("failure.vertex_retries", {"invoices": lambda c: c.rows(80000, 12, inv="id", sum="{r} * 100")}, spark="4.0", workers=(2, 2, 1024), conf={"spark.task.maxFailures": "8"}, also=("failure.user_code",), extra=("udo.cpu_bound",), note="a service refuses every other request at its end: tasks fail late and run again")
def invoices_retry(c):
    bad = c.bad

    def send(rows):
        from pyspark import TaskContext
        t = TaskContext.get()
        n = 0
        for r in rows:
            n += 1
            if n % 100 == 0:
                time.sleep(.03)
            yield (r.inv, float(r.sum) * 1.19)
        if bad and t.attemptNumber() < 1 + t.partitionId() % 3:
            raise ConnectionError("503 from the invoice service")
    c.save(c.table("invoices").rdd.mapPartitions(send).toDF(["inv", "gross"]), "gross")


@job("straggler.unexplained", {"images": lambda c: c.rows(60000, 16, img="id", w="cast({r} * 900 as int)")}, spark="3.5", workers=(2, 2, 1024), also=("failure.slow_machine",), extra=("udo.cpu_bound",), note="one task hangs for 30 seconds on a lock; speculation is off")
def images_lock(c):
    bad = c.bad

    def thumb(rows):
        from pyspark import TaskContext
        t = TaskContext.get()
        if bad and t.partitionId() == 3:
            time.sleep(30)
        for r in rows:
            if r.img % 60 == 0:
                time.sleep(.03)
            yield (r.img, r.w // 10)
    c.save(c.table("images").rdd.mapPartitions(thumb).toDF(["img", "w"]), "thumbs")


@job("allocation.over", {"tips": lambda c: c.rows(90000, 2, zone="cast({r} * 260 as int)", tip="{r}", slip=text(1))}, spark="3.5", workers=(8, 1, 512), conf=partitions(2), resource_only=True, pair=False, fails=False, extra=("parallelism.too_low", "parallelism.idle_slots", "driver.bottleneck", "memory.over_provisioned"),
     note="eight executors for two tasks at a time")
def tips_large_cluster(c):
    for i in range(5):
        t = c.table("tips").where("zone %% 5 = %d" % i).withColumn("w", asks("slip", 300, 12)).groupBy("zone").agg(F.avg("tip").alias("t"), F.count("w").alias("n"))
        c.save(t, "zone%d" % i)


@job("memory.over_provisioned", spark="3.5", workers=(2, 1, 6144), conf=partitions(4, **{"spark.eventLog.logStageExecutorMetrics": "true", "spark.executor.metrics.pollingInterval": "500"}), resource_only=True, pair=False, fails=False, note="6 GiB per executor; the job needs a tenth of it")
def zones_memory(c):
    c.views("trips")
    c.save(c.sql("SELECT zone, date(started) AS d, sum(fare) AS f, count(*) AS n, max(sha2(note, 256)) AS t FROM trips GROUP BY zone, date(started)"), "zones")
    c.save(c.sql("SELECT driver, max(fare / km) AS r, min(sha2(note, 512)) AS s FROM trips WHERE km > 1 GROUP BY driver"), "drivers")


@job("io.scan_without_filter", {"logs": lambda c: c.rows(3000000, 16, at="timestamp_seconds(1704067200 + cast(id * 10.3 as bigint))", host="cast({r} * 400 as int)", line=text(2))}, spark="3.5", workers=(2, 2, 1024), conf=partitions(8), extra=("compute.costly_expression",),
     note="one day of a year, chosen by a formatted date: no statistics can skip anything")
def logs_month(c):
    l = c.table("logs")
    l = l.where(F.date_format("at", "yyyy-MM-dd") == "2024-03-05") if c.bad else l.where("at >= timestamp'2024-03-05' AND at < timestamp'2024-03-06'")
    c.save(l.groupBy("host").agg(F.count("*").alias("n"), F.max("line").alias("l")), "hosts")


def parcels(c):
    tie = .45 if c.bad else 0
    return c.rows(1500000, 8, parcel="id", zip="if({r} < %s, 10115, cast({r} * 99999 as int))" % tie, kg="{r} * 20", label=text(3))


@job("skew.partition_layout", {"parcels": parcels}, spark="3.5", workers=(4, 1, 1024), conf=partitions(16), also=("skew.group_hot_key", "skew.join_hot_key"), extra=("memory.spill", "compute.costly_expression", "gc.heap_pressure"), note="range partitions by zip code, and 45 % have the same")
def parcels_by_zip(c):
    p = c.table("parcels").repartitionByRange(16, "zip").sortWithinPartitions("zip", "label").withColumn("code", F.sha2(F.concat("label", "kg"), 512))
    c.save(p, "sorted")


@job("shuffle.missed_broadcast", {"branches": lambda c: c.rows(120, 1, branch="id", region="cast({r} * 8 as int)", chief=text(1))}, spark="4.0", workers=(2, 2, 1024), conf=partitions(8), extra=("memory.spill", "shuffle.unused_columns"), note="a merge hint for a table of 120 rows")
def accounts_merge(c):
    c.views("plays", "branches")
    hint = "/*+ MERGE(b) */" if c.bad else ""
    c.save(c.sql("SELECT %s b.region, p.player, p.score, p.device, b.chief FROM plays p JOIN branches b ON p.level = b.branch WHERE p.score > 3" % hint), "regions")


@job("io.small_files", spark="3.5", workers=(2, 2, 1024), conf=partitions(8), also=("driver.commit",), extra=("driver.bottleneck", "parallelism.tiny_vertices"), note="written by zone from 24 random partitions: 6,000 files of 20 KB")
def trips_by_zone(c):
    t = c.table("trips").select("trip_id", "zone", "fare", "km")
    (t.repartition(24) if c.bad else t.repartition(8, "zone")).write.mode("overwrite").partitionBy("zone").parquet(os.path.join(c.out, "by_zone"))


@job("executor.lost", {"scans": lambda c: c.rows(240000, 12, scan="id", organ="cast({r} * 50 as int)", px=text(2))}, spark="3.5", workers=(3, 1, 1024), conf=partitions(12, **AQE_OFF), also=("failure.vertex_retries",), extra=("udo.cpu_bound",), note="a host with map output goes away: the stage before has to be repeated")
def scans_host(c):
    if c.bad:
        c.once_done(4, lambda: c.kill_executor(1, .5), stage=1)
    s = c.table("scans").withColumn("w", asks("px", 200, 26)).repartition(12, "organ").withColumn("v", asks("scan", 100, 11))
    c.save(s.groupBy("organ").agg(F.count("w").alias("n"), F.count("v").alias("v"), F.max("px").alias("p")), "organs")


@job("failure.slow_machine", {"maps": lambda c: c.rows(400000, 24, tile="id", z="cast({r} * 18 as int)", px=text(6))}, spark="3.5", workers=(4, 1, 640), conf={"spark.executor.memory": "640m"}, also=("straggler.unexplained",), note="one host has only a seventh of its time")
def maps_tiles(c):
    if c.bad:
        c.throttle_executor(2, .14)
    m = c.table("maps").withColumn("w", asks("px", 300, 20)).withColumn("h", F.sha2(F.repeat("px", 4), 256))
    c.save(m.select("tile", "z", "h", "w"), "tiles")


def rates(c):
    text_files(c, "rates", 400000, 8, lambda i: "%d,%s,%.4f" % (i, "EURUSD" if i % 3 else "USDJPY", i % 977 / 7) if not (c.bad and i == 371234) else "%d;EURUSD;n/a" % i)


@job("failure.input", {"rates": rates}, spark="3.5", workers=(2, 1, 1024), fails=True, also=("failure.user_code",), pair=False, extra=("failure.vertex_retries",), question="Why did this application fail?", note="a line with other separators in FAILFAST mode")
def rates_failfast(c):
    r = c.spark.read.schema("n long, pair string, rate double").option("mode", "FAILFAST").csv(c.path("rates"))
    c.save(r.groupBy("pair").agg(F.avg("rate").alias("r")), "rates")


# ---- healthy ------------------------------------------------------------------------------------------------------------------

@job(spark="3.5", workers=(2, 2, 1024), conf=partitions(8), question=HEALTHY, note="two large sides joined by a unique key: the shuffle is needed")
def ledger_accounts(c):
    a = c.table("ledger").join(c.table("plays").select(F.col("player").alias("account"), "score").where("account < 90000").groupBy("account").agg(F.max("score").alias("score")), "account")
    c.save(a.groupBy("account", "kind").agg(F.sum("amount").alias("s"), F.max("score").alias("m"), F.max("booked").alias("b")), "sums")


@job(spark="3.3", workers=(3, 1, 1024), conf=partitions(6), question=HEALTHY, note="a global sort of 260 rows at the end is one small task")
def zones_ranked(c):
    c.views("trips")
    c.save(c.sql("SELECT *, rank() OVER (ORDER BY f DESC) AS r FROM (SELECT zone, sum(fare) AS f, avg(km) AS k, max(sha2(note, 512)) AS m, approx_count_distinct(note) AS n FROM trips GROUP BY zone) ORDER BY r"), "ranked")


@job(spark="4.0", workers=(2, 2, 1024), conf=partitions(8), question=HEALTHY, note="windows per player, evenly spread")
def plays_sessions(c):
    w = Window.partitionBy("player").orderBy("at")
    p = c.table("plays").withColumn("gap", F.col("at") - F.lag("at").over(w)).withColumn("s", F.sum(F.when(F.col("gap") > 86400, 1).otherwise(0)).over(w))
    c.save(p.groupBy("player", "s").agg(F.count("*").alias("n"), F.max("score").alias("m")), "sessions")


@job(spark="3.5", workers=(2, 1, 1024), conf=partitions(4), question=HEALTHY, note="a pandas UDF on a few thousand aggregated rows costs nothing")
def drivers_grade(c):
    @F.pandas_udf("string")
    def grade(s):
        return (s // 100).astype(int).astype(str)
    d = c.table("trips").groupBy("driver").agg(F.sum("fare").alias("f"), F.max("started").alias("s"), F.max(F.sha2("note", 256)).alias("n"))
    c.save(d.withColumn("g", grade("f")), "graded")


@job(spark="3.5", workers=(2, 2, 1400), conf=partitions(8, **{"spark.executor.memory": "1400m"}), question=HEALTHY, note="what four outputs need is computed once and kept")
def ledger_kept(c):
    l = c.table("ledger").join(F.broadcast(c.table("accounts")), "account").withColumn("sig", F.substring(F.sha2(F.concat("holder", "entry"), 512), 1, 20)).select("branch", "kind", "amount", "booked", "sig").persist(StorageLevel.MEMORY_AND_DISK)
    c.save(l.groupBy("branch").agg(F.sum("amount").alias("a")), "a")
    c.save(l.groupBy("kind").agg(F.max("sig").alias("a")), "b")
    c.save(l.groupBy(F.to_date("booked").alias("d")).agg(F.count("*").alias("n")), "c")
    c.save(l.where("amount > 990"), "d")
    l.unpersist()


@job(spark="3.5", workers=(2, 1, 1024), question=HEALTHY, note="a short application: start-up is most of it")
def accounts_count(c):
    c.save(c.table("accounts").groupBy("branch").count(), "n")


@job(spark="3.3", workers=(2, 2, 1024), conf=partitions(8), tables={"branch": lambda c: c.rows(120, 1, branch="id", state="cast({r} * 16 as int)")}, question=HEALTHY, note="a star with small dimensions as SQL")
def branches_star(c):
    c.views("ledger", "accounts", "branch")
    c.save(c.sql("""WITH x AS (SELECT b.state, a.branch, l.kind, l.amount, month(l.booked) AS m FROM ledger l JOIN accounts a USING (account) JOIN branch b USING (branch) WHERE l.kind <> 'fee')
                    SELECT state, m, kind, sum(amount) AS s, count(DISTINCT branch) AS n FROM x GROUP BY state, m, kind"""), "cube")


def shop(c):
    text_files(c, "shop", 900000, 20, lambda i: "%d,2024-%02d-%02d,%s,%d.%02d,%x" % (i, i % 12 + 1, i % 28 + 1, "ABCDEFG"[i % 7], i % 400, i % 100, i * 2654435761 % 2 ** 40))


@job(tables={"shop": shop}, spark="3.5", workers=(2, 2, 1024), question=HEALTHY, note="CSV to Parquet: parsing is the work")
def shop_import(c):
    s = c.spark.read.schema("id long, day date, cls string, price decimal(10,2), token string").csv(c.path("shop"))
    c.save(s.where("price IS NOT NULL").withColumn("m", F.month("day")), "shop")


@job(tables={"cloud": lambda c: c.rows(600000, 6, x="{r}", y="{r}", z="{r}")}, spark="3.5", workers=(2, 1, 1024), question=HEALTHY, extra=("udo.cpu_bound",), note="five rounds over cached blocks with numpy: each round is real work")
def cloud_rounds(c):
    import numpy as np

    def block(rows):
        yield np.array([(r.x, r.y, r.z) for r in rows])
    blocks = c.table("cloud").rdd.mapPartitions(block).cache()
    centres = np.random.RandomState(c.seed).rand(40, 3)
    for _ in range(5):
        def nearest(b):
            d = ((b[:, None, :] - centres[None]) ** 2).sum(2).argmin(1)
            return [(k, (b[d == k].sum(0), int((d == k).sum()))) for k in range(40)]
        parts = blocks.flatMap(nearest).reduceByKey(lambda a, b: (a[0] + b[0], a[1] + b[1]), 2).collect()
        centres = np.array([s / max(n, 1) for _, (s, n) in sorted(parts)])
    c.save(c.spark.createDataFrame([tuple(float(v) for v in r) for r in centres], "x double, y double, z double"), "centres")


@job(tables={"stores": lambda c: c.rows(1600000, 8, store="cast(pow({r}, 1.25) * 4000 as int)", item="cast({r} * 9000 as int)", qty="cast({r} * 5 as int)", slip=text(1))}, spark="3.5", workers=(2, 2, 1024), conf=partitions(8), question=HEALTHY, note="stores of naturally different size")
def stores_uneven(c):
    w = Window.partitionBy("store").orderBy("slip")
    s = c.table("stores").withColumn("n", F.row_number().over(w))
    c.save(s.groupBy("store").agg(F.sum("qty").alias("q"), F.max("n").alias("n"), F.countDistinct("item").alias("i")), "stores")


@job(spark="3.5", workers=(2, 2, 1024), conf=partitions(8), question=HEALTHY, note="four outputs of four different sources")
def four_marts(c):
    c.save(c.table("trips").groupBy("zone", F.hour("started").alias("h")).agg(F.avg("fare").alias("f"), F.max("note").alias("n")), "trips")
    c.save(c.table("ledger").groupBy("account").agg(F.sum("amount").alias("a"), F.min("booked").alias("b")), "ledger")
    c.save(c.table("plays").groupBy("player", "level").agg(F.max("score").alias("s")), "plays")
    c.save(c.table("accounts").where("branch < 60").orderBy("opened"), "accounts")


@job(spark="4.0", workers=(2, 2, 1024), conf=partitions(8), question=HEALTHY, note="several distinct counts expand the rows: that is what the question needs")
def distinct_counts(c):
    c.views("plays")
    c.save(c.sql("SELECT level, count(DISTINCT player) AS p, count(DISTINCT device) AS d, count(DISTINCT at div 86400) AS t, sum(score) AS s FROM plays WHERE level < 40 GROUP BY level"), "levels")


@job(spark="3.5", workers=(2, 2, 1024), conf=partitions(8), question=HEALTHY, note="a cube over three columns expands the rows by design")
def trips_cube(c):
    c.views("trips")
    c.save(c.sql("SELECT zone, hour(started) AS h, dayofweek(started) AS d, sum(fare) AS f, count(*) AS n FROM trips GROUP BY CUBE (zone, hour(started), dayofweek(started))"), "cube")


@job(spark="3.5", workers=(2, 2, 1024), conf=partitions(8), question=HEALTHY, note="the latest row of each key, written by month")
def ledger_latest(c):
    w = Window.partitionBy("account", "kind").orderBy(F.desc("booked"))
    l = c.table("ledger").withColumn("r", F.row_number().over(w)).where("r = 1").withColumn("m", F.month("booked")).drop("r")
    l.repartition(4, "m").write.mode("overwrite").partitionBy("m").parquet(os.path.join(c.out, "latest"))


@job(tables={"edges": lambda c: c.rows(500000, 6, src="cast({r} * 40000 as int)", dst="cast({r} * 40000 as int)")}, spark="3.5", workers=(2, 2, 1024), conf=partitions(4), question=HEALTHY, extra=("driver.bottleneck",), note="five rounds of page rank, each kept: the rounds are the algorithm")
def rank_rounds(c):
    e = c.table("edges").distinct().repartition(4, "src").cache()
    deg = e.groupBy("src").agg(F.count("*").alias("deg"))
    links = e.join(deg, "src").cache()
    ranks = deg.select(F.col("src").alias("id"), F.lit(1.0).alias("rank"))
    for i in range(5):
        ranks = links.join(ranks, links.src == ranks.id).groupBy(F.col("dst").alias("id")).agg((F.sum(F.expr("rank / deg")) * .85 + .15).alias("rank")).localCheckpoint()
    c.save(ranks, "ranks")


def feed(c):
    text_files(c, "feed", 300000, 12, lambda i: json.dumps({"user": i % 40000, "ev": "click" if i % 3 else "view", "geo": {"lat": i % 90, "lon": i % 180}, "tags": ["t%d" % (i % k) for k in (7, 11, 13)]}), "feed-%02d.jsonl")


@job(tables={"feed": feed}, spark="4.0", workers=(2, 2, 1024), conf=partitions(8), question=HEALTHY, note="nested JSON with a schema, parsed once")
def feed_nested(c):
    f = c.spark.read.schema("user int, ev string, geo struct<lat:int,lon:int>, tags array<string>").json(c.path("feed"))
    c.save(f.select("user", "ev", "geo.lat", F.explode("tags").alias("tag")).groupBy("tag", "ev").agg(F.count("*").alias("n"), F.approx_count_distinct("user").alias("u")), "tags")
