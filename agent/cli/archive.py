"""`palimpsest archive`."""

from __future__ import annotations

import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.cli import output
from agent.cli.group import CliCommand
from agent.cli.invocation import Invocation, current, raw_input
from agent.services.archive import (
    archive_object,
    archive_sentence,
    archive_text,
    copy_pictures,
    decode_text,
    draw_natural,
    read_text_file,
    secrets_sentence,
    too_large_to_archive,
)
from foundation.errors import Misuse
from foundation.program import PROGRAM

if TYPE_CHECKING:  # the drawing of pages is loaded when there is a text
    from agent.services.archive import FileArchiveResult
    from memory.memory import Memory

MODES = ("auto", "tiny", "small", "base", "large")
EPILOG = """\b
palimpsest archive notes.txt --label "March notes"
palimpsest archive --older-than 30d --dry-run
palimpsest archive --tag "March notes" travel
palimpsest archive -- --odd-name.txt
"""


@click.command(cls=CliCommand, epilog=EPILOG)
@click.argument("files", metavar="[FILE|-]", nargs=-1)
@click.option("--label", help="The label; the file's name by default.")
@click.option("--mode", type=click.Choice(MODES), help="Page size; auto picks the cheapest layout.")
@click.option("--dense", is_flag=True, help="Draw smaller cells (6×12 pixels): nearly twice the text per page.")
@click.option("--no-text", is_flag=True, help="Do not also save the text as memory/archive/LABEL.md.")
@click.option(
    "--png", "folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False), help="Copy the pages to DIR."
)
@click.option(
    "--layout",
    type=click.Choice(("flow", "natural")),
    help="Layout of the pages in --png DIR: flow (as archived) or natural (four columns, line breaks kept, "
    "for people).",
)
@click.option("--redact", is_flag=True, help="Remove secrets and private text.")
@click.option("--list", "listing", is_flag=True, help="List the archives.")
@click.option(
    "--older-than", metavar="AGE", help="Archive conversations with no activity for 30d, 2w, 6m, or since a date."
)
@click.option("--growing", is_flag=True, help="Also archive conversations that take more tokens as pages than as text.")
@click.option("--dry-run", is_flag=True, help="With --older-than: say what would leave, and do nothing.")
@click.option("--tag", nargs=2, metavar="LABEL TAG", help="Add a tag to an archive, given by label or #number.")
@click.option("--untag", nargs=2, metavar="LABEL TAG", help="Remove a tag.")
@click.option(
    "--pin", metavar="LABEL", help="Exclude an archive's conversation, or a conversation by id, from --older-than."
)
@click.option("--unpin", metavar="LABEL", help="Undo --pin.")
@click.option("--rename", nargs=2, metavar="LABEL NEW", help="Rename an archive.")
@click.option("--repack", is_flag=True, help="Recompress all pages now; takes about ten seconds per thousand pages.")
@click.option("--demo", is_flag=True, help="Demonstrate archiving on a sample text; your files are not touched.")
def command(
    *,
    files: tuple[str, ...],
    label: str | None,
    mode: str | None,
    dense: bool,
    no_text: bool,
    folder: Path | None,
    layout: str | None,
    redact: bool,
    dry_run: bool,
    growing: bool,
    **actions: Any,
) -> None:
    """Archive FILE (or - for standard input) as page images that can be read back exactly.

    Every page is written, read back and compared before it is used. The text is stored byte for byte; secrets found in
    it are counted. Text that is already archived is not archived again.
    """
    invocation = current()
    file = _one_file(files)
    if layout and folder is None:
        raise Misuse("Nothing to lay out", "--layout needs --png DIR.", f"--png pages --layout {layout}")
    if action := _chosen_action(actions, file, dry_run):
        _run_action(invocation, action, actions[action], dry_run=dry_run, growing=growing)
        return
    if file is None:
        raise Misuse("Nothing to archive", "Name a file, or - for standard input.", f"{PROGRAM} archive notes.txt")
    text, name = _text(file, invocation.loaded_config.config.archive.max_file_mb)
    with invocation.memory(for_writing=True) as memory, output.Progress("pages") as progress:
        if not growing and sys.stdin.isatty() and sys.stderr.isatty():
            _ask_where_it_grows(memory, text)
        result = archive_text(
            memory,
            text,
            label if label is not None else name,
            mode=mode,
            dense=dense or None,
            keep=not no_text,
            redact=redact,
            on_page=progress,
        )
    copies = (draw_natural if layout == "natural" else copy_pictures)(result, folder) if folder else ()
    _print(invocation, result, copies)


