"""The result of one import."""

from msgspec import Struct
from msgspec.structs import asdict, replace

from agent.importers.record import BadRecord
from agent.importers.skipped import Skipped, SkippedKinds

MAX_REPORTED = 200
"""Bad records that are listed; the others are only counted."""
SEVERAL = "several sources"


class ImportReport(Struct, frozen=True, kw_only=True):
    """The result of an import. `already` counts entries stored before; `redacted` counts private spans and secrets."""

    source: str
    conversations: tuple[int, ...] = ()  # seqs of those with new entries
    entries: int = 0
    already: int = 0
    bad: tuple[BadRecord, ...] = ()
    bad_count: int = 0
    redacted: int = 0
    kept_count: int = 0  # bad records that were imported in part
    observations: int = 0  # left out: only this workspace's makers make them
    forgotten: int = 0  # left out: they were forgotten here
    skipped: tuple[Skipped, ...] = ()
    reasons: tuple[tuple[BadRecord, int], ...] = ()  # the first bad record of each sentence, and how many say the same

    @property
    def refused(self) -> int:
        """Bad records of which nothing was imported."""
        return self.bad_count - self.kept_count

    def within(self, file: str) -> "ImportReport":
        """The report with the file in each location."""
        return replace(
            self,
            bad=tuple(replace(bad, location=f"{file}, {bad.location}") for bad in self.bad),
            reasons=tuple((replace(bad, location=f"{file}, {bad.location}"), count) for bad, count in self.reasons),
            skipped=tuple(replace(each, location=f"{file}, {each.location}") for each in self.skipped),
        )

    def merged(self, other: "ImportReport") -> "ImportReport":
        """The report of both imports."""
        skipped = SkippedKinds()
        skipped.add(*self.skipped, *other.skipped)
        sums = {name: value + getattr(other, name) for name, value in asdict(self).items() if isinstance(value, int)}
        return ImportReport(
            source=other.source if self.source in {"", other.source} else SEVERAL,
            conversations=tuple(dict.fromkeys((*self.conversations, *other.conversations))),
            bad=(self.bad + other.bad)[:MAX_REPORTED],
            skipped=skipped.counts(),
            reasons=(self.reasons + other.reasons)[:MAX_REPORTED],
            **sums,
        )


def summary(report: ImportReport) -> str:
    """The result in a sentence; counts of 0 are omitted."""
    entries, conversations = report.entries, len(report.conversations)
    parts = [f"Nothing new in “{report.source}”" if report.source else "Nothing new"]
    if entries:
        destination = counted(conversations, "conversation", "conversations")
        parts = [f"{counted(entries, 'entry', 'entries')} in {destination} imported from “{report.source}”"]
    if report.already:
        parts.append(f"{report.already:,} {'was' if report.already == 1 else 'were'} already stored")
    if report.refused:
        parts.append(counted(report.refused, "line was bad", "lines were bad"))
    if report.kept_count:
        parts.append(counted(report.kept_count, "line was imported in part", "lines were imported in part"))
    if report.observations:
        parts.append(f"{counted(report.observations, 'observation', 'observations')} not imported")
    if report.forgotten:
        left_out = counted(report.forgotten, "entry", "entries")
        parts.append(f"{left_out} not imported because deleted here with `forget`")
    return "; ".join(parts) + "."


def counted(count: int, singular: str, plural: str) -> str:
    """`1 entry`, `2 entries`"""
    return f"{count:,} {singular if count == 1 else plural}"
