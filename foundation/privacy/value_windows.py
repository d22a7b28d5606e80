"""Windows of a text that can hold a named secret: around words with a digit and a letter. Most prose has none."""

from collections.abc import Iterator
from typing import Final

_SHORTEST: Final = 8  # characters: no value that counts is shorter
_DIGITS: Final = b"0123456789"
_SPACES: Final = b"\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f "
_LETTERS: Final = bytes(code for code in range(128) if chr(code).isalpha()) + b"?"  # `?` stands for all beyond ASCII
_KINDS: Final = bytes(
    ord("0" if code in _DIGITS else " " if code in _SPACES else "a" if code in _LETTERS else ".") for code in range(256)
)


def windows(text: str, at: int, before: int, *, final: bool) -> Iterator[tuple[int, int]]:
    """Stretches of the text, in order and apart, that hold every word which may be a value, and `before` characters
    in front of each: words of 8 characters or more with a digit and a letter that end after `at`. The last word counts
    whatever it holds where the text goes on (not `final`).

    A word ends at ASCII's white space, and the character after it belongs to the stretch.
    """
    kinds = text.encode("ascii", "replace").translate(_KINDS)
    start = stop = 0
    for first, end in _words(kinds, at, final=final):
        if first - before > stop:
            if stop:
                yield start, stop
            start = first - before
        stop = min(len(text), end + 1)
    if stop:
        yield start, stop


def _words(kinds: bytes, at: int, *, final: bool) -> Iterator[tuple[int, int]]:
    length = len(kinds)
    place = kinds.find(b"0", kinds.rfind(b" ", 0, at) + 1)
    while place >= 0:
        first, end = kinds.rfind(b" ", 0, place) + 1, kinds.find(b" ", place)
        end = length if end < 0 else end
        if end - first >= _SHORTEST and kinds.find(b"a", first, end) >= 0:
            yield first, end
            if end == length:
                return
        place = kinds.find(b"0", end)
    if not final:
        yield kinds.rfind(b" ") + 1, length
