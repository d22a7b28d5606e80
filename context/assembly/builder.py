"""Builds one request for a turn: reads its sources, continues or begins an epoch, plans a compaction where it
overflows."""

import msgspec
from msgspec import Struct

from context.assembly.budget import Budget, budget_for
from context.assembly.digest import Item, decode_items, tools_digest
from context.assembly.gather import GatheredTail, TailInputs, gather_tail
from context.assembly.head import HeadSources, new_epoch_state
from context.assembly.request import BuiltRequest, HistoryZones, RequestInputs, build_request
from context.assembly.tail import RequestTail
from context.assembly.tokens import Layer, MessageCounter
from context.assembly.view import BranchView
from context.compaction.compact import archived_tokens
from context.compaction.projection import CompactionInputs, ProjectedCompaction, plan_compaction, project
from context.epoch import EpochBasis, EpochState, decode_epoch, reason_to_end
from context.errors import RequestTooLarge
from context.notice import FileNotice
from context.pages.in_view import PageRequest, page_room
from context.recall.citations import cited_parts, resolve_citations
from context.recall.prefetch import previous_question
from context.recall.recall import RecallRequest, fit_passages, limits_of, recall_passages
from context.recall.stale import current_passages, passages_in
from context.report import DroppedSource, archive_of
from context.sources.changes import unchanged_notes, unreported_changes
from context.state import ContextState
from context.types import AssembledRequest, Turn
from foundation.privacy import TextSource, clear
from models.chat.port import Profile
from models.cleared_parts import cleared_parts
from models.messages import Fact, MessagePart, RecalledSpan, Role, Text, Tool
from models.tokens import REQUEST_OVERHEAD, tool_tokens

OUTGREW = "the project's files outgrew their share"
NO_ROOM = "the message needs the room that pages in view took"
TOO_LATE = FileNotice(
    "warning", "The search of memory was not ready in time: this message goes without what it recalls."
)


class AssemblyRequest(Struct, frozen=True):
    """The arguments of `Context.assemble`."""

    turn: Turn
    profile: Profile
    tools: tuple[Tool, ...]
    facts: tuple[Fact, ...]
    recall: bool


