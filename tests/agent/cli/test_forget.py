"""`palimpsest forget`: what can be named, what is shown and asked, and what exits how."""

import json
from pathlib import Path

import pytest

from agent.services.forget import line_numbers
from foundation.errors import Misuse
from memory.forgotten.journal import ForgetJournal
from tests.agent.conftest import Run
from tests.memory.forget.bytes_of import places_of

pytestmark = pytest.mark.timeout(60)

STAYS = "The boiler is serviced in May."


def imported(run: Run, tmp_path: Path, *lines: dict[str, object]) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    assert run("import", str(path)).status == 0


def test_a_dry_run_shows_all_and_changes_nothing(run: Run, root: Path) -> None:
    run("remember", "The code is zqbluefin-7731.")
    run("-p", "The code of the door is zqbluefin-7731.")
    before = places_of(root, ["zqbluefin"])
    shown = run("forget", "zqbluefin", "--dry-run")
    assert shown.status == 0
    assert "The code of the door is zqbluefin-7731." in shown.out
    assert "MEMORY.md:" in shown.out
    plan = run("forget", "ZQBLUEFIN", "--dry-run", "--json").json
    assert plan["entry_count"] == 2
    assert plan["receipt"] is None
    assert places_of(root, ["zqbluefin"]) == before


def test_it_must_be_confirmed_and_one_thing_is_named(run: Run) -> None:
    run("remember", "The code is zqbluefin-7731.")
    assert run("forget", "zqbluefin", stdin=b"y\n").status == 2
    assert run("forget", "zqbluefin", "--before", "2020").status == 2
    assert run("forget", "x", "--yes").status == 2
    assert "Too general" in run("forget", "conversation", "--yes").err
    nothing = run("forget", "zqnowhere", "--yes")
    assert (nothing.status, "nothing contains this text" in nothing.err) == (1, True)
    assert run("forget", "e_0000000000ab", "--yes").status == 1
    as_json = run("forget", "zqnowhere", "--yes", "--json")
    assert (as_json.status, as_json.json["error"]["code"]) == (1, "nothing_to_forget")
    assert run("forget").status == 0


