"""Bars of block characters, to an eighth of a cell."""

from typing import Final

EIGHTHS: Final = " ▏▎▍▌▋▊▉"


def bar(share: float, width: int) -> str:
    """A bar of at most `width` cells; a share above 1 fills it."""
    eighths = round(max(0.0, min(share, 1.0)) * width * 8)
    full, rest = divmod(eighths, 8)
    if not eighths and share > 0 and width:
        return EIGHTHS[1]
    return "█" * full + (EIGHTHS[rest] if rest else "")
