"""What stands on a page already is not drawn again: a line says where it stands, and the entry's spans point there.

Only a stretch of some length is worth such a line. What it stands for may be on an older page, or in an entry that is
being archived with this one; never in the same entry, which is to be read in one go.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from memory.archive.keep.passages import WORTH_INDEXING, Part, Passage

WORTH_A_LINE = 400  # characters; the line itself takes up to a hundred


class Twin(Struct, frozen=True):
    """The same words in an entry that is archived at the same time: its key, its id and where they begin in it."""

    key: int
    entry: str
    start: int


Home = tuple[Part, ...] | Twin


class Quoted(Struct, frozen=True):
    """Characters of an entry that are not drawn with it, and where each of their passages stands."""

    start: int
    length: int
    homes: tuple[tuple[Passage, Home], ...]


class Own(Struct, frozen=True):
    """Characters of an entry that are drawn with it: `start` in the entry, `at` in what is drawn."""

    start: int
    length: int
    at: int


class Composed(Struct, frozen=True):
    """An entry as it is drawn: its own words, and lines that stand for the others."""

    text: str
    own: tuple[Own, ...]
    quoted: tuple[Quoted, ...]


def compose(text: str, cut: Sequence[Passage], homes: Mapping[bytes, Home], texts: Mapping[str, str]) -> Composed:
    """`text`, cut into passages, of which `homes` tells where some stand; `texts` of those pages and entries, by id."""
    runs = [run for run in _runs(cut, homes) if sum(one.length for one, _ in run) >= WORTH_A_LINE]
    parts, own, quoted, at, done = list[str](), list[Own](), list[Quoted](), 0, 0

    def draw(words: str) -> None:
        nonlocal at
        parts.append(words)
        at += len(words)

    for run in runs:
        begin, end = run[0][0].start, run[-1][0].start + run[-1][0].length
        if begin > done:
            own.append(Own(done, begin - done, at))
            draw(text[done:begin])
        if parts and not parts[-1].endswith("\n"):
            draw("\n")
        quoted.append(Quoted(begin, end - begin, tuple(run)))
        draw(_line(text[begin:end], run[0][1], texts))
        done = end
    if done < len(text) or not runs:
        own.append(Own(done, len(text) - done, at))
        draw(text[done:])
    return Composed("".join(parts), tuple(own), tuple(quoted))


def twins(key: int, entry: str, cut: Sequence[Passage], composed: Composed) -> dict[bytes, Twin]:
    """What a later entry may point to in this one: the passages that are drawn with it."""
    return {one.hash: Twin(key, entry, one.start) for one in drawn_passages(cut, composed)}


def drawn_passages(cut: Sequence[Passage], composed: Composed) -> list[Passage]:
    """The passages that stand whole within the entry's own words, and are long enough to be pointed to."""
    return [
        one
        for one in cut
        if one.length >= WORTH_INDEXING
        and any(o.start <= one.start and one.start + one.length <= o.start + o.length for o in composed.own)
    ]


def _runs(cut: Sequence[Passage], homes: Mapping[bytes, Home]) -> list[list[tuple[Passage, Home]]]:
    """Passages with a home that follow each other."""
    runs: list[list[tuple[Passage, Home]]] = []
    follows = False
    for one in cut:
        home = homes.get(one.hash)
        if home is None:
            follows = False
            continue
        if not follows:
            runs.append([])
        runs[-1].append((one, home))
        follows = True
    return runs


def _line(words: str, home: Home, texts: Mapping[str, str]) -> str:
    """`⤷ 210 lines (8,400 characters) as in e_4kx7m2p0q9ab, from its line 3` and a newline."""
    count = words.count("\n") + (not words.endswith("\n"))
    what = f"{count:,} line{'s' if count != 1 else ''} ({len(words):,} characters)"
    name, start = (home.entry, home.start) if isinstance(home, Twin) else (home[0].page, home[0].page_start)
    line = texts[name].count("\n", 0, start) + 1
    return f"⤷ {what} as {'in' if isinstance(home, Twin) else 'on page'} {name}, from its line {line:,}\n"
