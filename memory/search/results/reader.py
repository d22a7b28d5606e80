"""Reads the passages of ranked hits, a few at a time, and turns them into a page of results."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, islice

from msgspec.structs import replace

from foundation.text.analysis import term_list
from foundation.trust import Citation, Trust
from memory.cold import ColdStore
from memory.cold.file_places import KIND as KNOWN
from memory.cold.file_places import FileSpan, best_spot, spots
from memory.cold.sql import fetch
from memory.cold.unverified import unverified_answers
from memory.errors import MemoryFailure
from memory.hot.note import Note
from memory.origin import UNVERIFIED_SPEAKER, Origin, origin_of
from memory.pages.types import EntryText
from memory.passage_cache import PassageCache
from memory.records import Conversation, Entry, EntryKind
from memory.search.query.query import KNOWLEDGE, NOTE, Hit, Query
from memory.search.ranking.retrieve import NewestHits, RankedHit, RankedHits
from memory.search.results.contradictions import mark_superseded
from memory.search.results.diversify import deduplicate, diversify_hits
from memory.search.results.evidence import is_evidence
from memory.search.results.features import BYTES_A_CHARACTER, TextFeatures
from memory.search.results.note_copies import copies_entries
from memory.search.results.snippets import best_window, best_windows, marked, shown_tokens

_NOTES = 1
_NEAR = 0.75  # of an unverified answer's score: what others say with that much comes before it
_TOGETHER = 15  # least number of hits that are arranged together, however few are shown: reordering needs alternatives
_PAGE_OF = "SELECT page FROM spans WHERE entry = ? AND start <= ? ORDER BY start DESC LIMIT 1"


class HitReader:
    """Reads the hits of one query. Findings of source 1 are notes, of the others entries."""

    def __init__(
        self,
        cold: ColdStore,
        passages: PassageCache,
        query: Query,
        notes: Sequence[Note],
        findings: RankedHits | NewestHits,
    ) -> None:
        self._cold = cold
        self._passages = passages
        self._query = query
        self._notes = notes
        self._findings = findings
        self._wording = query.wording
        self._conversations: dict[int, Conversation] = {}
        self._unverified = frozenset[int]()
        self._windows: dict[str, list[tuple[int, int]]] = {}  # by text: an agent's outputs repeat one another
        self._by_snippet: dict[str, TextFeatures] = {}
        passages.refresh()

    def page(self) -> tuple[tuple[Hit, ...], bool]:
        """The hits of the query's page, and whether there are more after them."""
        start = (self._query.page - 1) * self._query.limit
        end = start + self._query.limit
        if isinstance(self._findings, NewestHits):  # a list without a question keeps duplicates
            shown = list(islice(self._hits(), end + 1))
        else:
            block = max(self._query.limit * 3 // 2, _TOGETHER)
            shown = deduplicate(self._hits(), -(-end // block) * block, self._features)
            shown = shown if self._query.newest else self._arranged(shown, block)
        worth = self._findings.worth
        marks = (marked(hit.snippet, worth, self._features(hit).spans) if worth else () for hit in shown[start:end])
        hits = (replace(hit, marks=spans) for hit, spans in zip(shown[start:end], marks, strict=True))
        return tuple(hits), len(shown) > end

    def _arranged(self, hits: Sequence[Hit], block: int) -> list[Hit]:
        """Diversifies block by block, so that a page begins where the one before it ended."""
        blocks = (diversify_hits(hits[at : at + block], block * 2 // 3) for at in range(0, len(hits), block))
        arranged = [
            hit for block_hits in blocks for hit in mark_superseded(block_hits, self._findings.worth, self._features)
        ]
        if not (self._query.exact or self._query.kinds or self._wording.phrases):
            asked = frozenset(term_list(self._wording.question))
            arranged = _lower_unverified(arranged)
            arranged.sort(key=lambda hit: not is_evidence(hit, asked))
        lowest = accumulate((hit.score for hit in arranged), min)
        return [replace(hit, placed=placed) for hit, placed in zip(arranged, lowest, strict=True)]

    def _features(self, hit: Hit) -> TextFeatures:
        """Features of the snippet, from the cache where an earlier query computed them."""
        if hit.snippet not in self._by_snippet:
            owner = hit.note if hit.entry is None else hit.entry
            size = BYTES_A_CHARACTER * len(hit.snippet) + 500
            features = self._passages.get((owner, hit.snippet), owner, size, lambda: TextFeatures(hit.snippet))
            self._by_snippet[hit.snippet] = features
        return self._by_snippet[hit.snippet]

    def _best_windows(self, text: str) -> list[tuple[int, int]]:
        if text not in self._windows:
            self._windows[text] = best_windows(
                text, self._findings.worth, self._query.window_tokens or shown_tokens(text)
            )
        return self._windows[text]

    def _hits(self) -> Iterator[Hit]:
        """Hits, read lazily; deleted entries are skipped."""
        findings, counts = iter(self._findings), dict[int, int]()
        while batch := list(islice(findings, self._query.limit + 5)):
            entries = self._cold.entries([finding.key for finding in batch if finding.source != _NOTES])
            self._unverified |= unverified_answers(self._cold, entries.values())
            for finding in batch:
                if self._query.each and self._exceeds_limit(finding, entries, counts):
                    continue
                hit = self._hit(finding, entries)
                if hit and (self._query.trust is None or hit.trust is self._query.trust):
                    yield hit

    def _exceeds_limit(self, finding: RankedHit, entries: Mapping[int, Entry], counts: dict[int, int]) -> bool:
        """Counts the hit; True where its conversation has reached the limit per conversation."""
        if finding.source == _NOTES or finding.key not in entries:
            return False
        conversation = entries[finding.key].conversation_seq
        counts[conversation] = counts.get(conversation, 0) + 1
        return counts[conversation] > self._query.each

    def _hit(self, finding: RankedHit, entries: Mapping[int, Entry]) -> Hit | None:
        if finding.source == _NOTES:
            return self._note_hit(finding, self._notes[finding.key])
        entry = entries.get(finding.key)
        return self._entry_hit(finding, entry) if entry else None

    def _note_hit(self, finding: RankedHit, note: Note) -> Hit | None:
        if not self._wording.matches(note.text):
            return None
        if self._findings.worth and not self._query.kinds and copies_entries(note.text, self._cold):
            return None  # as derived entries: what it repeats is found
        start, end = best_window(note.text, self._findings.worth, self._query.window_tokens or shown_tokens(note.text))
        lines = (note.line_first, note.line_last)
        return Hit(
            id=note.id,
            kind=NOTE,
            conversation=note.conversation or "",
            note=note.id,
            time=note.time,
            score=finding.score,
            snippet=note.text[start:end],
            text_span=(start, end),
            citation=Citation(kind="memory", ref=note.path, title=note.heading, time=note.time, lines=lines),
            trust=Trust.EXACT,
            origin=Origin.FILE,
            parts=finding.parts,
        )

    def _entry_hit(self, finding: RankedHit, entry: Entry) -> Hit | None:
        try:
            passage = self._passages.passage_as_of_refresh(entry)
            conversation = self._conversation(entry.conversation_seq)
        except MemoryFailure:  # damaged, which the vault reports, or deleted meanwhile: either way it cannot be quoted
            return None
        if not self._wording.matches(passage.text) or not passage.text.strip():
            return None  # an answer that only called a tool
        (start, end), *further = self._best_windows(passage.text)
        spot = self._spot(conversation, entry, passage.text, start, end)
        start, end = spot.start, spot.end
        page = self._page_of(entry, start, passage)
        is_file = entry.kind is EntryKind.PAGE
        is_page = is_file and bool(page)
        title = conversation.title
        trust = passage.trust if spot.sound and not spot.read_by and not conversation.damaged else Trust.APPROXIMATE
        unverified = trust is Trust.EXACT and entry.seq in self._unverified and not conversation.source
        citation = Citation(
            kind="page" if is_page else "entry",
            ref=page if is_page else entry.id,
            title=title,
            conversation=entry.conversation,
            speaker=UNVERIFIED_SPEAKER if unverified else entry.said_by,
            time=entry.said_at,
            place=spot.cited,
            page=page,
            device=entry.device,
        )
        return Hit(
            id=citation.ref,
            kind=KNOWLEDGE if is_file and conversation.kind == KNOWN else entry.kind.value,
            conversation=entry.conversation,
            entry=entry.seq,
            entry_id=entry.id,
            time=entry.said_at,
            role="" if is_file else entry.role.value,  # a file has no speaker
            speaker="" if is_file else entry.speaker,
            score=finding.score,
            snippet=passage.text[start:end],
            text_span=(start, end),
            further=tuple(passage.text[first:last] for first, last in further) if not spot.cited else (),
            citation=citation,
            trust=Trust.APPROXIMATE if unverified else trust,
            unverified=unverified,
            origin=origin_of(entry.kind, entry.role, imported=bool(conversation.source), speaker=entry.speaker),
            parts=finding.parts,
        )

    def _spot(self, conversation: Conversation, entry: Entry, text: str, start: int, end: int) -> FileSpan:
        """The snippet's span, and its location in the file for a page of a knowledge file."""
        if conversation.kind != KNOWN:
            return FileSpan(start, end)
        spans = self._cold.read(lambda db: spots(db, conversation.seq, entry.seq, start, end))
        return best_spot(text, spans, self._findings.worth)

    def _conversation(self, seq: int) -> Conversation:
        if seq not in self._conversations:
            self._conversations[seq] = self._cold.conversation_at(seq)
        return self._conversations[seq]

    def _page_of(self, entry: Entry, start: int, passage: EntryText) -> str:
        """Id of the page on which the snippet begins; "" where the text is not archived."""
        if len(passage.pages) < 2:
            return passage.pages[0] if passage.pages else ""
        rows = self._cold.read(lambda db: fetch(db, _PAGE_OF, (entry.seq, start)))
        return str(rows[0][0]) if rows else passage.pages[0]


def _lower_unverified(hits: Sequence[Hit]) -> list[Hit]:
    """Puts each unverified answer behind the hits that have _NEAR of its score."""
    placed = [hit for hit in hits if not hit.unverified]
    for answer in (hit for hit in hits if hit.unverified):
        near = (place for place, hit in enumerate(placed, 1) if hit.score >= _NEAR * answer.score)
        placed.insert(max(near, default=0), answer)
    return placed
