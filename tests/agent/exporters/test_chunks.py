"""Chunks: whatever a store holds, importing its chunks elsewhere gives the same entries, and summaries as derived."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.chunk_export import write_chunks
from agent.exporters import jsonl_objects
from agent.importers.chunks import read_chunks
from agent.importers.store import store_all
from foundation.paths import Workspace
from foundation.privacy import Cleared, ClearedFields
from memory.memory import Memory
from memory.records import CHUNK_ENTRIES, EntryDraft, EntryKind
from memory.search import Query
from memory.turn_summaries import TURNS, covered_ids
from models.messages import Role
from tests.agent.exporters.test_round_trip import NODE, as_restored
from tests.examples import examples
from tests.fakes import FakeClock

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long


@settings(max_examples=examples(8), deadline=None)
@given(st.lists(NODE, min_size=1, max_size=12), st.text(max_size=20))
def test_chunks_imported_elsewhere_give_the_same_entries(nodes: list[Any], title: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        out.mkdir()
        first = Memory.open(Workspace(Path(folder) / "a"), FakeClock())
        second = Memory.open(Workspace(Path(folder) / "b"), FakeClock())
        try:
            conversation = first.cold.new_conversation(Cleared(title))
            seqs: list[int] = []
            for text, kind, role, above, meta in nodes:
                first.cold.clock.advance(0.5)
                parent = seqs[int(above * (len(seqs) - 1))] if seqs else None
                draft = EntryDraft(
                    conversation=conversation.seq, parent=parent, kind=kind, role=role, text=Cleared(text), meta=meta
                )
                seqs.append(first.cold.append(draft).seq)
            exported = list(jsonl_objects(first, first.cold.conversation_at(conversation.seq)))
            index = write_chunks(first, first.cold.conversation_at(conversation.seq), out)
            store_all(second.conversations, read_chunks(index), source="other", fixed_source=False)
            restored = list(jsonl_objects(second, second.cold.conversation(conversation.id)))
            assert restored == [as_restored(line) for line in exported]
        finally:
            first.close()
            second.close()


@pytest.fixture
def told(tmp_path: Path, clock: FakeClock) -> Any:
    """A conversation of more entries than a chunk holds, with a summary beside its branch."""
    memory = Memory.open(Workspace(tmp_path / "w"), clock)
    conversation = memory.conversations.new(Cleared("Novel"))
    parent = None
    for number in range(CHUNK_ENTRIES + 5):
        draft = EntryDraft(
            conversation=conversation.seq,
            parent=parent,
            kind=EntryKind.MESSAGE,
            role=Role.USER,
            text=Cleared(f"the lantern number {number} burned"),
            id=Cleared(f"m{number}"),
        )
        parent = memory.conversations.append(draft).seq
    memory.conversations.append(
        EntryDraft(
            conversation=conversation.seq,
            parent=None,
            kind=EntryKind.SUMMARY,
            role=Role.USER,
            text=Cleared("Zephyrine lanterns burned."),
            id=Cleared("s1"),
            meta=ClearedFields({TURNS: ["m0", "m9"]}),
            beside=True,
        )
    )
    yield memory, memory.conversations.at(conversation.seq)
    memory.close()


def test_the_files_have_the_names_and_fields_of_such_programs(told: Any, tmp_path: Path) -> None:
    memory, conversation = told
    out = tmp_path / "out"
    out.mkdir()
    index = json.loads(write_chunks(memory, conversation, out).read_text())
    name = conversation.id
    assert {path.relative_to(out).as_posix() for path in out.rglob("*.json")} == {
        f"chunks/{name}_chunk_001.json",
        f"chunks/{name}_chunk_002.json",
        f"summaries/{name}_summary_001.json",
        f"{name}_index.json",
    }
    assert (index["total_messages"], index["chunk_count"], index["summary_count"]) == (CHUNK_ENTRIES + 5, 2, 1)
    chunk = json.loads((out / index["chunks"][1]["file"]).read_text())
    assert chunk["messages"][0]["content"] == f"the lantern number {CHUNK_ENTRIES} burned"
    assert chunk["messages"][0].keys() >= {"id", "timestamp", "role", "content"}


def test_a_summary_comes_back_as_derived_and_moves_no_leaf(told: Any, tmp_path: Path, clock: FakeClock) -> None:
    memory, conversation = told
    out = tmp_path / "out"
    out.mkdir()
    write_chunks(memory, conversation, out)
    other = Memory.open(Workspace(tmp_path / "other"), clock)
    try:
        store_all(other.conversations, read_chunks(out), source="x", fixed_source=False)
        there = other.conversations.find(conversation.id)
        summary = other.conversations.find_entry("s1")
        assert summary.kind is EntryKind.SUMMARY
        assert summary.text == "Zephyrine lanterns burned."
        assert covered_ids(summary) == ("m0", "m9")
        assert summary.parent is None
        assert there.leaf is not None
        assert other.conversations.entry(there.leaf).id == f"m{CHUNK_ENTRIES + 4}"
        assert other.search.query(Query(text="lantern number 7")).total > 0
        assert all(hit.id != "s1" for hit in other.search.query(Query(text="Zephyrine lanterns")).hits)
    finally:
        other.close()


def test_importing_again_adds_nothing(told: Any, tmp_path: Path) -> None:
    memory, conversation = told
    out = tmp_path / "out"
    out.mkdir()
    write_chunks(memory, conversation, out)
    report = store_all(memory.conversations, read_chunks(out), source="x", fixed_source=False)
    assert (report.entries, report.already) == (0, CHUNK_ENTRIES + 6)
    assert memory.conversations.at(conversation.seq).leaf == conversation.leaf


def test_chunks_hold_readable_characters_and_escape_the_unseen(tmp_path: Path, clock: FakeClock) -> None:
    memory = Memory.open(Workspace(tmp_path / "w"), clock)
    conversation = memory.conversations.new(Cleared("长夜将明"))
    text = "沈砚推开门，𠮷 🎉\u202e\x85\x7f"
    memory.conversations.append(
        EntryDraft(
            conversation=conversation.seq, parent=None, kind=EntryKind.MESSAGE, role=Role.USER, text=Cleared(text)
        )
    )
    out = tmp_path / "out"
    out.mkdir()
    write_chunks(memory, memory.conversations.at(conversation.seq), out)
    memory.close()
    (file,) = (out / "chunks").iterdir()
    written = file.read_text("utf-8")
    assert "沈砚推开门，𠮷 🎉" in written
    assert not {"\u202e", "\x85", "\x7f"} & set(written)
    assert json.loads(written)["messages"][0]["content"] == text
