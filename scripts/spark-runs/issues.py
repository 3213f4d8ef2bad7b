"""Slow and fixed forms of the design and configuration issues that jbsneto-ppgsc-ufrn/spark-performance-issues-experiments
measures: RDD programs over web visits, film ratings and reviews.  Only the ideas come from there; jobs and data are new."""
import os

from pyspark.sql import functions as F

from common import HEALTHY, job, shared


def lines(c, name, frame, files):
    frame.select(F.concat_ws(",", *frame.columns).alias("value")).coalesce(files).write.text(c.path(name))


WORDS = "split('the a good bad film food place staff never always again great really time service price room night day friend', ' ')"
shared(visits=lambda c: lines(c, "visits", c.rows(1_600_000, 8, ip="concat_ws('.', pmod(hash(id), 60), pmod(hash(id, 1), 60), pmod(hash(id, 2), 250))", url="concat('page', cast({r} * 40000 as int))",
                                                  day="cast({r} * 900 as int)", cents="cast({r} * 5000 as int)", agent="md5(string(id))", word="cast({r} * 300 as int)"), 8),
       pages=lambda c: lines(c, "pages", c.rows(40_000, 2, url="concat('page', id)", rank="cast({r} * 1000 as int)", seconds="cast({r} * 90 as int)").select("url", "rank", "seconds"), 2),
       ratings=lambda c: lines(c, "ratings", c.rows(1_000_000, 8, user="cast({r} * 30000 as int)", film="cast(pow({r}, 2) * 5000 as int)", stars="1 + cast({r} * 5 as int)"), 8),
       reviews=lambda c: lines(c, "reviews", c.rows(150_000, 8, body="concat_ws(' ', %s)" % ", ".join("element_at(%s, 1 + cast(pow(pmod(hash(id, %d), 1000) / 1000, 2) * 20 as int))" % (WORDS, k) for k in range(14))).select("body"), 8))


def visits(c):
    """(address, page, cents) of each visit."""
    return c.sc.textFile(c.path("visits"), 8).map(lambda l: l.split(",")).map(lambda v: (v[1], v[2], int(v[4])))


def ratings(c):
    """(film, stars) of each rating."""
    return c.sc.textFile(c.path("ratings"), 8).map(lambda l: l.split(",")).map(lambda v: (int(v[2]), float(v[3])))


def trigrams(line):
    words = ["<s>", "<s>", *line.lower().split(), "</s>"]
    return [" ".join(words[i:i + 3]) for i in range(len(words) - 2)]


@job(workers=(2, 1, 1024), looks=True, question=HEALTHY, extra=["shuffle.late_filter", "udo.cpu_bound", "memory.spill"],
     note="groupByKey sends every visit through the shuffle and sums afterwards, which takes no longer here than reduceByKey")
def revenue_by_address(c):
    v = visits(c).map(lambda v: (v[0][:4], v[2]))
    sums = v.groupByKey(8).mapValues(sum) if c.bad else v.reduceByKey(lambda a, b: a + b, 8)
    print(len(sums.collect()))


@job("udo.cpu_bound", workers=(2, 1, 1024), fixed=True, also=["compute.costly_expression", "gc.heap_pressure", "memory.spill"], extra=["shuffle.unused_columns", "shuffle.late_filter"], question="What does the time go into?",
     note="reduceByKey builds a new set for every pair of values; without: aggregateByKey adds to one set per key")
def addresses_per_day(c):
    v = c.sc.textFile(c.path("visits"), 8).map(lambda l: l.split(",")).map(lambda v: (int(v[3]) % 60, v[1]))
    if c.bad:
        sets = v.map(lambda p: (p[0], frozenset([p[1]]))).reduceByKey(lambda a, b: a | b, 8)
    else:
        sets = v.aggregateByKey(set(), lambda s, x: (s.add(x), s)[1], lambda a, b: a | b, 8)
    print(sets.mapValues(len).values().sum())


@job("shuffle.redundant_repartition", workers=(2, 1, 1024), spark="3.3", fixed=True, also=["shuffle.missed_broadcast"], extra=["udo.cpu_bound", "memory.spill", "shuffle.unused_columns", "shuffle.late_filter"], question="Why are the visits shuffled twice?",
     note="both sides of a join were partitioned before, into 6 and 10 parts, so that the join partitions them again; without: both into 8")
def other_partitioner(c):
    pages = c.sc.textFile(c.path("pages"), 2).map(lambda l: l.split(",")).map(lambda p: (p[0], int(p[1])))
    seen = visits(c).map(lambda v: (v[1], (v[0] * 14, v[2])))
    pages, seen = (pages.partitionBy(6), seen.partitionBy(10)) if c.bad else (pages.partitionBy(8), seen.partitionBy(8))
    joined = pages.join(seen, 12) if c.bad else pages.join(seen)
    best = joined.map(lambda p: (p[1][1][0][:5], (p[1][1][1], p[1][0]))).reduceByKey(lambda a, b: (a[0] + b[0], max(a[1], b[1])), 8)
    print(best.top(3, key=lambda p: p[1][0]))


@job("shuffle.redundant_repartition", workers=(2, 1, 1024), fixed=True, extra=["udo.cpu_bound", "shuffle.late_filter", "shuffle.unused_columns"], question="Why does a scan shuffle anything?",
     note="a scan with a filter repartitions all parsed rows from 24 to 6 parts; without: coalesce(6)")
def scan_repartition(c):
    v = c.sc.textFile(c.path("visits"), 24).map(lambda l: (l * 4).split(","))
    v = v.repartition(6) if c.bad else v.coalesce(6)
    v.filter(lambda v: int(v[4]) > 4600).map(lambda v: "%s,%s" % (v[1], v[2])).saveAsTextFile(os.path.join(c.out, "scan"))


