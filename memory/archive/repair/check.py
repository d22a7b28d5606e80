"""Checks the archive: every pack and page, every manifest, and the index's rows against both."""

import hashlib
from collections.abc import Iterator, Sequence

import apsw
import msgspec

from foundation.errors import PalimpsestError
from foundation.program import PROGRAM
from foundation.trust import Trust
from memory.archive.packs.manifest import PackManifest, manifest_name, manifest_names, parts_of, read_parts
from memory.archive.packs.pack import FramePages, Pack, PackFrame
from memory.archive.packs.parity import parity_is_sound, parity_name, recover_pack
from memory.archive.packs.storage import Storage
from memory.archive.packs.unknown_packs import unknown_pack_names
from memory.archive.repair.diff import differences
from memory.archive.repair.diff import facts as facts_by_key
from memory.archive.rows import pages as page_rows
from memory.archive.rows.checks import row_problems
from memory.archive.rows.facts import facts_of, unsealed
from memory.archive.rows.pages import PackRow
from memory.cold import ColdStore
from memory.cold.sql import each, first
from memory.errors import MemoryFailure, NewerPack, StorageUnreachable
from memory.pages.read.reader import read_picture
from memory.pages.render.header import text_digest
from memory.pages.render.modes import MODES
from memory.pages.types import PageRow, PageText, numbered
from memory.records import IntegrityProblem

_AT_ONCE = 2**23  # bytes


def check_archive(cold: ColdStore, storage: Storage) -> list[IntegrityProblem]:
    """All problems of the archive. Reads every pack whole: about a second for a thousand pages."""
    names = storage.names()
    packs = cold.read(page_rows.pack_rows)
    due = cold.read(unsealed) if cold.read_only else ()  # manifests that the first opening for writing will make
    problems = cold.read(lambda db: list(row_problems(db)))
    for row in packs:
        pages = _rows_of(cold, row.name)
        if pages is None:
            problems.append(IntegrityProblem("pack", row.name, "A row of one of its pages cannot be read."))
        known = cold.read(lambda db, name=row.name: facts_of(db, name))
        sealed = list(_manifest(storage, names, row.name, known))
        problems += [
            *_file(storage, row),
            *_parity(storage, names, row),
            *_Pages(cold, storage, row, sound=not sealed).look(pages or ()),
            *(problem for problem in sealed if row.name not in due or parts_of(manifest_name(row.name), names)),
        ]
    problems += _manifest(storage, names, "", cold.read(lambda db: facts_of(db, "")))
    problems += _unknown_packs(storage, names, cold.read(_known_packs))
    return problems


def _rows_of(cold: ColdStore, pack: str) -> list[PageRow] | None:
    """Rows of a pack's pages; None where a column holds a value that the program never writes."""
    try:
        return cold.read(lambda db: page_rows.pages_of_pack(db, pack))
    except msgspec.MsgspecError:
        return None


def pack_is_sound(storage: Storage, row: PackRow) -> bool:
    """Whether the pack's file matches its hash to the last bit. Raises Damaged where there is none."""
    if storage.size(row.name) != row.size:
        return False
    sha256 = hashlib.sha256()
    for at in range(0, row.size, _AT_ONCE):
        sha256.update(storage.read(row.name, at, min(_AT_ONCE, row.size - at)))
    return sha256.digest() == row.sha256


def _file(storage: Storage, row: PackRow) -> Iterator[IntegrityProblem]:
    try:
        if pack_is_sound(storage, row):
            return
        why = "The pack was changed: its SHA-256 differs."
    except StorageUnreachable as error:
        yield IntegrityProblem("pack", row.name, f"The pack cannot be read: {error.message}")
        return
    except MemoryFailure as error:
        why = f"The pack cannot be read: {error.message}"
    yield IntegrityProblem("pack", row.name, f"{why} {_by_parity(storage, row)}")


def _by_parity(storage: Storage, row: PackRow) -> str:
    """Whether the pack's parity restores it, in a sentence."""
    if parity_name(row.name) not in storage.names():
        return "It has no parity."
    try:
        is_enough = recover_pack(storage, row.name, row.sha256, row.size) is not None
    except PalimpsestError as error:
        return f"Its parity cannot be used: {error.message}"
    restores = f"It can be restored from parity data: `{PROGRAM} check --repair`."
    return restores if is_enough else "Too much of it is damaged to be restored from parity data."


