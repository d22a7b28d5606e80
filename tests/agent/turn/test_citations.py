"""A citation that is sent brings its passage: with a whole session, and where one only asks what would be sent."""

import json
from pathlib import Path

from tests.agent.conftest import Run

FACT = "The spare key lies in the blue tin behind the third tomato pot."
ASIDE = "We painted the shed green, all but the door."


def told(run: Run, root: Path) -> str:
    """The citation of ASIDE, as the search shows it."""
    lines = [
        {"id": f"t{n}", "conversation": "garden", "role": "user", "speaker": "Ann", "text": text, "time": time}
        for n, (text, time) in enumerate([(FACT, "2026-03-05T10:00:00Z"), (ASIDE, "2026-03-05T10:01:00Z")])
    ]
    (root / "talk.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert run("import", str(root / "talk.jsonl"), "--from", "jsonl").status == 0
    hit = run("search", "shed painted green", "--json").json["hits"][0]
    assert hit["snippet"] == ASIDE
    return hit["citation"]


def test_what_is_sent_with_a_citation_has_its_passage_first(run: Run, root: Path) -> None:
    cited = told(run, root)
    said = run("-p", f"Where does the spare key lie? And this: {cited}", "--json")
    assert said.status == 0, said.err
    first, *others = said.json["recalled"]
    assert first["citation"] == cited
    assert any("t0" in other["citation"] for other in others)
    assert not any(other["citation"] == cited for other in others)
    assert run("-p", "Where does the spare key lie?", "--json").json["recalled"][0]["citation"] != cited


def test_what_would_be_sent_tells_of_what_is_cited(run: Run, root: Path) -> None:
    cited = told(run, root)
    layers = run("context", f"Say this in Greek: {cited}", "--json").json["layers"]
    (message,) = (layer for layer in layers if layer["name"] == "message")
    assert message["sources"][0]["name"] == "recalled t1"
    plain = run("context", "Say this in Greek: [garden · Ann · e_nothere]", "--json").json["layers"]
    assert "recalled t1" not in json.dumps(plain)
