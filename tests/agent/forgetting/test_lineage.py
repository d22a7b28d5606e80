"""What belongs to what goes is known by its id and its origin: short texts, labels and ids of imports leave nothing.

A text of short lines has no piece long enough to be looked for: its copies are known by what they are copies of.
"""

import json
from pathlib import Path

import pytest

from agent.checkpoints.change import FileChange
from agent.checkpoints.checkpoints import Checkpoints
from agent.services.forget import forgetting, plan
from agent.services.forgotten_words import without_forgotten
from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import clear
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from models.messages import Role
from tests.agent.conftest import Run
from tests.memory.forget.bytes_of import places_of

pytestmark = pytest.mark.timeout(60)

SHORT_TEXTS = {
    "code": "PIN 4821\n",
    "names": "zqanna\nzqbob\nzqcarl\n",
    "Chinese": "蓝鲸在港口\n",
    "mixed": "A long line of the manual about the pumps in the harbour.\nzqkey 77\n",
    "one letter": "x\ny\nzqw\n",
}


def archived(run: Run, tmp_path: Path, text: str, label: str) -> None:
    file = tmp_path / "text.txt"
    file.write_text(text, "utf-8")
    assert run("archive", str(file), "--label", label).status == 0


@pytest.mark.parametrize("kind", SHORT_TEXTS)
def test_an_archive_goes_with_the_text_beside_it_however_short_its_lines(
    run: Run, root: Path, tmp_path: Path, kind: str
) -> None:
    text = SHORT_TEXTS[kind]
    archived(run, tmp_path, text, "zqlabel")
    done = run("forget", "zqlabel", "--yes")
    assert done.status == 0, done.err
    assert list(Workspace(root).kept_texts.iterdir()) == []
    words = [line for line in text.splitlines() if len(line) > 1]
    assert places_of(root, [*words, "zqlabel"]) == {}


def test_without_the_step_of_copies_the_text_is_named(run: Run, root: Path, tmp_path: Path) -> None:
    archived(run, tmp_path, "yes\nx\n", "zqlabel")
    (kept,) = Workspace(root).kept_texts.iterdir()
    kept.rename(kept.with_name("other.md"))
    memory = Memory.open(Workspace(root))
    try:
        forgets = forgetting(memory)
        del forgets.steps["copies"]
        job = forgets.run(forgets.begin(plan(memory, named="zqlabel")))
        assert job.receipt is not None
        assert job.receipt.found == ("memory/archive/other.md",)
    finally:
        memory.close()


def test_lines_of_the_person_in_an_edited_text_stay_and_those_of_the_archive_go(
    run: Run, root: Path, tmp_path: Path
) -> None:
    archived(run, tmp_path, "zqanna\nzqbob\n", "zqlabel")
    (kept,) = Workspace(root).kept_texts.iterdir()
    kept.write_text("zqanna\nA line of my own.\nzqbob\n", "utf-8")
    assert run("forget", "zqlabel", "--yes").status == 0
    assert [path.read_text("utf-8") for path in Workspace(root).kept_texts.iterdir()] == ["A line of my own.\n"]
    assert places_of(root, ["zqanna", "zqbob", "zqlabel"]) == {}


def test_a_text_that_was_renamed_goes_by_its_content(run: Run, root: Path, tmp_path: Path) -> None:
    archived(run, tmp_path, "zqanna\nzqbob\n", "zqlabel")
    (kept,) = Workspace(root).kept_texts.iterdir()
    kept.rename(kept.with_name("another name.md"))
    assert run("forget", "zqlabel", "--yes").status == 0
    assert list(Workspace(root).kept_texts.iterdir()) == []


def test_another_archive_of_short_lines_stays_whole(run: Run, root: Path, tmp_path: Path) -> None:
    archived(run, tmp_path, "zqanna\nzqbob\n", "zqlabel")
    archived(run, tmp_path, "zqanna\nzqcarl\n", "another")
    assert run("forget", "zqlabel", "--yes").status == 0
    assert [path.name for path in Workspace(root).kept_texts.iterdir()] == ["another.md"]
    assert (Workspace(root).kept_texts / "another.md").read_text("utf-8") == "zqanna\nzqcarl\n"
    assert "zqcarl" in run("recall", "another").out
    assert run("check").status == 0


