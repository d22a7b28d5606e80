"""The picker's list of conversations: by day, week and month, or those that a query finds."""

import asyncio
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from msgspec import Struct
from rich.text import Text
from textual.dom import DOMNode

from agent.services.conversation_list import ListedConversation, by_text, by_title, preview
from foundation.errors import PalimpsestError
from foundation.figures import counted
from foundation.terminal_text import visible_line
from memory.records import Conversation, ConversationFigures
from tui.picker.level import PickerLevel, PickerPreview, day_label, heading_text, row_text
from tui.widgets.status import short_count

if TYPE_CHECKING:
    from memory.memory import Memory

UNFOLDED: Final = 50  # conversations: newer days are unfolded at first until so many are listed
LOOKING: Final = "searching the text …"


class _Heading(Struct, frozen=True):
    label: str
    day: date | None = None


class DayGroup(NamedTuple):
    """Days under one heading, newest first. `first` is the first day that it may have, by which it is folded."""

    label: str
    first: date
    days: list[date]


def day_groups(days: Iterable[date], today: date) -> list[DayGroup]:
    """The days, newest first, as today, yesterday, this week and months."""
    periods: list[DayGroup] = []
    for day in days:
        label, first = _period_of(day, today)
        if not periods or periods[-1].label != label:
            periods.append(DayGroup(label, first, []))
        periods[-1].days.append(day)
    return periods


def _period_of(day: date, today: date) -> tuple[str, date]:
    monday = today - timedelta(days=today.weekday())
    if day >= today - timedelta(days=1):  # a day to come, too: the clock was set back
        return day_label(day, today), day
    if monday <= day < today:
        return "This week", monday
    return f"{day:%B %Y}", day.replace(day=1)


