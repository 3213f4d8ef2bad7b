"""MCP over HTTP: foreign pages, malformed and huge messages, too many sessions, storms of cancellations."""
import concurrent.futures
import json
import time

from .common import CASES, memory
from .models import Llm

MOST_SESSIONS = 64
ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


def message(id, method, **params):
    return json.dumps({"jsonrpc": "2.0", **({} if id is None else {"id": id}), "method": method, "params": params})


HELLO = message(1, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "attack", "version": "1"})


def begin(server):
    """The headers of a session that has begun; None if the server has no place for it."""
    status, headers, _ = server.ask("POST /mcp", ACCEPT, HELLO)
    if status != 200:
        return None
    session = {**ACCEPT, "mcp-session-id": headers["mcp-session-id"], "mcp-protocol-version": "2025-06-18"}
    server.ask("POST /mcp", session, message(None, "notifications/initialized"))
    return session


def answer(server, session, id, method, **params):
    """The message with which a request is answered."""
    _, _, text = server.ask("POST /mcp", session, message(id, method, **params), timeout=120)
    found = [json.loads(line[5:]) for line in text.splitlines() if line.startswith("data:") and line[5:].strip()]
    return next((m for m in found if m.get("id") == id), {"status": text[:300]})


def foreign(bench):
    """Foreign `Host` and `Origin`, other paths and methods: refused."""
    with bench.home().mcp() as server:
        own = server.name
        for host, origin, good in [
            (own, None, True), (f"localhost:{server.address[1]}", None, True), (own, f"http://{own}", True), ("evil.example", None, False), (f"evil.example:{server.address[1]}", None, False),
            ("127.0.0.1.evil.example", None, False), (f"{own}@evil.example", None, False), (own, "http://evil.example", False), (own, "null", False), (own, f"https://{own}.evil.example", False),
            (own, "http://", False), (own, "x", False), (f"[::1]evil:{server.address[1]}", None, False), ("", None, False), (f"localhost:{server.address[1]}x", None, False), ("0x7f.1", None, False),
        ]:
            status = server.ask("POST /mcp", {**ACCEPT, "host": host, **({"origin": origin} if origin else {})}, HELLO)[0]
            bench.expect((status == 200) == good and status != 0, f"Host {host!r}, Origin {origin!r}: {status}")
        twice = server.raw(f"POST /mcp HTTP/1.1\r\nHost: {own}\r\nHost: evil.example\r\nAccept: {ACCEPT['accept']}\r\nContent-Type: application/json\r\nContent-Length: {len(HELLO)}\r\n\r\n{HELLO}".encode())
        bench.expect(twice[9:12] in (b"400", b"403"), f"two hosts: {twice[:20]}")
        for line in ["GET /", "POST /", "GET /mcp", "DELETE /mcp", "PUT /mcp", "POST /mcp/x", "POST //mcp", "OPTIONS /mcp"]:
            status, headers, _ = server.ask(line, ACCEPT, HELLO if line.startswith("P") else None)
            bench.expect(status in (400, 401, 404, 405, 406, 415, 422) and "access-control-allow-origin" not in headers, f"{line}: {status}")
        bench.expect(begin(server) and not server.panicked(), "no session afterwards")


