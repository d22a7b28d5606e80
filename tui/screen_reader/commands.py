"""Runs slash commands: what opens a screen in the full-screen chat is printed, as without a screen."""

import asyncio
import re
from threading import Event
from typing import TYPE_CHECKING, Final, Protocol

from msgspec import structs

from agent.commands import registry
from agent.commands.results import (
    Cancelled,
    Choices,
    CommandFailed,
    OpenNamedScreen,
    OpenPicker,
    Outcome,
    Proposal,
    SendMessage,
    SessionSwitched,
    ShowEntry,
    TextResult,
)
from agent.headless.commands import outcome_lines, without_screen
from foundation.errors import Misuse, PalimpsestError
from foundation.figures import counted
from foundation.terminal_text import visible_line
from tui.screen_reader.composition import WholeMessage
from tui.screen_reader.conversation_find import find_lines
from tui.screen_reader.markdown import LinearMarkdown
from tui.screen_reader.output import PAGE_LINES, Folded, LineOutput, text_lines
from tui.screen_reader.questions import NumberedQuestion, yes_or_no
from tui.screen_reader.stored import endings_of, say_entry, texts_of
from tui.screen_reader.tree_choices import tree_choices

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from agent.session import Session
    from tui.screen_reader.wait_notices import Waiting

UNSENT: Final = "The branch is created when you send the message. An empty line cancels it."
_BARS: Final = re.compile(r"[\u2500-\u259f]+ *")  # small charts, which say nothing aloud; figures stand beside them
_COMMANDS: Final = (
    "/show [N] reads a folded text. Without a number, it lists them.",
    "/find WORDS searches this conversation.",
    "/steer MESSAGE sends a message to the model during its answer.",
)
KEYS: Final = (
    "Enter sends. A backslash at the end of a line, or three quotation marks around several, make a longer message.",
    "During an answer, your input is queued until it ends. Press Enter alone to open an input line.",
    "Arrow up and Ctrl+R bring back earlier input. The character ␤ in it is a line break.",
    "Tab completes commands, their arguments, @files, @mem: and a word to the citation of a passage, and "
    "@chat: and a word of its title to a conversation.",
    "Ctrl+C stops an answer. At the prompt it clears the line, and pressed again it quits. Ctrl+D quits.",
    "Answer a question with a number or the first word. Enter alone changes nothing.",
)


class CommandFace(Protocol):
    """What commands need of the controller."""

    session: "Session"
    output: LineOutput
    waiting: "Waiting"
    draft: WholeMessage
    ask: "Callable[[NumberedQuestion], Awaitable[tuple[int | None, str]]]"

    async def send(self, text: str, skill: str = "", pastes: tuple[str, ...] = (), *, again: bool = False) -> None: ...

    async def say_conversation(self) -> None: ...

    async def restore_draft(self) -> None: ...

    def model_changed(self) -> None: ...

    def say_error(self, error: PalimpsestError) -> None: ...


