"""Parses tool calls out of streamed text. Any cut of the same text gives the same text and the same calls.

A call of an offered tool with fitting arguments counts in any clothing (candidate.py) if it is all that the answer
holds from there on, and nothing before it says that it is an example. In code, inline code and quotes it is text. In
tags that only calls have it counts though text follows, which the model made up.

Models also explain the call that they make. So prose around it does not matter, unless the user asks to be shown or
told something about calls or data. What a text of the request holds word for word is a quotation, and no call.
"""

import json
import re
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Final
from uuid import uuid4

from msgspec.structs import replace

from models.chat.port import TextChunk
from models.chat.text_tools.candidate import Candidate, Shape
from models.chat.text_tools.written_call import WrittenCall, fitting_call
from models.messages import Tool, ToolCall

MAX_LEAD: Final = 600  # characters before a call that has no tags of its own
MAX_LEAD_OF_MISTAKE: Final = 200  # characters before a malformed call: it is nearly the whole answer
MAX_REJECTED: Final = 8  # long stretches that turned out to be text: from then on nothing is held back
_LONG: Final = 1_000  # characters
_MAX_LINE: Final = 200  # characters of a line that decide what may begin in it
_ITEM_MARK: Final = re.compile(r"\s*(?:\d+[.)]|[-*•])\s+")
_WRITTEN: Final = re.compile(r"[\s\\]+")  # spaces and escapes, which a quotation may write otherwise
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_OPENER: Final = re.compile(r"[{\[`~_A-Za-z]")
_NEXT: Final = re.compile(r"\n|(?<=\s)[<\[{]")
_EXPLAINS: Final = re.compile(
    r"\b(?:looks? like|examples?|for instance|e\.g\.|such as|formats?|forms?|syntax|something like|as follows|like this"
    r"|would (?:be|write|look|emit)|payload|section|documentation|writes?|emits?)\b"
    r"|例如|示例|例子|比如|格式|如下|写法|样子|类似|形式|比较",
    re.IGNORECASE,
)
_ASKS_FOR_DATA: Final = re.compile(
    r"(?<![.\w])(?:json|ya?ml|xml|schema|config\w*|payload|snippet|template|definition|examples?|sample)\b"
    r"|格式|示例|例子|配置|JSON",
    re.IGNORECASE,
)
_ASKS_NOT_TO_RUN: Final = re.compile(
    r"\b(?:do not|don't|dont|without|not) (?:run|execut|call)\w*|\b(?:only|just) show|\bshow me (?:an?|the|what|how)\b"
    r"|\bwhat would\b|\bwould .{0,40}look like|\bexplain (?:what|how)\b|不要(?:运行|执行|调用)|别(?:运行|执行|调用)"
    r"|调用的?(?:例子|示例)|(?:例子|示例|样例)",
    re.IGNORECASE,
)
_ASKS_TO_BE_TOLD: Final = re.compile(
    r"\b(?:how (?:do|does|can|could|would|should|to)|what (?:is|are|does) (?:a|an|the)\b.{0,30}\b(?:call|tool|function)"
    r"|explain|show me how|why|ReAct|essays?|tutorials?|articles?"
    r"|(?:tool|function)[ _-]?call\w*|formats?|tokens?)\b|怎么|如何|为什么|解释|什么是",
    re.IGNORECASE,
)
_ASKS_FOR_CALL: Final = re.compile(r"\b(?:tool|function)[ _-]?calls?\b|工具调用|函数调用|调用格式", re.IGNORECASE)


