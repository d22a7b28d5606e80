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
from foundation.program import PROGRAM
from foundation.terminal_text import visible
from memory.knowledge.importance.patterns import settled
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
@click.option("--importance", type=click.FloatRange(0, 10), help="How much they matter, 0 to 10; 5 without it.")
@click.option("--category", help="What to file them under; without it the folder, or the kind.")
@click.option("--mode", type=click.Choice(MODES), help="How large their pages are; without it as configured.")
@click.option("--again", is_flag=True, help="Read what is unchanged, too: with a new OCR engine, say.")
@click.option("--redact", is_flag=True, help="Take secrets and private spans out of their text.")
def add(
    *,
    paths: tuple[Path, ...],
    importance: float | None,
    category: str | None,
    mode: str | None,
    again: bool,
    redact: bool,
) -> None:
    """Add files, and folders with all that is below them.

    What is unchanged is passed over, what changed is read anew (its old text is kept), what is gone from disk is noted.
    Stop it at any moment: what was added stays, and the same command goes on. Hidden files, links to folders, and what
    programs made (node_modules, build) are passed over and told.

    \b
    Exit status: 0 all was read, 1 some files could not be read (the others were added), 130 interrupted.
    """
    from agent.services.deletion import purge_from_search
    from agent.services.knowledge import picture_reader

    invocation = current()
    config = invocation.reading.config
    options = AddOptions(
        mode=mode or config.archive.mode,
        redact=redact,
        again=again,
        category=category,
        importance=importance,
        max_file_mb=config.knowledge.max_file_mb,
    )
    report = AddReport(redacted=redact)
    places = [invocation.here / path.expanduser() for path in paths]
    with invocation.memory(for_writing=True) as memory:
        try:
            with FileProgress() as counting:
                memory.knowledge.add(
                    places,
                    options,
                    config.knowledge,
                    ocr_reader=picture_reader(config),
                    report=report,
                    on_progress=counting,
                )
        except KeyboardInterrupt:
            output.say(
                f"Stopped: {len(report.added) + len(report.changed):,} files were added and stay. "
                "The same command goes on."
            )
            raise
        if report.purged and (trouble := purge_from_search(memory)):
            output.say(trouble)
    _print(report, as_json=invocation.json)
    invocation.status = 1 if report.bad else 0


class FileProgress:
    """`12 of 30 files  contracts/lease.pdf`, on a line of stderr that replaces itself; silent where it is a pipe."""

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
        output.say(line)
    if as_json:
        output.json_object(report_object(report))
        return
    for what, told in (("added", report.added), ("changed", report.changed)):
        for one in told:
            output.line(f"{what}  {one.id}  {one_line(one.name)}")
    output.say(report_summary(report))


@command.command("list")
@click.option("--category", help="Those of this category.")
@click.option("--state", type=click.Choice(["in view", "merged", "out of view", "gone"]), help="Those that stand so.")
def list_(category: str | None, state: str | None) -> None:
    """List what was added, by name: importance, score, uses, and where each stands in view."""
    invocation = current()
    settings = invocation.reading.config.knowledge
    with invocation.memory() as memory:
        gone = memory.knowledge.notice_removed()
        found = memory.knowledge.memories(settings.max_vision_tokens)
    for known in gone:
        output.say(f"{one_line(known.name)} is gone from disk; what it said is kept.")
    wanted = [
        one
        for one in found
        if category in (None, one.known.category)
        and (state is None or (one.known.missing is not None if state == "gone" else one.view_state.state == state))
    ]
    if invocation.json:
        output.json_object({"memories": [memory_object(one) for one in wanted]})
        return
    if not found:
        output.say(f"Nothing was added yet. `{PROGRAM} knowledge add PATH` adds files and folders.")
    output.table([list_row(one) for one in wanted], COLUMNS)


@command.command()
@click.argument("ref", metavar="FILE")
@raw_option
def show(ref: str, raw: bool) -> None:
    """Show a file's text: code in colours on a terminal, and with --raw to the byte as it was kept."""
    invocation = current()
    settings = invocation.reading.config.knowledge
    with invocation.memory() as memory:
        knowledge = memory.knowledge
        known = _one(knowledge.find(_settled((ref,), invocation.here)), ref)
        passage = knowledge.text(known)
        places, pictures = knowledge.places(known), knowledge.pictures(known)
        remembered = next(one for one in knowledge.memories(settings.max_vision_tokens) if one.known.seq == known.seq)
        knowledge.used([memory.conversations.at(known.conversation).id])
    if invocation.json:
        parts = [{"start": one.start, "place": one.label, "read_by": one.read_by} for one in places if one.label]
        beside = {"pictures": [str(path) for path in pictures], "pages": list(passage.pages), "places": parts}
        output.json_object({**memory_object(remembered), **beside, "trust": passage.trust.value, "text": passage.text})
        return
    output.say(record_line(known))
    for path in pictures:
        output.say(f"Picture: {path}")
    if raw:
        output.data(passage.text, raw=True)
        return
    if known.kind == "code" and sys.stdout.isatty():
        _in_colours(passage.text, known.name)
        return
    output.data(passage.text if passage.text.endswith("\n") else passage.text + "\n")


