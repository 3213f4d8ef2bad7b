"""Checks a run of a job after it ended, as an Airflow task.

    from airflow.operators.python import PythonOperator
    PythonOperator(task_id="check", python_callable=check_run, op_args=["{{ var.value.job_folder }}"])

The task fails if the run breaks the budget. It sends the result to the webhook in SCOPEAGENT_NOTIFY.
"""

import json
import os
import subprocess
import sys
import urllib.request


class BudgetBroken(Exception):
    """The run is over its budget."""


def check_run(job, budget="time=20m,findings=high"):
    command = ["scopeagent", "analyze", job, "--budget", budget, "--baseline", "last-good", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 10, 11):
        raise RuntimeError(done.stderr)
    report = json.loads(done.stdout)
    result = {"job": job, "verdict": report["verdict"], "status": done.returncode, "checks": done.stderr.strip()}
    address = os.environ.get("SCOPEAGENT_NOTIFY")
    if address:
        headers = {"content-type": "application/json"}
        urllib.request.urlopen(urllib.request.Request(address, json.dumps(result).encode(), headers), timeout=20)
    if done.returncode == 10:
        raise BudgetBroken(done.stderr)
    return result


if __name__ == "__main__":
    try:
        print(json.dumps(check_run(sys.argv[1])))
    except BudgetBroken as broken:
        sys.exit(str(broken))
