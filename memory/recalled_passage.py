"""A whole passage with its citation and trust, from an entry, a note, a page or an archive."""

from collections.abc import Sequence
from datetime import datetime
from itertools import accumulate, groupby, pairwise
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from foundation.trust import Citation, Trust
from memory.origin import UNVERIFIED_DOUBT, UNVERIFIED_SPEAKER
from memory.pages.types import STORED, ArchiveRow, EntryText, PageText, numbered

if TYPE_CHECKING:  # a picture is read without a workspace
    from memory.hot import Note
    from memory.records import Conversation, Entry

_SNIPPET: Final = 400  # characters


class AttributedText(Struct, frozen=True, kw_only=True):
    """One entry's words on one page. `line` is the entry's own line, from 1, with which they begin."""

    entry: str
    speaker: str
    role: str
    time: datetime | None
    line: int
    text: str

    @property
    def lines(self) -> tuple[int, int]:
        """The entry's first and last line here."""
        return self.line, self.line + self.text.count("\n")


def attributed_texts(page: PageText) -> tuple[AttributedText, ...]:
    """The text of each speaker on the page, in order; nothing on a file's page.

    The newline that ends an entry on the page is no part of it; an unreadable head line gives no speaker.
    """
    ends = [*(head.begin for head in page.heads), len(page.text)]
    return tuple(
        AttributedText(
            entry=parsed_head.head.id,
            speaker=parsed_head.head.speaker,
            role=parsed_head.head.role,
            time=parsed_head.head.time,
            line=parsed_head.head.line,
            text=page.text[parsed_head.end : end].removesuffix("\n"),
        )
        for parsed_head, (_, end) in zip(page.heads, pairwise(ends), strict=True)
        if parsed_head.head is not None
    )


class RecalledPassage(Struct, frozen=True, kw_only=True):
    """One passage, unaltered and whole.

    `engine` is what read it: STORED, `cells`, an OCR engine, or several joined by `+`. `doubt` are the lines of the
    text, from 1, that may be wrong. `attributed_texts` says whose words stand where on a conversation's page.
    `warnings` say in
    sentences why it is not exact. `missing` are the numbers of an archive's pages that cannot be read; a line stands in
    the place of each gap.
    """

    id: str
    kind: str
    conversation: str | None = None
    entry: str | None = None
    time: datetime | None = None
    role: str | None = None
    speaker: str | None = None
    score: float = 1.0
    snippet: str = ""
    citation: Citation
    trust: Trust
    text: str
    engine: str = STORED
    read_ms: float = 0.0
    doubt: tuple[int, ...] = ()
    pages: tuple[str, ...] = ()  # ids of the pages that it was read from
    spoken: tuple[AttributedText, ...] = ()
    warnings: tuple[str, ...] = ()
    missing: tuple[int, ...] = ()

    @property
    def unverified(self) -> bool:
        """Whether it is the assistant's own answer that nothing backs, and exact but for that."""
        return self.warnings == (UNVERIFIED_DOUBT,)


def warned(passage: RecalledPassage, *warnings: str) -> RecalledPassage:
    """The same with these warnings, and approximate where there are any."""
    if not warnings:
        return passage
    return replace(passage, trust=Trust.APPROXIMATE, warnings=(*passage.warnings, *warnings))


def passage_of_entry(
    entry: "Entry",
    passage: EntryText,
    conversation: "Conversation",
    read_ms: float = 0.0,
    *,
    unverified: bool = False,
) -> RecalledPassage:
    """An entry's text. `read_ms` counts where it was read back from pages; `unverified`: nothing backs the answer."""
    citation = Citation(
        kind="entry",
        ref=entry.id,
        title=conversation.title,
        conversation=entry.conversation,
        speaker=UNVERIFIED_SPEAKER if unverified else entry.said_by,
        time=entry.time,
        page=passage.pages[0] if passage.pages else "",
        device=entry.device,
    )
    warnings = (*passage.warnings, *conversation.doubts, *((UNVERIFIED_DOUBT,) if unverified else ()))
    return RecalledPassage(
        id=entry.id,
        kind=entry.kind.value,
        conversation=entry.conversation,
        entry=entry.id,
        time=entry.time,
        role=entry.role.value,
        speaker=entry.speaker,
        snippet=_snippet(passage.text),
        citation=citation,
        trust=Trust.APPROXIMATE if warnings else passage.trust,
        text=passage.text,
        engine=engine_of(passage.pages),
        read_ms=read_ms if passage.pages else 0.0,
        pages=passage.pages,
        warnings=warnings,
    )


