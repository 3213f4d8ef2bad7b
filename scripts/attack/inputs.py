"""Hostile files: bombs, archives that reach out of their folder, and inputs that are no whole job."""
import contextlib
import gzip
import io
import json
import os
import pathlib
import re
import resource
import shutil
import struct
import tarfile
import zipfile
import zlib

from .common import CASES, NOBODY, memory

HOT_KEY = CASES / "spark-join-hot-key/app-20261122005702-0000.zstd"
STAR_JOIN = CASES / "spark-star-join/app-20261122012010-0000"
SCOPE = CASES / "join-hot-key-skew/job"
START = b'{"Event":"SparkListenerLogStart","Spark Version":"3.5.6"}\n'
MOST_MEMORY = 700 << 20
SECONDS = 60


def zstd(blocks, window=None):
    """A frame of zstd from raw pieces and (byte, count) runs; `window` is the logarithm of its window."""
    out = bytearray(b"\x28\xb5\x2f\xfd\x00" + bytes([(window or 17) - 10 << 3]))
    sizes = []
    for block in blocks:
        if isinstance(block, bytes):
            sizes += [(0, len(block), block)]
        else:
            byte, count = block
            sizes += [(1, min(count - at, 1 << 17), byte) for at in range(0, count, 1 << 17)]
    for at, (kind, size, content) in enumerate(sizes):
        out += struct.pack("<I", size << 3 | kind << 1 | (at == len(sizes) - 1))[:3] + content
    return bytes(out)


