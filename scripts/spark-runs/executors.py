"""Applications that run at several numbers of executors (scripts/whatif-real). Their tasks call a slow service, which is simulated by waiting, so
that executors are a resource even where cores are few. They differ in the number of tasks, in skew, shuffles, serial parts and waits of the driver."""
import time

from pyspark.sql import functions as F

from common import HEALTHY, job, partitions

ONE_CORE = (2, 1, 768)
EXTRA = ("udo.cpu_bound", "allocation.over", "allocation.under", "parallelism.too_low", "shuffle.serial_gather", "driver.bottleneck", "skew.low_cardinality_key", "skew.partition_layout", "straggler.unexplained")


def calls(seconds):
    """A function for mapPartitionsWithIndex: calls the service once per partition; the call takes seconds(partition)."""
    def call(i, rows):
        time.sleep(seconds(i))
        return ((r, i) for r in rows)
    return call


@job(workers=ONE_CORE, question=HEALTHY, extra=EXTRA, note="48 even tasks in one stage")
def even_calls(c):
    print(c.sc.parallelize(range(960), 48).mapPartitionsWithIndex(calls(lambda i: .5 + .03 * (i % 7))).count())


@job(workers=ONE_CORE, spark="4.0", question=HEALTHY, extra=EXTRA, note="30 tasks; one of them takes 11 s, three others 3 s")
def uneven_calls(c):
    print(c.sc.parallelize(range(600), 30).mapPartitionsWithIndex(calls(lambda i: 11 if i == 4 else 3 if i % 9 == 2 else .4)).count())


@job(workers=ONE_CORE, spark="3.3", question=HEALTHY, extra=EXTRA, note="parallel calls, a shuffle, one serial task of 9 s, and parallel calls for its result")
def serial_middle(c):
    parts = c.sc.parallelize(range(900), 18).mapPartitionsWithIndex(calls(lambda i: .9)).map(lambda r: (r[0] % 40, 1)).reduceByKey(lambda a, b: a + b, 6)
    totals = parts.coalesce(1, shuffle=True).mapPartitionsWithIndex(calls(lambda i: 9)).collect()
    print(c.sc.parallelize(totals, 12).mapPartitionsWithIndex(calls(lambda i: .8)).count())


@job(workers=ONE_CORE, question=HEALTHY, extra=EXTRA, note="three stages of three tasks each, connected by shuffles")
def three_regions(c):
    rows = c.sc.parallelize(range(300), 3).mapPartitionsWithIndex(calls(lambda i: 4 + i)).map(lambda r: (r[0] % 3, r[0]))
    sums = rows.groupByKey(3).mapPartitionsWithIndex(calls(lambda i: 3.5)).map(lambda r: (len(str(r)) % 3, 1))
    print(sums.reduceByKey(lambda a, b: a + b, 3).mapPartitionsWithIndex(calls(lambda i: 2)).count())


@job(tables={"orders": lambda c: c.rows(60_000, 10, order="id", shop="cast({r} * 400 as int)", cents="cast({r} * 9000 as int)")}, workers=ONE_CORE, question=HEALTHY, extra=EXTRA,
     conf=partitions(9, **{"spark.sql.adaptive.coalescePartitions.enabled": "false", "spark.sql.files.maxPartitionBytes": "96k", "spark.sql.files.openCostInBytes": "64k"}),
     note="pandas functions before and after two shuffles of a DataFrame; the waits grow with the rows")
def enriched_orders(c):
    def ask(batches):
        for b in batches:
            time.sleep(len(b) / 6000 * 1.3)
            yield b

    def rate(frame):
        time.sleep(.025)
        return frame.assign(rate=frame["cents"].mean())

    orders = c.table("orders").drop("id").mapInPandas(ask, "order long, shop int, cents int")
    rated = orders.groupBy("shop").applyInPandas(rate, "order long, shop int, cents int, rate double")
    c.save(rated.withColumn("band", (F.col("cents") / 1000).cast("int")).groupBy("band").agg(F.avg("rate"), F.count("*")), "bands")


@job(workers=ONE_CORE, spark="4.0", question=HEALTHY, extra=EXTRA, note="five rounds of nine short tasks, with a wait of the driver after each")
def rounds_with_pauses(c):
    state = c.sc.parallelize(range(450), 9)
    for _ in range(5):
        print(state.mapPartitionsWithIndex(calls(lambda i: .45)).count())
        time.sleep(1.4)
