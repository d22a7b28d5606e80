"""Selection of the pages in view within a budget: newest entries on the largest pages, older ones on smaller pages."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from context.assembly.tokens import MessageCounter
from context.layers.conversation import PAGES, reply_to_past
from context.pages.layout import (
    ChapterLayout,
    ChapterText,
    ShownTextOf,
    chapters_of,
    joined_text,
    lay_out_chapter,
    page_caption,
    shown_text,
    texts_of,
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
from models.messages import Text as TextPart
from models.tokens import image_tokens

FACTS_PART = 8  # a factsheet takes at most an eighth of its image's tokens


class PageSelection(Struct, frozen=True):
    """The chosen pages, oldest first.

    `whole` are the seqs of the entries that are shown completely; `begin` is the start of the first page, from which
    the next epoch makes the same chapters; `unread`: reasons why entries could not be read.
    """

    pages: tuple[PageRecipe, ...] = ()
    whole: frozenset[int] = frozenset()
    begin: ChapterStart | None = None
    unread: tuple[str, ...] = ()


class _BudgetLadder:
    """A budget spent down a ladder of page sizes: each may take half of the remaining tokens, the last all of them."""

    def __init__(self, rungs: Sequence[Mode], room: int) -> None:
        self._rungs = rungs
        self.left = room
        self._index = 0
        self._begin()

    @property
    def rung(self) -> Mode | None:
        return self._rungs[self._index] if self._index < len(self._rungs) else None

    def takes(self, tokens: int) -> bool:
        """Whether this size may spend `tokens`; its first page may exceed the half."""
        return tokens <= self.left and (self._is_first or tokens <= self._rung_budget)

    def spend(self, tokens: int) -> None:
        self.left -= tokens
        self._rung_budget -= tokens
        self._is_first = False

    def down(self) -> None:
        self._index += 1
        self._begin()

    def _begin(self) -> None:
        self._is_first = True
        self._rung_budget = self.left if self._index >= len(self._rungs) - 1 else self.left // 2


class SelectionPolicy(Struct, frozen=True):
    """Parameters of the selection: the ladder of sizes, the token budget, and how an entry is read and counted.

    `known` caches recipes, so that none is made twice for one compaction.
    """

    ladder: tuple[Mode, ...]
    room: int
    text_of: ShownTextOf
    counting: MessageCounter
    known: dict[tuple[Chapter, Mode, str], PageRecipe | None]


def choose_pages(entries: Sequence[Entry], begin: ChapterStart | None, policy: SelectionPolicy) -> PageSelection:
    """Chooses pages of these entries (oldest first), starting with the newest, until the budget is spent.

    Entries that the cost gate keeps as text, or that cannot be read, are left to the summaries. No page is chosen where
    all pages together would cost as much as their text.
    """
    reader, counting = _EntryReader(policy.text_of), policy.counting
    texts = reader.texts(_entries_from(entries, begin), begin)
    by_seq = {text.entry.seq: text.entry for text in texts}
    chapters = [*chapters_of(texts, policy.ladder[0])]
    opening = counting.part(TextPart(PAGES, "pages", SAMPLE_NONCE)) + counting.message(reply_to_past(pages=True))
    budget = _BudgetLadder(policy.ladder, policy.room - opening)
    newest_first = [
        _largest_affordable(chapter, texts_of(chapter, by_seq, reader.of), budget, policy)
        for chapter in reversed(chapters)
    ]
    recipes = list(zip(chapters, reversed(newest_first), strict=True))
    pages = tuple(recipe for _, recipe in recipes if recipe)
    if sum(page.tokens for page in pages) + opening >= sum(page.stands_for for page in pages):
        return PageSelection(unread=tuple(reader.errors))
    missing = {seq for chapter, recipe in recipes if not (recipe and recipe.whole) for seq in chapter.entries}
    first = pages[0].chapter
    start = ChapterStart(first.entries[0], first.start, first.line)
    return PageSelection(pages, frozenset(by_seq) - missing, start, tuple(reader.errors))


class _EntryReader:
    """Reads each entry once, and collects the errors."""

    def __init__(self, text_of: ShownTextOf) -> None:
        self._text_of = text_of
        self._texts: dict[int, str] = {}
        self.errors: list[str] = []

    def of(self, entry: Entry) -> str:
        if entry.seq not in self._texts:
            self._texts[entry.seq] = self._read_text(entry)
        return self._texts[entry.seq]

    def texts(self, entries: Sequence[Entry], begin: ChapterStart | None) -> list[ChapterText]:
        """The non-empty texts; the first one from the start of the chapters."""
        texts = [ChapterText(entry, text) for entry in entries if (text := self.of(entry))]
        if texts and begin and texts[0].entry.seq == begin.entry:
            texts[0] = ChapterText(texts[0].entry, texts[0].text, begin.start, begin.line)
        return texts

    def _read_text(self, entry: Entry) -> str:
        try:
            return self._text_of(entry)
        except MemoryFailure as error:
            self.errors.append(error.message)
            return ""


def _entries_from(entries: Sequence[Entry], begin: ChapterStart | None) -> Sequence[Entry]:
    """Entries from the first chapter on; all entries where its first entry is not among them."""
    first = next((n for n, entry in enumerate(entries) if begin and entry.seq == begin.entry), 0)
    return entries[first:]


def _largest_affordable(
    chapter: Chapter, texts: Sequence[ChapterText], budget: _BudgetLadder, policy: SelectionPolicy
) -> PageRecipe | None:
    """Recipe of the chapter in the largest size within the budget; None where no size is, or the cost gate refuses."""
    if budget.rung is None or should_stay_text(joined_text(texts)):
        return None
    while rung := budget.rung:
        key = (chapter, rung, policy.counting.key)
        if key not in policy.known:
            policy.known[key] = recipe_of(chapter, texts, rung, policy.counting)
        recipe = policy.known[key]
        if recipe is None:
            return None
        if budget.takes(recipe.tokens):
            budget.spend(recipe.tokens)
            return recipe
        budget.down()
    return None


def recipe_of(
    chapter: Chapter, texts: Sequence[ChapterText], rung: Mode, counting: MessageCounter
) -> PageRecipe | None:
    """Recipe of the chapter on a page of this size; None where it would not save tokens, or does not fit."""
    layout = lay_out_chapter(texts, rung)
    if layout is None:
        return None
    mode = layout.sheet.mode
    image = image_tokens(counting.images, mode.side, mode.side)
    facts, caption_tokens = _fact_count(texts, layout, image, counting)
    as_text = counting.text(shown_text(texts, layout.shown, layout.most))
    if not saves_tokens(as_text, image, caption_tokens):
        return None
    return PageRecipe(
        chapter, mode.name, mode.cell.name, layout.shown, layout.most, facts, image + caption_tokens, as_text
    )


def _fact_count(
    texts: Sequence[ChapterText], layout: ChapterLayout, image: int, counting: MessageCounter
) -> tuple[int, int]:
    """The number of exact names and figures in the page's caption, and the tokens of the whole caption."""

    def caption_cost(most: int) -> int:
        return counting.part(TextPart(page_caption(texts, layout.shown, layout.most, most), "page", SAMPLE_NONCE))

    bare_cost = caption_cost(0)
    for most in _descending_counts(MOST):
        if (tokens := caption_cost(most)) - bare_cost <= image // FACTS_PART:
            return most, tokens
    return 0, bare_cost


