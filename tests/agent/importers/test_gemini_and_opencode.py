"""Sessions of Gemini CLI and opencode in each form that they are stored in, with their branches and subagents."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from agent.importers.agent_sessions import AGENT, agent_format
from agent.importers.formats import detect, read_file
from agent.importers.opencode import read_opencode
from agent.importers.record import ConversationLeaf, ImportRecord, ParsedRecord
from agent.importers.skipped import Skipped
from tests.agent.importers.stored import lines
from tests.agent.importers.test_export_words_once import PROGRAMS, Gemini, OpenCode, check, gemini_tool
from tests.agent.importers.test_words_once import text


def whole(program: type[Any]) -> Any:
    made = program(0)
    for kind in PROGRAMS[program].values():
        kind(made)
    return made


def imported(path: Path, form: str) -> list[ParsedRecord]:
    assert detect(path) == form
    return list(read_file(path, None))


def test_a_session_of_gemini_in_both_forms(tmp_path: Path) -> None:
    made = whole(Gemini)
    assert agent_format(lines(*made.events)) == "gemini"
    (file := tmp_path / "session-1.jsonl").write_bytes(b"".join(lines(*made.events)))
    check(made, imported(file, "gemini"))
    made = Gemini(0)
    made.message("user", [{"text": made.words()}])
    gemini_tool(made)
    older = made.events[0] | {"messages": [made.events[1], made.events[-1]]}
    (file := tmp_path / "session-0.json").write_text(json.dumps(older, indent=2))
    check(made, imported(file, "gemini"))


def test_what_was_rewound_is_a_branch() -> None:
    made = Gemini(0)
    first = made.message("user", "One")
    made.message("gemini", "Two")
    made.events.append({"$rewindTo": made.message("user", "Three")["id"]})
    made.message("user", "Four")
    parents = {record.text: record.parent for record in made.records() if isinstance(record, ImportRecord)}
    assert parents["One"] == "" and parents["Two"] == first["id"]
    assert parents["Three"] == parents["Four"] == "i2"


def test_what_one_agent_writes_to_another_is_not_the_users() -> None:
    made = Gemini(0)
    made.events[0]["kind"] = "subagent"
    made.message("user", "Look into it")
    side = OpenCode(0)
    side.message("user", text("Look into it"))
    session = side.session()
    session["info"]["parentID"] = "ses_0"
    for records in (made.records(), list(read_opencode(session, "file"))):
        assert [record.speaker for record in records if isinstance(record, ImportRecord)] == [AGENT]


def test_what_was_undone_in_opencode_is_behind_the_leaf() -> None:
    made = OpenCode(0)
    for words in ("One", "Two", "Three"):
        made.message("user", text(words))
    session = made.session()
    session["info"]["revert"] = {"messageID": "msg_00001"}
    assert list(read_opencode(session, "file"))[-1] == ConversationLeaf("ses_1", "msg_00000")


def test_opencode_as_export_database_and_folder(tmp_path: Path) -> None:
    made = whole(OpenCode)
    session = made.session()
    (export := tmp_path / "session.json").write_text(json.dumps(session, indent=2))
    storage, database = tmp_path / "storage", tmp_path / "opencode.db"
    put(storage / "session/p/ses_1.json", session["info"])
    with closing(sqlite3.connect(database)) as db:
        db.execute("CREATE TABLE session (id, title, parent_id, revert)")
        db.execute("CREATE TABLE message (id, session_id, time_created, data)")
        db.execute("CREATE TABLE part (id, message_id, session_id, data)")
        db.execute("INSERT INTO session VALUES ('ses_1', 'Talk', NULL, NULL)")
        for message in made.events:
            id_ = message["info"]["id"]
            put(storage / f"message/ses_1/{id_}.json", message["info"])
            db.execute("INSERT INTO message VALUES (?, 'ses_1', 5, ?)", (id_, json.dumps(message["info"])))
            (storage / "part").mkdir(exist_ok=True)
            for part in message["parts"]:
                put(storage / f"part/{id_}/{part['id']}.json", part)
                db.execute("INSERT INTO part VALUES (?, ?, 'ses_1', ?)", (part["id"], id_, json.dumps(part)))
        db.execute("CREATE TABLE session_message (id, session_id, type, data)")
        db.execute("INSERT INTO session_message VALUES ('m', 'ses_1', 'user', '{}'), ('n', 'ses_2', 'user', '{}')")
        db.commit()
    newer = Skipped("table session_message", "session_message user")
    assert newer in imported(database, "opencode"), "messages that only a newer table has are counted"
    as_export = imported(export, "opencode")
    check(made, as_export)
    for path in (storage, database):
        records = imported(path, "opencode")
        check(made, records)
        assert contents(records) == contents(as_export)


def contents(records: list[ParsedRecord]) -> list[tuple[str, str | None, str]]:
    return [(record.id, record.parent, record.text) for record in records if isinstance(record, ImportRecord)]


def put(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
