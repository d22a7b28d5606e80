"""`palimpsest sync add`, `status`, `now` and `remove`, between two workspaces."""

import os
import shutil
from pathlib import Path

import pytest

from foundation.keys import StoredKeys
from tests.agent.conftest import Run
from tests.memory.forget.bytes_of import places_of


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "共享"


@pytest.fixture
def other(bare: Run, tmp_path: Path) -> Run:
    """The same command line in the workspace of another device."""

    def run_there(*words: str) -> object:
        return bare("--workspace", str(tmp_path / "laptop"), *words)

    bare("init", str(tmp_path / "laptop"))
    return run_there  # pyright: ignore[reportReturnType]  # of the same shape


def test_what_is_said_here_is_found_there(run: Run, other: Run, place: Path) -> None:
    added = run("sync", "add", str(place), "--no-encrypt", "--name", "desk", "--json").json
    assert added["device"]["name"] == "desk"
    other("sync", "add", str(place), "--no-encrypt", "--name", "laptop")
    run("-p", "The boiler is serviced in May 🐋")
    run("remember", "锅炉在五月保养")
    assert run("sync", "now", "--json").json["runs"][0]["files_written"] == 1
    result = other("sync", "now", "--json").json["runs"][0]
    assert (result["taken"]["entries"], result["notes_changed"]) == (2, 1)
    assert other("search", "boiler", "--json").json["hits"]
    assert "锅炉" in other("memory", "list").out
    seen = other("sync", "status", "--json").json["locations"][0]
    assert [(device["name"], device["unread"]) for device in seen["devices"]] == [("desk", 0)]


def test_the_words_for_a_person(run: Run, other: Run, place: Path) -> None:
    assert "; this device is desk" in run("sync", "add", str(place), "--no-encrypt", "--name", "desk").out
    other("sync", "add", str(place), "--no-encrypt", "--name", "laptop")
    run("-p", "Hello")
    assert "nothing new from other devices; 1 file written" in run("sync", "now").out
    run("remember", "锅炉")
    run("sync", "now")
    read = other("sync", "now").out
    assert "2 entries" in read
    assert f"New device at {place}: desk (d_" in read
    assert "MEMORY.md was changed by desk." in read
    assert "everything is uploaded" in run("sync", "status").out
    removed = run("sync", "remove", str(place))
    assert (removed.status, "Removed" in removed.out) == (0, True)
    assert "No location was added" in run("sync", "status").err


def test_a_torn_file_is_named_with_exit_1_and_read_when_it_is_whole(run: Run, other: Run, place: Path) -> None:
    run("sync", "add", str(place), "--no-encrypt")
    other("sync", "add", str(place), "--no-encrypt")
    run("-p", "Hello")
    run("sync", "now")
    (file,) = place.glob("*.segment")
    whole = file.read_bytes()
    file.write_bytes(whole[:-9])
    ran = other("sync", "now")
    assert (ran.status, file.name in ran.out) == (1, True)
    status = other("sync", "status")
    assert (status.status, "is incomplete" in status.out) == (1, True)
    (last,) = other("sync", "status", "--json").json["locations"]
    assert (last["last_sync"] is not None, file.name in last["message"]) == (True, True), (
        "all else was read and written"
    )
    assert ("never yet" in status.out, "never yet" in other("doctor").out) == (False, False)
    file.write_bytes(whole)
    assert other("sync", "now").status == 0
    assert other("sync", "status").status == 0
    assert other("search", "Hello", "--json").json["hits"]


def test_of_many_torn_files_a_few_are_named_and_the_others_counted(run: Run, place: Path) -> None:
    run("sync", "add", str(place), "--no-encrypt", "--name", "desk")
    run("sync", "now")
    for number in range(1, 41):
        (place / f"d_0123456789ab-{number:08}-{number:016x}.segment").write_bytes(b"PSS1p")
    for words in ("now", "status"):
        read = run("sync", words)
        assert (read.status, read.out.count("It was not read.")) == (1, 5)
        assert "35 other files could not be read. `--json` lists all." in read.out
    assert len(run("sync", "now", "--json").json["runs"][0]["unread"]) == 40


