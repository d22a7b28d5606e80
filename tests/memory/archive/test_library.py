"""Palimpsest as a library: two functions."""

import shutil
from pathlib import Path
from re import fullmatch

import pytest

from memory import archive_conversation, recall_memory
from memory.errors import InexactText, NotFound
from memory.pages.render.layout import LayoutText
from memory.pages.render.modes import TINY
from memory.pages.render.page import page_sheets, render_page
from memory.pages.render.png import decode, encode_png

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long

TEXT = "".join(f"{n}: Grüße, 世界 ␛ ↵ 🦊\n" for n in range(1500))


def test_what_was_archived_is_recalled_from_its_picture_alone(tmp_path: Path) -> None:
    kept = archive_conversation(TEXT, "session_20260201", tmp_path / "here")
    assert kept["schema"] == 1
    assert kept["label"] == "session_20260201"
    assert kept["compression_ratio"] == kept["ratio"] > 5
    pictures = [Path(page["path"]) for page in kept["pages"]]
    assert pictures[0] == Path(kept["image_path"])
    copies = [Path(shutil.copy(picture, tmp_path / f"{n}.png")) for n, picture in enumerate(pictures)]
    shutil.rmtree(tmp_path / "here")
    assert "".join(recall_memory(copy) for copy in copies) == TEXT


def test_a_page_or_all_under_a_label_is_recalled_from_the_workspace(tmp_path: Path) -> None:
    kept = archive_conversation(TEXT, "march", tmp_path)
    assert recall_memory("march", tmp_path) == TEXT
    first = kept["pages"][0]
    assert recall_memory(first["id"], tmp_path) == TEXT[: first["chars"]]


def test_the_current_folder_is_the_workspace_where_none_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    archive_conversation("hello", "greeting")
    assert recall_memory("greeting") == "hello"
    assert (tmp_path / ".palimpsest").is_dir()


def test_the_text_stands_beside_the_pages_unless_it_should_not(tmp_path: Path) -> None:
    archive_conversation("hello", "greeting", tmp_path)
    archive_conversation("hush", "secret", tmp_path, keep_text=False)
    assert [path.name for path in (tmp_path / "memory" / "archive").iterdir()] == ["greeting.md"]


def test_a_damaged_picture_raises_unless_it_is_asked_for(tmp_path: Path) -> None:
    kept = archive_conversation("one\ntwo\nthree", "numbers", tmp_path)
    ink = decode(Path(kept["image_path"]).read_bytes()).copy()
    ink[32:48, 5] ^= 0x5A
    damaged = tmp_path / "damaged.png"
    damaged.write_bytes(encode_png(ink))
    with pytest.raises(InexactText):
        recall_memory(damaged)
    guessed = recall_memory(damaged, exact=False)
    assert fullmatch(r"one\nt.o\nthree", guessed)  # by the nearest glyph
    assert guessed != "one\ntwo\nthree"


@pytest.mark.parametrize("ref", ["nothing by that name", "pg_000000000000", "x" * 5000, "a\0b"])
def test_what_is_not_there_is_said_so(tmp_path: Path, ref: str) -> None:
    archive_conversation("hello", "greeting", tmp_path)
    with pytest.raises(NotFound):
        recall_memory(ref, tmp_path)


def test_a_folder_that_is_no_workspace_is_said_so_and_left_alone(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        recall_memory("greeting", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_picture_of_another_text_than_the_workspace_knows_is_not_exact(tmp_path: Path) -> None:
    kept = archive_conversation("The heron stands in the reeds.", "birds", tmp_path / "ws")
    (sheet,) = page_sheets([LayoutText("The magpie stands in the reeds.")], TINY)
    forged = tmp_path / "forged.png"
    forged.write_bytes(render_page(sheet, kept["pages"][0]["id"], 1).png)
    with pytest.raises(InexactText, match="altered"):
        recall_memory(forged, tmp_path / "ws")
    assert recall_memory(forged, tmp_path / "ws", exact=False) == "The magpie stands in the reeds."
    assert recall_memory(forged, tmp_path / "none") == "The magpie stands in the reeds."
    assert recall_memory(kept["image_path"], tmp_path / "ws") == "The heron stands in the reeds."
