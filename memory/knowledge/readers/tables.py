"""Tables as lines: cells parted by bars, an empty row left out."""

from collections.abc import Iterable, Sequence


def table_text(rows: Iterable[Sequence[str]]) -> str:
    """A line a row: `name | amount | due`."""
    lines = (" | ".join(" ".join(cell.split()) for cell in row) for row in rows)
    return "\n".join(line for line in lines if line.strip(" |"))
