"""Star queries in the manner of TPC-DS, on generated sales of a retailer, with the mistakes that people make around them."""
import os

from pyspark.sql import Window, functions as F

from common import AQE_OFF, HEALTHY, asks, job, partitions, shared, text

TWO = (2, 1, 1024)
shared(sales=lambda c: c.rows(1_500_000, 8, ticket="cast(id / 3 as int)", item="cast({r} * 18000 as int)", customer="cast({r} * 60000 as int)", store="cast({r} * 60 as int)", day="cast({r} * 1826 as int)",
                              quantity="cast(1 + {r} * 100 as int)", price="round({r} * 200, 2)", coupon="round(pow({r}, 4) * 20, 2)", remark=text(2)),
       returns=lambda c: c.rows(150_000, 4, r_ticket="cast({r} * 500000 as int)", r_item="cast({r} * 18000 as int)", r_customer="cast({r} * 60000 as int)", reason="cast({r} * 35 as int)", refund="{r} * 100"),
       item=lambda c: c.rows(18_000, 2, i_item="cast(id as int)", category="concat('category ', cast({r} * 10 as int))", brand="cast({r} * 500 as int)", about=text(5)),
       customer=lambda c: c.rows(60_000, 2, c_customer="cast(id as int)", born="1930 + cast({r} * 75 as int)", state="cast({r} * 50 as int)", name=text(2)),
       store=lambda c: c.rows(60, 1, s_store="cast(id as int)", county="concat('county ', id % 12)"),
       dates=lambda c: c.rows(1_826, 1, d_day="cast(id as int)", d_year="1998 + cast(id / 365 as int)", d_month="cast(pmod(id / 30, 12) as int)", weekday="cast(id % 7 as int)"))
ALL = ("sales", "returns", "item", "customer", "store", "dates")


@job("shuffle.serial_gather", workers=TWO, fixed=True, also=["parallelism.too_low", "parallelism.idle_slots"], extra=["memory.spill", "shuffle.unused_columns", "allocation.over"], question="Why does one task do everything?", conf=partitions(6),
     note="running totals over all sales, in a window without PARTITION BY, so that one task sorts all rows; without: per store")
def global_window(c):
    w = Window.orderBy("day", "ticket", "item") if c.bad else Window.partitionBy("store").orderBy("day", "ticket", "item")
    s = c.table("sales").withColumn("running", F.sum("price").over(w.rowsBetween(Window.unboundedPreceding, 0))).withColumn("k", F.row_number().over(w))
    c.save(s.groupBy("store", F.substring("remark", 1, 1)).agg(F.max("running"), F.max("k"), F.max("remark")), "running")


@job("join.explosion", workers=TWO, spark="4.0", fixed=True, conf=partitions(6), extra=["cardinality.misestimate", "shuffle.missed_broadcast", "skew.join_hot_key", "compute.costly_expression", "shuffle.unused_columns"], question="Why so many rows?",
     note="sales and returns are joined on the customer alone; without: on ticket and item too")
def returned_sales(c):
    on = (F.col("customer") % 4000 == F.col("r_customer") % 4000) if c.bad else ((F.col("ticket") == F.col("r_ticket")) & (F.col("item") % 50 == F.col("r_item") % 50))
    j = c.table("sales").filter("quantity < 50").join(c.table("returns"), on)
    c.save(j.groupBy("store", "reason").agg(F.count("*"), F.sum(F.col("price") - F.col("refund")), F.max(F.crc32(F.concat("remark", "reason")))), "returned")


@job("udo.cpu_bound", workers=TWO, fixed=True, extra=["shuffle.unused_columns", "compute.costly_expression"], question="Where does the time go?", conf=partitions(6), note="a price band comes from a Python UDF; without: from a CASE expression")
def price_bands(c):
    def band(price, quantity, coupon):
        net = price * quantity - coupon
        for k in range(12):
            if net < 25 * 2 ** k:
                return "band %02d" % k
        return "more"
    s = c.table("sales").filter("quantity < 70")
    net = F.col("price") * F.col("quantity") - F.col("coupon")
    case = F.lit("more")
    for k in reversed(range(12)):
        case = F.when(net < 25 * 2 ** k, "band %02d" % k).otherwise(case)
    s = s.withColumn("band", F.udf(band, "string")("price", "quantity", "coupon") if c.bad else case)
    c.save(s.groupBy("band", "store").agg(F.count("*"), F.max("remark")), "bands")


