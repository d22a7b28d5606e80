"""Recall of whole passages: from a page's picture, by a reference, or by a query."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import asdict, replace

from agent.services.images import OUR_READERS, OpenEngine, is_picture, read_file
from foundation.program import PROGRAM
from foundation.terminal_text import fenced, hidden_count, visible_line
from foundation.trust import Citation, Trust
from memory.errors import NotFound
from memory.origin import UNVERIFIED_DOUBT
from memory.pages.types import STORED
from memory.recalled_passage import RecalledPassage, engine_of, passage_of_page, warned

if TYPE_CHECKING:  # a picture is read without a workspace
    from memory.memory import Memory
    from memory.pages.read.ocr.lines import OnLine
    from memory.pages.read.reader import OnStage
    from memory.search import Hit

NOT_KNOWN: Final = "This page is not in this workspace, so its source cannot be verified."
"""Warning for a page picture with an id unknown to the workspace, or read outside of any workspace."""
NO_TEXT: Final = "No text was found in it."
"""The result for a picture without text."""


class RecallResult(Struct, frozen=True, kw_only=True):
    """The result of one request: the JSON contract's `recall` object without its schema (see `as_object`)."""

    query: str
    took_ms: float
    found: bool
    total: int
    next: int | None
    hits: tuple[RecalledPassage, ...]


def recall_picture(
    path: Path,
    *,
    engine: str = "auto",
    open_engine: OpenEngine | None = None,
    on_line: "OnLine | None" = None,
    on_stage: "OnStage | None" = None,
) -> RecallResult:
    """The text in a picture; no hit where there is none. Needs no workspace and no original.

    `engine` is a name of memory.pages.read.reader.READERS. Raises NotAPage, NotFound, and what the engine raises.
    """
    began = time.monotonic()
    page = read_file(path, engine=engine, open_engine=open_engine, on_line=on_line, on_stage=on_stage)
    if not page.text.strip() and not page.page_id:
        return _result(str(path), began, ())
    kind = "page" if page.page_id or page.engine in OUR_READERS else "file"
    citation = Citation(kind=kind, ref=page.page_id or path.name, page=page.page_id)
    return _result(str(path), began, (passage_of_page(page, citation),))


def verified(result: RecallResult, memory: "Memory | None") -> RecallResult:
    """Compares pages read from pictures with the workspace's own pages; `memory` is None without a workspace.

    A page's hash proves that its pixels are as they were drawn, not who drew them. A known id with another text becomes
    approximate; an unknown id gets a warning.
    """
    return replace(result, hits=tuple(_verified(hit, memory) if hit.kind == "page" else hit for hit in result.hits))


def _verified(hit: RecalledPassage, memory: "Memory | None") -> RecalledPassage:
    if not hit.id:
        return hit
    if memory is None or not memory.vault.knows(hit.id):
        return replace(hit, warnings=(*hit.warnings, NOT_KNOWN))
    if not memory.vault.contradicts(hit.id, hit.text):
        return hit
    every_line = tuple(range(1, hit.text.count("\n") + 2))
    return warned(
        replace(hit, doubt=every_line),
        f"This workspace has a page {hit.id} with a different text: the picture was altered, or is another page.",
    )


def merged(requests: Sequence[str], answers: Sequence[RecallResult]) -> RecallResult:
    """Merges the results of several pictures or references, in order."""
    hits = tuple(hit for answer in answers for hit in answer.hits)
    took = round(sum(answer.took_ms for answer in answers), 3)
    return RecallResult(query=" ".join(requests), took_ms=took, found=bool(hits), total=len(hits), next=None, hits=hits)


def recall(memory: "Memory", request: str, *, limit: int = 5, page: int = 1, conversation: str = "") -> RecallResult:
    """The passages of a reference (memory.references), else the hits of a query.

    `conversation` (an id or a title) limits the search to one. Raises NotFound for a dangling reference, and Damaged.
    """
    began = time.monotonic()
    if (referenced := recall_reference(memory, request, conversation)).found:
        return referenced
    from memory.search import Query

    results = memory.search.query(Query(text=request, limit=limit, page=page, conversation=conversation))
    hits = tuple(_passage_of_hit(memory, hit) for hit in results.hits)
    return RecallResult(
        query=request,
        took_ms=_elapsed_ms(began),
        found=results.found,
        total=results.total,
        next=results.next,
        hits=hits,
    )


def recall_reference(memory: "Memory", reference: str, conversation: str = "") -> RecallResult:
    """The passages of a reference, as `by_reference` gives them; no hit for plain words."""
    from context.pages.lookup import by_reference

    began = time.monotonic()
    return _result(reference, began, by_reference(memory, reference, conversation))


