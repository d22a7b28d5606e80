"""Ledger of model requests that write no entry: reserved before the request, corrected after it."""

from datetime import datetime
from typing import Any, Final

import apsw
import msgspec
from msgspec import Struct

from foundation.clock import Clock, to_ms
from foundation.privacy import Cleared
from memory.cold import ColdStore
from memory.cold.sql import fetch, run
from models.messages import Usage

OBSERVE: Final = "observe"
"""The purpose of requests for observations."""


class TokenReserve(Struct, frozen=True, kw_only=True):
    """A request about to be sent: its purpose and model, the conversation's seq, and the most tokens it may take."""

    purpose: str
    model: Cleared
    conversation: int
    prompt_tokens: int
    answer_tokens: int


class ModelRequests:
    """The ledger of one workspace, shared by its processes. Every method blocks on the disk."""

    def __init__(self, cold: ColdStore, clock: Clock) -> None:
        self._cold = cold
        self._clock = clock

    def reserve(self, request: TokenReserve, since: datetime, most: int) -> int:
        """Reserves the request's tokens, its answer included; gives the id of the reserve.

        0, and nothing is reserved, where the purpose's tokens since then would pass `most`.
        """
        tokens = request.prompt_tokens + request.answer_tokens

        def transaction(db: apsw.Connection) -> int:
            if _tokens(db, request.purpose, since) + tokens > most:
                return 0
            run(
                db,
                "INSERT INTO model_requests (time_ms, purpose, conversation, model, prompt_tokens, completion_tokens,"
                " estimated, ms) SELECT ?, ?, (SELECT seq FROM conversations WHERE seq = ?), ?, ?, ?, 1, 0",
                (
                    to_ms(self._clock.now()),
                    request.purpose,
                    request.conversation,
                    request.model,
                    request.prompt_tokens,
                    request.answer_tokens,
                ),
            )
            return db.last_insert_rowid()

        return self._cold.write(transaction)

    def settle(self, reserve: int, usage: Usage, ms: int, cost: dict[str, Any] | None) -> None:
        """Puts what a request took in the place of its reserve."""
        kept = msgspec.json.encode(cost) if cost else None
        self._cold.write(
            lambda db: run(
                db,
                "UPDATE model_requests SET prompt_tokens = ?, completion_tokens = ?, cached_tokens = ?, estimated = ?,"
                " ms = ?, cost = ? WHERE id = ?",
                (
                    usage.prompt_tokens,
                    usage.completion_tokens,
                    usage.cached_tokens,
                    int(usage.estimated),
                    ms,
                    kept,
                    reserve,
                ),
            )
        )

    def release(self, reserve: int) -> None:
        """Deletes the reserve of a request that no model read."""
        self._cold.write(lambda db: run(db, "DELETE FROM model_requests WHERE id = ?", (reserve,)))

    def tokens(self, purpose: str, since: datetime) -> int:
        """Tokens of the purpose since then, with those that are reserved."""
        return self._cold.read(lambda db: _tokens(db, purpose, since))


def _tokens(db: apsw.Connection, purpose: str, since: datetime) -> int:
    where = "WHERE purpose = ? AND time_ms >= ?"
    sql = f"SELECT ifnull(sum(prompt_tokens + completion_tokens), 0) FROM model_requests {where}"
    return int(fetch(db, sql, (purpose, to_ms(since)))[0][0])
