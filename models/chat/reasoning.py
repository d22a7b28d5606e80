"""Separates reasoning from text where a server sends both in one stream, and joins split surrogates."""

import re
from collections.abc import Iterator
from typing import Final

from models.chat.port import ReasoningChunk, TextChunk, TextWasReasoning

MOST_HELD = 4_096  # characters of blanks before the first word
OPEN, CLOSE = "<think>", "</think>"
_FORMS: Final = (  # as the templates of the models write them
    (OPEN, CLOSE),  # DeepSeek, Qwen, GLM, MiniMax, Nemotron, SmolLM
    ("<THINK>", "</THINK>"),
    ("<Think>", "</Think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),  # Seed-OSS
    ("◁think▷", "◁/think▷"),  # Kimi-VL
    ("[THINK]", "[/THINK]"),  # Magistral
    ("<|START_THINKING|>", "<|END_THINKING|>"),  # Command A
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|channel>thought", "<channel|>"),  # Gemma 4
    ("<|channel|>analysis<|message|>", "<|end|>"),  # gpt-oss
)
_BEFORE_ANSWER: Final = ("<|start|>assistant", "<|channel|>final<|message|>")  # gpt-oss
_QUOTES: Final = frozenset("\"'“‘«„")


class ThinkSplitter:
    """Reasoning between tags at the start of an answer is apart from its text; after it, opening tags are text.

    A closing tag without its opening one turns all text before it into reasoning (`TextWasReasoning`), unless code or
    quotation marks hold the tag, or an opening tag came in the text. So does the tag that closed the reasoning where it
    comes again, as after nested tags, unless a space before it says that the text is about the tag. Any cut of the
    same text gives the same reasoning and the same text.
    """

    def __init__(self, *, thinking: bool = False, opening: str = OPEN, closing: str = CLOSE) -> None:
        """`thinking`: the prompt itself opens the reasoning, as DeepSeek-R1's template does."""
        self._forms = dict(((opening, closing), *_FORMS))
        self._starts = (*self._forms, *_BEFORE_ANSWER)
        tags = {tag for form in self._forms.items() for tag in form if tag not in {"<|end|>", "<channel|>"}}
        self._tags = (*sorted(tags), _BEFORE_ANSWER[1])
        self._tag = re.compile("|".join(map(re.escape, self._tags)))
        self._closing = closing
        self._held = ""
        self._state = "thinking" if thinking else "start"
        self._thought_anything = False
        self._code: _CodeLines | None = _CodeLines()  # of the text so far; None once an opening tag came in it
        self._closed_by = ""  # the tag that closed reasoning last
        self._gave_text = False

    def feed(self, text: str) -> Iterator[TextChunk | ReasoningChunk | TextWasReasoning]:
        self._held += text
        while self._held:
            before = self._state, len(self._held)
            match self._state:
                case "thinking":
                    yield from self._think()
                case "text":
                    yield from self._text()
                case _:
                    self._begin()
            if (self._state, len(self._held)) == before:
                return

    def _begin(self) -> None:
        """At the start, and after reasoning: a tag, or text."""
        bare = self._held.lstrip()
        if opening := next((tag for tag in self._starts if bare.startswith(tag)), ""):
            self._held = bare.removeprefix(opening)
            self._closing = self._forms.get(opening, "")
            self._state = "thinking" if self._closing else "after"
            self._code = _CodeLines() if self._closing or self._closed_by else None
            self._thought_anything = False
        elif len(self._held) > MOST_HELD or not any(tag.startswith(bare) for tag in self._starts):
            self._held = self._held.lstrip("\n") if self._state == "after" else self._held
            self._state = "text"

    def _think(self) -> Iterator[ReasoningChunk]:
        if not self._thought_anything:
            self._held = self._held.lstrip("\n")
            self._thought_anything = bool(self._held)
        thought, closed, rest = self._held.partition(self._closing)
        if closed:
            self._held, self._state, self._closed_by = rest, "after", self._closing
            self._code = _CodeLines()
        else:
            keep = overlap(thought, self._closing)
            thought, self._held = thought[: len(thought) - keep], thought[len(thought) - keep :]
        if thought:
            yield ReasoningChunk(thought)

    def _text(self) -> Iterator[TextChunk | TextWasReasoning]:
        if self._code is None:
            yield from self._give(len(self._held))
            return
        match = self._tag.search(self._held)
        if match is None:
            yield from self._give(len(self._held) - max(overlap(self._held, tag) for tag in self._tags))
            return
        yield from self._give(match.start())
        if self._code.holds_tag or not self._is_tag(match[0]):
            yield from self._give(len(match[0]))
        elif match[0] in self._forms:  # an opening one is talk about tags
            self._code = None
        else:
            self._held, self._state = self._held[len(match[0]) :], "after"
            self._closed_by, self._code = match[0], _CodeLines()
            if self._gave_text:
                self._gave_text = False
                yield TextWasReasoning()

    def _is_tag(self, tag: str) -> bool:
        """Whether the tag may be what it looks like: after reasoning, only the one that closed it, and not in talk."""
        if not self._closed_by or tag in self._forms:
            return True
        return tag == self._closed_by and self._code is not None and not self._code.ends_with_space

    def _give(self, length: int) -> Iterator[TextChunk]:
        text, self._held = self._held[:length], self._held[length:]
        if text:
            self._gave_text = True
            if self._code is not None:
                self._code.pass_over(text)
            yield TextChunk(text)

    def close(self) -> Iterator[TextChunk | ReasoningChunk]:
        held, self._held = self._held, ""
        held = held.lstrip("\n") if self._state == "after" else held
        if held:
            yield ReasoningChunk(held) if self._state == "thinking" else TextChunk(held)


class _CodeLines:
    """Follows the lines of a text: whether a tag that comes next is code or a quotation."""

    def __init__(self) -> None:
        self._line = ""
        self._fence = ""

    def pass_over(self, text: str) -> None:
        *lines, last = text.split("\n")
        for line in lines:
            self._end_line(self._line + line)
            self._line = ""
        self._line += last

    def _end_line(self, line: str) -> None:
        mark = re.match(r" {0,3}(`{3,}(?!.*`)|~{3,})", line)
        if mark and not self._fence:
            self._fence = mark[1]
        elif mark and mark[1].startswith(self._fence) and line.strip() == mark[1]:
            self._fence = ""

    @property
    def ends_with_space(self) -> bool:
        return self._line[-1:] in {" ", "\t"}

    @property
    def holds_tag(self) -> bool:
        return bool(self._fence) or self._line.count("`") % 2 == 1 or self._line[-1:] in _QUOTES


def overlap(text: str, mark: str) -> int:
    """How many characters at the end of `text` could be the start of `mark`."""
    return next((n for n in range(min(len(mark) - 1, len(text)), 0, -1) if text.endswith(mark[:n])), 0)


class SurrogateJoiner:
    """Joins surrogates that JSON escapes split between two deltas; a lone one becomes U+FFFD."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        text = self._held + text
        self._held = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            self._held, text = text[-1], text[:-1]
        return _paired(text)

    def close(self) -> str:
        held, self._held = self._held, ""
        return _paired(held)


def _paired(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
