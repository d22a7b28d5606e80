"""Text area that folds long pastes and images into chips."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from textual.message import Message

from agent.commands import registry
from foundation.terminal_text import visible
from tui.widgets.prompt.chips import ChipBuffer, PastedImage, may_be_image_paths
from tui.widgets.prompt.history import PromptHistory
from tui.widgets.prompt.unit_area import UnitTextArea


class ChipTextArea(UnitTextArea):
    """What comes from outside is inserted with control characters made visible. The history keeps what chips hold."""

    @dataclass
    class PathPasted(Message):
        """A text that may be the path of an image, as a terminal pastes a dropped file."""

        text: str

    def __init__(self, history: PromptHistory, **options: Any) -> None:
        """`options` of a TextArea."""
        super().__init__(**options)
        self.prompt_history = history
        self._chips = ChipBuffer()

    def set_text(self, text: str) -> None:
        """Replaces the text, control characters made visible, long pastes folded; puts the cursor at the end."""
        history = self.prompt_history
        self.text = self._chips.refold(visible(text), map(visible, history.pastes), history.images)
        self.move_cursor(self.document.end)

    def insert_text(self, text: str) -> None:
        """Inserts one line at the cursor, control characters made visible, with spaces around it."""
        row, column = self.cursor_location
        line = self.document.get_line(row)
        before = " " if line[:column].strip() and not line[:column].endswith(" ") else ""
        after = "" if line[column:].startswith(" ") else " "
        self.insert(f"{before}{' '.join(visible(text).split())}{after}")

    def insert_folded(self, text: str) -> None:
        """Inserts a text at the cursor, control characters made visible; a long one as a placeholder."""
        self.insert(visible(self._chips.fold(text)))

    def insert_images(self, images: Sequence[PastedImage]) -> None:
        """Inserts a chip for each image, with spaces around them."""
        self.prompt_history.add_images(images)
        self.insert_text(" ".join(map(self._chips.fold_image, images)))

    def empty(self) -> None:
        """Removes the text and its chips, for good: undo does not bring them back."""
        self._chips = ChipBuffer()
        self.clear()
        self.history.clear()

    @property
    def pasted(self) -> tuple[str, ...]:
        """The texts of the chips that are sent with the text."""
        return tuple(text for text in self._chips.texts if text in self.full_text)

    @property
    def full_text(self) -> str:
        """The text as it would be sent."""
        return self._chips.unfold(self.text)

    @property
    def draft_text(self) -> str:
        """The text with marks around what was pasted, for a draft."""
        return self._chips.unfold_for_draft(self.text)

    @property
    def chip(self) -> str | PastedImage | None:
        """What stands behind the chip at the cursor."""
        row, column = self.cursor_location
        return self._chips.chip_at(self.document.get_line(row), column)

    def paste_text(self, pasted: str) -> None:
        """Inserts what a terminal pasted: as it is, or as a chip. Pasting a text again unfolds its chip."""
        text = pasted.replace("\r\n", "\n").replace("\r", "\n")
        text = text if self.text else registry.with_slash(text)
        if may_be_image_paths(text):
            self.post_message(self.PathPasted(text))
        elif span := self._chips.chip_of(text, self.text):
            start, end = map(self.location_at, span)
            self.replace(visible(text), start, end, maintain_selection_offset=False)
            self.move_cursor(self.document.end)
        else:
            self.insert_folded(text)
