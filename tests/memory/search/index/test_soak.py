"""Four processes write, delete and search at once: no lock error, no lost row, and an index that equals a rebuild."""

import json
import os
import subprocess
import sys
import time

import pytest

from foundation.paths import Workspace
from foundation.text.term_codec import unpack_terms
from memory.cold import ColdStore
from memory.memory import Memory
from memory.search.index.index import SearchIndex
from memory.search.index.segment import chain, segments_in
from tests.paths import ROOT

PROCESSES = 4


@pytest.mark.parametrize(
    "seconds",
    [2, pytest.param(180, marks=[pytest.mark.soak, pytest.mark.timeout(900)])],
)
def test_four_processes_at_once_lose_nothing(workspace: Workspace, memory: Memory, seconds: int) -> None:
    memory.cold.new_conversation()
    left = [json.loads(output) for output in at_once(workspace, seconds)]
    words = {word: entry for one in left for word, entry in one["words"].items()}
    rows = {row.entry: row for row in all_rows(memory.cold)}
    assert set(words.values()) == rows.keys()
    kept = SearchIndex(memory.cold, memory.workspace.postings)
    kept.catch_up()
    assert {word: entries_with(kept, word) for word in words} == {word: [entry] for word, entry in words.items()}
    same_as_a_rebuild(kept, memory, rows)
    kept.update()
    kept.catch_up()
    same_as_a_rebuild(kept, memory, rows)
    assert sorted(memory.workspace.postings.glob("*.bin")) == chain(segments_in(memory.workspace.postings))
    assert not memory.cold.check()
    times = sorted(each for one in left for each in one["found_ms"])
    said = sum(one["said"] for one in left)
    print(f"{said} entries said, {len(rows)} left; from COMMIT to found: median {times[len(times) // 2]:.0f} ms,")
    print(f"95 % within {times[int(len(times) * 0.95)]:.0f} ms, the slowest {times[-1]:.0f} ms")


def at_once(workspace: Workspace, seconds: int) -> list[str]:
    """What each process printed. None may fail."""
    command = [sys.executable, "-m", "tests.memory.search.index.soak_script", str(workspace.root)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    running = [
        subprocess.Popen(
            [*command, str(number), str(seconds)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            cwd=ROOT,
        )
        for number in range(PROCESSES)
    ]
    ended = [(process, *process.communicate()) for process in running]
    assert [(process.returncode, errors) for process, _, errors in ended] == [(0, "")] * PROCESSES
    return [output for _, output, _ in ended]


def same_as_a_rebuild(kept: SearchIndex, memory: Memory, rows: dict) -> None:
    fresh = SearchIndex(memory.cold, memory.workspace.root / f"nowhere-{time.monotonic_ns()}")
    fresh.update()
    fresh.catch_up()
    assert not kept.is_partial
    assert not fresh.is_partial
    assert (kept.documents.live_count, kept.documents.term_count) == (
        fresh.documents.live_count,
        fresh.documents.term_count,
    )
    assert links(kept) == links(fresh)
    terms = sorted({term for row in rows.values() for term in unpack_terms(row.packed)})
    for term in terms[:: max(1, len(terms) // 500)]:
        assert entries_with(kept, term) == entries_with(fresh, term)


def all_rows(cold: ColdStore) -> list:
    return cold.terms(0, 1_000_000)


def entries_with(some: SearchIndex, word: str) -> list[int]:
    documents, _ = some.find(word)
    return sorted(some.documents["entry"][documents[some.documents["alive"][documents] == 1]].tolist())


def links(some: SearchIndex) -> dict[int, tuple[int, int]]:
    documents = some.documents
    entry = [*documents["entry"].tolist(), -1]
    return {
        entry[row]: (entry[documents["previous"][row]], entry[documents["following"][row]])
        for row in range(documents.count)
        if documents["alive"][row]
    }
