"""Chunks of other programs: their usual shapes, and files that are bad."""

import json
from pathlib import Path
from typing import Any

import pytest

from agent.importers.chunks import BadChunkFile, holds_chunks, read_chunks
from agent.importers.record import ImportRecord
from agent.importers.settings import ImportSettings
from memory.cold import ColdStore
from memory.conversations import Conversations
from memory.records import EntryKind
from tests.agent.conftest import Run
from tests.agent.importers.stored import branch, stored


def written(folder: Path, **files: Any) -> Path:
    """The files, by `chunks__n_chunk_001`; `__` is a folder. A text is written as it is."""
    for name, value in files.items():
        path = folder / (name.replace("__", "/") + ".json")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value))
    return folder


def test_a_list_of_messages_without_index_or_summaries(cold: ColdStore, tmp_path: Path) -> None:
    first = [
        {"role": "user", "content": "雪夜里写第一章", "timestamp": "2024-03-01T10:00:00"},
        {"role": "assistant", "content": "灯灭了。", "timestamp": 1709287260},
    ]
    second = [{"role": "user", "content": "第二章", "timestamp": "2024-03-02 08:00:00"}]
    written(tmp_path, chunks__novel_1_chunk_010=second, chunks__novel_1_chunk_002=first)
    report = stored(cold, read_chunks(tmp_path), source="chunks")
    assert (report.entries, report.bad_count) == (3, 0)
    told = branch(cold, "novel_1")
    assert [(entry.role.value, entry.text) for entry in told] == [
        ("user", "雪夜里写第一章"),
        ("assistant", "灯灭了。"),
        ("user", "第二章"),
    ]
    assert [entry.time.isoformat() for entry in told] == [
        "2024-03-01T10:00:00+00:00",
        "2024-03-01T10:01:00+00:00",
        "2024-03-02T08:00:00+00:00",
    ]
    again = stored(cold, read_chunks(tmp_path), source="chunks")
    assert (again.entries, again.already) == (0, 3)


SHAPES: dict[str, Any] = {
    "messages": {"novel_id": "n", "messages": [{"role": "user", "content": "lamp"}]},
    "records": {"records": [{"sender": "human", "text": "lamp"}]},
    "parts": {"messages": [{"role": "user", "content": [{"type": "text", "text": "lamp"}]}]},
    "single": {"role": "user", "content": "lamp", "created_at": "2024-01-01"},
    "texts": ["lamp"],
    "author": {"history": [{"from": "me", "message": "lamp", "date": "2024-01-01"}]},
}


@pytest.mark.parametrize("name", SHAPES)
def test_usual_shapes_of_a_chunk(cold: ColdStore, tmp_path: Path, name: str) -> None:
    stored(cold, read_chunks(written(tmp_path, chunks__n_chunk_001=SHAPES[name])))
    assert [(entry.role.value, entry.text) for entry in branch(cold, "n")] == [("user", "lamp")]


def test_an_object_with_a_message_and_its_answer_is_both(cold: ColdStore, tmp_path: Path) -> None:
    pairs = [{"prompt": "Who?", "response": "The keeper.", "timestamp": "2024-01-01"}]
    stored(cold, read_chunks(written(tmp_path, chunks__n_chunk_001=pairs)))
    assert [(entry.role.value, entry.text) for entry in branch(cold, "n")] == [
        ("user", "Who?"),
        ("assistant", "The keeper."),
    ]


@pytest.mark.parametrize(
    "summary",
    [
        {"summary": "The lamp went out."},
        {"content": "The lamp went out.", "timestamp": "2024-01-01"},
        '"The lamp went out."',
        ["The lamp went out."],
        {"summaries": [{"text": "The lamp went out."}]},
    ],
)
def test_a_summary_stands_beside_the_branch(cold: ColdStore, tmp_path: Path, summary: Any) -> None:
    written(tmp_path, chunks__n_chunk_001=[{"role": "user", "content": "lamp"}], summaries__n_summary_001=summary)
    stored(cold, read_chunks(tmp_path))
    assert [entry.text for entry in branch(cold, "n")] == ["lamp"]
    told = list(Conversations(cold).all_entries(cold.conversation("n").seq))
    assert [(entry.kind, entry.text, entry.parent) for entry in told[1:]] == [
        (EntryKind.SUMMARY, "The lamp went out.", None)
    ]


def test_a_folder_above_memory_and_a_file_in_it_name_the_same(tmp_path: Path) -> None:
    root = written(
        tmp_path,
        memory__chunks__a_chunk_001=["one"],
        memory__chunks__b_chunk_001=["two"],
        memory__a_index={"title": "A", "novel_id": "真名"},
    )
    assert holds_chunks(root)
    assert len(list(read_chunks(root))) == 2
    (only,) = read_chunks(root / "memory/chunks/a_chunk_001.json")
    assert isinstance(only, ImportRecord)
    assert (only.conversation, only.title) == ("真名", "A")


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        ("[{", "it is not JSON"),
        ({"version": 1}, "it contains no list of messages"),
        ([{"role": "user"}], "message 1: it has no text"),
        ([{"content": "a"}, 7], "message 2 is not an object"),
        ([{"content": 7}], "message 1: its text is not a string"),
    ],
)
def test_a_bad_file_names_itself_and_nothing_is_imported(
    cold: ColdStore, tmp_path: Path, bad: Any, problem: str
) -> None:
    written(tmp_path, chunks__a_chunk_001=["good"], chunks__b_chunk_001=bad)
    with pytest.raises(BadChunkFile, match=problem) as caught:
        stored(cold, read_chunks(tmp_path))
    assert "b_chunk_001.json" in caught.value.message
    assert cold.conversations() == []


def test_a_file_larger_than_a_conversation_may_be_is_refused(cold: ColdStore, tmp_path: Path) -> None:
    written(tmp_path, chunks__a_chunk_001=["x" * 5000])
    with pytest.raises(BadChunkFile, match="is larger than"):
        stored(cold, read_chunks(tmp_path, ImportSettings(conversation_mb=0.001)))


def test_on_the_command_line(run: Run, tmp_path: Path) -> None:
    folder = written(tmp_path / "memory", chunks__n_chunk_001=[{"role": "user", "content": "the brass key"}])
    assert run("import", str(folder)).out == "1 entry in 1 conversation imported from “chunks”.\n"
    out = tmp_path / "out"
    assert run("export", "--to", "chunks").status == 2
    exported = run("export", "--to", "chunks", "--dir", str(out))
    assert exported.status == 0
    assert exported.out.strip() == str(out / "chunks-n_index.json")
    assert "already exists" in run("export", "--to", "chunks", "--dir", str(out)).err
    assert "1 was already stored" in run("import", str(out), "--from", "chunks").out
    (folder / "chunks/n_chunk_002.json").write_text("[")
    refused = run("import", str(folder), "--json")
    assert refused.status == 1
    assert "n_chunk_002.json" in refused.json["error"]["message"]
