"""Trust in workspaces: a store in the user's own configuration folder, never in a workspace.

A record belongs to a path and an identity: device and inode of the root folder, and the id of the store's first entry.
Mounts get other device numbers, so a record whose inode and first entry match holds on another device too. A record
also keeps digests of what may set paths, addresses and commands (config.yaml, hooks) and of the skills: what changed
since is not in force until the workspace is trusted again.
"""

import hashlib
import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from foundation.errors import TemporaryFailure
from foundation.files import FileLock, LockTimeout, make_private_folder, read_bytes, resolve_path, write_atomically
from foundation.paths import Workspace, config_dir
from foundation.program import own_command
from foundation.trusted_content import REMOVED, ContentDigests, content_digests
from foundation.typed_json import decode_json

_LOCK_SECONDS = 10


class TrustRecord(Struct, frozen=True, kw_only=True):
    """One trusted workspace. `first_entries` holds more than one id while a deletion changes the first entry."""

    path: str
    inode: int = 0  # 0: trusted by a version that kept the path alone; filled in at the next opening
    device: int = 0
    first_entries: tuple[str, ...] = ()  # none: the store is empty; an entry that comes is noted before its commit
    content: ContentDigests | None = None
    links: dict[str, str] = {}  # links out of the workspace that its owner allowed: relative name → resolved target
    declined: dict[str, str] = {}  # links that the owner chose not to follow, when asked on screen


class _Store(Struct, frozen=True):
    workspaces: tuple[TrustRecord, ...]
    schema: int = 1


class TrustState(Struct, frozen=True):
    """The permissions of a workspace. `changed` names content that is not in force until it is trusted again."""

    trusted: bool
    known: bool = False  # its path has a record, whose identity may be another's
    other_store: bool = False  # it is the folder that was trusted, and its store's first entry is another
    changed: tuple[str, ...] = ()
    changes: tuple[tuple[str, str], ...] = ()  # (name, new, changed or removed): those, and what is gone
    links: tuple[tuple[str, str], ...] = ()
    set_aside: str = ""  # one sentence, where trusting it found the store damaged

    @property
    def config_in_force(self) -> bool:
        """Whether the workspace's configuration may set paths, addresses and commands."""
        return self.trusted and not any(not name.startswith("skills/") for name in self.changed)

    def has_skill(self, name: str) -> bool:
        """Whether the skill of that file (relative to the workspace) is as it was trusted, with all of its folder: its
        text names scripts, and these load others."""
        folder = "/".join(name.split("/")[:2]) + "/"
        return self.trusted and not any(changed.startswith(folder) for changed, _ in self.changes)


