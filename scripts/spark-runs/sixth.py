"""A sixth set of jobs, written without knowledge of the program's rules: other domains, code styles and mechanisms than the fifth."""
import json
import os
import time

from pyspark.sql import Window, functions as F

from common import AQE_OFF, HEALTHY, job, partitions, shared, text, text_files

shared(
    # A bird observatory and an electricity supplier.
    sightings=lambda c: c.rows(1200000, 8, seen="id", species="cast({r} * 600 as int)", site="cast({r} * 4000 as int)", day="date_add(date'2023-01-01', cast({r} * 365 as int))", birds="cast(1 + {r} * 30 as int)", notes=text(2)),
    meters=lambda c: c.rows(2000000, 8, meter="cast({r} * 30000 as int)", region="concat('r', meter % 25)", at="1672531200 + cast({r} * 31000000 as bigint)", kwh="{r} * 9", raw=text(2)),
)
TWO = (2, 1, 1024)


# ---- problems -----------------------------------------------------------------------------------------------------------------

def payments(c):
    hot = .92 if c.bad else 0
    return c.rows(900000, 8, currency="if({r} < %s, 'EUR', concat('C', cast({r} * 100 as int)))" % hot, slot="cast({r} * 1095 as int)", amount="{r} * 500", memo=text(2))


@job("skew.join_hot_key", {"payments": payments, "rates": lambda c: c.rows(101 * 1095, 2, currency="if(id div 1095 = 100, 'EUR', concat('C', id div 1095))", first="cast(id % 1095 as int)", last="first", rate=".5 + {r}", source=text(8))},
     spark="4.0", workers=TWO, conf=partitions(8), extra=("shuffle.missed_broadcast", "compute.costly_expression", "memory.spill"), question="It ran twice as fast for the overseas branch with as many payments. Why?",
     note="92 % of the payments are in EUR; adaptive execution is on, but the partition is below its thresholds")
def payments_rates(c):
    c.views("payments", "rates")
    c.save(c.sql("""SELECT p.slot div 90 AS month, sum(p.amount * r.rate) AS total, sum(crc32(concat(p.memo, r.source))) AS mark
                    FROM payments p JOIN rates r ON p.currency = r.currency AND p.slot BETWEEN r.first AND r.last GROUP BY p.slot div 90"""), "months")


def games(c):
    hot = .88 if c.bad else 0
    return c.rows(1200000, 8, player="if({r} < %s, 142, cast({r} * 300 as int))" % hot, at="cast({r} * 100000000 as int)", opponent="1200 + {r} * 900", score="cast({r} * 3 as int) / 2D")


@job("skew.group_hot_key", {"games": games}, spark="3.5", workers=TWO, conf=partitions(8, **AQE_OFF), extra=("udo.cpu_bound", "memory.spill", "parallelism.idle_slots", "allocation.over"), note="ratings per player by applyInPandas; one engine has 88 % of the games")
def games_ratings(c):
    def fit(pdf):
        import pandas as pd
        pdf = pdf.sort_values("at")
        rows, best = list(zip(pdf.opponent.tolist(), pdf.score.tolist())), None
        for k in range(4, 60):
            r, miss = 1500., 0.
            for o, s in rows:
                d = s - 1 / (1 + 10 ** ((o - r) / 400))
                r += k * d
                miss += d * d
            best = min(best or (miss, k, r), (miss, k, r))
        return pd.DataFrame({"player": [int(pdf.player.iloc[0])], "k": [best[1]], "rating": [best[2]]})
    c.save(c.table("games").groupBy("player").applyInPandas(fit, "player int, k int, rating double"), "ratings")


@job("parallelism.tiny_vertices", {"telemetry": lambda c: c.rows(560000, 4, car="cast({r} * 800 as int)", lap="cast({r} * 60 as int)", speed="round({r} * 330, 2)", rpm="cast({r} * 15000 as int)", tag="md5(string(id))").write.json(c.path("telemetry"))},
     spark="4.0", workers=TWO, conf=partitions(4), bad={"spark.sql.files.maxPartitionBytes": "24k"}, extra=("overhead.unexplained", "driver.bottleneck"), fixed=True,
     note="four JSON files are read in pieces of 24 kB, over 2,000 tasks, because of spark.sql.files.maxPartitionBytes")
def telemetry_pieces(c):
    t = c.spark.read.schema("car int, lap int, speed double, rpm int, tag string").json(c.path("telemetry"))
    c.save(t.groupBy("car").agg(F.max("speed").alias("v"), F.avg("rpm").alias("r"), F.approx_count_distinct("tag").alias("n")), "cars")


