"""Short codes are forgotten although the digests and figures of the program hold their digits."""

import re
from pathlib import Path

import pytest

from foundation.paths import Workspace
from memory.forget.own_figures import FIGURES, figures_of_column, figures_of_file, holds_said
from memory.forgotten.fingerprints import Fingerprints
from tests.agent.conftest import Run

pytestmark = pytest.mark.timeout(60)


def test_a_code_that_is_in_digests_of_earlier_jobs_is_forgotten(run: Run, root: Path) -> None:
    run("remember", "zqfirst goes")
    run("-p", "zqfirst, too")
    assert run("forget", "zqfirst", "--yes").status == 0
    records = b"".join(path.read_bytes() for path in (root / ".palimpsest" / "forgotten").glob("*.json*"))
    digest = re.search(rb"[0-9a-f]{32,}", records)
    assert digest, "a job leaves digests"
    code = digest[0][5:10].decode()
    run("-p", f"The code of the garage is {code} today.")
    done = run("forget", code, "--yes")
    assert done.status == 0, done.err
    assert "found 0 times" in done.out
    assert code not in run("search", "code of the garage").out


@pytest.mark.parametrize(
    "data",
    [
        b'{"refs":["24a3056b8498867d73ca3acf2e3918964fae325610cee99756dca690eacd88a5"]}',
        b'{"line":"begin","time":1795784981060,"size":8498}',
        b'{"entries":[1,8498,12]}',
        b'84981e4b {"token":"a"}',
    ],
)
def test_digits_of_digests_and_figures_were_not_said(data: bytes) -> None:
    prints = Fingerprints.of([b"8498"], b"secret")
    assert prints.holds(data) and not holds_said(prints, data, FIGURES)


@pytest.mark.parametrize(
    "data", [b'{"label":"code 8498"}', b'{"path":"a/8498.txt"}', b'{"arguments":"{\\"pin\\":8498}"}', b'["8498"]']
)
def test_digits_in_texts_of_records_were(data: bytes) -> None:
    assert holds_said(Fingerprints.of([b"8498"], b"secret"), data, FIGURES)


def test_a_digest_that_was_said_as_it_stands_is_found_in_records() -> None:
    commit = b"24a3056b8498867d73ca3acf2e3918964fae3256"
    assert holds_said(Fingerprints.of([commit], b"secret"), b'{"label":"' + commit + b'"}', FIGURES)


def test_texts_of_a_person_have_no_figures(workspace: Workspace) -> None:
    for name in ("MEMORY.md", ".palimpsest/drafts/new.md", ".palimpsest/prompt-history.jsonl", "conversations/c_1.md"):
        assert figures_of_file(workspace, name) is None
    assert figures_of_column("entries", "body") is None
