"""Filters, resolved once per query: names become numbers, and each filter is a mask over documents."""

from collections.abc import Callable

import apsw
import numpy as np

from foundation.clock import to_ms
from foundation.text.folding import fold
from memory.cold import ColdStore
from memory.cold.encoding import to_bytes, to_text
from memory.cold.sql import fetch
from memory.errors import NotFound
from memory.hot.note import Note
from memory.origin import QUOTING
from memory.records import EntryKind
from memory.scope import ALL, SCOPE
from memory.search.column import Column
from memory.search.index.documents import Documents
from memory.search.index.postings import Posting
from memory.search.query.entity_filters import tag_groups
from memory.search.query.query import KNOWLEDGE, NOTE, PROMPT, Query
from memory.search.query.syntax import one_term, required_terms
from memory.search.ranking.bm25 import DocumentFilter
from memory.search.ranking.retrieve import all_of
from models.messages import Role

_Mask = Callable[[Documents, Column], Column]

_LABELLED_CONVERSATIONS = """SELECT conversation FROM labels WHERE label = ?1
    UNION SELECT seq FROM conversations WHERE kind IN ('archive', 'knowledge') AND title = ?2"""
_TITLES = "SELECT seq, title FROM conversations WHERE kind <> 'knowledge'"
_KNOWN = """SELECT conversation FROM knowledge WHERE replaced_ms IS NULL
    UNION SELECT seq FROM conversations WHERE kind = 'knowledge' AND seq NOT IN (SELECT conversation FROM knowledge)"""
_LATEST = """SELECT seq FROM conversations WHERE kind = 'chat' AND leaf IS NOT NULL
    ORDER BY updated_ms DESC, seq DESC LIMIT ?"""
_SCOPED = "SELECT conversation FROM labels WHERE label > ? AND label < ?"
_OTHER_SCOPES = """SELECT seq FROM conversations WHERE kind IN ('chat', 'delegate')
    AND seq NOT IN (SELECT conversation FROM labels WHERE label = ?)"""
_LABELLED_ENTRIES = """SELECT DISTINCT s.entry FROM archives a JOIN archive_pages h ON h.archive = a.seq
    JOIN spans s ON s.page = h.page JOIN entries e ON e.seq = s.entry
    WHERE (a.label = ?1 OR a.seq IN (SELECT archive FROM archive_tags WHERE tag = ?1))
    AND (a.conversation IS NULL OR a.conversation = e.conversation)"""


def lending_filter(query: Query) -> DocumentFilter:
    """Entries whose terms count for their neighbours: not those in view (the question itself is)."""
    if not query.exclude:
        return all_of
    in_view = np.fromiter(query.exclude, "i8", len(query.exclude))
    return lambda documents, rows: ~np.isin(documents["entry"][rows], in_view)


def entry_filter(
    query: Query, cold: ColdStore, find: Callable[[str], Posting], kinds: tuple[str, ...] = ()
) -> DocumentFilter:
    """Entries that pass the query's filters. `find` gives postings, on first use. `kinds` are the workspace's own
    entity kinds."""
    masks: list[_Mask] = [lambda documents, rows: documents["alive"][rows] == 1, _kinds(query.kinds, cold)]
    if query.exclude:
        masks.append(_not_among(query.exclude))
    for column, wanted in (("role", query.role), ("speaker", query.speaker)):
        if wanted:
            masks.append(_named(column, wanted))
    if query.since:
        masks.append(_since(to_ms(query.since)))
    if query.until:
        masks.append(_until(to_ms(query.until)))
    if query.conversation:
        masks.append(_in("conversation", _conversations(cold, query.conversation)))
    if query.label:
        masks.append(_labelled(cold, query.label))
    if query.scope is not None and query.scope != ALL:
        masks += [mask] if (mask := _in_scope(cold, query.scope)) else []
    if query.among is not None:
        masks.append(_in("conversation", sorted(query.among)))
    if query.latest:
        masks.append(_in("conversation", latest_conversations(cold, query.latest)))
    if query.around is not None and not query.kinds:
        masks.append(lambda documents, rows: documents["kind"][rows] != documents.code(EntryKind.PAGE.value))
    masks.extend(_term_masks(query, find, kinds))
    return _all_of(masks)


