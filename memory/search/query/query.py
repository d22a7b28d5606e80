"""What is asked of the search, and what it gives."""

from datetime import datetime

from msgspec import Struct

from foundation.trust import Citation, Trust
from memory.records import EntryKind
from memory.search.query.syntax import ParsedQuery, worded

NOTE = "memory"
"""The kind of a note of the hot memory, among the kinds of entries."""

UNASKED = (EntryKind.TOOL_CALL.value, EntryKind.SUMMARY.value)
"""Kinds that a query finds only by name."""

QUOTING = "offline"
"""The speaker that has no words of its own: its answers are found only where `speaker` or `kinds` asks for them."""

KNOWLEDGE = "knowledge"
"""The kind of a page of a file that was added to knowledge, and that no newer version has replaced."""

PROMPT = "prompt"
"""The kind of what the person said themselves, among the kinds that a query may name."""

KINDS = (*(kind.value for kind in EntryKind), NOTE, KNOWLEDGE, PROMPT)

CONVERSATION = "conversation"
"""Asked for as a kind: results are conversations, each by its best passage."""

SAID = (EntryKind.MESSAGE.value, EntryKind.TOOL_RESULT.value, EntryKind.SUMMARY.value, EntryKind.OBSERVATION.value)
"""What a conversation is found by."""

LIKELY = 0.3
"""A likelihood from which on something is found (ranking/likelihood.py): of the answerable questions that it was fitted
on 3 in 100 lie below, of those that nothing answers 72."""

BEST = "best"
"""As `Query.around`: around the best hit of the query's text."""


class Query(Struct, frozen=True, kw_only=True):
    """What is looked for. Without `text` it lists what the filters leave, newest first.

    `conversation` is an id, a title, or a prefix of an id. `label` is a conversation's or an archive's. `exclude` are
    seqs of entries (those in view already). `since` is within, `until` is not. `threshold` is a least score.
    `among` are seqs of conversations; nothing else is found then. `each` is how many passages one conversation gives at
    most, ranked by themselves and not by how often the whole conversation says a word; 0 for any number.
    `types`, `concepts`, `files` and `entities` are what entries are marked with: one of each that is given must stand.
    `exact`: each word of the text must stand in the passage itself. `newest`: in order of time, not of relevance.
    `around` lists what was said around a moment, around what has that id, or around the best hit (BEST), oldest first,
    so many `before` and `after` it. `latest`: only within so many conversations, those that were gone on with last, and
    where nothing is looked for, one conversation after the other, each in order of time. `without` names signals of the
    ranking that are not to be used. In the text quotes and dashes are signs (asking/wording.py); `as_it_stands`: they
    are not.
    Tool calls and summaries are found only where `kinds` names them: what a summary stands for is found itself. What
    `offline` answered only quotes, and is found only where `speaker` or `kinds` is given.
    """

    text: str = ""
    limit: int = 10
    page: int = 1
    exclude: frozenset[int] = frozenset()
    window_tokens: int = 200  # of a snippet, at most
    kinds: tuple[str, ...] = ()
    role: str = ""
    speaker: str = ""
    since: datetime | None = None
    until: datetime | None = None
    conversation: str = ""
    label: str = ""
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

    @property
    def wording(self) -> ParsedQuery:
        """The text, taken apart."""
        return ParsedQuery(self.text.strip()) if self.as_it_stands else worded(self.text)


class Hit(Struct, frozen=True, kw_only=True):
    """A passage that was found.

    `entry` is its seq in the cold store, `note` its id in the hot memory; the other is None. `score` is from 0 to 1.
    `text_span` is where the snippet stands in the whole passage, in characters. `like` are the ids of hits that say the
    same and were folded into this one. `superseded_by` is the id of a newer hit that says otherwise. `marks` are where
    the question's words stand in the snippet, in characters. `parts` says what the score is made of, where the query
    asked for it.
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
    snippet: str = ""
    text_span: tuple[int, int] = (0, 0)
    citation: Citation
    trust: Trust
    like: tuple[str, ...] = ()
    superseded_by: str = ""
    marks: tuple[tuple[int, int], ...] = ()
    parts: dict[str, float] = {}


class SearchResults(Struct, frozen=True, kw_only=True):
    """`total` counts what was relevant, near-duplicates too. `next` is the number of the next page, if any. `partial`:
    the index is being built, and entries are in the store that could not be found yet. `anchor` is the id of the hit
    that a timeline is around. `likelihood`: how likely it is that anything of it answers the question, from 0 to 1."""

    query: str
    took_ms: float = 0.0
    total: int = 0
    next: int | None = None
    hits: tuple[Hit, ...] = ()
    partial: bool = False
    anchor: str = ""
    likelihood: float = 1.0

    @property
    def found(self) -> bool:
        """Whether anything is likely to answer. Where it is not, hits are merely what lies nearest."""
        return self.total > 0 and self.likelihood >= LIKELY
