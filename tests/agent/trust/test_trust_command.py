"""`palimpsest trust` and `--trust`: what they trust, and what they refuse."""

import os
from pathlib import Path

import pytest

from agent.hooks.scripts import HookScripts, ScriptStore
from agent.hooks.settings import HookCommand, HookMatcher, HookSettings
from foundation.paths import Workspace, config_dir
from foundation.workspace_trust import trust_store
from tests.agent.conftest import Run

pytestmark = pytest.mark.timeout(60)


def test_trust_lets_a_workspace_be_written_to(cloned: Path, bare: Run) -> None:
    done = bare("trust", str(cloned))
    assert done.status == 0
    assert "now trusted" in done.err
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


@pytest.mark.parametrize("is_workspace", [True, False])
def test_trusting_a_folder_has_its_changed_scripts_of_hooks_run_again(
    run: Run, bare: Run, root: Path, tmp_path: Path, is_workspace: bool
) -> None:
    assert run("remember", "the lighthouse has 112 steps").status == 0
    folder = root if is_workspace else tmp_path / "project"
    folder.mkdir(exist_ok=True)
    script = folder / "check.sh"
    script.write_text("true\n")
    hook = HookCommand("sh check.sh")
    settings = HookSettings(stop=(HookMatcher(hooks=(hook,)),))

    def scripts() -> HookScripts:
        return HookScripts(settings, (folder,), ScriptStore(config_dir(os.environ)), os.environ)

    assert scripts().changed(hook) == ""
    script.write_text("false\n")
    assert scripts().changed(hook) == "check.sh"
    ran = bare("trust", str(folder))
    assert ran.status == 0
    assert "Hooks will run these files in their current state: check.sh." in ran.err
    assert scripts().changed(hook) == ""
    script.write_text("true\n")
    as_json = bare("trust", str(folder), "--json").json
    assert as_json["trusted"] == is_workspace
    assert scripts().changed(hook) == ""
    if not is_workspace:
        assert bare("trust", str(folder)).status != 0, "nothing there needs trust"