def derived_filter(
    query: Query, cold: ColdStore, find: Callable[[str], Posting], kinds: tuple[str, ...] = ()
) -> DocumentFilter | None:
    """Derived entries (memory/origin.py) that pass the query's filters; None for a ranking of entries of any kind and
    speaker, which has none. A list has the answers among them, except those that only quote; a search for conversations
    has their summaries, and one by type, concept or file the observations."""
    allowed = entry_filter(query, cold, find, kinds)
    if query.each:
        return _both(allowed, _only("kind", EntryKind.SUMMARY.value))
    if query.kinds or query.speaker:
        return allowed
    if query.types or query.concepts or query.files:
        return _both(allowed, _only("kind", EntryKind.OBSERVATION.value))
    return None if query.text.strip() else _both(allowed, _answers)


def _in_scope(cold: ColdStore, scope: str) -> _Mask | None:
    """Leaves out conversations of other scopes (memory/scope.py); None where there are none."""
    sql, values = (_OTHER_SCOPES, (f"{SCOPE}{scope}",)) if scope else (_SCOPED, (SCOPE, SCOPE[:-1] + ";"))
    outside = [row[0] for row in cold.read(lambda db: fetch(db, sql, values))]
    return (lambda documents, rows: ~np.isin(documents["conversation"][rows], outside)) if outside else None


def _both(one: DocumentFilter, other: _Mask) -> DocumentFilter:
    return lambda documents, rows: one(documents, rows) & other(documents, rows)


def _only(column: str, name: str) -> _Mask:
    return lambda documents, rows: documents[column][rows] == documents.code(name)


def _answers(documents: Documents, rows: Column) -> Column:
    """True for messages other than those of the speaker that only quotes."""
    is_message = documents["kind"][rows] == documents.code(EntryKind.MESSAGE.value)
    return is_message & (documents["speaker"][rows] != documents.code(QUOTING))


def _all_of(masks: list[_Mask]) -> DocumentFilter:
    def allowed(documents: Documents, rows: Column) -> Column:
        mask = np.ones(len(rows), bool)
        for mask_of in masks:
            mask &= mask_of(documents, rows)
        return mask

    return allowed


def note_filter(
    query: Query, notes: tuple[Note, ...], find: Callable[[str], Posting], kinds: tuple[str, ...] = ()
) -> DocumentFilter:
    """Notes that pass the query's filters; document n is note n."""
    fits = np.array([note_allowed(query, note) for note in notes], bool)
    return _all_of([lambda _, rows: fits[rows], *_term_masks(query, find, kinds)])


def note_allowed(query: Query, note: Note) -> bool:
    """Whether a note passes the query's filters. A note has no role, speaker or label."""
    if (query.kinds and NOTE not in query.kinds) or query.role or query.speaker or query.label:
        return False
    if query.among is not None or query.latest:
        return False
    if query.conversation and note.conversation != query.conversation:
        return False
    if (query.since or query.until) and note.time is None:
        return False
    after = query.since is None or (note.time is not None and note.time >= query.since)
    return after and (query.until is None or (note.time is not None and note.time < query.until))


def _term_masks(query: Query, find: Callable[[str], Posting], kinds: tuple[str, ...]) -> list[_Mask]:
    """Terms that an entry must hold or must not: tags, the terms of a phrase, every term of an exact query."""
    wording = query.wording
    required_groups = [frozenset({term}) for phrase in wording.phrases for term in required_terms(phrase)]
    if query.exact:
        required_groups += [frozenset({term}) for term in required_terms(wording.question)]
    required_groups += tag_groups(query.types, query.concepts, query.files, query.entities, kinds)
    masks = [_holding(group, find) for group in dict.fromkeys(required_groups)]
    for word in wording.without:
        if term := one_term(word):
            holds = _holding(frozenset({term}), find)
            masks.append(lambda documents, rows, holds=holds: ~holds(documents, rows))
    return masks


