"""Zones B and C: what is in view of a conversation, as messages, each with what it takes."""

from collections.abc import Callable, Mapping, Sequence

from context.assemble import Past
from context.counting import Counting
from context.counts import EntryCounts
from context.layers.conversation import Sent, before_next, past_pieces, reply_to_past, turn_messages
from context.report import InView, Source
from context.resident.recipe import Recipe
from context.view import View, read_view
from memory.cold import ColdStore, Entry
from models.messages import Image, Message, Role, Text

TextOf = Callable[[Entry], str]
Pages = Sequence[tuple[Recipe, tuple[Image, Text]]]
"""Those in view, oldest first: what each was drawn from, its picture, and the words beside it."""


class PastReader:
    """Reads the past of conversations. `overlay` holds messages that were sent with private words: RAM alone."""

    def __init__(self, cold: ColdStore, text_of: TextOf) -> None:
        self._cold = cold
        self.text_of = text_of
        self.overlay: dict[int, Message] = {}
        self.counts = EntryCounts(cold)

    def view(self, leaf: int | None, tokens: int, without: int | None = None) -> View:
        """What is in view from `leaf` for a request of at most so many tokens. Raises NotFound."""
        if leaf is None:
            return View()
        return read_view(self._cold.path(leaf), tokens, self._cold.entries, without)

    def past(
        self,
        view: View,
        counting: Counting,
        *,
        asks: bool,
        pages: Pages = (),
        hidden: Sequence[int] = (),
        nonce: str = "",
    ) -> Past:
        """The view as it goes to the model. `asks`: a user's message comes next; `hidden`: summaries not said;
        `nonce`: what the tags of summaries and pages carry."""
        texts = [self.text_of(entry) for entry in view.summaries if entry.seq not in hidden]
        return self.past_of(texts, view.entries, counting, asks=asks, pages=pages, nonce=nonce)

    def past_of(
        self,
        summaries: Sequence[str],
        entries: Sequence[Entry],
        counting: Counting,
        *,
        asks: bool,
        pages: Pages = (),
        nonce: str = "",
    ) -> Past:
        """The same of summaries' texts and entries."""
        before, sources, in_view = _zone_b(summaries, pages, counting, nonce)
        turns = turn_messages(entries, self.text_of, self.overlay)
        if asks:
            turns = (*turns, *before_next(turns))
        fleeting = frozenset(entry.seq for entry in entries if not entry.complete) | self.overlay.keys()
        counts = self.counts.of(turns, counting, fleeting)
        return Past(before, tuple(zip(turns, counts, strict=True)), len(entries), sources, in_view)


def _zone_b(
    summaries: Sequence[str], pages: Pages, counting: Counting, nonce: str
) -> tuple[tuple[tuple[Sent, int], ...], tuple[Source, ...], InView | None]:
    """The messages, what they are made of, and the pages summed up. The reply counts to whichever there is."""
    pieces = past_pieces(summaries, [drawn for _, drawn in pages], nonce)
    if not pieces:
        return (), (), None
    said = counting.weighed(Role.USER, pieces)
    reply = reply_to_past(pages=bool(pages))
    replied = counting.message(reply)
    told = sum(tokens for piece, tokens in said.pieces if piece.source == "summaries")
    shown = said.tokens - told
    messages = (Sent(said.message), said.tokens), (Sent(reply), replied)
    if not pages:
        return messages, (Source(f"summaries ({len(summaries)})", told + replied),), None
    sources = [Source(f"summaries ({len(summaries)})", told)] if summaries else []
    in_view = InView(len(pages), shown + replied, sum(recipe.stands_for for recipe, _ in pages))
    return messages, (*sources, Source(f"pages ({len(pages)})", in_view.tokens)), in_view


def tokens_by_entry(past: Past) -> Mapping[int, int]:
    """What each entry in view takes; what only keeps the roles alternating counts to the entry before it."""
    found: dict[int, int] = {}
    last: int | None = None
    for sent, tokens in past.turns:
        last = sent.entry if sent.entry is not None else last
        if last is not None:
            found[last] = found.get(last, 0) + tokens
    return found


__all__ = ["PastReader", "Sent", "TextOf", "tokens_by_entry"]
