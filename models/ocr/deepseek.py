"""DeepSeek-OCR and DeepSeek-OCR-2 through mlx-vlm, on the mlx thread: whole pages as text or Markdown.

Part of the program on Apple silicon, behind the extra `deepseek` on Linux. The checkpoint is the user's own: found in
LM Studio's folders or the hub's cache, never downloaded. One picture a call. Its output is bounded; truncation and
endless repetition are reported.
"""

import importlib
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from foundation.install_hints import install_extra
from foundation.program import PROGRAM
from foundation.shell_words import command_line
from models.errors import MissingLibrary, ModelError
from models.mlx_thread import JobPriority, MlxThread, mlx_thread
from models.ocr.checkpoints import Checkpoint, find_checkpoint
from models.ocr.picture import open_image
from models.ocr.port import Consent, OcrLine, OcrReading
from models.repetition import loop_at

if TYPE_CHECKING:
    from PIL import Image

PROMPTS = {
    "text": "<image>\nFree OCR. ",
    "markdown": "<image>\n<|grounding|>Convert the document to markdown. ",
    "figure": "<image>\nParse the figure. ",
}
"""What is asked. A prompt ends in a blank: mlx-vlm drops its last token."""
SIDES = {"tiny": 512, "small": 640, "base": 1024, "large": 1280}
"""Version 1's modes, in pixels; 73, 111, 273 and 421 image tokens."""
MOST_TOKENS = 8_192
_IMAGE_TOKENS = 1_200  # no picture takes more
_LOOK_EVERY = 64  # tokens between two looks for a repetition
_GROUNDING = re.compile(r"<\|ref\|>(.*?)<\|/ref\|>\s*<\|det\|>.*?<\|/det\|>\n?", re.DOTALL)
_SPECIAL = re.compile(r"<\|/?(?:ref|det|grounding|User|Assistant)\|>|<｜[^｜]*｜>")
FETCH = "hf download mlx-community/DeepSeek-OCR-2-bf16"
CUT_OFF = "The text was cut off at {most:,} tokens: the image contains more."
REPEATS = "The model began to repeat itself and was stopped. The text after that point is missing."


class OcrChunk(Struct, frozen=True):
    """A piece of the text. `reason` is "", "stop" or "length"."""

    text: str
    prompt_tokens: int
    tokens: int
    reason: str


class DeepSeekEngine:
    """A loaded checkpoint. Wraps mlx-vlm, which has no types; runs on the mlx thread."""

    def __init__(self, checkpoint: Checkpoint, *, run_code: bool) -> None:
        """Loads the model; slow. Raises what mlx-vlm raises, ImportError where it is not installed."""
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
        os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
        self._library: Any = importlib.import_module("mlx_vlm")
        # By default, mlx-vlm trusts a checkpoint's own Python.
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


