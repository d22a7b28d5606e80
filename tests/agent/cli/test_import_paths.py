"""`palimpsest import` of folders, several files, patterns and names, and what it lists without an argument."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from agent.importers import chunks
from tests.agent.conftest import Run
from tests.agent.importers.exports import CLAUDE
from tests.agent.importers.stored import lines
from tests.agent.importers.test_agent_sessions import CLAUDE_CODE, CODEX

pytestmark = pytest.mark.timeout(60)

GEMINI: tuple[dict[str, Any], ...] = (
    {"sessionId": "g-1", "projectHash": "p", "startTime": "2026-03-01T10:00:00Z", "kind": "main"},
    {"id": "g1", "type": "user", "timestamp": "2026-03-01T10:00:01Z", "content": [{"text": "Prune the medlar"}]},
)
OPENCODE = {
    "info": {"id": "ses_1", "title": "Wells"},
    "messages": [{"info": {"id": "msg_1", "role": "user"}, "parts": [{"id": "p1", "type": "text", "text": "Dig it"}]}],
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    put(folder / ".claude/projects/-p/s-1.jsonl", *CLAUDE_CODE)
    put(folder / ".claude/projects/-p/sessions-index.json", {"version": 1})
    put(folder / ".codex/sessions/2026/03/01/rollout-x.jsonl", *CODEX)
    put(folder / ".gemini/tmp/project/chats/session-1.jsonl", *GEMINI)
    put(folder / ".gemini/tmp/project/logs.json", [])
    put(folder / ".local/share/opencode/storage/session/p/ses_1.json", OPENCODE["info"])
    put(folder / ".local/share/opencode/storage/message/ses_1/msg_1.json", {"id": "msg_1", "role": "user"})
    put(folder / ".local/share/opencode/storage/part/msg_1/p1.json", {"type": "text", "text": "Dig it"})
    put(folder / "Downloads/conversations.json", [CLAUDE | {"chat_messages": CLAUDE["chat_messages"][:-1]}])
    monkeypatch.setattr(Path, "home", lambda: folder)
    return folder


def put(path: Path, *values: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(lines(*values)))
    return path


def test_what_is_on_this_machine_is_listed_and_imported_by_name(run: Run, home: Path) -> None:
    names = ["claude-code", "codex", "gemini", "opencode", str(home / "Downloads/conversations.json")]
    assert [row["name"] for row in run("import", "--json").json["found"]] == names
    listed = run("import")
    assert (listed.status, all(name in listed.out for name in names)) == (0, True)
    for name, entries in zip(names, (6, 6, 1, 1, 3), strict=True):
        imported = run("import", name, "--json")
        found = (imported.status, imported.json["conversations"], imported.json["entries"])
        assert found == (0, 1, entries), imported.err


def test_the_beginning_of_a_name_is_enough_where_it_names_one(run: Run, home: Path) -> None:
    assert run("import", "claude", "--json").json["entries"] == 6
    assert "There is no file c." in run("import", "c").err, "claude-code or codex"
    assert "Not changed since they were imported: 1 file" in run("-p", "/import claude").out
    assert "nothing to import named" in run("-p", "/import c").err


def test_a_folder_that_cannot_be_read_is_named_and_the_rest_is_imported(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "all/a/s-1.jsonl", *CLAUDE_CODE)
    put(tmp_path / "all/locked/s-2.jsonl", *CODEX)
    scandir, real = os.scandir, chunks.list_files

    def refuses(path: Any = ".") -> Any:
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    def no_folder(folder: Path, *pattern: str) -> Any:
        if folder.name == "chunks" and folder.parent.name == "b":
            raise NotADirectoryError(20, "Not a directory", str(folder))
        return real(folder, *pattern)

    put(tmp_path / "all/b/s-3.jsonl", *CODEX)
    monkeypatch.setattr(os, "scandir", refuses)
    monkeypatch.setattr(chunks, "list_files", no_folder)
    done = run("import", str(tmp_path / "all"))
    assert (done.status, "6 entries" in done.out) == (1, True), done.out + done.err
    assert f"{tmp_path / 'all/locked'}: " in done.err and f"{tmp_path / 'all/b'}: " in done.err


def test_a_zip_that_is_none_is_one_sentence(run: Run, tmp_path: Path) -> None:
    bad = tmp_path / "export.zip"
    bad.write_bytes(bytes(range(256)) * 40 + b"\n" + b"\xff\n" * 20)
    for words in ((), ("--from", "chatgpt")):
        done = run("import", str(bad), *words)
        assert done.status == 1 and "is not a ZIP archive" in done.err and "UTF-8" not in done.err


def test_nothing_on_this_machine(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert "No conversations of other programs" in run("import").out
    assert run("import", "codex").status == 2


def test_a_folder_is_one_import_with_one_count(run: Run, home: Path) -> None:
    imported = run("import", str(home), "--json")
    assert (imported.status, imported.json["conversations"], imported.json["unread"]) == (0, 5, []), imported.err
    unknown = [each["kind"] for each in imported.json["skipped"] if each["reason"] == "unknown"]
    assert {"file sessions-index.json", "file logs.json"} <= {*unknown}
    again = run("import", str(home), "--json").json
    assert (again["entries"], again["unchanged"]) == (0, 4)
    assert again["already"] == 1, "a folder has no mark, so that it is read again"


def test_several_files_and_patterns(run: Run, home: Path) -> None:
    several = [str(path) for path in sorted(home.glob(".*/*/*/*/*/*.jsonl"))]
    both = run("import", *several, str(home / ".gemini/tmp/*/chats/*.jsonl"), "--json").json
    assert (both["files"], both["conversations"]) == (2, 2)


def test_a_bad_file_leaves_the_others(run: Run, home: Path, tmp_path: Path) -> None:
    broken = tmp_path / "conversations-2.json"
    broken.write_bytes(b"[{")
    good = home / "Downloads/conversations.json"
    imported = run("import", str(broken), str(good), "--json")
    assert (imported.status, imported.json["conversations"]) == (1, 1)
    assert [each["file"] for each in imported.json["unread"]] == [str(broken)]
    assert str(broken) in imported.err
    half = put(tmp_path / "half.jsonl", {"text": "Good"}, "no JSON")
    told = run("import", str(half), str(good), "--json")
    assert told.status == 1 and told.json["bad"][0]["place"] == f"{half}, line 2"
    assert run("import", str(broken)).status == 1
    assert run("import", str(good), str(tmp_path / "none.json")).status == 2
    empty = tmp_path / "empty"
    empty.mkdir()
    assert run("import", str(empty)).status == 2


def test_an_export_of_opencode(run: Run, tmp_path: Path) -> None:
    file = put(tmp_path / "session.json", OPENCODE)
    assert run("import", str(file), "--json").json["entries"] == 1
    assert json.loads(file.read_text())["info"]["id"] == "ses_1"
