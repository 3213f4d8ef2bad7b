"""Queries in the manner of TPC-H, on generated tables of about a quarter of scale factor 1, under good and bad settings."""
import os

from pyspark.sql import functions as F

from common import AQE_OFF, HEALTHY, job, partitions, shared, text

DAY = "date_add(date'1992-01-01', cast(%s as int))"
shared(lineitem=lambda c: c.rows(1_500_000, 8, l_orderkey="cast(id / 4 as int)", l_partkey="cast({r} * 50000 as int)", l_suppkey="cast({r} * 2500 as int)", l_quantity="cast(1 + {r} * 50 as int)", l_price="cast(900 + {r} * 90000 as double)",
                                 l_discount="cast({r} * 11 as int) / 100", l_tax="cast({r} * 9 as int) / 100", l_returnflag="element_at(array('A', 'N', 'R'), 1 + cast({r} * 3 as int))", l_linestatus="if({r} < .5, 'F', 'O')",
                                 l_shipdate=DAY % "{r} * 2400", l_receiptdate=DAY % "{r} * 2400 + 20", l_shipmode="element_at(array('AIR', 'RAIL', 'SHIP', 'TRUCK', 'MAIL', 'FOB', 'REG'), 1 + cast({r} * 7 as int))", l_comment=text(2)),
       orders=lambda c: c.rows(375_000, 4, o_orderkey="cast(id as int)", o_custkey="cast({r} * 37500 as int)", o_orderdate=DAY % "{r} * 2400", o_priority="cast(1 + {r} * 5 as int)", o_totalprice="{r} * 300000",
                               o_comment="concat_ws(' ', md5(string(id)), if({r} < .02, 'special packages requests', 'furiously even ideas'), md5(concat(id, 'x')))"),
       customer=lambda c: c.rows(37_500, 2, c_custkey="cast(id as int)", c_nationkey="cast({r} * 25 as int)", c_segment="cast({r} * 5 as int)", c_name="concat('Customer#', id)", c_address=text(2)),
       part=lambda c: c.rows(50_000, 2, p_partkey="cast(id as int)", p_brand="cast({r} * 25 as int)", p_type="concat('TYPE ', cast({r} * 150 as int))", p_size="cast(1 + {r} * 50 as int)", p_name=text(1)),
       supplier=lambda c: c.rows(2_500, 1, s_suppkey="cast(id as int)", s_nationkey="cast({r} * 25 as int)", s_name="concat('Supplier#', id)"),
       nation=lambda c: c.rows(25, 1, n_nationkey="cast(id as int)", n_name="concat('NATION ', id)", n_regionkey="cast(id % 5 as int)"))
ALL = ("lineitem", "orders", "customer", "part", "supplier", "nation")
TWO = (2, 1, 1024)

Q1 = """SELECT l_returnflag, l_linestatus, sum(l_quantity), sum(l_price), sum(l_price * (1 - l_discount)), sum(l_price * (1 - l_discount) * (1 + l_tax)), avg(l_quantity), avg(l_price), avg(l_discount), count(*)
        FROM {0} WHERE l_shipdate <= date'1998-05-01' GROUP BY l_returnflag, l_linestatus ORDER BY 1, 2"""
Q3 = """SELECT l_orderkey, sum(l_price * (1 - l_discount)) AS revenue, o_orderdate FROM customer JOIN orders ON c_custkey = o_custkey JOIN lineitem ON l_orderkey = o_orderkey
        WHERE c_segment < {0} AND l_shipdate > o_orderdate GROUP BY l_orderkey, o_orderdate ORDER BY revenue DESC, o_orderdate LIMIT 10"""
Q5 = """SELECT n_name, sum(l_price * (1 - l_discount)) AS revenue, max(l_comment) AS c FROM lineitem JOIN supplier ON l_suppkey = s_suppkey JOIN nation ON s_nationkey = n_nationkey JOIN part ON l_partkey = p_partkey
        WHERE n_regionkey < 4 AND p_size < 45 GROUP BY n_name ORDER BY revenue DESC"""