@job("parallelism.too_low", spark="3.5", workers=TWO, conf=partitions(6), also=("parallelism.idle_slots",), extra=("compute.costly_expression", "shuffle.serial_gather", "allocation.over", "udo.cpu_bound"),
     note="one output file by coalesce(1), which drags reading and a comparison of texts into the one task")
def sightings_one_file(c):
    s = c.table("sightings").where("birds > 8").withColumn("odd", F.levenshtein("notes", F.reverse("notes"))).where("odd > 30").drop("notes")
    if c.bad:
        s = s.coalesce(1)
    s.write.csv(os.path.join(c.out, "odd"), header=True)


@job("shuffle.missed_broadcast", {"loans": lambda c: c.rows(1800000, 8, loan="id", branch="cast({r} * 80 as int)", genre="cast({r} * 45 as int)", days="cast({r} * 60 as int)", title=text(3))}, spark="3.3", workers=TWO, conf=partitions(6, **AQE_OFF),
     extra=("shuffle.redundant_repartition", "memory.spill", "shuffle.unused_columns", "skew.low_cardinality_key", "skew.join_hot_key", "cardinality.misestimate"), fixed=True, question="The two lists have not even a hundred rows. Why are the joins slow?",
     note="two short lists made of RDDs have no statistics, so two sort-merge joins shuffle all loans; without: broadcast()")
def loans_lists(c):
    branches = c.spark.createDataFrame(c.sc.parallelize([(i, "branch-%d" % i) for i in range(80)], 2), "branch int, town string")
    genres = c.spark.createDataFrame(c.sc.parallelize([(i, "genre-%d" % i, i % 5) for i in range(45)], 2), "genre int, name string, shelf int")
    if not c.bad:
        branches, genres = F.broadcast(branches), F.broadcast(genres)
    l = c.table("loans").join(branches, "branch").join(genres, "genre")
    c.save(l.groupBy("town", "shelf").agg(F.avg("days").alias("d"), F.sum(F.crc32("title")).alias("t"), F.count("*").alias("n")), "use")


@job("udo.cpu_bound", {"accounts": lambda c: c.rows(1500000, 8, iban="concat(element_at(array('DE', 'FR', 'NL', 'PT'), 1 + cast({r} * 4 as int)), lpad(string(id % 97), 2, '0'), lpad(string(abs(xxhash64(id)) % 1000000000000000000), 18, '0'))", branch="cast({r} * 900 as int)")},
     spark="4.0", workers=TWO, conf=partitions(4), also=("compute.costly_expression",), note="check digits of account numbers in a Python UDF, row at a time; without: an expression")
def accounts_check(c):
    def check(iban):
        return int("".join(str(int(x, 36)) for x in iban[4:] + iban[:4])) % 97
    a = c.table("accounts")
    if c.bad:
        a = a.withColumn("rest", F.udf(check, "int")("iban"))
    else:
        a = a.withColumn("rest", F.expr("cast(cast(concat(cast(substr(iban, 5, 12) AS long) % 97, substr(iban, 17), ascii(iban) - 55, ascii(substr(iban, 2)) - 55, substr(iban, 3, 2)) AS long) % 97 AS int)"))
    c.save(a.groupBy("branch", "rest").agg(F.count("*").alias("n")), "rests")


@job("compute.costly_expression", {"mails": lambda c: c.rows(80000, 8, mail="id", folder="cast({r} * 40 as int)", body="concat(array_join(transform(sequence(1, 8), x -> md5(concat(id, x))), '.'), if({r} < .08, concat('@', 'host', id % 50), ''))")},
     spark="3.5", workers=TWO, conf=partitions(4, **{"spark.sql.files.maxPartitionBytes": "6m"}), also=("udo.cpu_bound",), fixed=True, question="It is only 20 MB. Why does it take so long?", note="an extracting pattern tries each position of a long text without @; without: only texts with @ are tried")
def mails_hosts(c):
    c.views("mails")
    found = "regexp_extract(body, '([\\\\w.]+)@(\\\\w+)', 2)"
    if not c.bad:
        found = "CASE WHEN instr(body, '@') > 0 THEN %s ELSE '' END" % found
    c.save(c.sql("SELECT folder, host, count(*) AS n FROM (SELECT folder, %s AS host FROM mails) GROUP BY folder, host" % found), "hosts")


