"""Runs inside pyspark's environment: writes a job's tables, or runs one side of a job.  Called by make-spark-runs."""
import importlib
import json
import os
import sys

from pyspark.sql import SparkSession

import common


def session(name, conf):
    builder = SparkSession.builder.appName(name)
    for key, value in conf.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def write(frame, path):
    """Writes the frame of a declaration, unless the declaration wrote files itself."""
    if frame is not None:
        frame.write.parquet(path)


def prepare(args):
    """Writes the tables of jobs, for both sides where the sides differ."""
    spark = session("prepare", args["conf"])
    spark.sparkContext.setLogLevel("ERROR")
    shared = os.path.join(args["data"], "shared")
    for table, make in common.SHARED.items():
        if not os.path.lexists(os.path.join(shared, table)):
            write(make(common.Context(spark, os.path.join(shared, "of"), None, True, args["seed"])), os.path.join(shared, table))
    for name in args["jobs"]:
        for bad in (True, False):
            folder = os.path.join(args["data"], name, "bad" if bad else "good")
            if os.path.lexists(folder):
                continue
            os.makedirs(folder)
            c = common.Context(spark, folder, None, bad, args["seed"])
            for table, make in common.JOBS[name]["tables"].items():
                write(make(c), os.path.join(folder, table))
            if not c.asked_side:
                os.symlink("bad", os.path.join(args["data"], name, "good"))
                break
    spark.stop()


def run(args):
    spark = session(args["name"], args["conf"])
    spark.sparkContext.setLogLevel("ERROR")
    common.JOBS[args["name"]]["run"](common.Context(spark, args["tables"], args["out"], args["bad"], args["seed"]))
    spark.stop()


if __name__ == "__main__":
    request = json.loads(sys.argv[1])
    importlib.import_module(request["shapes"])
    if request["do"] == "list":
        print(json.dumps([{k: v for k, v in j.items() if k not in ("run", "tables")} for j in common.JOBS.values()]))
    elif request["do"] == "prepare":
        prepare(request)
    elif request["do"] == "hold":
        import time
        s = session("other", request["conf"])
        s.sparkContext.parallelize(range(4), 4).map(lambda x: time.sleep(.1)).count()
        print("holding", flush=True)
        time.sleep(request["seconds"])
        s.stop()
    else:
        run(request)
