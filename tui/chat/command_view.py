"""Runs the commands of the chat, and shows what comes of them."""

from contextlib import nullcontext, suppress
from functools import partial
from typing import Final

from agent.commands import registry
from agent.commands.results import (
    Choices,
    CommandFailed,
    Copy,
    OpenNamedScreen,
    OpenPicker,
    OpenSearch,
    Outcome,
    Proposal,
    Quit,
    SendMessage,
    SessionSwitched,
    ShowEntry,
    TextResult,
)
from foundation.errors import PalimpsestError
from foundation.terminal_text import visible
from models.chat.service_keys import MissingKey
from tui.chat.background import PageProgress
from tui.chat.port import ChatPort, CommandChat
from tui.widgets.transcript.focus import focus_targets
from tui.widgets.transcript.items import MutedLine, TranscriptItem, markdown_items

FILL_PROMPT: Final = {"branch", "rewind", "tree", "resume"}  # commands that may put a text into the prompt
_UNDO_KEY: Final = "Ctrl+↑ u undoes it, too."
UNSENT: Final = "The branch is created when you send the message. Esc cancels it."


class CommandView:
    """The commands of one chat."""

    def __init__(self, chat: CommandChat, view: ChatPort) -> None:
        self._chat = chat
        self._view = view
        self._progress: PageProgress | None = None  # of a running proposal

    def cancel(self) -> None:
        """Cancels the proposal that runs, if one does."""
        if self._progress is not None:
            self._progress.cancel()

    async def run(self, line: str, *, beside: bool = False) -> None:
        """Runs a command line (`/rename Trip`) and shows what comes of it. `beside`: while an answer is written."""
        name, _, arguments = line.removeprefix("/").partition(" ")
        if self._chat.history.has_more_below:
            await self._chat.return_to_newest()
        self._view.transcript.follow_end()  # what the command shows is seen, wherever the person was reading
        try:
            if not beside:
                self._view.status.update_info(doing=f"/{name}")
            fills = getattr(registry.find(name), "name", "") in FILL_PROMPT
            async with self._view.keys_held() if fills else nullcontext():
                await self._run_command(line, name, arguments, beside=beside)
        finally:
            self._chat.show_mode()
            self._view.read_figures()  # the command may have changed files

    async def _run_command(self, line: str, name: str, arguments: str, *, beside: bool) -> None:
        conversation_before = self._chat.session.conversation.id if self._chat.session.conversation else ""
        if registry.find(name) is registry.find("context"):
            printed = partial(registry.run, self._chat.session, line)
            await self._open(line, OpenNamedScreen("context", arguments.strip(), printed))
            return
        outcome = await registry.run(self._chat.session, line)
        no_key = isinstance(outcome, CommandFailed) and isinstance(outcome.error, MissingKey) and outcome.error
        if no_key and (stored := await self._view.ask_key(no_key.service, self._chat.session)):
            self._view.transcript.interject(MutedLine(stored, gap=True))
            outcome = await registry.run(self._chat.session, line)
        if beside and isinstance(outcome, OpenSearch):
            await self._chat.search(outcome.text)
            return
        await self._show(line, outcome, conversation_before)

    async def _show(self, line: str, outcome: Outcome, conversation_before: str) -> None:
        transcript = self._view.transcript
        match outcome:
            case TextResult():
                await self._show_text(line, outcome)
            case Choices(command=command):
                if (picked := await self._view.choose(outcome)) is not None:
                    await self.run(f"{command} {picked}")
            case SendMessage(text=text, skill=skill, again=again, notice=notice):
                transcript.add(*self._notice(notice))
                await self._chat.send(text, skill, again=again)
            case Copy(text=text, description=description):
                self._view.copy_to_clipboard(text, description)
            case SessionSwitched(notice=notice, prompt=prompt, branch=branch):
                before = "" if prompt or branch else conversation_before
                await self._chat.show_conversation(before, keeps_meter=branch)
                transcript.add(*self._notice(notice, drops=outcome.drops))
                if branch:  # the next request is another one
                    with suppress(PalimpsestError):
                        report = await self._chat.session.context_report()
                        self._view.status.show_request(report)
                if prompt:
                    transcript.add(MutedLine(UNSENT))
                    self._view.return_to_prompt([prompt])
            case Proposal():
                await self._propose(line, outcome, conversation_before)
            case OpenSearch() | OpenPicker() | OpenNamedScreen() | ShowEntry():
                await self._open(line, outcome)
            case CommandFailed(error=error):
                transcript.interject(MutedLine(line, gap=True))
                self._chat.show_error(error)
            case Quit():
                self._view.leave()

    async def _open(self, line: str, outcome: OpenSearch | OpenPicker | OpenNamedScreen | ShowEntry) -> None:
        """Opens a screen, or goes to an entry."""
        match outcome:
            case OpenSearch(text=text, whole=whole):
                await self._chat.search(text, by_command=True, whole=whole)
            case OpenPicker():
                choice = await self._view.open_picker(self._chat.session, outcome)
                for chosen in choice.lines:
                    await self.run(chosen)
                self._view.transcript.interject(*(MutedLine(visible(said), gap=True) for said in choice.sentences))
            case OpenNamedScreen():
                notice = await self._view.open_named(self._chat.session, outcome)
                if notice.startswith("/"):
                    await self.run(notice)
                elif notice:
                    self._view.transcript.interject(MutedLine(line, gap=True), MutedLine(notice))
            case ShowEntry(entry=entry):
                await self._chat.show_entry(entry, "")

    async def _show_text(self, line: str, result: TextResult) -> None:
        """Shows the text, and updates the context meter where the next request changed."""
        self._show_items(MutedLine(line, gap=True), MutedLine(""), *markdown_items(result.markdown, of_command=True))
        if result.changes_context:
            self._view.show_report(await self._chat.session.context_report())

    def _notice(self, text: str, *, drops: bool = False) -> list[TranscriptItem]:
        if drops and focus_targets(self._view.transcript.line_cache.items):
            text = f"{text} {_UNDO_KEY}"
        return [MutedLine(text, gap=True)] if text else []

    async def _propose(self, line: str, proposal: Proposal, conversation_before: str) -> None:
        """Asks for confirmation if needed, then runs the proposal with a progress display."""
        if not (proposal.confirmed or await self._view.confirm(proposal)):
            self._view.transcript.add(MutedLine(line, gap=True), MutedLine("cancelled"))
            return
        self._progress = PageProgress(self._view.status, proposal.activity, proposal.pages, proposal.unit)
        try:
            outcome = await registry.carry_out(proposal, self._progress)
        finally:
            self._progress = None
        await self._show(line, outcome, conversation_before)

    def _show_items(self, *items: TranscriptItem) -> None:
        """Shows what a command gives, from its first line where it is higher than the screen."""
        self._view.transcript.interject(*items)
        self._view.transcript.show_from(items[0])
