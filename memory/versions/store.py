"""The versions of a workspace's files: `manifest` says who changed what, `objects` holds the texts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import RLock
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from foundation.clock import Clock, to_ms
from foundation.errors import PalimpsestError
from foundation.figures import counted
from foundation.files import FileLock, exists, make_private_folder
from foundation.program import PROGRAM
from memory.errors import Damaged, NotFound
from memory.settings import VersionSettings
from memory.versions.cause import Cause
from memory.versions.head import HeadFile, ListHead, newest_number
from memory.versions.lost import Damage, LostPart, LostParts
from memory.versions.manifest import Manifest, ManifestContent, Version, lost_end
from memory.versions.objects import Objects, content_name
from memory.versions.problems import VersionProblem, list_problems
from memory.versions.recovery import copy_with, found_again
from memory.versions.retention import kept_versions

MANIFEST: Final = "manifest"
OBJECTS: Final = "objects"
LOST: Final = "lost"
HEAD: Final = "head"
_LOCK_SECONDS: Final = 10


class NoSuchVersion(NotFound):
    """There is no version with this number, or none of this file."""

    code = "no_such_version"


class RecordedState(Struct, frozen=True):
    """What the file at `path` (relative) holds from `time_ms` on; None where it was removed. Written by `cause`."""

    path: str
    body: bytes | None
    cause: Cause
    time_ms: int


class VersionStore:
    """Records and reads versions. Safe to use from several threads and processes."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock
        self._manifest = Manifest(folder / MANIFEST)
        self._objects = Objects(folder / OBJECTS, "version")
        self._by_path: tuple[ManifestContent | None, Mapping[str, Version]] = (None, {})
        self._head = HeadFile(folder / HEAD)
        self._lost = LostParts(folder / LOST)
        self._lock = RLock()
        self._between_processes = FileLock(folder / "manifest.lock", timeout=_LOCK_SECONDS)

    def record(self, path: str, body: bytes | None, cause: Cause, *, time_ms: int | None = None) -> Version | None:
        """Records that the file at `path` (relative) holds these bytes now, or is gone (None).

        None where that is what its newest version says. Raises OSError, LockTimeout.
        """
        if self.is_known(path, body):  # most looks change nothing: no lock is taken for them
            return None
        made = self.record_all([RecordedState(path, body, cause, self.now_ms() if time_ms is None else time_ms)])
        return made[0] if made else None

    def record_all(self, states: Sequence[RecordedState]) -> list[Version]:
        """Records these states in their order, durable together; gives the versions that are new.

        Raises OSError, LockTimeout.
        """
        if not states:
            return []
        make_private_folder(self._folder)
        with self._lock, self._between_processes:
            head, newest = self._begun(), dict(self._newest())
            number = max(head.given, newest_number(self._manifest.content()))
            made: list[Version] = []
            for state in states:
                last = newest.get(state.path)
                if _holds(last, state.body):
                    continue
                version = newest[state.path] = self._stored(state, number + len(made) + 1, last)
                made.append(version)
            self._objects.sync(version.sha256 for version in made if version.sha256)
            if made:
                self._add(made, head)
            return made

    def _add(self, made: Sequence[Version], head: ListHead, found: int = 0) -> None:
        """Adds lines. Those that the head misses, and that were not `found` again, stay missed: the first line says
        that it follows them."""
        missing = head.missing(self._manifest.content()) - found
        if missing > 0:
            self._manifest.add(made, lost_end(head.newest), missing)
        else:
            self._manifest.add(made)
        with suppress(OSError, Damaged):  # the list has them; a damaged head is named by `check` until it is mended
            self._head.read()
            self._head.write(ListHead.of(self._manifest.content()))

    def _begun(self) -> ListHead:
        """The head. Written before the first content, so that contents without a list are those of a lost one."""
        head = self._read_head()
        if head == ListHead() and not exists(self._head.path):
            self._head.write(head)
        return head

    def _read_head(self) -> ListHead:
        """The head of the list. Without one that can be read it is that of the list as it is; where that is empty, as
        many versions were in it as there are contents."""
        with suppress(Damaged):
            if (head := self._head.read()) is not None:
                return head
        content = self._manifest.content()
        if content.lines:
            return ListHead.of(content)
        count = len(self._objects.names())
        return ListHead(given=count, newest=count, lines=count)

    def has_begun(self) -> bool:
        """Whether there were versions, also where the list of them is lost."""
        with self._lock:
            return self._manifest.content().lines > 0 or self._read_head().given > 0

    def highest_given(self) -> int:
        """The highest number that was ever given to a version, as far as the list and its head know."""
        with self._lock:
            return max(self._read_head().given, newest_number(self._manifest.content()))

    def reach(self, number: int) -> None:
        """Has later versions get numbers above this one: those up to it are lost with the list. Raises OSError,
        LockTimeout."""
        make_private_folder(self._folder)
        with self._lock, self._between_processes:
            if number > self.highest_given():
                self._head.write(replace(self._read_head(), given=number))

    def is_cut(self) -> bool:
        """Whether versions are missing from the list."""
        with self._lock:
            content = self._manifest.content()
            return bool(content.unreadable or content.gaps or self._read_head().missing(content))

    def _stored(self, state: RecordedState, number: int, last: Version | None) -> Version:
        """The version of that number, with its content stored and not yet durable."""
        base = last.sha256 if last else ""
        return Version(
            number=number,
            path=state.path,
            time_ms=state.time_ms,
            author=state.cause.author,
            reason=state.cause.reason,
            sha256="" if state.body is None else self._objects.put(state.body, base, sync=False),
            size=len(state.body or b""),
        )

    def now_ms(self) -> int:
        """The time of what is recorded now."""
        return to_ms(self._clock.now())

    def is_known(self, path: str, body: bytes | None) -> bool:
        """Whether that is what the newest version of the file says."""
        return _holds(self.newest(path), body)

    def versions(self, path: str | None = None) -> tuple[Version, ...]:
        """All versions, or those of one file, oldest first."""
        with self._lock:
            found = self._manifest.content().versions
        return found if path is None else tuple(version for version in found if version.path == path)

    def newest(self, path: str) -> Version | None:
        """The last version of a file; None without one."""
        with self._lock:
            return self._newest().get(path)

    def newest_of_all(self) -> tuple[Version, ...]:
        """The last version of each file."""
        with self._lock:
            return tuple(self._newest().values())

    def _newest(self) -> Mapping[str, Version]:
        content = self._manifest.content()
        if self._by_path[0] is not content:
            self._by_path = (content, {version.path: version for version in content.versions})
        return self._by_path[1]

    def version(self, number: int) -> Version:
        """The version with this number; raises NoSuchVersion."""
        found = next((each for each in reversed(self.versions()) if each.number == number), None)
        if found is None:
            raise NoSuchVersion(
                "No such version",
                f"No version has the number {number}.",
                f"`{PROGRAM} memory log` lists the versions and their numbers.",
            )
        return found

    def before(self, version: Version) -> Version | None:
        """The version of the same file that this one replaced; None for the first."""
        earlier = [each for each in self.versions(version.path) if each.number < version.number]
        return earlier[-1] if earlier else None

    def body(self, version: Version | None) -> bytes:
        """What the file held; nothing where it was not there. Raises Damaged."""
        return self._objects.get(version.sha256) if version and version.sha256 else b""

    def rewrite(
        self,
        forgotten: Callable[[Version, bytes], bytes | None],
        reason: Callable[[str], str],
        named: Callable[[str], str] = lambda path: path,
    ) -> int:
        """Gives versions other contents, for good: `forgotten` gives a version's new bytes, None where they stay.

        `named` gives every path anew; that a file of a changed name was removed is left out: it has the other name.

        Gives the number of changed versions; a damaged one stays. `reason` gives the reason of every version anew.
        Raises OSError, LockTimeout.
        """
        if not self.versions():
            return 0
        with self._lock, self._between_processes:
            content = self._manifest.content()
            before = content.versions
            contents = [self._rewritten(version, forgotten, reason) for version in before]
            changed = sum(old.sha256 != new.sha256 for old, new in zip(before, contents, strict=True))
            renamed = [replace(version, path=named(version.path)) for version in contents]
            pairs = zip(contents, renamed, strict=True)
            after = [new for old, new in pairs if new.sha256 or new.path == old.path]
            if after != list(before):
                for name in sorted({version.sha256 for version in after} - {""}):
                    with suppress(Damaged):
                        self._objects.make_whole(name)
                self._replace(after)
            self._remove_unneeded(after)
            return changed

    def _rewritten(
        self, version: Version, forgotten: Callable[[Version, bytes], bytes | None], reason: Callable[[str], str]
    ) -> Version:
        said = reason(version.reason)
        try:
            body = forgotten(version, self.body(version))
        except Damaged:  # `check` tells of it
            return replace(version, reason=said)
        if body is None:
            return replace(version, reason=said)
        return replace(version, sha256=self._objects.put(body), size=len(body), reason=f"{said} (forgotten)".strip())

    def keep(self, settings: VersionSettings) -> int:
        """Drops what is not to be kept; gives the number of dropped versions. Raises OSError, LockTimeout."""
        now_ms = to_ms(self._clock.now())
        versions = self.versions()
        if len(kept_versions(versions, now_ms, settings)) == len(versions):
            return 0
        with self._lock, self._between_processes:
            content = self._manifest.content()
            if self.is_cut():  # what cannot be read may need what would be deleted
                return 0
            kept = kept_versions(content.versions, now_ms, settings)
            self._replace(kept)
            self._remove_unneeded(kept)
            return len(content.versions) - len(kept)

    def _replace(self, versions: Sequence[Version]) -> None:
        """Replaces the list, its head first. What is missing at the end of the list stays missing."""
        content, head = self._manifest.content(), self._read_head()
        missing, newest = head.missing(content), max((version.number for version in versions), default=0)
        self._head.write(
            ListHead(
                given=max(head.given, newest_number(content)),
                newest=head.newest if missing else newest,
                lines=len(versions) + missing,
            )
        )
        self._manifest.rewrite(versions)

    def check(self) -> list[VersionProblem]:
        """Reads every version, and names what is damaged, also what was recorded as lost."""
        with self._lock:
            content = self._manifest.content()
            problems = list_problems(self._manifest.path, content, self._read_head(), self._head.damage())
        since = self._lost.since()
        for version in content.versions:
            try:
                self.body(version)
            except Damaged as error:
                message = f"Version {version.number} of {version.path}: {error.message}"
                problems.append(VersionProblem(message, version, self._damage_of(version)))
        return [replace(one, lost_since_ms=since.get(one.damage)) for one in problems]

    def record_lost(self) -> list[VersionProblem]:
        """Records all damage that there is as lost, and gives what was not recorded before.

        Raises OSError, LockTimeout. Of what is whole again the record is dropped: damage of it is new then.
        """
        problems = self.check()
        if problems or self._lost.since():
            now_ms = to_ms(self._clock.now())
            self._write_lost({one.damage: one.lost_since_ms or now_ms for one in problems})
        return [one for one in problems if one.lost_since_ms is None]

    def drop_whole(self) -> None:
        """Drops the record of what was lost and is whole again. Raises OSError, LockTimeout."""
        since = self._lost.since()
        if since:
            damaged = {one.damage for one in self.check()}
            kept = {damage: since_ms for damage, since_ms in since.items() if damage in damaged}
            if kept != since:
                self._write_lost(kept)

    def _write_lost(self, since: Mapping[Damage, int]) -> None:
        with self._lock, self._between_processes:
            self._lost.write(LostPart(damage, since_ms) for damage, since_ms in since.items())

    def lost_since(self) -> list[int]:
        """When each lost version was recorded as such; reads every version where there are any."""
        found = self.check() if self._lost.since() else []
        return [one.lost_since_ms for one in found if one.lost_since_ms is not None for _ in range(one.count)]

    def is_lost(self, version: Version) -> bool:
        """Whether a person knows that this version cannot be read."""
        since = self._lost.since()
        return bool(since) and self._damage_of(version) in since and not self._objects.is_sound(version.sha256)

    def _damage_of(self, version: Version) -> Damage:
        return Damage(version.sha256, self._objects.stored_digest(version.sha256))

    def mend(
        self, current: Callable[[str], bytes], keep: Callable[[Path], None], names: Iterable[str] = ()
    ) -> list[str]:
        """Stores a damaged content anew where its file or a copy still holds it, and adds versions that are found
        again in the contents to a list without its end; gives sentences.

        `current` reads a file by its relative name, `keep` puts a copy of a damaged one aside, `names` are those of the
        files as they are. Raises OSError, LockTimeout.
        """
        problems = self.check()
        damaged = [problem.version for problem in problems if problem.version is not None]
        mended = list[str]()
        if not problems:
            return mended
        with self._lock, self._between_processes:
            if any(problem.damage.part == "head" for problem in problems):
                keep(self._head.path)
                self._head.write(self._read_head())
                mended.append(f"{self._head.path} was rewritten from the current list of versions.")
            mended += self._find_again(current, keep, names)
            for version in damaged:  # oldest first: a later one may be stored as what differs from it
                if self._objects.is_sound(version.sha256):
                    continue
                sources: Mapping[str, Callable[[Version], bytes]] = {
                    "the file itself": lambda version: current(version.path),
                    "a copy of it": lambda version: copy_with(self._folder, version.sha256),
                }
                for source, read in sources.items():
                    with suppress(OSError, PalimpsestError):  # the file is gone, or is none: the problem stays
                        if content_name(body := read(version)) == version.sha256:
                            self._objects.put_again(body, keep)
                            mended.append(f"Version {version.number} of {version.path}: restored from {source}.")
                            break
        return mended

    def _find_again(
        self, current: Callable[[str], bytes], keep: Callable[[Path], None], names: Iterable[str]
    ) -> list[str]:
        content, head = self._manifest.content(), self._read_head()
        if not head.missing(content):
            return []
        files = dict[str, bytes]()
        for name in names:
            with suppress(OSError, PalimpsestError):
                files[name] = current(name)
        number = max(head.given, newest_number(content)) + 1
        found = found_again(self._objects, content.versions, files, number)
        if not found:
            return []
        if exists(self._manifest.path):
            keep(self._manifest.path)
        self._add(found, head, found=len(found))
        what = f"{counted(len(found), 'version')} found again by {'its text' if len(found) == 1 else 'their texts'}"
        return [f"{self._manifest.path}: {what}, from number {number} on; their authors and reasons are lost."]

    def _remove_unneeded(self, kept: Sequence[Version]) -> None:
        self._objects.remove_all_but(version.sha256 for version in kept if version.sha256)


def _holds(version: Version | None, body: bytes | None) -> bool:
    if body is None:
        return version is None or not version.sha256
    return version is not None and version.sha256 == content_name(body)
