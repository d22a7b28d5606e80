"""Looks the packs over: every file, every page, against the index."""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from foundation.trust import Trust
from memory.archive.ledger import PackRow
from memory.archive.pack import Pack
from memory.archive.passage import PageRow
from memory.archive.reading import read_picture
from memory.archive.strangers import strangers
from memory.cold import Problem
from memory.errors import MemoryTrouble


def inspect(folder: Path, packs: Sequence[PackRow], pages: Sequence[PageRow]) -> list[Problem]:
    """All problems of the packs in `folder`, with the pages that they carry."""
    problems = list(_unknown(folder, packs))
    for row in packs:
        within = [page for page in pages if page.pack == row.name]
        problems += _pack(folder / row.name, row, within)
    return problems


def _pack(path: Path, row: PackRow, pages: Sequence[PageRow]) -> Iterator[Problem]:
    try:
        with path.open("rb") as file:
            sound = hashlib.file_digest(file, "sha256").digest() == row.sha256
        if not sound:
            yield Problem("pack", row.name, "The pack is not the one that was written: its SHA-256 differs.")
        pack = Pack(path)
    except (OSError, MemoryTrouble) as error:
        carried = f"It carries {len(pages)} pages, {pages[0].id} the first of them." if pages else "It carries no page."
        yield Problem("pack", row.name, f"The pack cannot be read ({error}). {carried}")
        return
    for page in pages:
        yield from _page(pack, page)


def _page(pack: Pack, row: PageRow) -> Iterator[Problem]:
    try:
        page = read_picture(pack.png(row.position), sha256=row.sha256, page_id=row.id)
    except MemoryTrouble as error:
        yield Problem("page", row.id, error.message)
        return
    if page.trust is not Trust.EXACT:
        yield Problem("page", row.id, "The page's text does not match its hash: it is approximate from now on.")


def _unknown(folder: Path, packs: Sequence[PackRow]) -> Iterator[Problem]:
    for path in strangers(folder, {row.name for row in packs}):
        yield Problem("unknown", path.name, f"{_held(path)} The pack itself stays as it is.")


def _held(path: Path) -> str:
    """What a pack holds that no row refers to, and what that can mean."""
    try:
        pages = Pack(path).pages
    except MemoryTrouble as error:
        return f"This index does not know the pack, and it cannot be read ({error.message})."
    chars = sum(page.chars for page in pages)
    return (
        f"It holds {len(pages):,} pages with {chars:,} characters of text that this index does not know. Either an "
        "archiving was cut short, and the text still stands where it was; or cold.db was lost or exchanged, and a "
        "backup of it is needed to find what is in here."
    )
