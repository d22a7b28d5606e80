"""The benchmark of retrieval, over a tiny corpus and a real workspace."""

import json
import sys
from pathlib import Path

import pytest

from benchmarks import retrieval

SESSIONS = {
    "session_1_date_time": "1:56 pm on 8 May, 2023",
    "session_1": [
        {"speaker": "Ann", "dia_id": "D1:1", "text": "I sold the old boat to my neighbour."},
        {"speaker": "Bo", "dia_id": "D1:2", "text": "My dog Rex has been ill since Monday."},
        {"speaker": "Ann", "dia_id": "D1:3", "text": "The kayak is painted green."},
    ],
}
QA = [
    {"question": "What is the name of Bo's dog?", "answer": "Rex", "evidence": ["D1:2"], "category": 4},
    {"question": "Which colour has the kayak?", "answer": "green", "evidence": ["D1:3"], "category": 1},
    {"question": "Zeppelin timetable?", "evidence": ["D1:3"], "category": 5, "adversarial_answer": "no"},
]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([{"sample_id": f"c{n}", "conversation": SESSIONS, "qa": QA} for n in (1, 2)]), "utf-8")
    return path


def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    monkeypatch.setattr(sys, "argv", ["retrieval", *map(str, arguments)])
    retrieval.main()
    return capsys.readouterr().out


def test_ranks_contexts_and_times_are_measured(
    corpus: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = json.loads(run(monkeypatch, capsys, corpus, "--json", "--by", "category"))
    (table,) = found["tables"]
    assert (table["stores"], table["turns"], table["questions"]) == (2, 6, 4)
    line = table["lines"][0]["figures"]
    assert (line["R@1"], line["1k"], line["said no"]) == (100.0, 100.0, 100.0)
    assert line["p95 ms"] > 0
    assert [each["part"] for each in table["lines"]] == ["", "single-hop", "multi-hop", "adversarial"]
    assert set(found["not_measured"]) == {"observations", "types", "concepts"}


def test_peers_stand_beside_ours_and_those_that_did_not_run_are_marked(
    corpus: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = run(monkeypatch, capsys, corpus, "--quick", "--whole", "--conversations", 1, "--peers", "fts5", "mem0")
    assert "LoCoMo: 1 stores, 3 turns, 2 questions" in shown
    lines = {line.split()[0]: line for line in shown.splitlines() if line.strip()}
    assert "100.0" in lines["fts5"]
    assert "not measured: no model" in lines["mem0"]
    assert "observations (no corpus has any)" in shown
    assert "1k" not in shown


def test_a_file_that_is_no_corpus_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "notes.json"
    path.write_text('{"a": 1}', "utf-8")
    with pytest.raises(SystemExit) as ended:
        run(monkeypatch, capsys, path)
    assert ended.value.code == 2
    assert "none of the formats" in capsys.readouterr().err


@pytest.mark.parametrize(("answer", "held"), [("Rex", 100.0), ("nowhere said", 0.0)])
def test_of_a_passage_the_answer_must_be_recalled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], answer: str, held: float
) -> None:
    qas = [{"question": "What is the name of Bo's dog?", "id": "1", "answers": [{"text": answer}]}]
    path = tmp_path / "squad.json"
    path.write_text(json.dumps({"data": [{"paragraphs": [{"context": "Bo's dog is called Rex.", "qas": qas}]}]}))
    found = json.loads(run(monkeypatch, capsys, path, "--json"))
    assert found["tables"][0]["lines"][0]["figures"]["2k"] == held


def test_a_turn_of_a_word_is_held_by_itself_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    turns = [{"speaker": "Ann", "dia_id": "D1:1", "text": "Is the kayak painted green?"}]
    turns += [{"speaker": "Bo", "dia_id": "D1:2", "text": "The green kayak? Yes. Ask Ann."}]
    sessions = {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns}
    turns += [{"speaker": "Cy", "dia_id": f"D1:{number}", "text": f"Rain number {number}."} for number in range(3, 30)]
    turns += [{"speaker": "Cy", "dia_id": "D1:30", "text": "Yes."}]
    qa = [{"question": "Which kayak is green?", "evidence": ["D1:30"], "category": 4}]
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([{"conversation": sessions, "qa": qa}]), "utf-8")
    found = json.loads(run(monkeypatch, capsys, path, "--json"))
    assert found["tables"][0]["lines"][0]["figures"]["1k"] == 0.0