def test_a_location_that_does_not_answer_is_75(run: Run, place: Path, tmp_path: Path) -> None:
    run("sync", "add", str(place), "--no-encrypt")
    run("-p", "Hello")
    assert run("sync", "add", str(tmp_path / "not mounted" / "usb"), "--no-encrypt").status == 75
    shutil.rmtree(place)
    ran = run("sync", "now")
    assert (ran.status, "Is the disk mounted?" in ran.err, place.exists()) == (75, True, False)
    ran = run("sync", "now")
    assert (ran.status, "Traceback" in ran.err) == (75, False)
    assert run("sync", "status").status == 75


def test_a_run_that_does_not_reach_the_location_leaves_the_time_of_the_one_before(run: Run, place: Path) -> None:
    run("sync", "add", str(place), "--no-encrypt")
    assert "Last sync: never yet" in run("sync", "status").out
    run("sync", "now")
    (before,) = run("sync", "status", "--json").json["locations"]
    place.rename(place.with_name("away"))
    assert run("sync", "now").status == 75
    (after,) = run("sync", "status", "--json").json["locations"]
    assert after["last_sync"] == before["last_sync"] is not None
    assert "not" in after["message"]


@pytest.mark.parametrize("words", [("--recipient", "age1junk"), ("--encrypt", "--recipient", "AGE-SECRET-KEY-1X")])
def test_what_is_no_public_key_is_refused_before_anything_is_added(
    run: Run, place: Path, words: tuple[str, ...], tmp_path: Path
) -> None:
    refused = run("sync", "add", str(place), *words)
    assert (refused.status, "A key cannot be used" in refused.err, refused.out) == (2, True, "")
    assert run("sync", "status", "--json").json["locations"] == []
    assert (place.exists(), [*tmp_path.rglob("sync.key")]) == (False, [])
    assert run("sync", "add", str(place), "--no-encrypt").status == 0
    assert run("sync", "now").status == 0


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("sync", "now"), 2),
        (("sync", "now", "nowhere"), 2),
        (("sync", "remove", "nowhere"), 2),
        (("sync", "add", "../ws/inside"), 2),
        (("sync", "add", "ftp://host/x"), 2),
    ],
)
def test_misuse(run: Run, words: tuple[str, ...], status: int) -> None:
    run("remember", "x")
    ran = run(*words)
    assert (ran.status, "Traceback" in ran.err) == (status, False)


def test_a_location_in_the_settings_of_an_untrusted_workspace_does_nothing(
    run: Run, bare: Run, place: Path, tmp_path: Path
) -> None:
    run("remember", "x")
    foreign = tmp_path / "foreign"
    (foreign / ".palimpsest").mkdir(parents=True)
    (foreign / "MEMORY.md").write_text("- words\n")
    (foreign / ".palimpsest" / "config.yaml").write_text(
        f"sync:\n  locations: ['{place}']\n  background: true\n", encoding="utf-8"
    )
    ran = bare("--workspace", str(foreign), "sync", "now")
    assert ran.status != 0
    bare("--workspace", str(foreign), "-p", "Hello")
    assert not place.exists()


def test_an_encrypted_location_shows_no_word(run: Run, other: Run, place: Path) -> None:
    added = run("sync", "add", str(place), "--encrypt", "--name", "schreibtisch", "--json").json
    assert added["recipient"].startswith("age1")
    run("sync", "key", str(place.parent / "key"))
    other("sync", "add", str(place), "--key", str(place.parent / "key"))
    run("-p", "The canary sings 金丝雀")
    run("remember", "canary in a note")
    run("sync", "now")
    stored = b"".join(file.read_bytes() for file in place.iterdir())
    for word in ("canary", "金丝雀", "schreibtisch"):
        assert word.encode() not in stored
    assert other("sync", "now").status == 0
    assert other("search", "canary", "--json").json["hits"]
    assert "AGE-SECRET" in (place.parent / "key").read_text()
    assert run("sync", "key", str(place.parent / "key")).status == 2, "it exists"


