"""Drafts and mirrors under names that this program never gives: listed by `check`, put aside by its repair."""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from foundation.files import list_files
from foundation.names import DRAFT, MIRROR, Grammar
from foundation.paths import Workspace, is_draft_name
from memory.archive.repair.quarantine import Quarantine
from memory.cold.mirrors.parse import misnamed_mirrors
from memory.names import shown
from memory.records import IntegrityProblem

_TEMPORARY = ".tmp"


class ForgedFile(Struct, frozen=True):
    """One file, and the grammar that its name breaks."""

    path: Path
    grammar: Grammar

    @property
    def problem(self) -> IntegrityProblem:
        where = f"{self.path.parent.name}/{shown(self.path.name)}"
        return IntegrityProblem("name", where, f"The file does not have {self.grammar.noun}, and is not read.")


def forged_files(workspace: Workspace) -> list[ForgedFile]:
    """Drafts whose names fit no grammar, and files that claim to mirror a conversation under another name."""
    return [*_drafts(workspace), *_mirrors(workspace)]


def put_aside(one: ForgedFile, damages: Quarantine) -> str:
    """Moves the file to what is kept of a repair; says so."""
    kept = damages.put_aside(one.path)
    return f"{one.problem.where}: {one.problem.message} It was moved to {kept.parent.name}/{kept.name}."


def _drafts(workspace: Workspace) -> Iterator[ForgedFile]:
    for path in list_files(workspace.drafts):
        is_ours = path.name.startswith(".") and path.name.endswith(_TEMPORARY)  # a write that was cut short
        if not is_ours and not is_draft_name(path.name):
            yield ForgedFile(path, DRAFT)


def _mirrors(workspace: Workspace) -> Iterator[ForgedFile]:
    for name in misnamed_mirrors(workspace.conversations):
        yield ForgedFile(workspace.conversations / name, MIRROR)
