"""The workspace's secret: random bytes beside the store, the key of every hash of possibly private text.

Without it, anyone with an export or a copy of the store could guess texts by their hashes. It is never exported. A
second file has it again, with a hash: another key would know nothing of what was forgotten, and say so to nobody.
"""

import hashlib
import hmac
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from foundation.files import (
    FileLock,
    FileTooLarge,
    LockTimeout,
    exists,
    list_names,
    make_private_folder,
    read_bytes,
    write_atomically,
)
from foundation.program import PROGRAM
from memory.errors import Damaged

LENGTH = 32
SECRET: Final = "secret.key"
"""The file beside the store."""
_FORGOTTEN: Final = ("forgotten.jsonl", "forgotten")
"""Beside the secret: what was forgotten, by hashes under it, and the folder of its copy and the jobs."""
_COPY: Final = "secret.copy"
_PATIENCE = 10  # seconds to wait for another process that is writing it
_MEANS: Final = (
    "forgotten text is then only recognised by its id, and an import may restore it: forget it again in that case"
)


def secret_at(path: Path, *, make: bool) -> bytes:
    """The secret in that file or its copy, created where `make`, as is the copy; b"" where there is none.

    Raises Damaged where it is in neither and something was forgotten: another one would bring that back silently.
    """
    if not make or (_whole(path) and _copied(path)):
        return _known(path)
    make_private_folder(path.parent)
    with suppress(LockTimeout), FileLock(path.with_suffix(".lock"), timeout=_PATIENCE):
        if not (found := _known(path)):
            if _is_needed(path):
                raise Damaged(
                    "The key for forgotten text is lost",
                    f"{path.name} is missing or damaged, and there is no copy.",
                    f"`{PROGRAM} check --repair` creates a new one. After that, {_MEANS}.",
                )
            _write(path, secrets.token_bytes(LENGTH))
        elif not exists(path.with_name(_COPY)):  # of an earlier release
            with suppress(OSError):
                _write_copy(path, found)
    return _known(path)


def keyed(secret: bytes, text: str) -> str:
    """A hash of the text that cannot be guessed without the secret: 64 hexadecimal digits (HMAC-SHA256)."""
    return hmac.new(secret, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


class SecretDamage(Struct, frozen=True):
    """What is wrong with one of the two files: its name, and a sentence."""

    file: str
    message: str


def secret_damages(path: Path) -> list[SecretDamage]:
    """What is wrong with the secret and its copy; a workspace of an earlier release has no copy. Changes nothing."""
    key, copy = _whole(path), _copied(path)
    has_copy = exists(path.with_name(_COPY))
    repairs = f"`{PROGRAM} check --repair` rewrites it from {{}}."
    if not key and not copy:
        if not (has_copy or exists(path) or _is_needed(path)):
            return []
        return [
            SecretDamage(
                path.name,
                f"The hash key is missing or damaged, and there is no copy: {_MEANS}. `{PROGRAM} check "
                "--repair` creates a new one.",
            )
        ]
    if copy and key != copy:
        what = "is not the one created here" if key else "is missing or damaged"
        return [SecretDamage(path.name, f"The hash key {what}. {repairs.format(_COPY)}")]
    if has_copy and not copy:
        return [SecretDamage(_COPY, f"The copy of the hash key is damaged. {repairs.format(path.name)}")]
    return []


def repair_secret(path: Path, keep: Callable[[Path], object]) -> tuple[list[str], list[str]]:
    """Writes what is damaged anew; gives sentences about what was mended and what is lost.

    `keep` stores a copy of a damaged file first. Raises OSError, LockTimeout.
    """
    damages = secret_damages(path)
    if not damages:
        return [], []
    with FileLock(path.with_suffix(".lock"), timeout=_PATIENCE):
        for file in (path, path.with_name(_COPY)):
            if exists(file):
                keep(file)
        found = _known(path)
        _write(path, found or secrets.token_bytes(LENGTH))
    if found:
        return [f"{damage.file}: the hash key was rewritten." for damage in damages], []
    return [], [f"{path.name}: the hash key was missing; a new one was created: {_MEANS}."]


def _known(path: Path) -> bytes:
    """The copy has a hash: where the two differ, it is the one that was made."""
    return _copied(path) or _whole(path)


def _whole(path: Path) -> bytes:
    found = _read(path, LENGTH)
    return found if found.strip(b"\0") else b""


def _copied(path: Path) -> bytes:
    found = _read(path.with_name(_COPY), LENGTH + hashlib.sha256().digest_size)
    return found[:LENGTH] if found == _with_hash(found[:LENGTH]) else b""


def _read(path: Path, length: int) -> bytes:
    with suppress(FileNotFoundError, FileTooLarge):
        found = read_bytes(path, most=length, owned=True)
        return found if len(found) == length else b""
    return b""


def _write(path: Path, secret: bytes) -> None:
    write_atomically(path, secret)
    _write_copy(path, secret)


def _write_copy(path: Path, secret: bytes) -> None:
    write_atomically(path.with_name(_COPY), _with_hash(secret))


def _with_hash(secret: bytes) -> bytes:
    return secret + hashlib.sha256(secret).digest()


def _is_needed(path: Path) -> bool:
    """Whether something was forgotten under the secret."""
    file, folder = (path.with_name(name) for name in _FORGOTTEN)
    return exists(file) or any(not name.endswith(".lock") for name in list_names(folder))
