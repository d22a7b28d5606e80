"""Wrapper of mlx-vlm, which has no types. Everything here runs on the mlx thread."""

import importlib
import os
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from models.ocr.checkpoints import Checkpoint


class OcrChunk(Struct, frozen=True):
    """A piece of the text. `reason` is "", "stop" or "length"."""

    text: str
    prompt_tokens: int
    tokens: int
    reason: str


class DeepSeekEngine:
    """A loaded checkpoint."""

    def __init__(self, checkpoint: Checkpoint, *, run_code: bool) -> None:
        """Loads the model; slow. Raises what mlx-vlm raises, ImportError where it is not installed."""
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
        os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
        self._library: Any = importlib.import_module("mlx_vlm")
        # Left unsaid, mlx-vlm trusts a checkpoint's own Python.
        loaded: Any = self._library.load(str(checkpoint.folder), trust_remote_code=run_code)
        self._model, self._processor = loaded

    def read(self, picture: Any, prompt: str, *, most: int, size: dict[str, Any]) -> Iterator[OcrChunk]:
        """The text as it is generated, greedily. `picture` is Pillow's; `size` the resolution's keywords."""
        generate: Callable[..., Any] = self._library.stream_generate
        pieces = generate(
            self._model, self._processor, prompt, image=[picture], max_tokens=most, temperature=0.0, **size
        )
        try:
            for piece in pieces:
                yield OcrChunk(
                    str(piece.text), int(piece.prompt_tokens), int(piece.generation_tokens), piece.finish_reason or ""
                )
        finally:
            pieces.close()
