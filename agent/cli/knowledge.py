"""`palimpsest knowledge`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import click

from agent.cli import output
from agent.cli.group import CliGroup, raw_option
from agent.cli.invocation import current
from agent.services.deletion import purge_from_mirrors, purge_from_search
from agent.services.knowledge_output import (
    COLUMNS,
    list_row,
    memory_object,
    one_line,
    record_line,
    report_lines,
    report_object,
    report_summary,
    stats_meaning,
    stats_rows,
)
from foundation.errors import Misuse
from foundation.paths import expand_home
from foundation.program import PROGRAM
from foundation.terminal_text import visible
from memory.knowledge.importance.patterns import resolve_pattern
from memory.knowledge.ingest.report import AddOptions, AddProgress, AddReport

if TYPE_CHECKING:  # the store is loaded when it is opened
    from memory.knowledge.records import KnowledgeRecord

MODES = ("tiny", "small", "base", "large")
EPILOG = """\b
palimpsest knowledge add ~/Documents notes.pdf
palimpsest knowledge importance 'contracts/*.pdf' 9
palimpsest -p --knowledge "What did I learn about transformers?"
"""


@click.group(cls=CliGroup, epilog=EPILOG)
def command() -> None:
    """Turn files into memory: PDF, Word, slides, Markdown, HTML, text, code, screenshots and photographs.

    The files stay where they are; their text and pictures are kept in the workspace, found by search, and cited by file
    and page. FILE is an id, a name, a path or a pattern.
    """


@command.command()
@click.argument("paths", metavar="PATH…", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--importance", type=click.FloatRange(0, 10), help="Importance of the files, 0 to 10; default 5.")
@click.option("--category", help="Category; default: the folder or the file type.")
@click.option("--mode", type=click.Choice(MODES), help="Page size; default: as configured.")
@click.option("--again", is_flag=True, help="Also read unchanged files again, for example with a new OCR engine.")
@click.option("--redact", is_flag=True, help="Remove secrets and private text.")
def add(
    *,
    paths: tuple[Path, ...],
    importance: float | None,
    category: str | None,
    mode: str | None,
    again: bool,
    redact: bool,
) -> None:
    """Add files and folders to knowledge.

    Unchanged files are skipped; changed files are read again, keeping their old text; files deleted from disk are
    marked. You can stop at any time: files already added are kept, and the same command continues. Hidden files, links
    to folders, and generated folders (node_modules, build) are skipped and reported.

    \b
    Exit status: 0 all files were read, 1 some files could not be read (the others were added), 130 interrupted.
    """
    from agent.services.knowledge import picture_reader

    invocation = current()
    config = invocation.loaded_config.config
    options = AddOptions(
        mode=mode or config.archive.page_mode,
        redact=redact,
        again=again,
        category=category,
        importance=importance,
        max_file_mb=config.knowledge.max_file_mb,
    )
    report = AddReport(redacted=redact)
    full_paths = [invocation.here / expand_home(path) for path in paths]
    with invocation.memory(for_writing=True) as memory:
        try:
            with FileProgress() as progress:
                memory.knowledge.add(
                    full_paths,
                    options,
                    config.knowledge,
                    ocr_reader=picture_reader(config),
                    report=report,
                    on_progress=progress,
                )
        except KeyboardInterrupt:
            output.narrate(
                f"Stopped: {len(report.added) + len(report.changed):,} files were added. Run the same "
                "command again to continue."
            )
            raise
        if report.purged and (trouble := purge_from_search(memory)):
            output.narrate(trouble)
    _print(report, as_json=invocation.json)
    invocation.status = 1 if report.bad else 0


class FileProgress:
    """Progress on one line of stderr: `12 of 30 files  contracts/lease.pdf`; silent in a pipe."""

    def __init__(self) -> None:
        self._shown = False

    def __enter__(self) -> Self:
        return self

    def __call__(self, progress: AddProgress) -> None:
        if sys.stderr.isatty():
            name = visible(progress.name).replace("\n", " ")[:50]
            click.echo(f"\r\x1b[K{progress.done:,} of {progress.total:,} files  {name}", nl=False, err=True)
            self._shown = True

    def __exit__(self, *_: object) -> None:
        if self._shown:
            click.echo("\r\x1b[K", nl=False, err=True)


def _print(report: AddReport, *, as_json: bool) -> None:
    for line in report_lines(report):
        output.narrate(line)
    if as_json:
        output.json_object(report_object(report))
        return
    for action, files in (("added", report.added), ("changed", report.changed)):
        for file in files:
            output.line(f"{action}  {file.id}  {one_line(file.name)}")
    output.narrate(report_summary(report))


@command.command("list")
@click.option("--category", help="Only this category.")
@click.option(
    "--state", type=click.Choice(["in view", "merged", "out of view", "gone"]), help="Only files in this state."
)
def list_(category: str | None, state: str | None) -> None:
    """List the added files: importance, score, uses, and whether they are in view."""
    invocation = current()
    settings = invocation.loaded_config.config.knowledge
    with invocation.memory() as memory:
        removed = memory.knowledge.notice_removed()
        memories = memory.knowledge.memories(settings.max_vision_tokens)
    for record in removed:
        output.narrate(f"{one_line(record.name)} was deleted from disk; its text is kept.")
    selected = [
        scored
        for scored in memories
        if category in (None, scored.known.category)
        and (
            state is None or (scored.known.missing is not None if state == "gone" else scored.view_state.state == state)
        )
    ]
    if invocation.json:
        output.json_object({"memories": [memory_object(scored) for scored in selected]})
        return
    if not memories:
        output.narrate(f"No files added yet. `{PROGRAM} knowledge add PATH` adds files and folders.")
    output.table([list_row(scored) for scored in selected], COLUMNS)


@command.command()
@click.argument("ref", metavar="FILE")
@raw_option
def show(ref: str, raw: bool) -> None:
    """Show a file's text, with code highlighted on a terminal; --raw prints the stored bytes."""
    invocation = current()
    settings = invocation.loaded_config.config.knowledge
    with invocation.memory() as memory:
        knowledge = memory.knowledge
        record = _only(knowledge.find(_resolve_patterns((ref,), invocation.here)), ref)
        passage = knowledge.text(record)
        places, pictures = knowledge.places(record), knowledge.pictures(record)
        scored = next(
            place for place in knowledge.memories(settings.max_vision_tokens) if place.known.seq == record.seq
        )
        knowledge.used([memory.conversations.at(record.conversation).id])
    if invocation.json:
        parts = [
            {"start": place.start, "place": place.label, "read_by": place.read_by} for place in places if place.label
        ]
        extra = {"pictures": [str(path) for path in pictures], "pages": list(passage.pages), "places": parts}
        output.json_object({**memory_object(scored), **extra, "trust": passage.trust.value, "text": passage.text})
        return
    output.narrate(record_line(record))
    for path in pictures:
        output.narrate(f"Picture: {path}")
    if raw:
        output.data(passage.text, raw=True)
        return
    if record.kind == "code" and sys.stdout.isatty():
        _print_highlighted(passage.text, record.name)
        return
    output.data(passage.text if passage.text.endswith("\n") else passage.text + "\n")


