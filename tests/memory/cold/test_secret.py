"""The key of hashes comes from its copy where its file is lost, and is not replaced where something was forgotten."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memory.cold.secret import repair_secret, secret_at, secret_damages
from memory.errors import Damaged

HARMS: dict[str, Callable[[Path], object]] = {
    "zeroed": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:9]),
    "emptied": lambda path: path.write_bytes(b""),
    "too long": lambda path: path.write_bytes(path.read_bytes() * 3),
    "deleted": lambda path: path.unlink(),
}


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "state" / "secret.key"
    assert len(secret_at(path, make=True)) == 32
    assert secret_damages(path) == []
    return path


def forget_something(key: Path) -> None:
    key.with_name("forgotten.jsonl").write_bytes(b"\n")


def repaired(key: Path) -> tuple[list[str], list[str], list[str]]:
    kept: list[Path] = []
    mended, lost = repair_secret(key, kept.append)
    return mended, lost, [path.name for path in kept]


@pytest.mark.parametrize("harm", [*HARMS, "another"])
def test_a_lost_key_is_read_from_its_copy_named_and_written_anew(key: Path, harm: str) -> None:
    forget_something(key)
    whole = key.read_bytes()
    HARMS.get(harm, lambda path: path.write_bytes(b"k" * 32))(key)
    assert secret_at(key, make=False) == secret_at(key, make=True) == whole
    assert [damage.file for damage in secret_damages(key)] == ["secret.key"]
    mended, lost, _ = repaired(key)
    assert (len(mended), lost) == (1, [])
    assert key.read_bytes() == whole
    assert secret_damages(key) == []


@pytest.mark.parametrize("harm", [harm for harm in HARMS if harm != "deleted"])
def test_a_damaged_copy_is_named_and_written_anew(key: Path, harm: str) -> None:
    copy = key.with_name("secret.copy")
    whole = copy.read_bytes()
    HARMS[harm](copy)
    assert secret_at(key, make=True) == key.read_bytes()
    assert [damage.file for damage in secret_damages(key)] == ["secret.copy"]
    assert repaired(key) == (["secret.copy: the hash key was rewritten."], [], ["secret.key", "secret.copy"])
    assert copy.read_bytes() == whole


@pytest.mark.parametrize("harm", HARMS)
def test_no_other_key_is_made_silently_where_something_was_forgotten(key: Path, harm: str) -> None:
    forget_something(key)
    for path in (key, key.with_name("secret.copy")):
        HARMS[harm](path)
    assert secret_at(key, make=False) == b""
    with pytest.raises(Damaged) as raised:
        secret_at(key, make=True)
    assert "and an import may restore it:" in raised.value.hint
    assert [damage.file for damage in secret_damages(key)] == ["secret.key"]
    mended, lost, _ = repaired(key)
    assert (mended, len(lost)) == ([], 1)
    assert "forget it again in that case" in lost[0]
    assert len(secret_at(key, make=True)) == 32
    assert secret_damages(key) == []


def test_a_key_of_an_earlier_release_is_copied_with_its_next_use(key: Path) -> None:
    copy = key.with_name("secret.copy")
    copy.unlink()
    assert secret_damages(key) == []
    assert secret_at(key, make=False) == key.read_bytes()
    assert not copy.exists(), "nothing is written where the workspace is only read"
    assert secret_at(key, make=True) == key.read_bytes() == copy.read_bytes()[:32]


def test_a_workspace_without_a_key_gets_one(tmp_path: Path) -> None:
    path = tmp_path / "secret.key"
    assert secret_damages(path) == []
    assert secret_at(path, make=False) == b""
    assert secret_at(path, make=True) == secret_at(path, make=True) == secret_at(path, make=False) != b""
