"""Disks that are full or can only be read, for every command that writes: an error or a warning, and a whole store when there is room again."""
import json
import os
import shutil

from .common import CASES, NOBODY, Home, Skip
from .inputs import Disk

SKEW = CASES / "join-hot-key-skew/job"


def full(bench):
    """A home on a small disk that is filled to the last page, and then freed."""
    with Disk(bench, 60 << 20) as folder:
        home = at(bench, folder)
        home.analyze(SKEW)
        for free in [0, 4 << 10, 32 << 10, 256 << 10, 1 << 20]:
            fill(folder, free)
            done = home.survives("analyze", SKEW, "--reasoner", "offline", "--format", "json", statuses={0})
            saved = json.loads(done.stdout or "{}").get("run_id")
            bench.expect(saved or "not saved" in done.stderr, f"{free} bytes free: no run and no warning: {done.stderr}")
            home.survives("feedback", "last", "accept", "S1", statuses={0, 1, 2, 3})
            home.survives("index", "--full", statuses={0, 1, 3}, timeout=300) if free < 32 << 10 else None
            home.survives("batch", "run", SKEW, "--out", folder / "store", "--reasoner", "offline", statuses={0, 1, 3}, timeout=180)
            home.survives("batch", "report", folder / "store", statuses={0, 1, 2, 3})
            home.survives("case", "from", "last", "--knowledge", folder / "knowledge", statuses={0, 1, 2, 3})
            home.survives("runs", "list", statuses={0})
            (folder / "filler").unlink()
            runs = home.check_store(f"after a disk with {free} bytes free")
            bench.expect(all(run["status"] != "running" for run in runs), f"{free} bytes free: a run pretends to be running")
            home.survives("index", "verify", statuses={0}, timeout=300)
            left = [p.name for p in (folder / "store").rglob("*.json") if not whole(p)]
            bench.expect(not left, f"{free} bytes free: {left} are cut off")
            shutil.rmtree(folder / "store", ignore_errors=True)
        served(bench, home, folder)


def at(bench, folder):
    """A home in a folder of a disk of its own."""
    shutil.copytree(bench.template, folder, symlinks=True, dirs_exist_ok=True)
    home = Home(bench, folder)
    if not os.path.ismount(folder):
        raise Skip("only root can mount a small disk; limits of file sizes are tested instead")
    return home


def fill(folder, free):
    """Fills a disk up to so many bytes."""
    room = os.statvfs(folder)
    with open(folder / "filler", "wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(room.f_bavail * room.f_frsize - free, 1))


def whole(path):
    try:
        json.loads(path.read_text())
    except ValueError:
        return False
    return True


def served(bench, home, folder):
    """`serve` on a full disk: analyses and uploads fail with a page that says why, and work again when there is room."""
    with home.serve() as server:
        token = server.token()
        fill(folder, 8 << 10)
        run = server.start_analysis("join-hot-key-skew/job", token)
        bench.expect(isinstance(run, str), f"analysis on a full disk: {run}")
        page = server.wait_for(run, 60) if isinstance(run, str) else ""
        bench.expect('class="progress"' not in page, "an analysis on a full disk does not end")
        status, _, text = server.upload(token, [("job/log", b"x" * 500_000)])
        bench.expect(status == 500 and "space" in text, f"upload on a full disk: {status} {text[-300:]}")
        bench.expect(not list((home.data / "uploads").iterdir()), "a failed upload stays")
        (folder / "filler").unlink()
        run = server.start_analysis("late-filter/job", token)
        page = server.wait_for(run) if isinstance(run, str) else str(run)
        bench.expect('class="report' in page and not server.panicked(), f"no analysis works when there is room again: {page[-600:]}")
    home.check_store("after serving on a full disk")


def readonly(bench):
    """A home on a disk that can only be read: reading works, writing is refused with a hint, an analysis is not saved and says so."""
    disk = Disk(bench, 60 << 20)
    with disk as folder:
        home = at(bench, folder)
        home.analyze(SKEW)
        if not disk.remount("ro"):
            raise Skip("the disk cannot be mounted again")
        tmp = {"TMPDIR": str(bench.work)}
        for line in [["runs", "list"], ["runs", "show", "last"], ["search", "spill"], ["index", "info"], ["index", "verify"], ["rules"], ["feedback", "effect"]]:
            home.survives(*line, statuses={0}, env=tmp)
        done = home.survives("analyze", SKEW, "--reasoner", "offline", "--format", "json", statuses={0}, env=tmp)
        bench.expect("not saved" in done.stderr and json.loads(done.stdout)["run_id"] == "", f"the run has an id: {done.stderr}")
        for line in [["feedback", "last", "accept", "S1"], ["runs", "delete", "last"], ["index", "--full"], ["batch", "run", SKEW, "--out", folder / "store"], ["case", "from", "last"]]:
            home.survives(*line, statuses={1, 2, 3}, env=tmp, timeout=300)
        home.survives("serve", "--address", "127.0.0.1:0", statuses={1, 3}, env=tmp, said="error")
        disk.remount("rw")
        bench.expect(len(home.check_store("after a read-only disk")) == 1, "the run is lost")


PART = [("full disks", full), ("read-only disks", readonly)]
