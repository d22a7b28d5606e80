"""A turn without a screen: the answer, one object, or a line an event on standard output; narration on stderr."""

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
from agent.services.attachments import attachments_of
from agent.session import Session
from context import Attachment
from context.report import ContextReport
from foundation.errors import PalimpsestError
from models.messages import RecalledSpan, Usage

INTERRUPTED = 130
PATIENCE = 10.0  # seconds without a word, after which a person is told what is going on


class AnswerFailed(PalimpsestError):
    """The turn did not end with an answer."""

    code = "answer"


class TurnOutput(Protocol):
    """How a turn is shown."""

    def event(self, event: SessionEvent) -> None: ...

    def result(self, result: dict[str, Any]) -> None: ...

    def failed(self, error: dict[str, Any]) -> None: ...


async def answer(
    open_session: Callable[[], Awaitable[Session]],
    text: str,
    form: str,
    *,
    here: Path | None = None,
    naming: str | None = None,
    knowledge: bool = False,
) -> int:
    """Sends `text` and shows what comes as `text`, `json` or `stream-json`; gives the exit status.

    Files that `naming` (without it, `text`) mentions with @ go along; their names begin at `here`. With `knowledge` the
    answer is from the files that were added.

    A slash command is run instead. Nobody is there to be asked, so tools that ask are declined.
    """
    session = await open_session()
    status = 0

    async def handle(message: QueuedMessage) -> bool:
        nonlocal status
        text, skill, mentions = message.text, message.skill, naming
        if is_command(text):
            outcome = await run_command(session, text, form)
            if isinstance(outcome, int):
                status = outcome
                return True
            mentions = text = outcome.text
            skill = outcome.skill
        files = attachments_of(text if mentions is None else mentions, here or Path.cwd())
        if files:
            output.say(f"With {', '.join(file.name for file in files)}")
        brought = None
        if knowledge:
            brought, pictures = await _from_knowledge(session, text)
            files = [*files, *pictures]
        status = await _turn(session, HeadlessMessage(text, files, skill, brought), _face(form))
        return status == 0

    queue = MessageQueue()
    queue.add(text)
    try:
        if mismatch := await session.model_mismatch():
            output.say(mismatch)
        await queue.drain(handle)
    finally:
        await session.close()
    return status


class HeadlessMessage(NamedTuple):
    """What `Session.send` takes."""

    text: str
    files: Sequence[Attachment]
    skill: str
    brought: tuple[RecalledSpan, ...] | None


async def _from_knowledge(session: Session, text: str) -> tuple[tuple[RecalledSpan, ...], tuple[Attachment, ...]]:
    """What knowledge has on the text, for the model in use."""
    from agent.services import knowledge as knowing

    await session.prepare_model()
    found = await asyncio.to_thread(knowing.retrieve, session, text)
    if told := knowing.retrieval_notice(found):
        output.say(told)
    return knowing.recalled_spans(found), knowing.page_attachments(found)


async def _turn(session: Session, sending: HeadlessMessage, face: TurnOutput) -> int:
    told = _TurnTotals()
    waiting = _WaitingNotice()
    stopping = _stop_on_interrupt(session)
    # Closed here whatever happens: a reader of ours that left ends the turn before the store is closed.
    try:
        async with aclosing(session.send(*sending)) as stream:
            async for event in stream:
                told.take(event)
                waiting.take(event)
                if isinstance(event, events.PermissionRequested):
                    output.say(f"Declined, because nobody can be asked: {event.summary}")
                    event.somebody = False
                    event.answer.set_result(False)
                    continue
                face.event(event)
    finally:
        waiting.end()
        stopping()
    if told.failure is not None:
        face.failed(told.failure.as_json())
        return 1
    face.result(told.result(session.profile.spec))
    return INTERRUPTED if told.stopped else 0


class _WaitingNotice:
    """A word on stderr, once, where a request was sent and nothing has come back for a while."""

    def __init__(self) -> None:
        self._timer: asyncio.TimerHandle | None = None
        self._said = False

    def take(self, event: SessionEvent) -> None:
        match event:
            case events.ContextReady():
                self.end()
                if not self._said:
                    self._timer = asyncio.get_running_loop().call_later(PATIENCE, self._say)
            case events.Prefill():
                pass
            case _:
                self.end()

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _say(self) -> None:
        self._said = True
        output.say("The model is still reading the prompt; no word has come yet. Ctrl+C stops it.")


