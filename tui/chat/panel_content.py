"""Content of the panel beside the conversation, apart from its widget: it changes with the events of a turn."""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agent.events import ContextReady, PlanUpdated, Recall, SessionEvent, UsageKnown, UserStored
from agent.services.panel_figures import PanelFigures
from context.checklist import Checklist
from context.report import ContextReport
from foundation.figures import percent, short_count
from models.messages import RecalledSpan
from models.recalled import by_relevance
from tui.overview.bars import bar, bar_with_tick
from tui.widgets.side_panel import PanelRow

PLAN, FILES, CONTEXT, RECALLED = "plan", "files", "context", "recalled"
PARTS: Final = {PLAN: "Plan", FILES: "Files touched", CONTEXT: "Context", RECALLED: "Recalled"}
BAR_CELLS: Final = 12
_MARKS: Final = {"pending": "○", "doing": "▸", "done": "●"}


class PanelContent(Struct, frozen=True, kw_only=True):
    """What there is to show. `turn_tokens` are those of the requests of the last turn."""

    plan: Checklist | None = None
    figures: PanelFigures = PanelFigures()
    report: ContextReport | None = None
    turn_tokens: int = 0
    recalled: tuple[RecalledSpan, ...] = ()

    @property
    def has_conversation(self) -> bool:
        """Whether there is anything of the open conversation: what today cost is no reason to show the panel."""
        return bool(self.plan or self.figures.files or self.figures.problem or self.report or self.recalled)


def after_event(content: PanelContent, event: SessionEvent) -> PanelContent:
    """The content after an event of a turn; the very same where the event says nothing about it."""
    match event:
        case UserStored():
            return replace(content, turn_tokens=0, recalled=())
        case PlanUpdated(plan=plan):
            return replace(content, plan=plan)
        case Recall(recalled=recalled):
            spans = tuple(span for span in by_relevance(recalled) if not span.beside)
            return replace(content, recalled=spans)
        case ContextReady(report=report):
            return replace(content, report=report)
        case UsageKnown(usage=usage):
            tokens = content.turn_tokens + usage.prompt_tokens + usage.completion_tokens
            return replace(content, turn_tokens=tokens)
        case _:
            return content


def panel_rows(content: PanelContent, folded: frozenset[str]) -> tuple[PanelRow, ...]:
    """The rows of the panel: the name of each part that has something to show, and below it what it holds."""
    parts = {
        PLAN: _plan_rows(content.plan),
        FILES: _files_rows(content.figures),
        CONTEXT: _context_rows(content),
        RECALLED: tuple(_recalled_row(number, span) for number, span in enumerate(content.recalled)),
    }
    rows: list[PanelRow] = []
    for part, below in parts.items():
        if not below:
            continue
        gap = (PanelRow(""),) if rows else ()
        mark = "▸" if part in folded else "▾"
        heading = PanelRow(f"{mark} {PARTS[part]}", _summary(part, content), tone="heading", action=f"fold {part}")
        rows += (*gap, heading, *(() if part in folded else below))
    return tuple(rows)


def _summary(part: str, content: PanelContent) -> str:
    match part:
        case "plan" if content.plan is not None:
            return f"{content.plan.done} of {len(content.plan.steps)}"
        case "files":
            return str(len(content.figures.files))
        case "context" if content.report is not None:
            return percent(content.report.filled)
        case "recalled":
            return str(len(content.recalled))
        case _:
            return ""


def _plan_rows(plan: Checklist | None) -> tuple[PanelRow, ...]:
    if plan is None:
        return ()
    return tuple(
        PanelRow(f"{_MARKS[step.state]} {step.text}", tone="text" if step.state == "doing" else "muted", wraps=True)
        for step in plan.steps
    )


def _files_rows(figures: PanelFigures) -> tuple[PanelRow, ...]:
    problem = (PanelRow(figures.problem, wraps=True),) if figures.problem else ()
    rows = (
        PanelRow(file.path, f"+{file.added:,} −{file.removed:,}", tone="text", action=f"file {number}", cut="start")
        for number, file in enumerate(figures.files)
    )
    return (*problem, *rows)


def _context_rows(content: PanelContent) -> tuple[PanelRow, ...]:
    report, today = content.report, content.figures.today
    rows: list[PanelRow] = []
    if report is not None:
        for layer in report.layers:
            share = layer.tokens / (report.budget or 1)  # as the bar of the whole request below
            label = f"{layer.name:<13}{bar(share, BAR_CELLS).ljust(BAR_CELLS)}"
            figure = f"{short_count(layer.tokens)} {percent(share):>7}"
            rows.append(PanelRow(label, figure, tone="text", action="context", in_columns=True))
        figures = f"{short_count(report.total_tokens)} of {short_count(report.budget)} · {percent(report.filled)}"
        rows.append(PanelRow("request", figures))
        if report.compacts_at and report.compaction_share < 1:
            drawn = bar_with_tick(report.filled, report.compaction_share, BAR_CELLS)
            share = percent(report.compaction_share)
            rows.append(PanelRow(f"{'compacts at':<13}{drawn}", share, action="context", in_columns=True))
        if report.previous_tokens:
            rows.append(PanelRow("prefix reused", percent(report.unchanged_prefix_tokens / report.previous_tokens)))
    if content.turn_tokens:
        rows.append(PanelRow("this turn", f"{short_count(content.turn_tokens)} tokens"))
    if today.tokens:
        cost = f" · {today.cost}" if today.cost else ""
        rows.append(PanelRow("today", f"{short_count(today.tokens)} tokens{cost}"))
    return tuple(rows)


def _recalled_row(number: int, span: RecalledSpan) -> PanelRow:
    name = span.citation.title or span.citation.ref
    return PanelRow(name, span.trust.value, tone="text", action=f"passage {number}")