def _print_highlighted(text: str, name: str) -> None:
    from pygments.util import ClassNotFound

    pygments: Any = importlib.import_module("pygments")
    lexers: Any = importlib.import_module("pygments.lexers")
    formatters: Any = importlib.import_module("pygments.formatters")
    try:
        lexer = lexers.get_lexer_for_filename(name, stripnl=False)
    except ClassNotFound:
        lexer = lexers.TextLexer(stripnl=False)
    click.echo(pygments.highlight(visible(text), lexer, formatters.TerminalFormatter()), nl=False)


@command.command()
@click.argument("arguments", metavar="FILE… NUMBER", nargs=-1)
def importance(arguments: tuple[str, ...]) -> None:
    """Set the importance of files, 0 to 10.

    A pattern also applies to files added later; the last matching pattern wins. Without arguments, lists the patterns.
    """
    invocation = current()
    if not arguments:
        _list_patterns()
        return
    *patterns, number = arguments
    if not patterns:
        raise Misuse(
            "Which files?",
            "Give the files and their importance.",
            f"{PROGRAM} knowledge importance 'contracts/*.pdf' 9",
        )
    value = _number(number)
    with invocation.memory(for_writing=True) as memory:
        records = memory.knowledge.set_importance(
            [resolve_pattern(pattern, invocation.here) for pattern in patterns], value
        )
    if invocation.json:
        files = [{"id": pattern.id, "name": pattern.name, "source": pattern.source} for pattern in records]
        output.json_object({"patterns": list(patterns), "importance": value, "memories": files})
        return
    for record in records:
        output.line(f"{record.id}  {one_line(record.name)}")
    output.narrate(
        f"Importance {value:g} set for {len(records):,} file{'s' if len(records) != 1 else ''} and for "
        "matching files added later."
    )


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError as error:
        raise Misuse(
            "No number", f"“{word}” is not an importance.", "The last argument is a number from 0 to 10."
        ) from error


