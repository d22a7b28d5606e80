"""Detects endless repetition of a text, as DeepSeek-OCR produces in some 4 % of pictures (mlx-vlm #578)."""

LOOKED_AT = 4_000  # characters of the end
LEAST = 800  # repeated characters: a ruled line or a table's row of blanks is shorter
TIMES = 8


def loop_at(text: str) -> int | None:
    """The offset after the first round of an endless repetition; None where there is none.

    The end of the text is one unit, `TIMES` times or more, `LEAST` characters in all or more.
    """
    end = text[-LOOKED_AT:][::-1]
    borders = _borders(end)
    for length in range(len(end), LEAST - 1, -1):  # the longest that repeats, so that it is cut at its first round
        period = length - borders[length - 1]
        if length >= TIMES * period:
            return len(text) - length + period
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
