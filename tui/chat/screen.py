"""Chat screen: transcript, prompt and status bar. It paints first and opens the session afterwards."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.worker import Worker

from agent.message_queue import MessageQueue
from agent.services.drafts import NEW
from agent.services.opening_questions import ask_about_links, ask_about_project, ask_for_trust
from foundation.errors import PalimpsestError
from memory.access import has_room_again
from tui.chat.chat_find import ChatFind
from tui.chat.chat_keys import CHAT_KEYS
from tui.chat.drafts import DraftKeeper
from tui.chat.foot import ChatFoot
from tui.chat.opening_questions import OpeningDialogs
from tui.chat.start import ChatStart
from tui.chat.submissions import Submissions
from tui.chat.transcript_screen import TranscriptScreen
from tui.chat.view import ChatView, ChatWidgets
from tui.held_keys import hold_keys, hold_keys_until
from tui.internal_errors import internal_error
from tui.shutdown import EXIT_COMMANDS
from tui.typed_app import app_of
from tui.widgets.prompt.history import PromptHistory
from tui.widgets.prompt.input import Prompt
from tui.widgets.prompt.suggestions import Suggestions
from tui.widgets.status import StatusBar
from tui.widgets.title_line import TitleLine
from tui.widgets.transcript.items import MutedLine, TranscriptItem
from tui.widgets.transcript.view import Transcript

if TYPE_CHECKING:  # loaded after first paint
    from agent.session import Session
    from tui.chat.controller import ChatController
    from tui.chat.side_panel import SidePanelView

MODE_SHOWN_S: Final = 4.0  # seconds in which the status bar says what the mode means
LEAVE_REQUEST_S: Final = 2.0  # seconds in which a second Ctrl+C leaves


class ChatScreen(TranscriptScreen):
    """The chat: handles keys and opens the session."""

    BINDINGS: ClassVar[list[BindingType]] = CHAT_KEYS

    def __init__(self, start: ChatStart, open_session: Callable[[], Awaitable["Session"]]) -> None:
        super().__init__()
        self._start = start
        self._open_session = open_session
        self._history = PromptHistory(start.workspace.prompt_history)
        self.controller: ChatController | None = None
        self._open_error: PalimpsestError | None = None  # the error that prevented the session from opening
        self.is_conversation_known = not start.resumes  # whether the conversation that the prompt belongs to is known
        self._file_watch: Worker[None] | None = None  # watches the workspace's files
        self._handling: Worker[None] | None = None  # handles messages
        self._opening_again = asyncio.Lock()
        self._offer = ""  # the spec of a detected model
        self.is_leaving = False
        self._leave_requested = False
        self.resumable_id = ""  # id of the conversation, after the session is closed
        self.transcript = Transcript(id="transcript")
        self.foot = ChatFoot(
            self._history,
            start.working_directory,
            lambda: self._session,
            is_idle=lambda: self.queue.is_idle,
            make_find=lambda prompt, status: ChatFind(self.transcript, lambda: self.controller, prompt, status),
        )
        self.prompt: Prompt = self.foot.prompt
        self.status: StatusBar = self.foot.status
        self.suggestions: Suggestions = self.foot.suggestions
        self._title = TitleLine(start.folder)
        workspace, conversation = start.workspace, self._prompt_conversation
        self.draft_keeper = DraftKeeper(
            self.prompt, self._history, workspace, conversation, lambda: self.controller, waiting=self._unstored
        )
        self.widgets = ChatWidgets(
            screen=self,
            transcript=self.transcript,
            status=self.status,
            prompt=self.prompt,
            plan=self.foot.plan,
            waiting=self.foot.queue_list,
            rewriting=self.foot.rewriting,
            keeper=self.draft_keeper,
            focus_bar=self.foot.focus_bar,
            title=self._title,
        )
        self._view = ChatView(self.widgets, self.leave, self.action_stop, start.notify)
        self.queue = MessageQueue(on_change=self._show_queue, on_return=self._view.return_unsent)
        self.submissions = Submissions(self.queue, lambda: self.controller, self._run_beside)
        self.prompt.take_back = self.submissions.take_back

    def compose(self) -> ComposeResult:
        yield self._title
        yield self.transcript
        yield self.foot

    def on_mount(self) -> None:
        start = self._start
        items: list[TranscriptItem] = [] if start.resumes else [start.welcome]
        items += [MutedLine(notice, tone="warning", gap=True) for notice in start.notices]
        self.transcript.add(*items)
        self.status.update_info(model=start.model, working="opening the memory")
        if start.resumes:
            self._view.show_opening("the conversation")
        if start.message:
            self.queue.add(start.message)
        self.prompt.use_vim_keys(start.vim_keys)
        self.prompt.focus()
        self.call_after_refresh(self._begin)

    async def on_unmount(self) -> None:
        await asyncio.to_thread(self.draft_keeper.release)

    @property
    def is_idle(self) -> bool:
        """Whether the session is open and no message is being handled or waits."""
        return self._is_open and self.queue.is_idle

    @property
    def _is_open(self) -> bool:
        return self.controller is not None and self.is_conversation_known

    @property
    def _session(self) -> "Session | None":
        return self.controller.session if self.controller else None

    def _prompt_conversation(self) -> str:
        """The conversation that the prompt's text belongs to; "" while it is not known."""
        conversation = self.controller.session.conversation if self.controller else None
        return "" if not self.is_conversation_known else conversation.id if conversation else NEW

    def _unstored(self) -> list[str]:
        return self.submissions.texts()

    # The session

    def _begin(self) -> None:
        self._handling = self.run_worker(self._open())

    async def _open(self) -> None:
        dialogs = OpeningDialogs(self, self.prompt, self._view)
        if (trusted := await ask_for_trust(dialogs, self._start)) is not None:
            self.draft_keeper.move(trusted)
        await ask_about_links(dialogs, self._start)
        await self.draft_keeper.load_history()
        await self.draft_keeper.restore()
        try:
            session = await self._open_session()
            controller = await self._take_session(session)
        except (PalimpsestError, OSError) as error:
            await self._fail_to_open(error if isinstance(error, PalimpsestError) else internal_error(error))
            return
        await self._converse(controller, self._start.resume, latest=self._start.latest)

    async def _take_session(self, session: "Session") -> "ChatController":
        from tui.chat.controller import ChatController

        self.controller = controller = ChatController(session, self._view, self.queue, self._start.working_directory)
        session.on_working = lambda text: self.status.update_info(working=text)
        self.status.update_info(model=session.profile.spec, working="", read_only=session.workspace.is_read_only)
        controller.show_mode()
        await self._view.open_side_panel(session, controller.run_between_turns)
        return controller

    async def _converse(self, controller: "ChatController", resume: str, *, latest: bool) -> None:
        """Shows the conversation, then handles messages until it is cancelled."""
        session = controller.session
        try:
            await controller.resume(resume, latest=latest)
        except PalimpsestError as error:
            self._view.show_error(error)
        self._view.show_what_is_kept(session.workspace)
        self.is_conversation_known = True
        await self.draft_keeper.restore()
        await ask_about_project(OpeningDialogs(self, self.prompt, self._view), session)
        session.begin_background()
        self._offer_model(controller)
        self._file_watch = self._watch_files(controller)
        await controller.run()

    @work(group="open again")
    async def _enter_again(self, message: Prompt.Submitted) -> None:
        """Opens the session anew if the workspace can be written to again; then handles what was entered."""
        async with self._opening_again:
            controller = self.controller
            if controller and controller.session.workspace.unwritable and self.queue.is_idle:
                try:
                    await self._open_again(controller)
                except (PalimpsestError, OSError) as error:
                    self._view.show_error(error if isinstance(error, PalimpsestError) else internal_error(error))
            self.submissions.enter(message.text, message.pastes, steers=message.steers)

    async def _open_again(self, controller: "ChatController") -> None:
        if not await asyncio.to_thread(has_room_again, controller.session.workspace):
            return
        session = await self._open_session()
        if session.workspace.unwritable:
            await session.close()
            return
        conversation = controller.session.conversation
        for worker in filter(None, (self._handling, self._file_watch)):
            worker.cancel()
        await controller.session.close()
        controller = await self._take_session(session)
        if conversation:
            self.transcript.clear()
        going_on = self._converse(controller, conversation.id if conversation else "", latest=False)
        self._handling = self.run_worker(going_on)

    async def _fail_to_open(self, error: PalimpsestError) -> None:
        """Shows why the session cannot be opened, and returns sent messages to the draft."""
        self._open_error = error
        self.is_conversation_known = True  # so that the draft can be saved; a stored draft is restored first
        await self.draft_keeper.restore()
        self._view.show_error(error)
        self.queue.return_unsent()

    def _show_queue(self) -> None:
        """Shows the waiting messages: for the session to open, or for the current answer to end."""
        messages = self.queue.waiting if self.queue.busy or not self._is_open else ()
        self._view.show_waiting(messages, busy=self.queue.busy)
        if self.queue.busy and self.is_mounted:
            self.draft_keeper.save_soon()  # with what waits: the program may be killed

    @work
    async def _offer_model(self, controller: "ChatController") -> None:
        """Detects a local model once, if none is configured."""
        from agent.services.model_offer import detect_model

        if offer := await detect_model(controller.session):
            self._offer = offer.spec
            self.transcript.interject(MutedLine(offer.text, tone="good", gap=True))

    @work(group="files")
    async def _watch_files(self, controller: "ChatController") -> None:
        from tui.chat.background import watch

        await watch(controller.session, lambda: self.queue.is_idle, self._view)

    def action_take_offer(self) -> None:
        if self._offer and self.controller:
            self.queue.add(f"/model {self._offer}")
            self._offer = ""

    # The panel beside the conversation

    @property
    def side_panel(self) -> "SidePanelView | None":
        """None before the session is open."""
        return self._view.side_panel

    def on_resize(self) -> None:
        self.foot.plan.fit(self.size.height)
        if self.side_panel:
            self.side_panel.lay_out()

    def action_enter_panel(self) -> None:
        if self.side_panel:
            self.side_panel.enter()

    @work(exclusive=True, group="panel-setting")
    async def action_toggle_panel(self) -> None:
        if self.side_panel:
            await self.side_panel.toggle()

    def action_toggle_plan(self) -> None:
        if self.side_panel and self.side_panel.is_shown:
            self.side_panel.toggle_plan()
        else:
            self.foot.plan.toggle()

    # The prompt

    @on(Prompt.Submitted)
    def _submitted(self, message: Prompt.Submitted) -> None:
        self.prompt.unhandled -= 1
        self._cancel_leave_request()
        self.draft_keeper.save()
        if message.text.strip() in EXIT_COMMANDS:
            self.leave()
        elif self._open_error is not None:  # there is no session to send it to
            self._view.return_unsent([message.text])
            self._view.show_error(self._open_error)
        elif self._session and self._session.workspace.unwritable:
            self._enter_again(message)
        else:
            self.submissions.enter(message.text, message.pastes, steers=message.steers)

    @on(Prompt.SteerRequested)
    def _steer_waiting(self) -> None:
        self.submissions.steer_waiting()

    @work(group="beside")
    async def _run_beside(self, line: str) -> None:
        """Runs a command while an answer is written."""
        if self.controller:
            await self.controller.run_beside(line)

    @on(Prompt.Changed)
    def _prompt_changed(self) -> None:
        self._cancel_leave_request()
        self.draft_keeper.changed()
        if not self.prompt.text and not self.prompt.unhandled:  # emptied, not sent
            self.submissions.forget_taken_back()

    @on(Prompt.ModeRequested)
    @work(exclusive=True, group="mode")
    async def _next_mode(self) -> None:
        if self.controller:
            sentence = await self.controller.next_mode()
            self.status.update_info(hint=sentence)
            self._view.show_mode_in_question(sentence)
            await asyncio.sleep(MODE_SHOWN_S)
            if self.status.info.hint == sentence:
                self.status.update_info(hint="")

    # Searching

    def action_search(self) -> None:
        """Opens the search, also during an answer; the prompt keeps its text."""
        hold_keys(self, self._search())

    @work(exclusive=True, group="search")
    async def _search(self) -> None:
        if self.controller and self.is_conversation_known:
            text = self.foot.find_bar.query_text if self.foot.find_bar.display else ""
            await self.foot.find_bar.close(stays=True)
            await self.controller.search(text)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """In the find bar F3 goes to the next match."""
        return action != "search" or not self.foot.find_bar.has_focus_within

    def action_find(self) -> None:
        """Opens the find bar; from there, the search everywhere."""
        if self.foot.find_bar.display:
            self.action_search()
        elif self.controller and self.is_conversation_known:
            self.leave_blocks()
            self.foot.find_bar.open()
            hold_keys_until(self, lambda: self.foot.find_bar.has_focus_within)

    # Stopping and leaving

    def action_stop(self) -> None:
        if self.controller is None or not self.controller.stop():
            self.clear_selection()

    @on(Prompt.Interrupted)
    def _interrupted(self) -> None:
        if self.controller and (self.controller.shell.stop() or (self.queue.busy and self.controller.stop())):
            return  # as in a shell
        if self._leave_requested:
            self.leave()
            return
        self._leave_requested = True
        self.status.update_info(hint="Ctrl+C again quits")
        self.set_timer(LEAVE_REQUEST_S, self._cancel_leave_request)

    def _cancel_leave_request(self) -> None:
        if self._leave_requested:
            self._leave_requested = False
            self.status.update_info(hint="")

    @on(Prompt.EndOfInput)
    def leave(self) -> None:
        """Ends the chat in the normal way; can be called twice."""
        if not self.is_leaving:
            self.is_leaving = True
            self._leave()

    @work(exclusive=True, group="leave")
    async def _leave(self) -> None:
        self.queue.return_unsent()  # into the prompt, and so into the draft
        try:
            self.draft_keeper.save_at_end()
        finally:
            await self.close_session()
            app_of(self).exit()

    async def close_session(self) -> str:
        """Stops the answer, stores the text so far and closes the memory. Gives the conversation's id."""
        controller, self.controller = self.controller, None
        if controller is None:
            return ""
        if self._file_watch:
            self._file_watch.cancel()
        self.foot.close()
        self.resumable_id = controller.session.conversation.id if controller.session.conversation else ""
        await controller.session.close()
        return self.resumable_id
