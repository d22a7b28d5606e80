"""Words that stand behind the escapes of JSON, as in the arguments of tools, are chosen, taken out and looked for."""

import json
from datetime import UTC, datetime

import pytest

from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import clear, cleared_fields
from memory.forget.choice import choose_named
from memory.forget.escapes import escaped_forms, unescaped
from memory.forget.job import Forgetting
from memory.forget.plan import plan_forgetting
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from models.messages import Role
from tests.memory.forget.bytes_of import places_of

NOW = datetime(2026, 11, 1, tzinfo=UTC)
WORD = 'zqŻółw "7731"\\北'


def upper(text: str) -> str:
    return text.replace("\\u017b\\u00f3\\u0142w", "\\u017B\\u00F3\\u0142w")


ARGUMENTS = {
    "escaped": json.dumps({"path": f"{WORD}.txt"}),
    "as it is": json.dumps({"path": f"{WORD}.txt"}, ensure_ascii=False),
    "capital digits": upper(json.dumps({"path": WORD})),
    "mixed digits": json.dumps({"path": WORD}).replace("\\u017b", "\\u017B"),
    "JSON in it": json.dumps({"content": json.dumps({"code": WORD})}),
    "and in that": json.dumps({"content": json.dumps({"body": json.dumps({"code": WORD})})}),
}


def say(memory: Memory, conversation: int, text: str, arguments: str = "") -> int:
    calls = [{"id": "1", "name": "write_file", "arguments": arguments}]
    draft = EntryDraft(
        conversation=conversation,
        parent=memory.conversations.at(conversation).leaf,
        kind=EntryKind.MESSAGE,
        role=Role.ASSISTANT if arguments else Role.USER,
        text=clear(text),
        meta=cleared_fields({"tool_calls": calls} if arguments else {}),
    )
    return memory.conversations.append(draft).seq


def left_in(memory: Memory, seq: int) -> list[str]:
    """What the arguments of this entry say, however deep."""
    ((_, call),) = enumerate(memory.conversations.entry(seq).meta["tool_calls"])
    return [call["arguments"], *unescaped(call["arguments"])]


@pytest.mark.parametrize("kind", list(ARGUMENTS))
def test_words_in_tool_arguments_go(memory: Memory, workspace: Workspace, kind: str) -> None:
    talk = memory.conversations.new().seq
    seq = say(memory, talk, "I write it.", ARGUMENTS[kind])
    assert any("zqŻółw" in text for text in left_in(memory, seq))
    plan = plan_forgetting(memory, choose_named(memory, "ZQŻÓŁW"), NOW)
    assert (plan.entry_count, plan.derived_count) == (0, 1)
    forgetting = Forgetting(memory, SystemClock())
    job = forgetting.run(forgetting.begin(plan))
    assert job.receipt is not None
    assert job.receipt.found == ()
    assert not any("zq" in text for text in left_in(memory, seq))
    assert places_of(workspace.root, ["zqŻółw"]) == {}
    assert memory.conversations.entry(seq).text == "I write it."


@pytest.mark.parametrize("kind", list(ARGUMENTS))
def test_arguments_that_repeat_a_forgotten_entry_are_rewritten_and_stay_json(memory: Memory, kind: str) -> None:
    talk = memory.conversations.new().seq
    said = say(memory, talk, WORD)
    seq = say(memory, talk, "I write it.", ARGUMENTS[kind])
    forgetting = Forgetting(memory, SystemClock())
    id_ = memory.conversations.entry(said).id
    job = forgetting.run(forgetting.begin(plan_forgetting(memory, choose_named(memory, id_), NOW)))
    assert job.receipt is not None
    assert job.receipt.found == ()
    assert not any("zqŻółw" in text for text in left_in(memory, seq))
    assert "[forgotten]" in json.dumps(json.loads(left_in(memory, seq)[0]))


def test_each_form_is_read_again() -> None:
    for form in escaped_forms(WORD):
        assert WORD in unescaped(form), form
