"""Power cuts in every kind of write: `python -m tests.trust.power_cuts FOLDER CUTS SEED [unsynced] [KIND …]`.

A fork of this process writes, and each call that changes the file system is recorded: below SQLite by a VFS, elsewhere
where Python calls the system. For each cut, what may be found afterwards is laid out in the same folder, and another
fork opens it and compares. With `unsynced` no sync counts: the fault that the comparison must see.

The law: a file's bytes are sure once it was synced; of later writes each is there or not, and the last may be torn. A
name (made, renamed, removed) is sure once its folder was synced; later changes of a folder's names are there up to some
point, in their order. Folders last, and so do the names of SQLite's files.
"""

import json
import os
import random
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from copy import deepcopy
from pathlib import Path
from typing import Any

import apsw
import msgspec
from msgspec import Struct, field

from foundation.files import atomic_exchange
from memory.pages.font.glyphs import load_glyphs
from tests.faults import SYSTEM
from tests.trust.kill_writes import forked, look, told
from tests.trust.writes import KINDS

WRITES = 6
WITHOUT = frozenset({"prompt history", "index", "mirrors"})
"""What is not synced when it is acknowledged: a convenience, and what is made again from the database."""


class Inode(Struct):
    """A file: its bytes for sure, and the writes since its last sync (offset, bytes), a cut as (size, None)."""

    sure: bytearray = field(default_factory=bytearray)
    waiting: list[tuple[int, bytes | None]] = field(default_factory=list[tuple[int, "bytes | None"]])

    def sync(self) -> None:
        self.sure = self.after(self.waiting)
        self.waiting = []

    def after(self, changes: list[tuple[int, bytes | None]]) -> bytearray:
        content = bytearray(self.sure)
        for offset, data in changes:
            if data is None:
                del content[offset:]
                continue
            content.extend(bytes(max(0, offset + len(data) - len(content))))
            content[offset : offset + len(data)] = data
        return content


class Disk(Struct):
    """Names for sure and as they are now, by path; and the changes of names since their folder's last sync."""

    sure: dict[str, Inode] = field(default_factory=dict[str, Inode])
    now: dict[str, Inode] = field(default_factory=dict[str, Inode])
    waiting: dict[str, list[tuple[str, Inode | None]]] = field(default_factory=dict[str, Any])

    def name(self, path: str, inode: Inode | None) -> None:
        """The path is that file from now on, or none."""
        self.waiting.setdefault(os.path.dirname(path), []).append((path, inode))  # noqa: PTH120
        _put(self.now, path, inode)

    def sync_folder(self, folder: str) -> None:
        for path, inode in self.waiting.pop(folder, []):
            _put(self.sure, path, inode)

    def cut(self, chance: random.Random) -> dict[str, bytes]:
        """The files as they might be found."""
        names = dict(self.sure)
        for changes in self.waiting.values():
            for path, inode in changes[: chance.randrange(len(changes) + 1)]:
                _put(names, path, inode)
        return {path: bytes(inode.after(_some(inode.waiting, chance))) for path, inode in names.items()}


def _put(names: dict[str, Inode], path: str, inode: Inode | None) -> None:
    if inode is None:
        names.pop(path, None)
    else:
        names[path] = inode


def _some(changes: list[tuple[int, bytes | None]], chance: random.Random) -> list[tuple[int, bytes | None]]:
    kept = [change for change in changes if chance.random() < 0.6]
    if kept and chance.random() < 0.3:
        offset, data = kept[-1]
        kept[-1] = (offset, data and data[: chance.randrange(len(data) + 1)])
    return kept


