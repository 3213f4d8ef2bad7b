#!/usr/bin/env python3
"""Creates word lists as additional texts, so that words that are rare in the gathered text are fitted too.

There are three kinds, from the teacher's vocabulary and the words of texts.jsonl: a single rare word (its pieces
learn to represent it together), a few neighboring words (a topic), and random words.
"""
import argparse
import collections
import json
import random
import re

import numpy as np


def unit(x):
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9)


def neighbors(vectors, centers, n=24, at_once=512):
    """Yields the words nearest to each center; a center between two words gives a text of two topics."""
    for start in range(0, len(centers), at_once):
        yield from np.argpartition(-(centers[start:start + at_once] @ vectors.T), n, axis=1)[:, :n]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="folder with tokenizer.json")
    parser.add_argument("--texts", default="texts.jsonl")
    parser.add_argument("--tokens", default="tokens.npy")
    parser.add_argument("--out", default="lists.jsonl")
    parser.add_argument("--alone", type=int, default=40_000)
    parser.add_argument("--per-topic", type=int, default=1)
    parser.add_argument("--mixed", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=11)
    args = parser.parse_args()
    rng = random.Random(args.seed)

    vocabulary = json.load(open(args.model + "/tokenizer.json"))["model"]["vocab"]
    whole = [t for t in vocabulary if re.fullmatch(r"[a-z]{3,}", t)]
    vectors = unit(np.load(args.tokens))[[vocabulary[t] for t in whole]]
    vectors = unit(vectors - vectors.mean(0)).astype(np.float32)
    counts = collections.Counter()
    for line in open(args.texts):
        counts.update(re.findall(r"[a-z]{4,20}", json.loads(line)["text"].lower()))
    spelled = [w for w, n in counts.most_common() if n >= 2 and w not in vocabulary][:args.alone]

    texts = list(spelled)
    # Each word, rare or frequent, is the center of a list; then pairs of words are.
    centers = np.concatenate([vectors, vectors + vectors[rng.sample(range(len(whole)), len(whole))]])
    for i, near in enumerate(neighbors(vectors, centers)):
        lead = i % len(whole)
        for _ in range(args.per_topic):
            words = [whole[lead]] + [whole[j] for j in rng.sample(list(near), rng.randint(1, 6)) if j != lead]
            rng.shuffle(words)
            texts.append(" ".join(words))
    for _ in range(args.mixed):
        texts.append(" ".join(rng.sample(whole, rng.randint(2, 6)) + rng.sample(spelled, rng.randint(0, 2))))
    rng.shuffle(texts)
    with open(args.out, "w") as f:
        for text in texts:
            f.write(json.dumps({"text": text, "source": "lists"}) + "\n")
    print(f"{len(texts)} lists; {len(whole)} words, {len(spelled)} spelled in pieces")


if __name__ == "__main__":
    main()
