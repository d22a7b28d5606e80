"""`archive --older-than`: archives idle conversations, or estimates it, conversation by conversation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from foundation.privacy import clear
from foundation.program import PROGRAM
from memory.archive.lifecycle.overdue import OverdueConversation
from memory.pages.cost.profiles import profile_named
from memory.pages.types import ArchiveEstimate
from memory.records import Entry

if TYPE_CHECKING:  # the help of a command must not load the store
    from memory.memory import Memory


class AgedConversation(Struct, frozen=True, kw_only=True):
    """Figures of one conversation: tokens of its text, and of its pages as pictures."""

    conversation: str
    title: str
    touched: datetime
    entries: int
    text_tokens: int
    pages: int
    vision_tokens: int
    shared_chars: int = 0  # already on pages, and not drawn again
    spared: str = ""  # why it is not archived; "" where it is
    damaged: tuple[str, ...] = ()  # ids of entries that are kept because their text or row is damaged
    is_damaged: bool = False  # its own row is damaged
    large: tuple[str, ...] = ()  # ids of entries that are kept because they are larger than `archive.max_file_mb`


class AgingReport(Struct, frozen=True, kw_only=True):
    """The result of `archive --older-than`, or its estimate."""

    before: datetime
    dry_run: bool
    conversations: tuple[AgedConversation, ...]

    @property
    def archived(self) -> tuple[AgedConversation, ...]:
        """The conversations that were archived, or would be."""
        return tuple(aged for aged in self.conversations if aged.entries and not aged.spared)

    @property
    def met_damage(self) -> bool:
        """Whether something is kept because it is damaged or too large."""
        return any(aged.damaged or aged.is_damaged or aged.large for aged in self.conversations)


GROWS: Final = "pages would take more tokens than its text"


def archive_older(
    memory: Memory,
    before: datetime,
    *,
    dry_run: bool = False,
    growing: bool = True,
    on_page: Callable[[int], None] | None = None,
) -> AgingReport:
    """Archives conversations not touched since `before`; with `dry_run` only estimates the result.

    Without `growing`, it leaves conversations that take more tokens as pages than as text.
    """
    profile_named(memory.settings.profile)  # an unknown name is refused before any work
    pages = 0

    def report(done: int) -> None:
        if on_page is not None:
            on_page(pages + done)

    conversations: list[AgedConversation] = []
    for overdue in memory.vault.overdue.conversations(before):
        is_estimated = dry_run or overdue.spared or not growing
        aged = _estimate(memory, overdue) if is_estimated else _archive(memory, overdue, report)
        if not growing and not aged.spared:
            if aged.vision_tokens > aged.text_tokens:
                aged = replace(aged, spared=GROWS)
            elif not dry_run:
                aged = _archive(memory, overdue, report)
        pages += 0 if aged.spared else aged.pages
        conversations.append(aged)
    return AgingReport(before=before, dry_run=dry_run, conversations=tuple(conversations))


def aging_sentence(aging: AgingReport) -> str:
    """The result in a sentence."""
    archived = aging.archived
    spared = sum(1 for aged in aging.conversations if aged.spared)
    spared_part = f" {spared:,} spared." if spared else ""
    if not archived:
        return f"No conversation was last active before {aging.before:%Y-%m-%d}.{spared_part}"
    entries, pages = sum(aged.entries for aged in archived), sum(aged.pages for aged in archived)
    text, vision = sum(aged.text_tokens for aged in archived), sum(aged.vision_tokens for aged in archived)
    verb = "would be archived" if aging.dry_run else "left"
    moved = f"{entries:,} entr{'y' if entries == 1 else 'ies'} of {_counted(len(archived), 'conversation')}"
    return (
        f"{moved} {verb} for {_counted(pages, 'page')}: {text:,} text tokens on {vision:,} vision tokens. "
        f"They stay searchable, and recall returns them in full.{spared_part}"
    )


def damage_sentences(aging: AgingReport) -> list[str]:
    """A sentence for each group of entries that is kept because it is damaged or too large."""
    sentences: list[str] = []
    for aged in aging.conversations:
        if aged.large:
            hold = "holds" if len(aged.large) == 1 else "hold"
            sentences.append(
                f"{_id_list(aged.large)} of “{aged.title or aged.conversation}” {hold} larger than "
                "archive.max_file_mb: not archived."
            )
        if aged.is_damaged:
            sentences.append(f"Conversation {aged.conversation} is damaged and was not archived. {_REPAIR_HINT}")
        if aged.damaged:
            verb = "is" if len(aged.damaged) == 1 else "are"
            entries = f"{_id_list(aged.damaged)} of “{aged.title or aged.conversation}”"
            sentences.append(f"{entries} {verb} damaged: not archived. {_REPAIR_HINT}")
    return sentences


_MOST_IDS = 5


def _id_list(ids: Sequence[str]) -> str:
    return ", ".join(ids[:_MOST_IDS]) + (f" and {len(ids) - _MOST_IDS:,} more" if len(ids) > _MOST_IDS else "")


_REPAIR_HINT = f"`{PROGRAM} check` shows details; `check --repair` repairs what can be repaired."


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _estimate(memory: Memory, overdue: OverdueConversation) -> AgedConversation:
    """The figures from a layout without drawing; text that two conversations of one run share is counted twice."""
    estimates, entries, damaged, large = list[ArchiveEstimate](), 0, list[Entry](), list[str]()
    for portion in memory.vault.overdue.portions(overdue, _max_entry_bytes(memory)):
        entries += len(portion.entries)
        damaged += portion.damaged
        large += portion.large
        if portion.entries:
            estimates.append(memory.vault.expected(portion.entries))
    return _aged_conversation(
        overdue,
        entries=entries,
        text_tokens=sum(estimate.text_tokens for estimate in estimates),
        pages=sum(estimate.pages for estimate in estimates),
        vision_tokens=sum(estimate.vision_tokens for estimate in estimates),
        shared_chars=sum(estimate.shared_chars for estimate in estimates),
        damaged=damaged,
        large=large,
    )


def _max_entry_bytes(memory: Memory) -> int:
    """The size limit of an entry that is archived."""
    return memory.settings.max_file_mb * 2**20


def _archive(memory: Memory, overdue: OverdueConversation, on_page: Callable[[int], None]) -> AgedConversation:
    label = clear(overdue.conversation.title) or overdue.conversation.id
    result = memory.vault.overdue.archive_conversation(overdue, on_page, label=label, most=_max_entry_bytes(memory))
    return _aged_conversation(
        overdue,
        entries=result.entries,
        text_tokens=sum(part.text_tokens for part in result.archived),
        pages=sum(len(part.pages) for part in result.archived),
        vision_tokens=sum(part.vision_tokens for part in result.archived),
        shared_chars=sum(part.shared_chars for part in result.archived),
        damaged=result.damaged,
        large=result.large,
    )


def _aged_conversation(
    overdue: OverdueConversation,
    *,
    entries: int,
    text_tokens: int = 0,
    pages: int = 0,
    vision_tokens: int = 0,
    shared_chars: int = 0,
    damaged: Sequence[Entry] = (),
    large: Sequence[str] = (),
) -> AgedConversation:
    return AgedConversation(
        conversation=overdue.conversation.id,
        title=overdue.conversation.title,
        touched=overdue.conversation.updated,
        entries=entries,
        text_tokens=text_tokens,
        pages=pages,
        vision_tokens=vision_tokens,
        shared_chars=shared_chars,
        spared=overdue.spared,
        damaged=tuple(entry.id for entry in damaged),
        is_damaged=overdue.conversation.damaged,
        large=tuple(large),
    )
