"""A note where it stands: its file, whole, and its lines pointed at."""

import asyncio
from typing import TYPE_CHECKING

from rich.text import Text
from textual import work
from textual.widgets import Static

from foundation.errors import PalimpsestError
from foundation.terminal_text import visible
from tui.internal_errors import in_thread
from tui.recall.passage import SCROLL, TAKE, PassageScreen
from tui.typed_app import ink
from tui.widgets.transcript.items import Trouble
from tui.widgets.transcript.line_numbers import Numbered, numbered

if TYPE_CHECKING:  # loaded when memory is searched
    from agent.services.browse import Row
    from agent.services.live_search import NoteInFile
    from memory.memory import Memory


class NoteScreen(PassageScreen):
    """Gives the citation where it is to be put into the prompt, else None."""

    def __init__(self, memory: "Memory", row: "Row") -> None:
        super().__init__(memory, row)

    @work
    async def _read(self) -> None:
        from agent.services.browse import whole
        from agent.services.live_search import note_in_file

        try:
            self._found = await in_thread(whole, self._memory, self._row)
            found = await in_thread(note_in_file, self._memory, self._row)
        except PalimpsestError as error:
            self._about(Text("it cannot be shown", ink(self, "error-ink")))
            self._text.add(Trouble(error.title, error.message, error.hint))
            return
        lines = f"line {found.first}" if found.first == found.last else f"lines {found.first}–{found.last}"
        self._about(Text(visible(f"{found.path} · {lines}"), ink(self, "muted")))
        before, begins, after = await asyncio.to_thread(_cut, found)
        self._text.show([*before, begins, *after])
        self._text.reach(begins, more=False)
        self.query_one(".room-keys", Static).update(f"{SCROLL} · {TAKE}")


def _cut(found: "NoteInFile") -> tuple[list[Numbered], Numbered, list[Numbered]]:
    """The file's lines before the note, the piece that begins with its first line, and what follows."""
    pieces = numbered(found.text, pointed=frozenset(range(found.first, found.last + 1)))
    for index, piece in enumerate(pieces):
        at = next((n for n, row in enumerate(piece.rows) if row.number == found.first), None)
        if at is not None:
            head = [Numbered(piece.rows[:at], piece.digits)] if at else []
            return [*pieces[:index], *head], Numbered(piece.rows[at:], piece.digits), pieces[index + 1 :]
    return [], pieces[0], pieces[1:]  # the file became shorter meanwhile
