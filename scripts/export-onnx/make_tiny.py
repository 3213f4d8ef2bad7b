#!/usr/bin/env python3
"""Creates the tiny embedder and reranker for the tests of the crate `indexer`, with their expected output.

The weights are random with a fixed seed: they distinguish texts but carry no meaning.
"""
import argparse
import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer

from export import bert

WORDS = "a the hot key join skew data vertex slow memory spill of in by one row ##s ##ed 数 据 倾 斜".split()
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
WIDTH, INNER, LAYERS, HEADS = 8, 16, 1, 2
# Maximum number of tokens of the embedder and the reranker.
LONGEST, LONGEST_PAIR = 8, 48
# The last text exceeds the maximum length of the model.
TEXTS = ["hot keys", "the join of one hot key is slow", "数据倾斜", "spill", "", "data skew " * 20]
# Passages in the form that the index passes them: title, headings, text.
PAIRS = ("the hot key of a join", ["A > Cause\n# A\n\n## Cause\n\nthe join of one hot key", "A > Fix\n## Fix\n\nthe memory of a vertex",
                                   "B > 原因\n# B\n\n## 原因\n\n数据倾斜"])


def weights(longest):
    """Returns random weights with the names of BertModel; norms are the identity."""
    random = np.random.default_rng(5)
    shapes = {
        "embeddings.word_embeddings.weight": (len(SPECIAL) + len(WORDS), WIDTH),
        "embeddings.position_embeddings.weight": (longest, WIDTH),
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


def reranker():
    """Returns the encoder with a single output, like a sequence classifier."""
    model = bert(weights(LONGEST_PAIR), LAYERS, HEADS)
    head = numpy_helper.from_array(np.random.default_rng(6).normal(size=(WIDTH, 1)).astype(np.float32), "head")
    model.graph.initializer.append(head)
    model.graph.node.extend([
        helper.make_node("ReduceMean", ["last_hidden_state"], ["mean"], axes=[1], keepdims=0),
        helper.make_node("MatMul", ["mean", "head"], ["logits"]),
    ])
    del model.graph.output[:]
    model.graph.output.append(helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1]))
    onnx.checker.check_model(model)
    return model


def save(folder, model, longest):
    """Writes model and tokenizer; returns a function that runs them."""
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / "model.onnx")
    write(folder / "tokenizer.json", tokenizer())
    reader = Tokenizer.from_file(str(folder / "tokenizer.json"))
    reader.enable_truncation(longest)
    session = onnxruntime.InferenceSession(folder / "model.onnx")

    def run(*texts):
        ids = np.array([reader.encode(*texts).ids])
        return session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0][0]

    return run


def write(path, value):
    path.write_text(json.dumps(value, ensure_ascii=False) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="parent folder of the model folders")
    out = parser.parse_args().out
    rounded = lambda numbers: numbers.astype(float).round(5).tolist()

    run = save(out / "tiny-onnx", bert(weights(LONGEST), LAYERS, HEADS), LONGEST)
    write(out / "tiny-onnx/sentence_bert_config.json", {"max_seq_length": LONGEST})
    means = [run(text).mean(0) for text in TEXTS]
    write(out / "tiny-onnx/expected.json",
          [{"text": text, "vector": rounded(mean / np.linalg.norm(mean))} for text, mean in zip(TEXTS, means)])

    run = save(out / "tiny-reranker", reranker(), LONGEST_PAIR)
    write(out / "tiny-reranker/tokenizer_config.json", {"model_max_length": LONGEST_PAIR})
    query, passages = PAIRS
    write(out / "tiny-reranker/expected.json",
          {"query": query, "passages": [{"text": text, "score": rounded(run(query, text))[0]} for text in passages]})


if __name__ == "__main__":
    main()
