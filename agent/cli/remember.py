"""`palimpsest remember`."""

import click

from agent.cli import output
from agent.cli.group import TextCommand
from agent.cli.invocation import current, piped_input
from agent.events import WordsHidden
from foundation.errors import Misuse
from foundation.privacy import examine
from foundation.program import PROGRAM
from memory.versions.cause import Author, caused_by


@click.command(cls=TextCommand)
@click.argument("text", required=False)
def command(text: str | None) -> None:
    """Add TEXT, or standard input, to MEMORY.md as a note."""
    invocation = current()
    content = text if text is not None else piped_input()
    if content is None or not content.strip():
        raise Misuse("Nothing to remember", "There is no text.", f'{PROGRAM} remember "The boiler is serviced in May."')
    findings = examine(content)
    with invocation.memory(for_writing=True) as memory, caused_by(Author.USER, "remember"):
        note = memory.hot.remember(findings.cleared, heading=None, conversation=None)
    if removed := findings.private + len(findings.secrets):
        output.narrate(f"{removed} private or secret {'part was' if removed == 1 else 'parts were'} removed.")
    if findings.unclosed or findings.injected:
        output.narrate(WordsHidden(findings.unclosed, findings.injected).text)
    if invocation.json:
        output.json_object(
            {
                "id": note.id,
                "path": note.path,
                "lines": [note.line_first, note.line_last],
                "time": note.time,
                "text": note.text,
            }
        )
        return
    output.line(f"{note.path}#L{note.line_first}  {note.id}")
