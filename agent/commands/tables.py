"""Markdown and tables: the report of a request, and the preview of a compaction."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from foundation.figures import percent

if TYPE_CHECKING:  # the list of commands must not load a session
    from agent.services.file_versions import VersionRow
    from context.compaction.preview import CompactionPreview
    from context.report import ContextReport
    from memory.observations.store import StoredObservation


def report_markdown(report: ContextReport, labels: Mapping[str, str] = {}) -> str:
    """The four layers with their shares, and the prefix that is unchanged since the last request. `labels` are the
    names of sources that are shown otherwise."""
    head = (
        f"**Context {percent(report.filled)}** — {report.total_tokens:,} of {report.budget:,} tokens "
        f"(window {report.window:,}, {report.reserve:,} reserved for the answer) · `{report.model}`"
    )
    rows = ["| layer | tokens | budget | sources |", "|---|---:|---:|---|"]
    for layer in report.layers:
        sources = ", ".join(f"{labels.get(source.name, source.name)} {source.tokens:,}" for source in layer.sources)
        rows.append(f"| {layer.name} | {layer.tokens:,} | {layer.budget:,} | {sources} |")
    dropped = [
        f"- {layer.name}: {omitted.name}, {omitted.tokens:,} tokens: {omitted.why}"
        for layer in report.layers
        for omitted in layer.dropped
    ]
    parts = [head, "\n".join(rows)]
    if dropped:
        parts.append("Left out:\n\n" + "\n".join(dropped))
    parts += savings_sentences(report)
    if (stable := report.prefix_stability) is not None:
        parts.append(
            f"Unchanged since the last request: {report.unchanged_prefix_tokens:,} of {report.previous_tokens:,} "
            f"tokens ({percent(stable)})."
        )
    return "\n\n".join(parts)


def savings_sentences(report: ContextReport) -> list[str]:
    """A sentence each about working memory, pages in view and the archive: separate savings, never added."""
    sentences: list[str] = []
    if index := report.observations:
        sentences.append(
            f"Working memory: {_counted(index.count, 'observation')} in the index, {index.tokens:,} tokens. "
            f"Recalled, the notes take {index.detail:,}, their sources {index.originals:,}."
        )
    if reduced := report.reduced:
        tools = Counter(item.tool for item in reduced if item.tool)
        named = ", ".join(f"{tool} {number:,}" for tool, number in tools.most_common(MOST_TOOLS))
        messages = sum(not item.tool for item in reduced)
        parts = [f"{_counted(tools.total(), 'old tool result')} shortened to a line each ({named})"] if tools else []
        parts += [f"{_counted(messages, 'older message')} without what was recalled"] if messages else []
        sentences.append(
            f"Working set: {' and '.join(parts)}, {sum(item.after for item in reduced):,} tokens instead of "
            f"{sum(item.before for item in reduced):,}. The model can recall them by id."
        )
    if pages := report.pages:
        sentences.append(
            f"Pages in view: {pages.count:,}. They take {pages.tokens:,} tokens instead of "
            f"{pages.stands_for:,} as text, saving {pages.saved:,} per request."
        )
    if archive := report.archive:
        on_pages = f" {archive.on_pages:,} of them as pages in view. The other {archive.out_of_view:,} are "
        sentences.append(
            f"Archive memory: {archive.tokens:,} tokens of older messages, including what was recalled for "
            f"them,{on_pages if archive.on_pages else ' '}out of view: recalling them takes tokens again."
        )
    return sentences


def observation_table(found: Sequence[StoredObservation]) -> str:
    """The observations in a Markdown table, or a sentence where there are none."""
    if not found:
        return "No observations yet. They are made after turns that show, change or decide something."
    rows = [
        f"| {stored.id} | {stored.time:%Y-%m-%d} | {stored.observation.importance.mark} {stored.observation.type} "
        f"| {literal(stored.observation.title)} |"
        for stored in found
    ]
    return "\n".join(["| id | date | type | observation |", "|---|---|---|---|", *rows])


def version_table(rows: Sequence[VersionRow]) -> str:
    """The versions in a Markdown table, or a sentence where there are none."""
    if not rows:
        return "No versions yet. Each change of notes, AGENTS.md, skills and similar files makes one."
    lines = [
        f"| {row.version.number} | {row.when} | {row.who} | {literal(row.version.path)} | {row.change} "
        f"| {literal(row.version.reason)} |"
        for row in rows
    ]
    return "\n".join(["| version | time | by | file | lines | why |", "|---:|---|---|---|---|---|", *lines])


def literal(text: str) -> str:
    """The text as it is, within a cell of Markdown."""
    return re.sub(r"([\\`*_~\[\]<>|])", r"\\\1", " ".join(text.split()))


APPROXIMATELY = "about "
MOST_TOOLS = 4  # named, of those whose results are a line each


def preview_rows(outlook: CompactionPreview, label: str, focus: str = "") -> tuple[tuple[str, str], ...]:
    """Rows of a name and a sentence: what is archived, the pages, what is kept, the tokens saved."""
    freed = outlook.tokens_before - outlook.tokens_after
    pages = _counted(outlook.pages, "page")
    named = (("keeps", f"focused on “{focus}”"),) if focus else ()
    named += (("label", label),) if label else ()
    return (
        ("leaves", f"{_leaving(outlook)}: {outlook.text_tokens:,} tokens of their own text"),
        ("becomes", f"{pages}, {outlook.vision_tokens:,} vision tokens, read back first"),
        ("stays", f"{_kept_turns(outlook)}a summary of at most {outlook.summary_tokens:,} tokens"),
        (
            "request",
            f"{outlook.tokens_before:,} → {outlook.tokens_after:,} tokens, {APPROXIMATELY}{freed:,} fewer",
        ),
        *named,
    )


def _leaving(outlook: CompactionPreview) -> str:
    entries = _counted(outlook.entries, "entry", "entries")
    return f"{_counted(outlook.turns, 'older turn')}, {entries}" if outlook.turns else entries


def _kept_turns(outlook: CompactionPreview) -> str:
    return f"{_counted(outlook.kept_turns, 'newer turn')}, and " if outlook.kept_turns else ""


def _counted(number: int, singular: str, plural: str = "") -> str:
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"
