"""One turn: a message in, events out, everything on disk before it is on screen (DESIGN 3).

The order is the promise: the message is committed, then the request assembled, then the model called; each event of
the answer goes to the recorder before it is yielded.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Protocol

import msgspec

from agent import events
from agent.background.usage import use_cited, use_recalled
from agent.events import SessionEvent
from agent.tools.registry import Toolbox, ToolOutput
from agent.turn.recorder import AnswerRecorder
from context import AssembledRequest, Attachment, Context, Turn
from context.recall.prefetch import Prefetch
from context.report import ContextReport
from foundation.clock import Clock
from foundation.errors import PalimpsestError
from foundation.privacy import EMPTY, Cleared, EchoFilter, clear, cleared_fields, edited, examine, hidden_texts
from memory.memory import Memory
from memory.records import Conversation, Entry, EntryDraft, EntryKind, new_id
from models.chat.port import (
    AnswerEnd,
    AnswerError,
    ChatModel,
    Event,
    PrefillProgress,
    ReasoningChunk,
    StopReason,
    TextChunk,
)
from models.messages import Image, RecalledSpan, Request, Role, ToolCall, Usage, nonces

TITLE_CHARS = 60
_BLOCKS_LEFT_OUT = (
    "{:,} characters of the answer repeat what the program put into the request, tags and all: [injected] stands for "
    "them in what is stored."
)


class TurnContext(Protocol):
    """What a turn works with; the session is one."""

    memory: Memory
    context: Context
    model: ChatModel
    toolbox: Toolbox
    clock: Clock
    conversation: Conversation | None
    report: ContextReport | None
    next_title: str
    hidden: dict[int, tuple[str, ...]]  # RAM alone: what messages of a conversation hid, by its place in the store

    def assemble(self, turn: Turn) -> AssembledRequest: ...

    async def prepare_model(self) -> None: ...


class TurnRun:
    """A turn under way. Iterate `events()` once; `stop()` from anywhere on the loop ends the answer and keeps it."""

    def __init__(
        self,
        desk: TurnContext,
        text: str,
        attachments: Sequence[Attachment],
        skill: str,
        brought: tuple[RecalledSpan, ...] | None = None,
    ) -> None:
        self._desk = desk
        self._text = text
        self._attachments = tuple(attachments)
        self._skill = skill
        self._brought = brought
        self._stopped = False
        self._ahead: Prefetch | None = None
        self._asking: asyncio.Task[None] | None = None  # runs it
        self._pump: asyncio.Task[None] | None = None
        self._assembled: AssembledRequest | None = None
        self._outcome: AnswerEnd | AnswerError | None = None
        self._last: Entry | None = None  # the newest entry of this turn
        self._calls: tuple[ToolCall, ...] = ()
        self._left_out = 0  # calls of the newest answer that were more than the turn may make
        self._calls_made = self._arguments_sent = 0
        self._echoes = EchoFilter()
        self._hidden: events.WordsHidden | None = None
        self._noticed: list[str] = []  # files that this turn has told of

    def stop(self) -> None:
        self._stopped = True
        if self._ahead is not None:
            self._ahead.end()
        if self._pump is not None:
            self._pump.cancel()

    async def events(self) -> AsyncGenerator[SessionEvent, None]:
        try:
            async with aclosing(self._whole_turn()) as whole:
                async for event in whole:
                    yield event
        except PalimpsestError as error:
            yield events.TurnFailed(error.code, error.title, error.message, error.hint)
        except OSError as error:
            yield events.TurnFailed(
                "disk",
                "The disk refused",
                f"{error.strerror or error}: {error.filename or 'the store'}.",
                "What was stored before is safe. Free some space or check the folder's rights, then send it again.",
            )
        finally:
            if self._ahead is not None:
                self._ahead.end()

    async def _ask_ahead(self) -> Prefetch | None:
        """Memory is asked from the first moment on, in a thread that nothing waits for before the request is made."""
        desk = self._desk
        if self._brought is not None:
            return None
        self._ahead = await asyncio.to_thread(desk.context.ask_ahead, desk.conversation, self._text, desk.model.profile)
        if self._ahead is not None:
            self._asking = asyncio.create_task(asyncio.to_thread(self._ahead.run))
        return self._ahead

    async def _whole_turn(self) -> AsyncGenerator[SessionEvent, None]:
        desk = self._desk
        ahead = await self._ask_ahead()
        for notice in await asyncio.to_thread(desk.context.reload, sending=True):
            self._noticed.append(notice.path)
            yield events.Notice(notice.level, str(notice))
        await desk.prepare_model()
        entry = await asyncio.to_thread(self._store_message)
        conversation = self._conversation
        yield events.UserStored(conversation.id, entry.id)
        if self._hidden is not None:
            yield self._hidden
        turn = Turn(
            conversation=conversation,
            leaf=entry.parent,
            entry=entry.seq,
            text=self._text,
            attachments=self._attachments,
            skill=self._skill,
            brought=self._brought,
            ahead=ahead,
        )
        while True:
            async with aclosing(self._assemble(turn, entry)) as assembling:
                async for event in assembling:
                    yield event
            if self._stopped:
                yield events.Stopped(conversation.id, "", "")
                return
            calls: tuple[ToolCall, ...] = ()
            async with aclosing(self._answer()) as answering:
                async for event in answering:
                    if isinstance(event, events.AnswerStored) and self._outcome == AnswerEnd(StopReason.TOOL_CALLS):
                        calls = self._calls
                        continue
                    yield event
            async with aclosing(self._run_tools(calls)) as running:
                async for event in running:
                    yield event
            if self._left_out:
                yield _too_many_calls(desk.toolbox, self._calls_made, self._left_out)
                return
            if not calls:
                return
            turn = Turn(conversation=conversation, leaf=self._newest.seq, continuing=True)
            entry = None

    def _store_message(self) -> Entry:
        desk = self._desk
        findings = examine(self._text)
        said = findings.cleared
        if findings.unclosed or findings.injected:
            self._hidden = events.WordsHidden(findings.unclosed, findings.injected)
        if desk.conversation is None:
            desk.conversation = desk.memory.cold.new_conversation(clear(desk.next_title) or _title(said))
            desk.next_title = ""
        hidden = (*desk.hidden.get(desk.conversation.seq, ()), *hidden_texts(self._text))
        if hidden:  # kept as long as requests carry the words: for the session
            desk.hidden[desk.conversation.seq] = tuple(dict.fromkeys(hidden))
            self._echoes = EchoFilter(hidden)
        meta = {"attachments": [a.name for a in self._attachments]} if self._attachments else {}
        # The leaf is read anew: another process may have gone on with this conversation.
        desk.conversation = desk.memory.cold.conversation_at(desk.conversation.seq)
        entry = desk.memory.cold.append(
            EntryDraft(
                conversation=desk.conversation.seq,
                parent=desk.conversation.leaf,
                kind=EntryKind.MESSAGE,
                role=Role.USER,
                text=said,
                meta=cleared_fields(meta),
            )
        )
        self._last = entry
        return entry

    async def _assemble(self, turn: Turn, entry: Entry | None) -> AsyncGenerator[SessionEvent, None]:
        """The request, after compaction where it would not fit. `entry` is the message's, None when continuing."""
        desk = self._desk
        assembled = await asyncio.to_thread(desk.assemble, turn)
        if assembled.compaction is not None:
            receipt = await asyncio.to_thread(desk.context.compact, assembled.compaction, desk.model.counter)
            yield events.Compacted(receipt)
            self._last = await asyncio.to_thread(desk.memory.cold.entry, receipt.summary_seq)
            turn = msgspec.structs.replace(turn, leaf=receipt.summary_seq)
            assembled = await asyncio.to_thread(desk.assemble, turn)
        self._assembled = assembled
        self._echoes = self._echoes.sealing(nonces(assembled.request))
        await asyncio.to_thread(desk.context.record, self._conversation, entry, assembled)
        if assembled.epoch_changed and not any(path and path in assembled.epoch_changed for path in self._noticed):
            yield events.EpochChanged(assembled.epoch_changed)
        for notice in assembled.notices:
            yield events.Notice(notice.level, str(notice))
        for trouble in desk.memory.vault.troubles():
            yield events.Notice("warning", trouble)
        if not turn.continuing:
            if turn.brought is None:
                await asyncio.to_thread(use_recalled, desk.memory, assembled.recalled)
            yield events.Recall(assembled.recalled)
        desk.report = assembled.report
        yield events.ContextReady(assembled.report)

    async def _answer(self) -> AsyncGenerator[SessionEvent, None]:
        recorder = await asyncio.to_thread(self._begin)
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self._outcome = None
        self._pump = asyncio.create_task(self._record(recorder, queue.put_nowait))
        try:
            while (event := await queue.get()) is not None:
                if shown := _shown(event):
                    yield shown
            await _ended(self._pump)
            async with aclosing(self._settle(recorder)) as settling:
                async for event in settling:
                    yield event
        finally:
            self._pump.cancel()
            if not recorder.settled:
                await asyncio.to_thread(recorder.abandon, stopped=True)

    async def _record(self, recorder: AnswerRecorder, show: Callable[[Event | None], None]) -> None:
        assert self._assembled is not None
        async with aclosing(self._desk.model.stream(self._assembled.request)) as stream:
            try:
                if self._stopped:
                    return
                async for event in stream:
                    recorder.take(event)
                    if isinstance(event, AnswerEnd | AnswerError):
                        self._outcome = event
                    show(event)
            finally:
                show(None)

    async def _settle(self, recorder: AnswerRecorder) -> AsyncGenerator[SessionEvent, None]:
        usage = recorder.usage = self._usage(recorder)
        name, conversation = self._desk.model.profile.name, self._conversation
        if injected := self._echoes.injected(recorder.text):
            yield events.Notice("warning", _BLOCKS_LEFT_OUT.format(injected))
        match self._outcome:
            case AnswerEnd(reason=StopReason.CANCELLED) | None:
                kept = await asyncio.to_thread(recorder.abandon, stopped=True)
                self._last = kept or self._last
                yield events.Stopped(conversation.id, kept.id if kept else "", recorder.text)
            case AnswerEnd(reason=reason):
                self._last = stored = await asyncio.to_thread(recorder.finish, reason=reason.value)
                self._calls, self._left_out = recorder.calls, recorder.left_out
                self._calls_made += len(recorder.calls)
                self._arguments_sent += recorder.arguments
                recalled = self._assembled.recalled if self._assembled else ()
                await asyncio.to_thread(use_cited, self._desk.memory, recorder.text, recalled)
                yield events.UsageKnown(usage, recorder.seconds, recorder.tokens_per_second)
                yield events.AnswerStored(conversation.id, stored.id, recorder.text, usage, name, reason.value)
            case AnswerError(code=code, title=title, message=message, hint=hint):
                kept = await asyncio.to_thread(recorder.abandon, failed=code)
                yield events.TurnFailed(code, title, message, hint, kept.id if kept else "", recorder.text)

    def _usage(self, recorder: AnswerRecorder) -> Usage:
        """As the server counted; where it did not say, as we estimate, and said so."""
        assert self._assembled is not None
        counter, counted = self._desk.model.counter, self._assembled.report.total_tokens
        if recorder.usage.prompt_tokens and not recorder.usage.estimated:
            learn = getattr(counter, "learn", None)
            if learn is not None and not _has_image(self._assembled.request):
                learn(counted, recorder.usage.prompt_tokens)
            return recorder.usage
        return Usage(prompt_tokens=counted, completion_tokens=counter.count(recorder.text), estimated=True)

    def _begin(self) -> AnswerRecorder:
        profile = self._desk.model.profile
        draft = EntryDraft(
            conversation=self._conversation.seq,
            parent=self._newest.seq,
            kind=EntryKind.MESSAGE,
            role=Role.ASSISTANT,
            speaker=clear(profile.name),
            text=EMPTY,
        )
        box = self._desk.toolbox
        return AnswerRecorder(
            self._desk.memory.cold.begin_answer(draft),
            profile.name,
            calls=box.settings.most_calls - self._calls_made,
            arguments=box.most_arguments - self._arguments_sent,
            echoes=self._echoes,
        )

    async def _run_tools(self, calls: Sequence[ToolCall]) -> AsyncGenerator[SessionEvent, None]:
        box = self._desk.toolbox
        for asked_for in calls:
            call = asked_for
            if self._echoes and box.keeps(call):  # what it writes, and what the person agrees to
                call = msgspec.structs.replace(call, arguments=self._echoes.json(call.arguments))
            summary, result_id = box.summary(call), new_id("e")
            allowed = somebody = True
            if box.asks(call) and not self._stopped:
                asked = events.PermissionRequested(call, summary, asyncio.get_running_loop().create_future())
                yield asked
                allowed, somebody = await asked.answer, asked.somebody
            yield events.ToolStarted(call, summary)
            if allowed and not self._stopped:
                output = await asyncio.to_thread(box.run, call, result_id)
            else:
                output = box.declined(call, asked=somebody)
            self._last = entry = await asyncio.to_thread(self._store_result, call, output, result_id)
            yield events.ToolFinished(call, output.shown, len(output.whole), output.failed, entry.id)

    def _store_result(self, call: ToolCall, output: ToolOutput, result_id: Cleared) -> Entry:
        whole = self._echoes.result(output.whole)
        meta: dict[str, object] = {"call_id": call.id, "name": call.name, "failed": output.failed}
        if output.shown != output.whole:
            meta["shown"] = output.shown
        return self._desk.memory.cold.append(
            EntryDraft(
                conversation=self._conversation.seq,
                parent=self._newest.seq,
                kind=EntryKind.TOOL_RESULT,
                role=Role.TOOL,
                speaker=clear(call.name),
                text=whole,
                id=result_id,
                meta=self._echoes.fields(meta),
            )
        )

    @property
    def _conversation(self) -> Conversation:
        assert self._desk.conversation is not None
        return self._desk.conversation

    @property
    def _newest(self) -> Entry:
        assert self._last is not None
        return self._last