def _in_colours(text: str, name: str) -> None:
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
@click.argument("words", metavar="FILE… NUMBER", nargs=-1)
def importance(words: tuple[str, ...]) -> None:
    """Say how much files matter: 0 to 10.

    A pattern holds for files that are added later, too; what is said last counts. Without words, lists what was said.
    """
    invocation = current()
    if not words:
        _list_patterns()
        return
    *patterns, number = words
    if not patterns:
        raise Misuse(
            "Which files?",
            "Say which files, and how much they matter.",
            f"{PROGRAM} knowledge importance 'contracts/*.pdf' 9",
        )
    value = _number(number)
    with invocation.memory(for_writing=True) as memory:
        meant = memory.knowledge.set_importance([settled(one, invocation.here) for one in patterns], value)
    if invocation.json:
        files = [{"id": one.id, "name": one.name, "source": one.source} for one in meant]
        output.json_object({"patterns": list(patterns), "importance": value, "memories": files})
        return
    for known in meant:
        output.line(f"{known.id}  {one_line(known.name)}")
    output.say(
        f"Importance {value:g}: {len(meant):,} file{'s' if len(meant) != 1 else ''} now, and what is added later."
    )


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError as error:
        raise Misuse("No number", f"“{word}” is no importance.", "A number from 0 to 10 comes last.") from error


def _list_patterns() -> None:
    invocation = current()
    with invocation.memory() as memory:
        said = memory.knowledge.patterns()
    if invocation.json:
        output.json_object({"patterns": [{"pattern": pattern, "importance": value} for pattern, value in said]})
        return
    output.table([(f"{value:g}", pattern) for pattern, value in said], ("IMPORTANCE", "PATTERN"))


@command.command()
@click.argument("refs", metavar="FILE…", nargs=-1, required=True)
@click.argument("name", metavar="CATEGORY")
def category(refs: tuple[str, ...], name: str) -> None:
    """File what was added under another category."""
    invocation = current()
    with invocation.memory(for_writing=True) as memory:
        meant = memory.knowledge.set_category(_settled(refs, invocation.here), name)
    if invocation.json:
        output.json_object({"category": name, "memories": [{"id": one.id, "name": one.name} for one in meant]})
        return
    for known in meant:
        output.line(f"{known.id}  {one_line(known.name)}")


@command.command()
@click.argument("refs", metavar="FILE…", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
def remove(refs: tuple[str, ...], yes: bool) -> None:
    """Delete what was kept of files, older versions too. It asks first; the files themselves stay on disk."""
    from agent.services.deletion import purge_from_mirrors, purge_from_search

    invocation = current()
    with invocation.memory(for_writing=True) as memory:
        meant = memory.knowledge.find(_settled(refs, invocation.here))
        some = one_line(meant[0].name) if len(meant) == 1 else f"{len(meant):,} files"
        if not yes:
            if not sys.stdin.isatty():
                raise Misuse(
                    "Not confirmed", f"Deleting what is known of {some} must be confirmed.", "Say it with --yes."
                )
            for known in meant[:20]:
                output.say(f"{known.id}  {one_line(known.name)}")
            output.confirm(f"Delete what is known of {some} for good?")
        memory.knowledge.remove(meant)
        troubles = (purge_from_search(memory), purge_from_mirrors(memory))
    for trouble in filter(None, troubles):
        output.say(trouble)
    if invocation.json:
        output.json_object({"removed": [{"id": one.id, "name": one.name, "source": one.source} for one in meant]})
        return
    for known in meant:
        output.line(f"{known.id}  {one_line(known.name)}")


@command.command()
def stats() -> None:
    """Say how much is known, how much of it stands in view, and how full the view is."""
    invocation = current()
    settings = invocation.reading.config.knowledge
    with invocation.memory() as memory:
        memory.knowledge.notice_removed()
        found = memory.knowledge.stats(settings.max_vision_tokens)
    if invocation.json:
        output.json_object(found)
        return
    output.table(stats_rows(found), ("WHAT", "HOW MUCH"))
    output.say(stats_meaning(found))


def _settled(refs: tuple[str, ...], here: Path) -> list[str]:
    return [settled(ref, here) for ref in refs]


def _one(found: list[KnowledgeRecord], ref: str) -> KnowledgeRecord:
    if len(found) == 1:
        return found[0]
    names = ", ".join(f"{one.name} ({one.id})" for one in found[:6])
    raise Misuse("Which file?", f"“{ref}” means {len(found):,} files: {names}.", "Use its id.")
