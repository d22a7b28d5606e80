"""Prompt editor: Enter sends, Shift+Enter and Ctrl+J begin a line; typed text is never lost."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from foundation.terminal_text import visible
from tui.output.app import ChangesOnlyApp
from tui.typed_app import app_of, themed_app
from tui.widgets.own_bindings import run_own_binding
from tui.widgets.prompt.chip_area import ChipTextArea
from tui.widgets.prompt.chips import PastedImage
from tui.widgets.prompt.held_input import HeldInput
from tui.widgets.prompt.history import HistoryCursor, PromptHistory
from tui.widgets.prompt.suggestions import Suggestion, Suggestions

if TYPE_CHECKING:
    from tui.widgets.prompt.vim.keys import VimKeys

JOINERS: Final = ("\u200c", "\u200d")  # inside of emoji sequences, and of words in many scripts
NEWLINE_KEYS: Final = frozenset({"shift+enter", "ctrl+j", "alt+enter"})


class Prompt(ChipTextArea):
    """Posts messages with what the user enters; the screen handles them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "ctrl+c,super+c",
            "interrupt",
            "Copy the selection, clear the prompt, stop the answer, or quit",
            id="prompt.interrupt",
            show=False,
        ),
        Binding("ctrl+d", "end", "Quit if the prompt is empty", id="prompt.end", show=False),
        Binding("ctrl+g", "edit", "Write in your editor", id="prompt.edit", show=False),
        Binding("ctrl+s", "steer", "Send to the running answer", id="prompt.steer", show=False),
        Binding("ctrl+r", "search_history", "Search the prompt history", id="prompt.search_history", show=False),
        Binding("ctrl+v,alt+v", "paste_image", "Paste an image or text", id="prompt.paste", show=False),
        Binding("ctrl+o", "open_chip", "Open the pasted text or image at the cursor", id="prompt.open", show=False),
        Binding("question_mark", "show_keys", "Keys and commands, in an empty prompt", id="prompt.keys", show=False),
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

    class SteerRequested(Message):
        """Ctrl+S in an empty prompt: what waits goes into the running answer."""

    class ImageRequested(Message):
        """Ctrl+V: the image in the clipboard."""

    @dataclass
    class ChipOpened(Message):
        """Ctrl+O on a chip."""

        content: str | PastedImage

    @dataclass
    class VimStateChanged(Message):
        """`label` names the mode of Vim and an incomplete command, "" without Vim keys."""

        label: str

    @dataclass
    class Returned(Message):
        """A text came back into the prompt; `why` is a sentence, which is shown until it is changed."""

        why: str

    class Interrupted(Message):
        """Ctrl+C with nothing to clear or copy."""

    class EndOfInput(Message):
        """Ctrl+D in an empty prompt."""

    class HistoryRequested(Message):
        """Ctrl+R."""

    class EditorRequested(Message):
        """Ctrl+G."""

    class ModeRequested(Message):
        """Shift+Tab: the next permission mode."""

    def __init__(self, history: PromptHistory, suggestions: Suggestions) -> None:
        super().__init__(
            history,
            id="prompt",
            soft_wrap=True,
            show_line_numbers=False,
            tab_behavior="focus",
            highlight_cursor_line=False,
            placeholder="Ask, or / for commands, @ for files",
        )
        self.cursor_blink = False  # so that an idle screen is not drawn again
        self.suggestions = suggestions
        self._history_cursor: HistoryCursor | None = None
        self.take_back: Callable[[], str] = str  # removes the last message that waits, and gives its text
        self._vim: VimKeys | None = None
        self._shown_label = ""
        self.held = HeldInput(self._on_key, self.paste_text)
        self.unhandled = 0  # texts that were entered, and that the screen has not taken yet
        self.warns_of_disk = True  # False where the conversation has said that nothing is kept

    def use_vim_keys(self, on: bool) -> None:
        """Turns Vim keys on or off at once; they begin in insert mode."""
        if on == (self._vim is not None):
            return
        if on:
            from tui.widgets.prompt.vim.keys import VimKeys

            self._vim = VimKeys(self)
        else:
            self._vim = None
        self._show_vim_state()

    def _show_vim_state(self) -> None:
        label = self._vim.state.label if self._vim else ""
        if label != self._shown_label:
            self._shown_label = label
            self.post_message(self.VimStateChanged(label))

    # Text

    def take_text(self) -> str:
        """The whole text, with pastes unfolded. Empties the prompt."""
        text = self.full_text
        self.remember()
        self._history_cursor = None
        self.empty()
        if self._vim:
            self._vim.begin()
            self._show_vim_state()
        return text

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
        """Adds the text to the history, at once in memory."""
        self.prompt_history.remember(self.full_text, self.draft_text)
        self.write_history_soon()

    def write_history_soon(self) -> None:
        """Stores what was added to the history, in a thread."""
        self.run_worker(self._write_history, group="history")

    async def _write_history(self) -> None:
        try:
            await asyncio.to_thread(self.prompt_history.write)
        except OSError as error:
            self.warn_of_disk(f"The history could not be written: {error.strerror}.")

    def warn_of_disk(self, text: str) -> None:
        """Says that something was not kept, where that is news."""
        if self.warns_of_disk:
            self.notify(text, severity="warning", markup=False)

    # Keys

    async def _on_key(self, event: events.Key) -> None:
        if self.held.takes(event):
            pass
        elif self._respond_to_vim(event) or self.respond_to_key(event.key):
            event.stop()
            event.prevent_default()
        elif event.character == "／" and not self.text:  # as a Chinese input method types the slash
            event.stop()
            event.prevent_default()
            self.insert("/")
        elif event.character in JOINERS:  # not printable, but part of the text
            event.stop()
            event.prevent_default()
            self.insert(event.character)
        elif await run_own_binding(self, event.key):
            event.stop()
            event.prevent_default()
        else:
            await super()._on_key(event)
            self._draw_ahead()

    def _draw_ahead(self) -> None:
        app = app_of(self)
        if isinstance(app, ChangesOnlyApp):
            app.draw_ahead(self)

    def _respond_to_vim(self, event: events.Key) -> bool:
        """Gives the key to Vim; False where it means what it means without."""
        if self._vim is None or (self._vim.is_inserting and event.key != "escape"):
            return False
        from tui.widgets.prompt.vim.state import Effect

        self.suggestions.offer(())
        effect = self._vim.respond(event)
        self._show_vim_state()
        if effect in {Effect.HISTORY_BACK, Effect.HISTORY_FORWARD}:
            self._walk_history(back=effect is Effect.HISTORY_BACK)
        return effect is not Effect.UNUSED

    def respond_to_key(self, key: str) -> bool:
        """Handles a key; False if the text area should handle it."""
        suggestion = self.suggestions.current(self.before_cursor)
        match key:
            case "enter" if suggestion and suggestion.sends:
                self.accept(suggestion)
                self.submit()
            case "enter" | "tab" if suggestion:
                self.accept(suggestion)
            case "up" | "down" if suggestion:
                self.suggestions.move(-1 if key == "up" else 1)
            case "escape" if suggestion:
                self.suggestions.offer(())
            case "enter":
                self.submit()
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

    def submit(self, *, steers: bool = False) -> None:
        shown = self.text
        if shown.strip():
            pastes = self.pasted
            self.prompt_history.add_pastes(pastes)
            self.unhandled += 1
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
        return True

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.take_paste(event)

    def take_paste(self, event: events.Paste) -> None:
        """Inserts what was pasted here, or where it could not go."""
        if not self.held.takes(event):
            self.paste_text(event.text)

    def action_paste_image(self) -> None:
        self.post_message(self.ImageRequested())

    def paste_copied(self) -> bool:
        """Inserts what was copied in this program; False where nothing was."""
        if copied := app_of(self).clipboard:
            self.paste_text(copied)
        return bool(copied)

    def action_open_chip(self) -> None:
        if (content := self.chip) is not None:
            self.post_message(self.ChipOpened(content))
        else:
            self.notify("Nothing to open: Ctrl+O opens a pasted text or image at the cursor.", timeout=3)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return not self.text if action == "show_keys" else super().check_action(action, parameters)

    def action_show_keys(self) -> None:
        self.insert("?")
        themed_app(self).show_keys_after_prompt()

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
            self.submit(steers=True)
        else:
            self.post_message(self.SteerRequested())

    def action_search_history(self) -> None:
        self.post_message(self.HistoryRequested())