@job("cache.ineffective", {"reviews": lambda c: c.rows(40000, 8, doc="id", body="array_join(transform(sequence(1, 60), x -> concat('w', pmod(xxhash64(id, x), 3000))), ' ')")}, spark="3.5", workers=TWO, conf=partitions(4, **{"spark.sql.files.maxPartitionBytes": "6m"}),
     extra=("udo.cpu_bound", "compute.costly_expression", "driver.bottleneck", "overhead.unexplained"), question="Which step should I change first?", note="k-means for five k, each with its evaluation, on features that are computed from text again each time; without: persist()")
def reviews_clusters(c):
    from pyspark.ml.clustering import KMeans
    from pyspark.ml.evaluation import ClusteringEvaluator
    from pyspark.ml.feature import HashingTF, NGram, RegexTokenizer
    words = RegexTokenizer(inputCol="body", outputCol="words", pattern="[^a-z0-9]+").transform(c.table("reviews"))
    pairs = NGram(inputCol="words", outputCol="pairs", n=2).transform(words)
    f = HashingTF(inputCol="pairs", outputCol="features", numFeatures=24).transform(pairs).select("doc", "features")
    if not c.bad:
        f = f.persist()
    found = []
    for k in range(2, 7):
        m = KMeans(k=k, maxIter=3, seed=5).fit(f)
        found.append((k, float(ClusteringEvaluator().evaluate(m.transform(f)))))
    c.save(c.spark.createDataFrame(found, "k int, score double"), "scores")


def moves(c):
    text_files(c, "moves", 700000, 4, lambda i: "%d,%d,station-%d-%s" % (i * 7919 % 20011, i, i * 31 % 977, "%032x" % (i * 0x9e3779b97f4a7c15f39cc0605cedc835 % (1 << 128))))


@job("memory.spill", {"moves": moves}, spark="3.5", workers=TWO, bad={"spark.python.worker.memory": "20m"}, good={"spark.python.worker.memory": "512m"}, extra=("udo.cpu_bound", "shuffle.unused_columns", "parallelism.too_low"),
     note="groupByKey of an RDD in Python workers that may use 20 MB and write the rest to disk")
def moves_grouped(c):
    def legs(moved):
        m = sorted(moved)
        return len(m), sum(a[1] != b[1] for a, b in zip(m, m[1:])), m[-1][1]
    lines = c.sc.textFile(c.path("moves"), 4).map(lambda l: l.split(",")).map(lambda p: (int(p[0]), (int(p[1]), p[2])))
    lines.groupByKey(4).mapValues(legs).saveAsTextFile(os.path.join(c.out, "legs"))


def packets(c):
    each = 60 if c.bad else 16000
    for i in range(1600 if c.bad else 6):
        os.makedirs(c.path("packets"), exist_ok=True)
        with open(os.path.join(c.path("packets"), "cap-%04d.json" % i), "w") as fh:
            for k in range(i * each, i * each + each):
                fh.write(json.dumps({"src": "10.0.%d.%d" % (k % 200, k * 7 % 251), "port": k * 31 % 65000, "bytes": k * 97 % 1500}) + "\n")


@job("io.small_files", {"packets": packets}, spark="3.3", workers=TWO, also=("parallelism.tiny_vertices",), extra=("udo.cpu_bound", "driver.bottleneck"), note="an RDD of 1,600 files with 60 lines each; without: six files")
def packets_files(c):
    p = c.sc.textFile(c.path("packets")).map(json.loads).map(lambda r: (r["src"], (1, r["bytes"], r["port"])))
    p.reduceByKey(lambda a, b: (a[0] + b[0], a[1] + b[1], max(a[2], b[2])), 4).saveAsTextFile(os.path.join(c.out, "sources"))


@job("driver.bottleneck", {"trades": lambda c: c.rows(600000, 4, trade="id", account="cast({r} * 4000 as int)", qty="cast({r} * 200 - 100 as int)", price="round({r} * 90, 2)")}, spark="3.5", workers=TWO, conf=partitions(4), extra=("allocation.over", "parallelism.too_low", "parallelism.idle_slots", "shuffle.serial_gather", "udo.cpu_bound"),
     question="The executors do next to nothing. Where is the time?", note="all trades are collected, added up in a loop of the driver and sent back; without: a window")
