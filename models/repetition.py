"""Detects endless repetition of a text: of text recognition (mlx-vlm #578: some 4 % of pictures) and of chat models."""

from typing import Final

LOOKED_AT = 4_000  # characters of the end
LEAST = 800  # repeated characters: a ruled line or a table's row of blanks is shorter
TIMES = 8


def loop_at(text: str, *, least: int = LEAST, times: int = TIMES) -> int | None:
    """The offset after the first round of an endless repetition; None where there is none.

    The end of the text is one unit, `times` times or more, `least` characters in all or more.
    """
    loop = _loop(text, least, times)
    return loop[0] + len(loop[1]) if loop else None


def _loop(text: str, least: int, times: int) -> tuple[int, str] | None:
    """The offset of the repetition, and the unit that is repeated."""
    end = text[-LOOKED_AT:][::-1]
    borders = _borders(end)
    for length in range(len(end), least - 1, -1):  # the longest that repeats, so that it is cut at its first round
        period = length - borders[length - 1]
        if length >= times * period:
            start = len(text) - length
            return start, text[start : start + period]
    return None


def _borders(text: str) -> list[int]:
    """For each prefix, the length of the longest of its own beginnings that it also ends with (Knuth–Morris–Pratt)."""
    borders = [0] * len(text)
    size = 0
    for at in range(1, len(text)):
        while size and text[at] != text[size]:
            size = borders[size - 1]
        size += text[at] == text[size]
        borders[at] = size
    return borders


# ── of a chat model ──

_LEAST: Final = 240  # repeated characters of prose
_LEAST_OF_WORD: Final = 600  # of a run of letters alone: “hahaha”
_LEAST_ELSEWHERE: Final = 3_000  # of figures, rules and tables, and in code
_TIMES: Final = 6
_STEP: Final = 64  # characters between two checks
_KEY: Final = 24  # characters of the end that occur before, if it repeats


class RepetitionGuard:
    """Watches a stream of text for a model in a loop."""

    def __init__(self) -> None:
        self._tail = ""
        self._unseen = self._fences = 0

    def feed(self, text: str) -> bool:
        """Whether the text so far ends in a loop."""
        self._fences += (self._tail[-2:] + text).count("```")
        self._tail = (self._tail + text)[-LOOKED_AT:]
        self._unseen += len(text)
        if self._unseen < _STEP or self._tail[-_KEY:] not in self._tail[-LOOKED_AT // _TIMES - _KEY : -1]:
            return False
        self._unseen = 0
        loop = _loop(self._tail, _LEAST, _TIMES)
        return loop is not None and len(self._tail) - loop[0] >= self._least(loop[1])

    def _least(self, unit: str) -> int:
        is_prose = any(char.isalpha() for char in unit) and not ("|" in unit and "\n" in unit)
        if self._fences % 2 or not is_prose:
            return _LEAST_ELSEWHERE
        return _LEAST_OF_WORD if unit.isalpha() else _LEAST


def without_loop(text: str) -> str:
    """The text with its endless repetition once; as it is if it has none."""
    return text[: loop_at(text, least=_LEAST, times=_TIMES)].rstrip() if text else text
