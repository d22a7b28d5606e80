"""`palimpsest search`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.cli import output
from agent.cli.group import Leaf
from agent.cli.invocation import current
from foundation.clock import iso
from foundation.errors import Misuse

if TYPE_CHECKING:  # the index is loaded when it is asked
    from memory.search import Hit, Results


@click.command(cls=Leaf)
@click.argument("query", required=False)
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    help="message, tool_call, tool_result, summary, page, memory (a note) or knowledge (a file that was added).",
)
@click.option("--role", help="user, assistant, system or tool.")
@click.option("--speaker", help="Who said it.")
@click.option("--since", metavar="DATE", help="From this day on: 2026-03-01, 30d, yesterday.")
@click.option("--until", metavar="DATE", help="Up to this day, which is included.")
@click.option("--conversation", metavar="ID", help="Within one conversation: its id or title.")
@click.option("--label", help="Within what carries this label, or was archived under it.")
@click.option("--trust", help="exact, verified or approximate.")
@click.option("--threshold", type=float, default=0.0, show_default=True, help="The least score, from 0 to 1.")
@click.option("-k", "limit", type=int, default=10, show_default=True, help="How many hits.")
@click.option("--page", type=int, default=1, show_default=True, help="Which page of the hits.")
@click.option("--explain", is_flag=True, help="Say what each score is made of.")
@click.option(
    "--batch", metavar="FILE.jsonl", help="Many queries: a JSON object a line, with `query` and these options."
)
def command(query: str | None, batch: str | None, **options: Any) -> None:
    """Search everything remembered: conversations, notes and archived pages.

    Without QUERY it lists what the filters leave, newest first. With --batch a result is printed for each line, in
    order; a line that cannot be answered gives an error object in its place.
    """
    from agent.searching import answer_lines, asked

    invocation = current()
    if batch is not None:
        if query is not None:
            raise Misuse("Two things at once", "--batch has its own queries.", "Give a query, or a file of them.")
        lines = _lines(batch)
        with invocation.memory(recovering=True) as memory:
            for answer in answer_lines(memory, lines, options):
                output.json_object(answer)
        return
    if not query and not any(value for name, value in options.items() if name in FILTERS):
        raise Misuse("Nothing to search for", "Name words to look for, or a filter.", 'palimpsest search "the boiler"')
    with invocation.memory(recovering=True) as memory:
        results = memory.search.query(asked(query or "", options))
    if invocation.json:
        from memory.search import to_json

        output.json_object(to_json(results))
        return
    _print(results)


FILTERS = frozenset({"kinds", "role", "speaker", "since", "until", "conversation", "label", "trust"})


def _lines(batch: str) -> list[bytes]:
    if batch == "-":
        from agent.cli.invocation import raw_input

        return raw_input().splitlines()
    path = Path(batch)
    if not path.is_file():
        raise Misuse("No such file", f"There is no file {path}.")
    return path.read_bytes().splitlines()


def _print(results: Results) -> None:
    if not results.hits:
        output.say(f"Nothing is remembered about “{results.query}”.")
        return
    for hit in results.hits:
        output.line(f"{hit.id}  {_about(hit)}")
        output.line("    " + " ".join(hit.snippet.split()))
        for name, value in hit.parts.items():
            output.line(f"      {name} {value:g}")
    more = f"; --page {results.next} shows more" if results.next else ""
    output.say(f"{len(results.hits)} of {results.total:,} in {results.took_ms:.0f} ms{more}.")


def _about(hit: Hit) -> str:
    from agent.browsing import who_said

    when = iso(hit.time)[:10] if hit.time else ""
    parts = (hit.citation.title, who_said(hit), when, hit.trust.value, f"{hit.score:.2f}")
    return " · ".join(part for part in parts if part)