class _TurnTotals:
    """What the events of a turn add up to."""

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
        """The last line of stream-json, which is also what json prints."""
        return {
            "type": "result",
            "text": self._text,
            "conversation": self._conversation,
            "entry": self._entry,
            "usage": usage(self._usage),
            "model": self._model or spec,
            "stopped": self.stopped,
            "recalled": [recalled(part) for part in self._recalled],
            "context": _without_words(self._report) if self._report else {},
        }


class _AsText:
    """The answer as it comes."""

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
            output.say("Stopped. What came is kept.")

    def failed(self, error: dict[str, Any]) -> None:
        self._end_line()
        output.error(_error_of(error), as_data=False)

    def _end_line(self) -> None:
        if self._open:
            output.line()
            self._open = False


class _AsJson:
    """One object at the end."""

    def event(self, event: SessionEvent) -> None:
        narrate(event)

    def result(self, result: dict[str, Any]) -> None:
        output.json_object(result)

    def failed(self, error: dict[str, Any]) -> None:
        output.json_object({"error": error})


class _AsStream(_AsJson):
    """A line an event."""

    def event(self, event: SessionEvent) -> None:
        line = as_line(event)
        if line is None:
            narrate(event)
        else:
            output.json_object(line)
            sys.stdout.flush()

    def failed(self, error: dict[str, Any]) -> None:
        output.json_object({"type": "error", "error": error})


def _face(form: str) -> TurnOutput:
    faces: dict[str, type[_AsText] | type[_AsJson]] = {"text": _AsText, "json": _AsJson, "stream-json": _AsStream}
    return faces[form]()


def as_line(event: SessionEvent) -> dict[str, Any] | None:
    """The event as stream-json shows it; None for what is narration, and for what the last line says."""
    match event:
        case events.UserStored(conversation=conversation, entry=entry):
            return {"type": "user", "entry": entry, "conversation": conversation}
        case events.TextDelta(text=text) | events.ReasoningDelta(text=text):
            return {"type": "text" if isinstance(event, events.TextDelta) else "reasoning", "text": text}
        case events.ToolStarted(call=call):
            return {"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments}
        case events.ToolFinished(call=call, shown=shown, chars=chars, failed=failed, entry=entry):
            about = {"id": call.id, "name": call.name, "chars": chars, "failed": failed, "entry": entry}
            return {"type": "tool_result", **about, "text": shown}
        case events.UsageKnown(usage=known, seconds=seconds, tokens_per_second=speed):
            figures = {"seconds": round(seconds, 3), "tokens_per_second": round(speed, 1)}
            return {"type": "usage", **usage(known), **figures}
        case _:
            return None


def narrate(event: SessionEvent) -> None:
    """What a person should know beside the answer."""
    match event:
        case events.Notice(text=text):
            output.say(text)
        case events.WordsHidden():
            output.say(event.text)
        case events.Compacted(receipt=receipt):
            output.say(receipt.text)
        case events.ToolStarted(summary=summary):
            output.say(f"Tool: {summary}")
        case _:
            pass


def usage(known: Usage) -> dict[str, Any]:
    """Tokens, as JSON shows them."""
    return {
        "prompt_tokens": known.prompt_tokens,
        "completion_tokens": known.completion_tokens,
        "cached_tokens": known.cached_tokens,
        "estimated": known.estimated,
    }


def recalled(part: RecalledSpan) -> dict[str, Any]:
    """A recalled passage, as JSON shows it."""
    return {
        "ref": part.citation.ref,
        "citation": str(part.citation),
        "title": part.citation.title,
        "place": part.citation.place,
        "conversation": part.citation.conversation,
        "time": part.time,
        "trust": part.trust.value,
        "score": part.score,
        "text": part.text,
    }


def _without_words(report: ContextReport) -> dict[str, Any]:
    """The figures of the request; its messages are what `palimpsest context` is for."""
    return {key: value for key, value in msgspec.to_builtins(report).items() if key != "messages"}


def _error_of(error: dict[str, Any]) -> PalimpsestError:
    return AnswerFailed(error["title"], error["message"], error["hint"])


def _stop_on_interrupt(session: Session) -> Callable[[], None]:
    """Ctrl+C stops the answer and keeps what came; gives what undoes this. Without signals asyncio cancels the turn."""
    loop = asyncio.get_running_loop()
    try:
        loop.add_signal_handler(signal.SIGINT, session.stop)
    except (NotImplementedError, RuntimeError, ValueError):
        return lambda: None

    def undo() -> None:
        with suppress(RuntimeError):
            loop.remove_signal_handler(signal.SIGINT)

    return undo
