"""The versions of a workspace's files: `manifest` says who changed what, `objects` holds the texts."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import RLock
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from foundation.clock import Clock, to_ms
from foundation.errors import Misuse, PalimpsestError
from foundation.files import FileLock, make_private_folder
from foundation.program import PROGRAM
from memory.errors import Damaged
from memory.settings import VersionSettings
from memory.versions.cause import Cause
from memory.versions.lost import Damage, LostPart, LostParts
from memory.versions.manifest import Manifest, ManifestContent, Version
from memory.versions.objects import Objects, content_name
from memory.versions.retention import kept_versions

MANIFEST: Final = "manifest"
OBJECTS: Final = "objects"
LOST: Final = "lost"
_LOCK_SECONDS: Final = 10


class NoSuchVersion(Misuse):
    """There is no version with this number, or none of this file."""

    code = "no_such_version"


class VersionProblem(Struct, frozen=True):
    """What is wrong with the versions, as a sentence."""

    message: str
    version: Version | None = None
    damage: Damage = Damage("", "")
    lost_since_ms: int | None = None
    """Since when a person knows that nothing mends it; None for damage that nobody was told of."""


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
            newest = dict(self._newest())
            number = max((each.number for each in self.versions()), default=0)
            made: list[Version] = []
            for state in states:
                last = newest.get(state.path)
                if _holds(last, state.body):
                    continue
                version = newest[state.path] = self._stored(state, number + len(made) + 1, last)
                made.append(version)
            self._objects.sync(version.sha256 for version in made if version.sha256)
            if made:
                self._manifest.add(made)
            return made

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
                self._manifest.rewrite(after)
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
            if content.unreadable or content.gaps:  # what cannot be read may need what would be deleted
                return 0
            kept = kept_versions(content.versions, now_ms, settings)
            self._manifest.rewrite(kept)
            self._remove_unneeded(kept)
            return len(content.versions) - len(kept)

    def check(self) -> list[VersionProblem]:
        """Reads every version, and names what is damaged, also what was recorded as lost."""
        with self._lock:
            content = self._manifest.content()
        place, since = self._manifest.path, self._lost.since()
        problems = [
            VersionProblem(
                f"Line {line.number} of {place} cannot be read: the version that it names is lost.",
                damage=Damage("line", line.sha256),
            )
            for line in content.unreadable
        ]
        problems += [
            VersionProblem(
                f"A version is missing from {place} before line {line.number}.", damage=Damage("gap", line.sha256)
            )
            for line in content.gaps
        ]
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
        return [one.lost_since_ms for one in found if one.lost_since_ms is not None]

    def is_lost(self, version: Version) -> bool:
        """Whether a person knows that this version cannot be read."""
        since = self._lost.since()
        return bool(since) and self._damage_of(version) in since and not self._objects.is_sound(version.sha256)

    def _damage_of(self, version: Version) -> Damage:
        return Damage(version.sha256, self._objects.stored_digest(version.sha256))

    def mend(self, current: Callable[[str], bytes], keep: Callable[[Path], None]) -> list[str]:
        """Stores a damaged content anew where the file that it is of still holds it; gives a sentence for each.

        `current` reads a file by its relative name, `keep` puts a copy of a damaged one aside. Raises OSError,
        LockTimeout.
        """
        damaged = [problem.version for problem in self.check() if problem.version is not None]
        if not damaged:
            return []
        mended = list[str]()
        with self._lock, self._between_processes:
            for version in damaged:
                with suppress(OSError, PalimpsestError):  # the file is gone, or is none: the problem stays
                    body = current(version.path)
                    if content_name(body) == version.sha256 and not self._objects.is_sound(version.sha256):
                        self._objects.put_again(body, keep)
                        mended.append(f"Version {version.number} of {version.path}: stored anew, from the file itself.")
        return mended

    def _remove_unneeded(self, kept: Sequence[Version]) -> None:
        self._objects.remove_all_but(version.sha256 for version in kept if version.sha256)


def _holds(version: Version | None, body: bytes | None) -> bool:
    if body is None:
        return version is None or not version.sha256
    return version is not None and version.sha256 == content_name(body)
