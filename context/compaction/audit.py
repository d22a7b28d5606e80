"""Audit of a compaction, before anything leaves: what the leaving entries hold must not be lost.

Every number, path, address and name of code must be in the summary or in an entry that memory can recall. Decisions,
open points and what is to be remembered are looked for by actual searches in the store; a sentence that its search does
not find among the first hits is carried over word for word, within a bound; beyond it its terms must be in the index.
Where neither is so the audit fails, and nothing leaves.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final

from msgspec import Struct

from context.checklist import without_checklist
from context.errors import ContextError
from foundation.privacy import TextSource, clear
from foundation.text.sentences import sentences
from memory.observations.observation import identifiers
from memory.origin import DERIVED_FROM, MEMORY_TOOLS
from memory.records import Entry, EntryKind
from memory.search import Query, SearchResults
from models.fence import neutralise, reference

KEPT_HEADING: Final = "Kept word for word:"
CARRY_SHARE: Final = 1 / 16  # of the working set's room, for sentences that are carried over
MOST_SEARCHES: Final = 12  # of one audit: they take some milliseconds each
MOST_CHARACTERS: Final = 400  # of a sentence
_HITS = 10
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
                f"{len(self.lost):,} things in the older turns would be lost: neither the summary nor a search has "
                f"them, “{first}” for one.",
                "The turns stay in view. `palimpsest check` tells whether the index is whole.",
            )


class AuditSources(Struct, frozen=True):
    """Where an audit looks: the leaving entries, their texts, those whose terms the index has, and the search."""

    leaving: Sequence[Entry]
    text_of: Callable[[Entry], str]
    indexed: Collection[int]
    search: Callable[[Query], SearchResults]


def audit(
    sources: AuditSources, summary: str, room: Callable[[str], bool], earlier: Sequence[str] = ()
) -> CompactionAudit:
    """Audits a summary. `room`: whether these lines may be carried over. `earlier`: lines that a summary carried which
    this one replaces: they are carried on."""
    items, lost, carried, searched = 0, list[str](), list[str](), 0
    for line in reversed(earlier):  # beyond the bound the oldest stay in the earlier summary, which is stored
        _carry(line, carried, None, room)
    for entry in reversed(sources.leaving):
        if _is_derived(entry):
            continue  # its sources are stored themselves
        text = sources.text_of(entry)
        tokens = dict.fromkeys(identifiers(text))
        items += len(tokens)
        if entry.seq not in sources.indexed and entry.chars:
            missing = [token for token in tokens if token not in summary]
            for at in range(0, len(missing), 20):
                _carry(f"- {' · '.join(missing[at : at + 20])} [{reference(entry.id)}]", carried, lost, room)
        for point in _points(entry, text):
            items += 1
            if point in summary:
                continue
            if searched < MOST_SEARCHES:
                searched += 1
                found = _is_found(sources.search, entry, point)
            else:
                found = entry.seq in sources.indexed
            if not found:
                line = f"- {neutralise(clear(point, TextSource.OTHER))} [{reference(entry.id)}]"
                _carry(line, carried, None if entry.seq in sources.indexed else lost, room)
    return CompactionAudit(items, searched, tuple(carried[::-1]), tuple(lost))


def kept_lines(summary: str) -> list[str]:
    """The lines that a summary carries word for word."""
    _, heading, rest = f"\n{summary}".partition(f"\n{KEPT_HEADING}\n")
    return without_checklist(f"\n{rest}").strip("\n").split("\n") if heading else []


def _carry(line: str, carried: list[str], lost: list[str] | None, room: Callable[[str], bool]) -> None:
    """Carries a line where there is room; else it is `lost`, where memory has not its words (None: it has)."""
    if room("\n".join([KEPT_HEADING, *carried, line])):
        carried.append(line)
    elif lost is not None:
        lost.append(line)


def _points(entry: Entry, text: str) -> Iterator[str]:
    """The sentences of a message that decide, remind, or leave something open."""
    if entry.kind is not EntryKind.MESSAGE or not _POINT.search(text):
        return
    for sentence in sentences(text[:20_000]):
        if _POINT.search(sentence.text):
            yield sentence.text[:MOST_CHARACTERS]


def _is_found(search: Callable[[Query], SearchResults], entry: Entry, point: str) -> bool:
    hits = search(Query(text=point, limit=_HITS, as_it_stands=True)).hits
    return any(hit.entry == entry.seq or entry.id in hit.like or point in hit.snippet for hit in hits)


def _is_derived(entry: Entry) -> bool:
    return DERIVED_FROM in entry.meta or (entry.kind is EntryKind.TOOL_RESULT and entry.speaker in MEMORY_TOOLS)
