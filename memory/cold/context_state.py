"""Context state of a conversation: epoch, last request, token counts, and the injected parts of sent messages."""

from collections.abc import Iterable, Mapping

import apsw

from foundation.clock import from_ms
from foundation.privacy import Cleared, ClearedBytes
from memory.cold.encoding import from_parts
from memory.cold.entries import entry_at
from memory.cold.integrity.row_hashes import seal_rows
from memory.cold.integrity.row_seals import EPOCHS, REQUESTS, SealedTable
from memory.cold.sql import SqlRow, batches, each, fetch, first, marks, run, run_many
from memory.records import Epoch, LastRequest
from models.cleared_parts import ClearedParts


def epoch(connection: apsw.Connection, conversation: int) -> Epoch | None:
    """The conversation's epoch. None if there is none or its row is damaged; the next request then begins one."""
    row = _sound(connection, EPOCHS, conversation)
    return Epoch(row[1], from_ms(row[2]), row[3].decode(), row[4]) if row else None


def set_epoch(
    connection: apsw.Connection, conversation: int, number: int, reason: Cleared, state: ClearedBytes, *, now_ms: int
) -> None:
    run(
        connection,
        "INSERT OR REPLACE INTO epochs (conversation, number, started_ms, reason, state) VALUES (?, ?, ?, ?, ?)",
        (conversation, number, now_ms, reason, state),
    )


def last_request(connection: apsw.Connection, conversation: int) -> LastRequest | None:
    """The conversation's last request. None if there is none or its row is damaged."""
    row = _sound(connection, REQUESTS, conversation)
    return LastRequest(row[1], from_ms(row[2]), row[3]) if row else None


def set_request(connection: apsw.Connection, conversation: int, entry: int, state: ClearedBytes, now_ms: int) -> None:
    run(
        connection,
        "INSERT OR REPLACE INTO requests (conversation, entry, sent_ms, state) VALUES (?, ?, ?, ?)",
        (conversation, entry, now_ms, state),
    )


def set_sent(connection: apsw.Connection, entry: int, parts: ClearedParts) -> None:
    """Stores the injected parts sent with the entry, and drops its token counts. Raises NotFound.

    A request that is sent again with other parts replaces them, by none too.
    """
    if entry_at(connection, entry).sent == parts:
        return
    run(connection, "DELETE FROM token_counts WHERE entry = ?", (entry,))
    run(connection, "UPDATE entries SET sent = ? WHERE seq = ?", (from_parts(parts), entry))
    seal_rows(connection, [entry])


def epochs_with_pages(connection: apsw.Connection, limit: int) -> list[tuple[int, bytes]]:
    """(conversation, state) of epochs with pages in view, newest first."""
    sql = """SELECT conversation, state FROM epochs WHERE instr(state, CAST('"pages":[{' AS BLOB)) > 0
        ORDER BY started_ms DESC LIMIT ?"""
    return [(conversation, state) for conversation, state in fetch(connection, sql, (limit,))]


def token_counts(connection: apsw.Connection, seqs: Iterable[int], tokenizer: str) -> dict[int, int]:
    """The known token counts of these entries, by seq."""
    found: dict[int, int] = {}
    for batch in batches(sorted(set(seqs))):
        sql = f"SELECT entry, tokens FROM token_counts WHERE tokenizer = ? AND entry IN ({marks(batch)})"
        found.update(each(connection, sql, (tokenizer, *batch)))
    return found


def set_token_counts(connection: apsw.Connection, tokenizer: str, counts: Mapping[int, int]) -> None:
    """Stores token counts; entries that no longer exist are skipped."""
    run_many(
        connection,
        "INSERT OR REPLACE INTO token_counts (entry, tokenizer, tokens) SELECT seq, ?, ? FROM entries WHERE seq = ?",
        [(tokenizer, tokens, seq) for seq, tokens in counts.items()],
    )


def _sound(connection: apsw.Connection, table: SealedTable, conversation: int) -> SqlRow | None:
    """The conversation's row if it matches its seal, else None."""
    row = first(connection, f"SELECT {table.listed}, seal FROM {table.name} WHERE conversation = ?", (conversation,))
    if row is None or row[-1] not in {None, table.seal(row[:-1])}:  # None: written by the current transaction
        return None
    return row[:-1]
