"""A session that says what a test scripts, with the face of the real one."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from agent.checkpoints.journal import JournalContent
from agent.config.settings import ScreenSettings
from agent.events import AnswerStored, ContextReady, Recall, SessionEvent, Stopped, TextDelta, UsageKnown, UserStored
from agent.permissions.policy import Policy
from agent.permissions.rules import RuleSet
from agent.tools.files.project import ProjectFolders
from context.assembly.parts import RequestPart
from context.compaction.compact import CompactionReceipt
from context.compaction.preview import CompactionPreview
from context.report import ContextReport, DroppedSource, LayerReport, SourceReport
from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.trust import Citation, Trust
from memory.records import AnswerOwner
from memory.search.query.query import SearchResults
from memory.settings import ArchiveSettings
from models.chat.port import Profile
from models.messages import RecalledSpan, Role, Text, Usage
from models.settings import ModelSettings

NOW = datetime(2026, 3, 14, 9, 26, 53, tzinfo=UTC)

REPORT = ContextReport(
    model="offline",
    window=12_288,
    reserve=2_048,
    total_tokens=4_300,
    layers=(
        LayerReport(
            "system", 610, 1_024, (SourceReport("system.yaml", 410), SourceReport("instruction: flights", 200))
        ),
        LayerReport("project", 1_640, 3_072, (SourceReport("AGENTS.md", 300), SourceReport("MEMORY.md", 1_340))),
        LayerReport(
            "conversation",
            1_650,
            4_096,
            (SourceReport("12 entries", 1_650),),
            (DroppedSource("summary 1", 220, "over its share"),),
        ),
        LayerReport("message", 400, 2_048, (SourceReport("recalled 2", 310), SourceReport("your message", 90))),
    ),
    zones=(),
    messages=(),
    prefix_sha256="",
    unchanged_prefix_tokens=3_900,
    previous_tokens=3_900,
)

PARTS = (
    RequestPart(
        zone="A", layer="system", source="system.yaml", tokens=610, role=Role.SYSTEM, contents=(Text("Be brief."),)
    ),
    RequestPart(
        zone="C",
        layer="conversation",
        source="",
        tokens=1_650,
        role=Role.USER,
        contents=(Text("When is the boiler serviced? 锅炉什么时候保养？"),),
        is_unchanged=True,
    ),
    RequestPart(
        zone="D",
        layer="message",
        source="recalled 2",
        tokens=310,
        role=Role.USER,
        contents=(
            RecalledSpan(
                "The boiler is serviced in May.",
                Citation(kind="entry", ref="e_4kx7", title="House", speaker="Ann", time=NOW),
                Trust.EXACT,
                likelihood=0.61,
            ),
        ),
    ),
)

PLAN = CompactionPreview(
    entries=24,
    turns=12,
    text_tokens=5_900,
    pages=3,
    vision_tokens=612,
    summary_tokens=400,
    tokens_before=9_800,
    tokens_after=4_330,
    kept_entries=8,
    kept_turns=4,
)

RECALLED = (
    RecalledSpan(
        "The boiler is serviced in May.",
        Citation(kind="entry", ref="e_4kx7", title="House", speaker="Ann", time=NOW),
        Trust.EXACT,
    ),
    RecalledSpan("锅炉保修到2027年。", Citation(kind="page", ref="pg_19ab", title="保修单", time=NOW), Trust.VERIFIED),
)


def answer(text: str, *, chunk: int = 7, recalled: tuple[RecalledSpan, ...] = ()) -> list[SessionEvent]:
    """The events of an ordinary turn that says `text`."""
    pieces = [text[at : at + chunk] for at in range(0, len(text), chunk)]
    usage = Usage(prompt_tokens=4_300, completion_tokens=len(pieces))
    return [
        UserStored("c_1", "e_1"),
        Recall(recalled),
        ContextReady(REPORT),
        *(TextDelta(piece) for piece in pieces),
        UsageKnown(usage, 1.5, 38.2),
        AnswerStored("c_1", "e_2", text, usage, "offline"),
    ]


class FakeSession:
    """`answers` maps each message to its events; an asyncio.Event among them is waited for."""

    def __init__(
        self, answers: Callable[[str], Sequence[Any]], *, models: Sequence[Any] = (), spec: str = "openai:qwen3"
    ) -> None:
        self._answers = answers
        self._models = list(models)
        self.profile = Profile(spec=spec, name=spec)
        self.model = SimpleNamespace(counter=SimpleNamespace(count=lambda text: len(text) // 4))
        self.conversation: Any = None
        self.warm_up = SimpleNamespace(start=lambda: None)
        self.memory = SimpleNamespace(
            workspace=Workspace(Path("/home/ann/notes")),
            passage=lambda entry: SimpleNamespace(text=entry.text),
            cold=SimpleNamespace(data_version=lambda: 0),
            conversations=SimpleNamespace(
                interrupted_calls=lambda entry: self.interrupted.get(entry.seq, []),
                writer_of=lambda _: AnswerOwner.NONE,
            ),
            references=SimpleNamespace(find=_unknown),
            search=SimpleNamespace(
                clock=SystemClock(),
                query=lambda query: SearchResults(query=query.text),
                vectors=SimpleNamespace(trouble=""),
            ),
            spending=lambda since=None: [],
            spent_since=lambda _: [],
            versions=SimpleNamespace(store=SimpleNamespace(versions=lambda path=None: ())),
            vault=SimpleNamespace(find_archive=_archived, troubles=list, settings=ArchiveSettings()),
        )
        self.notices: list[Any] = []  # what the next look at the files tells
        self.context = SimpleNamespace(reload=self._reload, use_settings=self._use_settings)
        self.news: tuple[str, ...] = ()  # of upkeep
        self.jobs = SimpleNamespace(news=SimpleNamespace(take=self._take_news), answers=SimpleNamespace())
        self.toolbox = SimpleNamespace()
        self.branch = SimpleNamespace(
            history=self.history,
            plan=_no_plan,
            rewritten=None,
            dropped="",
            take_changes=_no_changes,
            recent=_no_conversations,
        )
        self.project = ProjectFolders((Path("/no/such/project"),))
        self.models_used = SimpleNamespace(specs=("openai:qwen3@http://127.0.0.1:8080/v1",))
        blobs = SimpleNamespace(get=lambda name: f"{name}\n".encode())
        self.checkpoints = SimpleNamespace(journal=SimpleNamespace(content=JournalContent), blobs=blobs)
        models = ModelSettings()
        self.config = SimpleNamespace(environment=dict(os.environ), screen=ScreenSettings(panel="off"), models=models)
        self.permissions = Policy(RuleSet())
        self.servers = SimpleNamespace(unanswered=())  # MCP servers to ask about
        self.instructions = SimpleNamespace(unanswered=(), refresh=list)  # of the project
        self.working = ""
        self.commands = SimpleNamespace(take_ended=lambda: ())
        self.on_working: Any = None
        self.workspace: Any = SimpleNamespace(
            root=Path("/home/ann/notes"),
            is_read_only=False,
            unwritable="",
            pasted_images=Path("/home/ann/pasted-images"),
        )
        self.sent: list[tuple[str, tuple[str, ...], str]] = []
        self.entries: list[Any] = []
        self.interrupted: dict[int, list[Any]] = {}  # calls without a result, by the seq of their answer
        self.closed = False
        self.happened: tuple[str, ...] = ()  # to files, since the last session
        self.plan: CompactionPreview | None = PLAN
        self.gate = asyncio.Semaphore(0)
        self.archived = ""
        self._stop = asyncio.Event()
        self.pastes: tuple[str, ...] = ()  # of the last message

    async def send(
        self,
        text: str,
        attachments: Sequence[Any] = (),
        skill: str = "",
        *,
        pastes: Sequence[str] = (),
        again: bool = False,
    ) -> AsyncGenerator[SessionEvent, None]:
        self.pastes = tuple(pastes)
        self.sent.append((text, tuple(each.name for each in attachments), skill))
        self.conversation = self.conversation or SimpleNamespace(id="c_1", title="House")
        self._stop.clear()
        for event in self._answers(text):
            if isinstance(event, asyncio.Event):
                waits = [asyncio.ensure_future(event.wait()), asyncio.ensure_future(self._stop.wait())]
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                for each in waits:
                    each.cancel()
                if self._stop.is_set():
                    yield Stopped("c_1", "e_2", "so far")
                    return
                continue
            yield event
            await asyncio.sleep(0)

    def stop(self) -> None:
        self._stop.set()

    def begin_background(self) -> None:
        """Nothing goes on here."""

    def _reload(self) -> tuple[Any, ...]:
        told, self.notices = tuple(self.notices), []
        return told

    def _use_settings(self, settings: Any) -> None:
        self.context.settings = settings

    async def models(self) -> list[Any]:
        return self._models

    async def use_model(self, spec: str) -> Profile:
        self.profile = Profile(spec=spec, name=spec)
        return self.profile

    async def context_report(self, text: str = "") -> ContextReport:
        return REPORT

    async def preview_request(self, text: str = "", attachments: Sequence[Any] = ()) -> Any:
        """The request with the figures of `context_report`."""
        report = await self.context_report(text)
        return SimpleNamespace(report=report, parts=PARTS, compaction=None)

    @property
    def compaction(self) -> Any:
        return self

    async def preview(self, *, focus: str = "") -> CompactionPreview | None:
        return self.plan

    async def nothing_leaves(self) -> str:
        return "There is nothing to archive: the conversation is empty."

    async def run(self, on_page: Callable[[int], None], *, label: str = "", focus: str = "") -> CompactionReceipt:
        """Makes a page for each turn of `gate`; what `on_page` raises ends it."""
        for page in range(1, 4):
            await self.gate.acquire()
            await asyncio.to_thread(on_page, page)
        self.archived = label or "House · e_1 to e_24"
        text = (
            "Archived 12 older turns (24 entries) on 3 pages and replaced them with a summary of 900 tokens. "
            "Request: 9,800 → 4,100 tokens."
        )
        return CompactionReceipt(text=text, entries=24, turns=12, pages=3, archived=self.archived)

    async def history(self, limit: int = 20, before: int | None = None) -> list[Any]:
        known = [entry for entry in self.entries if before is None or entry.seq < before]
        return known[-limit:]

    async def resume(self, ref: str) -> Any:
        self.conversation = SimpleNamespace(id=ref, title="House")
        return self.conversation

    def _take_news(self) -> tuple[str, ...]:
        news, self.news = self.news, ()
        return news

    async def file_notices(self) -> tuple[str, ...]:
        return self.happened

    async def restore_model(self) -> str:
        return ""

    async def resume_latest(self) -> Any:
        return await self.resume("c_9") if self.entries else None

    def new(self, title: str = "") -> None:
        self.conversation = None
        self.entries = []

    async def close(self) -> None:
        self.closed = True


def _archived(_label: str) -> Any:
    return SimpleNamespace(pages=PLAN.pages, text_tokens=PLAN.text_tokens, vision_tokens=PLAN.vision_tokens)


async def _no_changes() -> tuple[str, ...]:
    return ()


async def _no_plan() -> None:
    return None


def _unknown(ref: str) -> Any:
    from memory.errors import NotFound

    raise NotFound("Not found", f"There is no {ref}.", "")


def spoken(seq: int, role: Role, text: str) -> Any:
    """A stored message."""
    from memory.records import Entry, EntryKind

    return Entry(
        seq=seq,
        id=f"e_{seq}",
        conversation="c_1",
        conversation_seq=1,
        parent=seq - 1 or None,
        kind=EntryKind.MESSAGE,
        role=role,
        time=NOW,
        text=text,
        chars=len(text),
    )


async def _no_conversations(_limit: int) -> list[Any]:
    return []
