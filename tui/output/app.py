"""An application that writes to its terminal only what changes."""

import os
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from textual import events
from textual._compositor import CompositorUpdate
from textual.app import App
from textual.binding import Binding, BindingType
from textual.messages import TerminalSupportsSynchronizedOutput
from textual.screen import Screen
from textual.widget import Widget

from tui.output.blanks import erases_in_colour
from tui.output.line_pace import LinePace
from tui.output.terminal_grid import TerminalGrid
from tui.output.whole_clusters import cut_between_graphemes

cut_between_graphemes()

if TYPE_CHECKING:
    from rich.console import RenderableType

CAUGHT_UP_S: Final = 0.25  # after which it is looked again whether the terminal has caught up
AHEAD_S: Final = 1 / 30  # between two: what comes faster was not typed
WITHOUT_CURSOR: Final = ("", "dumb", "unknown")  # values of TERM


class ChangesOnlyApp(App[None]):
    """Writes only changed cells, and scrolls lines that moved. It draws all again when the terminal may show something
    else: after a resize or a suspension, when it gets the focus, and on Ctrl+L.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+l", "redraw", "Redraw the screen", id="app.redraw", show=False)
    ]

    def __init__(self) -> None:
        super().__init__()
        self._drawn_ahead = 0.0  # when, on the monotonic clock
        self.output_grid = terminal_grid(os.environ, sys.platform)
        self.line_pace = LinePace()
        self._left_out = False  # a frame was, and the terminal shows what was before it

    def on_mount(self) -> None:
        self.app_resume_signal.subscribe(self, self._redraw_resumed)  # pyright: ignore[reportUnknownMemberType] - Textual leaves its parameter open

    def _redraw_resumed(self, _app: "App[Any]") -> None:
        self.action_redraw()

    def action_redraw(self) -> None:
        """Draws the whole screen again."""
        if self.output_grid is not None:
            self.output_grid.forget()
        self.screen.refresh()

    def draw_ahead(self, widget: Widget) -> None:
        """Draws this widget of the screen on top at once; what else changed waits for the next frame.

        A typed letter would wait for the frame, up to 1/60 s and one more turn of the processor.
        """
        screen = self.screen
        waits_for_layout = screen._layout_required or screen._scroll_required or widget._layout_required  # pyright: ignore[reportPrivateUsage] - as Screen._on_timer_update
        now = time.monotonic()
        if waits_for_layout or widget.screen is not screen or self._batch_count or now - self._drawn_ahead < AHEAD_S:
            return
        self._drawn_ahead = now
        others = screen._dirty_widgets - {widget}  # pyright: ignore[reportPrivateUsage] - as above
        widget._repaint_required = False  # pyright: ignore[reportPrivateUsage] - or it would be drawn again
        screen._compositor.update_widgets({widget})  # pyright: ignore[reportPrivateUsage] - as above
        screen._compositor_refresh()  # pyright: ignore[reportPrivateUsage] - as above
        screen._dirty_widgets.update(others)  # pyright: ignore[reportPrivateUsage] - as above

    def write_sequence(self, sequence: str) -> None:
        """Writes a control sequence of our own that draws nothing."""
        if sequence and self._driver is not None:
            self._driver.write(sequence)

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.AppFocus) or (isinstance(event, events.Resize) and event.size == self.size):
            self.action_redraw()
        elif isinstance(event, events.Resize) and self.output_grid is not None:
            self.output_grid.forget()  # the new layout draws it all
        await super().on_event(event)

    def _display(self, screen: Screen[Any], renderable: "RenderableType | None") -> None:
        if self.output_grid is None or not isinstance(renderable, CompositorUpdate):
            super()._display(screen, renderable)  # pyright: ignore[reportUnknownMemberType] - as above
            return
        if self.line_pace.is_behind or self._left_out:
            self._leave_out()
            return
        changes, written = cast("RenderableType", self.output_grid.changes(renderable)), self.output_grid.written
        super()._display(screen, changes)  # pyright: ignore[reportUnknownMemberType] - as above
        if self._sync_available:
            self.line_pace.wrote(self.output_grid.written - written)
            self.write_sequence(self.line_pace.ask())

    def _leave_out(self) -> None:
        """Draws it all later, when the terminal has drawn what it has: that is one frame, and only what differs."""
        if not self._left_out:
            self._left_out = True
            self.set_timer(CAUGHT_UP_S, self._draw_left_out)

    def _draw_left_out(self) -> None:
        if not self._left_out:
            return
        if self.line_pace.is_behind:
            self.set_timer(CAUGHT_UP_S, self._draw_left_out)
            return
        self._left_out = False
        screen = cast("Any", self.screen)  # as Screen._compositor_refresh
        stack = cast("Any", self)._background_screens
        self._display(screen, screen._compositor.render_update(full=True, screen_stack=stack))

    def _on_terminal_supports_synchronized_output(self, message: TerminalSupportsSynchronizedOutput) -> None:
        del message  # Textual calls its own handler, too
        self.line_pace.answered()
        self._draw_left_out()


def terminal_grid(environment: Mapping[str, str], platform: str) -> TerminalGrid | None:
    """The grid of the terminal; None where Textual's own output is needed."""
    if not can_move_cursor(environment, platform):
        return None
    return TerminalGrid(erases_in_colour=erases_in_colour(environment.get("TERM", "")))


def can_move_cursor(environment: Mapping[str, str], platform: str) -> bool:
    """Whether the terminal has scroll regions and absolute cursor movement. Windows' console is left to Textual."""
    return platform != "win32" and environment.get("TERM", "") not in WITHOUT_CURSOR
