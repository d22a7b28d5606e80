"""A recalled text whose control characters were made visible says so; what is given raw is to the byte."""

import json
from pathlib import Path

import pytest

from tests.agent.conftest import Run

pytestmark = pytest.mark.timeout(60)

HOSTILE = "zebra \x1b]52;c;ZXZpbA==\x07 and \u202e turned"


@pytest.fixture
def kept(run: Run, tmp_path: Path) -> Run:
    texts = [("odd", HOSTILE), ("plain", "zebra 斑马 👩\u200d👧 in plain words")]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"id": id_, "text": text}) + "\n" for id_, text in texts))
    assert run("import", str(tmp_path / "a.jsonl")).status == 0
    return run


def test_it_says_that_the_text_is_not_to_the_byte(kept: Run) -> None:
    done = kept("recall", "odd")
    assert done.status == 0
    assert "Not shown exactly: 3 control or hidden characters are replaced by a symbol." in done.err
    assert "--raw" in done.err
    assert "\x1b" not in done.out
    assert "␛]52" in done.out


def test_raw_and_json_give_every_byte_and_do_not_say_so(kept: Run) -> None:
    raw = kept("recall", "odd", "--raw")
    assert raw.raw == HOSTILE.encode()
    assert "Not shown exactly:" not in raw.err
    assert kept("recall", "odd", "--json").json["hits"][0]["text"] == HOSTILE


def test_a_text_that_is_shown_to_the_byte_says_nothing(kept: Run) -> None:
    assert "Not shown" not in kept("recall", "plain").err


def test_the_chat_says_it_too(kept: Run) -> None:
    said = kept("-p", "/recall odd")
    assert "Not shown exactly: 3 control or hidden characters" in said.out
