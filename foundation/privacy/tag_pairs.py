"""Pairs of `<private>` and `</private>`: which opening tags a closing one ends."""

import re
from collections.abc import Callable

from foundation.privacy.tag_patterns import PAIRED, is_attached


class TagPairs:
    """Finds the closing tag of each opening tag, in streamed text. Ignores code.

    A tag's partner depends on the text after it, never on the text before. A tag that is attached to a word ends with
    the next closing tag, and counts for no other. No pair spans a block that the program injected,
    `[injected]` or, if `attached_count`, `[private]`: removed text leaves a mark, so that a second pass finds no new
    pairs.
    """

    def __init__(self, *, attached_count: bool, is_ours: Callable[[re.Match[str]], bool]) -> None:
        self._is_ours = is_ours
        self._attached_count = attached_count
        self._marks_end = attached_count
        self._open: list[tuple[int, bool]] = []  # place in the input, and whether it is attached to a word
        self._ends: dict[int, int | None] = {}  # decided: the end of the closing tag, or None where there is none
        self._seen = 0  # how far the input was looked at

    def end_of(self, place: int, text: str, offset: int, sure: int, *, final: bool) -> tuple[bool, int | None]:
        """Whether it is decided where the tag at `place` (in the input) ends, and where: None if nowhere.

        `text` is the input from `offset` on; no mark can still begin before `sure` of it.
        """
        if self._seen <= place:
            self._seen = place
            self._open.clear()
        for event in PAIRED.finditer(text, self._seen - offset):
            if event.start() >= sure:
                break
            self._handle(event, text, offset)
        self._seen = max(self._seen, offset + sure)
        if place in self._ends:
            return True, self._ends.pop(place)
        return final, None

    def _handle(self, event: re.Match[str], text: str, offset: int) -> None:
        start = event.start() + offset
        match event.lastgroup:
            case "open":
                attached = is_attached(text, event.start())
                if not attached or self._attached_count:
                    self._open.append((start, attached))
            case "close":
                self._close(event.end() + offset)
            case _:
                if self._ends_a_pair(event):
                    self._ends.update((place, None) for place, _ in self._open)
                    self._open.clear()
        self._seen = event.end() + offset

    def _ends_a_pair(self, event: re.Match[str]) -> bool:
        if event["name"]:
            return self._is_ours(event)
        return self._marks_end or event.group() != "[private]"

    def _close(self, end: int) -> None:
        while self._open:
            place, attached = self._open.pop()
            self._ends[place] = end
            if not attached:
                return
