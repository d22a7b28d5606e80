"""Output of the command line: data to stdout, narration to stderr, no control sequences, not even in a pipe."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Self

import click
import msgspec

from foundation.clock import iso
from foundation.errors import PalimpsestError
from foundation.program import PROGRAM, TYPED
from foundation.terminal_text import visible, visible_line

SCHEMA = 1
_OUTSIDE_CHAT: Final = (
    ("then /retry tries again", f"then `{PROGRAM} -c -p /retry` tries again"),
    (", then /retry", ", then ask again"),
    ("Use /retry to try again", "Ask again"),
    ("/retry tries again", "Ask again"),
    ("/model has others", f"`{PROGRAM} models list` shows others"),
)


def data(text: str, *, raw: bool = False) -> None:
    """Prints text as data, control characters made visible, also in a pipe. `raw`: to the byte."""
    if raw:
        click.echo(text.encode("utf-8", "surrogatepass"), nl=False)
    else:
        visible_data(visible(text))


def visible_data(shown: str) -> None:
    """Prints what `visible` or `VisiblePieces` gave as data."""
    click.echo(shown if sys.stdout.isatty() else shown.encode(), nl=False)


def line(text: str = "", *, raw: bool = False) -> None:
    """Prints one line of data."""
    data(text + "\n", raw=raw)


def json_object(value: Mapping[str, Any] | msgspec.Struct) -> None:
    """Prints a JSON object on one line."""
    line(as_json(value))


def as_json(value: Mapping[str, Any] | msgspec.Struct) -> str:
    """`{"schema": 1, …}` in printable ASCII, which preserves any text and contains no control sequence."""
    return json.dumps({"schema": SCHEMA} | plain_values(value), ensure_ascii=True).replace("\x7f", "\\u007f")


def plain_values(value: Mapping[str, Any] | msgspec.Struct) -> dict[str, Any]:
    """A struct or a mapping of structs as plain values; times as `2026-03-14T09:26:53Z`."""
    return _with_times(msgspec.to_builtins(value, enc_hook=_encoded, builtin_types=(datetime,)))


def narrate(text: str) -> None:
    """Prints a notice to stderr."""
    click.echo(visible(text), err=True)


def error(problem: PalimpsestError, *, as_data: bool) -> None:
    """Prints an error: an object on stdout with `--json`, else three sentences on stderr."""
    if as_data:
        json_object({"error": {**problem.as_json(), "hint": outside_chat(problem.hint)}})
        return
    click.secho(visible(problem.title), fg="red", bold=True, err=True)
    for sentence in (problem.message, outside_chat(problem.hint)):
        if sentence:
            click.echo("  " + visible(sentence).replace("\n", "\n  "), err=True)
    if PROGRAM != TYPED and PROGRAM in problem.hint:
        click.echo(f"  {PROGRAM} is not on your PATH; use {TYPED} until it is", err=True)


def outside_chat(hint: str) -> str:
    """The hint where no command of the chat can be typed."""
    for in_chat, here in _OUTSIDE_CHAT:
        hint = hint.replace(in_chat, here)
    return hint


def confirm(question: str) -> None:
    """Asks on the terminal, control characters made visible. Raises click.Abort for a no."""
    click.confirm(visible(question), abort=True, err=True)


class Progress:
    """A count on one line of stderr; silent where that is no terminal. `with Progress("pages") as count:`"""

    def __init__(self, what: str) -> None:
        self._what = what
        self._shown = ""

    def __enter__(self) -> Self:
        return self

    def __call__(self, done: int) -> None:
        """Shows the count; a notice while it is 0."""
        if sys.stderr.isatty():
            words = f"{done:,} {self._what}" if done else "checking …"
            click.echo(f"\r{words:<{len(self._shown)}}", nl=False, err=True)
            self._shown = words

    def __exit__(self, *_: object) -> None:
        if self._shown:
            click.echo(err=True)


def table(rows: Iterable[Sequence[str]], heads: Sequence[str]) -> None:
    """Prints aligned columns, wide characters included; the last one is unlimited. A cell is one line."""
    from rich.cells import cell_len

    cells = [[visible_line(cell) for cell in row] for row in [list(heads), *map(list, rows)]]
    widths = [max(cell_len(row[n]) for row in cells) for n in range(len(heads) - 1)]
    for row in cells:
        padded = [cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=False)]
        line("  ".join([*padded, row[-1]]).rstrip())


def _with_times(value: Any) -> Any:
    match value:
        case datetime():
            return iso(value)
        case dict():
            return {key: _with_times(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType] -- any JSON
        case list() | tuple():
            return [_with_times(item) for item in value]  # pyright: ignore[reportUnknownVariableType] -- any JSON
        case _:
            return value


def _encoded(value: Any) -> Any:
    """Encodes other types (a path, a citation) as their text."""
    return str(value)
