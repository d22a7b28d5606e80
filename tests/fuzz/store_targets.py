"""Parsers of the files of a store: segments of the index, versions, backups, the journal of checkpoints."""

import atexit
import hashlib
import struct
import zlib
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import numpy as np

from agent.checkpoints.change import ChangedFile, CheckpointKind, CheckpointRecord
from agent.checkpoints.journal import Begun, Ended, Journal
from agent.checkpoints.journal import _encoded as _encoded_journal_line
from foundation.paths import Workspace
from memory.backup.place import LocalPlace
from memory.backup.snapshot import SUFFIX, SavedFile, Snapshot, digest_of, encode_snapshot, read_snapshot
from memory.errors import Damaged
from memory.memory import Memory
from memory.search.index import segment as postings
from memory.search.index.index import SearchIndex
from memory.search.segments import TRAILER
from memory.search.vectors import segment as vectors
from memory.versions import objects
from memory.versions.cause import Author
from memory.versions.manifest import Manifest, Version, _encoded, _Line
from memory.versions.objects import checked
from memory.zstd import packer
from tests.fakes import FakeClock
from tests.fuzz.target import FuzzTarget

_DIMENSIONS = 8


@cache
def _folder() -> Path:
    folder = TemporaryDirectory()
    atexit.register(folder.cleanup)
    return Path(folder.name)


def _at(name: str, data: bytes) -> Path:
    path = _folder() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)  # an old mapping keeps its own bytes
    path.write_bytes(data)
    return path


@cache
def _memory() -> Memory:
    from tests.memory.search.conversation import Talk
    from tests.memory.search.index.contents import scattered

    memory = Memory.open(Workspace(_folder()), FakeClock())
    atexit.register(memory.close)
    scattered(Talk(memory), 8)
    return memory


@cache
def _postings() -> bytes:
    memory = _memory()
    index = SearchIndex(memory.cold, memory.workspace.postings)
    index.update()
    (path,) = postings.segments_in(memory.workspace.postings)
    return path.read_bytes()


def _read_postings(data: bytes) -> None:
    """Opened, and searched where it was taken for sound."""
    path = _at("segments/postings-000000000000-000000000099.bin", data)
    found = postings.open_segment(path)
    if found is None:
        raise Damaged("Segment", "It is not used.")
    for values in found.rows.values():
        np.asarray(values).sum()


def _sealed_segment(data: bytes) -> bytes:
    """The CRC of the footer made right."""
    if len(data) < TRAILER.size:
        return data
    length, _, magic = TRAILER.unpack(data[-TRAILER.size :])
    end = len(data) - TRAILER.size
    body = data[max(0, end - length) : end]
    return data[:end] + TRAILER.pack(length, zlib.crc32(body), magic)


@cache
def _vectors() -> bytes:
    rows = vectors.VectorRows(
        entry=np.arange(1, 5, dtype=np.int64),
        check=np.arange(4, dtype=np.uint64),
        chunk=np.zeros(4, np.uint16),
        inverse=np.ones(4, np.float32),
        vectors=np.ones((4, _DIMENSIONS), np.int8),
    )
    path = _folder() / "vectors-0000000001-00000000.bin"
    vectors.write(path, [rows], _DIMENSIONS)
    return path.read_bytes()


def _read_vectors(data: bytes) -> None:
    found = vectors.load(_at("segments/vectors-0000000001-00000000.bin", data), _DIMENSIONS)
    if found is None:
        raise Damaged("Segment", "It is not used.")
    found.places(np.arange(3))
    np.asarray(found.rows.vectors).sum()


_BODY = b"- the ferry leaves at 07:40\n" * 20
_LATER = _BODY.replace(b"07:40", b"08:10")


def _versions() -> list[bytes]:
    """Contents, whole and as a delta."""
    store = objects.Objects(_folder() / "objects", "version")
    names = (store.put(_BODY), store.put(_LATER, objects.content_name(_BODY)))
    return [(_folder() / "objects" / name[:2] / name).read_bytes() for name in names]


