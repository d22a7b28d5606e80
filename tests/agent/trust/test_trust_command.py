"""`palimpsest trust` and `--trust`: what they trust, and what they refuse."""

import os
from pathlib import Path

import pytest

from foundation.paths import Workspace
from foundation.workspace_trust import trust_store
from tests.agent.conftest import Run

pytestmark = pytest.mark.timeout(60)


def test_trust_lets_a_workspace_be_written_to(cloned: Path, bare: Run) -> None:
    done = bare("trust", str(cloned))
    assert done.status == 0
    assert "trusted now" in done.err
    done = bare("--workspace", str(cloned), "-p", "hello")
    assert done.status == 0, done.err
    assert "palimpsest trust" not in done.err
    assert str(cloned) in bare("trust", "--list").out
    assert bare("trust", "--remove", str(cloned)).status == 0
    assert bare("--workspace", str(cloned), "-p", "hello").status == 1


def test_a_folder_that_is_no_workspace_is_not_trusted(bare: Run, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    for name in ("plain", "gone"):
        done = bare("trust", str(tmp_path / name))
        assert done.status == 2
        assert f"There is no workspace in {tmp_path / name}." in done.err
    assert trust_store(os.environ).records() == ()


def test_the_trust_of_a_search_is_its_own(cloned: Path, bare: Run) -> None:
    done = bare("--workspace", str(cloned), "search", "lighthouse", "--trust", "exact", "--json")
    assert done.status == 0
    assert {hit["trust"] for hit in done.json["hits"]} == {"exact"}
    assert not trust_store(os.environ).state(Workspace(cloned)).trusted
    assert bare("--workspace", str(cloned), "--trust", "search", "lighthouse", "--trust", "exact").status == 0
    assert trust_store(os.environ).state(Workspace(cloned)).trusted


def test_the_flag_trusts_and_runs(cloned: Path, bare: Run) -> None:
    assert bare("--workspace", str(cloned), "--trust", "-p", "hello").status == 0
    assert bare("--workspace", str(cloned), "-p", "hello").status == 0
