"""The result of one import."""

from msgspec import Struct

from agent.importers.record import BadRecord
from agent.importers.skipped import Skipped


class ImportReport(Struct, frozen=True, kw_only=True):
    """The result of an import. `already` counts entries stored before; `redacted` counts private spans and secrets."""

    source: str
    conversations: tuple[int, ...]  # seqs of those with new entries
    entries: int
    already: int
    bad: tuple[BadRecord, ...]
    bad_count: int
    redacted: int
    kept_count: int = 0  # bad records that were imported in part
    observations: int = 0  # left out: only this workspace's makers make them
    forgotten: int = 0  # left out: they were forgotten here
    skipped: tuple[Skipped, ...] = ()
    reasons: tuple[tuple[BadRecord, int], ...] = ()  # the first bad record of each sentence, and how many say the same

    @property
    def refused(self) -> int:
        """Bad records of which nothing was imported."""
        return self.bad_count - self.kept_count
