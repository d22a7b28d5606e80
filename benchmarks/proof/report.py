"""The report: a table a corpus, and what was not measured, with the reason."""

from collections.abc import Sequence

from msgspec import Struct

WIDTH = 9
_INDENT = 26


class Line(Struct, frozen=True, kw_only=True):
    """One line of a table. `part` is a category or a store, "" for all questions.

    `not_measured` is why there are no figures.
    """

    name: str
    figures: dict[str, float | None] = {}
    part: str = ""
    not_measured: str = ""


class Table(Struct, frozen=True, kw_only=True):
    """What was measured on one corpus."""

    corpus: str
    stores: int
    turns: int
    questions: int
    lines: tuple[Line, ...]


NO_DATA = {
    "observations": "no corpus has any",
    "types": "no corpus has entries that carry one",
    "concepts": "no corpus has entries that carry one",
}
"""What the search offers and nobody's data asks for: tests hold it, no figure does."""


def printed(tables: Sequence[Table]) -> str:
    return "\n\n".join(["\n".join(_table(table)) for table in tables] + [_not_measured()])


def _table(table: Table) -> list[str]:
    title = f"{table.corpus}: {table.stores} stores, {table.turns:,} turns, {table.questions:,} questions with evidence"
    columns = _columns(table.lines)
    lines = [title, " " * _INDENT + "".join(f"{name:>{WIDTH}}" for name in columns)]
    for line in table.lines:
        name = f"  {line.part}" if line.part else line.name
        if line.not_measured:
            lines.append(f"{name:<{_INDENT}}not measured: {line.not_measured}")
        else:
            lines.append(f"{name:<{_INDENT}}" + "".join(_cell(name, line.figures) for name in columns))
    return lines


def _columns(lines: Sequence[Line]) -> list[str]:
    """Those that any line has a figure for."""
    names = dict.fromkeys(name for line in lines for name in line.figures)
    return [name for name in names if any(line.figures.get(name) is not None for line in lines)]


def _cell(name: str, figures: dict[str, float | None]) -> str:
    value = figures.get(name)
    if value is None:
        return f"{'–':>{WIDTH}}"
    return f"{value:>{WIDTH}.{0 if name == 'questions' else 2 if name.endswith('ms') else 1}f}"


def _not_measured() -> str:
    return "not measured: " + "; ".join(f"{name} ({why})" for name, why in NO_DATA.items())
