"""Words in the id of an imported entry: the id becomes another one, and the text stays, here and on other devices."""

import json
import shutil
from pathlib import Path

import pytest

from memory.forgotten.tombstones import ForgottenConversationName
from tests.agent.conftest import Run
from tests.memory.forget.bytes_of import places_of

pytestmark = pytest.mark.timeout(60)

TEXT = "an imported second text about the boats in port"


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    file = tmp_path / "far.jsonl"
    file.write_text(json.dumps({"conversation": "x", "id": "zqibble-1", "role": "user", "text": TEXT}), "utf-8")
    return file


def texts(run: Run) -> list[str]:
    return [line["text"] for line in map(json.loads, run("export", "--to", "jsonl").out.splitlines())]


def test_only_the_id_is_replaced_and_an_import_does_not_bring_it_again(run: Run, root: Path, lines: Path) -> None:
    assert run("import", str(lines), "--from", "jsonl").status == 0
    shown = run("forget", "zqibble", "--dry-run", "--json").json
    assert (shown["entry_count"], shown["derived_count"]) == (0, 1)
    assert shown["derived"][0]["why"] == "its id contains the text and is replaced; its own text is kept"
    assert run("forget", "zqibble", "--yes").status == 0
    assert places_of(root, ["zqibble"]) == {}
    assert texts(run) == [TEXT]
    run("import", str(lines), "--from", "jsonl")
    assert places_of(root, ["zqibble"]) == {}
    assert texts(run) == [TEXT]
    assert run("check").status == 0


def test_another_device_gets_the_new_id(bare: Run, run: Run, root: Path, lines: Path, tmp_path: Path) -> None:
    place, other = tmp_path / "place", tmp_path / "other"
    place.mkdir()
    assert bare("init", str(other)).status == 0
    run("import", str(lines), "--from", "jsonl")
    for device in (root, other):
        bare("--workspace", str(device), "sync", "add", str(place), "--no-encrypt")
        assert bare("--workspace", str(device), "sync", "now").status == 0
    assert places_of(other, ["zqibble"])
    assert run("forget", "zqibble", "--yes").status == 0
    assert bare("--workspace", str(other), "sync", "now").status == 0
    assert places_of(place, ["zqibble"]) == {}
    shown = bare("--workspace", str(other), "export", "--to", "jsonl").out
    assert [TEXT in line for line in shown.splitlines()].count(True) == 1
    assert places_of(other, ["zqibble"]) == {}
    assert run("sync", "now").status == 0
    assert texts(run) == [TEXT]


@pytest.fixture
def named(tmp_path: Path) -> Path:
    """A conversation whose id, title, speaker and source hold a word, which its texts do not."""
    line = {"conversation": "zqibble", "time": "2024-01-02T03:04:05Z", "role": "user", "speaker": "Mr Zqibble"}
    file = tmp_path / "zqibble.jsonl"
    texts = [{"id": "a1", "text": TEXT}, {"text": "an entry of no id, about the harbour"}]
    file.write_text("".join(json.dumps(line | each) + "\n" for each in texts), "utf-8")
    return file


def test_an_import_finds_the_conversation_whose_id_and_source_were_forgotten(run: Run, root: Path, named: Path) -> None:
    assert run("import", str(named)).status == 0
    assert run("forget", "zqibble", "--yes").status == 0
    assert places_of(root, ["zqibble"]) == {}
    before = run("export", "--to", "jsonl").out
    again = run("import", str(named))
    assert "Nothing new" in again.out and "2 were already stored" in again.out
    assert run("export", "--to", "jsonl").out == before
    assert places_of(root, ["zqibble"]) == {}
    assert run("check").status == 0


