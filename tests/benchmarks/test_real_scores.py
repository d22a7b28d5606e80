"""Scores of the benchmark with real models: tools, mended projects, answers from memory, and the server's figures."""

import json
from pathlib import Path

import pytest

from benchmarks.real.__main__ import seen
from benchmarks.real.files import BUGS, OFFICE, project
from benchmarks.real.mending import end_of, mended
from benchmarks.real.plain import load
from benchmarks.real.product import Call, outcome
from benchmarks.real.proxy import capped, exchange
from benchmarks.real.reading import best_passages, contained, indexed, questions, token_f1, turns_of
from benchmarks.real.report import tables
from benchmarks.real.tools import first_call, holds_fact

WANTED = {"read_file": {"path": r"notes\.txt$"}, "search_files": {"path|pattern": "deadline"}}


@pytest.mark.parametrize(
    ("call", "right"),
    [
        (Call("read_file", {"path": "notes.txt"}), (True, True)),
        (Call("read_file", {"path": "./notes.txt"}), (True, True)),
        (Call("read_file", {"path": "other.txt"}), (True, False)),
        (Call("read_file", {}), (True, False)),
        (Call("search_files", {"pattern": "deadline"}), (True, True)),
        (Call("run_command", {"command": "cat notes.txt"}), (False, False)),
    ],
)
def test_the_first_call_is_judged_by_its_tool_and_its_arguments(call: Call, right: tuple[bool, bool]) -> None:
    later = Call("read_file", {"path": "notes.txt"})
    assert first_call(WANTED, [call, later], fact=True) == right


def test_no_call_is_right_only_if_the_memory_was_recalled_and_the_answer_holds_the_fact() -> None:
    assert first_call({"memory_search": {}, "": {}}, [], fact=True) == (True, True)
    assert first_call({"memory_search": {}, "": {}}, [], fact=False) == (False, False)
    assert first_call(WANTED, [], fact=True) == (False, False)


def test_a_fact_is_in_the_answer_or_in_the_file(tmp_path: Path) -> None:
    office = project(tmp_path / "office", OFFICE)
    asks = {"answer": "14 March", "files": {}}
    assert holds_fact(asks, "It is 14 March.", office) is True
    assert holds_fact(asks, "It is 15 March.", office) is False
    edit = {"answer": "", "files": {"config.ini": "port = 9090"}}
    assert holds_fact(edit, "Done.", office) is False
    (office / "config.ini").write_text("port = 9090")
    assert holds_fact(edit, "Done.", office) is True
    assert holds_fact({"answer": ""}, "Noted.", office) is None


MENDS = {
    "total": ("prices.py", "def total(prices):\n    return sum(prices)\n"),
    "median": ("middle.py", "def median(numbers):\n    return sorted(numbers)[len(numbers) // 2]\n"),
    "names": ("names.py", "def initials(name):\n    return ''.join(part[0] for part in name.split()).upper()\n"),
    "leap": ("years.py", "def is_leap(year):\n    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)\n"),
    "words": ("words.py", "def count_words(text):\n    return len(text.split())\n"),
}


@pytest.mark.parametrize("name", BUGS)
def test_each_test_fails_until_its_bug_is_mended(name: str, tmp_path: Path) -> None:
    place = project(tmp_path / "bug", BUGS[name])
    assert not mended(BUGS[name], place)
    file, text = MENDS[name]
    (place / file).write_text(text)
    assert end_of(BUGS[name], place, [], "answered") == "mended"


def test_where_the_mending_stopped(tmp_path: Path) -> None:
    files = BUGS["total"]
    place = project(tmp_path / "bug", files)
    read, edit = Call("read_file", {"path": "prices.py"}), Call("edit_file", {"path": "prices.py"}, failed=True)
    assert end_of(files, place, [], "failed") == "failed"
    assert end_of(files, place, [], "answered") == "no call"
    assert end_of(files, place, [read], "answered") == "no edit"
    assert end_of(files, place, [read, edit], "answered") == "edit refused"
    assert end_of(files, place, [read] * 9, "limit") == "same call again"
    assert end_of(files, place, [Call("find_files", {}), read], "limit") == "limit"
    (place / "prices.py").write_text("def total(prices):\n    return 0\n")
    assert end_of(files, place, [read, edit], "answered") == "wrong edit"
    (place / "test_prices.py").write_text("print('ok')\n")
    assert end_of(files, place, [read, edit], "answered") == "test changed"


def test_answers_from_memory_are_scored_by_tokens() -> None:
    assert token_f1("7 May 2023", "The 7 May, 2023") == 1.0
    assert token_f1("She went on 7 May 2023", "7 May 2023") == pytest.approx(2 * 3 / 9)
    assert token_f1("", "x") == token_f1("yes", "no") == 0.0
    assert contained("On the 7 May 2023.", "7 May 2023")
    assert not contained("On 8 May 2023", "7 May 2023")
    assert not contained("anything", "")


