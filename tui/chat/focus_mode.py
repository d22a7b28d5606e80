"""Focus mode: moves through the transcript's blocks and messages with the keyboard."""

from tui.chat.block_actions import BlockActions
from tui.chat.view import ChatWidgets
from tui.widgets.transcript.focus import FocusTarget, focus_targets
from tui.widgets.transcript.items import TranscriptItem


class FocusMode:
    """Has the keys from `move` until `leave`."""

    def __init__(self, widgets: ChatWidgets, actions: BlockActions) -> None:
        self._screen = widgets.screen
        self._transcript = widgets.transcript
        self._prompt = widgets.prompt
        self._status = widgets.status
        self._bar = widgets.focus_bar
        self._actions = actions

    @property
    def is_on(self) -> bool:
        return self._bar.display

    def move(self, by: int) -> None:
        """Focuses the target below, or above; the first one is the lowest that is visible."""
        targets = focus_targets(self._transcript.line_cache.items)
        if not targets:
            return
        index = self._index(targets) if self.is_on else None
        if index is None:
            if by < 0:
                self._focus(self._lowest_visible(targets))
        elif index + by >= len(targets):
            self.leave()
            self._transcript.follow_end()
        elif index + by < 0:
            self._transcript.scroll_to(y=0, animate=False)  # loads what is earlier
        else:
            self._focus(targets[index + by])

    async def click(self, item: TranscriptItem, row: int) -> None:
        """Opens the block at whose first lines was clicked."""
        target = next((one for one in focus_targets(self._transcript.line_cache.items) if one.holds(item)), None)
        if target is not None and not target.is_answer and row <= 1:
            await self._actions.toggle(item)
            self.refresh()

    async def act(self, action: str) -> None:
        """Carries out an action of the focused target."""
        target = self._transcript.focused
        if action == "back" or target is None:
            self.leave()
        elif await self._actions.act(action, target):
            self.refresh()
        else:
            self.leave()

    def type(self, text: str) -> None:
        """Goes back to the prompt with typed text."""
        self.leave()
        self._prompt.insert(text)

    def refresh(self) -> None:
        """Shows the actions of the target as it is now."""
        if self.is_on and (target := self._transcript.focused) is not None:
            self._bar.show_actions(self._actions.names(target))

    def leave(self) -> None:
        """Gives the keys back to the prompt."""
        if not self.is_on:
            return
        self._actions.forget_question()
        self._transcript.focus_on(None)
        self._bar.display, self._status.display = False, True
        if self._screen.focused is self._bar or self._screen.focused is None:
            self._prompt.focus()

    def _focus(self, target: FocusTarget) -> None:
        self._actions.forget_question()
        self._transcript.focus_on(target)
        self._bar.show_actions(self._actions.names(target))
        self._bar.display, self._status.display = True, False
        self._bar.focus()

    def _index(self, targets: list[FocusTarget]) -> int | None:
        focused = self._transcript.focused
        if focused is None:
            return None
        return next((number for number, target in enumerate(targets) if target.holds(focused.first)), None)

    def _lowest_visible(self, targets: list[FocusTarget]) -> FocusTarget:
        bottom = round(self._transcript.scroll_y) + self._transcript.size.height
        starts = [(target.line_range(self._transcript.line_cache).start, target) for target in targets]
        return next((target for start, target in reversed(starts) if start < bottom), targets[0])
