"""The parts of an answer in flight: its entry's text until it is settled."""

import apsw

from foundation.privacy import Cleared
from memory.cold.bodies import to_text
from memory.cold.sql import each


def said(connection: apsw.Connection, seq: int) -> Cleared:
    """What came of the answer so far, which was Cleared on its way in; "" where it was settled."""
    rows = each(connection, "SELECT body FROM chunks WHERE entry = ? ORDER BY n", (seq,))
    return Cleared("".join(to_text(body) for (body,) in rows))
