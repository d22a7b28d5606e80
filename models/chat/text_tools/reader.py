"""Parses tool calls out of streamed text. Any cut of the same text gives the same text and the same calls.

A call is `<tool_call>` with a JSON object in it, outside a code fence, inline code and a block quote. Only characters
that might begin one are held back. A block that ends without its JSON is text where no closing tag came, and a
malformed call (without a name) where one did.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final, cast
from uuid import uuid4

from foundation.bounded_json import BadJson, Json, load_json
from models.chat.port import TextChunk
from models.messages import ToolCall

_TAGS: Final = ("tool_call", "tool_calls", "function_call")
_OPENING: Final = re.compile(r"<(tool_calls?|function_call)>\s{0,40}(?:```(?:json)?\s{0,40})?[\[{]")
_BEGUN: Final = re.compile(r"<(tool_calls?|function_call)>\s{0,40}(?:`{1,3}(?:j|js|jso|json)?\s{0,40})?")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
MOST_ENDS: Final = 16  # closing tags in a block that are looked at, before it counts as malformed


class TextCallReader:
    """Reads an answer's text as it streams.

    `calls` counts the calls so far; `is_over`: text follows them, and the model should have waited instead.
    """

    def __init__(self) -> None:
        self.calls = 0
        self.is_over = False
        self._held = ""
        self._line = ""  # the present line, as far as it was given out
        self._fence = ""  # the open code fence
        self._tag = ""  # of the open block
        self._opening = ""  # how the open block began
        self._searched: int = 0  # characters of the open block
        self._ends: int = 0  # closing tags seen in it

    def feed(self, text: str) -> Iterator[TextChunk | ToolCall]:
        self._held += text
        while self._held:
            before = len(self._held), self._tag, self._searched
            yield from self._inside() if self._tag else self._outside()
            if (len(self._held), self._tag, self._searched) == before:
                return

    def finish(self) -> Iterator[TextChunk | ToolCall]:
        """What was held back: complete JSON without its closing tag is a call, everything else is text."""
        if self._tag and (value := _decoded(self._held.strip().removesuffix("```"))) is not None:
            self._tag = self._held = ""
            yield from self._called(value)
            return
        rest = (self._opening if self._tag else "") + self._held
        self._held = self._tag = ""
        yield from self._say(rest)

    def _outside(self) -> Iterator[TextChunk | ToolCall]:
        at = self._held.find("<")
        if at != 0:
            text, self._held = (self._held, "") if at < 0 else (self._held[:at], self._held[at:])
            yield from self._say(text)
            return
        may_call = self._may_call()
        match = _OPENING.match(self._held) if may_call else None
        if match is None:
            if not (may_call and _may_begin(self._held)):
                text, self._held = self._held[0], self._held[1:]
                yield from self._say(text)
        else:
            self._tag, end = match[1], match.end() - 1
            self._opening, self._held = self._held[:end], self._held[end:]
            self._searched = self._ends = 0

    def _may_call(self) -> bool:
        if self._fence or self._line.lstrip().startswith(">") or self._line.count("`") % 2:
            return False
        return not self._line or self._line[-1].isspace()

    def _inside(self) -> Iterator[TextChunk | ToolCall]:
        closing = f"</{self._tag}>"
        at = self._held.find(closing, self._searched)
        if at < 0:
            self._searched = max(0, len(self._held) - len(closing) + 1)
            return
        block, self._searched = self._held[:at], at + 1
        self._ends += 1
        body = block.strip().removesuffix("```").rstrip()
        value = _decoded(body)
        if value is None and self._ends < MOST_ENDS and _ends_in_string(body) and not block.endswith("\n"):
            return  # the tag is quoted in an argument
        self._tag, self._held = "", self._held[at + len(closing) :].removeprefix("\n")
        if value is not None:
            yield from self._called(value)
        else:
            self.calls += 1
            yield ToolCall(_new_id(), "", body)

    def _called(self, value: object) -> Iterator[ToolCall]:
        for item in cast("list[object]", value) if isinstance(value, list) else [value]:
            self.calls += 1
            yield _call(item)
        self._line = ""

    def _say(self, text: str) -> Iterator[TextChunk]:
        """Gives text out, and follows lines and code fences."""
        if not text:
            return
        self.is_over = self.is_over or (self.calls > 0 and not text.isspace())
        *lines, last = text.split("\n")
        for line in lines:
            self._end_line(self._line + line)
            self._line = ""
        self._line += last
        if not self.calls or self.is_over:
            yield TextChunk(text)

    def _end_line(self, line: str) -> None:
        match = _FENCE.match(line)
        if match is None:
            return
        if not self._fence:
            self._fence = match[1] if "`" not in match[2] or match[1][0] == "~" else ""
        elif match[1].startswith(self._fence) and not match[2].strip():
            self._fence = ""


def _may_begin(held: str) -> bool:
    """Whether more text could make a call of it."""
    return any(f"<{tag}>".startswith(held) for tag in _TAGS) or _BEGUN.fullmatch(held) is not None


def _decoded(body: str) -> object | None:
    """The object or list of objects in it; None where it is neither."""
    try:
        value: object = load_json(body, strict=False)  # small models leave line breaks in strings as they are
    except BadJson:
        return None
    return cast("object", value) if isinstance(value, dict | list) and value else None


def _ends_in_string(body: str) -> bool:
    try:
        json.loads(body, strict=False)
    except json.JSONDecodeError as error:
        return error.msg.startswith("Unterminated string")
    except RecursionError:
        return False
    return False


def _call(value: object) -> ToolCall:
    """The call of a decoded object; without a name where it has none."""
    given = cast("Json", value) if isinstance(value, dict) else {}
    if isinstance(inner := given.get("function"), dict):
        given = cast("Json", inner)
    name: Any = given.get("name") or given.get("tool")
    arguments = next((given[key] for key in ("arguments", "parameters", "args") if key in given), "{}")
    if not isinstance(name, str):
        return ToolCall(_new_id(), "", json.dumps(value, ensure_ascii=False))
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ToolCall(_new_id(), name.strip(), written)


def _new_id() -> str:
    return f"call_{uuid4().hex[:12]}"
