"""Reads a stretch of an answer that may be calls, while it streams, whatever its clothing.

One loop takes tokens off the front: noise (tags, special tokens, code fences and spaces around a call), names, JSON
values, Python calls, and parameters in tags. A step waits until more text cannot change it, so that any cut of the same
text gives the same.
"""

import re
from collections.abc import Mapping
from enum import Enum
from typing import Final

from msgspec.structs import replace

from models.chat.text_tools.grammar import (
    CALL_TAGS,
    CALLERS,
    FOLLOWS_NAME,
    ITEM,
    ITEM_BEGUN,
    LABEL,
    LABELS,
    MAX_QUOTE,
    METHOD,
    NAME,
    NAMED_TAG,
    NOISE,
    PARAMETER,
    PARAMETER_BEGUN,
    ROLES,
    STOPS,
    TAG_BEGUN,
    UNFINISHED,
)
from models.chat.text_tools.written_call import (
    ARGUMENT_KEYS,
    NAME_KEYS,
    SIDE_KEYS,
    WRAPPER_KEYS,
    WrittenCall,
    json_calls,
    python_calls,
    with_types,
    written_object,
)
from models.messages import Tool
from models.tool_arguments import fields_of

MAX_CHARS: Final = 2_000_000  # of a stretch that is held back
_MAX_NAMES: Final = 4  # before the arguments: `assistant`, `commentary`, `function`, and the tool's name
_HEAD_CHARS: Final = 1_000  # of JSON that decide whether it may be a call
_ECHOES: Final = ("tool_response", "palimpsest-")
_ECHO_END: Final = re.compile(r"/>|</[\w-]*>")
_ANY_TAG: Final = re.compile(r"</?[\w-]+[^<>]*>|\s+")
_MAX_ECHO: Final = 20_000  # characters
_KEY: Final = re.compile(r"""\s*\{\s*["'](?P<key>[^"'\\]*)["'](?P<rest>.*)""", re.DOTALL)
_KEY_BEGUN: Final = re.compile(r"""\s*(?:\{\s*(?:["'][^"'\\]*)?)?""")
_VALUE: Final = re.compile(r"""\s*:\s*["'](?P<value>[^"'\\]*)["'](?:\s*,\s*["'](?P<next>[^"'\\]*)["'])?""")
_OBJECT_BEGUN: Final = re.compile(r"\s*(?::\s*(?:\{.*)?)?", re.DOTALL)

