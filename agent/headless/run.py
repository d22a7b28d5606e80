"""A turn without a screen: prints the answer, one object, or an event per line; narration goes to stderr."""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec

from agent import events
from agent.cli import output
from agent.events import SessionEvent
from agent.headless.commands import is_command, run_command
from agent.message_queue import MessageQueue, QueuedMessage
from agent.permissions.action import PermissionAnswer
from agent.services.attachments import attachments_of
from agent.services.knowledge import page_attachments, recalled_spans, retrieval_notice, retrieve
from agent.session import Session
from context import Attachment
from context.report import ContextReport
from foundation.errors import PalimpsestError
from models.messages import RecalledSpan, Usage

INTERRUPTED = 130
NOTICE_AFTER_S = 10.0  # seconds without any output, after which a notice is written


class AnswerFailed(PalimpsestError):
    """The turn did not end with an answer."""

    code = "answer"


class TurnOutput(Protocol):
    """The output format of a turn."""

    def event(self, event: SessionEvent) -> None: ...

    def result(self, result: dict[str, Any]) -> None: ...

    def failed(self, error: dict[str, Any]) -> None: ...


async def answer(
    open_session: Callable[[], Awaitable[Session]],
    text: str,
    form: str,
    *,
    here: Path | None = None,
    mentions: str | None = None,
    piped: str = "",
    knowledge: bool = False,
) -> int:
    """Sends `text` and prints the answer in `form` (`text`, `json` or `stream-json`); gives the exit status.

    Files that `mentions` (by default `text`) names with @ are attached; relative names are resolved in `here`. `piped`
    is the part of `text` that came from standard input. With `knowledge` the answer is from the added files.

    A slash command is run instead of sent. Nobody can be asked, so tools that need permission are declined.
    """
    session = await open_session()
    status = 0

    async def handle(message: QueuedMessage) -> bool:
        nonlocal status
        text, skill, mention_text = message.text, message.skill, mentions
        if is_command(text):
            outcome = await run_command(session, text, form)
            if isinstance(outcome, int):
                status = outcome
                return True
            mention_text = text = outcome.text
            skill = outcome.skill
        files = attachments_of(text if mention_text is None else mention_text, here or Path.cwd())
        if files:
            output.narrate(f"With {', '.join(file.name for file in files)}")
        recalled_parts = None
        if knowledge:
            recalled_parts, pictures = await _from_knowledge(session, text)
            files = [*files, *pictures]
        status = await _turn(
            session, HeadlessMessage(text, files, skill, recalled_parts, (piped,) if piped else ()), _output_for(form)
        )
        return status == 0

    queue = MessageQueue()
    queue.add(text)
    try:
        if notice := await session.restore_model():
            output.narrate(notice)
        await queue.drain(handle)
    finally:
        await session.close()
    return status


class HeadlessMessage(NamedTuple):
    """The arguments of `Session.send`."""

    text: str
    files: Sequence[Attachment]
    skill: str
    recalled: tuple[RecalledSpan, ...] | None
    pastes: tuple[str, ...] = ()


async def _from_knowledge(session: Session, text: str) -> tuple[tuple[RecalledSpan, ...], tuple[Attachment, ...]]:
    """Passages of the added files on the text, for the present model, and pictures to attach."""
    await session.prepare_model()
    context = await asyncio.to_thread(retrieve, session, text)
    if notice := retrieval_notice(context):
        output.narrate(notice)
    return recalled_spans(context), page_attachments(context)