def _parity(storage: Storage, names: Sequence[str], row: PackRow) -> Iterator[IntegrityProblem]:
    name = parity_name(row.name)
    if name not in names:
        return
    try:
        if not parity_is_sound(storage, row.name, row.sha256):
            yield IntegrityProblem("parity", name, "It was changed, or belongs to another pack.")
    except MemoryFailure as error:
        yield IntegrityProblem("parity", name, error.message)


class _Pages:
    """Pages of one pack, read from their pixels and compared with their rows."""

    def __init__(self, cold: ColdStore, storage: Storage, row: PackRow, *, sound: bool) -> None:
        self._cold, self._storage, self._row = cold, storage, row
        self._proven = sound  # the manifest proves the entries' rows: their texts need not be assembled
        self._frames: dict[PackFrame, FramePages | MemoryFailure] = {}  # the one that was opened last

    def look(self, pages: Sequence[PageRow]) -> Iterator[IntegrityProblem]:
        try:
            pack = Pack(self._storage, self._row.name)
        except NewerPack as error:
            yield IntegrityProblem("pack", self._row.name, f"{error.message} {error.hint}")
            return
        except MemoryFailure as error:
            yield from self._unreadable(pages, f"The pack's list of pages cannot be read: {error.message}")
            return
        texts: dict[str, str] = {}
        unreadable: list[PageRow] = []
        why = ""
        for row in pages:
            try:
                page = read_picture(self._png(pack, row), sha256=row.sha256, page_id=row.id, engine="cells")
            except MemoryFailure as error:
                why = why or error.message
                unreadable.append(row)
            else:
                yield from self._compared(row, page, texts)
        if unreadable:
            yield from self._unreadable(unreadable, why, pack)
        if not self._proven:
            yield from self._cold.read(lambda db: list(_entries(db, self._row.name, texts)))

    def _png(self, pack: Pack, row: PageRow) -> bytes:
        """The page's PNG; its frame is opened once for all pages in it."""
        pack.expect(row.position, row.id)
        frame = pack.frame_of(row.position)
        if frame not in self._frames:
            try:
                self._frames = {frame: pack.open_frame(frame)}
            except MemoryFailure as error:
                self._frames = {frame: error}
        opened = self._frames[frame]
        if isinstance(opened, MemoryFailure):
            raise opened
        return pack.page_of_frame(row.position, opened)

    def _unreadable(self, pages: Sequence[PageRow], why: str, pack: Pack | None = None) -> Iterator[IntegrityProblem]:
        """One problem for all pages of the pack that cannot be read; of several, `why` is that of the first."""
        if len(pages) == 1:
            yield IntegrityProblem("page", pages[0].id, why)
            return
        frames = _frames(pack, pages) if pack else ""
        which = self._cold.read(lambda db: listed_pages(db, pages))
        message = f"{len(pages):,} pages cannot be read{frames}: {which}. The first: {why}"
        yield IntegrityProblem("pages", self._row.name, message, tuple(page.id for page in pages))

    def _compared(self, row: PageRow, page: PageText, texts: dict[str, str]) -> Iterator[IntegrityProblem]:
        if page.trust is not Trust.EXACT:
            yield IntegrityProblem(
                "page", row.id, "The page's text does not match its hash: it is now marked as approximate."
            )
            return
        texts[row.id] = page.text
        side = MODES[row.mode].side if row.mode in MODES else 0
        recorded = (row.number, row.chars, row.width, row.height)
        if recorded != (page.number, len(page.text), side, side):
            yield IntegrityProblem(
                "page", row.id, "Its row in the index does not match the page (number, size or mode)."
            )


def listed_pages(db: apsw.Connection, pages: Sequence[PageRow]) -> str:
    """The pages by their numbers and the labels of their archives: `pages 3 to 66 of “log”`."""
    by_archive: dict[int, list[int]] = {}
    for page in pages:
        by_archive.setdefault(page.archive, []).append(page.number)
    return "; ".join(
        f"{numbered('page', sorted(numbers))} of “{label_or_nothing(db, archive)}”"
        for archive, numbers in by_archive.items()
    )


