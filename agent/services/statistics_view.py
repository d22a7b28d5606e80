"""Figures of the store for a screen: days, what was saved, and what is on disk."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from agent.services.trends import last_days
from agent.spending.report import SpendingReport, spending_report
from foundation.files import UnsafePath, scan, status

if TYPE_CHECKING:
    from agent.session import Session
    from foundation.paths import Workspace
    from memory.memory import Memory
    from memory.records import DayTokens, SpendingRow, Statistics


class DaySeries(Struct, frozen=True):
    """A figure by day, oldest first. `unit` follows the figures; money has its currency."""

    name: str
    unit: str
    days: tuple[str, ...]
    values: tuple[float, ...]

    @property
    def total(self) -> float:
        return sum(self.values)


class Saving(Struct, frozen=True):
    """Something that was saved: tokens without it and with it, and a sentence. `after` is None where only what left
    is known.
    """

    name: str
    before: int
    after: int | None
    sentence: str

    @property
    def saved(self) -> int:
        return self.before - (self.after or 0)


class DiskSize(Struct, frozen=True):
    """A part of the workspace on disk, in bytes."""

    name: str
    size: int
    sentence: str


class StatisticsView(Struct, frozen=True, kw_only=True):
    """All figures of the screen."""

    figures: Statistics
    series: tuple[DaySeries, ...]
    savings: tuple[Saving, ...]
    sizes: tuple[DiskSize, ...]
    spending: SpendingReport


async def statistics_view(session: Session) -> StatisticsView:
    """The figures of the workspace now. Raises PalimpsestError."""
    return await asyncio.to_thread(_view, session)


def _view(session: Session) -> StatisticsView:
    memory, now = session.memory, session.clock.now()
    rows = memory.spending()
    report = spending_report(rows, session.config.models, now)
    days = last_days(memory.tokens_by_day(), now.astimezone().date())
    return StatisticsView(
        figures=memory.statistics(),
        series=tuple(day_series(days, report)),
        savings=tuple(savings_of(memory, rows)),
        sizes=tuple(disk_sizes(session.workspace)),
        spending=report,
    )


def day_series(days: Sequence[DayTokens], report: SpendingReport) -> list[DaySeries]:
    """The series that have a value: messages, tokens, requests and money by day."""
    names = tuple(day.day for day in days)
    spent = {day.key: day for day in report.days}
    currencies = sorted({currency for day in report.days for currency in day.money})
    series = [
        DaySeries("messages", "messages", names, tuple(float(day.messages) for day in days)),
        DaySeries("tokens stored", "tokens", names, tuple(float(day.tokens) for day in days)),
        DaySeries("tokens read by models", "tokens", names, tuple(float(day.prompt_tokens) for day in days)),
        DaySeries("tokens written by models", "tokens", names, tuple(float(day.completion_tokens) for day in days)),
        *(
            DaySeries(
                f"spent in {currency}",
                currency,
                names,
                tuple(spent[name].money.get(currency, 0.0) if name in spent else 0.0 for name in names),
            )
            for currency in currencies
        ),
    ]
    return [each for each in series if each.total]


def savings_of(memory: Memory, rows: Sequence[SpendingRow]) -> list[Saving]:
    """What pages and the kept prefix saved: separate savings, never added. Blocks."""
    archives = memory.vault.archives()
    text, vision = sum(row.text_tokens for row in archives), sum(row.vision_tokens for row in archives)
    prompt, cached = sum(row.prompt_tokens for row in rows), sum(row.cached_tokens for row in rows)
    savings: list[Saving] = []
    moved = [row for row in archives if row.conversation is not None]
    if tokens := sum(row.text_tokens for row in moved):
        savings.append(
            Saving(
                "compaction",
                tokens,
                None,
                "Tokens of older turns that left the requests for the archive; summaries stay.",
            )
        )
    if text:
        savings.append(
            Saving("pages", text, vision, "Text tokens of what is archived, and the vision tokens of the same pages.")
        )
    if cached:
        savings.append(
            Saving("prefix kept", prompt, prompt - cached, "Prompt tokens that servers had in their cache already.")
        )
    return savings


def disk_sizes(workspace: Workspace) -> list[DiskSize]:
    """The parts of the workspace on disk that are there, largest first. Blocks."""
    parts: tuple[tuple[str, str, Sequence[Path]], ...] = (
        ("database", "Entries, terms and the index of pages.", _database(workspace)),
        ("packs", "Archived pages, compressed.", [workspace.packs]),
        ("postings", "The index of words; made again where it is deleted.", [workspace.postings]),
        ("vectors", "The index of meanings; made again where it is deleted.", [workspace.vectors]),
        ("page cache", "Pictures of pages; made again where it is deleted.", [workspace.page_cache]),
        ("versions", "Earlier texts of your files.", [workspace.versions]),
        ("checkpoints", "Earlier states of project files.", [workspace.checkpoints]),
        ("prompt caches", "What local models computed; made again.", [workspace.prompt_caches]),
        ("conversations", "Readable copies of conversations.", [workspace.conversations]),
        ("notes", "MEMORY.md and memory/*.md.", [workspace.memory_md, workspace.memory_dir]),
    )
    sizes = [DiskSize(name, sum(map(_size, paths)), sentence) for name, sentence, paths in parts]
    return sorted((part for part in sizes if part.size), key=lambda part: -part.size)


def _database(workspace: Workspace) -> list[Path]:
    name = workspace.database.name
    return [workspace.database.with_name(f"{name}{end}") for end in ("", "-wal", "-shm")]


def _size(path: Path) -> int:
    """Bytes of a file or of all files in a folder; links are not followed."""
    found = status(path)
    if found is None:
        return 0
    if not stat.S_ISDIR(found.st_mode):
        return found.st_size
    try:
        entries = scan(path)
    except (UnsafePath, OSError):
        return 0
    return sum(_size(child) if stat.S_ISDIR(about.st_mode) else about.st_size for child, about in entries)
