"""Every screen as an SVG picture: `python -m scripts.shots FOLDER [NAME …]`; `tour` names those of the page tour.md.

The app runs without a terminal over a fresh workspace in a temporary folder, with the real memory. No model is asked:
answers are offline's, and the Markdown that is shown was imported as a conversation held elsewhere.
"""

import asyncio
import html
import os
import re
import sys
import tempfile
from collections.abc import Awaitable, Callable, Container
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from rich.cells import cell_len
from textual.pilot import Pilot

from agent.cli.launch import LaunchOptions
from agent.config.config import Config
from agent.services.demo import DEMO_TEXT
from agent.services.trust import link_effect
from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import as_given, clear
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from memory.versions.cause import Author, caused_by
from models.messages import Role
from tui.app import PalimpsestApp
from tui.dialogs.trust import ChangesScreen, LinkScreen, QuestionDialog, TrustScreen
from tui.launch import create_app
from tui.themes.own import LIGHT

Act = Callable[[PalimpsestApp, Pilot[None]], Awaitable[None]]
SMALL: Final = (80, 24)
LARGE: Final = (200, 50)
SAID: Final = (
    (Role.USER, "When is the boiler serviced, and what must I keep? 锅炉什么时候保养？"),
    (
        Role.ASSISTANT,
        """It is serviced in **May** 🙂, by *Hansen*; the warranty ends in 2027. 锅炉每年五月保养，保修期到2027年为止。

1. Call two weeks before
2. Keep the receipt:
   - scan it
   - put it under `memory/`

```python
def due(month: str, year: int = 2027) -> bool:
    \"\"\"Whether it is time.\"\"\"
    return month == "May" and year <= 2027
```

| part | price | note |
|------|------:|------|
| valve | 12.50 | 阀门 |
| pump | 140.00 | ordered on Monday |

> Nothing of this left the machine.
""",
    ),
    (Role.USER, "The harbour office moved to Quay 7 in March; its number is 555 0199."),
    (Role.ASSISTANT, "Noted: the harbour office is at Quay 7 since March."),
)


async def typed(pilot: Pilot[None], text: str, *keys: str) -> None:
    for character in text:
        await pilot.press({"/": "slash", " ": "space", "@": "at"}.get(character, character))
    await pilot.press(*keys)
    await settled(pilot)


async def settled(pilot: Pilot[None]) -> None:
    """Until the session stands and nothing goes on."""
    app = pilot.app
    assert isinstance(app, PalimpsestApp)
    for _ in range(300):
        await pilot.pause(0.05)
        if app.chat.is_idle or app.screen is not app.chat:
            break
    await pilot.pause(0.2)


def typing(text: str, *keys: str) -> Act:
    async def act(_app: PalimpsestApp, pilot: Pilot[None]) -> None:
        await typed(pilot, text, *keys)

    return act


def then(first: Act, *keys: str) -> Act:
    """One thing, and keys after it is done, one after another."""

    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        await first(app, pilot)
        for key in keys:
            await pilot.press(key)
            await pilot.pause(0.5)

    return act


def asking(question: Callable[[], QuestionDialog]) -> Act:
    """A question about trust, as the chat asks it at opening."""

    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        app.push_screen(question())
        await pilot.pause(0.5)

    return act


def trust_question() -> QuestionDialog:
    facts = ("It belongs to ann and holds 12 conversations with 1,204 entries.", "It brings its own config.yaml.")
    return TrustScreen(("/home/ann/文档/cloned-notes 🌊", *facts))


def changes_question() -> QuestionDialog:
    setting = "· archive.storage: s3://somebody-elses-bucket/packs/with/a/long/prefix/that/does/not/fit/in/one/line"
    skills = ("skills/packing/SKILL.md is new.", "skills/old/SKILL.md was removed.")
    return ChangesScreen(("config.yaml changed.", setting, *skills))


def link_question() -> QuestionDialog:
    return LinkScreen("MEMORY.md", "/home/ann/文档/dotfiles 🌊/palimpsest/MEMORY.md", link_effect("MEMORY.md"))


async def nothing(_app: PalimpsestApp, _pilot: Pilot[None]) -> None:
    """The screen as it opens."""


