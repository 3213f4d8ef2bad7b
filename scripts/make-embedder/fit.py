#!/usr/bin/env python3
"""Fits the token table to the teacher's vectors and writes it with pack.py.

The vector of a text is the sum of its tokens' rows. The loss is one minus the cosine to the teacher's vector, plus a
ranking term: within a batch, the softmax over each text's similarities to the others should match the teacher's
(cross entropy). The optimizer is lazy Adam on the rows that a batch touches. One text in fifty is held out, and
agreement with the teacher is measured only on these.
"""
import argparse
import glob
import json
import time

import numpy as np
import scipy.sparse as sp

from pack import pack

SPECIAL = 999  # ids below are [PAD], [unusedN], [CLS]... : never produced by the tokenizer


def load(folder, limit=None):
    lengths, flat, vectors = [], [], []
    for name in sorted(glob.glob(folder + "/teacher-*.npz"))[:limit]:
        shard = np.load(name)
        lengths.append(shard["lengths"])
        flat.append(shard["ids"])
        vectors.append(shard["vectors"].astype(np.float32))
    return np.concatenate(lengths), np.concatenate(flat), np.concatenate(vectors)


def bags(lengths, flat, n_tokens):
    """Returns the texts as a sparse count matrix without special ids ([UNK])."""
    rows = np.repeat(np.arange(len(lengths)), lengths)
    keep = flat >= SPECIAL
    return sp.csr_matrix((np.ones(keep.sum(), np.float32), (rows[keep], flat[keep])), (len(lengths), n_tokens))


def unit(x):
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9)


def agreement(table, bag, target, width=10):
    """Returns the mean cosine, and the share of the teacher's ten nearest neighbors that are also the student's."""
    student = unit(bag @ table)
    n = min(len(target), 1000)
    best = {}
    for name, x in (("teacher", target), ("student", student)):
        sims = x[:n] @ x.T
        sims[np.arange(n), np.arange(n)] = -2
        best[name] = np.argpartition(-sims, width, axis=1)[:, :width]
    shared = np.mean([len(set(a) & set(b)) / width for a, b in zip(best["teacher"], best["student"])])
    return float((student * target).sum(1).mean()), float(shared)


def softmax(x):
    x = np.exp(x - x.max(1, keepdims=True))
    return x / x.sum(1, keepdims=True)


def gradient(summed, goal, ranking, temperature):
    """Returns the loss gradient with respect to the summed (not normalized) student vectors."""
    size = np.maximum(np.linalg.norm(summed, axis=1, keepdims=True), 1e-6)
    s = summed / size
    grad = -goal
    if ranking:
        n = len(s)
        mask = np.eye(n, dtype=np.float32) * 1e4
        want = softmax(goal @ goal.T / temperature - mask)
        have = softmax(s @ s.T / temperature - mask)
        error = (have - want) * ranking
        grad = grad + (error + error.T) @ s
    return (grad - (grad * s).sum(1, keepdims=True) * s) / size


def train(table, bag, target, epochs, rate, batch, ranking, temperature, rng, check, start=0.1):
    first, second, steps = np.zeros_like(table), np.zeros_like(table), np.zeros(len(table), np.float32)
    total, step = epochs * (bag.shape[0] // batch), 0
    for epoch in range(epochs):
        order = rng.permutation(bag.shape[0])
        for at in range(0, len(order) - batch + 1, batch):
            chosen = np.sort(order[at:at + batch])
            part = bag[chosen]
            touched = np.unique(part.indices)
            part = part[:, touched]
            summed = part @ table[touched]
            grad = part.T @ gradient(summed, target[chosen], ranking, temperature)
            steps[touched] += 1
            t = steps[touched, None]
            first[touched] = 0.9 * first[touched] + 0.1 * grad
            second[touched] = 0.999 * second[touched] + 0.001 * grad * grad
            lr = rate * (start + (1 - start) * (1 - step / total))
            table[touched] -= lr * (first[touched] / (1 - 0.9**t)) / (np.sqrt(second[touched] / (1 - 0.999**t)) + 1e-8)
            step += 1
        check(epoch)
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="folder with tokenizer.json")
    parser.add_argument("--data", default=".", help="folder with teacher-NNN.npz and tokens.npy")
    parser.add_argument("--shards", type=int, help="use only this many shards of the data")
    parser.add_argument("--lists", help="folder with the shards of the word lists")
    parser.add_argument("--out", default="static-table.bin")
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--ranking", type=float, default=1.0)
    parser.add_argument("--temperature", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--limit", type=int, help="keep only this many tokens (a small table for tests)")
    parser.add_argument("--save", help="also save the f32 table, as .npy")
    args = parser.parse_args()
    clock = time.time()

    vocabulary = json.load(open(args.model + "/tokenizer.json"))["model"]["vocab"]
    names = sorted(vocabulary, key=vocabulary.get)
    lengths, flat, vectors = load(args.data, args.shards)
    # Frequencies and the held-out part come from real text only.
    n_texts, frequency = len(lengths), np.bincount(flat, minlength=len(names)) / len(flat)
    if args.lists:
        lengths, flat, vectors = (np.concatenate(pair) for pair in zip((lengths, flat, vectors), load(args.lists)))
    bag = bags(lengths, flat, len(names))
    # Principal axes of the teacher's sentence vectors, not of the tokens, because sentences are compared.
    axes = np.linalg.eigh(vectors[:50_000].T @ vectors[:50_000])[1][:, ::-1][:, :args.width].astype(np.float32)
    target = unit(vectors @ axes)
    print(f"{len(lengths)} texts, {lengths.mean():.0f} tokens each; {np.linalg.norm(vectors[:5000] @ axes, axis=1).mean():.3f} of the length kept", flush=True)

    # Smooth inverse frequency, from the texts themselves.
    sif = 1e-3 / (1e-3 + frequency)
    tokens = np.load(args.data + "/tokens.npy")
    tokens = (tokens - tokens[SPECIAL:].mean(0)) @ axes
    table = (unit(tokens) * sif[:, None]).astype(np.float32)

    held = np.arange(0, n_texts, 50)
    rest = np.setdiff1d(np.arange(len(lengths)), held)
    held_bag, held_target = bag[held], target[held]

    def check(epoch):
        cosine, shared = agreement(table, held_bag, held_target)
        print(f"epoch {epoch}: held out cosine {cosine:.4f}, shared neighbors {shared:.4f}, {time.time() - clock:.0f} s", flush=True)

    check("none")
    train(table, bag[rest], target[rest], args.epochs, args.rate, args.batch, args.ranking, args.temperature,
          np.random.default_rng(args.seed), check)
    if args.save:
        np.save(args.save, table)

    kept = [i for i in range(SPECIAL, len(names))][:args.limit]
    # Shaped like inverse document frequency: 1 at one occurrence per 100,000 tokens, 0 at one per 20.
    information = np.clip(np.log(0.05 / np.maximum(frequency, 1e-9)) / np.log(0.05 / 1e-5), 0, 1)
    pack(args.out, [names[i] for i in kept], table[kept], information[kept])


if __name__ == "__main__":
    main()