def _ask_where_it_grows(memory: Memory, text: str) -> None:
    """Asks before a text is archived that takes more tokens as pages. Raises click.Abort for a no."""
    from memory.pages.cost.text_tokens import estimate_tokens

    tokens, pages = estimate_tokens(text), memory.vault.choose_layout(text).tokens
    if pages > tokens:
        output.confirm(f"It takes {tokens:,} tokens as text and {pages:,} as pages. Archive it anyway?")


def _one_file(files: tuple[str, ...]) -> str | None:
    """The file's name. Raises Misuse for more arguments: the mode is an option, and files are archived one by one."""
    if len(files) < 2:
        return files[0] if files else None
    name, second = shlex.quote(files[0]), files[1]
    if len(files) == 2 and second in MODES:
        hint = f"{PROGRAM} archive {name} --mode {second}"
        raise Misuse("The mode is an option", f"“{second}” was read as a second file.", hint)
    raise Misuse("More than one file", f"{len(files)} names were given.", f"One at a time: {PROGRAM} archive {name}")


def _chosen_action(actions: dict[str, Any], file: str | None, dry_run: bool) -> str:
    """The one action other than archiving FILE; "" for none. Raises Misuse for several."""
    chosen = [name for name, value in actions.items() if value]
    flags = ["--" + ("list" if name == "listing" else name.replace("_", "-")) for name in chosen]
    if len(chosen) > 1 or (chosen and file is not None):
        problem = " and ".join(flags) if len(chosen) > 1 else f"{flags[0]} does not take a file."
        raise Misuse(
            "Two things at once", problem if len(chosen) == 1 else f"{problem} cannot be combined.", "One at a time."
        )
    if dry_run and chosen != ["older_than"]:
        raise Misuse("Nothing to try", "--dry-run needs --older-than.")
    return chosen[0] if chosen else ""


def _run_action(invocation: Invocation, name: str, value: Any, *, dry_run: bool, growing: bool) -> None:
    from agent.cli import archive_maintenance  # not for the help

    match name:
        case "demo":
            _demo(invocation)
        case "listing":
            archive_maintenance.list_all(invocation)
        case "older_than":
            archive_maintenance.older_than(invocation, value, dry_run=dry_run, growing=growing)
        case "repack":
            archive_maintenance.repack(invocation)
        case _:
            archive_maintenance.change(invocation, name, (value,) if isinstance(value, str) else value)


def _demo(invocation: Invocation) -> None:
    from agent.cli.demo_output import show
    from agent.services.demo import as_object, demonstrate

    report = demonstrate()
    if invocation.json:
        output.json_object(as_object(report))
    else:
        show(report, invocation.environment)
    invocation.status = 0 if report.equal else 1


def _text(file: str, max_file_mb: int) -> tuple[str, str]:
    if file == "-":
        stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
        raw = raw_input(max_file_mb * 2**20)
        if raw is None:
            raise too_large_to_archive("standard input", max_file_mb)
        return decode_text(raw, "standard input"), f"input-{stamp}"
    return read_text_file(Path(file), max_file_mb), Path(file).stem


def _print(invocation: Invocation, result: FileArchiveResult, copies: tuple[Path, ...]) -> None:
    if warning := secrets_sentence(result):
        output.narrate(warning)
    if invocation.json:
        output.json_object({**archive_object(result), "copies": [str(path) for path in copies]})
        return
    rows = [
        (page.id, page.mode, f"{page.chars:,}", f"{page.text_tokens:,}", f"{page.vision_tokens:,}", str(picture))
        for page, picture in zip(result.archived.pages, result.pictures, strict=True)
    ]
    output.table(rows, ("PAGE", "MODE", "CHARS", "TEXT TOKENS", "VISION TOKENS", "PNG"))
    output.narrate(archive_sentence(result))
    if result.text_path:
        output.narrate(f"The text is saved in {result.text_path}.")
    for path in copies:
        output.narrate(str(path))
