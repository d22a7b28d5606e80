"""Filters, settled once a query: names become numbers, and each is a mask over documents."""

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
from memory.records import EntryKind
from memory.search.column import Column
from memory.search.index.documents import Documents
from memory.search.index.postings import Posting
from memory.search.query.entity_filters import groups
from memory.search.query.query import KNOWLEDGE, NOTE, PROMPT, QUOTING, UNASKED, Query
from memory.search.query.syntax import one_term, required
from memory.search.ranking.bm25 import DocumentFilter
from models.messages import Role

_Mask = Callable[[Documents, Column], Column]

_LABELLED_CONVERSATIONS = """SELECT conversation FROM labels WHERE label = ?1
    UNION SELECT seq FROM conversations WHERE kind IN ('archive', 'knowledge') AND title = ?2"""
_TITLES = "SELECT seq, title FROM conversations WHERE kind <> 'knowledge'"
_KNOWN = "SELECT conversation FROM knowledge WHERE replaced_ms IS NULL"
_LATEST = """SELECT seq FROM conversations WHERE kind = 'chat' AND leaf IS NOT NULL
    ORDER BY updated_ms DESC, seq DESC LIMIT ?"""
_LABELLED_ENTRIES = """SELECT DISTINCT s.entry FROM archives a JOIN archive_pages h ON h.archive = a.seq
    JOIN spans s ON s.page = h.page JOIN entries e ON e.seq = s.entry
    WHERE (a.label = ?1 OR a.seq IN (SELECT archive FROM archive_tags WHERE tag = ?1))
    AND (a.conversation IS NULL OR a.conversation = e.conversation)"""


def entries_lending(query: Query) -> DocumentFilter:
    """Which entries lend their words to those beside them: neither what is in view already (the question itself is),
    nor what only quotes others' words."""
    masks = [_quotes_nobody, *([_not_among(query.exclude)] if query.exclude else [])]
    return lambda documents, some: np.logical_and.reduce([each(documents, some) for each in masks])


def entries_allowed(
    query: Query, cold: ColdStore, find: Callable[[str], Posting], kinds: tuple[str, ...] = ()
) -> DocumentFilter:
    """Which entries the query lets through. `find` gives the postings, and is asked when the first are to be judged.
    `kinds` are the workspace's own of entities."""
    masks: list[_Mask] = [lambda documents, some: documents["alive"][some] == 1, _kinds(query.kinds, cold)]
    if query.exclude:
        masks.append(_not_among(query.exclude))
    if not query.kinds and not query.speaker:
        masks.append(_quotes_nobody)
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
    if query.among is not None:
        masks.append(_in("conversation", sorted(query.among)))
    if query.latest:
        masks.append(_in("conversation", latest_conversations(cold, query.latest)))
    if query.around is not None and not query.kinds:
        masks.append(lambda documents, some: documents["kind"][some] != documents.code(EntryKind.PAGE.value))
    masks.extend(_of_words(query, find, kinds))
    return _all_of(masks)


def _all_of(masks: list[_Mask]) -> DocumentFilter:
    def allowed(documents: Documents, some: Column) -> Column:
        mask = np.ones(len(some), bool)
        for each in masks:
            mask &= each(documents, some)
        return mask

    return allowed


def notes_allowed(
    query: Query, notes: tuple[Note, ...], find: Callable[[str], Posting], kinds: tuple[str, ...] = ()
) -> DocumentFilter:
    """Which notes, of documents that are numbered as the notes are, the query lets through."""
    fits = np.array([note_allowed(query, note) for note in notes], bool)
    return _all_of([lambda _, some: fits[some], *_of_words(query, find, kinds)])


def note_allowed(query: Query, note: Note) -> bool:
    """Whether the query lets a note through. A note has no role, speaker or label."""
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


def _of_words(query: Query, find: Callable[[str], Posting], kinds: tuple[str, ...]) -> list[_Mask]:
    """What the entry's own row must hold or may not: marks, a phrase's words, each word where they are all wanted."""
    wording = query.wording
    needed = [frozenset({term}) for phrase in wording.phrases for term in required(phrase)]
    if query.exact:
        needed += [frozenset({term}) for term in required(wording.question)]
    needed += groups(query.types, query.concepts, query.files, query.entities, kinds)
    masks = [_holding(group, find) for group in dict.fromkeys(needed)]
    for word in wording.without:
        if term := one_term(word):
            holds = _holding(frozenset({term}), find)
            masks.append(lambda documents, some, holds=holds: ~holds(documents, some))
    return masks