Q9 = """SELECT n_name, year(o_orderdate) AS y, sum(l_price * (1 - l_discount) - l_quantity * p_size) AS profit, max(l_comment) AS c FROM lineitem JOIN orders ON l_orderkey = o_orderkey
        JOIN part ON l_partkey = p_partkey JOIN supplier ON l_suppkey = s_suppkey JOIN nation ON s_nationkey = n_nationkey GROUP BY n_name, year(o_orderdate) ORDER BY n_name, y DESC"""
Q18 = """SELECT c_name, o_orderkey, o_totalprice, total, longest FROM (SELECT l_orderkey, sum(l_quantity) AS total, max(l_comment) AS longest FROM lineitem GROUP BY l_orderkey)
         JOIN orders ON l_orderkey = o_orderkey JOIN customer ON o_custkey = c_custkey WHERE total > 150 ORDER BY o_totalprice DESC LIMIT 100"""


def run(c, text):
    c.views(*ALL)
    return c.sql(text).collect()


TINY = dict(extra=["allocation.over", "shuffle.missed_broadcast", "driver.bottleneck", "overhead.unexplained"], fixed=True, conf=AQE_OFF)


@job("parallelism.tiny_vertices", workers=TWO, question="It is a simple report. Why does it take so long?", bad={"spark.sql.shuffle.partitions": "2000"}, good={"spark.sql.shuffle.partitions": "4"},
     note="pricing summary with 2,000 shuffle partitions for six groups, without adaptive execution; without: four", **TINY)
def h1_partitions(c):
    run(c, Q1.format("lineitem"))


@job("parallelism.tiny_vertices", workers=TWO, spark="3.3", question="Are these settings right for this query?", bad={"spark.sql.shuffle.partitions": "800"}, good={"spark.sql.shuffle.partitions": "6"},
     note="shipping priority with 800 shuffle partitions for some tens of megabytes, without adaptive execution; without: six", **TINY)
def h3_partitions(c):
    run(c, Q3.format(1))


@job("shuffle.missed_broadcast", workers=TWO, fixed=True, conf=partitions(6), extra=["shuffle.redundant_repartition", "shuffle.unused_columns", "memory.spill"], question="Why is so much shuffled?",
     bad={"spark.sql.autoBroadcastJoinThreshold": "-1", "spark.sql.adaptive.autoBroadcastJoinThreshold": "-1"}, note="local supplier volume with broadcasts turned off: three joins with small tables shuffle all rows; without: default thresholds")
def h5_no_broadcast(c):
    run(c, Q5)


@job("parallelism.too_low", workers=TWO, spark="4.0", fixed=True, also=["shuffle.serial_gather", "parallelism.idle_slots"], extra=["allocation.over", "memory.spill"], question="Why does one executor have nothing to do?", conf=AQE_OFF,
     bad={"spark.sql.shuffle.partitions": "1"}, good={"spark.sql.shuffle.partitions": "6"}, note="product type profit with one shuffle partition; without: six")
def h9_one_partition(c):
    run(c, Q9)


@job("memory.spill", workers=TWO, fixed=True, conf=partitions(4, **AQE_OFF), extra=["gc.heap_pressure", "parallelism.too_low", "shuffle.missed_broadcast", "shuffle.unused_columns"], question="What slows the joins?",
     bad={"spark.memory.fraction": "0.02", "spark.shuffle.spill.numElementsForceSpillThreshold": "8000", "spark.sql.autoBroadcastJoinThreshold": "-1"}, good={"spark.sql.autoBroadcastJoinThreshold": "-1"},
     note="large volume customers in little memory, which spills in every sort; without: default memory")
def h18_spill(c):
    c.views(*ALL)
    j = c.sql("SELECT l_orderkey, l_comment, o_comment, l_price FROM lineitem JOIN orders ON l_orderkey = o_orderkey").sortWithinPartitions("l_comment")
    c.save(j.select("l_orderkey", F.substring("l_comment", 1, 8).alias("l"), F.substring("o_comment", 1, 8).alias("o")), "large")


@job("parallelism.too_low", workers=TWO, fixed=True, also=["parallelism.idle_slots", "skew.partition_layout"], extra=["allocation.over", "shuffle.serial_gather", "compute.costly_expression"], question="Why does reading take so long?",
     tables={"text": lambda c: c.table("lineitem").filter("id < 900000").repartition(1 if c.bad else 8).write.option("compression", "gzip").csv(c.path("text"))},
     note="revenue forecast over one gzip-compressed text file, which one task reads; without: eight files")
