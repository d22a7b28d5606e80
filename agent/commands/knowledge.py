"""The slash command `/knowledge`: lists the added files, and adds more."""

from __future__ import annotations

import asyncio
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from agent.commands.command import Command
from agent.commands.results import Cancelled, Outcome, Proposal, TextResult
from agent.services.knowledge_output import one_line, report_lines, report_summary, stats_meaning, stats_rows
from foundation.errors import Misuse
from foundation.figures import counted
from foundation.paths import expand_home
from foundation.program import PROGRAM

if TYPE_CHECKING:  # a session loads every room; the list of commands must not
    from agent.session import Session
    from memory.knowledge.importance.weights import ScoredMemory
    from memory.pages.types import OnPage


async def _knowledge(session: Session, rest: str) -> Outcome:
    word, _, arguments = rest.partition(" ")
    match word:
        case "" | "stats":
            return TextResult(await asyncio.to_thread(_stats, session))
        case "list":
            return TextResult(await asyncio.to_thread(_list, session))
        case "add":
            return await _add_proposal(session, _split_words(arguments))
        case "importance":
            return TextResult(await asyncio.to_thread(_importance, session, _split_words(arguments)))
        case _:
            raise Misuse(
                "Unknown word",
                f"/knowledge has no action “{word}”.",
                "/knowledge [stats | list | add PATH | importance PATTERN N]",
            )


def _stats(session: Session) -> str:
    stats = session.memory.knowledge.stats(session.config.knowledge.max_vision_tokens)
    if not stats.memories:
        return "No files added yet. `/knowledge add PATH` adds files and folders."
    return "\n".join([*(f"- {name}: {value}" for name, value in stats_rows(stats)), "", stats_meaning(stats)])


def _list(session: Session) -> str:
    session.memory.knowledge.notice_removed()
    memories = session.memory.knowledge.memories(session.config.knowledge.max_vision_tokens)
    if not memories:
        return "No files added yet. `/knowledge add PATH` adds files and folders."
    lines = [_row(memory) for memory in memories[:200]]
    more = [f"\n… and {len(memories) - 200:,} more: `{PROGRAM} knowledge list`"] if len(memories) > 200 else []
    return "\n".join(["| id | file | importance | score | uses | state |", "|---|---|---|---|---|---|", *lines, *more])


def _row(memory: ScoredMemory) -> str:
    name = one_line(memory.known.name).replace("|", "\\|")
    state = "gone from disk" if memory.known.missing else memory.view_state.state
    figures = f"{memory.known.importance:g} | {memory.score:.1f} | {memory.known.accesses:,}"
    return f"| `{memory.known.id}` | {name} | {figures} | {state} |"


async def _add_proposal(session: Session, words: list[str]) -> Proposal:
    """Adds files with a count; it can be stopped between two files."""
    if not words:
        raise Misuse("Nothing to add", "/knowledge add needs a file or a folder.", "/knowledge add ~/Documents")
    paths = [expand_home(word).absolute() for word in words]

    async def run(on_page: OnPage) -> Outcome:
        return TextResult(await asyncio.to_thread(_add, session, paths, on_page))

    files = await asyncio.to_thread(_count_files, paths)
    return Proposal(title="Add files", activity="adding files", pages=files, unit="file", run=run, confirmed=True)


def _count_files(paths: list[Path]) -> int:
    from memory.knowledge.ingest.walk import walk

    return sum(not file.why for path in paths for file in walk(path, frozenset()))


def _add(session: Session, paths: list[Path], on_page: OnPage) -> str:
    from agent.services.knowledge import picture_reader
    from memory.knowledge.ingest.report import AddOptions, AddReport

    config = session.config
    options = AddOptions(mode=config.archive.page_mode, max_file_mb=config.knowledge.max_file_mb)
    report = AddReport()
    try:
        session.memory.knowledge.add(
            paths,
            options,
            config.knowledge,
            ocr_reader=picture_reader(config),
            report=report,
            on_progress=lambda progress: on_page(progress.done),
        )
    except Cancelled:
        count = len(report.added) + len(report.changed)
        return f"Stopped: {count:,} files were added. Run the same command again to continue."
    added = [f"- {one_line(file.name)} (`{file.id}`)" for file in [*report.added, *report.changed][:20]]
    return "\n".join([report_summary(report), "", *added, "", *(f"- {line}" for line in report_lines(report))]).strip()


def _importance(session: Session, words: list[str]) -> str:
    from memory.knowledge.importance.patterns import resolve_pattern

    if len(words) < 2:
        raise Misuse("Which files?", "Give the files and their importance.", "/knowledge importance *.pdf 9")
    try:
        value = float(words[-1])
    except ValueError as error:
        raise Misuse(
            "No number", f"“{words[-1]}” is not an importance.", "The last argument is a number from 0 to 10."
        ) from error
    records = session.memory.knowledge.set_importance([resolve_pattern(word, Path.cwd()) for word in words[:-1]], value)
    return f"Importance {value:g} set for {counted(len(records), 'file')} and for matching files added later."


def _split_words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise Misuse("Unclosed quote", f"{error} in {text}.", "Close the quotation mark.") from error


COMMANDS = (
    Command(
        name="knowledge",
        summary="Show or list the files in knowledge, or add files.",
        usage="[list | add PATH | importance PATTERN N]",
        run=_knowledge,
    ),
)
