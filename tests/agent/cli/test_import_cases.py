"""Session files that users reported: what they typed is found, and what is left out is counted."""

import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.agent.conftest import Run
from tests.agent.importers.stored import lines

pytestmark = pytest.mark.timeout(60)

SESSION = "11111111-2222-4333-8444-555555555555"
AT = "2026-09-08T10:00:0"


def event(uuid: str, parent: str | None, kind: str, second: int, **more: Any) -> dict[str, Any]:
    base = {"uuid": uuid, "parentUuid": parent, "type": kind, "sessionId": SESSION, "timestamp": f"{AT}{second}.000Z"}
    return base | {"isSidechain": False, "cwd": "/w", "version": "2.1.250"} | more


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def said(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def answered(*content: Any) -> dict[str, Any]:
    return {"id": f"m{len(content)}", "role": "assistant", "model": "x", "content": list(content)}


def put(path: Path, *events: Any) -> str:
    path.write_bytes(b"".join(lines(*events)))
    return str(path)


def branch_of(run: Run, conversation: str) -> list[tuple[str, str]]:
    shown = run("conversations", "show", conversation, "--json").json["entries"]
    return [(entry["role"], entry["text"]) for entry in shown]


def test_messages_typed_while_claude_code_works(run: Run, root: Path, tmp_path: Path) -> None:
    queued = {"timestamp": f"{AT}5.000Z", "type": "queue-operation", "sessionId": SESSION}
    kilograms = {"content": "Use kilograms, never pounds"}
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "sort w.csv"}}
    plums = {"type": "queued_command", "prompt": "Also leave the plums out", "commandMode": "prompt"}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "done"}
    file = put(
        tmp_path / f"{SESSION}.jsonl",
        event("u1", None, "user", 0, message=said("Sort the harvest table by weight")),
        event("a1", "u1", "assistant", 4, message=answered(call)),
        queued | kilograms | {"operation": "enqueue"},
        event("r1", "a1", "user", 6, message=said([result])),
        queued | kilograms | {"operation": "remove", "reason": "absorbed_mid_turn"},
        event("q1", "r1", "attachment", 7, attachment=plums),
        event("a2", "q1", "assistant", 9, message=answered(text("Sorted."), text("In kilograms."))),
    )
    imported = run("import", file, "--json").json
    assert imported["entries"] == 6
    assert branch_of(run, SESSION) == [
        ("user", "Sort the harvest table by weight"),
        ("assistant", ""),
        ("tool", "done"),
        ("user", "Use kilograms, never pounds"),
        ("user", "Also leave the plums out"),
        ("assistant", "Sorted.\n\nIn kilograms."),
    ]
    assert run("import", file, "--json").json["entries"] == 0


def test_words_beside_the_tags_of_claude_code(run: Run, root: Path, tmp_path: Path) -> None:
    opened = "<ide_opened_file>The user opened the file /w/beans.py in the IDE.</ide_opened_file>"
    reminder = "<system-reminder>\nThe date has changed.\n</system-reminder>"
    command = "<command-message>review</command-message>\n<command-name>/review</command-name>\n"
    for content, words in (
        ([text(opened), text("Rename the field to humidity")], "Rename the field to humidity"),
        ([text(reminder), text("Plant the quinces in the west row")], "Plant the quinces in the west row"),
        (
            f"{command}<command-args>look at the valve timing first</command-args>",
            "/review look at the valve timing first",
        ),
        (f"{reminder}\nOpen the sluice at dawn", "Open the sluice at dawn"),
    ):
        session = f"s-{words.split()[-1]}"
        first = event("u1", None, "user", 0, message=said(content)) | {"sessionId": session}
        answer = event("a1", "u1", "assistant", 4, message=answered(text("Done that."))) | {"sessionId": session}
        done = run("import", put(tmp_path / "s.jsonl", first, answer))
        assert "Not imported: " in done.out and "metadata (<" in done.out, done.out
        assert branch_of(run, session) == [("user", words), ("assistant", "Done that.")]
        titles = {each["id"]: each["title"] for each in run("conversations", "list", "--json").json["conversations"]}
        assert titles[session] == words


