"""A turn with fake ports: it stores each step before the face learns of it, and needs no store of ours."""

from collections.abc import AsyncGenerator, Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from agent import events
from agent.events import SessionEvent
from agent.permissions.action import Access, Action
from agent.permissions.policy import Policy
from agent.permissions.rules import RuleSet
from agent.permissions.tool_facts import ToolFacts
from agent.spending.budget import Limit
from agent.tools.port import ToolRun, ToolSettings
from agent.tools.registry import Toolbox, ToolOutput
from agent.turn.ports import TurnInput, TurnPorts
from agent.turn.turn import TurnRun
from context import AssembledRequest, Attachment, Turn
from context.compaction.compact import CompactionReceipt
from context.epoch import EpochState
from context.settings import ContextSettings
from memory.records import Conversation, Entry, EntryKind
from models.chat.port import AnswerEnd, AnswerError, Event, Profile, StopReason, TextChunk
from models.messages import PromptCacheSlot, Request, Role, Tool, ToolCall, Usage
from models.tokens import Estimate
from tests.agent.turn.event_order import assert_in_order
from tests.tui.fakes import REPORT

NOW = datetime(2026, 3, 14, 9, 26, 53, tzinfo=UTC)
CONVERSATION = Conversation(id="c_1", seq=1, created=NOW, updated=NOW)


def entry(seq: int) -> Entry:
    return Entry(
        seq=seq,
        id=f"e_{seq}",
        conversation="c_1",
        conversation_seq=1,
        parent=seq - 1 or None,
        kind=EntryKind.MESSAGE,
        role=Role.USER,
        time=NOW,
        text="",
        chars=0,
    )


class FakeRecorder:
    """Notes the text that it is given."""

    skipped_calls = 0
    text = ""
    settled = True
    reasoning_seconds = 0.0

    def __init__(self, log: list[str]) -> None:
        self._log = log
        self.calls: tuple[ToolCall, ...] = ()
        self.arguments = 0
        self.withdrawn = ""
        self.usage = Usage(estimated=True)

    def take(self, event: Event) -> None:
        match event:
            case TextChunk(text=text):
                self._log.append(f"store text {text}")
            case ToolCall():
                self.calls = (*self.calls, event)
            case _:
                pass


class FakeStore:
    """Notes each step; `fails` names the one that the disk refuses."""

    conversation = CONVERSATION

    def __init__(self, log: list[str], fails: str = "") -> None:
        self._log = log
        self._fails = fails
        self.newest = entry(1)

    def _step(self, name: str) -> None:
        if name == self._fails:
            raise OSError(28, "No space left on device")
        self._log.append(f"store {name}")
        self.newest = entry(self.newest.seq + 1)

    def message(self, message: TurnInput) -> Sequence[SessionEvent]:
        self._step("message")
        return (events.UserStored("c_1", self.newest.id),)

    def compacted(self, receipt: CompactionReceipt) -> None:
        self._step("compacted")

    def request(self, assembled: AssembledRequest, turn: Turn) -> PromptCacheSlot:
        self._step("request")
        return PromptCacheSlot("")

    def begin_answer(self, calls: int, arguments: int) -> Any:
        return FakeRecorder(self._log)

    def end_answer(
        self, recorder: Any, assembled: AssembledRequest, outcome: AnswerEnd | AnswerError | None
    ) -> Sequence[SessionEvent]:
        self._step("answer")
        if outcome is None:
            return (events.Stopped("c_1", self.newest.id, ""),)
        usage = Usage(estimated=True)
        return events.UsageKnown(usage, 1.0, 1.0), events.AnswerStored("c_1", self.newest.id, "", usage, "m")

    def has_skill(self, path: str) -> bool:
        return True

    def permitted(self, call: ToolCall) -> ToolCall:
        return call

    def untrusted_in_view(self) -> str:
        return ""

    def tool_result(self, call: ToolCall, output: ToolOutput, id_: str, summary: str) -> Entry:
        self._step("result")
        return self.newest


class FakeModel:
    """Plays one list of events for each request."""

    def __init__(self, *answers: Sequence[Event]) -> None:
        self._answers = list(answers)
        self.profile = Profile(spec="fake", name="fake")
        self.counter = Estimate()

    async def prepare(self) -> Profile:
        return self.profile

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        for event in self._answers.pop(0):
            yield event

    async def close(self) -> None:
        """Nothing is open."""


