"""Assembly of one request for a turn: reads the sources, continues or begins an epoch, and plans a compaction."""

from collections.abc import Collection

import msgspec

from context.assembly.budget import Budget, budget_for
from context.assembly.digest import Item, decode_items, tools_digest
from context.assembly.environment import WhereAndWhen
from context.assembly.excerpts import is_attached_text
from context.assembly.gather import (
    SEARCH_TOO_LATE,
    GatheredTail,
    TailInputs,
    excerpt_notices,
    excerpts_of,
    gather_tail,
    stored_parts,
)
from context.assembly.head import HeadSources, new_epoch_state
from context.assembly.history import tokens_by_entry
from context.assembly.last_conversation import LastConversation
from context.assembly.message_recall import MessageRecall
from context.assembly.observation_index import EpochIndex
from context.assembly.offered_tools import offered_tools
from context.assembly.offline_sources import NOTHING, OfflineSources, cited_notes, entry_citations, further_passages
from context.assembly.past import read_history, switched
from context.assembly.request import BuiltRequest, HistoryZones, RequestInputs, build_request
from context.assembly.tail import RequestTail, is_in_view
from context.assembly.tokens import Layer, MessageCounter
from context.assembly.view import BranchView
from context.compaction.compact import archived_tokens
from context.compaction.projection import CompactionInputs, ProjectedCompaction, plan_compaction, project
from context.epoch import NONCE_SEEN, READ_ANEW, EpochBasis, EpochState, decode_epoch, reason_to_end, with_earlier
from context.errors import HEAD_TOO_LARGE, NO_ROOM, RequestTooLarge
from context.pages.in_view import PageRequest, page_room
from context.recall.recall import limits_of
from context.recall.stale import passages_in, superseded_statements
from context.report import DroppedSource, Reduction, archive_of
from context.sources.changes import notes_in_request, unchanged_notes, unreported_changes
from context.state import ContextState
from context.types import AssembledRequest, AssemblyArguments
from context.working_set.policy import LEAST_SAVING, WorkingSet, due_entries, working_set
from context.working_set.receipt import REDUCED, reduction_receipt, reductions_in_view
from context.working_set.reductions import reduced, reductions_of
from foundation.privacy import TextSource, clear
from models.messages import Role, holds_nonce
from models.tokens import REQUEST_OVERHEAD


