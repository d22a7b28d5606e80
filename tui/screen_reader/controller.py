"""Handles messages and commands on the event loop, and says what comes of them."""

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Final

from agent import events
from agent.commands import registry
from agent.events import SessionEvent
from agent.message_queue import MessageQueue, QueuedMessage
from agent.permissions.action import PermissionAnswer
from agent.queue_steering import QueueSteering, without_pastes
from agent.services.drafts import NEW
from agent.services.outside_files import permitted_attachments
from agent.services.permission_question import PermissionQuestion
from agent.services.plan_mode import ask_about_plan
from agent.services.turn_sentences import MODEL_CHANGED
from agent.services.unattached import unattached_sentence
from agent.services.window_drafts import WindowDrafts
from agent.spending.budget import OFFLINE
from agent.tools.commands.commands import ended_sentence
from agent.turn.ports import TurnInput
from context.errors import BadAttachment
from foundation.errors import PalimpsestError
from foundation.figures import counted
from foundation.terminal_text import visible_line
from memory.errors import ReadOnly
from models.messages import Usage
from tui.internal_errors import internal_error
from tui.screen_reader.commands import LineCommands
from tui.screen_reader.composition import WholeMessage
from tui.screen_reader.output import PAGE_LINES, LineOutput, text_lines
from tui.screen_reader.questions import NumberedQuestion, permission_question, yes_or_no
from tui.screen_reader.stored import SHOWN, endings_of, say_entry, texts_of
from tui.screen_reader.turn_lines import TurnLines, error_line, plan_lines
from tui.screen_reader.wait_notices import Waiting
from tui.widgets.prompt.prefixes import NOTE, line_beside, prefixed, separate_prompts

if TYPE_CHECKING:
    from agent.session import Session

Answer = tuple[int | None, str]
"""The index of the chosen answer, and what was typed; None where it is no answer of the list."""
Ask = Callable[[NumberedQuestion], Awaitable[Answer]]
TICK_S: Final = 0.5  # seconds between two looks at the clock
FILES_S: Final = 5.0  # seconds between two looks at the workspace's files
LONGEST_S: Final = 24 * 3600  # seconds until a command of the person's is ended
_LINES_OF_COMMAND: Final = 40  # of its output that are said
_LONGEST_ECHO: Final = 200  # characters of a waiting message that are said
_STEER: Final = re.compile(r"/steer(?:\s+|$)")


