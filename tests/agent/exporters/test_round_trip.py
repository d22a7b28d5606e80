"""Whatever tree of entries a store holds, importing its export elsewhere gives the same tree."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.exporters import jsonl_objects
from agent.importers.jsonl import read_jsonl
from agent.importers.store import store_all
from foundation.paths import Workspace
from foundation.privacy import Cleared
from memory.memory import Memory
from memory.records import Entry, EntryDraft, EntryKind
from models.messages import Role
from tests.examples import examples
from tests.fakes import FakeClock

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long

WORDS = st.text(max_size=40) | st.sampled_from(["", "\ud800 alone", "a\r\nb", "世界 🌱", "\x00\x1b[31m"])
META = st.dictionaries(
    st.sampled_from(["model", "call_id", "n", "imported"]), st.text(max_size=5) | st.integers(), max_size=3
)
NODE = st.tuples(
    WORDS,
    st.sampled_from([EntryKind.MESSAGE, EntryKind.TOOL_RESULT]),
    st.sampled_from(list(Role)),
    st.floats(0, 1),  # which earlier entry it answers
    META.filter(lambda meta: "imported" not in meta),
)


@settings(max_examples=examples(15), deadline=None)
@given(st.lists(NODE, min_size=1, max_size=12), st.floats(0, 1), st.text(max_size=20))
def test_an_export_imported_elsewhere_gives_the_same_tree(nodes: list[Any], leaf: float, title: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        here, there = Workspace(Path(folder) / "a"), Workspace(Path(folder) / "b")
        first = Memory.open(here, FakeClock())
        second = Memory.open(there, FakeClock())
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
            first.cold.set_leaf(conversation.seq, seqs[int(leaf * (len(seqs) - 1))])
            exported = list(jsonl_objects(first, first.cold.conversation_at(conversation.seq)))
            raw = [json.dumps(line).encode() for line in exported]
            store_all(second.conversations, read_jsonl(raw, "other"), source="other", fixed_source=False)
            moved = second.cold.conversation(conversation.id)
            assert list(jsonl_objects(second, moved)) == [as_restored(line) for line in exported]
            assert [_told(second, entry) for entry in second.cold.path(moved.leaf or 0)] == [
                _told(first, entry) for entry in first.cold.path(first.cold.conversation(conversation.id).leaf or 0)
            ]
            assert (moved.title, moved.source) == (conversation.title, "palimpsest")
        finally:
            first.close()
            second.close()


def as_restored(line: dict[str, Any]) -> dict[str, Any]:
    """The line of an entry held here, as it is exported where it was imported: that is no history of that place."""
    return line | {"palimpsest": line["palimpsest"] | {"source": "palimpsest"}}


def _told(memory: Memory, entry: Entry) -> tuple[Any, ...]:
    parent = memory.cold.entry(entry.parent).id if entry.parent else None
    return entry.id, parent, entry.kind, entry.role, entry.text, entry.time, entry.meta, entry.speaker
