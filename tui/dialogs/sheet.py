"""Base of the dialogs that interrupt: typed and pasted text answers nothing, and is collected for the prompt."""

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen, ScreenResultType


class SheetDialog(ModalScreen[ScreenResultType]):
    """A dialog with one part that scrolls. `typed` is what somebody typed while it was open."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "scroll(-8)", "Page up", id="dialog.page_up", show=False),
        Binding("pagedown", "scroll(8)", "Page down", id="dialog.page_down", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.typed = ""
        self.stop_turn: Callable[[], object] | None = None  # stops the turn that asks

    @property
    def unsent(self) -> str:
        """What goes into the prompt when the dialog has closed."""
        return self.typed

    def take_text(self, text: str) -> str:
        """What becomes of text that is typed: what is given is added to `typed`."""
        return text

    def take_backspace(self) -> None:
        """Takes back the last character."""
        self.typed = self.typed[:-1]

    @property
    def takes_line_break(self) -> bool:
        """Whether Enter is part of what is typed for the prompt, and answers nothing."""
        return bool(self.typed)

    def typing_changed(self) -> None:
        """Called after text was typed or pasted."""

    def stop_or_leave(self, answer: ScreenResultType) -> None:
        """Stops the turn, and gives the answer that changes nothing."""
        if self.stop_turn is not None:
            self.stop_turn()
        self.dismiss(answer)

    def action_scroll(self, rows: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=rows, animate=False)

    def on_key(self, event: events.Key) -> None:
        if event.key == "backspace":
            self.take_backspace()
        elif event.key == "enter" and self.takes_line_break:
            self.typed += "\n"
        elif event.is_printable and event.character:
            self.typed += self.take_text(event.character)
        else:
            return
        event.stop()
        self.typing_changed()

    def on_paste(self, event: events.Paste) -> None:
        self.typed += self.take_text(event.text.replace("\r\n", "\n").replace("\r", "\n"))
        event.stop()
        self.typing_changed()
