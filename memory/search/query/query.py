"""A query and its results."""

from datetime import datetime
from typing import Any

from msgspec import Struct

from foundation.clock import iso
from foundation.trust import Citation, Trust
from memory.origin import Origin
from memory.records import EntryKind
from memory.search.query.syntax import ParsedQuery, parse_text

NOTE = "memory"
"""The kind of a note of the hot memory, among the kinds of entries."""

KNOWLEDGE = "knowledge"
"""The kind of a page of the newest version of a knowledge file."""

PROMPT = "prompt"
"""The kind of the user's own messages, among the kinds that a query may name."""

KINDS = (*(kind.value for kind in EntryKind), NOTE, KNOWLEDGE, PROMPT)

CONVERSATION = "conversation"
"""As a kind: the results are conversations, each represented by its best passage."""

CONVERSATION_KINDS = (
    EntryKind.MESSAGE.value,
    EntryKind.TOOL_RESULT.value,
    EntryKind.SUMMARY.value,
    EntryKind.OBSERVATION.value,
)
"""Kinds of entries by which a conversation is found."""

LIKELY = 0.3
"""Likelihood from which on `SearchResults.found` is true (ranking/confidence.py): of the answerable questions of the
fit 5 in 100 are below it, of the unanswerable ones 48."""

BEST = "best"
"""As `Query.around`: around the best hit of the query's text."""


class Query(Struct, frozen=True, kw_only=True):
    """A search query. Without `text` it lists the entries that pass the filters, newest first.

    `conversation` is an id, a title, or a prefix of an id. `label` is a conversation's or an archive's. `exclude` are
    seqs of entries (those in view already). `since` is inclusive, `until` exclusive. `threshold` is a minimum score.
    `scope` limits entries to the conversations of a scope (memory/scope.py): None and "all" search every scope.
    `among` are seqs of conversations; only these are searched. `each` is the maximum number of passages from one
    conversation, ranked by their own terms and not by those of the whole conversation; 0 for any number.
    `types`, `concepts`, `files` and `entities` are tags: an entry must have one of each that is given.
    `exact`: the passage itself must hold each term of the text. `newest`: in order of time, not of relevance.
    `around` lists the timeline of a moment, of the entry with that id, or of the best hit within its conversation
    (BEST), oldest first, with `before` and `after` entries around it. `latest`: only the so many most recently updated
    conversations; without
    text, one conversation after the other, each in order of time. `without` names signals of the ranking that are
    switched off. Quotes and dashes in the text are operators (query/syntax.py), unless `as_it_stands`.
    `filters_decide`: the text only ranks what passes the filters, and leaves none of it out.
    Derived entries (memory/origin.py) are found only where `kinds` or `speaker` is given: their sources are found
    themselves. A list without text has the answers among them.
    """

    text: str = ""
    limit: int = 10
    page: int = 1
    exclude: frozenset[int] = frozenset()
    window_tokens: int = 0  # of a snippet, at most; 0 for a snippet to be shown
    kinds: tuple[str, ...] = ()
    role: str = ""
    speaker: str = ""
    since: datetime | None = None
    until: datetime | None = None
    conversation: str = ""
    label: str = ""
    scope: str | None = None
    trust: Trust | None = None
    threshold: float = 0.0
    explain: bool = False
    among: frozenset[int] | None = None
    each: int = 0
    types: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    exact: bool = False
    newest: bool = False
    around: datetime | str | None = None
    before: int = 5
    after: int = 5
    latest: int = 0
    without: frozenset[str] = frozenset()
    as_it_stands: bool = False
    filters_decide: bool = False

    @property
    def wording(self) -> ParsedQuery:
        """The parsed text."""
        return ParsedQuery(self.text.strip()) if self.as_it_stands else parse_text(self.text)


