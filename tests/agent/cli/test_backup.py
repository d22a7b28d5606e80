"""`palimpsest backup`, `backup list`, `check` and `restore`."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec import structs

from memory.backup.place import LocalPlace
from memory.backup.snapshot import digest_of, encode_snapshot, read_snapshot
from tests.agent.conftest import Run
from tests.fakes import FakeClock


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "备份"


def test_a_backup_is_made_listed_checked_and_restored(run: Run, bare: Run, place: Path, tmp_path: Path) -> None:
    run("remember", "锅炉在五月保养 🐋")
    made = run("backup", str(place), "--json").json
    assert (made["snapshot"]["files"] > 5, made["skipped"], made["removed"]["snapshots"]) == (True, [], 0)
    assert [row["id"] for row in bare("backup", "list", str(place), "--json").json["snapshots"]] == [
        made["snapshot"]["id"]
    ]
    assert bare("backup", "check", str(place), "--json").json["sound"] is True
    restored = bare("backup", "restore", str(place), str(tmp_path / "again"), "--json")
    assert (restored.status, restored.json["check"]["sound"]) == (0, True)
    assert "锅炉" in bare("--workspace", str(tmp_path / "again"), "memory", "list").out


def test_a_workspace_that_cannot_be_written_to_is_backed_up(
    run: Run, bare: Run, root: Path, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("remember", "锅炉在五月保养 🐋")
    run("-p", "The heron stands in the reeds.")
    before = sorted(root.rglob("*"))
    with monkeypatch.context() as patched:
        patched.setattr("agent.cli.backup.os.access", lambda *_: False)  # as on a disk that is mounted read-only
        assert run("backup", str(place), "--json").json["skipped"] == []
    assert sorted(root.rglob("*")) == before, "nothing is written there"
    again = tmp_path / "again"
    assert bare("backup", "restore", str(place), str(again), "--json").json["check"]["sound"] is True
    assert "锅炉" in (again / "MEMORY.md").read_text(encoding="utf-8")
    assert "heron" in bare("--workspace", str(again), "search", "heron").out


def test_the_words_for_a_person(run: Run, bare: Run, place: Path, tmp_path: Path) -> None:
    assert "new pieces" in run("backup", str(place)).out
    assert "0 new pieces" in run("backup", "create", "--keep", "1").out, "the last place is taken"
    assert len(bare("backup", "list", str(place)).out.splitlines()) == 2
    assert "No damage found" in bare("backup", "check", str(place)).err
    said = bare("backup", "restore", str(place), str(tmp_path / "again"))
    assert "all verified" in said.out
    assert "no damage found" in said.err
    assert "--trust" in said.err


def test_a_snapshot_from_the_future_is_named_and_goes_first(
    run: Run, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("agent.cli.backup.SystemClock", lambda: FakeClock(datetime(2999, 1, 1, tzinfo=UTC)))
        ahead = run("backup", str(place), "--json").json["snapshot"]["id"]
    said = run("backup", str(place))
    assert f"{ahead} is dated later than this snapshot" in said.err
    made = run("backup", str(place), "--keep", "1", "--json").json
    assert (made["dated_later"], made["removed"]["snapshots"]) == ([ahead], 2)
    assert [path.stem for path in place.glob("*.snapshot")] == [made["snapshot"]["id"]]


def test_a_restore_passes_over_a_snapshot_from_the_future_and_says_how_to_take_it(
    run: Run, bare: Run, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def restored(name: str, *more: str) -> tuple[str, str]:
        done = bare("backup", "restore", str(place), str(tmp_path / name), *more)
        assert done.status == 0
        return done.out.removeprefix("Restored ").split(" to ")[0], done.err

    with monkeypatch.context() as patched:
        patched.setattr("agent.cli.backup.SystemClock", lambda: FakeClock(datetime(2998, 1, 1, tzinfo=UTC)))
        first = run("backup", str(place), "--json").json["snapshot"]["id"]
        patched.setattr("agent.cli.backup.SystemClock", lambda: FakeClock(datetime(2999, 1, 1, tzinfo=UTC)))
        ahead = run("backup", str(place), "--json").json["snapshot"]["id"]
    taken, said = restored("only ones from the future")
    assert (taken, "All snapshots are dated in the future:" in said) == (ahead, True)
    now = run("backup", str(place), "--json").json["snapshot"]["id"]
    taken, said = restored("the newest up to now")
    assert (taken, f"{first}, {ahead} are dated in the future" in said) == (now, True)
    assert f"`--at {ahead}`" in said
    taken, said = restored("named", "--at", ahead)
    assert (taken, "future" in said) == (ahead, False)
    listed = bare("backup", "restore", str(place), str(tmp_path / "data"), "--json").json
    assert (listed["snapshot"]["id"], listed["dated_later"]) == (now, [first, ahead])


def test_a_damaged_snapshot_from_the_future_stops_no_restore(run: Run, bare: Run, place: Path, tmp_path: Path) -> None:
    made = run("backup", str(place), "--json").json["snapshot"]["id"]
    (place / "29990101T000000000Z-00000000.snapshot").write_bytes(b"no snapshot")
    said = bare("backup", "restore", str(place), str(tmp_path / "again"))
    assert said.out.startswith(f"Restored {made}")
    assert "29990101T000000000Z-00000000 is dated in the future and is skipped" in said.err


def test_options_may_come_first(run: Run, place: Path) -> None:
    assert run("backup", "--keep", "2", str(place)).status == 0


def test_damage_is_named_with_exit_1(run: Run, bare: Run, place: Path, tmp_path: Path) -> None:
    run("backup", str(place))
    piece = min(place.glob("*.piece"))
    body = bytearray(piece.read_bytes())
    body[-1] ^= 4
    piece.write_bytes(body)
    checked = bare("backup", "check", str(place))
    assert (checked.status, piece.name in checked.out) == (1, True)
    said = bare("backup", "restore", str(place), str(tmp_path / "again"), "--json")
    assert (said.status, said.json["error"]["code"]) == (1, "damaged")
    assert not (tmp_path / "again").exists()
    partly = bare("backup", "restore", str(place), str(tmp_path / "again"), "--skip-damaged")
    assert (partly.status, "skipped: " in partly.out) == (1, True)


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (("backup", "{root}/inside"), 2, "unusable_folder"),
        (("backup", "{tmp}/usb/backup"), 75, "unreachable"),
        (("backup", "{tmp}"), 2, "not_a_backup"),
        (("backup",), 2, "misuse"),
        (("backup", "chekc"), 2, "misuse"),
        (("backup", "list", "{tmp}"), 2, "not_a_backup"),
        (("backup", "check", "{tmp}/nothing"), 2, "not_a_backup"),
        (("backup", "restore", "{tmp}/nothing", "{tmp}/again"), 2, "not_a_backup"),
        (("backup", "{tmp}/x", "--keep", "0"), 2, "misuse"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(
    run: Run, root: Path, tmp_path: Path, words: tuple[str, ...], status: int, code: str
) -> None:
    before = sorted(path.name for path in tmp_path.iterdir())
    said = run(*(word.format(root=root, tmp=tmp_path) for word in words), "--json")
    assert (said.status, said.json["error"]["code"]) == (status, code)
    assert said.json["error"]["hint"]
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_restore_into_a_workspace_or_the_backup_is_misuse(run: Run, bare: Run, root: Path, place: Path) -> None:
    run("remember", "one")
    run("backup", str(place))
    for target in (root / "inside", place / "x"):
        said = bare("backup", "restore", str(place), str(target), "--json")
        assert (said.status, said.json["error"]["code"]) == (2, "unusable_folder")
        assert not target.exists()


def test_a_remote_place_that_came_with_a_workspace_is_not_taken_unnamed(run: Run, root: Path) -> None:
    note = {"place": "s3://somebody/else", "time_ms": 0, "snapshot": ""}
    (root / ".palimpsest" / "backup.json").write_text(json.dumps(note))
    said = run("backup", "--json")
    assert (said.status, said.json["error"]["code"]) == (2, "misuse")


def test_an_untrusted_workspace_is_saved_and_left_as_it_is(
    run: Run, bare: Run, root: Path, place: Path, tmp_path: Path
) -> None:
    run("remember", "one")
    run("backup", str(place))
    bare("backup", "restore", str(place), str(tmp_path / "cloned"))
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "cloned").rglob("*")}
    assert bare("--workspace", str(tmp_path / "cloned"), "backup", str(tmp_path / "second")).status == 0
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "cloned").rglob("*")} == before


def test_doctor_names_the_last_backup_and_an_old_one(run: Run, root: Path, place: Path) -> None:
    assert "backup" not in [row["topic"] for row in run("doctor", "--json").json["findings"]]
    run("backup", str(place))
    assert f"at {place}" in run("doctor").out
    noted = root / ".palimpsest" / "backup.json"
    noted.write_text(json.dumps(json.loads(noted.read_text()) | {"time_ms": 0}))
    assert "days old (1970-01-0" in run("doctor").out


def test_status_reminds_of_an_old_backup_alone(run: Run, root: Path, place: Path) -> None:
    assert "last backup" not in run("-p", "/status").out
    run("backup", str(place))
    assert "last backup" not in run("-p", "/status").out
    noted = root / ".palimpsest" / "backup.json"
    noted.write_text(json.dumps(json.loads(noted.read_text()) | {"time_ms": 0}))
    assert "last backup: " in run("-p", "/status").out
    run("config", "set", "backup.remind_days", "0")
    assert "last backup" not in run("-p", "/status").out


def test_what_a_restore_skips_is_named_with_exit_1(run: Run, bare: Run, place: Path, tmp_path: Path) -> None:
    run("remember", "a note")
    real = read_snapshot(LocalPlace(place), run("backup", str(place), "--json").json["snapshot"]["id"])
    note = next(file for file in real.files if file.path == "MEMORY.md")
    files = (*real.files, structs.replace(note, path="skills/x/.git/config\x1b[2J"))
    forged = structs.replace(real, files=files, digest=digest_of(files), time_ms=real.time_ms + 1)
    (place / f"{forged.id}.snapshot").write_bytes(encode_snapshot(forged))
    said = bare("backup", "restore", str(place), str(tmp_path / "again"))
    assert (said.status, "\x1b" in said.out) == (1, False)
    assert "skipped: it has a file at 'skills/x/.git/config" in said.out
    shown = bare("backup", "restore", str(place), str(tmp_path / "once more"), "--json").json
    assert (len(shown["left_out"]), len(shown["reasons"])) == (1, 1)
    assert bare("backup", "check", str(place)).status == 1
