"""The benchmark with real models, end to end on a real llama.cpp with tiny scripted weights."""

import json
import sys
from pathlib import Path

import pytest

from benchmarks.real.__main__ import main
from tests.scripted_models import conversing_gguf

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

CALL = '<tool_call>\n{"name": "read_file", "arguments": {"path": "notes.txt"}}\n</tool_call>'
RULES = (
    ("is_result", "The deadline is 14 March."),
    ("'notes.txt' in message", CALL),
    ("'test fails' in message", "I see nothing wrong there."),
    ("'Caroline' in message", "On 7 May 2023"),
    ("true", "Hello, how can I help?"),
)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("xllamacpp", reason="llama.cpp in process: no wheel for this platform")
    folder = tmp_path_factory.mktemp("models")
    conversing_gguf(folder / "tiny.gguf", RULES, context=40_000)
    return folder


def measured(models: Path, tmp_path: Path, *options: str) -> list[dict[str, object]]:
    written = tmp_path / "rows.json"
    shared = ["--window", "40000", "--limit", "1", "--json", str(written)]
    assert main([str(models), *shared, *options]) == 0
    return json.loads(written.read_text("utf-8"))["rows"]


def test_plain_messages_tools_and_a_project(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = f"cat={sys.executable} -c 'print(open(\"notes.txt\").read())' {{text}}"
    rows = measured(models, tmp_path, "--half", "dev", "--parts", "plain,tools,project", "--against", other)
    plain, ours, theirs, bug, their_bug = rows
    assert (plain["answer"], plain["rules"]) == ("Hello, how can I help?", [])
    assert isinstance(plain["read_tokens"], int) and plain["read_tokens"] > 300
    assert (ours["tool"], ours["arguments"], ours["fact"]) == (True, True, True)
    assert (theirs["program"], theirs["fact"]) == ("cat", True)
    assert (bug["end"], their_bug["end"]) == ("no call", "not mended")
    printed = capsys.readouterr().out
    assert "| tiny | dev | en | 1 | 100 |" in printed
    assert "| tiny | cat | 1 | 100 |" in printed


def test_questions_on_a_conversation_and_seconds(models: Path, tmp_path: Path) -> None:
    talk = {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [{"dia_id": "D1:1", "speaker": "Caroline", "text": "I went to the support group yesterday."}],
    }
    asked = [{"question": "When did Caroline go to the support group?", "answer": "7 May 2023", "category": 2}]
    (tmp_path / "locomo.json").write_text(json.dumps([{"conversation": talk, "qa": asked}]))
    rows = measured(models, tmp_path, "--parts", "memory,speed", "--locomo", str(tmp_path / "locomo.json"))
    memory = [row for row in rows if row["part"] == "memory"]
    assert {row["arm"]: row["contained"] for row in memory} == dict.fromkeys(
        ("product", "no-tools", "fts5", "newest", "nothing"), True
    )
    speed = {(row["place"], row["step"]): row for row in rows if row["part"] == "speed"}
    assert len(speed) == 3
    second = speed["no project", "second turn"]
    assert isinstance(second["cached_tokens"], int) and second["cached_tokens"] > 300
