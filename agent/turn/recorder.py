"""Stores an answer while it streams.

Its text passes through a filter that removes private words and secrets, however they are split over chunks: both marked
ones and those that the turn's message hid.
"""

import secrets
import string
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final, cast

from msgspec.structs import replace

from foundation.privacy import ClearedFields, EchoFilter, EchoFilterStream, clear, field_as_given, joined_fields
from memory.conversations import AnswerWriter
from memory.errors import MemoryFailure, NotFound
from memory.forget.replacement import walked
from memory.provider_fields import PROVIDER_FIELDS, REASONING, stored_fields
from memory.records import Entry
from models.chat.port import ReasoningChunk, TextChunk, TextWasReasoning
from models.messages import ProviderFields, ToolCall, Usage
from models.repetition import without_loop

REASONING_SECONDS = "reasoning_seconds"
"""Meta of an answer: the seconds that its reasoning took."""
LEAST_TOKENS, LEAST_SECONDS = 20, 0.5  # of an answer whose speed is shown
_ID_ALPHABET: Final = string.ascii_letters + string.digits
ID_LENGTH: Final = 9  # letters and digits: the form that every provider accepts


class AnswerRecorder:
    """One answer in flight: `take` each event first, then exactly one of `finish` and `abandon`."""

    def __init__(
        self,
        answer: AnswerWriter,
        model: str,
        *,
        calls: int = sys.maxsize,
        arguments: int = sys.maxsize,
        echoes: EchoFilter | None = None,
        without_forgotten: Callable[[str], str] = str,
    ) -> None:
        """At most `calls` tool calls are taken, with `arguments` characters together: what the turn has left.

        `echoes` are the words that the person hid: what is stored has none of them, nor of those that were forgotten
        since the request was made, which `without_forgotten` replaces.
        """
        self._answer = answer
        self._model = clear(model)
        self._echoes = echoes or EchoFilter()
        self._without_forgotten = without_forgotten
        self.forgot = False  # whether what is stored has `[forgotten]` for words that are on the screen
        self._clearing = EchoFilterStream(self._echoes)
        self._text_parts: list[str] = []
        self._reasoning_parts: list[str] = []
        self._calls: list[ToolCall] = []
        self._ids: dict[str, str] = {}  # of the calls in the store, by those that the answer gave
        self._fields: ProviderFields | None = None
        self.withdrawn = ""  # text on its way to disk that turned out to be reasoning
        self._most_calls, self._most_arguments = calls, arguments
        self.skipped_calls = 0  # tool calls that were asked for and not taken
        self._start = time.monotonic()
        self._first_token: float | None = None
        self._reasoning_began: float | None = None
        self.reasoning_seconds = 0.0  # from the first piece of reasoning to the last
        self._settled = False
        self.unstored: Callable[[], Entry] | None = None  # stores the answer later, if the store refused it at the end
        self.usage = Usage(estimated=True)

    @property
    def entry(self) -> Entry:
        return self._answer.entry

    @property
    def text(self) -> str:
        """The answer so far, as the screen shows it."""
        return "".join(self._text_parts)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(self._calls)

    @property
    def arguments(self) -> int:
        """Characters of the arguments of all calls taken."""
        return sum(len(call.arguments) for call in self._calls)

    @property
    def settled(self) -> bool:
        """Returns whether the answer was finished or abandoned."""
        return self._settled

    @property
    def trouble(self) -> MemoryFailure | None:
        """Returns the error that keeps the newest text off the disk; None if there is none."""
        return self._answer.trouble

    @property
    def seconds(self) -> float:
        """Returns the seconds since the model was called."""
        return time.monotonic() - self._start

    @property
    def tokens_per_second(self) -> float:
        """Returns the speed of the answer since its first token; 0 if the answer is too short to measure."""
        if self._first_token is None:
            return 0.0
        return speed_of(self.usage.completion_tokens, time.monotonic() - self._first_token)

    def take(self, event: object) -> None:
        """Put the event on its way to disk."""
        match event:
            case TextChunk(text=text):
                self._first_token = self._first_token or time.monotonic()
                self._text_parts.append(text)
                if safe := self._clearing.feed(text):
                    self._answer.write(safe)
            case ReasoningChunk(text=text):
                self._first_token = self._first_token or time.monotonic()
                self._reasoning_began = self._reasoning_began or time.monotonic()
                self.reasoning_seconds = time.monotonic() - self._reasoning_began
                self._reasoning_parts.append(text)
            case TextWasReasoning():
                self._retract()
            case ProviderFields():
                self._fields = event
            case ToolCall():
                self._take_call(event)
            case Usage():
                self.usage = event
            case _:
                pass

    def _take_call(self, call: ToolCall) -> None:
        room = self._most_arguments - self.arguments - len(call.arguments)
        if self.skipped_calls or len(self._calls) >= self._most_calls or room < 0:
            self.skipped_calls += 1  # those after it may build on it: none of them is run
        else:
            self._ids[call.id] = "".join(secrets.choice(_ID_ALPHABET) for _ in range(ID_LENGTH))
            self._calls.append(replace(call, id=self._ids[call.id], name=self._echoes.without(clear(call.name))))

    def _retract(self) -> None:
        self.withdrawn = self.text
        self._reasoning_parts.append(self.withdrawn)
        self._text_parts.clear()
        self._clearing = EchoFilterStream(self._echoes)

    def keep_repetition_once(self) -> None:
        """Drops the rounds of a model in a loop after the first; the screen has shown more."""
        self._text_parts = [without_loop(self.text)]
        self._reasoning_parts = [without_loop("".join(self._reasoning_parts))] if self._reasoning_parts else []

    def finish(self, **meta: Any) -> Entry:
        """The whole answer, committed. One with calls that cannot be stored is abandoned later: none of them is run."""
        self._settled = True
        text, ms = self._echoes.clear(self._remembered(self.text)), round(self.seconds * 1000)
        fields = self._meta(meta)
        finishing = partial(self._answer.finish, text, meta=fields, usage=self.usage, model=self._model, ms=ms)
        return self._store(finishing, lambda: self._abandoning(stopped=True, **meta) if self._calls else finishing)

    def abandon(self, **meta: Any) -> Entry | None:
        """Keeps what came, marked as incomplete. Does nothing after `finish`."""
        if self._settled:
            return None
        self._settled = True
        abandoning = self._abandoning(**meta)
        return self._store(abandoning, lambda: abandoning)

    def _abandoning(self, **meta: Any) -> Callable[[], Entry]:
        if tail := self._clearing.close():
            self._answer.write(tail)
        usage = self.usage if self.text or self._reasoning_parts or self._calls else None
        ms, kept = round(self.seconds * 1000), self._remembered(self.text)
        text = None if kept == self.text and not self.withdrawn else self._echoes.clear(kept)
        return partial(self._answer.abandon, text, meta=self._meta(meta), usage=usage, model=self._model, ms=ms)

    def _store(self, settle: Callable[[], Entry], later: Callable[[], Callable[[], Entry]]) -> Entry:
        """Settles the answer; where that fails, `unstored` is what `later` gives."""
        try:
            return settle()
        except NotFound:  # deleted meanwhile
            raise
        except MemoryFailure:
            self.unstored = later()
            raise

    def _meta(self, meta: dict[str, Any]) -> ClearedFields:
        fields: dict[str, Any] = {"model": self._model, **meta}
        if self._reasoning_parts:
            fields[REASONING] = "".join(self._reasoning_parts)
            fields[REASONING_SECONDS] = self.reasoning_seconds
        if self._calls:
            fields["tool_calls"] = [
                {"id": call.id, "name": call.name, "arguments": call.arguments} for call in self._calls
            ]
        if self.skipped_calls:
            fields["calls_left_out"] = self.skipped_calls
        cleared = self._echoes.fields(cast("dict[str, Any]", walked(fields, self._remembered)))
        if self._fields is None:
            return cleared
        attached = stored_fields(self._fields, self._ids, self._is_unchanged)
        return joined_fields(cleared, field_as_given(PROVIDER_FIELDS, attached))

    def _is_unchanged(self, value: Any) -> bool:
        """Whether nothing of a JSON value is hidden, secret or forgotten."""
        return walked(value, self._remembered) == value and self._echoes.fields({"value": value}) == {"value": value}

    def _remembered(self, text: str) -> str:
        """The text without what was forgotten since the request was made."""
        kept = self._without_forgotten(text)
        self.forgot = self.forgot or kept != text
        return kept


def speed_of(tokens: int, seconds: float) -> float:
    """Returns tokens per second; 0 if there are too few tokens or seconds to measure."""
    return tokens / seconds if tokens >= LEAST_TOKENS and seconds >= LEAST_SECONDS else 0.0
