"""Numbers that JSON does not have, in files that hold them all the same."""

import json
from pathlib import Path

import pytest

from tests.agent.conftest import Run


def _no_constant(name: str) -> None:
    raise ValueError(name)


def test_an_export_is_json_whatever_was_imported(run: Run, tmp_path: Path) -> None:
    odd = tmp_path / "odd.jsonl"
    odd.write_text('{"text": "one", "time": NaN}\n{"text": "two", "x": [-Infinity]}\n')
    assert run("import", str(odd)).status == 0
    out = run("export", "--to", "jsonl").raw
    kept = [json.loads(line, parse_constant=_no_constant) for line in out.splitlines()]
    assert [line["text"] for line in kept] == ["one", "two"]
    assert kept[1]["x"] == ["-Infinity"]
    with pytest.raises(ValueError, match="NaN"):
        json.loads('{"time": NaN}', parse_constant=_no_constant)  # the check itself sees one
