"""A request assembled beside 1,000, 10,000 and 100,000 entries: it must not feel how much is remembered.

    python -m benchmarks.assembly [--entries 1000,10000,100000] [--window 8192] [--rounds 40] [--json]

One conversation holds nearly all entries and was compacted, so that some thirty turns are in view; the rest lie in
others. Each round is a new message's request: files looked at, the branch read back, the tail gathered, all counted
and reported; once without recall and once with the search that recall makes. CPU ms of this one process; `median` and
`p95` over the rounds, the first of them left out. Nothing is recorded, so that each round does the same.
Marks: the median at the largest store ≤ 1.5 times that at the smallest, and < 50 ms, both without recall.
"""

import argparse
import gc
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import accumulate, islice, product
from pathlib import Path
from typing import Any

from context import AssembledRequest, Context, ContextSettings, Turn
from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import Cleared
from memory.memory import Memory
from memory.records import Conversation, EntryDraft, EntryKind
from models.chat.port import Profile
from models.messages import Role
from models.tokens import Estimate

FLAT, MOST_MS = 1.5, 50
BATCH = 5000
KEPT = 60  # entries in view after the last compaction
SYLLABLES = [
    "ba",
    "ne",
    "ri",
    "lo",
    "ku",
    "ta",
    "mi",
    "so",
    "pe",
    "da",
    "vu",
    "ga",
    "li",
    "no",
    "re",
    "sha",
    "to",
    "fi",
]
VOCABULARY = ["".join(syllables) for syllables in product(SYLLABLES, repeat=3)]
WEIGHTS = list(accumulate(1 / rank for rank in range(1, len(VOCABULARY) + 1)))


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.assembly", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--entries", default="1000,10000,100000", help="sizes of the store, with commas between")
    parser.add_argument("--window", type=int, default=8192, help="tokens of the model's window")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        sizes = [int(size) for size in options.entries.split(",")]
        beside = [Beside(Path(folder) / str(size), size, options.window) for size in sizes]
        rows = measured(beside, options.rounds)
        for one in beside:
            one.memory.close()
    flat = rows[-1]["median_ms"] / rows[0]["median_ms"]
    report = {
        "schema": 1,
        "benchmark": "assembly",
        "window": options.window,
        "rows": rows,
        "flat": round(flat, 2),
        "reached": flat <= FLAT and all(row["median_ms"] < MOST_MS for row in rows),
    }
    print(json.dumps(report) if options.json else table(report))
    return 0


class Beside:
    """A store of so many entries, and a context on it in the middle of a conversation."""

    def __init__(self, folder: Path, entries: int, window: int) -> None:
        workspace = Workspace(folder)
        workspace.root.mkdir()
        (workspace.root / "AGENTS.md").write_text("You are careful and brief.\n" * 10, encoding="utf-8")
        (workspace.root / "MEMORY.md").write_text("# Memory\n\n## Boat\n- blue, moored at gate E8\n", encoding="utf-8")
        self.memory = Memory.open(workspace, SystemClock(), read_only=False)
        self.entries = entries
        self.context = Context(workspace, self.memory, ContextSettings(), SystemClock())
        self.profile = Profile(spec="openai:benchmark", name="benchmark", window=window)
        self.counter = Estimate()
        began = time.perf_counter()
        self.conversation = filled(self.memory, entries)
        self.built = time.perf_counter() - began
        first = self.assembled("Where were we?", recall=False)
        self.context.record(self.conversation, None, first)

    def assembled(self, text: str, *, recall: bool) -> AssembledRequest:
        turn = Turn(conversation=self.conversation, leaf=self.conversation.leaf, text=text)
        self.context.reload()
        return self.context.assemble(turn, self.profile, self.counter, recall=recall)

    def ms(self, text: str, *, recall: bool) -> float:
        """CPU time of one request."""
        began = time.process_time()
        self.assembled(text, recall=recall)
        return (time.process_time() - began) * 1000


def measured(beside: list[Beside], rounds: int) -> list[dict[str, Any]]:
    """A row a store. They take turns, so that whatever else the machine does falls on all alike."""
    dice = random.Random(3)
    plain: list[list[float]] = [[] for _ in beside]
    searched: list[list[float]] = [[] for _ in beside]
    gc.collect()
    gc.freeze()
    for _ in range(rounds + 1):
        text = said(dice, 12) + "?"
        for n, one in enumerate(beside):
            plain[n].append(one.ms(text, recall=False))
            searched[n].append(one.ms(text, recall=True))
    return [
        {
            "entries": one.entries,
            "built_s": round(one.built, 1),
            "tokens": one.assembled("Where were we?", recall=False).report.total_tokens,
            "median_ms": median(plain[n][1:]),
            "p95_ms": high(plain[n][1:]),
            "with_recall_ms": median(searched[n][1:]),
            "with_recall_p95_ms": high(searched[n][1:]),
        }
        for n, one in enumerate(beside)
    ]


def filled(memory: Memory, entries: int) -> Conversation:
    """A store of so many entries; gives the conversation that goes on."""
    dice = random.Random(7)
    conversation = memory.cold.new_conversation(Cleared("The long one"))
    told = list(drafts(conversation, entries, dice))
    for start in range(0, len(told), BATCH):
        memory.cold.append_many(told[start : start + BATCH])
    leaf = memory.cold.conversation_at(conversation.seq).leaf or 0
    kept = list(islice(memory.cold.path(leaf), KEPT))[-1].seq
    summary = EntryDraft(
        conversation=conversation.seq,
        parent=leaf,
        kind=EntryKind.SUMMARY,
        role=Role.USER,
        text=Cleared("Earlier: the boat was repaired, and the sails were agreed."),
        meta={"first_kept": kept, "prior": [], "covers": [1, kept - 1]},
    )
    memory.cold.append(summary)
    return memory.cold.conversation_at(conversation.seq)


def drafts(conversation: Conversation, entries: int, dice: random.Random) -> Iterator[EntryDraft]:
    for n in range(entries):
        yield EntryDraft(
            conversation=conversation.seq,
            parent=None,
            parent_id=f"i{n - 1}" if n else "",
            id=f"i{n}",
            kind=EntryKind.MESSAGE,
            role=Role.ASSISTANT if n % 2 else Role.USER,
            text=Cleared(f"{n}: " + said(dice, dice.randint(8, 50))),
        )


def said(dice: random.Random, words: int) -> str:
    """Words as they fall in a language: few often, many seldom (Zipf)."""
    return " ".join(dice.choices(VOCABULARY, cum_weights=WEIGHTS, k=words))


def median(runs: list[float]) -> float:
    return round(statistics.median(runs), 2)


def high(runs: list[float]) -> float:
    return round(sorted(runs)[int(len(runs) * 0.95) - 1], 2)


def table(report: dict[str, Any]) -> str:
    head = ("entries", "built s", "tokens", "median ms", "p95 ms", "with recall", "its p95")
    lines = [head, *(tuple(f"{value:,}" for value in row.values()) for row in report["rows"])]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    body = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
    said = "reached" if report["reached"] else "MISSED"
    marks = f"largest to smallest {report['flat']} (mark ≤ {FLAT}), < {MOST_MS} ms: {said}"
    return "\n".join([f"a window of {report['window']:,} tokens", *body, marks])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
