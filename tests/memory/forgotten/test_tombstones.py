"""Tombstones: a forgotten entry is known again by its name and its text, and the file holds neither."""

from pathlib import Path

from memory.forgotten.tombstones import EntryTombstone, ForgottenName, Tombstones

NAME = ForgottenName("", "c_one", "e_one")
TEXT = "The code of the door is bluefin-7731."


def _stones(path: Path) -> Tombstones:
    return Tombstones(path / "forgotten.jsonl", b"s" * 32)


def test_a_forgotten_entry_is_known_by_name_and_by_text(tmp_path: Path) -> None:
    stones = _stones(tmp_path)
    assert not stones.has(NAME)
    assert not stones.has_text(TEXT)
    stones.add([EntryTombstone(token=NAME.token, text=stones.hash_of(TEXT), forgotten_ms=1)])
    assert stones.has(NAME)
    assert stones.has_text(f"  {TEXT}\n")
    assert not stones.has(ForgottenName("", "c_one", "e_two"))
    assert not stones.has_text("Another text that was never forgotten.")


def test_another_process_sees_what_was_added(tmp_path: Path) -> None:
    first, second = _stones(tmp_path), _stones(tmp_path)
    assert not second.has(NAME)
    first.add([EntryTombstone(token=NAME.token, forgotten_ms=1)])
    assert second.has(NAME)


def test_the_file_holds_no_word_and_is_added_to_once(tmp_path: Path) -> None:
    stones = _stones(tmp_path)
    stone = EntryTombstone(token=NAME.token, text=stones.hash_of(TEXT), forgotten_ms=1)
    assert stones.add([stone]) == 1
    assert stones.add([stone]) == 0
    body = (tmp_path / "forgotten.jsonl").read_bytes()
    assert b"bluefin" not in body
    assert b"e_one" not in body


def test_a_line_that_was_cut_off_hides_no_other(tmp_path: Path) -> None:
    stones = _stones(tmp_path)
    stones.add([EntryTombstone(token=NAME.token, forgotten_ms=1)])
    with (tmp_path / "forgotten.jsonl").open("ab") as file:
        file.write(b'{"token":"cut')
    other = ForgottenName("", "c_one", "e_two")
    stones.add([EntryTombstone(token=other.token, forgotten_ms=2)])
    assert _stones(tmp_path).tokens() == {NAME.token, other.token}


def test_a_short_text_is_known_by_its_name_alone(tmp_path: Path) -> None:
    assert _stones(tmp_path).hash_of("yes") == ""