def tar(entries):
    """An archive of (name, content or fields of the header)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, content in entries:
            info = tarfile.TarInfo(name)
            if isinstance(content, bytes):
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
            else:
                for field, value in content.items():
                    setattr(info, field, value)
                archive.addfile(info)
    return out.getvalue()


def zipped(entries, link=()):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (0o120777 if name in link else 0o100644) << 16
            archive.writestr(info, content)
    return out.getvalue()


def overlapping_zip(copies, size):
    """Many entries of the list share one compressed file, so that the archive expands without growing."""
    packed = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = packed.compress(b"\n" * size) + packed.flush()
    head = struct.pack("<IHHHHHIIIHH", 0x04034B50, 20, 0, 8, 0, 0, zlib.crc32(b"\n" * size), len(data), size, 1, 0) + b"a" + data
    listed = b"".join(
        struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 20, 20, 0, 8, 0, 0, zlib.crc32(b"\n" * size), len(data), size, 4, 0, 0, 0, 0, 0, 0)
        + f"{n:04}".encode() for n in range(copies)
    )
    return head + listed + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, copies, copies, len(listed), len(head), 0)


def scope_files(folder="job/"):
    return [(folder + f.name, f.read_bytes()) for f in sorted(SCOPE.iterdir()) if f.is_file()]


def hostile_archives():
    """Archives by name, each with the statuses that are right."""
    script = b"x = SELECT a FROM b;\n"
    for name in ["../escaped", "/tmp/attack-escaped", "a/../../escaped", "..\\escaped", "a/\0b", "x" * 300, "a/" * 40 + "deep", "a\nb/c"]:
        yield f"tar with {name[:20]!r}", "tar", tar([(name.replace("\0", ""), script)]), {0, 3}
        yield f"zip with {name[:20]!r}", "zip", zipped([(name.replace("\0", ""), script)]), {0, 3}
    link = {"type": tarfile.SYMTYPE, "linkname": "/tmp"}
    yield "file through a link", "tar", tar([("l", link), ("l/attack-escaped", script)]), {0, 3}
    yield "link to itself", "tar", tar([("l", {"type": tarfile.SYMTYPE, "linkname": "l"}), ("s.script", script)]), {0}
    yield "hard link to a secret", "tar", tar([("s.script", script), ("h", {"type": tarfile.LNKTYPE, "linkname": "/etc/passwd"})]), {0}
    yield "link in a zip", "zip", zipped([("s.script", script), ("l", b"/etc/passwd")], link=["l"]), {0}
    devices = [("d", {"type": tarfile.CHRTYPE, "devmajor": 1, "devminor": 5}), ("p", {"type": tarfile.FIFOTYPE}), ("s.script", script)]
    yield "device and pipe", "tar", tar(devices), {0}
    yield "same name twice", "tar", tar([("s.script", script), ("s.script", script * 2), ("s.script/x", script)]), {0, 3}
    yield "20,000 files", "tar", tar([(f"f{n}", b"") for n in range(20_000)]), {3}
    yield "20,000 files in a zip", "zip", zipped([(f"f{n}", b"") for n in range(20_000)]), {3}
    yield "archive in archive", "zip", zipped([("inner.zip", zipped(scope_files()))]), {0, 3}
    huge = bytearray(tar([("s.script", script)]))
    huge[124:136] = b"\x80\0\0\0" + b"\x7f" + b"\xff" * 7
    yield "entry of 2^63 bytes", "tar", bytes(huge), {3}
    lying = bytearray(zipped([("s.script", script * 1000)]))
    at = lying.find(b"PK\x01\x02")
    lying[at + 24:at + 28] = b"\x01\0\0\0"
    yield "zip that lies about sizes", "zip", bytes(lying), {0, 3}
    yield "half an archive", "tar.gz", gzip.compress(tar(scope_files()))[:5000], {3}
    yield "no archive", "zip", os.urandom(5000), {3}
    yield "overlapping entries", "zip", overlapping_zip(5000, 20_000_000), {3}
    yield "bomb of gzip", "tar.gz", gzip.compress(tar([("log", b"\n" * 300_000_000)])), {3}
    yield "bomb of zstd", "tar.zst", zstd([tar([("log", {"size": 7 << 30})])[:512], (b"\n", 7 << 30)]), {3}


def archives(bench):
    """Archives that write outside, fill the disk, or are broken: refused or read, nothing stays, nothing is outside."""
    home = bench.home()
    small = Disk(bench, 64 << 20)
    with small as disk:
        for name, ending, content, statuses in hostile_archives():
            archive = home.folder / f"hostile.{ending}"
            archive.write_bytes(content)
            done = home.survives("analyze", archive, "--no-store", "--format", "json", statuses=statuses, env={"TMPDIR": str(disk)}, timeout=SECONDS)
            left = [str(p) for p in disk.rglob("*") if p.is_file()]
            bench.expect(not left, f"{name}: {left[:3]} stay")
            secret = "root:x:0" in done.stdout + done.stderr
            bench.expect(not secret, f"{name}: the secret is in the report")
            outside = [p for p in (pathlib.Path("/tmp/attack-escaped"), home.folder / "escaped", bench.work / "escaped") if p.exists()]
            bench.expect(not outside, f"{name}: {outside} written")
            archive.unlink()
    return small.kind


class Disk:
    """A folder on a small disk; without root, a limit of nothing at all, as files of the program are limited instead."""

    def __init__(self, bench, size, readonly=False):
        self.folder = bench.work / f"disk-{bench.random.getrandbits(40)}"
        self.size, self.readonly = size, readonly
        self.kind = "on an ordinary disk"

    def __enter__(self):
        import subprocess

        self.folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={self.size},mode=0777", "tmpfs", str(self.folder)]
        if os.getuid() == 0 and subprocess.run(command, capture_output=True).returncode == 0:
            self.kind = f"on a disk of {self.size >> 10:,} KiB"
        return self.folder

    def remount(self, how):
        import subprocess

        done = subprocess.run(["mount", "-o", f"remount,{how}", str(self.folder)], capture_output=True)
        return done.returncode == 0

    @property
    def is_real(self):
        return self.kind.startswith("on a disk")

    def __exit__(self, *_):
        import subprocess

        if self.is_real:
            subprocess.run(["umount", "-l", str(self.folder)], capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)


def bombs(bench):
    """Compressed logs that expand to gigabytes: a report or a refusal in bounded time and memory."""
    home = bench.home()
    log = home.folder / "bomb"
    event = b'{"Event":"SparkListenerApplicationStart","App Name":"' + b"x" * 40 + b'","Timestamp":1,"User":"u"}\n'
    cases = {
        "8 GiB of newlines": zstd([START, (b"\n", 8 << 30)]),
        "8 GiB of one letter": zstd([START, (b"x", 8 << 30)]),
        "8 GiB in 64 frames": zstd([START]) + zstd([(b"\n", 128 << 20)]) * 64,
        "gzip of 2 GB": gzip.compress(START) + gzip.compress(b"\n" * 100_000_000) * 20,
        "gzip in gzip": gzip.compress(gzip.compress(gzip.compress(b"\n" * 50_000_000))),
        "a million events": gzip.compress(START + event * 1_000_000),
        "one line of 300 MB": gzip.compress(START + b'{"Event":"' + b"x" * 300_000_000),
        "window of 2 GiB": zstd([START], window=31),
        "deep JSON": START + b'{"Event":' + b"[" * 2_000_000,
        "half a frame": zstd([START, (b"\n", 1 << 20)])[:-2],
    }
    for name, content in cases.items():
        log.write_bytes(content)
        process = home.start("analyze", log, "--no-store", "--format", "json")
        peak, (out, err) = watch(process, SECONDS)
        bench.expect(process.returncode in (0, 3) and b"panicked" not in err, f"{name}: status {process.returncode}: {err[-400:]}")
        bench.expect(peak <= MOST_MEMORY, f"{name}: {peak >> 20} MiB")
    said = home.analyze(log)
    log.write_bytes(cases["window of 2 GiB"])
    said = home.analyze(log, "--no-store")
    bench.expect("2048 MiB" in said.stdout + said.stderr, f"the window is not named: {said.stdout[-300:]} {said.stderr}")


def watch(process, seconds):
    """Waits for a process, killing it after a time; returns its largest size in memory and what it said."""
    import threading

    timer = threading.Timer(seconds, process.kill)
    timer.start()
    peak = [0]

    def look():
        while process.poll() is None:
            with contextlib.suppress(OSError, AttributeError):
                peak[0] = max(peak[0], memory(process.pid))
            done.wait(0.02)

    done = threading.Event()
    looker = threading.Thread(target=look)
    looker.start()
    said = process.communicate()
    done.set()
    looker.join()
    timer.cancel()
    return peak[0], said


def said_in(report):
    return "\n".join(f"{d.get('file') or ''}: {d['message']}" for d in report["diagnostics"])


def kinds(bench):
    """Input kinds that once were misread: each has the right engine, diagnostic or message."""
    home = bench.home()

    def analyzed(path, *flags):
        done = home.survives("analyze", path, "--no-store", "--reasoner", "offline", "--format", "json", *flags, statuses={0})
        return json.loads(done.stdout or "{}")

    job = home.folder / "rolled"
    parts = job / "eventlog_v2_app-1"
    parts.mkdir(parents=True)
    lines = STAR_JOIN.read_bytes().splitlines(keepends=True)
    thirds = [lines[:len(lines) // 3], lines[len(lines) // 3:2 * len(lines) // 3], lines[2 * len(lines) // 3:]]
    for n, third in enumerate(thirds, 1):
        (parts / f"events_{n}_app-1").write_bytes(b"".join(third))
    (parts / "appstatus_app-1").touch()
    (job / "enrich.py").write_text("df = spark.read.parquet('x')\n")
    (job / "query.script").write_text("x = SELECT a FROM b;\n")
    report = analyzed(job)
    bench.expect(report["job"].get("engine") == "spark", f"a folder with a rolled log and scripts: {report['job']}")

    middle = home.folder / "events_2_app-1"
    middle.write_bytes(b"".join(thirds[1]))
    report = analyzed(middle)
    bench.expect(re.search(r"from .* to ", said_in(report)), f"a middle part is not dated: {said_in(report)}")
    bench.expect(report["verdict"] != "healthy", f"a middle part is {report['verdict']}")

    for ending, content in [
        ("zip", zipped([*scope_files(), ("job/secret", b"/etc/passwd"), ("__MACOSX/job/._scope.script", b"x"), ("job/._Error", b"x")], ["job/secret"])),
        ("tar", tar([*scope_files(), ("job/secret", {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"}), ("__MACOSX/._job", b"x"), ("job/._Error", b"y")])),
    ]:
        archive = home.folder / f"job.{ending}"
        archive.write_bytes(content)
        report = analyzed(archive)
        bench.expect("secret" in said_in(report), f"{ending}: the link is not reported: {said_in(report)}")
        bench.expect("._" not in said_in(report) and "MACOSX" not in said_in(report), f"{ending}: {said_in(report)}")
        bench.expect(report["findings"], f"{ending}: no finding")

    copy = home.folder / "macos"
    shutil.copytree(SCOPE, copy)
    (copy / "__MACOSX").mkdir()
    for name in ["._scope.script", ".DS_Store", "__MACOSX/._Error"]:
        (copy / name).write_bytes(b"\0\5\x16\7")
    report = analyzed(copy)
    bench.expect("._" not in said_in(report) and ".DS_Store" not in said_in(report), f"files of macOS: {said_in(report)}")

    times(bench, home, analyzed)


def times(bench, home, analyzed):
    """Times that cannot be: a diagnostic, and no duration of centuries."""
    log = home.folder / "times"
    text = STAR_JOIN.read_text()
    last = max(int(t) for t in re.findall(r'"Timestamp":(\d{13})', text))
    for name, change in {
        "year 9999": lambda t: t.replace(f'"Timestamp":{last}', '"Timestamp":253370764800000'),
        "end before the start": lambda t: t.replace(f'"Timestamp":{last}', '"Timestamp":1000'),
        "negative times": lambda t: re.sub(r'"(Launch|Finish) Time":(\d)', r'"\1 Time":-\2', t),
        "one task of years": lambda t: re.sub(r'"Finish Time":(\d{13})', r'"Finish Time":9\1', t, count=1),
        "clock set back midway": lambda t: set_back(t, 3_600_000),
        "clock set forward midway": lambda t: set_back(t, -3_600_000),
        "all at once": lambda t: re.sub(r'Time":\d{13}', f'Time":{last}', t),
    }.items():
        log.write_text(change(text))
        report = analyzed(log)
        elapsed = report["job"].get("elapsed_seconds") or 0
        bench.expect(0 <= elapsed < 86400 * 30, f"{name}: {elapsed} s")
        if name in ("year 9999", "end before the start"):
            bench.expect("impossible times" in said_in(report), f"{name}: no diagnostic: {said_in(report)}")
            bench.expect(elapsed > 1, f"{name}: no duration")
        values = [v for v in numbers(report) if v < 0 or v > 1e15]
        bench.expect(not [v for v in values if v < -1e6], f"{name}: {values[:5]}")


def set_back(log, by):
    """The second half of a log with times of a clock that was changed."""
    half = len(log) // 2
    return log[:half] + re.sub(r'(Time(?:stamp)?"):(\d{13})', lambda m: f"{m[1]}:{int(m[2]) - by}", log[half:])


def numbers(value):
    if isinstance(value, dict):
        for inner in value.values():
            yield from numbers(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from numbers(inner)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield value


def unreadable(bench):
    """Each file and folder of a job in turn is unreadable for the user: it is named, and no problem becomes healthy."""
    home = bench.home()
    import json

    for path in [home.folder, *home.folder.rglob("*")]:
        os.chown(path, NOBODY, NOBODY) if os.getuid() == 0 else None
    job = home.folder / "job"
    shutil.copytree(CASES / "join-hot-key-skew/job", job)
    (job / "logs").mkdir()
    (job / "logs/Error").write_text("{}")
    everything = sorted(p for p in job.rglob("*"))
    for path in everything:
        mode = path.stat().st_mode
        path.chmod(0)
        done = home.survives("analyze", job, "--no-store", "--reasoner", "offline", "--format", "json", statuses={0}, user=NOBODY)
        path.chmod(mode)
        if done.returncode == 0:
            report = json.loads(done.stdout)
            bench.expect(path.name in said_in(report), f"{path.name} is not named: {said_in(report)}")
            bench.expect(report["verdict"] != "healthy", f"without {path.name} the job is healthy")
    job.chmod(0)
    home.survives("analyze", job, statuses={3}, user=NOBODY, said="job")
    home.survives("inspect", job, statuses={3}, user=NOBODY)
    home.survives("batch", "run", job, "--out", home.folder / "store", user=NOBODY)
    job.chmod(0o755)
    for folder in ["data/scopeagent", "config"]:
        path = home.folder / folder
        path.mkdir(exist_ok=True, parents=True)
        path.chmod(0)
        home.survives("analyze", job, "--reasoner", "offline", user=NOBODY, timeout=600)
        home.survives("runs", "list", user=NOBODY)
        path.chmod(0o755)
    return "as a normal user"


def limits(bench):
    """Limits of a file's size (SIGXFSZ) for every command that writes: status 1, or 0 where the result is on stdout."""
    home = bench.home()
    home.analyze(SCOPE)
    for size in [0, 1 << 10, 1 << 14, 1 << 17]:
        limit = {resource.RLIMIT_FSIZE: size}
        home.survives("analyze", SCOPE, "--reasoner", "offline", limits=limit, statuses={0})
        home.survives("feedback", "last", "accept", "S1", limits=limit, statuses={0, 1, 2, 3})
        home.survives("index", "--full", limits=limit, statuses={1, 3})
        home.survives("batch", "run", SCOPE, "--out", home.folder / f"store-{size}", limits=limit, statuses={0, 1, 3})
        home.survives("case", "from", "last", limits=limit, statuses={0, 1, 2, 3})
        home.check_store(f"after writes limited to {size}")
    home.run("index", "--full", timeout=300)
    home.survives("index", "verify", statuses={0})


PART = [
    ("archives", archives), ("compressed bombs", bombs), ("input kinds and impossible times", kinds), ("unreadable files", unreadable),
    ("limits of file sizes", limits),
]
