"""Chromium and a Markdown parser over everything that shows a job: no script, no request elsewhere, no markup or layout of the job's."""
import contextlib
import http.server
import json
import pathlib
import re
import shutil
import threading

from . import hostile
from .common import CASES, Skip, need

TAGS = "img:not([src='/static/icon.svg']), iframe, object, embed, base, audio, video, foreignObject, frame, applet, marquee"
# What a page of ours has, as the browser sees it after all scripts have run.
LOOK = f"""() => {{
  const bad = [...document.querySelectorAll({json.dumps(TAGS)})].map(e => e.outerHTML.slice(0, 100));
  for (const e of document.querySelectorAll('*')) for (const a of e.attributes) {{
    if (a.name.startsWith('on')) bad.push(e.tagName + ' ' + a.name);
    if (/^\\s*(javascript|data|vbscript):/i.test(a.value) && ['href', 'src', 'action', 'xlink:href'].includes(a.name) && !/^data:(image|text\\/csv|font)/.test(a.value)) bad.push(a.name + '=' + a.value.slice(0, 60));
    if (a.name === 'style' && /url\\(|expression|@import/i.test(a.value)) bad.push('style=' + a.value.slice(0, 60));
  }}
  for (const s of document.querySelectorAll('style, script')) if (/CANARY/.test(s.tagName === 'STYLE' ? s.textContent : s.src)) bad.push(s.outerHTML.slice(0, 100));
  const text = document.body.innerText;
  const bidi = text.match(/[\\u202a-\\u202e\\u2066-\\u2069\\u001b\\u009b]/);
  return {{
    hacked: typeof window.hacked !== 'undefined', bad, bidi: bidi ? text.slice(Math.max(0, bidi.index - 40), bidi.index + 20) : null,
    wide: [document.documentElement.scrollWidth, innerWidth], headings: document.querySelectorAll('h1').length,
    fake: [...document.querySelectorAll('h1,h2,h3,h4')].map(h => h.innerText).filter(t => /^F9 Fake/.test(t)), refresh: document.querySelectorAll('meta[http-equiv=refresh]').length,
    visible: document.body.offsetHeight > 100 && getComputedStyle(document.body).display !== 'none', template: /(^|\\s)49(\\s|$)/.test(document.title),
  }};
}}"""


class Canary:
    """A server that nobody may ask; it remembers who did."""

    def __enter__(self):
        asked = self.asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                self.send_error(404)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Browser:
    """Pages in Chromium, with the policy of the page switched off, so that it does not hide what a page lets through."""

    def __init__(self, bench, canary):
        self.bench, self.canary = bench, canary

    def __enter__(self):
        sync = need("playwright.sync_api")
        found = next((p for p in map(shutil.which, ["chromium", "chromium-browser", "google-chrome"]) if p), None)
        if not found:
            raise Skip("no Chromium is installed")
        self.manager = sync.sync_playwright().start()
        self.browser = self.manager.chromium.launch(executable_path=found, args=["--no-sandbox"])
        self.context = self.browser.new_context(viewport={"width": 1200, "height": 900}, bypass_csp=True)
        self.page = self.context.new_page()
        self.said, self.asked = [], []
        self.page.on("console", lambda m: self.said.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda e: self.said.append(str(e)))
        self.page.on("dialog", lambda d: (self.said.append(f"dialog {d.message}"), d.dismiss()))
        self.page.on("request", lambda r: self.asked.append(r.url))
        return self

    def __exit__(self, *_):
        self.browser.close()
        self.manager.stop()

    def look(self, name, url, own, headings=1):
        """Opens a page and checks what it did and what it is made of."""
        self.said.clear()
        self.asked.clear()
        self.page.goto(url, wait_until="load", timeout=60_000)
        for summary in self.page.locator("summary").all()[:30]:
            with contextlib.suppress(Exception):
                summary.click(timeout=300)
        with contextlib.suppress(Exception):
            self.page.mouse.move(200, 300)
        seen = self.page.evaluate(LOOK.replace("CANARY", re.escape(self.canary.url).replace("/", "\\/")))
        expect = self.bench.expect
        expect(not seen["hacked"], f"{name}: a script of the job ran")
        expect(not seen["bad"], f"{name}: markup of the job: {seen['bad'][:3]}")
        foreign = [u for u in self.asked if not u.startswith((own, "data:", "blob:"))]
        expect(not foreign and not self.canary.asked, f"{name}: asked {foreign[:3]} {self.canary.asked[:3]}")
        problems = [text for text in self.said if "404" not in text and "503" not in text]
        expect(not problems, f"{name}: {problems[:3]}")
        expect(seen["bidi"] is None, f"{name}: control characters: {seen['bidi']!r}")
        expect(seen["wide"][0] <= seen["wide"][1] + 1, f"{name}: {seen['wide'][0]} px wide in {seen['wide'][1]}")
        expect(seen["headings"] <= headings and not seen["fake"] and not seen["refresh"] and seen["visible"] and not seen["template"], f"{name}: the layout is broken: {seen}")
        self.canary.asked.clear()


