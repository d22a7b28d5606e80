"""How a workspace opens: to be written to where it is new or its owner trusts it, else to be read alone."""

import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from msgspec import structs

from foundation.clock import Clock
from foundation.errors import PalimpsestError
from foundation.files import make_folder, remove_tree, resolve_path
from foundation.paths import Workspace
from foundation.program import PROGRAM
from foundation.sizes import free_bytes
from foundation.terminal_text import visible
from foundation.workspace_trust import TrustState, TrustStore, trust_command
from memory.errors import ReadOnly, StoreFull

if TYPE_CHECKING:  # SQLite is loaded with the first store: a new workspace draws its first frame without it
    import apsw

    from memory.cold import ColdStore
    from memory.cold.sql import SqlRow
    from memory.records import WorkspaceAnalyser

T = TypeVar("T")


class WorkspaceAccess:
    """One opening of one workspace. `workspace` has a scratch folder where it is only read; `trust_state` its trust."""

    def __init__(self, workspace: Workspace, trust_state: TrustState, trust: TrustStore) -> None:
        self.workspace = workspace
        self.trust_state = trust_state
        self._trust = trust
        self._made: Path | None = None

    @classmethod
    def of(cls, workspace: Workspace, trust: TrustStore, *, read_only: bool | None = None) -> "WorkspaceAccess":
        """What the workspace may do. `read_only` forces it; None decides by trust. Nothing is written below it."""
        if read_only is None and not workspace.brings_state:
            return cls(structs.replace(workspace, scratch=None), TrustState(trusted=True), trust)
        trust_state = trust.state(workspace, first_entry(workspace.database))
        if read_only is False or (trust_state.trusted and not read_only):
            return cls(structs.replace(workspace, scratch=None, links=trust_state.links), trust_state, trust)
        if workspace.scratch is not None:
            return cls(workspace, trust_state, trust)
        scratch = _new_scratch()
        access = cls(structs.replace(workspace, scratch=scratch), trust_state, trust)
        access._made = scratch
        return access

    def open_store(self, analyse: "WorkspaceAnalyser", clock: Clock, *, reads_when_full: bool = False) -> "ColdStore":
        """The cold store, to be written to or untouched. What is made here is trusted. Raises MemoryFailure.

        With `reads_when_full` it is open read-only where its disk has no space: StoreFull is not raised.
        """
        from memory.cold import ColdStore

        workspace = self.workspace
        if workspace.scratch is not None:
            return self._open_untouched(workspace, workspace.scratch, analyse, clock)
        if not workspace.brings_state:  # trusted first: a kill right after the store was made leaves it the user's own
            make_folder(workspace.root)
            with suppress(
                OSError, PalimpsestError
            ):  # the configuration folder is read-only: the question comes again next time
                self._trust.trust(workspace, "")
        try:
            cold = ColdStore.open(workspace.database, analyse=analyse, clock=clock)
        except StoreFull:
            if not reads_when_full:
                raise
            self._made = scratch = _new_scratch()
            self.workspace = structs.replace(workspace, scratch=scratch, unwritable=FULL)
            return self._open_untouched(self.workspace, scratch, analyse, clock)
        if cold.read_only and reads_when_full:
            self._made = _new_scratch()
            self.workspace = structs.replace(workspace, scratch=self._made, unwritable=REFUSED)
        cold.before_first_entry_goes = lambda entry: self._expect(cold, entry)
        self.note_first_entry(cold)
        return cold

    def _open_untouched(
        self, workspace: Workspace, scratch: Path, analyse: "WorkspaceAnalyser", clock: Clock
    ) -> "ColdStore":
        from memory.cold import ColdStore

        return ColdStore.open_untouched(
            workspace.database, scratch, lambda: refusal(workspace, self.trust_state), analyse=analyse, clock=clock
        )

    def note_first_entry(self, cold: "ColdStore") -> None:
        """Keeps the record of a trusted workspace complete: its identity, and its first entry by now."""
        from memory.cold.read_only import FIRST_ENTRY
        from memory.cold.sql import first

        if self.workspace.scratch is not None or cold.read_only:
            return
        with suppress(OSError, PalimpsestError):
            row = cold.read(lambda db: first(db, FIRST_ENTRY))
            if row is None:
                cold.before_first_entry = self._comes
            self._trust.complete_record(self.workspace, row[0] if row else "")

    def close(self) -> None:
        """Removes the scratch folder that was made to read the workspace."""
        if self._made is not None:
            with suppress(OSError, PalimpsestError):  # a thread still writes there, or Windows holds a file open
                remove_tree(self._made)

    @property
    def notice(self) -> str:
        """What is not in force, in one sentence; "" where all is."""
        return self.notice_naming(None)

    def notice_naming(self, settings: Sequence[str] | None) -> str:
        """The same, with the settings of config.yaml that are not in force; None where they were not read."""
        notice = trust_notice(self.workspace, self.trust_state, settings)
        full = f"{_no_writing(self.workspace)}: the workspace is open read-only." if self.workspace.unwritable else ""
        return " ".join(filter(None, (full, self._trust.set_aside, notice)))

    def has_skill(self, name: str) -> bool:
        """Whether the skill's file (relative name) is as its owner trusted it, now."""
        return self._trust.state(self.workspace).has_skill(name)

    def changed(self) -> tuple[str, ...]:
        """Relative names of what is new or changed since the workspace was trusted, by now."""
        return self._trust.state(self.workspace).changed

    def _comes(self, entry: str) -> None:
        with suppress(OSError, PalimpsestError):
            self._trust.note_first_entry(self.workspace, entry)

    def _expect(self, cold: "ColdStore", entry: str) -> None:
        if not entry:
            cold.before_first_entry = self._comes
        with suppress(OSError, PalimpsestError):
            self._trust.expect_first_entry(self.workspace, entry)


