"""The hot memory's notes as documents: few, kept in memory, analysed anew only where they changed."""

from foundation.clock import to_ms
from foundation.text.analysis import analyse
from foundation.text.term_codec import split
from memory.cold.changes import TermsRow
from memory.hot.note import Note
from memory.records import AnalysedTerms, EntryAnalyser
from memory.search.index.documents import Documents
from memory.search.index.postings import Posting, RecentPostings, find
from memory.search.query.query import NOTE


class NoteDocuments:
    """Document n is note n of `notes`. No note is another's neighbour."""

    def __init__(self, analyse: EntryAnalyser = analyse) -> None:
        self._analyse = analyse
        self.notes: tuple[Note, ...] = ()
        self.documents = Documents()
        self._recent = RecentPostings()
        self._analysed: dict[tuple[str, str], AnalysedTerms] = {}

    def keep_up(self, notes: tuple[Note, ...]) -> None:
        """Takes the notes as they stand now."""
        if notes == self.notes:
            return
        self._analysed = {
            key: self._analysed.get(key) or self._analyse(note.text, note.heading)
            for note in notes
            if (key := (note.heading, note.text))
        }
        self.notes, self.documents, self._recent = notes, Documents(), RecentPostings()
        for place, note in enumerate(notes):
            terms = self._analysed[note.heading, note.text]
            row = TermsRow(place, place, NOTE, "", "", to_ms(note.time) if note.time else 0, terms.packed, terms.length)
            self._recent.put(self.documents.put(row), *split(terms.packed))

    def find(self, term: str) -> Posting:
        return find(term, (self._recent,))
