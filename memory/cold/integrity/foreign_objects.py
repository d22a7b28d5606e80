"""Triggers, views and virtual tables in a store that are not of our migrations."""

import functools
from pathlib import Path

import apsw

from memory.cold.sql import fetch


def foreign_parts(db: apsw.Connection) -> list[tuple[str, str]]:
    """(kind, name) of each; a trigger is ours where a migration has it verbatim. Raises apsw.Error."""
    sql = "SELECT type, name, sql FROM sqlite_schema WHERE type IN ('trigger', 'view') OR sql LIKE 'create virtual%'"
    return [(kind, name) for kind, name, text in fetch(db, sql) if kind != "trigger" or not _is_ours(text)]


def _is_ours(text: str) -> bool:
    return f"{_one_line(text)};" in _migrations()


@functools.cache
def _migrations() -> str:
    folder = Path(__file__).parents[1] / "migrations"  # importlib.resources would load zipfile before the first frame
    return " ".join(_one_line(file.read_text("utf-8")) for file in folder.glob("*.sql"))


def _one_line(text: str) -> str:
    return " ".join(text.split())