def sqlite_version() -> str:
    """Versions of SQLite and of its binding. Raises CannotOpen for an SQLite that may damage a store."""
    import apsw

    from memory.cold.connection import refuse_old_sqlite

    refuse_old_sqlite()
    return f"SQLite {apsw.sqlite_lib_version()} through apsw {apsw.apsw_version()}"


def first_entry(database: Path) -> str:
    """The id of the store's first entry; "" where there is none, or no store that can be read. Writes nothing there.

    Each opening asks, and a journal is read from a copy: it is read only where the store's file has no entry.
    """
    if not os.path.lexists(database):  # a new workspace: its first frame does without SQLite
        return ""
    from memory.cold.read_only import FIRST_ENTRY, connect_immutable
    from memory.cold.sql import first
    from memory.cold.untrusted_store import ask

    def in_file() -> "SqlRow | None":
        with closing(connect_immutable(database)) as db:
            return first(db, FIRST_ENTRY)

    row = _unless_unreadable(in_file) or _unless_unreadable(lambda: ask(database, lambda db: first(db, FIRST_ENTRY)))
    return str(row[0]) if row else ""


def counts(database: Path) -> tuple[int, int] | None:
    """(entries, conversations) of a store; None where they cannot be counted. Writes nothing there."""
    from memory.cold.sql import fetch
    from memory.cold.untrusted_store import ask

    def count(db: "apsw.Connection") -> tuple[int, int]:
        if fetch(db, "SELECT count(*) FROM sqlite_schema") == [(0,)]:
            return 0, 0  # it was just made
        ((entries, conversations),) = fetch(
            db, "SELECT (SELECT count(*) FROM entries), (SELECT count(*) FROM conversations)"
        )
        return int(entries), int(conversations)

    return _unless_unreadable(lambda: ask(database, count)) if os.path.lexists(database) else (0, 0)


def _unless_unreadable(read: Callable[[], T]) -> T | None:
    import apsw

    try:
        return read()
    except (apsw.Error, OSError, PalimpsestError, UnicodeDecodeError):
        return None


