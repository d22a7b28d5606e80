"""Plan of a compaction, and the projected history after it: the summary, and the pages that show the oldest turns.

`Context.assemble` plans a compaction that a request needs, `Context.plan_compaction` one that a person requests;
`Context.compact` carries out both.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct

from context.assembly.budget import Budget
from context.assembly.history import tokens_by_entry
from context.assembly.request import HistoryZones
from context.assembly.tokens import MessageCounter
from context.assembly.view import BranchView
from context.checklist import carried_checklist, is_checklist, without_checklist
from context.compaction.audit import CARRY_SHARE, KEPT_HEADING, AuditSources, CompactionAudit, audit, kept_lines
from context.compaction.carried import (
    FILES_SHARE,
    OWN,
    OWN_FRAME,
    TouchedFiles,
    carried_text,
    fitting_words,
    own_messages,
    own_room,
    touched_files,
    without_carried,
)
from context.compaction.focus import FOCUS_PREFIX, Focus, focus_in
from context.compaction.plan import CompactionBudget, CompactionPlan, plan_entries
from context.compaction.summary import SummaryEntry
from context.compaction.summary_port import SummaryTask, WrittenSummary
from context.errors import UselessCompaction
from context.pages.in_view import TO_COME, PageRequest, page_room
from context.pages.recipe import ChapterStart
from context.settings import ContextSettings
from foundation.privacy import Cleared, TextSource, clear
from foundation.text.repeats import without_repeats
from memory.origin import UNVERIFIED
from memory.records import Conversation, Entry
from models.chat.port import Profile
from models.fence import SAMPLE_NONCE, label, neutralise, reference
from models.messages import Role

if TYPE_CHECKING:  # import cycle
    from context.state import ContextState


NO_FOCUS: Final = clear("")


class CompactionInputs(Struct, frozen=True, kw_only=True):
    """Inputs of a compaction: a branch, its view, and the other parts of the request.

    `fixed` counts the tokens outside the conversation, `tail` the tokens of `message`, the question being sent; without
    one those of what any next message brings.
    """

    conversation: Conversation | None
    leaf: int | None
    view: BranchView
    history: HistoryZones
    fixed: int
    message: Entry | None = None
    tail: int = 0
    low: int  # target tokens of the request after the compaction
    high: int  # tokens above which the running turn's older rounds leave too
    running: bool
    profile: Profile
    budget: Budget
    page_room: int  # maximum tokens of pages in a request
    begin: ChapterStart | None = None  # where the pages of the current epoch begin
    whole: Mapping[int, int] = msgspec.field(default_factory=dict[int, int])  # tokens of reduced entries before
    saved: int = 0  # tokens that are reduced with this compaction, and were in the request before it


class PlannedCompaction(Struct, frozen=True, kw_only=True):
    """Planned compaction: its inputs, the entries that leave, and the request's figures."""

    inputs: CompactionInputs
    entries: CompactionPlan
    tokens: Mapping[int, int]  # by entry in view, the message included
    before: int  # tokens of the whole request, with what is reduced at the same time
    extra_page_tokens: int  # tokens that pages in view will take beyond the present ones
    focus: Cleared = NO_FOCUS  # what the summary keeps first

    @property
    def leaving_tokens(self) -> int:
        """Tokens of the entries that leave."""
        return self._of(self.entries.leaving)

    @property
    def original_tokens(self) -> int:
        """Tokens of the entries that leave, as they were sent before any was reduced."""
        whole = self.inputs.whole
        return sum(max(self.tokens.get(e.seq, 0), whole.get(e.seq, 0)) for e in self.entries.leaving)

    @property
    def unchanged(self) -> int:
        """Tokens of the whole request as it would be sent with nothing reduced and nothing archived."""
        return self.before + self.inputs.saved

    @property
    def remaining_tokens(self) -> int:
        """Tokens of the request after the compaction, without summaries and pages."""
        inputs = self.inputs
        return inputs.fixed + (inputs.tail if inputs.message is None else 0) + self._of(self.entries.kept)

    def _of(self, entries: Sequence[Entry]) -> int:
        return sum(self.tokens.get(entry.seq, 0) for entry in entries)