def _list_patterns() -> None:
    invocation = current()
    with invocation.memory() as memory:
        patterns = memory.knowledge.patterns()
    if invocation.json:
        output.json_object({"patterns": [{"pattern": pattern, "importance": value} for pattern, value in patterns]})
        return
    output.table([(f"{value:g}", pattern) for pattern, value in patterns], ("IMPORTANCE", "PATTERN"))


@command.command()
@click.argument("refs", metavar="FILE…", nargs=-1, required=True)
@click.argument("name", metavar="CATEGORY")
def category(refs: tuple[str, ...], name: str) -> None:
    """Change the category of files."""
    invocation = current()
    with invocation.memory(for_writing=True) as memory:
        records = memory.knowledge.set_category(_resolve_patterns(refs, invocation.here), name)
    if invocation.json:
        output.json_object(
            {"category": name, "memories": [{"id": record.id, "name": record.name} for record in records]}
        )
        return
    for record in records:
        output.line(f"{record.id}  {one_line(record.name)}")


@command.command()
@click.argument("refs", metavar="FILE…", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Skip the confirmation.")
def remove(refs: tuple[str, ...], yes: bool) -> None:
    """Delete what was kept of files, older versions too. It asks first; the files themselves stay on disk."""
    invocation = current()
    with invocation.memory(for_writing=True) as memory:
        records = memory.knowledge.find(_resolve_patterns(refs, invocation.here))
        subject = one_line(records[0].name) if len(records) == 1 else f"{len(records):,} files"
        if not yes:
            if not sys.stdin.isatty():
                raise Misuse("Not confirmed", f"Deleting {subject} from knowledge must be confirmed.", "Add --yes.")
            for record in records[:20]:
                output.narrate(f"{record.id}  {one_line(record.name)}")
            output.confirm(f"Delete what is known of {subject} for good?")
        memory.knowledge.remove(records)
        troubles = (purge_from_search(memory), purge_from_mirrors(memory))
    for trouble in filter(None, troubles):
        output.narrate(trouble)
    if invocation.json:
        output.json_object(
            {"removed": [{"id": record.id, "name": record.name, "source": record.source} for record in records]}
        )
        return
    for record in records:
        output.line(f"{record.id}  {one_line(record.name)}")


@command.command()
def stats() -> None:
    """Show the amount of knowledge, how much is in view, and how full the view is."""
    invocation = current()
    settings = invocation.loaded_config.config.knowledge
    with invocation.memory() as memory:
        memory.knowledge.notice_removed()
        figures = memory.knowledge.stats(settings.max_vision_tokens)
    if invocation.json:
        output.json_object(figures)
        return
    output.table(stats_rows(figures), ("WHAT", "HOW MUCH"))
    output.narrate(stats_meaning(figures))


def _resolve_patterns(refs: tuple[str, ...], here: Path) -> list[str]:
    return [resolve_pattern(ref, here) for ref in refs]


def _only(records: list[KnowledgeRecord], ref: str) -> KnowledgeRecord:
    if len(records) == 1:
        return records[0]
    names = ", ".join(f"{record.name} ({record.id})" for record in records[:6])
    raise Misuse("Which file?", f"“{ref}” matches {len(records):,} files: {names}.", "Use its id.")
