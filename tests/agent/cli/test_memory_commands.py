"""Import, search, recall, archive, remember: the commands on real stores."""

import json
import os
import sys
from pathlib import Path

import pytest
from PIL import Image

from tests.agent.conftest import Run

TALK = [
    {
        "id": "t1",
        "conversation": "garden",
        "time": "2026-03-01T08:00:00Z",
        "role": "user",
        "speaker": "Ann",
        "text": "The greenhouse key is in the blue tin behind the third tomato pot.",
    },
    {
        "id": "t2",
        "conversation": "garden",
        "time": "2026-03-02T08:00:00Z",
        "role": "user",
        "speaker": "Ben",
        "text": "I will water the seedlings on Thursday.",
        "weather": "rain",
    },
    {
        "id": "t3",
        "conversation": "travel",
        "time": "2026-04-01T08:00:00Z",
        "role": "assistant",
        "speaker": "",
        "text": "The ferry to Naxos leaves at 07:25 from gate E3. 渡轮早上出发。",
    },
]


@pytest.fixture
def talk(run: Run, tmp_path: Path) -> Run:
    path = tmp_path / "talk.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in TALK), encoding="utf-8")
    assert run("import", str(path), "--source", "letters").status == 0
    return run


def test_an_import_says_what_it_did_and_does_it_once(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_text("\n".join([*(json.dumps(line) for line in TALK), "{broken"]), encoding="utf-8")
    first = run("import", str(path), "--source", "letters", "--json")
    assert first.status == 1  # as `knowledge add` where a file could not be read
    assert (first.json["entries"], first.json["conversations"], first.json["bad_count"]) == (3, 2, 1)
    assert "line 4" in first.err
    again = run("import", str(path), "--source", "letters", "--json").json
    assert (again["entries"], again["already"]) == (0, 3)
    said = run("import", str(path), "--source", "letters")
    assert said.out.strip() == "Nothing new in “letters”; 3 were already stored; 1 line was bad."
    assert said.status == 1


def test_a_line_that_is_kept_without_its_time_is_no_failure(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_text(json.dumps({**TALK[0], "time": "some day"}), encoding="utf-8")
    said = run("import", str(path))
    assert said.status == 0
    assert "1 line was imported in part" in said.out


def test_a_file_that_is_all_bad_fails(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text("{\n[\n", encoding="utf-8")
    assert run("import", str(path)).status == 1
    assert run("import", str(tmp_path / "none.jsonl")).status == 2


def test_search_gives_the_contracts_object(talk: Run) -> None:
    found = talk("search", "where is the greenhouse key", "--json").json
    assert list(found) == ["schema", "query", "took_ms", "found", "total", "next", "hits", "likelihood"]
    hit = found["hits"][0]
    assert list(hit) == [
        "id",
        "kind",
        "origin",
        "conversation",
        "entry",
        "time",
        "role",
        "speaker",
        "score",
        "snippet",
        "citation",
        "device",
        "trust",
        "superseded_by",
        "marks",
        "like",
    ]
    assert (hit["id"], hit["entry"], hit["conversation"], hit["trust"]) == ("t1", "t1", "garden", "exact")
    assert hit["time"] == "2026-03-01T08:00:00Z"


def test_nothing_found_is_no_failure(talk: Run) -> None:
    said = talk("search", "zeppelin maintenance", "--json")
    assert said.status == 0
    assert said.json["found"] is False
    assert said.json["hits"] == []


def test_filters_and_misuse(talk: Run) -> None:
    assert talk("search", "key", "--speaker", "Ben", "--json").json["hits"] == []
    listed = talk("search", "--conversation", "travel", "--json").json["hits"]
    assert [hit["id"] for hit in listed] == ["t3"]
    assert talk("search").status == 2
    assert talk("search", "x", "--role", "wizard").status == 2
    assert talk("search", "x", "--since", "someday").status == 2


def test_a_batch_answers_in_order_and_an_error_stands_in_its_place(talk: Run, tmp_path: Path) -> None:
    batch = tmp_path / "batch.jsonl"
    lines = [
        '{"query": "ferry"}',
        "not json",
        '{"query": "key", "speaker": "Ann", "k": 1}',
        '{"query": 3}',
        "",
        '{"query": "x", "role": "wizard"}',
        '{"query": "渡轮"}',
    ]
    batch.write_text("\n".join(lines), encoding="utf-8")
    said = talk("search", "--batch", str(batch))
    assert said.status == 0
    found = [json.loads(line) for line in said.out.splitlines()]
    assert [one.get("query") for one in found] == ["ferry", None, "key", None, None, None, "渡轮"]
    assert all(one["schema"] == 1 for one in found)
    assert "Line 2" in found[1]["error"]["message"]
    assert "Line 5" in found[4]["error"]["message"]  # an empty line has its answer too
    assert found[0]["hits"][0]["id"] == found[6]["hits"][0]["id"] == "t3"


def test_filters_of_a_batch_decide_what_is_found(talk: Run, tmp_path: Path) -> None:
    batch = tmp_path / "batch.jsonl"
    lines = [
        '{"query": "查找航班记录", "filters": {"speaker": "Ann"}}',
        '{"query": "x", "filters": {"date_range": ["1999-01-01", "1999-12-31"]}}',
        '{"query": "x", "filters": {"colour": "red"}}',
        '{"query": "x", "filters": {"date_range": ["2024-03-31", "2024-03-01"]}}',
    ]
    batch.write_text("\n".join(lines), encoding="utf-8")
    by_speaker, none, wrong, reversed_dates = map(json.loads, talk("search", "--batch", str(batch)).out.splitlines())
    assert "Line 4: 2024-03-31 to 2024-03-01 is empty" in reversed_dates["error"]["message"]
    assert by_speaker["hits"] and {hit["speaker"] for hit in by_speaker["hits"]} == {"Ann"}
    assert none["hits"] == []
    assert "colour" in wrong["error"]["message"]


def test_recall_by_question_and_by_id_gives_the_whole_text(talk: Run) -> None:
    by_question = talk("recall", "greenhouse key", "--json").json
    assert by_question["hits"][0]["text"] == TALK[0]["text"]
    by_id = talk("recall", "t3", "--json").json
    assert by_id["hits"][0]["text"] == TALK[2]["text"]
    for name in ("engine", "read_ms", "doubt", "citation", "trust"):
        assert name in by_id["hits"][0]
    plain = talk("recall", "t3")
    assert plain.out == TALK[2]["text"]
    assert "exact" in plain.err


def test_an_id_of_ours_that_nothing_has_is_an_error(talk: Run) -> None:
    for ref in ("e_doesnotexist", "pg_doesnotexist", "m_doesnotexist"):
        said = talk("recall", ref, "--json")
        assert said.status == 1, ref
        assert said.json["error"]["title"]


def test_archive_keeps_the_text_to_the_byte_and_recall_reads_the_picture_alone(
    run: Run, bare: Run, root: Path, tmp_path: Path
) -> None:
    text = "\ufeffFirst line\r\n\tsecond, 世界 🌱 " + "x" * 5000 + "\n\nlast"
    original = tmp_path / "letter.txt"
    original.write_bytes(text.encode())
    said = run("archive", str(original), "--json", "--png", str(tmp_path / "pictures"))
    assert said.status == 0, said.err
    told = said.json
    assert told["label"] == "letter"
    for page in told["pages"]:
        assert page["verified"]
        assert Path(page["path"]).is_file()
    assert (root / "memory" / "archive" / "letter.md").read_bytes() == text.encode()
    read = []
    for number, picture in enumerate(sorted((tmp_path / "pictures").iterdir())):
        moved = tmp_path / f"holiday {number}"
        with Image.open(picture) as image:
            image.convert("RGB").save(moved, format="PNG")
        read.append(bare("recall", str(moved), "--json", "--workspace", str(tmp_path / "nowhere")).json["hits"][0])
    assert "".join(hit["text"] for hit in read) == text
    assert {hit["trust"] for hit in read} == {"exact"}
    assert not (tmp_path / "nowhere").exists()


def test_archived_text_is_found_and_read_back_from_its_pixels(run: Run, tmp_path: Path) -> None:
    original = tmp_path / "recipe.txt"
    original.write_text("Nine grams of salt to the sourdough, and let it rest overnight.", encoding="utf-8")
    page = run("archive", str(original), "--label", "bread", "--no-text", "--json").json["pages"][0]
    hit = run("recall", "how much salt in the sourdough", "--json").json["hits"][0]
    assert (hit["text"], hit["engine"], hit["trust"]) == (original.read_text(), "cells", "exact")
    assert run("recall", page["id"]).out == original.read_text()
    assert "bread" in run("archive", "--list").out


def test_secrets_in_an_archived_file_are_counted_and_redacted_on_request(run: Run, root: Path, tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    original = tmp_path / "notes.txt"
    original.write_text(f"token: {secret}\n", encoding="utf-8")
    kept = run("archive", str(original), "--label", "kept", "--json")
    assert kept.json["secrets"] == 1
    assert "1 secret found" in kept.err
    assert secret in (root / "memory" / "archive" / "kept.md").read_text()
    redacted = run("archive", str(original), "--label", "gone", "--redact")
    assert "1 secret removed" in redacted.err
    assert secret not in (root / "memory" / "archive" / "gone.md").read_text()


@pytest.mark.parametrize("label", ["../../etc/passwd", "a/b\\c:d", "CON", ".hidden", "x" * 300, "\x1b]0;t\x07"])
def test_a_hostile_label_stays_in_its_folder(run: Run, root: Path, tmp_path: Path, label: str) -> None:
    before = {path for path in tmp_path.rglob("*") if path.is_file() and ".palimpsest" not in path.parts}
    said = run("archive", "-", "--label", label, stdin=b"words\n")
    assert said.status == 0, said.err
    assert "\x1b" not in said.err
    after = {path for path in tmp_path.rglob("*") if path.is_file() and ".palimpsest" not in path.parts}
    assert [path.parent for path in after - before] == [root / "memory" / "archive"]


def test_archive_misused(run: Run, tmp_path: Path) -> None:
    assert run("archive").status == 2
    assert run("archive", str(tmp_path / "none")).status == 2
    assert run("archive", "-", stdin=b"").status == 2
    assert run("archive", "-", stdin=b"\xff\xfe").status == 2
    assert run("archive", "--list", "x").status == 2


def test_a_note_is_remembered_listed_shown_and_edited(run: Run, root: Path) -> None:
    note = run("remember", "The boiler is serviced in May.", "--json").json
    assert "boiler" in (root / "MEMORY.md").read_text()
    assert any(one["id"] == note["id"] for one in run("memory", "list", "--json").json["notes"])
    assert "boiler" in run("memory", "show", note["id"]).out
    edited = run("memory", "edit", note["id"], "The boiler is serviced in June.", "--json").json
    text = (root / "MEMORY.md").read_text()
    assert "June" in text and "May" not in text
    assert run("memory", "show", edited["id"]).out.strip() == "- The boiler is serviced in June."
    assert run("memory", "show", "m_none").status == 1


def test_a_text_that_begins_as_a_list_is_remembered_and_edited_as_text(run: Run, root: Path) -> None:
    note = run("remember", "- one item", "--json").json
    assert note["text"] == "- one item"
    assert (root / "MEMORY.md").read_text().count("one item") == 1
    edited = run("memory", "edit", note["id"], "- another item", "--json").json
    assert run("memory", "show", edited["id"]).out.strip() == "- another item"
    assert run("remember", "--", "- a third").status == 0


def test_a_text_that_begins_as_an_option_does_is_answered_with_how_to_write_it(run: Run) -> None:
    wrong = run("remember", "-5 degrees in the cellar")
    assert wrong.status != 0
    assert "remember -- '-5 degrees in the cellar'" in wrong.err


def test_private_words_are_left_out_of_a_note(run: Run, root: Path) -> None:
    said = run("remember", "Door code <private>4711</private>, ask Ben.")
    assert "1 private or secret part was removed" in said.err
    assert "4711" not in (root / "MEMORY.md").read_text()


def test_conversations_are_listed_shown_renamed_and_deleted(talk: Run, root: Path) -> None:
    listed = talk("conversations", "list", "--json").json["conversations"]
    assert [one["id"] for one in listed] == ["travel", "garden"]
    assert "blue tin" in talk("conversations", "show", "garden").out
    assert talk("conversations", "rename", "garden", "The garden").status == 0
    assert talk("conversations", "delete", "garden", stdin=b"").status == 2
    assert talk("conversations", "delete", "garden", "--yes").status == 0
    assert talk("search", "greenhouse key", "--json").json["hits"] == []
    assert not [path for path in (root / "conversations").iterdir() if "garden" in path.name]


def test_an_export_imported_elsewhere_is_the_same(talk: Run, bare: Run, tmp_path: Path) -> None:
    first = talk("export", "--to", "jsonl")
    assert first.out.isascii()
    path = tmp_path / "export.jsonl"
    path.write_bytes(first.raw)
    other = str(tmp_path / "other")
    assert bare("import", str(path), "--workspace", other).status == 0
    assert bare("export", "--to", "jsonl", "--workspace", other).raw == first.raw
    again = talk("import", str(path), "--json").json
    assert (again["entries"], again["already"]) == (0, 3)
    weather = [json.loads(line).get("weather") for line in first.out.splitlines()]
    assert sorted(filter(None, weather)) == ["rain"]


def test_markdown_is_to_read(talk: Run, tmp_path: Path) -> None:
    said = talk("export", "garden").out
    assert "## Ann · 2026-03-01 08:00" in said
    assert TALK[0]["text"] in said
    folder = tmp_path / "out"
    assert talk("export", "--dir", str(folder)).status == 0
    assert len(list(folder.glob("*.md"))) == 2
    assert talk("export", "--dir", str(folder)).status == 2


def test_stats_and_check(talk: Run) -> None:
    assert talk("stats", "--json").json["entries"] == 3
    said = talk("check", "--json")
    assert said.status == 0
    assert said.json["sound"]


def test_doctor_says_what_is_there(talk: Run) -> None:
    said = talk("doctor", "--json")
    topics = {finding["topic"] for finding in said.json["findings"]}
    assert {"program", "sqlite", "workspace", "store", "model"} <= topics


@pytest.mark.skipif(sys.platform == "win32", reason="pipes as files are POSIX")
def test_what_cannot_be_imported_is_called_what_it_is(run: Run, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "empty").mkdir()
    for path, word in (
        (tmp_path / "empty", "contains no file"),
        (tmp_path / "fifo", "a pipe"),
        (Path("/dev/null"), "a device"),
    ):
        said = run("import", str(path))
        assert said.status == 2
        assert word in said.err
    assert "There is no file" in run("import", str(tmp_path / "none")).err
