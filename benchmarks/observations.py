"""Observations by rules on real outputs: how many, how long, how exact, and how fast.

    python -m benchmarks.observations [--calls 100] [--traces work,reads] [--show] [--json]

A trace (benchmarks/agents) goes through `Session.send`; then the rules look at all of its entries again.
- notes: of how many entries; tokens: of a note, beside those of its original
- exact %: identifiers of the notes that are in their originals, before the check that throws others away
- ms: an entry, by the rules alone, and with reading and storing
"""

import argparse
import json
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.agents import traces
from benchmarks.agents.session import HERE, measure
from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.text.analysis import Analyser
from memory.cold import ColdStore
from memory.cold.sql import run
from memory.memory import Memory
from memory.observations.observation import identifiers, unsupported
from memory.observations.rules import RULES, RulesMaker
from memory.observations.store import RULES_CURSOR

TRACES = {"work": traces.work, "reads": traces.reads}
BATCH = 32


def observe(root: Path, *, show: bool) -> dict[str, Any]:
    """The figures of one workspace, whose notes are made anew."""
    space = Workspace(root)
    cold = ColdStore.open(space.own / "cold.db", analyse=Analyser(space.entities_yaml), clock=SystemClock())
    memory = Memory(space, cold, SystemClock())
    cold.write(lambda db: run(db, "DELETE FROM entries WHERE kind = 'observation'"))  # those that the session made
    cold.write(lambda db: run(db, "UPDATE observed SET entry = 0"))
    maker, begun = RulesMaker(), time.perf_counter()
    row: dict[str, Any] = dict.fromkeys(("entries", "notes", "tokens", "originals", "named", "wrong"), 0)
    making = 0.0
    while (batch := memory.observations.batch(RULES_CURSOR, BATCH)) is not None:
        at = time.perf_counter()
        made = maker.make(batch.originals, batch.known)
        making += time.perf_counter() - at
        originals = {original.seq: original for original in batch.originals}
        row["entries"] += len(originals)
        for seq, note in made.items():
            texts = (note.title, *note.facts, note.narrative, *note.files)
            row["named"] += sum(1 for text in texts for _ in identifiers(text))
            row["wrong"] += len(unsupported(note, originals[seq].whole))
        for stored in memory.observations.store(batch, made, RULES, RULES_CURSOR):
            row["notes"] += 1
            row["tokens"] += stored.observation.tokens
            row["originals"] += stored.observation.original_tokens
            if show:
                print(stored.observation.importance.mark, stored.observation.type, stored.observation.text, "\n")
    memory.close()
    row |= {"rules_ms": 1000 * making, "all_ms": 1000 * (time.perf_counter() - begun)}
    return row


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--traces", default="work,reads")
    parser.add_argument("--show", action="store_true", help="print each note")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args(arguments)
    rows: list[dict[str, Any]] = []
    for name in chosen.traces.split(","):
        made = partial(TRACES[name], count=chosen.calls)
        measured = measure(made, 131_072, HERE, None, lambda root, *_: observe(root, show=chosen.show))
        rows.append({"trace": name, **measured["after"]})
    if chosen.json:
        print(json.dumps({"benchmark": "observations", "rows": rows}))
        return 0
    print(
        f"{'trace':7} {'entries':>8} {'notes':>6} {'tokens':>7} {'of originals':>13} {'exact %':>8} {'ms':>6} "
        f"{'in all':>7}"
    )
    for row in rows:
        notes, entries = max(row["notes"], 1), max(row["entries"], 1)
        exact = 100 * (1 - row["wrong"] / max(row["named"], 1))
        print(
            f"{row['trace']:7} {row['entries']:8} {row['notes']:6} {row['tokens'] / notes:7.0f} "
            f"{row['originals'] / notes:13.0f} {exact:8.1f} {row['rules_ms'] / entries:6.2f} "
            f"{row['all_ms'] / entries:7.2f}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
