"""Machine learning pipelines and RDD programs, with the mistakes that are usual in them."""
import os
import re
import time

from pyspark import StorageLevel
from pyspark.sql import functions as F

from common import HEALTHY, job, partitions, shared

TWO = (2, 1, 1024)
WORDS = ", ".join("concat('w', cast(pow(pmod(hash(id, %d), 10000) / 10000, 3) * 3000 as int))" % k for k in range(24))
shared(points=lambda c: c.rows(240_000, 8, label="cast(pmod(hash(id), 10) < 4 as double)", **{"x%d" % k: "pmod(hash(id, %d), 1000) / 1000 + cast(pmod(hash(id), 10) < 4 as double) * %.2f" % (k, k / 40) for k in range(12)}),
       articles=lambda c: c.rows(90_000, 8, label="cast(pmod(hash(id), 10) < 5 as double)", body="concat_ws(' ', %s)" % WORDS),
       likes=lambda c: c.rows(300_000, 8, user="pmod(hash(id), 4000)", film="cast(pow(pmod(hash(id, 1), 1000) / 1000, 2) * 1500 as int)", stars="cast(1 + pmod(hash(id, 2), 5) as float)"))


def numbers(c, n, slices):
    return c.sc.parallelize(range(n), slices)


def work(i, rounds):
    """Computes for a while in Python."""
    for _ in range(rounds):
        i = (i * 1103515245 + 12345) % 2147483648
    return i


def features(frame):
    from pyspark.ml.feature import VectorAssembler
    return VectorAssembler(inputCols=["x%d" % k for k in range(12)], outputCol="features").transform(frame).select("label", "features")


# MLlib.


@job("cache.ineffective", workers=TWO, fixed=True, extra=["compute.costly_expression", "udo.cpu_bound"], question="What does training repeat?",
     note="IDF is fitted six times, over words that are split and hashed anew for each fit and each use; without: cached")
def refit_uncached(c):
    from pyspark.ml.feature import HashingTF, IDF, Tokenizer
    bodies = Tokenizer(inputCol="body", outputCol="words").transform(c.table("articles").filter("id % 3 = 0"))
    tf = HashingTF(inputCol="words", outputCol="tf", numFeatures=2048).transform(bodies)
    tf = tf if c.bad else tf.select("label", "tf").cache()
    for fewest in (0, 2, 5, 9, 20, 40):
        model = IDF(inputCol="tf", outputCol="weights", minDocFreq=fewest).fit(tf)
        print(fewest, model.transform(tf).agg(F.count("weights")).collect())


@job(workers=TWO, question=HEALTHY, extra=["cache.ineffective", "driver.bottleneck"], note="logistic regression over cached features, with many short jobs that belong to its iterations")
def logistic(c):
    from pyspark.ml.classification import LogisticRegression
    data = features(c.table("points")).cache()
    print(LogisticRegression(maxIter=25, regParam=.01).fit(data).coefficients[:3])


@job("parallelism.too_low", workers=TWO, spark="4.0", fixed=True, also=["parallelism.idle_slots"], extra=["allocation.over", "cache.ineffective", "driver.bottleneck", "shuffle.serial_gather"], question="Why does only one executor train?",
     note="the training data was coalesced into one partition before it was cached; without: eight")
def one_partition_kmeans(c):
    from pyspark.ml.clustering import KMeans
    data = features(c.table("points"))
    data = (data.coalesce(1) if c.bad else data).cache()
    for k in (8, 14, 20):
        print(k, KMeans(k=k, seed=c.seed, maxIter=10, initSteps=1).fit(data).summary.trainingCost)


@job("parallelism.tiny_vertices", local=2, fixed=True, extra=["overhead.unexplained", "driver.bottleneck", "shuffle.redundant_repartition", "cache.ineffective"], question="Why does it take longer with more blocks?",
     note="ALS with 24 blocks, hundreds of tasks of some milliseconds in each of its shuffles; without: two blocks")
def als_blocks(c):
    from pyspark.ml.recommendation import ALS
    n = 24 if c.bad else 2
    likes = c.table("likes").filter("id % 3 = 0")
    print(ALS(userCol="user", itemCol="film", ratingCol="stars", rank=6, maxIter=8, numUserBlocks=n, numItemBlocks=n, seed=c.seed).fit(likes).itemFactors.count())


@job(local=2, question=HEALTHY, spark="3.3", extra=["driver.bottleneck", "cache.ineffective"], note="k-means on cached points, with one partition per file")
def kmeans(c):
    from pyspark.ml.clustering import KMeans
    print(KMeans(k=14, seed=c.seed, maxIter=15, initSteps=1).fit(features(c.table("points")).cache()).summary.trainingCost)


@job("udo.cpu_bound", workers=TWO, fixed=True, also=["compute.costly_expression"], extra=["shuffle.unused_columns", "cache.ineffective"], question="Is it the model or the preparation?",
     note="text is cleaned by a Python UDF before hashing; without: by built-in functions")
