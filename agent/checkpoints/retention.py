"""Removes checkpoints that are no longer kept, with the versions that only they need."""

import re
from collections.abc import Callable
from pathlib import Path

from agent.checkpoints.blobs import Blobs
from agent.checkpoints.change import CheckpointRecord
from agent.checkpoints.journal import Begun, Journal
from foundation.files import list_folders, remove_tree

_CHECKPOINT = re.compile(r"ck_[0-9a-z]+")


def keep_only(keeps: Callable[[CheckpointRecord], bool], journal: Journal, blobs: Blobs, folder: Path) -> int:
    """Removes the checkpoints that `keeps` does not hold of; gives their number. The lock is held."""
    lines = journal.lines()
    kept = {line.record.id: line.record for line in lines if isinstance(line, Begun) and keeps(line.record)}
    dropped = sum(isinstance(line, Begun) for line in lines) - len(kept)
    if not dropped:
        return 0
    journal.rewrite(line for line in lines if (line.record.id if isinstance(line, Begun) else line.id) in kept)
    needed = {name for record in kept.values() for file in record.files for name in (file.before, file.after)}
    blobs.remove_all_but(frozenset(needed))
    for conflict in list_folders(folder / "conflicts"):
        name = _CHECKPOINT.match(conflict.name)
        if name is None or name[0] not in kept:
            remove_tree(conflict)
    return dropped
