"""The highest number of a version that results of tools name: the list of versions has reached at least that far."""

from typing import Final, cast

import apsw

from memory.cold.encoding import readable_meta
from memory.cold.sql import each
from memory.records import DEVICE, VERSIONS

_SQL: Final = f"""SELECT e.meta FROM entries e JOIN conversations c ON c.seq = e.conversation
    WHERE c.source = '' AND e.kind = 'tool_result' AND instr(e.meta, CAST('"{VERSIONS}":' AS BLOB))"""


def highest_named_version(db: apsw.Connection) -> int:
    """The number; 0 where none is named."""
    metas = (readable_meta(raw) for (raw,) in each(db, _SQL))
    return max((_highest(meta.get(VERSIONS)) for meta in metas if DEVICE not in meta), default=0)


def _highest(numbers: object) -> int:
    found = cast("list[object]", numbers) if isinstance(numbers, list) else []
    return max((number for number in found if isinstance(number, int)), default=0)
