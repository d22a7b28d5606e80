"""Keeps the panel beside the conversation up to date, and opens what is chosen in it."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Literal

from msgspec.structs import replace
from textual.screen import Screen

from agent.events import CheckpointMade, SessionEvent, UsageKnown, UserStored
from agent.services.panel_figures import diff_of_file, panel_figures
from agent.services.settings import change_setting
from foundation.errors import PalimpsestError
from foundation.terminal_text import visible_line
from tui.chat.block_actions import BUSY, row_of_span
from tui.chat.panel_content import PLAN, PanelContent, after_event, panel_rows
from tui.passages.screen import PassageScreen
from tui.passages.text_screen import TextScreen
from tui.typed_app import app_of
from tui.widgets.plan_panel import PlanPanel
from tui.widgets.side_panel import SidePanel
from tui.widgets.transcript.block import BlockText

if TYPE_CHECKING:
    from agent.session import Session
    from context.checklist import Checklist
    from context.report import ContextReport

PanelSetting = Literal["auto", "on", "off"]

AUTO_COLUMNS: Final = 140  # from which `auto` shows it
LEAST_COLUMNS: Final = 100  # from which `on` does: the conversation keeps 56


class SidePanelView:
    """The panel takes room only while it is shown."""

    def __init__(
        self,
        screen: Screen[None],
        session: "Session",
        plan: PlanPanel,
        cite: Callable[[str], None],
        run: Callable[[str], bool],
    ) -> None:
        """`plan` is the panel above the prompt, which is hidden while this one shows the plan. `cite` puts a citation
        into the prompt; `run` runs a command, and gives False during an answer.
        """
        self._screen, self._session, self._plan, self._cite, self._run = screen, session, plan, cite, run
        self._setting: PanelSetting = session.config.screen.panel
        self._widget = SidePanel(self.open, self.leave)
        self._content = PanelContent()
        self._folded: frozenset[str] = frozenset()
        self._conversation = session.conversation.id if session.conversation else ""
        self._is_outdated = False  # the figures were not read, as there was no room for the panel

    @property
    def is_shown(self) -> bool:
        return self._widget.is_attached and self._widget.display

    async def remove(self) -> None:
        """Takes it from the screen for good."""
        if self._widget.is_attached:
            await self._widget.remove()

    # What changes it

    def take(self, event: SessionEvent) -> None:
        """Takes an event of the turn."""
        if isinstance(event, UserStored):
            self._conversation = event.conversation
        if (content := after_event(self._content, event)) is not self._content:
            self._update(content)
        if isinstance(event, CheckpointMade | UsageKnown):  # what the request cost is stored by then
            self.read_figures()

    def show_conversation(self, plan: "Checklist | None") -> None:
        """Shows the open conversation, with its stored plan."""
        conversation = self._session.conversation
        id_ = conversation.id if conversation else ""
        content = self._content if id_ == self._conversation else PanelContent()
        self._conversation = id_
        self._update(replace(content, plan=plan if plan and plan.is_open else None))
        self.read_figures()

    def forget_turn(self) -> None:
        """Drops what is known of the last turn: the conversation goes on elsewhere."""
        self._update(PanelContent(figures=self._content.figures))

    def show_report(self, report: "ContextReport") -> None:
        """Shows the figures of the next request."""
        self._update(replace(self._content, report=report))

    def end_turn(self) -> None:
        """Drops a plan that is done, and reads what the turn changed and cost."""
        plan = self._content.plan
        self._update(replace(self._content, plan=plan if plan and plan.is_open else None))
        self.read_figures()

    def read_figures(self) -> None:
        """Reads the touched files and what was spent, off the event loop, where there is room for the panel.

        A long day has thousands of requests to sum up.
        """
        self._is_outdated = not self._has_room
        if self._has_room:
            self._screen.run_worker(self._read_figures, group="panel", exclusive=True)

    async def _read_figures(self) -> None:
        known = self._content.figures.files
        figures = await asyncio.to_thread(panel_figures, self._session, known)
        self._update(replace(self._content, figures=figures))

    def _update(self, content: PanelContent) -> None:
        self._content = content
        self.lay_out()

    # Whether it is shown

    def use(self, setting: PanelSetting) -> None:
        self._setting = setting
        self.lay_out()

    def lay_out(self) -> None:
        """Shows or hides the panel by the width of the screen, the setting and what there is to show."""
        if self._is_outdated and self._has_room:
            self.read_figures()
        shown = self._has_room and (self._setting == "on" or self._content.has_conversation)
        if shown:
            self._widget.show_rows(panel_rows(self._content, self._folded))
        if shown != self.is_shown:
            if not self._widget.is_attached:
                self._screen.mount(self._widget)
            self._widget.display = shown
            if not shown and self._screen.focused is self._widget:
                self.leave()
        self._plan.set_elsewhere(is_elsewhere=shown)

    @property
    def _has_room(self) -> bool:
        least = LEAST_COLUMNS if self._setting == "on" else AUTO_COLUMNS
        return self._setting != "off" and self._screen.size.width >= least

    async def toggle(self) -> None:
        """Shows or hides it, and keeps that in the settings of the person."""
        if not self.is_shown and self._screen.size.width < LEAST_COLUMNS:
            self._say(f"The panel needs {LEAST_COLUMNS} columns; the terminal has {self._screen.size.width}.")
            return
        shows_itself = self._screen.size.width >= AUTO_COLUMNS and self._content.has_conversation
        setting: PanelSetting = "off" if self.is_shown else "auto" if shows_itself else "on"
        self.use(setting)
        workspace, environment = self._session.workspace, self._session.config.environment
        try:
            row = await asyncio.to_thread(change_setting, workspace, environment, "screen.panel", setting, user=True)
        except (PalimpsestError, OSError) as error:
            self._say(f"The panel is {setting} until you quit, because the setting could not be saved: {error}")
            return
        if row.written != setting:
            self._say(f"The panel is {setting} now. At the next start, {row.origin} overrides it.")

    def toggle_plan(self) -> None:
        self._fold(PLAN)

    def enter(self) -> None:
        """Gives the panel the keys, or the prompt where the panel has them."""
        if self._screen.focused is self._widget:
            self.leave()
        elif self.is_shown:
            self._widget.focus()
        else:
            self._say("The panel is closed: F7 opens it.")

    def leave(self) -> None:
        self._screen.query_one("#prompt").focus()

    # What is chosen

    def open(self, action: str) -> None:
        """Carries out the action of a row."""
        kind, _, rest = action.partition(" ")
        match kind:
            case "fold":
                self._fold(rest)
            case "file":
                self._open_file(int(rest))
            case "passage":
                self._open_passage(int(rest))
            case "context" if not self._run("/context"):
                self._say(BUSY)
            case _:
                pass

    def _fold(self, part: str) -> None:
        self._folded ^= {part}
        self.lay_out()

    def _open_file(self, number: int) -> None:
        file, checkpoints = self._content.figures.files[number], self._session.checkpoints
        screen = TextScreen(file.path, lambda: BlockText(diff_of_file(checkpoints, file), "diff"))
        app_of(self._screen).push_screen(screen)

    def _open_passage(self, number: int) -> None:
        row = row_of_span(self._content.recalled[number])
        screen = PassageScreen(self._session.memory, row, self._session.config.screen.pictures)
        app_of(self._screen).push_screen(screen, lambda citation: self._cite(citation) if citation else None)

    def _say(self, text: str) -> None:
        self._screen.notify(visible_line(text), timeout=4, markup=False)