def trades_loop(c):
    t = c.table("trades")
    if c.bad:
        held, out = {}, []
        for r in t.orderBy("trade").collect():
            held[r.account] = held.get(r.account, 0) + r.qty
            out.append((r.trade, r.account, held[r.account], r.qty * r.price))
        p = c.spark.createDataFrame(out, "trade long, account int, held long, value double")
    else:
        p = t.select("trade", "account", F.sum("qty").over(Window.partitionBy("account").orderBy("trade")).alias("held"), F.expr("qty * price AS value"))
    c.save(p.groupBy("account").agg(F.max("held").alias("most"), F.sum("value").alias("v")), "accounts")


def serves(c):
    text_files(c, "serves", 50000, 50, lambda i: json.dumps({"court": i % 17, "speed": i * 37 % 230, "net": i % 9 == 0}), "s-%03d.json")


@job("driver.bottleneck", {"serves": serves}, spark="3.5", workers=TWO, conf=partitions(2), also=("parallelism.tiny_vertices", "io.small_files", "driver.commit", "overhead.unexplained"), extra=("allocation.over", "parallelism.too_low", "parallelism.idle_slots"),
     bad={"spark.app.files": "1"}, good={"spark.app.files": "50"}, question="There are only 50,000 lines. Why does the stream take that long?", note="a stream of 50 batches with one file of 1,000 lines each, with planning, logs and files for each; without: one batch")
def serves_stream(c):
    s = c.spark.readStream.schema("court int, speed int, net boolean").option("maxFilesPerTrigger", c.spark.conf.get("spark.app.files")).json(c.path("serves"))

    def into(batch, number):
        batch.groupBy("court").agg(F.avg("speed").alias("v"), F.count("*").alias("n")).write.mode("append").parquet(os.path.join(c.out, "courts"))
    s.writeStream.foreachBatch(into).option("checkpointLocation", os.path.join(c.out, "state")).trigger(availableNow=True).start().awaitTermination()


@job("join.explosion", {"sales": lambda c: c.rows(200000, 6, sale="id", product="cast({r} * 5000 as int)", qty="cast(1 + {r} * 9 as int)"), "prices": lambda c: c.rows(200000, 4, product="cast(id % 5000 as int)", version="cast(id div 5000 as int)", price="{r} * 80", label=text(3))},
     spark="3.3", workers=TWO, conf=partitions(6, **AQE_OFF), extra=("memory.spill", "shuffle.missed_broadcast", "cardinality.misestimate", "shuffle.unused_columns", "gc.heap_pressure", "shuffle.late_filter"), fixed=True,
     note="each sale meets all 40 versions of its price, and the last is chosen afterwards; without: the last version first")
def sales_versions(c):
    c.views("sales", "prices")
    if c.bad:
        q = "SELECT s.sale, s.qty, max(struct(p.version, p.price, p.label)) AS last FROM sales s JOIN prices p ON s.product = p.product GROUP BY s.sale, s.qty"
    else:
        q = "SELECT s.sale, s.qty, p.last FROM sales s JOIN (SELECT product, max(struct(version, price, label)) AS last FROM prices GROUP BY product) p ON s.product = p.product"
    c.save(c.sql("SELECT sale, qty * last.price AS value, last.label FROM (%s)" % q), "values")


@job("shuffle.late_filter", spark="4.0", workers=TWO, conf=partitions(6), extra=("memory.spill", "io.scan_without_filter", "shuffle.unused_columns"), fixed=True, question="I only need one of 25 regions. Can this be faster?",
     note="differences are computed for all meters and then one region is kept (a meter has one region); without: the region first")
def meters_region(c):
    c.views("meters")
    late, early = ("region = 'r7'", "true") if c.bad else ("true", "region = 'r7'")
    c.save(c.sql("""SELECT meter, max(delta) AS jump, sum(crc32(raw)) AS mark, count(*) AS n FROM (SELECT meter, region, raw, kwh - lag(kwh) OVER (PARTITION BY meter ORDER BY at) AS delta FROM meters WHERE %s)
                    WHERE %s GROUP BY meter""" % (early, late)), "jumps")


