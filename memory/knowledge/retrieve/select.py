"""Selects knowledge passages for a question, within a budget: pages for a vision model, else passages.

Candidates are the relevant hits. They are selected by relevance, recency and importance (importance.score), as many as
fit; further passages of a file yield to other files that are about as good. What is out of view is searched only where
nothing in view is relevant.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from foundation.trust import Citation, Trust
from memory.knowledge.importance.score import pick_score
from memory.knowledge.importance.view_budget import ViewState
from memory.knowledge.records import DocumentView, KnowledgeRecord
from memory.pages.cost.factsheet import factsheet
from memory.pages.cost.gate import FRAME as OVERHEAD
from memory.pages.cost.gate import saves_tokens, should_stay_text
from memory.search import Hit
from models.messages import Image

CountTokens = Callable[[str], int]
PageCost = Callable[[int, int], int]
"""Tokens of a picture of so many pixels."""


class SelectedPassage(Struct, frozen=True, kw_only=True):
    """One passage, or one page with its exact words beside it."""

    known: KnowledgeRecord
    citation: Citation
    trust: Trust
    text: str
    score: float
    tokens: int  # in all
    vision_tokens: int = 0  # of them, its picture's
    image: Image | None = None


class KnowledgeContext(Struct, frozen=True, kw_only=True):
    """The passages for a model. `tokens` are at most `budget`. `out_of_view`: nothing in view was relevant."""

    query: str
    budget: int
    passages: tuple[SelectedPassage, ...] = ()
    out_of_view: bool = False

    @property
    def tokens(self) -> int:
        return sum(passage.tokens for passage in self.passages)


class PageViewer(Struct, frozen=True):
    """Gives a vision model its pages: the view behind a hit, its picture in a mode, and the cost of that picture."""

    view: Callable[[Hit, KnowledgeRecord], DocumentView | None]
    picture: Callable[[Hit, KnowledgeRecord, DocumentView, str], Image]
    words: Callable[[Hit], str]  # all text on the page
    cost: PageCost


class RetrievalLimits(Struct, frozen=True):
    """Tokens in all, tokens that pages and pictures may take of them, and how many passages and pages."""

    tokens: int
    vision: int
    most: int


AGAIN = 2.0
"""Subtracted from a candidate's score for each better passage of its file."""


class RetrievalCandidate(Struct, frozen=True):
    hit: Hit
    known: KnowledgeRecord
    view_state: ViewState
    score: float


def candidates(
    hits: Sequence[Hit], known: Mapping[str, KnowledgeRecord], view_states: Mapping[int, ViewState], now: datetime
) -> list[RetrievalCandidate]:
    """The hits of current memories, best first. Of merged twins, the one in view represents both."""
    hit_memories = {known[hit.conversation].seq for hit in hits if hit.conversation in known}
    found = list[RetrievalCandidate]()
    for hit in hits:
        memory = known.get(hit.conversation)
        if memory is None or view_states[memory.seq].stood_for_by in hit_memories:
            continue
        days = (now - memory.added).total_seconds() / 86_400
        score = pick_score(hit.score, days, memory.importance)
        found.append(RetrievalCandidate(hit, memory, view_states[memory.seq], score))
    return _files_in_turn(sorted(found, key=lambda candidate: (-candidate.score, candidate.hit.id)))


def _files_in_turn(found: Sequence[RetrievalCandidate]) -> list[RetrievalCandidate]:
    """Ranks a file by its best passage; each further passage yields to other files that are nearly as good."""
    before, placed = dict[int, int](), list[tuple[float, RetrievalCandidate]]()
    for candidate in found:
        placed.append((candidate.score - AGAIN * before.get(candidate.known.seq, 0), candidate))
        before[candidate.known.seq] = before.get(candidate.known.seq, 0) + 1
    return [candidate for _, candidate in sorted(placed, key=lambda pair: -pair[0])]


def select_passages(
    found: Sequence[RetrievalCandidate], limits: RetrievalLimits, count: CountTokens, viewer: PageViewer | None
) -> tuple[SelectedPassage, ...]:
    """As many candidates as the budget holds, each page once."""
    taken, room, shown = list[SelectedPassage](), limits.tokens, set[tuple[int, int]]()
    vision = limits.vision
    for candidate in found:
        if len(taken) == limits.most:
            break
        selected = None
        view = viewer.view(candidate.hit, candidate.known) if viewer and candidate.view_state.in_view else None
        if viewer and view:
            if (candidate.known.seq, view.number) in shown:
                continue
            selected = _page(candidate, view, viewer, (room, vision), count)
            if selected:
                shown.add((candidate.known.seq, view.number))
                vision -= selected.vision_tokens
        selected = selected or _passage(candidate, room, count)
        if selected:
            taken.append(selected)
            room -= selected.tokens
    return tuple(taken)


def _page(
    candidate: RetrievalCandidate, view: DocumentView, viewer: PageViewer, room: tuple[int, int], count: CountTokens
) -> SelectedPassage | None:
    """The page in the mode of its view state, where it fits and costs less than its text; a picture where it fits; else
    None."""
    image = viewer.picture(candidate.hit, candidate.known, view, candidate.view_state.mode)
    seen, words = viewer.cost(image.width, image.height), viewer.words(candidate.hit)
    facts = ", ".join(factsheet(words))
    text = f"Shown in the picture “{image.name}”." + (f" Exact words on it: {facts}" if facts else "")
    sheet = count(text)
    if not view.picture and (should_stay_text(words) or not saves_tokens(count(words), seen, sheet)):
        return None
    tokens = seen + sheet + OVERHEAD
    if tokens > room[0] or seen > room[1]:
        return None
    return _selected(candidate, text, tokens, image, seen)


def _passage(candidate: RetrievalCandidate, room: int, count: CountTokens) -> SelectedPassage | None:
    text = candidate.hit.snippet.strip()
    tokens = count(text) + OVERHEAD
    return _selected(candidate, text, tokens) if text and tokens <= room else None


def _selected(
    candidate: RetrievalCandidate, text: str, tokens: int, image: Image | None = None, seen: int = 0
) -> SelectedPassage:
    hit = candidate.hit
    return SelectedPassage(
        known=candidate.known,
        citation=hit.citation,
        trust=hit.trust,
        text=text,
        score=round(candidate.score, 3),
        tokens=tokens,
        vision_tokens=seen,
        image=image,
    )
