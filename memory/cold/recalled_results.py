"""Copies of a conversation's text in other conversations' tool results, made by the model's searches and recalls.

A result is JSON and names the source of each passage. Deleting a conversation replaces its passages by `[deleted]`,
also in results that quote such a result.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

import apsw
from msgspec import Struct

from foundation.privacy import as_stored, cleared_fields
from memory.cold.changes import note_change, put_terms
from memory.cold.encoding import from_meta, readable_meta, unpack
from memory.cold.entries import replace_text
from memory.cold.integrity.row_hashes import seal_rows
from memory.cold.recalled_copies import DELETED, archives_of, pages_of
from memory.cold.sql import SqlRow, each, first, run
from memory.errors import Damaged
from memory.origin import MEMORY_TOOLS
from memory.records import EntryAnalyser, EntryKind
from models.fence import reference

_SEPARATOR = " · "  # of a citation's parts; the reference is the last
_TOKEN = re.compile(r'[^\s"\\·\[\]{},]+')
_WHERE = f"e.kind = '{EntryKind.TOOL_RESULT.value}' AND e.speaker IN {MEMORY_TOOLS!r}"


class StoredToolResult(Struct, frozen=True):
    """A memory tool's result and the references of its passages; None if its text is archived or damaged."""

    seq: int
    id: str
    refs: frozenset[str] | None


class BlankedResults(Struct, frozen=True):
    """Seqs and references of the changed results."""

    seqs: tuple[int, ...] = ()
    refs: frozenset[str] = frozenset()


def references_to(db: apsw.Connection, conversation: int) -> frozenset[str]:
    """References that cite the conversation: of its entries, and of the archives and pages made of it."""
    own = [id_ for (id_,) in each(db, "SELECT id FROM entries WHERE conversation = ?", (conversation,))]
    return both_forms([*own, *archives_of(db, conversation), *pages_of(db, conversation)])


def both_forms(ids: Iterable[str]) -> frozenset[str]:
    """Each id as it is, and as it occurs in a citation."""
    return frozenset(form for id_ in ids for form in (id_, reference(id_)))


def results_of_others(db: apsw.Connection, conversation: int) -> list[StoredToolResult]:
    """Results of memory tools in all other conversations."""
    sql = f"""SELECT e.seq, e.id, e.body, e.packed, e.chars, e.meta FROM entries e
              WHERE {_WHERE} AND e.conversation <> ?"""
    return [_result(row) for row in each(db, sql, (conversation,))]


def results_citing(results: Iterable[StoredToolResult], refs: frozenset[str]) -> list[StoredToolResult]:
    """The results that contain a passage of these references, directly or by quoting such a result."""
    remaining = [result for result in results if result.refs is not None]
    citing: list[StoredToolResult] = []
    new_refs = refs
    while new_refs:
        matches = [result for result in remaining if result.refs is not None and result.refs & new_refs]
        remaining = [result for result in remaining if result not in matches]
        citing += matches
        new_refs = both_forms(result.id for result in matches)
    return citing


def blank_results(
    db: apsw.Connection, conversation: int, analyse: EntryAnalyser, pages: frozenset[str]
) -> BlankedResults:
    """Blanks the conversation's passages in stored results; updates their terms, hashes, seals and mirrors.

    `pages` are further pages that held its text. Call it before the conversation's own rows are deleted."""
    results = results_citing(results_of_others(db, conversation), references_to(db, conversation) | pages)
    blanked_refs = references_to(db, conversation) | pages | both_forms(result.id for result in results)
    for result in results:
        _blank(db, result.seq, blanked_refs, analyse)
    return BlankedResults(tuple(result.seq for result in results), both_forms(result.id for result in results) | pages)


def refs_in(text: str) -> frozenset[str]:
    """References of a result's passages; of truncated or damaged JSON, every word that may be a reference."""
    decoded = _decoded(text)
    if decoded is None:
        return frozenset(_TOKEN.findall(text)) if text.lstrip().startswith("{") else frozenset()
    return frozenset(ref for passage in _passages(decoded) for ref in _named(passage))