_BRACKET: Final = re.compile(r"\[\s*[{a-z]")
_HAS_NAME: Final = re.compile(
    rf"""["'](?:{"|".join(NAME_KEYS)})["']\s*:\s*["'](?P<name>[^"'\\]*)(?P<rest>["'].*)?""", re.DOTALL
)
_HAS_KEY: Final = re.compile(r"""[\[\s]*\{[{\s]*["']?(?P<key>\w*)["']?\s*:?\s*""")


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
        self._in_item = self._is_by_name = self._is_labelled = False
        self._scanned = self._searched = self._depth = 0  # of the value at `_at`
        self._quote = ""

    @property
    def is_fenced(self) -> bool:
        return self.text[:1] in {"`", "~"}

    @property
    def goes_on_in_line(self) -> bool:
        """Whether words follow the calls on their line."""
        end = len(self.read.rstrip("`~ \n\t"))
        gap, rest = self.text[end : self._at], self.text[self._at :].lstrip(" ")
        return rest[:1] not in {"", "\n", "`", "<", "}"} and "\n" not in gap

    @property
    def read(self) -> str:
        """The text up to the end of what was read."""
        return self.text[: self._at]

    @property
    def is_within_call(self) -> bool:
        """Whether the text so far ends within what can only be a call."""
        rest = self.text[self._at :]
        if self.is_echo or self._name or (self.is_marked and not self.calls):
            return not self.is_echo
        if self._is_labelled or ITEM_BEGUN.fullmatch(rest):
            return True
        if self._scanned or rest[:1] == "{" or _BRACKET.match(rest):
            return self.is_marked or _begins_call(rest[:_HEAD_CHARS], self._tools)
        tag = TAG_BEGUN.match(rest)
        return tag is not None and any(name.startswith(tag["name"].lower()) for name in (*CALL_TAGS, *self._tools))

    @property
    def body(self) -> str:
        """The text that was read, without the tags around it."""
        text = self.text if self.is_echo else self.read
        end = text.rfind("</") if text.rstrip().endswith(">") else -1
        match = NOISE.match(text)
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
        return Shape.FOLLOWED if rest and UNFINISHED.fullmatch(rest) is None else Shape.OPEN

    def _take_unfinished(self) -> None:
        """Takes a value whose last brackets are missing."""
        source = self.text[self._at :].rstrip("`~ \n\t")
        for missing in ("", "}", "}}"):
            if calls := json_calls(_single_braces(source) + missing, self._tools):
                self.sources.append(source)
                self.calls, self._at = [*self.calls, *calls], len(self.text)
                return

    def _step(self) -> Shape:
        if self._scanned:
            return self._take_value()
        text, at = self.text, self._at
        rest = text[at : at + 100]
        is_last = at + len(rest) == len(text)
        if label := LABEL.match(text, at):
            self._is_labelled, self._at = True, label.end()
            return Shape.OPEN
        noise = NOISE.match(text, at)
        if noise and not (noise.end() == len(text) and (noise[0][0] in "`~" or noise[0][:2].upper() == "[C")):
            self._take_noise(noise[0])
            return Shape.TEXT if self._fences > 1 and not self.calls and not self.is_damaged else Shape.OPEN
        if is_last and (UNFINISHED.fullmatch(rest) or any(label.startswith(rest) for label in LABELS)):
            return Shape.OPEN
        if rest[0] == "}" and self.calls:  # one too many
            self._at += 1
            return Shape.OPEN
        take = {"<": self._take_tag, "{": self._take_value, "[": self._take_value}.get(rest[0], self._take_name)
        return take()

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
        if match := ITEM.match(self.text, self._at):
            self._end_item()
            self.is_marked, self._in_item = True, True
            self._name, self._at = match["name"].removeprefix("functions."), match.end()
            self.sources.append(match[0])
            if (given := match["single"] or match["double"]) is not None:
                self._take_arguments(given)
            elif match[0].endswith("/>"):
                self._end_item()
            return Shape.OPEN
        if self._name and (match := PARAMETER.match(self.text, self._at)):
            key, tag = match["key"] or match["arg_key"].strip(), match["tag"] or match["arg_tag"]
            self._take_parameter(key, tag, match.end())
            return Shape.OPEN
        if (match := NAMED_TAG.match(self.text, self._at)) and self._take_named_tag(match):
            return Shape.OPEN
        is_begun = self._name and PARAMETER_BEGUN.match(self.text, self._at)
        return Shape.OPEN if is_begun or ITEM_BEGUN.fullmatch(self.text, self._at) else self._otherwise()

    def _take_named_tag(self, tag: re.Match[str]) -> bool:
        """Takes a tag that is called as a tool is, or as a field of the tool of the call; False for any other."""
        name, is_tool = tag["name"], tag["name"] in self._tools
        if tag["close"] and is_tool:
            self._end_item()
            self._at = tag.end()
        elif is_tool and not self._name:
            self._name, self._at, self._in_item, self._is_by_name = name, tag.end(), True, True
            self.sources.append(tag[0])
        elif not tag["close"] and self._name in self._tools and name in fields_of(self._tools[self._name]):
            self._take_parameter(name, name, tag.end())
        else:
            return False
        return True

    def _take_parameter(self, key: str, tag: str, begin: int) -> None:
        """Takes the value that begins at an offset, once its closing tag has come."""
        closing = f"</{tag}>"
        end = self.text.find(closing, max(begin, self._searched))
        if end < 0:
            self._searched = len(self.text) - len(closing)
            return
        value = self.text[begin:end]
        self._parameters[key] = value[1:-1] if value[:1] == "\n" == value[-1:] else value
        end += len(closing)
        self.sources.append(self.text[self._at : end])
        self._at = self._searched = end

    def _take_name(self) -> Shape:
        match = NAME.match(self.text, self._at)
        if match is None:
            return self._otherwise()
        name, end = match["name"], match.end()
        tail = self.text[end : end + len(METHOD)]
        may_be_python = not self._name and any(known.startswith(name) for known in (*self._tools, *CALLERS))
        if tail in {":", "="} or (METHOD.startswith(tail) and tail != METHOD):  # more of the name may come
            return Shape.OPEN if self.is_marked or may_be_python else self._otherwise()
        if (tail == METHOD or tail[0] == "(") and may_be_python and name in {*self._tools, "print"}:
            self._scanned = self.text.index("(", end)
            return self._take_value()
        self._names += 1
        is_name = self.is_marked or (self._is_labelled and not self._name and name in self._tools)
        if not is_name or self._names > _MAX_NAMES or not FOLLOWS_NAME.match(self.text, end):
            return self._otherwise()
        if self.calls and name not in {*self._tools, *ROLES}:
            return Shape.FOLLOWED
        self._name = self._name if name in ROLES else name
        self._at = end
        return Shape.OPEN

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
        elif calls := self._calls_in(source):
            self.calls += calls
        elif self.is_marked:
            self.is_damaged = True
        else:
            return self._otherwise()
        self._at, self._scanned = end, 0
        return Shape.OPEN

    def _calls_in(self, source: str) -> tuple[WrittenCall, ...]:
        calls = json_calls(_single_braces(source), self._tools) if source[0] in "{[" else ()
        return calls or python_calls(source, self._tools)

    def _value_end(self) -> int:
        """The offset behind the value that begins at `_at`; 0 if it goes on. Resumes at `_scanned`."""
        at = self._scanned or self._at
        while match := STOPS[self._quote].search(self.text, at):
            char, at = match[0], match.end()
            if char == "\\":
                if at == len(self.text):
                    self._scanned = at - 1
                    return 0
                at += 1
            elif char in STOPS:
                self._quote = "" if self._quote else char
            else:
                self._depth += 1 if char in "{[(" else -1
                if self._depth <= 0:
                    self._depth = 0
                    return at
        self._scanned = max(at, len(self.text) - MAX_QUOTE, 1)
        return 0

    def _take_arguments(self, source: str) -> None:
        arguments = written_object(source)
        unreadable = source if arguments is None else ""
        self.calls.append(WrittenCall(self._name, arguments or {}, not self._is_by_name, unreadable))
        self._forget_item()

    def _end_item(self) -> None:
        is_empty_call = self._in_item or (self.is_marked and self._name in self._tools)
        if self._name and (self._parameters or (is_empty_call and not self._is_by_name)):
            call = with_types(self._name, self._parameters, self._tools)
            self.calls.append(replace(call, is_explicit=not self._is_by_name))
            self._forget_item()

    def _forget_item(self) -> None:
        self._name, self._parameters, self._names = "", {}, 0
        self._in_item = self._is_by_name = self._is_labelled = False


