"""The texts of entries that a conversation shows, for finding a text in it: no terms, no index, no analysis."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

import apsw
import msgspec
from msgspec import Struct

from memory.cold.encoding import to_parts, unpack
from memory.cold.rows import LARGEST_FIELDS
from memory.cold.sql import batches, each, marks
from memory.errors import MemoryFailure
from memory.records import EntryKind
from models.excerpts import split_excerpt
from models.messages import Text

_ROWS: Final = f"""
SELECT seq, kind, body, packed, chars,
    CASE WHEN octet_length(meta) <= {LARGEST_FIELDS} AND (
        kind = '{EntryKind.TOOL_RESULT.value}' OR instr(meta, CAST('"reasoning"' AS BLOB))
    ) THEN meta END,
    CASE WHEN octet_length(sent) <= {LARGEST_FIELDS} AND instr(sent, CAST('"attachment"' AS BLOB)) THEN sent END
FROM entries WHERE complete = 1 AND seq IN """


class ShownTexts(Struct, frozen=True):
    """The texts of an entry. `is_archived`: its own text is on pages, and not among them."""

    seq: int
    texts: tuple[str, ...]
    is_archived: bool = False


class _Fields(Struct):
    """Of an entry's meta: what is shown of it."""

    reasoning: str = ""
    diff: str = ""
    summary: str = ""  # of a tool call


def shown_texts(connection: apsw.Connection, seqs: Sequence[int]) -> Iterator[ShownTexts]:
    """The texts of these entries, the highest seq first. What cannot be decoded is left out."""
    for batch in batches(sorted(seqs, reverse=True)):
        sql = f"{_ROWS} ({marks(batch)}) ORDER BY seq DESC"
        for seq, kind, body, packed, chars, meta, sent in each(connection, sql, batch):
            fields = _fields(meta)
            is_archived = body is None and chars > 0 and not fields.diff
            text = "" if body is None or fields.diff else _text(body, packed, chars)
            texts = (fields.summary, fields.reasoning, fields.diff, text, *_attached(sent))
            shown = tuple(part for part in texts if part) if kind != EntryKind.OBSERVATION.value else ()
            yield ShownTexts(seq, shown, is_archived)


def _text(body: bytes, packed: int, chars: int) -> str:
    try:
        return unpack(body, packed, chars)
    except MemoryFailure:
        return ""


def _fields(meta: bytes | None) -> _Fields:
    with suppress(msgspec.MsgspecError, ValueError, RecursionError):
        return msgspec.json.decode(meta, type=_Fields) if meta else _Fields()
    return _Fields()


def _attached(sent: bytes | None) -> list[str]:
    """The texts of the files that went with a message."""
    if not sent:
        return []
    with suppress(msgspec.MsgspecError, ValueError, TypeError, KeyError, RecursionError):
        texts = [part.text for part in to_parts(sent) if isinstance(part, Text) and part.injected == "attachment"]
        return [split_excerpt(text.partition("\n")[2])[0] for text in texts]
    return []
