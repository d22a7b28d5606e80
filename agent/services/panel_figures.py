"""What the panel beside the conversation shows of the store: the files that were touched, and what today cost."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from agent.checkpoints.change import CheckpointRecord
from agent.checkpoints.checkpoints import Checkpoints
from agent.checkpoints.history import CheckpointHistory
from agent.spending.report import total_spent
from agent.tools.files.changes import file_diff
from foundation.clock import SystemClock
from foundation.errors import PalimpsestError
from foundation.figures import counted

if TYPE_CHECKING:
    from agent.session import Session


class TouchedFile(Struct, frozen=True):
    """A file that the conversation changed. `before` and `after` are names of its stored versions, "" is no file."""

    path: str  # relative to the project folder
    before: str
    after: str
    added: int  # lines
    removed: int

    @property
    def figures(self) -> str:
        return f"+{self.added:,} −{self.removed:,}"


class SpentToday(Struct, frozen=True):
    """Tokens of all requests of the day, in the clock's own zone, and what they cost in words."""

    tokens: int = 0
    cost: str = ""


class PanelFigures(Struct, frozen=True):
    """Read from the store, after each change of files and each turn."""

    files: tuple[TouchedFile, ...] = ()
    today: SpentToday = SpentToday()
    problem: str = ""  # why the files cannot be listed


def panel_figures(session: "Session", known: tuple[TouchedFile, ...] = ()) -> PanelFigures:
    """The figures now. Versions of a file that are among `known` are not compared again. Blocks."""
    conversation, files, problem = session.conversation, (), ""
    try:
        files = touched_files(session.checkpoints, conversation.id, known) if conversation else ()
    except (PalimpsestError, OSError) as error:
        problem = str(error)
    midnight = SystemClock().now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    today = total_spent("today", session.memory.spent_since(midnight), session.config.models)
    return PanelFigures(files, SpentToday(today.tokens, today.cost if today.requests else ""), problem)


def touched_files(
    checkpoints: Checkpoints, conversation: str, known: tuple[TouchedFile, ...] = ()
) -> tuple[TouchedFile, ...]:
    """The files that edits in effect changed, the latest first: from the first version to the last. Blocks."""
    history = CheckpointHistory.read(checkpoints.journal.content(), conversation)  # a tool may be changing files now
    return changed_files(checkpoints, history.edits(), known)


def changed_files(
    checkpoints: Checkpoints, records: Iterable[CheckpointRecord], known: tuple[TouchedFile, ...] = ()
) -> tuple[TouchedFile, ...]:
    """The files that these checkpoints changed, the latest first: from the first version to the last. Blocks."""
    versions: dict[Path, tuple[str, str, str]] = {}
    for record in records:
        for file in record.files:
            _, before, _ = versions.pop(file.place, ("", file.before, ""))
            versions[file.place] = file.path, before, file.after
    counted = {(file.path, file.before, file.after): file for file in known}
    changed = [version for version in reversed(versions.values()) if version[1] != version[2]]
    return tuple(counted.get(version) or _counted(checkpoints, *version) for version in changed)


def changes_sentence(files: Sequence[TouchedFile]) -> str:
    """`3 files changed +40 −2 · /undo`; "" for none."""
    if not files:
        return ""
    added, removed = sum(file.added for file in files), sum(file.removed for file in files)
    return f"{counted(len(files), 'file')} changed +{added:,} −{removed:,} · /undo"


def diff_of_file(checkpoints: Checkpoints, file: TouchedFile) -> str:
    """The unified diff from the first version to the last. Blocks; raises Damaged where a version is missing."""
    return _diff(checkpoints, file.path, file.before, file.after)


def _diff(checkpoints: Checkpoints, path: str, before: str, after: str) -> str:
    old, new = (checkpoints.blobs.get(name) if name else None for name in (before, after))
    return file_diff(path, old, new)


def _counted(checkpoints: Checkpoints, path: str, before: str, after: str) -> TouchedFile:
    lines = _diff(checkpoints, path, before, after).splitlines()[2:]  # below the two names
    added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    return TouchedFile(path, before, after, added, removed)