def is_written_call(text: str) -> bool:
    """Whether the whole text is a call of any tool, the beginning of one, or repeats tags of the prompt."""
    stripped = text.strip()
    if stripped[:1] not in {"{", "[", "<", "`", "~"}:
        return False
    candidate = Candidate({}, may_echo=True)
    if candidate.feed(stripped) is not Shape.OPEN:
        return False
    is_call = candidate.is_within_call or candidate.close() is Shape.OPEN
    return is_call and all(call.is_explicit for call in candidate.calls)


def _single_braces(source: str) -> str:
    """The object without doubled braces around it: the template of Qwen2.5-Coder shows calls so, and models copy it."""
    if not source.startswith("{{"):
        return source
    body = source[1:].rstrip()
    return body[:-1] if body.count("{") < body.count("}") else body


def _may_be_call(text: str, tools: Mapping[str, Tool]) -> bool:
    """Whether a value that begins so may be a call. Never again once it was not, however the text goes on."""
    inner = text[1:].lstrip() if text[0] == "[" else _single_braces(text)
    if text[0] == "[" and inner and inner[0] != "{":
        name = NAME.match(inner)
        if name is None or name.end() == len(inner):
            return name is not None and any(tool.startswith(name[0]) for tool in tools)
        return name[0] in tools and inner[name.end()] == "("
    match = _KEY.match(inner)
    if match is None:
        return _KEY_BEGUN.fullmatch(inner) is not None
    key = match["key"]
    if key in tools:
        return _OBJECT_BEGUN.fullmatch(match["rest"]) is not None
    if key in NAME_KEYS and (value := _VALUE.match(match["rest"])) and value["value"] not in tools:
        return value["next"] is None or value["next"] in {*ARGUMENT_KEYS, *SIDE_KEYS}
    return key in {*NAME_KEYS, *ARGUMENT_KEYS, *WRAPPER_KEYS, *SIDE_KEYS}


def _begins_call(text: str, tools: Mapping[str, Tool]) -> bool:
    """Whether an unfinished value or Python call names a tool, or begins to; any name counts if there are no tools."""
    if match := _HAS_NAME.search(text):
        name, rest = match["name"].removeprefix("functions."), match["rest"]
        if rest is None:
            return not tools or any(tool.startswith(name) for tool in tools)
        return name in tools or any(f'"{key}"' in rest for key in ARGUMENT_KEYS)
    if match := _HAS_KEY.fullmatch(text):
        return any(key.startswith(match["key"]) for key in (*NAME_KEYS, *tools))
    if match := _KEY.match(text):
        return match["key"] in tools
    match = NAME.match(text.lstrip("[").removeprefix("print("))
    return match is not None and match["name"] in tools