def _descending_counts(most: int) -> Iterator[int]:
    while most:
        yield most
        most = most * 2 // 3


def redundant_summaries(
    summaries: Sequence[int], runs: Sequence[CompactionRun], selection: PageSelection, *, complete: bool
) -> tuple[int, ...]:
    """Summaries in view, oldest first, that can be omitted because pages show all the text that they cover.

    A summary covers the runs since the previous summary, the first one all earlier runs. `complete`: `runs` are all
    runs of the branch.
    """
    redundant: list[int] = []
    before = 0
    for summary in summaries:
        covering_runs = [run for run in runs if before < run.summary <= summary]
        covered = {entry.seq for run in covering_runs for entry in run.entries if entry.chars}
        if covering_runs and covered <= selection.whole and (before or complete):
            redundant.append(summary)
        before = summary
    return tuple(redundant)


CHARACTERS_A_TOKEN = 4.63  # English by DeepSeek's tokenizer (docs/reference/pages.md)
GAIN = 2.0  # the newest pages get the larger cells where these still save half


def size_ladder(profile: RenderProfile, room: int) -> tuple[Mode, ...]:
    """Page sizes from the newest to the oldest page, for a total of `room` tokens.

    No size costs more than half of that where there is a choice. The newest pages use the larger cells where that saves
    tokens.
    """
    names = [name for name in profile.modes if 2 * profile.tokens(name) <= room] or profile.modes[-1:]
    dense = profile.cell == DENSE.name
    newest = mode_named(names[0])
    pays = newest.capacity / CHARACTERS_A_TOKEN >= GAIN * profile.tokens(newest.name)
    first = newest if pays or not dense else mode_named(newest.name, dense=True)
    return (first, *(mode_named(name, dense=dense) for name in names[1:]))
