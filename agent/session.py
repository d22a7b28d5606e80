"""A session: one conversation at a time in one workspace, for any face.

A face iterates `send`; what an event shows is already on its way to disk. No module of a face is imported here. Methods
that use the store are asynchronous and run it in a thread: a locked store never blocks the event loop.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Self

from msgspec.structs import replace

from agent.background.jobs import SessionJobs
from agent.background.scheduler import Scheduler
from agent.branch import OpenBranch
from agent.change_events import with_changes
from agent.compaction import ManualCompaction
from agent.config.config import Config
from agent.config.embedder import embedding_of
from agent.config.used_models import UsedModels
from agent.config.workspaces import renew_default_files
from agent.delegation import Delegation
from agent.events import Notice, SessionEvent, UserStored
from agent.hooks.hooks import SessionHooks
from agent.mcp.configuration import server_programs
from agent.mcp.open import open_servers
from agent.mcp.turn_tools import refresh_tools
from agent.permissions.mode import PermissionMode
from agent.permissions.policy import Policy
from agent.permissions.rules import RuleSet
from agent.permissions.stored_rules import stored_rules
from agent.project.open import open_project
from agent.session_model import SessionModel, opened_model
from agent.session_tools import session_toolbox
from agent.spending.budget import SpendingBudget
from agent.tools.commands.commands import open_commands
from agent.tools.files.coverage import open_checkpoints
from agent.tools.files.project import ProjectFolders
from agent.tools.offer import ToolOffer
from agent.tools.window_room import with_omitted_tools
from agent.turn.ports import NoSteering, SteeringPort, TurnInput, TurnPorts
from agent.turn.preview import MessagePreviews
from agent.turn.store import StoredTurn
from agent.turn.summariser import CompactionSummaries, ModelSummariser, open_summariser
from agent.turn.turn import TurnRun
from agent.turn.turn_compression import TurnCompression
from agent.warm_up import WarmUp
from context import AssembledRequest, AssemblyArguments, Attachment, Context, Turn
from context.report import ContextReport
from context.sources.skills import Skill
from foundation.clock import Clock, SystemClock
from foundation.errors import PalimpsestError, TemporaryFailure
from foundation.log import open_log
from foundation.paths import Workspace
from memory.access import refuse_read_only
from memory.memory import Memory
from memory.records import STEERS, Conversation
from models.chat.detect import DetectedModel, detect
from models.chat.port import ChatModel, Profile
from models.messages import Fact, RecalledSpan
from models.ocr.open import image_text_reader

CLOSING_WAIT = 5.0  # seconds that closing waits for the turn, and for background work

Facts = Callable[[], tuple[Fact, ...]]


class Session:
    """Sends messages; stops, resumes, branches and renames. One turn at a time; `close` when done."""

    def __init__(
        self,
        workspace: Workspace,
        memory: Memory,
        config: Config,
        model: ChatModel,
        *,
        clock: Clock,
        facts: Facts,
        summariser: ModelSummariser | None = None,
        project: Sequence[Path] = (),
    ) -> None:
        """`project` are the folders where tools work, by default the workspace."""
        open_log(workspace.log, config.log)
        self.workspace, self.memory, self.config, self.clock = workspace, memory, config, clock
        self.models_used = UsedModels.of(config.environment, clock)
        self._model = SessionModel(config, model, self.models_used)
        read_image = image_text_reader(config.models, config.environment)  # for models that see no pictures
        self.context = Context(workspace, memory, config.context, clock, read_image=read_image)
        self.branch = OpenBranch(memory)
        memory.scope = lambda: self.context.scope(self.conversation)
        self.report: ContextReport | None = None
        self.next_title = ""
        self.hidden: dict[int, tuple[str, ...]] = {}  # see agent.turn.store.TurnState
        self.on_working: Callable[[str], None] | None = None  # called whenever `working` changes
        self._facts, self._summariser = facts, summariser
        self._has_renewed = False  # default files of an earlier release
        self._turn: TurnRun | None = None
        self._last_sent: tuple[str, TurnInput] | None = None  # the entry of the last message, and the message
        self.steering: SteeringPort = NoSteering()  # keeps what a face sends into the running turn
        self._summaries = CompactionSummaries(self.context, summariser) if summariser else None
        self._compression = TurnCompression(self.context, summariser)
        self.warm_up = WarmUp(self)
        self.compaction = ManualCompaction(self, self._summaries)
        self._idle = asyncio.Event()  # set while no turn runs
        self._idle.set()
        self.budget = SpendingBudget(config.models, memory, clock)
        self.jobs = SessionJobs(memory, config, self.budget, clock, self.context.state)
        self.background = Scheduler(self.jobs.all, workspace.own, lambda: self.busy, self._report_working)
        self.project = ProjectFolders(project or (workspace.root,), workspace.root)
        self.context.state.has_file = self.project.has_file
        self.instructions = open_project(self.context, self.project.root, workspace, config.environment)
        self.servers = open_servers(config.mcp, config.tools, config.environment, self.project.folders)
        mode, folder = lambda: self.permissions.mode.value, self.project.root
        others = (*self.project.folders, workspace.root)
        self.hooks = SessionHooks(config.hooks, config.environment, folder, self._conversation_id, mode, others=others)
        self.project.programs = self.hooks.scripts.files.union(server_programs(self.servers.configured, folder))
        self.commands = open_commands(workspace, self.project, config.tools, config.environment)
        rules = RuleSet(stored=stored_rules(config.environment, self.project.root))
        self.permissions = Policy(rules, config.tools.mode, sandboxed=lambda: self.commands.sandbox.state.holds)
        self._previews = MessagePreviews(memory, clock, self.assemble, self.branch.standing)
        if summariser is not None:
            summariser.budget = self.budget
        self.checkpoints = open_checkpoints(workspace, memory.versions, clock, self.project, config.tools)
        self._delegation = Delegation(self)
        self.toolbox = session_toolbox(self, self._delegation)
        self.offer = ToolOffer(self.toolbox, lambda: self.project.root, workspace.root, self.commands.listed)

    @classmethod
    def open(
        cls,
        workspace: Workspace,
        config: Config,
        *,
        clock: Clock | None = None,
        facts: Facts = tuple,
        project: Sequence[Path] = (),
        reads_when_full: bool = False,
    ) -> Self:
        """Opens the workspace's memory (`reads_when_full` as in Memory.open) and the configured model, which is not
        called yet. Answers that a crash cut off are kept. Raises PalimpsestError.
        """
        clock = clock or SystemClock()
        memory = Memory.open(workspace, clock, config.archive, embedding_of(config), reads_when_full=reads_when_full)
        try:
            memory.recover()
            model = opened_model(config, config.model, UsedModels.of(config.environment, clock))
            summariser = open_summariser(config.context, config.models, config.environment)
            opened = memory.workspace, memory, config, model
            return cls(*opened, clock=clock, facts=facts, summariser=summariser, project=project)
        except BaseException:
            memory.close()
            raise

    @property
    def conversation(self) -> Conversation | None:
        """The conversation that is open; None before its first message."""
        return self.branch.conversation

    @conversation.setter
    def conversation(self, conversation: Conversation | None) -> None:
        self.branch.select(conversation)

    @property
    def busy(self) -> bool:
        return self._turn is not None

    @property
    def working(self) -> str:
        """The status of background work, for the status bar."""
        return " · ".join(filter(None, (self.commands.status, self._compression.status, self.background.status)))

    def _conversation_id(self) -> str:
        return self.conversation.id if self.conversation else ""

    def _report_working(self, _status: str) -> None:
        self.jobs.answers.report()
        if self.on_working is not None:
            self.on_working(self.working)

    async def send(
        self,
        text: str,
        attachments: Sequence[Attachment] = (),
        skill: str = "",
        brought: tuple[RecalledSpan, ...] | None = None,
        pastes: Sequence[str] = (),
        *,
        again: bool = False,
    ) -> AsyncGenerator[SessionEvent, None]:
        """Runs one turn and yields its events (agent.events). Closing the iterator stops the answer and keeps its text
        so far.

        `brought` is knowledge's result for the message (agent.services.knowledge): then nothing else is recalled for
        it. `pastes` are the parts of `text` that were pasted or piped: where they are too large for the request, they
        are archived, and their beginnings attached. `again`: the last message gets another answer, on a branch; one of
        this session goes as it was sent, with what it hid.
        Raises TemporaryFailure during another turn, ReadOnly where the workspace is not trusted.
        """
        refuse_read_only(self.workspace)
        if self._turn is not None:
            raise TemporaryFailure("Still answering", "One message at a time.", "Wait, or stop the answer first.")
        message = TurnInput(text, tuple(attachments), skill, brought, tuple(pastes))
        message = await self._again(message) if again else message
        await self.warm_up.stop()
        self._turn = turn = TurnRun(ports := self._ports(), message)
        self._idle.clear()
        self._delegation.begin_turn()
        try:
            await asyncio.to_thread(self.checkpoints.prune_once, self._conversation_id())
            if self.permissions.mode is PermissionMode.AUTO:
                self.checkpoints.commands.secure_ahead()
            warnings = self._compression.take_warning() + self.jobs.take_warnings() + await self.file_notices()
            await self.jobs.answers.store_now()
            for notice in (*await self.branch.take_changes(), *(Notice("warning", each) for each in warnings)):
                yield notice
            following = self.warm_up.follow(turn.events(), is_new=self.conversation is None)
            async with aclosing(self.branch.rewriting(following, lambda: ports.store.newest)) as events:
                async for event in events:
                    if isinstance(event, UserStored):
                        self._last_sent = None if event.steers else (event.entry, message)
                        self.checkpoints.begin_turn(event.conversation, event.entry)
                    noted = await self._model.note(event)
                    async for each in with_changes(self.checkpoints, self.memory.versions, noted):
                        yield each
            await self._compression.run(self.conversation, self.model.counter)
        finally:
            self._turn = None
            self._idle.set()
            self._after_turn()

    async def file_notices(self) -> tuple[str, ...]:
        """What happened to files of the workspace and the project, in sentences, each given once.

        The first call renews default files of an earlier release, and clears up after a session that was killed.
        """
        if self.workspace.is_read_only:
            return ()
        try:
            renewed = () if self._has_renewed else await asyncio.to_thread(renew_default_files, self.memory)
            self._has_renewed = True
            return renewed + await asyncio.to_thread(self.checkpoints.take_notices)
        except (PalimpsestError, OSError) as error:
            return (f"The checkpoints could not be read: {error}",)

    async def _again(self, message: TurnInput) -> TurnInput:
        """The last message, to be answered again. Raises TemporaryFailure where there is none."""
        entry, text = await self.branch.last_own_message()
        if self._last_sent and self._last_sent[0] == entry.id:
            return replace(self._last_sent[1], again=entry.seq)
        return replace(message, text=text, again=entry.seq, steers=STEERS in entry.meta)

    def _ports(self) -> TurnPorts:
        context, model, answers, memory = self.context, self.model, self.jobs.answers, self.memory
        return TurnPorts(
            model=model,
            tools=self.toolbox,
            permissions=self.permissions,
            budget=self.budget,
            store=StoredTurn(self, memory, context, model, self.toolbox, budget=self.budget, answers=answers),
            large_texts=self._previews.large_texts,
            prepare=self.prepare_model,
            prefetch=lambda text: context.prefetch(self.conversation, text, model.profile),
            reload=lambda: context.reload(sending=True),
            refresh_tools=self._refresh_tools,
            assemble=self.assemble,
            compact=lambda planned, cause: context.compact(planned, model.counter, cause=cause),
            context_settings=self.config.context,
            forgettings=memory.forgettings,
            summaries=self._summaries,
            hooks=self.hooks,
            steering=self.steering,
            notes=lambda: (*self.permissions.mode.instructions, *self.commands.ended_notes()),
            warnings=lambda: (
                *self.offer.take_omitted(self._conversation_id(), model.profile),
                *memory.vault.troubles(),
            ),
        )

    def steer(self) -> None:
        """Has the running turn take the message that waits at `steering`."""
        if self._turn is not None:
            self._turn.steer()

    def stop(self) -> None:
        """Stops the answer (its text so far is kept) or the summary. Does nothing where there is none."""
        for running in filter(None, (self._turn, self._compression, self._summaries)):
            running.stop()

    @property
    def model(self) -> ChatModel:
        """The current model."""
        return self._model.model

    @property
    def profile(self) -> Profile:
        """The profile of the current model."""
        return self.model.profile

    @property
    def window_status(self) -> str:
        """The model's window as a person reads it, and how it is known."""
        return self._model.window_status

    async def prepare_model(self) -> None:
        """Asks the model's server once for its real window and abilities."""
        await self._model.prepare()

    async def _refresh_tools(self, is_stopped: Callable[[], bool] = lambda: False) -> Sequence[str]:
        """Takes the tools of the MCP servers as they are now; gives a sentence for each change."""
        offline = self.profile.spec == "offline"
        return () if offline else await refresh_tools(self.servers, self.toolbox, self.permissions.rules, is_stopped)

    async def use_model(self, spec: str) -> Profile:
        """Switches to the model `spec`, the default from now on. Raises Misuse for an unknown one: this one stays."""
        await self.warm_up.stop()
        return await self._model.use(spec)

    async def models(self) -> list[DetectedModel]:
        """The available models: those of servers on this machine, and those that a key in the environment opens."""
        return await detect(self.config.environment, settings=self.config.models)

    async def skills(self) -> tuple[Skill, ...]:
        """The workspace's skills, by name."""
        return await asyncio.to_thread(self.context.skills)

    async def context_report(self, text: str = "", attachments: Sequence[Attachment] = ()) -> ContextReport:
        return (await self.preview_request(text, attachments)).report

    async def preview_request(self, text: str = "", attachments: Sequence[Attachment] = ()) -> AssembledRequest:
        """The request that `text` would make now. No model is called, nothing is stored."""
        await self.prepare_model()
        if not self.servers.are_taken:
            await self._refresh_tools()
        return await asyncio.to_thread(self._previews.request, TurnInput(text, tuple(attachments)))

    def assemble(self, turn: Turn, *, recall: bool = True) -> AssembledRequest:
        """The request for this turn, with the tools that the model takes and the facts that offline answers need."""
        profile, counter = self.model.profile, self.model.counter
        tools, stated, skills = self.offer.of_turn(turn, profile)
        facts = self._facts() if profile.spec == "offline" else ()
        given = AssemblyArguments(turn, profile, tools.offered, facts, recall, stated, skills)
        return with_omitted_tools(self.context.assemble_request(given, counter), tools, profile)

    def new(self, title: str = "") -> None:
        """The next message begins a conversation with this title, or one made from its first line."""
        self.conversation, self.report, self.next_title = None, None, title

    async def resume(self, ref: str) -> Conversation:
        """Continues a conversation, by id, unique beginning of an id, or exact title. Raises NotFound."""
        conversation = await asyncio.to_thread(self.memory.conversations.find, ref)
        self.switch_to(conversation)
        return conversation

    async def resume_latest(self) -> Conversation | None:
        """Continues the conversation that was used last; None where there is none."""
        if conversation := await asyncio.to_thread(self.memory.conversations.latest):
            self.switch_to(conversation)
        return conversation

    def switch_to(self, conversation: Conversation) -> None:
        """Continues this conversation, which is in the store."""
        self.conversation = conversation
        self.report = None

    async def restore_model(self) -> str:
        """Goes back to the model of the conversation's last request, and says so (agent.session_model)."""
        before = await asyncio.to_thread(self.context.last_model, self.conversation) if self.conversation else ""
        return await self._model.restore(before)

    async def close(self) -> None:
        """Ends the turn, waits until its answer is stored and background work has ended, and closes the store."""
        self.stop()
        await self.warm_up.stop()
        with suppress(TimeoutError):  # a reader that neither goes on nor closes its iterator
            await asyncio.wait_for(self._idle.wait(), CLOSING_WAIT)
        self.on_working = None
        await asyncio.to_thread(self.hooks.end)
        await asyncio.to_thread(self.servers.close)
        await asyncio.to_thread(self.commands.close)
        await self.jobs.close(self.background)
        await asyncio.to_thread(self.checkpoints.close)
        await self.model.close()
        if self._summariser is not None:
            await self._summariser.close()
        await asyncio.to_thread(self.memory.close)

    def _after_turn(self) -> None:
        """Updates the readable mirror, then runs the other background jobs that are due."""
        if self.conversation is not None:
            self.jobs.mirror.add(self.conversation.seq)
        self.background.schedule(self.jobs.all if self.conversation else ())

    def begin_background(self) -> None:
        """Schedules missing observations and vectors, and starts the MCP servers, before the first message."""
        self.background.schedule(self.jobs.at_start)
        if self.profile.spec != "offline":
            self.servers.start()
