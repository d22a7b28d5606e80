"""Entry point of the package: assembles requests, records sent requests, compacts conversations."""

import threading
from typing import TYPE_CHECKING

import msgspec

from context.assembly.budget import budget_for
from context.assembly.builder import RequestAssembler
from context.assembly.history import HistoryReader, tokens_by_entry
from context.assembly.past import HistoryReading, apply_switches, switched
from context.assembly.request import HistoryZones
from context.assembly.tokens import MessageCounter
from context.assembly.view import BranchView, read_view
from context.compaction.compact import CAUSE_AUTOMATIC, CompactionReceipt, carry_out, receipt_of
from context.compaction.preview import CompactionPreview, preview_of
from context.compaction.projection import (
    CompactionInputs,
    PlannedCompaction,
    ProjectedCompaction,
    plan_compaction,
    project,
    summary_task,
)
from context.compaction.summary_port import SummaryTask, WrittenSummary
from context.compaction.undo import UndoReceipt, carry_out_undo, plan_undo, tokens_in_view, undo_receipt
from context.epoch import EpochState, ReportedChange, decode_epoch, encode_epoch
from context.layers.conversation import message_of
from context.layers.message import PictureReader, ReadImage
from context.notice import FileNotice
from context.pages.in_view import PagesInView
from context.recall.citations import resolve_citations
from context.recall.prefetch import Prefetch, previous_question
from context.recall.recall import limits_of, query_for
from context.settings import ContextSettings
from context.sources.skills import Skill
from context.sources.workspace import WorkspaceSources
from context.state import ContextState
from context.switches import settings_for
from context.turn_summary import TurnSummaryPlan, plan_turn_summary, store_turn_summary
from context.types import AssembledRequest, AssemblyArguments, Turn
from context.working_set.policy import working_set
from context.working_set.reductions import reduced
from foundation.clock import Clock
from foundation.errors import Misuse
from foundation.log import logger
from foundation.paths import Workspace
from foundation.privacy import Cleared, clear
from memory.context_store import NewEpoch, SentRequest
from memory.pages.types import OnPage
from memory.records import Conversation, Entry, EntryKind
from memory.scope import SCOPE
from memory.search import Query
from memory.settings import ArchiveSettings
from models.chat.port import Profile, TokenCounter
from models.excerpts import without_placeholders
from models.fence import workspace_nonce
from models.messages import Fact, Tool
from models.tokens import REQUEST_OVERHEAD, tool_tokens

if TYPE_CHECKING:
    from memory.memory import Memory

_log = logger("compaction")


