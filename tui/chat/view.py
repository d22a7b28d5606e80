"""View of the chat for its controller: dialogs, waiting messages and the state of opening."""

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Final, TypeVar

from msgspec import Struct
from rich.text import Text
from textual.screen import Screen
from textual.widgets import Static

from agent.permissions.action import PermissionAnswer
from foundation.errors import PalimpsestError
from foundation.terminal_text import visible_line
from tui.chat.drafts import DraftKeeper
from tui.chat.submissions import waiting_lines
from tui.output.attention import ASKS, DONE, Attention
from tui.output.notification import NotifyKind
from tui.typed_app import app_of, seconds_since_key
from tui.widgets.focus_bar import FocusBar
from tui.widgets.plan_panel import PlanPanel
from tui.widgets.prompt.input import Prompt
from tui.widgets.prompt.prefixes import separate_prompts
from tui.widgets.status import StatusBar, clip
from tui.widgets.title_line import TitleLine
from tui.widgets.transcript.items import ErrorItem, MutedLine
from tui.widgets.transcript.view import Transcript

if TYPE_CHECKING:  # loaded after first paint
    from agent.commands.results import Choices, OpenNamedScreen, OpenPicker, Proposal
    from agent.events import (
        CallLimitReached,
        PermissionRequested,
        QuestionAsked,
        SessionEvent,
        SpendingLimitReached,
    )
    from agent.message_queue import QueuedMessage
    from agent.session import Session
    from context.checklist import Checklist
    from context.report import ContextReport
    from foundation.paths import Workspace
    from memory.memory import Memory
    from tui.chat.next_request import NextRequest
    from tui.chat.side_panel import SidePanelView
    from tui.chat.turn_changes import TurnChanges
    from tui.dialogs.sheet import SheetDialog
    from tui.images.protocol import GraphicsProtocol
    from tui.picker.browser import PickerChoice
    from tui.search.controller import EntryTarget

T = TypeVar("T")
TYPING_PAUSE_S: Final = 0.7  # seconds without a key before a question takes the focus
REWRITES: Final = "rewriting “{}” · Esc cancels"
NOT_SENT: Final = "not sent: back in the prompt"
MORE_UNSENT: Final = ", and {} more: ↑ restores them one by one"
COPIED_S: Final = 3.0  # seconds in which the status bar says what was copied
SETTLE_S: Final = 0.4  # seconds in which its keys and clicks answer nothing


class ChatWidgets(Struct, frozen=True, kw_only=True):
    """The widgets that the view changes."""

    screen: Screen[None]
    transcript: Transcript
    status: StatusBar
    prompt: Prompt
    plan: PlanPanel
    waiting: Static
    rewriting: Static
    keeper: DraftKeeper
    focus_bar: FocusBar
    title: TitleLine


