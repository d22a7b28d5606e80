"""What a person waits for: seconds to the first token, and what the server read anew, by its own figures."""

import sys
from pathlib import Path
from typing import Any

from benchmarks.real.files import OFFICE, project
from benchmarks.real.product import Product

STEPS = (
    ("first message", "What is the capital of Portugal?", ()),
    ("second turn", "And of Norway?", ("--continue",)),
    ("second conversation", "Give me three tips to fall asleep faster.", ()),
)


def run(product: Product, folder: Path, limit: int) -> list[dict[str, Any]]:
    """A row a step, outside of a project and, without a limit of 1, in one too. The server starts cold."""
    empty = folder / "empty"
    empty.mkdir(exist_ok=True)
    rows: list[dict[str, Any]] = []
    places = (("no project", empty), ("project", project(folder / "office", OFFICE)))
    for place, working in places[: limit or None]:
        workspace = product.copy(product.workspace(place.replace(" ", "-")))
        for step, text, flags in STEPS:
            outcome = product.send(workspace, text, working, "--mode", "auto", "--max-calls", "1", *flags)
            if not outcome.exchanges:
                continue
            first = outcome.exchanges[0]
            row = {"place": place, "step": step, "first_s": first.first_s, "seconds": outcome.seconds}
            rows.append(row | {"cached_tokens": first.cached_tokens, "read_tokens": first.read_tokens})
            print(rows[-1], file=sys.stderr, flush=True)
    return rows