class RequestAssembler:
    """Assembles one request. Stores nothing."""

    def __init__(self, bench: ContextState, asked: AssemblyRequest, counting: MessageCounter) -> None:
        self._bench = bench
        self._asked = asked
        self._turn = asked.turn
        self._counting = counting
        self._budget: Budget = budget_for(asked.profile.window, bench.settings)
        self._shelf: HeadSources = bench.shelf.now()
        self._view: BranchView = bench.past.view(self._turn.leaf, self._budget.total, self._turn.entry)
        self._tool_tokens = tool_tokens(asked.tools, counting.counter)
        self._page_room = bench.pages.room(asked.profile, self._budget)
        self._stood: EpochState | None = None  # the epoch as it was stored
        self._late = False  # whether the search was not ready in time

    def assemble(self) -> AssembledRequest:
        """The assembled request. Raises RequestTooLarge, NoSuchSkill, BadAttachment."""
        return self._fitting(*self._epoch())

    def _fitting(self, state: EpochState, new: bool, changed: str) -> AssembledRequest:
        try:
            return self._made(state, new, changed)
        except RequestTooLarge:
            if self._page_room:  # pages are the first to give way
                self._page_room = 0
                lighter = (self._begun(state.number + 1, NO_ROOM), True, NO_ROOM) if state.pages else None
                return self._fitting(*(lighter or (state, new, changed)))
            room = self._budget.shares[Layer.SYSTEM] + self._budget.shares[Layer.PROJECT]
            head = self._bench.heads.weighed(state, self._counting)
            if new or head is None or head.tokens <= room:
                raise
            return self._made(self._begun(state.number + 1, OUTGREW), True, OUTGREW)

    # ── the epoch ──

    def _epoch(self) -> tuple[EpochState, bool, str]:
        """The current epoch or a new one; whether it is new; and why the previous one ended."""
        conversation = self._turn.conversation
        stored = self._bench.store.epoch(conversation.seq) if conversation else None
        if stored is None:
            return self._begun(1, ""), True, ""
        state = self._stood = decode_epoch(stored.state)
        if state is None:  # ended by hand: words may have been forgotten
            self._bench.pages.forget()
        why = self._reason_to_end(state) if state else stored.reason
        if state and not why:
            return state, False, ""
        return self._begun(stored.number + 1, why), True, why

    def _reason_to_end(self, state: EpochState) -> str:
        pages = self._bench.pages
        return reason_to_end(state, self._ground()) or pages.why_not(
            state.pages, state.pages_digest, self._asked.profile
        )

    def _ground(self) -> EpochBasis:
        summaries = self._view.summaries
        return EpochBasis(
            model=self._asked.profile.spec,
            window=self._budget.window,
            tools=tools_digest(self._asked.tools),
            files=self._shelf.digests,
            summary=summaries[-1].seq if summaries else None,
        )

    def _begun(self, number: int, reason: str) -> EpochState:
        state = new_epoch_state(
            self._shelf,
            self._ground(),
            self._budget,
            self._counting,
            tools=self._tool_tokens,
            number=number,
            reason=reason,
        )
        return self._with_pages(state) if self._page_room and self._view.summaries else state

    def _with_pages(self, state: EpochState) -> EpochState:
        """Adds pages of the oldest turns to the epoch, where the model sees pictures and there is room."""
        beside = self._past(state).tokens + self._fixed(state)
        standing = self._bench.pages.chosen(
            PageRequest(
                leaf=self._turn.leaf,
                in_view=self._view.seqs,
                summaries=tuple(summary.seq for summary in self._view.summaries),
                profile=self._asked.profile,
                counting=self._counting,
                nominal=self._page_room,
                room=page_room(self._page_room, self._budget, beside),
                begin=self._stood.pages_begin if self._stood else None,
            )
        )
        unread = tuple((Layer.CONVERSATION.value, DroppedSource("a page in view", 0, why)) for why in standing.unread)
        return msgspec.structs.replace(
            state,
            pages=standing.pages,
            pages_digest=standing.digest,
            pages_begin=standing.begin,
            hidden=standing.hidden,
            dropped=state.dropped + unread,
        )

    # ── the request ──

    def _made(self, state: EpochState, new: bool, changed: str) -> AssembledRequest:
        past = self._past(state)
        gathered = None if self._turn.continuing else self._gathered(state)
        materials = RequestInputs(
            profile=self._asked.profile,
            budget=self._budget,
            counting=self._counting,
            state=state,
            head=self._bench.heads.weighed(state, self._counting),
            tools=self._asked.tools,
            tool_tokens=self._tool_tokens,
            facts=self._asked.facts,
            past=past,
            tail=gathered.tail if gathered else None,
            previous=self._previous(),
            secret=self._bench.store.secret,
            archive=archive_of(archived_tokens(self._view), past.pages),
        )
        compaction = self._compaction(materials)
        result = build_request(self._compacted(materials, compaction) if compaction else materials)
        return self._assembled(result, state, new, changed, gathered, compaction=compaction)

    def _past(self, state: EpochState) -> HistoryZones:
        pages = tuple(zip(state.pages, self._bench.pages.drawn(state.pages), strict=True))
        asks = not self._turn.continuing
        return self._bench.past.past(
            self._view, self._counting, asks=asks, pages=pages, hidden=state.hidden, nonce=state.nonce
        )

    def _fixed(self, state: EpochState) -> int:
        head = self._bench.heads.weighed(state, self._counting)
        return REQUEST_OVERHEAD + self._tool_tokens + (head.tokens if head else 0)

    def _assembled(
        self,
        result: BuiltRequest,
        state: EpochState,
        new: bool,
        changed: str,
        gathered: GatheredTail | None,
        *,
        compaction: ProjectedCompaction | None,
    ) -> AssembledRequest:
        told = gathered is not None and gathered.changes_part in result.tail.injected
        changes = gathered.changes if gathered and told else ()
        return AssembledRequest(
            request=result.request,
            report=result.report,
            recalled=result.tail.recalled,
            tail=cleared_parts(tuple(_storable(part) for part in result.tail.injected)),
            notices=(*(gathered.notices if gathered else ()), *((TOO_LATE,) if self._late else ())),
            epoch_changed=changed,
            compaction=compaction,
            epoch=state,
            new_epoch=new,
            sent=result.request.messages[-1] if gathered else None,
            told=tuple((change.key, change.digest, clear(change.words, TextSource.OTHER)) for change in changes),
            digest=result.digest,
            answers=self._turn.entry or self._turn.leaf or 0,
        )

    def _previous(self) -> list[Item]:
        conversation = self._turn.conversation
        last = self._bench.store.last_request(conversation.seq) if conversation else None
        return decode_items(last.state) if last else []

    # ── the tail ──

    def _gathered(self, state: EpochState) -> GatheredTail:
        bench = self._bench
        desk = TailInputs(
            self._shelf,
            self._asked.profile,
            self._budget,
            bench.settings,
            self._counting,
            bench.clock.now().astimezone(),
            bench.pictures.read_image if self._turn.attachments else None,
        )
        shown = passages_in(self._view)
        changes = unreported_changes(state, self._shelf.notes, self._shelf.skills, self._view.seqs, shown)
        return gather_tail(desk, self._turn, self._view, changes, self._recalled(state))

    def _recalled(self, state: EpochState) -> tuple[RecalledSpan, ...]:
        settings, turn = self._bench.settings, self._turn
        if turn.brought is not None:
            return turn.brought
        if not self._asked.recall:
            return ()
        here = resolve_citations(turn.text, self._bench.recall)
        limits = limits_of(settings, self._budget.total)
        if not settings.recall:  # what a message points at it brings all the same, as it does an attachment
            return cited_parts(here.passages, limits.cited, self._counting)
        entries = self._view.seqs | ({turn.entry} if turn.entry is not None else set[int]())
        standing = unchanged_notes(state, self._shelf.notes)
        shown = current_passages(passages_in(self._view), self._shelf.notes)
        wanted = RecallRequest(here.words, previous_question(self._view), entries, standing, shown, here.passages)
        if turn.ahead is None:
            return recall_passages(self._bench.search, wanted, limits, self._counting)
        found = turn.ahead.wait(settings.recall_wait)
        self._late = not turn.ahead.done
        if found is not None and not found.query.exclude <= entries:  # some of what was in view has left it since
            return recall_passages(self._bench.search, wanted, limits, self._counting)
        return fit_passages(found.results if found else None, wanted, limits, self._counting)

    # ── where it does not fit ──

    def _compaction(self, materials: RequestInputs) -> ProjectedCompaction | None:
        """The compaction that must precede this request; None where none is needed, or nothing can leave."""
        budget, settings, turn = self._budget, self._bench.settings, self._turn
        tail = self._tail_tokens(materials.tail)
        high = int(budget.total * settings.high_water)
        if materials.fixed + materials.past.tokens + tail <= high and not self._view.further:
            return None
        occasion = CompactionInputs(
            conversation=turn.conversation,
            leaf=turn.leaf,
            view=self._view,
            past=materials.past,
            fixed=materials.fixed,
            message=self._bench.conversations.entry(turn.entry) if turn.entry is not None else None,
            tail=tail,
            low=int(budget.total * settings.low_water),
            running=turn.continuing or turn.entry is not None,
            profile=self._asked.profile,
            budget=budget,
            page_room=self._page_room,
            begin=materials.state.pages_begin,
        )
        plan = plan_compaction(occasion, settings)
        if plan is None:
            return None
        shown = [entry for entry in plan.entries.kept if entry.seq != turn.entry]
        return project(self._bench, plan, self._counting, shown, asks=not turn.continuing)

    def _tail_tokens(self, tail: RequestTail | None) -> int:
        if tail is None:
            return 0
        return self._counting.weighed(Role.USER, tail.pieces).tokens

    def _compacted(self, materials: RequestInputs, projection: ProjectedCompaction) -> RequestInputs:
        """The inputs as they will be after the compaction."""
        plan, past = projection.plan, projection.past
        name, why = f"{len(plan.entries.leaving)} older entries", "they leave for the archive before this is sent"
        archive = archive_of(plan.left + archived_tokens(self._view), past.pages)
        return msgspec.structs.replace(
            materials, past=past, leaving=DroppedSource(name, plan.left, why), archive=archive
        )


def _storable(part: MessagePart) -> MessagePart:
    """The part as it may be stored beside its entry, private words removed."""
    return msgspec.structs.replace(part, text=clear(part.text, TextSource.OTHER)) if isinstance(part, Text) else part
