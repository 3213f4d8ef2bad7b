#!/usr/bin/env python3
"""Writes the token table in the layout that crates/indexer/data/README.md describes."""
import struct

import blake3
import numpy as np

MAGIC, VERSION, SLOT_FACTOR = b"SATOKTAB", 2, 2
FNV_OFFSET, FNV_PRIME, MASK = 0x811C9DC5, 0x01000193, 0xFFFFFFFF


def fnv1a(data):
    """32-bit FNV-1a. It works byte by byte, so the reader hashes all prefixes of a word in one pass."""
    h = FNV_OFFSET
    for b in data:
        h = ((h ^ b) * FNV_PRIME) & MASK
    return h


def spread(h):
    """Mixes the high bits into the low ones, which select the slot."""
    h ^= h >> 15
    h = (h * 0x2C1B3C6D) & MASK
    return h ^ (h >> 13)


def quantize(table):
    """Rows as numbers from -8 to 7 and their scales: of 21 scales per row, the one that leaves the smallest error."""
    peak = np.maximum(np.abs(table).max(1), 1e-9)
    rows, scales, errors = np.zeros(table.shape, np.int8), np.ones(len(table)), np.full(len(table), np.inf)
    for share in np.linspace(0.5, 1, 21):
        scale = peak * share / 7
        tried = np.clip(np.rint(table / scale[:, None]), -8, 7)
        error = ((tried * scale[:, None] - table) ** 2).sum(1)
        better = error < errors
        rows[better], scales[better], errors[better] = tried[better], scale[better], error[better]
    return rows, scales


def pack(path, tokens, table, information):
    """tokens: str list ("##x" for a continuation); table f32 [n, d], d even; information in 0..1 [n]."""
    n, dimension = table.shape
    rows, scales = quantize(table)
    halves = rows.astype("u1") & 15
    assert n < 0xFFFF, "a slot has 16 bits for the token"
    texts = [t.encode() for t in tokens]
    n_slots = 1
    while n_slots < SLOT_FACTOR * n:
        n_slots *= 2
    slots = np.zeros(n_slots, "<u4")
    for i, text in enumerate(texts):
        assert len(text) <= 64, "the reader tries no longer prefix"
        h = spread(fnv1a(text))
        at = h & (n_slots - 1)
        while slots[at]:
            at = (at + 1) & (n_slots - 1)
        slots[at] = (h >> 16) << 16 | (i + 1)
    ends = np.cumsum([len(t) for t in texts]).astype("<u4")
    body = b"".join([
        scales.astype("<f4").tobytes(),
        ends.tobytes(),
        slots.tobytes(),
        np.clip(np.rint(information * 255), 0, 255).astype("u1").tobytes(),
        (halves[:, ::2] | halves[:, 1::2] << 4).tobytes(),
        b"".join(texts),
    ])
    header = MAGIC + struct.pack("<BBHIII", VERSION, 0, dimension, n, n_slots, int(ends[-1]))
    header += blake3.blake3(body).digest()[:16]
    assert len(header) == 40
    with open(path, "wb") as f:
        f.write(header + body)
    print(f"{path}: {n} tokens, {dimension} components, {(40 + len(body)) / 1e6:.2f} MB")
