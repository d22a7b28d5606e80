"""Files that are gone from disk, noticed; and what is deleted where a person set a retention."""

import os
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from memory.knowledge.records import KnowledgeRecord


def is_gone(known: KnowledgeRecord) -> bool:
    """Whether its file was removed. Where its whole folder is away (a drive that is not plugged in) nobody can say."""
    if known.root and not Path(known.root).exists():
        return False
    try:
        os.lstat(known.source)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def removed(memories: Iterable[KnowledgeRecord]) -> list[KnowledgeRecord]:
    """Those whose files are gone, and were there when last seen."""
    return [known for known in memories if known.missing is None and is_gone(known)]


def returned(memories: Iterable[KnowledgeRecord]) -> list[KnowledgeRecord]:
    """Those whose files were gone, and are there again."""
    return [known for known in memories if known.missing is not None and Path(known.source).exists()]


def due(
    memories: Iterable[KnowledgeRecord],
    past: Iterable[KnowledgeRecord],
    out_of_view: Sequence[int],
    now: datetime,
    days: int,
) -> list[KnowledgeRecord]:
    """What a retention of so many days has outlived; nothing where it is 0, for ever.

    Kept for so long after it was last of use: what was replaced, what is gone from disk, what is out of view.
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