def label_or_nothing(db: apsw.Connection, archive: int) -> str:
    """The archive's label; "" where its row is lost."""
    row = first(db, "SELECT label FROM archives WHERE seq = ?", (archive,))
    return row[0] if row else ""


def _frames(pack: Pack, pages: Sequence[PageRow]) -> str:
    """In which frames of the pack the pages are, where it has several."""
    offsets = sorted({page.offset for page in pack.pages})
    known = [pack.pages[page.position].offset for page in pages if 0 <= page.position < len(pack.pages)]
    numbers = sorted({offsets.index(offset) + 1 for offset in known})
    return f", {numbered('frame', numbers)} of {len(offsets):,}" if len(offsets) > 1 and numbers else ""


def _entries(db: apsw.Connection, pack: str, texts: dict[str, str]) -> Iterator[IntegrityProblem]:
    """Problems of entries that are wholly on these pages: assembled and compared with their hash."""
    sql = """SELECT e.id, e.seq, e.chars, e.sha256 FROM entries e WHERE e.body IS NULL AND e.seq IN
        (SELECT s.entry FROM spans s JOIN pages p ON p.id = s.page WHERE p.pack = ?)"""
    for id_, seq, chars, sha256 in each(db, sql, (pack,)):
        spans = page_rows.spans_of(db, seq)
        if any(span.page not in texts for span in spans):
            continue
        text = "".join(texts[span.page][span.page_start : span.page_start + span.length] for span in spans)
        if text_digest(text) != sha256 or len(text) != chars:
            yield IntegrityProblem("entry", id_, "Its pages do not contain its text: the SHA-256 differs.")


def _manifest(
    storage: Storage, names: Sequence[str], pack: str, known: PackManifest | None
) -> Iterator[IntegrityProblem]:
    """Problems of the manifest of an indexed pack, and its differences from the index."""
    name = manifest_name(pack)
    try:
        parts = read_parts(storage, pack, names)
    except MemoryFailure as error:
        yield IntegrityProblem("manifest", name, _without_name(error.message, f"{name} in {storage.place}"))
        return
    if not parts:
        if known is not None:
            yield IntegrityProblem(
                "manifest", name, "The pack has no manifest: an older version made the pack, or the manifest is lost."
            )
        return
    sealed = {key: fields for part in parts for key, fields in facts_by_key(part).items()}
    yield from differences(facts_by_key(known) if known else {}, sealed)


def _without_name(message: str, name: str) -> str:
    """The sentence without the file's name in front."""
    why = message.removeprefix(f"{name}: ")
    return why[:1].upper() + why[1:] if why != message else message.replace(name, "It", 1)


def _known_packs(db: apsw.Connection) -> frozenset[str]:
    """Files that the index knows: its packs, and files to be deleted."""
    packs = [row.name for row in page_rows.pack_rows(db)]
    return frozenset([*packs, *(name for (name,) in each(db, "SELECT name FROM leaving"))])


def _unknown_packs(storage: Storage, names: Sequence[str], known: frozenset[str]) -> Iterator[IntegrityProblem]:
    for name in unknown_pack_names(names, known):
        yield IntegrityProblem(
            "unknown", name, f"{_unknown_pack_content(storage, name)} The pack itself is not changed."
        )
    packs = {manifest_name(name).partition(".")[0] for name in [*known, *names] if not name.endswith(".manifest")}
    for name in manifest_names(storage):
        stem = name.partition(".")[0]
        if stem not in packs and manifest_name("") != f"{stem}.manifest" and name not in known:
            yield IntegrityProblem("manifest", name, "Its pack is missing.")


def _unknown_pack_content(storage: Storage, name: str) -> str:
    """Content of a pack that no row refers to, and its likely cause."""
    try:
        pages = Pack(storage, name).pages
    except NewerPack as error:
        return error.message
    except MemoryFailure as error:
        return f"The pack is not in the index and cannot be read ({error.message})."
    chars = sum(page.chars for page in pages)
    return (
        f"It contains {len(pages):,} pages with {chars:,} characters of text that are not in the index. "
        "Either an archiving was interrupted and the text is still in the database, or cold.db was lost or "
        f"replaced. `{PROGRAM} check --repair` adds what is missing."
    )
