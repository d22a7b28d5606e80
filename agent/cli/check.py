"""`palimpsest check`."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from agent.cli import output
from agent.cli.group import CliCommand
from agent.cli.invocation import current
from foundation.program import PROGRAM


@click.command(cls=CliCommand)
@click.option("--repair", "mending", is_flag=True, help="Mend what can be mended; a copy of it is kept first.")
def command(*, mending: bool) -> None:
    """Check what is stored: the database whole, every page read back and compared with its hash.

    Packs, their manifests and the rows of the index are compared to the last bit. With --repair, what is damaged is
    mended from what is sound: a lost or damaged database is built again from the packs, and what was damaged stands in
    .palimpsest/damaged/, under the date. What cannot be mended is named. Close other windows of Palimpsest first.

    Conversations that the database has lost come back from their files in conversations/, as far as those tell.

    Exit 1 where something is wrong still, or was lost. Without --repair nothing is changed.
    """
    from memory.check import check, check_and_repair

    invocation = current()
    workspace, settings = invocation.prepare(writable=mending), invocation.reading.config.archive
    if not mending:
        invocation.say_trust(workspace)
    found = check_and_repair(workspace, datetime.now(UTC), settings) if mending else check(workspace, settings)
    if invocation.json:
        output.json_object(found.as_json())
    else:
        for sentence in found.mended:
            output.line(f"mended: {sentence}")
        for sentence in found.lost:
            output.line(f"lost: {sentence}")
        for one in found.problems:
            if any(one.where in sentence for sentence in found.lost):
                continue  # it was said above
            output.line(f"{one.what} {one.where}: {one.message}")
        if found.kept_at:
            output.say(f"What was damaged is kept in {found.kept_at}.")
        if not found.problems and not found.lost:
            output.say(f"All is well; {found.pages:,} pages were read and compared.")
        elif not mending:
            output.say(f"`{PROGRAM} check --repair` mends what can be mended, and keeps a copy of what it changes.")
    invocation.status = 1 if found.problems or found.lost else 0
