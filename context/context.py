"""The face of context: a turn in, a request and its report out; what was sent kept; older turns let go."""

import threading
from typing import TYPE_CHECKING

import apsw
import msgspec
from msgspec import Struct

from context.assembly.budget import Budget, budget_for
from context.assembly.builder import AssemblyRequest, RequestAssembler
from context.assembly.history import HistoryReader, tokens_by_entry
from context.assembly.request import HistoryZones
from context.assembly.tokens import MessageCounter
from context.assembly.view import BranchView, read_view
from context.compaction import compact as compaction
from context.compaction.compact import BranchPosition, CompactionReceipt, OnPage
from context.compaction.plan import CompactionBudget, CompactionPlan, planned
from context.compaction.preview import CompactionPreview, outlook_of
from context.compaction.projection import PendingCompaction, expected, past_after
from context.epoch import EpochState, ReportedChange, decoded, encoded
from context.layers.conversation import message_of
from context.layers.message import ReadImage
from context.notice import FileNotice
from context.pages.in_view import PagesInView
from context.pages.recipe import ChapterStart
from context.recall.citations import pointed
from context.recall.prefetch import Prefetch, asked_before
from context.recall.recall import limits_of, query_for
from context.settings import ContextSettings
from context.sources.attachments import PictureReader
from context.sources.skills import Skill
from context.sources.workspace import WorkspaceSources
from context.state import ContextState, PendingOverflow
from context.types import AssembledRequest, Turn
from foundation.clock import Clock, to_ms
from foundation.paths import Workspace
from foundation.privacy import NO_BYTES, clear
from memory.cold import context_state
from memory.records import Conversation, Entry, EntryKind
from memory.search import Query
from memory.settings import ArchiveSettings
from models.chat.port import Profile, TokenCounter
from models.messages import Fact, Role, Tool

if TYPE_CHECKING:
    from memory.memory import Memory


class _MeasuredPlan(Struct, frozen=True):
    """`tokens` by entry in view, `fixed` of what stands beside the past, `before` of the whole request, `pages` what
    those in view will take more or less than now."""

    plan: CompactionPlan | None
    tokens: dict[int, int]
    fixed: int
    before: int
    pages: int = 0
    begin: ChapterStart | None = None


