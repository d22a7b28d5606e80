"""Placeholders for long pastes (`[Pasted text #1 · 120 lines]`), which are sent whole."""

import re
from typing import Final

MAX_CHARS: Final = 1_000
MAX_LINES: Final = 15
_MARK = re.compile(r"\[Pasted text #(\d+)[^\]]*\]")


class PasteBuffer:
    """The long texts behind the marks of one prompt."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}

    def fold(self, text: str) -> str:
        """What to put into the prompt: the text, or its mark where it is long."""
        if len(text) <= MAX_CHARS and text.count("\n") < MAX_LINES:
            return text
        number = len(self._texts) + 1
        self._texts[number] = text
        lines = text.count("\n") + 1
        size = f"{lines} lines" if lines > 1 else f"{len(text):,} characters"
        return f"[Pasted text #{number} · {size}]"

    def placeholder_of(self, text: str, prompt: str) -> str:
        """The mark of this very text in the prompt, "" where it is not there: pasting again unfolds it."""
        for match in _MARK.finditer(prompt):
            if self._texts.get(int(match[1])) == text:
                return match[0]
        return ""

    def unfold(self, prompt: str) -> str:
        """The prompt with every mark replaced by its text; what only looks like a mark stays."""
        return _MARK.sub(lambda match: self._texts.get(int(match[1]), match[0]), prompt)