class ProjectedCompaction(Struct, frozen=True):
    """A plan, the text of its summary, and the history as the next request will show it.

    `written`: the summary as a model wrote it, with its cost; None where no model was asked.
    """

    plan: PlannedCompaction
    text: Cleared
    history: HistoryZones
    written: WrittenSummary | None = None
    own: tuple[int, ...] = ()  # seqs of the user's messages that the summary has word for word
    files: TouchedFiles = TouchedFiles()
    audit: CompactionAudit = CompactionAudit()
    focus_lines: int = 0  # of the summary, about the plan's focus

    def require_use(self) -> None:
        """Raises AuditFailed where something would be lost, UselessCompaction where the request would not shrink."""
        self.audit.require()
        if self.after >= self.plan.before:
            raise UselessCompaction(
                "Nothing was archived",
                f"The request would not get smaller: {self.plan.before:,} tokens now, {self.after:,} with the summary.",
                "Try again when the conversation is longer. /context shows what takes up the space.",
            )

    @property
    def after(self) -> int:
        """Tokens of the whole request after the compaction."""
        return self.plan.remaining_tokens + sum(tokens for _, tokens in self.history.summaries)


def plan_compaction(
    inputs: CompactionInputs, settings: ContextSettings, text_of: Callable[[Entry], str], focus: str = ""
) -> PlannedCompaction | None:
    """Plans a compaction; None where no entry can leave. `focus`: what its summary keeps first; without one that of the
    newest summary that it replaces."""
    history, view, message = inputs.history, inputs.view, inputs.message
    tokens = dict(tokens_by_entry(history))
    fixed = inputs.fixed
    if message is None:
        fixed += inputs.tail
    else:
        tokens[message.seq] = inputs.tail
        view = BranchView(view.summaries, (*view.entries, message), view.further, view.reduced)
    summaries = sum(count for _, count in history.summaries)
    pages = _expected_pages(inputs.page_room, history)
    figures = CompactionBudget(
        fixed + pages,
        summaries - history.page_tokens,
        inputs.low,
        inputs.high,
        own_room(inputs.budget.total, fixed, inputs.high, inputs.page_room),
    )
    entries = plan_entries(view, tokens, figures, settings, running=inputs.running)
    if entries is None:
        return None
    return PlannedCompaction(
        inputs=inputs,
        entries=entries,
        tokens=tokens,
        before=inputs.fixed + inputs.tail + history.tokens,
        extra_page_tokens=pages - history.page_tokens,
        focus=_focus(focus, view.summaries if entries.joins else (), text_of),
    )


def project(
    components: "ContextState",
    plan: PlannedCompaction,
    counting: MessageCounter,
    shown: Sequence[Entry] = (),
    *,
    question_follows: bool = False,
    written: WrittenSummary | None = None,
) -> ProjectedCompaction:
    """Projects the history after the plan: its summary, then the entries `shown`.

    `question_follows`: a user's message comes next. `written`: the summary, where a model was asked for it.
    """
    reader, inputs, entries = components.history, plan.inputs, plan.entries
    if inputs.running:
        components.flush()
    view = inputs.view
    text = written.text if written else summary_task(plan, reader.text_of, counting).extract()
    focus_lines = sum(1 for _ in Focus(plan.focus).lines_of([text]))
    carried = _carry(components, plan, counting)
    text = "\n".join(filter(None, (_framed(plan, text), carried.text)))
    found = _audited(components, plan, counting, text)
    lines = [KEPT_HEADING, *found.carried] if found.carried else []
    checklist = carried_checklist(_plan_sources(plan, reader.text_of))
    text = clear("\n".join(filter(None, (text, *lines, checklist))), TextSource.OTHER)
    summary_texts = {} if entries.joins else {entry.seq: reader.text_of(entry) for entry in view.summaries}
    summary_texts[TO_COME] = text
    summary_tokens = sum(map(counting.text, summary_texts.values()))
    selection = components.pages.choose(
        PageRequest(
            leaf=inputs.leaf,
            in_view=view.seqs,
            summaries=tuple(summary_texts),
            leaving=entries.leaving,
            profile=inputs.profile,
            begin=inputs.begin,
            counting=counting,
            nominal=inputs.page_room,
            room=page_room(inputs.page_room, inputs.budget, plan.remaining_tokens + summary_tokens),
        )
    )
    pages = tuple(zip(selection.pages, components.pages.draw(selection.pages), strict=True))
    texts = [text for seq, text in summary_texts.items() if seq not in selection.hidden]
    history = reader.zones_of(
        texts,
        shown,
        counting,
        question_follows=question_follows,
        pages=pages,
        nonce=SAMPLE_NONCE,
        reduced=view.reduced,
    )
    return ProjectedCompaction(plan, text, history, written, carried.words, carried.files, found, focus_lines)


