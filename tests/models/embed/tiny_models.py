"""Tiny embedding models in the real formats: a text's vector is how often each of its words occurs, and which."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.minilm_onnx import bert_onnx
from benchmarks.onnx_file import model, node, value

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "boiler", "warranty", "tea", "coffee", "ferry", "lisbon", "the", "of")


def tokenizer_json(folder: Path) -> None:
    """Whole words, in [CLS] … [SEP]."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))


def bag_onnx(folder: Path, *, answer: str = "states", broken: str = "") -> Path:
    """model.onnx whose hidden states are one-hot: their mean counts the words. `answer` "pooled": it pools itself.

    `broken` "nan": every vector is one of numbers that are none; "input": it wants what no text has.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer_json(folder)
    size = len(WORDS)
    table = np.eye(size, dtype=np.float32)
    if broken == "nan":
        table[:] = np.nan
    given = ["input_ids", "attention_mask", *(["pixel_values"] if broken == "input" else [])]
    nodes = [node("Gather", ["table", "input_ids"], "states"), node("Shape", ["attention_mask"], "unused")]
    weights: dict[str, Any] = {"table": table}
    output = value("states", "float32", ["batch", "length", size])
    if answer == "pooled":
        weights["one"] = np.array([1], np.int64)
        nodes.append(node("ReduceMax", ["states"], "sentence_embedding", axes=[1], keepdims=0))
        output = value("sentence_embedding", "float32", ["batch", size])
    inputs = [value(name, "int64", ["batch", "length"]) for name in given]
    (folder / "model.onnx").write_bytes(model(nodes, weights, inputs, [output]))
    return folder


def bert_config(**more: Any) -> dict[str, Any]:
    return {
        "model_type": "bert",
        "hidden_size": 16,
        "num_attention_heads": 2,
        "num_hidden_layers": 2,
        "intermediate_size": 32,
        "layer_norm_eps": 1e-12,
        "max_position_embeddings": 64,
        "pad_token_id": 0,
        **more,
    }


def bert_weights(config: dict[str, Any], seed: int = 7) -> dict[str, Any]:
    """Random weights by the names of Hugging Face's checkpoints."""
    chance = np.random.default_rng(seed)
    width, inner = config["hidden_size"], config["intermediate_size"]

    def some(*shape: int) -> Any:
        return chance.normal(0, 0.5, shape).astype(np.float32)

    weights = {
        "embeddings.word_embeddings.weight": some(len(WORDS), width),
        "embeddings.position_embeddings.weight": some(config["max_position_embeddings"], width),
        "embeddings.token_type_embeddings.weight": some(2, width),
        "embeddings.LayerNorm.weight": 1 + some(width),
        "embeddings.LayerNorm.bias": some(width),
    }
    shapes = {
        "attention.self.query": (width, width),
        "attention.self.key": (width, width),
        "attention.self.value": (width, width),
        "attention.output.dense": (width, width),
        "intermediate.dense": (inner, width),
        "output.dense": (width, inner),
    }
    for layer in range(config["num_hidden_layers"]):
        for name, shape in shapes.items():
            weights[f"encoder.layer.{layer}.{name}.weight"] = some(*shape)
            weights[f"encoder.layer.{layer}.{name}.bias"] = some(shape[0])
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            weights[f"encoder.layer.{layer}.{name}.weight"] = 1 + some(width)
            weights[f"encoder.layer.{layer}.{name}.bias"] = some(width)
    return weights


def bert_folder(folder: Path, *, onnx: bool = True, safetensors: bool = True, **more: Any) -> Path:
    """One and the same random BERT as model.onnx and as model.safetensors."""
    from safetensors.numpy import save_file

    folder.mkdir(parents=True, exist_ok=True)
    tokenizer_json(folder)
    config = bert_config(**more)
    weights = bert_weights(config)
    (folder / "config.json").write_text(json.dumps(config))
    if onnx:
        (folder / "model.onnx").write_bytes(bert_onnx(weights, config))
    if safetensors:
        save_file(weights, folder / "model.safetensors")
    return folder
