"""Reads a stretch of an answer that may be calls, while it streams, whatever its clothing.

One loop takes tokens off the front: noise (tags, special tokens, code fences and spaces around a call), names, JSON
values, Python calls, and parameters in tags. A step waits until more text cannot change it, so that any cut of the same
text gives the same.
"""

import re
from collections.abc import Mapping
from enum import Enum
from typing import Final

from models.chat.text_tools.written_call import (
    ARGUMENT_KEYS,
    NAME_KEYS,
    SIDE_KEYS,
    WRAPPER_KEYS,
    WrittenCall,
    json_calls,
    json_object,
    python_calls,
    with_types,
)
from models.messages import Tool

MAX_CHARS: Final = 2_000_000  # of a stretch that is held back
_MAX_NAMES: Final = 4  # before the arguments: `assistant`, `commentary`, `function`, and the tool's name
_HEAD_CHARS: Final = 1_000  # of JSON that decide whether it may be a call
_TAGS: Final = (
    *("tool_call", "tool_calls", "function_call", "function_calls", "functions", "function", "tools", "tool", "call"),
    *("invoke", "parameter", "arg_key", "arg_value", "s"),
)
_ECHOES: Final = ("tool_response", "palimpsest-")
_WRAPPERS: Final = "tool_calls?|function_calls?|functions?|tools?|invoke|parameter|arg_value|s"
_NOISE: Final = re.compile(
    rf"\s+|[,;]|<[|｜]/?[^<>|｜\n]{{1,60}}[|｜]>|</?(?:{_WRAPPERS})>|\[/?TOOL_CALLS\]|\[ARGS\]|\[CALL_ID\]\w{{1,64}}"
    r"|(?:`{3,}|~{3,}) ?(?:json5?|tool_calls?|tool_code|tools?|xml)?[ \t]*(?=\n|$)",
    re.IGNORECASE,
)
_UNFINISHED: Final = re.compile(
    r"<[|｜][^<>\n]{0,62}|</?[\w-]{0,40}|\[[A-Z_/]{0,12}|\[CALL_ID\]\w{0,64}|(?:`{1,12}|~{1,12}) ?\w{0,12}[ \t]*",
    re.IGNORECASE,
)
_TAG: Final = re.compile(r"</?([\w-]*)")
_ITEM: Final = re.compile(
    r"<(?:function|invoke|tool_call|tool|call)(?:=|\s+(?:name|tool)\s*=\s*)[\"']?(?P<name>[\w.:-]{1,80})[\"']?"
    r"(?:\s+(?:arguments|parameters|args)\s*=\s*(?:'(?P<single>[^']*)'|\"(?P<double>[^\"]*)\"))?\s*/?>"
)
_ITEM_BEGUN: Final = re.compile(r"<[a-z_]+[=\s](?:[^<>'\n]{0,200}|[^<>'\n]{0,200}'[^']*'?\s*/?)")
_PARAMETER: Final = re.compile(
    r"<parameter(?:=|\s+name\s*=\s*)[\"']?(?P<key>[\w.-]{1,80})[\"']?>(?P<value>.*?)</parameter>"
    r"|<arg_key>(?P<glm>[^<>]{1,80})</arg_key>\s*<arg_value>(?P<given>.*?)</arg_value>",
    re.DOTALL,
)
_ECHO_END: Final = re.compile(r"/>|</[\w-]*>")
_ANY_TAG: Final = re.compile(r"</?[\w-]+[^<>]*>|\s+")
_MAX_ECHO: Final = 20_000  # characters
_PARAMETER_BEGUN: Final = re.compile(r"<(?:parameter(?:=|\s)|arg_key>)")
_NAME: Final = re.compile(r"(?:to=)?(?:functions?\.)?(?P<name>[\w-]{1,80})(?::\d{1,3})?")
_ROLES: Final = frozenset({"json", "assistant", "commentary", "analysis", "function", "code", "tool"})
_FOLLOWS_NAME: Final = re.compile(r"[\s<\[{]")
_STOPS: Final = {"": re.compile(r"[\[\](){}\"']"), '"': re.compile(r'["\\]'), "'": re.compile(r"['\\]")}
_KEY: Final = re.compile(r"""\s*\{\s*["'](?P<key>[^"'\\]*)["'](?P<rest>.*)""", re.DOTALL)
_KEY_BEGUN: Final = re.compile(r"""\s*(?:\{\s*(?:["'][^"'\\]*)?)?""")
_VALUE: Final = re.compile(r"""\s*:\s*["'](?P<value>[^"'\\]*)["'](?:\s*,\s*["'](?P<next>[^"'\\]*)["'])?""")


