"""Files as a person would want them written: whole or not at all, and never over what somebody else just wrote."""

import errno
import os
import secrets
import stat
import time
from contextlib import suppress
from pathlib import Path

from foundation.errors import PalimpsestError
from foundation.privacy import Cleared

_REPLACE_ATTEMPTS = 20  # Windows: a scanner or an indexer may hold a file open for some milliseconds


class NotUtf8(PalimpsestError):
    """A file that should be text is not UTF-8. Nothing was changed."""

    code = "not_utf8"


def write_atomically(path: Path, text: Cleared | bytes, *, sync: bool = True) -> None:
    """Puts `text` at `path`: a reader sees the old file or the new one, whole, even after a power cut.

    A temporary file in the same folder, fsync, rename, fsync of the folder. A file that exists keeps its mode, and
    a link is followed; a new file is 0600 in a folder that is closed to others, and as the umask says elsewhere.
    A lone surrogate, which UTF-8 cannot carry, is written as its escape (`\\udc80`). Without `sync` a power cut may
    leave a file that is cut off: for what can be made again, and is looked at before it is believed.
    """
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    beside = write_beside(target, text, sync=sync)
    try:
        _replace(beside, target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    if sync:
        sync_folder(target.parent)


def write_beside(path: Path, text: Cleared | bytes, *, suffix: str = ".tmp", sync: bool = True) -> Path:
    """A file beside `path` that holds `text`, synced, with the mode that `path` has or would get; its address."""
    body = text if isinstance(text, bytes) else encode(text)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(6)}{suffix}")
    handle = os.open(
        beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), _mode_of_new(path.parent)
    )
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(body)
            _keep_mode(path, beside)
            file.flush()
            if sync:
                _sync(file.fileno())
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    return beside


def encode(text: str) -> bytes:
    """UTF-8; a lone surrogate becomes its escape."""
    return text.encode("utf-8", "backslashreplace")


def sync_file(path: Path) -> None:
    """Brings a file's bytes to the platter; one that has gone meanwhile needs it no more."""
    try:
        handle = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        return
    try:
        _sync(handle)
    finally:
        os.close(handle)


def sync_folder(path: Path) -> None:
    """Brings the folder's names to the platter. Windows has no such call and needs none."""
    if os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        _sync(handle)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC_FOLDERS:
            raise
    finally:
        os.close(handle)


def make_private_folder(path: Path) -> None:
    """The folder, with those above it, open to its owner alone (0700). One that exists is closed to others."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        path.mkdir(mode=0o700)
    if os.name != "nt" and stat.S_IMODE(path.stat().st_mode) & 0o077:
        path.chmod(0o700)


def read_text(path: Path) -> str:
    """The file's text, to the byte: line ends as they are, a byte order mark kept as U+FEFF.

    Raises NotUtf8, which names the line, where the file is not UTF-8; OSError as open does.
    """
    body = path.read_bytes()
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        raise NotUtf8(
            "A file is not UTF-8",
            f"{path}: line {line} holds bytes that are not UTF-8 text.",
            "Save it as UTF-8 in your editor. The file was left as it is.",
        ) from error


def _sync(handle: int) -> None:
    """fsync; on macOS F_FULLFSYNC, because there a plain fsync does not reach the platter."""
    if _FULL_SYNC is None:
        os.fsync(handle)
        return
    import fcntl

    try:
        fcntl.fcntl(handle, _FULL_SYNC)
    except OSError:  # a network or FUSE volume without it
        os.fsync(handle)


def _full_sync_command() -> int | None:
    try:
        import fcntl
    except ImportError:
        return None
    return getattr(fcntl, "F_FULLFSYNC", None)


_FULL_SYNC = _full_sync_command()
_CANNOT_SYNC_FOLDERS = {errno.EINVAL, errno.EOPNOTSUPP}  # some network and FUSE filesystems


def _mode_of_new(folder: Path) -> int:
    closed = os.name != "nt" and not stat.S_IMODE(folder.stat().st_mode) & 0o077
    return 0o600 if closed else 0o666


def _keep_mode(path: Path, beside: Path) -> None:
    if os.name == "nt":
        return
    with suppress(FileNotFoundError):
        beside.chmod(stat.S_IMODE(path.stat().st_mode))


def _replace(source: Path, target: Path) -> None:
    for attempt in range(_REPLACE_ATTEMPTS):
        try:
            source.replace(target)
        except PermissionError:
            if os.name != "nt" or attempt == _REPLACE_ATTEMPTS - 1:
                raise
            time.sleep(0.01 * (attempt + 1))
        else:
            return