class TrustStore:
    """The store of trusted workspaces. Safe for concurrent processes."""

    def __init__(self, folder: Path) -> None:
        self._path = resolve_path(folder / "trusted.json")
        self.set_aside = ""  # one sentence, where a write of this store found the file damaged

    def state(self, workspace: Workspace, first_entry: str | None = None) -> TrustState:
        """The permissions of the workspace. `first_entry` is its store's; "" for none, None where it was not read."""
        record = self._record(workspace)
        if record is None:
            return TrustState(trusted=False)
        if not _is_same(record, workspace, first_entry):
            return TrustState(trusted=False, known=True, other_store=_is_same(record, workspace, None))
        links = tuple(sorted(record.links.items()))
        now = content_digests(structs.replace(workspace, links=links))
        changes = now.changes(record.content) if record.content is not None else ()
        changed = tuple(name for name, how in changes if how != REMOVED)
        return TrustState(trusted=True, known=True, changed=changed, changes=changes, links=links)

    def content(self, workspace: Workspace) -> ContentDigests:
        """Digests of the workspace's present content; allowed links are followed."""
        record = self._record(workspace)
        return content_digests(structs.replace(workspace, links=tuple(record.links.items()) if record else ()))

    def trust(self, workspace: Workspace, first_entry: str, content: ContentDigests | None = None) -> None:
        """Trusts the workspace; `first_entry` is its store's, "" for none. Allowed links stay so.

        `content` is what its owner was shown: later changes are not in force. None: the present content.
        """
        identity = _identity(workspace)

        def change(record: TrustRecord | None) -> TrustRecord:
            links, declined = (record.links, record.declined) if record else ({}, {})
            now = content_digests(structs.replace(workspace, links=tuple(links.items())))
            return TrustRecord(
                path=trust_key(workspace),
                inode=identity[1],
                device=identity[0],
                first_entries=(first_entry,) if first_entry else (),
                content=content or now,
                links=links,
                declined=declined,
            )

        self._change(workspace, change)

    def complete_record(self, workspace: Workspace, first_entry: str) -> None:
        """Completes the record of a trusted workspace on opening it: its identity and its first entry."""
        record = self._record(workspace)
        if record is None:
            return
        device, inode = _identity(workspace)
        entries = (first_entry,) if first_entry else ()
        content = record.content or content_digests(structs.replace(workspace, links=tuple(record.links.items())))
        filled = structs.replace(record, inode=inode, device=device, first_entries=entries, content=content)
        if filled != record:
            self._change(workspace, lambda _: filled)

    def expect_first_entry(self, workspace: Workspace, first_entry: str) -> None:
        """Adds the id that will be the first entry after a deletion; called before it."""
        self._change_known(
            workspace,
            lambda record: (
                structs.replace(record, first_entries=(*record.first_entries, first_entry))
                if first_entry and record.first_entries and first_entry not in record.first_entries
                else record
            ),
        )

    def note_first_entry(self, workspace: Workspace, first_entry: str) -> None:
        """Notes the first entry of an empty store; called before its commit."""
        self._change_known(
            workspace,
            lambda record: (
                structs.replace(record, first_entries=(*record.first_entries, first_entry))
                if first_entry not in record.first_entries
                else record
            ),
        )

    def renew_config(self, workspace: Workspace) -> None:
        """Keeps config.yaml trusted after a change by this program, with the programs that it names newly."""
        now = content_digests(workspace)

        def renewed(record: TrustRecord) -> TrustRecord:
            if (content := record.content) is None:
                return record
            programs = {name: content.programs.get(name, digest) for name, digest in now.programs.items()}
            return structs.replace(record, content=structs.replace(content, config=now.config, programs=programs))

        self._change_known(workspace, renewed)

    def allow(self, workspace: Workspace, link: str) -> Path:
        """Allows a link out of the workspace to be followed to its present target; returns the target.

        For the folder of skills, the skills in it now are trusted.
        """
        target = Path(os.path.realpath(workspace.root / link))

        def change(record: TrustRecord) -> TrustRecord:
            links = {**record.links, link: str(target)}
            content = record.content
            if link == "skills" and content is not None:
                now = content_digests(structs.replace(workspace, links=tuple(links.items())))
                content = structs.replace(content, skills=now.skills)
            return structs.replace(record, links=links, content=content)

        self._change_known(workspace, change)
        return target

    def decline(self, workspace: Workspace, link: str) -> None:
        """Records that a link is not to be followed to its present target, so that the user is asked once."""
        target = os.path.realpath(workspace.root / link)
        self._change_known(
            workspace, lambda record: structs.replace(record, declined={**record.declined, link: target})
        )

    def unanswered(self, workspace: Workspace, links: Mapping[str, Path]) -> tuple[tuple[str, str], ...]:
        """Those of `links` (relative name → target) whose owner has neither allowed nor declined that very target."""
        record = self._record(workspace)
        if record is None:
            return ()
        known = {*record.links.items(), *record.declined.items()}
        return tuple((name, str(target)) for name, target in links.items() if (name, str(target)) not in known)

    def remove(self, workspace: Workspace) -> bool:
        """Removes the trust; whether the workspace was trusted."""
        return self.remove_path(trust_key(workspace))

    def remove_path(self, path: str) -> bool:
        """Like `remove`, by path, for a folder that may no longer exist."""
        with self._locked():
            records = self.records()
            remaining = tuple(record for record in records if record.path != path)
            if len(remaining) == len(records):
                return False
            self._write(remaining)
            return True

    def records(self) -> tuple[TrustRecord, ...]:
        """Every trusted workspace, by path. An unreadable store trusts nothing."""
        try:
            raw = read_bytes(self._path, owned=True)
        except OSError:
            return ()
        return _decoded(raw) or ()

    def _record(self, workspace: Workspace) -> TrustRecord | None:
        key = trust_key(workspace)
        return next((record for record in self.records() if record.path == key), None)

    def _change_known(self, workspace: Workspace, change: Callable[[TrustRecord], TrustRecord]) -> None:
        self._change(workspace, lambda record: change(record) if record is not None else None)

    def _change(self, workspace: Workspace, change: Callable[[TrustRecord | None], TrustRecord | None]) -> None:
        key = trust_key(workspace)
        with self._locked():
            records = {record.path: record for record in self.records()}
            before = records.get(key)
            after = change(before)
            if after is not None and after != before:
                records[key] = after
                self._write(tuple(records[path] for path in sorted(records)))

    def _write(self, records: tuple[TrustRecord, ...]) -> None:
        self._keep_damaged()
        write_atomically(self._path, msgspec.json.encode(_Store(records)))

    def _keep_damaged(self) -> None:
        """Backs up an unreadable store file before it is overwritten."""
        try:
            raw = read_bytes(self._path, owned=True)
        except OSError:
            return
        if _decoded(raw) is not None:
            return
        backup = self._path.with_name(f"{self._path.name}.damaged-{hashlib.sha256(raw).hexdigest()[:8]}")
        write_atomically(backup, raw)
        self.set_aside = f"{self._path} was damaged, so nothing is trusted; it was saved as {backup.name}."

    @contextmanager
    def _locked(self) -> Generator[None]:
        make_private_folder(self._path.parent)
        try:
            with FileLock(self._path.with_name("trusted.lock"), timeout=_LOCK_SECONDS):
                yield
        except LockTimeout as error:
            raise TemporaryFailure(
                "The trust store is busy",
                f"Another process has locked {self._path} for {_LOCK_SECONDS} s.",
                "Try again.",
            ) from error


