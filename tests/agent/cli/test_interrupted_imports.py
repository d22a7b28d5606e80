"""An import that is interrupted loses nothing, and the next one goes on with what it left."""

from pathlib import Path

import pytest

from benchmarks.imports import write_export
from memory.cold.mirrors.mirrors import Mirrors
from tests.agent.conftest import Run

pytestmark = pytest.mark.timeout(60)


def test_a_second_import_writes_the_mirrors_that_an_interrupted_one_left(
    run: Run, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export, update = write_export(tmp_path / "conversations.json", 6), Mirrors.update

    def interrupted(mirrors: Mirrors, seq: int) -> Path | None:
        if len(list((root / "conversations").glob("*.md"))) == 2:
            raise KeyboardInterrupt
        return update(mirrors, seq)

    with monkeypatch.context() as patched:
        patched.setattr(Mirrors, "update", interrupted)
        assert run("import", str(export)).status == 130
    assert len(list((root / "conversations").glob("*.md"))) == 2
    again = run("import", str(export), "--json").json
    assert (again["entries"], again["already"]) == (0, 12)
    assert len(list((root / "conversations").glob("*.md"))) == 6
    assert run("check").status == 0