def malformed(bench):
    """Messages that are no JSON, deep, huge, of wrong types, of other sessions; calls outside the roots."""
    with bench.home().mcp() as server:
        session = begin(server)
        bodies = ["", "{", "[]", "null", "0", '"x"', "[" * 100_000, '{"a":' * 50_000, "\0", "\ud7ff", HELLO * 2, json.dumps([json.loads(HELLO)] * 1000), '{"jsonrpc":"1.0","id":1,"method":"ping"}',
                  '{"jsonrpc":"2.0","id":{},"method":"ping"}', '{"jsonrpc":"2.0","id":1e400,"method":"ping"}', '{"jsonrpc":"2.0","method":5}', message(2, "x" * 100_000), message(3, "tools/call", name="analyze_job"),
                  message(4, "tools/call", name="analyze_job", arguments={"job": {"$ref": "#"}}), message(5, "tools/call", name="analyze_job", arguments=[1]), " " * (2 << 20), message(6, "resources/read", uri="file:///etc/passwd")]
        for body in bodies:
            for headers in [session, ACCEPT]:
                status, _, text = server.ask("POST /mcp", headers, body)
                bench.expect(status in (0, 200, 202, 400, 404, 406, 413, 415, 422, 500) and "root:x:0" not in text, f"{body[:60]!r}: {status}")
        for _ in range(100):
            changed = bytearray(message(9, "tools/call", name="read_job_file", arguments={"job": "healthy/job", "file": "scope.script"}).encode())
            for _ in range(bench.random.randrange(1, 6)):
                changed[bench.random.randrange(len(changed))] = bench.random.randrange(256)
            status, _, text = server.ask("POST /mcp", session, bytes(changed))
            bench.expect(status in (200, 202, 400, 413, 415, 422) and "root:x:0" not in text, f"{bytes(changed)!r}: {status}")
        outside = ["/etc", "..", "../..", "/proc/self", "healthy/../../../..", "file:///etc/passwd", "\0", "s3://bucket/x", "http://127.0.0.1:1/history/x", "~", "healthy/job/../../../../etc"]
        for id, job in enumerate(outside, 100):
            for tool, more in [("analyze_job", {}), ("read_job_file", {"file": "passwd"}), ("inspect_job", {}), ("read_job_file", {"job": "join-hot-key-skew/job", "file": job + "/passwd"})]:
                text = json.dumps(answer(server, session, id * 10, "tools/call", name=tool, arguments={"job": job, **more}))
                bench.expect("root:x:0" not in text and ("error" in text.lower()), f"{tool} {job}: {text[:200]}")
        for forged in ["", "x", session["mcp-session-id"][:-1], "../" + session["mcp-session-id"], "x" * 5000]:
            status = server.ask("POST /mcp", {**session, "mcp-session-id": forged}, message(10, "tools/list"))[0]
            bench.expect(status in (400, 401, 404, 422, 431), f"session {forged[:40]!r}: {status}")
        bench.expect("result" in answer(server, session, 11, "tools/list"), "the session does not go on")
        bench.expect(not server.panicked(), "it panicked")
        bench.expect(memory(server.process.pid) < 600 << 20, f"{memory(server.process.pid) >> 20} MiB")


def sessions(bench):
    """300 clients begin sessions at once: no more than 64 exist, and a client that had one keeps it."""
    with bench.home().mcp() as server:
        first = begin(server)
        with concurrent.futures.ThreadPoolExecutor(50) as pool:
            got = [s for s in pool.map(lambda _: begin(server), range(300)) if s]
        bench.attempts += 299
        bench.expect(len(got) + 1 <= MOST_SESSIONS, f"{len(got) + 1} sessions at once")
        bench.expect("result" in answer(server, first, 2, "tools/list"), "the first client lost its session")
        for session in got:
            server.ask("DELETE /mcp", session)
        end = time.monotonic() + 10
        again = None
        while not again and time.monotonic() < end:
            again = begin(server)
        bench.expect(again, "ended sessions leave no place")
        bench.expect(not server.panicked(), "it panicked")
        return f"{len(got) + 1} sessions"


def cancels(bench):
    """200 analyses that wait for a slow LLM are cancelled, twice, or their client leaves: the places become free."""
    home = bench.home()
    with Llm(bench, delay=30) as llm:
        llm.configure(home)
        with home.server("mcp", "--http", "127.0.0.1:0", "--root", CASES) as server:
            sessions = [s for s in (begin(server) for _ in range(8)) if s]

            def one(number):
                session = sessions[number % len(sessions)]
                call = message(1000 + number, "tools/call", name="analyze_job", arguments={"job": "healthy/job" if number % 2 else "late-filter/job"})
                server.ask("POST /mcp", session, call, timeout=0.2 + number % 5 * 0.2)
                for _ in range(1 + number % 2):
                    server.ask("POST /mcp", session, message(None, "notifications/cancelled", requestId=1000 + number, reason="attack"))
                return 1

            with concurrent.futures.ThreadPoolExecutor(32) as pool:
                bench.attempts += sum(pool.map(one, range(200))) - 1
            llm.delay = 0
            end, worked = time.monotonic() + 60, False
            while not worked and time.monotonic() < end:
                done = answer(server, sessions[0], 5000 + int(time.monotonic() * 100) % 1000, "tools/call", name="analyze_job", arguments={"job": "late-filter/job", "reasoner": "offline"})
                worked = done.get("result", {}).get("isError") is not True and "result" in done
            bench.expect(worked, f"the places stay taken: {str(done)[:300]}")
            bench.expect(not server.panicked(), "it panicked")
    running = [run for run in home.check_store("after cancellations") if run["status"] == "running"]
    bench.expect(not running, f"{len(running)} runs pretend to run")


PART = [("MCP over HTTP: `Host`, `Origin`, paths", foreign), ("MCP over HTTP: messages", malformed), ("MCP over HTTP: sessions", sessions), ("MCP over HTTP: cancellations", cancels)]
