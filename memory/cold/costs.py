"""What answers and summaries of models cost, for the statistics and the caps of a day."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import apsw
import msgspec
from msgspec import Struct

from foundation.clock import from_ms, to_ms
from memory.cold.rows import LARGEST_FIELDS
from memory.cold.sql import each
from memory.records import SpendingRow

CHAT, SUMMARY, DELEGATE = "chat", "summary", "delegate"  # purposes: the last two are kinds, of entry and conversation


class _Kept(Struct):
    """The cost in an entry's meta."""

    cost: Any = None


def spending(connection: apsw.Connection, since: datetime | None = None) -> list[SpendingRow]:
    """The usage of each request, oldest first; from `since` on, if it is given."""
    since_ms = to_ms(since) if since else None
    rows = [*_rows(connection, since_ms), *_without_entry(connection, since_ms)]
    return sorted(rows, key=lambda row: row.time)


def _rows(connection: apsw.Connection, since_ms: int | None) -> Iterator[SpendingRow]:
    where, bindings = ("WHERE e.time_ms >= ?", (since_ms,)) if since_ms is not None else ("", ())
    rows = each(
        connection,
        f"""SELECT e.time_ms, c.id, c.kind, e.kind, u.model, u.prompt_tokens, u.completion_tokens, u.cached_tokens,
            CAST(c.title AS BLOB),
            CASE WHEN length(e.meta) <= {LARGEST_FIELDS} THEN e.meta END
            FROM entries e JOIN usage u ON u.entry = e.seq JOIN conversations c ON c.seq = e.conversation
            {where} ORDER BY e.time_ms, e.seq""",
        bindings,
    )
    for time_ms, conversation, conversation_kind, kind, model, prompt, completion, cached, title, meta in rows:
        purpose = DELEGATE if conversation_kind == DELEGATE else CHAT
        yield SpendingRow(
            time=from_ms(time_ms),
            conversation=str(conversation),
            title=(title or b"").decode("utf-8", "replace"),
            purpose=SUMMARY if kind == SUMMARY else purpose,
            model=str(model),
            prompt_tokens=prompt,
            completion_tokens=completion,
            cached_tokens=cached or 0,
            cost=kept_cost(meta),
        )


def _without_entry(connection: apsw.Connection, since_ms: int | None) -> Iterator[SpendingRow]:
    """Requests that wrote no entry; of a deleted conversation without its id."""
    rows = each(
        connection,
        """SELECT r.time_ms, c.id, CAST(c.title AS BLOB), r.purpose, r.model, r.prompt_tokens, r.completion_tokens,
            r.cached_tokens, r.cost FROM model_requests r LEFT JOIN conversations c ON c.seq = r.conversation
            WHERE r.time_ms >= ? ORDER BY r.time_ms, r.id""",
        (since_ms or 0,),
    )
    for time_ms, conversation, title, purpose, model, prompt, completion, cached, cost in rows:
        yield SpendingRow(
            time=from_ms(time_ms),
            conversation=str(conversation or ""),
            title=(title or b"").decode("utf-8", "replace"),
            purpose=str(purpose),
            model=str(model),
            prompt_tokens=prompt,
            completion_tokens=completion,
            cached_tokens=cached or 0,
            cost=decoded_cost(cost),
        )


def decoded_cost(cost: bytes | None) -> Any:
    """The cost of a request without an entry, from its JSON; None where there is none, or it is damaged."""
    try:
        return msgspec.json.decode(cost) if cost else None
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def kept_cost(meta: bytes | None) -> Any:
    """What meta says; None where it says nothing, or is damaged."""
    try:
        return msgspec.json.decode(meta, type=_Kept).cost if meta else None
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