class Context:
    """Assembles requests for one workspace. Methods may be called from any thread; one runs at a time.

    `read_image` gives the words in a picture, for models that see none; without it, the OCR engine that is installed.
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
        reader = HistoryReader(memory.cold, lambda entry: memory.passage(entry).text)
        self._bench = ContextState(
            cold=memory.cold,
            search=lambda query: memory.search.query(query),  # noqa: PLW0108 — the index is opened by its first query
            recall=memory.recall,
            shelf=WorkspaceSources(workspace, memory.hot, clock, memory.has_skill),
            past=reader,
            pages=PagesInView(memory.cold, reader.text_of, settings),
            settings=settings,
            clock=clock,
            pictures=PictureReader(read_image),
        )
        self._lock = threading.RLock()

    def reload(self, *, sending: bool = False) -> tuple[FileNotice, ...]:
        """Looks at the workspace's files again; a notice for each that changed or is broken, once.

        `sending`: a message goes right afterwards, so what changed goes with that one.
        """
        with self._lock:
            return self._bench.shelf.refresh(sending=sending)

    def skills(self) -> tuple[Skill, ...]:
        """The workspace's skills, by name."""
        with self._lock:
            return self._bench.shelf.now().skills

    def ask_ahead(self, conversation: Conversation | None, text: str, profile: Profile) -> Prefetch | None:
        """The search for what a message that is about to be stored recalls, for its `Turn`; None where none is made.

        Its `run` is for a thread of its own: it does not wait for other methods, nor they for it.
        """
        bench = self._bench
        if not bench.settings.recall or not text.strip():
            return None
        cold, total = self._memory.cold, budget_for(profile.window, bench.settings).total
        leaf = cold.conversation_at(conversation.seq).leaf if conversation else None
        limits = limits_of(bench.settings, total)

        def query() -> Query | None:
            view = read_view(cold.path(leaf), total, cold.entries) if leaf is not None else BranchView()
            return query_for(pointed(text, bench.recall).words, asked_before(view), limits, view.seqs)

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
        """The request for a turn. Nothing is stored. Raises TooLarge, NoSuchSkill, BadAttachment."""
        with self._lock:
            asked = AssemblyRequest(turn, profile, tools, facts, recall)
            return RequestAssembler(self._bench, asked, MessageCounter(counter, profile.images)).done()

    def record(self, conversation: Conversation, entry: Entry | None, assembled: AssembledRequest) -> None:
        """Keeps what is about to be sent: the tail beside its entry, the epoch, the request's digest.

        `entry` is the user's, stored already; None where the turn goes on after a tool.
        """
        with self._lock:
            told = (
                {key: ReportedChange(digest, entry.seq, words) for key, digest, words in assembled.told}
                if entry
                else {}
            )
            state = msgspec.structs.replace(assembled.epoch, told={**assembled.epoch.told, **told})
            if entry is not None:
                self._bench.past.counts.drop(entry.seq)
            tokenizer, counts = self._bench.past.counts.take_new()
            now = to_ms(self._bench.clock.now())

            def transaction(db: apsw.Connection) -> None:
                if entry is not None and assembled.tail:
                    context_state.set_sent(db, entry.seq, assembled.tail)
                if assembled.new_epoch or told:
                    context_state.set_epoch(
                        db, conversation.seq, state.number, clear(state.reason), encoded(state), now_ms=now
                    )
                answered = entry.seq if entry else assembled.answers
                context_state.set_request(db, conversation.seq, answered, assembled.digest, now_ms=now)
                context_state.set_token_counts(db, tokenizer, counts)

            self._memory.cold.write(transaction)
            self._keep_private(entry, assembled)
            self._bench.shelf.keep_last_good()

    def compact(
        self,
        conversation: Conversation,
        leaf: int | None,
        profile: Profile,
        counter: TokenCounter,
        on_page: OnPage | None = None,
        *,
        label: str = "",
    ) -> CompactionReceipt:
        """Older turns of the branch that ends with `leaf` leave for the archive; a summary stands in their place.

        It is a child of `leaf` and the conversation's leaf from then on. A turn that is under way keeps its question
        and its last round. `label` is what the archive calls them; "" for the conversation's title and the entries.
        Raises OutOfDate where another process changed the conversation meanwhile, and what `on_page` raises.
        """
        with self._lock:
            budget = budget_for(profile.window, self._bench.settings)
            counting = MessageCounter(counter, profile.images)
            if leaf is None:
                return compaction.nothing_to_do(0, budget.total)
            place = BranchPosition(conversation, leaf, self._bench.past.view(leaf, budget.total))
            return self._compacted(place, profile, counting, budget, on_page=on_page, label=label)

    def outlook(
        self,
        conversation: Conversation,
        leaf: int | None,
        profile: Profile,
        counter: TokenCounter,
        archive: ArchiveSettings,
    ) -> CompactionPreview | None:
        """What `compact` would do now; None where there is nothing to do. Stores nothing."""
        with self._lock:
            if leaf is None:
                return None
            budget = budget_for(profile.window, self._bench.settings)
            place = BranchPosition(conversation, leaf, self._bench.past.view(leaf, budget.total))
            weighed = self._weighed(place, profile, MessageCounter(counter, profile.images), budget)
            if weighed.plan is None:
                return None
            leaving = [entry for entry in weighed.plan.leaving if entry.text]
            drawn = self._memory.vault.expected(leaving, mode=archive.mode, dense=archive.dense)
            return outlook_of(weighed.plan, weighed.tokens, weighed.before, drawn, pages=weighed.pages)

    def last_model(self, conversation: Conversation) -> str:
        """The spec of the model that the conversation's last request went to; "" where that is not known."""
        stored = self._memory.cold.epoch(conversation.seq)
        state = decoded(stored.state) if stored else None
        return state.model if state else ""

    def begin_epoch(self, conversation: Conversation, reason: str) -> None:
        """The next request of the conversation begins a new epoch: after `/forget`, whose words must leave the head."""
        with self._lock:
            stored = self._memory.cold.epoch(conversation.seq)
            self._memory.cold.set_epoch(conversation.seq, stored.number if stored else 0, clear(reason), NO_BYTES)
            self._bench.past.overlay.clear()
            self._bench.past.counts.forget()
            self._bench.pages.forget()

    def _weighed(
        self, place: BranchPosition, profile: Profile, counting: MessageCounter, budget: Budget
    ) -> "_MeasuredPlan":
        """What is in view, what it takes, and what would leave."""
        state = self._stands(place.conversation)
        past = self._in_view(place, state, counting)
        waiting = self._bench.pending.get(place.conversation.seq)
        pending = waiting or self._resting(place.conversation, counting)
        tokens = dict(tokens_by_entry(past))
        if pending.entry in tokens:
            tokens[pending.entry] = pending.tail
        zone_b = sum(count for _, count in past.summaries)
        before = pending.fixed + zone_b + sum(tokens.values())
        running = _is_running(place.view)
        pages = expected(self._bench.pages.room(profile, budget), past)
        low = self._low(budget, before, pending.fixed, running)
        figures = CompactionBudget(budget.total, pending.fixed + pages, zone_b - past.page_tokens, low)
        plan = planned(place.view, tokens, figures, self._bench.settings, running=running)
        begin = state.pages_begin if state else None
        return _MeasuredPlan(plan, tokens, pending.fixed, before, pages - past.page_tokens, begin)

    def _stands(self, conversation: Conversation) -> EpochState | None:
        """The epoch that the conversation's last request was of, as far as its pages are still what they were."""
        stored = self._memory.cold.epoch(conversation.seq)
        state = decoded(stored.state) if stored else None
        return None if state and self._bench.pages.changed(state.pages, state.pages_digest) else state

    def _in_view(self, place: BranchPosition, state: EpochState | None, counting: MessageCounter) -> HistoryZones:
        """Zones B and C as the last request had them."""
        if state is None:
            return self._bench.past.past(place.view, counting, asks=False)
        pages = tuple(zip(state.pages, self._bench.pages.drawn(state.pages), strict=True))
        return self._bench.past.past(
            place.view, counting, asks=False, pages=pages, hidden=state.hidden, nonce=state.nonce
        )

    def _compacted(
        self,
        place: BranchPosition,
        profile: Profile,
        counting: MessageCounter,
        budget: Budget,
        *,
        on_page: OnPage | None,
        label: str,
    ) -> CompactionReceipt:
        view, reader = place.view, self._bench.past
        weighed = self._weighed(place, profile, counting, budget)
        self._bench.pending.pop(place.conversation.seq, None)
        plan, before = weighed.plan, weighed.before
        if plan is None:
            return compaction.nothing_to_do(before, budget.total)
        text = compaction.summary_of(plan, view, reader.text_of, counting)
        beside = weighed.fixed + sum(weighed.tokens.get(entry.seq, 0) for entry in plan.kept)
        leaving = PendingCompaction(
            leaf=place.leaf,
            view=view,
            plan=plan,
            text=text,
            profile=profile,
            budget=budget,
            beside=beside,
            nominal=self._bench.pages.room(profile, budget),
            begin=weighed.begin,
        )
        past = past_after(self._bench, leaving, (), counting, asks=False)
        left = sum(weighed.tokens.get(entry.seq, 0) for entry in plan.leaving)
        done = compaction.stored(self._memory, place, plan, text, tokens=left, on_page=on_page, label=label)
        return compaction.receipt_of(plan, done, (before, beside + past.tokens), counting.text(text), past.pages)

    def _low(self, budget: Budget, before: int, fixed: int, running: bool) -> int:
        """How far down; asked for by hand while there is room, half of what there is."""
        low = int(budget.total * self._bench.settings.low_water)
        return low if running or before > low else fixed + (before - fixed) // 2

    def _resting(self, conversation: Conversation, counting: MessageCounter) -> PendingOverflow:
        """What stands beside the past where no request waits: the head alone."""
        stored = self._memory.cold.epoch(conversation.seq)
        state = decoded(stored.state) if stored else None
        head = self._bench.heads.weighed(state, counting) if state else None
        return PendingOverflow(head.tokens if head else 0)

    def _keep_private(self, entry: Entry | None, assembled: AssembledRequest) -> None:
        """What was sent and may not be stored stays in RAM, so that the next request begins with the same words."""
        if entry is None or assembled.sent is None:
            return
        kept = msgspec.structs.replace(entry, sent=assembled.tail)
        if message_of(kept, self._bench.past.text_of(entry)) != assembled.sent:
            self._bench.past.overlay[entry.seq] = assembled.sent


def _is_running(view: BranchView) -> bool:
    """Whether the branch ends within a turn: with a question, a tool's result, or a call for one."""
    if not view.entries:
        return False
    last = view.entries[-1]
    answered = last.kind is EntryKind.MESSAGE and last.role is Role.ASSISTANT
    return not answered or bool(last.meta.get("tool_calls"))
