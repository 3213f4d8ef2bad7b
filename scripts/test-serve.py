"""Clicks through the web page; called by scripts/test-serve."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Error, sync_playwright

PROGRAM, WORK, SHOTS = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
CASES = Path("tests/cases").resolve()
WIDTHS = {"wide": 1400, "tablet": 1024, "phone": 390}
problems = []


def check(condition, text):
    if not condition:
        problems.append(text)
        print("FAILED:", text)


def serve():
    home = WORK / "home"
    home.mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_DATA_HOME": str(home / "data")}
    store, jobs = str(home / "store"), [str(CASES / case / "job") for case in ("join-hot-key-skew", "late-filter", "near-join-hot-key-skew", "user-code-failure")]
    subprocess.run([PROGRAM, "batch", "run", *jobs, "--out", store], cwd=home, env=environment, check=True, capture_output=True)
    command = [PROGRAM, "serve", "--address", "127.0.0.1:0", "--root", str(CASES), "--batch", store, "--reasoner", "offline"]
    server = subprocess.Popen(command, cwd=home, env=environment, stderr=subprocess.PIPE, text=True)
    for line in server.stderr:
        if found := re.match(r"serving (http://\S+)/", line):
            return server, found.group(1)
    sys.exit("the server does not start")


def look(page, name):
    """No overflow, no console message, no serious finding of axe; a screenshot."""
    page.wait_for_load_state("networkidle")
    width = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    check(width[0] <= width[1], f"{name}: {width[0]} px wide in {width[1]}")
    page.evaluate(Path(os.environ["AXE"]).read_text())
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] }).then(r => r.violations)")
    for violation in found:
        if violation["impact"] in ("serious", "critical"):
            nodes = [node["html"][:120] + " | " + node["failureSummary"][:200] for node in violation["nodes"][:3]]
            check(False, f"{name}: {violation['id']}: {nodes}")
    page.screenshot(path=SHOTS / f"{name}.png", full_page=True, timeout=120_000)


def appears(page, selector):
    """Whether it is visible soon; a page may be on its way."""
    try:
        page.locator(selector).wait_for(timeout=20_000)
        return True
    except Error:
        return False


def analyze(page, url, job):
    page.goto(f"{url}/analyze")
    page.fill("#job", job)
    page.click("form[action='/analyze'] button")
    page.wait_for_selector(".report", timeout=120_000)
    return page.url.split("#")[0]


def click_through(page, url):
    """Functions that need a script, once."""
    run = analyze(page, url, "join-hot-key-skew/job")
    page.hover("#F1 h3")
    check(page.locator(".stage.lit").count() == 1, "a finding lights up its stage")
    check(page.locator(".script tr.lit").count() > 1, "a finding lights up its lines")
    check(page.locator(".part.lit").count() >= 1, "a finding lights up its segments")
    box, svg = page.locator(".wide"), page.locator("svg.dag")
    before = svg.bounding_box()["width"]
    page.locator(".graph .tools button").first.click()
    check(svg.bounding_box()["width"] > before, "the graph zooms")
    for _ in range(6):
        page.locator(".graph .tools button").first.click()
    area = box.bounding_box()
    page.mouse.move(area["x"] + 200, area["y"] + 60)
    page.mouse.down()
    page.mouse.move(area["x"] + 40, area["y"] + 30)
    page.mouse.up()
    check(box.evaluate("node => node.scrollLeft") > 0, "the graph pans")
    page.locator("details.passage summary").first.click()
    check(page.locator("details.passage[open] .prose").first.is_visible(), "experience opens in place")
    page.locator(".gantt summary").first.click()
    check(page.locator(".gantt details[open]").count() == 1, "a row of the chart opens")
    page.locator("pre.diff + .tools button").first.click()
    copied = page.evaluate("navigator.clipboard.readText()")
    check(copied.startswith("--- a/"), "a diff is copied")
    with page.expect_download() as download:
        page.locator("a[download][href$='.diff']").first.click()
    check(download.value.path().read_text().startswith("--- a/"), "a diff is downloaded")
    page.locator("#S1 button[value=accept]").click()
    check(appears(page, "#S1 .given.accepted"), "feedback is given")
    page.locator("#S1 button[value=undo]").click()
    check(appears(page, "#S1 button[value=accept]"), "feedback is undone")
    page.wait_for_load_state()
    page.keyboard.press("j")
    check(page.evaluate("document.activeElement.id") == "F1", "j goes to the first finding")
    page.locator("#F1 a.source").first.click()
    check(appears(page, "tr.meant"), "evidence opens its line")
    page.go_back()
    page.wait_for_load_state("networkidle")
    page.locator("svg.dag a").first.focus()
    page.keyboard.press("Enter")
    check(page.evaluate("location.hash") == "#F1", "a red stage leads to its finding by the keyboard")
    page.keyboard.press("/")
    check(page.evaluate("document.activeElement.name") == "question", "the key / goes to the question")
    page.keyboard.type("Why is SV3 slow?")
    page.keyboard.press("Enter")
    page.wait_for_selector(".turn .legend >> text=Answered by")
    check("SV3" in page.locator(".turn .said").last.inner_text(), "a question is answered in place")
    page.reload()
    check(page.locator(".turn").count() == 1, "the answer stays with the run")
    page.emulate_media(media="print")
    check(not page.locator(".bar-top").is_visible() and not page.locator(".ask form").is_visible(), "a print leaves out what a screen needs")
    page.screenshot(path=SHOTS / "print.png", full_page=True)
    page.emulate_media(media="screen")
    analyze(page, url, "near-join-hot-key-skew/job")
    page.goto(f"{url}/analyze")
    files = sorted(str(f) for f in (CASES / "user-code-failure/job").iterdir() if f.is_file())
    page.set_input_files("#files", files)
    page.click("form.upload button")
    page.wait_for_selector(".report", timeout=120_000)
    page.goto(url)
    check(page.locator("table.runs tbody tr").count() == 3, "the list has the runs")
    page.select_option("select[name=cause]", "skew.join_hot_key")
    page.wait_for_url("**cause=skew.join_hot_key**")
    check(page.locator("table.runs tbody tr").count() == 1, "the list is filtered")
    page.goto(url)
    page.locator("input[name=run]").nth(0).check()
    page.locator("input[name=run]").nth(1).check()
    page.click(".below button")
    check(appears(page, ".changes >> nth=0"), "two runs are compared")
    compared = page.url
    page.keyboard.press("Tab")
    check(page.evaluate("document.activeElement.className") == "skip", "the first stop of Tab skips to the content")
    return run, compared


def batch(page, url):
    """The jobs of a batch, its clusters, and a report; returns the address of the report."""
    page.goto(f"{url}/batches")
    for _ in range(100):
        if page.locator("table.runs tbody tr").count() == 4:
            break
        page.wait_for_timeout(100)
        page.reload()
    check(page.locator("table.runs tbody tr").count() == 4, "the jobs of a batch are listed")
    page.select_option("select[name=cause]", "skew.join_hot_key")
    page.wait_for_url("**cause=skew.join_hot_key**")
    check(page.locator("table.runs tbody tr").count() == 1, "the jobs of a batch are filtered")
    page.click(".tabs a >> nth=1")
    page.wait_for_url("**/clusters**")
    rows = page.locator("table.clusters tbody tr")
    check(rows.count() >= 2, "clusters are listed")
    rows.first.locator("td >> nth=1").locator("a").click()
    page.wait_for_url("**?cause=**script=**")
    check(page.locator("table.runs tbody tr").count() == 1, "a cluster leads to its jobs")
    page.locator("table.runs .job a").first.click()
    page.wait_for_url("**/jobs/**")
    job = page.url
    page.locator("#F1 a.source").first.click()
    check(appears(page, "tr.meant"), "evidence of a batch opens its line")
    return job


def main():
    server, url = serve()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=os.environ["BROWSER"], args=["--no-sandbox"])
            context = browser.new_context(viewport={"width": 1400, "height": 900}, permissions=["clipboard-read", "clipboard-write"])
            page = context.new_page()
            run, compared = click_through(page, url)
            job = batch(page, url)
            # Settings of Spark are longer than a phone is wide.
            spark = analyze(page, url, "spark-join-hot-key/app-20261122005702-0000.zstd")
            page.goto(run)
            source = page.locator("#F1 a.source").first.get_attribute("href")
            context.close()
            pages = {
                "runs": "/", "run": run[len(url):], "compare": compared[len(url):], "file": source, "analyze": "/analyze",
                "knowledge": "/knowledge?q=skew", "problem": "/runs/none", "batch": "/batches/1", "clusters": "/batches/1/clusters", "job": job[len(url):], "spark": spark[len(url):],
            }
            for language in ["en", "zh"]:
                for theme in ["light", "dark"]:
                    for size, width in WIDTHS.items():
                        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme, bypass_csp=True)
                        page = context.new_page()
                        page.on("console", lambda m: check(m.type != "error" or "404" in m.text, f"console: {m.text}"))
                        page.on("pageerror", lambda e: check(False, f"script: {e}"))
                        page.goto(f"{url}/?lang={language}")
                        for name, path in pages.items():
                            page.goto(url + path)
                            look(page, f"{name}-{language}-{theme}-{size}")
                            if name == "problem":
                                text = page.locator(".problem-text").inner_text()
                                check(("没有运行" in text) == (language == "zh"), f"the error is in the visitor's language: {text}")
                        page.goto(f"{url}/knowledge?q=skew")
                        page.locator(".hit h2 a").first.click()
                        look(page, f"passage-{language}-{theme}-{size}")
                        context.close()
            # Reading needs no script.
            context = browser.new_context(java_script_enabled=False)
            page = context.new_page()
            page.goto(run)
            check(page.locator("#F1").is_visible() and page.locator("svg.dag").is_visible(), "reading without a script")
            page.fill(".ask input[name=question]", "Where does the time go?")
            page.click(".ask button")
            page.wait_for_url("**#asked")
            check(page.url.endswith("#asked") and page.locator(".turn").count() == 2, "a question is answered without a script")
            context.close()
            browser.close()
    finally:
        server.send_signal(signal.SIGINT)
        check(server.wait(timeout=20) == 0, "Ctrl-C ends the server")
    print(f"{len(problems)} problems; screenshots in {SHOTS}")
    sys.exit(1 if problems else 0)


main()