def summary_task(planned: PlannedCompaction, text_of: Callable[[Entry], str], counting: MessageCounter) -> SummaryTask:
    """What the summary of a plan is made of. Private text and secrets are removed."""
    plan, view = planned.entries, planned.inputs.view
    entries = summary_entries(plan.leaving, text_of)
    earlier = tuple(without_carried(without_checklist(text_of(s))) for s in view.summaries) if plan.joins else ()
    return SummaryTask(
        entries=entries, before=earlier, limit=plan.summary_limit, count=counting.text, focus=planned.focus
    )


def summary_entries(entries: Sequence[Entry], text_of: Callable[[Entry], str]) -> tuple[SummaryEntry, ...]:
    """The entries as a summariser reads them: without private text, secrets, plans of the model and malformed calls."""
    return tuple(
        SummaryEntry(
            reference(entry.id),
            label(entry.speaker or entry.role.value),
            entry.role is Role.USER,
            entry.time,
            text,
            bool(entry.meta.get(UNVERIFIED)),
        )
        for entry in entries
        if not is_checklist(entry)
        and entry.is_evidence
        and (text := neutralise(clear(_without_loop(entry, text_of), TextSource.OTHER)))
    )


def _without_loop(entry: Entry, text_of: Callable[[Entry], str]) -> str:
    return without_repeats(text_of(entry)) if entry.role is Role.ASSISTANT else text_of(entry)


def _plan_sources(planned: PlannedCompaction, text_of: Callable[[Entry], str]) -> list[str]:
    """The texts that may hold the model's plan, oldest first; none where an entry that stays holds it."""
    entries = planned.entries
    if any(map(is_checklist, entries.kept)):
        return []
    earlier = planned.inputs.view.summaries if entries.joins else ()
    return [text_of(entry) for entry in (*earlier, *filter(is_checklist, entries.leaving))]


def _focus(words: str, replaced: Sequence[Entry], text_of: Callable[[Entry], str]) -> Cleared:
    """The words of the focus on one line."""
    words = words or next(
        filter(None, (focus_in(without_carried(text_of(summary))) for summary in reversed(replaced))), ""
    )
    return clear(neutralise(" ".join(words.split())))


def _framed(planned: PlannedCompaction, text: str) -> str:
    focus = f"{FOCUS_PREFIX}{planned.focus}" if planned.focus else ""
    further = "Entries before these are found by search." if planned.inputs.view.further else ""
    return "\n".join(filter(None, (text, focus, further)))


class _Carried(Struct, frozen=True):
    text: str
    words: tuple[int, ...]
    files: TouchedFiles


def _carry(components: "ContextState", planned: PlannedCompaction, counting: MessageCounter) -> _Carried:
    """What the summary carries word for word; also what the summaries carried that it replaces."""
    plan, inputs, text_of = planned.entries, planned.inputs, components.history.text_of
    summaries = inputs.view.summaries

    def own_of(summary: Entry) -> list[Entry]:
        seqs: list[int] = summary.meta.get(OWN) or []
        return list(components.conversations.entries(seqs).values())

    def count(entry: Entry) -> int:
        return counting.text(text_of(entry)) + OWN_FRAME

    earlier = [entry for summary in summaries for entry in own_of(summary)]
    room = own_room(inputs.budget.total, inputs.fixed, inputs.high, inputs.page_room)
    if not plan.joins:
        room, earlier = room - sum(map(count, earlier)), []
    messages = {entry.seq: entry for entry in (*earlier, *own_messages(plan.leaving))}
    words = fitting_words([messages[seq] for seq in sorted(messages)], count, room)
    files = touched_files(plan.leaving, summaries if plan.joins else ())
    files_room = int((inputs.high - inputs.fixed) * FILES_SHARE)
    text = carried_text(words, files, text_of, counting.text, files_room)
    return _Carried(text, tuple(entry.seq for entry in words), files)


def _audited(
    components: "ContextState", planned: PlannedCompaction, counting: MessageCounter, summary: str
) -> CompactionAudit:
    plan, inputs, text_of = planned.entries, planned.inputs, components.history.text_of
    earlier = [line for entry in inputs.view.summaries for line in kept_lines(text_of(entry))] if plan.joins else []
    seqs = [entry.seq for entry in plan.leaving]
    indexed, observed = components.conversations.recallable(seqs), components.observed(seqs)
    room = int((inputs.high - inputs.fixed) * CARRY_SHARE)
    sources = AuditSources(plan.leaving, text_of, indexed, components.search, observed, plan.kept)
    return audit(sources, summary, lambda lines: counting.text(lines) <= room, earlier)


def _expected_pages(room: int, history: HistoryZones) -> int:
    """Estimated tokens of pages after the compaction: at most half of the text that they show."""
    turns = sum(tokens for _, tokens in history.turns)
    return min(room, history.page_tokens + turns // 2)
