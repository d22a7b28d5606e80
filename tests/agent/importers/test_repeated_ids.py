"""An id that stands for several texts loses none of them, and importing again adds nothing."""

from pathlib import Path
from typing import Any

import pytest

from agent.importers.chunks import read_chunks
from agent.importers.jsonl import read_jsonl
from memory.cold import ColdStore
from tests.agent.importers.stored import branch, lines, stored
from tests.agent.importers.test_chunks import written


def numbered(*texts: str, time: str = "") -> list[dict[str, Any]]:
    """Messages whose ids count from 1, as programs number them in each chunk."""
    return [{"id": n, "content": text, "timestamp": time} for n, text in enumerate(texts, start=1)]


FILES = {
    "chunks__n_chunk_001": numbered("a", "b", "Go on.", time="2024-03-01T10:00:00"),
    "chunks__n_chunk_002": numbered("c", "d", "Go on.", time="2024-03-02T10:00:00"),
    "chunks__n_chunk_003": numbered("e", "Go on."),
    "chunks__n_chunk_004": numbered("f", "Go on."),
}
TEXTS = ["a", "b", "Go on.", "c", "d", "Go on.", "e", "Go on.", "f", "Go on."]


def test_chunks_that_number_their_messages_anew_lose_none(cold: ColdStore, tmp_path: Path) -> None:
    written(tmp_path, **FILES)
    report = stored(cold, read_chunks(tmp_path))
    assert (report.entries, report.already, report.bad_count) == (10, 0, 0)
    assert [entry.text for entry in branch(cold, "n")] == TEXTS
    assert [entry.id for entry in branch(cold, "n")][:3] == ["1", "2", "3"]
    again = stored(cold, read_chunks(tmp_path))
    assert (again.entries, again.already) == (0, 10)
    written(tmp_path, chunks__n_chunk_005=numbered("g"))
    grown = stored(cold, read_chunks(tmp_path))
    assert (grown.entries, grown.already) == (1, 10)
    assert [entry.text for entry in branch(cold, "n")] == [*TEXTS, "g"]


def test_an_id_twice_in_a_chunk_is_two_entries_where_the_texts_differ(cold: ColdStore, tmp_path: Path) -> None:
    messages = [{"id": "same", "content": text} for text in ("one", "two", "one")]
    report = stored(cold, read_chunks(written(tmp_path, chunks__n_chunk_001=messages)))
    assert (report.entries, report.already) == (2, 1)
    assert [entry.text for entry in branch(cold, "n")] == ["one", "two"]


@pytest.mark.parametrize("at_once", [True, False])
def test_an_id_twice_in_jsonl_is_two_entries_where_the_texts_differ(cold: ColdStore, at_once: bool) -> None:
    told = [{"id": 1, "conversation": "c", "text": text} for text in ("one", "two")]
    if at_once:
        stored(cold, read_jsonl(lines(*told), "c"))
    else:  # the second file is of the same source
        stored(cold, read_jsonl(lines(told[0]), "c"))
        assert stored(cold, read_jsonl(lines(told[1]), "c")).entries == 1
    assert [entry.text for entry in branch(cold, "c")] == ["one", "two"]
    assert stored(cold, read_jsonl(lines(*told), "c")).already == 2


def test_what_answers_a_repeated_id_answers_the_newest_of_it(cold: ColdStore) -> None:
    told = [
        {"id": "q", "text": "first question", "palimpsest": {"parent": ""}},
        {"id": "q", "text": "second question", "palimpsest": {"parent": ""}},
        {"id": "a", "text": "second answer", "palimpsest": {"parent": "q"}},
    ]
    stored(cold, read_jsonl(lines(*told), "c"))
    assert [entry.text for entry in branch(cold, "c")] == ["second question", "second answer"]
