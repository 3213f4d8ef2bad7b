#!/usr/bin/env python3
"""Makes the model of a few kilobytes that the tests of the crate `indexer` load, and the vectors that it should give.

The weights are random with a fixed seed: it tells texts apart and means nothing.
"""
import argparse
import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from tokenizers import Tokenizer

from export import bert

WORDS = "a the hot key join skew data vertex slow memory spill of in by one row ##s ##ed 数 据 倾 斜".split()
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
WIDTH, INNER, LAYERS, HEADS, LONGEST = 8, 16, 1, 2, 8
# The last one is longer than the model reads.
TEXTS = ["hot keys", "the join of one hot key is slow", "数据倾斜", "spill", "", "data skew " * 20]


def weights():
    """Random weights under the names of BertModel; norms leave their input as it is."""
    random = np.random.default_rng(5)
    shapes = {
        "embeddings.word_embeddings.weight": (len(SPECIAL) + len(WORDS), WIDTH),
        "embeddings.position_embeddings.weight": (LONGEST, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
    }
    for i in range(LAYERS):
        p = f"encoder.layer.{i}."
        for name in ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"]:
            shapes[p + name + ".weight"] = (WIDTH, WIDTH)
            shapes[p + name + ".bias"] = (WIDTH,)
        shapes |= {p + "intermediate.dense.weight": (INNER, WIDTH), p + "intermediate.dense.bias": (INNER,),
                   p + "output.dense.weight": (WIDTH, INNER), p + "output.dense.bias": (WIDTH,)}
    out = {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    norms = ["embeddings."] + [f"encoder.layer.{i}.{part}." for i in range(LAYERS) for part in ("attention.output", "output")]
    for norm in norms:
        out[norm + "LayerNorm.weight"] = np.ones(WIDTH, np.float32)
        out[norm + "LayerNorm.bias"] = np.zeros(WIDTH, np.float32)
    return out


def tokenizer():
    vocabulary = {word: i for i, word in enumerate(SPECIAL + WORDS)}
    added = [{"id": i, "content": word, "special": True, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
             for i, word in enumerate(SPECIAL)]
    piece = lambda word: {"SpecialToken": {"id": word, "type_id": 0}}
    sentence = {"Sequence": {"id": "A", "type_id": 0}}
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added,
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing", "single": [piece("[CLS]"), sentence, piece("[SEP]")],
            "pair": [piece("[CLS]"), sentence, piece("[SEP]"), {"Sequence": {"id": "B", "type_id": 1}}, piece("[SEP]")],
            "special_tokens": {word: {"id": word, "ids": [SPECIAL.index(word)], "tokens": [word]} for word in ("[CLS]", "[SEP]")},
        },
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
                  "vocab": vocabulary},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder to make")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    onnx.save(bert(weights(), LAYERS, HEADS), out / "model.onnx")
    write = lambda name, value: (out / name).write_text(json.dumps(value, ensure_ascii=False) + "\n")
    write("tokenizer.json", tokenizer())
    write("sentence_bert_config.json", {"max_seq_length": LONGEST})
    reader = Tokenizer.from_file(str(out / "tokenizer.json"))
    reader.enable_truncation(LONGEST)
    session = onnxruntime.InferenceSession(out / "model.onnx")
    expected = []
    for text in TEXTS:
        ids = np.array([reader.encode(text).ids])
        mean = session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0][0].mean(0)
        expected.append({"text": text, "tokens": reader.encode(text).tokens, "vector": (mean / np.linalg.norm(mean)).astype(float).round(5).tolist()})
    write("expected.json", expected)


if __name__ == "__main__":
    main()