def _holding(terms: frozenset[str], find: Callable[[str], Posting]) -> _Mask:
    """Documents that hold any of the terms."""
    held: list[Column] = []

    def mask(_: Documents, some: Column) -> Column:
        if not held:
            lists = [find(term).documents for term in terms]  # in order each; one twice among them does no harm
            held.append(lists[0] if len(lists) == 1 else np.sort(np.concatenate(lists), kind="stable"))
        holding = held[0]
        at = np.minimum(np.searchsorted(holding, some.astype(holding.dtype)), max(len(holding) - 1, 0))
        return holding[at] == some if len(holding) else np.zeros(len(some), bool)

    return mask


def _not_among(entries: frozenset[int]) -> _Mask:
    excluded = np.fromiter(entries, "i8", len(entries))
    return lambda documents, some: ~np.isin(documents["entry"][some], excluded)


def _quotes_nobody(documents: Documents, some: Column) -> Column:
    """False for the answers of the program's own `offline`: they quote, and what they quote is found itself."""
    quoting, answering = documents.code(QUOTING), documents.code(Role.ASSISTANT.value)
    return (documents["speaker"][some] != quoting) | (documents["role"][some] != answering)


def _kinds(kinds: tuple[str, ...], cold: ColdStore) -> _Mask:
    if PROMPT in kinds:
        others = _kinds(tuple(kind for kind in kinds if kind != PROMPT) or (NOTE,), cold)
        return lambda documents, some: _prompts(documents, some) | others(documents, some)
    if KNOWLEDGE in kinds:
        known = _in("conversation", [row[0] for row in cold.read(lambda db: fetch(db, _KNOWN))])
        others = _kinds(tuple(kind for kind in kinds if kind != KNOWLEDGE) or (NOTE,), cold)
        return lambda documents, some: known(documents, some) | others(documents, some)
    if kinds:
        return lambda documents, some: np.isin(documents["kind"][some], [documents.code(kind) for kind in kinds])
    return lambda documents, some: ~np.isin(documents["kind"][some], [documents.code(kind) for kind in UNASKED])


def _prompts(documents: Documents, some: Column) -> Column:
    message, user = documents.code(EntryKind.MESSAGE.value), documents.code(Role.USER.value)
    return (documents["kind"][some] == message) & (documents["role"][some] == user)


def _named(column: str, wanted: str) -> _Mask:
    """Names are compared without regard to case."""

    def mask(documents: Documents, some: Column) -> Column:
        codes = [code for code, name in enumerate(documents.names) if name.casefold() == wanted.casefold()]
        return np.isin(documents[column][some], codes)

    return mask


def _since(ms: int) -> _Mask:
    return lambda documents, some: documents["time"][some] >= ms


def _until(ms: int) -> _Mask:
    return lambda documents, some: documents["time"][some] < ms


def _in(column: str, seqs: list[int]) -> _Mask:
    return lambda documents, some: np.isin(documents[column][some], seqs)


def _labelled(cold: ColdStore, label: str) -> _Mask:
    def read(db: apsw.Connection) -> tuple[list[int], list[int]]:
        conversations = fetch(db, _LABELLED_CONVERSATIONS, (label, to_bytes(label)))
        return [row[0] for row in conversations], [row[0] for row in fetch(db, _LABELLED_ENTRIES, (label,))]

    conversations, entries = cold.read(read)
    by_conversation, by_entry = _in("conversation", conversations), _in("entry", entries)
    return lambda documents, some: by_conversation(documents, some) | by_entry(documents, some)


def latest_conversations(cold: ColdStore, most: int) -> list[int]:
    """The seqs of the conversations that were gone on with last, the last first."""
    return [row[0] for row in cold.read(lambda db: fetch(db, _LATEST, (most,)))]


def _conversations(cold: ColdStore, ref: str) -> list[int]:
    """The seqs of the conversations so called: several where imports from two sources share an id, or where it is a
    part of several titles, in any case. Raises NotFound."""
    seqs = [row[0] for row in cold.read(lambda db: fetch(db, "SELECT seq FROM conversations WHERE id = ?", (ref,)))]
    if seqs:
        return seqs
    try:
        return [cold.conversation(ref).seq]
    except NotFound:
        part, titled = fold(ref.strip()), cold.read(lambda db: fetch(db, _TITLES))
        seqs = [seq for seq, title in titled if part and title and part in fold(to_text(title))]
        if not seqs:
            raise
        return seqs