class RequestAssembler:
    """Assembles one request. Stores nothing."""

    def __init__(self, components: ContextState, arguments: AssemblyArguments, counting: MessageCounter) -> None:
        self._turn = arguments.turn
        self._components = components = switched(components, self._turn)
        self._counting = counting
        self._budget: Budget = budget_for(arguments.profile.window, components.settings)
        self._reading = read_history(components, self._turn, self._budget.total, counting.text)
        self._arguments = arguments = msgspec.structs.replace(arguments, tools=self._reading.tools(arguments.tools))
        sources = msgspec.structs.replace(components.sources.now(), lists_skills=arguments.lists_skills)
        self._sources: HeadSources = self._reading.sources(sources)
        self._view: BranchView = self._reading.view
        self._offered = offered_tools(arguments, self._view)
        self._tool_tokens = self._offered.head_tokens(counting)
        self._head_counting = steady = counting.steady()  # decides what of the head fits
        self._page_room = components.pages.room(arguments.profile, self._budget) if self._reading.is_whole else 0
        self._last = LastConversation(components, self._turn, arguments.profile, steady)
        self._stored_epoch: EpochState | None = None
        self._recall = MessageRecall(components, self._turn, arguments.profile, self._budget, counting)
        self._recall.is_wanted = arguments.recall
        self._index = EpochIndex(components, steady, self._budget, arguments.profile)
        self._environment = WhereAndWhen(components, arguments.profile, steady, self._budget.total)
        self._nonces_seen = 0  # choices of the head's nonce that a text of the request holds
        self._is_reducing = False  # old tool results become lines with this request
        self._shortened: EpochState | None = None  # the state that reduced what the view has reduced

    def assemble(self) -> AssembledRequest:
        """The assembled request. Raises RequestTooLarge, NoSuchSkill, BadAttachment."""
        return self._assemble_within_budget(*self._current_epoch())

    def _assemble_within_budget(self, state: EpochState, new: bool, changed: str) -> AssembledRequest:
        try:
            return self._assemble_with(state, new, changed)
        except RequestTooLarge:
            if self._page_room:  # pages are dropped first
                self._page_room = 0
                without_pages = (self._new_epoch(state.number + 1, NO_ROOM), True, NO_ROOM) if state.pages else None
                return self._assemble_within_budget(*(without_pages or (state, new, changed)))
            if self._index.leave_out(state):
                return self._assemble_within_budget(self._new_epoch(state.number + 1, NO_ROOM), True, NO_ROOM)
            head_budget = self._budget.shares[Layer.SYSTEM] + self._budget.shares[Layer.PROJECT]
            head = self._components.heads.counted(state, self._counting)
            if head.tokens <= head_budget or (new and self._head_counting is self._counting):
                raise
            self._head_counting = self._counting
            return self._assemble_with(self._new_epoch(state.number + 1, HEAD_TOO_LARGE), True, HEAD_TOO_LARGE)

    # ── epoch ──

    def _current_epoch(self) -> tuple[EpochState, bool, str]:
        """The current or a new epoch, whether it is new, and why the previous one ended."""
        conversation = self._turn.conversation
        stored = self._components.store.epoch(conversation.seq) if conversation else None
        if stored is None:
            return self._new_epoch(1, ""), True, ""
        state = self._stored_epoch = decode_epoch(stored.state)
        if state is not None:
            self._view = reduced(self._view, state.reduced)
        else:  # ended by hand: entries may have been forgotten
            self._components.pages.forget()
        reason = self._reason_to_end(state) if state else stored.reason
        if state and not reason:
            return state, False, ""
        return self._new_epoch(stored.number + 1, reason), True, reason if reason != READ_ANEW else ""

    def _reason_to_end(self, state: EpochState) -> str:
        pages = self._components.pages
        return reason_to_end(state, self._basis()) or pages.reason_to_end(
            state.pages, state.pages_digest, self._arguments.profile
        )

    def _basis(self) -> EpochBasis:
        summaries = self._view.summaries
        return EpochBasis(
            model=self._arguments.profile.spec,
            window=self._budget.window,
            tools=tools_digest(self._arguments.tools),
            files=self._sources.digests,
            summary=summaries[-1].seq if summaries else None,
            reading=self._reading.key,
        )

    def _new_epoch(self, number: int, reason: str) -> EpochState:
        state = new_epoch_state(
            self._sources,
            self._basis(),
            self._budget,
            self._head_counting,
            tools=self._offered.head_tokens(self._head_counting),
            number=number,
            reason=reason,
            nonce=self._components.nonce(self._nonces_seen),
        )
        state = self._index.added(state, self._stored_epoch, self._view.seqs)
        state = self._last.added(state, self._stored_epoch)
        state = self._environment.added(state)
        if (known := self._shortened or self._stored_epoch) is not None:
            seqs = self._view.reduced
            kept = {seq: known.whole[seq] for seq in seqs if seq in known.whole}
            state = msgspec.structs.replace(state, reduced={seq: known.reduced[seq] for seq in seqs}, whole=kept)
        if (before := self._stored_epoch) is not None:
            state = with_earlier(state, before)
            if before.summary != state.summary:  # the conversation is read anew in any case
                state = self._reduced(state, due_entries(self._view, tokens_by_entry(self._history(state))))
        return self._add_pages(state) if self._page_room and self._view.summaries else state

    def _next_reduction(self, state: EpochState, inputs: RequestInputs) -> EpochState | None:
        """The epoch after this one, with all reductions that are due; None where the request is within the working
        set, or too little would be saved."""
        size = inputs.fixed + inputs.history.tokens + self._tail_tokens(inputs.tail)
        if self._is_reducing or size <= self._working_set(inputs).high:
            return None
        due = due_entries(self._view, tokens_by_entry(inputs.history))
        if sum(due.values()) < inputs.history.tokens * LEAST_SAVING:
            return None
        self._is_reducing = True
        shorter = self._reduced(state, due)
        return msgspec.structs.replace(shorter, number=state.number + 1, reason=REDUCED)

    def _reduced(self, state: EpochState, due: Collection[int]) -> EpochState:
        """The state with further entries reduced."""
        text_of, observed = self._components.history.text_of, self._components.observed_by_now(self._turn)
        lines = reductions_of([e for e in self._view.entries if e.seq in due], text_of, observed)
        tokens = tokens_by_entry(self._history(state))
        whole = {**state.whole, **{seq: tokens[seq] for seq in lines if seq in tokens}}
        state = msgspec.structs.replace(state, reduced={**state.reduced, **lines}, whole=whole)
        self._view = reduced(self._view, state.reduced)
        self._shortened = state
        return state

    def _add_pages(self, state: EpochState) -> EpochState:
        """Adds pages of the oldest turns to the epoch, where the model accepts images and the budget allows."""
        head = self._components.heads.counted(state, self._counting)
        other_tokens = self._history(state).tokens + REQUEST_OVERHEAD + self._tool_tokens + head.tokens
        selection = self._components.pages.choose(
            PageRequest(
                leaf=self._turn.leaf,
                in_view=self._view.seqs,
                summaries=tuple(summary.seq for summary in self._view.summaries),
                profile=self._arguments.profile,
                counting=self._counting,
                nominal=self._page_room,
                room=page_room(self._page_room, self._budget, other_tokens),
                begin=self._stored_epoch.pages_begin if self._stored_epoch else None,
            )
        )
        unread = tuple((Layer.CONVERSATION.value, DroppedSource("a page in view", 0, why)) for why in selection.unread)
        return msgspec.structs.replace(
            state,
            pages=selection.pages,
            pages_digest=selection.digest,
            pages_begin=selection.begin,
            hidden=selection.hidden,
            dropped=state.dropped + unread,
        )

    # ── request ──

    def _assemble_with(self, state: EpochState, new: bool, changed: str) -> AssembledRequest:
        history = self._history(state)
        gathered = None if self._turn.continuing else self._gather_tail(state)
        inputs = RequestInputs(
            profile=self._arguments.profile,
            budget=self._budget,
            counting=self._counting,
            state=state,
            head=self._components.heads.counted(state, self._counting),
            tools=self._offered.tools,
            tools_stated=self._offered.in_messages,
            tool_tokens=self._tool_tokens,
            facts=self._arguments.facts,
            offline=self._offline_sources(state, gathered),
            history=history,
            tail=gathered.tail if gathered else None,
            previous=self._previous_items(),
            secret=self._components.store.secret,
            archive=archive_of(archived_tokens(self._view), history.pages),
        )
        if (shorter := self._next_reduction(state, inputs)) is not None:
            return self._assemble_with(shorter, True, changed or shorter.reason)
        compaction = self._compaction(inputs)
        result = build_request(self._after_compaction(inputs, compaction) if compaction else inputs)
        if holds_nonce(result.request, state.nonce):
            self._nonces_seen += 1
            return self._assemble_with(self._new_epoch(state.number + 1, NONCE_SEEN), True, changed or NONCE_SEEN)
        high = self._working_set(inputs).high
        return self._result(result, state, new, changed, gathered, compaction=compaction, compacts_at=high)

    def _history(self, state: EpochState, view: BranchView | None = None) -> HistoryZones:
        pages = tuple(zip(state.pages, self._components.pages.draw(state.pages), strict=True))
        return self._components.history.zones(
            view or self._view,
            self._counting,
            question_follows=not self._turn.continuing,
            pages=pages,
            hidden=state.hidden,
            nonce=state.nonce,
        )

    def _result(
        self,
        result: BuiltRequest,
        state: EpochState,
        new: bool,
        changed: str,
        gathered: GatheredTail | None,
        *,
        compaction: ProjectedCompaction | None,
        compacts_at: int,
    ) -> AssembledRequest:
        is_reported = gathered is not None and gathered.changes_part in result.tail.injected
        changes = gathered.changes if gathered and is_reported else ()
        reductions = self._reductions(state)
        total = result.report.total_tokens
        excerpts = excerpts_of(result.tail.pieces, self._turn.attachments if gathered else ())
        return AssembledRequest(
            request=result.request,
            parts=result.parts,
            report=msgspec.structs.replace(
                result.report,
                reduced=reductions,
                compacts_at=compacts_at,
                before_compaction=compaction.plan.unchanged if compaction else 0,
            ),
            reduction=None if compaction else reduction_receipt(reductions, self._reduced_before, total),
            recalled=result.tail.recalled,
            tail=stored_parts(result.tail.injected),
            notices=(
                *((*self._reading.notices, *self._last.notices(state), *gathered.notices) if gathered else ()),
                *excerpt_notices(excerpts),
                *((SEARCH_TOO_LATE,) if self._recall.is_late else ()),
            ),
            skill=gathered.skill if gathered else None,
            shortened=tuple(name for name, _ in excerpts),
            epoch_changed=changed,
            compaction=compaction,
            epoch=state,
            new_epoch=new,
            sent=result.request.messages[-1] if gathered else None,
            reported=tuple((change.key, change.digest, clear(change.text, TextSource.OTHER)) for change in changes),
            digest=result.digest,
            answers=self._turn.entry or self._turn.leaf or 0,
        )

    def _reductions(self, state: EpochState) -> tuple[Reduction, ...]:
        return reductions_in_view(self._view, state.whole, tokens_by_entry(self._history(state)))

    @property
    def _reduced_before(self) -> list[str]:
        """The ids of the entries that the last request had reduced already."""
        before = self._stored_epoch.reduced if self._stored_epoch else {}
        return [entry.id for entry in self._view.entries if entry.seq in before]

    def _saved(self, state: EpochState) -> int:
        """Tokens that are reduced with this request."""
        return sum(item.saved for item in self._reductions(state) if item.entry not in self._reduced_before)

    def _previous_items(self) -> list[Item]:
        conversation = self._turn.conversation
        last = self._components.store.last_request(conversation.seq) if conversation else None
        return decode_items(last.state) if last else []

    # ── tail ──

    def _gather_tail(self, state: EpochState) -> GatheredTail:
        components = self._components
        inputs = TailInputs(
            self._sources,
            self._arguments.profile,
            self._budget,
            components.settings,
            self._counting,
            self._environment.now,
            components.pictures.read_image if self._turn.attachments else None,
        )
        passages = passages_in(self._view)
        changes = unreported_changes(state, self._sources.notes, self._sources.skills, self._view.seqs, passages)
        changes += self._environment.changes(state, self._view.seqs)
        attached = [part.text for entry in self._view.entries for part in entry.sent if is_attached_text(part)]
        unchanged = unchanged_notes(state, self._sources.notes)
        brought = self._recall.passages(self._view, self._reading.excluded, self._sources.notes, unchanged)
        recalled = [span for span in brought if not is_in_view(span, attached)]
        return gather_tail(inputs, self._turn, self._view, changes, recalled, tools=self._offered.piece)

    def _offline_sources(self, state: EpochState, gathered: GatheredTail | None) -> OfflineSources:
        if self._arguments.profile.spec != "offline" or not self._components.settings.use_memory:
            return NOTHING
        recalled, now = gathered.tail.recalled if gathered else (), self._components.clock.now()
        limits = limits_of(self._components.settings, self._budget.total)
        whole = further_passages(self._components, self._turn, self._view, recalled, limits) if gathered else ()
        return OfflineSources(
            whole=whole,
            notes=cited_notes(notes_in_request(state, self._sources.notes)),
            citations=entry_citations(self._view),
            superseded=superseded_statements(self._turn.text, now, self._view, (*recalled, *whole)) if gathered else {},
        )

    # ── compaction ──

    def _compaction(self, inputs: RequestInputs) -> ProjectedCompaction | None:
        """The compaction that must precede this request; None where none is needed or no entry can leave."""
        budget, settings, turn = self._budget, self._components.settings, self._turn
        tail = self._tail_tokens(inputs.tail)
        working = self._working_set(inputs)
        before = inputs.fixed + inputs.history.tokens
        is_within = before + tail <= working.high and not (self._is_reducing and before > working.fold)
        if turn.uncompacted or (is_within and not self._view.further):
            return None
        whole = self._reading.is_whole  # else what the switches leave out leaves first: the summary covers it
        compaction_inputs = CompactionInputs(
            conversation=turn.conversation,
            leaf=turn.leaf,
            view=self._view if whole else self._reading.whole,
            history=inputs.history if whole else self._history(inputs.state, self._reading.whole),
            fixed=inputs.fixed,
            message=self._components.conversations.entry(turn.entry) if turn.entry is not None else None,
            tail=tail,
            low=working.low,
            high=working.fold if self._is_reducing else working.high,
            running=turn.is_sent,
            profile=self._arguments.profile,
            budget=budget,
            page_room=self._page_room,
            begin=inputs.state.pages_begin,
            whole=inputs.state.whole,
            saved=self._saved(inputs.state),
        )
        plan = plan_compaction(compaction_inputs, settings, self._components.history.text_of)
        if plan is None:
            return None
        remaining = [entry for entry in plan.entries.kept if entry.seq != turn.entry]
        return project(self._components, plan, self._counting, remaining, question_follows=not turn.continuing)

    def _working_set(self, inputs: RequestInputs) -> WorkingSet:
        tokens = tokens_by_entry(inputs.history)
        return working_set(self._budget, self._components.settings, inputs.fixed, self._view, tokens)

    def _tail_tokens(self, tail: RequestTail | None) -> int:
        return self._counting.counted_message(Role.USER, tail.pieces).tokens if tail else 0

    def _after_compaction(self, inputs: RequestInputs, projection: ProjectedCompaction) -> RequestInputs:
        """The request's inputs after the compaction."""
        plan, history = projection.plan, projection.history
        name, why = f"{len(plan.entries.leaving)} older entries", "archived before this message is sent"
        archive = archive_of(plan.original_tokens + archived_tokens(self._view), history.pages)
        return msgspec.structs.replace(
            inputs, history=history, leaving=DroppedSource(name, plan.leaving_tokens, why), archive=archive
        )