class Shape(Enum):
    OPEN = "open"  # more text decides
    TEXT = "text"  # no call
    FOLLOWED = "followed"  # whole calls, and other text after them


class Candidate:
    """The stretch from its first character on.

    `is_marked`: in tags or tokens that only calls have. `is_damaged`: some of it cannot be read. `is_echo`: the model
    repeats tags of the prompt.
    """

    def __init__(self, tools: Mapping[str, Tool], *, may_echo: bool = False) -> None:
        self.text = ""
        self.calls: list[WrittenCall] = []
        self.sources: list[str] = []  # what the calls were read from
        self.is_marked = self.is_damaged = self.is_echo = self.is_whole_echo = False
        self._may_echo = may_echo
        self._tools = tools
        self._at = 0
        self._name = ""  # of the call whose arguments follow
        self._names = self._fences = 0
        self._parameters: dict[str, str] = {}
        self._in_item = False
        self._scanned = self._searched = self._depth = 0  # of the value at `_at`
        self._quote = ""

    @property
    def is_fenced(self) -> bool:
        return self.text[:1] in {"`", "~"}

    @property
    def goes_on_in_line(self) -> bool:
        """Whether words follow the calls on their line."""
        end = len(self.text[: self._at].rstrip("`~ \n\t"))
        gap, rest = self.text[end : self._at], self.text[self._at :].lstrip(" ")
        return rest[:1] not in {"", "\n", "`", "<", "}"} and "\n" not in gap

    @property
    def body(self) -> str:
        """The text that was read, without the tags around it."""
        text = self.text if self.is_echo else self.text[: self._at]
        end = text.rfind("</") if text.rstrip().endswith(">") else -1
        match = _NOISE.match(text)
        return text[match.end() if match else 0 : end if end > 0 else None].strip()

    def feed(self, text: str) -> Shape:
        self.text += text
        if self._may_echo and self.text[0] == "<" and self._begins_echo():
            return Shape.TEXT if len(self.text) > _MAX_ECHO else Shape.OPEN  # its end decides
        while self._at < len(self.text):
            before, scanned = self._at, self._scanned
            if (shape := self._step()) is not Shape.OPEN:
                return shape
            if (self._at, self._scanned) == (before, scanned):
                break
        return Shape.TEXT if len(self.text) > MAX_CHARS else Shape.OPEN

    def close(self) -> Shape:
        """Takes the end of the text. OPEN: all of it is calls, or damaged ones."""
        if self.is_echo:
            end = _ECHO_END.search(self.text)
            self.is_whole_echo = end is not None and not _ANY_TAG.sub("", self.text[end.end() :])
            return Shape.OPEN if self.is_whole_echo else Shape.TEXT
        self._end_item()
        if self._scanned and not self._quote:
            self._take_unfinished()
        rest = self.text[self._at :].strip("`~ \n\t")
        if not self.calls and not self.is_damaged:
            return Shape.TEXT
        return Shape.FOLLOWED if rest and _UNFINISHED.fullmatch(rest) is None else Shape.OPEN

    def _take_unfinished(self) -> None:
        """Takes a value whose last brackets are missing."""
        source = self.text[self._at :].rstrip("`~ \n\t")
        for missing in ("", "}", "}}"):
            if calls := json_calls(_single_braces(source) + missing):
                self.sources.append(source)
                self.calls, self._at = [*self.calls, *calls], len(self.text)
                return

    def _step(self) -> Shape:
        if self._scanned:
            return self._take_value()
        text, at = self.text, self._at
        rest = text[at : at + 100]
        is_last = at + len(rest) == len(text)
        noise = _NOISE.match(text, at)
        if noise and not (noise.end() == len(text) and (noise[0][0] in "`~" or noise[0][:2].upper() == "[C")):
            self._take_noise(noise[0])
            return Shape.TEXT if self._fences > 1 and not self.calls and not self.is_damaged else Shape.OPEN
        if is_last and _UNFINISHED.fullmatch(rest) and (rest[0] != "<" or _is_known_tag(rest)):
            return Shape.OPEN
        if rest[0] == "<":
            return self._take_tag()
        if rest[0] == "}" and self.calls:  # one too many
            self._at += 1
            return Shape.OPEN
        return self._take_value() if rest[0] in "{[" else self._take_name()

    def _otherwise(self) -> Shape:
        return Shape.FOLLOWED if self.calls or self.is_damaged else Shape.TEXT

    def _begins_echo(self) -> bool:
        tag = self.text[1:20]
        self.is_echo = any(tag.startswith(echo) for echo in _ECHOES)
        return self.is_echo or any(echo.startswith(tag) for echo in _ECHOES)

    def _take_noise(self, noise: str) -> None:
        self.is_marked = self.is_marked or noise[0] in "<["
        self._fences += noise[0] in "`~"
        if noise.startswith("</"):
            self._end_item()
        self._at += len(noise)

    def _take_tag(self) -> Shape:
        if match := _ITEM.match(self.text, self._at):
            self._end_item()
            self.is_marked, self._in_item = True, True
            self._name, self._at = match["name"].removeprefix("functions."), match.end()
            self.sources.append(match[0])
            if (given := match["single"] or match["double"]) is not None:
                self._take_arguments(given)
            elif match[0].endswith("/>"):
                self._end_item()
            return Shape.OPEN
        if self._name and _PARAMETER_BEGUN.match(self.text, self._at):
            self._take_parameter()
            return Shape.OPEN
        is_begun = _is_known_tag(self.text[self._at : self._at + 40]) and _ITEM_BEGUN.fullmatch(self.text, self._at)
        return Shape.OPEN if is_begun else self._otherwise()

    def _take_parameter(self) -> None:
        closing = "</arg_value>" if self.text.startswith("<arg", self._at) else "</parameter>"
        begin, self._searched = max(self._at, self._searched), len(self.text) - len(closing)
        if self.text.find(closing, begin) < 0:
            return
        if match := _PARAMETER.match(self.text, self._at):
            value = match["value"] if match["key"] else match["given"]
            if value[:1] == "\n" == value[-1:]:
                value = value[1:-1]
            self._parameters[(match["key"] or match["glm"]).strip()] = value
            self.sources.append(match[0])
            self._at = self._searched = match.end()

    def _take_name(self) -> Shape:
        match = _NAME.match(self.text, self._at)
        if match is None:
            return self._otherwise()
        name, end = match["name"], match.end()
        may_be_python = match[0] == name and not self._name and self._begins_any(name)
        if self.text[end : end + 2] in {"", ".", ":", "="}:  # more of the name may come
            return Shape.OPEN if self.is_marked or may_be_python else self._otherwise()
        if self.text[end] == "(" and may_be_python and name in {*self._tools, "print"}:
            self._scanned = end
            return self._take_value()
        self._names += 1
        if not self.is_marked or self._names > _MAX_NAMES or not _FOLLOWS_NAME.match(self.text, end):
            return self._otherwise()
        if self.calls and name not in {*self._tools, *_ROLES}:
            return Shape.FOLLOWED
        self._name = self._name if name in _ROLES else name
        self._at = end
        return Shape.OPEN

    def _begins_any(self, name: str) -> bool:
        return any(tool.startswith(name) for tool in (*self._tools, "print"))

    def _take_value(self) -> Shape:
        """Takes a bracketed value, or a call in Python's syntax."""
        is_value = self.text[self._at] in "{["
        head = self.text[self._at : self._at + _HEAD_CHARS]
        if is_value and not (self.is_marked or self._name or _may_be_call(head, self._tools)):
            return self._otherwise()
        if (end := self._value_end()) == 0:
            return Shape.OPEN
        source = self.text[self._at : end]
        self.sources.append(source)
        if self._name:
            self._take_arguments(source)
        elif calls := (json_calls(_single_braces(source)) if is_value else ()) or python_calls(source, self._tools):
            self.calls += calls
        elif self.is_marked:
            self.is_damaged = True
        else:
            return self._otherwise()
        self._at, self._scanned = end, 0
        return Shape.OPEN

    def _value_end(self) -> int:
        """The offset behind the value that begins at `_at`; 0 if it goes on. Resumes at `_scanned`."""
        at = self._scanned or self._at
        while match := _STOPS[self._quote].search(self.text, at):
            char, at = match[0], match.end()
            if char == "\\":
                if at == len(self.text):
                    self._scanned = at - 1
                    return 0
                at += 1
            elif char in "\"'":
                self._quote = "" if self._quote else char
            else:
                self._depth += 1 if char in "{[(" else -1
                if self._depth <= 0:
                    self._depth = 0
                    return at
        self._scanned = max(len(self.text), 1)
        return 0

    def _take_arguments(self, source: str) -> None:
        arguments = json_object(source)
        self.calls.append(WrittenCall(self._name, arguments or {}, unreadable=source if arguments is None else ""))
        self._forget_item()

    def _end_item(self) -> None:
        if self._name and (self._parameters or self._in_item or self._name in self._tools):
            self.calls.append(with_types(self._name, self._parameters, self._tools))
            self._forget_item()

    def _forget_item(self) -> None:
        self._name, self._parameters, self._in_item, self._names = "", {}, False, 0


