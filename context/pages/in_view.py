"""Pages in view of an epoch: chosen when it begins, drawn again by every process that continues it.

The drawing modules are imported on the first page.
"""

import hashlib
import threading
from collections.abc import Callable, Sequence

from msgspec import Struct

from context.assembly.budget import Budget
from context.assembly.tokens import MessageCounter
from context.assembly.view import BranchView
from context.pages.recipe import Chapter, ChapterStart, PageRecipe
from context.pages.runs import CompactionRun, CompactionRuns, read_runs
from context.settings import ContextSettings
from context.working_set.policy import working_set
from memory.conversations import Conversations
from memory.errors import MemoryFailure
from memory.pages.cost.gate import FRAME
from memory.pages.cost.profiles import RenderProfile, profile_for
from memory.pages.render.modes import Mode
from memory.records import Entry, EntryKind
from models.chat.port import Profile
from models.messages import Image, Text

PageParts = tuple[Image, Text]
OFF = "page images are switched off"
CHANGED = "the content of page images changed"
MOST_FULL = 0.85  # of a request's budget, the limit for a request with pages
MOST_CACHED = 1000  # recipes
TO_COME = 2**62
"""Placeholder seq of a summary that a compaction is about to write."""


class PagesState(Struct, frozen=True):
    """Pages of an epoch: their recipes, oldest first, and the digest of them all.

    `hidden` are the omitted summaries: pages show all the text that they cover.
    """

    pages: tuple[PageRecipe, ...] = ()
    digest: str = ""
    hidden: tuple[int, ...] = ()
    begin: ChapterStart | None = None
    unread: tuple[str, ...] = ()  # reasons why entries could not be drawn


