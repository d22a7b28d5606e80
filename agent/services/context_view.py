"""The next request for a screen: its parts with labels, why passages were recalled, and what a compaction saved."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from agent.services.outside_files import previewed_attachments
from foundation.clock import iso
from foundation.figures import likelihood_percent, percent
from foundation.paths import Workspace, home_shortened
from memory.errors import MemoryFailure
from memory.records import Entry

if TYPE_CHECKING:
    from agent.session import Session
    from context.assembly.parts import RequestPart
    from context.report import ContextReport
    from context.types import AssembledRequest
    from memory.memory import Memory
    from models.messages import RecalledSpan

RECALLED: Final = "recalled "  # the prefix of a recalled source's name
TITLE_CHARACTERS: Final = 30  # of a conversation's title


class ContextView(Struct, frozen=True):
    """A request to look at. `labels` has readable names for sources that are named by a reference; `sentences` say what
    changed since the last request and with a compaction."""

    report: ContextReport
    parts: tuple[RequestPart, ...]
    labels: dict[str, str]
    sentences: tuple[str, ...]


async def context_view(session: Session, text: str = "") -> ContextView:
    """The request that `text` would make now, with the files that it names; one that would be asked about is
    not read. Raises PalimpsestError."""
    files, refusals = await previewed_attachments(session, text, Path.cwd()) if text else ((), [])
    assembled = await session.preview_request(text, files)
    return await asyncio.to_thread(_view, assembled, session.memory, refusals)


def _view(assembled: AssembledRequest, memory: Memory, refusals: list[str]) -> ContextView:
    report, labels = assembled.report, own_label(memory.workspace) | source_labels(assembled.report, memory)
    sentences = (prefix_sentence(report, assembled.parts, labels), *compaction_sentences(assembled), *refusals)
    return ContextView(report, assembled.parts, labels, tuple(filter(None, sentences)))


def prefix_sentence(report: ContextReport, parts: tuple[RequestPart, ...], labels: dict[str, str]) -> str:
    """How much of the last request begins this one, and the first byte that differs. "" for the first request."""
    if not report.previous_tokens:
        return ""
    kept = (
        f"The first {report.unchanged_prefix_tokens:,} of the {report.previous_tokens:,} tokens sent before are "
        f"unchanged ({percent(report.unchanged_prefix_tokens / report.previous_tokens)})"
    )
    changed = next((part for part in parts if not part.is_unchanged), None)
    if changed is None:
        return f"{kept}."
    number = sum(len(part.text.encode("utf-8", "replace")) for part in parts if part.is_unchanged)
    kind = "first new byte" if report.unchanged_prefix_tokens == report.previous_tokens else "first changed byte"
    return f"{kept}; the {kind} is byte {number + 1:,} of the text, at the start of “{part_name(changed, labels)}”."


def compaction_sentences(assembled: AssembledRequest) -> list[str]:
    """The request before and after the last compaction, and before and after one that must come first."""
    report, sentences = assembled.report, list[str]()
    if due := assembled.compaction:
        sentences.append(
            f"Older messages will be archived before this is sent: {due.plan.unchanged:,} → {due.after:,} "
            "tokens. This is the request after that."
        )
    if report.archive:
        past = sum(zone.tokens for zone in report.zones if zone.name == "B")
        before = report.total_tokens - past + report.archive.tokens
        sentences.append(
            f"Compaction reduced this request from about {before:,} to {report.total_tokens:,} tokens: "
            f"{past:,} tokens of summaries and pages replace {report.archive.tokens:,}."
        )
    return sentences


def part_name(part: RequestPart, labels: dict[str, str]) -> str:
    """The name of a part: its source, or who speaks and the first words."""
    if part.source:
        return labels.get(part.source, part.source)
    speaker = {"user": "you", "assistant": "model", "tool": "tool result"}.get(part.role.value, part.role.value)
    words = " ".join(part.text[:200].split())
    return f"{speaker}: {words}" if words else speaker


def recall_reason(span: RecalledSpan) -> str:
    """Why memory brought a passage, its address and its trust, in a sentence or two."""
    if span.cited:
        reason = "the message refers to it"
    elif span.follows:
        reason = "it follows the passage before it"
    elif span.beside:
        reason = f"it is next to {span.beside}, a search result"
    else:
        likely = f", {likelihood_percent(span.likelihood)} likely to help" if span.likelihood else ""
        reason = f"it is search result {span.rank + 1} for the message{likely}"
    later = f" A newer memory of {span.superseded} says otherwise." if span.superseded else ""
    branch = " It is on another branch of this conversation." if span.off_branch else ""
    return f"Recalled because {reason}. {span.citation}, trust {span.trust.value}.{later}{branch}"


def own_label(workspace: Workspace) -> dict[str, str]:
    """The label of the workspace's AGENTS.md: its path, because a project may have one."""
    return {workspace.agents_md.name: home_shortened(workspace.agents_md)}


def source_labels(report: ContextReport, memory: Memory) -> dict[str, str]:
    """Labels of recalled entries: `recalled “House”, 2026-03-14` for `recalled e_4kx7…`. Blocks."""
    sources = {source.name for layer in report.layers for source in (*layer.sources, *layer.dropped)}
    labels = {name: _entry_label(memory, name.removeprefix(RECALLED)) for name in sources if name.startswith(RECALLED)}
    return {name: RECALLED + label for name, label in labels.items() if label}


def _entry_label(memory: Memory, reference: str) -> str:
    """The conversation's title and the entry's day; "" where the reference is not to one entry."""
    try:
        match memory.references.find(reference):
            case (Entry() as entry,):
                title = memory.conversations.at(entry.conversation_seq).title or "untitled"
            case _:
                return ""
    except MemoryFailure:  # deleted, or damaged: its own name says what it is
        return ""
    short = title if len(title) <= TITLE_CHARACTERS else title[: TITLE_CHARACTERS - 1].rstrip() + "…"
    return f"“{short}”, {iso(entry.time)[:10]}"
