"""One turn: a message in, events out, everything on disk before it is on screen.

A turn is a function of its ports. The store is its first subscriber: it is called for every step, off the event loop,
and the turn yields an event only after the store has returned. Text is recorded as it streams, however slowly the face
reads its events.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

from msgspec.structs import replace

from agent import events
from agent.events import ContextOverflowed, SessionEvent
from agent.permissions.action import PermissionAnswer
from agent.turn.automatic_compaction import AutomaticCompaction
from agent.turn.call_limits import REPEATS_ASKED, mistaken_calls, too_many_calls, too_many_repeats
from agent.turn.failure import ended, turn_failure
from agent.turn.forgetting_watch import ForgettingWatch
from agent.turn.large_message import LargeMessage
from agent.turn.model_events import session_event
from agent.turn.overflow import OVERFLOW, OverflowRetry
from agent.turn.ports import TurnInput, TurnPorts
from agent.turn.recorder import AnswerRecorder
from agent.turn.steering import Steering
from agent.turn.storage_notices import StorageNotices
from agent.turn.tool_calls import NO_MORE_CALLS, ToolCalls
from context import AssembledRequest, Turn
from context.notice import FileNotice
from context.recall.prefetch import Prefetch
from context.working_set.receipt import REDUCED
from foundation.errors import PalimpsestError
from models.chat.port import AnswerEnd, AnswerError, CallProgress, Event, StopReason
from models.messages import ToolCall
from models.recalled import by_relevance


class TurnRun:
    """A turn under way. Iterate `events()` once; `stop()` from anywhere on the loop ends the answer and keeps it."""

    def __init__(self, ports: TurnPorts, message: TurnInput) -> None:
        self._ports = ports
        self._message = message
        self._stopped = False
        self._prefetch: Prefetch | None = None
        self._searching: asyncio.Task[None] | None = None  # runs the prefetch
        self._pump: asyncio.Task[None] | None = None
        self._assembled: AssembledRequest | None = None
        self._outcome: AnswerEnd | AnswerError | None = None
        self._calls_made = self._arguments_sent = 0
        self._most_calls = min(ports.tools.settings.most_calls, ports.budget.calls_left)
        self._question: asyncio.Future[PermissionAnswer] | None = None  # whether it may go on past a limit
        self._is_over = False
        self._is_rejected = False  # the newest request: it is sent once more
        self._hook_text = ""  # what hooks add to the message
        self._is_message_stored = False
        self._reloaded: list[str] = []  # files that this turn reported as changed
        self._overflow = OverflowRetry(ports.context_settings)
        self._compaction = AutomaticCompaction(ports, lambda: self._stopped)
        self._forgetting = ForgettingWatch(ports.forgettings, lambda: self._stopped)
        self._steering = steering = Steering(ports.steering, self._cancel_answer)
        self._tool_calls = ToolCalls(ports.tools, ports.store, ports.permissions, ports.hooks, lambda: steering.waits)

    def stop(self) -> None:
        self._stopped = True
        self._tool_calls.stop()
        if self._question is not None and not self._question.done():
            self._question.set_result(PermissionAnswer(False))
        if self._prefetch is not None:
            self._prefetch.end()
        self._cancel_answer()
        if self._ports.summaries is not None:
            self._ports.summaries.stop()

    def steer(self) -> None:
        """Takes a message that waits at the steering port, at once where the model only writes text."""
        self._steering.steer()

    def _cancel_answer(self) -> None:
        if self._pump:
            self._pump.cancel()

    async def events(self) -> AsyncGenerator[SessionEvent, None]:
        try:
            async with aclosing(self._steps()) as steps:
                async for event in steps:
                    yield event
        except (PalimpsestError, OSError) as error:
            yield turn_failure(error, is_message_stored=self._is_message_stored)
        finally:
            if self._prefetch is not None:
                self._prefetch.end()

    async def _steps(self) -> AsyncGenerator[SessionEvent, None]:
        while not self._is_over:  # once for the message that begins the turn, and for each that steers it
            async with aclosing(self._begin()) as steps:
                async for event in steps:
                    yield event
            if self._stopped:
                yield events.Stopped(self._ports.store.conversation.id, "", "")
                return
            async with aclosing(self._rounds(self._message_turn())) as steps:
                async for event in steps:
                    yield event

    async def _rounds(self, turn: Turn) -> AsyncGenerator[SessionEvent, None]:
        """Requests and the calls of their answers, until the turn is over or a message steers it."""
        store = self._ports.store
        while True:
            async with aclosing(self._request(turn)) as steps:
                async for event in steps:
                    yield event
            if self._stopped:
                break
            recorder = await asyncio.to_thread(store.begin_answer, *self._limits)
            async with aclosing(self._answer(recorder)) as steps:
                async for event in steps:
                    yield event
            if self._is_rejected:  # the same request, smaller
                turn = self._compaction.turn
                continue
            if not self._steering.is_cut:
                async with aclosing(self._run_calls(recorder)) as steps:
                    async for event in steps:
                        yield event
                if self._is_over:
                    return
            if not self._stopped and (message := await self._steering.take()):
                self._message = message
                return
            if self._steering.is_cut:  # the message was taken back meanwhile
                break
            turn = Turn(conversation=store.conversation, leaf=store.newest.seq, continuing=True)
        self._is_over = True
        yield events.Stopped(store.conversation.id, "", "")

    async def _run_calls(self, recorder: AnswerRecorder) -> AsyncGenerator[SessionEvent, None]:
        """Runs the tool calls of the answer. More than the turn may make ask first; `_is_over` is set at its end."""
        calls = recorder.calls if self._calls_tools else ()
        skipped = recorder.skipped_calls if self._calls_tools else 0
        self._is_over = not calls and not skipped
        if self._is_over:
            return
        if calls and self._calls_made + len(calls) > self._most_calls:
            async with aclosing(self._ask_for_more_calls(calls, skipped)) as steps:
                async for event in steps:
                    yield event
            if self._is_over:
                return
        self._calls_made += len(calls)
        self._ports.budget.take_calls(len(calls))
        async with aclosing(self._tool_calls.run(calls, self._offered_names)) as steps:
            async for event in steps:
                yield event
        if self._tool_calls.gave_up:
            self._is_over = True
            in_text = self._ports.model.profile.text_tools
            yield mistaken_calls(self._tool_calls.gave_up, self._tool_calls.unknown_tool, in_text=in_text)
            return
        if self._tool_calls.repeated.is_at_limit:
            async with aclosing(self._ask_for_more_repeats()) as steps:
                async for event in steps:
                    yield event
        if not skipped or self._is_over:
            return
        if calls and self._calls_made >= self._most_calls:
            async with aclosing(self._ask_for_more_calls((), skipped)) as steps:
                async for event in steps:
                    yield event
            return
        self._is_over = True
        yield too_many_calls(self._ports.tools, self._calls_made, skipped)

    async def _ask_for_more_calls(self, calls: Sequence[ToolCall], skipped: int) -> AsyncGenerator[SessionEvent, None]:
        """Asks whether the turn may make as many calls again; if not, refuses `calls` and ends the turn."""
        more, store = self._ports.tools.settings.most_calls, self._ports.store
        self._question = asyncio.get_running_loop().create_future()
        yield events.CallLimitReached(self._calls_made, more, self._question)
        answer = await self._question
        if answer.granted and not self._stopped:
            self._most_calls += more
            return
        self._is_over = True
        async with aclosing(self._tool_calls.refuse(calls, NO_MORE_CALLS)) as steps:
            async for event in steps:
                yield event
        if answer.attended:
            yield events.Stopped(store.conversation.id, "", "")
        else:
            yield too_many_calls(self._ports.tools, self._calls_made, len(calls) + skipped)

    async def _ask_for_more_repeats(self) -> AsyncGenerator[SessionEvent, None]:
        """Asks whether the model may go on though it repeats one call; if not, ends the turn."""
        repeated = self._tool_calls.repeated
        self._question = asyncio.get_running_loop().create_future()
        yield events.CallLimitReached(repeated.count, REPEATS_ASKED, self._question, repeated.tool)
        answer = await self._question
        if answer.granted and not self._stopped:
            repeated.allow_more()
            return
        self._is_over = True
        if answer.attended:
            yield events.Stopped(self._ports.store.conversation.id, "", "")
        else:
            yield too_many_repeats(repeated)

    async def _begin(self) -> AsyncGenerator[SessionEvent, None]:
        """Stores the message and begins its memory search. What is too large for the window is archived first."""
        ports, self._is_message_stored = self._ports, False
        await self._forgetting.look()
        if ports.hooks:
            self._hook_text = await asyncio.to_thread(ports.hooks.before_message, self._message.text)
            for notice in self._hook_notices():
                yield notice
        if not self._message.may_be_large:
            await self._begin_prefetch()
        for notice in await asyncio.to_thread(ports.reload):
            self._reloaded.append(notice.path)
            yield events.Notice(notice.level, str(notice))
        if self._message.may_be_large:
            await ports.prepare()
            large = LargeMessage(ports.large_texts, self._message, lambda: self._stopped)
            async with aclosing(large.archive()) as steps:
                async for event in steps:
                    yield event
            self._message = large.message
            await self._begin_prefetch()  # its search finds what was just archived
        stored = await asyncio.to_thread(ports.store.message, self._message)
        self._is_message_stored = True
        for event in stored:
            yield event
        if ports.hooks:
            ports.hooks.note_conversation(ports.store.conversation.id)
        await ports.prepare()
        for sentence in await ports.refresh_tools(lambda: self._stopped):
            yield events.Notice("info", sentence)

    @property
    def _offered_names(self) -> frozenset[str]:
        tools = self._assembled.request.tools if self._assembled else ()
        return frozenset(tool.name for tool in tools)

    @property
    def _limits(self) -> tuple[int, int]:
        """The tool calls that the next answer may make, and the characters of their arguments.

        Where the turn may make none, as many as it may make if the person agrees.
        """
        tools = self._ports.tools
        calls = self._most_calls - self._calls_made or tools.settings.most_calls
        return calls, tools.most_arguments - self._arguments_sent

    @property
    def _calls_tools(self) -> bool:
        """Whether the newest answer ended with tool calls."""
        return self._outcome == AnswerEnd(StopReason.TOOL_CALLS)

    async def _begin_prefetch(self) -> None:
        """Begins the search for what the message recalls; it runs while the message is stored."""
        if self._message.brought is not None:
            return
        self._prefetch = await asyncio.to_thread(self._ports.prefetch, self._message.text)
        if self._prefetch is not None:
            self._searching = asyncio.create_task(asyncio.to_thread(self._prefetch.run))

    def _message_turn(self) -> Turn:
        message, store = self._message, self._ports.store
        return Turn(
            conversation=store.conversation,
            leaf=store.newest.parent,
            entry=store.newest.seq,
            text=message.text,
            attachments=message.attachments,
            skill=message.skill,
            brought=message.brought,
            hook_text=self._hook_text,
            prefetch=self._prefetch,
            steers=message.steers,
            notes=tuple(self._ports.notes()),
        )

    async def _assemble(self, turn: Turn) -> AsyncGenerator[SessionEvent, None]:
        """Assembles the request, after the compaction that it needs, and asks where it would pass a limit."""
        ports = self._ports
        while True:
            if await self._forgetting.settle() and turn.prefetch is not None:
                await self._begin_prefetch()
                turn = replace(turn, prefetch=self._prefetch)
            async with aclosing(self._compaction.run(turn, self._overflow.take_rejected())) as steps:
                async for event in steps:
                    yield event
            if (assembled := self._compaction.assembled) is None or self._stopped:
                return
            turn, tokens = self._compaction.turn, assembled.report.total_tokens
            while limit := await asyncio.to_thread(ports.budget.reached, ports.model.profile, tokens):
                self._question = asyncio.get_running_loop().create_future()
                yield events.SpendingLimitReached(limit, self._question)
                if self._stopped or not (await self._question).granted:
                    self._stopped = True
                    return
                ports.budget.lift(limit)
            if not await self._forgetting.is_outdated():
                return

    async def _request(self, turn: Turn) -> AsyncGenerator[SessionEvent, None]:
        """Assembles and records the request."""
        ports, store = self._ports, self._ports.store
        async with aclosing(self._assemble(turn)) as steps:
            async for event in steps:
                yield event
        if (assembled := self._compaction.assembled) is None or self._stopped:
            return
        turn = self._compaction.turn
        slot = await asyncio.to_thread(store.request, assembled, turn)
        self._assembled = replace(assembled, request=replace(assembled.request, cache_slot=slot))
        reason = assembled.epoch_changed
        if reason and reason != REDUCED and not any(path and path in reason for path in self._reloaded):
            yield events.EpochChanged(reason)
        if assembled.reduction:
            yield events.ResultsReduced(assembled.reduction)
        allowed = self._tool_calls.use_skill(assembled.skill) if assembled.skill else ()
        for notice in (*assembled.notices, *(FileNotice("info", sentence) for sentence in allowed)):
            yield events.Notice(notice.level, str(notice))
        for notice in self._hook_notices():
            yield notice
        for warning in ports.warnings():
            yield events.Notice("warning", warning)
        if not turn.continuing:
            yield events.Recall(by_relevance(assembled.recalled))
        yield events.ContextReady(assembled.report)

    async def _answer(self, recorder: AnswerRecorder) -> AsyncGenerator[SessionEvent, None]:
        """Streams the answer; one with tool calls has no AnswerStored, because the turn continues."""
        assert self._assembled is not None
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self._outcome, storage = None, StorageNotices(recorder)
        self._steering.begin_answer()
        self._pump = asyncio.create_task(self._record(recorder, queue.put_nowait))
        self._pump.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            while (event := await queue.get()) is not None:
                if shown := session_event(event, recorder.reasoning_seconds, recorder.withdrawn):
                    yield shown
                for notice in storage.take():
                    yield notice
            await ended(self._pump)
            self._steering.end_answer(self._outcome)
            if overflow := self._learn_overflow(recorder, self._assembled):
                await asyncio.to_thread(recorder.abandon, failed=OVERFLOW)
                yield overflow
                return
            stored = await asyncio.to_thread(self._ports.store.end_answer, recorder, self._assembled, self._outcome)
            self._arguments_sent += recorder.arguments
            self._ports.budget.take(self._ports.model.profile, recorder.usage)
            for step in (*storage.take(), *stored):
                if isinstance(step, events.Stopped) and self._steering.is_cut:
                    continue
                if isinstance(step, events.AnswerStored):
                    if self._calls_tools:
                        continue
                    async for notice in self._after_answer(step.text):
                        yield notice
                yield step
        finally:
            self._pump.cancel()
            if not recorder.settled:
                await asyncio.to_thread(self._ports.store.end_answer, recorder, self._assembled, None)

    def _learn_overflow(self, recorder: AnswerRecorder, request: AssembledRequest) -> ContextOverflowed | None:
        """What is learned where the server rejected the request as too long and is asked once more, else None."""
        self._outcome = self._overflow.final(self._outcome)
        learned = self._overflow.learn(self._outcome, request.report, self._ports.model) if not recorder.text else None
        self._is_rejected = learned is not None
        return learned

    async def _after_answer(self, answer: str) -> AsyncGenerator[SessionEvent, None]:
        """Runs the hooks of an answer; yields what hooks reported since the request."""
        if self._ports.hooks:
            await asyncio.to_thread(self._ports.hooks.after_answer, answer)
        for notice in self._hook_notices():
            yield notice

    def _hook_notices(self) -> Sequence[SessionEvent]:
        hooks = self._ports.hooks
        return [events.Notice("warning", text) for text in hooks.take_notices()] if hooks else []

    async def _record(self, recorder: AnswerRecorder, show: Callable[[Event], None]) -> None:
        assert self._assembled is not None
        if self._stopped or self._steering.is_cut:
            return
        async with aclosing(self._ports.model.stream(self._assembled.request)) as stream:
            async for event in stream:
                recorder.take(event)
                if isinstance(event, CallProgress | ToolCall):
                    self._steering.note_call()
                if isinstance(event, AnswerEnd | AnswerError):
                    self._outcome = event
                show(event)
