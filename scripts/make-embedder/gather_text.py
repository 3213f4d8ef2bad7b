#!/usr/bin/env python3
"""Gathers unlabeled text from this machine into texts.jsonl (one {"text", "source"} per line, shuffled).

Sources, each skipped if absent: Debian package descriptions (apt lists), README files and doc comments of
the crates in the Cargo registry, the Rust documentation, Python module docs, the botocore service
descriptions, manual pages. No text is downloaded, and no text carries a label or a judgment.
"""
import argparse
import glob
import gzip
import html
import json
import os
import random
import re
import subprocess
from pathlib import Path

HOME = Path.home()
SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+")


def clean(text):
    """Strips markup and collapses white space."""
    text = re.sub(r"<[^>]{1,200}>", " ", text)
    text = html.unescape(text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"https?://\S+", " ", text)
    text = re.sub(r"[*_`#>|=~-]{2,}|[`*]", " ", text)
    return re.sub(r"\s+", " ", text).strip()


def pieces(text, rng, longest=90):
    """Cuts a paragraph into pieces of whole sentences, with a random maximum so that lengths vary."""
    bound, piece, n = rng.choice([10, 20, 40, longest]), [], 0
    for sentence in SENTENCE_END.split(text):
        words = len(sentence.split())
        if piece and n + words > bound:
            yield " ".join(piece)
            bound, piece, n = rng.choice([10, 20, 40, longest]), [], 0
        piece.append(sentence)
        n += words
    if piece:
        yield " ".join(piece)


def usable(text):
    """Whether a text is prose: at least three words, mostly letters."""
    if not 12 <= len(text) <= 1500 or len(text.split()) < 3:
        return False
    letters = sum(c.isalpha() or c == " " for c in text)
    return letters / len(text) > 0.8


def paragraphs(markdown):
    """Yields the prose paragraphs and headings of a Markdown text, without code blocks."""
    markdown = re.sub(r"```.*?(```|\Z)", "\n\n", markdown, flags=re.S)
    for block in re.split(r"\n\s*\n", markdown):
        if block.lstrip().startswith(("|", "[!", "<")):
            continue
        yield clean(block)


def debian(lists):
    """Yields the short descriptions and paragraphs of all package descriptions."""
    for name in glob.glob(f"{lists}/*_Translation-en*"):
        raw = subprocess.run(["/usr/lib/apt/apt-helper", "cat-file", name], capture_output=True).stdout.decode("utf-8", "replace")
        for entry in raw.split("\n\n"):
            m = re.search(r"^Description-en: (.*?)\n((?: .*\n?)*)", entry, flags=re.M)
            if not m:
                continue
            yield m.group(1)
            for block in re.split(r"^ \.$", m.group(2), flags=re.M):
                yield clean(re.sub(r"^ ", "", block, flags=re.M))


def crates():
    for root in glob.glob(str(HOME / ".cargo/registry/src/*/*")):
        for readme in glob.glob(root + "/**/*.md", recursive=True)[:6]:
            if "LICENSE" in readme.upper():
                continue
            yield from paragraphs(Path(readme).read_text(errors="replace"))
        for source in sorted(glob.glob(root + "/src/**/*.rs", recursive=True))[:60]:
            block = []
            for line in Path(source).read_text(errors="replace").splitlines() + [""]:
                m = re.match(r"\s*//[/!] ?(.*)", line)
                if m:
                    block.append(m.group(1))
                elif block:
                    yield from paragraphs("\n".join(block))
                    block = []


def html_docs():
    for pattern in [".rustup/toolchains/stable-*/share/doc/rust/html/*/*.html", ".rustup/toolchains/stable-*/share/doc/rust/html/*/*/*.html"]:
        for page in sorted(glob.glob(str(HOME / pattern)))[:6000]:
            text = Path(page).read_text(errors="replace")
            for m in re.finditer(r"<(p|h1|h2|h3|li)\b[^>]*>(.*?)</\1>", text, flags=re.S):
                yield clean(m.group(2))


def botocore():
    for name in glob.glob(str(HOME / ".pyenv/versions/*/lib/python3*/site-packages/botocore/data/*/*/service-2.json.gz")):
        data = json.loads(gzip.open(name).read())
        yield clean(data.get("documentation", ""))
        for part in ("operations", "shapes"):
            for item in data.get(part, {}).values():
                yield clean(item.get("documentation", ""))
                for member in item.get("members", {}).values() if isinstance(item.get("members"), dict) else []:
                    yield clean(member.get("documentation", ""))


def python_docs():
    for source in glob.glob(str(HOME / ".pyenv/versions/*/lib/python3*/**/*.py"), recursive=True):
        if "/test" in source:
            continue
        for m in re.finditer(r'"""(.*?)"""', Path(source).read_text(errors="replace"), flags=re.S):
            yield from paragraphs(m.group(1))


def manuals():
    for name in glob.glob("/usr/share/man/man*/*.gz"):
        try:
            raw = gzip.open(name).read().decode("utf-8", "replace")
        except OSError:
            continue
        raw = re.sub(r"^[.'](\\\"|[A-Z]{1,2}\b).*$", "\n", raw, flags=re.M)
        raw = re.sub(r"\\f.|\\[&%|]", "", raw).replace("\\-", "-")
        for block in re.split(r"\n\s*\n", raw):
            yield clean(block)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="texts.jsonl")
    parser.add_argument("--apt-lists", default="/var/lib/apt/lists")
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    # The bounds keep one large source from dominating.
    plan = [("debian", debian(args.apt_lists), 170_000), ("crates", crates(), 90_000), ("rust-docs", html_docs(), 30_000),
            ("botocore", botocore(), 70_000), ("python", python_docs(), 50_000), ("manuals", manuals(), 30_000)]
    seen, texts = set(), []
    for source, generator, bound in plan:
        found = []
        for paragraph in generator:
            if len(paragraph) > 20_000:
                continue
            for piece in pieces(paragraph, rng):
                # Only the first 60 letters count: texts that differ only in boilerplate at the end are duplicates.
                key = re.sub(r"[^a-z]", "", piece.lower())[:60]
                if usable(piece) and key not in seen:
                    seen.add(key)
                    found.append(piece)
        rng.shuffle(found)
        print(f"{source}: {len(found)} found, {min(len(found), bound)} used")
        texts += [{"text": t, "source": source} for t in found[:bound]]
    rng.shuffle(texts)
    with open(args.out, "w") as f:
        for t in texts:
            f.write(json.dumps(t, ensure_ascii=False) + "\n")
    print(f"{len(texts)} texts, {os.path.getsize(args.out) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
