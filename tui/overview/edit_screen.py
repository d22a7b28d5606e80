"""Editor of one file of memory: saved through the safe writer, which overwrites nothing that others wrote."""

from collections.abc import Awaitable, Callable
from typing import ClassVar, Final

from rich.text import Text
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

from agent.services.memory_files import SavedNotes
from foundation.errors import PalimpsestError
from foundation.terminal_text import visible, visible_line
from memory.errors import NoteChanged
from tui.typed_app import app_of

UNSAVED_SIGN: Final = " * not saved"
KEYS: Final = "Esc back · Ctrl+S saves · Ctrl+T copies all"
MERGED: Final = "Changes made elsewhere in the meantime were merged in."
LEFT_OUT: Final = "Secrets and private parts were removed."
COPIES: Final = "Ctrl+T copies it."
_UNSAVED: Final = "Unsaved changes: Ctrl+S saves them, Esc again discards them."
_RAW: Final = "The file has control characters, which this editor would change. Use Ctrl+G in the list instead."


class NoteArea(TextArea):
    """A text area in which control characters of a paste are made visible."""

    async def _on_paste(self, event: events.Paste) -> None:  # before the one of the base, which Textual calls, too
        event.text = visible(event.text)


class EditScreen(ModalScreen[None]):
    """Edits `text`. `save` takes the text that was opened and the new one, which ends with a line end, so that a line
    which another program appends is a line of its own."""

    CSS_PATH = "../styles/overview.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", "Save the file", id="edit.save", show=False, priority=True),
        Binding("ctrl+t", "copy", "Copy all the text", id="edit.copy", show=False, priority=True),
        Binding("escape", "leave", "Back", id="edit.leave", show=False, priority=True),
        Binding("ctrl+home", "to_end(False)", "To the start of the text", id="edit.start", show=False, priority=True),
        Binding("ctrl+end", "to_end(True)", "To the end of the text", id="edit.end", show=False, priority=True),
    ]

    def __init__(self, title: str, text: str, save: Callable[[str, str], Awaitable[SavedNotes]]) -> None:
        super().__init__()
        self._heading = visible_line(title)
        self._base = text
        self._save_text = save
        self._ends = "\r\n" if "\r\n" in text else "\n"
        self._shown = visible(_flat(text))
        self._is_dropped = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="room"):
            yield Static("", id="edit-title", classes="room-title", markup=False)
            yield NoteArea(self._shown, id="edit-text", read_only=self._shown != _flat(self._base))
            yield Static("", id="list-note", markup=False)
            yield Static(KEYS, classes="room-keys", markup=False)

    def on_mount(self) -> None:
        area = self.query_one(TextArea)
        area.cursor_blink = False
        area.focus()
        self._show_title()
        self._say(_RAW if area.read_only else "", wrong=True)

    @property
    def is_changed(self) -> bool:
        """Whether the text is another one than that of the file."""
        return _flat(self.query_one(TextArea).text) != self._shown

    @on(TextArea.Changed)
    def _typed(self) -> None:
        self._is_dropped = False
        self._show_title()

    def _show_title(self) -> None:
        sign = UNSAVED_SIGN if self.is_changed else ""
        self.query_one("#edit-title", Static).update(Text(f"{self._heading}{sign}"))

    def on_paste(self, event: events.Paste) -> None:
        event.stop()

    @work(exclusive=True, group="save")
    async def action_save(self) -> None:
        if not self.is_changed:
            self._say("No changes to save.")
            return
        typed = _flat(self.query_one(TextArea).text)
        text = (typed if not typed or typed.endswith("\n") else f"{typed}\n").replace("\n", self._ends)
        try:
            saved = await self._save_text(self._base, text)
        except PalimpsestError as error:
            copies = COPIES if isinstance(error, NoteChanged) else ""
            self._say(" ".join(filter(None, (error.message, error.hint, copies))), wrong=True)
            return
        self._base, self._shown = saved.text, typed
        if saved.text != text:
            self._shown = visible(_flat(saved.text))
            self.query_one(TextArea).load_text(self._shown)
        self._show_title()
        merged = MERGED if saved.is_merged else ""
        self._say(" ".join(filter(None, ("Saved.", merged, LEFT_OUT if saved.left_out else ""))))

    def action_copy(self) -> None:
        app_of(self).copy_to_clipboard(_flat(self.query_one(TextArea).text))
        self._say("Copied the whole text.")

    def action_to_end(self, last: bool) -> None:
        area = self.query_one(TextArea)
        area.move_cursor(area.document.end if last else (0, 0))

    def action_leave(self) -> None:
        if self.is_changed and not self._is_dropped:
            self._is_dropped = True
            self._say(_UNSAVED, wrong=True)
            return
        self.dismiss(None)

    def _say(self, sentence: str, *, wrong: bool = False) -> None:
        note = self.query_one("#list-note", Static)
        note.display = bool(sentence)
        note.set_class(wrong, "-wrong")
        note.update(Text(visible(sentence), end=""))


def _flat(text: str) -> str:
    """The text with the line ends of the text area."""
    return text.replace("\r\n", "\n")
