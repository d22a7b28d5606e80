"""`palimpsest search`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from agent.cli import output
from agent.cli.group import CliCommand, raw_option
from agent.cli.invocation import MOST_INPUT, current, message_input
from foundation.errors import Misuse
from foundation.files import UnsafePath, read_bytes, resolve_path
from foundation.program import PROGRAM, own_command
from memory.search_options import OPTIONS

if TYPE_CHECKING:  # the index is loaded for a query
    from memory.memory import Memory
    from memory.search import Query, SearchResults

FILTERS: Final = frozenset(option.field for option in OPTIONS if option.narrows)
_EXCLUDED_WORD: Final = re.compile(r"-[^\W\d_]\w+")


class _Search(CliCommand):
    """Explains an unknown option that is an unquoted `-word` of the query."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        arguments = tuple(args)  # click empties the list
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            word = next(
                (
                    argument
                    for argument in arguments
                    if argument.startswith(error.option_name) and _EXCLUDED_WORD.fullmatch(argument)
                ),
                "",
            )
            if not word:
                raise
            hint = f"Put the question in quotes: {own_command('search', f'… {word}')}"
            raise Misuse("No such option", f"search has no option “{word}”.", hint) from None


def _options(command: Callable[..., None]) -> Callable[..., None]:
    """Adds the options of memory.search_options to the command."""
    for option in reversed(OPTIONS):
        names = ("-k" if option.name == "k" else f"--{option.name}", option.field)
        attributes: dict[str, Any] = {"help": option.description, "metavar": option.metavar}
        if option.type is bool:
            attributes["is_flag"] = True
        elif option.repeatable:
            attributes["multiple"] = True
        elif option.type is not str:
            attributes.update(type=option.type, default=option.default, show_default=True)
        command = click.option(*names, **attributes)(command)
    return command


@click.command(cls=_Search)
@click.argument("terms", metavar="[QUERY]", nargs=-1)
@_options
@click.option(
    "--batch",
    metavar="FILE.jsonl",
    help="Read queries from a file: one JSON object per line, with `query` and these options.",
)
@raw_option
def command(terms: tuple[str, ...], batch: str | None, raw: bool, **options: Any) -> None:
    """Search everything remembered: conversations, notes and archived pages.

    In QUERY, "a phrase" in quotes is matched exactly, and -word excludes results with that word. In a shell, quote the
    whole query: "boiler -gas". Put -- before a QUERY that begins with a dash. Without QUERY, lists everything that
    matches the filters, newest first. With --batch, prints one result per line of input, in order; a line with an error
    gives an error object.
    """
    from agent.services.batch_search import answer_lines, query_of_options

    invocation, query = current(), " ".join(terms)
    if batch is not None:
        if terms:
            raise Misuse(
                "Two things at once", "--batch reads its queries from the file.", "Give a query, or a file of them."
            )
        lines = _lines(batch)
        with invocation.memory(recovering=True) as memory:
            for answer in answer_lines(memory, lines, options):
                output.json_object(answer)
            _print_vector_problem(memory)
        return
    if not query and not any(value for name, value in options.items() if name in FILTERS):
        raise Misuse("Nothing to search for", "Give a query or a filter.", f'{PROGRAM} search "the boiler"')
    parsed_query = query_of_options(query, options)
    with invocation.memory(recovering=True) as memory:
        results = _search(memory, parsed_query)
        _print_vector_problem(memory)
    if invocation.json:
        from memory.search import to_json

        output.json_object(to_json(results))
        return
    from agent.cli.search_output import show

    show(results, parsed_query, raw=raw)


def _search(memory: Memory, query: Query) -> SearchResults:
    """The results; waits for a large index that is being built, because this process queries once."""
    if problem := memory.analysis_problem():
        output.narrate(f"{problem} Its entity types are ignored until it is fixed.")
    results = memory.search.query(query)
    if not results.partial:
        return results
    with output.Progress("entries indexed") as progress:
        memory.search.update(progress)
    return memory.search.query(query)


def _print_vector_problem(memory: Memory) -> None:
    """Reports why the vector search was skipped although an embedder is set."""
    if trouble := memory.search.vectors.trouble:
        output.narrate(trouble if "keywords only" in trouble else f"Keyword search only. {trouble}")


def _lines(batch: str) -> list[bytes]:
    if batch == "-":
        return message_input().splitlines()
    path = Path(batch)
    try:
        return read_bytes(resolve_path(path), most=MOST_INPUT).splitlines()
    except UnsafePath as error:
        raise Misuse("Not a file", error.message, error.hint) from error
    except (FileNotFoundError, IsADirectoryError) as error:
        raise Misuse("No such file", f"There is no file {path}.") from error