class LineController:
    """The chat of one session. All of it runs on the event loop but `stop`, which may be called there only, too."""

    def __init__(
        self, session: "Session", output: LineOutput, ask: Ask, here: Path, *, on_change: Callable[[], None]
    ) -> None:
        self.session = session
        self.output = output
        self.ask = ask
        self.drafts = WindowDrafts(session.workspace.drafts)
        self.draft = WholeMessage("")  # for the next prompt
        self._drafts_after: list[WholeMessage] = []  # for the prompts after it
        self.queue = MessageQueue(on_change=on_change, on_return=self._return)
        self.waiting = Waiting(output.say, lambda: output.last_line)
        self.commands = LineCommands(self)
        self._here = here
        self._known: frozenset[str] = frozenset()
        self._stopped = Event()  # ends a command of the person's
        self._is_answered = True
        self._beside: set[asyncio.Task[None]] = set()  # commands that run during an answer
        self._queued: set[int] = set()  # the messages that waited for an answer to end
        self._pastes: dict[str, None] = {}  # what was pasted into messages
        session.jobs.answers.on_notice = lambda sentence: output.say(f"Notice: {sentence}")
        session.steering = QueueSteering(self.queue, here, self._say_steering, session, self.output.say)

    def stop(self) -> None:
        """Stops what runs, and returns waiting messages to the prompt."""
        self.commands.cancel()
        self._stopped.set()
        self.session.stop()
        self.queue.return_unsent()

    async def run(self) -> None:
        """Handles messages, and announces, until it is cancelled."""
        for sentence in await self.session.file_notices():
            self.output.say(f"Warning: {sentence}")
        tasks = [asyncio.create_task(self._tick()), asyncio.create_task(self._watch_files())]
        try:
            await self.queue.run(self._handle)
        finally:
            for task in tasks:
                task.cancel()

    async def take_up(self, ref: str, *, latest: bool) -> None:
        """Continues a conversation: the given one, or the latest. Raises NotFound."""
        if ref:
            await self.session.resume(ref)
        elif latest:
            await self.session.resume_latest()
        if self.session.conversation:
            await self.say_conversation()
            if notice := await self.session.restore_model():
                self.output.say(f"Notice: {notice}")

    async def say_conversation(self) -> None:
        """Says the newest entries of the conversation, and its plan."""
        session = self.session
        entries = await session.branch.history(SHOWN, None)
        texts = await asyncio.to_thread(texts_of, session, entries)
        title = session.conversation.title if session.conversation else ""
        newest = "entry" if len(entries) == 1 else f"{len(entries)} entries"
        self.output.say(f"Conversation: {title or 'untitled'}. Its newest {newest}:")
        endings = await asyncio.to_thread(endings_of, session, entries)
        for entry, text, ending in zip(entries, texts, endings, strict=True):
            say_entry(self.output, entry, text, ending)
        if plan := await session.branch.plan():
            self.output.say(*plan_lines(plan))

    # Drafts

    @property
    def _draft_name(self) -> str:
        return self.session.conversation.id if self.session.conversation else NEW

    async def save_draft(self, text: str) -> None:
        """Keeps the text of the prompt on disk."""
        rewritten = self.session.branch.rewritten
        with contextlib.suppress(OSError, PalimpsestError):
            await asyncio.to_thread(self.drafts.save, self._draft_name, text, rewritten.id if rewritten else "")

    async def restore_draft(self) -> None:
        """Puts the draft of the conversation into the next prompt."""
        try:
            await asyncio.to_thread(self.drafts.release)  # the one of the conversation before
            draft = await asyncio.to_thread(self.drafts.load, self._draft_name)
            if draft.rewrites:
                await self.session.branch.branch_from(draft.rewrites)
                self.output.say("Restored the draft that rewrites an earlier message.")
        except (OSError, PalimpsestError) as error:
            self.output.say(f"Warning: the draft could not be restored: {error}")
            return
        if not self.draft.text:
            self.draft = WholeMessage(draft.text, draft.pastes)

    def _return(self, texts: list[str]) -> None:
        pastes = (*self._pastes, *self.draft.pastes)
        prompts = separate_prompts([*texts, self.draft.text])
        self.draft, *others = (WholeMessage(text, pastes) for text in prompts)
        self._drafts_after = others
        one_by_one = " Each prompt brings back one of them." if others else ""
        self.output.say(f"{counted(len(texts), 'message')} not sent. Back in the prompt.{one_by_one}")

    def take_draft(self) -> WholeMessage:
        """The draft for this prompt; another one may be left for the next."""
        draft, self.draft = self.draft, self._drafts_after.pop(0) if self._drafts_after else WholeMessage("")
        return draft

    # Messages

    def enter(self, message: WholeMessage) -> None:
        """Takes a message: it is sent, waits for the end of the answer, or steers it."""
        text = message.text
        if not self.queue.is_idle and (line := line_beside(text)):
            self.output.say(f"You: {visible_line(text)}")
            self._beside |= {task := asyncio.create_task(self._run_beside(line))}
            task.add_done_callback(self._beside.discard)
            return
        steers = bool(steered := _STEER.match(text))
        if steered:
            text = text[steered.end() :]
            if not text.strip():
                self.output.say("Error: /steer needs the message: /steer the other file, please")
                return
        self._pastes |= dict.fromkeys(message.pastes)
        is_idle = self.queue.is_idle
        is_message = prefixed(text) is None and not registry.is_command(text)
        steers = steers and is_message and not is_idle
        added = self.queue.add(text, pastes=message.pastes, steers=steers)
        if is_idle:
            return
        self._queued.add(added.id)
        if steers:
            self.output.say(f"Sent at the next step of the answer: {visible_line(text)}")
            self.session.steer()
        else:
            self.output.say(f"Queued: {counted(len(self.queue.waiting), 'message')} waiting. The last: {_short(text)}")

    async def _run_beside(self, line: str) -> None:
        """Runs a command that changes nothing a running answer reads, and says its errors."""
        try:
            await self.commands.run(line, beside=True)
        except PalimpsestError as error:
            self.say_error(error)
        except Exception as error:  # the edge of a task: a bug ends the command, not the chat
            self.say_error(internal_error(error))

    def _say_steering(self, message: TurnInput) -> None:
        self.output.say(f"You, into the answer: {without_pastes(message.text, message.pastes)}")

    async def _handle(self, message: QueuedMessage) -> bool:
        """Handles one message and says its errors. False where it got no answer."""
        self._is_answered = True
        text = registry.with_slash(message.text)
        if message.id in self._queued:
            self._queued.discard(message.id)
            self.output.say(f"You: {without_pastes(text, message.pastes)}")
        try:
            if (own := prefixed(text)) is not None:
                await (self.commands.run(f"/remember {own.text}") if own.kind == NOTE else self._run_shell(own.text))
            elif registry.is_command(text):
                await self.commands.run(text.strip())
            else:
                await self.send(text, pastes=message.pastes)
        except PalimpsestError as error:
            self.say_error(error)
        except Exception as error:  # the edge of a turn: a bug ends the turn, not the chat
            self.say_error(internal_error(error))
        finally:
            self.waiting.show("")
        return self._is_answered

    async def send(self, text: str, skill: str = "", pastes: tuple[str, ...] = (), *, again: bool = False) -> None:
        """Sends a message and says the turn."""
        typed = "" if again else without_pastes(text, pastes)
        try:
            attachments, refusals = await permitted_attachments(self.session, typed, self._here, self._ask_permission)
        except BadAttachment:
            if not again:
                self._return([text])
            raise
        missing = await asyncio.to_thread(unattached_sentence, typed, self._here)
        for sentence in filter(None, (*refusals, missing)):
            self.output.say(sentence)
        for attachment in attachments:
            self.output.say(f"With {'the picture ' if attachment.is_picture else ''}{attachment.name}.")
        session = self.session
        is_offline = session.profile.spec == OFFLINE
        lines = TurnLines(
            self.output,
            self.waiting,
            known=self._known,
            quotes=is_offline,
            cost=self._cost,
            whole=self._whole,
        )
        self._known = frozenset()
        self._is_answered = False
        try:
            async with aclosing(session.send(text, attachments, skill, pastes=pastes, again=again)) as turn:
                async for event in turn:
                    lines.take(event)
                    await self._answer(event)
            self._is_answered = not lines.failed
        except ReadOnly:
            self._return([text])
            raise

    def _whole(self, conversation: str, entry: str) -> str:
        """A tool's whole output; of a change of files, its diff. Blocks."""
        memory = self.session.memory
        found = memory.conversations.find_entry(entry, memory.conversations.find(conversation).seq)
        diff = found.meta.get("diff")
        return diff if isinstance(diff, str) and diff else memory.passage(found).text

    def _cost(self, usage: Usage) -> str:
        cost = self.session.budget.cost(self.session.profile, usage)
        return "" if cost is None or cost.local else str(cost)

    async def _answer(self, event: SessionEvent) -> None:
        """Asks the question of the event."""
        match event:
            case events.PermissionRequested(answer=answer) if not answer.done():
                given = await self._ask_permission(event)
                if not answer.done():
                    answer.set_result(given)
            case events.CallLimitReached(answer=answer) | events.SpendingLimitReached(answer=answer) if (
                not answer.done()
            ):
                index, _ = await self.ask(yes_or_no(f"Question: {event.question}", yes="continue", no="stop here"))
                if not answer.done():
                    answer.set_result(PermissionAnswer(index == 0))
            case events.QuestionAsked(answer=answer, question=question) if not answer.done():
                lines = tuple(f"The model asks: {question.text}".split("\n"))
                index, words = await self.ask(NumberedQuestion(lines=lines, answers=question.options, takes_text=True))
                if not answer.done():
                    answer.set_result(question.options[index] if index is not None else words)
            case events.AnswerStored(text=text):
                if plan := await ask_about_plan(self.session.permissions, text, self._answer):
                    self.queue.add(plan)
            case _:
                pass

    async def _ask_permission(self, request: events.PermissionRequested) -> PermissionAnswer:
        asked = PermissionQuestion.of(
            request.action, request.reason, once_only=request.once_only, offers=request.offers
        )
        detail = text_lines(asked.detail)
        if len(detail) > PAGE_LINES:
            opens = self.output.fold("What it would do", lambda: asked.detail)
            detail = [*detail[:PAGE_LINES], f"and {counted(len(detail) - PAGE_LINES, 'more line')}: {opens} reads all."]
        question, answers = permission_question(asked, detail)
        index, _ = await self.ask(question)
        if index is None:
            return PermissionAnswer(False)
        if index == len(answers) - 1:
            _, reason = await self.ask(NumberedQuestion(lines=("Why not? The model sees this.",), takes_text=True))
            return PermissionAnswer(False, reason=reason.strip())
        return answers[index]

    async def _run_shell(self, line: str) -> None:
        """Runs a command of the person's outside the sandbox; no model sees its output."""
        self._stopped.clear()
        self.waiting.show(f"running {visible_line(line)}")
        printed = await asyncio.to_thread(
            self.session.commands.run, line, LONGEST_S, self._stopped, lambda _: None, inside=False
        )
        ended, _, text = printed.partition("\n")
        lines = text_lines(text) if text.strip() else []
        self.output.say(*lines[:_LINES_OF_COMMAND])
        more = ""
        if len(lines) > _LINES_OF_COMMAND:
            more = f" {self.output.fold(f'Command {visible_line(line)}', lambda: text)} reads all {len(lines):,} lines."
        self.output.say(f"Command ended: {ended.strip('[]')}.{more}")

    def model_changed(self) -> None:
        """The person chose another model: its first answer needs no notice about it."""
        self._known |= {MODEL_CHANGED}

    def say_error(self, error: PalimpsestError) -> None:
        self.output.say(error_line(error.title, error.message, error.hint))

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            self.waiting.tick()
            if self.queue.is_idle:
                self.session.warm_up.start()

    async def _watch_files(self) -> None:
        """Announces edited files; a turn checks them itself."""
        said = ""
        while True:
            await asyncio.sleep(FILES_S)
            if not self.queue.is_idle:
                continue
            self.output.say(*(f"Notice: {ended_sentence(command)}" for command in self.session.commands.take_ended()))
            try:
                notices = await asyncio.to_thread(self.session.context.reload)
            except (PalimpsestError, OSError) as error:
                if str(error) != said:
                    said = str(error)
                    self.output.say(f"Warning: {error}")
                continue
            news = await asyncio.to_thread(self.session.jobs.news.take)
            self.output.say(*(f"Notice: {notice}" for notice in (*notices, *news)))


def _short(text: str) -> str:
    line = visible_line(text)
    return line if len(line) <= _LONGEST_ECHO else f"{line[: _LONGEST_ECHO - 1]}…"
