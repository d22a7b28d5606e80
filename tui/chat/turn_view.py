"""Renders turn events into the transcript and the status bar."""

import time
from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from agent.events import (
    AnswerStored,
    Archiving,
    CallWritten,
    Compacted,
    ContextOverflowed,
    ContextReady,
    EpochChanged,
    ModelConnected,
    Notice,
    PermissionDenied,
    Prefill,
    ReasoningDelta,
    Recall,
    ResultsReduced,
    Retrying,
    SessionEvent,
    Stopped,
    Summarising,
    TextDelta,
    TextWithdrawn,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnFailed,
    UsageKnown,
    UserStored,
    VersionMade,
    WordsHidden,
)
from agent.services.prompt_progress import PromptProgress
from agent.services.turn_sentences import (
    ARCHIVED,
    EMPTY_ANSWER,
    ENDINGS,
    STEERED,
    STOPPED,
    STOPPED_WITH_TEXT,
    epoch_notice,
    reduction_line,
)
from agent.turn import storage_notices
from foundation.figures import short_count
from foundation.terminal_text import without_colours
from models.chat.errors import KEPT
from tui.chat.activity import Activity
from tui.chat.blocks import StoredTexts, messages_block, recalled_items, receipt_block
from tui.chat.reasoning_view import ReasoningView
from tui.chat.tool_cards import ToolCards
from tui.chat.version_block import version_block
from tui.widgets.status import StatusBar
from tui.widgets.transcript.block import BlockText
from tui.widgets.transcript.items import ErrorItem, MutedLine, TranscriptItem, UserItem, notice_line
from tui.widgets.transcript.view import Transcript

MAX_PROGRESS: Final = 60  # characters of a running tool's last line, in the status bar
WAITING: Final = "waiting for the first words"