class ChatView:
    """Implements ChatPort with the screen's widgets."""

    def __init__(
        self, widgets: ChatWidgets, leave: Callable[[], None], stop: Callable[[], None], notify: NotifyKind
    ) -> None:
        self.transcript = widgets.transcript
        self.status = widgets.status
        self.leave = leave
        self._stop = stop
        self._screen = widgets.screen
        self._prompt = widgets.prompt
        self._plan_panel = widgets.plan
        self._queue_list = widgets.waiting
        self._rewriting = widgets.rewriting
        self._title = widgets.title
        self.attention = Attention(widgets.screen, notify, lambda: widgets.title.title)
        self._keeper = widgets.keeper
        self._opening: MutedLine | None = None
        self.side_panel: SidePanelView | None = None  # made once the session is open
        self._next_request: NextRequest | None = None
        self._turn_changes: TurnChanges | None = None

    async def ask_permission(self, request: "PermissionRequested") -> PermissionAnswer:
        from tui.dialogs.permission import PermissionScreen

        dialog = PermissionScreen(
            request.action,
            request.reason,
            once_only=request.once_only,
            offers=request.offers,
            settle_s=SETTLE_S,
            in_message=bool(self._prompt.text.strip()),
        )
        dialog.go_to_next_mode = lambda: self._prompt.post_message(Prompt.ModeRequested())
        answer = await self._interrupt(dialog, request.answer) or PermissionAnswer(False)
        if answer.all_edits and self.status.info.mode != "auto":
            self.status.update_info(mode="edit")
        return answer

    def show_mode_in_question(self, sentence: str) -> None:
        """Says in an open question of permission what the mode is since Shift+Tab, from the next call on."""
        from tui.dialogs.permission import PermissionScreen

        if isinstance(question := app_of(self._screen).screen, PermissionScreen):
            question.show_mode(f"mode {self.status.info.mode or 'ask'} from the next tool call: {sentence}")

    async def confirm_more(self, request: "CallLimitReached | SpendingLimitReached") -> bool:
        from tui.dialogs.confirm import GoOnScreen

        return bool(await self._interrupt(GoOnScreen(request.question), request.answer))

    async def ask_question(self, request: "QuestionAsked") -> str:
        from tui.dialogs.question import QuestionScreen

        return await self._interrupt(QuestionScreen(request.question, settle_s=SETTLE_S), request.answer) or ""

    async def _interrupt(self, dialog: "SheetDialog[T]", answer: "asyncio.Future[Any]") -> "T | None":
        """Shows the dialog after a pause in typing; the prompt keeps its text and gets what is typed meanwhile.

        None where `answer` is given elsewhere first: the turn was stopped.
        """
        self.attention.call(ASKS)
        while (left := TYPING_PAUSE_S - seconds_since_key(self._screen)) > 0 and not answer.done():
            self.status.update_info(hint="a question waits until you pause typing · Esc stops")
            await asyncio.wait([answer], timeout=left)
        self.status.update_info(hint="" if answer.done() else "a question waits for your answer")
        if answer.done():
            return None
        answer.add_done_callback(lambda _: _close(dialog))
        dialog.stop_turn = self._stop
        result: T | None = await app_of(self._screen).push_screen_wait(dialog)
        self.status.update_info(hint="")
        if dialog.unsent:
            self._prompt.set_text(self._prompt.text + dialog.unsent)
        return result

    def show_plan(self, plan: "Checklist | None") -> None:
        """Shows the stored plan of the open conversation while it is open."""
        self._plan_panel.show(plan)
        if self.side_panel:
            self.side_panel.show_conversation(plan)
        self.read_next_request()

    def update_plan(self, plan: "Checklist") -> None:
        """Shows the plan that the model gave."""
        self._plan_panel.update_plan(plan)

    async def open_side_panel(self, session: "Session", run: Callable[[str], bool]) -> None:
        """Makes the panel beside the conversation, in place of one of a session before; `run` runs a command between
        turns."""
        from tui.chat.next_request import NextRequest
        from tui.chat.side_panel import SidePanelView
        from tui.chat.turn_changes import TurnChanges

        if self.side_panel:
            await self.side_panel.remove()
        self._turn_changes = TurnChanges(session, self.transcript)
        self._next_request = NextRequest(self._screen, session, self.status, self.show_report)
        self.side_panel = SidePanelView(self._screen, session, self._plan_panel, self._prompt.insert_text, run)
        self.side_panel.lay_out()

    def take_event(self, event: "SessionEvent") -> None:
        """Shows what the event says in the context meter and the panel beside the conversation."""
        if self._next_request:
            self._next_request.take(event)
        if self._turn_changes:
            self._turn_changes.take(event)
        if self.side_panel:
            self.side_panel.take(event)

    def forget_turn(self, *, keeps_meter: bool = False) -> None:
        """Drops the figures of the last turn. `keeps_meter`: the context figure stays until another one is known."""
        if not keeps_meter:
            self.status.update_info(tokens=0, budget=0, is_compaction_due=False)
        if self.side_panel:
            self.side_panel.forget_turn()

    def show_report(self, report: "ContextReport") -> None:
        """Shows the figures of a request in the status bar and the panel."""
        self.status.show_request(report)
        if self.side_panel:
            self.side_panel.show_report(report)

    async def show_changes(self) -> None:
        """Shows which files the turn changed."""
        if self._turn_changes:
            await self._turn_changes.show()

    def read_next_request(self) -> None:
        """Shows the figures of the open conversation's next request, once they are counted."""
        if self._next_request:
            self._next_request.read()

    def read_figures(self) -> None:
        """Reads again which files were touched and what was spent."""
        if self.side_panel:
            self.side_panel.read_figures()

    def begin_turn(self) -> None:
        """Folds the plan of an earlier turn."""
        self._plan_panel.begin_turn()

    def end_turn(self) -> None:
        """Hides a plan that is done, and notifies a person who looks elsewhere."""
        self._plan_panel.end_turn()
        if self.side_panel:
            self.side_panel.end_turn()
        self.read_next_request()
        self.attention.call(DONE)

    async def choose(self, choices: "Choices") -> str | None:
        from tui.dialogs.choices import ChoiceItem, ChoicesScreen

        items = [ChoiceItem(item.id, item.label, item.detail) for item in choices.items]
        dialog = ChoicesScreen(choices.title, items, notes=choices.notes, takes_text=choices.takes_text)
        return await app_of(self._screen).push_screen_wait(dialog)

    async def ask_key(self, service: str, session: "Session") -> str:
        """Asks for the key of a service; where it is stored, "" for no key."""
        from tui.dialogs.key import ask_key

        return await ask_key(self._screen, service, session.config.environment)

    async def confirm(self, proposal: "Proposal") -> bool:
        """Shows the proposal and asks for confirmation."""
        from tui.dialogs.confirm import ProposalScreen, YesScreen

        dialog = ProposalScreen if proposal.takes_enter else YesScreen
        return await app_of(self._screen).push_screen_wait(dialog(proposal.title, proposal.rows))

    async def open_search(
        self, memory: "Memory", text: str, pictures: str, can_switch: Callable[[], bool], *, whole: bool = False
    ) -> "EntryTarget | None":
        """Opens the search screen. Gives the chosen entry; a chosen citation goes into the prompt."""
        from tui.search.screen import SearchScreen

        search = SearchScreen(memory, text, pictures, can_switch, whole=whole)
        chosen = await app_of(self._screen).push_screen_wait(search)
        if isinstance(chosen, str):
            self._prompt.insert_text(chosen)
            return None
        return chosen

    async def open_picker(self, session: "Session", opened: "OpenPicker") -> "PickerChoice":
        """Opens the picker of conversations and turns; gives what was chosen and done there."""
        from tui.picker.open import pick

        return await pick(self._screen, session, opened)

    async def open_named(self, session: "Session", opened: "OpenNamedScreen") -> str:
        """Opens a screen about the program; gives the command chosen there, a sentence on what was done, or ""."""
        from tui.chat.program_screens import open_program_screen

        return await open_program_screen(self._screen, session, opened, self.attention, self.show_report)

    def save_draft(self) -> None:
        """Saves the prompt as a draft of its conversation, before the session switches to another one."""
        self._keeper.stash()

    def graphics_protocol(self, setting: str) -> "GraphicsProtocol":
        """The graphics protocol of this terminal."""
        from tui.images.protocol import choose_protocol

        return choose_protocol(os.environ, setting, colour=not app_of(self._screen).no_color)

    def empty_prompt(self) -> None:
        """Empties the prompt; the history keeps its text."""
        if self._prompt.text.strip():
            self._prompt.replace_text("")

    def return_to_prompt(self, texts: list[str]) -> int:
        """Puts texts into the prompt; gives how many of them ↑ brings, one by one.

        Messages are joined, and with the prompt's present text where that is one. A command is joined with nothing.
        """
        present = self._prompt.text.strip()
        prompts = separate_prompts([*texts, self._prompt.text])
        shown = prompts.pop(-1 if present else 0) if prompts else ""
        for text in reversed(prompts):
            self._prompt.prompt_history.remember(text)
        self._prompt.write_history_soon()
        self._prompt.set_text(shown)
        return len(prompts)

    def keys_held(self) -> AbstractAsyncContextManager[None]:
        """Holds what is typed into the prompt until a text is in it."""
        return self._prompt.held.until_filled()

    def return_unsent(self, texts: list[str]) -> None:
        """Puts the texts that were not sent back into the prompt, and says so."""
        others = self.return_to_prompt(texts)
        self._prompt.post_message(Prompt.Returned(NOT_SENT + (MORE_UNSENT.format(others) if others else "")))

    def save_draft_soon(self) -> None:
        """Saves the prompt, with what waits, before the next key."""
        self._keeper.save_soon()

    def show_waiting(self, messages: "Sequence[QueuedMessage]", *, busy: bool) -> None:
        """Shows the messages that wait, and what will happen to them."""
        lines = waiting_lines(messages, max(self._screen.size.width - 8, 10), busy=busy)
        self._queue_list.display = bool(lines)
        self._queue_list.update(Text("\n".join(lines)))
        self.status.update_info(waiting=len(messages))

    def copy_to_clipboard(self, text: str, description: str) -> None:
        """Copies the text, and says so in the status bar, where that covers no output."""
        app_of(self._screen).copy_to_clipboard(text)
        said = f"Copied {visible_line(description)}."
        self.status.update_info(hint=said)
        self._screen.set_timer(COPIED_S, lambda: self.status.info.hint == said and self.status.update_info(hint=""))

    def show_title(self, title: str | None) -> None:
        """Shows a conversation's title above the transcript; None before its first message."""
        self._title.show(title)

    def show_rewriting(self, message: str) -> None:
        """Shows beside the prompt which message is being rewritten; "" for none."""
        room = max(self._screen.size.width - len(REWRITES) - 2, 10)  # two columns of padding on each side
        self._rewriting.display = bool(message)
        self._rewriting.update(Text(REWRITES.format(clip(message, room))))

    def show_opening(self, name: str) -> None:
        """Shows in the transcript and the status bar that `name` is being opened; "" once it is open."""
        if self._opening is not None:
            self.transcript.remove_item(self._opening)
            self._opening = None
        if name:
            self._opening = MutedLine(f"opening {name} …", gap=True)
            self.transcript.add(self._opening)
        self.status.update_info(working=f"opening {name} …" if name else "")

    def show_error(self, error: PalimpsestError) -> None:
        """Shows an error in place of what was being opened."""
        self.show_opening("")
        self.transcript.interject(ErrorItem(error.title, error.message, error.hint))

    def show_what_is_kept(self, workspace: "Workspace") -> None:
        """Says where nothing can be written to the workspace now; nothing that is not kept says so again then."""
        from memory.access import nothing_is_kept

        self._prompt.warns_of_disk = not workspace.unwritable
        if workspace.unwritable:
            self.transcript.add(MutedLine(nothing_is_kept(workspace), tone="warning", gap=True))

    async def restore_draft(self) -> None:
        """Restores the draft of the conversation that the session switched to."""
        await self._keeper.restore()


def _close(dialog: "SheetDialog[Any]") -> None:
    """Closes a dialog whose question was answered elsewhere."""
    if dialog.is_active:
        dialog.dismiss(None)
