"""Accuracy over compression: what was measured here, beside what DeepSeek-OCR's authors published, as an SVG.

    python -m benchmarks.ocr_quality --all --json > quality.json
    python -m benchmarks.curve quality.json > docs/figures/accuracy.svg

Accuracy is 100 less the character error rate in per cent. Compression is text tokens for one vision token of a page of
1024×1024 (nominally 256). The two are not the same experiment: PP-OCR reads the picture's pixels, and DeepSeek-OCR's
decoder its own vision tokens, on other pages (Fox) and by another measure (precision).
"""

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from msgspec import Struct

VISION_TOKENS = 256  # of a page of 1024×1024, nominally

# DeepSeek-OCR, arXiv 2510.18234, table 2 (Fox, English): (compression, precision in %) at 64 and at 100 vision tokens
QUOTED = {
    "DeepSeek-OCR, 64 tokens (quoted)": (
        (10.5, 96.5),
        (11.8, 93.8),
        (13.2, 83.8),
        (15.1, 85.9),
        (16.5, 79.3),
        (17.7, 76.4),
        (19.7, 59.1),
    ),
    "DeepSeek-OCR, 100 tokens (quoted)": (
        (6.7, 98.5),
        (7.5, 97.3),
        (8.5, 96.8),
        (9.7, 96.8),
        (10.6, 91.5),
        (11.3, 89.8),
        (12.6, 87.1),
    ),
}

WIDTH, HEIGHT = 860, 480
LEFT, RIGHT, TOP, BOTTOM = 60, 300, 30, 50
MOST_RATIO, LEAST_ACCURACY = 40, 0
COLOURS = ("#0072b2", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#e69f00")  # told apart by the colour-blind too


class Line(Struct, frozen=True):
    """Points that belong together: (compression, accuracy in %). `quoted` ones are somebody else's figures."""

    name: str
    points: tuple[tuple[float, float], ...]
    quoted: bool = False


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.curve", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("quality", type=Path, help="what `benchmarks.ocr_quality --json` printed")
    options = parser.parse_args(arguments)
    rows = json.loads(options.quality.read_text("utf-8"))["rows"]
    quoted = [Line(name, points, quoted=True) for name, points in QUOTED.items()]
    print(svg([*measured(rows), *quoted]))
    return 0


def measured(rows: Iterable[dict[str, Any]]) -> list[Line]:
    """A line for each engine and language, read line by line; and our own cell reader's, which is exact."""
    found: dict[str, list[tuple[float, float]]] = {}
    exact: set[tuple[float, float]] = set()
    for row in rows:
        ratio = round(row["tokens"] / VISION_TOKENS, 1)
        if row["look"].startswith("cells"):
            exact.add((ratio, 100.0))
        if row["way"] == "line":
            found.setdefault(f"{row['engine']}, {row['language']}", []).append((ratio, 100 - row["cer"]))
    lines = [Line(name, tuple(sorted(points))) for name, points in found.items()]
    return [Line("the cell reader, any text", tuple(sorted(exact))), *lines]


def svg(lines: Sequence[Line]) -> str:
    """The lines as a picture; dashes are quoted, a full line is measured."""
    drawn = [_line(line, n) for n, line in enumerate(lines)]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
            'font-size="13">',
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
            *_axes(),
            *drawn,
            "</svg>",
        ]
    )


def _across(ratio: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * min(ratio, MOST_RATIO) / MOST_RATIO


def _down(accuracy: float) -> float:
    share = (max(accuracy, LEAST_ACCURACY) - LEAST_ACCURACY) / (100 - LEAST_ACCURACY)
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share


def _axes() -> Iterable[str]:
    for accuracy in range(LEAST_ACCURACY, 101, 20):
        y = _down(accuracy)
        yield f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{accuracy} %</text>'
    for ratio in range(0, MOST_RATIO + 1, 5):
        x = _across(ratio)
        yield f'<path d="M{x:.1f} {HEIGHT - BOTTOM}v5" stroke="#888"/>'
        yield f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{ratio}×</text>'
    middle = (LEFT + WIDTH - RIGHT) / 2
    yield f'<text x="{middle}" y="{HEIGHT - 10}" text-anchor="middle">text tokens for one vision token</text>'
    yield f'<text x="{LEFT}" y="18">characters read right</text>'


def _line(line: Line, number: int) -> str:
    colour = COLOURS[number % len(COLOURS)]
    points = [(_across(ratio), _down(accuracy)) for ratio, accuracy in line.points]
    path = "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    dash = ' stroke-dasharray="5 4"' if line.quoted else ""
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{"white" if line.quoted else colour}" stroke="{colour}"/>'
        for x, y in points
    )
    x, y = WIDTH - RIGHT + 24, TOP + 22 * number + 8
    return (
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.8"{dash}/>{dots}'
        f'<path d="M{x} {y}h24" stroke="{colour}" stroke-width="1.8"{dash}/>'
        f'<text x="{x + 32}" y="{y + 4}">{escape(line.name)}</text>'
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
