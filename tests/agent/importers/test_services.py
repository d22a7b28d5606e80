"""Exports of ChatGPT and Claude: branches, hidden messages, attachments, retries."""

from agent.importers.chatgpt import read_chatgpt
from agent.importers.claude import read_claude
from agent.importers.record import ImportRecord
from agent.importers.skipped import Skipped, SkipReason
from foundation.privacy import clear
from memory.cold import ColdStore
from memory.records import EntryDraft, EntryKind
from models.messages import Role
from tests.agent.importers.exports import BRANCHED, CLAUDE, node
from tests.agent.importers.stored import branch, stored


def test_a_chatgpt_conversation_keeps_its_branches_and_its_place(cold: ColdStore) -> None:
    imported = stored(cold, read_chatgpt([BRANCHED]), source="chatgpt")
    assert imported.entries == 5
    assert [entry.text for entry in branch(cold, "abc")] == ["Where to?", "Oslo\n[image]"]
    question = cold.find("q")
    assert [child.text for child in cold.children(question.seq)] == ["Rome", "Oslo\n[image]"]
    assert [child.text for child in cold.children(cold.find("a1").seq)] == ["Thanks"]
    assert cold.find("a2").meta == {"model": "gpt-4o"}
    assert cold.find("lost").parent is None
    assert stored(cold, read_chatgpt([BRANCHED]), source="chatgpt").entries == 0


def test_an_import_that_was_cut_off_is_finished_by_the_next(cold: ColdStore) -> None:
    whole = list(read_chatgpt([BRANCHED]))
    stored(cold, [read for read in whole if isinstance(read, ImportRecord)], source="chatgpt")  # its leaf never came
    assert [entry.id for entry in branch(cold, "abc")] != ["q", "a2"]
    stored(cold, whole, source="chatgpt")
    assert [entry.id for entry in branch(cold, "abc")] == ["q", "a2"]


def test_a_conversation_that_a_person_went_on_with_stays_where_they_are(cold: ColdStore) -> None:
    stored(cold, read_chatgpt([BRANCHED]), source="chatgpt")
    conversation = cold.conversation("abc")
    mine = EntryDraft(
        conversation=conversation.seq,
        parent=cold.find("a1").seq,
        kind=EntryKind.MESSAGE,
        role=Role.USER,
        text=clear("Rome, then"),
    )
    cold.append(mine)
    stored(cold, read_chatgpt([BRANCHED]), source="chatgpt")
    assert [entry.text for entry in branch(cold, "abc")] == ["Where to?", "Rome", "Rome, then"]


def test_odd_nulls_and_rings_in_an_export_lose_only_themselves(cold: ColdStore) -> None:
    ring = {
        "mapping": {
            "a": node("b", ["b"], parts=["one"]),
            "b": node("a", ["a"], parts=["two", None, 3]),
            "c": {"message": {"author": None, "content": None, "metadata": None}},
            "d": None,
            "e": {"message": {"content": {"parts": ["three"]}}, "children": None},
        },
        "title": None,
        "current_node": None,
    }
    imported = stored(cold, read_chatgpt([ring, None, {"mapping": []}, {}]), source="chatgpt")
    assert imported.entries == 3
    assert imported.bad_count == 3


def test_hidden_messages_and_thoughts_are_not_conversation() -> None:
    found = {
        "id": "x",
        "mapping": {
            "a": node(None, ["b"], metadata={"is_visually_hidden_from_conversation": True}),
            "b": node("a", [], content={"content_type": "thoughts", "thoughts": [{"content": "hm"}]}),
        },
    }
    skipped = [record for record in read_chatgpt([found]) if isinstance(record, Skipped)]
    assert [(record.kind, record.reason) for record in skipped] == [
        ("text", SkipReason.METADATA),
        ("thoughts", SkipReason.REASONING),
    ]
    assert len(list(read_chatgpt([found]))) == len(skipped)


def test_a_deep_conversation_is_no_recursion(cold: ColdStore) -> None:
    chain = {str(n): node(str(n - 1) if n else None, [str(n + 1)], parts=[f"m{n}"]) for n in range(3000)}
    imported = stored(cold, read_chatgpt([{"id": "deep", "mapping": chain, "current_node": "2999"}]), source="chatgpt")
    assert imported.entries == 3000
    assert len(branch(cold, "deep")) == 3000


def test_a_claude_conversation_keeps_blocks_attachments_and_retries(cold: ColdStore) -> None:
    imported = stored(cold, read_claude([CLAUDE, {"uuid": "u2"}, 3]), source="claude")
    assert imported.entries == 3
    assert imported.bad_count == 3
    question = cold.find("m1")
    assert question.text == "When to sow?\n\n[attachment: n.txt]\nnotes"
    assert [child.text for child in cold.children(question.seq)] == ["In May.", "In June."]
    assert cold.conversation("u1").title == "Garden"


def test_an_older_claude_export_without_parents_is_a_line(cold: ColdStore) -> None:
    told = [{"uuid": f"m{n}", "sender": "human", "text": f"t{n}"} for n in range(3)]
    stored(cold, read_claude([{"uuid": "u", "name": "", "chat_messages": told}]), source="claude")
    assert [entry.text for entry in branch(cold, "u")] == ["t0", "t1", "t2"]
