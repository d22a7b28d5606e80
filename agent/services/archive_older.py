"""`archive --older-than`: what it would do, and what it did, conversation by conversation."""

from collections.abc import Callable, Sequence
from datetime import datetime

from msgspec import Struct

from foundation.privacy import clear
from foundation.program import PROGRAM
from memory.archive.lifecycle.overdue import OverdueConversation
from memory.memory import Memory
from memory.pages.cost.profiles import profile_named
from memory.pages.types import ArchiveEstimate
from memory.records import Entry


class AgedConversation(Struct, frozen=True, kw_only=True):
    """One conversation. Tokens are of its own words and of the pictures of its pages."""

    conversation: str
    title: str
    touched: datetime
    entries: int
    text_tokens: int
    pages: int
    vision_tokens: int
    shared_chars: int = 0  # stood on pages already, and were not drawn again
    spared: str = ""  # why it stays; "" where it leaves
    damaged: tuple[str, ...] = ()  # ids of entries that stay, for their text or row is not what was stored
    is_damaged: bool = False  # its own row is
    large: tuple[str, ...] = ()  # ids of entries that stay, for they hold more than `archive.max_file_mb`


class AgingReport(Struct, frozen=True, kw_only=True):
    """What `archive --older-than` did, or would do."""

    before: datetime
    dry_run: bool
    conversations: tuple[AgedConversation, ...]

    @property
    def left(self) -> tuple[AgedConversation, ...]:
        return tuple(one for one in self.conversations if one.entries and not one.spared)

    @property
    def met_damage(self) -> bool:
        """Whether something stays because it is damaged, or too large."""
        return any(one.damaged or one.is_damaged or one.large for one in self.conversations)


def archive_older(
    memory: Memory, before: datetime, *, dry_run: bool = False, on_page: Callable[[int], None] | None = None
) -> AgingReport:
    """Archives what was not touched since `before`; with `dry_run` only says what it would do."""
    profile_named(memory.settings.profile)  # a wrong name is told before anything is done
    pages = 0

    def told(done: int) -> None:
        if on_page is not None:
            on_page(pages + done)

    found: list[AgedConversation] = []
    for one in memory.vault.overdue.conversations(before):
        aged = _expected(memory, one) if dry_run or one.spared else _done(memory, one, told)
        pages += 0 if aged.spared else aged.pages
        found.append(aged)
    return AgingReport(before=before, dry_run=dry_run, conversations=tuple(found))


def told_as_sentence(aging: AgingReport) -> str:
    """What was done, for a person."""
    left = aging.left
    spared = sum(1 for one in aging.conversations if one.spared)
    also = f" {spared:,} spared." if spared else ""
    if not left:
        return f"Nothing was left untouched since {aging.before:%Y-%m-%d}.{also}"
    entries, pages = sum(one.entries for one in left), sum(one.pages for one in left)
    text, vision = sum(one.text_tokens for one in left), sum(one.vision_tokens for one in left)
    verb = "would leave" if aging.dry_run else "left"
    what = f"{entries:,} entr{'y' if entries == 1 else 'ies'} of {_counted(len(left), 'conversation')}"
    return (
        f"{what} {verb} for {_counted(pages, 'page')}: {text:,} text tokens on {vision:,} vision tokens. "
        f"They stay searchable, and recall brings them back whole.{also}"
    )


def damage_sentences(aging: AgingReport) -> list[str]:
    """What stays because it is damaged or too large, for a person; none where nothing is."""
    told: list[str] = []
    for one in aging.conversations:
        if one.large:
            told.append(
                f"{_named(one.large)} of “{one.title or one.conversation}” "
                f"{'holds' if len(one.large) == 1 else 'hold'} more than archive.max_file_mb allows: kept in the store."
            )
        if one.is_damaged:
            told.append(f"Conversation {one.conversation} is damaged and stays in the store. {_MEND}")
        if one.damaged:
            which = "is" if len(one.damaged) == 1 else "are"
            of = f"{_named(one.damaged)} of “{one.title or one.conversation}”"
            told.append(f"{of} {which} damaged: kept in the store. {_MEND}")
    return told


_NAMED = 5


def _named(ids: Sequence[str]) -> str:
    return ", ".join(ids[:_NAMED]) + (f" and {len(ids) - _NAMED:,} more" if len(ids) > _NAMED else "")


_MEND = f"`{PROGRAM} check` says more; `check --repair` mends what can be mended."


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _expected(memory: Memory, one: OverdueConversation) -> AgedConversation:
    """Laid out and counted as it would be drawn; what two conversations of one run share is not known yet."""
    found, entries, damaged, large = list[ArchiveEstimate](), 0, list[Entry](), list[str]()
    for portion in memory.vault.overdue.portions(one, _most(memory)):
        entries += len(portion.entries)
        damaged += portion.damaged
        large += portion.large
        if portion.entries:
            found.append(memory.vault.expected(portion.entries))
    return _aged(
        one,
        entries=entries,
        text_tokens=sum(expected.text_tokens for expected in found),
        pages=sum(expected.pages for expected in found),
        vision_tokens=sum(expected.vision_tokens for expected in found),
        shared_chars=sum(expected.shared_chars for expected in found),
        damaged=damaged,
        large=large,
    )


def _most(memory: Memory) -> int:
    """Bytes that one entry may have to leave for pages."""
    return memory.settings.max_file_mb * 2**20


def _done(memory: Memory, one: OverdueConversation, on_page: Callable[[int], None]) -> AgedConversation:
    label = clear(one.conversation.title) or one.conversation.id
    done = memory.vault.overdue.put_away(one, on_page, label=label, most=_most(memory))
    return _aged(
        one,
        entries=done.entries,
        text_tokens=sum(archived.text_tokens for archived in done.archived),
        pages=sum(len(archived.pages) for archived in done.archived),
        vision_tokens=sum(archived.vision_tokens for archived in done.archived),
        shared_chars=sum(archived.shared_chars for archived in done.archived),
        damaged=done.damaged,
        large=done.large,
    )


def _aged(
    one: OverdueConversation,
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
        conversation=one.conversation.id,
        title=one.conversation.title,
        touched=one.conversation.updated,
        entries=entries,
        text_tokens=text_tokens,
        pages=pages,
        vision_tokens=vision_tokens,
        shared_chars=shared_chars,
        spared=one.spared,
        damaged=tuple(entry.id for entry in damaged),
        is_damaged=one.conversation.damaged,
        large=tuple(large),
    )
