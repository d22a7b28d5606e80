"""Zones B and C: the conversation in view, as messages with their token counts.

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
from models.messages import Image, Message, RecalledSpan, Role, Text


class EntryCounts:
    """Cache of the token counts of entries, by tokenizer. `take_new` returns counts that the store does not have yet.

    Methods may be called from any thread.
    """

    def __init__(self, store: ContextStore) -> None:
        self._store = store
        self._lock = threading.Lock()  # guards the cache; not held while tokens are counted
        self._key = ""
        self._known: dict[int, int] = {}
        self._new: dict[int, int] = {}

    def of(self, messages: Sequence[PastMessage], counting: MessageCounter, uncached: frozenset[int]) -> list[int]:
        """Tokens of each message. Entries in `uncached` may still change, or are sent with private text."""
        cacheable = {item.entry for item in messages if item.entry is not None and item.entry not in uncached}
        with self._lock:
            if counting.key != self._key:
                self._key, self._known, self._new = counting.key, {}, {}
            cached, known = self._known, {entry: self._known[entry] for entry in cacheable & self._known.keys()}
        stored = self._store.token_counts(missing, counting.key) if (missing := cacheable - known.keys()) else {}
        known |= stored
        counts = [known.get(item.entry or 0) or counting.message(item.message) for item in messages]
        new = cacheable - known.keys()
        counted = {
            item.entry: count for item, count in zip(messages, counts, strict=True) if item.entry and item.entry in new
        }
        with self._lock:
            if self._known is cached:  # else entries or the tokenizer changed meanwhile
                cached |= stored | counted
                self._new |= counted
        return counts

    def take_new(self) -> tuple[str, dict[int, int]]:
        """The tokenizer's key, and counts that the store does not have; each is returned once."""
        with self._lock:
            new, self._new = self._new, {}
            return self._key, new

    def drop(self, entry: int) -> None:
        """Drops one entry's count, where its sent text differs from the counted text."""
        with self._lock:
            self._known = {seq: tokens for seq, tokens in self._known.items() if seq != entry}
            self._new.pop(entry, None)

    def forget(self) -> None:
        """Empties the cache, after entries were changed."""
        with self._lock:
            self._known, self._new = {}, {}


TextOf = Callable[[Entry], str]
Pages = Sequence[tuple[PageRecipe, tuple[Image, Text]]]
"""Pages in view, oldest first: the recipe of each, its image and its caption."""


class HistoryReader:
    """Reads the conversation in view as messages.

    `overlay` holds messages that were sent with private text, in memory only; it is replaced, never mutated.
    """

    def __init__(self, conversations: Conversations, store: ContextStore, text_of: TextOf) -> None:
        self._conversations = conversations
        self.text_of = text_of
        self.overlay: Mapping[int, Message] = {}
        self.counts = EntryCounts(store)

    def view(self, leaf: int | None, tokens: int, without: int | None = None) -> BranchView:
        """The view from `leaf` for a request of at most `tokens`. Raises NotFound."""
        if leaf is None:
            return BranchView()
        return read_view(self._conversations.path(leaf), tokens, self._conversations.entries, without)

    def zones(
        self,
        view: BranchView,
        counting: MessageCounter,
        *,
        question_follows: bool,
        pages: Pages = (),
        hidden: Sequence[int] = (),
        nonce: str = "",
    ) -> HistoryZones:
        """Zones B and C of a view.

        `question_follows`: a user's message comes next; `hidden`: omitted summaries; `nonce`: for the tags of summaries
        and pages.
        """
        texts = [self.text_of(entry) for entry in view.summaries if entry.seq not in hidden]
        return self.zones_of(
            texts,
            view.entries,
            counting,
            question_follows=question_follows,
            pages=pages,
            nonce=nonce,
            reduced=view.reduced,
        )

    def zones_of(
        self,
        summaries: Sequence[str],
        entries: Sequence[Entry],
        counting: MessageCounter,
        *,
        question_follows: bool,
        pages: Pages = (),
        nonce: str = "",
        reduced: frozenset[int] = frozenset(),
    ) -> HistoryZones:
        """Zones B and C from summary texts and entries. `reduced`: see BranchView."""
        before, sources, in_view = _zone_b(summaries, pages, counting, nonce)
        overlay = {seq: _reduced(message) if seq in reduced else message for seq, message in self.overlay.items()}
        turns = turn_messages(entries, self.text_of, overlay)
        if question_follows:
            turns = (*turns, *before_next(turns))
        uncached = frozenset(entry.seq for entry in entries if not entry.complete) | overlay.keys() | reduced
        counts = self.counts.of(turns, counting, uncached)
        counted = [(item.message, n) for item, n in (*before, *zip(turns, counts, strict=True))]
        counts = counting.with_reminders(counted)[len(before) :]
        return HistoryZones(before, tuple(zip(turns, counts, strict=True)), len(entries), sources, in_view)


def _reduced(message: Message) -> Message:
    """A message with private text, without what was recalled for it."""
    return Message(message.role, tuple(part for part in message.parts if not isinstance(part, RecalledSpan)))


def _zone_b(
    summaries: Sequence[str], pages: Pages, counting: MessageCounter, nonce: str
) -> tuple[tuple[tuple[PastMessage, int], ...], tuple[SourceReport, ...], PageUsage | None]:
    """Messages of zone B, its sources, and the usage of its pages.

    The reply counts to the pages, or to the summaries where there are no pages.
    """
    pieces = past_pieces(summaries, [drawn for _, drawn in pages], nonce)
    if not pieces:
        return (), (), None
    question = counting.counted_message(Role.USER, pieces)
    reply = reply_to_past(pages=bool(pages))
    reply_tokens = counting.message(reply)
    summary_tokens = sum(tokens for piece, tokens in question.pieces if piece.source == "summaries")
    page_tokens = question.tokens - summary_tokens
    messages = (PastMessage(question.message), question.tokens), (PastMessage(reply), reply_tokens)
    if not pages:
        return messages, (SourceReport(f"summaries ({len(summaries)})", summary_tokens + reply_tokens),), None
    sources = [SourceReport(f"summaries ({len(summaries)})", summary_tokens)] if summaries else []
    in_view = PageUsage(len(pages), page_tokens + reply_tokens, sum(recipe.stands_for for recipe, _ in pages))
    return messages, (*sources, SourceReport(f"pages ({len(pages)})", in_view.tokens)), in_view


def tokens_by_entry(history: HistoryZones) -> Mapping[int, int]:
    """Tokens of each entry in view. A filler message that keeps the roles alternating counts to the entry before it."""
    totals: dict[int, int] = {}
    last: int | None = None
    for message, tokens in history.turns:
        last = message.entry if message.entry is not None else last
        if last is not None:
            totals[last] = totals.get(last, 0) + tokens
    return totals


__all__ = ["HistoryReader", "PastMessage", "TextOf", "tokens_by_entry"]