class TextCallReader:
    """Reads an answer's text as it streams.

    `calls` counts the calls so far; `is_over`: text follows them, and the model should have waited instead.
    `ends_within_call`: the answer broke off in a call, which is neither run nor shown.
    """

    def __init__(
        self, tools: Iterable[Tool] = (), question: str = "", quotable: Callable[[], Iterable[str]] = tuple
    ) -> None:
        """`question` is the user's message, which may ask for such a text; `quotable` gives the texts that are not the
        model's own."""
        self.calls = 0
        self.is_over = self.ends_within_call = False
        self._tools = {tool.name: tool for tool in tools}
        self._wants_data = _ASKS_FOR_DATA.search(question) is not None
        names_tool = any(name in question for name in self._tools)
        about_calls = _ASKS_FOR_CALL.search(question) is not None or names_tool
        self._wants_call = _ASKS_NOT_TO_RUN.search(question) is not None or (self._wants_data and about_calls)
        self._quotable = quotable
        asks = self._wants_data or self._wants_call or _ASKS_TO_BE_TOLD.search(question)
        self._may_be_explained = bool(self._tools) and not asks
        self._openers = "<[{" if self._may_be_explained else "<["
        self._candidate: Candidate | None = None
        self._said = ""  # the end of the text so far
        self._chars = 0  # of the text so far
        self._line = ""  # the present line, as far as it was given out: its first characters
        self._ticks = 0  # of the line
        self._fence = ""  # the open code fence
        self._is_muted = False  # after a value that is no call, until an empty line
        self._explains = False  # the answer holds a call that is an example
        self._rejected = 0

    def feed(self, text: str) -> Iterator[TextChunk | ToolCall]:
        pending = text
        while pending and not self.is_over:
            if (candidate := self._candidate) is None:
                pending = yield from self._outside(pending)
            elif (shape := candidate.feed(pending)) is Shape.OPEN:
                return
            else:
                pending = yield from self._settle(candidate, shape)

    def finish(self, *, is_cut: bool = False) -> Iterator[TextChunk | ToolCall]:
        """Yields what was held back: the calls, or text. `is_cut`: the answer broke off."""
        while (candidate := self._candidate) is not None:
            if is_cut and candidate.is_within_call:
                self._candidate, self.ends_within_call = None, self._may_make(candidate)
                yield from self._say("" if self.ends_within_call else candidate.text)
                return
            rest = yield from self._settle(candidate, candidate.close())
            yield from self.feed(rest)

    def _outside(self, text: str) -> Generator[TextChunk, None, str]:
        """Gives text out up to where a call may begin; returns the rest."""
        if self._may_open(text[0]):
            self._candidate = Candidate(self._tools, may_echo=self._chars == 0 or not self._said.strip())
            return text
        match = _NEXT.search(text, 1) if text[0] != "\n" else None
        end = 1 if text[0] == "\n" else len(text) if match is None else match.start()
        indent = len(text) - len(text.lstrip(" "))
        if not self._line.strip() and 0 < indent < end:
            end = indent
        yield from self._say(text[:end])
        return text[end:]

    def _may_open(self, char: str) -> bool:
        if not self._tools or self._fence or self._rejected >= MAX_REJECTED:
            return False
        line = self._line
        if char in self._openers and (not line or self._said[-1].isspace()) and not line.startswith("    "):
            return not (line.lstrip().startswith(">") or self._ticks % 2)
        return self._is_free and not line.strip() and len(line) <= 3 and _OPENER.match(char) is not None

    @property
    def _is_free(self) -> bool:
        """Whether a call without tags of its own may begin here."""
        if self._may_be_explained:
            return not self._explains
        return not (self._line.strip() or self._is_muted or self._explains)

    def _settle(self, candidate: Candidate, shape: Shape) -> Generator[TextChunk | ToolCall, None, str]:
        """Yields the calls of the stretch, or its first character as text; returns the rest, which is read again."""
        is_followed = shape is Shape.FOLLOWED
        is_text = shape is Shape.TEXT or (bool(candidate.calls) and self._is_quoted(candidate))
        calls = [] if is_text else self._judge(candidate, is_followed=is_followed)
        if not calls:
            return (yield from self._reject(candidate))
        self._candidate, self.is_over = None, is_followed
        for call in calls:
            self.calls += 1
            yield call
        return ""

    def _reject(self, candidate: Candidate) -> Generator[TextChunk, None, str]:
        self._candidate, text = None, candidate.text
        self._is_muted = self._is_muted or text[0] in "{[`~"
        self._explains = self._explains or bool(candidate.calls)
        self._rejected += len(text) > _LONG
        end = len(candidate.read) if candidate.calls else 1
        yield from self._say(text[:end])
        return text[end:]

    def _may_make(self, candidate: Candidate) -> bool:
        """Whether a call that the answer breaks off in would be made."""
        if self._is_example:
            return False
        is_marked = candidate.is_marked and not candidate.is_fenced
        return is_marked or (self._is_free and not (self._is_muted or self._wants_data or self._wants_call))

    @property
    def _is_example(self) -> bool:
        """Whether the paragraph so far announces an example."""
        return _EXPLAINS.search(self._said.strip().rpartition("\n\n")[2][-300:]) is not None

    def _judge(self, candidate: Candidate, *, is_followed: bool) -> list[ToolCall]:
        """The calls that are made, malformed ones among them; none if the stretch is text."""
        is_marked = candidate.is_marked and not candidate.is_fenced
        lead = self._said.strip()
        fitting = [fitting_call(call, self._tools) for call in candidate.calls]
        is_example, is_in_line = self._is_example, self._is_in_line(candidate)
        is_explicit = bool(fitting) and all(call and call.is_explicit for call in fitting)
        if self._may_be_explained and is_explicit and not is_example and not is_in_line:
            return [_tool_call(call) for call in fitting if call]
        may_begin = candidate.is_marked or candidate.is_whole_echo or self._is_free
        if not may_begin or is_example or (is_followed and not is_marked):
            return []
        if fitting and all(fitting) and not candidate.is_damaged:
            wants_text = self._wants_call or (self._wants_data and not is_explicit)
            is_text = not is_marked and (self._chars > MAX_LEAD or wants_text or is_in_line)
            return [] if is_text else [_tool_call(call) for call in fitting if call]
        if len(lead) > MAX_LEAD_OF_MISTAKE or (self._wants_data and not is_marked):
            return []
        if candidate.is_damaged or not candidate.calls:
            return [ToolCall(_new_id(), "", candidate.body)] if is_marked or candidate.is_whole_echo else []
        is_explicit = candidate.is_marked or all(call.is_explicit for call in candidate.calls)
        unfit = [replace(_tool_call(call), is_unoffered=call.name not in self._tools) for call in candidate.calls]
        return unfit if is_explicit else []

    def _is_in_line(self, candidate: Candidate) -> bool:
        """Whether the call is an item of a list, or words go on behind it on its line."""
        return _ITEM_MARK.fullmatch(self._line) is not None or candidate.goes_on_in_line

    def _is_quoted(self, candidate: Candidate) -> bool:
        """Whether each call is in a text of the request, spaces aside."""
        texts = [_WRITTEN.sub("", text) for text in self._quotable()] if candidate.sources else []
        return any(all(_WRITTEN.sub("", source) in text for source in candidate.sources) for text in texts)

    def _say(self, text: str) -> Iterator[TextChunk]:
        """Gives text out, and follows lines and code fences."""
        if not text:
            return
        self._said, self._chars = (self._said + text)[-2 * MAX_LEAD :], self._chars + len(text)
        *lines, last = text.split("\n")
        for line in lines:
            self._end_line((self._line + line)[:_MAX_LINE])
            self._line, self._ticks = "", 0
        self._line, self._ticks = (self._line + last)[:_MAX_LINE], self._ticks + last.count("`")
        yield TextChunk(text)

    def _end_line(self, line: str) -> None:
        self._is_muted = self._is_muted and bool(line.strip())
        match = _FENCE.match(line)
        if match is None:
            return
        if not self._fence:
            self._fence = match[1] if "`" not in match[2] or match[1][0] == "~" else ""
        elif match[1].startswith(self._fence) and not match[2].strip():
            self._fence = ""


def _tool_call(call: WrittenCall) -> ToolCall:
    return ToolCall(_new_id(), call.name, call.unreadable or json.dumps(call.arguments, ensure_ascii=False))


def _new_id() -> str:
    return f"call_{uuid4().hex[:12]}"