@pytest.mark.parametrize("by", ["entry", "conversation"])
def test_copies_of_mirrors_with_a_word_that_many_say_go_by_its_id(run: Run, root: Path, by: str) -> None:
    talk = run("-p", "yes", "--json").json
    other = run("-p", "Another talk about boats.", "--json").json
    space = Workspace(root)
    for folder in (space.versions, space.damaged):
        folder.mkdir(exist_ok=True)
        for mirror in space.conversations.iterdir():
            (folder / f"conversations-{mirror.stem}-1.md").write_bytes(mirror.read_bytes())
    (entry,) = (line["id"] for line in lines_of_export(run) if line["text"] == "yes")
    named = (entry,) if by == "entry" else ("--conversation", talk["conversation"])
    assert run("forget", *named, "--yes").status == 0
    copies = [path.read_text("utf-8") for folder in (space.versions, space.damaged) for path in folder.glob("*.md")]
    assert [other["conversation"] in copy and "boats" in copy for copy in copies] == [True, True]


def lines_of_export(run: Run) -> list[dict[str, str]]:
    return [json.loads(line) for line in run("export", "--to", "jsonl").out.splitlines()]


def imported(run: Run, tmp_path: Path, **fields: str) -> None:
    file = tmp_path / "far.jsonl"
    line = {"conversation": "far", "id": "i1", "role": "user", "text": "Some words of an import."} | fields
    file.write_text(json.dumps(line) + "\n", "utf-8")
    assert run("import", str(file), "--from", "jsonl").status == 0


def test_the_id_of_an_imported_message_that_is_named_goes_with_it(run: Run, root: Path, tmp_path: Path) -> None:
    imported(run, tmp_path, id="zqid-77")
    done = run("forget", "zqid-77", "--yes")
    assert done.status == 0, done.err
    assert places_of(root, ["zqid-77", "Some words of an import"]) == {}
    imported(run, tmp_path, id="zqid-77")
    assert places_of(root, ["zqid-77", "Some words of an import"]) == {}
    assert run("check").status == 0


def test_the_named_id_goes_from_the_location_of_sync(bare: Run, run: Run, root: Path, tmp_path: Path) -> None:
    place, other = tmp_path / "place", tmp_path / "other"
    place.mkdir()
    assert bare("init", str(other)).status == 0
    imported(run, tmp_path, id="zqid-77")
    for device in (root, other):
        bare("--workspace", str(device), "sync", "add", str(place), "--no-encrypt")
        assert bare("--workspace", str(device), "sync", "now").status == 0
    assert places_of(place, ["zqid-77"]) and places_of(other, ["zqid-77"])
    assert run("forget", "zqid-77", "--yes").status == 0
    for device in (root, other):
        assert bare("--workspace", str(device), "sync", "now").status == 0
    assert [places_of(where, ["zqid-77"]) for where in (root, place, other)] == [{}, {}, {}]


@pytest.mark.parametrize("field", ["conversation", "speaker", "text"])
def test_an_imported_conversation_goes_with_its_id_and_names(run: Run, root: Path, tmp_path: Path, field: str) -> None:
    imported(run, tmp_path, conversation="far-away", **({field: "zqword 9"} if field != "conversation" else {}))
    if field == "conversation":
        imported(run, tmp_path, conversation="zqword 9", id="i2")
    id_ = "zqword 9" if field == "conversation" else "far-away"
    done = run("forget", "--conversation", id_, "--yes")
    assert done.status == 0, done.err
    assert places_of(root, ["zqword 9"]) == {}


def test_a_named_id_that_another_message_says_stays_there_and_is_named(run: Run, root: Path, tmp_path: Path) -> None:
    imported(run, tmp_path, id="zqid-77")
    run("-p", "Please look at zqid-77 again.")
    done = run("forget", "zqid-77", "--yes")
    assert done.status == 0, done.err
    assert "the same text, or parts of it, in" in done.out
    assert "Please look at zqid-77 again." in run("export", "--to", "jsonl").out


