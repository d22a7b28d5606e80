"""Base of remote storage: one connection, opened on first use, and readable errors."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, TypeVar

from foundation.install_hints import install_extra
from foundation.names import ARCHIVE_FILE, Grammar
from foundation.program import PROGRAM
from memory.errors import Damaged, StorageUnreachable
from memory.names import vetted
from models.errors import MissingLibrary

T = TypeVar("T")

LONGEST_FILE = 2**27  # bytes: what is read whole where nothing says how long it should be


def need(library: str, what: str, extra: str) -> None:
    """Raises MissingLibrary, with the command that installs the library."""
    if find_spec(library) is None:
        raise MissingLibrary(f"{library} is not installed", f"{what} need the library {library}.", install_extra(extra))


def too_long(where: str, size: int, most: int) -> Damaged:
    """The error for a file that is longer than any the program writes."""
    return Damaged(
        "A file of the archive is too long",
        f"{where} has {size:,} bytes, more than the possible {most:,}. It was not read.",
        f"It was changed: `{PROGRAM} check --repair` repairs what can be repaired.",
    )


class RemoteStorage(ABC):
    """A folder behind fsspec. `place` is its address. Files whose names do not fit `grammar` are not ours."""

    trouble: tuple[type[BaseException], ...] = (OSError,)
    """What its library raises where the place does not answer, or does not let us in."""

    def __init__(self, address: str, folder: str, grammar: Grammar = ARCHIVE_FILE) -> None:
        self._address = address
        self._grammar = grammar
        self._folder = folder
        self._connection: Any = None  # an fsspec file system, whose types are not declared
        self._lock = threading.RLock()

    @property
    def place(self) -> str:
        return self._address

    def names(self) -> list[str]:
        """Names of all files of ours, sorted; none where nothing was written yet."""
        return sorted(self.sizes())

    def sizes(self) -> dict[str, int]:
        """Size in bytes of each file of ours, by name."""

        def listed(fs: Any) -> dict[str, int]:
            try:
                items = fs.ls(self._folder, detail=True, refresh=True)
            except FileNotFoundError:
                return {}
            return {item["name"].rpartition("/")[2]: item["size"] for item in items if item["type"] == "file"}

        return {name: size for name, size in self._do(listed).items() if self._grammar.fits(name)}

    def size(self, name: str) -> int:
        return int(self._do(lambda fs: fs.info(self._path(name), refresh=True)["size"], name))

    def read(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        """Fetches only that part, and whole files of at most LONGEST_FILE bytes. Raises Damaged for a longer one."""
        if (end := self._end_of(name) if length is None else offset + length) <= offset:
            return b""
        found: bytes = self._do(lambda fs: self._get(fs, self._path(name), offset, end), name)
        if length is not None and len(found) != length:
            raise Damaged("Cut off", f"{self.place}/{name} ends before it should.", "Restore it from a backup.")
        return found

    def _end_of(self, name: str) -> int:
        if (size := self.size(name)) > LONGEST_FILE:
            raise too_long(f"{self.place}/{name}", size, LONGEST_FILE)
        return size

    def write(self, name: str, data: bytes) -> None:
        self._do(lambda fs: self.upload(fs, self._path(name), data))

    def delete(self, name: str) -> None:
        """Quiet where there is none."""

        def gone(fs: Any) -> None:
            try:
                fs.rm_file(self._path(name))
            except FileNotFoundError:
                return

        self._do(gone)

    def close(self) -> None:
        """Closes the connection. The next call opens another."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                self._end(connection)

    @abstractmethod
    def _connect(self) -> Any: ...

    @abstractmethod
    def _end(self, connection: Any) -> None: ...

    @abstractmethod
    def _get(self, fs: Any, path: str, start: int, end: int) -> bytes:
        """The file's bytes from `start` to `end`, or to its own end; fetches nothing after them."""

    @abstractmethod
    def upload(self, fs: Any, path: str, data: bytes) -> None:
        """Writes the file completely, or not at all."""

    def _path(self, name: str) -> str:
        return f"{self._folder}/{vetted(self._grammar, name, 'The index')}"

    def _do(self, work: Callable[[Any], T], name: str = "") -> T:
        """Runs the work on the connection; a second time on a new one where the old one was broken."""
        with self._lock:
            old = self._connection is not None
            try:
                return self._once(work)
            except FileNotFoundError as error:
                if not name:
                    raise self._unreachable(error) from error
                raise Damaged(
                    "A file of the archive is missing",
                    f"{self.place}/{name} does not exist.",
                    f"`{PROGRAM} check --repair` repairs what can be repaired.",
                ) from error
            except self.trouble as error:
                self.close()
                if not old:
                    raise self._unreachable(error) from error
        return self._do(work, name)

    def _once(self, work: Callable[[Any], T]) -> T:
        if self._connection is None:
            self._connection = self._connect()
        return work(self._connection)

    def _unreachable(self, error: BaseException) -> StorageUnreachable:
        why = " ".join(str(error).split()) or type(error).__name__
        return StorageUnreachable(
            "The archive cannot be reached",
            f"{self.place}: {why}. Nothing was deleted.",
            "Check the address (archive.storage), your network and your keys, then try again.",
        )
