"""Zones B and C: what is in view of a conversation, as messages with their token counts.

Counts are cached by entry and tokenizer, in memory and in the store.
"""

import threading
from collections.abc import Callable, Mapping, Sequence

from context.assembly.request import HistoryZones
from context.assembly.tokens import MessageCounter
from context.assembly.view import BranchView, read_view
from context.layers.conversation import PastMessage, before_next, past_pieces, reply_to_past, turn_messages
from context.pages.recipe import PageRecipe
from context.report import PageUsage, SourceReport
from memory.context_store import ContextStore
from memory.conversations import Conversations
from memory.records import Entry
from models.messages import Image, Message, Role, Text


class EntryCounts:
    """Cache of the token counts of entries, by tokenizer. `take_new` gives what the store does not have yet.

    Methods may be called from any thread.
    """

    def __init__(self, store: ContextStore) -> None:
        self._store = store
        self._lock = threading.Lock()  # of what is cached; not held while tokens are counted
        self._key = ""
        self._known: dict[int, int] = {}
        self._new: dict[int, int] = {}

    def of(self, sent: Sequence[PastMessage], counting: MessageCounter, fleeting: frozenset[int]) -> list[int]:
        """Tokens of each message. Entries in `fleeting` may change, or are sent with other words: not cached."""
        wanted = {one.entry for one in sent if one.entry is not None and one.entry not in fleeting}
        with self._lock:
            if counting.key != self._key:
                self._key, self._known, self._new = counting.key, {}, {}
            cached, known = self._known, {entry: self._known[entry] for entry in wanted & self._known.keys()}
        stored = self._store.token_counts(missing, counting.key) if (missing := wanted - known.keys()) else {}
        known |= stored
        counts = [known.get(one.entry or 0) or counting.message(one.message) for one in sent]
        new = wanted - known.keys()
        counted = {one.entry: count for one, count in zip(sent, counts, strict=True) if one.entry and one.entry in new}
        with self._lock:
            if self._known is cached:  # else entries were changed meanwhile, or another tokenizer counts
                cached |= stored | counted
                self._new |= counted
        return counts

    def take_new(self) -> tuple[str, dict[int, int]]:
        """The tokenizer's key, and counts that the store does not have; they are not given twice."""
        with self._lock:
            new, self._new = self._new, {}
            return self._key, new

    def drop(self, entry: int) -> None:
        """Drops one entry's count: it is sent with other words than it was counted with."""
        with self._lock:
            self._known = {seq: tokens for seq, tokens in self._known.items() if seq != entry}
            self._new.pop(entry, None)

    def forget(self) -> None:
        """Drops everything, where entries were changed."""
        with self._lock:
            self._known, self._new = {}, {}


TextOf = Callable[[Entry], str]
Pages = Sequence[tuple[PageRecipe, tuple[Image, Text]]]
"""Those in view, oldest first: what each was drawn from, its picture, and the words beside it."""


class HistoryReader:
    """Reads the conversation in view as messages.

    `overlay` holds messages that were sent with private words, in memory only; it is replaced, never changed.
    """

    def __init__(self, conversations: Conversations, store: ContextStore, text_of: TextOf) -> None:
        self._conversations = conversations
        self.text_of = text_of
        self.overlay: Mapping[int, Message] = {}
        self.counts = EntryCounts(store)

    def view(self, leaf: int | None, tokens: int, without: int | None = None) -> BranchView:
        """What is in view from `leaf` for a request of at most so many tokens. Raises NotFound."""
        if leaf is None:
            return BranchView()
        return read_view(self._conversations.path(leaf), tokens, self._conversations.entries, without)

    def past(
        self,
        view: BranchView,
        counting: MessageCounter,
        *,
        asks: bool,
        pages: Pages = (),
        hidden: Sequence[int] = (),
        nonce: str = "",
    ) -> HistoryZones:
        """The view as messages for the model.

        `asks`: a user's message comes next; `hidden`: summaries left out; `nonce`: of the tags of summaries and pages.
        """
        texts = [self.text_of(entry) for entry in view.summaries if entry.seq not in hidden]
        return self.past_of(texts, view.entries, counting, asks=asks, pages=pages, nonce=nonce)

    def past_of(
        self,
        summaries: Sequence[str],
        entries: Sequence[Entry],
        counting: MessageCounter,
        *,
        asks: bool,
        pages: Pages = (),
        nonce: str = "",
    ) -> HistoryZones:
        """The same for summaries' texts and entries."""
        before, sources, in_view = _zone_b(summaries, pages, counting, nonce)
        overlay = self.overlay
        turns = turn_messages(entries, self.text_of, overlay)
        if asks:
            turns = (*turns, *before_next(turns))
        fleeting = frozenset(entry.seq for entry in entries if not entry.complete) | overlay.keys()
        counts = self.counts.of(turns, counting, fleeting)
        return HistoryZones(before, tuple(zip(turns, counts, strict=True)), len(entries), sources, in_view)


def _zone_b(
    summaries: Sequence[str], pages: Pages, counting: MessageCounter, nonce: str
) -> tuple[tuple[tuple[PastMessage, int], ...], tuple[SourceReport, ...], PageUsage | None]:
    """The messages of zone B, its sources, and the usage of its pages. The reply counts to whichever there is."""
    pieces = past_pieces(summaries, [drawn for _, drawn in pages], nonce)
    if not pieces:
        return (), (), None
    said = counting.weighed(Role.USER, pieces)
    reply = reply_to_past(pages=bool(pages))
    replied = counting.message(reply)
    told = sum(tokens for piece, tokens in said.pieces if piece.source == "summaries")
    shown = said.tokens - told
    messages = (PastMessage(said.message), said.tokens), (PastMessage(reply), replied)
    if not pages:
        return messages, (SourceReport(f"summaries ({len(summaries)})", told + replied),), None
    sources = [SourceReport(f"summaries ({len(summaries)})", told)] if summaries else []
    in_view = PageUsage(len(pages), shown + replied, sum(recipe.stands_for for recipe, _ in pages))
    return messages, (*sources, SourceReport(f"pages ({len(pages)})", in_view.tokens)), in_view


def tokens_by_entry(past: HistoryZones) -> Mapping[int, int]:
    """Tokens of each entry in view. A message that only keeps the roles alternating counts to the entry before it."""
    found: dict[int, int] = {}
    last: int | None = None
    for sent, tokens in past.turns:
        last = sent.entry if sent.entry is not None else last
        if last is not None:
            found[last] = found.get(last, 0) + tokens
    return found


__all__ = ["HistoryReader", "PastMessage", "TextOf", "tokens_by_entry"]