def test_a_device_without_the_key_writes_nothing_to_an_encrypted_location(run: Run, other: Run, place: Path) -> None:
    run("sync", "add", str(place), "--encrypt")
    run("sync", "key", str(place.parent / "key"))
    run("-p", "Hello")
    run("sync", "now")
    other("sync", "add", str(place), "--no-encrypt")
    other("remember", "canary of the other device")
    before = sorted(place.iterdir())
    ran = other("sync", "now")
    assert (ran.status, "is encrypted" in ran.err or "Other devices encrypt their data at" in ran.err) == (2, True)
    assert sorted(place.iterdir()) == before
    other("sync", "add", str(place), "--key", str(place.parent / "key"))
    assert other("sync", "now").status == 0
    assert b"canary" not in b"".join(file.read_bytes() for file in place.iterdir())


def test_encryption_that_is_switched_on_later_covers_what_was_written_before(run: Run, place: Path) -> None:
    run("sync", "add", str(place), "--no-encrypt")
    run("-p", "Hello")
    run("sync", "now")
    run("sync", "add", str(place), "--encrypt")
    run("sync", "now")
    files = [file.name for file in place.iterdir() if file.suffix in {".age", ".segment"}]
    assert files
    assert all(name.endswith(".segment.age") for name in files)
    run("config", "set", "sync.recipients", "[]")
    run("sync", "now")
    assert not list(place.glob("*.age")), "and off again"


def test_what_is_forgotten_here_goes_from_the_location_and_the_other_device(run: Run, other: Run, place: Path) -> None:
    run("sync", "add", str(place), "--no-encrypt")
    other("sync", "add", str(place), "--no-encrypt")
    run("-p", "The zanzibar canary sings")
    run("sync", "now")
    other("sync", "now")
    assert other("search", "zanzibar", "--json").json["hits"]
    assert places_of(place, ["zanzibar"])
    forgotten = run("forget", "zanzibar", "--yes")
    assert (forgotten.status, "sync now` there." in forgotten.out) == (0, True)
    assert places_of(place, ["zanzibar"]) == {}, "from the location at once"
    other("sync", "now")
    assert not other("search", "zanzibar", "--json").json["hits"], "one sync there is enough"
    assert run("sync", "now").status == 0
    assert "nothing contains this text" in other("forget", "zanzibar", "--dry-run").err


def test_a_location_that_does_not_answer_is_named_and_gone_on_with(run: Run, place: Path) -> None:
    run("sync", "add", str(place), "--no-encrypt")
    run("-p", "The zanzibar canary sings")
    run("sync", "now")
    away = place.rename(place.with_name("away"))
    forgotten = run("forget", "zanzibar", "--yes")
    assert (forgotten.status, str(place) in forgotten.err) == (75, True)
    assert f"could not be deleted from {place} (" in forgotten.out
    place.mkdir()  # where a stick is not mounted
    assert run("forget").status == 75
    place.rmdir()
    away.rename(place)
    assert run("forget").status == 0
    assert places_of(place, ["zanzibar"]) == {}


@pytest.mark.timeout(60)
def test_a_deletion_that_takes_much_waits_for_a_yes(run: Run, other: Run, place: Path) -> None:
    run("sync", "add", str(place), "--no-encrypt", "--name", "desk")
    other("sync", "add", str(place), "--no-encrypt", "--name", "laptop")
    ids = list[str]()
    for text in ("The boiler is serviced in May.", "The harbour ship weighs 400 tonnes."):
        ids.append(run("-p", text, "--output-format", "json").json["conversation"])
    run("sync", "now")
    other("sync", "now")
    for id_ in ids:
        other("conversations", "delete", id_, "--yes")
    other("sync", "now")
    said = run("sync", "now")
    assert "laptop" in said.out
    assert "Nothing was deleted here" in said.out
    assert len(run("conversations", "list", "--json").json["conversations"]) == 2
    held = run("sync", "status", "--json").json["held"]
    assert {change["id"] for change in held} == {*ids}
    assert {change["kind"] for change in held} == {"deletion"}
    assert run("sync", "accept", "c_unknown").status == 2
    assert run("sync", "accept").status == 2
    assert run("sync", "accept", ids[0], "--json").json["accepted"] is True
    assert "Refused: laptop" in run("sync", "refuse", "--all").out
    left = run("conversations", "list", "--json").json["conversations"]
    assert [conversation["id"] for conversation in left] == [ids[1]]
    assert run("sync", "status", "--json").json["held"] == []


