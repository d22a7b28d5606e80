"""Separates reasoning from text where a server sends both in one stream, and joins split surrogates."""

from collections.abc import Iterator

from models.chat.port import ReasoningChunk, TextChunk

MOST_HELD = 4_096  # characters of blanks before the first word
OPEN, CLOSE = "<think>", "</think>"


class ThinkSplitter:
    """`<think>…</think>` at the very start of an answer is reasoning; all after it is text, the same tag included.

    Any cut of the same text gives the same reasoning and the same text.
    """

    def __init__(self, *, thinking: bool = False, opening: str = OPEN, closing: str = CLOSE) -> None:
        """`thinking`: the prompt itself opens the reasoning, as DeepSeek-R1's template does."""
        self._opening, self._closing = opening, closing
        self._held = ""
        self._state = "thinking" if thinking else "start"
        self._thought_anything = False

    def feed(self, text: str) -> Iterator[TextChunk | ReasoningChunk]:
        if not text:
            return
        if self._state == "text":
            yield TextChunk(text)
            return
        self._held += text
        if self._state == "start":
            self._begin()
        if self._state == "thinking":
            yield from self._think()
        elif self._state == "after":
            yield from self._after()
        elif self._state == "text" and self._held:
            yield TextChunk(self._held)
            self._held = ""

    def _begin(self) -> None:
        bare = self._held.lstrip()
        if bare.startswith(self._opening):
            self._state = "thinking"
            self._held = bare.removeprefix(self._opening)
        elif not self._opening.startswith(bare) or len(self._held) > MOST_HELD:
            self._state = "text"

    def _think(self) -> Iterator[TextChunk | ReasoningChunk]:
        if not self._thought_anything:
            self._held = self._held.lstrip("\n")
            self._thought_anything = bool(self._held)
        thought, closed, rest = self._held.partition(self._closing)
        if closed:
            self._held, self._state = rest, "after"
            if thought:
                yield ReasoningChunk(thought)
            yield from self._after()
            return
        keep = overlap(thought, self._closing)
        self._held = thought[len(thought) - keep :]
        if ready := thought[: len(thought) - keep]:
            yield ReasoningChunk(ready)

    def _after(self) -> Iterator[TextChunk]:
        """Drops the blank lines between the reasoning and the answer."""
        text = self._held.lstrip("\n")
        self._held = ""
        if text:
            self._state = "text"
            yield TextChunk(text)

    def close(self) -> Iterator[TextChunk | ReasoningChunk]:
        if self._held:
            yield ReasoningChunk(self._held) if self._state == "thinking" else TextChunk(self._held)
        self._held = ""


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
