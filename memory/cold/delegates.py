"""Delegated conversations: the courses of questions that were delegated in another conversation."""

from typing import Final

import apsw
import msgspec
from msgspec import Struct

from memory.cold.encoding import plain
from memory.cold.rows import LARGEST_FIELDS
from memory.cold.sql import fetch

_FIRST_MESSAGES: Final = f"""
SELECT c.seq, CASE WHEN length(e.meta) <= {LARGEST_FIELDS} THEN e.meta END
FROM conversations c JOIN entries e ON e.seq = (SELECT min(seq) FROM entries WHERE conversation = c.seq)
WHERE c.kind = 'delegate' ORDER BY c.seq
"""


class _Origin(Struct):
    """Of its first message's meta: the conversation (source and id), and the tool result that its answer went into.

    The first is missing where an earlier build wrote it, the second names nothing where the program was killed before
    the answer.
    """

    delegated_in: tuple[str, str] | None = None
    derived_from: tuple[str, ...] = ()


def delegated_in(db: apsw.Connection, conversation: int) -> list[int]:
    """The conversations (their seqs) of the questions that were delegated in this one, oldest first."""
    names = fetch(db, "SELECT source, id FROM conversations WHERE seq = ?", (conversation,))
    found: list[int] = []
    for seq, meta in fetch(db, _FIRST_MESSAGES) if names else ():
        try:
            origin = msgspec.json.decode(meta or b"{}", type=_Origin)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            continue
        if origin.delegated_in is not None:
            belongs = tuple(map(plain, origin.delegated_in)) == tuple(names[0])
        else:
            sql = "SELECT 1 FROM entries WHERE id = ? AND conversation = ?"
            belongs = any(fetch(db, sql, (plain(id_), conversation)) for id_ in origin.derived_from)
        if belongs:
            found.append(seq)
    return found
