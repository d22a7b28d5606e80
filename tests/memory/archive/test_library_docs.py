"""The example of docs/reference/archive.md does what it says."""

import re
from pathlib import Path

import pytest

from tests.paths import ROOT

DOCS = ROOT / "docs" / "reference" / "archive.md"


def test_the_example_in_the_docs_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = re.search(r"## From Python\n.*?```python\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    assert found is not None
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"print": lambda *_: None}
    exec(found[1], names)  # its own assertions are the test
    assert "archive_conversation" in names
    assert list(tmp_path.glob("notes/memory/archive/harbour.md"))
