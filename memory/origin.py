"""Origin of an entry's words, and derived entries.

Where entries say the same, the source is shown and cited: the person's own words before files, imports, answers and
tool output; within one origin the earliest.

A derived entry only repeats other entries: the result of a memory tool, an answer of `offline` (it quotes), a summary,
a tool call, a malformed call with its correction, and an answer or a tool result whose every sentence was recalled or
in view. It is stored whole and found
by `--kind`; it is never recalled, never ranked beside its sources, and has no part in the statistics of the ranking.
"""

from collections.abc import Iterable
from enum import StrEnum

from memory.records import Entry, EntryKind
from models.messages import Role


class Origin(StrEnum):
    """Who the words come from, in the order in which entries that say the same are preferred."""

    USER = "user"
    FILE = "file"
    IMPORT = "import"
    ASSISTANT = "assistant"
    TOOL = "tool"
    NETWORK = "network"

    @property
    def rank(self) -> int:
        """0 for the preferred origin."""
        return _RANKS[self]


_RANKS = {origin: rank for rank, origin in enumerate(Origin)}

MEMORY_TOOLS = ("memory_search", "memory_timeline", "recall", "remember", "search_memory")
"""Tools whose results only bring back what memory holds, or name the note that was added.
`search_memory` is the name that `memory_search` had up to version 0.3."""

NETWORK_TOOLS = ("fetch_url",)
"""Tools whose results come from the network, as do those of servers, which are named `server__tool`."""

QUOTING = "offline"
"""The speaker of answers that only quote."""

DERIVED_FROM = "derived_from"
"""Meta of an answer or a tool result that only repeats others: the references of these, `["e_4kx7m2p0q9ab"]`."""

UNTRUSTED = "untrusted"
"""Meta of a tool result that nobody here wrote, and of a summary that covers one: what it was read from."""


UNVERIFIED = "unverified"
"""Meta of an answer: whether nothing was recalled for it and no tool ran in its turn. Answers of version 0.3.2 and
before have none (memory/cold/unverified.py)."""

UNVERIFIED_SPEAKER = "assistant, unverified"
"""Who said it, in the citation of such an answer."""

UNVERIFIED_DOUBT = "The assistant's own answer, unverified: nothing was recalled for it and no tool ran."


def untrusted_source(newest_first: Iterable[Entry]) -> str:
    """What the newest of the entries with untrusted text was read from; "" where there is none."""
    marked = (entry for entry in newest_first if entry.kind in {EntryKind.TOOL_RESULT, EntryKind.SUMMARY})
    return next((str(source) for entry in marked if (source := entry.meta.get(UNTRUSTED))), "")


def origin_of(kind: EntryKind, role: Role, *, imported: bool, speaker: str = "") -> Origin:
    """The origin of an entry. `imported`: its conversation came from another program. `speaker` names the tool."""
    if kind is EntryKind.PAGE:
        return Origin.FILE
    if imported:
        return Origin.IMPORT
    if kind in {EntryKind.TOOL_CALL, EntryKind.TOOL_RESULT} or role is Role.TOOL:
        return Origin.NETWORK if speaker in NETWORK_TOOLS or "__" in speaker else Origin.TOOL
    return Origin.USER if role is Role.USER else Origin.ASSISTANT