async def _turn(session: Session, message: HeadlessMessage, turn_output: TurnOutput) -> int:
    totals = _TurnTotals()
    waiting = _WaitingNotice()
    restore = _stop_on_interrupt(session)
    # Always closed here: a closed pipe must end the turn before the store is closed.
    try:
        async with aclosing(session.send(*message)) as stream:
            async for event in stream:
                totals.take(event)
                waiting.take(event)
                if isinstance(event, events.PermissionRequested):
                    output.narrate(f"Declined, because nobody can be asked: {event.action.summary}")
                    event.answer.set_result(PermissionAnswer(False, attended=False))
                    continue
                if isinstance(event, events.CallLimitReached):
                    event.answer.set_result(PermissionAnswer(False, attended=False))
                    continue
                if isinstance(event, events.QuestionAsked):
                    output.narrate(f"Not answered, because nobody is there: {event.question.text}")
                    event.answer.set_result(None)
                    continue
                turn_output.event(event)
    finally:
        waiting.end()
        restore()
    if totals.failure is not None:
        turn_output.failed(totals.failure.as_json())
        return 1
    turn_output.result(totals.result(session.profile.spec))
    return INTERRUPTED if totals.stopped else 0


class _WaitingNotice:
    """Writes one notice to stderr where a request was sent and nothing has come back for a while."""

    def __init__(self) -> None:
        self._timer: asyncio.TimerHandle | None = None
        self._is_written = False

    def take(self, event: SessionEvent) -> None:
        match event:
            case events.ContextReady():
                self.end()
                if not self._is_written:
                    self._timer = asyncio.get_running_loop().call_later(NOTICE_AFTER_S, self._write_notice)
            case events.Prefill():
                pass
            case _:
                self.end()

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _write_notice(self) -> None:
        self._is_written = True
        output.narrate("The model is still reading the prompt; no word has come yet. Ctrl+C stops it.")


class _TurnTotals:
    """Collects the result of a turn from its events."""

    def __init__(self) -> None:
        self.failure: events.TurnFailed | None = None
        self.stopped = False
        self._conversation = self._entry = self._text = self._model = ""
        self._usage = Usage(estimated=True)
        self._recalled: tuple[RecalledSpan, ...] = ()
        self._report: ContextReport | None = None

    def take(self, event: SessionEvent) -> None:
        match event:
            case events.UserStored(conversation=conversation):
                self._conversation = conversation
            case events.Recall(recalled=recalled):
                self._recalled = recalled
            case events.ContextReady(report=report):
                self._report = report
            case events.AnswerStored(entry=entry, text=text, usage=usage, model=model):
                self._entry, self._text, self._usage, self._model = entry, text, usage, model
            case events.Stopped(entry=entry, text=text):
                self._entry, self._text, self.stopped = entry, text, True
            case events.TurnFailed():
                self.failure = event
            case _:
                pass

    def result(self, spec: str) -> dict[str, Any]:
        """The last line of stream-json, and the only one of json."""
        return {
            "type": "result",
            "text": self._text,
            "conversation": self._conversation,
            "entry": self._entry,
            "usage": usage_object(self._usage),
            "model": self._model or spec,
            "stopped": self.stopped,
            "recalled": [recalled_object(part) for part in self._recalled],
            "context": _without_words(self._report) if self._report else {},
        }


class _AsText:
    """Prints the answer as it streams."""

    def __init__(self) -> None:
        self._open = False

    def event(self, event: SessionEvent) -> None:
        match event:
            case events.TextDelta(text=text):
                output.data(text)
                self._open = not text.endswith("\n")
            case _:
                narrate(event)

    def result(self, result: dict[str, Any]) -> None:
        self._end_line()
        if result["stopped"]:
            output.narrate("Stopped. What came is kept.")

    def failed(self, error: dict[str, Any]) -> None:
        self._end_line()
        output.error(_error_of(error), as_data=False)

    def _end_line(self) -> None:
        if self._open:
            output.line()
            self._open = False


class _AsJson:
    """Prints one object at the end."""

    def event(self, event: SessionEvent) -> None:
        narrate(event)

    def result(self, result: dict[str, Any]) -> None:
        output.json_object(result)

    def failed(self, error: dict[str, Any]) -> None:
        output.json_object({"error": error})


class _AsStream(_AsJson):
    """Prints an event per line."""

    def event(self, event: SessionEvent) -> None:
        line = event_object(event)
        if line is None:
            narrate(event)
        else:
            output.json_object(line)
            sys.stdout.flush()

    def failed(self, error: dict[str, Any]) -> None:
        output.json_object({"type": "error", "error": error})


