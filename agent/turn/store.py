"""Persistence of a turn: stores each step and gives the events that are true from then on."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Final, Protocol

import msgspec

from agent import events
from agent.background.answer_job import AnswerJob
from agent.events import SessionEvent
from agent.spending.budget import SpendingBudget
from agent.tools.delegate import Delegate, answer_entry
from agent.tools.registry import Toolbox, ToolOutput
from agent.turn.large_texts import ARCHIVES
from agent.turn.late_words import NOTICE, LateWords
from agent.turn.ports import TurnInput
from agent.turn.recorder import AnswerRecorder
from agent.turn.storage_notices import AnswerNotStored
from agent.turn.title import short_title
from agent.turn.used_files import use_cited, use_recalled
from context import AssembledRequest, Context, Turn
from context.compaction.compact import CompactionReceipt
from context.report import ContextReport
from foundation.files import UnsafePath
from foundation.privacy import EMPTY, Cleared, EchoFilter, clear, cleared_fields, edited, examine, hidden_texts
from foundation.text.analysis import TITLE
from memory.errors import MemoryFailure, StoreFull
from memory.memory import Memory
from memory.origin import DERIVED_FROM, MEMORY_TOOLS, UNTRUSTED, UNVERIFIED, Origin, origin_of, untrusted_source
from memory.records import FAILURE, MALFORMED, ONE_SHOT, STEERS, VERSIONS, Conversation, Entry, EntryDraft, EntryKind
from memory.repetition import SourceText, is_copied, only_announces, passages_of_result, repeated_sources
from models.chat.errors import KEPT
from models.chat.mlx.cache_files import generation
from models.chat.port import AnswerEnd, AnswerError, ChatModel, StopReason
from models.chat.text_tools.candidate import is_written_call
from models.cleared_parts import NO_PARTS, cleared_parts
from models.messages import Image, PromptCacheSlot, RecalledSpan, Request, Role, ToolCall, Usage, request_nonces
from models.prices import Cost

SUMMARY = TITLE
"""Meta of a tool result: the line that the screen showed of its call."""
DELEGATED_IN = "delegated_in"
"""Meta of a delegated question: the conversation (source and id) that it was delegated in, and is deleted with."""
MAX_SUMMARY = 500  # characters
DIFF = "diff"
"""Meta of a tool result: what it changed in files, as a unified diff; its first MAX_DIFF characters."""
MAX_DIFF = 40_000
PASTES = "pastes"
"""Meta of a message: where the parts that were pasted into it begin and end."""
_BLOCKS_LEFT_OUT = (
    "{:,} characters of the answer repeat text that Palimpsest added to the request; they are stored as [injected]."
)

_IN_LOOP = "The model repeated itself and was stopped; the repeated text is stored once."
_MAX_FAILURE: Final = 2_000  # characters of each part of an error that is stored


class TurnState(Protocol):
    """What a turn changes of its session."""

    report: ContextReport | None
    next_title: str
    hidden: dict[int, tuple[str, ...]]  # in memory only: what messages of a conversation hid, by the conversation's seq

    @property
    def conversation(self) -> Conversation | None: ...

    @conversation.setter
    def conversation(self, conversation: Conversation | None) -> None: ...


class StoredTurn:
    """The store of one turn (agent.turn.ports.TurnStore), over a workspace's memory."""

    def __init__(
        self,
        state: TurnState,
        memory: Memory,
        context: Context,
        model: ChatModel,
        tools: Toolbox,
        *,
        budget: SpendingBudget,
        answers: AnswerJob,
        purpose: str = "",
    ) -> None:
        """`answers` keeps those that cannot be stored.

        `purpose` is what its requests are counted under; "" for the chat's."""
        self._purpose = {"purpose": purpose} if purpose else dict[str, str]()
        self._budget = budget
        self._answers = answers
        self._state = state
        self._memory = memory
        self._context = context
        self._model = model
        self._tools = tools
        self._message: Entry | None = None
        self._newest: Entry | None = None
        self._echoes = EchoFilter()
        self._late_words = LateWords(memory)
        self._recalled: Sequence[RecalledSpan] = ()
        self._brought_back: list[SourceText] = []  # by the memory tools of this turn
        self._memory_results: list[str] = []  # of these tools, whole
        self._ran_tools = False

    @property
    def conversation(self) -> Conversation:
        assert self._state.conversation is not None
        return self._state.conversation

    @property
    def newest(self) -> Entry:
        assert self._newest is not None
        return self._newest

    def message(self, message: TurnInput) -> Sequence[SessionEvent]:
        """Stores the message, in a new conversation where there is none."""
        state, conversations = self._state, self._memory.conversations
        self._late_words.begin()
        findings = examine(message.text)
        sent = examine(message.whole) if message.whole else findings
        if state.conversation is None:
            title = clear(state.next_title) or edited(findings.cleared, short_title)
            state.conversation = conversations.new(title, labels=self._context.new_labels())
            state.next_title = ""
        elif state.conversation.leaf is None and not state.conversation.title:  # begun to set its switches
            conversations.rename(state.conversation.seq, edited(findings.cleared, short_title))
        elif ONE_SHOT in state.conversation.labels and message.again is None:
            conversations.unlabel(state.conversation.seq, ONE_SHOT)
        hidden = (*state.hidden.get(state.conversation.seq, ()), *hidden_texts(message.whole or message.text))
        if hidden:  # kept as long as requests carry the words: for the session
            state.hidden[state.conversation.seq] = tuple(dict.fromkeys(hidden))
            self._echoes = EchoFilter(hidden)
        meta: dict[str, Any] = {}
        if message.attachments:
            meta["attachments"] = [attachment.name for attachment in message.attachments]
        if spans := pasted_spans(str(findings.cleared), message.pastes):
            meta[PASTES] = spans
        if message.archives:
            meta[ARCHIVES] = list(message.archives)
        if message.delegated_by:  # a model's words: never evidence of what a person said
            meta |= _derived([message.delegated_by])
        if message.steers:
            meta[STEERS] = True
        if message.delegated_in:
            meta[DELEGATED_IN] = list(message.delegated_in)
        if message.again is not None:  # its next answer begins a branch
            self._message = self._newest = entry = conversations.entry(message.again)
            state.conversation = conversations.set_leaf(state.conversation.seq, entry.seq)
            return (events.UserStored(state.conversation.id, entry.id),)
        # The leaf is read again: another process may have continued this conversation.
        state.conversation = conversations.at(state.conversation.seq)
        draft = EntryDraft(
            conversation=state.conversation.seq,
            parent=state.conversation.leaf,
            kind=EntryKind.MESSAGE,
            role=Role.USER,
            text=findings.cleared,
            meta=cleared_fields(meta),
        )
        self._message = self._newest = entry = conversations.append(draft)
        stored = events.UserStored(state.conversation.id, entry.id, message.steers)
        if sent.unclosed or sent.injected:
            return stored, events.WordsHidden(sent.unclosed, sent.injected)
        return (stored,)

    def compacted(self, receipt: CompactionReceipt) -> None:
        self._newest = self._memory.conversations.entry(receipt.summary_seq)

    def request(self, assembled: AssembledRequest, turn: Turn) -> PromptCacheSlot:
        """Records the request, and each use of a file that was recalled into it.

        Gives its slot: with a folder where a model on mlx may save what it computes, unless private text was sent.
        """
        self._echoes = self._echoes.sealing(request_nonces(assembled.request))
        self._recalled = self._recalled if turn.continuing else assembled.recalled
        self._context.record(self.conversation, None if turn.continuing else self._message, assembled)
        if not turn.continuing and turn.brought is None:
            use_recalled(self._memory, assembled.recalled)
        self._state.report = assembled.report
        return self._cache_slot()

    def _cache_slot(self) -> PromptCacheSlot:
        slot, workspace = PromptCacheSlot(self.conversation.id), self._memory.workspace
        is_saved = self._model.profile.spec.startswith("mlx:") and not self._purpose
        if not is_saved or workspace.is_read_only or self._context.sent_private:
            return slot
        folder = workspace.prompt_caches
        try:
            return PromptCacheSlot(slot.conversation, str(folder), generation(folder))
        except (OSError, UnsafePath):  # it is read anew in the next run
            return slot

    def begin_answer(self, calls: int, arguments: int) -> AnswerRecorder:
        name = self._model.profile.name
        draft = EntryDraft(
            conversation=self.conversation.seq,
            parent=self.newest.seq,
            kind=EntryKind.MESSAGE,
            role=Role.ASSISTANT,
            speaker=clear(name),
            text=EMPTY,
        )
        answer = self._memory.conversations.begin_answer(draft)
        return AnswerRecorder(
            answer,
            name,
            calls=calls,
            arguments=arguments,
            echoes=self._echoes,
            without_forgotten=self._late_words.without,
        )

    def end_answer(
        self, recorder: AnswerRecorder, assembled: AssembledRequest, outcome: AnswerEnd | AnswerError | None
    ) -> Sequence[SessionEvent]:
        try:
            ended = self._end_answer(recorder, assembled, outcome)
            if not recorder.forgot:
                return ended
            self._late_words.purge()
            return *ended, events.Notice("warning", NOTICE)
        except MemoryFailure as error:
            if recorder.unstored is None:
                raise
            self._answers.add(recorder.unstored)
            if isinstance(error, StoreFull):
                raise AnswerNotStored(error.title, error.message, error.hint) from error
            raise

    def _end_answer(
        self, recorder: AnswerRecorder, assembled: AssembledRequest, outcome: AnswerEnd | AnswerError | None
    ) -> Sequence[SessionEvent]:
        usage = recorder.usage = self._usage(recorder, assembled)
        cost = _cost(self._budget.cost(self._model.profile, usage)) | self._purpose
        name, conversation = self._model.profile.name, self.conversation
        injected = self._echoes.injected(recorder.text)
        notices = (events.Notice("warning", _BLOCKS_LEFT_OUT.format(injected)),) if injected else ()
        match outcome:
            case AnswerEnd(reason=StopReason.CANCELLED) | None:
                partial = recorder.abandon(stopped=True, **cost)
                self._newest = partial or self._newest
                return *notices, events.Stopped(conversation.id, partial.id if partial else "", recorder.text)
            case AnswerEnd(reason=reason):
                if reason is StopReason.REPETITION:
                    recorder.keep_repetition_once()
                    notices = (*notices, events.Notice("warning", _IN_LOOP))
                derived: dict[str, Any] = self._derived_from(recorder.text, recorder.calls)
                if is_written_call(recorder.text):
                    derived[MALFORMED] = True
                if not derived and not recorder.calls:
                    derived = {UNVERIFIED: not (self._ran_tools or self._recalled or self._has_attachments)}
                self._newest = stored = recorder.finish(reason=reason.value, **cost, **derived)
                use_cited(self._memory, recorder.text, assembled.recalled)
                return (
                    *notices,
                    events.UsageKnown(usage, recorder.seconds, recorder.tokens_per_second),
                    events.AnswerStored(conversation.id, stored.id, recorder.text, usage, name, reason.value),
                )
            case AnswerError(code=code, title=title, message=message, hint=hint):
                if not recorder.text:
                    hint = hint.removeprefix(KEPT).strip()
                failure = [part[:_MAX_FAILURE] for part in (title, message, hint)]
                partial = recorder.abandon(failed=code, **{FAILURE: failure}, **cost)
                return *notices, events.TurnFailed(
                    code, title, message, hint, partial.id if partial else "", recorder.text
                )

    @property
    def _has_attachments(self) -> bool:
        return self._message is not None and "attachments" in self._message.meta

    def has_skill(self, path: str) -> bool:
        return self._memory.has_skill(path)

    def permitted(self, call: ToolCall) -> ToolCall:
        if self._echoes and self._tools.stores_arguments(call):  # what it writes, and what the person agrees to
            return msgspec.structs.replace(call, arguments=self._echoes.json(call.arguments))
        return call

    def untrusted_in_view(self) -> str:
        branch = self._memory.conversations.branch(self.newest.seq)
        return untrusted_source(reversed((*branch.summaries, *branch.entries)))

    def tool_result(self, call: ToolCall, output: ToolOutput, id_: Cleared, summary: str) -> Entry:
        output, summary = self._late_words.output_without(output), self._late_words.without(summary)
        self._ran_tools = True
        meta: dict[str, object] = {"call_id": call.id, "name": call.name, "failed": output.failed}
        if summary:
            meta[SUMMARY] = self._echoes.shortened(summary, MAX_SUMMARY)
        text = self._echoes.result(output.whole)
        if output.shown != output.whole:
            meta["shown"] = self._shown(call, output, text, id_)
        if output.malformed:
            meta[MALFORMED] = True
        if output.untrusted:
            meta[UNTRUSTED] = output.untrusted
        if output.diff:
            meta[DIFF] = self._echoes.shortened(output.diff, MAX_DIFF)
        if made := self._memory.versions.made:
            meta[VERSIONS] = list(made)
        if call.name in MEMORY_TOOLS:
            self._brought_back += passages_of_result(output.whole)
            self._memory_results.append(output.whole)
        elif answer := answer_entry(output.whole) if call.name == Delegate.facts.name else "":
            meta |= _derived([answer])
        else:
            meta |= _derived(repeated_sources(output.whole, self._recalled_sources()))
        draft = EntryDraft(
            conversation=self.conversation.seq,
            parent=self.newest.seq,
            kind=EntryKind.TOOL_RESULT,
            role=Role.TOOL,
            speaker=clear(call.name),
            text=text,
            id=id_,
            meta=self._echoes.fields(meta),
            sent=cleared_parts(output.images) if output.images else NO_PARTS,
        )
        self._newest = entry = self._memory.conversations.append(draft)
        return entry

    def _shown(self, call: ToolCall, output: ToolOutput, text: str, id_: str) -> str:
        """The piece that the model sees, cut from the cleared text: cut before, half of what is hidden would stay."""
        piece = self._tools.piece(call, output.whole, id_, failed=output.failed)
        if text == output.whole or not output.shown.startswith(piece):
            return output.shown
        return self._tools.piece(call, text, id_, failed=output.failed) + output.shown[len(piece) :]

    def _derived_from(self, answer: str, calls: Sequence[ToolCall]) -> dict[str, list[str]]:
        """Meta of an answer that only repeats what was recalled for it, or what others say in its conversation, and of
        one that only announces the memory tools which it calls."""
        about = [f"{call.name} {call.arguments}" for call in calls if call.name in MEMORY_TOOLS]
        if about and only_announces(answer, [(self._message and self._message.text) or "", *about]):
            return _derived([self.newest.id])
        if refs := repeated_sources(answer, self._recalled_sources()):
            return _derived(refs)
        if is_copied(answer, self._memory_results):
            return _derived(list(dict.fromkeys(source.ref for source in self._brought_back)) or [self.newest.id])
        return _derived(repeated_sources(answer, chain(self._recalled_sources(), self._sources_in_view())))

    def _recalled_sources(self) -> Iterator[SourceText]:
        return chain(self._brought_back, map(_source, self._recalled))

    def _sources_in_view(self) -> Iterator[SourceText]:
        """Notes, what was recalled on the branch, and what others than the model say there, newest first."""
        for note in self._memory.hot.notes():
            yield SourceText(note.id, note.text, note.heading)
        for entry in reversed(self._memory.conversations.branch(self.newest.seq).entries):
            yield from (_source(part) for part in entry.sent if isinstance(part, RecalledSpan))
            if entry.kind is EntryKind.TOOL_RESULT and entry.speaker in MEMORY_TOOLS:
                yield from passages_of_result(entry.text or "")
            elif entry.text and origin_of(entry.kind, entry.role, imported=False) is not Origin.ASSISTANT:
                yield SourceText(entry.id, entry.text)

    def _usage(self, recorder: AnswerRecorder, assembled: AssembledRequest) -> Usage:
        """The server's figures, which the counter learns from; an estimate where it gave none."""
        counter, counted = self._model.counter, assembled.report.total_tokens
        if recorder.usage.prompt_tokens and not recorder.usage.estimated:
            if not _has_image(assembled.request):
                counter.learn(counted, recorder.usage.prompt_tokens)
            return recorder.usage
        return Usage(prompt_tokens=counted, completion_tokens=counter.count(recorder.text), estimated=True)


def pasted_spans(stored: str, pastes: Sequence[str]) -> list[list[int]]:
    """Where the pasted parts are in a message as it is stored: start and end, in order."""
    spans: list[list[int]] = []
    for paste in pastes:
        text = str(clear(paste))
        start = stored.find(text, spans[-1][1] if spans else 0) if text else -1
        if start >= 0:
            spans.append([start, start + len(text)])
    return spans


def _has_image(request: Request) -> bool:
    return any(isinstance(part, Image) for message in request.messages for part in message.parts)


def _source(part: RecalledSpan) -> SourceText:
    day = f"{part.time:%B %d %A}" if part.time else ""
    return SourceText(part.citation.ref, part.text, f"{part.citation} {day}")


def _derived(refs: Sequence[str]) -> dict[str, list[str]]:
    return {DERIVED_FROM: list(refs)} if refs else {}


def _cost(cost: Cost | None) -> dict[str, Any]:
    """Meta with the cost; none where it is unknown."""
    return {"cost": cost.fields} if cost else {}
