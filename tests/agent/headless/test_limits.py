"""`-p` with limits: the run ends at each of them, with what came kept, and says so."""

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.agent.conftest import Run
from tests.agent.headless.tool_answers import ChatServer, lines, of_type, started, tool_call
from tests.loopback import Reply, Stall, chat, data, delta, stream

pytestmark = pytest.mark.timeout(60)
PRICES = "models:\n  prices:\n    'openai:m@*': {input: 100, output: 200, currency: EUR}\n"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setenv("PALIMPSEST_MODELS_WINDOW", "1000000")
    with ChatServer() as server:
        yield server


def searches(count: int) -> list[Reply]:
    return [tool_call("search_memory", query=f"tea {n}") for n in range(count)]


def test_no_more_calls_than_the_most(run: Run, server: ChatServer) -> None:
    server.plays(*searches(3), chat("never"))
    said = run("--model", server.spec, "-p", "--max-calls", "2", "tea?", "--output-format", "stream-json")
    told = lines(said.out)
    assert said.status == 4
    assert len([line for line in of_type(told, "tool_result") if not line["failed"]]) == 2
    assert next(of_type(told, "limit"))["name"] == "calls"
    assert told[-1]["type"] == "result"
    assert (told[-1]["status"], told[-1]["limit"]["name"], told[-1]["run"]["calls"]) == ("limit", "calls", 2)
    assert told[-1]["denied"] == []
    assert "--allow" not in said.err, "no permission lifts the limit"


@pytest.mark.parametrize(("most", "named"), [("2", "tools.most_calls"), ("9", "--max-calls")])
def test_the_limit_of_calls_that_was_reached_is_named(
    run: Run, server: ChatServer, monkeypatch: pytest.MonkeyPatch, most: str, named: str
) -> None:
    monkeypatch.setenv("PALIMPSEST_TOOLS_MOST_CALLS", most)
    server.plays(*searches(4), chat("never"))
    said = run("--model", server.spec, "-p", "--max-calls", "3", "tea?", "--json")
    assert f"({named})" in said.json["limit"]["sentence"]


def test_an_answer_within_the_most_calls_is_no_limit(run: Run, server: ChatServer) -> None:
    server.plays(*searches(2), chat("Done."))
    said = run("--model", server.spec, "-p", "--max-calls", "2", "tea?", "--json")
    assert (said.status, said.json["text"]) == (0, "Done.")


def test_no_request_that_would_pass_the_most_tokens_is_sent(run: Run, server: ChatServer) -> None:
    server.plays(tool_call("search_memory", query="tea", usage={"prompt_tokens": 90_000, "completion_tokens": 50}))
    said = run("--model", server.spec, "-p", "--max-tokens", "91000", "tea?", "--json")
    assert said.status == 4
    assert said.json["limit"]["name"] == "tokens"
    assert "the maximum is 91,000" in said.json["limit"]["sentence"]
    assert said.json["run"]["tokens"] == 90_050
    assert len(server.chats) == 1


def test_a_message_that_is_too_long_for_the_most_tokens_is_kept_and_not_sent(run: Run, server: ChatServer) -> None:
    said = run("--model", server.spec, "-p", "--max-tokens", "100", "tea?", "--json")
    assert said.status == 4
    assert said.json["context"] == {}
    assert not server.chats
    assert len(run("conversations", "show", said.json["conversation"], "--json").json["entries"]) == 1


def test_an_answer_that_passes_the_most_tokens_is_stopped_and_kept(run: Run, server: ChatServer) -> None:
    server.plays(stream(*(data(delta(content=f"several words of answer {n} ")) for n in range(2_000)), Stall()))
    said = run("--model", server.spec, "-p", "--max-tokens", "6000", "tea?", "--json")
    assert said.status == 4
    assert said.json["text"].startswith("several words")
    assert said.json["stopped"]


def test_the_most_time_ends_an_answer(run: Run, server: ChatServer) -> None:
    server.plays(stream(data(delta(content="So far ")), Stall()))
    said = run("--model", server.spec, "-p", "--max-seconds", "1.5", "tea?", "--json")
    assert said.status == 4
    assert said.json["limit"]["name"] == "seconds"
    assert said.json["text"] == "So far "


