"""The peers of `scripts/bench-index`, which runs this script with a Python that has them.

    installed WORK          prints the peers that can be imported
    build NAME WORK         indexes chunks.jsonl and vectors.f32
    search NAME I WORK      answers query number I
    truth WORK              prints the ten best cosines of each query over all vectors
    warm WORK               runs many queries with tantivy and usearch

Each peer is used as its documentation recommends, with hybrid search if it has one: LanceDB with its full-text index, Chroma with vectors
alone (the local version has no BM25), tantivy and usearch with reciprocal rank fusion.
"""

import importlib.util
import json
import shutil
import statistics
import sys
import time
from pathlib import Path

HITS = 10
DEPTH = 100
NEEDS = {"lancedb": ["lancedb", "pyarrow", "numpy"], "chroma": ["chromadb", "numpy"], "hand": ["tantivy", "usearch", "numpy"]}
# Settings of usearch to try; the fastest that reaches the recall counts.
KINDS = ["f32", "bf16", "i8"]
EXPANSIONS = [64, 128, 192, 256, 384]


def main():
    command, *words, work = sys.argv[1:]
    work = Path(work)
    if command == "installed":
        print(*[name for name, needs in NEEDS.items() if all(map(importlib.util.find_spec, needs))])
    elif command == "build":
        shutil.rmtree(work / f"peer-{words[0]}", ignore_errors=True)
        BUILD[words[0]](work, work / f"peer-{words[0]}")
    elif command == "search":
        place = int(words[1])
        query = (work / "queries.txt").read_text().splitlines()[place]
        for hit in SEARCH[words[0]](work / f"peer-{words[0]}", query, query_vectors(work)[place]):
            print(hit)
    elif command == "truth":
        print(json.dumps(truth(work)))
    elif command == "warm":
        warm(work)


# ---- data -----------------------------------------------------------------------------------------------------------


def chunks(work):
    with open(work / "chunks.jsonl") as lines:
        return [json.loads(line) for line in lines]


def vectors(work, name="vectors.f32"):
    import numpy

    dimension = json.loads((work / "shape.json").read_text())["dimension"]
    return numpy.fromfile(work / name, dtype="<f4").reshape(-1, dimension)


def query_vectors(work):
    return vectors(work, "query-vectors.f32")


def truth(work):
    import numpy

    scores = query_vectors(work) @ vectors(work).T
    return [sorted(map(float, row[numpy.argpartition(-row, HITS)[:HITS]]), reverse=True) for row in scores]


# ---- LanceDB --------------------------------------------------------------------------------------------------------


def build_lancedb(work, folder):
    import lancedb
    import pyarrow

    rows, matrix = chunks(work), vectors(work)
    columns = {
        "id": pyarrow.array([row["id"] for row in rows]),
        "text": pyarrow.array([row["text"] for row in rows]),
        "vector": pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(matrix.reshape(-1)), matrix.shape[1]),
    }
    table = lancedb.connect(folder).create_table("chunks", pyarrow.table(columns))
    table.create_fts_index("text", replace=True)


def search_lancedb(folder, query, vector):
    import lancedb

    table = lancedb.connect(folder).open_table("chunks")
    found = table.search(query_type="hybrid").vector(vector).text(words_only(query)).limit(HITS).to_list()
    return [row["id"] for row in found]


def words_only(query):
    return "".join(c if c.isalnum() else " " for c in query)


# ---- Chroma ---------------------------------------------------------------------------------------------------------


def build_chroma(work, folder):
    import chromadb

    rows, matrix = chunks(work), vectors(work)
    collection = chromadb.PersistentClient(str(folder)).create_collection(
        "chunks", configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
    )
    for start in range(0, len(rows), 5000):
        part = rows[start : start + 5000]
        collection.add(
            ids=[row["id"] for row in part], documents=[row["text"] for row in part], embeddings=matrix[start : start + 5000]
        )


def search_chroma(folder, query, vector):
    import chromadb

    collection = chromadb.PersistentClient(str(folder)).get_collection("chunks", embedding_function=None)
    return collection.query(query_embeddings=[vector], n_results=HITS)["ids"][0]


# ---- tantivy and usearch --------------------------------------------------------------------------------------------