class LineCommands:
    """The commands of one chat."""

    def __init__(self, face: CommandFace) -> None:
        self._face = face
        self._cancelled = Event()

    def cancel(self) -> None:
        """Cancels the proposal that runs, at its next page."""
        self._cancelled.set()

    async def run(self, line: str, *, beside: bool = False) -> None:
        """Runs a command line (`/rename Trip`) and says what comes of it. `beside`: while an answer is written."""
        name, _, arguments = line.removeprefix("/").partition(" ")
        if name == "show":
            await self._show(arguments.strip())
            return
        face = self._face
        if name == "find":
            await self._find(arguments.strip())
            return
        if not beside:  # else what is waited for is the answer
            face.waiting.show(f"running /{visible_line(name)}")
        before, model = face.session.conversation, face.session.profile.spec
        outcome = await self._printed(await registry.run(face.session, line))
        if face.session.profile.spec != model:
            face.model_changed()
        await self._say(outcome, before.id if before else "")
        if registry.find(name) is registry.find("help") and not arguments:
            face.output.say(*_COMMANDS)

    async def _printed(self, outcome: Outcome) -> Outcome:
        """The outcome; for one that opens a screen, what is said in its place."""
        session = self._face.session
        match outcome:
            case OpenNamedScreen(screen="keys"):
                return TextResult("\n\n".join(KEYS))
            case OpenPicker(level="turns", rewrites=False):
                return await tree_choices(session)
            case TextResult(markdown=text):
                return structs.replace(outcome, markdown=_without_keys(text))
            case _:
                return await without_screen(session, outcome)

    async def _find(self, query: str) -> None:
        if not query:
            raise Misuse("Nothing to find", "/find needs words to search for.", "/find boiler")
        face = self._face
        face.waiting.show("finding")
        branch = face.session.branch
        stored = await branch.reload(branch.opened())
        face.output.say(*await asyncio.to_thread(find_lines, face.session, stored, face.output, query))

    async def _say(self, outcome: Outcome, before: str) -> None:
        face = self._face
        match outcome:
            case Choices(title=title, items=items, command=command, notes=notes, takes_text=takes_text):
                labels = tuple(f"{item.label}, {item.detail}" if item.detail else item.label for item in items)
                face.waiting.show("")
                question = NumberedQuestion(lines=(f"{title}:", *notes), answers=labels, takes_text=takes_text)
                index, typed = await face.ask(question)
                if index is not None or typed.strip():
                    await self.run(f"{command} {items[index].id if index is not None else typed.strip()}")
            case SendMessage(text=text, skill=skill, again=again, notice=notice):
                if notice:
                    face.output.say(notice)
                await face.send(text, skill, again=again)
            case SessionSwitched(notice=notice, prompt=prompt):
                await self._switch(notice, prompt, before)
            case Proposal():
                await self._propose(outcome, before)
            case ShowEntry(entry=seq):
                entry = await asyncio.to_thread(face.session.memory.conversations.entry, seq)
                (text,) = await asyncio.to_thread(texts_of, face.session, [entry])
                (ending,) = await asyncio.to_thread(endings_of, face.session, [entry])
                say_entry(face.output, entry, text, ending)
            case CommandFailed(error=error):
                face.say_error(error)
            case _:
                for text in outcome_lines(outcome):
                    self._say_markdown(text)

    async def _switch(self, notice: str, prompt: str, before: str) -> None:
        face = self._face
        current = face.session.conversation.id if face.session.conversation else ""
        if notice:
            face.output.say(notice)
        if prompt:
            face.draft = WholeMessage(prompt)
            face.output.say(UNSENT)
        elif current != before:
            if current:
                await face.say_conversation()
            await face.restore_draft()

    async def _propose(self, proposal: Proposal, before: str) -> None:
        """Asks for confirmation if needed, then runs the proposal; its progress is announced as waiting is."""
        face = self._face
        face.waiting.show("")
        if not proposal.confirmed:
            rows = [f"{name}: {sentence}" if name else sentence for name, sentence in proposal.rows]
            index, _ = await face.ask(yes_or_no(f"Question: {proposal.title}", *rows, yes="confirm", no="cancel"))
            if index != 0:
                face.output.say("Cancelled.")
                return
        self._cancelled.clear()
        of_all = f" of about {proposal.pages:,}" if proposal.pages else ""
        loop = asyncio.get_running_loop()

        def on_page(done: int) -> None:
            if self._cancelled.is_set():
                raise Cancelled(proposal.activity.capitalize())
            loop.call_soon_threadsafe(face.waiting.show, f"{proposal.activity}, {proposal.unit} {done:,}{of_all}")

        face.waiting.show(proposal.activity)
        await self._say(await self._printed(await registry.carry_out(proposal, on_page)), before)

    async def _show(self, arguments: str) -> None:
        """Prints a folded text, a page at a time."""
        output = self._face.output
        if not arguments:
            titles = [f"/show {number}: {title}" for number, title in enumerate(output.titles, 1)]
            output.say(*(titles or ["Nothing is folded yet."]))
            return
        folded = output.folded(int(arguments)) if arguments.isascii() and arguments.isdigit() else None
        if folded is None:
            raise Misuse("Nothing to show", f"There is no folded text number {arguments}.", "/show lists them.")
        await self._say_pages(folded)

    async def _say_pages(self, folded: Folded) -> None:
        output = self._face.output
        lines = text_lines(await asyncio.to_thread(folded.read))
        output.say(f"{folded.title}, {counted(len(lines), 'line')}:")
        for start in range(0, len(lines), PAGE_LINES):
            output.say(*lines[start : start + PAGE_LINES])
            end = start + PAGE_LINES
            if end < len(lines):
                question = NumberedQuestion(
                    lines=(f"Lines 1 to {end:,} of {len(lines):,} shown.",), answers=("continue", "stop"), default=0
                )
                if (await self._face.ask(question))[0] != 0:
                    return
        output.say("End of the text.")

    def _say_markdown(self, text: str) -> None:
        markdown = LinearMarkdown(self._face.output.say, self._face.output.fold)
        markdown.feed(_BARS.sub("", text))
        markdown.end()


def _without_keys(text: str) -> str:
    """The help of a command without the keys of its screen, which is not opened here."""
    for command in registry.all():
        if command.keys:
            text = text.replace(command.keys, "In screen-reader mode it prints its text.")
    return text
