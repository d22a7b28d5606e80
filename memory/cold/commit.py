"""What is done in each transaction before its commit, so that no writing code can forget it."""

from collections.abc import Callable

import apsw

from foundation.clock import Clock, to_ms
from memory.cold.integrity.row_seals import fill_seals
from memory.cold.sync_values import stamp_changes


def before_commit(clock: Clock) -> Callable[[apsw.Connection], None]:
    """Seals new and changed rows, and gives changes that other devices get their clocks."""

    def finish(db: apsw.Connection) -> None:
        fill_seals(db)
        stamp_changes(db, to_ms(clock.now()))

    return finish
