"""The workspace's secret: random bytes beside the store, the key of every hash of possibly private text.

Without it, anyone with an export or a copy of the store could guess texts by their hashes. It is never exported.
"""

import hashlib
import hmac
import secrets
from contextlib import suppress
from pathlib import Path

from foundation.files import FileLock, FileTooLarge, LockTimeout, make_private_folder, read_bytes, write_atomically

LENGTH = 32
_PATIENCE = 10  # seconds to wait for another process that is writing it


def secret_at(path: Path, *, make: bool) -> bytes:
    """The secret in that file, created where `make`; b"" where there is none."""
    if (found := _read(path)) or not make:
        return found
    make_private_folder(path.parent)
    with suppress(LockTimeout), FileLock(path.with_suffix(".lock"), timeout=_PATIENCE):
        if not (found := _read(path)):
            write_atomically(path, secrets.token_bytes(LENGTH))
    return _read(path)


def keyed(secret: bytes, text: str) -> str:
    """A hash of the text that cannot be guessed without the secret: 64 hexadecimal digits (HMAC-SHA256)."""
    return hmac.new(secret, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


def _read(path: Path) -> bytes:
    with suppress(FileNotFoundError, FileTooLarge):
        found = read_bytes(path, most=LENGTH, owned=True)
        return found if len(found) == LENGTH else b""
    return b""
