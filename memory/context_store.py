"""Storage of the context package's state: epochs, last requests, injected parts, token counts.

The bytes in it are context's own; the store keeps them by conversation and deletes them with it.
"""

from collections.abc import Iterable, Mapping

import apsw
from msgspec import Struct

from foundation.clock import to_ms
from foundation.privacy import Cleared, ClearedBytes
from memory.cold import ColdStore, context_state
from memory.records import Entry, EntryDraft, Epoch, LastRequest
from models.cleared_parts import NO_PARTS, ClearedParts


class NewEpoch(Struct, frozen=True):
    """An epoch to be stored; `started` is the moment of the write."""

    number: int
    reason: Cleared
    state: ClearedBytes


class SentRequest(Struct, frozen=True, kw_only=True):
    """A request as it is about to be sent, in the parts that are stored.

    `answers` is the seq of the entry that it answers; `parts` were injected beside the entry `sent_with`.
    """

    answers: int
    digest: ClearedBytes
    epoch: NewEpoch | None = None
    sent_with: int | None = None
    parts: ClearedParts = NO_PARTS
    tokenizer: str = ""
    token_counts: Mapping[int, int] = {}  # by entry, counted by `tokenizer`


class ContextStore:
    """Epochs and requests by conversation (its seq). Methods may be called from any thread."""

    def __init__(self, cold: ColdStore) -> None:
        self._cold = cold

    @property
    def secret(self) -> bytes:
        """Key for hashes of words that may be private; b"" in a read-only store without one."""
        return self._cold.secret

    def epoch(self, conversation: int) -> Epoch | None:
        """The stored epoch; None also where its row is damaged, so that another begins."""
        return self._cold.read(lambda db: context_state.epoch(db, conversation))

    def set_epoch(self, conversation: int, epoch: NewEpoch) -> None:
        now_ms = to_ms(self._cold.clock.now())
        self._cold.write(lambda db: _put_epoch(db, conversation, epoch, now_ms))

    def append(self, draft: EntryDraft, epoch: NewEpoch | None) -> Entry:
        """Appends an entry and sets its conversation's epoch (None leaves it), in one transaction."""
        now_ms = to_ms(self._cold.clock.now())

        def transaction(db: apsw.Connection) -> Entry:
            entry = self._cold.insert(db, draft)
            if epoch is not None:
                _put_epoch(db, draft.conversation, epoch, now_ms)
            return entry

        return self._cold.write(transaction)

    def last_request(self, conversation: int) -> LastRequest | None:
        """The stored last request; None also where its row is damaged."""
        return self._cold.read(lambda db: context_state.last_request(db, conversation))

    def record(self, conversation: int, request: SentRequest) -> None:
        """Stores the request and its state in one transaction. Raises NotFound where the entry was deleted."""
        now_ms = to_ms(self._cold.clock.now())

        def transaction(db: apsw.Connection) -> None:
            if request.sent_with is not None:
                context_state.set_sent(db, request.sent_with, request.parts)
            if request.epoch is not None:
                _put_epoch(db, conversation, request.epoch, now_ms)
            context_state.set_request(db, conversation, request.answers, request.digest, now_ms)
            context_state.set_token_counts(db, request.tokenizer, request.token_counts)

        self._cold.write(transaction)

    def token_counts(self, seqs: Iterable[int], tokenizer: str) -> dict[int, int]:
        """Stored counts, by entry."""
        return self._cold.read(lambda db: context_state.token_counts(db, seqs, tokenizer))

    def epochs_with_pages(self, limit: int) -> list[tuple[int, bytes]]:
        """Conversation and state of epochs that have pages in view, the newest first."""
        return self._cold.read(lambda db: context_state.epochs_with_pages(db, limit))


def _put_epoch(db: apsw.Connection, conversation: int, epoch: NewEpoch, now_ms: int) -> None:
    context_state.set_epoch(db, conversation, epoch.number, epoch.reason, epoch.state, now_ms=now_ms)
