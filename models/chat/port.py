"""The port of every chat model: a request in, typed events out.

A stream ends with exactly one AnswerEnd or AnswerError. Closing the iterator (`aclose`, or cancelling the task that
iterates) stops the server's work too. A provider raises nothing while it streams: what goes wrong is a AnswerError.
"""

from collections.abc import AsyncGenerator
from enum import StrEnum
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from models.chat.overflow import OverflowFigures
from models.messages import ProviderFields, Request, ToolCall, Usage

PROGRESS_STEP = 256
"""Characters of a call's arguments between two CallProgress."""


class TextChunk(Struct, frozen=True):
    text: str


class ReasoningChunk(Struct, frozen=True):
    """A piece of the model's reasoning, which is separate from its answer."""

    text: str


class TextWasReasoning(Struct, frozen=True):
    """All text of this answer so far was reasoning: a closing tag came whose opening tag the prompt holds."""


class PrefillProgress(Struct, frozen=True):
    """Progress of prompt processing, in tokens."""

    done: int
    total: int


class Connected(Struct, frozen=True):
    """The server accepted the request: its answer begins when it has read the prompt."""


class CallProgress(Struct, frozen=True):
    """A call is being written: its tool, and the characters of its arguments so far. Not for short arguments."""

    name: str
    chars: int


class RetryWait(Struct, frozen=True):
    """The request failed and is sent again after a wait. `number` of `most` retries; 0 while a server loads its model.

    `seconds` is the wait, `reason` what the server said, in a line.
    """

    number: int
    most: int
    seconds: float
    reason: str


class ToolsRefused(Struct, frozen=True):
    """The server rejected tools; the answer that follows calls them in text. `reason` is the server's own sentence."""

    reason: str


class StopReason(StrEnum):
    STOP = "stop"
    LENGTH = "length"
    TOOL_CALLS = "tool_calls"
    CANCELLED = "cancelled"
    FILTERED = "filtered"  # the service refused to go on
    REPETITION = "repetition"  # the model was in a loop, and was stopped here
    CUT_CALL = "cut_call"  # the length limit, within a tool call written as text: it does not run


class AnswerEnd(Struct, frozen=True):
    reason: StopReason


class AnswerError(Struct, frozen=True):
    """An interrupted answer, with the three sentences of every error; `code` is stable.

    Codes: refused, timed_out, unauthorised, no_model, too_large, rate_limited, server_error, not_json, cut_off,
    bad_request, no_tools (tools were rejected), too_much (a limit of models.limits), missing (a library is not
    installed).
    """

    code: str
    title: str
    message: str
    hint: str = ""
    overflow: OverflowFigures = OverflowFigures()  # of too_large: what the server stated


Event = (
    Connected
    | TextChunk
    | ReasoningChunk
    | TextWasReasoning
    | CallProgress
    | ToolCall
    | ProviderFields
    | Usage
    | PrefillProgress
    | RetryWait
    | ToolsRefused
    | AnswerEnd
    | AnswerError
)


class ImageRule(StrEnum):
    """Rule for a model's image tokens (models.tokens has the formulas)."""

    NONE = "none"
    QWEN2 = "qwen2"
    QWEN3 = "qwen3"
    OPENAI_TILES = "openai_tiles"
    OPENAI_PATCHES = "openai_patches"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"


class ModelSize(StrEnum):
    """Size class of a model. SMALL: up to some 4 billion parameters."""

    SMALL = "small"
    LARGE = "large"
    UNKNOWN = "unknown"


MAX_SMALL_B = 4.5
"""Billions of parameters of a small model: those that are called 4B have a little more."""


class Profile(Struct, frozen=True, kw_only=True):
    """Properties of a model that are known before its first request."""

    spec: str  # provider:name[@address], what `--model` takes
    name: str
    known_as: str = ""  # what the server's own file or checkpoint is called, where `name` may say less
    window: int = 8192  # tokens, prompt and answer together
    window_known: bool = False  # whether the server or the checkpoint said so
    window_before: int = 0  # the window before a refusal without a figure reduced it; 0 if none did, -1 if restored
    images: ImageRule = ImageRule.NONE
    tools: bool = False  # whether the server takes tools
    text_tools: bool = False  # whether it is given them in text (models.chat.text_tools)
    keeps_reasoning: bool = False  # whether old reasoning stays in the prompt
    remote: bool = False  # whether the text leaves this machine
    parameters_b: float | None = None  # billions of parameters, by the server or the name; None if neither says
    small: bool | None = None  # as set in models.profiles; None goes by the parameters
    system_role: bool = True  # whether the model reads the system message

    @property
    def size(self) -> ModelSize:
        """The size class, by the setting, else by the parameters."""
        small = self.small
        if small is None and self.parameters_b is not None:
            small = self.parameters_b <= MAX_SMALL_B
        return ModelSize.UNKNOWN if small is None else ModelSize.SMALL if small else ModelSize.LARGE

    @property
    def is_small(self) -> bool:
        return self.size is ModelSize.SMALL

    @property
    def is_local(self) -> bool:
        """Whether a language model on this machine answers."""
        return not self.remote and self.spec != "offline"

    @property
    def repeats_question(self) -> bool:
        """Whether the user's message is sent again after tool results, which are text for this model."""
        return not self.tools and self.spec != "offline"

    @property
    def calls_tools(self) -> bool:
        """Whether tools are offered, in one way or the other."""
        return self.tools or self.text_tools

    @property
    def vision(self) -> bool:
        return self.images is not ImageRule.NONE


def with_window(profile: Profile, window: int, *, stated: bool = True) -> Profile:
    """Returns the profile with the smaller of its window and this one.

    A window that the server `stated` stays. One that was guessed after a refusal without a figure is tried larger
    again, once: see `with_window_restored`.
    """
    smaller = min(profile.window, window)
    if stated:
        return replace(profile, window=smaller, window_known=True, window_before=0)
    return replace(profile, window=smaller, window_before=profile.window_before or profile.window)


def with_window_restored(profile: Profile, prompt_tokens: int) -> Profile:
    """Returns the profile with the window before a guess, once the server took a prompt of half the guessed window.

    One refusal may have had another cause. A second one leaves the guess in force.
    """
    if profile.window_before <= 0 or 2 * prompt_tokens < profile.window:
        return profile
    return replace(profile, window=profile.window_before, window_before=-1)


class TokenCounter(Protocol):
    """Counts tokens of text in one tokenizer; never calls a server. `name` keys the caches."""

    @property
    def name(self) -> str: ...

    def count(self, text: str) -> int: ...

    def learn(self, counted: int, actual: int) -> None:
        """Corrects an estimate by this counter's count of a request and the server's count of the same."""
        ...


class ChatModel(Protocol):
    """A model that answers requests."""

    @property
    def profile(self) -> Profile: ...

    @property
    def counter(self) -> TokenCounter: ...

    async def prepare(self) -> Profile:
        """Queries the server, or the checkpoint, for the real window, vision and tools; `profile` has them afterwards.

        Never raises: what cannot be queried stays as it was, and the stream reports why.
        """
        ...

    def learn_window(self, window: int, *, stated: bool = True) -> None:
        """Takes this window after a rejected request if it is smaller than the profile's.

        `stated`: the server named the figure. One that it did not name is tried larger again later.
        """
        ...

    def stream(self, request: Request) -> AsyncGenerator[Event, None]: ...

    async def close(self) -> None: ...
