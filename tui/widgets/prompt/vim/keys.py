"""Vim keys of a text area: gives each key to the engine and shows what it answers."""

from collections import deque
from collections.abc import Callable
from typing import Final

from textual.events import Key
from textual.widgets.text_area import Selection

from tui.widgets.prompt.unit_area import UnitTextArea
from tui.widgets.prompt.units import after
from tui.widgets.prompt.vim.engine import press
from tui.widgets.prompt.vim.place import Place
from tui.widgets.prompt.vim.state import Effect, Step, VimMode, VimState

MAX_CHANGES: Final = 100  # that are undone in one step each; older ones are undone in the text area's own steps


class VimKeys:
    """The keys of one text area. It begins in insert mode."""

    def __init__(self, area: UnitTextArea) -> None:
        self._area = area
        self._shown: Selection | None = None  # in visual mode; of whole lines, its end is not the cursor
        self._cursor = 0  # then
        self._before_insertion = area.text
        self._done: deque[tuple[str, str]] = deque(maxlen=MAX_CHANGES)  # the text before and after each change
        self._undone: list[tuple[str, str]] = []
        self.state = VimState()

    @property
    def is_inserting(self) -> bool:
        return self.state.mode is VimMode.INSERT

    def begin(self) -> None:
        """Insert mode, as for a new text; the register and the last change stay."""
        self._before_insertion = self._area.text
        self._done.clear()
        self._undone.clear()
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
        was_inserting = self.is_inserting
        self.state = step.state
        if step.text != text:
            self._edit(text, step.text)
        if was_inserting and not self.is_inserting:
            self._note_change(self._before_insertion, step.text)
        elif self.is_inserting and not was_inserting:
            self._before_insertion = text
        elif not self.is_inserting:
            self._note_change(text, step.text)
        for _ in range(step.count if step.effect in {Effect.UNDO, Effect.REDO} else 0):
            self._undo() if step.effect is Effect.UNDO else self._redo()
            self._move_to_change(text)
        if step.effect is Effect.NONE and (is_changed or step.text != text or step.cursor != cursor):
            self._select(step)
        return step.effect

    def _move_to_change(self, old: str) -> None:
        """Puts the cursor where the text now differs from the old one."""
        if (text := self._area.text) != old:
            place = Place.at(text, _shared_beginning(old, text))
            self._area.move_cursor(self._area.location_at(place.step(self.state).cursor))

    def _note_change(self, before: str, after: str) -> None:
        if before != after:
            self._done.append((before, after))
            self._undone.clear()

    def _undo(self) -> None:
        """Undoes the last change: an insertion with all that was typed, or a step where something else changed it."""
        goal = None
        if self._done and self._done[-1][1] == self._area.text:
            self._undone.append(change := self._done.pop())
            goal = change[0]
        self._step(self._area.action_undo, goal)

    def _redo(self) -> None:
        goal = None
        if self._undone and self._undone[-1][0] == self._area.text:
            self._done.append(change := self._undone.pop())
            goal = change[1]
        self._step(self._area.action_redo, goal)

    def _step(self, act: Callable[[], None], goal: str | None) -> None:
        """A step in the history of edits; more of them up to the text `goal`, None for one."""
        while True:
            text = self._area.text
            act()
            if goal is None or self._area.text in {goal, text}:
                return

    def _edit(self, old: str, new: str) -> None:
        """Replaces what differs, as a step of its own in the history of edits."""
        start = _shared_beginning(old, new)
        shorter = min(len(old), len(new))
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
            if state.mode is not VimMode.INSERT:
                self._area.history.checkpoint()
            return
        anchor = min(state.anchor, len(text))
        if state.mode is VimMode.VISUAL_LINE:
            low, high = sorted((anchor, cursor))
            end = text.find("\n", high)
            anchor, cursor = text.rfind("\n", 0, low) + 1, len(text) if end < 0 else end
        elif cursor < anchor:
            anchor = after(text, anchor)
        self._area.selection = self._shown = Selection(locate(anchor), locate(cursor))


def _shared_beginning(first: str, second: str) -> int:
    """How many characters the two texts begin with alike."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((index for index, (one, other) in pairs if one != other), min(len(first), len(second)))
