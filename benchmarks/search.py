"""Searching a synthetic store: first build, catching up, and what a query takes.

    python -m benchmarks.search [--entries 10000 100000] [--million] [--queries 200] [--json]

Entries are short turns of two speakers, drawn from a vocabulary whose words are as unequal as a language's (Zipf), in
conversations of forty turns; one turn in a hundred is a long tool result. Queries are four to eight such words with a
name and a question word before them. Everything is as in use: a store on disk, snapshots, snippets read back and cut.
Mark: p95 at most 15 ms at 100,000 entries, 40 ms at 1,000,000. The processor's time is given as well: on a machine
that does other things at once it is the truer figure.
"""

import argparse
import itertools
import json
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import as_given
from foundation.text.analysis import Analyser
from memory.cold import ColdStore
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from memory.search import Query
from models.messages import Role

BATCH = 5000
TURNS = 40
SYLLABLES = tuple(map("".join, itertools.product("bdfgklmnrstvz", "aeiou")))[:20]
VOCABULARY = 60_000
COMMON = """the a to of and I you it is was in that for on with have my we so but not at do be this""".split()  # noqa: SIM905


class Talk:
    """Made-up turns, the same for the same seed."""

    def __init__(self, seed: int = 7) -> None:
        self.dice = random.Random(seed)
        words = itertools.islice(itertools.product(SYLLABLES, repeat=4), VOCABULARY)
        self.words = ["".join(word) for word in words]
        self.dice.shuffle(self.words)
        self.weights = list(itertools.accumulate(1 / rank for rank in range(8, VOCABULARY + 8)))

    def turn(self) -> str:
        long = self.dice.random() < 0.01
        size = self.dice.randint(300, 1500) if long else self.dice.randint(5, 45)
        content = self.dice.choices(self.words, cum_weights=self.weights, k=(size + 1) // 2)
        return " ".join(
            word for pair in zip(content, self.dice.choices(COMMON, k=len(content)), strict=True) for word in pair
        )

    def question(self) -> str:
        content = self.dice.choices(self.words, cum_weights=self.weights, k=self.dice.randint(4, 8))
        return "what did Ann say about the " + " ".join(content)


def fill(cold: ColdStore, talk: Talk, entries: int) -> float:
    """Adds so many entries; seconds that it took."""
    began = time.perf_counter()
    for start in range(0, entries, BATCH):
        drafts: list[EntryDraft] = []
        for number in range(start, min(start + BATCH, entries)):
            if number % TURNS == 0:
                conversation = cold.new_conversation().seq
            elif not drafts:
                conversation = cold.conversations(limit=1)[0].seq
            drafts.append(
                EntryDraft(
                    conversation=conversation,
                    parent=None,
                    kind=EntryKind.MESSAGE,
                    role=Role.USER,
                    text=as_given(talk.turn()),
                    speaker="Ann" if number % 2 else "Bo",
                )
            )
        cold.append_many(drafts)
    return time.perf_counter() - began


def measured(entries: int, queries: int) -> dict[str, float]:
    """All figures at one size."""
    talk = Talk()
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(Path(folder))
        workspace.state.mkdir()
        cold = ColdStore.open(
            workspace.database, analyse=Analyser(workspace.entities_yaml), clock=SystemClock(), synchronous="off"
        )
        filling = fill(cold, talk, entries)
        cold.close()
        with_memory = _Opened(workspace)
        began = time.perf_counter()
        with_memory.memory.search.update()
        first = time.perf_counter() - began
        with_memory.memory.close()
        with_memory = _Opened(workspace)
        again = with_memory.seconds(talk.question())
        times, cpu = with_memory.each([talk.question() for _ in range(queries)])
        fill(with_memory.memory.cold, talk, 1000)
        catching_up = with_memory.seconds(talk.question())
        after, _ = with_memory.each([talk.question() for _ in range(queries)])
        size = sum(path.stat().st_size for path in workspace.postings.iterdir())
        database = workspace.database.stat().st_size
        with_memory.memory.close()
    return {
        "entries": entries,
        "fill_s": round(filling, 1),
        "first_build_s": round(first, 2),
        "open_s": round(again, 3),
        "p50_ms": share(times, 0.5),
        "p95_ms": share(times, 0.95),
        "p50_cpu_ms": share(cpu, 0.5),
        "p95_cpu_ms": share(cpu, 0.95),
        "catch_up_1000_s": round(catching_up, 3),
        "p95_with_1000_new_ms": share(after, 0.95),
        "snapshot_mb": round(size / 1e6, 1),
        "database_mb": round(database / 1e6, 1),
        "peak_mb": round(
            resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
        ),
    }


def share(times: list[float], below: float) -> float:
    """The figure that so large a share of them is below."""
    return round(sorted(times)[int(len(times) * below)], 1)


class _Opened:
    """A workspace's memory, freshly opened."""

    def __init__(self, workspace: Workspace) -> None:
        self.memory = Memory.open(workspace, read_only=False)

    def each(self, questions: list[str]) -> tuple[list[float], list[float]]:
        """Milliseconds of each question, by the clock and of the processor."""
        times: list[float] = []
        cpu: list[float] = []
        for question in questions:
            began = time.process_time()
            times.append(self.seconds(question) * 1000)
            cpu.append((time.process_time() - began) * 1000)
        return times, cpu

    def seconds(self, question: str) -> float:
        began = time.perf_counter()
        self.memory.search.query(Query(text=question))
        return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--million", action="store_true", help="1,000,000 entries as well: minutes")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = [measured(size, given.queries) for size in [*given.entries, *([1_000_000] if given.million else [])]]
    if given.json:
        json.dump({"schema": 1, "benchmark": "search", "rows": rows}, sys.stdout)
        return
    for name in rows[0]:
        print(f"{name:>22}" + "".join(f"{row[name]:>14,}" for row in rows))


if __name__ == "__main__":
    main()
