"""Statistics of the store."""

from pathlib import Path

import apsw

from foundation.files import status
from memory.cold.sql import day_of, each, fetch
from memory.origin import QUOTING
from memory.records import CHUNK_ENTRIES, UNDOES, DayTokens, EntryKind, ModelUsage, Statistics

CHARS_A_TOKEN = 4  # about, of a text that no request has held

_SUMMARY = EntryKind.SUMMARY.value
_MADE = f"""(e.kind = '{EntryKind.OBSERVATION.value}' AND instr(coalesce(e.meta, x''), CAST('"maker"' AS BLOB)) > 0)"""
"""SQL: whether an entry is an observation that was made here (memory.observations.observation.is_made)."""
_UNDOES = f"""(instr(coalesce(e.meta, x''), CAST('"{UNDOES}"' AS BLOB)) > 0)"""
_IS_MESSAGE = f"c.kind = 'chat' AND e.kind <> '{_SUMMARY}' AND NOT {_MADE}"
_CHUNKS = f"""SELECT coalesce(sum(messages), 0), coalesce(sum((messages + {CHUNK_ENTRIES - 1}) / {CHUNK_ENTRIES}), 0),
    coalesce(sum(summaries), 0) FROM (
        SELECT count(*) FILTER (WHERE {_IS_MESSAGE}) AS messages,
        count(*) FILTER (WHERE e.kind = '{_SUMMARY}' AND e.chars > 0 AND NOT {_UNDOES}) AS summaries
        FROM entries e JOIN conversations c ON c.seq = e.conversation AND c.kind = 'chat' GROUP BY e.conversation)"""
_BY_DAY = f"""SELECT {day_of("e.time_ms", local=True)} AS day, count(*), sum(coalesce(
        (SELECT max(tokens) FROM token_counts t WHERE t.entry = e.seq),
        (e.chars + {CHARS_A_TOKEN - 1}) / {CHARS_A_TOKEN}
    )), coalesce(sum(u.prompt_tokens), 0), coalesce(sum(u.completion_tokens), 0),
    count(*) FILTER (WHERE {_IS_MESSAGE})
    FROM entries e JOIN conversations c ON c.seq = e.conversation AND c.kind IN ('chat', 'delegate')
    LEFT JOIN usage u ON u.entry = e.seq AND u.model <> '{QUOTING}' GROUP BY day ORDER BY day"""


def statistics(connection: apsw.Connection) -> Statistics:
    """Reads each entry's head once."""
    entries, chars, archived, archived_chars = fetch(
        connection,
        """SELECT count(*), coalesce(sum(chars), 0), count(*) FILTER (WHERE body IS NULL),
           coalesce(sum(chars) FILTER (WHERE body IS NULL), 0) FROM entries""",
    )[0]
    messages, chunks, summaries = fetch(connection, _CHUNKS)[0]
    packs, pack_bytes = fetch(connection, "SELECT count(*), coalesce(sum(bytes), 0) FROM packs")[0]
    return Statistics(
        conversations=_count(connection, "conversations WHERE kind = 'chat'"),
        messages=messages,
        chunks=chunks,
        compressed_chunks=summaries,
        entries=entries,
        chars=chars,
        archived_entries=archived,
        archived_chars=archived_chars,
        pages=_count(connection, "pages"),
        packs=packs,
        pack_bytes=pack_bytes,
        cold_pages=_count(connection, "pages JOIN packs ON packs.name = pages.pack WHERE packs.kind <> 'warm'"),
        database_bytes=found.st_size if (found := status(Path(connection.db_filename("main")))) else 0,
        models=_models(connection),
    )


def counts_by_day(connection: apsw.Connection, first_ms: int, last_ms: int) -> dict[str, int]:
    """Messages and tool results by day, as `2026-03-14` (UTC), in order."""
    rows = each(
        connection,
        f"""SELECT {day_of("time_ms")} AS day, count(*) FROM entries
           WHERE time_ms BETWEEN ? AND ? AND kind IN ('message', 'tool_result') GROUP BY day ORDER BY day""",
        (first_ms, last_ms),
    )
    return dict(rows)


def tokens_by_day(connection: apsw.Connection) -> list[DayTokens]:
    """The days that have entries of conversations, oldest first."""
    return [DayTokens(*row) for row in each(connection, _BY_DAY)]


def _models(connection: apsw.Connection) -> tuple[ModelUsage, ...]:
    rows = each(
        connection,
        """SELECT model, count(*), sum(prompt_tokens), sum(completion_tokens), coalesce(sum(cached_tokens), 0), sum(ms)
           FROM (SELECT model, prompt_tokens, completion_tokens, cached_tokens, ms FROM usage UNION ALL
                 SELECT model, prompt_tokens, completion_tokens, cached_tokens, ms FROM model_requests)
           WHERE model <> ? GROUP BY model ORDER BY count(*) DESC, model""",
        (QUOTING,),
    )
    return tuple(ModelUsage(*row) for row in rows)


def _count(connection: apsw.Connection, what: str) -> int:
    return int(fetch(connection, f"SELECT count(*) FROM {what}")[0][0])
