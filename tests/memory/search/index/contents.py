"""What an index holds: its segments, postings and rows, for the tests beside it."""

import threading
import time
from pathlib import Path

from memory.memory import Memory
from memory.search.index import segment
from memory.search.index.index import SearchIndex
from memory.search.index.segment import chain, segments_in
from tests.memory.search.conversation import Talk


def segments(memory: Memory) -> list[Path]:
    return chain(segments_in(memory.workspace.postings))


def rows_on_disk(memory: Memory) -> int:
    return sum(one.count for path in segments(memory) if (one := segment.open_segment(path)))


def scattered(talk: Talk, count: int, start: int = 0) -> None:
    talk.memory.cold.append_many(
        [
            talk.draft(f"fact number {number} of {'tea' if number % 2 else 'coffee'}", to=f"c{number % 7}")
            for number in range(start, start + count)
        ]
    )


def fresh_index(memory: Memory) -> SearchIndex:
    """Built from the rows alone."""
    fresh = SearchIndex(memory.cold, memory.workspace.root / f"nowhere-{time.monotonic_ns()}")
    fresh.catch_up()
    return fresh


def every_posting(some: SearchIndex) -> dict[str, list[tuple[int, int]]]:
    return {word: entries_with(some, word) for word in ("tea", "coffe", "fact", "number")}


def rested(some: SearchIndex) -> SearchIndex:
    """Caught up, with nothing going on behind it."""
    some.catch_up()
    for thread in threading.enumerate():
        if thread.name == "palimpsest-postings":
            thread.join()
    some.catch_up()
    return some


def entries_with(some: SearchIndex, word: str) -> list[tuple[int, int]]:
    documents, counts = some.find(word)
    alive = some.documents["alive"][documents] == 1
    entries = some.documents["entry"][documents[alive]]
    return sorted(zip(entries.tolist(), counts[alive].tolist(), strict=True))
