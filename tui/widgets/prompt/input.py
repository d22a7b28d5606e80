"""Prompt editor: Enter sends, Shift+Enter and Ctrl+J begin a line; typed text is never lost."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar, Final

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea

from foundation.terminal_text import visible
from models.excerpts import line_count, paste_name
from tui.typed_app import app_of
from tui.widgets.prompt.history import HistoryCursor, PromptHistory
from tui.widgets.prompt.suggestions import Suggestion, Suggestions

JOINERS: Final = ("\u200c", "\u200d")  # inside of emoji sequences, and of words in many scripts
NEWLINE_KEYS: Final = frozenset({"shift+enter", "ctrl+j", "alt+enter"})
MAX_PASTE_CHARS: Final = 1_000
MAX_PASTE_LINES: Final = 15
MAX_PLAIN_CHARS: Final = 10_000  # of a message from the history that is not folded
MAX_PLAIN_LINES: Final = 100
FIXED_KEYS: Final = (
    ("Enter", "Send, or take the suggestion"),
    ("Shift+Enter Ctrl+J", "Begin a line"),
    ("↑ ↓", "What you typed before, at the first and the last line; in an empty prompt first what waits"),
    ("Tab", "Take the suggestion"),
    ("Shift+Tab", "The next permission mode"),
    ("/ @", "Commands, files"),
    ("! !! #", "Run a line in the shell, run it in the terminal itself, add a line to MEMORY.md"),
)
"""Keys that stand for what is typed, and cannot be changed: keys, sentence."""
_PASTE_MARK = re.compile(r"\[(?:Pasted text|Output of [^\]\n]{1,50}?) #(\d+) · [^\]\n]*\]")


class PasteBuffer:
    """The long texts behind the placeholders in one prompt."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}

    def fold(self, text: str) -> str:
        """The text for the prompt: the text itself, or a placeholder if it is long."""
        if len(text) <= MAX_PASTE_CHARS and text.count("\n") < MAX_PASTE_LINES:
            return text
        number = len(self._texts) + 1
        self._texts[number] = text
        lines = line_count(text)
        size = f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"
        return f"[{visible(paste_name(text))} #{number} · {size}]"

    def refold(self, text: str, pastes: Iterable[str]) -> str:
        """A whole message, with the long texts that were pasted into it folded again; if none is known, all of it."""
        for paste in pastes:
            if paste in text and (folded := self.fold(paste)) != paste:
                text = text.replace(paste, folded, 1)
        is_long = len(text) > MAX_PLAIN_CHARS or text.count("\n") >= MAX_PLAIN_LINES
        return self.fold(text) if is_long else text

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts behind all placeholders."""
        return tuple(self._texts.values())

    def placeholder_of(self, text: str, prompt: str) -> str:
        """The placeholder of this text in the prompt, or "": pasting a text again unfolds it."""
        for match in _PASTE_MARK.finditer(prompt):
            if self._texts.get(int(match[1])) == text:
                return match[0]
        return ""

    def unfold(self, prompt: str) -> str:
        """The prompt with every placeholder replaced by its text; unknown placeholders stay."""
        return _PASTE_MARK.sub(lambda match: self._texts.get(int(match[1]), match[0]), prompt)


class Prompt(TextArea):
    """Posts messages with what the user enters; the screen handles them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "ctrl+c,super+c",
            "interrupt",
            "Copy the selection, clear the prompt, or leave",
            id="prompt.interrupt",
            show=False,
        ),
        Binding("ctrl+d", "end", "Leave, where the prompt is empty", id="prompt.end", show=False),
        Binding("ctrl+g", "edit", "Write in your editor", id="prompt.edit", show=False),
        Binding("ctrl+s", "steer", "Send into the running answer", id="prompt.steer", show=False),
        Binding("ctrl+r", "search_history", "Search what you typed before", id="prompt.search_history", show=False),
    ]

    @dataclass
    class Submitted(Message):
        """`text` is the text to send, with pastes unfolded; `shown` the text of the prompt; `pastes` their texts.

        `steers`: into the running answer.
        """

        text: str
        shown: str
        pastes: tuple[str, ...] = ()
        steers: bool = False

    @dataclass
    class SteerRequested(Message):
        """Ctrl+S in an empty prompt: what waits goes into the running answer."""

    @dataclass
    class Returned(Message):
        """A text came back into the prompt; `why` is a sentence, which is shown until it is changed."""

        why: str

    @dataclass
    class Interrupted(Message):
        """Ctrl+C with nothing to clear or copy."""

    @dataclass
    class EndOfInput(Message):
        """Ctrl+D in an empty prompt."""

    @dataclass
    class HistoryRequested(Message):
        """Ctrl+R."""

    @dataclass
    class EditorRequested(Message):
        """Ctrl+G."""

    @dataclass
    class ModeRequested(Message):
        """Shift+Tab: the next permission mode."""

    def __init__(self, history: PromptHistory, suggestions: Suggestions) -> None:
        super().__init__(
            id="prompt",
            soft_wrap=True,
            show_line_numbers=False,
            tab_behavior="focus",
            highlight_cursor_line=False,
            placeholder="Ask, or / for commands, @ for files",
        )
        self.cursor_blink = False  # so that an idle screen is not drawn again
        self.prompt_history = history
        self.suggestions = suggestions
        self._history_cursor: HistoryCursor | None = None
        self._pastes = PasteBuffer()
        self.take_back: Callable[[], str] = str  # removes the last message that waits, and gives its text

    # Text

    def set_text(self, text: str) -> None:
        """Replaces the text, control characters made visible, long pastes folded; puts the cursor at the end."""
        self._show(self._pastes.refold(visible(text), map(visible, self.prompt_history.pastes)))

    def _show(self, text: str) -> None:
        self.text = text
        self.move_cursor(self.document.end)

    def insert_text(self, text: str) -> None:
        """Inserts one line at the cursor, control characters made visible, with spaces around it."""
        row, column = self.cursor_location
        line = self.document.get_line(row)
        before = " " if line[:column].strip() and not line[:column].endswith(" ") else ""
        after = "" if line[column:].startswith(" ") else " "
        self.insert(f"{before}{' '.join(visible(text).split())}{after}")

    def insert_folded(self, text: str) -> None:
        """Inserts a text at the cursor, control characters made visible; a long one as a placeholder."""
        self.insert(visible(self._pastes.fold(text)))

    def take_text(self) -> str:
        """The whole text, with pastes unfolded. Empties the prompt."""
        text = self.full_text
        self.remember()
        self._history_cursor = None
        self._pastes = PasteBuffer()
        self.clear()
        return text

    @property
    def full_text(self) -> str:
        """The text as it would be sent."""
        return self._pastes.unfold(self.text)

    @property
    def before_cursor(self) -> str:
        """The current line up to the cursor."""
        row, column = self.cursor_location
        return self.document.get_line(row)[:column]

    def replace_text(self, text: str) -> None:
        """Replaces the text, and adds the old one to the history."""
        self.remember()
        self._history_cursor = None
        self.set_text(text)

    def remember(self) -> None:
        """Adds the text to the history."""
        try:
            self.prompt_history.add(self.full_text)
        except OSError as error:
            self.notify(f"The history could not be written: {error.strerror}.", severity="warning", markup=False)

    # Keys

    async def _on_key(self, event: events.Key) -> None:
        if self.respond_to_key(event.key):
            event.stop()
            event.prevent_default()
            return
        if event.character in JOINERS:  # not printable, but part of the text
            event.stop()
            event.prevent_default()
            self.insert(event.character)
            return
        await super()._on_key(event)

    def respond_to_key(self, key: str) -> bool:
        """Handles a key; False if the text area should handle it."""
        suggestion = self.suggestions.current(self.before_cursor)
        match key:
            case "enter" if suggestion and suggestion.sends:
                self.accept(suggestion)
                self._submit()
            case "enter" | "tab" if suggestion:
                self.accept(suggestion)
            case "up" | "down" if suggestion:
                self.suggestions.move(-1 if key == "up" else 1)
            case "escape" if suggestion:
                self.suggestions.offer(())
            case "enter":
                self._submit()
            case _ if key in NEWLINE_KEYS:
                self.insert("\n")
            case "up" if self.cursor_at_first_line:
                return self._walk_history(back=True)
            case "down" if self.cursor_at_last_line:
                return self._walk_history(back=False)
            case "shift+tab":
                self.post_message(self.ModeRequested())
            case "tab":
                pass
            case _:
                return False
        return True

    def accept(self, suggestion: Suggestion) -> None:
        """Replaces the typed text by a suggestion."""
        row, column = self.cursor_location
        self.replace(visible(suggestion.text), (row, max(column - len(suggestion.typed), 0)), (row, column))
        self.suggestions.offer(())

    def _submit(self, *, steers: bool = False) -> None:
        shown = self.text
        if shown.strip():
            pastes = tuple(text for text in self._pastes.texts if text in self.full_text)
            self.prompt_history.add_pastes(pastes)
            self.post_message(
                self.Submitted(self.full_text, shown, pastes, steers)
            )  # before the message of the empty prompt
            self.take_text()

    def _walk_history(self, *, back: bool) -> bool:
        if back and not self.text and (waiting := self.take_back()):
            self.set_text(waiting)
            return True
        if self._history_cursor is None:
            entries = self.prompt_history.entries
            if entries and entries[-1] == self.full_text:
                entries = entries[:-1]
            if not (back and entries):
                return False
            self.remember()
            self._history_cursor = HistoryCursor(entries, self.text)
        entry = self._history_cursor.back(self.text) if back else self._history_cursor.forward(self.text)
        if entry is None:
            return False
        cursor = self._history_cursor
        self.set_text(entry)  # the cursor keeps edited entries as they are shown, with placeholders
        self._history_cursor = cursor
        if back:
            self.move_cursor((0, 0))
        return True

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        if placeholder := self._pastes.placeholder_of(text, self.text):
            before, _, after = self.text.partition(placeholder)
            self._show(visible(before + text + after))
            return
        self.insert_folded(text)

    # Interrupting and leaving

    def action_interrupt(self) -> None:
        """Copies the selection, or moves the text to the history, or posts `Interrupted`."""
        if selected := self.selected_text or self.screen.get_selected_text():
            app_of(self).copy_to_clipboard(selected)
            self.screen.clear_selection()
            self.notify("Copied.", timeout=2)
        elif self.text:
            self.take_text()
        else:
            self.post_message(self.Interrupted())

    def action_end(self) -> None:
        if self.text:
            self.action_delete_right()
        else:
            self.post_message(self.EndOfInput())

    def action_edit(self) -> None:
        self.post_message(self.EditorRequested())

    def action_steer(self) -> None:
        if self.text.strip():
            self._submit(steers=True)
        else:
            self.post_message(self.SteerRequested())

    def action_search_history(self) -> None:
        self.post_message(self.HistoryRequested())
