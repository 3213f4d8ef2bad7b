"""Signal 9 inside writes, and jumps of the clock. A preloaded library counts the writes below a folder and, at the chosen one, does half of it
and kills the process inside the call, so each kill is known to have landed in a write."""
import collections
import json
import os
import re
import shutil
import subprocess
import time

from .common import CASES, Skip, program_of

JOBS = ["healthy", "join-hot-key-skew", "late-filter"]
HERE = os.path.dirname(os.path.abspath(__file__))


def shim(bench):
    """The library to preload, compiled once."""
    library = bench.work / "shim.so"
    if not library.is_file():
        compiler = program_of("cc")
        done = subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, f"{HERE}/shim.c", "-ldl"], capture_output=True, text=True)
        if done.returncode:
            raise Skip(f"the C compiler fails: {done.stderr[:200]}")
    return str(library)


class Killer:
    """Runs a command many times, killing each run inside a random one of its writes below a folder."""

    def __init__(self, bench, home, under, *line):
        self.bench, self.home, self.line = bench, home, line
        self.log = home.folder / "writes.log"
        self.preload = {"LD_PRELOAD": shim(bench), "ATTACK_UNDER": str(under), "ATTACK_LOG": str(self.log)}
        self.landed, self.rounds = collections.Counter(), 0

    def environment(self, at=-1):
        self.log.unlink(missing_ok=True)
        return {**self.preload, "ATTACK_KILL_AT": str(at)}

    def reports(self):
        return [line.split(" ", 2) for line in self.log.read_text().splitlines()] if self.log.is_file() else []

    def writes(self):
        """How often the command writes, from one undisturbed run."""
        done = self.home.run(*self.line, env=self.environment(), timeout=300)
        assert done.returncode == 0, done.stderr
        return self.counted()

    def counted(self):
        """Writes of the last run, if it was not killed."""
        return max((int(at) for what, at, _ in self.reports() if what == "writes"), default=0)

    def rounds_of(self, rounds, check, before=lambda: None):
        before()
        most = self.writes()
        self.bench.expect(most > 0, f"{self.line} writes nothing")
        # a run that finds the work of a killed one has fewer writes, and may end before its kill
        for _ in range(4 * rounds):
            if self.landed.total() == rounds:
                break
            before()
            at = self.bench.random.randint(1, max(most * 9 // 10, 1))
            self.home.run(*self.line, env=self.environment(at), timeout=300)
            self.note()
            check(f"after a kill in write {at} of {most}: {self.reports()[-1:]}")
            most = self.counted() or most
        self.conclude(rounds)

    def note(self):
        self.rounds += 1
        for what, _, path in self.reports():
            if what != "writes":
                self.landed[f"{what} {kind(path)}"] += 1
                break

    def conclude(self, wanted):
        landed = self.landed.total()
        self.bench.expect(landed >= wanted, f"only {landed} of {self.rounds} kills landed in a write: {dict(self.landed)}")
        calls = collections.Counter(name.split()[0] for name in self.landed.elements())
        self.bench.note(f"{landed} of {self.rounds} kills inside a write ({', '.join(f'{n} {c}' for c, n in calls.most_common(4))})")


def kind(path):
    return os.path.basename(re.sub(r"[0-9A-Z]{26}|[0-9a-f]{16,}|\d+", "N", path))


def analyze(bench):
    """Killed analyses: the store is whole, earlier runs stay, and no run pretends to be running."""
    home = bench.home()
    kept = {json.loads(home.analyze(CASES / "join-hot-key-skew/job").stdout)["run_id"]}
    killer = Killer(bench, home, home.data, "analyze", CASES / "join-hot-key-skew/job", "--reasoner", "offline", "--quiet")

    def check(when):
        runs = {run["run_id"]: run["status"] for run in home.check_store(when)}
        bench.expect(kept <= set(runs) and "running" not in runs.values(), f"{when}: {set(runs.values())}, lost {kept - set(runs)}")

    killer.rounds_of(60, check)
    done = home.analyze(CASES / "join-hot-key-skew/job")
    bench.expect(json.loads(done.stdout)["run_id"], f"no run is saved after kills: {done.stderr}")
    for run, status in [(run["run_id"], run["status"]) for run in home.check_store("after all kills")][:20]:
        if status == "finished":
            home.survives("runs", "show", run, "--format", "json", statuses={0})


def feedback(bench):
    """Killed feedback: either the opinion before or the one after, never none."""
    home = bench.home()
    home.analyze(CASES / "join-hot-key-skew/job")
    home.run("feedback", "last", "ignore", "S1", "--note", "before")
    killer = Killer(bench, home, home.data, "feedback", "last", "accept", "S1", "--note", "after")

    def check(when):
        home.check_store(when)
        done = home.run("runs", "export", "last")
        import sqlite3

        with sqlite3.connect(home.data / "runs.sqlite") as store:
            rows = store.execute("SELECT count(*) FROM feedback").fetchone()[0]
        store.close()
        bench.expect((done.returncode, rows) == (0, 1), f"{when}: {rows} opinions, {done.stderr}")

    killer.rounds_of(60, check, lambda: home.run("feedback", "last", "ignore", "S1", "--note", "before"))


def index(bench):
    """Killed updates and rebuilds of the index: it opens, verifies, and answers with the old or the new generation."""
    home = bench.home()
    knowledge, folder = home.folder / "knowledge/experience", home.folder / "index"
    knowledge.mkdir(parents=True)
    (knowledge / "fixed.md").write_text("# Fixed\n\n## Cause\n\nA hot key makes one vertex slow.\n")
    where = ["--knowledge", home.folder / "knowledge", "--index", folder]
    version = iter(range(10**6))

    def change():
        (knowledge / "note.md").write_text(f"# Note\n\n## Fix\n\nversion{next(version)}x helps against skew.\n")

    def check(when):
        done = home.run("index", "verify", *where)
        bench.expect(done.returncode == 0, f"{when}: {done.stdout}{done.stderr}")
        done = home.run("search", "hot key", *where)
        bench.expect(done.returncode == 0 and "Fixed" in done.stdout + done.stderr, f"{when}: {done.stderr}")

    change()
    home.run("index", *where)
    Killer(bench, home, folder, "index", *where).rounds_of(40, check, change)
    Killer(bench, home, folder, "index", "--full", *where).rounds_of(20, check, change)
    change()
    home.survives("index", *where, statuses={0})
    meta = (folder / "meta.json").read_text().replace("-", "")
    left = [p.name for p in folder.iterdir() if p.suffix and p.name != "meta.json" and p.name.split(".")[0].replace("-", "") not in meta]
    bench.expect(not left, f"files of killed writers stay: {left}")


def batch(bench):
    """Killed batches and their reports: every result is whole, and a further call completes exactly the rest."""
    home = bench.home()
    jobs, store = [CASES / name / "job" for name in JOBS[1:]], home.folder / "store"
    run = ["batch", "run", *jobs, "--out", store, "--workers", "1", "--reasoner", "offline", "--quiet"]
    home.run(*run, timeout=300)
    whole = {p.name: p.read_bytes() for p in (store / "results").rglob("*.json")}
    bench.expect(len(whole) == len(jobs), f"{len(whole)} results")

    def results():
        return {p.name: p.read_bytes() for p in (store / "results").rglob("*.json")}

    def check(when):
        found = results()
        wrong = [name for name, content in found.items() if whole.get(name) != content]
        bench.expect(not wrong, f"{when}: {wrong} differ")

    killer = Killer(bench, home, store, *run)
    killer.rounds_of(25, check, lambda: shutil.rmtree(store, ignore_errors=True))
    # Kill after kill on one store, until it is complete.
    shutil.rmtree(store, ignore_errors=True)
    for _ in range(5):
        home.run(*run, env=killer.environment(bench.random.randint(1, 6)))
    home.survives(*run, statuses={0}, timeout=300)
    bench.expect(results() == whole, "the completed store differs")
    report = ["batch", "report", store, "--quiet"]
    Killer(bench, home, store / "report", *report).rounds_of(15, check)
    home.survives(*report, statuses={0})
    page = (store / "report/index.html").read_text()
    bench.expect(page.rstrip().endswith("</html>"), "the page is cut off")


def fix(bench):
    """Killed while a fix is applied: the script is the old or the new one, and a whole copy of the old one exists."""
    home = bench.home()
    job = home.folder / "job"

    def fresh():
        shutil.rmtree(job, ignore_errors=True)
        shutil.copytree(CASES / "late-filter/job", job)

    fresh()
    report = json.loads(home.analyze(job).stdout)
    old = (job / "scope.script").read_bytes()
    suggestions = [s["id"] for s in report["suggestions"] if home.run("fix", "last", s["id"]).stdout.startswith("--- ")]
    if not bench.expect(suggestions, "no suggestion has a diff"):
        return
    line = ["fix", "last", suggestions[0], "--write"]
    home.run(*line)
    new = (job / "scope.script").read_bytes()
    bench.expect(new != old, "the fix changes nothing")

    def check(when):
        now = (job / "scope.script").read_bytes()
        bench.expect(now in (old, new), f"{when}: the script has {len(now)} bytes, before {len(old)}, after {len(new)}")
        copies = [p.read_bytes() for p in job.iterdir() if p.is_file() and "script" in p.name]
        bench.expect(old in copies, f"{when}: the old script is lost")

    Killer(bench, home, job, *line).rounds_of(20, check, fresh)


def serve(bench):
    """Killed servers during analyses, feedback and uploads: the next one opens the store, and nothing runs on in it."""
    home = bench.home()
    killer = Killer(bench, home, home.data)

    def session(at):
        """Analyzes, gives feedback and uploads until the server dies. Returns whether all of it was done."""
        with home.serve(env=killer.environment(at)) as server:
            try:
                token = server.token()
                run = server.start_analysis("join-hot-key-skew/job", token)
                server.wait_for(run, 60)
                server.post(f"{run}/feedback", token=token, suggestion="S1", action="accept")
                server.post(f"{run}/ask", token=token, question="Where does the time go?")
                _, headers, _ = server.upload(token, [("job/scope.script", b"x = SELECT a FROM b;\n" * 1000), ("job/Error", b"{}")])
                server.wait_for(headers["location"], 60)
            except (AttributeError, TypeError, KeyError, OSError):
                return False
            server.process.terminate()
            return server.process.wait(30) == 0

    bench.expect(session(-1), "the undisturbed session fails")
    most = max(int(at) for what, at, _ in killer.reports() if what == "writes")
    for _ in range(30):
        at = bench.random.randint(1, most)
        try:
            session(at)
        except AssertionError:
            pass  # it died before it served
        killer.note()
        when = f"after a kill in write {at} of {most}"
        runs = home.check_store(when)
        bench.expect(all(run["status"] != "running" for run in runs), f"{when}: a run pretends to be running")
    killer.conclude(killer.rounds / 2)
    bench.expect(session(-1), "the session after all kills fails")
    uploads = list((home.data / "uploads").iterdir())
    bench.note(f"{len(uploads)} uploads left")


def clocks(bench):
    """The wall clock jumps by hours and years, once or all the time, while commands run."""
    home = bench.home()
    home.analyze(CASES / "late-filter/job")
    year, library = 365 * 86400, shim(bench)
    for jump, how in [(-3600, {"AT": 5}), (3600, {"AT": 5}), (-year, {"AT": 1}), (year * 60, {"AT": 1}), (-year * 56, {"AT": 3}), (-7200, {"EVERY": 3}), (year, {"EVERY": 1})]:
        env = {"LD_PRELOAD": library, "ATTACK_JUMP": str(jump), **{f"ATTACK_JUMP_{name}": str(value) for name, value in how.items()}}
        done = home.survives("analyze", CASES / "join-hot-key-skew/job", "--reasoner", "offline", "--format", "json", statuses={0}, env=env)
        if done.returncode == 0:
            bench.expect(json.loads(done.stdout)["run_id"], f"jump of {jump} s: the run is not saved: {done.stderr}")
        for line in [["runs", "list"], ["feedback", "last", "accept", "S1"], ["feedback", "effect"], ["search", "skew"], ["index", "info"]]:
            home.survives(*line, statuses={0}, env=env)
        store = home.folder / f"store{jump}{len(how)}{bench.attempts}"
        home.survives("batch", "run", CASES / "late-filter/job", "--out", store, "--reasoner", "offline", statuses={0}, env=env, timeout=180)
        with home.serve(env=env) as server:
            page = server.wait_for(server.start_analysis("late-filter/job"), 60)
            bench.expect('class="report' in page and server.lives(), f"jump of {jump} s: serve has no report")
    runs = home.check_store("after jumps of the clock")
    bench.expect(runs and all(run["status"] == "finished" for run in runs), f"{[run['status'] for run in runs]}")


PART = [
    ("kill -9 inside writes: analyze", analyze), ("kill -9 inside writes: feedback", feedback), ("kill -9 inside writes: index", index),
    ("kill -9 inside writes: batch", batch), ("kill -9 inside writes: fix", fix), ("kill -9 inside writes: serve", serve), ("jumps of the clock", clocks),
]