def test_an_editor_s_context_and_the_app_s_messages_in_codex(run: Run, root: Path, tmp_path: Path) -> None:
    def line(kind: str, **payload: Any) -> dict[str, Any]:
        return {"timestamp": f"{AT}1.000Z", "type": kind, "payload": payload}

    def message(*texts: str) -> dict[str, Any]:
        return line(
            "response_item", type="message", role="user", content=[{"type": "input_text", "text": t} for t in texts]
        )

    wrapped = "# Context from my IDE setup:\n\n## Active file: kiln.py\n\n## Open tabs:\n- kiln.py: kiln.py\n\n"
    file = put(
        tmp_path / "r.jsonl",
        line("session_meta", id="cccc-ide", cwd="/w"),
        message(f"{wrapped}## My request for Codex:\nRaise the bisque temperature to cone four"),
        message("<turn_aborted>\nThe user interrupted the previous turn.\n</turn_aborted>"),
        message("<skill>\n<name>glaze</name>\nLong text of a skill file about celadon.\n</skill>"),
        line(
            "response_item",
            type="local_shell_call",
            call_id="s1",
            action={"type": "exec", "command": ["cat", "kiln.py"]},
        ),
        line("response_item", type="function_call_output", call_id="s1", output="CONE = 6"),
        message("<environment_context>\n  <cwd>/w</cwd>\n</environment_context>", "Also check the damper"),
        line("response_item", type="hologram", data="x"),
    )
    imported = run("import", file, "--json").json
    assert branch_of(run, "cccc-ide") == [
        ("user", "Raise the bisque temperature to cone four"),
        ("assistant", ""),
        ("tool", "CONE = 6"),
        ("user", "Also check the damper"),
    ]
    skipped = {(each["kind"], each["reason"]): each["count"] for each in imported["skipped"]}
    tags = {(f"<{tag}>", "metadata"): 1 for tag in ("turn_aborted", "skill", "environment_context")}
    assert skipped == tags | {
        ("session_meta", "metadata"): 1,
        ("IDE context", "metadata"): 1,
        ("hologram", "unknown"): 1,
    }
    assert "1 unknown (hologram 1, first at line 8)" in run("import", file).out


def searched(run: Run, query: str) -> list[dict[str, Any]]:
    return run("search", query, "--json").json["hits"]


