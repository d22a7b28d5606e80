"""Default files of an earlier release that nobody changed get the text of this one; all others stay."""

import hashlib
import tarfile
from pathlib import Path

import pytest

from agent.config.workspaces import renew_default_files
from agent_workspace import OUTDATED, default_files, lay_out
from foundation.paths import Workspace
from memory.memory import Memory
from memory.versions.cause import Author
from tests.agent.conftest import Run
from tests.fakes import FakeClock

pytestmark = pytest.mark.timeout(60)

FOLDER = Path(__file__).parent
PRESENT = {path.as_posix(): body for path, body in default_files()}
OTHER_NOTES = "MEMORY.md"  # the released programs added notes to it; its default is the present one


def released_defaults() -> dict[tuple[str, str], bytes]:
    """Each text that a release laid out, by its name and digest."""
    texts: list[tuple[str, bytes]] = []
    for archive in FOLDER.glob("*.tar.xz"):
        with tarfile.open(archive) as tar:
            for name in PRESENT.keys() - {OTHER_NOTES}:
                member = tar.extractfile(f"workspace/{name}")
                assert member is not None
                texts.append((name, member.read()))
    texts += [("system.yaml", path.read_bytes()) for path in (FOLDER / "defaults").glob("*-system.yaml")]
    return {(name, hashlib.sha256(body).hexdigest()): body for name, body in texts}


DEFAULTS = released_defaults()
OLD = sorted(OUTDATED)


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    lay_out(tmp_path / "w")
    return Memory.open(Workspace(tmp_path / "w"), FakeClock())


def test_the_table_holds_each_default_of_a_release_that_is_not_the_present_one() -> None:
    assert OUTDATED.keys() == {key for key, body in DEFAULTS.items() if body != PRESENT[key[0]]}


@pytest.mark.parametrize(("name", "digest"), OLD, ids=[f"{name} of {OUTDATED[name, digest]}" for name, digest in OLD])
def test_an_unchanged_default_is_renewed_once_and_its_text_is_a_version(memory: Memory, name: str, digest: str) -> None:
    file, old = memory.workspace.root / name, DEFAULTS[name, digest]
    file.write_bytes(old)
    (sentence,) = renew_default_files(memory)
    assert name in sentence
    assert file.read_bytes() == PRESENT[name]
    before, now = memory.versions.store.versions(name)
    assert (memory.versions.store.body(before), before.author) == (old, Author.USER)
    assert (memory.versions.store.body(now), now.author) == (PRESENT[name], Author.PROGRAM)
    assert renew_default_files(memory) == ()

    memory.restorer.restore(before)  # the owner goes back, for good
    assert renew_default_files(memory) == ()
    assert file.read_bytes() == old
    memory.close()


@pytest.mark.parametrize(("name", "digest"), OLD, ids=[f"{name} of {OUTDATED[name, digest]}" for name, digest in OLD])
def test_a_file_with_one_changed_byte_stays(memory: Memory, name: str, digest: str) -> None:
    old = DEFAULTS[name, digest]
    for changed in (
        old[:-1],
        old + b"\n",
        b"\xef\xbb\xbf" + old,
        old.replace(b"\n", b"\r\n"),
        old[:40] + b"~" + old[41:],
    ):
        (memory.workspace.root / name).write_bytes(changed)
        assert renew_default_files(memory) == ()
        assert (memory.workspace.root / name).read_bytes() == changed
    memory.close()


def test_a_workspace_that_is_not_trusted_stays(tmp_path: Path) -> None:
    lay_out(tmp_path)
    (tmp_path / "SOUL.md").write_bytes(old := next(body for (name, _), body in DEFAULTS.items() if name == "SOUL.md"))
    memory = Memory.open(Workspace(tmp_path), FakeClock(), read_only=True)
    assert renew_default_files(memory) == ()
    assert (tmp_path / "SOUL.md").read_bytes() == old
    memory.close()


def test_a_session_tells_it_in_one_line(run: Run, root: Path) -> None:
    old = {name: body for (name, digest), body in DEFAULTS.items() if (name, digest) in OUTDATED}
    for name, body in old.items():
        (root / name).write_bytes(body)
    told = [run("-p", "hello").err, run("-p", "hello").err]
    line = "AGENTS.md, SOUL.md, system.yaml: the default text was unchanged, so it was updated. "
    assert [err.count(line) for err in told] == [1, 0]
    assert {name: (root / name).read_bytes() for name in old} == {name: PRESENT[name] for name in old}