@job("skew.join_hot_key", workers=(2, 2, 1024), fixed=True, extra=["udo.cpu_bound", "shuffle.unused_columns", "shuffle.missed_broadcast"], question="One task is left over and runs on. Why?", conf=partitions(12, **AQE_OFF, **{"spark.sql.autoBroadcastJoinThreshold": "-1"}),
     tables={"orders": lambda c: c.rows(400_000, 8, customer="cast(case when %s and {r} < .5 then 4711 else pmod(hash(id), 60000) end as int)" % c.bad, cents="cast({r} * 9000 as int)")},
     note="half of all web orders belong to one reseller, and scoring takes time per joined row; without: evenly distributed")
def reseller_orders(c):
    j = c.table("orders").join(c.table("customer").drop("id"), F.col("customer") == F.col("c_customer")).withColumn("score", asks("id", 100, 7))
    c.save(j.select("id", "state", "score", F.length("name").alias("n")), "scored")


@job("skew.null_or_default_key", workers=(2, 2, 1024), also=["skew.join_hot_key"], extra=["udo.cpu_bound", "shuffle.unused_columns"], question="Which key is to blame?", conf=partitions(12, **{"spark.sql.autoBroadcastJoinThreshold": "-1", "spark.sql.adaptive.autoBroadcastJoinThreshold": "-1"}),
     tables={"walkin": lambda c: c.rows(400_000, 8, customer="cast(case when %s and {r} < .6 then -1 else pmod(hash(id), 60000) end as int)" % c.bad, cents="cast({r} * 9000 as int)")},
     note="sales without a customer card carry customer -1, more than half of them; without: all have a card")
def unknown_customers(c):
    j = c.table("walkin").join(c.table("customer").drop("id"), F.col("customer") == F.col("c_customer"), "left").withColumn("score", asks("id", 100, 7))
    c.save(j.select("id", "state", "score", "name"), "scored")


@job("skew.group_hot_key", workers=(2, 1, 1024), spark="3.3", extra=["memory.spill", "gc.heap_pressure", "parallelism.too_low"], question="Why does the last task take so long?", conf=partitions(10, **AQE_OFF),
     tables={"baskets": lambda c: c.rows(900_000, 8, shop="cast(case when %s and {r} < .6 then 7 else pmod(hash(id), 4000) end as int)" % c.bad, item="cast({r} * 900 as int)", at="{r}", memo=text(2))},
     note="a window per shop ranks its sales, and the web shop has more than half of them; without: evenly distributed")
def web_shop(c):
    w = Window.partitionBy("shop").orderBy("at", "memo")
    b = c.table("baskets").withColumn("k", F.row_number().over(w)).withColumn("d", F.col("at") - F.lag("at").over(w)).withColumn("e", F.sha2(F.concat("memo", "at"), 512)).withColumn("f", F.sha2(F.concat("e", "memo", F.sha2(F.concat("memo", "e"), 512), F.sha2(F.concat("e", "e"), 512), F.sha2(F.concat("memo", "memo", "e"), 512)), 512))
    c.save(b.groupBy(F.col("k") % 50).agg(F.avg("d"), F.max("e"), F.max("f")), "ranked")


@job("cache.ineffective", workers=TWO, fixed=True, extra=["compute.costly_expression", "shuffle.redundant_repartition", "shuffle.unused_columns"], question="Five small reports take a minute. Why?", conf=partitions(6),
     note="five reports read the same joined and hashed rows, which are computed five times; without: cached")
def five_reports(c):
    c.views(*ALL)
    base = c.sql("SELECT s.store, i.category, d.d_year, d.weekday, s.price * s.quantity AS amount, sha2(concat_ws('|', s.remark, sha2(concat(s.remark, i.about), 512), sha2(concat(i.about, s.remark), 512)), 512) AS mark FROM sales s JOIN item i ON s.item = i.i_item JOIN dates d ON s.day = d.d_day WHERE s.quantity < 60")
    base = base if c.bad else base.cache()
    for by in ("store", "category", "d_year", "weekday", "substring(mark, 1, 1)"):
        base.groupBy(F.expr(by)).agg(F.sum("amount"), F.max("mark")).collect()


