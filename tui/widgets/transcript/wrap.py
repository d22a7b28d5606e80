"""Line breaking in terminal cells: at spaces, and between characters of scripts without spaces."""

from collections.abc import Iterator

from rich.cells import cell_len, split_graphemes

_NO_START = frozenset("、。，．・：；？！）］｝〉》」』】〕〗’”…ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ,.;:?!)]}%")
_NO_END = frozenset("（［｛〈《「『【〔〖‘“([{")


def breaks(text: str, width: int) -> list[int]:
    """The offsets at which new lines begin (0 left out). No line is wider than `width` cells, but for trailing
    spaces, which hang. `text` holds no newline.
    """
    if width < 2 or cell_len(text) <= width:
        return []
    found: list[int] = []
    used = 0  # cells since the line began
    start = 0
    chance, chance_used = 0, 0  # the last place where it may break, and the cells before it
    before, before_wide = "", False
    for at, end, cells in _graphemes(text):
        what = text[at:end]
        if what == " ":
            used += 1
            chance, chance_used = end, used
        else:
            wide = cells > 1
            if (wide or before_wide) and what not in _NO_START and before not in _NO_END:
                chance, chance_used = at, used
            if used + cells > width and at > start:
                if chance <= start:
                    chance, chance_used = at, used
                found.append(chance)
                start = chance
                used -= chance_used
                chance_used = 0
                if used + cells > width and at > start:
                    found.append(at)
                    start, used = at, 0
            used += cells
            before_wide = wide
        before = what
    return found


def fold(text: str, width: int) -> list[int]:
    """Like `breaks`, at the edge alone: for code, where a space is not a place to rest."""
    if width < 2 or cell_len(text) <= width:
        return []
    found: list[int] = []
    used = 0
    for at, _, cells in _graphemes(text):
        if used + cells > width:
            found.append(at)
            used = 0
        used += cells
    return found


def _graphemes(text: str) -> Iterator[tuple[int, int, int]]:
    """Where each begins and ends, and its cells. Of joiners that a text begins with, Rich's own count takes what it
    shows behind them for nothing."""
    for at, end, cells in split_graphemes(text)[0]:
        yield at, end, cells or cell_len(text[at:end])
