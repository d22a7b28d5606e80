"""Consistency rules between the index's rows of the archive, without reading packs or manifests."""

from collections.abc import Iterator

import apsw

from foundation.program import PROGRAM
from memory.cold.sql import day_of, each
from memory.records import IntegrityProblem

SIDE = "CASE mode WHEN 'tiny' THEN 512 WHEN 'small' THEN 640 WHEN 'base' THEN 1024 ELSE 1280 END"

UNFINISHED = (
    "A deletion that was begun then is not finished: words of that conversation may stand on pages still. Opening the "
    f"workspace to write, or `{PROGRAM} check --repair`, finishes it."
)

_RULES: tuple[tuple[str, str, str], ...] = (
    (
        "entry",
        "SELECT id FROM entries WHERE body IS NOT NULL AND seq IN (SELECT entry FROM spans)",
        "It has its text in the store, and places on pages as well.",
    ),
    (
        "entry",
        "SELECT id FROM entries WHERE body IS NULL AND packed <> 0",
        "Its text was let go, and its row says that it is packed.",
    ),
    (
        "entry",
        "SELECT id FROM entries WHERE body IS NULL AND seq NOT IN (SELECT entry FROM spans)",
        "Its text was let go, and it stands on no page.",
    ),
    (
        "pack",
        "SELECT name FROM leaving WHERE name IN (SELECT name FROM packs)",
        "Its file is marked to be deleted, and pages stand in it.",
    ),
    (
        "page",
        "SELECT pack || ' ' || position FROM pages GROUP BY pack, position HAVING count(*) > 1",
        "Two pages are said to stand in this place of the pack.",
    ),
    (
        "page",
        f"SELECT id FROM pages WHERE width <> {SIDE} OR height <> {SIDE}",
        "Its row does not say the size that pages of its mode have.",
    ),
    (
        "passage",
        """SELECT s.page FROM passages s JOIN pages p ON p.id = s.page
           WHERE s.page_start < 0 OR s.length < 0 OR s.page_start + s.length > p.chars""",
        "A passage that is stored once lies outside of its page.",
    ),
    (
        "archive",
        "SELECT label FROM archives WHERE pinned NOT IN (0, 1) OR bare NOT IN (0, 1)",
        "Its row says neither yes nor no where there is nothing else to say.",
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
        f"Its conversation is gone and its pages stand still: `{PROGRAM} check --repair` lets go of them.",
    ),
    (
        "archive",
        "SELECT label FROM archives WHERE seq NOT IN (SELECT archive FROM archive_pages) "
        "AND seq IN (SELECT archive FROM pages)",
        "Pages were drawn for it, and it holds none.",
    ),
)


def row_problems(db: apsw.Connection) -> Iterator[IntegrityProblem]:
    """A problem for each row that breaks a rule."""
    for what, sql, message in _RULES:
        for (where,) in each(db, sql):
            yield IntegrityProblem(what, str(where), message)
