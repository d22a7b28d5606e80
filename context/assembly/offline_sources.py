"""What `offline` needs beside a request, to quote from it: whole passages, and where each part of it comes from.

It reads them for nothing, as it is no language model: they take no tokens.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from context.assembly.view import BranchView
from context.recall.citations import whole_passages
from context.recall.prefetch import previous_question
from context.recall.recall import RecallLimits, query_for
from foundation.privacy import TextSource, clear
from foundation.text.sentences import is_question
from foundation.trust import Citation, Trust
from memory.conversations import Conversations
from memory.hot.note import Note
from memory.search import Hit
from models.chat.offline.phrases import asks
from models.messages import RecalledSpan, Role

if TYPE_CHECKING:  # import cycle
    from context.state import ContextState
    from context.types import Turn


class OfflineSources(Struct, frozen=True, kw_only=True):
    """`citations` of entries in view by their seq; `superseded`: the day since which a statement does not hold, by its
    reference; `notes` are those in the head or changed since."""

    whole: tuple[RecalledSpan, ...] = ()
    notes: tuple[RecalledSpan, ...] = ()
    citations: Mapping[int, Citation] = {}
    superseded: Mapping[str, str] = {}


NOTHING = OfflineSources()


def further_passages(
    components: "ContextState", turn: "Turn", view: BranchView, recalled: Sequence[RecalledSpan], limits: RecallLimits
) -> tuple[RecalledSpan, ...]:
    """The whole passages of what was recalled, and of further hits."""
    if turn.brought is not None:
        return ()
    entries = view.readable | ({turn.entry} if turn.entry is not None else set[int]())
    searches = components.settings.recall and asks(turn.text)
    query = query_for(turn.text, previous_question(view), limits, entries) if searches else None
    hits = components.search(query).hits if query else ()
    return whole_passages(recalled, hits, components.recall, _questions_before(components.conversations, hits))


def _questions_before(conversations: Conversations, hits: Sequence[Hit]) -> dict[str, str]:
    """The user's questions that the hits follow in their conversations, by the reference of the hit."""
    entries = conversations.entries(hit.entry for hit in hits if hit.entry)
    parents = conversations.entries(entry.parent for entry in entries.values() if entry.parent)
    return {
        entry.id: parent.text or ""
        for entry in entries.values()
        if (parent := parents.get(entry.parent or 0)) and parent.role is Role.USER and is_question(parent.text or "")
    }


def cited_notes(notes: Iterable[Note]) -> tuple[RecalledSpan, ...]:
    """Notes with where they stand."""
    return tuple(
        RecalledSpan(
            clear(note.text, TextSource.OTHER),
            Citation(
                kind="memory",
                ref=note.path,
                title=clear(note.heading, TextSource.OTHER),
                time=note.time,
                lines=(note.words_first, note.words_last),
            ),
            Trust.EXACT,
            1.0,
        )
        for note in notes
        if note.text
    )


def entry_citations(view: BranchView) -> dict[int, Citation]:
    """Where each entry in view is."""
    return {
        entry.seq: Citation(
            kind="entry",
            ref=entry.id,
            title="this conversation",
            conversation=entry.conversation,
            speaker=entry.said_by,
            time=entry.said_at,
            device=entry.device,
        )
        for entry in view.entries
    }