class DeepSeek:
    """Loads the checkpoint with the first picture, and keeps it."""

    name = "deepseek"
    lines = False

    def __init__(
        self,
        checkpoint: str = "",
        *,
        size: str = "auto",
        prompt: str = "text",
        consent: Consent | None = None,
        may_run_code: bool = False,
        most: int = MOST_TOKENS,
        thread: MlxThread | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """`checkpoint` is a folder or a hub name; `size` a key of SIDES, `tiles`, or `auto` by the picture's own."""
        self._wanted, self._size, self._prompt, self._most = checkpoint, size, PROMPTS[prompt], most
        self._consent, self._may_run_code = consent, may_run_code
        self._thread = thread
        self._env = env
        self._engine: DeepSeekEngine | None = None  # touched on the mlx thread alone

    def read(self, image: bytes) -> OcrReading:
        picture = open_image(image)
        checkpoint = self._checkpoint()
        run_code = self._may_run(checkpoint)
        left = threading.Event()
        thread = self._thread or mlx_thread()
        future = thread.run(JobPriority.OCR, lambda: self._read(checkpoint, run_code, picture, left))
        try:
            return future.result()
        except BaseException:
            left.set()  # whoever waited is gone: the model stops at its next word
            raise

    def read_lines(self, images: Sequence[bytes]) -> list[OcrLine]:
        """Not supported: it reads pages."""
        raise NotImplementedError("DeepSeek-OCR reads whole pictures")

    def _checkpoint(self) -> Checkpoint:
        checkpoint = find_checkpoint(self._wanted, os.environ if self._env is None else self._env)
        if checkpoint is not None:
            return checkpoint
        problem = (
            f"`{self._wanted}` is no folder of it and not in" if self._wanted else "There is none in LM Studio's or"
        )
        fetch = command_line("hf", "download", self._wanted) if self._wanted else FETCH
        raise ModelError(
            "No DeepSeek-OCR here",
            f"{problem} the hub's folders on this machine.",
            f"To download it (about 7 GB): `{fetch}`.",
        )

    def _may_run(self, checkpoint: Checkpoint) -> bool:
        """Whether the checkpoint's own Python may run. Raises ModelError where it must, and may not."""
        if not checkpoint.code or self._may_run_code:
            return bool(checkpoint.code)
        if checkpoint.needs_code:
            if self._consent is not None and self._consent(checkpoint.folder, checkpoint.code):
                return True
            raise ModelError(
                "The checkpoint contains Python code",
                f"{checkpoint.folder} wants to run {checkpoint.code[0]} with the permissions of this program.",
                f"Read that file. If you trust it: `{PROGRAM} config set models.run_checkpoint_code true`",
            )
        return False  # what merely lies there is left alone

    # From here on: the mlx thread.

    def _read(
        self, checkpoint: Checkpoint, run_code: bool, picture: "Image.Image", left: threading.Event
    ) -> OcrReading:
        engine = self._loaded(checkpoint, run_code)
        most = max(1, min(self._most, checkpoint.window - _IMAGE_TOKENS))
        size = resolution(checkpoint.version, self._size, max(picture.size))
        text, warnings, tokens = "", list[str](), 0
        try:
            for piece in engine.read(picture, self._prompt, most=most, size=size):
                text, tokens = text + piece.text, tokens + 1
                if left.is_set():
                    break
                if piece.reason == "length":
                    warnings.append(CUT_OFF.format(most=most))
                if tokens % _LOOK_EVERY == 0 and (at := loop_at(text)) is not None:
                    text = text[:at]
                    warnings.append(REPEATS)
                    break
        except (RuntimeError, ValueError, MemoryError) as error:
            raise ModelError(
                "DeepSeek-OCR failed", f"{checkpoint.folder}: {error}", "Try a smaller picture."
            ) from error
        if REPEATS not in warnings and (at := loop_at(text)) is not None:
            text, warnings = text[:at], [REPEATS]
        return OcrReading(self.name, written=strip_markers(text), warnings=tuple(warnings))

    def _loaded(self, checkpoint: Checkpoint, run_code: bool) -> DeepSeekEngine:
        if self._engine is None:
            try:
                self._engine = DeepSeekEngine(checkpoint, run_code=run_code)
            except ImportError as error:
                raise _missing(error) from error
            except Exception as error:  # a checkpoint may be broken in any way
                aside = (
                    f" Its own Python ({checkpoint.code[0]}) was not run." if checkpoint.code and not run_code else ""
                )
                raise ModelError(
                    "DeepSeek-OCR cannot be loaded",
                    f"{checkpoint.folder}: {type(error).__name__}: {error}.{aside}",
                    "Check that the folder is complete.",
                ) from error
        return self._engine


def resolution(version: int, size: str, side: int) -> dict[str, Any]:
    """The keywords of `generate` for a size; `auto` takes the smallest that holds a picture of this longer side.

    Version 1: 73, 111, 273, 421 tokens, or tiles. Version 2: 257, or tiles of 144 more.
    """
    if size == "auto":
        size = next((name for name, pixels in SIDES.items() if side <= pixels), "tiles")
    if size == "tiles":
        return {"cropping": True}
    if version == 2:
        return {"cropping": False} if SIDES[size] <= 1024 else {"cropping": True}
    return {"cropping": False, "base_size": SIDES[size], "image_size": SIDES[size]}


def strip_markers(text: str) -> str:
    """The text alone, without positions (`<|det|>`) and other markers."""
    return _SPECIAL.sub("", _GROUNDING.sub("", text)).strip()


def _missing(error: ImportError) -> MissingLibrary:
    if sys.platform == "win32":
        hint = "mlx-vlm has no build for Windows: rapidocr and tesseract read there."
    else:
        hint = f"Install it with: {install_extra('deepseek' if sys.platform == 'linux' else 'mlx')}"
    return MissingLibrary("mlx-vlm is not installed", f"DeepSeek-OCR needs the library mlx-vlm ({error}).", hint)