def trust_notice(workspace: Workspace, trust_state: TrustState, settings: Sequence[str] | None = None) -> str:
    """What is not in force and how to change that, in one sentence; "" where all is in force.

    `settings` are those of config.yaml that are not, None where that was not looked at.
    """
    command = trust_command(workspace)
    if not trust_state.trusted:
        return f"{visible(str(workspace.root))} {_why(trust_state)}, so it is open read-only. If it is yours: {command}"
    if changed := _not_in_force(trust_state, settings):
        names = ", ".join(visible(name) for name in changed[:3])
        more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
        which = "is" if len(changed) == 1 else "are"
        since = "new or changed since you trusted this workspace"
        return f"{names}{more} {which} inactive: {since}. To allow it: {command}"
    return ""


def _why(trust_state: TrustState) -> str:
    """Why a workspace is not trusted."""
    return _ANOTHER_STORE if trust_state.other_store else _ANOTHER_FOLDER if trust_state.known else NOT_MADE_HERE


def _not_in_force(trust_state: TrustState, settings: Sequence[str] | None) -> list[str]:
    """Names of files, config.yaml's with the settings that do not hold; it is left out where all of them do."""
    if settings is None:
        return list(trust_state.changed)
    others = [name for name in trust_state.changed if name != "config.yaml"]
    return [f"config.yaml ({', '.join(settings)})", *others] if settings else others


FULL = "is full"
REFUSED = "cannot be written to"
_ROOM = 2**18
"""Bytes that a disk must have for another try to open a workspace on it to be written to."""

NOT_MADE_HERE = "was not made here, or not by this version"
_ANOTHER_FOLDER = "is not the folder you trusted at this path"
_ANOTHER_STORE = (
    f"has a different database than the one you trusted (it was replaced, or an id is damaged: run `{PROGRAM} check`)"
)


def not_trusted(workspace: Workspace, trust_state: TrustState | None = None) -> ReadOnly:
    """The error for whoever wants to write to a workspace that is only read; with `trust_state` it says why."""
    why = NOT_MADE_HERE if trust_state is None else _why(trust_state)
    return ReadOnly(
        "The workspace is not trusted",
        f"{visible(str(workspace.root))} {why}, so it is open read-only: nothing is written to it.",
        f"If it is yours: `{trust_command(workspace)}`, then try again.",
    )


def refusal(workspace: Workspace, trust_state: TrustState | None = None) -> ReadOnly | StoreFull:
    """The error for whoever wants to write to a workspace that is only read: not trusted, or on a full disk."""
    if not workspace.unwritable:
        return not_trusted(workspace, trust_state)
    if workspace.unwritable == REFUSED:
        return ReadOnly(
            "The workspace is read-only",
            f"{_no_writing(workspace)}. Nothing was written; data stored before is safe.",
            "Check the permissions of its folder and how its disk is mounted, then try again.",
        )
    return StoreFull(
        "No space is left",
        f"{_no_writing(workspace)}. Nothing was written; data stored before is safe.",
        "Free some space, then try again.",
    )


def refuse_read_only(workspace: Workspace, trust_state: TrustState | None = None) -> None:
    """Raises `refusal` where the workspace is only read; with `trust_state` it says why."""
    if workspace.scratch is not None:
        raise refusal(workspace, trust_state)


def nothing_is_kept(workspace: Workspace) -> str:
    """For a chat on a full or read-only disk: what works, what does not, and what to do."""
    until = "there is room: free some" if workspace.unwritable == FULL else "it can be: change that"
    return (
        f"{_no_writing(workspace)}: you can read, /search and /recall, but nothing is saved. Messages "
        f"cannot be sent until {until}."
    )


def has_room_again(workspace: Workspace) -> bool:
    """Whether opening the workspace is worth a try: a disk that was full has some room, another was read-only."""
    free = free_bytes(workspace.root)
    return free is None or free >= _ROOM


def _no_writing(workspace: Workspace) -> str:
    where = visible(str(workspace.root))
    return f"The disk of {where} is full" if workspace.unwritable == FULL else f"{where} {workspace.unwritable}"


def _new_scratch() -> Path:
    return resolve_path(Path(tempfile.mkdtemp(prefix="palimpsest-")))  # 0700, and outside of the workspace