@job("overhead.unexplained", workers=(2, 1, 1024), fixed=True, also=["broadcast.too_large", "parallelism.tiny_vertices", "udo.cpu_bound", "driver.bottleneck", "compute.costly_expression"], question="What do the tasks do before they begin?",
     note="a dictionary of 500,000 titles travels in the closure and is unpacked by each of 64 tasks; without: a broadcast variable, unpacked once per worker process")
def titles_in_closure(c):
    titles = {i: ("film %d" % i, i * 31 % 97) for i in range(500_000)}
    means = c.sc.textFile(c.path("ratings"), 64).map(lambda l: l.split(",")).map(lambda v: (int(v[2]), float(v[3])))
    if c.bad:
        named = means.map(lambda p: (titles[p[0]][1], p[1]))
    else:
        sent = c.sc.broadcast(titles)
        named = means.map(lambda p: (sent.value[p[0]][1], p[1]))
    print(len(named.reduceByKey(lambda a, b: a + b, 2).collect()))


@job("cache.ineffective", workers=(2, 1, 1024), fixed=True, extra=["udo.cpu_bound", "compute.costly_expression"], question="Each step is quick to write and slow to run. Why?",
     note="six questions are asked of ratings that are read and parsed anew for each; without: persisted")
def explore_ratings(c):
    r = ratings(c).map(lambda p: (p[0], p[1], sum(int(d) for d in str(p[0] * 7919))))
    r = r if c.bad else r.persist()
    print(r.count(), r.map(lambda p: p[1]).mean(), r.map(lambda p: p[2]).max(), r.filter(lambda p: p[1] > 4).count())
    print(len(r.map(lambda p: (p[0], 1)).reduceByKey(lambda a, b: a + b, 4).collect()), r.map(lambda p: p[1]).countByValue())


@job("shuffle.redundant_repartition", workers=(2, 1, 1024), fixed=True, spark="4.0", also=["shuffle.late_filter", "udo.cpu_bound", "memory.spill"], extra=["gc.heap_pressure", "shuffle.unused_columns"], question="Does partitioning first help here?",
     note="trigrams are partitioned by themselves before they are counted, so that all of them are shuffled, not the counts; without: reduceByKey alone")
def partitioned_trigrams(c):
    g = c.sc.textFile(c.path("reviews"), 8).flatMap(lambda line: 3 * trigrams(line)).map(lambda t: (t, 1))
    counts = (g.partitionBy(8) if c.bad else g).reduceByKey(lambda a, b: a + b, 8)
    print(counts.filter(lambda p: p[1] > 90).count())


@job("allocation.under", workers=(2, 1, 1024), cluster=dict(bad=(1, 1, 1024)), extra=["udo.cpu_bound", "compute.costly_expression"], question="Would more executors help?",
     note="one executor of one core for sixteen even tasks of computation; without: two executors")
def one_core(c):
    def score(rows):
        total = 0
        for line in rows:
            for ch in line * 8:
                total = (total * 31 + ord(ch)) % 1000003
        yield total
    print(c.sc.textFile(c.path("reviews"), 16).mapPartitions(score).sum())


@job("failure.user_code", workers=(2, 1, 1024), fails=True, fixed=True, extra=["failure.vertex_retries"], also=["failure.input"], question="Why did it fail?",
     tables={"exports": lambda c: lines(c, "exports", c.rows(500_000, 8, film="cast({r} * 900 as int)", stars="case when id = 431234 then 'n/a' else cast(1 + cast({r} * 5 as int) as string) end"), 8)},
     note="a line without a number in a million lines of numbers: ValueError in the parser; without: such lines are left out")
def strict_parser(c):
    bad = c.bad

    def parse(line):
        v = line.split(",")
        try:
            return [(int(v[1]), float(v[2]))]
        except ValueError:
            if bad:
                raise
            return []
    r = c.sc.textFile(c.path("exports"), 8).flatMap(parse)
    for k in range(3):
        print(len(r.map(lambda p: (p[0] % (k + 2), p[1])).reduceByKey(lambda a, b: a + b, 4).collect()))


# Healthy jobs that look like a problem.


@job(workers=(2, 1, 1024), question=HEALTHY, extra=["udo.cpu_bound", "shuffle.late_filter"], note="groupByKey, but the whole list of each key is needed")
def rating_lists(c):
    def median(values):
        values = sorted(values)
        return values[len(values) // 2]
    films = ratings(c).map(lambda p: (p[0], p[1])).groupByKey(8).mapValues(median)
    films.map(lambda p: "%d,%.1f" % p).saveAsTextFile(os.path.join(c.out, "medians"))


@job(workers=(2, 1, 1024), question=HEALTHY, extra=["udo.cpu_bound", "cache.ineffective"], note="nothing is cached, but each RDD is used once")
def one_pass(c):
    v = visits(c).map(lambda v: (v[1], v[2])).reduceByKey(lambda a, b: a + b, 8)
    print(v.filter(lambda p: p[1] > 90_000).count())
    print(ratings(c).reduceByKey(lambda a, b: a + b, 8).count())


@job(workers=(2, 1, 1024), question=HEALTHY, extra=["udo.cpu_bound", "allocation.under"], looks=True, note="one output file of some hundred lines by coalesce(1) after the aggregation")
def one_small_file(c):
    sums = visits(c).map(lambda v: (v[0][:2], v[2])).reduceByKey(lambda a, b: a + b, 4)
    sums = sums.coalesce(1) if c.bad else sums
    sums.map(lambda p: "%s,%d" % p).saveAsTextFile(os.path.join(c.out, "sums"))
