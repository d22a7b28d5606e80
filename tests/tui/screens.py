"""Every screen above the chat, each by its name, over a real memory with notes and conversations."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec import structs
from textual.screen import Screen
from textual.widgets import OptionList

from agent.config.settings import all_settings
from agent.mcp.server_state import ServerState
from agent.permissions.action import Access, Action, PersonQuestion
from agent.permissions.policy import Policy
from agent.permissions.rules import Rule, RuleSet, RuleSource, Verdict
from agent.services.live_settings import holds
from agent.services.memory_files import SavedNotes
from agent.services.settings import SettingRow
from foundation.clock import SystemClock
from foundation.errors import Misuse
from foundation.paths import Workspace
from foundation.privacy import clear
from memory.memory import Memory
from memory.versions.cause import Author, caused_by
from tests.tui.conftest import Chat
from tests.tui.fakes import NOW, FakeSession, answer
from tests.tui.overview.ports import QWEN, GivenModels, GivenServers, status
from tests.tui.pictures.acts import shown
from tests.tui.pictures.memories import write_conversations, write_notes
from tui.app import PalimpsestApp
from tui.dialogs.choices import ChoiceItem, ChoicesScreen
from tui.dialogs.confirm import GoOnScreen, ProposalScreen, YesScreen
from tui.dialogs.line import LineScreen
from tui.dialogs.permission import PermissionScreen
from tui.dialogs.question import QuestionScreen
from tui.dialogs.trust import ChangesScreen, LinkScreen, ServerScreen, TrustScreen
from tui.overview.edit_screen import EditScreen
from tui.overview.memory_screen import MemoryScreen
from tui.overview.models_screen import ModelsScreen
from tui.overview.permissions_screen import PermissionsScreen
from tui.overview.restore_dialog import RestoreScreen
from tui.overview.servers_screen import ServersScreen
from tui.overview.versions_screen import VersionsScreen
from tui.palette.key_rows import key_rows
from tui.palette.rows import command_rows
from tui.palette.screen import PaletteScreen
from tui.picker.browser import PickerSource
from tui.picker.conversations import ConversationLevel
from tui.picker.row_list import RowList
from tui.picker.screen import PickerScreen
from tui.picker.turns import TurnLevel
from tui.search.screen import SearchScreen
from tui.settings.screen import SettingsScreen

LONG: Final = "很长的路径/项目资料/🏺陶器/" * 9
DIFFERENCE: Final = "\n".join(["--- a", "+++ b", "@@ -1,9 +1,9 @@", *[f"-{LONG}", f"+锅炉 🙂 {LONG}"] * 9])
FACTS: Final = (f"It runs: python3 -m server --root '{LONG}'", "It receives the variables: TOKEN")
ACTION: Final = Action(
    tool="run_command", access=Access.RUN, summary=f"run ls {LONG}", detail=f"ls {LONG}", concern=f"It is {LONG}."
)
OFFERS: Final = ("run_command(ls *)", "run_command(ls 项目 *)")
MANY: Final = tuple(f"{number}, which is a long answer 很长 🏺 of two lines" for number in range(9))

Create = Callable[[PalimpsestApp, Memory], Screen[Any]]


class GivenSettings:
    """The first settings of the program."""

    async def rows(self) -> list[SettingRow]:
        return [
            SettingRow(
                title="",
                setting=setting,
                written="true" if setting.choices == ("true", "false") else "",
                origin="default",
                of_workspace=False,
                is_secret=False,
                holds=holds(name),
            )
            for name, setting in list(all_settings().items())[:30]
        ]

    async def change(self, name: str, text: str | None, *, user: bool) -> str:
        raise AssertionError(name, text, user)


def _refuse(_text: str) -> None:
    raise Misuse("Refused", "There is no tool of this name, and no file 文件 either.", "Write a tool and a pattern.")


async def _save(_base: str, text: str) -> SavedNotes:
    return SavedNotes(text)


def _memory_screen(memory: Memory) -> MemoryScreen:
    folder = memory.workspace.root
    (folder / "MEMORY.md").write_text("# Memory\n\n- The boiler is serviced in May. 锅炉 🙂\n", encoding="utf-8")
    (folder / "memory").mkdir(exist_ok=True)
    (folder / "memory" / "people.md").write_text("- Ann plays the cello.\n" * 40, encoding="utf-8")
    session: Any = FakeSession(answer)
    session.memory, session.workspace = memory, memory.workspace
    return MemoryScreen(session)


def _versions_screen(memory: Memory) -> VersionsScreen:
    for number in range(0 if memory.versions.store.versions() else 9):
        with caused_by(Author.MODEL, f"tool remember in {LONG}"):
            memory.hot.remember(clear(f"锅炉 🙂 {number}"), heading=None, conversation=None)
    return VersionsScreen(memory)


def _rules() -> Policy:
    return Policy(RuleSet([Rule(Verdict.ALLOW, "run_command", "git status *", RuleSource.USER)]))


def _line() -> LineScreen:
    notes = [f"A tool, or a tool with what it may do. {LONG}", "allow run_command(git status *)"]
    return LineScreen("Allow a tool 工具", notes, _refuse, text="run", scopes=["this project"])


DIALOGS: Final[dict[str, Create]] = {
    "choices": lambda *_: ChoicesScreen("模型 🤖", [ChoiceItem("a", LONG, LONG), ChoiceItem("b", "b")], notes=[LONG]),
    "proposal": lambda *_: ProposalScreen("Archive 归档", [("turns", LONG), ("pages", "3 🏺")]),
    "delete": lambda *_: YesScreen(
        "Delete 锅炉?", [("delete", LONG), ("kept", LONG), ("pages", "3 🏺")], "deletes it permanently"
    ),
    "limit": lambda *_: GoOnScreen(f"50 calls in this turn. Continue for another 50? {LONG}"),
    "permission": lambda *_: PermissionScreen(ACTION, "No rule decides.", offers=OFFERS),
    "question": lambda *_: QuestionScreen(PersonQuestion(LONG, ("是 ✅", "否 ❌"))),
    "question with many answers": lambda *_: QuestionScreen(PersonQuestion(LONG, MANY)),
    "trust": lambda *_: TrustScreen(FACTS),
    "changes": lambda *_: ChangesScreen(FACTS),
    "link": lambda *_: LinkScreen("MEMORY.md", LONG, "It is read."),
    "server": lambda *_: ServerScreen("文件-files 📁", FACTS, is_changed=False),
    "restore": lambda *_: RestoreScreen("Restore version 12 of memory/人.md?", DIFFERENCE),
    "line": lambda *_: _line(),
}
LISTS: Final[dict[str, Create]] = {
    "keys": lambda app, _: PaletteScreen("Keys and commands", [*key_rows(app.chat), *command_rows()], LONG),
    "settings": lambda *_: SettingsScreen(GivenSettings()),
    "conversations": lambda _, memory: PickerScreen(
        PickerSource(memory=memory), ConversationLevel(memory, today=lambda: NOW.date())
    ),
    "turns": lambda _, memory: PickerScreen(
        PickerSource(memory=memory),
        TurnLevel(memory, memory.conversations.find("c_boiler"), today=lambda: NOW.date()),
    ),
    "search": lambda _, memory: SearchScreen(memory, "boiler"),
    "models": lambda *_: ModelsScreen(
        GivenModels((QWEN, structs.replace(QWEN, spec="openai:通义千问-7b@http://a/v1")))
    ),
    "permissions": lambda *_: PermissionsScreen(_rules()),
    "servers": lambda *_: ServersScreen(
        GivenServers((status("旧的", ServerState.DISABLED), status("own", ServerState.STOPPED)))
    ),
    "memory": lambda _, memory: _memory_screen(memory),
    "versions": lambda _, memory: _versions_screen(memory),
}
OTHERS: Final[dict[str, Create]] = {
    "editor": lambda *_: EditScreen("MEMORY.md", "- Ann plays the cello. 🎻\n" * 40, _save),
}
EVERY_SCREEN: Final = {**DIALOGS, **LISTS, **OTHERS}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    folder = tmp_path / "memory"
    folder.mkdir()
    opened = Memory.open(Workspace(folder), SystemClock())
    write_notes(opened)
    write_conversations(opened)
    yield opened
    opened.close()


async def opened(chat: Chat, create: Create, memory: Memory) -> Screen[Any]:
    screen = create(chat.app, memory)
    await chat.app.push_screen(screen)
    if screen.query("#search-help"):
        await chat.until(lambda: screen.query_one(OptionList).option_count)
    else:
        await shown(chat.app, chat.pilot, type(screen))
    for rows in screen.query(RowList):
        await chat.until(lambda rows=rows: rows.count)
    await chat.pilot.pause(0.1)
    return screen
