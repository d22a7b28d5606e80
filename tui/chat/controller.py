"""Logic of the chat screen: handles messages and commands, and shows their results in the transcript."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from agent.commands import registry
from agent.commands.results import (
    Cancelled,
    Choices,
    CommandFailed,
    Copy,
    OpenRecall,
    OpenSearch,
    Outcome,
    Proposal,
    Quit,
    SendMessage,
    SessionSwitched,
    TextResult,
)
from agent.events import PermissionRequested
from agent.message_queue import MessageQueue, QueuedMessage
from agent.services.attachments import attachments_of
from context import Attachment
from foundation.errors import PalimpsestError
from memory.errors import ReadOnly
from tui.chat.history import PAST, HistoryView
from tui.chat.lookup import conversations_with, names_of
from tui.chat.progress import PageProgress
from tui.chat.turn_view import MODEL_CHANGED, TurnView
from tui.dialogs.choices import ExpandChoice
from tui.internal_errors import defect
from tui.widgets.status import StatusBar
from tui.widgets.transcript.context_panel import ContextPanel
from tui.widgets.transcript.items import ErrorItem, MutedLine, TranscriptItem, UserItem, passages
from tui.widgets.transcript.view import Transcript

if TYPE_CHECKING:
    from agent.session import Session
    from memory.memory import Memory
    from models.messages import Image
    from tui.images.protocol import GraphicsProtocol
    from tui.search.controller import EntryTarget

__all__ = ["PAST", "ChatController", "ChatPort"]


class ChatPort(Protocol):
    """What ChatController needs of the screen."""

    transcript: Transcript
    status: StatusBar

    async def permit(self, asked: PermissionRequested) -> bool: ...

    async def pick(self, choices: Choices, deeper: ExpandChoice | None = None) -> str | None: ...

    async def agree(self, proposal: Proposal) -> bool: ...

    async def browse(self, memory: "Memory", query: str, pictures: str) -> None: ...

    async def search(
        self, memory: "Memory", text: str, pictures: str, at_rest: Callable[[], bool]
    ) -> "EntryTarget | None": ...

    def leaves(self) -> None: ...

    def drawing(self, setting: str) -> "GraphicsProtocol": ...

    def put_back(self, texts: list[str]) -> None: ...

    def copied(self, text: str, what: str) -> None: ...

    def opening(self, what: str) -> None: ...

    async def stands_elsewhere(self) -> None: ...

    @property
    def leave(self) -> Callable[[], None]: ...


class ChatController:
    """Handles the messages of the queue in `run`; the other methods may be called meanwhile."""

    def __init__(self, session: "Session", face: ChatPort, queue: MessageQueue, here: Path) -> None:
        self.session = session
        self._queue = queue
        self._face = face
        self._here = here
        self._past = HistoryView(session, face.transcript, self._pictures)
        self._known: frozenset[str] = frozenset()  # changes that the person made, or was told of
        self._pages: PageProgress | None = None  # of an archive under way
        self._turn_failed = False  # whether the last message got no answer

    def stop(self) -> bool:
        """Stops the answer and returns waiting messages to the prompt. False where nothing is under way."""
        if not self._queue.busy:
            return False
        if self._pages is not None:
            self._pages.cancel()
        self.session.stop()
        self._queue.return_unsent()
        return True

    async def take_up(self, ref: str, *, latest: bool) -> None:
        """Goes on with a conversation: this one, or the latest. Raises NotFound."""
        if ref:
            await self.session.resume(ref)
        elif latest:
            await self.session.resume_latest()
        if self.session.conversation:
            await self.show_past()
            if mismatch := await self.session.model_mismatch():
                self._face.transcript.add(MutedLine(mismatch, gap=True))
        self._face.opening("")

    async def run(self) -> None:
        """Handles messages until it is cancelled."""
        await self._queue.run(self._handle)

    async def _handle(self, message: QueuedMessage) -> bool:
        """Handles one message and shows its errors. False where it got no answer."""
        self._turn_failed = False
        try:
            if message.entry is not None:
                await self._show_place(message.entry, message.text)
            elif message.text.startswith("/") and not message.skill and _is_command(message.text):
                await self._command(message.text.strip())
            else:
                await self._send(message.text, message.skill)
        except PalimpsestError as error:
            self._trouble(error)
        except Exception as error:  # the edge of a turn: a defect ends it, not the chat
            self._trouble(defect(error))
        finally:
            self._face.status.tell(doing="")
        return not self._turn_failed

    async def _send(self, text: str, skill: str) -> None:
        attachments, told, pictures = await asyncio.to_thread(self._attached, text)
        if self._past.elsewhere:
            await self.newest()
        self._face.transcript.add(UserItem(text, told), *pictures)
        self._face.transcript.to_end()
        quotes = self.session.profile.spec == "offline"
        scribe = TurnView(self._face.transcript, self._face.status, quotes=quotes, known=self._known)
        self._known = frozenset()
        self._turn_failed = True
        try:
            async with aclosing(self.session.send(text, attachments, skill)) as events:
                async for event in events:
                    scribe.write(event)
                    if isinstance(event, PermissionRequested) and not event.answer.done():
                        event.answer.set_result(await self._face.permit(event))
            self._turn_failed = scribe.failed
        except ReadOnly:
            self._face.put_back([text])  # nothing was stored: what was typed is not lost
            raise
        finally:
            self._face.transcript.end_stream()
            self._face.status.tell(working=self.session.working)

    def _attached(self, text: str) -> tuple[tuple[Attachment, ...], str, list[TranscriptItem]]:
        found = attachments_of(text, self._here)
        pictures = self._pictures(found)
        named = [each.name for each in found if not each.media_type.startswith("image/")]
        return found, " · ".join(f"with {name}" for name in named), pictures

    def _pictures(self, parts: "Sequence[Attachment | Image]") -> list[TranscriptItem]:
        """The pictures among them, small, each with what it costs. Blocks."""
        if not any(part.media_type.startswith("image/") for part in parts):
            return []
        from tui.images.attached import attached_pieces

        drawing = self._face.drawing(self.session.config.screen.pictures)
        return attached_pieces(parts, self.session.profile.images, drawing)

    # Commands

    async def _command(self, line: str) -> None:
        name, _, rest = line.removeprefix("/").partition(" ")
        self._face.status.tell(doing=f"/{name}")
        before = self.session.conversation.id if self.session.conversation else ""
        if registry.find(name) is registry.find("context"):
            report = await self.session.context_report(rest.strip())
            names = await asyncio.to_thread(names_of, report, self.session.memory)
            self._face.transcript.add(MutedLine(line, gap=True), ContextPanel(report, names))
            return
        await self._show(line, await registry.run(self.session, line), before)

    async def _show(self, line: str, outcome: Outcome, before: str) -> None:
        transcript = self._face.transcript
        match outcome:
            case TextResult():
                await self._said(line, outcome)
            case Choices(command=command):
                if (picked := await self._face.pick(outcome, self._deeper(command))) is not None:
                    await self._command(f"{command} {picked}")
            case SendMessage(text=text, skill=skill):
                await self._send(text, skill)
            case Copy(text=text, description=what):
                self._face.copied(text, what)
            case SessionSwitched(notice=said, prompt=again):
                await self.switched("" if again else before)
                if said:
                    transcript.add(MutedLine(said, gap=True))
                if again:
                    self._face.put_back([again])
            case Proposal():
                await self._propose(line, outcome, before)
            case OpenRecall() | OpenSearch():
                await self._look(outcome)
            case CommandFailed(error=error):
                transcript.add(MutedLine(line, gap=True))
                self._trouble(error)
            case Quit():
                self._face.leave()

    async def _look(self, outcome: OpenRecall | OpenSearch) -> None:
        """Into memory: for a passage, or as one types."""
        if isinstance(outcome, OpenSearch):
            await self.search(outcome.text, asked=True)
        else:
            await self._face.browse(self.session.memory, outcome.query, self.session.config.screen.pictures)

    async def _said(self, line: str, said: TextResult) -> None:
        """The words; and in the status bar what the next request takes, where that changed."""
        self._face.transcript.add(MutedLine(line, gap=True), MutedLine(""), *passages(said.markdown, marked=False))
        if said.changes_context:
            report = await self.session.context_report()
            self._face.status.tell(tokens=report.total_tokens, budget=report.budget)

    async def _propose(self, line: str, proposal: Proposal, before: str) -> None:
        """Asks, where the person did not say that they are sure; then does it, counting pages."""
        if not (proposal.confirmed or await self._face.agree(proposal)):
            self._face.transcript.add(MutedLine(line, gap=True), MutedLine("left as it is"))
            return
        self._pages = PageProgress(self._face.status, proposal.activity, proposal.pages, proposal.unit)
        try:
            outcome = await registry.carry_out(proposal, self._pages)
        finally:
            self._pages = None
        await self._show(line, outcome, before)

    async def switched(self, before: str = "") -> None:
        """The session stands elsewhere: its conversation is drawn, where it is another one."""
        if self.session.profile.spec != self._face.status.standing.model:
            self._known |= {MODEL_CHANGED}
        self._face.status.tell(model=self.session.profile.spec, speed=0.0)
        now = self.session.conversation.id if self.session.conversation else ""
        if now == before:
            return
        self._face.status.tell(tokens=0, budget=0)
        self._face.transcript.clear()
        await self.show_past()
        await self._face.stands_elsewhere()

    async def show_past(self) -> None:
        """The newest entries of the conversation."""
        conversation = self.session.conversation
        self._face.opening(f"“{conversation.title or 'untitled'}”" if conversation else "")
        try:
            await self._past.newest()
        finally:
            self._face.opening("")
        self._face.transcript.to_end()

    async def earlier(self) -> None:
        """Entries before those shown, where there are any."""
        await self._past.earlier()

    async def later(self) -> None:
        """Entries after those shown, where a place far up is looked at."""
        await self._past.later()

    @property
    def elsewhere(self) -> bool:
        """Whether a place is looked at, and the transcript ends before the conversation does."""
        return self._past.elsewhere

    async def newest(self) -> None:
        """Back from a place to where the conversation goes on."""
        self._face.transcript.clear()
        await self.show_past()

    # Searching

    async def search(self, text: str = "", *, asked: bool = False) -> None:
        """Opens the search; goes to the place that is chosen there. `asked`: by a command, which is what goes on."""

        def at_rest() -> bool:
            return not self._queue.waiting and (asked or not self._queue.busy)

        pictures = self.session.config.screen.pictures
        chosen = await self._face.search(self.session.memory, text, pictures, at_rest)
        if chosen is not None:
            self._queue.add(chosen.sought, entry=chosen.entry)

    async def _show_place(self, seq: int, sought: str) -> None:
        from agent.services.locate import locate_entry

        found = await asyncio.to_thread(locate_entry, self.session.memory, seq)
        now = self.session.conversation
        if now is None or now.seq != found.conversation.seq:
            self._face.leaves()
            self.session.switch_to(found.conversation)
            self._face.status.tell(tokens=0, budget=0)
        try:
            await self._past.place(found, sought)
        finally:
            await self._face.stands_elsewhere()

    def _deeper(self, command: str) -> "ExpandChoice | None":
        """Where a list of conversations finds more than their titles say."""
        if command != "/resume":
            return None
        memory = self.session.memory
        return lambda text: asyncio.to_thread(conversations_with, memory, text)

    # Small things

    def _trouble(self, error: PalimpsestError) -> None:
        """What went wrong; what the person ended themselves is a quiet line."""
        hint = error.hint
        if self.session.workspace.is_read_only:  # this session stays as it was opened
            hint = hint.replace("then try again", "then open the chat again")
        told = MutedLine(error.message) if isinstance(error, Cancelled) else ErrorItem(error.title, error.message, hint)
        self._face.transcript.add(told)


def _is_command(text: str) -> bool:
    """A slash and a word; `/usr/bin/env …` is a message."""
    name = text[1:].split(maxsplit=1)[0] if text[1:].strip() else ""
    return bool(name) and "/" not in name