class PagesInView:
    """Chooses, draws and caches pages for one workspace. Methods may be called from any thread."""

    def __init__(
        self, conversations: Conversations, text_of: Callable[[Entry], str], settings: ContextSettings
    ) -> None:
        self._conversations = conversations
        self.text_of = text_of
        self.settings = settings
        self._lock = threading.Lock()  # guards the caches; not held while pages are drawn
        self._drawn: dict[PageRecipe, PageParts] = {}
        self._recipes: dict[tuple[Chapter, Mode, str], PageRecipe | None] = {}

    def room(self, profile: Profile, budget: Budget) -> int:
        """Token budget of pages: a share of the working set, since they are sent with each request of an epoch. 0 where
        they are off, the model's image cost is unknown, or no page fits."""
        render_profile = _render_profile(profile)
        if not self.settings.resident_pages or render_profile is None:
            return 0
        most = min(budget.total, working_set(budget, self.settings, 0, BranchView(), {}).high)
        share = int(most * self.settings.vision_share)
        room = min(share, self.settings.vision_tokens) if self.settings.vision_tokens else share
        return room if room >= min(map(render_profile.tokens, render_profile.modes)) + FRAME else 0

    def choose(self, request: "PageRequest") -> PagesState:
        """Chooses the pages of an epoch that begins now. Stores nothing."""
        from context.pages.select import SelectionPolicy, choose_pages, redundant_summaries, size_ladder

        render_profile = _render_profile(request.profile)
        if render_profile is None or request.room <= 0 or not request.summaries:
            return PagesState()
        sizes = size_ladder(render_profile, request.nominal)
        characters = sizes[0].capacity * (1 + request.room // render_profile.tokens(sizes[-1].name))
        earlier = (
            read_runs(self._conversations.path(request.leaf), request.in_view, characters)
            if request.leaf
            else CompactionRuns()
        )
        runs = (CompactionRun(TO_COME, tuple(request.leaving)), *earlier.runs) if request.leaving else earlier.runs
        entries = [entry for run in reversed(runs) for entry in run.entries]
        with self._lock:
            if len(self._recipes) > MOST_CACHED:
                self._recipes = {}
            recipes = self._recipes
        policy = SelectionPolicy(sizes, request.room, self._shown_text, request.counting, recipes)
        selection = choose_pages(entries, request.begin, policy)
        hidden = redundant_summaries(request.summaries, runs, selection, complete=earlier.all)
        try:
            digest = digest_of(self.draw(selection.pages))
        except MemoryFailure as error:  # an entry was deleted while its page was drawn
            return PagesState(unread=(error.message,))
        return PagesState(selection.pages, digest, hidden, selection.begin, selection.unread)

    def draw(self, pages: Sequence[PageRecipe]) -> tuple[PageParts, ...]:
        """Draws the pages: an image and a caption each, the same bytes in every process. Raises MemoryFailure."""
        cached = self._drawn
        missing = [page for page in pages if page not in cached]
        if not missing:
            return tuple(cached[page] for page in pages)
        from context.pages.draw import draw_page

        seqs = {seq for page in missing for seq in page.chapter.entries}
        entries = self._conversations.entries(seqs)
        new_pages = {page: draw_page(page, entries, self._shown_text) for page in missing}
        complete = {page: new_pages.get(page) or cached[page] for page in pages}
        with self._lock:
            if self._drawn is cached:  # else entries were forgotten or other pages drawn meanwhile
                self._drawn = complete
        return tuple(complete[page] for page in pages)

    def reason_to_end(self, pages: Sequence[PageRecipe], digest: str, profile: Profile) -> str:
        """Reason to end an epoch with these pages; "" where it continues."""
        if not pages:
            return ""
        if not self.settings.resident_pages or _render_profile(profile) is None:
            return OFF
        return CHANGED if self.changed(pages, digest) else ""

    def changed(self, pages: Sequence[PageRecipe], digest: str) -> bool:
        """Whether these pages differ from the pages at the epoch's beginning."""
        try:
            return digest_of(self.draw(pages)) != digest
        except MemoryFailure:
            return True

    def forget(self) -> None:
        """Empties the caches, after entries were changed."""
        with self._lock:
            self._drawn, self._recipes = {}, {}

    def _shown_text(self, entry: Entry) -> str:
        return shown_text_of(self.text_of)(entry)


class PageRequest(Struct, frozen=True, kw_only=True):
    """Inputs for choosing pages.

    `summaries` are the seqs of the summaries in view, oldest first; `leaving` are the entries that are about to leave,
    whose summary has the seq TO_COME.
    """

    leaf: int | None
    in_view: frozenset[int]
    summaries: tuple[int, ...]
    leaving: tuple[Entry, ...] = ()
    profile: Profile
    counting: MessageCounter
    nominal: int  # token budget of pages in a request
    room: int  # the part of it that the rest of the request leaves free
    begin: ChapterStart | None = None  # start of the previous epoch's pages


def shown_text_of(text_of: Callable[[Entry], str]) -> Callable[[Entry], str]:
    """Returns a function that gives an entry's text as the model saw it; `text_of` gives the whole text."""

    def shown_text(entry: Entry) -> str:
        stored = entry.meta.get("shown") if entry.kind is EntryKind.TOOL_RESULT else None
        return str(stored) if stored else text_of(entry)

    return shown_text


def page_room(room: int, budget: Budget, other_tokens: int) -> int:
    """The part of `room` that pages may take besides `other_tokens`."""
    return max(0, min(room, int(budget.total * MOST_FULL) - other_tokens))


def digest_of(pages: Sequence[PageParts]) -> str:
    """Digest of the bytes of these pages; "" for none."""
    digest = hashlib.sha256()
    for picture, caption in pages:
        digest.update(hashlib.sha256(picture.data).digest())
        digest.update(hashlib.sha256(caption.text.encode("utf-8", "surrogatepass")).digest())
    return digest.hexdigest()[:16] if pages else ""


def _render_profile(profile: Profile) -> RenderProfile | None:
    return profile_for(profile.images, f"{profile.name} {profile.known_as}")
