"""Learns from a server's errors which optional fields of a request it rejects, and which it demands.

A rejected request is sent again without the field, or with it. Nothing that was learned is taken back: requests of a
session keep one form, so that their beginnings stay the same.
"""

import re
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from typing import Any, Final, cast

from models.chat.port import AnswerError, Connected, Event, RetryWait
from models.chat.quirks import REASONING, UNSIGNED_CALL, Quirks
from models.messages import Message, ProviderFields

_OPTIONAL: Final = (
    *("temperature", "top_p", "top_k", "min_p", "typical_p", "seed", "stream_options", "response_format", "max_tokens"),
    *("repeat_penalty", "repetition_penalty", "presence_penalty", "frequency_penalty"),
    *("return_progress", "cache_prompt"),
)
_SCHEMA: Final = "response_format"
_OTHER_LIMIT: Final = "max_completion_tokens"
_UNWANTED: Final = re.compile(
    r"un(supported|known|recogni[sz]ed|expected)|(not|n't) (be )?(currently )?(support\w*|permitted|allowed|accept\w*)"
    r"|extra (inputs|fields)|additional propert|deprecated",
    re.IGNORECASE,
)
_MISSING: Final = re.compile(r"\bmissing\b|\bmust be (passed|included|provided|set|present)|\b(is|are) required", re.I)
_TELLING: Final = frozenset({"thinking", "signature"})  # names of nested fields that are no common words
_SIGNATURE: Final = "thought_signature"


class RefusedFields:
    """What is known of one server: its row of the table, and what its errors said."""

    def __init__(self, quirks: Quirks) -> None:
        self.names = quirks.refused
        self.demanded = quirks.demanded
        self.call_fields = quirks.call_fields
        self.limit_name = quirks.limit_name

    def take(self, failed: AnswerError, messages: Sequence[Message], *, has_schema: bool = False) -> bool:
        """Learns from an error; whether the request, with these messages, now has another form.

        A server that rejects a request with a schema gets it without: few name the field that they do not know.
        """
        if failed.code not in {"bad_request", "no_tools"}:
            return False
        before = self.names, self.demanded, self.call_fields, self.limit_name
        if _MISSING.search(failed.message):
            if REASONING in failed.message:
                self.demanded = REASONING
            if _SIGNATURE in failed.message:
                self.call_fields = UNSIGNED_CALL
        else:
            self._refuse(failed, messages, has_schema=has_schema)
        if has_schema and before == (self.names, self.demanded, self.call_fields, self.limit_name):
            self.names |= {_SCHEMA}
        return before != (self.names, self.demanded, self.call_fields, self.limit_name)

    def _refuse(self, failed: AnswerError, messages: Sequence[Message], *, has_schema: bool) -> None:
        given = {top for message in messages for top, name in _field_names(message) if _names(failed.message, name)}
        if not given and failed.code == "bad_request" and _UNWANTED.search(failed.message):
            given = {name for name in _OPTIONAL if _names(failed.message, name)} - (
                set[str]() if has_schema else {_SCHEMA}
            )
        if _OTHER_LIMIT in failed.message and "max_tokens" in given:
            self.limit_name = _OTHER_LIMIT
        self.names |= given - {"max_tokens"}

    def kept(self, fields: dict[str, Any]) -> dict[str, Any]:
        """The fields without those that the server rejects."""
        return {name: value for name, value in fields.items() if name not in self.names}


def _names(message: str, name: str) -> bool:
    return re.search(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", message) is not None


def _field_names(message: Message) -> Iterator[tuple[str, str]]:
    """The names of a message's provider fields, each after the field at the top that holds it."""
    for part in message.parts:
        if isinstance(part, ProviderFields):
            if part.reasoning_field:
                yield part.reasoning_field, part.reasoning_field
            for fields in (part.message, *part.calls.values()):
                for top, value in fields.items():
                    nested = (name for name in _keys(value) if "_" in name or name in _TELLING)
                    yield from ((top, name) for name in (top, *nested) if name != "function")


def _keys(value: object) -> Iterator[str]:
    """The keys and types in a JSON value."""
    if isinstance(value, dict):
        for key, item in cast("dict[str, object]", value).items():
            yield key
            yield from _keys(item)
            if key == "type" and isinstance(item, str):
                yield item
    elif isinstance(value, list):
        for item in cast("list[object]", value):
            yield from _keys(item)


async def resent(
    send: Callable[[], AsyncGenerator[Event, None]], learn: Callable[[AnswerError], bool]
) -> AsyncGenerator[Event, None]:
    """The events of an answer. A request that is rejected before its first word is sent again if `learn` changes it."""
    while True:
        changed = spoke = False
        async with aclosing(send()) as events:
            async for event in events:
                if isinstance(event, AnswerError) and not spoke and learn(event):
                    changed = True
                    break
                spoke = spoke or not isinstance(event, Connected | RetryWait)
                yield event
        if not changed:
            return
