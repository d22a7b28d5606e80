"""Two files change places, and whatever stood there comes out on the other side."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from foundation.files import atomic_exchange as room
from foundation.files.atomic_exchange import ASIDE, exchange, exchange_by_renames

WAYS = [exchange, exchange_by_renames]


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    a, b = tmp_path / "a.md", tmp_path / "b.md"
    a.write_bytes(b"A")
    b.write_bytes(b"B")
    return a, b


@pytest.mark.parametrize("way", WAYS)
def test_the_files_have_changed_places_and_nothing_else_is_there(
    pair: tuple[Path, Path], way: Callable[[Path, Path], None]
) -> None:
    a, b = pair
    way(a, b)
    assert (a.read_bytes(), b.read_bytes()) == (b"B", b"A")
    assert sorted(path.name for path in a.parent.iterdir()) == ["a.md", "b.md"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("missing", [0, 1])
def test_a_missing_file_is_an_error_and_the_other_stays(
    pair: tuple[Path, Path], way: Callable[[Path, Path], None], missing: int
) -> None:
    pair[missing].unlink()
    with pytest.raises(FileNotFoundError):
        way(*pair)
    assert pair[1 - missing].read_bytes() == b"AB"[1 - missing : 2 - missing]


@pytest.mark.skipif(os.name == "nt", reason="Windows takes its own way")
@pytest.mark.parametrize("refusal", [errno.EINVAL, errno.ENOSYS, errno.EPERM])
def test_where_the_filesystem_refuses_the_renames_do_it(
    pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, refusal: int
) -> None:
    monkeypatch.setattr(room, "system_swap", lambda: lambda _a, _b: refusal)
    exchange(*pair)
    assert [path.read_bytes() for path in pair] == [b"B", b"A"]


@pytest.mark.skipif(os.name == "nt", reason="Windows takes its own way")
def test_any_other_failure_is_raised_with_its_path(pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "system_swap", lambda: lambda _a, _b: errno.EACCES)
    with pytest.raises(PermissionError) as error:
        exchange(*pair)
    assert error.value.filename == str(pair[0])


def test_a_file_written_in_the_instant_when_none_stood_there_is_taken_as_what_stood_there(
    pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = pair
    take, first = room.link_if_free, [True]

    def slow(source: Path, target: Path) -> bool:
        if first:
            first.clear()
            target.write_bytes(b"written just now")
        return take(source, target)

    monkeypatch.setattr(room, "link_if_free", slow)
    exchange_by_renames(a, b)
    assert (a.read_bytes(), b.read_bytes()) == (b"B", b"written just now")
    kept = [path for path in a.parent.iterdir() if path.name.endswith(ASIDE)]
    assert [path.read_bytes() for path in kept] == [b"A"]


def test_without_hard_links_a_free_place_is_still_taken_and_a_taken_one_is_not(
    pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "no hard links here")

    monkeypatch.setattr(os, "link", no_links)
    exchange_by_renames(*pair)
    assert [path.read_bytes() for path in pair] == [b"B", b"A"]
    assert not room.link_if_free(pair[0], pair[1])


def test_a_failure_in_the_middle_puts_the_file_back(pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    take, calls = room.link_if_free, []

    def fails_once(source: Path, target: Path) -> bool:
        calls.append(source)
        if len(calls) == 1:
            raise OSError(errno.EIO, "I/O error")
        return take(source, target)

    monkeypatch.setattr(room, "link_if_free", fails_once)
    with pytest.raises(OSError, match="I/O"):
        exchange_by_renames(*pair)
    assert pair[0].read_bytes() == b"A"
