"""`palimpsest recall LABEL`, `"#1"` and several references: what was archived, whole."""

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from agent.services.browse import browse
from agent.services.recall import recall, recall_markdown
from foundation.paths import Workspace
from foundation.privacy import as_given, clear
from foundation.trust import Trust
from memory.errors import NotFound
from memory.memory import Memory
from memory.pages.types import PageText
from tests.agent.conftest import Run
from tests.fakes import FakeClock

TEXT = "".join(f"Line {n} tells of the boiler and the ferry.\n" for n in range(120))


@pytest.fixture
def memory(workspace: Workspace, clock: FakeClock) -> Iterator[Memory]:
    opened = Memory.open(workspace, clock)
    opened.vault.archive_text(as_given("an older letter of that name"), label="house letters", mode="tiny")
    opened.vault.archive_text(as_given(TEXT), label="house letters", mode="tiny")
    yield opened
    opened.close()


def test_a_label_gives_the_whole_file_of_the_newest_archive_of_that_name(memory: Memory) -> None:
    found = recall(memory, "house letters")
    (hit,) = found.hits
    assert (found.found, hit.text, hit.kind, hit.id, hit.trust) == (True, TEXT, "archive", "#2", Trust.EXACT)
    assert len(hit.pages) > 1
    assert str(hit.citation) == f"[house letters · {len(hit.pages)} pages · {hit.time:%Y-%m-%d} · #2]"


def test_a_number_gives_an_older_one(memory: Memory) -> None:
    (hit,) = recall(memory, "#1").hits
    assert hit.text == "an older letter of that name"
    with pytest.raises(NotFound):
        recall(memory, "#9")


def test_a_label_counts_more_than_a_question_and_no_other_word_does(memory: Memory) -> None:
    memory.hot.remember(clear("The house letters are in the attic"))
    assert recall(memory, "house letters").hits[0].kind == "archive"
    for question in ("house letter", "2", "house letters attic"):
        assert all(hit.kind != "archive" for hit in recall(memory, question).hits)


def test_it_is_trusted_as_far_as_the_least_of_its_pages(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = recall(memory, "#2").hits[0]
    read, doubtful = memory.vault.read_page, whole.pages[1]

    def one_in_doubt(page: str) -> PageText:
        text = read(page)
        return replace(text, trust=Trust.APPROXIMATE, engine="nearest", doubt=(2,)) if page == doubtful else text

    monkeypatch.setattr(memory.vault, "read_page", one_in_doubt)
    (hit,) = recall(memory, "#2").hits
    assert (hit.text, hit.trust, hit.engine) == (TEXT, Trust.APPROXIMATE, "cells+nearest")
    assert hit.doubt == (read(whole.pages[0]).text.count("\n") + 2,)


def test_the_slash_command_and_the_list_give_it_too(memory: Memory) -> None:
    assert TEXT in recall_markdown(memory, "house letters")
    (row,) = browse(memory, "#2").rows
    assert row.passage is not None
    assert row.passage.text == TEXT


def test_the_command_gives_a_file_back_to_the_byte(run: Run, tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("files") / "letter.txt"
    file.write_bytes(TEXT.encode())
    archived = run("archive", str(file), "--label", "old letter", "--mode", "tiny", "--json").json
    assert run("recall", "old letter").raw == TEXT.encode()
    assert run("recall", "#1", "--json").json["hits"][0]["kind"] == "archive"
    pages = [page["id"] for page in archived["pages"]]
    found = run("recall", pages[1], pages[0], "#1", "--json").json
    assert [hit["id"] for hit in found["hits"]] == [pages[1], pages[0], "#1"]
    second, first, whole = (hit["text"] for hit in found["hits"])
    assert whole == TEXT
    assert whole.startswith(first + second)


def test_of_several_references_one_that_names_nothing_is_told_and_stops_no_other(run: Run) -> None:
    run("remember", "The boiler is serviced in May.")
    note = run("recall", "boiler", "--json").json["hits"][0]["id"]
    said = run("recall", "pg_000000000000", note, "--json")
    assert said.status == 1
    assert [hit["id"] for hit in said.json["hits"]] == [note]
    assert "pg_000000000000" in said.err
    assert run("recall", note, "boiler", "--json").status == 2