def h6_gzip(c):
    l = c.spark.read.csv(c.path("text")).toDF(*c.table("lineitem").columns)
    l.withColumn("l_price", F.col("l_price").cast("double")).createOrReplaceTempView("lineitem_text")
    print(c.sql("SELECT l_shipmode, sum(l_price * cast(l_discount AS double)), max(l_comment), max(sha2(concat(l_comment, l_shipmode), 512)), max(sha2(concat(l_shipmode, l_comment), 512)), count(*) FROM lineitem_text WHERE cast(l_quantity AS int) < 44 GROUP BY l_shipmode").collect())


@job("io.small_files", workers=TWO, fixed=True, extra=["parallelism.tiny_vertices", "driver.bottleneck", "overhead.unexplained"], question="Why does this query take longer each week?", conf=partitions(4),
     tables={"lines": lambda c: c.table("lineitem").filter("id < 600000").repartition(2500 if c.bad else 6).write.parquet(c.path("lines"))},
     note="promotion effect over 2,500 files of 240 rows; without: six files with the same rows")
def h14_small_files(c):
    c.views("part")
    c.spark.read.parquet(c.path("lines")).createOrReplaceTempView("lines")
    print(c.sql("SELECT p_brand, sum(l_price * (1 - l_discount)), max(l_comment) FROM lines JOIN part ON l_partkey = p_partkey GROUP BY p_brand").collect())


@job("compute.costly_expression", workers=TWO, fixed=True, also=["udo.cpu_bound"], conf=partitions(4), extra=["allocation.under"], question="There is no user code in it. What computes so long?",
     note="customer distribution with a regular expression that backtracks over every comment; without: LIKE")
def h13_pattern(c):
    c.views(*ALL)
    keep = "NOT o_comment RLIKE '^.*[a-z].*[0-9].*special packages requests-'"
    where = keep if c.bad else "NOT o_comment LIKE '%special%requests%'"
    print(c.sql("SELECT n, count(*) FROM (SELECT c_custkey, count(o_orderkey) AS n FROM customer LEFT JOIN (SELECT * FROM orders WHERE o_orderkey %% 9 = 0 AND %s) ON c_custkey = o_custkey GROUP BY c_custkey) GROUP BY n" % where).collect())


@job("join.explosion", workers=TWO, spark="3.5", fixed=True, conf=partitions(6), extra=["cardinality.misestimate", "shuffle.missed_broadcast", "skew.join_hot_key", "shuffle.unused_columns", "compute.costly_expression", "shuffle.late_filter"], question="The tables are small. Where does the time go?",
     note="suppliers who kept orders waiting: the self-join compares all lines of a supplier instead of those of an order; without: of the order")
def h21_self_join(c):
    c.views(*ALL)
    on = "a.l_suppkey = b.l_suppkey" if c.bad else "a.l_orderkey = b.l_orderkey AND a.l_suppkey <> b.l_suppkey"
    print(c.sql("SELECT a.l_shipmode, count(*), sum(abs(a.l_price - b.l_price)) FROM lineitem a JOIN lineitem b ON %s WHERE a.l_receiptdate > b.l_receiptdate AND a.l_orderkey < 100000 AND b.l_orderkey < 100000 GROUP BY a.l_shipmode" % on).collect())


@job("io.small_files", workers=TWO, fixed=True, also=["driver.commit"], extra=["parallelism.tiny_vertices", "driver.bottleneck", "memory.spill"], question="Computing is quick. Why is writing slow?", conf=partitions(4),
     note="lines are written per shipping day by every task, 4,800 files in 2,400 folders or more; without: per month of shipping, one file each")
def write_by_day(c):
    l = c.table("lineitem").filter("id < 300000").withColumn("day", F.col("l_shipdate") if c.bad else F.trunc("l_shipdate", "year"))
    l = l.repartition(2) if c.bad else l.repartition(4, "day")
    l.drop("l_receiptdate").write.mode("overwrite").partitionBy("day").parquet(os.path.join(c.out, "lines"))


