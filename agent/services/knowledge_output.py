"""Output of the knowledge commands: added files and reports as JSON, table rows and sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from foundation.clock import iso
from foundation.terminal_text import visible

if TYPE_CHECKING:  # help is printed without the store
    from collections.abc import Sequence

    from memory.knowledge.importance.weights import KnowledgeStats, ScoredMemory
    from memory.knowledge.ingest.report import AddReport, FileMessage
    from memory.knowledge.records import KnowledgeRecord


def memory_object(memory: ScoredMemory) -> dict[str, Any]:
    """A memory as `knowledge list --json` prints it."""
    record = memory.known
    return {
        "id": record.id,
        "name": record.name,
        "source": record.source,
        "kind": record.kind,
        "category": record.category,
        "importance": record.importance,
        "score": round(memory.score, 3),
        "accesses": record.accesses,
        "accessed": record.accessed,
        "time": record.added,
        "state": memory.view_state.state,
        "mode": memory.view_state.mode,
        "tokens": memory.view_state.tokens,
        "chars": record.chars,
        "bytes": record.bytes,
        "sha256": record.sha256,
        "missing": record.missing,
    }


def report_object(report: AddReport) -> dict[str, Any]:
    """The object of `knowledge add --json`, without its schema."""
    lists = ("added", "changed", "bad", "skipped", "removed", "deleted", "purged", "forgotten", "read_as")
    return {
        **{name: [_message_object(message) for message in getattr(report, name)] for name in lists[:2]},
        "unchanged": report.unchanged,
        **{name: [_message_object(message) for message in getattr(report, name)] for name in lists[2:]},
        "pages": report.pages,
        "text_tokens": report.text_tokens,
        "vision_tokens": report.vision_tokens,
        "secrets": report.secrets,
        "redacted": report.redacted,
        "said": list(report.said),
    }


def _message_object(message: FileMessage) -> dict[str, str]:
    parts = {"id": message.id, "name": message.name, "source": message.source, "why": message.why, "hint": message.hint}
    return {name: value for name, value in parts.items() if value}


# ── as sentences ──


def report_summary(report: AddReport) -> str:
    """The report's counts in a line: `12 added, 1 changed, 17 unchanged, 2 could not be read.`"""
    counts = (
        (len(report.added), "added"),
        (len(report.changed), "changed"),
        (report.unchanged, "unchanged"),
        (len(report.removed), "deleted from disk (kept here)"),
        (len(report.bad), "could not be read"),
        (len(report.skipped), "skipped"),
        (len(report.deleted), "deleted"),
    )
    parts = [f"{count:,} {label}" for count, label in counts if count]
    return (", ".join(parts) or "No files to add") + "."


def report_lines(report: AddReport) -> list[str]:
    """Notices under the table: reasons, secrets, changes of the view; each line once."""
    lines = [
        f"{message.name}: {message.why}" + (f". {message.hint}" if message.hint else "")
        for message in _with_hints_once(report.bad)
    ]
    lines += _grouped(report.skipped)
    lines += [f"{message.name} was deleted from disk; its text is kept." for message in report.removed]
    lines += [f"Deleted {message.name}: {message.why}." for message in report.deleted]
    lines += [f"Deleted an older, unredacted version of {message.name}: {message.id}." for message in report.purged]
    lines += report.said
    lines += _by_reason(report.read_as, "Read as {}, because it is not UTF-8: {}.")
    lines += _view_changes(report)
    if report.secrets:
        secrets = f"{report.secrets:,} secret{'s' if report.secrets != 1 else ''}"
        action = "removed." if report.redacted else "found and kept. --redact removes them."
        lines.append(f"{secrets} {action}")
    return [one_line(line) for line in lines]


def one_line(text: str) -> str:
    """The text on one line of a terminal: a file's name may contain line ends and control characters."""
    return visible(text).replace("\n", "␊").replace("\t", "␉")