def test_a_short_word_in_a_checkpoint_of_another_conversation_is_named_and_stays(
    run: Run, root: Path, tmp_path: Path
) -> None:
    checkpoints = Checkpoints(Workspace(root).checkpoints, SystemClock(), (tmp_path,))
    checkpoints.begin_turn("c_other", "e_1")
    change = FileChange(folder=tmp_path, path="a.txt", expected=None, new=b"the port is 8765\n")
    checkpoints.apply([change], "e_2", label="write_file")
    run("-p", "8765")
    (entry,) = (line["id"] for line in lines_of_export(run) if line["text"] == "8765")
    done = run("forget", entry, "--yes")
    assert done.status == 0, done.err
    assert "Not changed" in done.out and "checkpoints/blobs" in done.out
    assert (root / ".palimpsest" / "checkpoints" / "journal.jsonl").read_text().count("a.txt") >= 1


def test_a_title_that_is_a_message_of_one_common_word_goes_with_it(run: Run, root: Path) -> None:
    for text in ("lantern", "Another talk about boats."):
        run("-p", text)
    (entry,) = (line["id"] for line in lines_of_export(run) if line["text"] == "lantern")
    assert places_of(root, ["lantern"])
    assert run("forget", entry, "--yes").status == 0
    assert places_of(root, ["lantern"]) == {}
    assert "Another talk about boats" in run("conversations", "list").out


def test_an_archive_that_another_device_forgot_takes_the_text_beside_it_along(
    bare: Run, run: Run, root: Path, tmp_path: Path
) -> None:
    place, other = tmp_path / "place", tmp_path / "other"
    place.mkdir()
    assert bare("init", str(other)).status == 0
    archived(run, tmp_path, "zqanna\nzqbob\nyes\n", "zqlabel")
    for device in (root, other):
        bare("--workspace", str(device), "sync", "add", str(place), "--no-encrypt")
        assert bare("--workspace", str(device), "sync", "now").status == 0
    memory = Memory.open(Workspace(other))
    ids = [conversation.id for conversation in memory.cold.conversations(kind="archive")]
    memory.close()
    assert len(ids) == 1
    assert bare("--workspace", str(other), "forget", "--conversation", ids[0], "--yes").status == 0
    assert bare("--workspace", str(other), "sync", "now").status == 0
    assert run("sync", "now").status == 0
    assert run("sync", "accept", "--all").status == 0  # what takes a whole conversation waits
    assert list(Workspace(root).kept_texts.iterdir()) == []


def test_a_text_below_a_folder_goes_too(run: Run, root: Path, tmp_path: Path) -> None:
    archived(run, tmp_path, "zqanna\nyes\n", "zqlabel")
    (kept,) = Workspace(root).kept_texts.iterdir()
    (kept.parent / "old").mkdir()
    kept.rename(kept.parent / "old" / "a.txt")
    assert run("forget", "zqlabel", "--yes").status == 0
    assert not (kept.parent / "old" / "a.txt").exists()


def test_a_later_message_of_the_same_code_does_not_keep_the_job_open(run: Run, root: Path) -> None:
    run("-p", "4821")
    (entry,) = (line["id"] for line in lines_of_export(run) if line["text"] == "4821")
    memory = Memory.open(Workspace(root))
    try:
        forgets = forgetting(memory)
        job = forgets.begin(plan(memory, named=entry))
        again = memory.conversations.new(clear("Later")).seq
        text = clear("The code is 4821.")
        draft = EntryDraft(kind=EntryKind.MESSAGE, role=Role.USER, conversation=again, parent=None, text=text)
        memory.conversations.append(draft)
        job = forgets.run(job)
        assert job.receipt is not None and job.receipt.found == ()
    finally:
        memory.close()
    assert "The code is 4821." in run("export", "--to", "jsonl").out


LABEL = "zq/odd: label? of a very long name that is cut where file names of every system may end"