def test_what_such_a_file_has_more_of_comes_without_the_words_beside_its_text(
    run: Run, root: Path, named: Path
) -> None:
    run("import", str(named))
    assert run("forget", "zqibble", "--yes").status == 0
    with named.open("a", encoding="utf-8") as file:
        line = {"conversation": "zqibble", "id": "a3", "time": "2024-02-02T03:04:05Z", "speaker": "Mr Zqibble"}
        file.write(json.dumps(line | {"role": "user", "text": "a third text about the lighthouse"}) + "\n")
    assert run("import", str(named)).status == 0
    assert len({line["conversation"] for line in map(json.loads, run("export", "--to", "jsonl").out.splitlines())}) == 1
    assert "a third text about the lighthouse" in texts(run)
    assert places_of(root, ["zqibble"]) == {}


def test_entries_forgotten_before_or_after_the_id_of_their_conversation_stay_out(
    run: Run, root: Path, tmp_path: Path
) -> None:
    file, said = tmp_path / "zqibble.jsonl", ("boats", "harbour", "pier")  # too short to be known by themselves
    line = {"conversation": "zqibble", "time": "2024-01-02T03:04:05Z", "role": "user"}
    file.write_text("".join(json.dumps(line | {"id": f"b-{each}", "text": each}) + "\n" for each in said), "utf-8")
    run("import", str(file))
    for ref in ("b-boats", "zqibble", "b-harbour"):
        assert run("forget", ref, "--yes").status == 0
    assert "2 entries not imported because deleted here with `forget`" in run("import", str(file)).out
    assert texts(run) == ["[forgotten]", "[forgotten]", "pier"]
    assert places_of(root, ["zqibble"]) == {}


def test_a_conversation_of_a_forgotten_id_that_is_gone_and_grows_gets_no_forgotten_title(
    run: Run, root: Path, named: Path
) -> None:
    run("import", str(named))
    assert run("forget", "zqibble", "--yes").status == 0
    (id_,) = {line["conversation"] for line in map(json.loads, run("export", "--to", "jsonl").out.splitlines())}
    assert run("forget", "--conversation", id_, "--yes").status == 0
    for job in (root / ".palimpsest" / "forgotten").glob("*.done.json"):
        job.unlink()  # the words are known no more
    named.write_text(
        json.dumps({"conversation": "zqibble", "id": "a9", "role": "user", "text": "a new text about the pier"}),
        "utf-8",
    )
    assert run("import", str(named)).status == 0
    assert texts(run) == ["a new text about the pier"]
    assert places_of(root, ["zqibble"]) == {}


@pytest.mark.parametrize("has_database", [True, False])
def test_an_old_mirror_does_not_bring_the_id_back(
    run: Run, root: Path, named: Path, tmp_path: Path, *, has_database: bool
) -> None:
    run("import", str(named))
    mirrors, state = root / "conversations", root / ".palimpsest"
    shutil.copytree(mirrors, tmp_path / "old")
    assert run("forget", "zqibble", "--yes").status == 0
    before = texts(run)
    shutil.copytree(tmp_path / "old", mirrors, dirs_exist_ok=True)
    if not has_database:
        for file in state.glob("cold.db*"):
            if file.is_file():
                file.unlink()
    assert run("check", "--repair").status == 0
    assert places_of(root, ["zqibble"]) == {}
    assert texts(run) == before


def test_where_another_conversation_has_the_other_id_the_forgotten_one_gets_a_new_one(
    run: Run, root: Path, named: Path
) -> None:
    line = {"id": "a1", "role": "user", "text": TEXT}
    other = ForgottenConversationName("zqibble").other  # as from a device that forgot it earlier
    named.write_text("".join(json.dumps(line | {"conversation": each}) + "\n" for each in (other, "zqibble")), "utf-8")
    assert run("import", str(named)).status == 0
    done = run("forget", "zqibble", "--yes")
    assert done.status == 0, done.err
    assert places_of(root, ["zqibble"]) == {}
    ids = {line["conversation"] for line in map(json.loads, run("export", "--to", "jsonl").out.splitlines())}
    assert len(ids) == 2 and other in ids
