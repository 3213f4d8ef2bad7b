#!/usr/bin/env python3
"""Encodes texts.jsonl with the teacher (all-MiniLM-L6-v2) into teacher-NNN.npz shards (ids, lengths, vectors).

Builds the BERT graph from the safetensors weights, quantizes it to int8 per channel, and runs it with ONNX
Runtime. All texts of a batch have the same length, so the graph needs no attention mask. Also writes tokens.npy:
the teacher's vector of each vocabulary entry ([CLS] token [SEP]), the start of the student's table.
"""
import argparse
import json
import os
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from safetensors.numpy import load_file
from tokenizers import Tokenizer

HEADS, WIDTH, LAYERS = 12, 384, 6


def build(weights):
    """Returns the teacher as an ONNX graph: ids [B, L] -> mean-pooled, normalized vectors [B, 384]."""
    nodes, inits, count = [], [], [0]

    def const(array):
        count[0] += 1
        inits.append(numpy_helper.from_array(np.ascontiguousarray(array), f"c{count[0]}"))
        return f"c{count[0]}"

    def op(kind, *inputs, **attributes):
        count[0] += 1
        nodes.append(helper.make_node(kind, list(inputs), [f"t{count[0]}"], **attributes))
        return f"t{count[0]}"

    def w(name):
        return weights[name].astype(np.float32)

    def linear(x, name):
        return op("Add", op("MatMul", x, const(w(name + ".weight").T)), const(w(name + ".bias")))

    def norm(x, name):
        return op("LayerNormalization", x, const(w(name + ".weight")), const(w(name + ".bias")), axis=-1, epsilon=1e-12)

    embeddings = w("embeddings.position_embeddings.weight") + w("embeddings.token_type_embeddings.weight")[0]
    length = op("Slice", op("Shape", "ids"), const(np.array([1])), const(np.array([2])))
    positions = op("Slice", const(embeddings), const(np.array([0])), length, const(np.array([0])))
    x = op("Add", op("Gather", const(w("embeddings.word_embeddings.weight")), "ids"), positions)
    x = norm(x, "embeddings.LayerNorm")
    split = const(np.array([0, 0, HEADS, WIDTH // HEADS]))
    for i in range(LAYERS):
        p = f"encoder.layer.{i}."

        def head(name, perm):
            return op("Transpose", op("Reshape", linear(x, p + "attention.self." + name), split), perm=perm)

        q, k, v = head("query", [0, 2, 1, 3]), head("key", [0, 2, 3, 1]), head("value", [0, 2, 1, 3])
        scores = op("Mul", op("MatMul", q, k), const(np.float32((WIDTH / HEADS) ** -0.5)))
        mixed = op("Transpose", op("MatMul", op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
        mixed = op("Reshape", mixed, const(np.array([0, 0, WIDTH])))
        x = norm(op("Add", x, linear(mixed, p + "attention.output.dense")), p + "attention.output.LayerNorm")
        h = linear(x, p + "intermediate.dense")
        h = op("Mul", op("Mul", h, const(np.float32(0.5))), op("Add", op("Erf", op("Mul", h, const(np.float32(2**-0.5)))), const(np.float32(1))))
        x = norm(op("Add", x, linear(h, p + "output.dense")), p + "output.LayerNorm")
    mean = op("ReduceMean", x, axes=[1], keepdims=0)
    size = op("ReduceL2", mean, axes=[1], keepdims=1)
    nodes.append(helper.make_node("Div", [mean, size], ["vectors"]))
    graph = helper.make_graph(nodes, "teacher", [helper.make_tensor_value_info("ids", TensorProto.INT64, ["B", "L"])],
                              [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["B", WIDTH])], inits)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def session(path, threads):
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def encode(model, ids, batch=32):
    """Returns the teacher's vectors of token lists; texts of the same length share a batch."""
    by_length = defaultdict(list)
    for i, tokens in enumerate(ids):
        by_length[len(tokens)].append(i)
    out = np.zeros((len(ids), WIDTH), np.float32)
    for members in by_length.values():
        for at in range(0, len(members), batch):
            chosen = members[at:at + batch]
            out[chosen] = model.run(None, {"ids": np.array([ids[i] for i in chosen], np.int64)})[0]
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="folder with model.safetensors and tokenizer.json")
    parser.add_argument("--texts", default="texts.jsonl")
    parser.add_argument("--out", default=".")
    parser.add_argument("--tokens", type=int, default=120, help="maximum length, in tokens including [CLS] and [SEP]")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--shard", type=int, default=4000)
    args = parser.parse_args()
    out = Path(args.out)
    exact, int8 = str(out / "teacher-f32.onnx"), str(out / "teacher-int8.onnx")
    if not os.path.exists(int8):
        onnx.save(build(load_file(args.model + "/model.safetensors")), exact)
        quantize_dynamic(exact, int8, per_channel=True, weight_type=QuantType.QInt8, op_types_to_quantize=["MatMul"])
    tokenizer = Tokenizer.from_file(args.model + "/tokenizer.json")
    tokenizer.no_padding()
    tokenizer.enable_truncation(args.tokens)
    model = session(int8, args.threads)

    texts = [json.loads(line)["text"] for line in open(args.texts)]
    sample = [e.ids for e in tokenizer.encode_batch(texts[:200])]
    agreement = (encode(session(exact, args.threads), sample) * encode(model, sample)).sum(1)
    print(f"int8 compared with f32: cosine mean {agreement.mean():.4f}, minimum {agreement.min():.4f}", flush=True)
    if not (out / "tokens.npy").exists():
        n = tokenizer.get_vocab_size()
        np.save(out / "tokens.npy", encode(model, [[101, i, 102] for i in range(n)], 256))
        print("vocabulary done", flush=True)
    for start in range(0, len(texts), args.shard):
        shard = out / f"teacher-{start // args.shard:03}.npz"
        if shard.exists():
            continue
        clock = time.time()
        ids = [e.ids for e in tokenizer.encode_batch(texts[start:start + args.shard])]
        vectors = encode(model, ids)
        flat = np.concatenate([np.array(t[1:-1], np.int32) for t in ids])
        np.savez(shard, ids=flat, lengths=np.array([len(t) - 2 for t in ids]), vectors=vectors.astype(np.float16))
        print(f"{shard.name}: {len(ids)} texts, {len(ids) / (time.time() - clock):.0f}/s", flush=True)


if __name__ == "__main__":
    main()
