"""Summaries that stand beside the branch: kept for later, and read only with `context.read_compressed`.

Such an entry has the kind SUMMARY and no parent, and does not become its conversation's leaf; a compaction's summary
has a parent. Its meta: {"turns": [id of the first entry, id of the last]}, an empty list where an imported file does
not say.
"""

from typing import Any, cast

from memory.records import Entry

TURNS = "turns"
"""Meta of a summary beside the branch: the ids of the first and the last entry that it covers."""


def covered_ids(summary: Entry) -> tuple[str, str] | None:
    """The ids of the first and the last entry that the summary covers; None where that is not known."""
    value: Any = summary.meta.get(TURNS)
    if not isinstance(value, list):
        return None
    match cast("list[Any]", value):
        case [str(first), str(last)]:
            return first, last
        case _:
            return None
