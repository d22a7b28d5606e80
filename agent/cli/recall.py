"""`palimpsest recall`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli import output
from agent.cli.group import CliCommand, raw_option
from agent.cli.invocation import Invocation, current
from agent.cli.progress import ReadingProgress, interruptible, leave_at_once
from agent.services.images import engine_opener, is_picture
from agent.services.recall import (
    NO_TEXT,
    as_object,
    citations,
    describe,
    hidden_characters_notice,
    merged,
    recall,
    recall_picture,
    recall_reference,
    verified,
)
from foundation.errors import Misuse, PalimpsestError
from foundation.program import PROGRAM, own_command
from memory.errors import Damaged, NotFound

if TYPE_CHECKING:  # reading a picture must not load the store
    from agent.services.recall import RecallResult
    from memory.memory import Memory

READERS = ("auto", "cells", "nearest", "rapidocr", "tesseract", "deepseek", "server")


@click.command(cls=CliCommand)
@click.argument("arguments", metavar="QUERY|ID|LABEL|FILE.png...", nargs=-1, required=True)
@click.option(
    "-k", "limit", type=click.IntRange(min=1, max=100), default=5, show_default=True, help="Maximum number of passages."
)
@click.option("--page", type=click.IntRange(min=1), default=1, show_default=True, help="Page of results.")
@click.option("--conversation", metavar="ID", default="", help="Only within one conversation: its id or title.")
@click.option(
    "--engine",
    type=click.Choice(READERS),
    default="auto",
    show_default=True,
    help="Reader for pictures: auto tries the page readers, then the installed OCR engine.",
)
@raw_option
def command(*, arguments: tuple[str, ...], limit: int, page: int, conversation: str, engine: str, raw: bool) -> None:
    """Print stored passages in full. Control and hidden characters are shown as symbols; --raw prints the stored bytes.

    FILE.png: one or more pictures. An archived page is read from its pixels, without a workspace and under any name;
    other pictures are read by OCR and marked as approximate. ID: one or more ids of entries, pages (pg_…) or notes
    (m_…). LABEL or "#1": the whole archive of that label or number. Anything else is a search query.

    The text goes to standard output; its source and reliability go to standard error.
    """
    invocation = current()
    query, *more = arguments
    if all(map(is_picture, arguments)):
        result = _verified(invocation, _pictures(invocation, arguments, engine))
    elif more and engine == "auto":
        with invocation.memory(recovering=True) as memory:
            result = _references(invocation, memory, arguments, conversation)
            _report_missing(invocation, memory, result)
    elif engine != "auto":
        raise Misuse(
            "--engine is for pictures", f"“{query}” is not a picture.", f"{PROGRAM} recall --engine NAME FILE.png"
        )
    else:
        with invocation.memory(recovering=True) as memory:
            result = recall(memory, query, limit=limit, page=page, conversation=conversation)
            if not result.hits and (troubles := memory.vault.troubles()):
                raise Damaged("The match is damaged", " ".join(troubles), "Restore it from a backup of the workspace.")
            _report_missing(invocation, memory, result)
    if invocation.json:
        output.json_object(as_object(result))
        return
    if result.hits or (len(arguments) == 1 and not is_picture(query)):
        _print(result, raw=raw)


def _pictures(invocation: Invocation, files: tuple[str, ...], engine: str) -> RecallResult:
    """Reads pictures in order. Of several, an unreadable one is reported and the others are read; exit status 1."""
    open_engine = cache(engine_opener(lambda: invocation.loaded_config.config.models, invocation.environment, _consent))
    results: list[RecallResult] = []
    for file in files:
        try:
            with ReadingProgress(Path(file).name) as progress:
                read_file = partial(recall_picture, on_line=progress.lines, on_stage=progress.stage)
                result = interruptible(partial(read_file, Path(file), engine=engine, open_engine=open_engine))
        except KeyboardInterrupt:
            leave_at_once()
            raise
        except PalimpsestError as error:
            if len(files) == 1:
                raise
            output.narrate(f"{file}: {error.message} {error.hint}".rstrip())
            invocation.status = 1
            continue
        if not result.found:
            output.narrate(f"{file}: {NO_TEXT}")
        results.append(result)
    return merged(files, results)


def _references(invocation: Invocation, memory: Memory, references: tuple[str, ...], conversation: str) -> RecallResult:
    """The passages of several references. A dangling one is reported and the others are recalled; exit status 1.

    Raises Misuse for an argument that is no reference: a query of several words must be quoted.
    """
    results: list[RecallResult] = []
    for reference in references:
        try:
            result = recall_reference(memory, reference, conversation)
        except (NotFound, Damaged) as error:
            output.narrate(f"{reference}: {error.message} {error.hint}".rstrip())
            invocation.status = 1
            continue
        if not result.found:
            raise Misuse(
                "One question at a time",
                f"With several arguments, each must be a picture or a reference; “{reference}” is neither.",
                own_command("recall", " ".join(references)),
            )
        results.append(result)
    return merged(references, results)


def _report_missing(invocation: Invocation, memory: Memory, result: RecallResult) -> None:
    """Exit status 1 where pages are missing; the passages name them, so that the sentences per page are dropped."""
    if any(hit.missing for hit in result.hits):
        memory.vault.troubles()
        invocation.status = 1


def _consent(folder: Path, code: Sequence[str]) -> bool:
    """Asks on a terminal whether to run the code; elsewhere the answer is no."""
    if not sys.stdin.isatty():
        return False
    output.narrate(f"{folder} contains Python code that would run with this program's rights: {', '.join(code)}")
    return click.confirm("Run it?", default=False, err=True)


def _verified(invocation: Invocation, result: RecallResult) -> RecallResult:
    """The result compared with the workspace's pages. A workspace that cannot be opened is reported."""
    if not any(hit.id for hit in result.hits) or not invocation.workspace.database.exists():
        return verified(result, None)
    try:
        with invocation.memory() as memory:
            return verified(result, memory)
    except PalimpsestError as error:
        output.narrate(f"The picture could not be verified against the workspace: {error.message}")
        return verified(result, None)


def _print(result: RecallResult, *, raw: bool) -> None:
    if not result.hits:
        output.narrate(f"No results for “{result.query}”.")
        return
    for index, hit in enumerate(result.hits):
        output.narrate(("\n" if index else "") + f"{hit.citation} · {describe(hit)}")
        hidden = "" if raw else hidden_characters_notice(hit)
        for sentence in (*filter(None, [hidden]), *hit.warnings, *map(str, citations(hit))):
            output.narrate(f"  {sentence}")
        output.data(hit.text, raw=raw)
        if raw:
            continue
        last = index == len(result.hits) - 1
        if not hit.text.endswith("\n") and (not last or sys.stdout.isatty()):
            output.line()
    if result.next:
        output.narrate(f"\n{result.total:,} in all; --page {result.next} shows more.")
