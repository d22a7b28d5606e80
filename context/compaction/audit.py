"""Audit of a compaction, before anything leaves: what the leaving entries hold must not be lost.

Every number, path, address and name of code must be in the summary or in an entry that memory can recall. Decisions,
open points and what is to be remembered are looked for by actual searches in the store; a sentence that its search does
not find among the first hits is carried over word for word, within a bound; beyond it its terms must be in the index.
Where neither is so the audit fails, and nothing leaves. What the observation of an entry holds counts as found where
one search brings it. Questions without an answer yet are carried over as they stand.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from context.checklist import without_checklist
from context.compaction.open_questions import Discussion, Said
from context.errors import ContextError
from foundation.privacy import TextSource, clear
from foundation.text.sentences import sentences
from memory.observations.observation import identifiers
from memory.observations.store import StoredObservation
from memory.origin import DERIVED_FROM, MEMORY_TOOLS
from memory.records import Entry, EntryKind
from memory.search import Query, SearchResults
from models.fence import neutralise, reference
from models.messages import Role

KEPT_HEADING: Final = "Kept word for word:"
CARRY_SHARE: Final = 1 / 16  # of the working set's room, for sentences that are carried over
MOST_SEARCHES: Final = 12  # of one audit: they take some milliseconds each
MOST_CHARACTERS: Final = 400  # of a sentence
BY_USER, BY_MODEL = "Open question of the user", "Open question to the user"
_HITS = 10
_OPEN_LINE = re.compile(rf"- (?P<who>{BY_USER}|{BY_MODEL}): (?P<text>.*) \[[^\[\]\s]+\]")
_POINT = re.compile(
    r"\b(?:don't forget|do not forget|remember|keep in mind|must(?: not)?|never|always|decided?|agreed|settled"
    r"|going with|deadline|todo|to do|pending|open question|unresolved)\b"
    r"|记住|别忘|不要忘|务必|必须|决定|待办|截止|未解决|尚未",
    re.IGNORECASE,
)


class AuditFailed(ContextError):
    """Something would be lost by a compaction; nothing left."""

    code = "audit"


class CompactionAudit(Struct, frozen=True):
    """What was checked: `items` (numbers, paths, names, sentences), `searched` by a query of their own, `carried` over
    word for word. `lost` would be lost: the compaction must not be carried out."""

    items: int = 0
    searched: int = 0
    carried: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()

    def require(self) -> None:
        """Raises AuditFailed where something would be lost."""
        if self.lost:
            first = self.lost[0] if len(self.lost[0]) <= 80 else f"{self.lost[0][:79]}…"
            raise AuditFailed(
                "Nothing was archived",
                f"{len(self.lost):,} facts in the older turns would be lost: neither the summary nor a search contains "
                f"them, for example “{first}”.",
                "Nothing was changed. `palimpsest check` checks the index.",
            )


class AuditSources(Struct, frozen=True):
    """Where an audit looks: the leaving entries, their texts, those whose terms the index has, and the search.

    `observed` are the observations of the leaving entries, by the seq of what they are of; `kept` are the entries that
    stay, which may answer a question.
    """

    leaving: Sequence[Entry]
    text_of: Callable[[Entry], str]
    indexed: Collection[int]
    search: Callable[[Query], SearchResults]
    observed: Mapping[int, StoredObservation] = {}
    kept: Sequence[Entry] = ()


def audit(
    sources: AuditSources, summary: str, room: Callable[[str], bool], earlier: Sequence[str] = ()
) -> CompactionAudit:
    """Audits a summary. `room`: whether these lines may be carried over. `earlier`: lines that a summary carried which
    this one replaces: they are carried on."""
    audited = _Audit(sources, summary, room)
    audited.carry_on(earlier)
    audited.carry_questions()
    for entry in reversed(sources.leaving):
        if not _is_derived(entry):  # else its sources are stored themselves
            audited.take(entry)
    return CompactionAudit(audited.items, audited.searched, tuple(audited.carried[::-1]), tuple(audited.lost))


class _Audit:
    """The course of one audit, newest entries first."""

    def __init__(self, sources: AuditSources, summary: str, room: Callable[[str], bool]) -> None:
        self.items = self.searched = 0
        self.carried: list[str] = []
        self.lost: list[str] = []
        self._sources = sources
        self._summary = summary
        self._room = room
        talk = [entry for entry in (*sources.leaving, *sources.kept) if entry.kind is EntryKind.MESSAGE]
        self._talk = Discussion(
            [Said(e.seq, e.role is Role.USER, sources.text_of(e)) for e in talk if not _is_derived(e)]
        )

    def carry_on(self, lines: Sequence[str]) -> None:
        """Carries on what a summary carried, but questions that were answered since. Beyond the bound the oldest stay
        in the earlier summary, which is stored."""
        for line in reversed(lines):
            question = _OPEN_LINE.fullmatch(line)
            if question is None or not self._talk.is_answered(question["text"], question["who"] == BY_USER):
                self._carry(line)

    def carry_questions(self) -> None:
        """Carries the questions of the leaving entries that have no answer yet."""
        leaving = {entry.seq: entry for entry in self._sources.leaving}
        for question in reversed(self._talk.open_questions()):
            entry = leaving.get(question.seq)
            if entry is None:
                continue
            self.items += 1
            text = neutralise(clear(question.text, TextSource.OTHER))
            if text not in self._summary and not any(text in line for line in self.carried):
                who = BY_USER if entry.role is Role.USER else BY_MODEL
                self._carry(f"- {who}: {text} [{reference(entry.id)}]", self._lost_of(entry))

    def take(self, entry: Entry) -> None:
        """Audits one entry."""
        text = self._sources.text_of(entry)
        tokens = dict.fromkeys(identifiers(text))
        self.items += len(tokens)
        if entry.seq not in self._sources.indexed and entry.chars:
            self._take_tokens(entry, [token for token in tokens if token not in self._summary])
        for point in _points(entry, text):
            self.items += 1
            if point not in self._summary and not self._is_found(entry, point):
                line = f"- {neutralise(clear(point, TextSource.OTHER))} [{reference(entry.id)}]"
                self._carry(line, self._lost_of(entry))

    def _take_tokens(self, entry: Entry, missing: list[str]) -> None:
        """Carries the identifiers of an entry that the index does not have, but those that its observation has."""
        if missing and (note := self._sources.observed.get(entry.seq)):
            held = [token for token in missing if token in note.observation.text]
            if held and self._is_note_found(note):
                missing = [token for token in missing if token not in held]
        for at in range(0, len(missing), 20):
            line = f"- {' · '.join(missing[at : at + 20])} [{reference(entry.id)}]"
            self._carry(line, self.lost)

    def _is_found(self, entry: Entry, point: str) -> bool:
        """Whether a search finds the sentence; beyond MOST_SEARCHES, whether the index has the terms of its entry."""
        if self.searched >= MOST_SEARCHES:
            return entry.seq in self._sources.indexed
        self.searched += 1
        hits = self._sources.search(Query(text=point, limit=_HITS, as_it_stands=True)).hits
        if any(hit.entry == entry.seq or entry.id in hit.like or point in hit.snippet for hit in hits):
            return True
        note = self._sources.observed.get(entry.seq)
        return note is not None and point in note.observation.text and self._is_note_found(note)

    def _is_note_found(self, note: StoredObservation) -> bool:
        """Whether one search for an observation's title brings it."""
        if self.searched >= MOST_SEARCHES:
            return False
        self.searched += 1
        kinds = (EntryKind.OBSERVATION.value,)
        found = self._sources.search(Query(text=note.observation.title, limit=_HITS, kinds=kinds, as_it_stands=True))
        return any(hit.entry == note.seq for hit in found.hits)

    def _lost_of(self, entry: Entry) -> list[str] | None:
        return None if entry.seq in self._sources.indexed else self.lost

    def _carry(self, line: str, lost: list[str] | None = None) -> None:
        """Carries a line where there is room; else it is `lost`, where memory has not its words (None: it has)."""
        if self._room("\n".join([KEPT_HEADING, *self.carried, line])):
            self.carried.append(line)
        elif lost is not None:
            lost.append(line)


def kept_lines(summary: str) -> list[str]:
    """The lines that a summary carries word for word."""
    _, heading, rest = f"\n{summary}".partition(f"\n{KEPT_HEADING}\n")
    return without_checklist(f"\n{rest}").strip("\n").split("\n") if heading else []


def _points(entry: Entry, text: str) -> Iterator[str]:
    """The sentences of a message that decide, remind, or leave something open."""
    if entry.kind is not EntryKind.MESSAGE or not _POINT.search(text):
        return
    for sentence in sentences(text[:20_000]):
        if _POINT.search(sentence.text):
            yield sentence.text[:MOST_CHARACTERS]


def _is_derived(entry: Entry) -> bool:
    if not entry.is_evidence:
        return True
    return DERIVED_FROM in entry.meta or (entry.kind is EntryKind.TOOL_RESULT and entry.speaker in MEMORY_TOOLS)
