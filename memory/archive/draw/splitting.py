"""Where a page that cannot hold all ends: at an entry, a paragraph, a line or a word, in that order, else anywhere.

A place further from the page's end than its window is not taken: the page would lose more than its reader gains.
"""

from memory.archive.draw.galley import Galley

ENTRY, PARAGRAPH, LINE = 1 / 8, 1 / 16, 1 / 32  # of the page's characters
WORD = 24  # characters


def split(galley: Galley, most: int) -> int:
    """How many of the galley's first `most` characters, which fit the page, it should have; one at least.

    A head line is never cut through, nor parted from the first of its text.
    """
    text = galley.text
    seam = max((seam for seam in galley.seams if seam <= most), default=0)
    head = next((head for head in reversed(galley.heads) if head.begin <= most), None)
    least = head.end + 1 if head else 1
    if seam and (most < least or seam >= most * (1 - ENTRY)):
        return seam
    return (
        _after_blank_line(text, max(least, int(most * (1 - PARAGRAPH))), most)
        or _after(text, "\n", max(least, int(most * (1 - LINE))), most)
        or _after(text, " ", max(least, most - WORD), most)
        or most
    )


def _after(text: str, sign: str, least: int, most: int) -> int:
    """The last place between the two that follows the sign; 0 where there is none."""
    return text.rfind(sign, least - 1, most) + 1


def _after_blank_line(text: str, least: int, most: int) -> int:
    end = _after(text, "\n", least, most)
    while end:
        before = text.rfind("\n", 0, end - 1)
        if before >= 0 and not text[before : end - 1].strip():
            return end
        end = _after(text, "\n", least, end - 1)
    return 0
