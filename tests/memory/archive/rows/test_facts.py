"""An archive of 0.1.0, which wrote no manifests: it gets them without a word, and is sound."""

from foundation.paths import Workspace
from memory.archive.packs.manifest import manifest_name, manifest_names, read_parts
from memory.archive.rows.facts import seal_older
from memory.cold.sql import run
from memory.memory import Memory
from tests.fakes import FakeClock
from tests.memory.archive.intact_workspace import problems, talk
from tests.memory.archive.test_migrated import PACK, old_workspace


def test_packs_of_before_get_their_manifests_when_the_workspace_is_opened(
    workspace: Workspace, clock: FakeClock
) -> None:
    old_workspace(workspace)
    memory = Memory.open(workspace, clock, read_only=False)
    assert not [one for one in problems(memory) if "manifest" in one]
    assert manifest_name(PACK) in manifest_names(memory.vault.storage)
    memory.close()


def test_a_manifest_that_is_lost_later_is_told_of(workspace: Workspace, clock: FakeClock) -> None:
    old_workspace(workspace)
    memory = Memory.open(workspace, clock, read_only=False)
    memory.vault.storage.delete(manifest_name(PACK))
    memory.close()
    memory = Memory.open(workspace, clock, read_only=False)
    assert [one for one in problems(memory) if "has no manifest" in one]
    memory.close()


def test_a_manifest_that_stands_is_not_written_anew(workspace: Workspace, clock: FakeClock) -> None:
    memory = Memory.open(workspace, clock, read_only=False)
    kept = memory.vault.archive_entries(talk(memory), label="boiler")
    pack, storage = kept.pages[0].pack, memory.vault.storage
    before = storage.read(manifest_name(pack))
    memory.cold.write(lambda db: run(db, "INSERT INTO unsealed VALUES (?)", (pack,)))
    memory.cold.write(lambda db: run(db, "UPDATE archives SET label = 'other'"))
    seal_older(memory.cold, storage)
    assert storage.read(manifest_name(pack)) == before
    assert read_parts(storage, pack, storage.names())[0].archives[0].label == "boiler"
    memory.close()
