"""The parts of an answer in flight: its entry's text until it is settled."""

import apsw

from foundation.privacy import Cleared, as_stored
from memory.cold.bodies import to_text
from memory.cold.row_seals import CHUNKS
from memory.cold.sql import each


def said(connection: apsw.Connection, seq: int) -> tuple[Cleared, bool]:
    """What came of the answer so far, which was Cleared on its way in, and whether each part is the one that was
    stored; "" where it was settled."""
    parts, sound = list[str](), True
    for entry, n, body, seal in each(
        connection, "SELECT entry, n, body, seal FROM chunks WHERE entry = ? ORDER BY n", (seq,)
    ):
        parts.append(to_text(body))
        sound = sound and seal in {None, CHUNKS.seal((entry, n, body))}  # None: written by this very transaction
    return as_stored("".join(parts)), sound
