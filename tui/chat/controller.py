"""Logic of the chat screen: handles messages and commands, and shows their results in the transcript."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agent.commands import registry
from agent.commands.conversation import TAKE_BACK, first_line
from agent.commands.results import Cancelled
from agent.events import TurnFailed, UserStored
from agent.message_queue import MessageQueue, QueuedMessage
from agent.permissions.mode import PermissionMode
from agent.queue_steering import QueueSteering, without_pastes
from agent.services.locate import locate_entry
from agent.services.outside_files import permitted_attachments
from agent.services.turn_sentences import MODEL_CHANGED
from agent.services.unattached import unattached_sentence
from agent.turn.ports import TurnInput
from context import Attachment
from context.errors import BadAttachment
from foundation.errors import PalimpsestError
from foundation.terminal_text import visible
from memory.errors import ReadOnly, StoreFull
from tui.chat.blocks import StoredTexts, sent_blocks
from tui.chat.command_view import UNSENT, CommandView
from tui.chat.history_window import HistoryWindow
from tui.chat.port import ChatPort, answer_event
from tui.chat.shell_runner import ShellRunner
from tui.chat.turn_view import TurnView
from tui.images.attached import attachment_previews
from tui.internal_errors import internal_error
from tui.typed_app import app_of
from tui.widgets.prompt.prefixes import NOTE, TERMINAL, Prefixed, prefixed
from tui.widgets.transcript.items import ErrorItem, MutedLine, TranscriptItem, UserItem

if TYPE_CHECKING:
    from agent.session import Session
    from models.messages import Image

TICK_S, STILL_TICK_S = 1.0, 10.0  # seconds between two counts of a turn's seconds
_NO_LONGER_REWRITES: Final = (
    "The message that this draft would replace no longer exists. The draft is a new message now."
)
_WAY_BACK: Final = "This is a different conversation. To go back to “{}”: /resume {}"


class ChatController:
    """Handles the messages of the queue in `run`; the other methods may be called meanwhile."""

    def __init__(self, session: "Session", view: ChatPort, queue: MessageQueue, working_directory: Path) -> None:
        self.session = session
        self._queue = queue
        self._view = view
        self._working_directory = working_directory
        self.history = HistoryWindow(session, view.transcript, self._pictures, lambda: queue.busy)
        self.shell = ShellRunner(session, view.transcript)
        self._known_changes: frozenset[str] = frozenset()  # changes that the user made or was shown
        self.commands = CommandView(self, view)
        self._turn_failed = False  # whether the last message has no answer
        self.is_answering = False  # whether a message is being answered: the person's own commands run beside that
        self._steering: TurnInput | None = None  # the message that the turn took, until it is stored
        session.jobs.answers.on_notice = lambda sentence: view.transcript.interject(MutedLine(sentence, gap=True))
        session.steering = QueueSteering(queue, working_directory, self._take_steering, session, self._say_unattached)

    async def next_mode(self) -> str:
        """Goes to the next permission mode; gives a sentence about it, without the name where the status bar has it."""
        permissions = self.session.permissions
        sentence = await asyncio.to_thread(permissions.set_mode, permissions.mode.next, passing=True)
        self.show_mode()
        info = self._view.status.info
        return sentence.partition(": ")[2] if info.mode and not info.read_only else sentence

    def show_mode(self) -> None:
        """Shows the permission mode in the status bar; not the default where no model calls tools."""
        mode, is_offline = self.session.permissions.mode, self.session.profile.spec == "offline"
        self._view.status.update_info(mode="" if is_offline and mode is PermissionMode.ASK else mode.value)

    def show_title(self) -> None:
        """Shows the title of the open conversation above the transcript, and beside the prompt what it rewrites."""
        conversation, rewritten = self.session.conversation, self.session.branch.rewritten
        first = visible(first_line(rewritten.text or "an earlier message")) if rewritten else ""
        self._view.show_rewriting(first)
        self._view.show_title(conversation.title if conversation else None)

    def stop(self) -> bool:
        """Stops the answer and returns waiting messages to the prompt; else the person's own command; else ends the
        rewriting of a message. False where there is nothing to stop.
        """
        if not self._queue.busy:
            return self.shell.stop() or self.take_back()
        self.commands.cancel()
        if not self.is_answering:
            self.shell.stop()
        self.session.stop()
        self._queue.return_unsent()
        return True

    def run_between_turns(self, line: str) -> bool:
        """Runs a command that changes the conversation. False while a message is being handled or waits."""
        if not self._queue.is_idle:
            return False
        self._queue.add(line)
        return True

    def take_back(self) -> bool:
        """Ends the rewriting of a message and empties the prompt, whose text the history keeps. False where no message
        is being rewritten, or the queue is busy.
        """
        if not self._queue.is_idle or self.session.branch.rewritten is None:
            return False
        self._view.empty_prompt()
        self._queue.add(TAKE_BACK)
        return True

    @property
    def rewritten(self) -> str:
        """The id of the message that the next one replaces; "" for none."""
        entry = self.session.branch.rewritten
        return entry.id if entry else ""

    async def rewrite_again(self, id_: str) -> None:
        """Has the draft that was restored replace this message, as when it was saved, and shows the branch so far."""
        try:
            entry = await self.session.branch.branch_from(id_)
            text = (await asyncio.to_thread(self.session.memory.passage, entry)).text
        except PalimpsestError:
            self._view.transcript.add(MutedLine(_NO_LONGER_REWRITES, tone="warning", gap=True))
            return
        await self.show_conversation()
        notice = f"Restored the draft that rewrites “{visible(first_line(text))}”. {UNSENT}"
        self._view.transcript.add(MutedLine(notice, gap=True))

    async def resume(self, ref: str, *, latest: bool) -> None:
        """Resumes a conversation: the given one, or the latest. Raises NotFound."""
        if ref:
            await self.session.resume(ref)
        elif latest:
            await self.session.resume_latest()
        if self.session.conversation:
            await self.show_newest()
            if notice := await self.session.restore_model():
                self._view.transcript.add(MutedLine(notice, gap=True))
                self._view.status.update_info(model=self.session.profile.spec)
        self._view.show_opening("")
        self._view.read_next_request()

    async def run(self) -> None:
        """Shows what happened to files since the last session, then handles messages until it is cancelled."""
        for sentence in await self.session.file_notices():
            self._view.transcript.add(MutedLine(visible(sentence), tone="warning", gap=True))
        await self._queue.run(self._handle)

    async def _handle(self, message: QueuedMessage) -> bool:
        """Handles one message and shows its errors. False where it got no answer."""
        self._turn_failed = False
        try:
            if message.entry is not None:
                await self.show_entry(message.entry, message.text)
            elif (own := prefixed(message.text)) is not None and not message.skill:
                await self._run_prefixed(own)
            elif not message.skill and registry.is_command(message.text):
                await self.commands.run(message.text.strip())
            else:
                await self.send(message.text, message.skill, message.pastes)
        except PalimpsestError as error:
            self.show_error(error)
        except Exception as error:  # the edge of a turn: a bug ends the turn, not the chat
            self.show_error(internal_error(error))
        finally:
            self._view.status.update_info(doing="", seconds=0)
            self.show_title()
        return not self._turn_failed

    async def _run_prefixed(self, own: Prefixed) -> None:
        """Runs a command of the person's in the shell, or keeps a note."""
        if own.kind == NOTE:
            await self.commands.run(f"/remember {own.text}")
            return
        if self.history.has_more_below:
            await self.return_to_newest()
        self._view.transcript.follow_end()
        if own.kind == TERMINAL:
            await self.shell.run_in_terminal(own)
            return
        if not self.is_answering:
            self._view.status.update_info(doing="the shell · Esc stops")
        await self.shell.run(own.text)

    async def send(self, text: str, skill: str, pastes: tuple[str, ...] = (), *, again: bool = False) -> None:
        typed = without_pastes(text, pastes)
        try:
            attachments, refusals = await permitted_attachments(
                self.session, typed, self._working_directory, self._view.ask_permission
            )
        except BadAttachment:
            if not again:
                self._view.return_unsent([text])
            raise
        pictures = await asyncio.to_thread(self._under_message, typed, attachments, refusals)
        if self.history.has_more_below:
            await self.return_to_newest()
        message = None if again else UserItem(typed)
        if message is not None:
            self._view.transcript.add(message, *sent_blocks(pastes, attachments), *pictures)
        self._view.transcript.follow_end()
        quotes = self.session.profile.spec == "offline"
        turn_view = TurnView(
            self._view.transcript,
            self._view.status,
            texts=StoredTexts(self.session.memory),
            message=message,
            quotes=quotes,
            known=self._known_changes,
        )
        self._known_changes = frozenset()
        self._turn_failed = True
        is_stored = again
        ticking = asyncio.create_task(self._tick(turn_view))
        self.is_answering = True
        self._view.begin_turn()
        try:
            async with aclosing(self.session.send(text, attachments, skill, pastes=pastes, again=again)) as events:
                async for event in events:
                    if isinstance(event, UserStored) and event.steers:
                        await self._show_steering(turn_view)
                    turn_view.write(event)
                    if isinstance(event, UserStored):  # the first message gives its conversation a title
                        is_stored = True
                        self.show_title()
                    elif isinstance(event, TurnFailed) and not is_stored and not skill:
                        self._view.return_unsent([text])
                    await answer_event(self._view, event, self.session.permissions, self._queue.add)
            self._turn_failed = turn_view.failed
            if taken := self.taken:  # the turn ended before it was stored
                self._steering = None
                self._view.return_unsent([*taken])
        except (ReadOnly, StoreFull):
            if not is_stored:
                self._view.return_unsent([text])
            raise
        finally:
            ticking.cancel()
            self.is_answering = False
            self._view.transcript.end_stream()
            self._view.end_turn()
            self._view.status.update_info(working=self.session.working)
        await self._view.show_changes()
        await self.history.trim()

    @property
    def taken(self) -> tuple[str, ...]:
        """The text that the turn took and has not stored yet."""
        return (self._steering.text,) if self._steering else ()

    def _say_unattached(self, sentence: str) -> None:
        self._view.transcript.interject(MutedLine(sentence, tone="warning"))

    def _take_steering(self, message: TurnInput) -> None:
        self._steering = message

    async def _show_steering(self, turn_view: TurnView) -> None:
        """Shows the message where it took effect."""
        message, self._steering = self._steering, None
        self._view.save_draft_soon()
        if message is None:
            return
        pictures = await asyncio.to_thread(self._pictures, message.attachments)
        sent = sent_blocks(message.pastes, message.attachments)
        turn_view.steer(UserItem(without_pastes(message.text, message.pastes)), *sent, *pictures)

    async def run_beside(self, line: str) -> None:
        """Runs a command, or a line in the shell, that needs not wait for the end of the answer."""
        own = prefixed(line)
        try:
            await (self._run_prefixed(own) if own else self.commands.run(line, beside=True))
        except PalimpsestError as error:
            self.show_error(error)
        except Exception as error:  # the edge of a worker: a bug ends the command, not the chat
            self.show_error(internal_error(error))

    async def _tick(self, turn_view: TurnView) -> None:
        """Counts the seconds of the turn on screen until it is cancelled; in larger steps where animations are off."""
        is_still = app_of(self._view.transcript).animation_level == "none"
        while True:
            await asyncio.sleep(STILL_TICK_S if is_still else TICK_S)
            turn_view.tick()

    def _under_message(
        self, text: str, attachments: tuple[Attachment, ...], refusals: list[str]
    ) -> list[TranscriptItem]:
        """The pictures that go along, and what does not. Blocks."""
        missing = unattached_sentence(text, self._working_directory)
        notices = [MutedLine(sentence, tone="warning") for sentence in (*refusals, missing) if sentence]
        return [*self._pictures(attachments), *notices]

    def _pictures(self, parts: "Sequence[Attachment | Image]") -> list[TranscriptItem]:
        """Previews of the pictures among them, with their token costs. Blocks."""
        if not any(part.media_type.startswith("image/") for part in parts):
            return []
        protocol = self._view.graphics_protocol(self.session.config.screen.pictures)
        return attachment_previews(parts, self.session.profile.images, protocol)

    # The conversation

    async def show_conversation(self, conversation_before: str = "", *, keeps_meter: bool = False) -> None:
        """Shows the session's conversation, if it is not `conversation_before`, and its model."""
        if self.session.profile.spec != self._view.status.info.model:
            self._known_changes |= {MODEL_CHANGED}
        self._view.status.update_info(model=self.session.profile.spec, speed=0.0)
        self._view.transcript.show_model(self.session.profile.spec)
        current = self.session.conversation.id if self.session.conversation else ""
        if current == conversation_before:
            self._view.read_next_request()
            return
        self.shell.blocks.keep(conversation_before or current)
        self._view.forget_turn(keeps_meter=keeps_meter)
        self._view.transcript.clear()
        await self.show_newest()
        await self._view.restore_draft()

    async def show_newest(self) -> None:
        """Shows the newest entries of the conversation."""
        conversation = self.session.conversation
        self.show_title()
        self._view.show_opening(f"“{conversation.title or 'untitled'}”" if conversation else "")
        try:
            await self.history.load_newest()
            self._view.show_plan(await self.session.branch.plan())
        finally:
            self._view.show_opening("")
        self.shell.blocks.put_back(conversation.id if conversation else "")
        self._view.transcript.follow_end()

    async def return_to_newest(self) -> None:
        """Returns to the end of the conversation."""
        if self.history.has_gap:  # a turn may be writing below it
            await self.history.close_gap()
            self._view.transcript.follow_end()
            return
        self._keep_shell_blocks()
        self._view.transcript.clear()
        await self.show_newest()

    def _keep_shell_blocks(self) -> None:
        self.shell.blocks.keep(self.session.conversation.id if self.session.conversation else "")

    # Searching

    async def search(self, text: str = "", *, by_command: bool = False, whole: bool = False) -> None:
        """Opens the search; goes to the chosen entry. `by_command`: called by a command, which keeps the queue busy.
        `whole`: a text that is a reference opens its passage at once.
        """

        def can_switch() -> bool:
            return not self._queue.waiting and (by_command or not self._queue.busy)

        pictures = self.session.config.screen.pictures
        target = await self._view.open_search(self.session.memory, text, pictures, can_switch, whole=whole)
        if target is not None:
            self._queue.add(target.query, entry=target.entry)

    async def show_entry(self, seq: int, query: str) -> None:
        location = await asyncio.to_thread(locate_entry, self.session.memory, seq)
        conversation = self.session.conversation
        is_other = conversation is None or conversation.seq != location.conversation.seq
        self._keep_shell_blocks()
        if is_other:
            self._view.save_draft()
            self.session.switch_to(location.conversation)
            self._view.forget_turn()
            self.show_title()
        way_back = (
            _WAY_BACK.format(conversation.title or "untitled", conversation.id) if is_other and conversation else ""
        )
        try:
            await self.history.show_around(location, query, way_back=way_back)
            if is_other:
                self._view.show_plan(await self.session.branch.plan())
        finally:
            await self._view.restore_draft()

    def show_error(self, error: PalimpsestError) -> None:
        """Shows an error; a cancellation is a muted line."""
        hint = error.hint
        workspace = self.session.workspace
        if workspace.is_read_only and not workspace.unwritable:  # trusting it does not change an open session
            hint = hint.replace("then try again", "then open the chat again")
        item = MutedLine(error.message) if isinstance(error, Cancelled) else ErrorItem(error.title, error.message, hint)
        self._view.transcript.interject(item)
