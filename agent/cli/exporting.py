"""`palimpsest export`."""

from collections.abc import Iterator
from pathlib import Path

import click

from agent.cli import output
from agent.cli.group import Leaf, conversation_options
from agent.cli.invocation import Invocation, current
from agent.exporters.conversation import safe_name
from agent.exporters.jsonl import lines
from agent.exporters.markdown import markdown
from foundation.errors import Misuse
from foundation.files import write_atomically
from foundation.privacy import as_given
from memory.cold import ColdStore, Conversation
from memory.workspace_memory import Memory

PAGE = 200


@click.command(cls=Leaf)
@click.argument("refs", metavar="[ID]…", nargs=-1)
@click.option(
    "--to", "form", type=click.Choice(["markdown", "jsonl"]), default="markdown", show_default=True, help="The format."
)
@click.option(
    "--dir",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write a file a conversation there.",
)
@conversation_options
def command(refs: tuple[str, ...], form: str, folder: Path | None) -> None:
    """Write conversations out: all of them, those with these IDs, or with -c the latest.

    markdown is to read: the branch that each conversation stands on. jsonl is every entry of every branch, as `import`
    takes it; importing it gives the same entries.
    """
    invocation = current()
    with invocation.memory() as memory:
        for conversation in _chosen(invocation, memory.cold, refs):
            pieces = _pieces(memory, conversation, "jsonl" if invocation.json else form)
            if folder is None:
                for piece in pieces:
                    output.data(piece)
                continue
            folder.mkdir(parents=True, exist_ok=True)
            ending = "jsonl" if form == "jsonl" else "md"
            path = folder / f"{safe_name(conversation.id)}.{ending}"
            if path.exists():
                raise Misuse("There already", f"{path} is there already.", "Give an empty folder.")
            write_atomically(path, as_given("".join(pieces)))  # what comes from the store was cleared on its way in
            output.line(str(path))


def _pieces(memory: Memory, conversation: Conversation, form: str) -> Iterator[str]:
    if form == "markdown":
        yield from markdown(memory, conversation)
        yield "\n"
        return
    for line in lines(memory, conversation):
        yield output.as_json(line) + "\n"


def _chosen(invocation: Invocation, cold: ColdStore, refs: tuple[str, ...]) -> Iterator[Conversation]:
    if invocation.resume is not None:
        refs = (*refs, invocation.resume)
    if refs:
        yield from [cold.conversation(ref) for ref in refs]
        return
    if invocation.latest:
        yield from [latest] if (latest := cold.latest()) else []
        return
    offset = 0
    while page := cold.conversations(limit=PAGE, offset=offset):
        yield from page
        offset += len(page)