def test_documents_and_files_of_a_claude_export(run: Run, root: Path, tmp_path: Path) -> None:
    artifact = {"id": "plan", "type": "text/markdown", "title": "Pruning plan", "command": "create"}
    artifact["content"] = "# Pruning plan\nCut the medlar back to eleven spurs in February."
    rota = {"path": "/mnt/user-data/outputs/rota.md", "file_text": "Watering rota: Tuesdays the figs."}
    paste = {"file_name": "paste.txt", "extracted_content": "The well gives forty litres an hour."}
    contents: list[tuple[str, list[Any], dict[str, Any]]] = [
        ("human", [text("Write the pruning plan")], {}),
        (
            "assistant",
            [text("Here it is."), {"type": "tool_use", "name": "artifacts", "input": artifact}, text("Add dates?")],
            {},
        ),
        ("human", [], {"files": [{"file_name": "soil-2026.pdf"}]}),
        ("human", [text("")], {"attachments": [paste]}),
        ("assistant", [{"type": "tool_use", "name": "create_file", "input": rota}], {}),
    ]
    messages = [
        {"uuid": f"m{number}", "sender": sender, "text": "", "content": blocks, "created_at": f"{AT}{number}Z"} | more
        for number, (sender, blocks, more) in enumerate(contents)
    ]
    export = tmp_path / "data-2026.zip"
    docs = [{"filename": "layout.md", "content": "Row nine holds the mulberries."}]
    project = {"name": "Orchard", "prompt_template": "Always answer in metres.", "docs": docs}
    with zipfile.ZipFile(export, "w") as archive:
        talk = {"uuid": "c-1", "name": "Orchard plan", "chat_messages": messages}
        archive.writestr("conversations.json", json.dumps([talk]))
        archive.writestr("users.json", "[]")
        archive.writestr("projects.json", json.dumps([project]))
        archive.writestr("memories.json", json.dumps([{"conversations_memory": "She keeps bees on the east slope."}]))
    imported = run("import", str(export))
    assert imported.status == 0 and "5 entries" in imported.out
    assert "projects.json 1" in imported.out and "memories.json 1" in imported.out
    assert branch_of(run, "c-1") == [
        ("user", "Write the pruning plan"),
        ("assistant", f"Here it is.\n\n[artifact: Pruning plan]\n{artifact['content']}\n\nAdd dates?"),
        ("user", "[file: soil-2026.pdf]"),
        ("user", "[attachment: paste.txt]\nThe well gives forty litres an hour."),
        ("assistant", "[file: /mnt/user-data/outputs/rota.md]\nWatering rota: Tuesdays the figs."),
    ]
    for query in ("medlar eleven spurs", "forty litres", "soil-2026.pdf", "watering rota figs"):
        assert searched(run, query), query
    assert "--knowledge" in imported.out and not run("knowledge", "list", "--json").json["memories"]
    again = run("import", str(export), "--knowledge", "--json")
    assert (again.status, again.json["already"], again.json["knowledge"]) == (0, 5, 3)
    for query in ("mulberries row nine", "bees east slope", "answer in metres"):
        assert searched(run, query), query
    run("import", str(export), "--knowledge")
    assert len(run("knowledge", "list", "--json").json["memories"]) == 3, "the same text is the same file"


def node(id_: str, parent: str | None, role: str, words: str, **more: Any) -> dict[str, Any]:
    message = {"author": {"role": role}, "content": {"content_type": "text", "parts": [words]}, "create_time": None}
    return {"id": id_, "parent": parent, "children": [], "message": message | more}


def test_a_chatgpt_export_without_dates_and_with_a_canvas(run: Run, root: Path, tmp_path: Path) -> None:
    undated = {
        "title": "Tide tables",
        "create_time": None,
        "conversation_id": "g-1",
        "current_node": "n2",
        "mapping": {
            "n1": node("n1", None, "user", "When is high water at the quay?") | {"children": ["n2"]},
            "n2": node("n2", "n1", "assistant", "At ten past six."),
        },
    }
    content = {"name": "Log", "type": "document", "content": "Sighted two porpoises off the headland."}
    code = {"content_type": "code", "language": "json", "text": json.dumps(content)}
    written = node("k2", "k1", "assistant", "", recipient="canmore.create_textdoc", content=code)
    tool = {"role": "tool", "name": "canmore.create_textdoc"}
    answer = node("k3", "k2", "tool", "Successfully created text document", author=tool)
    canvas = {
        "title": "Canvas",
        "create_time": 1780000000.0,
        "conversation_id": "g-2",
        "current_node": "k3",
        "mapping": {
            "k1": node("k1", None, "user", "Draft the logbook entry") | {"children": ["k2"]},
            "k2": written | {"children": ["k3"]},
            "k3": answer,
        },
    }
    export = tmp_path / "conversations.json"
    export.write_text(json.dumps([undated, canvas]))
    assert run("import", str(export)).status == 0
    assert branch_of(run, "g-2") == [
        ("user", "Draft the logbook entry"),
        ("assistant", "[canvas: Log]\nSighted two porpoises off the headland."),
    ]
    today = datetime.now(UTC).strftime("%Y-%m-%d")
    hits = {hit["entry"]: hit for hit in searched(run, "high water at the quay")}
    assert hits["n1"]["time"] is None and today not in hits["n1"]["citation"]
    assert searched(run, "porpoises off the headland")[0]["time"].startswith("2026-05-28")
    assert today not in run("search", "high water at the quay").out
    markdown = run("export", "g-1", "--to", "markdown").out
    assert "high water" in markdown and f"user · {today}" not in markdown
