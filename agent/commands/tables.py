"""A request's report, as a person reads it.

What archiving would do, as rows for a person.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # its room is loaded when a request is made
    from context.report import ContextReport

if TYPE_CHECKING:  # figures come from a session; the list of commands must not load one
    from context.compaction.preview import CompactionPreview


def as_markdown(report: ContextReport) -> str:
    """The four layers with their shares, and how much of the last request stands."""
    head = (
        f"**Context {report.filled:.1%}** — {report.total_tokens:,} of {report.budget:,} tokens "
        f"(window {report.window:,}, {report.reserve:,} kept for the answer) · `{report.model}`"
    )
    rows = ["| layer | tokens | budget | sources |", "|---|---:|---:|---|"]
    for layer in report.layers:
        sources = ", ".join(f"{source.name} {source.tokens:,}" for source in layer.sources)
        rows.append(f"| {layer.name} | {layer.tokens:,} | {layer.budget:,} | {sources} |")
    dropped = [
        f"- {layer.name}: {one.name}, {one.tokens:,} tokens: {one.why}"
        for layer in report.layers
        for one in layer.dropped
    ]
    parts = [head, "\n".join(rows)]
    if dropped:
        parts.append("Left out:\n\n" + "\n".join(dropped))
    parts += savings(report)
    if (stable := report.prefix_stability) is not None:
        parts.append(
            f"Unchanged since the last request: {report.unchanged_prefix_tokens:,} of {report.previous_tokens:,} "
            f"tokens ({stable:.1%})."
        )
    return "\n\n".join(parts)


def savings(report: ContextReport) -> list[str]:
    """A sentence for the pages in view, and one for the archive: two savings, never added up."""
    said: list[str] = []
    if pages := report.pages:
        said.append(
            f"Pages in view: {pages.count:,}. They cost {pages.tokens:,} tokens and stand for {pages.stands_for:,} as "
            f"text: {pages.saved:,} fewer in each request."
        )
    if archive := report.archive:
        seen = f" of which {archive.on_pages:,} are seen on pages. The other {archive.out_of_view:,} are "
        said.append(
            f"In the archive: {archive.tokens:,} tokens of older turns,{seen if archive.on_pages else ' '}out of view: "
            "what is recalled of them costs its tokens again."
        )
    return said


NEAR = "about "


def outlook_rows(outlook: CompactionPreview, label: str) -> tuple[tuple[str, str], ...]:
    """A name and a sentence a row: what leaves, where it goes, what stays, what that saves."""
    freed = outlook.tokens_before - outlook.tokens_after
    pages = _counted(outlook.pages, "page")
    named = (("label", label),) if label else ()
    return (
        ("leaves", f"{_what(outlook)}: {outlook.text_tokens:,} text tokens"),
        ("becomes", f"{pages}, {outlook.vision_tokens:,} vision tokens, read back first"),
        ("stays", f"{_stays(outlook)}a summary of at most {outlook.summary_tokens:,} tokens"),
        (
            "request",
            f"{outlook.tokens_before:,} → {outlook.tokens_after:,} tokens, {NEAR}{freed:,} fewer",
        ),
        *named,
    )


def _what(outlook: CompactionPreview) -> str:
    entries = _counted(outlook.entries, "entry", "entries")
    return f"{_counted(outlook.turns, 'older turn')}, {entries}" if outlook.turns else entries


def _stays(outlook: CompactionPreview) -> str:
    return f"{_counted(outlook.kept_turns, 'newer turn')}, and " if outlook.kept_turns else ""


def _counted(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
