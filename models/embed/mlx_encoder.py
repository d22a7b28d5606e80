"""BERT and XLM-RoBERTa in mlx, which mlx-lm lacks: the architecture of most small embedding models.

Devlin et al. 2019; weights by the names of Hugging Face's checkpoints. Everything here runs on the mlx thread.
"""

import importlib
from pathlib import Path
from typing import Any

from models.embed.manifest import Json, read_json

KNOWN = frozenset({"bert", "roberta", "xlm-roberta", "camembert"})
_PREFIXES = ("bert.", "roberta.", "model.")
_LEFT_OUT = ("pooler.", "cls.", "lm_head.", "classifier.", "embeddings.position_ids")


class Encoder:
    """A loaded encoder: ids and mask in, hidden states out."""

    def __init__(self, folder: Path) -> None:
        """Raises ImportError without mlx, and whatever a broken checkpoint makes mlx raise."""
        self._mx: Any = importlib.import_module("mlx.core")
        self._nn: Any = importlib.import_module("mlx.nn")
        self._config = read_json(folder / "config.json")
        self._weights = self._read(folder)
        self._quantised: Json = self._config.get("quantization") or {}
        # RoBERTa counts places from behind its padding token
        self._first_place = int(self._config.get("pad_token_id") or 0) + 1 if self._is_roberta else 0

    def __call__(self, ids: Any, mask: Any) -> Any:
        """float32 (texts, length, dimensions) of int arrays (texts, length)."""
        mx = self._mx
        positions = mx.arange(ids.shape[1]) + self._first_place
        state = self._looked_up("embeddings.word_embeddings", ids)
        state = state + self._looked_up("embeddings.position_embeddings", positions)[None]
        state = state + self._looked_up("embeddings.token_type_embeddings", mx.zeros_like(ids))
        state = self._normed("embeddings.LayerNorm", state)
        # what is padded is seen by nobody
        unseen = mx.where(mask[:, None, None, :] == 0, mx.array(-1e9), mx.array(0.0)).astype(state.dtype)
        for layer in range(self._config["num_hidden_layers"]):
            state = self._layer(f"encoder.layer.{layer}", state, unseen)
        return state.astype(mx.float32)

    @property
    def _is_roberta(self) -> bool:
        return self._config.get("model_type") != "bert"

    def _layer(self, name: str, state: Any, unseen: Any) -> Any:
        texts, length, width = state.shape
        heads = self._config["num_attention_heads"]

        def parted(part: str) -> Any:
            flat = self._linear(f"{name}.attention.self.{part}", state)
            return flat.reshape(texts, length, heads, width // heads).transpose(0, 2, 1, 3)

        attended = self._mx.fast.scaled_dot_product_attention(
            parted("query"), parted("key"), parted("value"), scale=(width // heads) ** -0.5, mask=unseen
        )
        attended = attended.transpose(0, 2, 1, 3).reshape(texts, length, width)
        attended = self._linear(f"{name}.attention.output.dense", attended)
        state = self._normed(f"{name}.attention.output.LayerNorm", state + attended)
        thought = self._nn.gelu(self._linear(f"{name}.intermediate.dense", state))
        thought = self._linear(f"{name}.output.dense", thought)
        return self._normed(f"{name}.output.LayerNorm", state + thought)

    def _linear(self, name: str, state: Any) -> Any:
        weights = self._weights
        if f"{name}.scales" in weights:
            product = self._mx.quantized_matmul(
                state, weights[f"{name}.weight"], weights[f"{name}.scales"], weights[f"{name}.biases"], **self._bits
            )
        else:
            product = state @ weights[f"{name}.weight"].T
        return product + weights[f"{name}.bias"]

    def _looked_up(self, name: str, ids: Any) -> Any:
        weights = self._weights
        if f"{name}.scales" not in weights:
            return weights[f"{name}.weight"][ids]
        parts = (weights[f"{name}.{part}"][ids] for part in ("weight", "scales", "biases"))
        return self._mx.dequantize(*parts, **self._bits)

    @property
    def _bits(self) -> Json:
        return {"group_size": self._quantised.get("group_size", 64), "bits": self._quantised.get("bits", 4)}

    def _normed(self, name: str, state: Any) -> Any:
        weights, eps = self._weights, float(self._config.get("layer_norm_eps", 1e-12))
        return self._mx.fast.layer_norm(state, weights[f"{name}.weight"], weights[f"{name}.bias"], eps)

    def _read(self, folder: Path) -> dict[str, Any]:
        weights: dict[str, Any] = {}
        files = sorted(folder.glob("*.safetensors"))
        if not files:
            raise FileNotFoundError(f"{folder} has no .safetensors file")
        for file in files:
            for name, weight in self._mx.load(str(file)).items():
                short = name
                for prefix in _PREFIXES:
                    short = short.removeprefix(prefix)
                if not short.startswith(_LEFT_OUT):
                    weights[short] = weight
        return weights


class Decoder:
    """A model of mlx-lm whose hidden states make the vector (Qwen3-Embedding and its like)."""

    def __init__(self, folder: Path) -> None:
        """Raises as `Encoder` does. Code that comes with a checkpoint is never run."""
        self._mx: Any = importlib.import_module("mlx.core")
        library: Any = importlib.import_module("mlx_lm.utils")
        model: Any = library.load_model(folder, strict=False)[0]
        self._body: Any = model.model

    def __call__(self, ids: Any, mask: Any) -> Any:
        """Like an encoder. Padding is at the right, where no earlier token attends to it."""
        return self._body(ids).astype(self._mx.float32)
