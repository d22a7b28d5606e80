"""Retention: what the rules would do with conversations that nobody touched, and the archiving that they ask for.

An archiving can be taken back. Deleting is not done here: it takes more than memory alone, and a person's consent.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from msgspec import Struct, structs

from foundation.clock import from_ms, to_ms
from foundation.figures import counted
from foundation.privacy import clear
from foundation.sizes import MEGABYTE, format_size
from memory.errors import MemoryFailure, NotFound
from memory.memory import Memory
from memory.records import new_id
from memory.settings import RetentionSettings
from memory.upkeep.idle import IdleConversation, idle_conversations, moment_days_ago
from memory.upkeep.rules import Action, decide, least_days, rule_words, rules_of
from memory.upkeep.state import (
    MOST_RUNS,
    ArchivedEntries,
    ArchivingRun,
    UpkeepState,
    change_state,
    ranges_of,
    read_state,
)

BY_RULE: Final = "a rule"
BY_CONSENT: Final = "your consent"


class NothingToTakeBack(MemoryFailure):
    """No archiving is left that could be taken back."""

    code = "nothing_to_take_back"

    def __init__(self) -> None:
        super().__init__("Nothing to undo", "There is no archiving by a rule or /clean to undo.")


class PlannedConversation(Struct, frozen=True, kw_only=True):
    """A conversation, and what the rule of that number does with it. `stays` is why it is left alone, or ""."""

    seq: int
    conversation: str
    title: str
    touched: datetime
    entries: int  # whose text is in the database
    bytes: int  # of that text, as stored
    rule: int
    action: Action
    stays: str = ""


class RuleFigures(Struct, frozen=True, kw_only=True):
    """What one rule does: numbers of conversations, and bytes of their text in the database."""

    rule: int
    sentence: str
    archives: int
    archived_bytes: int
    deletes: int
    deleted_bytes: int
    stays: int


class RetentionPlan(Struct, frozen=True, kw_only=True):
    """What the rules would do at that moment, the oldest conversation first."""

    time: datetime
    rules: tuple[RuleFigures, ...]
    conversations: tuple[PlannedConversation, ...]

    def doing(self, action: Action) -> tuple[PlannedConversation, ...]:
        """The conversations that are archived, deleted or kept."""
        return tuple(each for each in self.conversations if each.action == action)


def plan(memory: Memory, settings: RetentionSettings, now: datetime) -> RetentionPlan:
    """What the rules would do now. Blocks; reads sizes and no text."""
    days = least_days(settings)
    before = moment_days_ago(now, days)
    idle = idle_conversations(memory.cold, before, keep_important=settings.keep_important) if days else []
    planned = tuple(_planned(each, settings, now) for each in idle)
    rules = rules_of(settings)
    order = [*range(1, len(rules)), 0]  # as they are tried
    figures = tuple(_figures(n, rule_words(rules[n], is_rest=not n), planned) for n in order)
    return RetentionPlan(time=now, rules=figures, conversations=planned)


def _planned(idle: IdleConversation, settings: RetentionSettings, now: datetime) -> PlannedConversation:
    idle_ms = to_ms(now) - to_ms(idle.touched)
    conversation = idle.conversation
    decision = decide(conversation, settings, idle_ms, has_text=bool(idle.stored), stays=bool(idle.stays))
    return PlannedConversation(
        seq=conversation.seq,
        conversation=conversation.id,
        title=conversation.title,
        touched=idle.touched,
        entries=idle.stored,
        bytes=idle.bytes,
        rule=decision.rule,
        action=decision.action,
        stays=idle.stays,
    )


def _figures(number: int, sentence: str, planned: Sequence[PlannedConversation]) -> RuleFigures:
    own = [each for each in planned if each.rule == number]
    archived = [each for each in own if each.action == "archive"]
    deleted = [each for each in own if each.action == "delete"]
    return RuleFigures(
        rule=number,
        sentence=sentence,
        archives=len(archived),
        archived_bytes=sum(each.bytes for each in archived),
        deletes=len(deleted),
        deleted_bytes=sum(each.bytes for each in deleted),
        stays=sum(bool(each.stays) for each in own),
    )


def archive_conversations(
    memory: Memory, planned: Sequence[PlannedConversation], now: datetime, cause: str, on_done: Callable[[], None]
) -> tuple[ArchivingRun | None, list[str]]:
    """Archives these, unless they were touched meanwhile; gives the run, None where nothing was archived, and sentences
    about what stays. Each conversation is recorded when it is archived, so that a run that is cut short can be taken
    back. Blocks."""
    run = ArchivingRun(
        id=new_id("run"), time_ms=to_ms(now), conversations=0, entries=0, pages=0, archived=(), cause=cause
    )
    sentences: list[str] = []
    for each in planned:
        with suppress(NotFound):
            overdue = memory.vault.overdue.conversation(each.seq, now)
            if overdue.spared or overdue.conversation.updated != each.touched:
                on_done()
                continue
            label = clear(overdue.conversation.title) or overdue.conversation.id
            result = memory.vault.overdue.archive_conversation(
                overdue, label=label, most=memory.settings.max_file_mb * MEGABYTE
            )
            if kept := len(result.damaged) + len(result.large):
                noun = "entry was kept" if kept == 1 else "entries were kept"
                sentences.append(f"{kept:,} {noun} of {each.conversation}: damaged, or too large to archive.")
            if result.entries:
                run = structs.replace(
                    run,
                    conversations=run.conversations + 1,
                    entries=run.entries + result.entries,
                    pages=run.pages + sum(len(part.pages) for part in result.archived),
                    archived=(
                        *run.archived,
                        ArchivedEntries(ranges_of(overdue.entries), tuple(part.seq for part in result.archived)),
                    ),
                )
                change_state(memory.workspace, lambda state, run=run: _recorded(state, run))
        on_done()
    return (run if run.conversations else None), sentences


def _recorded(state: UpkeepState, run: ArchivingRun) -> UpkeepState:
    others = tuple(each for each in state.runs if each.id != run.id)
    return structs.replace(state, runs=(*others, run)[-MOST_RUNS:])


def undoable(memory: Memory) -> ArchivingRun | None:
    """The newest archiving that was not taken back yet. Blocks."""
    return next((each for each in reversed(read_state(memory.workspace).runs) if not each.undone), None)


def undo(memory: Memory, on_entries: Callable[[int], None] = lambda _: None) -> ArchivingRun:
    """Takes the newest archiving that was not taken back yet back: its texts return to the database. Blocks.

    `on_entries` receives the number of entries that are back; an exception from it ends the work, to be gone on with.

    Raises NothingToTakeBack where there is none; Damaged where a page cannot be read: then the rest stays on pages.
    """
    run, done = undoable(memory), 0
    if run is None:
        raise NothingToTakeBack
    for archived in run.archived:
        done += memory.vault.take_back(
            archived.ranges, archived.archives, lambda count, done=done: on_entries(done + count)
        )
    undone = structs.replace(run, undone=True)
    change_state(memory.workspace, lambda state: _recorded(state, undone))
    return undone


def run_object(run: ArchivingRun) -> dict[str, Any]:
    """An archiving as JSON."""
    return {
        "id": run.id,
        "time": from_ms(run.time_ms),
        "conversations": run.conversations,
        "entries": run.entries,
        "pages": run.pages,
        "cause": run.cause,
    }


def receipt(run: ArchivingRun) -> str:
    """What an archiving did, and how to take it back, in sentences."""
    entries = f"{run.entries:,} entr{'y' if run.entries == 1 else 'ies'}"
    what = f"{counted(run.conversations, 'conversation')} ({entries}) without activity"
    verb = "is" if run.conversations == 1 else "are"
    return (
        f"{what} {verb} now on {counted(run.pages, 'page')}, by {run.cause}. They stay searchable, and "
        "recall returns them in full. `/clean --undo` undoes this."
    )


def undone_sentence(run: ArchivingRun) -> str:
    return f"Undone: the text of {counted(run.conversations, 'conversation')} is back in the database."


def due_sentence(planned: RetentionPlan, command: str) -> str:
    """What the rules would do, in a sentence; "" where they would do nothing."""
    archives, deletes = planned.doing("archive"), planned.doing("delete")
    parts = [
        f"{verb} {counted(len(group), 'conversation')} ({format_size(sum(each.bytes for each in group))} of text)"
        for verb, group in (("archive", archives), ("delete", deletes))
        if group
    ]
    return f"Your rules would {' and '.join(parts)}: {command}." if parts else ""