class FakeLargeTexts:
    """Everything fits."""

    def fold(self, message: TurnInput) -> tuple[TurnInput, tuple[Attachment, ...]]:
        return message, ()

    def archive(
        self, message: TurnInput, attachments: Sequence[Attachment], is_stopped: Callable[[], bool]
    ) -> tuple[TurnInput, list[str]]:
        return message, []


class FakeBudget:
    """Has no limit."""

    calls_left = 99

    def reached(self, profile: Profile, prompt_tokens: int) -> Limit | None:
        return None

    def take(self, profile: Profile, usage: Usage) -> None:
        """Counts nothing."""

    def take_calls(self, calls: int) -> None:
        """Counts nothing."""

    def lift(self, limit: Limit) -> None:
        """There is none."""


class FakeTool:
    """Answers with what it is asked."""

    stores_arguments = structured = False
    only_reads = True
    facts = ToolFacts("echo", Access.READ)
    definition = Tool("echo", "Echoes.", {"type": "object"})

    def action(self, arguments: dict[str, Any]) -> Action:
        return Action(tool="echo", access=Access.READ, summary="echo")

    def run(self, arguments: dict[str, Any], run: ToolRun) -> str:
        return str(arguments)


async def run(log: list[str], model: FakeModel, *, fails: str = "") -> list[SessionEvent]:
    async def prepare() -> None:
        await model.prepare()

    async def refresh_tools(_is_stopped: object) -> tuple[str, ...]:
        return ()

    request = Request(model="fake", messages=(), tools=(), zones=(0, 0, 0, 0), max_tokens=1, facts=())
    ports = TurnPorts(
        model=model,
        tools=Toolbox((FakeTool(),), ToolSettings()),
        store=FakeStore(log, fails),
        permissions=Policy(RuleSet()),
        budget=FakeBudget(),
        large_texts=FakeLargeTexts(),
        prepare=prepare,
        prefetch=lambda _text: None,
        reload=tuple,
        refresh_tools=refresh_tools,
        assemble=lambda _turn: AssembledRequest(request=request, report=REPORT, epoch=EpochState()),
        compact=lambda _planned, _cause: CompactionReceipt(text="", entries=0),
        context_settings=ContextSettings(),
        forgettings=frozenset[str],
        warnings=tuple,
    )
    seen: list[SessionEvent] = []
    async for event in TurnRun(ports, TurnInput("Hello")).events():
        text = event.text if isinstance(event, events.TextDelta) else ""
        log.append(f"face {type(event).__name__} {text}".rstrip())
        seen.append(event)
    assert_in_order(seen)
    return seen


STOP = AnswerEnd(StopReason.STOP)


async def test_each_step_is_stored_before_the_face_learns_of_it() -> None:
    log: list[str] = []
    call = ToolCall("call_1", "echo", "{}")
    await run(log, FakeModel([call, AnswerEnd(StopReason.TOOL_CALLS)], [TextChunk("So"), STOP]))
    for stored, shown in (
        ("store message", "face UserStored"),
        ("store request", "face ContextReady"),
        ("store result", "face ToolFinished"),
        ("store text So", "face TextDelta So"),
        ("store answer", "face UsageKnown"),
        ("store answer", "face AnswerStored"),
    ):
        assert log.index(stored) < log.index(shown), log


async def test_text_is_stored_however_slowly_the_face_reads() -> None:
    log: list[str] = []
    await run(log, FakeModel([TextChunk("One"), TextChunk("Two"), STOP]))
    assert log.index("store text Two") < log.index("face TextDelta One")


@pytest.mark.parametrize(
    ("step", "unseen"),
    [("message", "UserStored"), ("request", "ContextReady"), ("answer", "AnswerStored"), ("result", "ToolFinished")],
)
async def test_what_the_disk_refuses_is_never_shown_as_stored(step: str, unseen: str) -> None:
    log: list[str] = []
    call = ToolCall("call_1", "echo", "{}")
    seen = await run(log, FakeModel([call, AnswerEnd(StopReason.TOOL_CALLS)], [TextChunk("So"), STOP]), fails=step)
    assert f"face {unseen}" not in log
    assert isinstance(seen[-1], events.TurnFailed)
    assert seen[-1].code == ("disk" if step == "message" else "store_full"), "from then on the message is kept"
