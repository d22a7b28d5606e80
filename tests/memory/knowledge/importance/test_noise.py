"""One large file full of noise beside small good ones."""

from pathlib import Path

import pytest

from memory.knowledge.ingest.report import AddOptions
from memory.knowledge.knowledge import Knowledge
from memory.memory import Memory
from memory.search import Query
from tests.fakes import FakeClock

TOPICS = ("cost", "memory", "training", "history", "layers", "heads")


@pytest.fixture
def noisy(tmp_path: Path) -> Path:
    """A log of some hundred pages whose every line has the stem of the question, and six small notes."""
    folder = tmp_path / "notes"
    folder.mkdir()
    steps = (f"2026-03-01 {n:07} INFO job {n % 977} transformed row {n * 7919 % 65_537}\n" for n in range(14_000))
    (folder / "app.log").write_text("".join(steps))
    for topic in TOPICS:
        (folder / f"{topic}.md").write_text(f"# On {topic}\n\nOf transformers the {topic} is what I looked at most.\n")
    return folder


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_a_large_noisy_file_drowns_nobody(knowledge: Knowledge, memory: Memory, noisy: Path) -> None:
    report = knowledge.add([noisy], AddOptions(mode="tiny"))
    assert report.pages > 400  # more than a query scores in full
    found = knowledge.get_context_for_query("What did I learn about transformers?", 3000)
    assert {one.known.name for one in found.passages[:6]} == {f"notes/{topic}.md" for topic in TOPICS}
    assert sum(one.known.name == "notes/app.log" for one in found.passages) <= 3
    plain = memory.search.query(Query(text="transformers", kinds=("knowledge",), limit=60, each=2)).hits
    assert [sum(hit.conversation == other.conversation for hit in plain) for other in plain].count(2) <= 2
    assert len(plain) == 8
    out = {one.conversation for one in plain} - {one.citation.conversation for one in found.passages[:6]}
    assert len(out) == 1
    log = knowledge.find(["app.log"])[0].conversation
    alone = memory.search.query(Query(text="transformers", limit=60, among=frozenset({log}))).hits
    assert {hit.conversation for hit in alone} == out
    assert not memory.search.query(Query(text="transformers", among=frozenset())).found


def test_what_is_out_of_view_takes_no_ones_place(knowledge: Knowledge, noisy: Path, clock: FakeClock) -> None:
    (noisy / "app.log").write_text((noisy / "app.log").read_text().replace("transformed", "transformers"))
    knowledge.add([noisy], AddOptions(mode="tiny"))
    knowledge.set_importance(["app.log"], 0)
    clock.advance(86_400)
    where = {one.known.name: one.view_state.state for one in knowledge.memories(1000)}
    assert (where["notes/app.log"], where["notes/cost.md"]) == ("out of view", "in view")
    found = knowledge.get_context_for_query("What did I learn about transformers?", 3000, max_vision_tokens=1000)
    assert not found.out_of_view
    assert {one.known.name for one in found.passages} == {f"notes/{topic}.md" for topic in TOPICS}


def test_the_best_passages_of_several_files_go_before_the_others_of_one(knowledge: Knowledge, tmp_path: Path) -> None:
    book = "\n\n".join(
        f"# Chapter {n}\n\nThe boiler of house {n} is serviced by Ann in spring.{' Yes.' * 900}" for n in range(12)
    )
    (tmp_path / "book.md").write_text(book)
    (tmp_path / "letter.txt").write_text("The boiler was serviced by Ben this year, wrote the landlord.\n")
    knowledge.add([tmp_path / "book.md", tmp_path / "letter.txt"])
    brought = knowledge.get_context_for_query("who services the boiler", 4000).passages
    assert "letter.txt" in [one.known.name for one in brought[:2]]
    assert len(brought) > 4  # where few files have anything, each may say more


def test_the_word_as_it_was_asked_says_more_than_its_stem(knowledge: Knowledge, tmp_path: Path) -> None:
    (tmp_path / "rows.txt").write_text("Transformed rows are transformed; transform them again, transforming all.\n")
    (tmp_path / "paper.txt").write_text("Beside much else, said in many other words here, a transformer was built.\n")
    knowledge.add([tmp_path / "rows.txt", tmp_path / "paper.txt"])
    brought = knowledge.get_context_for_query("What did I learn about transformers?", 1000).passages
    assert [one.known.name for one in brought] == ["paper.txt", "rows.txt"]
