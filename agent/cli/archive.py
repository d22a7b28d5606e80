"""`palimpsest archive`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli import output
from agent.cli.group import Leaf
from agent.cli.invocation import Invocation, current, raw_input
from foundation.clock import iso
from foundation.errors import Misuse

if TYPE_CHECKING:  # drawing pages is loaded when there is something to draw
    from agent.archiving import Kept

MODES = ("tiny", "small", "base", "large")


@click.command(cls=Leaf)
@click.argument("file", metavar="[FILE|-]", required=False)
@click.option("--label", help="What to call it; without it the file's name.")
@click.option("--mode", type=click.Choice(MODES), default="base", show_default=True, help="How large a page is.")
@click.option("--no-text", is_flag=True, help="Do not keep the text as memory/archive/LABEL.md beside the pages.")
@click.option(
    "--png", "folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False), help="Copy the pages there."
)
@click.option("--redact", is_flag=True, help="Take secrets and private spans out.")
@click.option("--list", "listing", is_flag=True, help="List what was archived.")
@click.option("--demo", is_flag=True, help="Show on a text of our own what a page is; nothing of yours is touched.")
def command(
    *,
    file: str | None,
    label: str | None,
    mode: str,
    no_text: bool,
    folder: Path | None,
    redact: bool,
    listing: bool,
    demo: bool,
) -> None:
    """Turn FILE (or - for standard input) into page images that can be read back to the letter.

    Every page is written, read back and compared before anything refers to it. The text is yours and kept to the
    byte; secrets found in it are counted.
    """
    from agent.archiving import archive_text, copy_pictures

    invocation = current()
    if demo:
        _demo(invocation, file)
        return
    if listing:
        if file is not None:
            raise Misuse("Two things at once", "--list takes no file.")
        _list(invocation)
        return
    if file is None:
        raise Misuse("Nothing to archive", "Name a file, or - for standard input.", "palimpsest archive notes.txt")
    text, name = _text(file)
    with invocation.memory(for_writing=True) as memory, output.Progress("pages") as progress:
        chosen = label if label is not None else name
        kept = archive_text(memory, text, chosen, mode=mode, keep=not no_text, redact=redact, on_page=progress)
    copies = copy_pictures(kept, folder) if folder else ()
    _print(invocation, kept, copies)


def _demo(invocation: Invocation, file: str | None) -> None:
    from agent.cli.demo_sheet import show
    from agent.demo import as_object, demonstrate

    if file is not None:
        raise Misuse("Two things at once", "--demo takes no file.")
    shown = demonstrate()
    if invocation.json:
        output.json_object(as_object(shown))
    else:
        show(shown, invocation.environment)
    invocation.status = 0 if shown.equal else 1


def _text(file: str) -> tuple[str, str]:
    from agent.archiving import read_text_file, text_of

    if file == "-":
        stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
        return text_of(raw_input(), "standard input"), f"input-{stamp}"
    return read_text_file(Path(file)), Path(file).stem


def _print(invocation: Invocation, kept: Kept, copies: tuple[Path, ...]) -> None:
    from agent.archiving import described, secrets_sentence, sentence

    if found := secrets_sentence(kept):
        output.say(found)
    if invocation.json:
        output.json_object({**described(kept), "copies": [str(path) for path in copies]})
        return
    rows = [
        (page.id, page.mode, f"{page.chars:,}", f"{page.text_tokens:,}", f"{page.vision_tokens:,}", str(picture))
        for page, picture in zip(kept.archived.pages, kept.pictures, strict=True)
    ]
    output.table(rows, ("PAGE", "MODE", "CHARS", "TEXT TOKENS", "VISION TOKENS", "PNG"))
    output.say(sentence(kept))
    if kept.text_path:
        output.say(f"The text stands in {kept.text_path}.")
    for path in copies:
        output.say(str(path))


def _list(invocation: Invocation) -> None:
    with invocation.memory() as memory:
        archives = memory.vault.archives()
    if invocation.json:
        output.json_object(
            {
                "archives": [
                    {"label": a.label, "created": a.created, "origin": a.origin, "pages": a.pages} for a in archives
                ]
            }
        )
        return
    output.table([(iso(a.created)[:16].replace("T", " "), a.origin, str(a.pages), a.label) for a in archives],
                 ("WHEN", "FROM", "PAGES", "LABEL"))  # fmt: skip
