"""Files of KV caches, one a conversation and model. Imports no mlx.

    <SHA-256 of the conversation's id>-<of the model>-<CRC-32 of the file>.safetensors, mode 0600, in a folder of 0700

A file `generation` stands beside them. What is deleted anywhere in the workspace may be in any of them, so `purge`
deletes all, and with that file goes the right of any process to save what it computed before.
"""

import hashlib
import secrets
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

from foundation.files import (
    UnsafePath,
    atomic_writer,
    list_files,
    make_private_folder,
    open_for_reading,
    open_new,
    read_bytes,
    remove,
    replace,
    status,
)

FOLDER: Final = "prompt-caches"  # in a workspace's state
GENERATION: Final = "generation"
_SUFFIX: Final = ".safetensors"
_CHUNK: Final = 1 << 20


def generation(folder: Path) -> str:
    """The current generation, which the first caller begins. Raises OSError."""
    path = folder / GENERATION
    with suppress(FileNotFoundError):
        return read_bytes(path).decode("ascii", "replace")
    make_private_folder(folder)
    with suppress(FileExistsError), open_new(path) as file:
        file.write(secrets.token_hex(16).encode())
    return read_bytes(path).decode("ascii", "replace")


def is_current(folder: Path, known: str) -> bool:
    """Whether nothing was purged since that generation was read."""
    with suppress(OSError, UnsafePath):
        return bool(known) and read_bytes(folder / GENERATION).decode("ascii", "replace") == known
    return False


def purge(folder: Path) -> None:
    """Deletes every file of the folder, where there is one. Raises OSError."""
    remove(folder / GENERATION, missing_ok=True)  # first: what another process saves meanwhile is of no use to any
    for path in list_files(folder):
        remove(path, missing_ok=True)


def fingerprint(model: Path) -> str:
    """Identity of a checkpoint: its folder, its small files, and the names, sizes and times of its weights."""
    digest = hashlib.sha256(str(model).encode("utf-8", "surrogateescape"))
    for path in list_files(model):
        if found := status(path):
            digest.update(f"\0{path.name}\0{found.st_size}\0{found.st_mtime_ns}".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def save(folder: Path, conversation: str, model: str, write: Callable[[BinaryIO], None], most: int) -> Path:
    """The file that `write` makes, in the place of an earlier one; then the oldest leave, so that all take at most
    `most` bytes. Raises OSError, and what `write` raises."""
    make_private_folder(folder)
    prefix = _prefix(conversation, model)
    whole = folder / f"{prefix}new{_SUFFIX}"
    with atomic_writer(whole) as file:
        write(file)
    named = folder / f"{prefix}{crc_of(whole):08x}{_SUFFIX}"
    replace(whole, named)
    for path in list_files(folder, f"{prefix}*{_SUFFIX}"):
        if path != named:
            remove(path, missing_ok=True)
    _prune(folder, most)
    return named


def find(folder: Path, conversation: str, model: str) -> Path | None:
    """The saved file; None where there is none. Raises ValueError, with the path, for one that is damaged."""
    for path in list_files(folder, f"{_prefix(conversation, model)}*{_SUFFIX}"):
        if path.name.removesuffix(_SUFFIX).rpartition("-")[2] != f"{crc_of(path):08x}":
            raise ValueError(path)
        return path
    return None


def _prefix(conversation: str, model: str) -> str:
    return f"{hashlib.sha256(conversation.encode()).hexdigest()[:32]}-{model[:16]}-"


def crc_of(path: Path) -> int:
    crc = 0
    with open_for_reading(path) as file:
        while chunk := file.read(_CHUNK):
            crc = zlib.crc32(chunk, crc)
    return crc


def _prune(folder: Path, most: int) -> None:
    found = [(seen.st_mtime_ns, seen.st_size, path) for path in list_files(folder) if (seen := status(path))]
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if total <= most:
            return
        if path.name != GENERATION:
            remove(path, missing_ok=True)
            total -= size
