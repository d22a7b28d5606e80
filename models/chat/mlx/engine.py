"""Wrapper of mlx-lm, which has no types. Everything here runs on the mlx thread."""

import importlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from models.chat.mlx import cache_files
from models.chat.mlx.prompt_caches import NO_SLOT, KeptCache, PromptCaches
from models.messages import PromptCacheSlot

PREFILL_STEP = 512  # tokens between two looks at whether someone still listens; mlx-lm's own is 2,048


class MlxChunk(Struct, frozen=True):
    """A piece of the answer. `reason` is "", "stop" or "length"."""

    text: str
    tokens: int
    per_second: float
    reason: str


class MlxEngine:
    """A loaded model with its tokenizer and the KV caches of conversations.

    A request that begins with the tokens of its conversation's cache is processed from the first token that differs.
    """

    def __init__(self, folder: Path, most_memory: int = 0, most_disk: int = 0) -> None:
        """Loads the model; slow. The limits are of `PromptCaches`. Raises what mlx-lm raises, ImportError where it is
        not installed."""
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
        os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
        self._lm: Any = importlib.import_module("mlx_lm")
        library: Any = importlib.import_module("mlx_lm.models.cache")
        self._samplers: Any = importlib.import_module("mlx_lm.sample_utils")
        # Code that comes with a checkpoint is never run: it was not asked for.
        self._model, self._tokenizer = self._lm.load(str(folder), tokenizer_config={"trust_remote_code": False})[:2]
        decode, model_id = self._tokenizer.decode, cache_files.fingerprint(folder)
        self.caches = PromptCaches(library, self._model, decode, model_id, most_memory, most_disk)
        self._current = KeptCache([], [])

    @property
    def tool_marks(self) -> tuple[str, str] | None:
        """The markers that open and close a tool call."""
        tokenizer = self._tokenizer
        return (tokenizer.tool_call_start, tokenizer.tool_call_end or "") if tokenizer.has_tool_calling else None

    @property
    def think_marks(self) -> tuple[str, str]:
        tokenizer = self._tokenizer
        return (tokenizer.think_start, tokenizer.think_end) if tokenizer.has_thinking else ("<think>", "</think>")

    def parse_call(self, text: str, tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The calls in the text between the markers. Raises ValueError where there are none."""
        calls: Any = self._tokenizer.tool_parser(text, tools)
        return calls if isinstance(calls, list) else [calls]  # pyright: ignore[reportUnknownVariableType] -- untyped list

    def encode(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> list[int]:
        """The prompt's tokens by the model's own chat template."""
        if not self._tokenizer.has_chat_template:
            plain = "\n\n".join(f"{message['role']}: {message['content']}" for message in messages)
            return list(self._tokenizer.encode(plain + "\n\nassistant:"))
        given: dict[str, Any] = {"tools": tools} if tools else {}
        return list(self._tokenizer.apply_chat_template(messages, add_generation_prompt=True, **given))

    def opens_with_thought(self, prompt: list[int]) -> bool:
        """Whether the template itself opens a reasoning block at the end of the prompt."""
        return str(self._tokenizer.decode(prompt[-8:])).rstrip().endswith(self.think_marks[0])

    def reuse(self, prompt: list[int], slot: PromptCacheSlot = NO_SLOT) -> int:
        """Takes the conversation's cache, trimmed to what the prompt repeats; returns its length in tokens."""
        self._current = self.caches.take(prompt, slot)
        return len(self._current.tokens)

    def generate(
        self, prompt: list[int], *, most: int, sampling: dict[str, float], progress: Callable[[int, int], None]
    ) -> Iterator[MlxChunk]:
        """Generates the answer to a prompt whose first tokens `reuse` has kept. The cache stays consistent however it
        ends."""
        held, penalty = len(self._current.tokens), sampling.get("repetition_penalty", 0.0)
        chosen = {name: value for name, value in sampling.items() if name != "repetition_penalty"}
        generated: list[int] = []
        pieces: Any = self._lm.stream_generate(
            self._model,
            self._tokenizer,
            prompt[held:],
            max_tokens=most,
            sampler=self._samplers.make_sampler(**chosen),
            logits_processors=self._samplers.make_logits_processors(repetition_penalty=penalty) if penalty else None,
            prompt_cache=self._current.layers,
            prefill_step_size=PREFILL_STEP,
            prompt_progress_callback=progress,
        )
        try:
            for piece in pieces:
                generated.append(int(piece.token))
                yield MlxChunk(piece.text, len(generated), float(piece.generation_tps), piece.finish_reason or "")
        finally:
            pieces.close()
            self.caches.note(self._current, prompt + generated)
