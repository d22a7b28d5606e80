"""The one chat screen: transcript, prompt, status. It paints first and opens the session after."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from msgspec import Struct
from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Static

from foundation.errors import PalimpsestError
from foundation.paths import Workspace
from foundation.terminal_text import visible
from tui.host import host
from tui.widgets.prompt.area import Prompt
from tui.widgets.prompt.drafts import NEW, Drafts
from tui.widgets.prompt.history import PromptHistory
from tui.widgets.prompt.suggestions import Suggestions
from tui.widgets.status import StatusBar, clipped
from tui.widgets.transcript.pieces import Piece, Quiet, Trouble
from tui.widgets.transcript.view import Transcript
from tui.widgets.transcript.welcome import Welcome

if TYPE_CHECKING:  # loaded after first paint
    from agent.commands.outcome import Choices
    from agent.events import PermissionAsked
    from agent.session import Session
    from tui.talk import Talk

DRAFT_DELAY: Final = 0.4  # seconds after the last key


class Start(Struct, frozen=True, kw_only=True):
    """What the screen is opened with."""

    workspace: Workspace
    model: str
    here: Path  # where @file names begin
    message: str = ""
    resume: str = ""
    latest: bool = False
    new_workspace: bool = False
    notices: tuple[str, ...] = ()


class ChatScreen(Screen[None]):
    """Keys, and what they set going."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "stop", "Stop", show=False),
        Binding("pageup", "page(-1)", show=False, priority=True),
        Binding("pagedown", "page(1)", show=False, priority=True),
        Binding("ctrl+end", "newest", show=False, priority=True),
        Binding("ctrl+home", "oldest", show=False, priority=True),
        Binding("f2", "take_offer", show=False, priority=True),
    ]

    def __init__(self, start: Start, open_session: Callable[[], Awaitable["Session"]]) -> None:
        super().__init__()
        self._start = start
        self._open_session = open_session
        self._history = PromptHistory(start.workspace.prompt_history)
        self._drafts = Drafts(start.workspace.drafts)
        self._draft_clock: Timer | None = None
        self._draft_key = NEW
        self._early: list[str] = []  # sent before the session stood
        self._talk: Talk | None = None
        self._offer = ""  # the spec of a model that was found
        self._leaving = False
        self._asked_to_leave = False
        self.transcript = Transcript(id="transcript")
        self.status = StatusBar()
        self._suggestions = Suggestions()
        self.prompt = Prompt(self._history, self._suggestions)
        self._queue = Static(id="waiting", markup=False)

    def compose(self) -> ComposeResult:
        yield self.transcript
        with Vertical(id="foot"), Vertical(id="foot-column"):
            yield self._suggestions
            yield self._queue
            with Horizontal(id="prompt-line"):
                yield Static("❯", id="prompt-mark", markup=False)
                yield self.prompt
            yield self.status

    def on_mount(self) -> None:
        self._queue.display = False
        start = self._start
        pieces: list[Piece] = []
        if not (start.resume or start.latest):
            pieces.append(Welcome(_short_path(start.workspace.root), start.model, start.new_workspace))
        pieces += [Quiet(notice, tone="warning", gap=True) for notice in start.notices]
        self.transcript.add(*pieces)
        self.status.tell(model=start.model, working="opening the memory")
        self.prompt.focus()
        self.call_after_refresh(self._begin)

    @property
    def at_rest(self) -> bool:
        """Whether the session stands and nothing goes on or waits."""
        return self._talk is not None and self._talk.at_rest

    # The session

    @work
    async def _begin(self) -> None:
        await self._restore_prompt()
        try:
            session = await self._open_session()
            from tui.talk import Talk  # noqa: PLC0415 - it brings every room with it

            self._talk = talk = Talk(session, self, self._start.here)
            self.status.tell(model=session.profile.spec, working="")
            if self._start.resume:
                session.resume(self._start.resume)
            elif self._start.latest:
                session.resume_latest()
            if session.conversation:
                await talk.show_past()
                await self._change_draft(session.conversation.id)
        except PalimpsestError as error:
            self.transcript.add(Trouble(error.title, error.message, error.hint))
            self.status.tell(working="")
            if self._talk is None:
                return
        talk = self._talk
        for text in [self._start.message, *self._early]:
            if text:
                talk.say(text)
        self._early.clear()
        self._offer_model(talk.session)
        await talk.run()

    @work
    async def _offer_model(self, session: "Session") -> None:
        """Where no model answers, looks once for one on this machine."""
        if session.profile.spec != "offline":
            return
        found = [one for one in await session.models() if one.spec != "offline"]
        if not found or session.profile.spec != "offline":
            return
        first = found[0]
        self._offer = first.spec
        where = "another machine" if first.profile.remote else "this machine"
        rest = f", /model lists all {len(found)} found" if len(found) > 1 else ""
        told = f"{first.spec} answers on {where}. F2 speaks to it{rest}."
        self.transcript.add(Quiet(told, tone="good", gap=True))

    def action_take_offer(self) -> None:
        if self._offer and self._talk:
            self._talk.say(f"/model {self._offer}")
            self._offer = ""

    # What is typed

    @on(Prompt.Submitted)
    def _submitted(self, message: Prompt.Submitted) -> None:
        self._asked_to_leave = False
        self._save_draft()
        if self._talk is None:
            self._early.append(message.text)
            self.show_waiting(self._early)
            return
        self._talk.say(message.text)

    @on(Prompt.Changed)
    def _changed(self) -> None:
        self._asked_to_leave = False
        if self._draft_clock:
            self._draft_clock.stop()
        self._draft_clock = self.set_timer(DRAFT_DELAY, self._save_draft_quietly)
        self._complete()

    @work(exclusive=True, group="completion")
    async def _complete(self) -> None:
        from tui.widgets.prompt.completion import commands_for, files_for  # noqa: PLC0415 - after first paint

        text, before = self.prompt.text, self.prompt.before_cursor
        found = commands_for(text) or await files_for(before, self._start.here)
        if self.prompt.text == text:
            self._suggestions.offer(found)

    @on(Prompt.HistoryAsked)
    @work
    async def _search_history(self) -> None:
        from tui.screens.choices import ChoicesScreen, Pick  # noqa: PLC0415

        entries = list(dict.fromkeys(reversed(self._history.entries)))
        picks = [Pick(str(number), entry) for number, entry in enumerate(entries)]
        picked = await host(self).push_screen_wait(ChoicesScreen("What you typed before", picks))
        if picked is not None:
            self.put_back([entries[int(picked)]])

    async def _restore_prompt(self) -> None:
        try:
            await asyncio.to_thread(self._history.load)
            draft = await asyncio.to_thread(self._drafts.load, self._draft_key)
        except (OSError, PalimpsestError) as error:
            self.notify(f"What was typed before could not be read: {error}", severity="warning", markup=False)
            return
        if draft and not self.prompt.text:
            self.prompt.put(draft)

    async def _change_draft(self, key: str) -> None:
        self._save_draft()
        self._draft_key = key
        await self._restore_prompt_of(key)

    async def _restore_prompt_of(self, key: str) -> None:
        draft = await asyncio.to_thread(self._drafts.load, key)
        if draft and not self.prompt.text:
            self.prompt.put(draft)

    @work(exclusive=True, group="draft")
    async def _save_draft_quietly(self) -> None:
        text = self.prompt.whole
        try:
            await asyncio.to_thread(self._drafts.save, self._draft_key, text)
        except OSError as error:
            self.notify(f"The draft could not be kept: {error.strerror}.", severity="warning", markup=False)

    def _save_draft(self) -> None:
        if self._draft_clock:
            self._draft_clock.stop()
        self._drafts.save(self._draft_key, self.prompt.whole)

    # What Talk asks of a face

    async def permit(self, asked: "PermissionAsked") -> bool:
        from tui.screens.permission import PermissionScreen  # noqa: PLC0415

        return await host(self).push_screen_wait(PermissionScreen(asked.call.name, asked.summary))

    async def pick(self, choices: "Choices") -> str | None:
        from tui.screens.choices import ChoicesScreen, Pick  # noqa: PLC0415

        picks = [Pick(item.id, item.label, item.detail) for item in choices.items]
        return await host(self).push_screen_wait(ChoicesScreen(choices.title, picks))

    def put_back(self, texts: list[str]) -> None:
        """Unsent texts return to the prompt, before what stands there."""
        standing = [self.prompt.text] if self.prompt.text.strip() else []
        self.prompt.put("\n\n".join([*texts, *standing]))

    def show_waiting(self, texts: list[str]) -> None:
        width = max(self.size.width - 8, 10)
        lines = [clipped("waits: " + " ".join(visible(text).split()), width) for text in texts[:3]]
        more = [f"and {len(texts) - 3} more"] if len(texts) > 3 else []
        self._queue.display = bool(lines)
        self._queue.update(Text("\n".join([*lines, *more])))

    def copied(self, text: str, what: str) -> None:
        host(self).copy_to_clipboard(text)
        self.notify(f"Copied {what}.", timeout=3, markup=False)

    # Moving and leaving

    def action_page(self, by: int) -> None:
        step = by * max(self.transcript.size.height - 2, 1)
        self.transcript.scroll_to(y=self.transcript.scroll_y + step, animate=False)

    def action_newest(self) -> None:
        self.transcript.to_end()

    def action_oldest(self) -> None:
        self.transcript.scroll_to(y=0, animate=False)

    @on(Transcript.TopReached)
    @work(exclusive=True, group="earlier")
    async def _earlier(self) -> None:
        if self._talk:
            await self._talk.earlier()

    def action_stop(self) -> None:
        if self._talk is None or not self._talk.stop():
            self.clear_selection()

    @on(Prompt.Interrupted)
    def _interrupted(self) -> None:
        if self._asked_to_leave:
            self.leave()
            return
        self._asked_to_leave = True
        busy = self._talk is not None and self._talk.busy
        told = "Esc stops the answer · Ctrl+C again leaves" if busy else "Ctrl+C again leaves"
        self.notify(told, timeout=2)
        self.set_timer(2, self._forget_asking)

    def _forget_asking(self) -> None:
        self._asked_to_leave = False

    @on(Prompt.Ended)
    def leave(self) -> None:
        """Ends the chat in the normal way; safe to ask for twice."""
        if not self._leaving:
            self._leaving = True
            self._leave()

    @work(exclusive=True, group="leave")
    async def _leave(self) -> None:
        try:
            self._save_draft()
        finally:
            await self.close_session()
            host(self).exit()

    async def close_session(self) -> str:
        """Stops the answer, keeps what came, closes the memory; gives the conversation's id."""
        talk, self._talk = self._talk, None
        if talk is None:
            return ""
        self.resumable = talk.session.conversation.id if talk.session.conversation else ""
        await talk.session.close()
        return self.resumable

    resumable: str = ""


def _short_path(path: Path) -> str:
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) and path != home else str(path)