def _output_for(form: str) -> TurnOutput:
    outputs: dict[str, type[_AsText] | type[_AsJson]] = {"text": _AsText, "json": _AsJson, "stream-json": _AsStream}
    return outputs[form]()


def event_object(event: SessionEvent) -> dict[str, Any] | None:  # noqa: PLR0911 — a line for each event
    """The event as stream-json prints it; None for narration, and for what is in the last line."""
    match event:
        case events.UserStored(conversation=conversation, entry=entry):
            return {"type": "user", "entry": entry, "conversation": conversation}
        case events.TextDelta(text=text) | events.ReasoningDelta(text=text):
            return {"type": "text" if isinstance(event, events.TextDelta) else "reasoning", "text": text}
        case events.ToolStarted(call=call):
            return {"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments}
        case events.PlanUpdated(plan=plan):
            return {"type": "plan", "steps": [{"text": step.text, "state": step.state.value} for step in plan.steps]}
        case events.ToolFinished(call=call, shown=shown, chars=chars, failed=failed, entry=entry):
            fields = {"id": call.id, "name": call.name, "chars": chars, "failed": failed, "entry": entry}
            return {"type": "tool_result", **fields, "text": shown}
        case events.UsageKnown(usage=figures_of, seconds=seconds, tokens_per_second=speed):
            figures = {"seconds": round(seconds, 3), "tokens_per_second": round(speed, 1)}
            return {"type": "usage", **usage_object(figures_of), **figures}
        case _:
            return None


def narrate(event: SessionEvent) -> None:
    """Writes notices about the event to stderr."""
    match event:
        case events.Notice(text=text):
            output.narrate(text)
        case events.Archiving(names=names):
            output.narrate(f"Archiving {', '.join(names)} …")
        case events.WordsHidden() | events.Retrying():
            output.narrate(event.text)
        case events.Summarising():
            output.narrate("Summarising older turns …")
        case events.Compacted(receipt=receipt):
            output.narrate(receipt.text)
        case events.ToolStarted(summary=summary):
            output.narrate(f"Tool: {summary}")
        case _:
            pass


def usage_object(tokens: Usage) -> dict[str, Any]:
    """Token counts as JSON."""
    return {
        "prompt_tokens": tokens.prompt_tokens,
        "completion_tokens": tokens.completion_tokens,
        "cached_tokens": tokens.cached_tokens,
        "estimated": tokens.estimated,
    }


def recalled_object(part: RecalledSpan) -> dict[str, Any]:
    """A recalled passage as JSON."""
    return {
        "ref": part.citation.ref,
        "citation": str(part.citation),
        "title": part.citation.title,
        "place": part.citation.place,
        "conversation": part.citation.conversation,
        "time": part.time,
        "trust": part.trust.value,
        "score": part.score,
        "likelihood": part.likelihood,
        "beside": part.beside,
        "off_branch": part.off_branch,
        "superseded": part.superseded,
        "text": part.text,
    }


def _without_words(report: ContextReport) -> dict[str, Any]:
    """The request's report without its messages, which `palimpsest context` shows."""
    return {key: value for key, value in msgspec.to_builtins(report).items() if key != "messages"}


def _error_of(error: dict[str, Any]) -> PalimpsestError:
    return AnswerFailed(error["title"], error["message"], error["hint"])


def _stop_on_interrupt(session: Session) -> Callable[[], None]:
    """Makes Ctrl+C stop the answer and keep its text; gives a function that undoes this.

    Where signals are not supported, asyncio cancels the turn.
    """
    loop = asyncio.get_running_loop()
    try:
        loop.add_signal_handler(signal.SIGINT, session.stop)
    except (NotImplementedError, RuntimeError, ValueError):
        return lambda: None

    def undo() -> None:
        with suppress(RuntimeError):
            loop.remove_signal_handler(signal.SIGINT)

    return undo