def jobs(bench, home, canary, count):
    """Hostile jobs of both engines: all values, a share of them, and single ones."""
    texts = hostile.texts(canary.url)
    made = []
    for n in range(count):
        share = [100, 60, 25, 10][n % 4]
        kind, source = n % 3, [hostile.SCOPE, hostile.SKEW][n // 3 % 2]
        if kind < 2:
            made.append(hostile.scope_job(source, home.folder / f"jobs/job-{n} <b>'&\"", texts, share, n))
        else:
            folder = home.folder / f"jobs/job-{n} <script>window.hacked=1<!--"
            folder.mkdir(parents=True)
            made.append(hostile.spark_log(folder / "app-1 \"><img src=x onerror=hacked=1>", texts, share, n))
    return made


def chromium(bench):
    """Reports, all pages of `serve`, and pages of a batch in Chromium, from jobs that attack with every text."""
    home = bench.home()
    with Canary() as canary, Browser(bench, canary) as browser:
        open_page(bench, home, canary, browser)
        made = jobs(bench, home, canary, 24)
        for number, job in enumerate(made):
            done = home.run("analyze", job, "--reasoner", "offline", "--format", "html", "--lang", ["en", "zh"][number % 2])
            if bench.expect(done.returncode == 0, f"{job}: {done.returncode} {done.stderr[-300:]}"):
                file = home.folder / f"report-{number}.html"
                file.write_text(done.stdout)
                browser.look(f"report {job.name}", file.as_uri(), file.as_uri())
        store = home.folder / "store"
        home.survives("batch", "run", home.folder / "jobs", "--out", store, "--reasoner", "offline", "--quiet", statuses={0, 3}, timeout=300)
        home.survives("batch", "report", store, statuses={0}, timeout=120)
        report = store / "report"
        browser.look("batch report", (report / "index.html").as_uri(), report.as_uri())
        for page in sorted(report.rglob("*.html"))[:12]:
            browser.look(f"batch page {page.name}", page.as_uri(), report.as_uri())
        with home.serve("--batch", store, root=home.folder) as server:
            served(bench, browser, server, made)
    return f"{len(made)} jobs"


def open_page(bench, home, canary, browser):
    """A page that takes the texts of a job as markup: the checks must see each kind of attack."""
    file = home.folder / "open.html"
    # a refresh would leave the page before the checks look at it
    texts = [text for text in hostile.texts(canary.url) if "refresh" not in text.lower()]
    file.write_text(f"<meta charset=utf-8><h1>x</h1><div id='{chr(39).join(texts)}'></div>")
    browser.page.goto(file.as_uri())
    browser.page.wait_for_timeout(500)
    seen = browser.page.evaluate(LOOK.replace("CANARY", re.escape(canary.url).replace("/", "\\/")))
    bench.expect(seen["hacked"] and seen["bad"] and canary.asked, f"the checks do not see an attack: {seen} {canary.asked}")
    canary.asked.clear()


def served(bench, browser, server, made):
    """All pages of the web page, with hostile jobs, questions and addresses."""
    own, token = f"http://{server.name}/", server.token()
    runs = []
    for job in made:
        run = server.start_analysis(str(job), token)
        if bench.expect(isinstance(run, str), f"{job}: {run}"):
            server.wait_for(run)
            runs.append(run)
            server.post(f"{run}/ask", token=token, question=f"Why is <img src=x onerror=window.hacked=1> slow? {job.name}")
            browser.look(f"run of {job.name}", own + run[1:], own)
    files = set()
    for run in runs[:6]:
        page = server.ask(f"GET {run}")[2]
        files.update(link.replace("&amp;", "&") for link in re.findall(r'href="(/runs/[^"]*/file\?[^"]*)"', page)[:4])
    evil = "%22%3E%3Cscript%3Ewindow.hacked=1%3C/script%3E%3Cimg%20src=x%20onerror=window.hacked=1%3E"
    ids = [run.rpartition("/")[2] for run in runs]
    for path in ["", "batches", "batches/1", "batches/1/clusters", f"compare?run={ids[0]}&run={ids[1]}", f"compare?run={ids[2]}&run={ids[5]}", f"?q={evil}&owner={evil}&cause={evil}&week={evil}",
                 f"knowledge?q={evil}", f"runs/{evil}", f"{evil}", f"batches/1?q={evil}", *sorted(file[1:] for file in files)]:
        browser.look(f"page {path[:60]}", own + path, own)
    links = re.findall(r'href="(/batches/1/jobs/[^"/?]*)"', server.ask("GET /batches/1")[2])
    for link in links[:8]:
        browser.look(f"job of a batch {link}", own + link[1:], own)
    policy = server.ask("GET /")[1]["content-security-policy"]
    bench.expect("default-src 'none'" in policy and "script-src 'self';" in policy, policy)


def markdown(bench):
    """Markdown of reports, comparisons, cases and answers, parsed as CommonMark: no HTML, image, link or heading of the job's. Text and logs: no
    control characters."""
    parser = need("markdown_it").MarkdownIt("commonmark").enable("table")
    home = bench.home()

    class Nobody:
        url = "http://127.0.0.1:9"

    control = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
    for number, job in enumerate(jobs(bench, home, Nobody, 18)):
        runs = []
        for form in ["markdown", "text"]:
            line = ["analyze", job, "--reasoner", "offline", "--format", form, "--lang", ["en", "zh"][number % 2]]
            done = home.survives(*line, *(["--verbose"] if form == "text" else []), statuses={0})
            found = control.search(done.stdout + done.stderr)
            bench.expect(found is None, f"{form} of {job.name}: control character {found}")
            runs.append(done.stdout)
        harmless(bench, parser, job.name, runs[0])
        for line in [["ask", "last", "Why is <img src=x> ![a](http://evil) slow?"], ["inspect", job], ["runs", "list"]]:
            done = home.survives(*line)
            found = control.search(done.stdout + done.stderr)
            bench.expect(found is None, f"{line[0]} of {job.name}: control character {found}")
        done = home.survives("case", "from", "last", "--no-redact", "--knowledge", home.folder / "knowledge", "--id", f"case-{number}")
        case = home.folder / f"knowledge/cases/case-{number}.md"
        if case.is_file():
            harmless(bench, parser, f"case of {job.name}", case.read_text().split("---\n", 2)[2])


def harmless(bench, parser, name, text):
    """Expects that a Markdown text has neither HTML nor images nor links outside, and only headings of ours."""
    tokens = [token for outer in parser.parse(text) for token in [outer, *(outer.children or [])]]
    kinds = {"html_block", "html_inline", "image"}
    acting = [t.content[:80] for t in tokens if t.type in kinds and not re.fullmatch(r"</?(details|summary|br)[^>]*>.*", t.content.strip(), re.S)]
    bench.expect(not acting, f"{name}: {acting[:2]}")
    links = [t.attrs["href"] for t in tokens if t.type == "link_open" and re.match(r"(?i)\s*(javascript|data|http|//)", t.attrs["href"])]
    bench.expect(not links, f"{name}: links {links[:2]}")
    headings = [tokens[i + 1].content for i, t in enumerate(tokens) if t.type == "heading_open"]
    bench.expect(not [h for h in headings if h.startswith("F9 Fake")], f"{name}: headings {headings}")
    last = text.rstrip().splitlines()[-1]
    fences = [t for t in tokens if t.type == "fence" and t.map[1] >= len(text.splitlines()) and not last.strip().startswith("`")]
    bench.expect(not fences, f"{name}: a fence of the job stays open to the end")


PART = [("hostile fields in Chromium", chromium), ("hostile fields in Markdown, text and cases", markdown)]
