"""Records docs/reference/first-session.md's pictures: `python -m scripts.record_session docs/session`.

One real session from an empty folder on: the real program, the real memory, and a real llama.cpp server whose tiny
model is scripted, so that it says the same words each time.
"""

import asyncio
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from agent.cli import main as palimpsest
from agent.cli.launch import LaunchOptions
from agent.config.config import load_config
from foundation.paths import Workspace
from scripts.shots import settled, typed, with_true_widths
from tests.e2e.conversation import QUESTION, SMALL_TALK, talk_jsonl
from tests.scripted_models import scripted_gguf
from tests.servers import start_llama
from tui.app import PalimpsestApp
from tui.launch import create_app
from tui.widgets.prompt.input import Prompt

REPLY = (
    "It lies in the blue tin behind your third tomato pot, as Ann wrote on 5 March [t100]; Mrs Okonkwo keeps a spare."
)
WISH = "Note for later: the cello lesson moved to 17:45 on Thursdays, room 4B. Bring rosin. 大提琴课改到星期四。"


def llama(folder: Path) -> Any:
    import xllamacpp

    return start_llama(xllamacpp, scripted_gguf(folder / "scripted.gguf", REPLY, context=65536), 65536)


class Recording:
    """An app under way, and the folder for its pictures."""

    def __init__(self, workspace: Workspace, folder: Path, size: tuple[int, int] = (100, 30)) -> None:
        config = load_config(workspace, dict(os.environ), {}).config
        self.app: PalimpsestApp = create_app(LaunchOptions(workspace=workspace, config=config, new_workspace=True))
        self.folder = folder
        self.size = size

    def shoot(self, name: str) -> None:
        picture = with_true_widths(self.app.export_screenshot())
        (self.folder / f"{name}.svg").write_text(picture, encoding="utf-8")


async def record(root: Path, folder: Path) -> None:
    workspace = Workspace(root / "garden")
    command("init", str(workspace.root))
    server = llama(root)
    os.environ["PALIMPSEST_MODELS_WINDOW"] = "16000"
    recording = Recording(workspace, folder)
    async with recording.app.run_test(size=recording.size) as pilot:
        await settled(pilot)
        recording.shoot("1-welcome")
        (root / "letters.jsonl").write_text(talk_jsonl(), encoding="utf-8")
        command("--workspace", str(workspace.root), "import", str(root / "letters.jsonl"), "--source", "letters")
        await typed(pilot, QUESTION, "enter")
        recording.shoot("2-answer-from-memory")
        await typed(pilot, f"/model openai:scripted@{server.listening_address}/v1", "enter")
        await typed(pilot, QUESTION, "enter")
        recording.shoot("3-a-model")
        for text in (WISH, *(log(n) for n in range(1, 9))):
            recording.app.chat.query_one(Prompt).text = text
            await typed(pilot, "", "enter")
        recording.shoot("4-receipt")
        await typed(pilot, "/recall When is the cello lesson?", "enter")
        await pilot.pause(1)
        recording.shoot("5-recall")
        await pilot.press("ctrl+o")
        await pilot.pause(1)
        recording.shoot("6-passage")
        await pilot.press("escape", "escape")
        await typed(pilot, "/context And when is the cello lesson?", "enter")
        recording.shoot("7-context")


def log(day: int) -> str:
    """A long entry of the garden's log."""
    lines = (words.format(n=day * 10 + n) for n in range(4) for _, words in SMALL_TALK)
    return f"For the log, day {day}. " + " ".join(lines)


def command(*words: str) -> None:
    sys.stdout.write(f"$ palimpsest {' '.join(words)}\n")
    sys.stdout.flush()
    if palimpsest(argv=list(words)):
        raise SystemExit("the command failed")


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as workspace:
        os.environ |= {
            "HOME": workspace,
            "USERPROFILE": workspace,
            "PALIMPSEST_DETECT": "off",
            "PALIMPSEST_CONFIG_DIR": str(Path(workspace) / "config"),
        }
        project = Path(workspace) / "shed"
        project.mkdir()
        folder = folder.resolve()
        os.chdir(project)
        asyncio.run(record(Path(workspace), folder))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/session"))
