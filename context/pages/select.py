"""Chooses the pages in view within a budget: the newest entries on the largest pages, older ones on smaller pages."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from context.assembly.tokens import MessageCounter
from context.layers.conversation import PAGES, reply_to_past
from context.pages.layout import (
    ChapterLayout,
    ChapterText,
    WordsOf,
    chapters_of,
    joined_text,
    lay_out_chapter,
    shown_text,
    texts_of,
    words_beside,
)
from context.pages.recipe import Chapter, ChapterStart, PageRecipe
from context.pages.runs import CompactionRun
from memory.errors import MemoryFailure
from memory.pages.cost.factsheet import MOST
from memory.pages.cost.gate import saves_tokens, should_stay_text
from memory.pages.cost.profiles import RenderProfile
from memory.pages.render.modes import DENSE, Mode, mode_named
from memory.records import Entry
from models.fence import SAMPLE_NONCE
from models.messages import Text as Said
from models.tokens import image_tokens

FACTS_PART = 8  # a factsheet takes at most an eighth of what its picture does


class PageSelection(Struct, frozen=True):
    """The chosen pages, oldest first. `whole` are the entries of which every word is shown; `begin` is where the first
    page
    begins, so that the next epoch makes the same chapters; `unread`: why entries could not be read.
    """

    pages: tuple[PageRecipe, ...] = ()
    whole: frozenset[int] = frozenset()
    begin: ChapterStart | None = None
    unread: tuple[str, ...] = ()


class _BudgetLadder:
    """A budget spent down a ladder of sizes: each may take half of what is left, the last all of it."""

    def __init__(self, rungs: Sequence[Mode], room: int) -> None:
        self._rungs = rungs
        self.left = room
        self._at = 0
        self._begin()

    @property
    def rung(self) -> Mode | None:
        return self._rungs[self._at] if self._at < len(self._rungs) else None

    def takes(self, tokens: int) -> bool:
        """Whether this size may spend so much; its first page may be more than half."""
        return tokens <= self.left and (self._first or tokens <= self._rung_left)

    def spend(self, tokens: int) -> None:
        self.left -= tokens
        self._rung_left -= tokens
        self._first = False

    def down(self) -> None:
        self._at += 1
        self._begin()

    def _begin(self) -> None:
        self._first = True
        self._rung_left = self.left if self._at >= len(self._rungs) - 1 else self.left // 2


class SelectionPolicy(Struct, frozen=True):
    """How pages are chosen: the ladder of sizes, the tokens they may take, and how an entry is read and counted.
    `known`
    caches recipes, so that none is made twice for one compaction.
    """

    ladder: tuple[Mode, ...]
    room: int
    words: WordsOf
    counting: MessageCounter
    known: dict[tuple[Chapter, Mode, str], PageRecipe | None]


def choose_pages(entries: Sequence[Entry], begin: ChapterStart | None, terms: SelectionPolicy) -> PageSelection:
    """Chooses pages of these entries (oldest first), the newest first, until the budget is spent.

    Entries that the gate keeps as text, or that cannot be read, are left to the summaries. No page is chosen where all
    of
    them would cost as much as their text.
    """
    reading, counting = _EntryReader(terms.words), terms.counting
    texts = reading.texts(_from(entries, begin), begin)
    by_seq = {text.entry.seq: text.entry for text in texts}
    chapters = [*chapters_of(texts, terms.ladder[0])]
    opening = counting.part(Said(PAGES, "pages", SAMPLE_NONCE)) + counting.message(reply_to_past(pages=True))
    spending = _BudgetLadder(terms.ladder, terms.room - opening)
    made = [_made(chapter, texts_of(chapter, by_seq, reading.of), spending, terms) for chapter in reversed(chapters)]
    recipes = list(zip(chapters, reversed(made), strict=True))
    pages = tuple(recipe for _, recipe in recipes if recipe)
    if sum(page.tokens for page in pages) + opening >= sum(page.stands_for for page in pages):
        return PageSelection(unread=tuple(reading.troubles))
    missing = {seq for chapter, recipe in recipes if not (recipe and recipe.whole) for seq in chapter.entries}
    first = pages[0].chapter
    start = ChapterStart(first.entries[0], first.start, first.line)
    return PageSelection(pages, frozenset(by_seq) - missing, start, tuple(reading.troubles))


class _EntryReader:
    """Reads each entry once; collects why entries could not be read."""

    def __init__(self, words: WordsOf) -> None:
        self._words = words
        self._read: dict[int, str] = {}
        self.troubles: list[str] = []

    def of(self, entry: Entry) -> str:
        if entry.seq not in self._read:
            self._read[entry.seq] = self._said(entry)
        return self._read[entry.seq]

    def texts(self, entries: Sequence[Entry], begin: ChapterStart | None) -> list[ChapterText]:
        """The texts that are not empty; the first from where the chapters begin."""
        found = [ChapterText(entry, words) for entry in entries if (words := self.of(entry))]
        if found and begin and found[0].entry.seq == begin.entry:
            found[0] = ChapterText(found[0].entry, found[0].text, begin.start, begin.line)
        return found

    def _said(self, entry: Entry) -> str:
        try:
            return self._words(entry)
        except MemoryFailure as trouble:
            self.troubles.append(trouble.message)
            return ""


def _from(entries: Sequence[Entry], begin: ChapterStart | None) -> Sequence[Entry]:
    """The entries from the first chapter on; all where its entry is not among them."""
    at = next((n for n, entry in enumerate(entries) if begin and entry.seq == begin.entry), 0)
    return entries[at:]


def _made(
    chapter: Chapter, texts: Sequence[ChapterText], spending: _BudgetLadder, terms: SelectionPolicy
) -> PageRecipe | None:
    """The chapter on the largest size that may still take it; None where none may, or the gate refuses."""
    if spending.rung is None or should_stay_text(joined_text(texts)):
        return None
    while rung := spending.rung:
        key = (chapter, rung, terms.counting.key)
        if key not in terms.known:
            terms.known[key] = recipe_of(chapter, texts, rung, terms.counting)
        recipe = terms.known[key]
        if recipe is None:
            return None
        if spending.takes(recipe.tokens):
            spending.spend(recipe.tokens)
            return recipe
        spending.down()
    return None


def recipe_of(
    chapter: Chapter, texts: Sequence[ChapterText], rung: Mode, counting: MessageCounter
) -> PageRecipe | None:
    """The chapter on a page of this size; None where it would not save tokens, or does not fit."""
    laid = lay_out_chapter(texts, rung)
    if laid is None:
        return None
    mode = laid.sheet.mode
    image = image_tokens(counting.images, mode.side, mode.side)
    facts, words = _facts(texts, laid, image, counting)
    as_text = counting.text(shown_text(texts, laid.shown, laid.most))
    if not saves_tokens(as_text, image, words):
        return None
    return PageRecipe(chapter, mode.name, mode.cell.name, laid.shown, laid.most, facts, image + words, as_text)


def _facts(texts: Sequence[ChapterText], laid: ChapterLayout, image: int, counting: MessageCounter) -> tuple[int, int]:
    """The number of exact tokens of the chapter beside its page, and the cost of all text beside it."""

    def words(most: int) -> int:
        return counting.part(Said(words_beside(texts, laid.shown, laid.most, most), "page", SAMPLE_NONCE))

    bare = words(0)
    for most in _fewer(MOST):
        if (tokens := words(most)) - bare <= image // FACTS_PART:
            return most, tokens
    return 0, bare


def _fewer(most: int) -> Iterator[int]:
    while most:
        yield most
        most = most * 2 // 3


def redundant_summaries(
    summaries: Sequence[int], runs: Sequence[CompactionRun], choice: PageSelection, *, complete: bool
) -> tuple[int, ...]:
    """The summaries in view, oldest first, that can be left out because pages show every word they cover.

    A summary covers the runs since the previous one, the first all earlier ones: `complete` says whether `runs` are
    all.
    """
    found: list[int] = []
    before = 0
    for summary in summaries:
        own = [run for run in runs if before < run.summary <= summary]
        said = {entry.seq for run in own for entry in run.entries if entry.chars}
        if own and said <= choice.whole and (before or complete):
            found.append(summary)
        before = summary
    return tuple(found)


CHARACTERS_A_TOKEN = 4.63  # English by DeepSeek's tokenizer (docs/pages.md)
GAIN = 2.0  # the larger cells are chosen for the newest pages where they still save half


def size_ladder(profile: RenderProfile, room: int) -> tuple[Mode, ...]:
    """The sizes of pages from the newest to the oldest, for pages of `room` tokens together.

    None costs more than half of that where there is a choice. The newest use the larger cells where that saves tokens.
    """
    names = [name for name in profile.modes if 2 * profile.tokens(name) <= room] or profile.modes[-1:]
    dense = profile.cell == DENSE.name
    newest = mode_named(names[0])
    pays = newest.capacity / CHARACTERS_A_TOKEN >= GAIN * profile.tokens(newest.name)
    first = newest if pays or not dense else mode_named(newest.name, dense=True)
    return (first, *(mode_named(name, dense=dense) for name in names[1:]))