def passages_in(text: str) -> Iterator[tuple[str, str, str]]:
    """Reference, text and citation of each passage of a memory tool's result."""
    for passage in _passages(_decoded(text) or {}):
        if isinstance(content := passage.get("text"), str):
            yield next(iter(_named(passage)), ""), content, str(passage.get("cite", ""))


def _result(row: SqlRow) -> StoredToolResult:
    seq, id_, body, packed, chars, meta = row
    if body is None:
        return StoredToolResult(seq, id_, None)
    try:
        refs = refs_in(unpack(body, packed, chars))
    except Damaged:  # `check` names it
        return StoredToolResult(seq, id_, None)
    return StoredToolResult(seq, id_, refs | refs_in(_shown(readable_meta(meta))))


def _blank(db: apsw.Connection, seq: int, blanked_refs: frozenset[str], analyse: EntryAnalyser) -> None:
    sql = "SELECT e.conversation, e.id, e.speaker, e.body, e.packed, e.chars, e.meta FROM entries e WHERE e.seq = ?"
    row = first(db, sql, (seq,))
    assert row is not None
    conversation, id_, speaker, body, packed, chars, column = row
    text, meta = as_stored(_without(unpack(body, packed, chars), blanked_refs)), readable_meta(column)
    if shown := _shown(meta):
        meta["shown"] = _shortened(text, shown, blanked_refs, id_)
    cleared = cleared_fields(meta)
    replace_text(db, seq, text)
    run(db, "UPDATE entries SET meta = ? WHERE seq = ?", (from_meta(cleared), seq))
    seal_rows(db, [seq])
    put_terms(db, seq, text, speaker, analyse, cleared)
    note_change(db, "change", [seq])
    for table in ("requests", "epochs"):
        run(db, f"DELETE FROM {table} WHERE conversation = ?", (conversation,))
    run(db, "UPDATE mirrors SET head = x'' WHERE conversation = ?", (conversation,))  # marks the mirror as outdated


def _without(text: str, blanked_refs: frozenset[str]) -> str:
    """The result without passages of these references; `[deleted]` for a result that is not valid JSON."""
    decoded = _decoded(text)
    if decoded is None:
        return DELETED if refs_in(text) & blanked_refs else text
    if isinstance(decoded.get("passages"), list):
        return _encoded({**decoded, "passages": [_blanked(passage, blanked_refs) for passage in _passages(decoded)]})
    return _encoded(_blanked(decoded, blanked_refs))


def _shortened(text: str, shown: str, blanked_refs: frozenset[str], id_: str) -> str:
    """The excerpt that the model was shown, without these references; the whole text if that is not longer."""
    if len(text) <= len(shown):
        return text
    if _decoded(shown) is not None:
        return _without(shown, blanked_refs)
    length = len(shown.rpartition("\n")[0])  # its last line says how much more there is
    return f"{text[:length]}\n… recall {id_} brings the whole."


def _blanked(passage: dict[str, Any], blanked_refs: frozenset[str]) -> dict[str, Any]:
    named = _named(passage)
    if not named & blanked_refs:
        return passage
    cite = str(passage.get("cite", "")).rpartition(_SEPARATOR)[2]
    return {"cite": cite, **({"ref": passage["ref"]} if "ref" in passage else {}), "text": DELETED}


def _named(passage: Mapping[str, Any]) -> frozenset[str]:
    """References of a passage: the last part of its citation, and its field `ref`."""
    cite, ref = passage.get("cite"), passage.get("ref")
    return frozenset(
        reference_
        for reference_ in (cite.rpartition(_SEPARATOR)[2] if isinstance(cite, str) else "", ref)
        if reference_ and isinstance(reference_, str)
    )


def _passages(decoded: dict[str, Any]) -> list[dict[str, Any]]:
    listed = decoded.get("passages")
    if not isinstance(listed, list):
        return [decoded]
    return [cast("dict[str, Any]", passage) for passage in cast("list[object]", listed) if isinstance(passage, dict)]


def _shown(meta: Mapping[str, Any]) -> str:
    shown = meta.get("shown")
    return shown if isinstance(shown, str) else ""


def _decoded(text: str) -> dict[str, Any] | None:
    try:
        decoded: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", decoded) if isinstance(decoded, dict) else None


def _encoded(fields: dict[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False)
