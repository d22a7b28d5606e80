"""Renders turn events into the transcript and the status bar."""

import time
from collections import Counter
from collections.abc import Callable
from typing import Final

from agent.events import (
    AnswerStored,
    Archiving,
    Compacted,
    ContextOverflowed,
    ContextReady,
    EpochChanged,
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
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnFailed,
    UsageKnown,
    UserStored,
    WordsHidden,
)
from models.messages import RecalledSpan, ToolCall
from models.recalled import LEFT_BRANCH
from tui.chat.tool_result import call_line, denied_line, result_lines
from tui.widgets.status import StatusBar, short_count
from tui.widgets.transcript.items import ErrorItem, MutedLine, notice_line
from tui.widgets.transcript.view import Transcript

MAX_CITED: Final = 3
MAX_PROGRESS: Final = 60  # characters of a running tool's last line, in the status bar
FEW_SECONDS: Final = 2  # which are not shown
_RECALLED: Final = "recalled  "

MODEL_CHANGED: Final = "the model changed"
ARCHIVED: Final = "older turns were archived"

_REASONS: Final = {
    MODEL_CHANGED: "Another model answers now",
    ARCHIVED: "Older turns left for the archive",
    "another branch": "Another branch of the conversation",
}


class _RunningCall:
    """The line of a call that runs, and since when."""

    def __init__(self, summary: str, started: float) -> None:
        self.summary = summary
        self.started = started
        self.line = call_line(summary)