@pytest.mark.parametrize("words", [LABEL, "zq/odd: label", "ZQ/odd"])
def test_a_label_with_signs_that_no_file_name_has_leaves_the_name_of_the_text_too(
    run: Run, root: Path, tmp_path: Path, words: str
) -> None:
    archived(run, tmp_path, "A text about boats.\n", LABEL)
    assert run("forget", "--words", words, "--yes").status == 0
    assert [path.read_text("utf-8") for path in Workspace(root).kept_texts.iterdir()] == ["A text about boats.\n"]
    assert places_of(root, ["zq/odd", "zq-odd"]) == {}
    assert run("check").status == 0


def test_the_name_of_a_mirror_of_a_forgotten_id_with_such_signs_goes(run: Run, root: Path, tmp_path: Path) -> None:
    imported(run, tmp_path, conversation="zq/odd: id")
    run("export", "--to", "jsonl")
    assert places_of(root, ["zq-odd", "zq/odd"])
    assert run("forget", "--words", "zq/odd: id", "--yes").status == 0
    assert places_of(root, ["zq-odd", "zq/odd"]) == {}


def test_a_code_that_a_note_says_stays_there_and_is_named(run: Run, root: Path) -> None:
    run("remember", "The door has the number 4821.")
    run("-p", "4821")
    (entry,) = (line["id"] for line in lines_of_export(run) if line["text"] == "4821")
    done = run("forget", entry, "--yes")
    assert (done.status, "that are also in MEMORY.md." in done.out) == (0, True), done.err
    assert "The door has the number 4821." in (root / "MEMORY.md").read_text("utf-8")


@pytest.mark.parametrize("text", ["tool_calls", "write_file", "user: yes", "sha256sum", "true", "null x", "utf8mb4"])
def test_what_the_program_itself_writes_keeps_no_job_open(run: Run, text: str) -> None:
    run("-p", text)
    run("-p", "Another talk about boats.")
    (entry,) = (line["id"] for line in lines_of_export(run) if line["text"] == text)
    done = run("forget", entry, "--yes")
    assert done.status == 0, done.err
    assert run("check").status == 0
    assert "boats" in run("export", "--to", "jsonl").out


def test_an_open_process_may_write_a_short_word_again(run: Run, root: Path) -> None:
    run("-p", "4821")
    (entry,) = (line["id"] for line in lines_of_export(run) if line["text"] == "4821")
    assert run("forget", entry, "--yes").status == 0
    assert without_forgotten(root / ".palimpsest", "my draft says 4821") == "my draft says 4821"


def test_the_same_text_beside_another_archive_stays(run: Run, root: Path, tmp_path: Path) -> None:
    for label in ("zqlabel", "another"):
        archived(run, tmp_path, "A text about boats.\nzqanna\n", label)
    assert run("forget", "zqlabel", "--yes").status == 0
    assert [path.name for path in Workspace(root).kept_texts.iterdir()] == ["another.md"]
    assert (Workspace(root).kept_texts / "another.md").read_text("utf-8") == "A text about boats.\nzqanna\n"


def test_lines_that_two_archives_of_a_label_say_stay_in_an_edited_text(run: Run, root: Path, tmp_path: Path) -> None:
    archived(run, tmp_path, "yes\nzqone\n", "same")
    (kept,) = Workspace(root).kept_texts.iterdir()
    kept.write_text("yes\nzqone\nmine\n", "utf-8")
    archived(run, tmp_path, "yes\nzqtwo\n", "same")
    assert run("forget", "same", "--yes").status == 0
    assert [path.read_text("utf-8") for path in Workspace(root).kept_texts.iterdir()] == ["yes\nzqone\nmine\n"]
    assert run("forget", "same", "--yes").status == 0
    assert [path.read_text("utf-8") for path in Workspace(root).kept_texts.iterdir()] == ["mine\n"]


def test_what_is_too_short_to_be_looked_for_is_named(run: Run) -> None:
    run("-p", "The row is q7 in the hall.")
    done = run("forget", "q7", "--yes")
    assert (done.status, "two letters or digits are too short for that" in done.out) == (0, True), done.err
    assert "q7" not in run("export", "--to", "jsonl").out