def _read_version(data: bytes) -> None:
    """In the place of the whole content, and in that of the delta; the other one is sound."""
    refused = 0
    for body in (_BODY, _LATER):
        _versions()
        name = objects.content_name(body)
        _at(f"objects/{name[:2]}/{name}", data)
        try:
            assert objects.Objects(_folder() / "objects", "version").get(name) == body
        except Damaged:
            refused += 1
    if refused == 2:
        raise Damaged("Version", "It is in no place what was stored.")


def _sealed_version(data: bytes) -> bytes:
    return checked(data[:4], data[20:])


def _version_list() -> list[bytes]:
    first = Version(number=1, path="MEMORY.md", time_ms=1, author=Author.USER, reason="by hand", sha256="a" * 64)
    second = Version(number=2, path="MEMORY.md", time_ms=2, author=Author.PROGRAM)
    line = _encoded(_Line(version=first))
    return [line + _encoded(_Line(version=second, after=line[:64].decode()))]


def _read_version_list(data: bytes) -> None:
    Manifest(_at("versions/manifest", data)).content()


def _sealed_lines(data: bytes) -> bytes:
    """The hash at the head of each line made right."""
    lines = [line.partition(b" ")[2] for line in data.split(b"\n") if line]
    return b"".join(hashlib.sha256(line).hexdigest().encode() + b" " + line + b"\n" for line in lines)


def _snapshot() -> Snapshot:
    files = (
        SavedFile(path="memory/a.md", size=3, mode=0o600, mtime_ns=1, ctime_ns=1, sha256="a" * 64, pieces=("b" * 64,)),
    )
    return Snapshot(
        time_ms=1_773_480_413_000,
        device="desk",
        workspace="/w",
        program="0",
        files=files,
        pieces={"b" * 64: 30},
        digest=digest_of(files),
    )


def _read_snapshot(data: bytes) -> None:
    id_ = _snapshot().id
    _at(f"place/{id_}{SUFFIX}", data)
    read_snapshot(LocalPlace(_folder() / "place"), id_)


def _read_snapshot_facts(data: bytes) -> None:
    """JSON as a snapshot with its seal."""
    _read_snapshot(checked(b"PBS1", packer()(data)))


def _read_journal(data: bytes) -> None:
    Journal(_at("journal", data)).content()


def _journal() -> list[bytes]:
    """A change that began, and its end."""
    file = ChangedFile(folder="/w", path="a.py", before="a" * 64, after="b" * 64)
    record = CheckpointRecord(id="x", time=1, kind=CheckpointKind.TOOL, conversation="c", files=(file,))
    return [_encoded_journal_line(Begun(record)) + _encoded_journal_line(Ended(id="x", changed=(0,)))]


def _sealed_journal(data: bytes) -> bytes:
    """The CRC at the head of each line made right."""
    lines = [line.partition(b" ")[2] for line in data.split(b"\n") if line]
    return b"".join(b"%08x " % zlib.crc32(line) + line + b"\n" for line in lines)


TARGETS = (
    FuzzTarget(
        name="segment",
        seeds=lambda: [_postings()],
        parse=_read_postings,
        seal=_sealed_segment,
        words=(b'"offset":', b'"count":', b'"room":', b'"crc":', b"-1", struct.pack("<I", 0)),
    ),
    FuzzTarget(
        name="vectors",
        seeds=lambda: [_vectors()],
        parse=_read_vectors,
        seal=_sealed_segment,
        words=(b'"rows":', b'"dimensions":', b'"offset":', b'"count":', b"-1"),
    ),
    FuzzTarget(name="version", seeds=_versions, parse=_read_version, seal=_sealed_version),
    FuzzTarget(name="version-list", seeds=_version_list, parse=_read_version_list, seal=_sealed_lines),
    FuzzTarget(
        name="snapshot", seeds=lambda: [encode_snapshot(_snapshot())], parse=_read_snapshot, seal=_sealed_version
    ),
    FuzzTarget(
        name="snapshot-facts",
        seeds=lambda: [msgspec.json.encode(_snapshot())],
        parse=_read_snapshot_facts,
        words=(b'"path":"../x"', b'"time_ms":', b"-62135596800001", b"1e30", b'"pieces":'),
    ),
    FuzzTarget(name="journal", seeds=_journal, parse=_read_journal, seal=_sealed_journal),
)