def _too_many_calls(box: Toolbox, made: int, left_out: int) -> events.TurnFailed:
    asked = made + left_out
    if made >= box.settings.most_calls:
        limit, setting = f"{box.settings.most_calls:,} are the most (tools.most_calls)", "tools.most_calls"
    else:
        limit = f"{box.most_arguments:,} characters of arguments are the most (models.limits.arguments_mb)"
        setting = "models.limits.arguments_mb"
    return events.TurnFailed(
        "too_many_calls",
        "Too many tool calls",
        f"The model asked for {asked:,} tool calls in one turn and {made:,} were made: {limit}.",
        f"Say what you want done next, or raise {setting} in the configuration.",
    )


def _shown(event: Event) -> SessionEvent | None:
    match event:
        case TextChunk(text=text):
            return events.TextDelta(text)
        case ReasoningChunk(text=text):
            return events.ReasoningDelta(text)
        case PrefillProgress(done=done, total=total):
            return events.Prefill(done, total)
        case _:
            return None


async def _ended(task: asyncio.Task[None]) -> None:
    """Waits for the task; a cancelled one has ended too."""
    await asyncio.wait([task])
    if not task.cancelled() and (error := task.exception()):
        raise error


def _has_image(request: Request) -> bool:
    return any(isinstance(part, Image) for message in request.messages for part in message.parts)


def _title(said: Cleared) -> Cleared:
    """The message's first line, cut at a word."""
    return edited(said, _first_line)


def _first_line(said: str) -> str:
    line = " ".join(said.split("\n", 1)[0].split())
    return line if len(line) <= TITLE_CHARS else line[:TITLE_CHARS].rsplit(" ", 1)[0] + "…"
