"""Turns without a screen: prints the answer, one object, or an event per line; narration goes to stderr."""

import asyncio
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path
from typing import NamedTuple, Protocol

from agent import events
from agent.cli import output
from agent.commands.registry import is_command
from agent.events import SessionEvent
from agent.headless.commands import run_command
from agent.headless.event_json import permission_object
from agent.headless.formats import TurnOutput, output_for
from agent.headless.options import EXIT_STATUS, SIGNALS, Ending, HeadlessOptions
from agent.headless.totals import TurnTotals
from agent.permissions.action import PermissionAnswer
from agent.services.knowledge import page_attachments, recalled_spans, retrieval_notice, retrieve
from agent.services.outside_files import permitted_attachments
from agent.services.prompt_progress import PromptProgress
from agent.services.unattached import unattached_sentence
from agent.session import Session
from agent.spending.budget import DAILY, Limit
from context import Attachment
from foundation.errors import Misuse, PalimpsestError
from foundation.privacy import clear
from memory.records import ONE_SHOT
from models.messages import RecalledSpan

NOTICE_AFTER_S = 10.0  # seconds without any output, after which a notice is written


class AnsweringPort(Protocol):
    """Whoever answers the questions of a turn."""

    async def answer_permission(self, request: events.PermissionRequested) -> PermissionAnswer: ...

    async def answer_question(self, asked: events.QuestionAsked) -> str | None:
        """The answer; None where nobody is there any more."""
        ...


async def answer(
    open_session: Callable[[], Awaitable[Session]],
    text: str,
    options: HeadlessOptions,
    *,
    here: Path | None = None,
    mentions: str | None = None,
    piped: str = "",
) -> int:
    """Sends `text` and prints the answer as `options` say; gives the exit status.

    Files that `mentions` (by default `text`) names with @ are attached; relative names are resolved in `here`. `piped`
    is the part of `text` that came from standard input.

    A slash command is run instead of sent. Nobody can be asked, so tools that need permission are declined.
    """
    async with opened(open_session) as session:
        runner, is_new = HeadlessRunner(session, options, here or Path.cwd()), session.conversation is None
        with runner.signals():
            status = await runner.handle(text, mentions=mentions, piped=piped)
        if is_new and session.conversation is not None:
            await asyncio.to_thread(session.memory.conversations.label, session.conversation.seq, clear(ONE_SHOT))
        return status


@asynccontextmanager
async def opened(open_session: Callable[[], Awaitable[Session]]) -> AsyncGenerator[Session]:
    """The session, closed afterwards; what happened to files and the model is narrated."""
    session = await open_session()
    try:
        if notice := await session.restore_model():
            output.narrate(notice)
        await _narrate_file_notices(session)
        yield session
    finally:
        await session.close()
        await _narrate_file_notices(session)


async def _narrate_file_notices(session: Session) -> None:
    for sentence in await session.file_notices():
        output.narrate(sentence)


class NotSent(PalimpsestError):
    """A message was stopped before its turn."""

    code = "stopped"
    exit_status = EXIT_STATUS[Ending.STOPPED]


class HeadlessMessage(NamedTuple):
    """The arguments of `Session.send`."""

    text: str
    files: Sequence[Attachment]
    skill: str
    recalled: tuple[RecalledSpan, ...] | None
    pastes: tuple[str, ...] = ()
    again: bool = False


