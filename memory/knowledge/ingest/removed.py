"""Detects files that were removed from disk, and memories whose retention has expired."""

import os
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from memory.knowledge.records import KnowledgeRecord


def is_file_removed(known: KnowledgeRecord) -> bool:
    """Whether its file was removed. False where the whole folder is missing: its drive may be unplugged."""
    if known.root and not Path(known.root).exists():
        return False
    try:
        os.lstat(known.source)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def removed_memories(memories: Iterable[KnowledgeRecord]) -> list[KnowledgeRecord]:
    """The memories whose files are missing now and were not before."""
    return [known for known in memories if known.missing is None and is_file_removed(known)]


def returned_memories(memories: Iterable[KnowledgeRecord]) -> list[KnowledgeRecord]:
    """The memories whose files were missing and exist again."""
    return [known for known in memories if known.missing is not None and Path(known.source).exists()]


def expired_memories(
    memories: Iterable[KnowledgeRecord],
    past: Iterable[KnowledgeRecord],
    out_of_view: Sequence[int],
    now: datetime,
    days: int,
) -> list[KnowledgeRecord]:
    """The memories whose retention of `days` has expired; none where it is 0, which keeps them for ever.

    Only replaced, missing and out-of-view memories expire, counted from the last time they were of use.
    """
    if days <= 0:
        return []
    out = set(out_of_view)
    candidates = {known.seq: known for known in past}
    candidates |= {known.seq: known for known in memories if known.seq in out}
    return [known for known in candidates.values() if now - _last_of_use(known) > timedelta(days=days)]


def _last_of_use(known: KnowledgeRecord) -> datetime:
    moments = (known.added, known.accessed, known.replaced, known.missing)
    return max(moment for moment in moments if moment is not None)