def recall_markdown(memory: "Memory", request: str) -> str:
    """The output of `/recall` without a screen: each passage below its citation."""
    picture = is_picture(request)
    result = verified(recall_picture(Path(request)), memory) if picture else recall(memory, request, limit=3)
    if picture and not result.hits:
        return NO_TEXT
    if not result.hits:
        return f"No results for “{request}”."
    return "\n\n".join(_as_markdown(hit) for hit in result.hits)


def _as_markdown(hit: RecalledPassage) -> str:
    notices = [*hit.warnings, *filter(None, [hidden_characters_notice(hit)])]
    return "\n\n".join([f"**{hit.citation}** · {describe(hit)}", *notices, fenced(hit.text)])


def describe(hit: RecalledPassage) -> str:
    """Trust and reader of a passage: `exact, read from its pixels in 2.1 ms`."""
    reader = "from its pixels" if hit.engine == "cells" else f"by {hit.engine}"
    how = f"read {reader} in {hit.read_ms:,.1f} ms"
    if hit.engine == STORED:
        how = "as it was stored" if hit.trust is Trust.EXACT else "from the store"
        how = f"as {visible_line(hit.citation.device)} wrote it" if hit.citation.device else how
    doubt = f"; uncertain lines: {_lines(hit.doubt)}" if hit.doubt else ""
    return f"{hit.trust.value}, {how}{doubt}"


def hidden_characters_notice(hit: RecalledPassage) -> str:
    """Notice that control characters are shown as signs; "" where there are none."""
    count = hidden_count(hit.text)
    if not count:
        return ""
    subject = "1 control or hidden character is" if count == 1 else f"{count:,} control or hidden characters are"
    return f"Not shown exactly: {subject} replaced by a symbol. `{PROGRAM} recall … --raw` prints every byte."


def citations(hit: RecalledPassage) -> tuple[Citation, ...]:
    """Sources of the text on a conversation's page: each entry, with its lines on the page."""
    return tuple(
        Citation(
            kind="entry",
            ref=span.entry,
            speaker=span.speaker or span.role,
            time=span.time,
            page=hit.id,
            lines=span.lines,
        )
        for span in hit.spoken
    )


def as_object(answer: RecallResult) -> dict[str, Any]:
    """The object of `palimpsest recall --json`, without its schema."""
    return {**asdict(answer), "hits": [_hit_object(hit) for hit in answer.hits]}


_JSON_NAMES: Final = {"spoken": "passages", "warnings": "told"}


def _hit_object(hit: RecalledPassage) -> dict[str, Any]:
    fields = asdict(hit) | {"citation": str(hit.citation), "device": hit.citation.device or None}
    return {_JSON_NAMES.get(name, name): value for name, value in fields.items()}


def _passage_of_hit(memory: "Memory", hit: "Hit") -> RecalledPassage:
    began = time.monotonic()
    text, trust, pages, warnings = hit.snippet, hit.trust, tuple[str, ...](), tuple[str, ...]()
    if hit.note is not None:
        text, trust = _current_note(memory, hit)
    elif hit.entry is not None:
        passage = memory.passage(memory.conversations.entry(hit.entry))
        text, pages, warnings = passage.text, passage.pages, passage.warnings
        warnings = (*warnings, UNVERIFIED_DOUBT) if hit.unverified else warnings
        trust = passage.trust if hit.trust is Trust.EXACT else hit.trust  # text read by an OCR engine stays approximate
    return RecalledPassage(
        id=hit.id,
        kind=hit.kind,
        conversation=hit.conversation or None,
        entry=hit.entry_id or None,
        time=hit.time,
        role=hit.role or None,
        speaker=hit.speaker or None,
        score=round(hit.shown_score, 4),
        snippet=hit.snippet,
        citation=hit.citation,
        trust=trust,
        text=text,
        engine=engine_of(pages),
        read_ms=_elapsed_ms(began) if pages else 0.0,
        pages=pages,
        warnings=warnings,
    )


def _current_note(memory: "Memory", hit: "Hit") -> tuple[str, Trust]:
    """The note's text in its file now; the snippet, approximate, where the note was removed since."""
    memory.hot.look()
    try:
        return memory.hot.note(hit.note or "").text, Trust.EXACT
    except NotFound:
        return hit.snippet, Trust.APPROXIMATE


def _result(request: str, began: float, hits: tuple[RecalledPassage, ...]) -> RecallResult:
    return RecallResult(
        query=request, took_ms=_elapsed_ms(began), found=bool(hits), total=len(hits), next=None, hits=hits
    )


def _elapsed_ms(began: float) -> float:
    return round((time.monotonic() - began) * 1000, 3)


def _lines(numbers: Sequence[int]) -> str:
    listed = ", ".join(str(number) for number in numbers[:12])
    return listed + (f" and {len(numbers) - 12} more" if len(numbers) > 12 else "")
