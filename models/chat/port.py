"""The port of every chat model: a request in, typed events out.

A stream ends with exactly one AnswerEnd or AnswerError. Closing the iterator (`aclose`, or cancelling the task that
iterates) stops the server's work too. A provider raises nothing while it streams: what goes wrong is a AnswerError.
"""

from collections.abc import AsyncGenerator
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

from models.messages import Request, ToolCall, Usage


class TextChunk(Struct, frozen=True):
    text: str


class ReasoningChunk(Struct, frozen=True):
    """Thinking that the model shows apart from its answer."""

    text: str


class PrefillProgress(Struct, frozen=True):
    """The prompt being read, in tokens."""

    done: int
    total: int


class StopReason(StrEnum):
    STOP = "stop"
    LENGTH = "length"
    TOOL_CALLS = "tool_calls"
    CANCELLED = "cancelled"


class AnswerEnd(Struct, frozen=True):
    reason: StopReason


class AnswerError(Struct, frozen=True):
    """The answer broke off. Same three sentences as every error; `code` is stable.

    Codes: refused, timed_out, unauthorised, no_model, too_large, rate_limited, server_error, not_json,
    cut_off, bad_request, too_much (a limit of models.limits), missing (a library is not installed).
    """

    code: str
    title: str
    message: str
    hint: str = ""


Event = TextChunk | ReasoningChunk | ToolCall | Usage | PrefillProgress | AnswerEnd | AnswerError


class ImageRule(StrEnum):
    """How a model's image tokens are reckoned (models.tokens has the formulas)."""

    NONE = "none"
    QWEN2 = "qwen2"
    QWEN3 = "qwen3"
    OPENAI_TILES = "openai_tiles"
    OPENAI_PATCHES = "openai_patches"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"


class Profile(Struct, frozen=True, kw_only=True):
    """What is known of a model before it is asked."""

    spec: str  # provider:name[@address], what `--model` takes
    name: str
    known_as: str = ""  # what the server's own file or checkpoint is called, where `name` may say less
    window: int = 8192  # tokens, prompt and answer together
    window_known: bool = False  # whether the server or the checkpoint said so
    images: ImageRule = ImageRule.NONE
    tools: bool = False
    keeps_reasoning: bool = False  # whether old reasoning stays in the prompt
    remote: bool = False  # whether the text leaves this machine

    @property
    def vision(self) -> bool:
        return self.images is not ImageRule.NONE


class TokenCounter(Protocol):
    """Counts tokens of text in one tokenizer; never calls a server. `name` keys the caches."""

    @property
    def name(self) -> str: ...

    def count(self, text: str) -> int: ...

    def learn(self, counted: int, actual: int) -> None:
        """Corrects an estimate: what this counter gave for a request, and what the server counted for the same."""
        ...


class ChatModel(Protocol):
    """What answers."""

    @property
    def profile(self) -> Profile: ...

    @property
    def counter(self) -> TokenCounter: ...

    async def prepare(self) -> Profile:
        """Ask the server, or the checkpoint, for the true window, vision and tools; `profile` says them from then on.

        Never raises: what cannot be asked stays as it was, and the stream will say why.
        """
        ...

    def stream(self, request: Request) -> AsyncGenerator[Event, None]: ...

    async def close(self) -> None: ...
