"""`palimpsest search`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.cli import output
from agent.cli.group import CliCommand, raw_option
from agent.cli.invocation import MOST_INPUT, current, message_input
from foundation.errors import Misuse
from foundation.program import PROGRAM, own_command

if TYPE_CHECKING:  # the index is loaded when it is asked
    from memory.memory import Memory
    from memory.search import Query, SearchResults

_KINDS = (
    "message, tool_call, tool_result, summary, observation, page, memory (a note), knowledge (a file that was added), "
    "prompt (what you said), or conversation: then conversations are found, each by its best passage."
)

_LEFT_OUT = re.compile(r"-[^\W\d_]\w+")


class _Search(CliCommand):
    """A `-word` that the shell has handed on as an argument of its own is told of."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = tuple(args)  # click takes them from the list
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            word = next(
                (each for each in given if each.startswith(error.option_name) and _LEFT_OUT.fullmatch(each)), ""
            )
            if not word:
                raise
            hint = f"Put the question in quotes: {own_command('search', f'… {word}')}"
            raise Misuse("No such option", f"“{word}” is no option of search.", hint) from None


@click.command(cls=_Search)
@click.argument("words", metavar="[QUERY]", nargs=-1)
@click.option("--kind", "kinds", multiple=True, help=_KINDS)
@click.option("--role", help="user, assistant, system or tool.")
@click.option("--speaker", help="Who said it.")
@click.option("--since", metavar="DATE", help="From this day on: 2026-03-01, 30d, yesterday.")
@click.option("--until", metavar="DATE", help="Up to this day, which is included.")
@click.option(
    "--around",
    metavar="D|ID",
    help="What was said around a moment, around a hit (its id), or around the `best` hit of QUERY, oldest first.",
)
@click.option("--before", type=int, default=5, show_default=True, metavar="N", help="With --around: how many before.")
@click.option("--after", type=int, default=5, show_default=True, metavar="N", help="With --around: how many after.")
@click.option("--recent", is_flag=True, help="The latest of the latest conversations; with QUERY, within those.")
@click.option("--type", "types", multiple=True, help="decision, bugfix, feature, refactor, discovery, change.")
@click.option("--concept", "concepts", multiple=True, help="gotcha, pattern, trade-off, how-it-works and so on.")
@click.option("--file", "files", multiple=True, help="What names a file: its path, or the end of it.")
@click.option(
    "--entity",
    "entities",
    multiple=True,
    help="What names a flight, date, money, person, place, url, file or version: the kind, the thing, or kind:thing.",
)
@click.option("--conversation", metavar="ID", help="Within a conversation: its id, its title, or a part of the title.")
@click.option("--label", help="Within what carries this label, or was archived under it.")
@click.option("--trust", help="exact, verified or approximate.")
@click.option("--exact", is_flag=True, help="Each word must stand in the passage itself.")
@click.option("--newest", is_flag=True, help="The newest first, not the best.")
@click.option("--threshold", type=float, default=0.0, show_default=True, help="The least score, from 0 to 1.")
@click.option("-k", "limit", type=int, default=10, show_default=True, help="How many hits.")
@click.option("--page", type=int, default=1, show_default=True, help="Which page of the hits.")
@click.option("--explain", is_flag=True, help="Say what each score is made of.")
@click.option(
    "--batch", metavar="FILE.jsonl", help="Many queries: a JSON object a line, with `query` and these options."
)
@raw_option
def command(words: tuple[str, ...], batch: str | None, raw: bool, **options: Any) -> None:
    """Search everything remembered: conversations, notes and archived pages.

    In QUERY "a phrase" in quotes must stand as it is, and -word leaves out what says it: in a shell, put the whole in
    quotes, as "boiler -gas"; put -- before a QUERY that begins with a dash. Without QUERY it lists what the filters
    leave, newest first. With --batch a result is printed for each line, in order; a line that cannot be answered gives
    an error object in its place.
    """
    from agent.services.batch_search import answer_lines, asked

    invocation, query = current(), " ".join(words)
    if batch is not None:
        if words:
            raise Misuse("Two things at once", "--batch has its own queries.", "Give a query, or a file of them.")
        lines = _lines(batch)
        with invocation.memory(recovering=True) as memory:
            for answer in answer_lines(memory, lines, options):
                output.json_object(answer)
            _tell_of_vectors(memory)
        return
    if not query and not any(value for name, value in options.items() if name in FILTERS):
        raise Misuse("Nothing to search for", "Name words to look for, or a filter.", f'{PROGRAM} search "the boiler"')
    wanted = asked(query, options)
    with invocation.memory(recovering=True) as memory:
        results = _found(memory, wanted)
        _tell_of_vectors(memory)
    if invocation.json:
        from memory.search import to_json

        output.json_object(to_json(results))
        return
    from agent.cli.search_output import show

    show(results, wanted, raw=raw)


FILTERS = frozenset(
    {
        "kinds",
        "role",
        "speaker",
        "since",
        "until",
        "conversation",
        "label",
        "trust",
        "types",
        "concepts",
        "files",
        "entities",
        "around",
        "recent",
    }
)


def _found(memory: Memory, query: Query) -> SearchResults:
    """A large index that is being built is waited for: this process asks once."""
    if problem := memory.cold.analyse.problem:
        output.say(f"{problem} Its kinds of entity mark nothing until it is mended.")
    results = memory.search.query(query)
    if not results.partial:
        return results
    with output.Progress("entries indexed") as progress:
        memory.search.update(progress)
    return memory.search.query(query)


def _tell_of_vectors(memory: Memory) -> None:
    """Why nothing was found by meaning, though an embedder is set."""
    if trouble := memory.search.vectors.trouble:
        output.say(trouble if "words alone" in trouble else f"Searched by words alone. {trouble}")


def _lines(batch: str) -> list[bytes]:
    if batch == "-":
        return message_input().splitlines()
    from foundation.files import UnsafePath, read_bytes, real

    path = Path(batch)
    try:
        return read_bytes(real(path), most=MOST_INPUT).splitlines()
    except UnsafePath as error:
        raise Misuse("Not a file", error.message, error.hint) from error
    except (FileNotFoundError, IsADirectoryError) as error:
        raise Misuse("No such file", f"There is no file {path}.") from error
