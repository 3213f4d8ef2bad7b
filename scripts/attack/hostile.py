"""Jobs whose texts attack whoever shows them: markup, scripts, styles, addresses, fences, control characters in every text field."""
import json
import pathlib
import re
import shutil
import xml.sax.saxutils

from .common import CASES

SCOPE = CASES / "user-code-failure/job"
SKEW = CASES / "join-hot-key-skew/job"
SPARK = CASES / "spark-star-join/app-20261122012010-0000"


def texts(canary):
    """Hostile texts; the canary is an address that nobody may ask."""
    return [
        f'"><script>window.hacked=1</script><img src=x onerror="window.hacked=1"><img src="{canary}/img">',
        f"</title></style></textarea></pre></script><script src={canary}/js></script><svg onload=window.hacked=1>",
        f"' onmouseover='window.hacked=1' style='background:url({canary}/css)' x='",
        f"</svg></g><foreignObject><iframe src={canary}/frame></iframe></foreignObject><style>@import url({canary}/style);*{{display:none}}</style>",
        f"<base href={canary}/><link rel=stylesheet href={canary}/link><meta http-equiv=refresh content='0;url={canary}/meta'>",
        f"![x]({canary}/md) [click](javascript:window.hacked=1) <{canary}/auto> [ref]: {canary}",
        "javascript:window.hacked=1//", "{{7*7}}${7*7}<%=7*7%>#{7*7}{% include 'x' %}", "-->]]></script><!--<![CDATA[", "&lt;script&gt;window.hacked=1&lt;/script&gt;",
        "\u202etxt.exe\u202c\u2066x\u2069\u200f", "\x1b[2J\x1b]8;;http://evil\x07click\x1b]8;;\x07\x9b31m", "Z\u0351\u0357\u0358" * 200, "\u2028</script><script>window.hacked=1</script>",
        "`` ``` ~~~\n\n```\n# F9 Fake heading\n| a | b |\n|---|---|\n- [ ] x\n\n> quote\n\n<details><summary>x</summary>", "W" * 3000, "x " * 2000, "\ufeff\u0000\ufffe\ud7ff漢字" * 20,
        "__proto__", "constructor", "%3Cscript%3Ewindow.hacked=1%3C/script%3E", "\"};window.hacked=1;//", "\\u003cscript\\u003ewindow.hacked=1\\u003c/script\\u003e",
    ]


class Mutator:
    """Adds a hostile text to values, the same to the same value, so that names still match across files."""

    def __init__(self, hostile, share, seed):
        self.hostile, self.share, self.seed = hostile, share, seed

    def of(self, value):
        """The value with a hostile text behind it, or as it is: numbers, times and words of the format stay."""
        import zlib

        number = zlib.crc32(f"{self.seed}{value}".encode("utf-8", "replace"))
        plain = re.fullmatch(r"[\d.:TZPMSH+\-/ ]*|true|false|[A-Z][a-z]+|SparkListener\w+|org\.apache\S*", value)
        if plain or number % 100 >= self.share:
            return value
        return value + self.hostile[number // 100 % len(self.hostile)]

    def json(self, value, keep=()):
        if isinstance(value, dict):
            return {k: v if k in keep else self.json(v, keep) for k, v in value.items()}
        if isinstance(value, list):
            return [self.json(v, keep) for v in value]
        return self.of(value) if isinstance(value, str) else value

    def xml(self, text):
        clean = lambda s: re.sub("[\0-\x08\x0b-\x1f\ufffe]", "", s)
        quoted = lambda m: f'{m[1]}="{xml.sax.saxutils.escape(clean(self.of(xml.sax.saxutils.unescape(m[2]))), {chr(34): "&quot;"})}"'
        text = re.sub(r'\b([\w:]+)="([^"]*)"', quoted, text)
        return re.sub(r">([^<>\s][^<>]*)<", lambda m: f">{xml.sax.saxutils.escape(clean(self.of(xml.sax.saxutils.unescape(m[1]))))}<", text)

    def script(self, text):
        one_line = lambda s: re.sub(r'[\n\r"]', " ", s)
        text = re.sub(r'"([^"\n]*)"', lambda m: f'"{one_line(self.of(m[1]))}"', text)
        return re.sub(r"//(.*)", lambda m: f"//{one_line(self.of(m[1]))}", text)


def scope_job(source, folder, hostile, share, seed):
    """A copy of a SCOPE job with hostile texts in a share of its values, and in the names of its stages and files."""
    mutator = Mutator(hostile, share, seed)
    shutil.copytree(source, folder)
    statistics = json.loads((folder / "JobStatistics.json").read_text())
    stages = [s["stageName"] for s in statistics["stages"]]
    for path in list(folder.iterdir()):
        text = path.read_text(encoding="utf-8-sig", errors="replace")
        if text.startswith("{"):
            text = json.dumps(mutator.json(json.loads(text), keep=("stageName", "source", "errorId")))
        elif text.startswith("<?xml"):
            head, _, rest = text.partition("\n")
            text = head + "\n" + mutator.xml(rest)
        elif path.suffix in (".script", ".cs"):
            text = mutator.script(text)
        if seed % 2:
            # Stage names end with the same markup wherever they are.
            for stage in sorted(stages, key=len, reverse=True):
                mark = "<i>'&" if text.startswith(("{", "-", "\n", "T")) else "&lt;i&gt;&apos;&amp;"
                text = re.sub(rf"\b{re.escape(stage)}\b", lambda m: m[0] + mark, text)
        path.write_text(text, encoding="utf-8", errors="replace")
    name = f"tables{seed} <img src=x onerror=hacked=1>\x1b[31m\u202e\n\"'&.json"
    (folder / name).write_text(json.dumps({"tables": [{"name": hostile[seed % len(hostile)], "rows": 5, "columns": [{"name": h} for h in hostile]}]}))
    return folder


def spark_log(file, hostile, share, seed):
    """A Spark event log with hostile texts in a share of its values, and a failed job whose exceptions attack."""
    mutator = Mutator(hostile, share, seed)
    out = []
    for line in SPARK.read_text().splitlines():
        event = json.loads(line)
        keep = ("Event", "Reason", "Result", "Task Type", "Locality", "spark.app.submitTime", "spark.executor.memory", "spark.master", "accumulatorId")
        out.append(json.dumps(mutator.json(event, keep)))
        if event["Event"] == "SparkListenerJobEnd" and seed % 2:
            failed = {"Result": "JobFailed", "Exception": {"Message": "java.lang.RuntimeException: " + hostile[seed % len(hostile)], "Stack Trace": []}}
            out[-1] = json.dumps({**event, "Job Result": failed})
    pathlib.Path(file).write_text("\n".join(out) + "\n", encoding="utf-8", errors="replace")
    return file