@job("driver.bottleneck", workers=TWO, fixed=True, extra=["allocation.over", "overhead.unexplained", "parallelism.idle_slots"], question="The executors are idle half of the time. Why?", conf=partitions(6, **{"spark.driver.memory": "2g"}),
     note="all sales of a year are collected, valued in a Python loop on the driver and sent back; without: valued in Spark")
def valued_on_driver(c):
    s = c.table("sales").filter("day < 500").select("store", "price", "quantity", "coupon")
    if c.bad:
        rows = [(r["store"], max(0.0, r["price"] * r["quantity"] - r["coupon"])) for r in s.collect()]
        v = c.spark.createDataFrame(c.sc.parallelize(rows, 4), "store int, amount double")
    else:
        v = s.withColumn("amount", F.greatest(F.lit(0.0), F.col("price") * F.col("quantity") - F.col("coupon")))
    c.save(v.groupBy("store").agg(F.sum("amount"), F.count("*")), "valued")
    c.save(c.table("sales").groupBy("item").agg(F.max("remark"), F.sum("quantity")), "items")


@job("broadcast.too_large", workers=(2, 1, 2048), fixed=True, also=["cardinality.misestimate"], extra=["driver.bottleneck", "gc.heap_pressure", "shuffle.unused_columns", "memory.estimate_too_low"], question="What happens before the join begins?", conf=partitions(6, **{"spark.driver.memory": "3g"}),
     note="a hint broadcasts 1.5 million sales with their remarks; without: a sort-merge join")
def broadcast_sales(c):
    s = c.table("sales").select("ticket", "item", F.concat("remark", F.reverse("remark")).alias("remark"), "price")
    j = c.table("returns").join(F.broadcast(s) if c.bad else s.hint("merge"), (F.col("r_ticket") == F.col("ticket")) & (F.col("r_item") % 300 == F.col("item") % 300), "left")
    c.save(j.groupBy("reason").agg(F.count("remark"), F.sum("price"), F.max("remark")), "reasons")


@job("io.scan_without_filter", workers=TWO, spark="3.5", fixed=True, extra=["compute.costly_expression", "shuffle.late_filter", "shuffle.unused_columns"], question="It reports one month. Does it have to read everything?", conf=partitions(6),
     bad={"spark.sql.optimizer.dynamicPartitionPruning.enabled": "false"}, good={},
     tables={"archive": lambda c: c.table("sales").withColumn("month", (F.col("day") / 30).cast("int")).repartition(8, "month").write.partitionBy("month").csv(c.path("archive"))},
     note="the month comes from the date table, and dynamic partition pruning is turned off, in three reports, so that 60 of 61 months are parsed in vain; without: turned on")
def one_month(c):
    a = c.spark.read.schema("ticket int, item int, customer int, store int, day int, quantity int, price double, coupon double, remark string, month int").csv(c.path("archive"))
    for weekday in (2, 3, 4):
        d = c.table("dates").filter("d_year = 1999 and weekday = %d and d_month = 4" % weekday).select((F.col("d_day") / 30).cast("int").alias("m")).distinct()
        c.save(a.join(F.broadcast(d), F.col("month") == F.col("m")).groupBy("store").agg(F.sum("price"), F.max("remark"), F.max(F.sha2("remark", 512))), "month%d" % weekday)


@job("parallelism.idle_slots", workers=(3, 2, 768), fixed=True, also=["parallelism.too_low", "allocation.over"], extra=["udo.cpu_bound"], question="Would a larger cluster make it faster?", conf=partitions(6),
     tables={"days%d" % k: (lambda k: lambda c: c.rows(40_000, 2 if c.bad else 6, store="cast({r} * 60 as int)", price="{r}"))(k) for k in range(5)},
     note="five tables of two files each are enriched one after another on six cores; without: six files each")
def two_files_each(c):
    for k in range(5):
        d = c.table("days%d" % k).withColumn("rate", asks("id", 100, 24))
        c.save(d.groupBy("store").agg(F.sum("price"), F.count("rate")), "day%d" % k)


