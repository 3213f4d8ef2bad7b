#!/usr/bin/env python3
"""Measures how often findings are right, on simulated jobs with known causes.

    python3 crates/diagnosis/calibration/calibrate.py [--seeds 11 12 13] [--held-out 14] [--count 200]

Simulates sets of jobs (cargo run -p simulator --bin simulate-jobs), diagnoses them (the example
diagnose_jobs) and prints the table of `src/calibration.rs`: findings and right ones by cause and
by share of the run, over --seeds; then the expected calibration error of the confidences now in
force over --held-out, whose jobs the table has not seen.  Findings that the truth calls neither
right nor wrong (acceptable_extra) are left out.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import tempfile


def findings(folder, seed, count):
    jobs, reports = folder / f"jobs-{seed}", folder / f"reports-{seed}"
    run = lambda *args: subprocess.run(["cargo", "run", "--quiet", "--release", *args], check=True, stdout=subprocess.DEVNULL)
    run("-p", "simulator", "--bin", "simulate-jobs", "--", "--out", str(jobs), "--count", str(count), "--seed", str(seed))
    run("-p", "diagnosis", "--example", "diagnose_jobs", "--", str(jobs), str(reports))
    for path in sorted((jobs / "truth").glob("*.json")):
        truth = json.loads(path.read_text(encoding="utf-8"))
        report = json.loads((reports / path.name).read_text(encoding="utf-8"))
        right = {c["cause"] for c in truth["causes"]}
        for f in report["findings"]:
            if f["cause"] in right or f["cause"] not in truth["acceptable_extra"]:
                yield f, f["cause"] in right


def share_bin(finding):
    share = (finding["impact"] or {}).get("share_of_elapsed")
    return "no share" if share is None else "< 5 %" if share < 0.05 else "< 10 %" if share < 0.1 else ">= 10 %"


def calibration_error(pairs):
    bins = collections.defaultdict(list)
    for confidence, right in pairs:
        bins[min(9, int(confidence * 10))].append((confidence, right))
    return sum(abs(sum(c for c, _ in b) - sum(r for _, r in b)) for b in bins.values()) / max(1, len(pairs))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--seeds", type=int, nargs="+", default=[11, 12, 13])
    ap.add_argument("--held-out", type=int, default=14)
    ap.add_argument("--count", type=int, default=200)
    a = ap.parse_args()
    with tempfile.TemporaryDirectory() as t:
        folder = pathlib.Path(t)
        by_cause, by_share = collections.Counter(), collections.Counter()
        for seed in a.seeds:
            for f, right in findings(folder, seed, a.count):
                by_cause[f["cause"], right] += 1
                by_share[share_bin(f), right] += 1
        for table in (by_cause, by_share):
            for key in sorted({k for k, _ in table}):
                n = table[key, True] + table[key, False]
                print(f"{key:34} findings {n:4} right {table[key, True]:4}")
            print()
        held = [(f["confidence"], right) for f, right in findings(folder, a.held_out, a.count)]
        print(f"held-out seed {a.held_out}: {len(held)} findings, {sum(r for _, r in held)} right, "
              f"expected calibration error {calibration_error(held):.3f}")


if __name__ == "__main__":
    main()
