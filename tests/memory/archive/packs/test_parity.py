"""Parity of packs: what is kept by default recovers any damaged stretch of 4 KiB, with no further library."""

import hashlib
import random
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from foundation.paths import Workspace
from foundation.privacy import as_given
from memory.archive.packs.parity import parity_is_sound, recover_pack, write_parity
from memory.archive.packs.storage import LocalStorage
from memory.memory import Memory
from memory.settings import ArchiveSettings
from models.errors import MissingLibrary
from tests.fakes import FakeClock
from tests.memory.archive.intact_workspace import mend

NAME = "ab.pages"
STRETCH = 4096
DEFAULT = ArchiveSettings().parity


@pytest.fixture
def storage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalStorage:
    """Without zfec: what is kept by default needs none."""
    monkeypatch.setitem(sys.modules, "zfec", None)
    return LocalStorage(tmp_path / "packs")


@pytest.mark.parametrize("size", [1, 1023, 1024, 1025, 9000, 11_000, 105_000, 247_899, 700_000])
def test_a_stretch_that_is_damaged_anywhere_is_recovered(storage: LocalStorage, size: int) -> None:
    chance = random.Random(size)
    body = chance.randbytes(size)
    storage.write(NAME, body)
    write_parity(storage, NAME, DEFAULT)
    sha256 = hashlib.sha256(body).digest()
    assert parity_is_sound(storage, NAME, sha256)
    length = min(size, STRETCH)
    for at in (0, size - length, *(chance.randrange(size - length + 1) for _ in range(20))):
        other = bytes(byte ^ 255 for byte in body[at : at + length])
        storage.write(NAME, body[:at] + other + body[at + length :])
        assert recover_pack(storage, NAME, sha256, size) == body, at


@pytest.mark.parametrize("size", [105_000, 247_899, 2_000_000])
def test_it_takes_less_than_a_twelfth_of_a_pack_at_rest(storage: LocalStorage, size: int) -> None:
    storage.write(NAME, bytes(size))
    assert write_parity(storage, NAME, DEFAULT) < size / 12


def test_too_much_damage_is_not_mended_wrongly(storage: LocalStorage) -> None:
    body = random.Random(1).randbytes(105_000)
    storage.write(NAME, body)
    write_parity(storage, NAME, DEFAULT)
    storage.write(NAME, bytes(20_000) + body[20_000:])
    assert recover_pack(storage, NAME, hashlib.sha256(body).digest(), len(body)) is None


def test_more_than_four_percent_needs_a_library(storage: LocalStorage) -> None:
    storage.write(NAME, b"words")
    write_parity(storage, NAME, 4)
    with pytest.raises(MissingLibrary):
        write_parity(storage, NAME, 5)


@pytest.mark.parametrize("share", [0.02, 0.5, 0.97])
@pytest.mark.parametrize("length", [1, STRETCH])
def test_damage_of_a_cold_pack_that_is_the_only_copy_costs_no_page(
    tmp_path: Path, clock: FakeClock, share: float, length: int
) -> None:
    chance = random.Random(2)
    text = "".join(f"value_{chance.randrange(10**6)} = call({chance.random()})\n" for _ in range(2500))
    memory = Memory.open(Workspace(tmp_path), clock, read_only=False)
    memory.vault.archive_text(as_given(text), label="code")
    memory.vault.repacking.run(min_age=timedelta(0), least=1)
    (name,) = {page.pack for page in memory.vault.pages()}
    path = memory.workspace.packs / name
    whole = path.read_bytes()
    assert len(whole) > 6 * STRETCH
    at = int(len(whole) * share) - (length if share > 0.9 else 0)
    path.write_bytes(whole[:at] + bytes(byte ^ 4 for byte in whole[at : at + length]) + whole[at + length :])
    assert memory.vault.check()
    done = mend(memory, parity=DEFAULT)
    assert (done.lost, done.problems) == ((), ())
    assert path.read_bytes() == whole
    memory.close()
