"""The web page: slow and many clients, foreign pages, hostile uploads, forged sessions, storms of cancellations."""
import concurrent.futures
import contextlib
import gzip
import http.client
import json
import re
import shutil
import socket
import threading
import time

from . import inputs
from .common import CASES, memory
from .models import Llm

SCOPE = CASES / "join-hot-key-skew/job"
# A head must arrive within 30 s; then its connection is free again.
HEAD_SECONDS = 30
CONNECTIONS = 256


def hosts(bench):
    """Foreign and malformed `Host` and `Origin`: refused before anything is read."""
    good = ["{}", "localhost", "localhost:1", "LOCALHOST", "[::1]", "[::1]:80", "127.0.0.1", "127.1.2.3:9"]
    bad = [
        "evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "localhost:80@evil.example", "evil@127.0.0.1", "[::1]evil", "localhost:",
        "localhost:99999", "localhost:0x50", "localhost:+1", "localhost:80:80", "192.0.2.1", "0.0.0.0", "[::ffff:192.0.2.1]", "[fe80::1]", "2130706433",
        "0177.0.0.1", "127.1", "local host", "localhost/", "localhost#", "localhost?x", "\\localhost", "localhost%00", "local\tHost", "",
    ]
    origins = ["null", "http://evil.example", "https://localhost.evil.example", "http://{}.evil.example", "http://{}@evil.example", "file://", "x", "http://", "//{}"]
    with bench.home().serve() as server:
        get = lambda headers: server.raw(f"GET / HTTP/1.1\r\n{headers}\r\nConnection: close\r\n\r\n".encode())[9:12]
        for host in good:
            status = get(f"Host: {host.format(server.name)}")
            bench.expect(status == b"200", f"Host {host}: {status}")
        for host in bad:
            status = get(f"Host: {host}")
            bench.expect(status in (b"403", b"400"), f"Host {host}: {status}")
        for origin in origins:
            status = get(f"Host: {server.name}\r\nOrigin: {origin.format(server.name)}")
            bench.expect(status == b"403", f"Origin {origin}: {status}")
        for headers in ["X: y", f"Host: {server.name}\r\nHost: evil.example", f"Host: evil.example\r\nHost: {server.name}"]:
            status = get(headers)
            bench.expect(status in (b"400", b"403"), f"{headers!r}: {status}")
        status = server.raw(b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n")[9:12]
        bench.expect(status in (b"400", b"403"), f"absolute address: {status}")
        for path in ["//evil.example/x", "/\\evil.example", "//evil.example/%2e%2e"]:
            _, _, page = server.ask(f"GET {path}")
            links = re.findall(r'(?:href|action)="((?://|/\\)[^"]*)', page)
            bench.expect(not links, f"{path}: the page links to {links[:2]}")
        bench.expect(server.lives() and not server.panicked(), "the server ends")


def malformed(bench):
    """Requests that are no HTTP, too large, smuggled or random: an error or the end of the connection."""
    with bench.home().serve() as server:
        host = f"Host: {server.name}\r\n"
        form = f"POST /analyze HTTP/1.1\r\n{host}Content-Type: application/x-www-form-urlencoded\r\n"
        requests = [
            b"", b"\0" * 100, b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03" + bytes(200), b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET\r\n\r\n",
            f"GET /{'a' * 100_000} HTTP/1.1\r\n{host}\r\n".encode(), f"GET / HTTP/1.1\r\n{host}" .encode() + b"X: y\r\n" * 5000 + b"\r\n",
            f"{form}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /runs HTTP/1.1\r\n\r\n".encode(),
            f"{form}Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef".encode(), f"{form}Content-Length: -1\r\n\r\n".encode(),
            f"{form}Content-Length: 99999999999999999999\r\n\r\n".encode(), f"{form}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n".encode(),
            f"{form}Transfer-Encoding: chunked\r\n\r\n".encode() + b"10000\r\n" + b"x" * 65536 + b"\r\n" + b"10000\r\n" + b"x" * 65536 + b"\r\n0\r\n\r\n",
            f"{form}Content-Length: 200000\r\n\r\n".encode() + b"x" * 200_000, f"GET / HTTP/1.1\r\n{host}Range: bytes=0-{','.join(['0-1'] * 900)}\r\n\r\n".encode(),
        ]
        requests += [bench.random.randbytes(bench.random.randrange(1, 3000)) + b"\r\n\r\n" for _ in range(100)]
        good = f"GET /runs/x HTTP/1.1\r\n{host}Cookie: lang=en\r\n\r\n".encode()
        for _ in range(150):
            changed = bytearray(good)
            for _ in range(bench.random.randrange(1, 5)):
                changed[bench.random.randrange(len(changed))] = bench.random.randrange(256)
            requests.append(bytes(changed) + b"\r\n\r\n")
        for request in requests:
            with contextlib.closing(socket.create_connection(server.address, 20)) as stream, contextlib.suppress(OSError):
                stream.sendall(request)
                stream.shutdown(socket.SHUT_WR)
                answer = stream.recv(4096)
                bench.expect(not answer or answer[9:12] in (b"200", b"303", b"400", b"403", b"404", b"405", b"408", b"411", b"413", b"414", b"415", b"431", b"501"),
                             f"{request[:80]!r}: {answer[:80]!r}")
        for path in ["%00", "%ff%fe", "runs/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "static/..%2f..%2fetc/passwd", "static/%2fetc%2fpasswd", "batches/-1", "batches/99999999999999999999",
                     "runs/last/report/exe", "runs/x/file?name=%2fetc%2fpasswd", "compare?run=a&run=b&run=c", "?week=%00&cause=%ff&page=-1", "knowledge?q=" + "x" * 8000,
                     "knowledge/passage?id=../../etc/passwd"]:
            status, _, text = server.ask(f"GET /{path}")
            bench.expect(status in (200, 400, 404, 431) and "root:x:0" not in text, f"/{path}: {status}")
        bench.expect(server.lives() and not server.panicked(), "the server panicked or ended")


def slow(bench):
    """Clients that send a byte a second, never read, or hold connections: others are served meanwhile, and connections become free."""
    with bench.home().serve() as server, contextlib.ExitStack() as held:
        kinds = {
            "no byte": b"", "half a head": f"GET / HTTP/1.1\r\nHost: {server.name}\r\nX: ".encode(),
            "half a form": f"POST /analyze HTTP/1.1\r\nHost: {server.name}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\ntok".encode(),
            "never reads": f"GET /static/app.js HTTP/1.1\r\nHost: {server.name}\r\n\r\n".encode() * 800,
        }
        for name, sent in kinds.items():
            streams = [hold(server, sent) for _ in range(CONNECTIONS - 6)]
            since = time.monotonic()
            bench.expect(server.lives(20), f"{name}: nobody else is served next to {len(streams)} of them")
            streams += [hold(server, sent) for _ in range(20)]
            # New clients wait until the first slow ones are thrown out.
            served = server.lives(3 * HEAD_SECONDS)
            bench.expect(served, f"{name}: nobody is served after {time.monotonic() - since:.0f} s")
            for stream in streams:
                stream.close()
            bench.expect(server.lives(20), f"{name}: nobody is served when they have left")
            bench.note(f"{name}: a new client waits {time.monotonic() - since:.0f} s" if served else "")
        trickle = [hold(server, b"G") for _ in range(50)]
        for byte in b"ET / HTTP/1.1\r\n":
            for stream in trickle:
                with contextlib.suppress(OSError):
                    stream.send(bytes([byte]))
            time.sleep(0.05)
        bench.expect(server.lives(5), "trickling clients block others")
        bench.expect(memory(server.process.pid) < 800 << 20, f"{memory(server.process.pid) >> 20} MiB")
        bench.expect(not server.panicked(), "it panicked")
        bench.notes = [note for note in bench.notes if note]


def hold(server, sent):
    """A connection with a small window that sends and never reads."""
    stream = socket.socket()
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    stream.settimeout(20)
    stream.connect(server.address)
    stream.setblocking(False)
    with contextlib.suppress(OSError):
        stream.send(sent)
    return stream


def crowd(bench):
    """32 clients at once on all kinds of pages while analyses run: every answer is a page or `busy`, in bounded memory."""
    home = bench.home()
    with home.serve() as server:
        token = server.token()
        run = server.start_analysis("join-hot-key-skew/job", token)
        server.wait_for(run)
        paths = ["/", run, f"{run}/report/json", f"{run}/report/html", f"{run}/file?name=scope.script", "/knowledge?q=spill", "/analyze", "/static/app.js", "/runs/none", f"/compare?run={run[6:]}&run={run[6:]}"]
        counts, end = {}, time.monotonic() + 20
        lock = threading.Lock()

        def client(number):
            while time.monotonic() < end:
                path = paths[(number + sum(counts.values())) % len(paths)]
                status = server.ask(f"GET {path}")[0] if number % 4 else server.post("/analyze", token=token, job="late-filter/job")[0]
                with lock:
                    counts[status] = counts.get(status, 0) + 1

        with concurrent.futures.ThreadPoolExecutor(32) as pool:
            list(pool.map(client, range(32)))
        strange = {status: n for status, n in counts.items() if status not in (200, 303, 404, 400, 503)}
        bench.expect(not strange, f"statuses {counts}")
        bench.attempts += sum(counts.values()) - 1
        bench.expect(server.lives(), "nobody is served afterwards")
        bench.expect(memory(server.process.pid) < 800 << 20, f"{memory(server.process.pid) >> 20} MiB")
        bench.expect(not server.panicked(), "it panicked")
    home.check_store("after a crowd")
    return f"at most {CONNECTIONS} connections"


def uploads(bench):
    """Uploads that reach out, are too many, too deep, compressed bombs, cut off or without the form's token."""
    home = bench.home()
    folder = home.data / "uploads"
    with home.serve() as server:
        token = server.token()
        script = b"x = SELECT a FROM b;\n"
        for name in ["../up", "job/../../up", "/tmp/attack-escaped", "job/..\\..\\up", "C:\\up", "job/con:x", "a\0b", "job/" + "d/" * 20 + "x", "job/" + "x" * 300, "job/.", "job/a "]:
            status = server.upload(token, [(name, script)])[0]
            bench.expect(status in (303, 400), f"{name!r}: {status}")
        status = server.upload(token, [(f"job/f{n}", b"x") for n in range(2001)])[0]
        bench.expect(status == 400, f"2,001 files: {status}")
        bench.expect(server.upload("wrong", [("a", script)])[0] == 400, "a wrong token")
        same = server.upload(token, [("job/a", script), ("job/a", script), ("job/a/b", script)])[0]
        bench.expect(same in (303, 400, 409, 500), f"the same name twice: {same}")
        outside = [p for p in (home.folder / "up", home.data / "up", bench.work / "up") if p.exists()]
        bench.expect(not outside, f"written outside: {outside}")
        for name, content in {
            "log.zst": inputs.zstd([inputs.START, (b"\n", 4 << 30)]), "log.gz": gzip.compress(inputs.START + b"\n" * 200_000_000),
            "job.zip": inputs.overlapping_zip(3000, 20_000_000), "job.tar.gz": gzip.compress(inputs.tar([("../../up", script)])), "log": b"\0" * 1_000_000,
        }.items():
            status, headers, text = server.upload(token, [(name, content)])
            if bench.expect(status in (303, 400), f"{name}: {status} {text[:200]}") and status == 303:
                page = server.wait_for(headers["location"], 90)
                bench.expect('class="progress"' not in page, f"{name}: the analysis does not end")
        broken_forms(bench, server, token)
        before = set(folder.iterdir())
        for cut in range(20):
            cut_upload(server, token, 1000 * 3 ** (cut % 9))
        end = time.monotonic() + 20
        while time.monotonic() < end and set(folder.iterdir()) - before:
            time.sleep(0.2)
        bench.expect(set(folder.iterdir()) <= before, f"{len(set(folder.iterdir()) - before)} uploads that were cut off stay")
        bench.expect(server.lives() and not server.panicked(), "the server ended or panicked")
        bench.expect(memory(server.process.pid) < 800 << 20, f"{memory(server.process.pid) >> 20} MiB")


def broken_forms(bench, server, token):
    """Forms whose parts, lengths or headers are wrong."""
    part = f'--x\r\ncontent-disposition: form-data; name="token"\r\n\r\n{token}\r\n'
    file = '--x\r\ncontent-disposition: form-data; name="files"; filename="a"\r\n\r\nx\r\n'
    for body in [b"", b"--x", b"--x--\r\n", part.encode(), (part + "--x--\r\n").encode(), (file + part + "--x--\r\n").encode(), (part + file).encode(),
                 (part + '--x\r\ncontent-disposition: form-data; name="files"; filename="' + "y" * 100_000 + '"\r\n\r\nx\r\n--x--\r\n').encode(),
                 (part + "--x\r\n" + "a: b\r\n" * 10_000 + "\r\nx\r\n--x--\r\n").encode(), (part + part.replace("token", "question").replace(token, "q" * 100_000)).encode(),
                 bench.random.randbytes(10_000)]:
        status = server.ask("POST /uploads", {"content-type": "multipart/form-data; boundary=x"}, body)[0]
        bench.expect(status in (0, 400, 413), f"form {body[:60]!r}: {status}")
    for kind in ["multipart/form-data", "multipart/form-data; boundary=" + "b" * 5000, "text/plain", "multipart/form-data; boundary=\"\""]:
        status = server.ask("POST /uploads", {"content-type": kind}, b"x")[0]
        bench.expect(status in (0, 400, 413, 415, 422), f"{kind[:40]}: {status}")


def cut_upload(server, token, sent):
    """An upload whose client hangs up after some bytes of its file."""
    part = f'--x\r\ncontent-disposition: form-data; name="token"\r\n\r\n{token}\r\n--x\r\ncontent-disposition: form-data; name="files"; filename="a"\r\n\r\n'
    head = f"POST /uploads HTTP/1.1\r\nHost: {server.name}\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 90000000\r\n\r\n"
    with contextlib.closing(socket.create_connection(server.address, 20)) as stream:
        with contextlib.suppress(OSError):
            stream.sendall((head + part).encode() + b"y" * sent)
        time.sleep(0.05)


def sessions(bench):
    """Guessed tokens, forged and old cookies, forms of other sessions: nothing is shown or changed."""
    home = bench.home()
    secret = "correct horse battery staple"
    (home.folder / "token").write_text(secret)
    with home.serve("--token-file", home.folder / "token") as server:
        status, headers, _ = server.post("/login", secret=secret)
        cookie = headers["set-cookie"].split(";")[0]
        bench.expect("HttpOnly" in headers["set-cookie"] and "SameSite=Strict" in headers["set-cookie"], headers["set-cookie"])
        ask = lambda **h: server.ask("GET /", {k.replace("_", "-"): v for k, v in h.items()})[0]
        bench.expect((status, ask(cookie=cookie)) == (303, 200), "the right token does not work")
        name, value = cookie.split("=")
        forged = ["", value[:-1], value + "0", value[::-1], value.upper() if value.upper() != value else "x", secret, "0" * len(value), "../" + value, value + "\0"[:0] + ";x", "x" * 5000]
        for guess in forged:
            good = guess.startswith(value + ";")
            status = ask(cookie=f"{name}={guess}")
            bench.expect(status == (200 if good else 303) or status in (400, 431), f"cookie {guess[:40]}: {status}")
        for bearer in ["", secret[:-1], secret + "x", secret.upper(), value, "x" * 5000]:
            status = ask(authorization=f"Bearer {bearer}")
            bench.expect(status in (303, 400, 431), f"bearer {bearer[:30]}: {status}")
        for path in ["/?token=" + secret.replace(" ", "+"), "/runs/last", "/runs/last/report/json", "/batches", "/compare", "/knowledge", "/analyze", "//", "/login/../", "/static/../", "/static/%2e%2e/"]:
            status, headers, text = server.ask(f"GET {path}")
            bench.expect(status in (303, 404) and "join-hot-key" not in text, f"{path} without login: {status}")
        for path in ["/analyze", "/uploads", "/runs/x/feedback", "/runs/x/ask", "/runs/x/cancel"]:
            status = server.post(path, job=".")[0]
            bench.expect(status == 401, f"POST {path} without login: {status}")
        began = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            guesses = list(pool.map(lambda n: server.post("/login", secret=f"guess {n}")[0], range(64)))
        bench.expect(set(guesses) == {401}, f"guesses: {set(guesses)}")
        bench.expect(time.monotonic() - began > 1.5, "64 guesses took no time")
        form = re.search(r'name="token" value="(\w+)"', server.ask("GET /analyze", {"cookie": cookie})[2]).group(1)
        for token in ["", form[:-1], form.upper() + "0", "0" * len(form), value]:
            status = server.post("/analyze", {"cookie": cookie}, token=token, job="late-filter/job")[0]
            bench.expect(status == 403, f"form token {token}: {status}")
        bench.expect(server.post("/analyze", token=form, job="late-filter/job")[0] == 401, "a form without login")
        bench.expect(server.lives() and not server.panicked(), "the server ended or panicked")
        shown = secret in server.log.read_text()
        bench.expect(not shown, "the token is in the log")
    with home.serve("--token-file", home.folder / "token") as server:
        bench.expect(server.ask("GET /", {"cookie": cookie})[0] == 303, "a login of another process is good")
        status = server.post("/analyze", {"authorization": f"Bearer {secret}"}, token=form, job="late-filter/job")[0]
        bench.expect(status == 403, f"a form of another process: {status}")


def cancels(bench):
    """Storms of cancellations, double, early, late and of others: every run ends, every place becomes free."""
    home = bench.home()
    with Llm(bench, delay=20) as llm:
        llm.configure(home)
        with home.server("serve", "--address", "127.0.0.1:0", "--root", CASES) as server:
            token = server.token()

            def one(number):
                run = server.start_analysis("join-hot-key-skew/job", token)
                if not isinstance(run, str):
                    return run[0]
                time.sleep((number % 7) * 0.1)
                statuses = [server.post(f"{run}/cancel", token=token)[0] for _ in range(1 + number % 3)]
                server.post("/runs/none/cancel", token=token)
                return max(statuses)

            with concurrent.futures.ThreadPoolExecutor(24) as pool:
                statuses = list(pool.map(one, range(120)))
            bench.attempts += len(statuses) - 1
            bench.expect(set(statuses) <= {303, 400}, f"statuses {set(statuses)}")
            end = time.monotonic() + 60
            while time.monotonic() < end and 'class="pulse"' in server.ask("GET /")[2]:
                time.sleep(0.3)
            bench.expect('class="pulse"' not in server.ask("GET /")[2], "runs go on after they were cancelled")
            llm.delay = 0
            page = server.wait_for(server.start_analysis("late-filter/job", token))
            bench.expect('class="report' in page, "no analysis works after the storm")
            bench.expect(not server.panicked(), "it panicked")
    running = [run for run in home.check_store("after cancellations") if run["status"] == "running"]
    bench.expect(not running, f"{len(running)} runs pretend to run")


PART = [
    ("`Host` and `Origin`", hosts), ("malformed requests", malformed), ("slow clients", slow), ("many clients at once", crowd), ("uploads", uploads),
    ("sessions and form tokens", sessions), ("storms of cancellations", cancels),
]