def _holding(terms: frozenset[str], find: Callable[[str], Posting]) -> _Mask:
    """Documents that hold any of the terms."""
    sorted_documents: list[Column] = []

    def mask(_: Documents, rows: Column) -> Column:
        if not sorted_documents:
            lists = [find(term).documents for term in terms]  # each is sorted; duplicates do no harm
            sorted_documents.append(lists[0] if len(lists) == 1 else np.sort(np.concatenate(lists), kind="stable"))
        holding = sorted_documents[0]
        offsets = np.minimum(np.searchsorted(holding, rows.astype(holding.dtype)), max(len(holding) - 1, 0))
        return holding[offsets] == rows if len(holding) else np.zeros(len(rows), bool)

    return mask


def _not_among(entries: frozenset[int]) -> _Mask:
    excluded = np.fromiter(entries, "i8", len(entries))
    return lambda documents, rows: ~np.isin(documents["entry"][rows], excluded)


def _kinds(kinds: tuple[str, ...], cold: ColdStore) -> _Mask:
    if PROMPT in kinds:
        others = _kinds(tuple(kind for kind in kinds if kind != PROMPT) or (NOTE,), cold)
        return lambda documents, rows: _prompts(documents, rows) | others(documents, rows)
    if KNOWLEDGE in kinds:
        known = _in("conversation", [row[0] for row in cold.read(lambda db: fetch(db, _KNOWN))])
        others = _kinds(tuple(kind for kind in kinds if kind != KNOWLEDGE) or (NOTE,), cold)
        return lambda documents, rows: known(documents, rows) | others(documents, rows)
    if kinds:
        return lambda documents, rows: np.isin(documents["kind"][rows], [documents.code(kind) for kind in kinds])
    return all_of


def _prompts(documents: Documents, rows: Column) -> Column:
    message, user = documents.code(EntryKind.MESSAGE.value), documents.code(Role.USER.value)
    return (documents["kind"][rows] == message) & (documents["role"][rows] == user)


def _named(column: str, wanted: str) -> _Mask:
    """Compares names without regard to case."""

    def mask(documents: Documents, rows: Column) -> Column:
        codes = [code for code, name in enumerate(documents.names) if name.casefold() == wanted.casefold()]
        return np.isin(documents[column][rows], codes)

    return mask


def _since(ms: int) -> _Mask:
    return lambda documents, rows: documents["time"][rows] >= ms


def _until(ms: int) -> _Mask:
    return lambda documents, rows: documents["time"][rows] < ms


def _in(column: str, seqs: list[int]) -> _Mask:
    return lambda documents, rows: np.isin(documents[column][rows], seqs)


def _labelled(cold: ColdStore, label: str) -> _Mask:
    def read(db: apsw.Connection) -> tuple[list[int], list[int]]:
        conversations = fetch(db, _LABELLED_CONVERSATIONS, (label, to_bytes(label)))
        return [row[0] for row in conversations], [row[0] for row in fetch(db, _LABELLED_ENTRIES, (label,))]

    conversations, entries = cold.read(read)
    by_conversation, by_entry = _in("conversation", conversations), _in("entry", entries)
    return lambda documents, rows: by_conversation(documents, rows) | by_entry(documents, rows)


def latest_conversations(cold: ColdStore, limit: int) -> list[int]:
    """Seqs of the most recently updated conversations, newest first."""
    return [row[0] for row in cold.read(lambda db: fetch(db, _LATEST, (limit,)))]


def _conversations(cold: ColdStore, ref: str) -> list[int]:
    """Seqs of the conversations of that id or title: several where imports from two sources share an id, or where `ref`
    is a part of several titles, in any case. Raises NotFound."""
    seqs = [row[0] for row in cold.read(lambda db: fetch(db, "SELECT seq FROM conversations WHERE id = ?", (ref,)))]
    if seqs:
        return seqs
    try:
        return [cold.conversation(ref).seq]
    except NotFound:
        folded, titles = fold(ref.strip()), cold.read(lambda db: fetch(db, _TITLES))
        seqs = [seq for seq, title in titles if folded and title and folded in fold(to_text(title))]
        if not seqs:
            raise
        return seqs
