"""Versions of the notes and of the project's own files, as rows and differences. All functions block."""

import difflib
from typing import Final

from msgspec import Struct

from foundation.clock import from_ms, iso
from foundation.errors import Misuse
from foundation.files import list_folders
from foundation.files.untrusted import NoText, UnreadableFile, read_own_text
from foundation.program import PROGRAM
from memory.errors import Damaged
from memory.hot.files import is_hot_name
from memory.memory import Memory
from memory.versions.cause import Author
from memory.versions.file_history import is_versioned
from memory.versions.manifest import Version
from memory.versions.store import NoSuchVersion, VersionStore

MOST_LINES = 4_000  # of a difference that is shown
AUTHORS: Final = {
    Author.USER: "you",
    Author.PROGRAM: "Palimpsest",
    Author.MODEL: "a model",
    Author.SYNC: "another device",
}


class VersionRow(Struct, frozen=True):
    """A version, and by how many lines it differs from the one before; None where one of the two is damaged.

    `is_damaged`: it is this one. `is_lost`: a repair has named it as lost.
    """

    version: Version
    added: int | None
    removed: int = 0
    is_lost: bool = False
    is_damaged: bool = False

    @property
    def who(self) -> str:
        """Its author, as the screen names them."""
        return AUTHORS[self.version.author]

    @property
    def when(self) -> str:
        """The minute, in local time."""
        return version_time(self.version)

    @property
    def change(self) -> str:
        """`+3 −1`; `removed` where the file was; `changed` where the version before cannot be read."""
        if not self.version.sha256:
            return "removed"
        if self.is_lost:
            return "lost"
        if self.is_damaged:
            return "damaged"
        return "changed" if self.added is None else f"+{self.added} −{self.removed}"


class NoTextFile(Struct, frozen=True):
    """A file of which versions are kept, whose bytes are not UTF-8 now, and its newest version with a text."""

    path: str
    newest: Version | None

    @property
    def sentence(self) -> str:
        """What that means, and what puts its text back."""
        what = f"{self.path} is no longer valid UTF-8, so no versions of it are saved."
        if self.newest is None or not self.newest.sha256:
            return what
        restores = f"`{PROGRAM} memory restore {self.newest.number}`"
        return f"{what} {restores} restores its latest version and keeps a copy of the current file."


def version_rows(memory: Memory, path: str | None = None, *, most: int = 0) -> list[VersionRow]:
    """The versions, the newest first, at most `most`. Raises NoSuchVersion for a file without any."""
    look_at_files(memory)
    store = memory.versions.store
    versions = store.versions(path)
    if path is not None and not versions:
        known = ", ".join(files_with_versions(memory)) or "none yet"
        raise NoSuchVersion("No versions", f"There are no versions of {path}.", f"Files with versions: {known}.")
    rows: list[VersionRow] = []
    last: dict[str, list[str] | None] = {}  # the lines of each file in its version before; None for damaged ones
    for version in versions[-most:]:
        before = last[version.path] if version.path in last else _readable_lines(store, store.before(version))
        last[version.path] = now = _readable_lines(store, version)
        rows.append(_row(version, before, now, is_lost=now is None and store.is_lost(version)))
    return rows[::-1]


def files_with_versions(memory: Memory) -> list[str]:
    """Their names, by the alphabet."""
    return sorted({version.path for version in memory.versions.store.versions()})


def look_at_files(memory: Memory) -> list[NoTextFile]:
    """Makes versions of what was changed by hand since a request was last made; gives the files of which none can be
    made, since they hold no text."""
    memory.hot.look()
    found = [problem.path for problem in memory.hot.problems if problem.is_no_text]
    space = memory.workspace
    places = [
        space.system_yaml,
        space.agents_md,
        space.soul_md,
        *(folder / "SKILL.md" for folder in list_folders(space.skills)),
    ]
    names = {place.relative_to(space.root).as_posix(): place for place in places if place.is_relative_to(space.root)}
    known = {version.path for version in memory.versions.store.versions()}
    for name in [*names, *(name for name in known if is_versioned(name) and name not in names)]:
        place = space.root / name
        if is_hot_name(name):
            continue
        try:
            memory.versions.seen(name, read_own_text(place, within=space.bounds_of(place)))
        except FileNotFoundError:
            if name in known:
                memory.versions.seen(name, None)
        except NoText:
            found.append(name)
        except UnreadableFile:  # the next request says so
            continue
    return [NoTextFile(name, memory.versions.store.newest(name)) for name in found]


def version_difference(store: VersionStore, version: Version, other: Version | None = None) -> str:
    """What the version changed, or what differs from it to the other one, as a unified difference."""
    before, now = (store.before(version), version) if other is None else (version, other)
    old, new = (_lines(store, each) for each in (before, now))
    name = f"{now.path} ({f'version {before.number}' if before else 'not there'})"
    lines = difflib.unified_diff(old, new, name, f"{now.path} (version {now.number})", lineterm="")
    return "\n".join(list(lines)[:MOST_LINES])


def version_time(version: Version) -> str:
    """The minute, in local time."""
    return iso(from_ms(version.time_ms).astimezone())[:16].replace("T", " ")


def version_text(store: VersionStore, version: Version | None) -> str:
    """What the file held; "" where it was not there. Raises Damaged."""
    return store.body(version).decode("utf-8", "replace")


def other_of(store: VersionStore, version: Version, number: int) -> Version:
    """The version with that number, which must be of the same file."""
    other = store.version(number)
    if other.path != version.path:
        raise Misuse(
            "Two files",
            f"Version {version.number} belongs to {version.path}, version {number} to {other.path}.",
            f"`{PROGRAM} memory log FILE` lists the versions of one file.",
        )
    return other


def version_object(version: Version) -> dict[str, object]:
    """A version in JSON."""
    return {
        "number": version.number,
        "path": version.path,
        "time": from_ms(version.time_ms),
        "author": version.author.value,
        "reason": version.reason,
        "sha256": version.sha256 or None,
        "bytes": version.size,
    }


def _row(version: Version, old: list[str] | None, new: list[str] | None, *, is_lost: bool) -> VersionRow:
    if old is None or new is None:
        return VersionRow(version, None, is_lost=is_lost, is_damaged=new is None)
    added = removed = 0
    for kind, a1, a2, b1, b2 in difflib.SequenceMatcher(None, old, new).get_opcodes():
        if kind != "equal":
            added, removed = added + b2 - b1, removed + a2 - a1
    return VersionRow(version, added, removed)


def _readable_lines(store: VersionStore, version: Version | None) -> list[str] | None:
    try:
        return _lines(store, version)
    except Damaged:
        return None


def _lines(store: VersionStore, version: Version | None) -> list[str]:
    return version_text(store, version).splitlines()