class TurnView:
    """Renders one turn. Call `write` with each event, in order, and `tick` now and then for the seconds."""

    def __init__(
        self,
        transcript: Transcript,
        status: StatusBar,
        *,
        texts: StoredTexts | None = None,
        message: UserItem | None = None,
        quotes: bool = False,
        known: frozenset[str] = frozenset(),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`texts` reads what blocks open to; `message` gets its id once it is stored. `known` are changes that need no
        notice. `quotes`: the answer consists of quotations with citations, so its speed and sources are not shown.
        """
        self._transcript = transcript
        self._status = status
        self._clock = clock
        self._activity = Activity(status, clock)
        self._progress = PromptProgress(clock)
        self._texts = texts
        self._message = message
        self._conversation = ""  # its id
        self._reasoning = ReasoningView(transcript)
        self._cards = ToolCards(transcript, clock)
        self._quotes = quotes
        self._known_changes = known
        self._retry: MutedLine | None = None  # the notice of the last retry, which the next one of the request replaces
        self._answering = False  # whether the answer has started
        self._is_open = False  # whether a request has not got its whole answer yet
        self._after_tool = False  # whether a tool's result is the last thing shown
        self.failed = False  # whether the turn ended without an answer

    def tick(self) -> None:
        """Shows the seconds of what is waited for, and of each call that runs."""
        self._activity.tick()
        self._cards.tick()
        self._reasoning.tick()

    def write(self, event: SessionEvent) -> None:
        match event:
            case TextDelta(text=text):
                self._write_text(text)
            case ReasoningDelta(text=text, seconds=seconds):
                self._reasoning.take(text, seconds)
                thought = short_count(self._reasoning.chars)
                self._activity.show("thinking", f"{thought} characters", may_stall=True)
            case TextWithdrawn(text=text):
                self._transcript.withdraw_stream()
                self._answering = False
                self._reasoning.take(text, 0.0)
                self._reasoning.end()
            case ContextReady(report=report, unread=unread, tokens_per_second=speed):
                self._reasoning.end()
                self._is_open = True
                self._status.show_request(report)
                self._progress.begin(unread, speed)
                self._show_reading("connecting")
            case Recall(recalled=recalled):
                self._transcript.add(*([] if self._quotes else recalled_items(recalled)))
            case UsageKnown(tokens_per_second=speed):
                self._is_open = False
                self._status.update_info(speed=0.0 if self._quotes else speed)
            case UserStored(conversation=conversation, entry=entry):
                self._conversation = conversation
                if self._message is not None:
                    self._transcript.replace_item(self._message, [replace(self._message, entry=entry)])
                self._activity.show("searching memory")
            case AnswerStored() | Stopped() | TurnFailed():
                self._finish(event)
            case _:
                self._write_waiting(event)

    def steer(self, message: UserItem, *others: TranscriptItem) -> None:
        """Shows a message that the turn took, below the answer that ended for it."""
        self._reasoning.end()
        self._transcript.end_stream()
        if self._is_open:
            self._muted_line(STEERED, gap=True)
        self._transcript.add(message, *others)
        self._message, self._answering, self._after_tool = message, False, False

    def _write_waiting(self, event: SessionEvent) -> None:
        """Shows what is waited for."""
        match event:
            case Prefill(done=done, total=total):
                self._progress.take(done, total)
                self._show_reading(WAITING)
            case ModelConnected():
                self._show_reading(WAITING)
            case CallWritten(tool=tool, chars=chars):
                figures = f"{short_count(chars)} characters"
                self._activity.show(f"writing the arguments of {tool}", figures, may_stall=True)
            case Archiving(names=names):
                self._activity.show(f"archiving {', '.join(names)}")
            case Summarising():
                self._activity.show("summarising older turns")
            case _:
                self._write_muted(event)

    def _show_reading(self, otherwise: str) -> None:
        """Shows how far the server reports the prompt as read; before a report, and after its end, `otherwise`."""
        progress = self._progress
        is_reading = progress.is_reported and not progress.is_read
        self._activity.show(
            "reading" if is_reading else otherwise,
            "" if progress.is_read else progress.figures,
            gap=" " if is_reading else " · ",
            left=progress.left,
        )

    def _write_text(self, text: str) -> None:
        self._reasoning.end()
        if self._after_tool and text.strip():
            self._after_tool = self._answering = False  # an answer of its own, as it is stored
        self._transcript.feed(text, marked=not self._answering)
        self._answering = True
        self._activity.show("answering", may_stall=True)

    def _write_retry(self, event: Retrying) -> None:
        self._activity.show(event.summary)
        if not event.number:  # while a server loads its model, there is one a second
            return
        notice, before = MutedLine(event.text), self._retry if event.number > 1 else None
        if before is not None:
            notice = replace(notice, gap=before.gap)
        if before is None or not self._transcript.replace_item(before, [notice]):
            self._transcript.add_notices(notice)
            last = self._transcript.line_cache.items[-1]  # with a gap above it, where it needs one
            notice = last if isinstance(last, MutedLine) else notice
        self._retry = notice

    def _write_muted(self, event: SessionEvent) -> None:
        match event:
            case Notice(entries=entries) if entries and self._texts:
                self._transcript.add(messages_block(event, self._texts))
            case Notice(
                level=level, text=storage_notices.FULL | storage_notices.REFUSED | storage_notices.STORED as text
            ):
                self._activity.is_stored = text == storage_notices.STORED
                self._transcript.interject(replace(notice_line(level, text), gap=True))
                self._activity.tick()
            case Notice(level=level, text=text):
                self._transcript.add_notices(notice_line(level, text))
            case Retrying():
                self._write_retry(event)
            case WordsHidden(text=text) | ContextOverflowed(text=text):
                self._transcript.add_notices(notice_line("warning", text))
            case EpochChanged(reason=reason):
                if notice := epoch_notice(reason, known=self._known_changes):
                    self._transcript.add_notices(MutedLine(notice))
            case Compacted(receipt=receipt):
                self._known_changes |= {ARCHIVED}
                summary, texts = receipt.summary_seq, self._texts
                read = texts.whole(texts.by_seq(summary)) if texts and summary else None
                self._transcript.add(receipt_block(receipt.summary_entry, receipt.text, read))
            case ResultsReduced(receipt=receipt):
                reduced = BlockText("\n".join(map(reduction_line, receipt.reductions)))
                self._transcript.add(receipt_block(f"reduced:{receipt.tokens_after}", receipt.text, lambda: reduced))
            case _:
                self._write_tool(event)

    def _write_tool(self, event: SessionEvent) -> None:
        match event:
            case ToolStarted(summary=summary, call=call):
                self._reasoning.end()
                self._cards.start(call, summary)
                self._activity.show(f"running {call.name}")
            case PermissionDenied(call=call, reason=reason):
                self._cards.deny(call, reason)
            case ToolProgress(call=call, text=text):
                text = without_colours(text)
                self._cards.progress(call, text)
                if last := text.strip().rpartition("\n")[2].strip():
                    self._activity.show(f"running {call.name}", last[:MAX_PROGRESS])
            case ToolFinished(call=call, chars=chars, failed=failed, shown=shown, entry=entry, diff=diff):
                texts = self._texts
                read = texts.result(texts.by_id(self._conversation, entry)) if texts else None
                self._cards.finish(call, without_colours(shown), chars, read, failed=failed, diff=diff)
                self._after_tool = True
            case VersionMade():
                self._transcript.add(version_block(event, self._texts.memory if self._texts else None))
            case _:
                pass

    def _muted_line(self, text: str, *, gap: bool = False) -> None:
        self._transcript.add(MutedLine(text, gap=gap))

    def _finish(self, event: AnswerStored | Stopped | TurnFailed) -> None:
        self._reasoning.end()
        self._transcript.end_stream()
        self.failed = not isinstance(event, AnswerStored)
        match event:
            case AnswerStored(reason=reason, text=text):
                if not text.strip():
                    self._muted_line(EMPTY_ANSWER, gap=True)
                elif reason in ENDINGS:
                    self._muted_line(ENDINGS[reason], gap=True)
            case Stopped(text=text):
                self._muted_line(STOPPED_WITH_TEXT if text else STOPPED, gap=True)
            case TurnFailed(title=title, message=message, hint=hint, text=text):
                self._status.update_info(speed=0.0)  # that of an earlier answer
                self._transcript.add(ErrorItem(title, message, hint))
                if text and not hint.startswith(KEPT):
                    self._muted_line("the partial answer is saved")
        self._cards.end()
        self._activity.end()
