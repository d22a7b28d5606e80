"""Facts of a pack from its pixels alone, where it has no manifest.

A page carries its id, number and text. Head lines, which no text can imitate, give speaker, time and id: the text
between them becomes entries again. A page without a head line becomes an entry of kind page. Facts that pixels lack
(labels, conversations' ids and titles, parents) get plain defaults.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from msgspec import Struct, json, structs

from foundation.clock import from_ms, to_ms
from memory.archive.packs.manifest import ArchiveFact, ConversationFact, EntryFact, PageFact
from memory.archive.repair.diff import Fields, Key
from memory.archive.repair.salvage import SalvagedPage
from memory.pages.cost.factsheet import factsheet
from memory.pages.font.glyphs import load_glyphs
from memory.pages.read.exact import read_exact
from memory.pages.render.entry_heads import EntryHead, ParsedHead
from memory.pages.render.header import text_digest
from memory.pages.render.modes import CELLS, MODES, modes_of
from memory.records import EntryKind, new_id
from models.messages import Role
from models.tokens import estimate

RECOVERED = "recovered"


class PixelPage(Struct, frozen=True, kw_only=True):
    """A sound page of a pack, as read from its pixels."""

    pack: str
    position: int
    id: str
    number: int
    mode: str
    cell: str
    text: str
    heads: tuple[ParsedHead, ...]


class _PageRun(Struct, frozen=True):
    """A run of one page's text that belongs to one entry; `head` None is a page without a head line."""

    page: PixelPage
    begin: int
    text: str
    head: EntryHead | None


def pixel_page(saved: SalvagedPage, pack: str, position: int) -> PixelPage:
    """The content of a page, from its pixels."""
    mode, cell = _mode(saved)
    page = saved.page
    return PixelPage(
        pack=pack,
        position=position,
        id=page.page_id,
        number=page.number,
        mode=mode,
        cell=cell,
        text=page.text,
        heads=page.heads,
    )


def facts_of_pixels(pages: Sequence[PixelPage], now: datetime) -> dict[Key, Fields]:
    """Facts of archives, conversations, pages and entries; none of packs.

    Numbers are negative: the rows get new ones. `pages` are in the order of their packs.
    """
    facts: dict[Key, Fields] = {}
    entry = 0
    for count, run in enumerate(_archives(pages), 1):
        seq, began = -count, 0
        for made in _entries(run, seq, now, entry):
            began = min(began or made.time_ms, made.time_ms)
            facts["entry", str(made.seq)] = structs.asdict(made) | {"conversation": seq}
            entry -= 1
        label = f"{RECOVERED} {from_ms(began):%Y-%m-%d}"
        whose = any(page.heads for page in run)
        archive = ArchiveFact(
            seq=seq, label=label, created_ms=began, origin="conversation" if whose else "file", conversation=seq
        )
        conversation = ConversationFact(
            seq=seq, source="", id=new_id("c"), title=label, created_ms=began, kind="chat" if whose else "archive"
        )
        facts["archive", str(seq)] = structs.asdict(archive)
        facts["conversation", str(seq)] = structs.asdict(conversation)
        for place, page in enumerate(run, 1):
            facts["page", page.id] = structs.asdict(_page(page)) | {"archive": seq, "pack": page.pack}
            facts["held", str(seq), str(place)] = {"archive": seq, "number": place, "page": page.id}
    return facts


def _archives(pages: Sequence[PixelPage]) -> list[list[PixelPage]]:
    """The pages of each archive, in order. An archive continues in another pack where its page numbers do."""
    runs: list[list[PixelPage]] = []
    seen: set[str] = set()
    for page in pages:
        if page.id in seen:
            continue
        seen.add(page.id)
        last = runs[-1][-1] if runs else None
        if last is not None and last.pack == page.pack and page.number > last.number:
            runs[-1].append(page)
        else:
            runs.append([page])
    whole: list[list[PixelPage]] = []
    for run in sorted(runs, key=lambda run: (run[0].number, _time(run[0]))):
        before = next(
            (archive for archive in whole if archive[-1].number + 1 == run[0].number and _goes_on(archive[-1], run[0])),
            None,
        )
        if before is None:
            whole.append(list(run))
        else:
            before += run
    return sorted(whole, key=lambda run: _time(run[0]))