@job("failure.vertex_retries", spark="3.3", workers=TWO, extra=("udo.cpu_bound", "failure.user_code"), question="It ends well, but takes far longer than expected. Why?", note="half of the tasks fail at their end and are repeated, some twice; without: no failures")
def draws_retries(c):
    flaky = c.bad

    def draw(rows):
        from pyspark import TaskContext
        t, x, hits = TaskContext.get(), 7, 0
        for seed in rows:
            x = seed + 7
            for _ in range(9000000):
                x = (x * 1103515245 + 12345) & 0x7fffffff
                hits += x < 20000
        if flaky and t.attemptNumber() < (0, 1, 0, 2)[t.partitionId() % 4]:
            raise ConnectionError("the results store closed the connection")
        yield hits % 6, 1
    c.sc.parallelize(range(16), 16).mapPartitions(draw).reduceByKey(lambda a, b: a + b, 2).saveAsTextFile(os.path.join(c.out, "hits"))


@job("failure.slow_machine", spark="4.0", workers=TWO, conf={"spark.sql.files.maxPartitionBytes": "16m"}, also=("straggler.unexplained",), extra=("udo.cpu_bound", "allocation.over", "parallelism.idle_slots"), question="Why does one task hold up everything?",
     note="one task with as many rows as the others waits 20 s for something outside; without: none does")
def sightings_waits(c):
    waits = c.bad

    def summary(index, rows):
        if waits and index == 5:
            time.sleep(20)
        n = {}
        for r in rows:
            n[r[0]] = n.get(r[0], 0) + r[1]
        return iter(n.items())
    s = c.table("sightings").select("site", "birds").rdd.mapPartitionsWithIndex(summary)
    s.reduceByKey(lambda a, b: a + b, 4).saveAsTextFile(os.path.join(c.out, "sites"))


@job("failure.user_code", {"parcels": lambda c: c.rows(900000, 6, parcel="id", depot="cast({r} * 300 as int)", grams="if(id = 777777, 'n/a', string(cast({r} * 9000 as int)))", label=text(2))}, spark="4.0", workers=TWO, conf=partitions(4), pair=False, also=("failure.input",), question="Why did this application fail?",
     note="a cast of the text n/a to a number throws since Spark 4 (ANSI)")
def parcels_cast(c):
    c.views("parcels")
    c.save(c.sql("SELECT depot, count(*) AS n, sum(crc32(label)) AS s FROM parcels GROUP BY depot"), "depots")
    c.save(c.sql("SELECT depot, sum(CAST(grams AS INT)) AS g, max(label) AS l FROM parcels GROUP BY depot"), "weights")


# ---- healthy ------------------------------------------------------------------------------------------------------------------

def plays(c):
    hot = .8 if c.bad else 0
    return c.rows(2000000, 8, song="if({r} < %s, 77, cast({r} * 3000 as int))" % hot, user="cast({r} * 40000 as int)", seconds="cast({r} * 300 as int)", device=text(1))


@job(tables={"plays": plays, "songs": lambda c: c.rows(3000, 1, song="cast(id as int)", label="cast({r} * 60 as int)", title=text(1))}, spark="3.5", workers=TWO, conf=partitions(6), looks=True, question=HEALTHY, note="80 % of the plays are of one song, but the songs are broadcast")
def plays_broadcast(c):
    p = c.table("plays").join(c.table("songs"), "song")
    c.save(p.groupBy("user").agg(F.sum("seconds").alias("s"), F.sum(F.crc32(F.concat("device", "title"))).alias("m"), F.approx_count_distinct("label").alias("l")), "users")


@job(spark="3.3", workers=TWO, conf=partitions(6), looks=True, question=HEALTHY, note="one output file by coalesce(1), of 4,000 small rows after the aggregation")
def sites_one_file(c):
    s = c.table("sightings").groupBy("site").agg(F.sum("birds").alias("b"), F.sum(F.crc32("notes")).alias("m"), F.approx_count_distinct("species").alias("s"), F.max("day").alias("d"))
    (s.coalesce(1) if c.bad else s).write.csv(os.path.join(c.out, "sites"), header=True)


@job(spark="4.0", workers=TWO, conf=partitions(6), question=HEALTHY, note="a window without partitions and a global sort, over the sums of 359 days")
def days_running(c):
    c.views("meters")
    c.save(c.sql("""WITH days AS (SELECT cast(at div 86400 AS int) AS day, sum(kwh) AS kwh, count(DISTINCT region) AS regions, sum(crc32(raw)) AS mark FROM meters GROUP BY at div 86400)
                    SELECT *, sum(kwh) OVER (ORDER BY day) AS total, avg(kwh) OVER (ORDER BY day ROWS 6 PRECEDING) AS week FROM days ORDER BY day"""), "days")


