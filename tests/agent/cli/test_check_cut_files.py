"""`palimpsest check` and `backup restore` where a file is cut, filled with zeros or gone."""

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from foundation.paths import Workspace
from memory.cold.sql import run as run_sql
from memory.memory import Memory
from tests.agent.conftest import Run

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long

HARMS: dict[str, Callable[[Path], object]] = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "zeroed": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "deleted": lambda path: path.unlink(),
}


# The list of versions


@pytest.fixture
def versioned(run: Run, root: Path) -> Run:
    """A workspace with six versions of MEMORY.md, the last of which is what the file holds."""
    assert run("remember", "one").status == 0
    with closing(Memory.open(Workspace(root))) as memory:
        for number in range(6):
            memory.versions.wrote("MEMORY.md", (), f"- note {number}\n")
    (root / "MEMORY.md").write_text("- note 5\n")
    return run


def newest(run: Run) -> int:
    return run("memory", "log", "--json").json["versions"][0]["number"]


@pytest.mark.parametrize("harm", HARMS)
def test_a_list_of_versions_without_its_end_is_named_and_then_known_as_lost(
    versioned: Run, root: Path, harm: str
) -> None:
    last = newest(versioned)
    HARMS[harm](Workspace(root).versions / "manifest")
    (problem,) = versioned("check", "--json").json["problems"]
    assert (problem["what"], problem["where"]) == ("version", "manifest")
    assert f"missing at the end of {Workspace(root).versions / 'manifest'}, up to number {last}." in problem["message"]
    assert versioned("check").status == 1
    ran = versioned("check", "--repair")
    assert (ran.status, "lost: " in ran.out, "All is intact" in ran.err) == (1, True, False)
    after = versioned("check")
    assert after.status == 0
    assert "lost since" in after.err
    (root / "MEMORY.md").write_text("- by hand\n")
    versions = versioned("memory", "log", "--json").json["versions"]
    assert versions[0]["number"] > last
    assert not any(
        "earlier release" in one["reason"] or "found when versions were first saved" in one["reason"]
        for one in versions[:1]
    )
    assert versioned("check").status == 0


# An untrusted workspace


def test_damaged_versions_are_named_in_an_untrusted_workspace_and_nothing_is_written(
    versioned: Run, root: Path
) -> None:
    stored = next(path for path in (Workspace(root).versions / "objects").rglob("*") if path.is_file())
    stored.write_bytes(bytes(stored.stat().st_size))
    named = versioned("check", "--json").json["problems"]
    assert named
    versioned("trust", "--remove")
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    ran = versioned("check", "--json")
    assert (ran.status, ran.json["problems"]) == (1, named)
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before


def test_a_link_among_the_versions_of_an_untrusted_workspace_is_named(
    versioned: Run, root: Path, tmp_path: Path
) -> None:
    manifest = Workspace(root).versions / "manifest"
    manifest.rename(tmp_path / "elsewhere")
    manifest.symlink_to(tmp_path / "elsewhere")
    versioned("trust", "--remove")
    ran = versioned("check", "--json")
    assert ran.status == 1
    assert "The versions cannot be read" in ran.json["problems"][0]["message"]


def test_a_restore_names_damaged_versions_and_checkpoints(
    versioned: Run, bare: Run, root: Path, tmp_path: Path
) -> None:
    stored = next(path for path in (Workspace(root).versions / "objects").rglob("*") if path.is_file())
    stored.write_bytes(bytes(stored.stat().st_size))
    (Workspace(root).checkpoints).mkdir(exist_ok=True)
    (Workspace(root).checkpoints / "journal.jsonl").write_bytes(b"no journal\n")
    assert versioned("backup", str(tmp_path / "place")).status == 0
    ran = bare("backup", "restore", str(tmp_path / "place"), str(tmp_path / "again"), "--json")
    assert (ran.status, ran.json["check"]["sound"]) == (1, False)
    assert {one["what"] for one in ran.json["check"]["problems"]} == {"version", "journal"}


# The number in the header of the database


