"""Which of the past stands on which page: the newest at the largest size, older at smaller ones, within a budget."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from context.counting import Counting
from context.resident.layout import Text, WordsOf, chapters_of, laid_out, shown_text, texts_of
from context.resident.recipe import Chapter, Recipe
from context.resident.runs import Run
from memory.archive.factsheet import MOST, factsheet
from memory.archive.gate import FRAME, stays_text, worth_it
from memory.archive.modes import Mode
from memory.errors import MemoryTrouble
from models.tokens import image_tokens

FACTS_PART = 8  # a factsheet takes at most an eighth of what its picture does


class Choice(Struct, frozen=True):
    """Oldest first. `whole` are the runs (by their summary) of which every word stands on these pages."""

    pages: tuple[Recipe, ...] = ()
    whole: frozenset[int] = frozenset()
    unread: tuple[str, ...] = ()  # why entries could not be read

    @property
    def tokens(self) -> int:
        return sum(page.tokens for page in self.pages)


class _Spending:
    """A budget going down a ladder: each rung may spend half of what is left when it begins, the last all of it."""

    def __init__(self, rungs: Sequence[Mode], room: int) -> None:
        self._rungs = rungs
        self.left = room
        self._at = 0
        self._begin()

    @property
    def rung(self) -> Mode | None:
        return self._rungs[self._at] if self._at < len(self._rungs) else None

    def takes(self, tokens: int) -> bool:
        """Whether this rung may spend so much; its first page may be more than half."""
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


def chosen(runs: Sequence[Run], rungs: Sequence[Mode], room: int, words: WordsOf, counting: Counting) -> Choice:
    """Pages of the runs, newest first, until the budget is spent.

    What the gate keeps as text, or cannot be read, is left to its run's summary.
    """
    spending = _Spending(rungs, room)
    pages: list[Recipe] = []
    whole: set[int] = set()
    unread: list[str] = []
    for run in runs:
        entries = {entry.seq: entry for entry in run.entries}
        try:
            chapters = [texts_of(chapter, entries, words) for chapter in _newest_first(run, rungs, words)]
        except MemoryTrouble as trouble:
            unread.append(trouble.message)
            continue
        made = [_made(texts, spending, counting) for texts in chapters]
        pages += [recipe for recipe in made if recipe]
        if all(recipe and recipe.whole for recipe in made):
            whole.add(run.summary)
        if spending.rung is None:
            break
    return Choice(tuple(reversed(pages)), frozenset(whole), tuple(unread))


def _newest_first(run: Run, rungs: Sequence[Mode], words: WordsOf) -> list[Chapter]:
    return [*chapters_of(run.entries, words, rungs[0])][::-1]


def _made(texts: Sequence[Text], spending: _Spending, counting: Counting) -> Recipe | None:
    """The chapter on the first rung that may still take it; None where none may, or the gate says no."""
    if stays_text("\n".join(text.part for text in texts)):
        return None
    while rung := spending.rung:
        recipe = recipe_of(texts, rung, counting)
        if recipe is None:
            return None
        if spending.takes(recipe.tokens):
            spending.spend(recipe.tokens)
            return recipe
        spending.down()
    return None


def recipe_of(texts: Sequence[Text], rung: Mode, counting: Counting) -> Recipe | None:
    """The chapter on a page of this rung; None where it would not pay, or fits in no way."""
    laid = laid_out(texts, rung)
    if laid is None:
        return None
    mode = laid.sheet.mode
    image = image_tokens(counting.images, mode.side, mode.side)
    facts, sheet = _facts(texts, image, counting)
    as_text = counting.text(shown_text(texts, laid.shown, laid.most))
    if not worth_it(as_text, image, sheet):
        return None
    first, last = texts[0], texts[-1]
    chapter = Chapter(tuple(text.entry.seq for text in texts), first.start, first.line, len(last.text))
    return Recipe(chapter, mode.name, mode.cell.name, laid.shown, laid.most, facts, image + sheet + FRAME, as_text)


def _facts(texts: Sequence[Text], image: int, counting: Counting) -> tuple[int, int]:
    """How many exact tokens of the chapter go beside its page, and what they cost."""
    said = "\n".join(text.part for text in texts)
    for most in _fewer(MOST):
        tokens = counting.text(joined(factsheet(said, most)))
        if tokens <= image // FACTS_PART:
            return most, tokens
    return 0, 0


def _fewer(most: int) -> Iterator[int]:
    while most:
        yield most
        most = most * 2 // 3


def joined(facts: Sequence[str]) -> str:
    """A factsheet as one line."""
    return " · ".join(facts)


def hidden(summaries: Sequence[int], runs: Sequence[Run], choice: Choice, *, complete: bool) -> tuple[int, ...]:
    """The summaries in view, oldest first, that need not be said: every word they stand for stands on a page.

    A summary stands for the runs since the one before it; the first for all before, so `complete` says whether `runs`
    are all that the branch has.
    """
    found: list[int] = []
    before = 0
    for summary in summaries:
        own = [run.summary for run in runs if before < run.summary <= summary]
        if own and all(run in choice.whole for run in own) and (before or complete):
            found.append(summary)
        before = summary
    return tuple(found)