class Hit(Struct, frozen=True, kw_only=True):
    """A hit: one passage.

    `entry` is its seq in the cold store, `note` its id in the hot memory; the other is None. `score` is from 0 to 1;
    `placed` is the lowest of the hits before it, which it may exceed where it was moved behind them.
    `origin` is whose words they are (memory/origin.py). `text_span` is the snippet's span in the whole passage, in
    characters; `further` are short parts of a long passage with words of the query that the snippet lacks. `like` are
    the ids of duplicate hits that were folded into this one, and `repeated` is when the newest of them with this
    origin was said. `superseded_by` is the id of a newer hit that contradicts it. `marks` are spans of the query's
    terms in the snippet, in characters. `parts` are the components of the score, where the query has `explain`.
    `unverified`: the assistant's own answer that nothing backs. `time` is None if an import named none.
    """

    id: str
    kind: str
    conversation: str
    entry: int | None = None
    entry_id: str = ""
    note: str | None = None
    time: datetime | None = None
    role: str = ""
    speaker: str = ""
    score: float = 0.0
    placed: float = 1.0
    snippet: str = ""
    text_span: tuple[int, int] = (0, 0)
    further: tuple[str, ...] = ()
    citation: Citation
    trust: Trust
    origin: Origin = Origin.USER
    like: tuple[str, ...] = ()
    repeated: datetime | None = None
    superseded_by: str = ""
    marks: tuple[tuple[int, int], ...] = ()
    parts: dict[str, float] = {}
    unverified: bool = False

    @property
    def shown_score(self) -> float:
        """The score as a list shows it: best first."""
        return min(self.score, self.placed)

    @property
    def excerpts(self) -> str:
        """The snippet, and each further part after a line `…`."""
        return "\n…\n".join((self.snippet, *self.further))


class SearchResults(Struct, frozen=True, kw_only=True):
    """`total` counts relevant passages, near-duplicates included. `next` is the number of the next page, if any.
    `partial`: the index is being built, and does not hold every entry yet. `anchor` is the id of the hit that a
    timeline is around. `likelihood`: the probability that some hit answers the question, from 0 to 1. `is_dated`: all
    hits are of the dates that the question names."""

    query: str
    took_ms: float = 0.0
    total: int = 0
    next: int | None = None
    hits: tuple[Hit, ...] = ()
    partial: bool = False
    anchor: str = ""
    likelihood: float = 1.0
    is_dated: bool = False

    @property
    def found(self) -> bool:
        """Whether a hit is likely to answer. Where it is not, the hits are merely the nearest results."""
        return self.total > 0 and self.likelihood >= LIKELY


SCHEMA = 1
"""Version of the JSON of results."""


def to_json(results: SearchResults) -> dict[str, Any]:
    """The object of `search --json`: plain values, `found` false where nothing is likely to answer. `anchor` is
    there where the hits are a timeline around one of them."""
    shown: dict[str, Any] = {
        "schema": SCHEMA,
        "query": results.query,
        "took_ms": results.took_ms,
        "found": results.found,
        "total": results.total,
        "next": results.next,
        "hits": [hit_to_json(hit) for hit in results.hits],
        "likelihood": round(results.likelihood, 3),
    }
    return {**shown, "anchor": results.anchor} if results.anchor else shown


def hit_to_json(hit: Hit) -> dict[str, Any]:
    """One hit. `entry` is the entry's id, None for a note; `marks` are spans of the snippet's characters; `parts` is
    there where the query asked to explain."""
    shown: dict[str, Any] = {
        "id": hit.id,
        "kind": hit.kind,
        "origin": hit.origin.value,
        "conversation": hit.conversation or None,
        "entry": hit.entry_id or None,
        "time": iso(hit.time) if hit.time else None,
        "role": hit.role or None,
        "speaker": hit.speaker or None,
        "score": round(hit.score, 4),
        "snippet": hit.snippet,
        "citation": str(hit.citation),
        "device": hit.citation.device or None,
        "trust": hit.trust.value,
        "superseded_by": hit.superseded_by or None,
        "marks": hit.marks,
        "like": hit.like,
    }
    return {**shown, "parts": hit.parts} if hit.parts else shown