SHOTS: Final[tuple[tuple[str, tuple[int, int], bool, str, Act], ...]] = (
    # name, size, with the demo conversation in memory, theme, what is done
    ("welcome", SMALL, False, "", nothing),
    ("answer-from-memory", SMALL, True, "", typing("Where is the harbour office?", "enter")),
    ("markdown", SMALL, True, "", typing("/resume House", "enter", "pageup")),
    ("markdown-wide", LARGE, True, "", typing("/resume House", "enter")),
    ("markdown-light", (100, 40), True, LIGHT, typing("/resume House", "enter")),
    ("commands", SMALL, False, "", typing("/re")),
    ("conversations", SMALL, True, "", typing("/resume", "escape", "enter")),
    ("context", (100, 40), True, "", typing("/context where is the harbour office?", "enter")),
    ("search", SMALL, True, "", typing("/search boiler 锅炉", "enter")),
    ("search-wide", LARGE, True, "", typing("/search boiler 锅炉", "enter")),
    ("search-place", SMALL, True, "", then(typing("/search Quay 7", "enter"), "enter")),
    ("find", SMALL, True, "", then(typing("/resume House", "enter"), "ctrl+f", *"boiler", "down")),
    ("passage", SMALL, True, "", then(typing("/search boiler", "enter"), "ctrl+o")),
    ("page", SMALL, True, "", then(typing("/search tomato pot", "enter"), "ctrl+g")),
    ("turns", SMALL, True, "", then(typing("/resume House", "enter"), *"/tree", "enter")),
    ("panel", LARGE, True, "", typing("Where is the harbour office?", "enter")),
    ("keys", SMALL, False, "", then(nothing, "f1")),
    ("palette", SMALL, True, "", then(nothing, "ctrl+p")),
    ("settings", SMALL, False, "", typing("/settings", "escape", "enter")),
    ("themes", SMALL, True, "", then(typing("/theme", "escape", "enter"), "down")),
    ("memory", SMALL, True, "", typing("/memory", "enter")),
    ("versions", (120, 30), True, "", then(typing("/memory", "enter"), "a")),
    ("statistics", SMALL, True, "", typing("/stats", "escape", "enter")),
    ("archive", SMALL, True, "", typing("/archive --list", "enter")),
    ("models", SMALL, False, "", typing("/model", "escape", "enter")),
    ("models-wide", LARGE, True, "", typing("/model", "escape", "enter")),
    ("permissions", SMALL, False, "", typing("/permissions", "escape", "enter")),
    ("permissions-wide", LARGE, False, "", typing("/permissions", "escape", "enter")),
    ("servers", SMALL, False, "", typing("/mcp", "escape", "enter")),
    ("help", SMALL, False, "", typing("/help", "enter")),
    ("help-wide", LARGE, False, "", typing("/help", "enter")),
    ("trust", SMALL, False, "", asking(trust_question)),
    ("trust-wide", LARGE, False, "", asking(trust_question)),
    ("trust-changes", SMALL, False, "", asking(changes_question)),
    ("trust-changes-wide", LARGE, False, "", asking(changes_question)),
    ("trust-link", SMALL, False, "", asking(link_question)),
    ("trust-link-wide", LARGE, False, "", asking(link_question)),
    ("no-such-command", SMALL, False, "", typing("/resumee x", "enter")),
)


TOUR: Final = frozenset(
    [
        "welcome",
        "answer-from-memory",
        "find",
        "search",
        "passage",
        "page",
        "conversations",
        "turns",
        "context",
        "memory",
        "versions",
        "statistics",
        "models",
        "permissions",
        "settings",
        "keys",
        "palette",
        "panel",
    ]
)


def demo(workspace: Workspace) -> None:
    """A conversation held some days ago, and notes by a person and by a model."""
    memory = Memory.open(workspace, SystemClock())
    try:
        conversation = memory.cold.new_conversation(clear("House"))
        moment, parent = datetime.now(UTC) - timedelta(days=3), None
        for role, text in SAID:
            moment += timedelta(minutes=1)
            entry = memory.cold.append(
                EntryDraft(
                    conversation=conversation.seq,
                    parent=parent,
                    kind=EntryKind.MESSAGE,
                    role=role,
                    time=moment,
                    text=clear(text),
                    speaker=clear("Ann" if role is Role.USER else ""),
                )
            )
            parent = entry.seq
        memory.vault.archive_text(as_given(DEMO_TEXT), label="A letter", mode="small")
        with caused_by(Author.USER, "/remember"):
            memory.hot.remember(clear("The boiler is serviced in May. 锅炉五月保养。"), heading=clear("The boiler"))
        with caused_by(Author.MODEL, f"tool remember in {conversation.id}"):
            memory.hot.remember(clear("Ann rows on Tuesdays."), file="memory/people.md")
    finally:
        memory.close()


async def shoot(folder: Path, name: str, size: tuple[int, int], with_demo: bool, theme: str, act: Act) -> None:
    with tempfile.TemporaryDirectory() as folder_name:
        os.environ["HOME"] = os.environ["USERPROFILE"] = folder_name
        root, project = Path(folder_name) / "notes", Path(folder_name) / "boathouse"
        root.mkdir()
        project.mkdir()
        os.chdir(project)
        workspace = Workspace(root)
        if with_demo:
            demo(workspace)
        environment = {**os.environ, "PALIMPSEST_DETECT": "off"}
        app = create_app(
            LaunchOptions(workspace=workspace, config=Config(environment=environment), new_workspace=not with_demo)
        )
        app.theme = theme or app.theme
        async with app.run_test(size=size) as pilot:
            await settled(pilot)
            await act(app, pilot)
            picture = with_true_widths(app.export_screenshot())
            (folder / f"{name}.svg").write_text(picture, encoding="utf-8")


def with_true_widths(svg: str) -> str:
    """The picture with each run of text as wide as its cells, and no font fetched from elsewhere.

    The exporter counts characters where it should count cells, which squeezes Chinese and emoji.
    """
    svg = re.sub(r"@font-face\s*{[^}]*}", "", svg)
    svg = svg.replace("Fira Code, monospace", "ui-monospace, Menlo, Consolas, DejaVu Sans Mono, monospace")

    def widened(match: re.Match[str]) -> str:
        length, body = float(match[2]), html.unescape(match[4])
        if not body or len(body) == cell_len(body):
            return match[0]
        return f"{match[1]}{length / len(body) * cell_len(body):g}{match[3]}{match[4]}</text>"

    return re.sub(r'(<text [^>]*textLength=")([\d.]+)("[^>]*>)([^<]*)</text>', widened, svg)


async def main(folder: Path, names: Container[str]) -> None:
    """Draws the screens of these names; all where there are none."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, size, with_demo, theme, act in SHOTS:
        if names and name not in names:
            continue
        await shoot(folder, name, size, with_demo, theme, act)
        sys.stdout.write(f"{folder / name}.svg\n")


if __name__ == "__main__":
    folder, chosen = Path(sys.argv[1] if len(sys.argv) > 1 else "shots"), sys.argv[2:]
    asyncio.run(main(folder.resolve(), TOUR if chosen == ["tour"] else chosen))