def test_the_most_cost_refuses_to_start_without_a_price(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST_OPENAI_KEY", "sk-test")
    remote = "openai:m"
    said = run("--model", remote, "-p", "--max-cost", "1", "tea?", "--json")
    assert said.status == 2
    assert "models.prices" in said.json["error"]["hint"]


def test_the_most_cost_ends_the_run(run: Run, server: ChatServer, root: Path) -> None:
    (root / ".palimpsest" / "config.yaml").write_text(PRICES)
    usage = {"prompt_tokens": 10_000, "completion_tokens": 1_000}
    server.plays(tool_call("search_memory", query="tea", usage=usage), chat("never"))
    said = run("--trust", "--model", server.spec, "-p", "--max-cost", "1.25", "tea?", "--json")
    assert said.status == 4
    assert said.json["limit"]["name"] == "cost"
    assert said.json["run"]["cost"] == [{"amount": pytest.approx(1.2), "currency": "EUR"}]
    assert said.json["run"]["priced"]


def test_a_day_s_cap_ends_a_run_unless_it_may_go_on(
    run: Run, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PALIMPSEST_MODELS_DAILY_TOKENS", "5000")
    server.plays(chat("One.", prompt_tokens=6_000), chat("Two."), chat("Three."))
    assert run("--model", server.spec, "-p", "one").status == 0
    capped = run("--model", server.spec, "-p", "two")
    assert capped.status == 4
    assert "the limit is 5,000 (models.daily_tokens)" in capped.err
    over = run("--model", server.spec, "-p", "--over-cap", "three", "--json")
    assert (over.status, over.json["text"]) == (0, "Two.")


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no such signal to one process")
@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_is_a_normal_end(run: Run, root: Path, server: ChatServer, sent: signal.Signals, status: int) -> None:
    server.plays(stream(data(delta(content="So far ")), Stall()))
    with started(root, "--model", server.spec, "-p", "hi", "--output-format", "stream-json") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        for _ in range(2):
            process.stdout.readline()
        process.send_signal(sent)
        rest = lines(process.stdout.read())
    assert process.returncode == status
    assert (rest[-1]["type"], rest[-1]["status"], rest[-1]["text"]) == ("result", "stopped", "So far ")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("ending", ["signal", "seconds"])
def test_a_command_under_way_ends_with_the_run(run: Run, root: Path, server: ChatServer, ending: str) -> None:
    command = f"sleep {random.uniform(300, 400):.6f}"
    server.plays(tool_call("run_command", command=command), chat("never"))
    flags = ["--allow", "run_command(sleep *)", *(["--max-seconds", "8"] if ending == "seconds" else [])]
    with started(root, "--model", server.spec, "-p", *flags, "wait", "--output-format", "stream-json") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        call = next(line for raw in process.stdout if (line := json.loads(raw))["type"] == "tool_call")
        assert call["decision"]["rule"] == "allow run_command(sleep *)"
        if ending == "signal":
            wait_until(lambda: runs(command))
            process.send_signal(signal.SIGTERM)
        rest = lines(process.stdout.read())
    assert process.returncode == (143 if ending == "signal" else 4)
    assert rest[-1]["status"] == ("stopped" if ending == "signal" else "limit")
    wait_until(lambda: not runs(command))


def runs(command: str) -> bool:
    """Whether a process has this command line."""
    words = command.replace(" ", "\0").encode()
    return any(words in _read(path) for path in Path("/proc").glob("[0-9]*/cmdline"))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # it has ended
        return b""


def wait_until(holds: Callable[[], bool]) -> None:
    for _ in range(300):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError("it did not come to hold")


def test_a_call_that_is_repeated_in_vain_ends_the_run(run: Run, server: ChatServer) -> None:
    server.plays(*[tool_call("find_files", pattern="*.nothing")] * 10, chat("never"))
    said = run("--model", server.spec, "-p", "files?", "--output-format", "stream-json")
    told = lines(said.out)
    assert said.status == 4, said.out[-800:]
    limit = next(of_type(told, "limit"))
    assert limit["name"] == told[-1]["limit"]["name"] == "repeated_calls"
    assert limit["sentence"].startswith("find_files was called 10 times in a row, with the same arguments")
    assert "was called 5 times in a row" in said.err
    assert len(server.chats) == 10