@job("queue.wait", workers=TWO, cluster=dict(held=16), extra=["driver.bottleneck", "allocation.under"], question="The query is small. What took so long?", conf=partitions(6),
     note="another application holds all cores for the first 16 seconds; without: a free cluster")
def held_up(c):
    c.views(*ALL)
    c.save(c.sql("SELECT county, d_year, sum(price * quantity), max(remark) FROM sales JOIN store ON store = s_store JOIN dates ON day = d_day GROUP BY county, d_year"), "counties")


@job("failure.input", workers=TWO, pair=False, extra=["failure.vertex_retries", "failure.user_code"], question="Why did it fail?", conf=partitions(6),
     tables={"late": lambda c: c.table("sales").filter("store = 5").repartition(4)},
     note="another process replaces the files of a table between planning and reading")
def replaced_files(c):
    c.views(*ALL)
    late = c.table("late")
    print(c.sql("SELECT category, max(remark) FROM sales JOIN item ON item = i_item GROUP BY category").collect())
    for name in os.listdir(c.path("late")):
        if name.startswith("part-"):
            os.remove(os.path.join(c.path("late"), name))
    c.save(late.groupBy("store").agg(F.max("remark")), "late")


@job("failure.user_code", workers=TWO, pair=False, extra=["failure.vertex_retries", "udo.cpu_bound"], question="Why did it fail?", conf=partitions(6), note="a pandas function looks for a column that it was not given: KeyError")
def missing_column(c):
    def margin(group):
        group["price"] = group["price"] - group["cost"]
        return group[["store", "price"]]
    c.save(c.table("sales").groupBy("store").agg(F.sum("price")), "sums")
    c.save(c.table("sales").select("store", "price").groupBy("store").applyInPandas(margin, "store int, price double"), "margins")


# Healthy jobs; some look like a problem.


@job(workers=TWO, question=HEALTHY, conf=partitions(6), looks=True, note="a window without PARTITION BY, but over 720 sums")
def small_window(c):
    s = c.table("sales").groupBy("store", (F.col("day") % 12).alias("m")).agg(F.sum("price").alias("p"), F.max("remark").alias("r"), F.approx_count_distinct("remark").alias("n"))
    c.save(s.withColumn("share", F.col("p") / F.sum("p").over(Window.orderBy("p"))) if c.bad else s, "shares")


@job(workers=TWO, spark="4.0", question=HEALTHY, conf=partitions(6), extra=["shuffle.unused_columns"], note="three reports over a cached join")
def cached_star(c):
    c.views(*ALL)
    base = c.sql("SELECT s.store, i.category, s.price * s.quantity AS amount, s.remark FROM sales s JOIN item i ON s.item = i.i_item WHERE s.quantity < 60").cache()
    for by in ("store", "category", "substring(remark, 1, 1)"):
        base.groupBy(F.expr(by)).agg(F.sum("amount"), F.max("remark"), F.count("*")).collect()


@job(local=2, question=HEALTHY, extra=["shuffle.unused_columns"], note="three dimensions are broadcast; adaptive execution merges 200 partitions")
def plain_star(c):
    c.views(*ALL)
    c.sql("SELECT county, category, d_year, sum(price * quantity) AS s, max(remark), approx_count_distinct(customer) FROM sales JOIN store ON store = s_store JOIN item ON item = i_item JOIN dates ON day = d_day GROUP BY county, category, d_year ORDER BY s DESC").collect()


@job(workers=TWO, question=HEALTHY, conf=partitions(6), looks=True, extra=["udo.cpu_bound"], note="a Python UDF on 1,826 days")
def weekday_names(c):
    d = c.table("dates")
    name = F.udf(lambda k: "Mon Tue Wed Thu Fri Sat Sun".split()[k], "string")("weekday") if c.bad else F.element_at(F.array(*[F.lit(n) for n in "Mon Tue Wed Thu Fri Sat Sun".split()]), F.col("weekday") + 1)
    j = c.table("sales").join(d.withColumn("name", name), F.col("day") == F.col("d_day"))
    c.save(j.groupBy("name", "store").agg(F.sum("price"), F.max("remark"), F.max(F.sha2("remark", 512))), "names")