def cleaned_text(c):
    from pyspark.ml.feature import HashingTF, Tokenizer, IDF
    def clean(body):
        words = []
        for word in body.split():
            word = re.sub("[^a-z0-9]", "", word.lower())
            for ending in ("ing$", "ed$", "ies$", "s$", "ly$"):
                word = re.sub(ending, "", word)
            if len(word) > 2 and sum(map(ord, word)) % 5:
                words.append(word[:5])
        return " ".join(words)
    a = c.table("articles")
    a = a.withColumn("text", F.udf(clean, "string")("body") if c.bad else F.regexp_replace(F.lower("body"), "[^a-z0-9 ]", ""))
    tf = HashingTF(inputCol="words", outputCol="tf", numFeatures=2048).transform(Tokenizer(inputCol="text", outputCol="words").transform(a)).select("tf").cache()
    print(IDF(inputCol="tf", outputCol="weights").fit(tf).transform(tf).agg(F.count("weights")).collect())


@job("failure.user_code", local=2, pair=False, also=["failure.input"], extra=["failure.vertex_retries"], question="Why did training fail?", note="one of the values is null, and the assembler of features refuses it")
def null_feature(c):
    from pyspark.ml.clustering import KMeans
    p = c.table("points")
    print(p.groupBy("label").agg(F.avg("x1"), F.max(F.sha2(F.col("x3").cast("string"), 512))).collect())
    KMeans(k=5, seed=c.seed).fit(features(p.withColumn("x4", F.when(F.col("id") != 171717, F.col("x4")))))


# RDD programs.


@job("driver.bottleneck", workers=TWO, fixed=True, also=["overhead.unexplained", "parallelism.tiny_vertices"], extra=["cache.ineffective", "allocation.over", "parallelism.idle_slots"], question="It is one small table. Why does it take so long?",
     note="a loop on the driver asks for 160 keys one at a time, a job each; without: one countByKey")
def loop_of_lookups(c):
    pairs = numbers(c, 20_000, 4).map(lambda i: (i * 7919 % 160, i)).cache()
    print(pairs.count())
    if c.bad:
        print(sum(pairs.filter(lambda p, k=k: p[0] == k).count() for k in range(160)))
    else:
        print(len(pairs.countByKey()))
    print(numbers(c, 60_000, 8).map(lambda i: work(i, 400)).max())


@job("join.explosion", workers=TWO, fixed=True, also=["udo.cpu_bound"], extra=["compute.costly_expression"], question="Two small lists. What takes so long?", note="all pairs of 8,000 and 3,000 places by cartesian(); without: only pairs in the same region, by a join")
def all_pairs(c):
    a = numbers(c, 8_000, 4).map(lambda i: (i % 90, i * 7919 % 10_007))
    b = numbers(c, 3_000, 2).map(lambda i: (i % 90, i * 104_729 % 10_007))
    if c.bad:
        near = a.cartesian(b).filter(lambda p: p[0][0] == p[1][0]).map(lambda p: abs(p[0][1] - p[1][1]))
    else:
        near = a.join(b, 8).values().map(lambda p: abs(p[0] - p[1]))
    print(near.filter(lambda d: d < 40).count())


@job("parallelism.too_low", workers=(3, 2, 768), fixed=True, also=["parallelism.idle_slots"], extra=["udo.cpu_bound", "allocation.over", "shuffle.serial_gather"], question="Why is one core busy and five are not?",
     note="coalesce(1), meant for one output file, draws the requests before it into one task; without: the file is made of the results")
def coalesced_requests(c):
    def ask(i):
        time.sleep(.02)
        return "%d,%d" % (i, work(i, 20))
    if c.bad:
        numbers(c, 1_000, 12).coalesce(1).map(ask).saveAsTextFile(os.path.join(c.out, "answers"))
    else:
        numbers(c, 1_000, 12).map(ask).saveAsTextFile(os.path.join(c.out, "answers"))


@job("compute.costly_expression", workers=TWO, fixed=True, also=["udo.cpu_bound"], extra=["allocation.under"], question="The data is small. What is slow?", note="a regular expression that backtracks for every line that does not match; without: one that cannot")
def backtracking(c):
    pattern = r"^(\w+\s?)*end$" if c.bad else r"^[\w\s]+ end$"
    lines = numbers(c, 24_000, 8).map(lambda i: "%s%08x !" % ("ab " * 4, i * 2654435761 % 2**32))
    print(lines.filter(lambda l: re.match(pattern, l)).count(), numbers(c, 40_000, 8).map(lambda i: work(i, 400)).max())


@job("straggler.unexplained", workers=(2, 2, 1024), fixed=True, also=["failure.slow_machine", "udo.cpu_bound"], extra=["skew.partition_layout"], question="One task hangs. Why?",
     note="a request of one of 24 tasks is answered after 20 seconds, the others take two; same rows, same machine; without: all answers are quick")
def one_hangs(c):
    bad = c.bad

    def ask(index, rows):
        n = 0
        for n, _ in enumerate(rows, 1):
            time.sleep(.02)
        if bad and index == 20:
            time.sleep(20)
        yield n
    print(numbers(c, 2_400, 24).mapPartitionsWithIndex(ask).sum())


