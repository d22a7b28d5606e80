"""Embedder of an ONNX model in a folder, by onnxruntime on this machine's CPU. Downloads nothing.

The folder holds model.onnx (there or under onnx/) and tokenizer.json, as the hub's exports do.
"""

import importlib
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foundation.install_hints import install_extra
from foundation.privacy import Cleared
from models.embed.errors import EmbedError
from models.embed.manifest import fingerprint, recipe_of
from models.embed.settings import EmbedSettings
from models.errors import MissingLibrary

if TYPE_CHECKING:
    from models.embed.port import Vectors
    from models.embed.tokens import TextTokens, TokenBatch

_MODELS = ("model.onnx", "onnx/model.onnx")


class OnnxEmbedder:
    """An Embedder of a folder. Raises EmbedError where there is no model in it."""

    remote = False

    def __init__(self, folder: str, settings: EmbedSettings) -> None:
        self._folder = Path(folder).expanduser()
        self._settings = settings
        self._model = _model_in(self._folder)
        self._recipe = recipe_of(self._folder, settings)
        self.name = f"onnx:{self._folder.name} {fingerprint(self._files(), self._recipe, settings)}"
        self._lock = threading.Lock()
        self._loaded: tuple[Any, TextTokens] | None = None

    def embed(self, texts: Sequence[Cleared], *, query: bool = False) -> "Vectors":
        import numpy as np

        from models.embed.vectors import normalise

        session, tokens = self._load()
        prefix = self._recipe.query_prefix if query else self._recipe.text_prefix
        rows: list[Any] = [None] * len(texts)
        for batch in tokens.batches([prefix + text for text in texts], self._settings.batch):
            for row, vector in zip(batch.rows, self._run(session, batch), strict=True):
                rows[row] = vector
        if not rows:
            return np.zeros((0, self._settings.dimensions), np.float32)
        return normalise(np.stack(rows), str(self._model), self._settings.dimensions)

    def close(self) -> None:
        with self._lock:
            self._loaded = None

    def _files(self) -> list[Path]:
        tokenizer = self._folder / "tokenizer.json"
        return [self._model, tokenizer] if tokenizer.is_file() else [self._model]

    def _load(self) -> "tuple[Any, TextTokens]":
        with self._lock:
            if self._loaded is None:
                from models.embed.tokens import TextTokens

                self._loaded = self._session(), TextTokens(self._folder, self._recipe)
            return self._loaded

    def _session(self) -> Any:
        try:
            library: Any = importlib.import_module("onnxruntime")
        except ImportError as error:
            raise MissingLibrary(
                "onnxruntime is not installed",
                f"ONNX models need the library onnxruntime ({error}).",
                f"Install it with: {install_extra('embed')}",
            ) from error
        options: Any = library.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = max(1, (os.cpu_count() or 2) // 2)  # the chat has the others
        try:
            return library.InferenceSession(str(self._model), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's own, which share no base
            raise EmbedError(
                "The model cannot be loaded",
                f"{self._model}: {_first_line(error)}",
                "Check that the file is complete.",
            ) from error

    def _run(self, session: Any, batch: "TokenBatch") -> Any:
        """(rows, dimensions), raw."""
        import numpy as np

        from models.embed.tokens import pool_states

        known: dict[str, Any] = {
            "input_ids": batch.ids,
            "attention_mask": batch.mask,
            "token_type_ids": np.zeros_like(batch.ids),
            "position_ids": np.indices(batch.ids.shape)[1],
        }
        input_names = [item.name for item in session.get_inputs()]
        if strange := [name for name in input_names if name not in known]:
            raise self._no_embedder(f"needs the input {', '.join(strange)}, which text models do not have")
        outputs = {item.name: index for index, item in enumerate(session.get_outputs())}
        try:
            arrays = session.run(None, {name: known[name] for name in input_names})
        except Exception as error:  # as above
            raise EmbedError("The model failed", f"{self._model}: {_first_line(error)}") from error
        if "sentence_embedding" in outputs:
            return arrays[outputs["sentence_embedding"]]
        states: Any = next((item for item in arrays if item.ndim == 3), None)
        if states is None:
            raise self._no_embedder("returns no hidden states")
        return pool_states(states, batch.mask, self._recipe)

    def _no_embedder(self, problem: str) -> EmbedError:
        return EmbedError("Not an embedding model", f"{self._model} {problem}.", "Choose another folder.")


def _model_in(folder: Path) -> Path:
    for name in _MODELS:
        if (folder / name).is_file():
            return folder / name
    raise EmbedError(
        "Model not found",
        f"{folder} has no model.onnx.",
        "The folder of an ONNX export has model.onnx (or onnx/model.onnx) and tokenizer.json.",
    )


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
