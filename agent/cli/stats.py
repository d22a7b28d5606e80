"""`palimpsest stats`."""

from typing import TYPE_CHECKING, Any

import click

from agent.cli import output
from agent.cli.group import CliCommand
from agent.cli.invocation import current
from foundation.errors import PalimpsestError
from foundation.figures import counted
from foundation.sizes import format_size

if TYPE_CHECKING:
    from memory.memory import Memory


@click.command(cls=CliCommand)
def command() -> None:
    """Show what is stored (conversations, entries, pages, notes) and what answers cost.

    Tokens and costs are totalled by day, by conversation (the 20 with the most tokens) and by purpose. Costs need the
    model's price in models.prices; local models are free.

    Messages are chat entries; chunks are groups of 100 messages, as written by `export --to chunks`; compressed chunks
    are their summaries. Bars show tokens per day for the last 30 days; --json prints one object per day.
    """
    from agent.services.trends import count_rows, trend_rows
    from agent.spending.report import caps_sentence, spending_report, spending_tables
    from foundation.clock import SystemClock
    from memory.upkeep.disk import disk_words, measure

    invocation = current()
    budget_mb = invocation.loaded_config.config.disk.budget_mb
    with invocation.memory() as memory:
        use = measure(memory.workspace)
        figures, days = memory.statistics(), memory.tokens_by_day()
        memory.hot.refresh()
        notes = len(memory.hot.notes())
        unanalysed = memory.renewing.left()
        spent = spending_report(memory.spending(), invocation.loaded_config.config.models, SystemClock().now())
        vectors = _vectors(memory, invocation.loaded_config.config.embed.embedder)
    if invocation.json:
        root = str(invocation.workspace.root)
        output.json_object(
            {
                "workspace": root,
                "notes": notes,
                **output.plain_values(figures),
                "days": days,
                "to_analyse": unanalysed,
                "vectors": vectors,
                "spending": spent,
                "disk": {
                    "bytes": use.size,
                    "whole": use.whole,
                    "budget_mb": budget_mb,
                    "free_bytes": use.free,
                    "parts": [
                        {"name": part.name, "bytes": part.size, "made_again": part.made_again} for part in use.parts
                    ],
                },
            }
        )
        return
    rows = [
        ("conversations", f"{figures.conversations:,}"),
        *count_rows(figures),
        ("entries", f"{figures.entries:,}  ({figures.chars:,} characters)"),
        ("archived", f"{figures.archived_entries:,} entries  ({figures.archived_chars:,} characters)"),
        ("pages", f"{figures.pages:,}  in {counted(figures.packs, 'pack')}, {format_size(figures.pack_bytes)}"),
        ("at rest", counted(figures.cold_pages, "page")),
        ("notes", f"{notes:,}"),
        *(
            [("to analyse", f"{unanalysed:,} entries indexed by an older version; continues after each turn")]
            if unanalysed
            else []
        ),
        *([("vectors", _vectors_sentence(vectors))] if vectors else []),
        ("database", format_size(figures.database_bytes)),
        ("on disk", disk_words(use, budget_mb)),
    ]
    output.table(rows, ("WHAT", "HOW MUCH"))
    if trend := trend_rows(days, SystemClock().now().astimezone().date()):
        output.line()
        output.table(trend, ("BY DAY", "THE LAST 30 DAYS"))
    if figures.models:
        output.line()
        costs = [
            (m.model, f"{m.answers:,}", f"{m.prompt_tokens:,}", f"{m.completion_tokens:,}", f"{m.ms / 1000:,.1f} s")
            for m in figures.models
        ]
        output.table(costs, ("MODEL", "ANSWERS", "PROMPT TOKENS", "ANSWER TOKENS", "TIME"))
    for heads, cells in spending_tables(spent):
        output.line()
        output.table(cells, heads)
    if sentence := caps_sentence(spent):
        output.line()
        output.line(sentence)


def _vectors(memory: "Memory", embedder: str) -> dict[str, Any] | None:
    """Coverage of the vectors; None where no embedder is set."""
    if embedder in {"", "none"}:
        return None
    try:
        return {**output.plain_values(memory.search.vectors.coverage()), "embedder": embedder}
    except PalimpsestError as error:
        return {"embedder": embedder, "trouble": error.message}


def _vectors_sentence(vectors: dict[str, Any]) -> str:
    if trouble := vectors.get("trouble"):
        return f"none: {trouble}"
    made = f"{vectors['entries']:,} of {vectors['of']:,} entries  ({vectors['vectors']:,} vectors, "
    serves = "" if vectors["serving"] else "; keyword search only until there are enough"
    return f"{made}{format_size(vectors['bytes'])}, by {vectors['embedder']}){serves}"
