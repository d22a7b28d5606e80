"""Streaming answer: its finished blocks, and the block that is still open."""

from tui.widgets.transcript.items import AnswerBlock, TranscriptItem
from tui.widgets.transcript.splitter import MarkdownBlock, MarkdownSplitter


class AnswerStream:
    """Takes text in, gives pieces out. The first piece of the answer carries its mark."""

    def __init__(self, *, marked: bool = True) -> None:
        self._splitter = MarkdownSplitter()
        self._waiting: list[str] = []
        self._marked = marked

    def feed(self, text: str) -> None:
        self._waiting.append(text)

    @property
    def waits(self) -> bool:
        """Whether there is text that `advance` has not seen."""
        return bool(self._waiting)

    def advance(self) -> tuple[list[TranscriptItem], list[TranscriptItem]]:
        """The pieces finished since the last call, and those still open."""
        done = self._passages(self._splitter.feed(self._taken()))
        marked = self._marked
        open_now = self._passages(self._splitter.tail())
        self._marked = marked
        return done, open_now

    def close(self) -> list[TranscriptItem]:
        """The last pieces."""
        return self._passages([*self._splitter.feed(self._taken()), *self._splitter.close()])

    def _taken(self) -> str:
        text = "".join(self._waiting)
        self._waiting.clear()
        return text

    def _passages(self, blocks: list[MarkdownBlock]) -> list[TranscriptItem]:
        pieces: list[TranscriptItem] = []
        for block in blocks:
            pieces.append(AnswerBlock(block, first=self._marked))
            self._marked = False
        return pieces