class Recorder:
    """Records into `disk`, and calls `moment` after each change."""

    def __init__(self, moment: Callable[[], None], *, unsynced: bool) -> None:
        self.disk = Disk()
        self.moment = moment
        self.unsynced = unsynced
        self.real = {name: getattr(os, name) for name in ("open", "write", "fsync", "unlink", "link", "fdopen")}
        self.real |= {name: getattr(os, name) for name in ("rename", "replace", "ftruncate")}

    def lay(self) -> None:
        os.open, os.write, os.fsync, os.fdopen = self.open, self.write, self.fsync, self.fdopen
        os.unlink, os.link, os.ftruncate = self.unlink, self.link, self.ftruncate  # type: ignore[assignment]  # with the arguments that are used
        os.rename = os.replace = self.rename  # type: ignore[assignment]  # the same
        atomic_exchange.system_swap = lambda: None  # then the renames do it
        self.vfs = RecordingVFS(self)

    def open(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        whole = _whole(path, dir_fd)
        is_new = bool(flags & os.O_CREAT) and not os.path.lexists(whole)
        handle = self.real["open"](path, flags, mode, dir_fd=dir_fd)
        if is_new:
            self.disk.name(whole, Inode())
            self.moment()
        elif flags & os.O_TRUNC and whole in self.disk.now:
            self.disk.now[whole].waiting.append((0, None))
        return handle

    def write(self, handle: int, data: Any) -> int:
        taken = self.real["write"](handle, data)
        self.took(handle, bytes(data)[:taken])
        return taken

    def took(self, handle: int, data: bytes) -> None:
        if (inode := self.disk.now.get(_path_of(handle))) is not None:
            inode.waiting.append((os.lseek(handle, 0, os.SEEK_CUR) - len(data), data))
            self.moment()

    def ftruncate(self, handle: int, length: int) -> None:
        self.real["ftruncate"](handle, length)
        if (inode := self.disk.now.get(_path_of(handle))) is not None:
            inode.waiting.append((length, None))

    def fsync(self, handle: int) -> None:
        self.real["fsync"](handle)
        path = _path_of(handle)
        if self.unsynced:
            return
        if (inode := self.disk.now.get(path)) is not None:
            inode.sync()
        else:
            self.disk.sync_folder(path)
        self.moment()

    def unlink(self, path: Any, *, dir_fd: int | None = None) -> None:
        whole = _whole(path, dir_fd)
        self.real["unlink"](path, dir_fd=dir_fd)
        self.disk.name(whole, None)
        self.moment()

    def rename(self, source: Any, target: Any, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None) -> None:
        before, after = _whole(source, src_dir_fd), _whole(target, dst_dir_fd)
        self.real["replace"](source, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
        if (inode := self.disk.now.get(before)) is not None:
            self.disk.name(after, inode)
            self.disk.name(before, None)
            self.moment()

    def link(
        self, source: Any, target: Any, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None, **named: Any
    ) -> None:
        before, after = _whole(source, src_dir_fd), _whole(target, dst_dir_fd)
        self.real["link"](source, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd, **named)
        if (inode := self.disk.now.get(before)) is not None:
            self.disk.name(after, inode)
            self.moment()

    def fdopen(self, handle: int, mode: str = "r", *rest: Any, **named: Any) -> Any:
        if mode not in {"wb", "ab"}:
            return self.real["fdopen"](handle, mode, *rest, **named)
        import io

        recorder = self

        class Raw(io.FileIO):
            def write(self, data: Any) -> int:
                whole = bytes(data)
                taken = super().write(whole) or 0
                recorder.took(self.fileno(), whole[:taken])
                return taken

        return io.BufferedWriter(Raw(handle, mode))


class RecordingVFS(apsw.VFS):
    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        super().__init__("power", SYSTEM, makedefault=True)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        return RecordingFile(self._recorder, name, flags)

    def xDelete(self, name: str, syncdir: bool) -> None:
        super().xDelete(name, syncdir)
        for names in (self._recorder.disk.sure, self._recorder.disk.now):
            names.pop(os.path.realpath(name), None)


class RecordingFile(apsw.VFSFile):
    def __init__(self, recorder: Recorder, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        whole = name.filename() if isinstance(name, apsw.URIFilename) else name or ""
        super().__init__(SYSTEM, name, flags)
        self._recorder, disk = recorder, recorder.disk
        path = os.path.realpath(whole)
        self._inode = disk.now.get(path) or Inode()
        if whole:
            disk.sure[path] = disk.now[path] = self._inode

    def xWrite(self, data: bytes, offset: int) -> None:
        super().xWrite(data, offset)
        self._inode.waiting.append((offset, bytes(data)))
        self._recorder.moment()

    def xTruncate(self, size: int) -> None:
        super().xTruncate(size)
        self._inode.waiting.append((size, None))

    def xSync(self, flags: int) -> None:
        super().xSync(flags)
        if not self._recorder.unsynced:
            self._inode.sync()
        self._recorder.moment()


def _path_of(handle: int) -> str:
    return str(Path(f"/proc/self/fd/{handle}").readlink())


def _whole(path: Any, folder: int | None) -> str:
    name = os.fsdecode(path)
    return os.path.join(_path_of(folder), name) if folder is not None else os.path.abspath(name)  # noqa: PTH100, PTH118


class State(Struct):
    """What may be found after a cut, and what was acknowledged before it."""

    acknowledged: list[int]
    files: dict[str, bytes]


def states(kind: str, folder: Path, cuts: int, seed: str, *, unsynced: bool) -> Iterator[State]:
    """The states that so many cuts may leave, from a recording in a fork; each is made while the writer runs."""

    def work(pipe: int) -> None:
        chance, acknowledged, found = random.Random(seed), list[int](), list[State]()
        count, chosen = 0, set[int]()

        def moment() -> None:
            nonlocal count
            count += 1
            while count in chosen:
                chosen.discard(count)
                found.append(State(list(acknowledged), deepcopy(recorder.disk).cut(chance)))

        recorder = Recorder(moment, unsynced=unsynced)
        recorder.lay()
        # A first part tells how many moments there are; the cuts are spread over the rest.
        with closing(KINDS[kind](folder)) as writes:
            writes.write(0)
            acknowledged.append(0)
            begun = count
            writes.write(1)
            acknowledged.append(1)
            each = max(1, count - begun)
            chosen.update(count + 1 + chance.randrange(each * WRITES) for _ in range(cuts))
            for number in range(2, WRITES + 2):
                writes.write(number)
                acknowledged.append(number)
        while len(found) < cuts:  # at the end, once nothing more is written
            found.append(State(list(acknowledged), deepcopy(recorder.disk).cut(chance)))
        (folder.parent / "states").write_bytes(msgspec.msgpack.encode(found))

    child, reading = forked(work)
    pending, lines = bytearray(), list[str]()
    while (new := told(reading, pending)) or pending:
        lines += new
    os.close(reading)
    os.waitpid(child, 0)
    assert not lines, lines
    yield from msgspec.msgpack.decode((folder.parent / "states").read_bytes(), type=list[State])


def cut_all(kind: str, folder: Path, cuts: int, seed: str, *, unsynced: bool) -> dict[str, Any]:
    lost, acknowledged = list[str](), 0
    folder.mkdir(parents=True)
    for state in states(kind, folder, cuts, seed, unsynced=unsynced):
        folders = [path for path in folder.rglob("*") if path.is_dir()] if folder.exists() else []
        names = [path.relative_to(folder) for path in folders]
        shutil.rmtree(folder)
        for name in (Path(), *names):
            (folder / name).mkdir(parents=True, exist_ok=True)
        for name, body in state.files.items():
            if not name.endswith("-shm") and Path(name).is_relative_to(folder):
                Path(name).parent.mkdir(parents=True, exist_ok=True)
                Path(name).write_bytes(body)
        lost += look(kind, folder, state.acknowledged)
        acknowledged += len(state.acknowledged)
    return {"states": cuts, "acknowledged": acknowledged, "lost": lost}


def main() -> None:
    folder, cuts, seed = Path(sys.argv[1]).resolve(), int(sys.argv[2]), sys.argv[3]
    kinds = [word for word in sys.argv[4:] if word != "unsynced"] or [kind for kind in KINDS if kind not in WITHOUT]
    os.environ["PALIMPSEST_CONFIG_DIR"] = str(folder / "user-config")
    load_glyphs()
    outcomes = {
        kind: cut_all(
            kind, folder / kind.replace(" ", "-") / "at", cuts // len(kinds), seed, unsynced="unsynced" in sys.argv
        )
        for kind in kinds
    }
    print(json.dumps(outcomes))


if __name__ == "__main__":
    main()
