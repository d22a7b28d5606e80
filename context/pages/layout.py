"""Layout of chapters of the history on pages: whole where they fit, else the beginning of each entry."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from context.pages.recipe import Chapter
from foundation.privacy import Cleared, TextSource, clear
from memory.pages.cost.factsheet import factsheet
from memory.pages.render.entry_heads import EntryHead, head_line
from memory.pages.render.layout import LayoutPosition, LayoutText
from memory.pages.render.modes import Mode
from memory.pages.render.page import PageSheet, page_sheets
from memory.records import Entry

ShownTextOf = Callable[[Entry], str]
LEAST = 40  # characters: an entry with less room than this is omitted
CUT = "…"


class ChapterLayout(Struct, frozen=True):
    """A chapter on a page: the seqs of its `shown` entries, and the maximum characters of each (`most`; 0: all)."""

    sheet: PageSheet
    shown: tuple[int, ...]
    most: int


class ChapterText(Struct, frozen=True):
    """Text of an entry in a chapter: `text` from offset `start`, which is in line `line`."""

    entry: Entry
    text: str
    start: int = 0
    line: int = 1

    @property
    def part(self) -> str:
        return self.text[self.start :]


def chapters_of(texts: Sequence[ChapterText], mode: Mode) -> Iterator[Chapter]:
    """Splits the texts, oldest first, into chapters of one page of this mode; the last may be shorter.

    Appending texts later changes only the last chapter.
    """
    text_by_seq = {text.entry.seq: text.text for text in texts}
    if not texts:
        return
    for sheet in page_sheets(
        [_layout_text(text, 0) for text in texts], mode, LayoutPosition(0, texts[0].start, texts[0].line)
    ):
        first, last = sheet.laid[0], sheet.laid[-1]
        line = 1 + text_by_seq[first.key].count("\n", 0, first.start)
        yield Chapter(tuple(part.key for part in sheet.laid), first.start, line, last.start + last.length)


def texts_of(chapter: Chapter, entries: Mapping[int, Entry], text_of: ShownTextOf) -> list[ChapterText]:
    """Texts of the chapter's entries. Raises KeyError for a deleted entry."""
    last = len(chapter.entries) - 1
    return [
        ChapterText(
            entries[seq],
            text_of(entries[seq])[: chapter.end if n == last else None],
            *((chapter.start, chapter.line) if n == 0 else ()),
        )
        for n, seq in enumerate(chapter.entries)
    ]


def lay_out_chapter(texts: Sequence[ChapterText], mode: Mode) -> ChapterLayout | None:
    """Lays the chapter out on one page: whole, or as much of each entry as fits; None where not even that fits."""
    all_seqs = tuple(text.entry.seq for text in texts)
    if single_sheet := fit_sheet(texts, mode, all_seqs, 0):
        return ChapterLayout(single_sheet, all_seqs, 0)
    shown = _longest_that_fit(texts, mode)
    low, high = LEAST - 1, max(len(text.part) for text in texts)
    best: PageSheet | None = None
    while low < high:
        middle = (low + high + 1) // 2
        sheet = fit_sheet(texts, mode, shown, middle)
        low, high, best = (middle, high, sheet) if sheet else (low, middle - 1, best)
    return ChapterLayout(best, shown, low) if best else None


def fit_sheet(texts: Sequence[ChapterText], mode: Mode, shown: Sequence[int], most: int) -> PageSheet | None:
    """The page with these entries, at most `most` characters of each (0: all); None where it does not fit."""
    fitting = [text for text in texts if text.entry.seq in set(shown)]
    if not fitting:
        return None
    layout_texts = [_layout_text(text, most) for text in fitting]
    sheet = next(page_sheets(layout_texts, mode, LayoutPosition(0, fitting[0].start, fitting[0].line)))
    last = sheet.laid[-1]
    return sheet if len(sheet.laid) == len(fitting) and last.start + last.length == len(layout_texts[-1].text) else None


def shown_text(texts: Sequence[ChapterText], shown: Sequence[int], most: int) -> str:
    """Text of the page, without the header lines of entries."""
    return "\n".join(_cut(text.part, most) for text in texts if text.entry.seq in set(shown))


def _longest_that_fit(texts: Sequence[ChapterText], mode: Mode) -> tuple[int, ...]:
    """Seqs of the entries of which at least a part fits on this page; the longest are chosen first."""
    room = mode.capacity
    shown: set[int] = set()
    for text in sorted(texts, key=lambda text: (-len(text.part), text.entry.seq)):
        needed = len(head_line(_head(text.entry))) + 2 * min(LEAST, len(text.part)) + 2
        if needed > room:
            break
        room -= needed
        shown.add(text.entry.seq)
    return tuple(text.entry.seq for text in texts if text.entry.seq in shown)


def _layout_text(text: ChapterText, most: int) -> LayoutText:
    content = text.text[: text.start] + _cut(text.part, most)
    return LayoutText(content, _head(text.entry), text.entry.seq)


def _cut(part: str, most: int) -> str:
    return part if most == 0 or len(part) <= most else part[:most] + CUT


def _head(entry: Entry) -> EntryHead:
    return EntryHead(entry.id, entry.speaker, entry.role.value, entry.time)


def page_caption(texts: Sequence[ChapterText], shown: Sequence[int], most: int, facts: int) -> Cleared:
    """Caption of a page that shows `shown` of these texts, at most `most` characters of each (0: all)."""
    first, last = texts[0].entry, texts[-1].entry
    days = f"{first.time:%Y-%m-%d}", f"{last.time:%Y-%m-%d}"
    date_range = days[0] if days[0] == days[1] else f"{days[0]} to {days[1]}"
    id_range = first.id if first is last else f"{first.id} to {last.id}"
    cut = f"; {len(shown)} of {len(texts)} entries, shortened" if most else ""
    exact_tokens = " · ".join(factsheet(joined_text(texts), facts))
    exact_line = f"\nExact: {exact_tokens}" if exact_tokens else ""
    return clear(f"The page above: {date_range}, {id_range}{cut}.{exact_line}", TextSource.OTHER)


def joined_text(texts: Sequence[ChapterText]) -> str:
    """All the texts, joined."""
    return "\n".join(text.part for text in texts)