@job("gc.heap_pressure", workers=(2, 2, 1024), fixed=True, also=["cache.ineffective"], extra=["memory.spill", "memory.estimate_too_low", "executor.lost", "failure.vertex_retries"], question="The executors are busy, but with what?", cluster=dict(memory=2048), conf=partitions(4, **{"spark.sql.objectHashAggregate.sortBased.fallbackThreshold": "100000000", "spark.executor.extraJavaOptions": "-XX:+UseParallelGC -XX:-UseGCOverheadLimit"}),
     bad={"spark.executor.memory": "512m"}, good={"spark.executor.memory": "2g"}, note="sets of objects per key fill heaps of 512 MB, so that the collector runs most of the time; without: 2 GB")
def sets_of_objects(c):
    e = c.spark.range(0, 1_000_000, 1, 8).select(F.expr("pmod(hash(id), 250000)").alias("k"), F.expr("hex(hash(id, 1))").alias("a"), F.expr("cast(pmod(hash(id, 2), 100000) as int)").alias("b"))
    for _ in range(2):
        print(e.groupBy("k").agg(F.collect_set("a").alias("a"), F.collect_set("b").alias("b")).agg(F.max(F.size("a")), F.sum(F.size("b"))).collect())


@job("parallelism.idle_slots", workers=(4, 2, 600), fixed=True, also=["parallelism.too_low", "allocation.over"], extra=["udo.cpu_bound"], question="Can it use the cluster better?", note="three steps of five even tasks each on eight cores; without: sixteen tasks each")
def five_of_eight(c):
    def simulate(i):
        time.sleep(.02)
        return i % 11
    for _ in range(3):
        print(len(numbers(c, 1_600, 5 if c.bad else 16).map(simulate).countByValue()))


@job("executor.lost", workers=(2, 2, 1024), also=["failure.vertex_retries"], extra=["udo.cpu_bound", "cache.ineffective"], question="Why did it take longer than yesterday?", note="an executor is killed late in the first of two steps, and its finished tasks are lost with it; without: it lives")
def killed_late(c):
    def simulate(i):
        time.sleep(.05)
        return i % 40, 1
    if c.bad:
        c.once_done(26, lambda: c.kill_executor(1, 0))
    print(numbers(c, 1_280, 32).map(simulate).reduceByKey(lambda a, b: a + b, 8).map(lambda p: (time.sleep(.4), p)[1]).count())
    c.quiet()


@job(workers=TWO, looks=True, extra=["memory.spill", "udo.cpu_bound"], question=HEALTHY, bad={"spark.python.worker.memory": "12m"}, good={"spark.python.worker.memory": "1g"}, note="Python workers may use 12 MB and sort on disk, which takes no longer than in memory")
def python_sort(c):
    rows = numbers(c, 700_000, 8).map(lambda i: ("%08x" % (i * 2654435761 % 2**32), "value %d of %d" % (i, i % 97)))
    print(rows.sortByKey(numPartitions=4).map(lambda p: p[1][-1]).countByValue())


@job("failure.vertex_retries", workers=(2, 2, 1024), spark="3.3", extra=["failure.user_code", "udo.cpu_bound"], question="It ends well. Why does it take so long?", note="half of all tasks fail at the end of their first attempt; without: none")
def flaky_service(c):
    from pyspark import TaskContext
    bad = c.bad

    def ask(index, rows):
        n = 0
        for n, _ in enumerate(rows, 1):
            time.sleep(.02)
        if bad and index % 2 and TaskContext.get().attemptNumber() == 0:
            raise ConnectionResetError("connection reset by peer")
        yield n
    print(numbers(c, 2_400, 24).mapPartitionsWithIndex(ask).sum())


# Healthy RDD programs that look like a problem.


@job(workers=TWO, question=HEALTHY, looks=True, extra=["udo.cpu_bound"], note="six small jobs on the driver's command, but nearly all time is in the large one")
def few_lookups(c):
    pairs = numbers(c, 8_000, 2).map(lambda i: (i % 100, i)).cache()
    print(pairs.count(), numbers(c, 120_000, 8).map(lambda i: work(i, 2500)).max())
    for k in range(6 if c.bad else 2):
        pairs.filter(lambda p, k=k: p[0] == k).count()


@job(workers=(2, 2, 1024), question=HEALTHY, extra=["udo.cpu_bound", "failure.vertex_retries", "straggler.unexplained"], note="one task takes three times as long, but it starts early, and the others fill the time")
def early_straggler(c):
    def ask(index, rows):
        n = 0
        for n, _ in enumerate(rows, 1):
            time.sleep(.02)
        if index == 3:
            time.sleep(4)
        yield n
    print(numbers(c, 3_200, 32).mapPartitionsWithIndex(ask).sum())


@job(workers=TWO, question=HEALTHY, extra=["udo.cpu_bound"], note="an RDD persisted as MEMORY_AND_DISK and used by three steps")
def persisted_steps(c):
    rows = numbers(c, 60_000, 8).map(lambda i: (i % 300, work(i, 900))).persist(StorageLevel.MEMORY_AND_DISK)
    print(rows.count(), rows.values().max(), len(rows.reduceByKey(max, 4).collect()))
