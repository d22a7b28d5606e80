"""The transcript's part of the chat screen: scrolling, loading more of the conversation, and its blocks."""

from typing import TYPE_CHECKING

from textual import events, on, work
from textual.screen import Screen

from tui.chat.foot import ChatFoot
from tui.chat.view import ChatWidgets
from tui.widgets.focus_bar import FocusBar
from tui.widgets.status import MORE_BELOW, NEW_BELOW, NewBelowHint
from tui.widgets.transcript.view import Transcript

if TYPE_CHECKING:  # loaded after first paint
    from tui.chat.controller import ChatController
    from tui.chat.focus_mode import FocusMode


class TranscriptScreen(Screen[None]):
    """A screen with a transcript above a prompt. Its heir makes the widgets and, once it is open, the controller."""

    controller: "ChatController | None"
    transcript: Transcript
    foot: ChatFoot
    widgets: ChatWidgets

    def __init__(self) -> None:
        super().__init__()
        self._focus_mode: FocusMode | None = None  # made when it is first used

    # Scrolling

    def action_page(self, by: int) -> None:
        step = by * max(self.transcript.size.height - 2, 1)
        self.transcript.scroll_to(y=self.transcript.scroll_y + step, animate=False)

    @on(NewBelowHint.NewBelowClicked)
    def action_newest(self) -> None:
        if self.controller and self.controller.history.has_more_below:
            self._back_to_newest(self.controller)
        else:
            self.transcript.follow_end()

    @work(exclusive=True, group="earlier")
    async def _back_to_newest(self, controller: "ChatController") -> None:
        await controller.return_to_newest()

    @work(exclusive=True, group="earlier")
    async def action_oldest(self) -> None:
        if self.controller:
            await self.controller.history.show_oldest()

    @on(Transcript.NewBelowChanged)
    def _show_new_below(self, message: Transcript.NewBelowChanged) -> None:
        self.foot.new_below.show(NEW_BELOW if message.has_new else MORE_BELOW if message.has_more else "")

    @on(Transcript.TopReached)
    @work(exclusive=True, group="earlier")
    async def _load_earlier(self) -> None:
        if self.controller:
            await self.controller.history.load_earlier()

    @on(Transcript.BottomReached)
    @work(exclusive=True, group="later")
    async def _load_later(self) -> None:
        if self.controller:
            await self.controller.history.load_later()

    # Blocks

    @property
    def focus_mode(self) -> "FocusMode":
        if self._focus_mode is None:
            from tui.chat.block_actions import BlockActions
            from tui.chat.focus_mode import FocusMode

            actions = BlockActions(
                self,
                self.transcript,
                lambda: self.controller,
                self.foot.prompt.insert_text,
                self.foot.prompt.insert_folded,
            )
            self._focus_mode = FocusMode(self.widgets, actions)
            self.widgets.focus_bar.type_text = self._focus_mode.type
        return self._focus_mode

    @on(FocusBar.MoveRequested)
    def _focus_moved(self, message: FocusBar.MoveRequested) -> None:
        self.focus_mode.move(message.by)

    def action_block(self, by: int) -> None:
        self.focus_mode.move(by)

    @on(Transcript.ItemClicked)
    @work(exclusive=True, group="block")
    async def _click_block(self, message: Transcript.ItemClicked) -> None:
        await self.focus_mode.click(message.item, message.row)

    @on(FocusBar.ActionRequested)
    @work(exclusive=True, group="block")
    async def _act_on_block(self, message: FocusBar.ActionRequested) -> None:
        await self.focus_mode.act(message.action)

    @on(FocusBar.Left)
    def _leave_focus(self) -> None:
        if self.is_current and not self.foot.focus_bar.has_focus:  # a screen above it gives the keys back
            self.focus_mode.leave()

    def on_paste(self, event: events.Paste) -> None:
        """Takes what is pasted where there is no field, such as on a block, to the prompt."""
        event.stop()
        self.leave_blocks()
        self.foot.prompt.focus()
        self.foot.prompt.take_paste(event)

    def leave_blocks(self) -> None:
        """Gives the keys back to the prompt, where a block has them."""
        if self._focus_mode:
            self._focus_mode.leave()