def _view_changes(report: AddReport) -> list[str]:
    """Files that came into view, left it, or are shown smaller, by reason."""
    because = f", because the budget is {report.budget:,} vision tokens"
    labels = {
        "out of view": f"Out of view now{because}",
        "merged": f"Shown by a near-duplicate now{because}",
        "smaller": f"Shown smaller now{because}",
        "in view": "In view again, or larger",
    }
    names: dict[str, list[str]] = {}
    for message in report.forgotten:
        names.setdefault(message.why.partition(":")[0], []).append(message.name)
    lines = [f"{labels[why]}: {_names(files)}." for why, files in names.items()]
    away = names.keys() - {"in view"}
    return [*lines, "Search and recall still find all of it."] if away else lines


def _by_reason(messages: Sequence[FileMessage], sentence: str) -> list[str]:
    by_reason: dict[str, list[str]] = {}
    for message in messages:
        by_reason.setdefault(message.why, []).append(message.name)
    return [sentence.format(why, _names(names)) for why, names in by_reason.items()]


def _with_hints_once(bad: Sequence[FileMessage]) -> list[FileMessage]:
    """The messages, with each hint only on its first."""
    hints: set[str] = set()
    messages: list[FileMessage] = []
    for message in bad:
        messages.append(message if message.hint not in hints else replace(message, hint=""))
        hints.add(message.hint)
    return messages


def _grouped(skipped: Sequence[FileMessage]) -> list[str]:
    """A line a reason: `Passed over, hidden: .git, .env and 3 more`."""
    return _by_reason(skipped, "Skipped ({}): {}")


def _names(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5:,} more" if len(names) > 5 else "")


def list_row(memory: ScoredMemory) -> tuple[str, ...]:
    """The row of a memory in `knowledge list`."""
    record = memory.known
    state = f"{memory.view_state.state}, gone from disk" if record.missing else memory.view_state.state
    return (
        record.id,
        iso(record.added)[:10],
        record.kind,
        record.category,
        f"{record.importance:g}",
        f"{memory.score:.1f}",
        f"{record.accesses:,}",
        f"{memory.view_state.tokens:,}",
        state,
        one_line(record.name),
    )


COLUMNS = ("ID", "ADDED", "KIND", "CATEGORY", "IMPORTANCE", "SCORE", "USES", "TOKENS", "STATE", "NAME")


def stats_rows(stats: KnowledgeStats) -> list[tuple[str, str]]:
    """The rows of `knowledge stats`."""
    return [
        ("memories", f"{stats.memories:,}  ({stats.chars:,} characters)"),
        ("in view", f"{stats.in_view:,}  ({stats.merged:,} merged, {stats.out_of_view:,} out of view)"),
        ("in view at once", f"{stats.tokens:,} of {stats.max_tokens:,} vision tokens"),
        ("utilisation", f"{stats.utilisation:,.1f} %"),
        ("average importance", f"{stats.average_importance:.2f}  (given by hand: {stats.average_given:.2f})"),
        ("uses", f"{stats.accesses:,}"),
        ("gone from disk", f"{stats.missing:,}"),
        ("older versions", f"{stats.older_versions:,}"),
    ]


def stats_meaning(stats: KnowledgeStats) -> str:
    """An explanation of utilisation, in a line."""
    return (
        f"Utilisation is the share of knowledge.max_vision_tokens ({stats.max_tokens:,}) in view at "
        f"once, the maximum shown as pages for one question. All knowledge together has {stats.tokens_of_all:,}."
    )


def record_line(record: KnowledgeRecord) -> str:
    """The line above a file's text."""
    missing = f", gone from disk since {iso(record.missing)[:10]}" if record.missing else ""
    return one_line(
        f"{record.name} ({record.id}): {record.kind}, importance {record.importance:g}, {record.accesses:,} uses, "
        f"added {iso(record.added)[:10]}{missing}. {record.source}"
    )
