"""Consistency rules between the index's rows of the archive, without reading packs or manifests."""

from collections.abc import Iterator

import apsw

from foundation.program import PROGRAM
from memory.cold.sql import day_of, each
from memory.records import IntegrityProblem

SIDE = "CASE mode WHEN 'tiny' THEN 512 WHEN 'small' THEN 640 WHEN 'base' THEN 1024 ELSE 1280 END"

UNFINISHED = (
    "A deletion begun then is not finished: pages may still contain text of that conversation. The "
    f"next write to the workspace, or `{PROGRAM} check --repair`, finishes it."
)

_RULES: tuple[tuple[str, str, str], ...] = (
    (
        "entry",
        "SELECT id FROM entries WHERE body IS NOT NULL AND seq IN (SELECT entry FROM spans)",
        "Its text is in the database and also on pages.",
    ),
    (
        "entry",
        "SELECT id FROM entries WHERE body IS NULL AND packed <> 0",
        "Its text was deleted, but its row says that it is packed.",
    ),
    (
        "entry",
        "SELECT id FROM entries WHERE body IS NULL AND seq NOT IN (SELECT entry FROM spans)",
        "Its text was deleted, but it is on no page.",
    ),
    (
        "pack",
        "SELECT name FROM leaving WHERE name IN (SELECT name FROM packs)",
        "Its file is marked for deletion but contains pages.",
    ),
    (
        "page",
        "SELECT pack || ' ' || position FROM pages GROUP BY pack, position HAVING count(*) > 1",
        "Two pages are recorded at this position of the pack.",
    ),
    (
        "page",
        f"SELECT id FROM pages WHERE width <> {SIDE} OR height <> {SIDE}",
        "The size in its row does not match its mode.",
    ),
    (
        "passage",
        """SELECT s.page FROM passages s JOIN pages p ON p.id = s.page
           WHERE s.page_start < 0 OR s.length < 0 OR s.page_start + s.length > p.chars""",
        "A shared passage lies outside its page.",
    ),
    (
        "archive",
        "SELECT label FROM archives WHERE pinned NOT IN (0, 1) OR bare NOT IN (0, 1)",
        "A yes/no field in its row has another value.",
    ),
    (
        "deletion",
        f"SELECT {day_of('deleted_ms')} FROM deletions WHERE NOT finished",
        UNFINISHED,
    ),
    (
        "deletion",
        """SELECT '#' || seq FROM archives WHERE conversation IS NULL AND NOT bare
           AND NOT EXISTS (SELECT 1 FROM deletions WHERE NOT finished)""",
        f"Its conversation was deleted but its pages remain: `{PROGRAM} check --repair` deletes them.",
    ),
    (
        "archive",
        "SELECT label FROM archives WHERE seq NOT IN (SELECT archive FROM archive_pages) "
        "AND seq IN (SELECT archive FROM pages)",
        "It should have pages, but has none.",
    ),
)


def row_problems(db: apsw.Connection) -> Iterator[IntegrityProblem]:
    """A problem for each row that breaks a rule."""
    for what, sql, message in _RULES:
        for (where,) in each(db, sql):
            yield IntegrityProblem(what, str(where), message)