class Context:
    """Assembles the requests of one workspace. Methods may be called from any thread.

    `read_image` extracts the text of an image for models without vision; by default, the installed OCR engine does.
    """

    def __init__(
        self,
        workspace: Workspace,
        memory: "Memory",
        settings: ContextSettings,
        clock: Clock,
        *,
        read_image: ReadImage | None = None,
    ) -> None:
        self._memory = memory
        reader = HistoryReader(memory.conversations, memory.context_store, lambda entry: memory.passage(entry).text)
        self.state = ContextState(
            conversations=memory.conversations,
            store=memory.context_store,
            search=lambda query: memory.search.query(query),  # noqa: PLW0108 — the index is opened by its first query
            recall=memory.recall,
            sources=WorkspaceSources(workspace, memory.hot, clock, memory.has_skill, memory.versions),
            history=reader,
            pages=PagesInView(memory.conversations, reader.text_of, settings),
            observations=memory.observations.newest,
            observed=memory.observations.of,
            settings=settings,
            clock=clock,
            nonce=self._nonce,
            pictures=PictureReader(read_image),
        )
        self._recording = threading.Lock()  # held while a request is recorded or a compaction undone
        self._forgotten = memory.forgettings()  # by the last look

    def _nonce(self, seen: int) -> str:
        """The nonce of a head that begins now. `seen`: how many of the first choices some text holds."""
        forgotten = self._memory.forgettings() or self._forgotten or ()
        return workspace_nonce(self.state.store.secret, f"{len(forgotten)} {seen}")

    def scope(self, conversation: Conversation | None) -> str:
        """The scope of the conversation, or of a new one: "" for the workspace's own."""
        return settings_for(self.state.settings, conversation).scope

    def new_labels(self, above: Conversation | None = None) -> tuple[Cleared, ...]:
        """The labels of a new conversation: the scope of the project, or of the conversation that delegates it."""
        scope = self.scope(above)
        return (clear(f"{SCOPE}{scope}"),) if scope else ()

    def reload(self, *, sending: bool = False) -> tuple[FileNotice, ...]:
        """Reads the workspace's changed files; returns one notice for each that changed or is broken. `sending`: a
        message is sent right afterwards, and reports the changes."""
        return self.state.sources.refresh(sending=sending)

    def use_settings(self, settings: ContextSettings) -> None:
        """Makes the next request by these settings."""
        self.state.settings = self.state.pages.settings = settings

    def skills(self) -> tuple[Skill, ...]:
        """The workspace's skills, by name."""
        return self.state.sources.now().skills

    def prefetch(self, conversation: Conversation | None, text: str, profile: Profile) -> Prefetch | None:
        """Prefetch for a message about to be stored; None if recall is off or the text empty. Its `run` blocks."""
        turn = Turn(conversation=conversation)
        components, text = switched(self.state, turn), without_placeholders(text)
        if not components.settings.recall or not text.strip():
            return None
        conversations, total = self._memory.conversations, budget_for(profile.window, components.settings).total
        leaf = conversations.at(conversation.seq).leaf if conversation else None
        limits = limits_of(components.settings, total)

        def query() -> Query | None:
            view = read_view(conversations.path(leaf), total, conversations.entries) if leaf else BranchView()
            stored = components.store.epoch(conversation.seq) if conversation else None
            state = decode_epoch(stored.state) if stored else None
            reading = apply_switches(components, turn, reduced(view, state.reduced if state else {}), total)
            question = previous_question(reading.view)
            return query_for(resolve_citations(text, components.recall).text, question, limits, reading.excluded)

        return Prefetch(query, components.search)

    def assemble(
        self,
        turn: Turn,
        profile: Profile,
        counter: TokenCounter,
        *,
        tools: tuple[Tool, ...] = (),
        facts: tuple[Fact, ...] = (),
        recall: bool = True,
    ) -> AssembledRequest:
        """Assembles the request for a turn, as `assemble_request`; its message lists all tools if none does."""
        names = frozenset(tool.name for tool in tools)
        return self.assemble_request(AssemblyArguments(turn, profile, tools, facts, recall, names), counter)

    def assemble_request(self, arguments: AssemblyArguments, counter: TokenCounter) -> AssembledRequest:
        """Assembles a request. Stores nothing. Raises RequestTooLarge, NoSuchSkill, BadAttachment."""
        self._follow_forgetting()
        return RequestAssembler(self.state, arguments, MessageCounter.of(counter, arguments.profile)).assemble()

    def told_whole(self, conversation: Conversation | None) -> frozenset[int]:
        """The entries (seqs) whose whole text the next request tells: no tool result that is cut or reduced. Blocks."""
        leaf = self._memory.conversations.at(conversation.seq).leaf if conversation else None
        if conversation is None or leaf is None:
            return frozenset()
        turn = Turn(conversation=conversation, leaf=leaf, continuing=True)
        whole = BranchView(entries=self._memory.conversations.branch(leaf).entries)
        entries = apply_switches(switched(self.state, turn), turn, whole, 0).view.entries
        state = self._stored_epoch(conversation)
        lines = state.reduced if state else {}
        return frozenset(
            entry.seq
            for entry in entries
            if entry.kind is not EntryKind.TOOL_RESULT or (entry.seq not in lines and "shown" not in entry.meta)
        )

    def record(self, conversation: Conversation, entry: Entry | None, assembled: AssembledRequest) -> None:
        """Records a request that is about to be sent: the tail with its entry, the epoch, the request's digest.

        `entry` is the user's stored message; None where the turn continues after a tool result.
        """
        with self._recording:
            reported = (
                {key: ReportedChange(digest, entry.seq, text) for key, digest, text in assembled.reported}
                if entry
                else {}
            )
            state = msgspec.structs.replace(assembled.epoch, told={**assembled.epoch.told, **reported})
            if entry is not None:
                self.state.history.counts.drop(entry.seq)
            tokenizer, counts = self.state.history.counts.take_new()
            is_new = assembled.new_epoch or bool(reported)
            sent = SentRequest(
                answers=entry.seq if entry else assembled.answers,
                digest=assembled.digest,
                epoch=NewEpoch(state.number, clear(state.reason), encode_epoch(state)) if is_new else None,
                sent_with=entry.seq if entry else None,
                parts=assembled.tail,
                tokenizer=tokenizer,
                token_counts=counts,
            )
            self._memory.context_store.record(conversation.seq, sent)
            self._keep_private(entry, assembled)
            self.state.sources.keep_last_good()

    @property
    def sent_private(self) -> bool:
        """Whether requests of this process may carry text that is not stored."""
        return bool(self.state.history.overlay)

    def plan_compaction(
        self,
        conversation: Conversation,
        leaf: int | None,
        profile: Profile,
        counter: TokenCounter,
        *,
        focus: str = "",
        tools: tuple[Tool, ...] = (),
        tail: int = 0,
    ) -> PlannedCompaction | None:
        """Plans a compaction of the branch that ends with `leaf`; None where no entry can leave.

        `focus`: words of what the summary keeps first. `tools` of the next request and the tokens of its `tail`, which
        count in its figures. An unfinished turn keeps its question and its last round. Stores nothing.
        """
        if leaf is None:
            return None
        components, counting = self.state, MessageCounter.of(counter, profile)
        budget = budget_for(profile.window, components.settings)
        state = self._current_epoch(conversation)
        view = reduced(components.history.view(leaf, budget.total), state.reduced if state else {})
        history = self._current_zones(view, state, counting, question_follows=tail > 0)
        fixed = self._fixed_tokens(conversation, profile, counting, tools)
        before = fixed + history.tokens
        working = working_set(budget, components.settings, fixed, view, tokens_by_entry(history))
        low = working.low
        if before <= low:  # requested while the budget is not exceeded: halve the history
            low = fixed + (before - fixed) // 2
        inputs = CompactionInputs(
            conversation=conversation,
            leaf=leaf,
            view=view,
            history=history,
            fixed=fixed,
            tail=tail,
            low=low,
            high=working.high,
            running=view.is_running,
            profile=profile,
            budget=budget,
            page_room=components.pages.room(profile, budget),
            begin=state.pages_begin if state else None,
            whole=state.whole if state else {},
        )
        return plan_compaction(inputs, components.settings, components.history.text_of, focus)

    def outlook(
        self, plan: PlannedCompaction, archive: ArchiveSettings, counter: TokenCounter, *, by_model: bool
    ) -> CompactionPreview:
        """Preview of a plan, with the figures of the pages to be drawn. `by_model`: a model will write the summary.

        Raises AuditFailed and UselessCompaction where nothing would be archived.
        """
        projection = project(self.state, plan, MessageCounter.of(counter, plan.inputs.profile))
        if not by_model:
            projection.require_use()
        leaving = [entry for entry in plan.entries.leaving if entry.text]
        expected = self._memory.vault.expected(leaving, mode=archive.page_mode, dense=archive.dense)
        return preview_of(projection, expected, counter.count(projection.text), by_model=by_model)

    def summary_task(self, plan: PlannedCompaction, counter: TokenCounter) -> SummaryTask:
        """What the summary of a plan is made of, for a model that writes it."""
        return summary_task(plan, self.state.history.text_of, MessageCounter.of(counter, plan.inputs.profile))

    def with_summary(
        self, plan: PlannedCompaction, written: WrittenSummary, counter: TokenCounter
    ) -> ProjectedCompaction:
        """The projection of a plan with the summary that was written for it."""
        self.state.flush()
        return project(self.state, plan, MessageCounter.of(counter, plan.inputs.profile), written=written)

    def compact(
        self,
        planned: PlannedCompaction | ProjectedCompaction,
        counter: TokenCounter,
        on_page: OnPage | None = None,
        *,
        label: str = "",
        cause: str = CAUSE_AUTOMATIC,
    ) -> CompactionReceipt:
        """Archives the older turns; their summary becomes a child of the leaf, and the conversation's new leaf.

        `planned` comes from `plan_compaction` or `AssembledRequest.compaction`. `label` is the turns' label in the
        archive; "" for the conversation's title and the ids of the entries. Raises AuditFailed and UselessCompaction,
        with nothing archived, OutOfDate where another process changed the conversation meanwhile, and the exceptions of
        `on_page`.
        """
        if isinstance(planned, PlannedCompaction):
            self.state.flush()
            planned = project(self.state, planned, MessageCounter.of(counter, planned.inputs.profile))
        planned.require_use()
        if (conversation := planned.plan.inputs.conversation) is not None:
            self.state.on_leaving(conversation, planned.plan.entries.leaving)
        stored = carry_out(self._memory, planned, on_page=on_page, label=label)
        receipt = receipt_of(planned, stored, counter.count(planned.text), cause)
        _log.info("%s: %d entries left, %d to %d tokens", cause, receipt.entries, planned.plan.before, planned.after)
        return receipt

    def plan_turn_summary(self, conversation: int, counter: TokenCounter) -> TurnSummaryPlan | None:
        """Plans the summary of the turns that have none yet (context.turn_summary)."""
        return plan_turn_summary(self.state, self.state.conversations.at(conversation), counter)

    def store_turn_summary(self, plan: TurnSummaryPlan, written: WrittenSummary) -> Entry:
        """Stores it beside the branch."""
        return store_turn_summary(self._memory, plan, written)

    def last_model(self, conversation: Conversation) -> str:
        """Model spec of the conversation's last request; "" where it is unknown."""
        state = self._stored_epoch(conversation)
        return state.model if state else ""

    def undo_compaction(
        self, conversation: Conversation, profile: Profile, counter: TokenCounter, *, tools: tuple[Tool, ...] = ()
    ) -> UndoReceipt:
        """Undoes the newest compaction on the conversation's branch. Raises Misuse where there is none, or where what
        comes back does not fit the window."""
        components, counting = self.state, MessageCounter.of(counter, profile)
        with self._recording:
            conversation = components.conversations.at(conversation.seq)
            budget = budget_for(profile.window, components.settings)
            planned = plan_undo(components, conversation, budget.total)
            fixed = self._fixed_tokens(conversation, profile, counting, tools)
            views = planned.now, planned.then
            before, after = (fixed + tokens_in_view(components.history, view, counting) for view in views)
            if after > budget.total:
                raise Misuse(
                    "Too large to undo",
                    f"With these turns the request would take {after:,} tokens, "
                    f"and only {budget.total:,} fit into the window.",
                    "Recall them one by one, or use a model with a larger window.",
                )
            stored = components.store.epoch(conversation.seq)
            entry = carry_out_undo(components, planned, stored.number if stored else 0)
            return undo_receipt(planned, entry, before, after)

    def _follow_forgetting(self) -> None:
        """Lets go of what was read before something was forgotten, by this process or another."""
        now = self._memory.forgettings()
        if now is None or now != self._forgotten:
            self._memory.hot.look()
            self.state.let_go()
        self._forgotten = now

    def _stored_epoch(self, conversation: Conversation) -> EpochState | None:
        stored = self._memory.context_store.epoch(conversation.seq)
        return decode_epoch(stored.state) if stored else None

    def _current_epoch(self, conversation: Conversation) -> EpochState | None:
        """The epoch of the conversation's last request; None where its pages have changed since."""
        state = self._stored_epoch(conversation)
        return None if state and self.state.pages.changed(state.pages, state.pages_digest) else state

    def _current_zones(
        self, view: BranchView, state: EpochState | None, counting: MessageCounter, *, question_follows: bool = False
    ) -> HistoryZones:
        """Zones B and C as in the last request."""
        reader, draw = self.state.history, self.state.pages.draw
        if state is None:
            return reader.zones(view, counting, question_follows=question_follows)
        pages = tuple(zip(state.pages, draw(state.pages), strict=True))
        return reader.zones(
            view, counting, question_follows=question_follows, pages=pages, hidden=state.hidden, nonce=state.nonce
        )

    def _fixed_tokens(
        self, conversation: Conversation, profile: Profile, counting: MessageCounter, tools: tuple[Tool, ...]
    ) -> int:
        """Tokens before the history: the tools that the conversation's switches leave, and zone A as it was last."""
        settings = settings_for(self.state.settings, conversation)
        offered = HistoryReading(settings, BranchView(), BranchView()).tools(tools)
        other = REQUEST_OVERHEAD + (0 if profile.text_tools else tool_tokens(offered, counting.counter))
        state = self._stored_epoch(conversation)
        return other + (self.state.heads.counted(state, counting).tokens if state else 0)

    def _keep_private(self, entry: Entry | None, assembled: AssembledRequest) -> None:
        """Keeps a message with private text in memory, so that the next request begins with the same bytes."""
        if entry is None or assembled.sent is None:
            return
        stored = msgspec.structs.replace(entry, sent=assembled.tail)
        if message_of(stored, self.state.history.text_of(entry)) != assembled.sent:
            self.state.history.overlay = {**self.state.history.overlay, entry.seq: assembled.sent}