def test_it_asks_which_lines_of_the_notes_go(run: Run, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in (1, 2, 3):
        run("remember", f"zqbluefin is the {number}. line")
    run("-p", "And zqbluefin in a talk.")
    monkeypatch.setattr("click.prompt", lambda *_args, **_more: "1,3")
    monkeypatch.setattr("click.confirm", lambda *_args, **_more: True)
    done = run("forget", "zqbluefin")
    assert done.status == 0
    assert [line for line in (root / "MEMORY.md").read_text("utf-8").splitlines() if "zq" in line] == [
        "- zqbluefin is the 2. line"
    ]
    assert "MEMORY.md" in done.out.splitlines()[-1]
    assert "forget" in run("memory", "log").out
    left = places_of(root, ["zqbluefin"])
    assert "MEMORY.md" in left
    assert all(name == "MEMORY.md" or name.startswith(".palimpsest/versions/objects") for name in left)
    assert places_of(root, ["zqbluefin is the 1", "zqbluefin is the 3"]) == {}


def test_each_kind_of_name(run: Run, root: Path, tmp_path: Path) -> None:
    note = run("remember", "The code is zqnote-7731.", "--json").json["id"]
    run("remember", STAYS)
    (root / "memory" / "house.md").write_text("# House\n\n- The gate is zqfile-7731.\n", "utf-8")
    (tmp_path / "added.txt").write_text("It says zqadded-7731.\n", "utf-8")
    run("knowledge", "add", str(tmp_path / "added.txt"))
    (tmp_path / "long.txt").write_text("An archived line of zqarchive-7731.\n" * 50, "utf-8")
    run("archive", str(tmp_path / "long.txt"), "--label", "zqlabel")
    talk = run("-p", "A talk of zqtalk-7731.", "--json").json["conversation"]
    entry = run("-p", "An entry of zqentry-7731.", "--json").json["entry"]
    names = {"zqnote": note, "zqfile": "memory/house.md", "zqadded": str(tmp_path / "added.txt"), "zqtalk": talk}
    names |= {"zqarchive": "zqlabel"}
    for word, name in names.items():
        assert word in str(places_of(root, [word])) or word in {"zqadded", "zqarchive"}
        done = run("forget", name, "--yes", "--json")
        assert (done.status, done.json["receipt"]["found"]) == (0, []), (name, done.out, done.err)
        assert places_of(root, [word]) == {}, name
    assert STAYS in (root / "MEMORY.md").read_text("utf-8")
    assert run("knowledge", "list", "--json").json["memories"] == []
    assert run("archive", "--list", "--json").json["archives"] == []
    assert (
        "zqentry"
        in run("conversations", "show", run("conversations", "list", "--json").json["conversations"][0]["id"]).out
    )
    assert run("forget", entry, "--yes").status == 0


def test_what_is_from_before_a_day(run: Run, root: Path, tmp_path: Path) -> None:
    days = ("2024-05-01T10:00:00Z", "2026-05-01T10:00:00Z")
    old = [
        {"conversation": "old", "id": f"o{n}", "role": "user", "text": f"zqold-{n}", "time": days[0]} for n in (1, 2)
    ]
    both = [
        {"conversation": "both", "id": f"b{n}", "role": "user", "text": f"zqboth{n}-7731", "time": day}
        for n, day in enumerate(days)
    ]
    imported(run, tmp_path, *old, *both)
    assert run("forget", "--before", "2025", "--yes").status == 0
    assert places_of(root, ["zqold", "zqboth0"]) == {}
    assert "zqboth1" in run("conversations", "show", "both").out
    again = run("import", str(tmp_path / "in.jsonl"))
    assert "left out, for they were forgotten here" in again.out
    assert places_of(root, ["zqold-1", "zqboth0"]) == {}


def test_an_older_backup_is_named(run: Run, root: Path, tmp_path: Path) -> None:
    run("remember", "The code is zqbluefin-7731.")
    run("backup", "create", str(tmp_path / "backups"))
    done = run("forget", "zqbluefin", "--yes")
    assert done.status == 0
    assert f"Backups in {tmp_path / 'backups'} still contain it" in done.out


def test_files_of_the_persons_own_are_named_and_stay(run: Run, root: Path) -> None:
    own = root / "AGENTS.md"
    own.write_text("# Rules\n\nThe code is zqbluefin-7731.\n", "utf-8")
    run("-p", "The code is zqbluefin-7731.")
    done = run("forget", "zqbluefin", "--yes", "--json")
    assert (done.status, done.json["kept"]) == (0, ["AGENTS.md"])
    left = places_of(root, ["zqbluefin"])
    assert "AGENTS.md" in left
    assert all(name == "AGENTS.md" or "versions" in name or name.endswith("last-good.yaml") for name in left)


def test_check_names_what_is_not_finished(run: Run, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("-p", "The code is zqbluefin-7731.")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("memory.forget.job.scan_workspace", full)
        assert run("forget", "zqbluefin", "--yes").status == 75
        assert ForgetJournal(root / ".palimpsest" / "forgotten").open_ids()
        checked = run("check")
        assert "A deletion is not finished" in checked.out
        assert run("forget").status == 75
    assert run("forget").status == 0
    assert run("check").status == 0
    assert places_of(root, ["zqbluefin"]) == {}


def test_the_numbers_of_lines_that_go() -> None:
    assert line_numbers("all", 3) == {1, 2, 3}
    assert line_numbers(" none", 3) == set()
    assert line_numbers("1, 3-9", 4) == {1, 3, 4}
    with pytest.raises(Misuse):
        line_numbers("one", 3)


def test_the_id_of_an_imported_conversation_is_named_with_what_forgets_all_of_it(
    run: Run, root: Path, tmp_path: Path
) -> None:
    imported(run, tmp_path, {"conversation": "zqday", "text": "On the beach."}, {"conversation": "c1", "text": STAYS})
    sentence = "The conversation with the id {} has 1 entry: `palimpsest forget --conversation {}` deletes all of it."
    refused = run("forget", "c1", "--yes")
    assert refused.status == 1
    assert sentence.format("c1", "c1") in " ".join(refused.err.split())
    assert sentence.format("zqday", "zqday") in run("forget", "zqday", "--dry-run").out
    assert "deletes all of it" not in run("forget", "beach", "--dry-run").out
    assert "”, 1 entry\n" in run("forget", "--conversation", "c1", "--dry-run").out
    assert run("forget", "--conversation", "c1", "--yes").status == 0
    assert places_of(root, [STAYS]) == {}
    assert run("forget", "zqday", "--yes").status == 0
    assert "On the beach." in run("export", "--to", "jsonl").out
