"""A mention that names no file is said in a sentence; what was not meant as a file is not."""

from pathlib import Path

import pytest

from agent.services.unattached import unattached_sentence


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("what says @nofile?", "@nofile names no file"),
        ("see @notes.md, please", "@notes.md names no file"),
        ("sum up @src/gone.py", "@src/gone.py names no file"),
        ("sum up @src/gone", "@src/gone names no file"),
        ("read @/no/such/file", "@/no/such/file names no file"),
        ("read @~/no-such-file-锅炉.txt", "@~/no-such-file-锅炉.txt names no file"),
        ('read @"two words.txt"', "@two words.txt names no file"),
        ("@a.txt and @b.txt", "@a.txt, @b.txt name no files"),
        ("@a.txt @b.txt @c.txt @d.txt @e.txt", "@a.txt, @b.txt, @c.txt and 2 more name no files"),
    ],
)
def test_a_mention_of_no_file_is_said(tmp_path: Path, text: str, named: str) -> None:
    (tmp_path / "src").mkdir()
    assert unattached_sentence(text, tmp_path) == f"{named} in {tmp_path}: nothing was attached for it."


@pytest.mark.parametrize(
    "text",
    [
        "see @b.txt, @src/ and @b.txt.",
        "mail ann@example.org",
        "npm install @types/node",
        "why does `@nofile.py` fail?",
        "```\n@app.route('/x')\n@nofile\n```",
        "@dataclass\nclass Point:\n    x: int",
        "@app.route('/x')\ndef x(): ...",
        "  @property\n  def x(self): ...",
        "@mem:boiler",
        "@chat:House",
        "it is @ home",
        "what is @app.route('/x')?",
        "",
    ],
)
def test_what_is_no_slip_is_not_said(tmp_path: Path, text: str) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "b.txt").write_text("x", encoding="utf-8")
    assert unattached_sentence(text, tmp_path) == ""
