"""The message that is being typed: its lines above the present one, and what was pasted into it.

The line editor has one line. A line end within it is the character ␤.
"""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from foundation.terminal_text import visible
from tui.widgets.prompt.chips import ChipBuffer

BLOCK: Final = '"""'  # begins and ends a message of several lines
LINE_END: Final = "␤"


class WholeMessage(Struct, frozen=True):
    """A message to send, and those parts of its text that were pasted."""

    text: str
    pastes: tuple[str, ...] = ()


class Composition:
    """One message after the other."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._chips = ChipBuffer()

    @property
    def has_lines(self) -> bool:
        return bool(self._lines)

    def clear(self) -> None:
        self._lines = []

    def take(self, line: str) -> WholeMessage | None:
        """Takes a line as it was entered; gives the message that it ends."""
        is_block = bool(self._lines) and self._lines[0].startswith(BLOCK)
        self._lines.append(from_line(line))
        if is_block or line.startswith(BLOCK):
            text = "\n".join(self._lines)
            if len(text) < 2 * len(BLOCK) or not text.endswith(BLOCK):
                return None
            return self._end(text[len(BLOCK) : -len(BLOCK)].strip("\n"))
        if line.endswith("\\") and not line.endswith("\\\\"):
            self._lines[-1] = self._lines[-1][:-1]
            return None
        return self._end("\n".join(self._lines))

    def paste(self, text: str) -> str:
        """What stands in the line for a text that was pasted: the text, or where it is long a placeholder."""
        return to_line(self._chips.fold(text))

    def restore(self, text: str, pastes: Iterable[str]) -> str:
        """The line for a message that returns to the prompt."""
        return to_line(self._chips.refold(text, pastes))

    def draft(self, line: str) -> str:
        """What is typed so far, with the present line, as `Drafts` keeps it."""
        return self._chips.unfold_for_draft("\n".join([*self._lines, from_line(line)]))

    def _end(self, text: str) -> WholeMessage:
        self._lines = []
        whole = self._chips.unfold(text)
        return WholeMessage(whole, tuple(paste for paste in self._chips.texts if whole != text and paste in whole))


def to_line(text: str) -> str:
    """The text in one line of the editor."""
    return visible(text).replace("\n", LINE_END)


def from_line(line: str) -> str:
    return line.replace(LINE_END, "\n")
