"""The port of every OCR engine."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct

Consent = Callable[[Path, Sequence[str]], bool]
"""Given the checkpoint's folder and the files of Python in it: may they run, with all that this program may do?"""


class OcrLine(Struct, frozen=True):
    """One line of text. `box` is left, top, right, bottom in pixels; `score` from 0 to 1, the engine's own."""

    text: str
    box: tuple[float, float, float, float]
    score: float


class OcrReading(Struct, frozen=True):
    """An engine's text in reading order. It counts as approximate, whatever the scores are.

    An engine that locates lines gives `lines`; one that writes free text gives `written`. `warnings` are sentences for
    the user: the text was truncated, it repeats itself.
    """

    engine: str
    lines: tuple[OcrLine, ...] = ()
    written: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """`written`; else the rows of the picture, with two blanks between lines side by side."""
        return self.written or "\n".join("  ".join(line.text for line in row) for row in line_rows(self.lines))


class OcrEngine(Protocol):
    """Reads any picture. Slow, and to be called off the event loop; one call at a time."""

    @property
    def name(self) -> str: ...

    @property
    def lines(self) -> bool:
        """Whether it reads crops of single lines, by `read_lines`."""
        ...

    def read(self, image: bytes) -> OcrReading:
        """The text in an encoded picture (PNG, JPEG, …).

        Raises UnreadableImage where it is none, MissingLibrary where the engine is not installed, ModelError.
        """
        ...

    def read_lines(self, images: Sequence[bytes]) -> list[OcrLine]:
        """The text of each crop, in the order given; "" where there is none. Boxes are the crops' own."""
        ...


def line_rows(lines: Sequence[OcrLine]) -> list[list[OcrLine]]:
    """Rows of lines: those whose middles lie within each other's height; top to bottom, left to right."""
    rows: list[list[OcrLine]] = []
    for line in sorted(lines, key=_middle):
        row = rows[-1] if rows else None
        if row is not None and row[-1].box[1] <= _middle(line) <= row[-1].box[3]:
            row.append(line)
        else:
            rows.append([line])
    return [sorted(row, key=lambda line: line.box[0]) for row in rows]


def _middle(line: OcrLine) -> float:
    return (line.box[1] + line.box[3]) / 2