class HeadlessRunner:
    """Runs messages and slash commands in a session, one at a time, and prints what comes.

    `face` answers the questions of turns; without it, nobody can be asked.
    """

    def __init__(
        self, session: Session, options: HeadlessOptions, here: Path, face: AnsweringPort | None = None
    ) -> None:
        """Raises Misuse for a limit of money where the price of the model is not known."""
        self.session = session
        self.interrupted = 0  # the signal that ended the run
        self.on_end: Callable[[], None] = session.stop  # called where a signal or the limit of time ends the run
        self._options = options
        self._here = here
        self._face = face
        self._deadline: asyncio.TimerHandle | None = None
        self._attaching: asyncio.Future[PermissionAnswer] | None = None  # the question on a file that waits
        self._late = False
        _apply(session, options)
        if options.seconds is not None:
            self._deadline = asyncio.get_running_loop().call_later(options.seconds, self._expire)

    def _expire(self) -> None:
        self._late = True
        self.on_end()

    @property
    def is_over(self) -> bool:
        """Whether a signal or the limit of time has ended the run."""
        return self._late or self.interrupted != 0

    def signals(self) -> "_Signals":
        """SIGINT and SIGTERM end the run, and what came is kept."""
        return _Signals(self)

    def interrupt(self, number: int) -> None:
        self.interrupted = number
        self.on_end()

    async def handle(self, text: str, skill: str = "", *, mentions: str | None = None, piped: str = "") -> int:
        """Runs one message or slash command; gives its exit status."""
        session, again = self.session, False
        if is_command(text):
            outcome = await run_command(session, text, self._options.form)
            if isinstance(outcome, int):
                return outcome
            mentions = text = outcome.text
            skill, again = outcome.skill, outcome.again
        mentioning = text if mentions is None else mentions
        files, refusals = await permitted_attachments(session, mentioning, self._here, self._ask_attachment)
        for sentence in filter(None, (*refusals, unattached_sentence(mentioning, self._here))):
            output.narrate(sentence)
        if files:
            output.narrate(f"With {', '.join(file.name for file in files)}")
        recalled_parts = None
        if self._options.knowledge:
            recalled_parts, pictures = await _from_knowledge(session, text)
            files = [*files, *pictures]
        if session.profile.spec != "offline":  # there may be no later message that has their tools
            await session.servers.wait(lambda: self.is_over, session.config.mcp.start_seconds)
        message = HeadlessMessage(text, files, skill, recalled_parts, (piped,) if piped else (), again)
        return await self._turn(message, output_for(self._options.form))

    async def _turn(self, message: HeadlessMessage, turn_output: TurnOutput) -> int:
        totals = TurnTotals()
        waiting = _WaitingNotice()
        streamed = 0  # tokens of the answer under way, by the model's counter
        # Always closed here: a closed pipe must end the turn before the store is closed.
        try:
            async with aclosing(self.session.send(*message[:5], again=message.again)) as stream:
                async for event in stream:
                    waiting.take(event)
                    totals.take(event)
                    if isinstance(event, events.PermissionRequested):
                        await self._permission(event, turn_output)
                        continue
                    if isinstance(event, events.SpendingLimitReached | events.CallLimitReached):
                        self._limit(event, totals, turn_output)
                        continue
                    if isinstance(event, events.QuestionAsked):
                        await self._question(event)
                        continue
                    turn_output.event(event)
                    streamed = self._count(event, streamed, totals, turn_output)
        finally:
            waiting.end()
        if self._late and totals.limit is None and totals.ending is Ending.STOPPED:
            self._end_by(_time_limit(self._options), totals, turn_output)
        if totals.ending is Ending.FAILED and totals.failure:
            turn_output.failed(totals.failure_object(totals.failure))
        else:
            turn_output.result(totals.result(self.session.profile.spec, self.session.budget))
        if totals.ending is Ending.EMPTY:
            output.narrate("The answer is empty.")
        if totals.ending_sentence:
            output.narrate(totals.ending_sentence)
        if (hint := totals.denials.hint()) and self._face is None:
            output.narrate(hint)
        if self.interrupted and totals.ending is Ending.STOPPED:
            return SIGNALS + self.interrupted
        return EXIT_STATUS[totals.ending]

    async def _permission(self, request: events.PermissionRequested, turn_output: TurnOutput) -> None:
        if self._face is None or self.is_over:
            output.narrate(f"Declined, because it cannot be confirmed here: {request.action.summary}")
            if not request.answer.done():
                request.answer.set_result(PermissionAnswer(False, attended=False))
            return
        given = await self._face.answer_permission(request)
        if given.granted:
            fields = permission_object(
                request.call.id, request.action, request.decision, granted=True, reason=given.reason
            )
            turn_output.line(fields)
        if not request.answer.done():  # stopping the turn declines it
            request.answer.set_result(given)

    async def _ask_attachment(self, request: events.PermissionRequested) -> PermissionAnswer:
        """The face's answer on a file outside the project. Raises NotSent where the message is stopped meanwhile."""
        if self._face is None or self.is_over:
            return PermissionAnswer(False, attended=False)
        self._attaching = request.answer
        try:
            shown = output_for(self._options.form)
            await self._permission(request, shown)
            given = await request.answer
            if given.attended and not given.granted:
                call, reason = request.call.id, given.reason
                shown.line(permission_object(call, request.action, request.decision, granted=False, reason=reason))
            return given
        except asyncio.CancelledError:
            if not request.answer.cancelled():
                raise
            raise NotSent(
                "Stopped", "The message was not sent: the question about an attached file was not answered."
            ) from None
        finally:
            self._attaching = None

    def stop(self) -> None:
        """Stops the turn, or the question that comes before it: then the message is not sent."""
        self.session.stop()
        if self._attaching is not None:
            self._attaching.cancel()

    async def _question(self, asked: events.QuestionAsked) -> None:
        words = None
        if self._face is not None and not self.is_over:
            words = await self._face.answer_question(asked)
        if words is None:
            output.narrate(f"Not answered, because no user is present: {asked.question.text}")
        if not asked.answer.done():  # stopping the turn leaves it unanswered
            asked.answer.set_result(words)

    def _limit(
        self,
        reached: events.SpendingLimitReached | events.CallLimitReached,
        totals: TurnTotals,
        turn_output: TurnOutput,
    ) -> None:
        limit = _calls_limit(reached, self._options) if isinstance(reached, events.CallLimitReached) else reached.limit
        goes_on = self._options.over_cap and limit.name in DAILY
        if goes_on:
            output.narrate(limit.sentence)
        else:
            self._end_by(limit, totals, turn_output)
        if not reached.answer.done():
            reached.answer.set_result(PermissionAnswer(goes_on, attended=False))

    def _end_by(self, limit: Limit, totals: TurnTotals, turn_output: TurnOutput) -> None:
        totals.limit = limit
        turn_output.line({"type": "limit", "name": limit.name, "sentence": limit.sentence})

    def _count(self, event: SessionEvent, streamed: int, totals: TurnTotals, turn_output: TurnOutput) -> int:
        """The tokens of the answer under way; stops it where it passes a limit of the run."""
        match event:
            case events.TextDelta(text=text) | events.ReasoningDelta(text=text):
                session = self.session
                streamed += session.model.counter.count(text)
                limit = session.budget.passed(session.profile, totals.prompt_tokens, streamed)
                if limit and totals.limit is None:
                    self._end_by(limit, totals, turn_output)
                    session.stop()
                return streamed
            case events.ContextReady() | events.UsageKnown():
                return 0
            case _:
                return streamed

    def close(self) -> None:
        """Ends the limit of time."""
        if self._deadline is not None:
            self._deadline.cancel()


