"""Bases of the dialogs: one part scrolls, and where it interrupts, typed text is collected for the prompt."""

from collections.abc import Callable
from typing import ClassVar, Final

from textual import events
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ScreenResultType

from tui.themes.themed_screen import ThemedScreen

PAGE_KEYS: Final[list[BindingType]] = [
    Binding("pageup", "scroll(-1)", "Page up", id="dialog.page_up", show=False),
    Binding("pagedown", "scroll(1)", "Page down", id="dialog.page_down", show=False),
]
_MOST_ROWS: Final = 8  # of a page
AT_ONCE_S: Final = 0.03  # seconds between two keys, at most, that nobody pressed one after the other


class ScrollingDialog(ThemedScreen[ScreenResultType]):
    """A dialog whose facts scroll."""

    BINDINGS: ClassVar[list[BindingType]] = PAGE_KEYS

    @property
    def facts(self) -> VerticalScroll:
        """The part that scrolls."""
        return self.query_one(".sheet-facts", VerticalScroll)

    def action_scroll(self, pages: int) -> None:
        """Scrolls by pages, which overlap by a row."""
        rows = max(min(self.facts.size.height - 1, _MOST_ROWS), 1)
        self.facts.scroll_relative(y=pages * rows, animate=False)

    def action_scroll_rows(self, rows: int) -> None:
        self.facts.scroll_relative(y=rows, animate=False)


class SheetDialog(ScrollingDialog[ScreenResultType]):
    """A dialog that interrupts. `typed` is what somebody typed while it was open."""

    def __init__(self) -> None:
        super().__init__()
        self.typed = ""
        self.has_paste = False  # something was pasted
        self.stop_turn: Callable[[], object] | None = None  # stops the turn that asks

    @property
    def unsent(self) -> str:
        """What goes into the prompt when the dialog has closed."""
        return self.typed

    def take_text(self, text: str) -> str:
        """What becomes of text that is typed: what is given is added to `typed`."""
        return text

    def take_paste(self, text: str) -> str:
        """The same for text that is pasted. It presses no key."""
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
        self.has_paste = True
        self.typed += self.take_paste(event.text)
        event.stop()
        self.typing_changed()
