"""Tombstones: a forgotten entry is known again by its name and its text, and the file holds neither."""

import json
import random
from pathlib import Path

import pytest

from memory.forgotten import tombstones
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


# What is damaged


def _of(name: str) -> EntryTombstone:
    return EntryTombstone(token=ForgottenName("", "c", name).token, text="f" * 64, forgotten_ms=1)


def _both(path: Path) -> tuple[Path, Path]:
    return path / "forgotten.jsonl", path / "forgotten" / "tombstones.jsonl"


def _flipped(path: Path, bit: int) -> bytes:
    whole = path.read_bytes()
    body = bytearray(whole)
    body[bit // 8] ^= 1 << bit % 8
    path.write_bytes(body)
    return whole


def test_a_flipped_bit_in_either_file_loses_nothing_is_named_and_mended(tmp_path: Path) -> None:
    _stones(tmp_path).add([_of("one"), _of("two"), _of("three")])
    sound = _stones(tmp_path)
    assert sound.damages() == []
    chance = random.Random("flips")
    for file in _both(tmp_path):
        size = 8 * file.stat().st_size
        for bit in {*chance.sample(range(size), 60), size - 1, size - 8}:
            whole = _flipped(file, bit)
            stones = _stones(tmp_path)
            assert stones.tokens() >= sound.tokens(), bit
            assert [damage.file for damage in stones.damages()] == [file.relative_to(tmp_path).as_posix()], bit
            kept: list[Path] = []
            mended, lost = stones.repair(kept.append)
            assert (len(mended), lost, kept) == (1, [], [file])
            assert stones.damages() == []
            assert stones.tokens() == sound.tokens()
            file.write_bytes(whole)


def test_without_the_checksum_a_flipped_bit_is_found_by_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: a line is believed, and there is no second file."""
    monkeypatch.setattr(tombstones, "body_of", lambda line: line.partition(b" ")[2])
    main, copy = _both(tmp_path)
    _stones(tmp_path).add([_of("one")])
    _flipped(main, 8 * (main.read_bytes().index(b"ffff") + 3))
    copy.write_bytes(main.read_bytes())
    assert _stones(tmp_path).damages() == []
    assert _stones(tmp_path).all() != (_of("one"),)


def test_what_is_damaged_in_both_files_is_named_as_lost(tmp_path: Path) -> None:
    stones = _stones(tmp_path)
    stones.add([_of("one"), _of("two")])
    for file in _both(tmp_path):
        _flipped(file, 8 * 40)
    assert _stones(tmp_path).tokens() == {_of("two").token}
    messages = [damage.message for damage in stones.damages()]
    assert len(messages) == 2
    assert all("In neither file: 1 tombstone; an import may restore" in message for message in messages)
    _, lost = stones.repair(lambda _: None)
    assert len(lost) == 1
    assert stones.damages() == []


def test_lines_of_an_earlier_version_are_read_and_get_a_second_place(tmp_path: Path) -> None:
    main, copy = _both(tmp_path)
    main.write_text("\n" + json.dumps({"token": _of("old").token, "forgotten_ms": 1}) + "\n")
    stones = _stones(tmp_path)
    assert stones.tokens() == {_of("old").token}
    assert stones.damages() == []
    stones.add([_of("new")])
    assert stones.damages() == []
    main.unlink()
    assert _stones(tmp_path).tokens() == {_of("old").token, _of("new").token}
    assert [damage.file for damage in _stones(tmp_path).damages()] == ["forgotten.jsonl"]
    assert _stones(tmp_path).add([]) == 0
    assert _stones(tmp_path).damages() == []
    assert copy.exists()


def test_a_kill_between_the_two_files_is_mended_by_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stones = _stones(tmp_path)
    stones.add([_of("one")])

    def killed(path: Path, lines: bytes) -> None:
        if path.parent.name == "forgotten":
            raise KeyboardInterrupt
        real(path, lines)

    real = tombstones.add_lines
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(tombstones, "add_lines", killed)
        stones.add([_of("two")])
    again = _stones(tmp_path)
    assert again.tokens() == {_of("one").token, _of("two").token}
    assert again.damages()
    assert again.add([]) == 0  # what the job does again
    assert again.damages() == []
