"""The chat in lines: the main thread reads the keyboard, an event loop beside it runs the session.

So Ctrl+C and signals end the line that is being edited, which they could not in another thread.
"""

import asyncio
import os
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, TypeVar

from agent.commands.conversation import TAKE_BACK
from agent.services.model_offer import detect_model
from agent.services.opening_questions import (
    OpeningQuestion,
    ask_about_links,
    ask_about_project,
    ask_for_trust,
    changes_question,
    instructions_question,
    link_question,
    server_question,
    trust_question,
)
from foundation.errors import PalimpsestError
from foundation.figures import counted
from memory.access import nothing_is_kept
from tui.internal_errors import internal_error
from tui.screen_reader.completion import complete
from tui.screen_reader.composition import Composition, WholeMessage
from tui.screen_reader.controller import Answer, LineController
from tui.screen_reader.input import LineInput
from tui.screen_reader.interrupts import Interrupts, Leaving
from tui.screen_reader.output import LineOutput
from tui.screen_reader.questions import NumberedQuestion, opening_question
from tui.widgets.prompt.history import PromptHistory
from tui.widgets.prompt.prefixes import separate_prompts

if TYPE_CHECKING:
    from agent.session import Session
    from tui.screen_reader.start import LineStart

Result = TypeVar("Result")
EXIT_COMMANDS: Final = frozenset({"/exit", "/quit", "/q"})
HUNG_UP: Final = 129  # the exit status where the terminal was closed: 128 and SIGHUP
YOU, MORE, NEXT = "You: ", "More: ", "Next: "
_KEYS: Final = (
    "/help lists the commands, Ctrl+C stops an answer, Ctrl+D quits. A backslash at the end of a line, or three "
    "quotation marks around several, make a longer message."
)


class _Asked:
    """A question that waits for the main thread."""

    def __init__(self, question: NumberedQuestion, answer: "asyncio.Future[Answer]") -> None:
        self.question = question
        self.answer = answer


