"""Placeholders for long pastes (`[Pasted text #1 · 120 lines]`), which are sent whole."""

import re
from typing import Final

CHARS: Final = 1_000
LINES: Final = 15
_MARK = re.compile(r"\[Pasted text #(\d+)[^\]]*\]")


class PasteBuffer:
    """The long texts behind the marks of one prompt."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}

    def folded(self, text: str) -> str:
        """What to put into the prompt: the text, or its mark where it is long."""
        if len(text) <= CHARS and text.count("\n") < LINES:
            return text
        number = len(self._texts) + 1
        self._texts[number] = text
        lines = text.count("\n") + 1
        size = f"{lines} lines" if lines > 1 else f"{len(text):,} characters"
        return f"[Pasted text #{number} · {size}]"

    def mark_of(self, text: str, prompt: str) -> str:
        """The mark of this very text in the prompt, "" where it is not there: pasting again unfolds it."""
        for found in _MARK.finditer(prompt):
            if self._texts.get(int(found[1])) == text:
                return found[0]
        return ""

    def whole(self, prompt: str) -> str:
        """The prompt with every mark replaced by its text; what only looks like a mark stays."""
        return _MARK.sub(lambda found: self._texts.get(int(found[1]), found[0]), prompt)