@pytest.mark.timeout(60)
def test_what_another_device_wrote_names_it_wherever_it_is_recalled(run: Run, other: Run, place: Path) -> None:
    run("sync", "add", str(place), "--no-encrypt", "--name", "desk")
    other("sync", "add", str(place), "--no-encrypt", "--name", "laptop")
    other("-p", "I agreed to pay 5000 for the boiler in Ghent.")
    run("-p", "The harbour ship weighs 400 tonnes.")
    other("sync", "now")
    run("sync", "now")
    (hit, *_) = run("search", "agreed pay 5000", "--role", "user", "--json").json["hits"]
    assert hit["device"].startswith("laptop (d_")
    assert "user on laptop" in hit["citation"]
    assert "user on laptop" in run("search", "agreed pay 5000", "--role", "user").out
    recalled_text = run("recall", "agreed pay 5000 boiler Ghent")
    assert "user on laptop" in recalled_text.out + recalled_text.err
    assert "exact, as laptop (d_" in recalled_text.out + recalled_text.err
    recalled = run("recall", "agreed pay 5000 boiler Ghent", "--json").json["hits"]
    assert [each["device"].startswith("laptop (d_") for each in recalled if each["role"] == "user"] == [True]
    (own, *_) = run("search", "harbour ship weighs", "--role", "user", "--json").json["hits"]
    assert (own["device"], "laptop" in own["citation"]) == (None, False)
    answered = run("-p", "What did I agree to pay for the boiler in Ghent?", "--output-format", "json").json
    assert any((part["device"] or "").startswith("laptop (d_") for part in answered["recalled"])
    assert "on laptop" in answered["text"]


@pytest.mark.timeout(60)
def test_a_new_location_is_encrypted_unless_devices_sync_there_without(run: Run, other: Run, place: Path) -> None:
    assert run("sync", "add", str(place), "--json").json["recipient"].startswith("age1")
    run("-p", "Hello")
    run("sync", "now")
    assert list(place.glob("*.age"))
    assert StoredKeys(os.environ).remove("sync")  # as on a device that has none
    refused = other("sync", "add", str(place))
    assert (refused.status, "sync key FILE" in refused.err) == (2, True)
    plain = place.with_name("plain")
    assert "whoever can write" in other("sync", "add", str(plain), "--no-encrypt").err
    other("-p", "Hello")
    other("sync", "now")
    assert "whoever can write" in other("sync", "status").out
    assert not list(plain.glob("*.age"))


def test_a_device_joins_a_plain_location_without_encryption(run: Run, other: Run, place: Path) -> None:
    other("sync", "add", str(place), "--no-encrypt")
    other("-p", "Hello")
    other("sync", "now")
    assert "whoever can write" in run("sync", "add", str(place)).err
    assert run("sync", "now").status == 0


def test_one_forged_encrypted_file_stops_no_device(run: Run, other: Run, place: Path) -> None:
    run("sync", "add", str(place), "--no-encrypt")
    other("sync", "add", str(place), "--no-encrypt")
    run("-p", "The boiler is serviced in May.")
    run("sync", "now")
    forged = place / "d_zzzzzzzzzzzz-00000001-0123456789abcdef.segment.age"
    forged.write_bytes(b"garbage" * 100)
    read = other("sync", "now")
    assert (read.status, forged.name in read.out) == (1, True)
    assert other("search", "boiler", "--json").json["hits"]
    other("-p", "The harbour ship weighs 400 tonnes.")
    assert "1 file written" in other("sync", "now").out
