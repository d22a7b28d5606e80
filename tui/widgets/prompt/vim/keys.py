"""Vim keys of a text area: gives each key to the engine and shows what it answers."""

from textual.events import Key
from textual.widgets.text_area import Selection

from tui.widgets.prompt.unit_area import UnitTextArea
from tui.widgets.prompt.units import after
from tui.widgets.prompt.vim.engine import press
from tui.widgets.prompt.vim.state import Effect, Mode, Step, VimState


class VimKeys:
    """The keys of one text area. It begins in insert mode."""

    def __init__(self, area: UnitTextArea) -> None:
        self._area = area
        self._shown: Selection | None = None  # in visual mode; of whole lines, its end is not the cursor
        self._cursor = 0  # then
        self.state = VimState()

    @property
    def is_inserting(self) -> bool:
        return self.state.mode is Mode.INSERT

    def begin(self) -> None:
        """Insert mode, as for a new text; the register and the last change stay."""
        self.state = VimState(register=self.state.register, change=self.state.change, find=self.state.find)

    def respond(self, event: Key) -> Effect:
        """Handles a key; UNUSED and the history's effects are left to the caller."""
        area, text = self._area, self._area.text
        key = event.character if event.is_printable and event.character else event.key
        cursor = area.cursor_offset
        if self.state.mode.is_visual and area.selection == self._shown:
            cursor = self._cursor
        step = press(text, min(cursor, len(text)), key, self.state)
        is_changed = step.state != self.state
        self.state = step.state
        if step.text != text:
            self._edit(text, step.text)
        for _ in range(step.count if step.effect in {Effect.UNDO, Effect.REDO} else 0):
            (area.action_undo if step.effect is Effect.UNDO else area.action_redo)()
        if step.effect is Effect.NONE and (is_changed or step.text != text or step.cursor != cursor):
            self._select(step)
        return step.effect

    def _edit(self, old: str, new: str) -> None:
        """Replaces what differs, as a step of its own in the history of edits."""
        start = 0
        shorter = min(len(old), len(new))
        while start < shorter and old[start] == new[start]:
            start += 1
        end = 0
        while end < shorter - start and old[-1 - end] == new[-1 - end]:
            end += 1
        area, locate = self._area, self._area.location_at
        area.history.checkpoint()
        area.replace(
            new[start : len(new) - end], locate(start), locate(len(old) - end), maintain_selection_offset=False
        )
        area.history.checkpoint()

    def _select(self, step: Step) -> None:
        """Shows the cursor; in visual mode the selection, with the unit under its later end."""
        text, cursor, state = step.text, step.cursor, step.state
        locate = self._area.location_at
        self._shown, self._cursor = None, cursor
        if not state.mode.is_visual:
            self._area.move_cursor(locate(cursor))
            if state.mode is not Mode.INSERT:
                self._area.history.checkpoint()
            return
        anchor = min(state.anchor, len(text))
        if state.mode is Mode.VISUAL_LINE:
            low, high = sorted((anchor, cursor))
            end = text.find("\n", high)
            anchor, cursor = text.rfind("\n", 0, low) + 1, len(text) if end < 0 else end
        elif cursor < anchor:
            anchor = after(text, anchor)
        self._area.selection = self._shown = Selection(locate(anchor), locate(cursor))
