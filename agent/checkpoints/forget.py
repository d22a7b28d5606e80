"""Takes forgotten words out of the checkpoints: those that hold them go, and undo does not reach past them."""

from collections.abc import Callable
from contextlib import suppress

import msgspec

from agent.checkpoints.change import CheckpointRecord
from agent.checkpoints.checkpoints import Checkpoints
from agent.checkpoints.command_changes import UnfinishedCommands
from agent.checkpoints.retention import keep_only
from agent.checkpoints.secured_projects import SECURED
from foundation.files import exists, list_files, list_folders, read_bytes, remove, remove_tree
from memory.errors import Damaged

Holds = Callable[[bytes], bool]


def forget_in_checkpoints(checkpoints: Checkpoints, is_gone: Callable[[str], bool], holds: Holds) -> int:
    """Removes the checkpoints of conversations (ids) that are gone, and those that hold the words; gives their number.

    Raises Damaged where lines of the journal cannot be read: they may need any version.
    """
    folder, blobs = checkpoints.folder, checkpoints.blobs
    if not exists(folder / "journal.jsonl"):
        remove_tree(folder / SECURED)
        return 0
    with checkpoints.locked():
        if damage := checkpoints.journal.content().damage:
            raise Damaged("Not removed", f"{damage} and may refer to any version.")
        remove_tree(folder / SECURED)  # a copy of the project, made again before the next command
        holding = {name for name in blobs.names() if _body_holds(checkpoints, name, holds)}

        def keeps(record: CheckpointRecord) -> bool:
            versions = {name for file in record.files for name in (file.before, file.after)}
            said = msgspec.json.encode(record)
            return not is_gone(record.conversation) and not versions & holding and not holds(said)

        if holding:
            for name in set(blobs.names()) - holding:
                with suppress(Damaged):
                    blobs.make_whole(name)  # it may be told by one that goes
        gone = keep_only(keeps, checkpoints.journal, UnfinishedCommands(folder / "commands", blobs), folder)
        if holding:
            blobs.remove_all_but(set(blobs.names()) - holding)
        for path in [
            *list_files(folder),
            *(file for each in list_folders(folder / "conflicts") for file in list_files(each)),
        ]:
            is_copy = path.name == "notices.json" or path.parent.parent.name == "conflicts"
            if is_copy and holds(read_bytes(path)):
                remove(path, missing_ok=True)
                gone += 1
        return gone


def _body_holds(checkpoints: Checkpoints, name: str, holds: Holds) -> bool:
    with suppress(Damaged):
        return holds(checkpoints.blobs.get(name))
    return False
