"""Summaries of turns for later, beside the branch (`context.use_compression`). The turns stay as they are."""

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from context.compaction.projection import summary_entries
from context.compaction.summary_port import SummaryTask, WrittenSummary
from context.state import ContextState
from context.switches import settings_for
from foundation.privacy import TextSource, clear, cleared_fields
from memory.origin import UNTRUSTED, untrusted_source
from memory.records import Conversation, Entry, EntryCost, EntryDraft, EntryKind
from memory.turn_summaries import TURNS, covered_ids
from models.chat.port import TokenCounter
from models.messages import Role

if TYPE_CHECKING:
    from memory.memory import Memory

SUMMARY_PART: Final = 0.2  # tokens of the summary, as a part of those of the turns
LEAST_TOKENS: Final = 60


class TurnSummaryPlan(Struct, frozen=True):
    """The entries that no summary covers yet, and the task of summarising them."""

    conversation: Conversation
    entries: tuple[Entry, ...]
    task: SummaryTask


def plan_turn_summary(
    components: ContextState, conversation: Conversation, counter: TokenCounter
) -> TurnSummaryPlan | None:
    """Plans the summary of the turns since the last one; None where it is switched off, or there is nothing to say."""
    settings, stored = settings_for(components.settings, conversation), components.conversations
    if not settings.use_compression or conversation.leaf is None:
        return None
    branch = stored.branch(conversation.leaf)
    ends = [
        ids[1]
        for summary in stored.turn_summaries(conversation.seq, conversation.leaf)
        if (ids := covered_ids(summary))
    ]
    covered = max((entry.seq for entry in branch.entries if entry.id in ends), default=0)
    entries = tuple(entry for entry in branch.entries if entry.seq > covered)
    texts = summary_entries(entries, components.history.text_of)
    if not texts:
        return None
    tokens = sum(counter.count(entry.text) for entry in texts)
    limit = min(settings.summary_tokens, max(LEAST_TOKENS, int(tokens * SUMMARY_PART)))
    return TurnSummaryPlan(conversation, entries, SummaryTask(entries=texts, limit=limit, count=counter.count))


def store_turn_summary(memory: "Memory", plan: TurnSummaryPlan, written: WrittenSummary) -> Entry:
    """Stores the summary; the conversation goes on where it was."""
    first, last = plan.entries[0], plan.entries[-1]
    untrusted = untrusted_source(reversed(plan.entries))
    draft = EntryDraft(
        conversation=plan.conversation.seq,
        parent=None,
        kind=EntryKind.SUMMARY,
        role=Role.USER,
        text=clear(written.text, TextSource.OTHER),
        meta=cleared_fields(
            {
                TURNS: [first.id, last.id],
                **({"cost": written.price.fields} if written.price else {}),
                **({UNTRUSTED: untrusted} if untrusted else {}),
            }
        ),
        beside=True,
    )
    cost = EntryCost(written.usage, clear(written.name), written.ms) if written.usage else None
    return memory.archive_and_append([], draft, label="", cost=cost)[0]