def trust_store(environment: Mapping[str, str]) -> TrustStore:
    """The user's trust store: in `PALIMPSEST_CONFIG_DIR`, or the platform's own configuration folder."""
    return TrustStore(config_dir(environment))


def trust_key(workspace: Workspace) -> str:
    """The path under which a workspace is trusted, with no link in it."""
    return os.path.realpath(workspace.root)


def trust_command(workspace: Workspace, *options: str) -> str:
    """The command that trusts the workspace, from any folder; with options such as `--remove`, that with them."""
    return own_command("trust", *options, str(workspace.root))


def _identity(workspace: Workspace) -> tuple[int, int]:
    root_status = workspace.root.stat()
    return root_status.st_dev, root_status.st_ino


def _is_same(record: TrustRecord, workspace: Workspace, first_entry: str | None) -> bool:
    """Whether the folder is the trusted one. An unreadable or empty store is no contradiction."""
    if not record.inode:
        return True
    try:
        device, inode = _identity(workspace)
    except OSError:
        return False
    if inode != record.inode:
        return False
    if first_entry:  # a store that was empty when trusted has noted its first entry since, or is another one
        return first_entry in record.first_entries
    return device == record.device or not record.first_entries or first_entry is None


def _decoded(raw: bytes) -> tuple[TrustRecord, ...] | None:
    """The records, or the list of paths that versions before 0.3.1 kept; None where it is neither."""
    try:
        return decode_json(raw, _Store).workspaces
    except msgspec.DecodeError:
        pass
    try:
        paths = decode_json(raw, frozenset[str])
    except msgspec.DecodeError:
        return None
    return tuple(TrustRecord(path=path) for path in sorted(paths))
