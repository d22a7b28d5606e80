"""Runs the tool calls of an answer: permission, run, store.

Successive calls of tools that only read run side by side, where they need no permission; their results are stored in
the order of the calls.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from concurrent.futures import CancelledError
from contextlib import aclosing, suppress
from threading import Event
from typing import Any, Final, cast

from msgspec import Struct, structs
from msgspec.structs import replace

from agent import events
from agent.events import SessionEvent
from agent.hooks.hooks import HookVerdict, SessionHooks
from agent.permissions.action import Access, Action, PermissionAnswer, PersonQuestion
from agent.permissions.policy import Decision, Policy
from agent.permissions.rules import Rule, Verdict
from agent.permissions.skill_rules import notices_of, skill_rules
from agent.permissions.tool_facts import facts_of
from agent.tools.port import MalformedCall, ToolFailure, ToolRun
from agent.tools.registry import Toolbox, ToolOutput, failed_output
from agent.turn.call_limits import REPEATS_TOLD, RepeatedCalls
from agent.turn.ports import TurnStore
from agent.turn.steering import STEERED
from context.sources.skills import Skill
from foundation.errors import PalimpsestError
from foundation.privacy import Cleared
from memory.records import new_id
from memory.tool_calls import MOST_DESCRIBED
from models.messages import ToolCall

MAX_PARALLEL: Final = 8
MOST_MISTAKES: Final = 3  # answers in a row with malformed calls alone, each with another mistake
STOPPED: Final = "The user stopped the turn."
UNATTENDED: Final = "Nobody could be asked for permission."
PLAIN_WORDS: Final = "If no tool is needed, answer the user in plain words."
NO_MORE_CALLS: Final = "The turn may make no more tool calls."


class _PlannedCall(Struct, frozen=True):
    """A call that can be understood, with the decision on its action."""

    call: ToolCall
    result_id: Cleared
    action: Action
    decision: Decision

    @property
    def only_reads(self) -> bool:
        return self.decision.verdict is Verdict.ALLOW and self.action.access.only_reads


class ToolCalls:
    """The tool calls of a turn. `stop` ends those that run and declines the others."""

    def __init__(
        self,
        tools: Toolbox,
        store: TurnStore,
        permissions: Policy,
        hooks: SessionHooks | None = None,
        is_steered: Callable[[], bool] = lambda: False,
    ) -> None:
        """`is_steered` says whether a message of the user waits for the end of a call: no further one is run then."""
        self._tools = tools
        self._is_steered = is_steered
        self._hooks = hooks
        self._store = store
        self._permissions = permissions
        self._stopped = Event()
        self._questions: list[asyncio.Future[str | None]] = []
        self._mistakes: list[str] = []  # of the last answers, which had malformed calls alone
        self._offered: Collection[str] = ()
        self.gave_up = ""  # the mistake that the model repeats after its correction
        self.unknown_tool: str | None = None  # that it called then; "" for a call that names none
        self._was_unknown = False  # whether the last answer called such a tool
        self.repeated = RepeatedCalls()
        self._tainted: str | None = None  # what untrusted text is in view; None before the store was asked
        self._question: asyncio.Future[PermissionAnswer] | None = None
        self._skill_rules: dict[Rule, Skill] = {}  # of the skills in use

    def use_skill(self, skill: Skill) -> tuple[str, ...]:
        """Puts the `allowed-tools` of the skill in force until the turn ends; gives sentences about it."""
        rules, left_out = skill_rules(skill.allowed_tools)
        new = tuple(rule for rule in rules if rule not in self._skill_rules)
        self._skill_rules |= dict.fromkeys(new, skill)
        return notices_of(skill.name, new, left_out)

    def stop(self) -> None:
        self._stopped.set()
        if self._question is not None and not self._question.done():
            self._question.set_result(PermissionAnswer(False))
        for question in self._questions:
            question.cancel()

    async def run(self, calls: Sequence[ToolCall], offered: Collection[str] = ()) -> AsyncGenerator[SessionEvent, None]:
        """Runs the calls; `offered` are the names of the tools that their request offered.

        `gave_up` is set where the model repeats a mistake that it was corrected for.
        """
        self._offered = offered
        reading: list[_PlannedCall] = []
        malformed: list[str] = []
        unknown: list[str] = []
        left_out: list[ToolCall] = []
        told, reason = self.repeated.count >= REPEATS_TOLD, NO_MORE_CALLS
        for number, requested in enumerate(calls):
            is_steered = number > 0 and self._is_steered()
            if is_steered or self.repeated.refuses(requested):
                left_out.append(requested)
                reason = STEERED if is_steered else NO_MORE_CALLS
                continue
            if reading and (len(reading) >= MAX_PARALLEL or not self._tools.only_reads(requested)):
                for event in await self._run_side_by_side(reading):
                    yield event
                reading = []
            call, result_id = self._store.permitted(requested), new_id("e")
            planned = await asyncio.to_thread(self._plan, call, result_id)
            if isinstance(planned, ToolOutput):
                if planned.malformed:
                    malformed.append(planned.whole)
                    unknown += [call.name] * (not self._tools.knows(call))
                    planned = replace(planned, shown=f"{planned.shown} {PLAIN_WORDS}")
                summary = f"{_heading(call)}: {_first_sentence(planned.whole)}"
                yield events.ToolStarted(call, summary)
                yield await self._stored(call, planned, result_id, summary)
            elif planned.only_reads and self._tools.only_reads(call):
                yield events.ToolStarted(call, planned.action.summary, planned.action, planned.decision)
                reading.append(planned)
            else:
                async with aclosing(self._run_alone(planned)) as steps:
                    async for event in steps:
                        yield event
        for event in await self._run_side_by_side(reading):
            yield event
        async with aclosing(self.refuse(left_out, reason)) as steps:
            async for event in steps:
                yield event
        if not told and self.repeated.count >= REPEATS_TOLD:
            yield events.Notice("warning", f"{self.repeated.sentence} The model was informed.")
        self._judge(malformed, unknown, all_of_them=bool(calls) and len(malformed) == len(calls))

    def _judge(self, malformed: Sequence[str], unknown: Sequence[str], *, all_of_them: bool) -> None:
        """One mistake gets one correction: repeated, or after others without a call between, it ends the turn.

        So does a second answer with calls of tools that there are not, or of none.
        """
        if not all_of_them:
            self._mistakes = []
            self._was_unknown = False
            return
        repeated = next((mistake for mistake in malformed if mistake in self._mistakes), "")
        self._mistakes.append(malformed[0])
        if repeated or len(self._mistakes) >= MOST_MISTAKES or (unknown and self._was_unknown):
            self.gave_up = repeated or malformed[0]
            self.unknown_tool = unknown[0] if unknown else None
        self._was_unknown = bool(unknown)

    async def refuse(self, calls: Sequence[ToolCall], reason: str) -> AsyncGenerator[SessionEvent, None]:
        """Stores for each call that it was not run; `reason` is for the model."""
        for requested in calls:
            call, result_id = self._store.permitted(requested), new_id("e")
            planned = await asyncio.to_thread(self._plan, call, result_id)
            if isinstance(planned, ToolOutput):
                yield events.ToolStarted(call, call.name)
                yield await self._stored(call, planned, result_id, call.name, is_counted=False)
            else:
                async with aclosing(self._refused(planned, reason)) as steps:
                    async for event in steps:
                        yield event

    async def _refused(self, planned: _PlannedCall, reason: str) -> AsyncGenerator[SessionEvent, None]:
        call, action = planned.call, planned.action
        yield events.ToolStarted(call, action.summary, action, planned.decision)
        if reason != STEERED:  # nobody denied that one
            yield events.PermissionDenied(call, action, reason, planned.decision)
        output = self._tools.denied(action, reason)
        is_counted = reason not in {NO_MORE_CALLS, STEERED}
        yield await self._stored(call, output, planned.result_id, action.summary, is_counted=is_counted)

    def _plan(self, call: ToolCall, result_id: Cleared) -> _PlannedCall | ToolOutput:
        """The call with its decision; the output where it cannot be understood."""
        try:
            action = self._tools.action(call, self._offered)
        except ToolFailure as error:
            return replace(failed_output(error), malformed=isinstance(error, MalformedCall))
        trusted = {skill.path for skill in self._skill_rules.values() if self._store.has_skill(skill.path)}
        rules = [rule for rule, skill in self._skill_rules.items() if skill.path in trusted]
        decision = self._permissions.decide(action, tainted=self._untrusted(), skills=rules)
        if self._hooks and decision.verdict is not Verdict.DENY:
            decision = _with_hooks(decision, self._hooks.before_tool(call, self._stopped.is_set))
        return _PlannedCall(call, result_id, action, decision)

    def _untrusted(self) -> str:
        """Names the untrusted text that is in view, of this turn or an earlier one; "" for none. Blocks."""
        if self._tainted is None:
            self._tainted = self._store.untrusted_in_view()
        return self._tainted

    async def _run_side_by_side(self, reading: Sequence[_PlannedCall]) -> list[SessionEvent]:
        outputs = await asyncio.gather(*(asyncio.to_thread(self._run_tool, planned) for planned in reading))
        return [
            await self._stored(planned.call, output, planned.result_id, planned.action.summary)
            for planned, output in zip(reading, outputs, strict=True)
        ]

    async def _run_alone(self, planned: _PlannedCall) -> AsyncGenerator[SessionEvent, None]:
        call, action = planned.call, planned.action
        refusal = planned.decision.reason if planned.decision.verdict is Verdict.DENY else ""
        if planned.decision.verdict is Verdict.ASK and not self._stopped.is_set():
            self._question = question = asyncio.get_running_loop().create_future()
            decision = planned.decision
            offers = () if decision.asks_always else tuple(rule.text for rule in self._permissions.offers(action))
            yield events.PermissionRequested(call, action, decision.reason, question, not offers, offers, decision)
            answer = await question
            if answer.granted:
                try:
                    await asyncio.to_thread(self._permissions.remember, action, answer)
                except (PalimpsestError, OSError) as error:
                    reason = error.message if isinstance(error, PalimpsestError) else f"{error.strerror or error}."
                    yield events.Notice("warning", f"Saved for this session only: {reason}")
            else:
                refusal = _refusal(answer)
        if self._stopped.is_set():
            refusal = STOPPED
        self._permissions.note(action, planned.decision, refusal)
        if refusal:
            async with aclosing(self._refused(planned, refusal)) as steps:
                async for event in steps:
                    yield event
            return
        yield events.ToolStarted(call, action.summary, action, planned.decision)
        async with aclosing(self._with_progress(planned)) as steps:
            async for event in steps:
                yield event

    async def _with_progress(self, planned: _PlannedCall) -> AsyncGenerator[SessionEvent, None]:
        """Runs the tool and yields what it reports meanwhile."""
        loop, queue = asyncio.get_running_loop(), asyncio.Queue[SessionEvent | None]()

        def emit(event: SessionEvent | None) -> None:
            loop.call_soon_threadsafe(queue.put_nowait, event)

        async def answered(question: PersonQuestion) -> str | None:
            future: asyncio.Future[str | None] = loop.create_future()
            self._questions.append(future)
            queue.put_nowait(events.QuestionAsked(planned.call, question, future))
            return await future

        def ask(question: PersonQuestion) -> str | None:
            try:
                return asyncio.run_coroutine_threadsafe(answered(question), loop).result()
            except CancelledError:
                return ""

        def report(text: str) -> None:
            emit(events.ToolProgress(planned.call, text))

        def run() -> ToolOutput:
            try:
                run = ToolRun(planned.result_id, self._stopped, report, emit, ask, planned.action, self._untrusted())
                run = replace(run, open_skill=self.use_skill)
                return self._run_tool(planned, run)
            finally:
                emit(None)

        running = asyncio.create_task(asyncio.to_thread(run))
        try:
            while (event := await queue.get()) is not None:
                yield event
            output = await running
        finally:
            if not running.done():  # the face has left: what runs ends first, so that nothing is left behind
                self.stop()
                await asyncio.wait([running])
        yield await self._stored(planned.call, output, planned.result_id, planned.action.summary)

    def _run_tool(self, planned: _PlannedCall, run: ToolRun | None = None) -> ToolOutput:
        if self._stopped.is_set():
            return self._tools.denied(planned.action, STOPPED)
        output = self._tools.run(planned.call, run or ToolRun(planned.result_id, self._stopped, action=planned.action))
        action = planned.action
        if action.is_from_network or (action.access is Access.NETWORK and not action.is_contained):
            self._tainted = self._untrusted() or action.summary
            output = structs.replace(output, untrusted=action.summary)
        if planned.action.is_diff and not output.failed:
            output = structs.replace(output, diff=planned.action.detail)
        if self._hooks and (text := self._hooks.after_tool(planned.call, output, self._stopped.is_set)):
            output = structs.replace(output, shown=f"{output.shown}\n\n[A hook of the user adds:]\n{text}")
        return output

    async def _stored(
        self, call: ToolCall, output: ToolOutput, result_id: Cleared, summary: str, *, is_counted: bool = True
    ) -> events.ToolFinished:
        if is_counted:
            output = await asyncio.to_thread(self.repeated.take, call, output)
        entry = await asyncio.to_thread(self._store.tool_result, call, output, result_id, summary)
        return events.ToolFinished(call, output.shown, len(output.whole), output.failed, entry.id, output.diff)


def _with_hooks(decision: Decision, hooks: HookVerdict) -> Decision:
    """The decision with that of the hooks: they may deny, have the person asked, and answer what no rule decides."""
    match hooks.decision:
        case "deny":
            return Decision(Verdict.DENY, f"Denied by a hook: {hooks.reason}")
        case "ask" if decision.verdict is Verdict.ALLOW:
            return Decision(Verdict.ASK, f"A hook requires confirmation: {hooks.reason}", asks_always=True)
        case "allow" if decision.verdict is Verdict.ASK and not (decision.asks_always or decision.rule):
            return Decision(Verdict.ALLOW, f"Allowed by a hook: {hooks.reason}")
        case _:
            return decision


def _refusal(answer: PermissionAnswer) -> str:
    """What the model reads about a permission that was not given."""
    if not answer.attended:
        return UNATTENDED
    return f"The user declined: {answer.reason}" if answer.reason else "The user declined."


def _first_sentence(text: str) -> str:
    return text.split("\n", 1)[0].partition(". ")[0]


def _heading(call: ToolCall) -> str:
    """`write out.py` of a call that was not understood: as the summary of one that is; else the tool's name."""
    facts = facts_of(call.name)
    argument = facts.kind.value if facts else ""
    text: Any = None
    with suppress(ValueError, RecursionError):
        arguments = json.loads(call.arguments)
        text = cast("dict[str, Any]", arguments).get(argument) if isinstance(arguments, dict) else None
    if not isinstance(text, str) or not text.strip():
        return call.name or "a tool"
    verb, line = call.name.partition("_")[0], " ".join(text.split())
    return f"{verb} {line if len(line) <= MOST_DESCRIBED else f'{line[: MOST_DESCRIBED - 1]}…'}"
