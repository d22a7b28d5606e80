"""Session files of Claude Code and Codex: messages, tool calls with their results, subagents and forks."""

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agent.importers.claude_code import AGENT, read_claude_code
from agent.importers.codex import read_codex
from agent.importers.formats import detect, read_file
from agent.importers.record import BadRecord
from agent.importers.skipped import SkipReason
from memory.cold import ColdStore
from memory.origin import UNTRUSTED
from memory.records import EntryKind
from memory.tool_calls import tool_calls
from models.messages import Role
from tests.agent.importers.stored import branch, lines, stored

AT = "2026-03-01T10:00:00.000Z"


def event(kind: str, uuid: str, parent: str | None, content: Any, **more: Any) -> dict[str, Any]:
    role = {"role": kind, "content": content} | more.pop("message", {})
    base = {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s-1", "timestamp": AT, "isSidechain": False}
    return base | {"message": role} | more


def use(id_: str, name: str, **arguments: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id_, "name": name, "input": arguments}


def result(id_: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id_, "content": content} | more


ANSWER = {"message": {"id": "msg_1", "model": "claude-x"}}
CLAUDE_CODE = [
    {"type": "file-history-snapshot", "messageId": "m"},
    event("user", "0", None, "Caveat: generated", isMeta=True),
    event("user", "00", "0", "<command-name>/clear</command-name>"),
    event("user", "1", "00", "Why does the 锅炉 test fail?\nIt did not before."),
    event("assistant", "2", "1", [{"type": "thinking", "thinking": "hm"}], **ANSWER),
    event("assistant", "3", "2", [{"type": "text", "text": "I look."}], **ANSWER),
    event("assistant", "4", "3", [use("t1", "Bash", command="pytest")], **ANSWER),
    event("assistant", "5", "4", [use("t2", "WebFetch", url="https://example.org")], **ANSWER),
    event("user", "6", "4", [result("t1", [{"type": "text", "text": "1 failed"}], is_error=True)]),
    event("user", "7", "5", [result("t2", "a page")]),
    event("assistant", "side", "7", [{"type": "text", "text": "of a subagent"}], isSidechain=True),
    {"type": "system", "uuid": "8", "parentUuid": "7", "sessionId": "s-1"},
    event("assistant", "9", "8", [{"type": "text", "text": "It is the valve."}], message={"id": "msg_2"}),
]


def test_a_session_of_claude_code_keeps_its_calls_and_results(cold: ColdStore) -> None:
    report = stored(cold, read_claude_code(lines(*CLAUDE_CODE), "file"), source="claude-code")
    assert (report.entries, report.bad_count) == (6, 0)
    assert cold.find("side").parent == cold.find("7").seq, "a subagent is a branch"
    entries = branch(cold, "s-1")
    assert [(entry.role, entry.text) for entry in entries] == [
        (Role.USER, "Why does the 锅炉 test fail?\nIt did not before."),
        (Role.ASSISTANT, "I look."),
        (Role.TOOL, "1 failed"),
        (Role.TOOL, "a page"),
        (Role.ASSISTANT, "It is the valve."),
    ]
    assert cold.conversation("s-1").title == "Why does the 锅炉 test fail?"
    assert [(call.id, call.name) for call in tool_calls(entries[1])] == [("t1", "Bash"), ("t2", "WebFetch")]
    failed, fetched = entries[2:4]
    assert failed.kind is EntryKind.TOOL_RESULT and failed.speaker == "Bash"
    assert failed.meta["failed"] is True and UNTRUSTED not in failed.meta
    assert fetched.meta[UNTRUSTED] == "WebFetch"
    assert stored(cold, read_claude_code(lines(*CLAUDE_CODE), "file"), source="claude-code").entries == 0


def test_an_edited_message_is_a_branch(cold: ColdStore) -> None:
    again = event("user", "1b", "00", "Asked otherwise")
    stored(cold, read_claude_code(lines(*CLAUDE_CODE, again), "file"), source="claude-code")
    assert cold.find("1b").parent is None
    assert cold.find("9").parent == cold.find("7").seq


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return {"timestamp": AT, "type": "response_item", "payload": {"type": kind} | fields}


CODEX = [
    {"timestamp": AT, "type": "session_meta", "payload": {"id": "c-1", "cwd": "/p", "instructions": None}},
    item(
        "message", role="user", content=[{"type": "input_text", "text": "<environment_context>x</environment_context>"}]
    ),
    item("message", role="user", content=[{"type": "input_text", "text": "Fix the pump"}]),
    {"timestamp": AT, "type": "event_msg", "payload": {"type": "user_message", "message": "Fix the pump"}},
    item("reasoning", summary=[], encrypted_content="x"),
    item("function_call", name="shell", arguments='{"command":["ls"]}', call_id="k1"),
    item("function_call_output", call_id="k1", output='{"output":"gone","metadata":{"exit_code":2}}'),
    item("message", role="assistant", content=[{"type": "output_text", "text": "I patch it."}]),
    item("custom_tool_call", name="apply_patch", input="*** Begin", call_id="k2"),
    item("custom_tool_call_output", call_id="k2", output="Success"),
    item("message", role="assistant", content=[{"type": "output_text", "text": "Done."}]),
]


def test_a_session_of_codex_keeps_its_calls_and_results(cold: ColdStore) -> None:
    report = stored(cold, read_codex(lines(*CODEX), "file"), source="codex")
    assert (report.entries, report.bad_count) == (6, 0)
    entries = branch(cold, "c-1")
    assert [(entry.role, entry.text) for entry in entries] == [
        (Role.USER, "Fix the pump"),
        (Role.ASSISTANT, ""),
        (Role.TOOL, "gone"),
        (Role.ASSISTANT, "I patch it."),
        (Role.TOOL, "Success"),
        (Role.ASSISTANT, "Done."),
    ]
    assert entries[2].meta["failed"] is True and entries[4].meta["failed"] is False
    assert tool_calls(entries[3])[0].arguments == '{"input": "*** Begin"}'
    assert cold.conversation("c-1").title == "Fix the pump"
    assert stored(cold, read_codex(lines(*CODEX), "file"), source="codex").entries == 0


def test_an_agent_file_is_a_branch_of_its_session(cold: ColdStore) -> None:
    """It is imported before the session's file or after it, and is never the branch that goes on."""
    agent = [
        event("user", "x1", None, "Look for pumps", isSidechain=True, agentId="a1"),
        event("assistant", "x2", "x1", [{"type": "text", "text": "Two pumps."}], isSidechain=True, agentId="a1"),
    ]
    stored(cold, read_claude_code(lines(*agent), "agent-a1"), source="claude-code")
    assert cold.conversation("s-1").leaf is None
    stored(cold, read_claude_code(lines(*CLAUDE_CODE), "s-1"), source="claude-code")
    stored(cold, read_claude_code(lines(*agent), "agent-a1"), source="claude-code")
    conversation = cold.conversation("s-1")
    assert conversation.title == "Why does the 锅炉 test fail?"
    assert conversation.leaf == cold.find("9").seq
    assert cold.find("x1").speaker == AGENT and cold.find("x2").parent == cold.find("x1").seq


def fork(at: str = "2026-03-02T08:00:00.000Z") -> list[dict[str, Any]]:
    """Its own header, the header of CODEX, the events of CODEX with new times, and a turn of its own."""
    own = {"timestamp": at, "type": "session_meta", "payload": {"id": "c-2", "forked_from_id": "c-1", "cwd": "/p"}}
    asked = item("message", role="user", content=[{"type": "input_text", "text": "And the south tank?"}])
    answered = item("message", role="assistant", content=[{"type": "output_text", "text": "Done."}])
    later = {"timestamp": at.replace("08:00", "08:01")}
    return [own, *(line | {"timestamp": at} for line in CODEX), asked | later, answered | later]


def test_a_forked_session_of_codex_has_its_own_turns_once(cold: ColdStore) -> None:
    stored(cold, read_codex(lines(*CODEX), "file"), source="codex")
    for expected in (2, 0):
        report = stored(cold, read_codex(lines(*fork()), "fork"), source="codex")
        assert report.entries == expected
        repeated = [kind for kind in report.skipped if (kind.kind, kind.reason) == ("message", SkipReason.REPEATED)]
        assert repeated[0].count == 4 and repeated[0].location == "line 4"
    assert [entry.text for entry in branch(cold, "c-2")] == ["And the south tank?", "Done."]
    assert len(branch(cold, "c-1")) == 6
    assert cold.conversation("c-2").title == "Fix the pump"


def test_a_fork_whose_parent_is_not_here_keeps_all(cold: ColdStore) -> None:
    assert stored(cold, read_codex(lines(*fork()), "fork"), source="codex").entries == 8
    assert len(branch(cold, "c-2")) == 8


def test_a_local_shell_call_keeps_its_output(cold: ColdStore) -> None:
    action = {"type": "exec", "command": ["cat", "kiln.py"]}
    calls = [
        item("local_shell_call", call_id="k3", status="completed", action=action),
        item("function_call_output", call_id="k3", output="CONE = 6"),
    ]
    stored(cold, read_codex(lines(CODEX[0], *calls), "file"), source="codex")
    call, output = branch(cold, "c-1")
    assert [(each.name, json.loads(each.arguments)) for each in tool_calls(call)] == [("local_shell", action)]
    assert (output.text, output.speaker) == ("CONE = 6", "local_shell")


def test_a_message_that_is_a_picture_has_its_name_and_size(cold: ColdStore) -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGFsbG8="}}
    named = {"type": "document", "title": "soil.pdf", "source": {"type": "base64", "data": "aGFsbG8="}}
    stored(cold, read_claude_code(lines(event("user", "1", None, [picture, named])), "file"))
    assert branch(cold, "s-1")[0].text == "[picture: image/png, 0.0 kB]\n[file: soil.pdf, 0.0 kB]"


def test_the_format_is_detected_and_a_bad_line_is_reported(tmp_path: Path) -> None:
    for name, values in (("claude-code", CLAUDE_CODE), ("codex", CODEX)):
        path = tmp_path / f"{name}.jsonl"
        path.write_bytes(b"".join(lines(*values)) + b'{"type": "user", "half\n')
        assert detect(path) == name
        bad = [read for read in read_file(path, None) if isinstance(read, BadRecord)]
        assert [read.location for read in bad] == [f"line {len(values) + 1}"]
    plain = tmp_path / "plain.jsonl"
    plain.write_bytes(b"".join(lines({"text": "a"}, *CODEX)))
    assert detect(plain) == "jsonl"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "id", "text", "content"]), inner)
    ),
    max_leaves=8,
)


KEYS = ["type", "uuid", "parentUuid", "message", "payload", "content", "operation", "attachment", "subtype", "origin"]


@given(st.lists(st.dictionaries(st.sampled_from(KEYS), JSON), max_size=5))
def test_no_value_of_json_breaks_a_reader(values: list[dict[str, Any]]) -> None:
    kinds = (
        "user",
        "assistant",
        "response_item",
        "session_meta",
        "attachment",
        "queue-operation",
        "event_msg",
        "system",
    )
    shaped = [value | {"type": kind, "uuid": str(number)} for number, value in enumerate(values) for kind in kinds]
    raw = [json.dumps(value).encode() + b"\n" for value in [*values, *shaped]]
    list(read_claude_code(raw, "x"))
    list(read_codex(raw, "x"))
