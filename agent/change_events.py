"""Events about what a tool call changed in files: checkpoints, and versions of the workspace's own files."""

from agent.checkpoints.checkpoints import Checkpoints
from agent.events import CheckpointMade, VersionMade
from memory.versions.file_history import FileHistory


def change_events(checkpoints: Checkpoints, history: FileHistory, entry: str) -> list[CheckpointMade | VersionMade]:
    """What the call with this result (an entry id) made; each is given once."""
    records = [CheckpointMade(record) for record in checkpoints.take_made(entry)]
    return [*records, *map(VersionMade, history.take_made())]
