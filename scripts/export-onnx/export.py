#!/usr/bin/env python3
"""Exports a BERT sentence model (safetensors) to a folder with an ONNX model, without PyTorch.

The graph takes input_ids and attention_mask and returns last_hidden_state; the reader does the pooling as configured in
1_Pooling/config.json. The files of the tokenizer and of sentence-transformers are copied unchanged.
"""
import argparse
import json
import shutil
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

COPIED = ["tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "config.json", "sentence_bert_config.json",
          "1_Pooling/config.json"]


def bert(weights, layers, heads, epsilon=1e-12):
    """Returns the encoder as an ONNX graph; `weights` are named as in Hugging Face's BertModel."""
    nodes, constants = [], []

    def const(array):
        name = f"c{len(constants)}"
        constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def op(kind, *inputs, **attributes):
        name = f"t{len(nodes)}"
        nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def w(name):
        return weights[name].astype(np.float32)

    def linear(x, name):
        return op("Add", op("MatMul", x, const(w(name + ".weight").T)), const(w(name + ".bias")))

    def norm(x, name):
        return op("LayerNormalization", x, const(w(name + ".weight")), const(w(name + ".bias")), axis=-1, epsilon=epsilon)

    width = weights["embeddings.word_embeddings.weight"].shape[1]
    # There is only one sentence, so every token has the first type.
    places = w("embeddings.position_embeddings.weight") + w("embeddings.token_type_embeddings.weight")[0]
    length = op("Slice", op("Shape", "input_ids"), const(np.array([1])), const(np.array([2])))
    positions = op("Slice", const(places), const(np.array([0])), length, const(np.array([0])))
    x = op("Add", op("Gather", const(w("embeddings.word_embeddings.weight")), "input_ids"), positions)
    x = norm(x, "embeddings.LayerNorm")
    # 0 for a token, a large negative number for padding.
    seen = op("Cast", op("Unsqueeze", "attention_mask", const(np.array([1, 2]))), to=TensorProto.FLOAT)
    mask = op("Mul", op("Sub", seen, const(np.float32(1))), const(np.float32(1e9)))
    split = const(np.array([0, 0, heads, width // heads]))
    for i in range(layers):
        p = f"encoder.layer.{i}."

        def head(name, perm):
            return op("Transpose", op("Reshape", linear(x, p + "attention.self." + name), split), perm=perm)

        q, k, v = head("query", [0, 2, 1, 3]), head("key", [0, 2, 3, 1]), head("value", [0, 2, 1, 3])
        scores = op("Add", op("Mul", op("MatMul", q, k), const(np.float32((width / heads) ** -0.5))), mask)
        mixed = op("Transpose", op("MatMul", op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
        mixed = op("Reshape", mixed, const(np.array([0, 0, width])))
        x = norm(op("Add", x, linear(mixed, p + "attention.output.dense")), p + "attention.output.LayerNorm")
        h = linear(x, p + "intermediate.dense")
        erf = op("Erf", op("Mul", h, const(np.float32(2**-0.5))))
        h = op("Mul", op("Mul", h, const(np.float32(0.5))), op("Add", erf, const(np.float32(1))))
        x = norm(op("Add", x, linear(h, p + "output.dense")), p + "output.LayerNorm")
    nodes[-1].output[0] = "last_hidden_state"
    tokens = lambda name: helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "length", width])
    graph = helper.make_graph(nodes, "bert", [tokens("input_ids"), tokens("attention_mask")], [output], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model


def main():
    from safetensors.numpy import load_file

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="folder with model.safetensors, config.json, tokenizer.json")
    parser.add_argument("--out", type=Path, required=True, help="folder to create")
    args = parser.parse_args()
    config = json.loads((args.model / "config.json").read_text())
    if config["model_type"] != "bert" or config["hidden_act"] != "gelu":
        parser.error(f"{args.model} holds a {config['model_type']} model with {config['hidden_act']}; only BERT with gelu is supported")
    model = bert(load_file(args.model / "model.safetensors"), config["num_hidden_layers"], config["num_attention_heads"],
                 config["layer_norm_eps"])
    for name in COPIED:
        if (args.model / name).is_file():
            (args.out / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(args.model / name, args.out / name)
    onnx.save(model, args.out / "model.onnx")


if __name__ == "__main__":
    main()
