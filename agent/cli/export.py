"""`palimpsest export`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli import output
from agent.cli.group import CliCommand, conversation_options, raw_option
from agent.cli.invocation import Invocation, current
from agent.exporters import jsonl_objects, markdown_pieces
from foundation.errors import Misuse
from foundation.files import exists, resolve_new_folder, write_atomically
from foundation.privacy import as_given
from foundation.program import PROGRAM

if TYPE_CHECKING:  # the store is loaded when it is opened
    from memory.conversations import Conversations
    from memory.memory import Memory
    from memory.records import Conversation

_PAGE_SIZE = 200
_MAX_REPORTED = 20  # sentences


@click.command(cls=CliCommand)
@click.argument("refs", metavar="[ID]…", nargs=-1)
@click.option(
    "--to",
    "form",
    type=click.Choice(["markdown", "jsonl", "chunks"]),
    default="markdown",
    show_default=True,
    help="Output format.",
)
@click.option(
    "--dir",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write one file per conversation to this folder; required for chunks.",
)
@conversation_options
@raw_option
def command(refs: tuple[str, ...], form: str, folder: Path | None, raw: bool) -> None:
    """Export conversations: all, those with the given IDs, or with -c the latest.

    markdown: the current branch of each conversation, for reading. jsonl: every entry of every branch; `import`
    restores the same entries from it. chunks: files in DIR, namely chunks/ID_chunk_001.json with 100 entries each,
    summaries/ID_summary_001.json, and ID_index.json.
    """
    invocation = current()
    if form == "chunks" and folder is None:
        raise Misuse("No folder", "The chunks format writes several files.", "Name a folder: --to chunks --dir DIR")
    with invocation.memory() as memory:
        troubles = DamageReport(invocation)
        for conversation in _selected(invocation, memory.conversations, refs):
            if form == "chunks" and folder is not None:
                from agent.chunk_export import write_chunks

                output.line(str(write_chunks(memory, conversation, resolve_new_folder(folder), troubles)))
                continue
            pieces = _pieces(memory, conversation, "jsonl" if invocation.json else form, troubles)
            if folder is None:
                for piece in pieces:
                    output.data(piece, raw=raw)
                continue
            output.line(str(_write(folder / memory.mirrors.file_name(conversation), form, pieces)))
        troubles.report()


def _write(mirror: Path, form: str, pieces: Iterator[str]) -> Path:
    path = (resolve_new_folder(mirror.parent) / mirror.name).with_suffix(".jsonl" if form == "jsonl" else ".md")
    if exists(path):
        raise Misuse("Already exists", f"{path} already exists.", "Choose an empty folder.")
    write_atomically(path, as_given("".join(pieces)))  # stored text was cleared when it was stored
    return path


def _pieces(memory: Memory, conversation: Conversation, form: str, troubles: DamageReport) -> Iterator[str]:
    if form == "markdown":
        yield from markdown_pieces(memory, conversation, troubles)
        yield "\n"
        return
    for line in jsonl_objects(memory, conversation, troubles):
        yield output.as_json(line) + "\n"


def _selected(invocation: Invocation, conversations: Conversations, refs: tuple[str, ...]) -> Iterator[Conversation]:
    if invocation.resume is not None:
        refs = (*refs, invocation.resume)
    if refs:
        yield from [conversations.find(ref) for ref in refs]
        return
    if invocation.latest:
        yield from [latest] if (latest := conversations.latest()) else []
        return
    offset = 0
    while page := conversations.recent(limit=_PAGE_SIZE, offset=offset):
        yield from page
        offset += len(page)


class DamageReport:
    """Collects sentences about damage found during an export.

    `report` prints them on stderr and sets exit status 1 where there are any.
    """

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation
        self._sentences: list[str] = []
        self._count = 0

    def __call__(self, trouble: str) -> None:
        self._count += 1
        if len(self._sentences) < _MAX_REPORTED:
            self._sentences.append(trouble)

    def report(self) -> None:
        if not self._count:
            return
        for sentence in self._sentences:
            output.narrate(sentence)
        if self._count > _MAX_REPORTED:
            output.narrate(f"And {self._count - _MAX_REPORTED:,} more.")
        output.narrate(f"All undamaged entries were exported. `{PROGRAM} check --repair` repairs what can be repaired.")
        self._invocation.status = 1
