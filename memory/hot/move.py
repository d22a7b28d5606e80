"""Gives a note file another name."""

from foundation.files import remove
from foundation.paths import Workspace
from memory.hot.edits import append_block
from memory.hot.hot_memory import HotMemory
from memory.hot.note import HotFile
from memory.versions.cause import Cause, caused_by


def move_note(hot: HotMemory, workspace: Workspace, file: HotFile, new: str, cause: Cause) -> bool:
    """Gives the file its new name; where that is another one's, the text is added there. False, with the file as it is,
    where somebody changed it meanwhile. Both have a version. Raises UnwritableNotes."""

    def joined(before: str) -> str:
        if not before.strip():
            return file.text
        return before if file.text.strip() in before else append_block(before, file.text.replace("\r\n", "\n"))

    if file.text.strip():
        with caused_by(cause.author, cause.reason):
            hot.edit(new, joined)
    return remove_unchanged(hot, workspace, file, cause)


def remove_unchanged(hot: HotMemory, workspace: Workspace, file: HotFile, cause: Cause) -> bool:
    """Deletes the file; False where somebody changed it meanwhile."""
    with caused_by(cause.author, cause.reason):
        hot.look()
        now = next((other for other in hot.files() if other.path == file.path), None)
        if now is not None and (now.text != file.text or now.problem):
            return False
        remove_note(hot, workspace, file.path)
    return True


def remove_note(hot: HotMemory, workspace: Workspace, name: str) -> None:
    """Deletes a file of memory/."""
    remove(workspace.memory_dir / name.removeprefix("memory/"), missing_ok=True)
    hot.look()
