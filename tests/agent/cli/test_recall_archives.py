"""`palimpsest recall LABEL`, `"#1"` and several references: what was archived, whole."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.services.live_search import find_rows
from agent.services.recall import recall, recall_markdown
from foundation.paths import Workspace
from foundation.privacy import as_given, clear
from foundation.trust import Trust
from memory.archive.packs.pack import Pack
from memory.errors import Damaged, NewerPack, NotFound, StorageUnreachable
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
    (row,) = find_rows(memory, "#2").rows
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


LONG = "".join(f"{n}: the ferry passed the lighthouse at {n % 24} o'clock.\n" for n in range(300))


@pytest.fixture
def damaged(run: Run, root: Path, tmp_path: Path) -> tuple[list[str], list[int]]:
    """The texts of the pages of “log”, and the numbers of those that were damaged, beyond what parity mends."""
    (tmp_path / "log.txt").write_text(LONG)
    assert run("archive", str(tmp_path / "log.txt"), "--label", "log", "--no-text", "--mode", "tiny").status == 0
    memory = Memory.open(Workspace(root))
    rows = memory.vault.pages()
    texts = [memory.vault.read_page(row.id).text for row in rows]
    frames = Pack(memory.vault.storage, rows[0].pack).pages
    memory.close()
    file = root / ".palimpsest" / "packs" / rows[0].pack
    raw = bytearray(file.read_bytes())
    numbers = [2, 3, 5]
    for number in numbers:
        frame = frames[number - 1]
        raw[frame.offset : frame.offset + frame.length] = bytes(frame.length)
    file.write_bytes(raw)
    for parity in file.parent.glob("*.parity"):
        parity.unlink()
    return texts, numbers


def test_pages_that_are_lost_are_named_and_the_others_are_recalled(
    run: Run, damaged: tuple[list[str], list[int]]
) -> None:
    texts, numbers = damaged
    ran = run("recall", "log", "--json")
    (hit,) = ran.json["hits"]
    assert (ran.status, hit["missing"], hit["trust"], len(hit["pages"])) == (1, numbers, "approximate", len(texts) - 3)
    assert hit["told"] == [f"Cannot read pages 2, 3 and 5 of {len(texts)}; their text is left out."]
    first, fourth, rest = texts[0], texts[3], "".join(texts[5:])
    assert hit["text"] == f"{first}[lost: pages 2 and 3]\n{fourth}[lost: page 5]\n{rest}"
    lines = hit["text"].split("\n")
    assert [lines[line - 1] for line in hit["doubt"]] == ["[lost: pages 2 and 3]", "[lost: page 5]"]


def test_the_lost_pages_are_named_once_beside_the_text(run: Run, damaged: tuple[list[str], list[int]]) -> None:
    ran = run("recall", "log")
    assert ran.status == 1
    assert ran.err.count("Cannot read pages 2, 3 and 5") == 1
    assert "pg_" not in ran.err
    assert damaged[0][3] in ran.out
    several = run("recall", "log", "#1")
    assert (several.status, several.err.count("Cannot read")) == (1, 2)


def test_they_are_missing_after_a_repair_too(run: Run, damaged: tuple[list[str], list[int]]) -> None:
    assert run("check", "--repair").status == 1
    ran = run("recall", "log", "--json")
    assert (ran.status, ran.json["hits"][0]["missing"]) == (1, damaged[1])


def test_where_no_page_can_be_read_it_is_an_error(run: Run, root: Path, damaged: tuple[list[str], list[int]]) -> None:
    (file,) = (root / ".palimpsest" / "packs").glob("*.pages")
    file.write_bytes(bytes(len(file.read_bytes())))
    ran = run("recall", "log", "--json")
    assert (ran.status, ran.json["error"]["code"]) == (1, "damaged")
    assert damaged[1]


def test_a_gap_begins_a_line_and_every_page_keeps_its_own_doubts(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = [page.id for page in memory.vault.pages(2)]

    def read(page: str) -> PageText:
        if page == pages[1]:
            raise Damaged("A page is damaged", "gone")
        text = {pages[0]: "one\ntw", pages[2]: "six\nseven\n"}[page]
        return PageText(text=text, trust=Trust.EXACT, engine="cells", read_ms=1.0, doubt=(2,), page_id=page)

    assert len(pages) == 3
    monkeypatch.setattr(memory.vault, "read_page", read)
    (hit,) = recall(memory, "#2").hits
    assert (hit.text, hit.doubt) == ("one\ntw\n[lost: page 2]\nsix\nseven\n", (2, 3, 5))


@pytest.mark.parametrize("error", [StorageUnreachable, NewerPack])
def test_what_cannot_be_reached_is_no_lost_page(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, error: type[Damaged]
) -> None:
    real, second = memory.vault.read_page, memory.vault.pages(2)[1].id

    def fail(page: str) -> PageText:
        if page == second:
            raise error("Not now", "try later")
        return real(page)

    monkeypatch.setattr(memory.vault, "read_page", fail)
    with pytest.raises(error):
        recall(memory, "#2")
