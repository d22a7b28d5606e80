"""Cleaning screen: what nobody touched for a month, what would leave and what would stay; the person decides."""

import asyncio
from typing import TYPE_CHECKING, ClassVar, Final

from textual import work
from textual.binding import Binding, BindingType

from foundation.errors import PalimpsestError
from foundation.sizes import format_size
from tui.overview.list_screen import ListContents, ListRow, ListScreen
from tui.passages.text_screen import TextScreen
from tui.typed_app import app_of
from tui.widgets.transcript.block import BlockText

if TYPE_CHECKING:  # loaded after first paint
    from agent.session import Session
    from memory.upkeep.proposal import CleaningProposal
    from memory.upkeep.retention import PlannedConversation

_MOST_TEXT: Final = 200_000  # characters of a conversation that is read here


class CleanScreen(ListScreen[str]):
    """The proposal of a session; gives the command that was chosen, or "" for none."""

    heading = "Clean up"
    keys: ClassVar[str] = "a archive all · n never archive · l ask later · Enter read · Esc back"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "archive", "Archive all that are listed", id="clean.archive", show=False),
        Binding("n", "never", "Never archive this one, or allow it again", id="clean.never", show=False),
        Binding("l", "later", "Ask again in a month", id="clean.later", show=False),
    ]

    def __init__(self, session: "Session") -> None:
        super().__init__()
        self._session = session
        self._proposed: CleaningProposal | None = None
        self._rows: dict[str, PlannedConversation] = {}

    async def read(self) -> ListContents:
        from memory.upkeep.proposal import proposal

        session = self._session
        proposed = await asyncio.to_thread(proposal, session.memory, session.config.retention, session.clock.now())
        self._proposed = proposed
        both = (*proposed.leaving, *proposed.staying)
        self._rows = {each.conversation: each for each in both}
        largest = max((each.bytes for each in both), default=0) or 1
        rows: list[ListRow] = []
        if proposed.leaving:
            rows.append(ListRow(label=f"Would be archived: {format_size(proposed.bytes)} of text"))
            rows += [_row(each, largest) for each in proposed.leaving]
        if proposed.staying:
            rows.append(ListRow(label="Not archived"))
            rows += [_row(each, largest) for each in proposed.staying]
        leaving, staying = len(proposed.leaving), len(proposed.staying)
        about = f"{leaving:,} to archive · {staying:,} not archived · untouched for {proposed.days:,} days"
        empty = f"No conversation with text in the database has been untouched for {proposed.days:,} days."
        return ListContents(tuple(rows), about if rows else "", empty)

    async def open_row(self, row: ListRow) -> None:
        text = await asyncio.to_thread(self._text_of, row.id)
        app_of(self).push_screen(TextScreen(self._rows[row.id].title or row.id, lambda: BlockText(text, "markdown")))

    def _text_of(self, id_: str) -> str:
        from agent.exporters import markdown_pieces

        memory, text = self._session.memory, ""
        for piece in markdown_pieces(memory, memory.conversations.find(id_)):
            text += piece
            if len(text) > _MOST_TEXT:
                return f"{text[:_MOST_TEXT]}\n\n… `/resume {id_}` shows the rest."
        return text

    def action_archive(self) -> None:
        if self._proposed is None:
            return
        if self._proposed.leaving:
            self.dismiss("/clean --yes")
        else:
            self.say("There is nothing to archive.")

    def action_later(self) -> None:
        self.dismiss("/clean --later")

    @work(exclusive=True, group="change")
    async def action_never(self) -> None:
        from memory.upkeep.idle import KEPT
        from memory.upkeep.proposal import keep

        if (row := self.chosen) is None:
            return
        planned = self._rows[row.id]
        if planned.stays not in {"", KEPT}:
            self.say(f"It is not archived anyway: {planned.stays}.")
            return
        try:
            sentence = await asyncio.to_thread(keep, self._session.memory, row.id, always=not planned.stays)
        except PalimpsestError as error:
            self.say(f"{error.message} {error.hint}".strip(), wrong=True)
            return
        self.say(sentence)
        self.reload()


def _row(each: "PlannedConversation", largest: int) -> ListRow:
    reason = f" · {each.stays}" if each.stays else ""
    entries = f"{each.entries:,} entr{'y' if each.entries == 1 else 'ies'}"
    stays = f"\nNot archived: {each.stays}." if each.stays else "\nOnce archived, it can still be found and read."
    return ListRow(
        label=f"{each.title or 'untitled'}{reason}",
        id=each.conversation,
        figure=f"{format_size(each.bytes):>9}  {each.touched.astimezone():%Y-%m-%d}",
        share=each.bytes / largest,
        detail=f"{each.title or 'untitled'}\n{entries} with {format_size(each.bytes)} of text in the database, last "
        f"touched {each.touched.astimezone():%Y-%m-%d}.{stays}\n{each.conversation}",
    )
