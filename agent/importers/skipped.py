"""Counts of the records that an import does not take, by reason and kind. Every reader yields a `Skipped` for each."""

from collections.abc import Iterable
from enum import StrEnum
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
    """Why a record is not imported."""

    METADATA = "metadata"
    REASONING = "reasoning"
    REPEATED = "repeated"
    EMPTY = "empty"
    UNKNOWN = "unknown"


_LABELS: Final = {
    SkipReason.METADATA: "written by the app",
    SkipReason.REASONING: "reasoning",
    SkipReason.REPEATED: "repeated",
    SkipReason.EMPTY: "empty",
    SkipReason.UNKNOWN: "of unknown kinds",
}


class Skipped(Struct, frozen=True):
    """A record, or a part of one, that is not imported. `kind` is the format's own name for it.

    A kind that a reader does not know has the reason UNKNOWN: it is named to the user and never dropped in silence.
    """

    location: str
    kind: str
    reason: SkipReason = SkipReason.UNKNOWN


class SkippedKind(Struct, frozen=True):
    """The number of skipped records of one kind, and the location of the first."""

    reason: SkipReason
    kind: str
    count: int
    location: str


class SkippedKinds:
    """Counts skipped records; memory is bounded by `MAX_KINDS`."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[SkipReason, str], SkippedKind] = {}

    def add(self, skipped: Skipped) -> None:
        kind = visible_line(clear(skipped.kind))[:MAX_KIND_CHARS]
        self.add_counts([SkippedKind(skipped.reason, kind, 1, skipped.location)])

    def add_counts(self, counts: Iterable[SkippedKind]) -> None:
        """Adds the counts of another import."""
        for each in counts:
            key = (each.reason, each.kind)
            if key not in self._kinds and len(self._kinds) >= MAX_KINDS:
                key = (each.reason, OTHER)
            first = self._kinds.get(key, replace(each, kind=key[1], count=0))
            self._kinds[key] = replace(first, count=first.count + each.count)

    def counts(self) -> tuple[SkippedKind, ...]:
        """Returns the counts by reason, the most frequent kinds first."""
        order = list(SkipReason)
        return tuple(sorted(self._kinds.values(), key=lambda each: (order.index(each.reason), -each.count, each.kind)))


def describe_skipped(counts: Iterable[SkippedKind]) -> str:
    """Returns the counts as a sentence: "Not imported: 3 written by the app (system 3)."; "" for none."""
    by_reason: dict[SkipReason, list[SkippedKind]] = {}
    for each in counts:
        by_reason.setdefault(each.reason, []).append(each)
    parts: list[str] = []
    for reason, kinds in by_reason.items():
        named = [f"{each.kind} {each.count:,}" for each in kinds[:MAX_LISTED]]
        if reason is SkipReason.UNKNOWN:
            named[0] += f", first at {kinds[0].location}"
        if more := len(kinds) - MAX_LISTED:
            named += [f"and {more:,} more"] if more > 0 else []
        parts.append(f"{sum(each.count for each in kinds):,} {_LABELS[reason]} ({', '.join(named)})")
    return f"Not imported: {'; '.join(parts)}." if parts else ""