def is_written_call(text: str) -> bool:
    """Whether the whole text is a call, of whatever tool, or repeats tags of the prompt: no answer to anybody."""
    stripped = text.strip()
    if stripped[:1] not in {"{", "[", "<", "`", "~"}:
        return False
    candidate = Candidate({}, may_echo=True)
    is_whole = candidate.feed(stripped) is Shape.OPEN and candidate.close() is Shape.OPEN
    return is_whole and all(call.is_explicit for call in candidate.calls)


def _single_braces(source: str) -> str:
    """The object without doubled braces around it: the template of Qwen2.5-Coder shows calls so, and models copy it."""
    if not source.startswith("{{"):
        return source
    body = source[1:].rstrip()
    return body[:-1] if body.count("{") < body.count("}") else body


def _is_known_tag(text: str) -> bool:
    """Whether a tag of calls may begin so."""
    if text[1:2] in {"|", "｜"}:
        return True
    match = _TAG.match(text)
    name = match[1].lower() if match else ""
    return name in _TAGS or (match is not None and match.end() == len(text) and any(t.startswith(name) for t in _TAGS))


def _may_be_call(text: str, tools: Mapping[str, Tool]) -> bool:
    """Whether a value that begins so may be a call. Never again once it was not, however the text goes on."""
    inner = text[1:].lstrip() if text[0] == "[" else _single_braces(text)
    if text[0] == "[" and inner and inner[0] != "{":
        name = _NAME.match(inner)
        if name is None or name.end() == len(inner):
            return name is not None and any(tool.startswith(name[0]) for tool in tools)
        return name[0] in tools and inner[name.end()] == "("
    match = _KEY.match(inner)
    if match is None:
        return _KEY_BEGUN.fullmatch(inner) is not None
    key = match["key"]
    if key in NAME_KEYS and (value := _VALUE.match(match["rest"])) and value["value"] not in tools:
        return value["next"] is None or value["next"] in {*ARGUMENT_KEYS, *SIDE_KEYS}
    return key in {*NAME_KEYS, *ARGUMENT_KEYS, *WRAPPER_KEYS, *SIDE_KEYS}
