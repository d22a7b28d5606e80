"""Zones B and C: what is in view of a conversation, as messages, each with what it takes."""

from collections.abc import Callable, Mapping, Sequence

from context.assemble import Past
from context.counting import Counting
from context.counts import EntryCounts
from context.layers.conversation import Sent, before_next, summary_messages, turn_messages
from context.view import View, read_view
from memory.cold import ColdStore, Entry
from models.messages import Message

TextOf = Callable[[Entry], str]


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

    def past(self, view: View, counting: Counting, *, asks: bool) -> Past:
        """The view as it goes to the model. `asks`: a user's message comes next."""
        texts = [self.text_of(entry) for entry in view.summaries]
        return self.past_of(texts, view.entries, counting, asks=asks)

    def past_of(self, summaries: Sequence[str], entries: Sequence[Entry], counting: Counting, *, asks: bool) -> Past:
        """The same of summaries' texts and entries."""
        before = summary_messages(summaries, None)
        turns = turn_messages(entries, self.text_of, self.overlay)
        if asks:
            turns = (*turns, *before_next(turns))
        fleeting = frozenset(entry.seq for entry in entries if not entry.complete) | self.overlay.keys()
        return Past(
            tuple((one, counting.message(one.message)) for one in before),
            tuple(zip(turns, self.counts.of(turns, counting, fleeting), strict=True)),
            len(entries),
        )


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
