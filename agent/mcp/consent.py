"""Consent to what a project brings: a store in the user's own configuration folder, never in a project.

Consent is to one definition of one MCP server, or one content of an instruction file, in one folder. The user is asked
again about what changed since.
"""

import os
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec import Struct

from foundation.errors import TemporaryFailure
from foundation.files import FileLock, LockTimeout, make_private_folder, read_bytes, resolve_path, write_atomically
from foundation.typed_json import decode_json

_LOCK_SECONDS = 10


class ProjectItem(Protocol):
    """What the user consents to: `digest` is that of its definition or content."""

    @property
    def folder(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def digest(self) -> str: ...


class ServerConsent(Struct, frozen=True, kw_only=True):
    """The owner's answer for one definition. `allowed` is false where it was declined for good."""

    folder: str
    inode: int
    name: str
    digest: str
    allowed: bool = True


class _ConsentFile(Struct, frozen=True):
    servers: tuple[ServerConsent, ...]
    schema: int = 1


class ConsentStore:
    """The answers so far. Safe for concurrent processes. An unreadable store allows nothing."""

    def __init__(self, folder: Path) -> None:
        self._path = resolve_path(folder / "mcp-consents.json")

    def answer(self, item: ProjectItem) -> bool | None:
        """Whether this very definition is allowed in its folder; None where its owner was not asked."""
        return next(
            (
                consent.allowed
                for consent in self._records()
                if (consent.folder, consent.inode, consent.name, consent.digest) == _key(item)
            ),
            None,
        )

    def is_changed(self, item: ProjectItem) -> bool:
        """Whether another definition of that name was allowed in its folder."""
        folder, inode, name, digest = _key(item)
        return any(
            consent.allowed and consent.digest != digest
            for consent in self._records()
            if (consent.folder, consent.inode, consent.name) == (folder, inode, name)
        )

    def record(self, item: ProjectItem, *, allowed: bool) -> None:
        """Stores the answer in place of an earlier one for that name. Raises TemporaryFailure."""
        folder, inode, name, digest = _key(item)
        make_private_folder(self._path.parent)
        try:
            with FileLock(self._path.with_name("mcp-consents.lock"), timeout=_LOCK_SECONDS):
                others = [record for record in self._records() if (record.folder, record.name) != (folder, name)]
                others.append(ServerConsent(folder=folder, inode=inode, name=name, digest=digest, allowed=allowed))
                others.sort(key=lambda record: (record.folder, record.name))
                write_atomically(self._path, msgspec.json.encode(_ConsentFile(tuple(others))))
        except LockTimeout as error:
            raise TemporaryFailure(
                "The answer could not be kept", f"Another process has held {self._path} for {_LOCK_SECONDS} s."
            ) from error

    def _records(self) -> tuple[ServerConsent, ...]:
        try:
            return decode_json(read_bytes(self._path, owned=True), _ConsentFile).servers
        except (OSError, msgspec.DecodeError):
            return ()


def _key(item: ProjectItem) -> tuple[str, int, str, str]:
    folder = os.path.realpath(item.folder)
    try:
        inode = Path(folder).stat().st_ino
    except OSError:
        inode = 0
    return folder, inode, item.name, item.digest
