"""Counts of the records that an import does not take, by reason and kind. Every reader yields a `Skipped` for each."""

from collections.abc import Iterable
from enum import StrEnum
from itertools import groupby
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from foundation.privacy import clear
from foundation.terminal_text import visible_line

MAX_KINDS: Final = 200
"""Kinds that are counted by name; the rest of a reason is counted as `OTHER`."""
MAX_KIND_CHARS: Final = 60
MAX_LISTED: Final = 6  # kinds of a reason in a sentence
OTHER: Final = "other"


class SkipReason(StrEnum):
    """Why a record is not imported. UNKNOWN: the reader does not know its kind, which is named to the user."""

    KNOWLEDGE = "knowledge"
    METADATA = "metadata"
    REASONING = "reasoning"
    MEDIA = "media"
    REPEATED = "repeated"
    WITHDRAWN = "withdrawn"
    EMPTY = "empty"
    UNKNOWN = "unknown"


class Skipped(Struct, frozen=True):
    """A record, or a part of one, that is not imported; or `count` of a kind, with the location of the first."""

    location: str
    kind: str  # the format's own name for it
    reason: SkipReason = SkipReason.UNKNOWN
    count: int = 1


class SkippedKinds:
    """Counts skipped records; memory is bounded by `MAX_KINDS`."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[SkipReason, str], Skipped] = {}

    def add(self, *records: Skipped) -> None:
        for record in records:
            key = (record.reason, visible_line(clear(record.kind))[:MAX_KIND_CHARS])
            if key not in self._kinds and len(self._kinds) >= MAX_KINDS:
                key = (record.reason, OTHER)
            first = self._kinds.get(key, replace(record, kind=key[1], count=0))
            self._kinds[key] = replace(first, count=first.count + record.count)

    def counts(self) -> tuple[Skipped, ...]:
        """Returns the counts by reason, the most frequent kinds first."""
        order = list(SkipReason)
        return tuple(sorted(self._kinds.values(), key=lambda each: (order.index(each.reason), -each.count, each.kind)))


def describe_skipped(counts: Iterable[Skipped]) -> str:
    """Returns the counts as a sentence: "Not imported: 3 metadata (system 3)."; "" for none."""
    parts: list[str] = []
    for reason, group in groupby(counts, key=lambda each: each.reason):
        kinds = list(group)
        first = f", first at {kinds[0].location}" if reason is SkipReason.UNKNOWN else ""
        more = [f"and {len(kinds) - MAX_LISTED:,} more"] if len(kinds) > MAX_LISTED else []
        named = [f"{each.kind} {each.count:,}" for each in kinds[:MAX_LISTED]]
        listed = ", ".join([named[0] + first, *named[1:], *more])
        parts.append(f"{sum(each.count for each in kinds):,} {reason} ({listed})")
    return f"Not imported: {'; '.join(parts)}." if parts else ""