def test_the_conversation_is_dated_and_its_passages_are_found() -> None:
    talk = {
        "session_2_date_time": "1:14 pm on 25 May, 2023",
        "session_2": [{"dia_id": "D2:1", "speaker": "Bo", "text": "The heron came back."}],
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [{"dia_id": "D1:1", "speaker": "Ann", "text": "I went to the support group."}],
    }
    turns = turns_of(talk)
    assert [turn["id"] for turn in turns] == ["D1:1", "D2:1"]
    assert turns[0]["time"] == "2023-05-08T13:56:00"
    assert best_passages(indexed(turns), "When came herons?") == "[2023-05-25] Bo: The heron came back.\n"
    pairs = [{"category": n % 6, "answer": "x", "question": str(n)} for n in range(60)]
    drawn = questions(pairs, 12)
    assert len(drawn) == 12 and {pair["category"] for pair in drawn} <= {1, 2, 4}
    assert drawn == questions(pairs, 12)


def test_an_answer_that_is_streamed_is_put_together_with_the_server_s_figures() -> None:
    call = {"index": 0, "function": {"name": "read_file", "arguments": '{"path":'}}
    rest = {"index": 0, "function": {"arguments": ' "a"}'}}
    deltas = [
        {"role": "assistant"},
        {"content": "Hel"},
        {"content": "lo"},
        {"tool_calls": [call]},
        {"tool_calls": [rest]},
    ]
    lines = [f"data: {json.dumps({'choices': [{'delta': delta}]})}\n\n".encode() for delta in deltas]
    end = {"choices": [{"delta": {}, "finish_reason": "stop"}], "timings": {"cache_n": 7, "prompt_n": 3}}
    stream = b"".join(lines) + f"data: {json.dumps(end)}\n\ndata: [DONE]\n\n".encode()
    pieces = [(float(n + 1), stream[n * 50 : n * 50 + 50]) for n in range(len(stream) // 50 + 1)]
    found = exchange({"messages": []}, 200, pieces, began=0.0)
    assert (found.text, found.finish, found.cached_tokens, found.read_tokens) == ("Hello", "stop", 7, 3)
    assert found.calls == [{"name": "read_file", "arguments": '{"path": "a"}'}]
    assert found.first_s is not None and found.first_s > 1


def test_answers_are_capped_and_nothing_else_of_the_request_changes() -> None:
    assert capped({"messages": [], "temperature": 0.3}, 256, 1) == {
        "messages": [],
        "temperature": 0.3,
        "max_tokens": 256,
        "seed": 1,
    }
    assert capped({"max_tokens": 80, "seed": 5}, 256, 1) == {"max_tokens": 80, "seed": 5}
    assert capped({"max_completion_tokens": 2048}, 256, 1) == {"max_completion_tokens": 256, "seed": 1}


def test_an_outcome_is_read_from_the_stream_of_events() -> None:
    events = [
        {"type": "tool_call", "id": "1", "name": "read_file", "arguments": '{"path": "a"}'},
        {"type": "tool_result", "id": "1", "failed": True},
        {"type": "tool_call", "id": "2", "name": "recall", "arguments": "{"},
        {"type": "result", "text": "Yes.", "status": "answered"},
    ]
    done = outcome(events, "", [], 1.0)
    assert (done.text, done.status) == ("Yes.", "answered")
    assert done.calls == [Call("read_file", {"path": "a"}, failed=True), Call("recall", {})]
    broken = outcome(events[:1], "no server", [], 1.0)
    assert (broken.text, broken.status, broken.error) == ("", "failed", "no server")


@pytest.mark.parametrize(("part", "half", "count"), [("plain", "dev", 30), ("tools", "dev", 20)])
def test_a_limit_takes_messages_spread_over_all(part: str, half: str, count: int) -> None:
    rows = load(part, half, 0)
    assert len(rows) == len(load(part, "held-out", 0)) == count
    ids = {row["id"] for row in rows}
    assert len(ids) == count and ids.isdisjoint({row["id"] for row in load(part, "held-out", 0)})
    assert {row["language"] for row in load(part, half, 6)} >= {"en", "zh"}
    assert {row["id"] for row in load(part, half, count)} == ids


def test_answers_of_the_held_out_half_are_not_shown() -> None:
    row = {"part": "plain", "model": "m", "id": "secret", "language": "en", "against": ["call"], "rules": ["call"]}
    assert seen({"half": "held-out", "id": "a", "answer": "x", "rules": []}) == {
        "half": "held-out",
        "id": "a",
        "rules": [],
    }
    assert seen({"half": "dev", "answer": "x"}) == {"half": "dev", "answer": "x"}
    row |= {"called": True, "answer": "{}", "error": "", "bare": "Hi", "first_s": 1.0, "seconds": 2.0}
    shown, hidden = tables([row | {"half": "dev"}]), tables([row | {"half": "held-out"}])
    assert "secret" in shown and "secret" not in hidden
    assert "| m | held-out | en | 1 | 0 | 1 | call 1 | 1 | 2 |" in hidden
