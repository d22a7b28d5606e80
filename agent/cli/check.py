"""`palimpsest check`."""

import click

from agent.cli import output
from agent.cli.group import Leaf
from agent.cli.invocation import current


@click.command(cls=Leaf)
def command() -> None:
    """Check what is stored: the database whole, every page read back and compared with its hash.

    Exit 1 where something is wrong. Nothing is changed.
    """
    invocation = current()
    with invocation.memory() as memory:
        problems = [*memory.cold.check(), *memory.vault.check()]
        pages = len(memory.vault.pages())
    if invocation.json:
        told = [{"what": one.what, "where": one.where, "message": one.message} for one in problems]
        output.json_object({"sound": not problems, "pages": pages, "problems": told})
    else:
        for one in problems:
            output.line(f"{one.what} {one.where}: {one.message}")
        if not problems:
            output.say(f"All is well; {pages:,} pages were read and compared.")
    invocation.status = 1 if problems else 0
