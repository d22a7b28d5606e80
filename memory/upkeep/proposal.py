"""Cleaning of what nobody touched for a month (seed 003), by consent: the proposal with its figures, and the answers.

Cleaning archives: text moves to pages, stays searchable, and can be taken back. It deletes nothing.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct, structs

from foundation.clock import to_ms
from foundation.figures import counted
from foundation.privacy import as_made
from foundation.sizes import MEGABYTE, format_size
from memory.memory import Memory
from memory.settings import RetentionSettings
from memory.upkeep.idle import KEEP, idle_conversations, moment_days_ago
from memory.upkeep.retention import BY_CONSENT, PlannedConversation, archive_conversations
from memory.upkeep.state import ArchivingRun, UpkeepState, change_state

DAYS: Final = 30
"""Of /clean where the chat proposes nothing (`retention.propose_days` is 0)."""

LEAST: Final = MEGABYTE  # bytes of text that the chat proposes to archive
LATER: Final = timedelta(days=30)  # "not now"


class CleaningProposal(Struct, frozen=True, kw_only=True):
    """Conversations with text in the database that nobody touched for `days`: those that would be archived, and those
    that would stay, the largest first."""

    days: int
    time: datetime
    leaving: tuple[PlannedConversation, ...]
    staying: tuple[PlannedConversation, ...]

    @property
    def bytes(self) -> int:
        return sum(each.bytes for each in self.leaving)


def proposal(memory: Memory, settings: RetentionSettings, now: datetime) -> CleaningProposal:
    """What cleaning would archive now, and what it would leave alone. Blocks; reads sizes and no text."""
    days = settings.propose_days or DAYS
    before = moment_days_ago(now, days)
    idle = idle_conversations(memory.cold, before, keep_important=settings.keep_important)
    planned = sorted(
        (
            PlannedConversation(
                seq=each.conversation.seq,
                conversation=each.conversation.id,
                title=each.conversation.title,
                touched=each.touched,
                entries=each.stored,
                bytes=each.bytes,
                rule=0,
                action="keep" if each.stays else "archive",
                stays=each.stays,
            )
            for each in idle
            if each.stored
        ),
        key=lambda each: -each.bytes,
    )
    return CleaningProposal(
        days=days,
        time=now,
        leaving=tuple(each for each in planned if not each.stays),
        staying=tuple(each for each in planned if each.stays),
    )


def proposal_sentence(proposed: CleaningProposal) -> str:
    """The proposal in a sentence; "" where nothing would leave."""
    if not proposed.leaving:
        return ""
    stay = f"; {counted(len(proposed.staying), 'other')} would be kept" if proposed.staying else ""
    return (
        f"{counted(len(proposed.leaving), 'conversation')} with {format_size(proposed.bytes)} of text "
        f"{'was' if len(proposed.leaving) == 1 else 'were'} inactive for {proposed.days:,} days and can be "
        f"archived{stay}. To review them: `/clean`."
    )


def clean(memory: Memory, proposed: CleaningProposal, on_done: Callable[[int], None]) -> ArchivingRun | None:
    """Archives what the proposal names, unless it was touched meanwhile; None where nothing was left of it. Blocks.

    `on_done` receives the number of conversations that are done; an exception from it ends the run, and what is done
    stays."""
    done = 0

    def report() -> None:
        nonlocal done
        done += 1
        on_done(done)

    return archive_conversations(memory, proposed.leaving, proposed.time, BY_CONSENT, report)[0]


def not_now(memory: Memory, now: datetime) -> datetime:
    """The chat proposes nothing for a month; gives the moment from which it may. Blocks."""
    until = now + LATER
    change_state(memory.workspace, lambda state: structs.replace(state, not_before_ms=to_ms(until)))
    return until


def is_later(state: UpkeepState, now: datetime) -> bool:
    """Whether a person said "not now" within the last month. A moment that is further off was noted by a clock that was
    ahead, and counts no more."""
    return 0 < state.not_before_ms - to_ms(now) <= LATER // timedelta(milliseconds=1)


def keep(memory: Memory, ref: str, *, always: bool) -> str:
    """ "Never for this": rules and proposals leave the conversation alone from now on, or not any more. Gives a
    sentence. Blocks. Raises NotFound."""
    conversation = memory.conversations.find(ref)
    name = conversation.title or conversation.id
    if always:
        memory.conversations.label(conversation.seq, as_made(KEEP))
        return f"“{name}” is excluded from archiving by rules and suggestions."
    memory.conversations.unlabel(conversation.seq, KEEP)
    return f"“{name}” can be archived again."