class TurnView:
    """Renders one turn. Call `write` with each event, in order, and `tick` now and then for the seconds."""

    def __init__(
        self,
        transcript: Transcript,
        status: StatusBar,
        *,
        quotes: bool = False,
        known: frozenset[str] = frozenset(),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`quotes`: the answer consists of quotations with citations, so its speed and sources are not shown.

        `known` are changes that need no notice.
        """
        self._transcript = transcript
        self._status = status
        self._clock = clock
        self._began = clock()
        self._running: dict[str, _RunningCall] = {}  # by the call's id
        self._quotes = quotes
        self._known_changes = known
        self._recalled: tuple[RecalledSpan, ...] = ()
        self._answering = False  # whether the answer has started
        self._after_tool = False  # whether a tool's result is the last thing shown
        self._failure_shown = False  # whether why the present call fails is shown already
        self._reasoning_chars = 0  # characters of reasoning
        self.failed = False  # whether the turn ended without an answer

    def tick(self) -> None:
        """Shows the seconds of the turn, and of each call that runs."""
        now = self._clock()
        if self._status.info.doing:
            self._status.update_info(seconds=_shown_seconds(now - self._began))
        for running in self._running.values():
            self._show_line(running, _shown_seconds(now - running.started))

    def _show_line(self, running: _RunningCall, seconds: int) -> None:
        line = call_line(running.summary, seconds)
        if line != running.line and self._transcript.replace_item(running.line, [line]):
            running.line = line

    def write(self, event: SessionEvent) -> None:
        match event:
            case TextDelta(text=text):
                self._write_text(text)
            case ReasoningDelta(text=text):
                self._reasoning_chars += len(text)
                self._status.update_info(
                    doing=f"thinking · {short_count(self._reasoning_chars)} characters · Esc stops"
                )
            case Prefill(done=done, total=total):
                self._status.update_info(doing=f"reading {short_count(done)}/{short_count(total)} tokens · Esc stops")
            case ContextReady(report=report):
                self._status.update_info(tokens=report.total_tokens, budget=report.budget, doing="waiting · Esc stops")
            case Recall(recalled=recalled):
                self._recalled = recalled
            case UsageKnown(tokens_per_second=speed):
                self._status.update_info(speed=0.0 if self._quotes else speed)
            case Archiving(names=names):
                self._status.update_info(doing=f"archiving {', '.join(names)} · Esc stops")
            case Summarising():
                self._status.update_info(doing="summarising older turns · Esc stops")
            case UserStored():
                self._status.update_info(doing="thinking back · Esc stops")
            case AnswerStored() | Stopped() | TurnFailed():
                self._finish(event)
            case _:
                self._write_muted(event)

    def _write_text(self, text: str) -> None:
        if not self._answering and self._reasoning_chars:
            self._muted_line(f"thought for {short_count(self._reasoning_chars)} characters", gap=True)
        if self._after_tool and text.strip():
            if self._answering:  # the first text of an answer brings a gap of its own
                self._muted_line("")
            self._after_tool = False
        self._transcript.feed(text, marked=not self._answering)
        self._answering = True
        self._status.update_info(doing="answering · Esc stops")

    def _write_retry(self, event: Retrying) -> None:
        self._status.update_info(doing=f"{event.summary} · Esc stops")
        if event.number:  # while a server loads its model, there is one a second
            self._muted_line(event.text)

    def _write_muted(self, event: SessionEvent) -> None:
        match event:
            case Notice(level=level, text=text):
                self._transcript.add(notice_line(level, text))
            case Retrying():
                self._write_retry(event)
            case WordsHidden(text=text) | ContextOverflowed(text=text):
                self._transcript.add(notice_line("warning", text))
            case EpochChanged(reason=reason):
                if notice := epoch_notice(reason, known=self._known_changes):
                    self._muted_line(notice)
            case Compacted(receipt=receipt):
                self._known_changes |= {ARCHIVED}
                self._muted_line(receipt.text, gap=True)
            case ResultsReduced(receipt=receipt):
                self._muted_line(receipt.text, gap=True)
            case _:
                self._write_tool(event)

    def _write_tool(self, event: SessionEvent) -> None:
        match event:
            case ToolStarted(summary=summary, call=call, action=action):
                self._failure_shown = action is None and bool(summary)  # the summary of such a call is its mistake
                self._running[call.id] = running = _RunningCall(summary or call.name, self._clock())
                self._transcript.add(running.line)
                self._status.update_info(doing=f"{call.name} · Esc stops")
            case PermissionDenied(reason=reason):
                self._failure_shown = True
                self._transcript.add(denied_line(reason))
            case ToolProgress(call=call, text=text):
                if last := text.strip().rpartition("\n")[2].strip():
                    self._status.update_info(doing=f"{call.name}: {last[:MAX_PROGRESS]} · Esc stops")
            case ToolFinished(call=call, chars=chars, failed=failed, shown=shown):
                is_known = failed and self._failure_shown
                self._show_result(call, [] if is_known else result_lines(call.name, shown, chars, failed=failed))
                self._after_tool = True
            case _:
                pass

    def _show_result(self, call: ToolCall, result: list[MutedLine]) -> None:
        """Shows the result: below the line of its call where other calls run beside it."""
        running = self._running.pop(call.id, None)
        if running is not None:
            self._show_line(running, 0)
            if self._running and self._transcript.replace_item(running.line, [running.line, *result]):
                return
        self._transcript.add(*result)

    def _muted_line(self, text: str, *, gap: bool = False) -> None:
        self._transcript.add(MutedLine(text, gap=gap))

    def _finish(self, event: AnswerStored | Stopped | TurnFailed) -> None:
        self._transcript.end_stream()
        self.failed = not isinstance(event, AnswerStored)
        match event:
            case AnswerStored(reason=reason):
                if reason == "length":
                    self._muted_line("cut at the length kept for an answer; say “go on” for more", gap=True)
                self._list_recalled()
            case Stopped(text=text):
                self._muted_line("stopped; what came is kept" if text else "stopped", gap=True)
            case TurnFailed(title=title, message=message, hint=hint, text=text):
                self._transcript.add(ErrorItem(title, message, hint))
                if text:
                    self._muted_line("what came before is kept")
        for running in self._running.values():
            self._show_line(running, 0)
        self._status.update_info(doing="", seconds=0)

    def _list_recalled(self) -> None:
        """Lists the recalled passages with citation, trust and likelihood; those beside another are counted with it."""
        if not self._recalled or self._quotes:
            return
        beside = Counter(span.beside for span in self._recalled if span.beside)
        passages = [span for span in self._recalled if not span.beside]
        cited = [_recalled_line(span, beside[span.citation.ref]) for span in passages[:MAX_CITED]]
        if more := len(passages[MAX_CITED:]):
            cited.append(f"and {more} more")
        for number, line in enumerate(cited):
            prefix = _RECALLED if number == 0 else " " * len(_RECALLED)
            self._transcript.add(MutedLine(line, gap=number == 0, prefix=prefix))


def _shown_seconds(seconds: float) -> int:
    """Whole seconds; 0, which is not shown, while they are few."""
    return int(seconds) if seconds >= FEW_SECONDS else 0


def _recalled_line(span: RecalledSpan, beside: int) -> str:
    """`[Boat · user · e_4kx7…] exact · 62 % · 2 beside it`."""
    details = [f"{span.citation} {span.trust.value}"]
    if span.likelihood:
        details.append(f"{span.likelihood:.0%}".replace("%", " %"))
    if span.superseded:
        details.append(f"superseded on {span.superseded}")
    if span.off_branch:
        details.append(LEFT_BRANCH)
    if beside:
        details.append(f"{beside} beside it")
    return " · ".join(details)


def epoch_notice(reason: str, *, known: frozenset[str] = frozenset()) -> str:
    """One line, or "" if the reason is in `known`: reasons that were shown, or that the user caused."""
    if not reason or reason in known:
        return ""
    return f"{_REASONS.get(reason) or _capitalised(reason)}: the model reads the whole context anew."


def _capitalised(reason: str) -> str:
    """The reason with a capital, except for a file name."""
    is_file = "." in reason.split(" ", 1)[0]
    return reason if is_file else reason[0].upper() + reason[1:]
