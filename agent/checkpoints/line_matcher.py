"""Comparison of the lines of two versions of a file.

difflib does not look for lines that are common in a long file, such as empty ones: between two changed lines it takes
them for changed too. What it calls replaced is compared again here, with every line.
"""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final, Literal, TypeVar

Line = TypeVar("Line", str, bytes)
Opcode = tuple[Literal["replace", "delete", "insert", "equal"], int, int, int, int]

MOST_AGAIN: Final = 1_000  # lines, old and new together: with more common ones the time grows as their cube


class LineMatcher(SequenceMatcher[Line]):
    """A SequenceMatcher that also matches common lines."""

    def __init__(self, old: Sequence[Line], new: Sequence[Line]) -> None:
        super().__init__(None, old, new)
        self._old, self._new = old, new

    def get_opcodes(self) -> list[Opcode]:
        return [part for opcode in super().get_opcodes() for part in self._again(opcode)]

    def _again(self, opcode: Opcode) -> Iterator[Opcode]:
        tag, old, old_end, new, new_end = opcode
        if tag != "replace" or old_end - old + new_end - new > MOST_AGAIN:
            yield opcode
            return
        inner = SequenceMatcher(None, self._old[old:old_end], self._new[new:new_end], autojunk=False)
        for part, first, last, first_new, last_new in inner.get_opcodes():
            yield part, old + first, old + last, new + first_new, new + last_new
