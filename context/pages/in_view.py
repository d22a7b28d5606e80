"""The pages in view of an epoch: chosen when it begins, drawn again by every process that continues it.

The modules that draw are imported when there are pages to draw.
"""

import hashlib
import threading
from collections.abc import Callable, Sequence

from msgspec import Struct

from context.assembly.budget import Budget
from context.assembly.tokens import MessageCounter
from context.pages.recipe import Chapter, ChapterStart, PageRecipe
from context.pages.runs import CompactionRun, CompactionRuns, read_runs
from context.settings import ContextSettings
from memory.conversations import Conversations
from memory.errors import MemoryFailure
from memory.pages.cost.gate import FRAME
from memory.pages.cost.profiles import RenderProfile, profile_for
from memory.pages.render.modes import Mode
from memory.records import Entry, EntryKind
from models.chat.port import Profile
from models.messages import Image, Text

PageParts = tuple[Image, Text]
OFF = "the pages in view are switched off"
OTHERWISE = "what the pages in view show has changed"
MOST_FULL = 0.85  # of a request's budget: pages never fill it further
MOST_REMEMBERED = 1000  # recipes
TO_COME = 2**62
"""The seq of a summary that a compaction is about to write."""


class PagesState(Struct, frozen=True):
    """An epoch's pages: their recipes, oldest first, the digest of them all, and the summaries that are left out
    because
    pages show every word that they cover.
    """

    pages: tuple[PageRecipe, ...] = ()
    digest: str = ""
    hidden: tuple[int, ...] = ()
    begin: ChapterStart | None = None
    unread: tuple[str, ...] = ()  # why some of the past could not be drawn


class PagesInView:
    """Chooses and draws pages for one workspace, and caches what it drew. Methods may be called from any thread."""

    def __init__(
        self, conversations: Conversations, text_of: Callable[[Entry], str], settings: ContextSettings
    ) -> None:
        self._conversations = conversations
        self.text_of = text_of
        self._settings = settings
        self._lock = threading.Lock()  # of what is cached; not held while pages are drawn
        self._drawn: dict[PageRecipe, PageParts] = {}
        self._recipes: dict[tuple[Chapter, Mode, str], PageRecipe | None] = {}

    def room(self, profile: Profile, budget: Budget) -> int:
        """Tokens that pages may take; 0 where they are off, the model's image cost is unknown, or no page fits."""
        reader = _reader(profile)
        if not self._settings.resident_pages or reader is None:
            return 0
        share = int(budget.total * self._settings.vision_share)
        room = min(share, self._settings.vision_tokens) if self._settings.vision_tokens else share
        return room if room >= min(map(reader.tokens, reader.modes)) + FRAME else 0

    def chosen(self, asked: "PageRequest") -> PagesState:
        """Chooses the pages of an epoch that begins now. Stores nothing."""
        from context.pages.select import SelectionPolicy, choose_pages, redundant_summaries, size_ladder

        reader = _reader(asked.profile)
        if reader is None or asked.room <= 0 or not asked.summaries:
            return PagesState()
        sizes = size_ladder(reader, asked.nominal)
        characters = sizes[0].capacity * (1 + asked.room // reader.tokens(sizes[-1].name))
        past = (
            read_runs(self._conversations.path(asked.leaf), asked.in_view, characters)
            if asked.leaf
            else CompactionRuns()
        )
        runs = (CompactionRun(TO_COME, tuple(asked.leaving)), *past.runs) if asked.leaving else past.runs
        entries = [entry for run in reversed(runs) for entry in run.entries]
        with self._lock:
            if len(self._recipes) > MOST_REMEMBERED:
                self._recipes = {}
            recipes = self._recipes
        terms = SelectionPolicy(sizes, asked.room, self._words, asked.counting, recipes)
        choice = choose_pages(entries, asked.begin, terms)
        hides = redundant_summaries(asked.summaries, runs, choice, complete=past.all)
        try:
            digest = digest_of(self.drawn(choice.pages))
        except MemoryFailure as trouble:  # an entry went while its page was made
            return PagesState(unread=(trouble.message,))
        return PagesState(choice.pages, digest, hides, choice.begin, choice.unread)

    def drawn(self, pages: Sequence[PageRecipe]) -> tuple[PageParts, ...]:
        """Their pictures and the words beside each, the same bytes in every process. Raises MemoryTrouble."""
        cached = self._drawn
        missing = [page for page in pages if page not in cached]
        if not missing:
            return tuple(cached[page] for page in pages)
        from context.pages.draw import draw_page

        seqs = {seq for page in missing for seq in page.chapter.entries}
        entries = self._conversations.entries(seqs)
        made = {page: draw_page(page, entries, self._words) for page in missing}
        complete = {page: made.get(page) or cached[page] for page in pages}
        with self._lock:
            if self._drawn is cached:  # else words were forgotten meanwhile, or other pages were drawn
                self._drawn = complete
        return tuple(complete[page] for page in pages)

    def why_not(self, pages: Sequence[PageRecipe], digest: str, profile: Profile) -> str:
        """Why an epoch with these pages must end; "" where it continues."""
        if not pages:
            return ""
        if not self._settings.resident_pages or _reader(profile) is None:
            return OFF
        return OTHERWISE if self.changed(pages, digest) else ""

    def changed(self, pages: Sequence[PageRecipe], digest: str) -> bool:
        """Whether these pages differ from those that the epoch began with."""
        try:
            return digest_of(self.drawn(pages)) != digest
        except MemoryFailure:
            return True

    def forget(self) -> None:
        """Empties the caches, where entries were changed."""
        with self._lock:
            self._drawn, self._recipes = {}, {}

    def _words(self, entry: Entry) -> str:
        return words_of(self.text_of)(entry)


class PageRequest(Struct, frozen=True, kw_only=True):
    """What pages are chosen for. `summaries` are those in view (by seq, oldest first), `leaving` the entries that are
    about
    to leave: their summary is TO_COME.
    """

    leaf: int | None
    in_view: frozenset[int]
    summaries: tuple[int, ...]
    leaving: tuple[Entry, ...] = ()
    profile: Profile
    counting: MessageCounter
    nominal: int  # what pages may take of a request
    room: int  # what is left of that beside all else
    begin: ChapterStart | None = None  # where the pages of the epoch before begin


def words_of(text_of: Callable[[Entry], str]) -> Callable[[Entry], str]:
    """An entry's text as the model was shown it; `text_of` gives the whole text."""

    def words(entry: Entry) -> str:
        shown = entry.meta.get("shown") if entry.kind is EntryKind.TOOL_RESULT else None
        return str(shown) if shown else text_of(entry)

    return words


def page_room(room: int, budget: Budget, beside: int) -> int:
    """Tokens of `room` that pages may take beside so many others."""
    return max(0, min(room, int(budget.total * MOST_FULL) - beside))


def digest_of(pages: Sequence[PageParts]) -> str:
    """Digest of the bytes of these pages; "" for none."""
    hashed = hashlib.sha256()
    for picture, words in pages:
        hashed.update(hashlib.sha256(picture.data).digest())
        hashed.update(hashlib.sha256(words.text.encode("utf-8", "surrogatepass")).digest())
    return hashed.hexdigest()[:16] if pages else ""


def _reader(profile: Profile) -> RenderProfile | None:
    return profile_for(profile.images, f"{profile.name} {profile.known_as}")