@job("memory.over_provisioned", workers=(2, 1, 1024), resource_only=True, fixed=True, also=["allocation.over"], conf=partitions(4), cluster=dict(bad=(2, 1, 7168)), bad={"spark.executor.memory": "7g"}, good={"spark.executor.memory": "1g"},
     question="Do the executors need that much memory?", note="executors of 7 GB use a few hundred megabytes; without: 1 GB, in the same time")
def h12_memory(c):
    run(c, "SELECT l_shipmode, o_priority, count(*), max(l_comment), max(o_comment) FROM lineitem JOIN orders ON l_orderkey = o_orderkey WHERE l_receiptdate > o_orderdate GROUP BY l_shipmode, o_priority")
    run(c, Q18)


@job("memory.estimate_too_low", workers=TWO, fails=True, fixed=True, also=["executor.lost"], extra=["failure.vertex_retries", "failure.limit", "gc.heap_pressure", "memory.spill", "parallelism.too_low", "failure.user_code"], cluster=dict(memory=2048), question="Why did this query fail?",
     conf=partitions(2, **{"spark.sql.objectHashAggregate.sortBased.fallbackThreshold": "100000000", **AQE_OFF}), bad={"spark.executor.memory": "512m"}, good={"spark.executor.memory": "2g"},
     note="lists of all comments of a customer do not fit into executors of 512 MB; without: 2 GB")
def h10_lists(c):
    c.views(*ALL)
    lists = c.sql("SELECT c_name, collect_list(l_comment) AS l, collect_list(concat(l_comment, o_comment)) AS m FROM lineitem JOIN orders ON l_orderkey = o_orderkey JOIN customer ON o_custkey = c_custkey GROUP BY c_name")
    c.save(lists.groupBy(F.size("l").alias("n")).agg(F.max(F.size("m")), F.count("*")), "lists")


@job("failure.limit", workers=TWO, pair=False, conf=partitions(4, **{"spark.driver.maxResultSize": "8m"}), also=["driver.bottleneck"], extra=["failure.user_code"], question="Why did it stop?",
     note="all orders with their comments are collected, more than spark.driver.maxResultSize=8m")
def h4_collect(c):
    run(c, Q1.format("lineitem"))
    run(c, "SELECT o_orderkey, o_comment, o_totalprice FROM orders WHERE o_priority > 1")


# Healthy jobs; some look like a problem.


@job(local=2, question=HEALTHY, extra=["shuffle.unused_columns"], note="200 shuffle partitions by default, which adaptive execution merges")
def h3_adaptive(c):
    run(c, Q3.format(3))
    run(c, Q1.format("lineitem"))


@job(workers=TWO, question=HEALTHY, conf=partitions(8), looks=True, bad={"spark.memory.fraction": "0.25"}, good={"spark.memory.fraction": "0.6"}, extra=["memory.spill", "shuffle.unused_columns"], note="a few sorts spill a little, which costs next to nothing")
def h18_small_spill(c):
    c.views(*ALL)
    j = c.sql("SELECT l_orderkey, l_comment, o_comment, l_price FROM lineitem JOIN orders ON l_orderkey = o_orderkey").sortWithinPartitions("l_comment")
    c.save(j.select("l_orderkey", F.substring("l_comment", 1, 8).alias("l"), F.substring("o_comment", 1, 8).alias("o")), "large")


@job(workers=TWO, spark="4.0", question=HEALTHY, conf=partitions(6), extra=["shuffle.unused_columns"], note="both sides of the join are large: the shuffle is needed; the last stage has one task, for ten rows")
def h10_two_large(c):
    run(c, "SELECT o_custkey, sum(l_price) AS s, max(l_comment), max(o_comment) FROM lineitem JOIN orders ON l_orderkey = o_orderkey GROUP BY o_custkey ORDER BY s DESC LIMIT 10")


@job(workers=TWO, spark="3.3", question=HEALTHY, conf=partitions(6), note="one shipping mode has nine of ten rows, but sums are made before the shuffle")
def h1_hot_group(c):
    c.views("lineitem")
    c.sql("SELECT if(l_quantity < 46, 'NONE', l_shipmode) AS mode, sum(l_price), avg(l_discount), max(l_comment), approx_count_distinct(l_partkey) FROM lineitem GROUP BY 1").collect()
