"""The place of messages that Claude Code queued, in the conversation."""

from agent.importers.record import ImportRecord
from tests.agent.importers.test_words_once import ClaudeCode, check_chain, records_of, text


def test_words_that_a_queue_alone_has_stand_at_their_place() -> None:
    made = ClaudeCode(0)
    made.user(made.words())
    made.answer({"type": "tool_use", "id": "t", "name": "Bash", "input": {}})
    made.queue("enqueue", content="Use kilograms")
    made.user([{"type": "tool_result", "tool_use_id": "t", "content": "done"}])
    made.queue("remove", content="Use kilograms", reason="absorbed_mid_turn")
    made.answer(text("Sorted."))
    made.queue("enqueue", content="Never sent")
    records = [record for record in records_of(made) if isinstance(record, ImportRecord)]
    assert [record.text for record in records[1:]] == ["", "done", "Use kilograms", "Sorted.", "Never sent"]
    assert [record.parent for record in records] == ["", *[record.id for record in records[:-1]]]


def test_a_message_that_was_never_sent_comes_before_one_typed_later() -> None:
    made = ClaudeCode(0)
    made.user("Sort them")
    made.answer(text("Sorting."))
    made.queue("enqueue", content="Use kilograms")
    made.answer(text("Sorted."))
    made.user("Print them")
    made.answer(text("Printed."))
    records = [record for record in records_of(made) if isinstance(record, ImportRecord)]
    assert [record.text for record in records] == [
        "Sort them",
        "Sorting.",
        "Sorted.",
        "Use kilograms",
        "Print them",
        "Printed.",
    ]
    check_chain(records)
