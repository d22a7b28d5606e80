"""Tool calls in what is read: `conversations show` and the export as Markdown."""

import json
from pathlib import Path

import pytest

from tests.agent.conftest import Run


def event(kind: str, key: str, parent: str | None, content: object) -> dict[str, object]:
    message = {"id": f"m-{key}", "role": kind, "content": content}
    return {"type": kind, "uuid": key, "parentUuid": parent, "sessionId": "s1", "message": message}


EVENTS = (
    event("user", "a", None, "How many tests are there?"),
    event(
        "assistant",
        "b",
        "a",
        [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls tests | wc -l"}}],
    ),
    event("user", "c", "b", [{"type": "tool_result", "tool_use_id": "t1", "content": "412"}]),
    event("assistant", "d", "c", [{"type": "text", "text": "There are 412."}]),
)


@pytest.mark.parametrize("words", [("conversations", "show", "s1"), ("export",)], ids=" ".join)
def test_a_call_is_shown_with_its_main_argument_before_its_output(
    run: Run, tmp_path: Path, words: tuple[str, ...]
) -> None:
    file = tmp_path / "session.jsonl"
    file.write_text("".join(json.dumps(event) + "\n" for event in EVENTS))
    assert run("import", str(file)).status == 0
    shown = run(*words).out
    assert shown.count("Bash: ls tests | wc -l") == 1
    assert shown.index("## Assistant") < shown.index("Bash: ls tests") < shown.index("## Bash") < shown.index("412\n")
