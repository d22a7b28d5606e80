"""Looking over what a workspace stores, and mending what can be mended."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec import Struct

from foundation.paths import Workspace
from memory.archive.mend.keeping import Damages
from memory.archive.mend.repair import repair
from memory.cold import Problem
from memory.cold.salvage import salvage_store
from memory.errors import Damaged
from memory.settings import ArchiveSettings
from memory.workspace_memory import Memory


class Checked(Struct, frozen=True, kw_only=True):
    """What was found; after a repair also what was mended and what is lost, and where the originals are kept."""

    problems: tuple[Problem, ...]
    pages: int
    mended: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    kept_at: Path | None = None

    def as_json(self) -> Mapping[str, Any]:
        """The object of `palimpsest check --json`, less its schema."""
        told = [{"what": one.what, "where": one.where, "message": one.message} for one in self.problems]
        return {
            "sound": not self.problems,
            "pages": self.pages,
            "problems": told,
            "mended": list(self.mended),
            "lost": list(self.lost),
            "kept_at": str(self.kept_at) if self.kept_at else None,
        }


def check(workspace: Workspace, settings: ArchiveSettings | None = None) -> Checked:
    """The database whole, every pack, page and manifest. Nothing is changed."""
    try:
        memory = Memory.open(workspace, settings=settings)
    except Damaged as error:
        return Checked(problems=(Problem("file", workspace.database.name, error.message),), pages=0)
    try:
        problems = [*memory.cold.check(), *memory.vault.check()]
        return Checked(problems=tuple(problems), pages=len(memory.vault.pages()))
    except Damaged as error:
        return Checked(problems=(Problem("file", workspace.database.name, error.message),), pages=0)
    finally:
        memory.close()


def check_and_repair(workspace: Workspace, now: datetime, settings: ArchiveSettings | None = None) -> Checked:
    """The same, and what is damaged is mended, a copy of it kept in `.palimpsest/damaged/`."""
    settings = settings or ArchiveSettings()
    before = check(workspace, settings)
    mended, lost = list[str](), list[str]()
    damages = Damages(workspace.damaged, now)
    if any(one.what == "file" for one in before.problems):
        found = salvage_store(workspace.database, damages.folder)
        broken = f": some of {', '.join(found.broken)}" if found.broken else ""
        if not found.rows or found.broken:
            lost.append(f"Rows of the database that could not be read{broken}.")
        mended.append(f"The database: {found.rows:,} rows put into a new one.")
    memory = Memory.open(workspace, settings=settings)
    try:
        memory.cold.recover()
        done = repair(
            memory.cold,
            memory.vault.storage,
            damages,
            now,
            kept_texts=workspace.kept_texts,
            parity=settings.parity,
        )
        pages = len(memory.vault.pages())
    finally:
        memory.close()
    return Checked(
        problems=done.problems,
        pages=pages,
        mended=(*mended, *done.mended),
        lost=(*lost, *done.lost),
        kept_at=damages.place,
    )