@pytest.mark.parametrize("number", [0, 12, 999])
def test_a_damaged_number_of_the_schema_is_named_and_mended(versioned: Run, root: Path, number: int) -> None:
    versioned("-p", "/title Trip")
    database = Workspace(root).database
    db = apsw.Connection(str(database))
    run_sql(db, f"PRAGMA user_version = {number}")
    run_sql(db, "PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    damaged = database.read_bytes()
    (problem,) = versioned("check", "--json").json["problems"]
    assert f"says that it has schema {number}, and its tables are those" in problem["message"]
    searched = versioned("search", "one")
    assert searched.status == 1
    assert "check --repair" in searched.err
    ran = versioned("check", "--repair", "--json")
    assert (ran.status, ran.json["problems"], ran.json["lost"]) == (0, [], [])
    assert "restored in its header," in ran.json["mended"][0]
    assert (Path(ran.json["kept_at"]) / database.name).read_bytes() == damaged
    assert versioned("check").status == 0


# What keeps forgotten texts from coming back

CODE = "The code of the door is zqbluefin-7731."


@pytest.fixture
def export(run: Run, tmp_path: Path) -> Path:
    """A file with a text that is forgotten since, under another id: it is known by its keyed hash alone."""
    for name in ("first", "again"):
        line = {"id": name, "conversation": name, "role": "user", "text": CODE}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(line) + "\n")
    assert run("import", str(tmp_path / "first.jsonl")).status == 0
    assert run("forget", "zqbluefin", "--yes").status == 0
    assert run("check").status == 0
    return tmp_path / "again.jsonl"


def tombstone_files(root: Path) -> tuple[Path, Path]:
    state = Workspace(root).state
    return state / "forgotten.jsonl", state / "forgotten" / "tombstones.jsonl"


@pytest.mark.parametrize("harm", HARMS)
def test_both_files_of_tombstones_damaged_are_named_and_then_known_as_lost(
    run: Run, root: Path, export: Path, harm: str
) -> None:
    for path in tombstone_files(root):
        HARMS[harm](path)
    ran = run("check", "--json")
    assert ran.status == 1
    assert "In neither file: " in ran.json["problems"][0]["message"]
    ran = run("check", "--repair")
    assert (ran.status, "lost: In no file: " in ran.out) == (1, True)
    assert run("check").status == 0
    assert run("forget", "Trip", "--yes").status == 1
    assert run("check").status == 0


@pytest.mark.parametrize("harm", HARMS)
def test_a_lost_key_is_read_from_its_copy_and_nothing_forgotten_comes_back(
    run: Run, root: Path, export: Path, harm: str
) -> None:
    HARMS[harm](Workspace(root).secret)
    (problem,) = run("check", "--json").json["problems"]
    assert (problem["what"], problem["where"]) == ("key", "secret.key")
    run("import", str(export))
    assert CODE not in run("search", "zqbluefin").out
    ran = run("check", "--repair", "--json")
    assert (ran.status, ran.json["problems"], ran.json["lost"]) == (0, [], [])
    assert run("check").status == 0


def test_no_import_is_made_under_another_key(run: Run, root: Path, export: Path) -> None:
    key = Workspace(root).secret
    key.unlink()
    key.with_name("secret.copy").unlink()
    assert "forget it again in that case" in run("check", "--json").json["problems"][0]["message"]
    ran = run("import", str(export))
    assert ran.status == 1
    assert "forget it again in that case" in ran.err
    assert run("-p", "Hello").status == 1
    assert not key.exists()
    ran = run("check", "--repair")
    assert (ran.status, "lost: secret.key" in ran.out) == (1, True)
    assert run("check").status == 0
    assert run("import", str(export)).status == 0
    assert CODE in run("search", "zqbluefin").out, "the control: the new key knows nothing of it"


# Mirrors


@pytest.fixture
def mirror(run: Run, root: Path) -> Path:
    run("-p", "The pump runs at 2.5 bar.")
    (path,) = (root / "conversations").glob("*.md")
    assert run("check", "--json").json["notes"] == []
    return path


@pytest.mark.parametrize("harm", [*HARMS, "edited"])
def test_a_mirror_that_is_not_as_written_is_noted_and_written_anew(
    run: Run, root: Path, mirror: Path, harm: str
) -> None:
    whole = mirror.read_bytes()
    HARMS.get(harm, lambda path: path.write_bytes(whole + b"And I add a line.\n"))(mirror)
    found = mirror.read_bytes() if mirror.exists() else None
    ran = run("check", "--json")
    assert (ran.status, ran.json["sound"], len(ran.json["notes"])) == (0, True, 1)
    assert f"({mirror.name})" in ran.json["notes"][0]
    assert "1 mirror in conversations/ is not" in run("check").err
    assert run("check", "--repair").status == 0
    assert mirror.read_bytes() == whole
    assert run("check", "--json").json["notes"] == []
    kept = [path.read_bytes() for path in Workspace(root).versions.glob("conversations-*.md")]
    assert kept == ([] if found is None else [found])


def test_mirrors_of_an_untrusted_workspace_are_noted_and_stay(run: Run, mirror: Path) -> None:
    mirror.write_bytes(b"edited")
    run("trust", "--remove")
    assert len(run("check", "--json").json["notes"]) == 1
    assert mirror.read_bytes() == b"edited"