class ConversationLevel(PickerLevel):
    """The conversations of a workspace, newest first."""

    title: ClassVar[str] = "Conversations"
    placeholder: ClassVar[str] = "type to search titles and messages"
    keys: ClassVar[tuple[str, ...]] = (
        *("Enter resume", "→ turns", "Ctrl+R rename", "Ctrl+E export", "Ctrl+D delete", "Esc back"),
    )

    def __init__(
        self, memory: "Memory", open_conversation: int | None = None, today: Callable[[], date] = date.today
    ) -> None:
        """`open_conversation` is the seq of the one that the chat has open."""
        self._memory = memory
        self._open = open_conversation
        self._today = today
        self._days: dict[date, int] = {}
        self._unfolded: set[date] | None = None  # decided when the days are known
        self._one_shots = False  # whether they are listed
        self._hidden = 0  # one-shots
        self._titled: list[ListedConversation] = []
        self._by_text: list[ListedConversation] | None = None  # None before they are looked for
        self._trouble = ""  # why the text could not be searched
        self._rows: list[_Heading | ListedConversation] = []
        self._figures: dict[int, ConversationFigures] = {}

    @property
    def count(self) -> int:
        return len(self._rows)

    @property
    def about(self) -> str:
        if not self.query:
            hidden = f"{self._hidden:,} of -p {'listed' if self._one_shots else 'hidden'}: Ctrl+O"
            return " · ".join([counted(sum(self._days.values()), "conversation"), *([hidden] if self._hidden else [])])
        found = f"{len(self._titled):,} by title"
        if self._by_text is None:
            return f"{found} · {LOOKING}"
        return f"{found} · {self._trouble or f'{len(self._by_text):,} more by text'}"

    @property
    def empty(self) -> str:
        if not self.query:
            return (
                "There are no conversations yet. Your first message starts one; /import adds those of other programs."
            )
        if self._by_text is None:
            return f"No title matches; {LOOKING}"
        return f"No title or message matches “{self.query}”. Try fewer words."

    async def read(self, query: str) -> None:
        self.query, self._by_text, self._trouble = query, None, ""
        if query:
            self._titled = await asyncio.to_thread(by_title, self._memory, query)
            self._rows = [*self._section("By title", self._titled)]
        else:
            self._titled = []
            self._rows = await asyncio.to_thread(self._read_days)

    async def read_texts(self) -> None:
        query = self.query
        try:
            found = await asyncio.to_thread(by_text, self._memory, query)
        except PalimpsestError as error:
            found, self._trouble = [], error.message
        if query == self.query:
            known = {listed.conversation.seq for listed in self._titled}
            self._by_text = [listed for listed in found if listed.conversation.seq not in known]
            more = self._section("By text, best first", self._by_text)
            self._rows = [*self._section("By title", self._titled), *more]

    def _section(self, label: str, found: list[ListedConversation]) -> list[_Heading | ListedConversation]:
        return [_Heading(f"{label} · {len(found):,}"), *found] if found else []

    def _read_days(self) -> list[_Heading | ListedConversation]:
        stored = self._memory.conversations
        self._hidden = stored.one_shots()
        self._days = stored.days(one_shots=self._one_shots)
        periods = day_groups(self._days, self._today())
        if self._unfolded is None:
            self._unfolded, listed = set(), 0
            for period in periods:
                count = sum(self._days[day] for day in period.days)
                if listed >= UNFOLDED or (self._unfolded and listed + count > 2 * UNFOLDED):
                    break
                self._unfolded.add(period.first)
                listed += count
        rows: list[_Heading | ListedConversation] = []
        for period in periods:
            is_open = period.first in self._unfolded
            mark, count = "▾" if is_open else "▸", sum(self._days[day] for day in period.days)
            rows.append(_Heading(f"{mark} {period.label} · {count:,}", period.first))
            for day in period.days if is_open else ():
                rows += map(ListedConversation, stored.of_day(day, one_shots=self._one_shots))
        return rows

    async def read_details(self, visible: range) -> bool:
        shown = (self._rows[number] for number in visible if number < len(self._rows))
        seqs = [row.conversation.seq for row in shown if isinstance(row, ListedConversation)]
        missing = [seq for seq in seqs if seq not in self._figures]
        if not missing:
            return False
        found = await asyncio.to_thread(self._memory.conversations.figures, missing)
        self._figures |= {seq: found.get(seq, ConversationFigures(0, 0)) for seq in missing}  # 0: empty, or deleted
        return True

    def first(self) -> int | None:
        listed = [number for number, row in enumerate(self._rows) if isinstance(row, ListedConversation)]
        others = [number for number in listed if not self._is_open(self._rows[number])]
        return next(iter(others or listed), 0 if self._rows else None)

    def key(self, number: int) -> str:
        row = self._rows[number]
        return str(row.day or row.label) if isinstance(row, _Heading) else str(row.conversation.seq)

    def conversation(self, number: int) -> Conversation | None:
        row = self._rows[number]
        return row.conversation if isinstance(row, ListedConversation) else None

    def _is_open(self, row: object) -> bool:
        return isinstance(row, ListedConversation) and row.conversation.seq == self._open

    def text(self, number: int, width: int, node: DOMNode) -> Text:
        row = self._rows[number]
        if isinstance(row, _Heading):
            return heading_text(visible_line(row.label), width, node)
        conversation, figures = row.conversation, self._figures.get(row.conversation.seq)
        local = conversation.updated.astimezone()
        is_recent = not self.query and (self._today() - local.date()).days in {0, 1}
        moment = f"{local:%H:%M}" if is_recent else f"{local:%Y-%m-%d}"
        head = f"{'◆' if self._is_open(row) else ' '} {moment}  "
        details = [*map(visible_line, row.about)]
        details += [counted(figures.turns, "turn"), f"{short_count(figures.tokens)} tokens"] if figures else []
        return row_text(head, visible_line(conversation.title) or "(untitled)", details, width, node)

    async def preview(self, number: int) -> PickerPreview:
        row = self._rows[number]
        if isinstance(row, _Heading):
            return PickerPreview("Enter folds or unfolds the conversations below." if row.day else "")
        turns = await asyncio.to_thread(preview, self._memory, row)
        conversation = row.conversation
        parts = [conversation.title or "(untitled)", conversation.id, *(["already open"] if self._is_open(row) else [])]
        return PickerPreview(" · ".join(parts), turns, self.query)

    def fold(self, number: int, *, folded: bool | None = None) -> bool:
        headings = [row.day for row in self._rows[: number + 1] if isinstance(row, _Heading)]
        if self._unfolded is None or not headings or (day := headings[-1]) is None:
            return False
        if folded is None:
            self._unfolded ^= {day}
            return True
        if folded != (day in self._unfolded):
            return False
        self._unfolded = self._unfolded - {day} if folded else self._unfolded | {day}
        return True

    def heading_of(self, number: int) -> str:
        above = [n for n, row in enumerate(self._rows[: number + 1]) if isinstance(row, _Heading)]
        return self.key(above[-1]) if above else ""

    def toggle_hidden(self) -> None:
        self._one_shots, self._unfolded = not self._one_shots, None
