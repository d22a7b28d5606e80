"""Embedder through mlx, on the mlx thread, with lower priority than chat and OCR.

Takes a folder, or a hub name in the local cache; downloads nothing. BERT and XLM-RoBERTa are implemented in
mlx_encoder, anything else is mlx-lm's (Qwen3-Embedding).
"""

import importlib
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foundation.install_hints import install_extra
from foundation.privacy import Cleared
from foundation.shell_words import command_line
from models.chat.mlx.files import find_folder
from models.embed.errors import EmbedError
from models.embed.manifest import fingerprint, read_json, recipe_of
from models.embed.settings import EmbedSettings
from models.errors import MissingLibrary
from models.mlx_thread import JobPriority, MlxThread, mlx_thread

if TYPE_CHECKING:
    from models.embed.port import Vectors
    from models.embed.tokens import TextTokens, TokenBatch

LOADING_S = 10.0  # a question waits for a model that is not loaded yet: nothing else would load it for `search`
AT_ONCE = 8  # texts a job: a chat that begins waits for no more than these


class MlxEmbedder:
    """An Embedder of a folder. Raises EmbedError where there is none."""

    remote = False

    def __init__(self, name: str, settings: EmbedSettings, thread: MlxThread | None = None) -> None:
        folder = find_folder(name)
        if folder is None:
            raise EmbedError(
                "Model not found",
                f"`{name}` is not a folder with a config.json, and is not in the local Hugging Face cache.",
                f"To download it: `{command_line('hf', 'download', name)}`.",
            )
        self._called = name
        self._folder = folder
        self._settings = settings
        self._recipe = recipe_of(folder, settings)
        files = [path for path in (*sorted(folder.glob("*.safetensors")), folder / "tokenizer.json") if path.is_file()]
        self.name = f"mlx:{Path(name).name} {fingerprint(files, self._recipe, settings)}"
        self._thread = thread or mlx_thread()
        self._tokens: TextTokens | None = None
        self._model: Callable[[Any, Any], Any] | None = None  # touched on the mlx thread alone

    def embed(self, texts: Sequence[Cleared], *, query: bool = False) -> "Vectors":
        import numpy as np

        from models.embed.tokens import TextTokens
        from models.embed.vectors import normalise

        if not texts:
            return np.zeros((0, self._settings.dimensions), np.float32)
        if self._tokens is None:
            self._tokens = TextTokens(self._folder, self._recipe)
        if query and self._model is None:
            self._awaited(self._thread.run(JobPriority.EMBEDDING, self._loaded), LOADING_S)
        patience = self._settings.query_timeout if query else None
        prefix = self._recipe.query_prefix if query else self._recipe.text_prefix
        rows: list[Any] = [None] * len(texts)
        for batch in self._tokens.batches([prefix + text for text in texts], AT_ONCE):
            job = self._thread.run(JobPriority.EMBEDDING, lambda batch=batch: self._run(batch))
            for row, vector in zip(batch.rows, self._awaited(job, patience), strict=True):
                rows[row] = vector
        return normalise(np.stack(rows), f"`{self._called}`", self._settings.dimensions)

    def close(self) -> None:
        if self._model is not None:
            self._thread.run(JobPriority.EMBEDDING, self._let_go).result()

    def _awaited(self, job: "Future[Any]", seconds: float | None) -> Any:
        """The result, within the time that the asker of a question waits: a chat may have the thread."""
        try:
            return job.result(seconds)
        except TimeoutError:
            job.cancel()
            problem = f"`{self._called}` sent no vector within {seconds:g} s: another request is using MLX."
            raise EmbedError("No vector", problem, "It will be tried again later.", passing=True) from None

    def _let_go(self) -> None:
        self._model = None

    # From here on: the mlx thread.

    def _run(self, batch: "TokenBatch") -> Any:
        """(rows, dimensions), raw."""
        from models.embed.tokens import pool_states

        model = self._loaded()
        try:
            import numpy as np

            mx: Any = importlib.import_module("mlx.core")
            states = model(mx.array(batch.ids.astype(np.int32)), mx.array(batch.mask.astype(np.int32)))
            return pool_states(np.array(states, np.float32), batch.mask, self._recipe)
        except (RuntimeError, ValueError, KeyError, MemoryError) as error:
            raise EmbedError("The model failed", f"`{self._called}`: {type(error).__name__}: {error}") from error

    def _loaded(self) -> Callable[[Any, Any], Any]:
        if self._model is None:
            os.environ.setdefault("HF_HUB_OFFLINE", "1")
            from models.embed.mlx_encoder import KNOWN, Decoder, Encoder

            kind = read_json(self._folder / "config.json").get("model_type")
            try:
                self._model = (Encoder if kind in KNOWN else Decoder)(self._folder)
            except ImportError as error:
                raise _missing(error) from error
            except Exception as error:  # a checkpoint may be broken in any way
                raise EmbedError(
                    "The model cannot be loaded",
                    f"`{self._called}`: {type(error).__name__}: {error}",
                    "Check that the folder is complete.",
                ) from error
        return self._model


def _missing(error: ImportError) -> MissingLibrary:
    if sys.platform == "win32":
        hint = "mlx-lm has no build for Windows: use Ollama, LM Studio, llama.cpp or onnx."
    else:
        hint = f"Install it with: {install_extra('mlx')}"
    return MissingLibrary("mlx is not installed", f"MLX models need the library mlx-lm ({error}).", hint)