@job(spark="3.5", workers=TWO, conf=partitions(6), question=HEALTHY, note="cross joins with one row of totals and with six bands, which match once")
def sightings_bands(c):
    s = c.table("sightings")
    totals = s.agg(F.avg("birds").alias("mean"), F.stddev("birds").alias("dev"))
    bands = c.spark.createDataFrame([(i, i * 5, i * 5 + 5) for i in range(6)], "band int, low int, high int")
    b = s.crossJoin(totals).crossJoin(F.broadcast(bands)).where("birds > low AND birds <= high")
    c.save(b.groupBy("species", "band").agg(F.avg(F.expr("(birds - mean) / dev")).alias("z"), F.sum(F.crc32("notes")).alias("m"), F.count("*").alias("n")), "bands")


@job(spark="3.5", workers=TWO, conf=partitions(6, **AQE_OFF), looks=True, question="Should I cache something here?", note="one table is read for three reports, and caching it would save nothing")
def meters_reports(c):
    m = c.table("meters")
    if not c.bad:
        m = m.persist()
    c.save(m.groupBy("region").agg(F.sum("kwh").alias("k")), "regions")
    c.save(m.where("kwh > 8").groupBy("meter").agg(F.max("kwh").alias("k"), F.count("*").alias("n")), "peaks")
    c.save(m.groupBy(F.expr("at div 86400 AS day")).agg(F.avg("kwh").alias("k")), "days")


@job(spark="4.0", workers=TWO, conf=partitions(6), question=HEALTHY, note="a Python UDF, but over 600 species and after the aggregation")
def species_names(c):
    def code(n, birds):
        return "%s-%04x" % ("".join(chr(65 + n // 26 ** i % 26) for i in range(3)), birds % 65536)
    s = c.table("sightings").groupBy("species").agg(F.sum("birds").alias("b"), F.countDistinct("site").alias("sites"), F.sum(F.crc32("notes")).alias("m"))
    c.save(s.withColumn("code", F.udf(code, "string")("species", "b")), "codes")


@job(tables={"flats": lambda c: c.rows(400000, 6, size="20 + {r} * 130", rooms="cast(1 + {r} * 5 as int)", age="{r} * 100", km="{r} * 25", rent="size * 11 + rooms * 40 - age - km * 9 + {r} * 120")}, spark="3.3", workers=TWO, conf=partitions(4), question=HEALTHY, extra=("driver.bottleneck",), note="a linear regression on cached features, with its evaluation")
def flats_regression(c):
    from pyspark.ml.evaluation import RegressionEvaluator
    from pyspark.ml.feature import StandardScaler, VectorAssembler
    from pyspark.ml.regression import LinearRegression
    f = VectorAssembler(inputCols=["size", "rooms", "age", "km"], outputCol="raw").transform(c.table("flats")).select("raw", "rent")
    f = StandardScaler(inputCol="raw", outputCol="features", withMean=True).fit(f).transform(f).select("features", "rent").persist()
    train, test = f.randomSplit([.8, .2], 5)
    m = LinearRegression(labelCol="rent", maxIter=12, solver="l-bfgs", elasticNetParam=.3, regParam=.1).fit(train)
    e = RegressionEvaluator(labelCol="rent").evaluate(m.transform(test))
    c.save(c.spark.createDataFrame([(float(e), float(m.intercept))], "rmse double, b double"), "fit")


def rides(c):
    text_files(c, "rides", 540000, 3, lambda i: json.dumps({"dock": i * 7 % 420, "t": "2024-05-%02d %02d:%02d:00" % (1 + i // 20000, i // 833 % 24, i // 14 % 60), "m": i * 37 % 9000}), "r-%d.json")


@job(tables={"rides": rides}, spark="3.5", workers=TWO, conf=partitions(4), question=HEALTHY, extra=("driver.bottleneck", "driver.commit"), note="a stream of three batches of fair size with windows and a watermark")
def rides_stream(c):
    r = c.spark.readStream.schema("dock int, t timestamp, m int").option("maxFilesPerTrigger", 1).json(c.path("rides"))
    w = r.withWatermark("t", "2 hours").groupBy(F.window("t", "1 hour"), "dock").agg(F.count("*").alias("n"), F.avg("m").alias("m"))

    def into(batch, number):
        batch.select("window.start", "dock", "n", "m").write.mode("append").parquet(os.path.join(c.out, "hours"))
    w.writeStream.outputMode("update").foreachBatch(into).option("checkpointLocation", os.path.join(c.out, "state")).trigger(availableNow=True).start().awaitTermination()
