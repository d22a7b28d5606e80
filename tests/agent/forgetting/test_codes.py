"""Short codes are forgotten although the digests and figures of the program hold their digits."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from foundation.paths import Workspace
from memory.forget.own_figures import FIGURES, figures_of_column, figures_of_file, holds_said, without_own_names
from memory.forgotten.fingerprints import Fingerprints
from tests.agent.conftest import Run
from tests.memory.forget.bytes_of import places_of

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
    assert "no occurrences left in Palimpsest's files" in done.out
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
    for name in ("MEMORY.md", ".palimpsest/drafts/new.md", ".palimpsest/prompt-history.jsonl"):
        assert figures_of_file(workspace, name) is None
    assert figures_of_column("entries", "body") is None


@pytest.mark.parametrize("words", ["{day}", "{day} at", "format: 2", "created: {day}", ".palimpsest/cold.db", "drafts"])
def test_times_formats_and_file_names_of_the_program_keep_no_words_from_being_forgotten(
    run: Run, root: Path, words: str
) -> None:
    said = words.format(day=f"{datetime.now(UTC):%Y-%m-%d}")
    run("-p", f"The appointment with the clinic is {said} noon, and zqstays.")
    done = run("forget", said, "--yes")
    assert (done.status, "no occurrences left in Palimpsest's files" in done.out) == (0, True), done.err
    assert said not in run("search", "appointment with the clinic").out
    assert places_of(root, [f"is {said} noon", "zqstays"]) == {}
    assert list((root / "conversations").iterdir()), "a readable copy stays"
    again = run("forget", said, "--dry-run")
    assert "nothing contains this text" in again.err
    assert run("check").status == 0


HEAD = b'---\nformat: 2\nid: "c_1"\ntitle: "A day"\ncreated: 2026-03-04T05:06:07Z\n---\n\n# A day\n'
TURN = "\n## 2026-03-04 05:06 · user <!-- e_1 -->\n\nHello.\n".encode()


@pytest.mark.parametrize("words", [b"2026-03-04", b"format: 2", b"created: 2026", b"2026-03-04 05:06"])
def test_the_head_of_a_mirror_and_the_times_of_its_turns_were_not_said(workspace: Workspace, words: bytes) -> None:
    prints, figures = Fingerprints.of([words], b"secret"), figures_of_file(workspace, "conversations/c_1.md")
    assert prints.holds(HEAD + TURN) and not holds_said(prints, HEAD + TURN, figures)
    assert figures is figures_of_column("mirrors", "head")


@pytest.mark.parametrize(
    "data",
    [
        HEAD.replace(b"A day", b"On 2026-03-04"),
        HEAD.replace(b'title: "A', b'source: "2026-03-04"\ntitle: "A'),
        TURN.replace(b"Hello", b"On 2026-03-04"),
        TURN.replace(b"user", b"2026-03-04"),
        b"created: 2026-03-04",
        b"\n> ## 2026-03-04 05:06 \xc2\xb7 user",
    ],
)
def test_times_in_titles_names_and_texts_of_a_mirror_were(workspace: Workspace, data: bytes) -> None:
    figures = figures_of_file(workspace, "conversations/c_1.md")
    assert holds_said(Fingerprints.of([b"2026-03-04"], b"secret"), data, figures)


def test_names_of_the_programs_own_files_hold_no_words(workspace: Workspace) -> None:
    assert without_own_names(workspace, ".palimpsest/cold.db") == ""
    assert without_own_names(workspace, ".palimpsest/versions/objects") == ""
    assert without_own_names(workspace, ".palimpsest/drafts/cold.db.md") == "cold.db.md"
    assert without_own_names(workspace, "conversations/drafts.md") == "drafts.md"
    assert without_own_names(workspace, "memory/drafts.md") == "memory/drafts.md"
    assert without_own_names(workspace, "drafts/cold.db") == "drafts/cold.db"


def test_files_that_an_earlier_receipt_names_hold_no_words(workspace: Workspace) -> None:
    figures = figures_of_file(workspace, ".palimpsest/forgotten/f_1.done.json")
    prints = Fingerprints.of([b"cold.db"], b"secret")
    assert not holds_said(prints, b'{"found":[".palimpsest/cold.db",".palimpsest/cold.db (values)"]}', figures)
    assert holds_said(prints, b'{"left":["notes/cold.db","My .palimpsest/cold.db"]}', figures)


def test_words_that_an_earlier_receipt_says_are_taken_out_of_it(run: Run, root: Path) -> None:
    (root / "zqrecipes.txt").write_text("zqfirst and fish", "utf-8")
    run("-p", "I cook zqfirst.")
    assert "zqrecipes.txt" in run("forget", "zqfirst", "--yes").out
    (root / "zqrecipes.txt").unlink()
    run("-p", "My zqrecipes are old.")
    done = run("forget", "zqrecipes", "--yes")
    assert done.status == 0, done.err
    assert places_of(root, ["zqrecipes"]) == {}
