"""What the first frame may not load: it is measured in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes import FakeClock
from tests.memory.cold.drafts import open_store
from tests.paths import ROOT

FORBIDDEN = (
    "mlx",
    "mlx_lm",
    "mlx_vlm",
    "onnxruntime",
    "rapidocr",
    "httpx2",
    "models.chat.detect",
    "numpy",
    "PIL",
    "textual_image",
    "mcp",
    "apsw",
    "yaml",
    "agent.events",
    "agent.services.live_search",
    "tui.chat.side_panel",
    "tui.search.screen",
)
PROGRAM = """
import asyncio, json, sys
from pathlib import Path
from agent.cli.invocation import Invocation
import tui.main
from tui.launch import create_app
from agent.cli.launch import LaunchOptions
from agent.config.config import Config
from foundation.paths import Workspace

root = Path(sys.argv[1]); root.mkdir()
app = create_app(LaunchOptions(workspace=Workspace(root), config=Config(environment={}), new_workspace=True))
seen = []
app.chat._begin = lambda: seen.append(sorted(name for name in sys.modules))  # runs after the first refresh

async def main():
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert any("Palimpsest" in strip.text for strip in app.screen._compositor.render_strips())
asyncio.run(main())
print(json.dumps(seen[0]))
"""


@pytest.fixture
def loaded(tmp_path: Path) -> list[str]:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "w")], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return json.loads(run.stdout.splitlines()[-1])


def test_the_first_frame_loads_no_model_no_client_no_probe(loaded: list[str]) -> None:
    assert "textual" in loaded
    assert [name for name in FORBIDDEN if name in loaded] == []


def test_the_entry_point_loads_no_screen_before_it_is_asked_for_one() -> None:
    code = "import sys, tui.main; print([n for n in ('textual', 'numpy', 'httpx2') if n in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("lost", [False, True])
def test_a_new_workspace_loads_no_database_to_look_for_a_lost_one(tmp_path: Path, lost: bool) -> None:
    if lost:
        (tmp_path / "w" / "conversations").mkdir(parents=True)
    code = """
import json, sys
from pathlib import Path
from agent.cli import chat
from agent.cli.invocation import Invocation
chat.at_a_terminal = lambda: True
root, seen = Path(sys.argv[1]), []
screen = lambda opening: seen.append("apsw" in sys.modules) or 0
where = dict(started_in=root, home=root.parent, workspace_flag=root)
chat.run_chat(Invocation(environment={}, open_screen=screen, **where), "")
print(json.dumps(seen))
"""
    script = [sys.executable, "-c", code, str(tmp_path / "w")]
    run = subprocess.run(script, capture_output=True, text=True, check=True, cwd=ROOT)
    assert json.loads(run.stdout.splitlines()[-1]) == [lost]


def test_the_names_of_settings_are_known_without_the_sources_of_their_sentences() -> None:
    code = (
        "from agent.config import settings; settings.all_settings();"
        "print(settings._sentences.cache_info().currsize, settings.all_settings()['model'].sentence[:11])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert run.stdout.strip() == "0 What answer"


def test_the_flags_of_permissions_are_read_without_the_context() -> None:
    code = (
        "import sys, agent.services.permission_rules;"
        "print([n for n in ('context', 'agent.events', 'memory.search') if n in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert run.stdout.strip() == "[]"


def test_trust_is_looked_up_without_the_whole_store(tmp_path: Path) -> None:
    database = tmp_path / "cold.db"
    open_store(database, FakeClock()).close()
    code = (
        "import sys; from pathlib import Path; from memory.access import first_entry;"
        "first_entry(Path(sys.argv[1]));"
        "print([n for n in ('apsw', 'memory.cold.store', 'memory.cold.entries', 'zipfile') if n in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code, str(database)], capture_output=True, text=True, cwd=ROOT)
    assert (run.stdout.strip(), run.stderr) == ("['apsw']", "")
