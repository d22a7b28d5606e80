"""Why nothing can leave a conversation, in a sentence for the person."""

from typing import TYPE_CHECKING

from context.assembly.budget import budget_for
from context.assembly.history import HistoryZones, tokens_by_entry
from context.assembly.tokens import MessageCounter
from context.assembly.view import BranchView
from context.compaction.carried import OWN, own_messages
from context.compaction.plan import turns_of
from context.epoch import decode_epoch
from context.working_set.reductions import reduced
from memory.records import Conversation
from models.chat.port import Profile, TokenCounter

if TYPE_CHECKING:  # import cycle
    from context.state import ContextState

MOSTLY = 0.5  # of the tokens in view: the person's own words are named from there


def nothing_leaves(
    components: "ContextState", conversation: Conversation, profile: Profile, counter: TokenCounter
) -> str:
    """Why a compaction of the conversation's branch would archive nothing. Blocks."""
    total = budget_for(profile.window, components.settings).total
    stored = components.store.epoch(conversation.seq)
    state = decode_epoch(stored.state) if stored else None
    view = reduced(components.history.view(conversation.leaf, total), state.reduced if state else {})
    counting = MessageCounter.of(counter, profile)
    return _reason(view, components.history.zones(view, counting, question_follows=False))


def _reason(view: BranchView, zones: HistoryZones) -> str:
    if not view.entries and not view.summaries:
        return "There is nothing to archive: the conversation is empty."
    if not view.entries:
        tokens = sum(count for _, count in zones.summaries)
        own = (
            ", including your own messages, which are not shortened"
            if any(OWN in s.meta for s in view.summaries)
            else ""
        )
        return f"Everything is archived already. The summary takes {tokens:,} tokens{own}."
    by_entry = tokens_by_entry(zones)
    tokens, own_tokens = (
        sum(by_entry.get(entry.seq, 0) for entry in entries) for entries in (view.entries, own_messages(view.entries))
    )
    if own_tokens >= MOSTLY * tokens:
        return (
            f"Nothing can be archived: {own_tokens:,} of the {tokens:,} tokens in context are your own messages, which "
            "are not shortened. /new starts without them; they stay searchable."
        )
    if (turns := len(turns_of(view.entries))) == 1:
        return f"Archiving would save nothing: the turn takes {tokens:,} tokens, and its summary would take as many."
    return (
        f"Archiving would save nothing: the {turns:,} turns take {tokens:,} tokens, and their summary would take "
        "as many."
    )