def build_hand(work, folder):
    import tantivy

    rows = chunks(work)
    schema = tantivy.SchemaBuilder()
    schema.add_text_field("text", stored=False)
    schema.add_text_field("id", stored=True, tokenizer_name="raw")
    schema.add_integer_field("row", stored=True, fast=True)
    (folder / "words").mkdir(parents=True)
    index = tantivy.Index(schema.build(), path=str(folder / "words"))
    writer = index.writer(200_000_000, 1)
    for row, chunk in enumerate(rows):
        writer.add_document(tantivy.Document(text=chunk["text"], id=chunk["id"], row=row))
    writer.commit()
    writer.wait_merging_threads()
    matrix = vectors(work)
    for kind in KINDS:
        build_usearch(matrix, kind, folder)
    (folder / "ids.json").write_text(json.dumps([row["id"] for row in rows]))


def build_usearch(matrix, kind, folder):
    import numpy
    from usearch.index import Index

    index = Index(ndim=matrix.shape[1], metric="cos", dtype=kind)
    start = time.perf_counter()
    index.add(numpy.arange(len(matrix)), matrix, threads=1)
    seconds = time.perf_counter() - start
    path = folder / f"vectors-{kind}.usearch"
    index.save(str(path))
    size = path.stat().st_size / 1e6
    print(f"usearch {kind}: {seconds:.1f} s on one thread, {index.memory_usage / 1e6:.0f} MB of memory, {size:.0f} MB on disk", file=sys.stderr)


class Hand:
    def __init__(self, folder, kind="f32", expansion=128, view=True):
        import tantivy
        from usearch.index import Index

        self.words = tantivy.Index.open(str(folder / "words"))
        self.searcher = self.words.searcher()
        self.vectors = Index.restore(str(folder / f"vectors-{kind}.usearch"), view=view)
        self.vectors.expansion_search = expansion

    def by_words(self, query):
        parsed, _ = self.words.parse_query_lenient(query, ["text"])
        return [address for _, address in self.searcher.search(parsed, DEPTH).hits]

    def by_vector(self, vector, depth=DEPTH):
        return self.vectors.search(vector, depth, threads=1)

    def ask(self, query, vector):
        scores = {}
        for rank, address in enumerate(self.by_words(query)):
            row = self.searcher.doc(address)["row"][0]
            scores[row] = scores.get(row, 0.0) + 1 / (60 + rank)
        for rank, key in enumerate(self.by_vector(vector).keys):
            scores[int(key)] = scores.get(int(key), 0.0) + 1 / (60 + rank)
        return sorted(scores, key=lambda row: (-scores[row], row))[:HITS]


def search_hand(folder, query, vector):
    ids = json.loads((folder / "ids.json").read_text())
    return [ids[row] for row in Hand(folder).ask(query, vector)]


def warm(work):
    folder = work / "peer-hand"
    queries = (work / "queries.txt").read_text().splitlines()
    wanted, rows = query_vectors(work), vectors(work)
    best = truth(work)
    for kind in KINDS:
        hand = Hand(folder, kind, view=False)
        for expansion in EXPANSIONS:
            hand.vectors.expansion_search = expansion
            times = timed([lambda v=v: hand.by_vector(v) for v in wanted])
            keys = [hand.by_vector(v).keys for v in wanted]
            cosines = [sorted((rows[k.astype(int)] @ v).tolist(), reverse=True)[:HITS] for k, v in zip(keys, wanted)]
            found = sum(c >= t[-1] - 1e-5 for cs, t in zip(cosines, best) for c in cs) / (HITS * len(wanted))
            if found >= 0.99 or expansion == EXPANSIONS[-1]:
                print(json.dumps({"usearch": kind, "expansion": expansion, "microseconds": round(times), "cosines": cosines}))
                break
        words = timed([lambda q=q: hand.by_words(q) for q in queries])
        both = timed([lambda q=q, v=v: hand.ask(q, v) for q, v in zip(queries, wanted)])
        print(json.dumps({"tantivy-py": round(words), f"tantivy-py and usearch {kind}, fused": round(both)}))


def timed(calls):
    """Returns the median in microseconds over three rounds, after a warm-up round."""
    out = []
    for turn in range(4):
        for call in calls:
            start = time.perf_counter()
            call()
            if turn > 0:
                out.append((time.perf_counter() - start) * 1e6)
    return statistics.median(out)


BUILD = {"lancedb": build_lancedb, "chroma": build_chroma, "hand": build_hand}
SEARCH = {"lancedb": search_lancedb, "chroma": search_chroma, "hand": search_hand}

if __name__ == "__main__":
    main()
