"""Entry point of the package: makes requests, records what was sent, compacts."""

import threading
from typing import TYPE_CHECKING

import msgspec

from context.assembly.budget import budget_for
from context.assembly.builder import AssemblyRequest, RequestAssembler
from context.assembly.history import HistoryReader
from context.assembly.request import HistoryZones
from context.assembly.tokens import MessageCounter
from context.assembly.view import BranchView, read_view
from context.compaction.compact import CompactionReceipt, carry_out, receipt_of
from context.compaction.preview import CompactionPreview, preview_of
from context.compaction.projection import (
    CompactionInputs,
    PlannedCompaction,
    ProjectedCompaction,
    plan_compaction,
    project,
)
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
from context.types import AssembledRequest, Turn
from foundation.clock import Clock
from foundation.paths import Workspace
from foundation.privacy import NO_BYTES, clear
from memory.context_store import NewEpoch, SentRequest
from memory.pages.types import OnPage
from memory.records import Conversation, Entry, EntryKind
from memory.search import Query
from memory.settings import ArchiveSettings
from models.chat.port import Profile, TokenCounter
from models.messages import Fact, Role, Tool

if TYPE_CHECKING:
    from memory.memory import Memory


class Context:
    """Assembles the requests of one workspace. Methods may be called from any thread.

    `read_image` gives the text in a picture, for models that see none; by default, the installed OCR engine.
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
            shelf=WorkspaceSources(workspace, memory.hot, clock, memory.has_skill),
            past=reader,
            pages=PagesInView(memory.conversations, reader.text_of, settings),
            settings=settings,
            clock=clock,
            pictures=PictureReader(read_image),
        )
        self._recording = threading.Lock()  # while what was sent is recorded, or an epoch is ended

    def reload(self, *, sending: bool = False) -> tuple[FileNotice, ...]:
        """Reads the workspace's files that changed; gives a notice for each that changed or is broken, once.

        `sending`: a message is sent right afterwards, and carries the changes.
        """
        return self.state.shelf.refresh(sending=sending)

    def skills(self) -> tuple[Skill, ...]:
        """The workspace's skills, by name."""
        return self.state.shelf.now().skills

    def prefetch(self, conversation: Conversation | None, text: str, profile: Profile) -> Prefetch | None:
        """The prefetch for a message that is about to be stored, for its `Turn`; None where nothing is to be recalled.

        Its `run` blocks, and is called in a thread of its own.
        """
        bench = self.state
        if not bench.settings.recall or not text.strip():
            return None
        conversations, total = self._memory.conversations, budget_for(profile.window, bench.settings).total
        leaf = conversations.at(conversation.seq).leaf if conversation else None
        limits = limits_of(bench.settings, total)

        def query() -> Query | None:
            view = read_view(conversations.path(leaf), total, conversations.entries) if leaf else BranchView()
            return query_for(resolve_citations(text, bench.recall).words, previous_question(view), limits, view.seqs)

        return Prefetch(query, bench.search)

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
        """The request for a turn. Stores nothing. Raises RequestTooLarge, NoSuchSkill, BadAttachment."""
        asked = AssemblyRequest(turn, profile, tools, facts, recall)
        return RequestAssembler(self.state, asked, MessageCounter(counter, profile.images)).assemble()

    def record(self, conversation: Conversation, entry: Entry | None, assembled: AssembledRequest) -> None:
        """Stores what is about to be sent: the tail beside its entry, the epoch, the request's digest.

        `entry` is the stored message of the user; None where the turn continues after a tool.
        """
        with self._recording:
            told = (
                {key: ReportedChange(digest, entry.seq, words) for key, digest, words in assembled.told}
                if entry
                else {}
            )
            state = msgspec.structs.replace(assembled.epoch, told={**assembled.epoch.told, **told})
            if entry is not None:
                self.state.past.counts.drop(entry.seq)
            tokenizer, counts = self.state.past.counts.take_new()
            is_new = assembled.new_epoch or bool(told)
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
            self.state.shelf.keep_last_good()

    def plan_compaction(
        self, conversation: Conversation, leaf: int | None, profile: Profile, counter: TokenCounter
    ) -> PlannedCompaction | None:
        """Plans a compaction of the branch that ends with `leaf`; None where nothing can leave.

        An unfinished turn keeps its question and its last round. Nothing is stored.
        """
        if leaf is None:
            return None
        bench, counting = self.state, MessageCounter(counter, profile.images)
        budget = budget_for(profile.window, bench.settings)
        view = bench.past.view(leaf, budget.total)
        state = self._current_epoch(conversation)
        past = self._past_of(view, state, counting)
        fixed, running = self._head_tokens(conversation, counting), _is_running(view)
        before = fixed + past.tokens
        low = int(budget.total * bench.settings.low_water)
        if not running and before <= low:  # a person asks while there is room: half of what there is
            low = fixed + (before - fixed) // 2
        occasion = CompactionInputs(
            conversation=conversation,
            leaf=leaf,
            view=view,
            past=past,
            fixed=fixed,
            low=low,
            running=running,
            profile=profile,
            budget=budget,
            page_room=bench.pages.room(profile, budget),
            begin=state.pages_begin if state else None,
        )
        return plan_compaction(occasion, bench.settings)

    def outlook(self, plan: PlannedCompaction, archive: ArchiveSettings) -> CompactionPreview:
        """The plan's figures for a person, with those of the pages that will be drawn."""
        leaving = [entry for entry in plan.entries.leaving if entry.text]
        return preview_of(plan, self._memory.vault.expected(leaving, mode=archive.mode, dense=archive.dense))

    def compact(
        self,
        planned: PlannedCompaction | ProjectedCompaction,
        counter: TokenCounter,
        on_page: OnPage | None = None,
        *,
        label: str = "",
    ) -> CompactionReceipt:
        """Archives the older turns; their summary becomes a child of the leaf, and the conversation's new leaf.

        `planned` is of `plan_compaction`, or of `Assembled`. `label` is what the archive calls the turns; "" for the
        conversation's title and the entries. Raises OutOfDate where another process changed the conversation meanwhile,
        and what `on_page` raises.
        """
        if isinstance(planned, PlannedCompaction):
            planned = project(self.state, planned, MessageCounter(counter, planned.occasion.profile.images))
        done = carry_out(self._memory, planned, on_page=on_page, label=label)
        return receipt_of(planned, done, counter.count(planned.text))

    def last_model(self, conversation: Conversation) -> str:
        """The spec of the model of the conversation's last request; "" where it is unknown."""
        stored = self._memory.context_store.epoch(conversation.seq)
        state = decode_epoch(stored.state) if stored else None
        return state.model if state else ""

    def begin_epoch(self, conversation: Conversation, reason: str) -> None:
        """Ends the conversation's epoch: after `/forget`, whose words must leave the head."""
        with self._recording:
            stored = self._memory.context_store.epoch(conversation.seq)
            epoch = NewEpoch(stored.number if stored else 0, clear(reason), NO_BYTES)
            self._memory.context_store.set_epoch(conversation.seq, epoch)
            self.state.past.overlay = {}
            self.state.past.counts.forget()
            self.state.pages.forget()

    def _current_epoch(self, conversation: Conversation) -> EpochState | None:
        """The epoch of the conversation's last request, unless its pages have changed since."""
        stored = self._memory.context_store.epoch(conversation.seq)
        state = decode_epoch(stored.state) if stored else None
        return None if state and self.state.pages.changed(state.pages, state.pages_digest) else state

    def _past_of(self, view: BranchView, state: EpochState | None, counting: MessageCounter) -> HistoryZones:
        """Zones B and C as in the last request."""
        reader, drawn = self.state.past, self.state.pages.drawn
        if state is None:
            return reader.past(view, counting, asks=False)
        pages = tuple(zip(state.pages, drawn(state.pages), strict=True))
        return reader.past(view, counting, asks=False, pages=pages, hidden=state.hidden, nonce=state.nonce)

    def _head_tokens(self, conversation: Conversation, counting: MessageCounter) -> int:
        """Tokens of zone A in the conversation's last request."""
        stored = self._memory.context_store.epoch(conversation.seq)
        state = decode_epoch(stored.state) if stored else None
        head = self.state.heads.weighed(state, counting) if state else None
        return head.tokens if head else 0

    def _keep_private(self, entry: Entry | None, assembled: AssembledRequest) -> None:
        """Keeps a message with private words in memory, so that the next request begins with the same words."""
        if entry is None or assembled.sent is None:
            return
        kept = msgspec.structs.replace(entry, sent=assembled.tail)
        if message_of(kept, self.state.past.text_of(entry)) != assembled.sent:
            self.state.past.overlay = {**self.state.past.overlay, entry.seq: assembled.sent}


def _is_running(view: BranchView) -> bool:
    """Whether the branch ends within a turn: with a question, a tool's result, or a tool call."""
    if not view.entries:
        return False
    last = view.entries[-1]
    answered = last.kind is EntryKind.MESSAGE and last.role is Role.ASSISTANT
    return not answered or bool(last.meta.get("tool_calls"))