class LineChat:
    """One chat, from its opening to its end."""

    def __init__(self, start: "LineStart") -> None:
        self._start = start
        here = Path.cwd()
        self._here = here
        self._output = LineOutput(rings=start.options.config.screen.notify == "bell")
        self._input = LineInput(lambda line, word: complete(line, word, here, self._session))
        self._history = PromptHistory(start.options.workspace.prompt_history)
        self._loop = asyncio.new_event_loop()
        self._controller: LineController | None = None
        self._is_opened = False
        self._running: Future[None] | None = None
        self._asked: _Asked | None = None
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_write, False)
        self._composition = Composition()
        self._early: list[WholeMessage] = []  # entered before the session was open
        self._saved = ""
        self._keeps_draft = False  # whether the line that is read is one of a message
        self.status = 0
        self._is_cleared = False  # whether the last thing at the prompt was Ctrl+C

    def run(self) -> str:
        """Runs it to its end; gives the conversation's id, "" for none. `status` is the exit status then."""
        self._interrupts = Interrupts(self._wake_write, self._unfinished, self._save_draft)
        thread = Thread(target=self._loop.run_forever, name="session", daemon=True)
        thread.start()
        try:
            self._say_opening()
            self._running = asyncio.run_coroutine_threadsafe(self._open(), self._loop)
            while True:
                with suppress(KeyboardInterrupt):
                    self._step()
                if self._interrupts.take():
                    self._interrupt()
        except EOFError:
            self.status = 0 if os.isatty(0) else HUNG_UP
        except Leaving:
            self._input.rest = self._interrupts.noted_line + self._input.rest
        finally:
            self._interrupts.ignore()
            self.status = self._interrupts.status or self.status
            self._input.restore()
            resumable = self._close()
            self._loop.call_soon_threadsafe(self._loop.stop)
            thread.join(5)
        return resumable

    # The main thread

    def _say_opening(self) -> None:
        options = self._start.options
        self._output.say(
            f"Palimpsest, a chat and coding agent that remembers. Screen-reader mode is on, by {self._start.reason}.",
            _KEYS,
        )
        workspace = "A new workspace" if options.new_workspace else "Workspace"
        self._output.say(f"{workspace}: {options.workspace.root}. Model: {options.config.model}.")
        self._output.say(*(f"Notice: {notice}" for notice in options.notices))

    def _step(self) -> None:
        if self._asked is not None:
            self._answer(self._asked)
        elif self._controller is not None and self._early:
            self._submit_early()
        elif self._controller is not None and self._is_opened and self._controller.queue.is_idle:
            self._prompt(self._controller)
        elif self._running is not None and self._running.done() and not self._is_opened:
            self._running.result()  # raises what prevented the opening
            raise EOFError
        else:
            for line in self._input.wait(self._wake_read, 1.0):
                self._enter(line if line.strip() or self._composition.has_lines else self._read(NEXT))

    def _prompt(self, controller: LineController) -> None:
        beginning, self._input.rest = self._input.rest, ""
        if (draft := controller.take_draft()).text:
            beginning = self._composition.restore(draft.text, draft.pastes) + beginning
        line = self._read(MORE if self._composition.has_lines else YOU, beginning)
        self._is_cleared = False
        if pasted := self._input.take_pasted():
            lines = [line, *pasted]
            self._input.rest = self._composition.paste("\n".join(lines))
            self._output.say(f"Pasted: {counted(len(lines), 'line')}. Enter sends it, Ctrl+C removes it.")
            return
        self._enter(line)

    def _enter(self, line: str) -> None:
        """Takes a line: of a longer message, a message, or the word to leave."""
        if (message := self._composition.take(line)) is not None:
            self._submit(message)

    def _submit(self, message: WholeMessage) -> None:
        if message.text.strip() == "?":  # as in the chat with a screen
            message = WholeMessage("/help")
        controller, text = self._controller, message.text
        if text.strip() in EXIT_COMMANDS:
            raise EOFError
        if controller is None:
            self._early.append(message)
            return
        self._submit_early()
        if not text.strip():
            if controller.queue.is_idle and controller.session.branch.rewritten is not None:
                self._call(self._add(controller, WholeMessage(TAKE_BACK)))
            return
        with suppress(OSError):
            self._history.add(text)
        self._input.remember(text)
        self._call(self._add(controller, message))

    def _submit_early(self) -> None:
        """Submits what was entered before the session was open, in its order."""
        early, self._early = self._early, []
        for message in early:
            self._submit(message)

    async def _add(self, controller: LineController, message: WholeMessage) -> None:
        controller.enter(message)
        await controller.save_draft("")
        self._saved = ""

    def _answer(self, asked: _Asked) -> None:
        """Has the person answer a question. Ctrl+C gives none and stops the turn."""
        for line in self._input.take_typed_ahead():
            self._enter(line)
        question = asked.question
        self._output.say(*question.shown)
        self._output.ring()
        given: Answer | None = None
        try:
            while given is None and not asked.answer.done():
                typed = self._read(question.prompt, completes=False)
                if pasted := self._input.pasted_answer(typed):
                    self._input.rest += self._composition.paste("\n".join(pasted))
                    self._output.say("Pasted text cannot answer a question. It was added to your next message.")
                    continue
                index = question.index_of(typed)
                if index is not None:
                    given = index, typed
                elif not typed.strip() or question.takes_text:
                    given = None, typed.strip()
                else:
                    self._output.say("That is not one of the answers.")
        except KeyboardInterrupt:
            given = None, ""
            raise
        finally:
            self._asked = None
            self._loop.call_soon_threadsafe(_deliver, asked.answer, given or (None, ""))

    def _read(self, prompt: str, beginning: str = "", *, completes: bool = True) -> str:
        """A line of the editor; what is said meanwhile comes after it."""
        self._output.hold()
        self._keeps_draft = completes
        try:
            return self._interrupts.reading(lambda: self._input.read_line(prompt, beginning, completes=completes))
        except (KeyboardInterrupt, EOFError, Leaving):
            self._output.release()
            self._output.say("")
            raise
        finally:
            self._keeps_draft = False
            self._output.release()

    def _interrupt(self) -> None:
        """Ctrl+C: stops what runs; at the prompt, where nothing is typed, the second one leaves."""
        controller = self._controller
        if controller is None or not self._is_opened:
            raise EOFError
        typed, self._interrupts.noted_line = self._interrupts.noted_line, ""
        self._input.remember(typed)
        if self._call(self._stop(controller)):
            self._input.rest = ""
            return
        if self._is_cleared and not typed.strip():
            raise EOFError
        self._is_cleared = True
        self._composition.clear()
        self._output.say("Cleared. Ctrl+C again quits.")

    async def _stop(self, controller: LineController) -> bool:
        """Stops what runs; False where nothing does. On the event loop it comes after a message that was just sent."""
        if controller.queue.is_idle:
            return False
        self._output.say("", "Stopping.")
        controller.stop()
        return True

    @property
    def _session(self) -> "Session | None":
        return self._controller.session if self._controller else None

    def _call(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Runs it on the event loop and waits for it; signals are seen meanwhile."""
        running = asyncio.run_coroutine_threadsafe(work, self._loop)
        while not running.done():
            wait([running], 1.0)
        return running.result()

    def _unfinished(self) -> str:
        """What is typed of a message; of an answer to a question it is nothing."""
        return self._input.unfinished if self._keeps_draft else ""

    def _save_draft(self) -> None:
        """Keeps what is being typed. The main thread calls it while a line is edited."""
        text = self._composition.draft(self._unfinished())
        if self._keeps_draft and self._controller is not None and text != self._saved:
            self._saved = text
            asyncio.run_coroutine_threadsafe(self._controller.save_draft(text), self._loop)

    # The event loop

    async def _open(self) -> None:
        start = self._start
        if (trusted := await ask_for_trust(self, start)) is not None:
            self._history.move(trusted.prompt_history)
        await ask_about_links(self, start)
        try:
            await asyncio.to_thread(self._history.load)
        except OSError as error:
            self.show_warning(f"The input history could not be read: {error.strerror}.")
        self._input.set_history(self._history.entries)
        session = await asyncio.to_thread(start.opening.open_session)
        controller = LineController(session, self._output, self.ask, self._here, on_change=self._wake)
        self._controller = controller
        try:
            await controller.take_up(start.options.resume, latest=start.options.latest)
        except PalimpsestError as error:
            controller.say_error(error)
        if session.workspace.unwritable:
            self.show_warning(nothing_is_kept(session.workspace))
        await controller.restore_draft()
        await ask_about_project(self, session)
        session.begin_background()
        if start.options.message:
            self._output.say(f"You: {start.options.message}")
            controller.queue.add(start.options.message)
        elif offer := await detect_model(session, "/model {spec}"):
            self._output.say(f"Notice: {offer.text}")
        self._is_opened = True
        self._wake()
        await controller.run()

    async def ask(self, question: NumberedQuestion) -> Answer:
        """The answer of the person, whom the main thread asks."""
        answer: asyncio.Future[Answer] = self._loop.create_future()
        self._asked = _Asked(question, answer)
        self._wake()
        return await answer

    async def ask_trust(self, contents: Sequence[str]) -> bool | None:
        return await self._ask_opening(trust_question(contents))

    async def ask_changes(self, changes: Sequence[str]) -> bool | None:
        return await self._ask_opening(changes_question(changes))

    async def ask_link(self, name: str, target: str, effect: str) -> bool | None:
        return await self._ask_opening(link_question(name, target, effect))

    async def ask_server(self, name: str, facts: Sequence[str], *, is_changed: bool) -> bool | None:
        return await self._ask_opening(server_question(name, facts, is_changed=is_changed))

    async def ask_instructions(self, files: Sequence[str], *, is_changed: bool) -> bool | None:
        return await self._ask_opening(instructions_question(files, is_changed=is_changed))

    async def _ask_opening(self, asked: OpeningQuestion) -> bool | None:
        question, values = opening_question(asked)
        index, _ = await self.ask(question)
        return values[-1] if index is None else values[index]

    def show_warning(self, text: str) -> None:
        self._output.say(f"Warning: {text}")

    def show_failure(self, error: PalimpsestError | OSError) -> None:
        report = error if isinstance(error, PalimpsestError) else internal_error(error)
        self._output.say(f"Error: {report.title}. {report.message} {report.hint}".rstrip())

    def _wake(self) -> None:
        """Has the main thread look again; a full pipe wakes it, too."""
        with suppress(OSError):
            os.write(self._wake_write, b"\n")

    def _close(self) -> str:
        """Keeps the draft, stores the answer so far and closes the memory; gives the conversation's id."""
        controller = self._controller
        if controller is None:
            if self._running is not None and self._running.done() and (error := self._running.exception()):
                raise error
            return ""

        async def close() -> str:
            controller.queue.return_unsent()
            typed = self._composition.draft(self._input.rest).rstrip("\n")
            prompts = separate_prompts([controller.draft.text, typed])
            await controller.save_draft(prompts[-1 if typed.strip() else 0] if prompts else "")
            await asyncio.to_thread(controller.drafts.release)
            conversation = controller.session.conversation
            if self._running is not None:
                self._running.cancel()
            await controller.session.close()
            conversation = controller.session.conversation or conversation
            return conversation.id if conversation else ""

        return self._call(close())


def _deliver(answer: "asyncio.Future[Answer]", given: Answer) -> None:
    if not answer.done():
        answer.set_result(given)