def passage_of_note(note: "Note") -> RecalledPassage:
    """A note as its file has it."""
    lines = (note.line_first, note.line_last)
    return RecalledPassage(
        id=note.id,
        kind="memory",
        conversation=note.conversation,
        time=note.time,
        snippet=_snippet(note.text),
        citation=Citation(kind="memory", ref=note.path, title=note.heading, time=note.time, lines=lines),
        trust=Trust.EXACT,
        text=note.text,
    )


def passage_of_page(page: PageText, citation: Citation) -> RecalledPassage:
    """A page's text, or that of any picture; then the citation is of kind `file`."""
    return RecalledPassage(
        id=page.page_id,
        kind=citation.kind,
        snippet=_snippet(page.text),
        citation=citation,
        trust=page.trust,
        text=page.text,
        engine=page.engine,
        read_ms=page.read_ms,
        doubt=page.doubt,
        pages=(page.page_id,) if page.page_id else (),
        spoken=attributed_texts(page),
        warnings=page.warnings,
    )


def passage_of_archive(archive: ArchiveRow, pages: Sequence[PageText | None]) -> RecalledPassage:
    """The texts of an archive's pages, joined, with the lowest trust among them; None is a page that cannot be read.

    At least one can.
    """
    readable = [page for page in pages if page is not None]
    missing = tuple(number for number, page in enumerate(pages, 1) if page is None)
    text, doubt = _joined(pages)
    count = f"{len(pages):,} page{'s' if len(pages) > 1 else ''}"
    passage = RecalledPassage(
        id=f"#{archive.seq}",
        kind="archive",
        time=archive.created,
        snippet=_snippet(text),
        citation=Citation(
            kind="archive", ref=f"#{archive.seq}", title=archive.label, place=count, time=archive.created
        ),
        trust=max((page.trust for page in readable), key=list(Trust).index),
        text=text,
        engine="+".join(dict.fromkeys(page.engine for page in readable)),
        read_ms=round(sum(page.read_ms for page in readable), 3),
        doubt=doubt,
        pages=tuple(page.page_id for page in readable),
        spoken=tuple(attributed for page in readable for attributed in attributed_texts(page)),
        missing=missing,
    )
    return passage if not missing else warned(passage, _missing_sentence(missing, len(pages)))


def _missing_sentence(missing: Sequence[int], count: int) -> str:
    numbers = numbered("page", missing)
    return f"Cannot read {numbers} of {count:,}; their text is left out."


def _joined(pages: Sequence[PageText | None]) -> tuple[str, tuple[int, ...]]:
    """The text, with a line of its own in each gap, and the lines, from 1, that are in doubt: those of gaps too."""
    parts, doubt, line = list[str](), list[int](), 1
    for is_gap, run in groupby(enumerate(pages, 1), key=lambda numbered: numbered[1] is None):
        numbers, texts = zip(*run, strict=True)
        if is_gap:
            begin = "\n" if parts and not parts[-1].endswith("\n") else ""
            doubt.append(line + len(begin))
            added = [f"{begin}[lost: {numbered('page', numbers)}]\n"]
        else:
            added = [page.text for page in texts]
            lines = accumulate((text.count("\n") for text in added), initial=line - 1)
            doubt += (before + n for before, page in zip(lines, texts, strict=False) for n in page.doubt)
        parts += added
        line += sum(part.count("\n") for part in added)
    return "".join(parts), tuple(doubt)


def engine_of(pages: Sequence[str]) -> str:
    """The reader of an entry's text: the cell reader where it is on pages."""
    return "cells" if pages else STORED


def _snippet(text: str) -> str:
    return text if len(text) <= _SNIPPET else text[:_SNIPPET].rsplit(" ", 1)[0] + "…"
