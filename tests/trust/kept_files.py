"""A workspace with every kind of file that the program keeps, for the tests that damage them."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

import numpy as np
from msgspec import Struct

from agent.checkpoints.change import FileChange
from agent.checkpoints.check import check_checkpoints
from agent.checkpoints.checkpoints import Checkpoints
from agent.checkpoints.journal import Begun
from foundation.errors import PalimpsestError
from foundation.paths import Workspace
from foundation.privacy import as_given
from foundation.trust import Trust
from memory.backup.backup import back_up
from memory.backup.place import LocalPlace
from memory.backup.verify import check_backup
from memory.check import check
from memory.forgotten.tombstones import EntryTombstone
from memory.memory import Memory
from memory.pages.read.reader import read_picture
from memory.search.vectors.segment import VectorRows
from memory.search.vectors.store import VectorStore
from memory.settings import ArchiveSettings
from memory.versions.cause import BY_HAND
from memory.versions.store import VersionStore
from tests.fakes import FakeClock
from tests.hostile.exact_texts import Given, exact, fill
from tests.trust.writes import text_of

SETTINGS: Final = ArchiveSettings(parity=12)
STATE: Final = "workspace/.palimpsest"
GLOBS: Final[Mapping[str, str]] = {
    "database": f"{STATE}/cold.db",
    "pack": f"{STATE}/packs/*.pages",
    "manifest": f"{STATE}/packs/*.manifest",
    "parity": f"{STATE}/packs/*.parity",
    "workspace id": f"{STATE}/packs/workspace.id",
    "page cache": f"{STATE}/pages/**/*.png",
    "version": f"{STATE}/versions/objects/*/*",
    "list of versions": f"{STATE}/versions/manifest",
    "head of that list": f"{STATE}/versions/head",
    "earlier text of a note": f"{STATE}/versions/MEMORY.md/*",
    "checkpoint": f"{STATE}/checkpoints/blobs/*/*",
    "journal of checkpoints": f"{STATE}/checkpoints/journal.jsonl",
    "key of hashes": f"{STATE}/secret.key",
    "The copy of the hash key is damaged": f"{STATE}/secret.copy",
    "tombstones": f"{STATE}/forgotten.jsonl",
    "copy of the tombstones": f"{STATE}/forgotten/tombstones.jsonl",
    "index segment": f"{STATE}/postings/*.bin",
    "vector segment": f"{STATE}/vectors/*.bin",
    "mirror": "workspace/conversations/*.md",
    "text kept beside pages": "workspace/memory/archive/*.md",
    "backup piece": "place/*.piece",
    "backup snapshot": "place/*.snapshot",
}
"""The files of each kind, below the folder."""


class Kept(Struct, frozen=True):
    """All that is given out: exact texts, versions, versions of files that tools changed, texts of cached pictures, and
    the vectors; the tombstones; and what the checks name."""

    given: Given
    versions: tuple[bytes | None, ...]
    checkpoints: tuple[bytes | None, ...]
    pictures: tuple[str | None, ...]
    vectors: bytes | None
    tombstones: frozenset[str]
    problems: tuple[str, ...]

    def wrong(self, sound: "Kept") -> list[str]:
        """What is given out here as good and is not what was stored."""
        cited = Given(self.given.texts, self.given.snippets)  # what is damaged is found elsewhere, and cited from there
        found = [f"as exact: {text[:120]!r}" for text in cited.wrong(sound.given)]
        for what, mine, theirs in (
            ("version", self.versions, sound.versions),
            ("checkpoint", self.checkpoints, sound.checkpoints),
            ("picture", self.pictures, sound.pictures),
            ("vectors", (self.vectors or None,), (sound.vectors,)),
        ):
            known = set(theirs) | {None}
            found += [f"{what}: {one[:120]!r}" for one in mine if one not in known]  # type: ignore[index]  # None is known
        return found

    def is_harmed(self, sound: "Kept") -> bool:
        """Whether anything is missing or another."""
        return (self.given.texts, self.versions, self.checkpoints, self.pictures, self.vectors, self.tombstones) != (
            sound.given.texts,
            sound.versions,
            sound.checkpoints,
            sound.pictures,
            sound.vectors,
            sound.tombstones,
        )


def make(folder: Path) -> None:
    workspace = Workspace(folder / "workspace")
    workspace.root.mkdir()
    fill(workspace, folder, SETTINGS)
    with closing(Memory.open(workspace, FakeClock(), SETTINGS)) as memory:
        for page in memory.vault.pages():
            memory.vault.png(page.id)
        memory.search.update()
        stones = (EntryTombstone(token=f"{number:064x}", text=f"{number:064x}", forgotten_ms=1) for number in range(9))
        memory.conversations.tombstones.add(stones)
        memory.vault.keep_text("manual", as_given("The manual says: pump pressure 2.5 bar."))
        clock = FakeClock()
        for number in range(4):
            memory.hot.remember(as_given(f"note {number}"))
            clock.advance(60)
    versions = VersionStore(workspace.versions, FakeClock())
    for number in range(6):
        versions.record("memory/a.md", (text_of(0) * 9 + text_of(number)).encode(), BY_HAND)
    project = folder / "project"
    project.mkdir()
    checkpoints = Checkpoints(workspace.checkpoints, FakeClock(), (project,))
    checkpoints.begin_turn("c_1", "e_1")
    before = None
    for number in range(4):
        after = (text_of(1) * 9 + text_of(number)).encode()
        checkpoints.apply([FileChange(folder=project, path="a.txt", expected=before, new=after)], f"e_{number}")
        before = after
    _vectors(workspace).put(
        VectorRows(
            entry=np.arange(1, 40, dtype=np.int64),
            check=np.arange(39, dtype=np.uint64),
            chunk=np.zeros(39, np.uint16),
            inverse=np.ones(39, np.float32),
            vectors=np.arange(39 * 16, dtype=np.int64).astype(np.int8).reshape(39, 16),
        )
    )
    back_up(workspace, LocalPlace(folder / "place"), FakeClock(), device="d", program="0")


def look(folder: Path, kind: str) -> Kept:
    """What is given out now, of what a damaged file of that kind may touch."""
    workspace, place = Workspace(folder / "workspace"), LocalPlace(folder / "place")
    if kind.startswith("backup"):
        nothing = Kept(Given(), (), (), (), None, frozenset(), ())
        return Kept(*_fields(nothing)[:-1], tuple(problem.message for problem in check_backup(place).problems))
    store = VersionStore(workspace.versions, FakeClock())
    return Kept(
        _given(workspace),
        tuple(_or_none(lambda one=one: store.body(one)) for one in store.versions()),
        tuple(_checkpoints(workspace)),
        tuple(_pictures(workspace)),
        _or_none(lambda: _bytes_of(_vectors(workspace))),
        _tombstones(workspace),
        (
            *(f"{one.what} {one.where}: {one.message}" for one in check(workspace, SETTINGS).problems),
            *(one.message for one in store.check()),
            *(one.message for one in check_checkpoints(workspace.checkpoints)),
        ),
    )


def _given(workspace: Workspace) -> Given:
    """Nothing where the store is so damaged that it does not open."""
    try:
        return exact(workspace, SETTINGS)[0]
    except PalimpsestError:
        return Given()


def _fields(kept: Kept) -> tuple[object, ...]:
    return tuple(getattr(kept, name) for name in kept.__struct_fields__)


def _or_none(read: object) -> object:
    try:
        return read()  # type: ignore[operator]  # a function without arguments
    except (PalimpsestError, OSError):
        return None


def _checkpoints(workspace: Workspace) -> list[bytes | None]:
    checkpoints = Checkpoints(workspace.checkpoints, FakeClock())
    records = [line.record for line in checkpoints.journal.lines() if isinstance(line, Begun)]
    names = [name for record in records for file in record.files for name in (file.before, file.after) if name]
    return [_or_none(lambda name=name: checkpoints.blobs.get(name)) for name in names]


def _pictures(workspace: Workspace) -> list[str | None]:
    """The text of each cached picture, as the vault gives it."""
    texts: list[str | None] = []
    try:
        memory = Memory.open(workspace, FakeClock(), SETTINGS)
    except PalimpsestError:
        return texts
    with closing(memory):
        for row in memory.vault.pages():
            path = _or_none(lambda row=row: memory.vault.png(row.id))
            page = _or_none(lambda path=path: read_picture(path.read_bytes(), engine="cells")) if path else None
            texts.append(page.text if page and page.trust is not Trust.APPROXIMATE else None)
    return texts


def _tombstones(workspace: Workspace) -> frozenset[str]:
    """The tokens that keep an import from bringing something back."""
    try:
        memory = Memory.open(workspace, FakeClock(), SETTINGS)
    except PalimpsestError:
        return frozenset()
    with closing(memory):
        return memory.conversations.tombstones.tokens()


def _vectors(workspace: Workspace) -> VectorStore:
    return VectorStore(workspace.vectors, 16)


def _bytes_of(store: VectorStore) -> bytes:
    return b"".join(np.asarray(segment.rows.vectors).tobytes() for segment in store.look())
