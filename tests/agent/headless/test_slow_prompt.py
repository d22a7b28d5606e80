"""A model that takes long over its prompt is said to, once, beside the answer."""

from collections.abc import Iterator

import pytest

from agent.headless import run as headless
from tests.agent.conftest import Run
from tests.loopback import Loopback, Pause, chat_bytes, data, json_reply, stream


@pytest.fixture
def slow() -> Iterator[Loopback]:
    unknown = json_reply({"error": {"message": "unknown"}}, status=404)
    with Loopback() as server:
        answer = stream(Pause(0.6), chat_bytes("Hello"))
        server.answers_all(lambda asked: answer if asked.path.endswith("/chat/completions") else unknown)
        yield server


def test_a_long_wait_is_told_once_and_not_in_the_data(
    run: Run, slow: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(headless, "NOTICE_AFTER_S", 0.1)
    said = run("--model", f"openai:m@{slow.address}/v1", "-p", "hi")
    assert said.err.count("No output for 0.1 s; the prompt has about ") == 1
    assert "tokens to read; the server reports no progress. Ctrl+C stops." in said.err
    assert "still reading" not in said.err
    assert said.out.strip() == "Hello"


def test_a_short_wait_is_not_told(run: Run, slow: Loopback) -> None:
    said = run("--model", f"openai:m@{slow.address}/v1", "-p", "hi")
    assert "No response" not in said.err


def test_a_long_wait_tells_what_the_server_reported(run: Run, slow: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headless, "NOTICE_AFTER_S", 0.3)
    progress = data({"choices": [], "prompt_progress": {"total": 2000, "cache": 0, "processed": 500}})
    slow.answers("/v1/chat/completions", stream(progress, Pause(0.8), chat_bytes("Hello")))
    said = run("--model", f"openai:m@{slow.address}/v1", "-p", "hi")
    assert "No output for 0.3 s; the server has read 500 of 2.0k tokens" in said.err
    progress = data({"choices": [], "prompt_progress": {"total": 798, "cache": 0, "processed": 0}})
    slow.answers("/v1/chat/completions", stream(progress, Pause(0.8), chat_bytes("Hello")))
    said = run("--model", f"openai:m@{slow.address}/v1", "-p", "hi")
    assert "No output for 0.3 s; the prompt has 798 tokens to read. Ctrl+C stops." in said.err
