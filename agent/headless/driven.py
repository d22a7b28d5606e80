"""A session that a program drives: a JSON line in for each message, answer and stop; a line out for each event."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal

import msgspec
from msgspec import Struct

from agent import events
from agent.cli import output
from agent.cli.invocation import MOST_INPUT
from agent.commands.registry import is_command
from agent.headless.event_json import question_object, request_object
from agent.headless.formats import output_for
from agent.headless.options import EXIT_STATUS, SIGNALS, Ending, HeadlessOptions
from agent.headless.run import HeadlessRunner, opened
from agent.message_queue import MessageQueue, QueuedMessage
from agent.permissions.action import PermissionAnswer, Scope
from agent.queue_steering import QueueSteering
from agent.session import Session
from foundation.errors import Misuse, PalimpsestError
from foundation.typed_json import decode_json

MOST_WAITING: Final = 1_000  # messages that wait for their turn
CHUNK: Final = 65_536  # bytes read at once


class UserLine(Struct, frozen=True, tag="user", tag_field="type"):
    """A message, or a slash command. `steer`: a running turn takes the message instead of what it would do next."""

    text: str
    skill: str = ""
    steer: bool = False


class PermissionLine(Struct, frozen=True, tag="permission", tag_field="type"):
    """The answer to a `permission_request`."""

    id: str
    granted: bool
    scope: Literal["once", "session", "project"] = "once"
    reason: str = ""


class AnswerLine(Struct, frozen=True, tag="answer", tag_field="type"):
    """The answer to a `question` of the model; "" leaves it unanswered."""

    id: str
    text: str


class StopLine(Struct, frozen=True, tag="stop", tag_field="type"):
    """Stops the turn; messages that wait are not sent."""


InputLine = UserLine | PermissionLine | AnswerLine | StopLine
_DECODER: Final = msgspec.json.Decoder(InputLine)
_KINDS: Final = (
    'A line is {"type": "user", "text": …}, {"type": "permission", "id": …, "granted": true}, '
    '{"type": "answer", "id": …, "text": …} or {"type": "stop"}.'
)


class BadLine(PalimpsestError):
    """A line of standard input cannot be used."""

    code = "input"


async def drive(
    open_session: Callable[[], Awaitable[Session]],
    stdin: BinaryIO,
    options: HeadlessOptions,
    *,
    here: Path,
    first: str | None = None,
) -> int:
    """Runs the messages that standard input brings until it ends; gives the exit status of the last turn.

    `first` is a message before all others.
    """
    async with opened(open_session) as session:
        return await _Driver(session, options, here).run(stdin, first or "")


class _Driver:
    """Takes lines while turns run."""

    def __init__(self, session: Session, options: HeadlessOptions, here: Path) -> None:
        self._session = session
        self._output = output_for(options.form)
        self._runner = HeadlessRunner(session, options, here, self)
        self._runner.on_end = self._end
        self._queue = MessageQueue(on_change=self._changed, on_return=self._returned)
        session.steering = QueueSteering(self._queue, here, lambda _message: None, session, output.narrate)
        self._requests: dict[str, asyncio.Future[PermissionAnswer]] = {}  # by the id of their calls, as the next
        self._questions: dict[str, asyncio.Future[str | None]] = {}
        self._lines = asyncio.Queue[bytes | None](maxsize=16)
        self._idle = asyncio.Event()
        self._ended = asyncio.Event()  # by a signal, or a limit of time
        self._input_over = False
        self._status: int | None = None  # of the last turn
        self._bad_lines = 0

    async def run(self, stdin: BinaryIO, first: str) -> int:
        loop = asyncio.get_running_loop()
        threading.Thread(target=_read_lines, args=(stdin, self._lines, loop), daemon=True).start()
        with self._runner.signals():
            if first.strip():
                self._queue.add(first)
            worker = asyncio.create_task(self._queue.run(self._handle))
            taking = asyncio.create_task(self._take_lines())
            ended = asyncio.create_task(self._ended.wait())
            try:
                await asyncio.wait({worker, taking, ended}, return_when=asyncio.FIRST_COMPLETED)
                self._end_of_input()
                while not (self._queue.is_idle or worker.done()):
                    self._idle.clear()
                    await asyncio.wait({worker, asyncio.create_task(self._idle.wait())}, return_when="FIRST_COMPLETED")
                if worker.done():
                    worker.result()  # raises what ended it
            finally:
                for task in (worker, taking, ended):
                    task.cancel()
                await asyncio.gather(worker, taking, ended, return_exceptions=True)
        return self._exit_status

    @property
    def _exit_status(self) -> int:
        """That of the last turn; without a turn, whether there was a line that could not be used."""
        if self._status is None:
            return Misuse.exit_status if self._bad_lines else 0
        return self._status

    async def _handle(self, message: QueuedMessage) -> bool:
        try:
            self._status = await self._runner.handle(message.text, message.skill)
        except PalimpsestError as error:
            self._status = error.exit_status
            self._output.failed(error.as_json())
        if self._runner.is_over:
            self._ended.set()
        return self._status == 0

    async def _take_lines(self) -> None:
        number = 0
        while (raw := await self._lines.get()) is not None:
            number += 1
            if raw.strip():
                try:
                    self._take(_decoded(raw))
                except BadLine as problem:
                    self._bad_lines += 1
                    problem.message = f"Line {number:,}: {problem.message}"
                    self._output.failed(problem.as_json())

    def _take(self, line: InputLine) -> None:
        match line:
            case UserLine(text=text, skill=skill, steer=steer):
                if not text.strip():
                    raise BadLine("Nothing to answer", "The message has no text.", _KINDS)
                if len(self._queue.waiting) >= MOST_WAITING:
                    hint = "Wait for results before sending more messages."
                    raise BadLine("Too many messages", f"{MOST_WAITING:,} messages are already queued.", hint)
                self._queue.add(text, skill, steers=steer and not is_command(text))
                self._session.steer()
            case PermissionLine():
                self._answer(line)
            case AnswerLine():
                self._answer_question(line)
            case StopLine():
                self._stop()

    def _answer(self, line: PermissionLine) -> None:
        request = self._requests.pop(line.id, None)
        if request is None or request.done():
            raise BadLine(
                "No such request", f"No permission request “{line.id}” is pending.", "See permission_request."
            )
        request.set_result(PermissionAnswer(line.granted, Scope(line.scope), line.reason))

    def _answer_question(self, line: AnswerLine) -> None:
        question = self._questions.pop(line.id, None)
        if question is None or question.done():
            raise BadLine("No such question", f"No question “{line.id}” is pending.", "See the lines of type question.")
        question.set_result(line.text)

    async def answer_permission(self, request: events.PermissionRequested) -> PermissionAnswer:
        if self._input_over:
            return PermissionAnswer(False, attended=False)
        self._requests[request.call.id] = request.answer
        self._output.line(request_object(request))
        try:
            return await request.answer
        finally:
            self._requests.pop(request.call.id, None)

    async def answer_question(self, asked: events.QuestionAsked) -> str | None:
        if self._input_over:
            return None
        self._questions[asked.call.id] = asked.answer
        self._output.line(question_object(asked))
        try:
            return await asked.answer
        finally:
            self._questions.pop(asked.call.id, None)

    def _stop(self) -> None:
        self._runner.stop()
        self._queue.return_unsent()

    def _end(self) -> None:
        is_idle = self._queue.is_idle
        self._stop()
        self._ended.set()
        if is_idle:
            number = self._runner.interrupted
            self._status = SIGNALS + number if number else EXIT_STATUS[Ending.LIMIT]

    def _end_of_input(self) -> None:
        """From now on nobody can be asked."""
        self._input_over = True
        for request in self._requests.values():
            if not request.done():
                request.set_result(PermissionAnswer(False, attended=False))
        for question in self._questions.values():
            if not question.done():
                question.set_result(None)

    def _changed(self) -> None:
        if self._queue.is_idle:
            self._idle.set()

    def _returned(self, texts: list[str]) -> None:
        for text in texts:
            self._output.line({"type": "unsent", "text": text})


def _decoded(raw: bytes) -> InputLine:
    if len(raw) > MOST_INPUT:
        raise BadLine("Too large", f"The line is longer than the maximum of {MOST_INPUT:,} bytes.", _KINDS)
    try:
        return decode_json(raw, _DECODER)
    except msgspec.DecodeError as error:
        raise BadLine("Not understood", f"{error}.", _KINDS) from error


def _read_lines(stdin: Any, lines: "asyncio.Queue[bytes | None]", loop: asyncio.AbstractEventLoop) -> None:
    """Puts each line into the queue, and None at the end. A line that is too long is cut after the most of a line.

    The unbuffered stream is read, because a thread that waits in the buffered one would hold its lock at exit.
    """

    def put(line: bytes | None) -> bool:
        try:
            asyncio.run_coroutine_threadsafe(lines.put(line), loop).result()
        except (RuntimeError, asyncio.CancelledError):  # the loop has ended
            return False
        return True

    raw = getattr(stdin, "raw", stdin)
    rest = b""
    try:
        while chunk := raw.read(CHUNK):
            *whole, rest = (rest + chunk).split(b"\n")
            if not all(map(put, whole)):
                return
            if len(rest) > MOST_INPUT:
                rest = rest[: MOST_INPUT + 1]  # what follows up to the line's end is dropped
    except (OSError, ValueError):  # closed meanwhile
        rest = b""
    if not rest or put(rest):
        put(None)
