"""Packs that changed places, and an index that is older than the last repack: nothing is lost."""

import shutil
from pathlib import Path

import pytest

from foundation.paths import Workspace
from memory.errors import Damaged
from memory.memory import Memory
from tests.fakes import FakeClock
from tests.memory.archive.intact_workspace import archived, mend, problems, talk, texts


def packs(memory: Memory) -> list[str]:
    return [name for name in memory.vault.storage.names() if name.endswith(".pages")]


def swapped(memory: Memory) -> tuple[str, str]:
    folder = memory.workspace.packs
    one, other = packs(memory)[:2]
    (folder / one).rename(folder / "between")
    (folder / other).rename(folder / one)
    (folder / "between").rename(folder / other)
    return one, other


def test_two_packs_in_each_others_place_are_set_right(tmp_path: Path, clock: FakeClock) -> None:
    memory, said = archived(tmp_path, clock)
    told = texts(memory, said)
    before = {name: (memory.workspace.packs / name).read_bytes() for name in packs(memory)}
    swapped(memory)
    done = mend(memory)
    assert (done.lost, done.problems) == ((), ())
    assert {name: (memory.workspace.packs / name).read_bytes() for name in packs(memory)} == before
    memory.close()
    memory = Memory.open(Workspace(tmp_path), clock, read_only=False)
    assert texts(memory, said) == told
    assert mend(memory).mended == ()
    memory.close()


def test_a_page_is_never_read_from_anothers_place(tmp_path: Path, clock: FakeClock) -> None:
    memory, _ = archived(tmp_path, clock)
    swapped(memory)
    for page in memory.vault.pages():
        with pytest.raises(Damaged, match=r"where page .* should be|has no page at position") as found:
            memory.vault.read_page(page.id)
        assert "check --repair" in found.value.hint
    assert all("approximate" not in line for line in problems(memory))
    memory.close()


@pytest.mark.parametrize("at", [1, 2, 3, 4, 5, 6])
def test_setting_right_can_be_cut_short_at_any_write(
    tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    memory, said = archived(tmp_path, clock)
    told = texts(memory, said)
    swapped(memory)
    storage, left = memory.vault.storage, [at]
    for name in ("write", "delete"):
        real = getattr(storage, name)

        def fused(*given: object, real: object = real) -> None:
            left[0] -= 1
            if not left[0]:
                raise KeyboardInterrupt
            real(*given)

        monkeypatch.setattr(storage, name, fused)
    with pytest.raises(KeyboardInterrupt):
        mend(memory)
    memory.close()
    monkeypatch.undo()
    memory = Memory.open(Workspace(tmp_path), clock, read_only=False)
    assert (mend(memory).lost, problems(memory), texts(memory, said)) == ((), [], told)
    memory.close()


@pytest.mark.parametrize("manifests", [True, False])
def test_an_index_from_before_the_last_repack_finds_its_pages_again(
    tmp_path: Path, clock: FakeClock, manifests: bool
) -> None:
    memory, said = archived(tmp_path, clock)
    told = texts(memory, said)
    memory.cold.empty_journal()
    shutil.copy(memory.workspace.database, tmp_path / "backup.db")
    clock.advance(3 * 86400)
    later = talk(memory, 4, "The attic")
    after = [(one.id, one.text) for one in later]
    memory.vault.archive_entries(later, label="attic")
    clock.advance(3 * 86400)
    assert memory.vault.repacking.run(least=1).packs == 1
    memory.close()
    for file in memory.workspace.state.glob("cold.db*"):
        if file.is_file():
            file.unlink()
    shutil.move(tmp_path / "backup.db", memory.workspace.database)
    memory = Memory.open(Workspace(tmp_path), clock, read_only=False)
    if not manifests:
        for name in memory.vault.storage.names():
            if name.endswith(".manifest"):
                memory.vault.storage.delete(name)
    with pytest.raises(Damaged) as found:
        memory.vault.read_page(memory.vault.pages()[0].id)
    assert "palimpsest check --repair" in found.value.hint
    done = mend(memory)
    assert (done.lost, done.problems) == ((), ())
    assert (texts(memory, said), mend(memory).mended) == (told, ())
    for id_, text in after if manifests else []:  # pixels do not tell what stands once for two
        assert memory.vault.entry_text(memory.cold.find(id_)).text == text
    assert {page.pack for page in memory.vault.pages()} == set(packs(memory))
    memory.close()
