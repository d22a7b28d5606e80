"""A field for one line of text, checked before it is taken."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from msgspec import Struct
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from foundation.errors import PalimpsestError
from foundation.terminal_text import visible, visible_line
from tui.widgets.query_input import QueryInput
from tui.widgets.sheet import Sheet


class TypedLine(Struct, frozen=True):
    """What was typed, and the scope that was chosen ("" where there is none to choose)."""

    text: str
    scope: str = ""


class LineScreen(ModalScreen[TypedLine | None]):
    """Gives the line once `check` accepts it; None where it was left."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+c", "leave", "Cancel", id="line.leave", show=False, priority=True),
        Binding("tab,shift+tab", "next_scope", "Switch where it applies", id="line.scope", show=False, priority=True),
    ]

    def __init__(
        self,
        title: str,
        notes: Sequence[str],
        check: Callable[[str], object],
        *,
        text: str = "",
        example: str = "",
        scopes: Sequence[str] = (),
        hidden: bool = False,
    ) -> None:
        """`notes` are lines above the field. `check` raises PalimpsestError for a line that cannot be taken.

        `hidden` shows dots in place of the text.
        """
        super().__init__()
        self._heading = visible_line(title)
        self._notes = [visible_line(note) for note in notes]
        self._check = check
        self._text = text
        self._example = visible_line(example)
        self._scopes = list(scopes)
        self._is_hidden = hidden

    def compose(self) -> ComposeResult:
        with Sheet():
            yield Static(Text(self._heading), classes="sheet-title", markup=False)
            with VerticalScroll(id="line-notes", classes="sheet-facts", can_focus=False):
                yield Static(Text("\n".join(self._notes)), markup=False)
            field = QueryInput(self._text, placeholder=self._example, id="filter", compact=True)
            field.password = self._is_hidden
            yield field
            yield Static("", id="line-wrong", markup=False)
            yield Static("", id="line-keys", classes="sheet-note", markup=False)

    def on_mount(self) -> None:
        self.query_one("#line-wrong").display = False
        self._show_keys()
        field = self.query_one(Input)
        field.cursor_blink = False
        field.focus()

    def _show_keys(self) -> None:
        scope = f" · Tab: applies to {visible_line(self._scopes[0])}" if self._scopes else ""
        self.query_one("#line-keys", Static).update(Text(f"Enter confirms · Esc cancels{scope}"))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        text = event.value.strip()
        if not text:
            return
        try:
            self._check(text)
        except PalimpsestError as error:
            wrong = self.query_one("#line-wrong", Static)
            wrong.display = True
            wrong.update(Text(visible(f"{error.message} {error.hint}".strip())))
            return
        self.dismiss(TypedLine(text, self._scopes[0] if self._scopes else ""))

    def action_next_scope(self) -> None:
        self._scopes = [*self._scopes[1:], *self._scopes[:1]]
        self._show_keys()

    def action_leave(self) -> None:
        self.dismiss(None)

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
