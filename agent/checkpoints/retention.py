"""Removes checkpoints that are no longer kept, with the versions that only they need."""

import re
from collections.abc import Callable
from pathlib import Path

from agent.checkpoints.change import CheckpointRecord
from agent.checkpoints.command_changes import UnfinishedCommands
from agent.checkpoints.journal import Begun, Journal
from foundation.files import list_folders, remove_tree

_CHECKPOINT = re.compile(r"ck_[0-9a-z]+")


def keep_only(
    keeps: Callable[[CheckpointRecord], bool], journal: Journal, commands: UnfinishedCommands, folder: Path
) -> int:
    """Removes the checkpoints that `keeps` does not hold of; gives their number. The lock is held."""
    lines = journal.lines()
    records = [line.record for line in lines if isinstance(line, Begun)]
    kept = {record.id: record for record in records if keeps(record)}
    dropped = {record.id for record in records} - set(kept)
    if not dropped:
        return 0
    for conflict in list_folders(folder / "conflicts"):  # a folder that no checkpoint names may be the only copy
        if (name := _CHECKPOINT.match(conflict.name)) and name[0] in dropped:
            remove_tree(conflict)
    journal.rewrite(line for line in lines if (line.record.id if isinstance(line, Begun) else line.id) in kept)
    needed = {name for record in kept.values() for file in record.files for name in (file.before, file.after)}
    commands.blobs.remove_all_but(frozenset(needed | commands.keep_only(keeps)))
    return len(dropped)
