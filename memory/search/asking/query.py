"""What is asked of the search, and what it gives."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from foundation.clock import Clock
from foundation.errors import Misuse
from foundation.trust import Citation, Trust
from memory.cold.entries import EntryKind
from memory.search.dates.dates import moment
from models.messages import Role

NOTE = "memory"
"""The kind of a note of the hot memory, among the kinds of entries."""

UNASKED = (EntryKind.TOOL_CALL.value, EntryKind.SUMMARY.value)
"""Kinds that a query finds only by name."""

QUOTING = "offline"
"""The speaker that has no words of its own: its answers are found only where `speaker` or `kinds` asks for them."""

KNOWLEDGE = "knowledge"
"""The kind of a page of a file that was added to knowledge, and that no newer version has replaced."""

KINDS = (*(kind.value for kind in EntryKind), NOTE, KNOWLEDGE)
_MOST_AT_ONCE = 1000


class Query(Struct, frozen=True, kw_only=True):
    """What is looked for. Without `text` it lists what the filters leave, newest first.

    `conversation` is an id, a title, or a prefix of an id. `label` is a conversation's or an archive's. `exclude` are
    seqs of entries (those in view already). `since` is within, `until` is not. `threshold` is a least score.
    `among` are seqs of conversations; nothing else is found then. `each` is how many passages one conversation gives at
    most, ranked by themselves and not by how often the whole conversation says a word; 0 for any number.
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


class Results(Struct, frozen=True, kw_only=True):
    """`total` counts what was relevant, near-duplicates too. `next` is the number of the next page, if any. `partial`:
    the index is being built, and entries are in the store that could not be found yet."""

    query: str
    took_ms: float = 0.0
    total: int = 0
    next: int | None = None
    hits: tuple[Hit, ...] = ()
    partial: bool = False

    @property
    def found(self) -> bool:
        """Whether anything was relevant."""
        return self.total > 0


def parse_query(
    text: str = "",
    *,
    clock: Clock,
    kinds: Sequence[str] = (),
    role: str | None = None,
    speaker: str | None = None,
    since: str | None = None,
    until: str | None = None,
    conversation: str | None = None,
    label: str | None = None,
    trust: str | None = None,
    threshold: float = 0.0,
    limit: int = 10,
    page: int = 1,
    explain: bool = False,
) -> Query:
    """A query from words as they are typed: dates as `2026-03-01`, `30d`, `yesterday`. Raises Misuse."""
    now = clock.now()
    return Query(
        text=text,
        limit=_within("-k", limit, _MOST_AT_ONCE),
        page=_within("--page", page, _MOST_AT_ONCE),
        kinds=tuple(_one_of("--kind", kind, KINDS) for kind in kinds),
        role=_one_of("--role", role, [role.value for role in Role]) if role else "",
        speaker=speaker or "",
        since=moment(since, now) if since else None,
        until=moment(until, now, end=True) if until else None,
        conversation=conversation or "",
        label=label or "",
        trust=Trust(_one_of("--trust", trust, [trust.value for trust in Trust])) if trust else None,
        threshold=threshold,
        explain=explain,
    )


def _within(option: str, number: int, most: int) -> int:
    if 1 <= number <= most:
        return number
    raise Misuse("Out of range", f"{option} {number} is not between 1 and {most}.", f"Use {option} 10, for instance.")


def _one_of(option: str, word: str, known: Sequence[str]) -> str:
    if word.casefold() in known:
        return word.casefold()
    raise Misuse("Unknown word", f"{option} {word} is not known.", f"It can be {', '.join(known)}.")
