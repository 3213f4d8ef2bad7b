"""Code shared by all jobs: the declaration of a job, its environment, and ways to disturb its executors."""
import gzip
import os
import random
import signal
import threading
import time

from pyspark.sql import functions as F

JOBS = {}
SHARED = {}
HEALTHY = "Is anything wrong with this application?"


def job(cause=None, tables=None, spark="3.5", workers=(2, 2, 1024), conf=None, bad=None, good=None, also=(), extra=(), question=None, note="",
        verdict=None, fixed=False, fixed_extra=(), resource_only=False, cluster=None, pair=True, fails=None, timed=False, looks=False, local=None):
    """Declares a job.  `bad` and `good` are settings of the side with and without the cause; `also` are codes that name the same
    cause, `extra` codes that are neither right nor wrong; `fixed` keeps the log of the side without the cause as a healthy one.
    `fails`: the side with the cause ends with an error.  `timed`: both sides always take the same time (a stream).
    `looks`: a healthy job; its `bad` side only looks like a problem; both sides run to show that.  `local`: cores in one process."""

    def add(run):
        JOBS[run.__name__] = dict(
            name=run.__name__, run=run, cause=cause, tables=tables or {}, spark=spark, workers=workers, conf=conf or {}, bad=bad or {},
            good=good or {}, also=list(also), extra=list(extra), question=question or "Why is this application slow?", note=note,
            verdict=verdict or ("problem" if cause else "healthy"), fixed=fixed, resource_only=resource_only,
            cluster=dict(cluster or {}, local=local) if local else cluster, fixed_extra=list(fixed_extra), timed=timed,
            fails=fails if fails is not None else cause is not None and not pair, pair=pair and (cause is not None or looks))
        return run

    return add


def shared(**tables):
    """Declares tables that all jobs of a set read."""
    SHARED.update(tables)


class Context:
    """Environment of a job: the session, its seeded random numbers, its tables, and whether this side has the cause."""

    def __init__(self, spark, folder, out, bad, seed):
        self.spark, self.sc, self.folder, self.out, self.seed = spark, spark.sparkContext, folder, out, seed
        self.random, self._bad, self.asked_side = random.Random(seed), bad, False
        self._stop = threading.Event()

    @property
    def bad(self):
        self.asked_side = True
        return self._bad

    def path(self, name):
        own = os.path.join(self.folder, name)
        return own if name not in SHARED or os.path.exists(own) else os.path.join(os.path.dirname(os.path.dirname(self.folder)), "shared", name)

    def table(self, name):
        return self.spark.read.parquet(self.path(name))

    def views(self, *names):
        for name in names:
            self.table(name).createOrReplaceTempView(name)

    def sql(self, text):
        return self.spark.sql(text)

    def save(self, frame, name, **options):
        frame.write.mode("overwrite").parquet(os.path.join(self.out, name), **options)

    def rows(self, n, files=8, **columns):
        """A frame of n rows; each column is an SQL expression over `id`; {r} becomes a seeded random number in [0, 1)."""
        frame = self.spark.range(0, n, 1, files)
        for i, (name, text) in enumerate(columns.items()):
            frame = frame.withColumn(name, F.expr(text.replace("{r}", "rand(%d)" % (self.seed * 100 + i))))
        return frame

    def executor(self, number):
        """The process of an executor of this application, or None."""
        app = self.sc.applicationId
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/cmdline" % pid, "rb") as fh:
                    args = fh.read().decode("utf-8", "replace").split("\0")
            except OSError:
                continue
            if "--executor-id" in args and app in args and args[args.index("--executor-id") + 1] == str(number):
                return int(pid)
        return None

    def _background(self, act):
        threading.Thread(target=act, daemon=True).start()

    def once_done(self, tasks, act, stage=0):
        """Calls `act` in the background as soon as `tasks` tasks of the stage (or a later one) are done."""
        status = self.sc.statusTracker()

        def watch():
            while not self._stop.wait(.2):
                for i in status.getActiveStageIds():
                    info = status.getStageInfo(i)
                    if info and i >= stage and info.numCompletedTasks >= tasks:
                        return act()
        self._background(watch)

    def kill_executor(self, number, after):
        """Kills an executor `after` seconds from now, as a host that goes away would."""
        def act():
            if not self._stop.wait(after):
                pid = self.executor(number)
                if pid:
                    os.kill(pid, signal.SIGKILL)
        self._background(act)

    def hang_executor(self, number, seconds):
        """Stops an executor for good, like a hanging host; its remains disappear `seconds` later."""
        pid = self.executor(number)
        if pid:
            os.kill(pid, signal.SIGSTOP)
            self._stop.wait(seconds)
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def throttle_executor(self, number, share):
        """Lets an executor run only `share` of the time, as on an overloaded host."""
        def act():
            pid = None
            while not self._stop.is_set():
                pid = pid or self.executor(number)
                try:
                    if pid:
                        os.kill(pid, signal.SIGSTOP)
                    time.sleep(.4 * (1 - share))
                    if pid:
                        os.kill(pid, signal.SIGCONT)
                except ProcessLookupError:
                    return
                time.sleep(.4 * share)
        self._background(act)

    def quiet(self):
        self._stop.set()
        time.sleep(.5)


def text(words, of="id"):
    """An SQL expression: text that hardly compresses, 32 characters per word."""
    return "concat_ws('', %s)" % ", ".join("md5(concat(%s, '%d'))" % (of, i) for i in range(words))


def text_files(c, name, n, files, line, pattern="part-%05d.csv", share=None, large=0):
    """Writes n lines into text files; `share` is the part of all lines that the file with the number `large` has.  Files with
    names in .gz are compressed."""
    os.makedirs(c.path(name))
    of_large = int(n * share) if share else n // files
    of_others, at = (n - of_large) // (files - 1), 0
    for i in range(files):
        count = of_large if i == large else of_others
        path = os.path.join(c.path(name), pattern % i)
        with (gzip.open(path, "wt", 1) if path.endswith(".gz") else open(path, "w")) as fh:
            fh.writelines(line(at + k) + "\n" for k in range(count))
        at += count


def asks(key, every, ms):
    """A column that waits `ms` for each `every`-th row, inside the JVM: a call to a service that is not on this machine."""
    return F.expr("CASE WHEN pmod(xxhash64(%s), %d) = 0 THEN reflect('java.lang.Thread', 'sleep', CAST(%d AS BIGINT)) END" % (key, every, ms))


AQE_OFF = {"spark.sql.adaptive.enabled": "false"}


def partitions(n, **more):
    return {"spark.sql.shuffle.partitions": str(n), **more}
