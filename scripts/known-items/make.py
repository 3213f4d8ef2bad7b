#!/usr/bin/env python3
"""Creates BEIR test collections for known-item search, English and Chinese, from documentation in Debian packages.

A query is the title, the one-line description or the first paragraph of a page; the only correct answer is that page. The query
text was removed from it. The collections are only for measurements and are not part of the project.
"""
import argparse
import collections
import gzip
import json
import random
import re
from html.parser import HTMLParser
from pathlib import Path

QUERIES = 400
LONGEST = 3000  # characters of a page that are indexed
BLOCKS = ("h1", "h2", "h3", "p", "td", "li", "pre")


class Blocks(HTMLParser):
    """Headings, paragraphs and cells of a page as (tag, text)."""

    def __init__(self):
        super().__init__()
        self.blocks, self.tag, self.parts = [], None, []

    def handle_starttag(self, tag, attributes):
        if tag in BLOCKS:
            self.end()
            self.tag = tag

    def handle_endtag(self, tag):
        if tag in BLOCKS:
            self.end()

    def handle_data(self, data):
        if self.tag:
            self.parts.append(data)

    def end(self):
        text = " ".join("".join(self.parts).split())
        if self.tag and text:
            self.blocks.append((self.tag, text))
        self.tag, self.parts = None, []


def chinese(text):
    return len(re.findall("[\u4e00-\u9fff]", text))


def help_pages(root, language):
    """LibreOffice's help: page -> (title, blocks, first paragraph)."""
    base, out = root / "usr/share/libreoffice/help" / language / "text", {}
    shortest = 30 if language == "en-US" else 12
    for path in sorted(base.rglob("*.html")):
        raw = path.read_text(encoding="utf-8", errors="replace")
        area = re.search(r'<div id="DisplayArea"[^>]*>(.*)', raw, re.S)
        parser = Blocks()
        parser.feed(area.group(1) if area else raw)
        parser.end()
        start = next((i for i, (tag, _) in enumerate(parser.blocks) if tag == "h1"), None)
        if start is None:
            continue
        rest = parser.blocks[start + 1:]
        text = " ".join(block for _, block in rest)
        if len(text) > 300 and (language == "en-US" or chinese(text) > 100):
            first = next((block for tag, block in rest if tag == "p" and len(block) > shortest), None)
            out[str(path.relative_to(base).with_suffix(""))] = (parser.blocks[start][1], [block for _, block in rest], first)
    return out


def manual_pages(root):
    """Manual pages: page -> (name, description, text)."""
    out = {}
    for path in sorted(root.glob("man*/*.gz")):
        lines = gzip.open(path, "rt", encoding="utf-8", errors="replace").read().split("\n")
        if lines[0].startswith(".so"):
            continue
        hidden = ('.\\"', "'\\\"", ".TH", ".ds", ".de", ".if", ".ie", ".el", ".nr")
        parts = re.split(r'(?m)^\.S[Hh] +"?(.*?)"?\s*$', "\n".join(l for l in lines if not l.startswith(hidden)))
        if len(parts) < 5:
            continue
        name = re.split(r"\s+[-–—]+\s+", plain(parts[2]), maxsplit=1)
        if len(name) == 2:
            out[path.name] = (name[0], name[1], plain(" ".join(parts[4:])))
    return out


def plain(roff):
    text = re.sub(r"(?m)^\.[A-Za-z]+ ?", "", roff)
    for mark, meaning in (("\\-", "-"), ("\\&", ""), ("\\(em", "—"), ("\\e", "\\")):
        text = text.replace(mark, meaning)
    return " ".join(re.sub(r"\\f[A-Z]|\\f\(..|\\s[-+]?\d|\\[|^~ ]", "", text).split())


def write(folder, documents, queries):
    queries = random.sample(queries, min(QUERIES, len(queries)))
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    lines = lambda items: "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items)
    corpus = ({"_id": key, "title": title, "text": text[:LONGEST]} for key, (title, text) in documents.items())
    (folder / "corpus.jsonl").write_text(lines(corpus))
    (folder / "queries.jsonl").write_text(lines({"_id": f"q{i}", "text": text} for i, (text, _) in enumerate(queries)))
    pairs = "".join(f"q{i}\t{key}\t1\n" for i, (_, key) in enumerate(queries))
    (folder / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\n" + pairs)
    print(f"{folder.name}: {len(documents)} documents, {len(queries)} queries")


def help_sets(pages, out, language, name):
    titles = collections.Counter(title.lower() for title, _, _ in pages.values())
    tells = (lambda text: len(text.split()) >= 2) if language == "en-US" else (lambda text: chinese(text) >= 4)
    queries = [(title, key) for key, (title, _, _) in pages.items() if titles[title.lower()] == 1 and tells(title)]
    write(out / f"{name}-title", {key: ("", " ".join(blocks)) for key, (_, blocks, _) in pages.items()}, queries)

    firsts = collections.Counter(first for _, _, first in pages.values())
    fits = (lambda text: 25 < len(text) < 220) if language == "en-US" else (lambda text: 10 < chinese(text) < 90)
    documents, queries = {}, []
    for key, (title, blocks, first) in pages.items():
        text = " ".join(block for block in blocks if block != first)
        documents[key] = (title, text)
        if first and firsts[first] == 1 and len(text) > 200 and fits(first):
            queries.append((first, key))
    write(out / f"{name}-paragraph", documents, queries)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packages", type=Path, required=True, help="folder with the unpacked packages")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    random.seed(7)
    for language, name in (("en-US", "help-en"), ("zh-CN", "help-zh")):
        help_sets(help_pages(args.packages, language), args.out, language, name)
    for folder, name, shortest in (("man", "manual-en", 200), ("man/zh_CN", "manual-zh", 0)):
        pages = manual_pages(args.packages / "usr/share" / folder)
        if name.endswith("zh"):
            pages = {key: page for key, page in pages.items() if chinese(page[2]) > 50}
        documents = {key: (page[0], page[2]) for key, page in pages.items() if len(page[2]) > shortest}
        tells = (lambda text: chinese(text) >= 4) if name.endswith("zh") else (lambda text: len(text.split()) >= 3)
        write(args.out / name, documents, [(pages[key][1], key) for key in documents if tells(pages[key][1])])


if __name__ == "__main__":
    main()