def _apply(session: Session, options: HeadlessOptions) -> None:
    """Sets the session's permissions and limits. Raises Misuse for a limit of money without a price."""
    session.permissions.start(options.mode, options.rules)
    session.budget.run = options.limits
    profile = session.profile
    names = (profile.spec, profile.name)
    if options.limits.cost is not None and profile.remote and session.budget.prices.price(*names) is None:
        raise Misuse(
            "No price",
            f"--max-cost needs the price of {profile.spec}, and none is set.",
            "Set models.prices in the configuration (docs/reference/spending.md), or use --max-tokens.",
        )


def _calls_limit(reached: events.CallLimitReached, options: HeadlessOptions) -> Limit:
    if reached.repeated:
        return Limit("repeated_calls", f"{reached.sentence} The run stops here.")
    calls = options.limits.calls
    where = "tools.most_calls" if calls is None or reached.made < calls else "--max-calls"
    return Limit("calls", f"The model made {reached.made:,} tool calls, the maximum ({where}), and wants more.")


def _time_limit(options: HeadlessOptions) -> Limit:
    return Limit("seconds", f"The run took {options.seconds:g} seconds, the maximum.")


async def _from_knowledge(session: Session, text: str) -> tuple[tuple[RecalledSpan, ...], tuple[Attachment, ...]]:
    """Passages of the added files on the text, for the present model, and pictures to attach."""
    await session.prepare_model()
    context = await asyncio.to_thread(retrieve, session, text)
    if notice := retrieval_notice(context):
        output.narrate(notice)
    return recalled_spans(context), page_attachments(context)


class _Signals:
    """Handles SIGINT and SIGTERM while it is entered. Where that is not supported, asyncio cancels the turn."""

    def __init__(self, runner: HeadlessRunner) -> None:
        self._runner = runner
        self._handled: list[signal.Signals] = []

    def __enter__(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, self._runner.interrupt, number)
                self._handled.append(number)

    def __exit__(self, *_: object) -> None:
        self._runner.close()
        loop = asyncio.get_running_loop()
        for number in self._handled:
            with suppress(RuntimeError):
                loop.remove_signal_handler(number)


class _WaitingNotice:
    """Writes one notice to stderr where a request was sent and nothing has come back for a while."""

    def __init__(self) -> None:
        self._timer: asyncio.TimerHandle | None = None
        self._is_written = False
        self._progress = PromptProgress()

    def take(self, event: SessionEvent) -> None:
        match event:
            case events.ContextReady(unread=unread, tokens_per_second=speed):
                self.end()
                self._progress.begin(unread, speed)
                if not self._is_written:
                    self._timer = asyncio.get_running_loop().call_later(NOTICE_AFTER_S, self._write_notice)
            case events.Prefill(done=done, total=total):
                self._progress.take(done, total)
            case events.ModelConnected():  # no word yet
                pass
            case _:
                self.end()

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _write_notice(self) -> None:
        self._is_written = True
        known = "the server reports no progress"
        if figures := self._progress.figures:
            unread = f"the prompt has {figures} to read"
            read = f"the server has read {figures} tokens" if self._progress.has_read else unread
            known = f"{unread}; {known}"
            if self._progress.is_reported:
                known = ", ".join(filter(None, (read, self._progress.left())))
        output.narrate(f"No output for {NOTICE_AFTER_S:g} s; {known}. Ctrl+C stops.")