def _time(page: PixelPage) -> float:
    times = [head.head.time.timestamp() for head in page.heads if head.head and head.head.time]
    return min(times, default=0.0)


def _goes_on(before: PixelPage, page: PixelPage) -> bool:
    """Whether the pages may be neighbours: the last page may have a smaller mode, never other cells."""
    return bool(before.heads) == bool(page.heads) and before.cell == page.cell


def _page(page: PixelPage) -> PageFact:
    return PageFact(
        id=page.id,
        archive=0,
        number=page.number,
        mode=page.mode,
        cell=page.cell,
        position=page.position,
        chars=len(page.text),
        sha256=text_digest(page.text).hex(),
        text_tokens=sum(map(estimate, _words(page))),
        vision_tokens=MODES[page.mode].vision_tokens,
        factsheet=factsheet(page.text),
    )


def _words(page: PixelPage) -> Iterator[str]:
    """The page's text without its head lines."""
    begin = 0
    for head in page.heads:
        yield page.text[begin : max(head.begin - 1, begin)]  # the newline that the renderer puts before the line
        begin = head.end
    yield page.text[begin:]


def _mode(saved: SalvagedPage) -> tuple[str, str]:
    """The mode by the page's size, the cell by the glyph table that its header names."""
    side, header = int.from_bytes(saved.png[16:20]), read_exact(saved.png).header
    table = header.table if header else ""
    cell = next((cell for cell in CELLS if load_glyphs(cell).id == table), CELLS[0])
    return next((mode.name for mode in modes_of(cell).values() if mode.side == side), "base"), cell.name


def _entries(run: Sequence[PixelPage], conversation: int, now: datetime, after: int) -> Iterator[EntryFact]:
    """The run's entries in order; the parent of each is the one before."""
    parent, ids = "", set[str]()
    for count, pieces in enumerate(_joined(run), 1):
        head, spans, start = pieces[0].head, list[tuple[int, int, str, int]](), 0
        for piece in pieces:
            spans.append((start, len(piece.text), piece.page.id, piece.begin))
            start += len(piece.text)
        text = "".join(piece.text for piece in pieces)
        id_ = head.id if head and head.id not in ids else new_id("e")
        ids.add(id_)
        yield EntryFact(
            seq=after - count,
            conversation=conversation,
            id=id_,
            parent=parent,
            kind=(EntryKind.MESSAGE if head else EntryKind.PAGE).value,
            role=head.role if head else Role.USER.value,
            speaker=head.speaker if head else "",
            time_ms=to_ms(head.time if head and head.time else now),
            chars=len(text),
            sha256=text_digest(text).hex(),
            spans=tuple(spans),
            meta=_meta(pieces[0]),
        )
        parent = id_


def _meta(piece: _PageRun) -> str:
    own = {} if piece.head else {"page": piece.page.id, "number": piece.page.number}
    return json.encode(own | {RECOVERED: True}).decode()


def _joined(run: Sequence[PixelPage]) -> Iterator[list[_PageRun]]:
    """The pieces of each entry: a piece that continues on a page joins those on the pages before."""
    held: list[_PageRun] = []
    for page in run:
        for at, piece in enumerate(pieces_of(page)):
            if held and not (at == 0 and _same(held[-1], piece)):
                yield held
                held = []
            held.append(piece)
    if held:
        yield held


def _same(before: _PageRun, piece: _PageRun) -> bool:
    """Whether a page's first piece continues the last one of the page before."""
    if before.head is None or piece.head is None:
        return False
    return before.head.id == piece.head.id and before.page.number + 1 == piece.page.number


def pieces_of(page: PixelPage) -> Iterator[_PageRun]:
    """The page's text, split at head lines. The newline before a head line belongs to no entry."""
    heads, known = page.heads, {role.value for role in Role}
    if not heads or heads[0].begin or any(head.head is None or head.head.role not in known for head in heads):
        yield _PageRun(page, 0, page.text, None)
        return
    ends = [*(head.begin - 1 for head in heads[1:]), len(page.text)]
    for head, end in zip(heads, ends, strict=True):
        yield _PageRun(page, head.end, page.text[head.end : end], head.head)
