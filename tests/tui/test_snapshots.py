"""What the screens look like, as pictures. `pytest --snapshot-update` takes them anew; look at them before."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import pytest
from msgspec import structs
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Static

from agent.config.settings import all_settings
from agent.permissions.action import Access, Action
from agent.services import live_search
from agent.services.browse import PagePicture
from agent.services.conversation_tree import set_turn_label
from agent.services.live_settings import holds
from agent.services.settings import SettingRow
from agent.services.statistics_view import DaySeries, DiskSize, Saving, StatisticsView
from agent.spending.report import SpendingReport, Spent
from context.report import PageUsage, archive_of
from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import EMPTY, clear
from memory.conversations import ImportedConversation
from memory.memory import Memory
from memory.pages.types import ArchiveRow, PageRow
from memory.records import EntryDraft, EntryKind, Statistics
from models.messages import Role
from tests.tui.fakes import NOW, RECALLED, REPORT, FakeSession, answer
from tui.app import PalimpsestApp
from tui.chat.drafts import Drafts
from tui.chat.start import ChatStart
from tui.dialogs.confirm import ProposalScreen
from tui.dialogs.permission import PermissionScreen
from tui.overview.archive_screen import ArchiveScreen
from tui.overview.context_screen import ContextScreen
from tui.overview.memory_screen import MemoryScreen
from tui.overview.statistics_screen import StatisticsScreen
from tui.palette.screen import PaletteScreen
from tui.passages.page_screen import PictureScreen
from tui.passages.screen import PassageScreen
from tui.picker.browser import PickerSource
from tui.picker.conversations import ConversationLevel
from tui.picker.screen import PickerScreen
from tui.picker.turns import TurnLevel
from tui.search.screen import SearchScreen
from tui.settings.screen import SettingsScreen
from tui.themes.own import CONTRAST_DARK, LIGHT
from tui.widgets.prompt.chips import PastedImage
from tui.widgets.query_input import QueryInput
from tui.widgets.transcript.view import Transcript

MARKDOWN = """# The boiler, 锅炉

It is serviced in **May** 🙂, the `warranty` ends in 2027. 锅炉每年五月保养。

1. Call two weeks before
   - early

```python
def due(month: str) -> bool:
    return month == "May"  # 中文
```

| part | price |
|------|------:|
| 阀门 | 12.50 |

> Nothing leaves this machine.
"""

PICTURE = Path(__file__).parent / "data" / "page.png"
NOTES = (
    (
        "Ann",
        "The boiler is serviced in May by Hansen; the warranty ends in 2027. 锅炉每年五月保养，保修期到2027年为止。 🙂",
    ),
    ("Ann", "Call Hansen about the boiler two weeks before.\n\n- keep the receipt\n- scan it\n- put it under memory/"),
    ("", "The boiler [red]valve[/] cost 12.50, the pump 140.00; both are ordered."),
)

Look = Callable[..., Any]


@pytest.fixture
def remembered(tmp_path: Path) -> Iterator[Memory]:
    """Notes about a boiler, with ids and times of their own, always found in the same time."""
    (tmp_path / "memory").mkdir()
    memory = Memory.open(Workspace(tmp_path / "memory"), SystemClock())
    house = memory.cold.new_conversation(clear("House"), id="c_house")
    for number, (speaker, text) in enumerate(NOTES):
        role = Role.USER if speaker else Role.ASSISTANT
        memory.cold.append(
            EntryDraft(
                conversation=house.seq,
                parent=None,
                kind=EntryKind.MESSAGE,
                role=role,
                speaker=speaker,
                text=clear(text),
                id=f"e_{number}",
                time=NOW + timedelta(days=number),
            )
        )
    yield memory
    memory.close()


@pytest.fixture
def look(snap_compare: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Look:
    monkeypatch.setattr("tui.chat.start.short_path", lambda path: "~/notes" if path == tmp_path else f"~{path}")
    monkeypatch.setattr("tui.chat.controller.TICK_S", 3600)  # a slow machine shows no seconds

    def looked(
        act: Callable[[PalimpsestApp, Pilot[None]], Awaitable[None]] | None = None,
        *,
        events: list[Any] | None = None,
        size: tuple[int, int] = (80, 24),
        theme: str = "palimpsest",
        new: bool = True,
        project: tuple[Path, ...] = (),
        memory: Memory | None = None,
    ) -> bool:
        session = FakeSession(lambda _: events or answer(MARKDOWN, recalled=RECALLED))
        session.memory = memory or session.memory

        async def opened() -> Any:
            return session

        start = ChatStart(
            workspace=Workspace(tmp_path),
            model="offline",
            project=project,
            working_directory=tmp_path,
            new_workspace=new,
        )
        app = PalimpsestApp(start, opened, theme=theme)

        async def before(pilot: Pilot[None]) -> None:
            await resting(app)
            if act:
                await act(app, pilot)
            await pilot.pause(0.1)

        return snap_compare(app, run_before=before, terminal_size=size)

    return looked


async def resting(app: PalimpsestApp) -> None:
    async with asyncio.timeout(5):
        while not app.chat.is_idle:
            await asyncio.sleep(0.01)


async def shown(app: PalimpsestApp, pilot: Pilot[None], screen: type[Screen[Any]]) -> None:
    """Until that screen stands and its workers are done."""
    async with asyncio.timeout(5):
        while not isinstance(app.screen, screen) or any(
            one.is_running for one in app.workers if one.node is app.screen
        ):
            await pilot.pause(0.02)
    await pilot.pause()


def saying(text: str) -> Callable[[PalimpsestApp, Pilot[None]], Awaitable[None]]:
    async def act(app: PalimpsestApp, _pilot: Pilot[None]) -> None:
        app.chat.queue.add(text)
        await resting(app)

    return act


def test_a_first_run_is_a_welcome_and_no_wall(look: Look) -> None:
    assert look(project=(Path("/code/陶器 🏺"),))


def test_an_answer_with_its_citations_on_a_small_screen(look: Look) -> None:
    assert look(saying("When is the boiler serviced? 锅炉什么时候保养？"), new=False)


def test_an_answer_on_a_large_screen_keeps_a_readable_width(look: Look) -> None:
    assert look(saying("When is the boiler serviced? 锅炉什么时候保养？"), size=(200, 50))


def test_the_light_theme(look: Look) -> None:
    assert look(saying("When?"), size=(100, 36), theme=LIGHT)


@pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=["80x24", "200x50"])
def test_vim_keys_show_their_mode_and_chips_their_key(look: Look, size: tuple[int, int]) -> None:
    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        prompt = app.chat.prompt
        prompt.use_vim_keys(True)
        prompt.insert_text("compare 锅炉 🙂")
        prompt.insert_images([PastedImage("/home/ann/照片.png", 1200, 800)])
        prompt.insert_folded("a line\n" * 40)
        await pilot.press("escape", "2", "d")

    assert look(act, size=size)


def test_commands_are_offered_above_the_prompt(look: Look) -> None:
    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        await pilot.press("slash", "r", "e")
        async with asyncio.timeout(5):
            while not app.chat.suggestions.display:
                await asyncio.sleep(0.01)

    assert look(act)


SPENT = Spent(
    key="2026-03-13",
    requests=41,
    prompt_tokens=120_000,
    completion_tokens=9_000,
    cached_tokens=80_000,
    money={"USD": 0.281},
    local=0,
    unpriced=0,
)
SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)], ids=["small", "medium", "large"])


@SIZES
def test_the_context_by_layer_and_part(look: Look, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    pages = PageUsage(7, 4_175, 9_393)
    report = structs.replace(REPORT, pages=pages, archive=archive_of(118_018, pages))
    monkeypatch.setattr(FakeSession, "context_report", AsyncMock(return_value=report))

    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        app.chat.queue.add("/context")
        await shown(app, pilot, ContextScreen)

    assert look(act, size=size, new=False)


@SIZES
def test_the_files_of_memory(look: Look, remembered: Memory, size: tuple[int, int]) -> None:
    folder = remembered.workspace.root
    text = "# Memory\n\n- The boiler is serviced in May. 锅炉 🙂\n"
    (folder / "MEMORY.md").write_text(text, encoding="utf-8")
    (folder / "memory").mkdir(exist_ok=True)
    (folder / "memory" / "people.md").write_text("- Ann plays the cello.\n" * 40, encoding="utf-8")

    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        app.chat.queue.add("/memory")
        await shown(app, pilot, MemoryScreen)

    assert look(act, size=size, new=False, memory=remembered)


STATISTICS = StatisticsView(
    figures=Statistics(
        conversations=12,
        messages=840,
        chunks=9,
        compressed_chunks=2,
        entries=1_204,
        chars=80_000,
        archived_entries=300,
        archived_chars=40_000,
        pages=41,
        packs=2,
        pack_bytes=80_000,
        cold_pages=0,
        database_bytes=4_200_000,
        models=(),
    ),
    series=(
        DaySeries(
            "messages",
            "messages",
            tuple(f"2026-03-{n:02}" for n in range(1, 31)),
            tuple(n * 7 % 19.0 for n in range(30)),
        ),
        DaySeries("spent in USD", "USD", ("2026-03-13", "2026-03-14"), (0.25, 0.031)),
    ),
    savings=(Saving("pages", 9_393, 4_175, "Text tokens of what is archived, and the vision tokens of the pages."),),
    sizes=(DiskSize("database", 4_200_000, "Entries."), DiskSize("packs", 80_000, "Archived pages, compressed.")),
    spending=SpendingReport(
        today=structs.replace(SPENT, key="2026-03-14"),
        daily_tokens=0,
        daily_cost=0.0,
        days=(SPENT,),
        conversations=(structs.replace(SPENT, title="House 锅炉"),),
        purposes=(structs.replace(SPENT, key="chat"),),
    ),
)


@SIZES
def test_the_statistics_with_a_chart(look: Look, size: tuple[int, int]) -> None:
    async def load() -> StatisticsView:
        return STATISTICS

    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        app.push_screen(StatisticsScreen(load))
        await shown(app, pilot, StatisticsScreen)

    assert look(act, size=size, new=False)


@SIZES
def test_the_archive(look: Look, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        ArchiveRow(
            seq=n,
            label=label,
            created=NOW,
            origin=origin,
            pages=pages,
            text_tokens=pages * 1_300,
            vision_tokens=pages * 256,
        )
        for n, (label, origin, pages) in enumerate(
            (("House · e_1 to e_24", "conversation", 3), ("GPL-3", "file", 40), ("保修单", "file", 1)), 1
        )
    ]
    monkeypatch.setattr("tui.overview.archive_screen.archive_pages", lambda memory, archive: [])
    memory: Any = SimpleNamespace(vault=SimpleNamespace(archives=lambda: rows))

    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        app.push_screen(ArchiveScreen(memory))
        await shown(app, pilot, ArchiveScreen)

    assert look(act, size=size, new=False)


def test_an_error_is_one_panel(look: Look) -> None:
    from agent.events import TurnFailed

    failed = TurnFailed(
        "refused", "No answer", "127.0.0.1:8080 refused the connection.", "Start the server, or /model offline."
    )
    assert look(saying("hello"), events=[failed], new=False)


@pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=["small", "large"])
def test_messages_that_wait_and_one_that_steers_stand_above_the_prompt(look: Look, size: tuple[int, int]) -> None:
    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        for text in ("one", "two [red]", "three 三 👩‍💻"):
            app.chat.queue.add(text, steers="三" in text)
            await pilot.pause(0.1)

    assert look(act, events=[*answer("Some words")[:5], asyncio.Event()], new=False, size=size)


@pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=["small", "large"])
def test_a_question_of_permission_with_its_numbers(look: Look, size: tuple[int, int]) -> None:
    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        run = Action(tool="run_command", access=Access.RUN, summary="run git status", subject="git add 茶 👩‍💻")
        app.push_screen(PermissionScreen(run, "No rule decides.", offers=("run_command(git add *)",)))
        await shown(app, pilot, PermissionScreen)

    assert look(act, size=size, new=False)


@pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=["small", "large"])
def test_a_draft_that_was_restored(look: Look, tmp_path: Path, size: tuple[int, int]) -> None:
    Drafts(Workspace(tmp_path).drafts).save("new", "half a thought 半 👩‍💻")
    assert look(size=size, new=False)


@pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=["small", "large"])
def test_archiving_is_asked_for_with_its_figures(look: Look, size: tuple[int, int]) -> None:
    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        app.chat.queue.add("/archive Spring plans")
        await shown(app, pilot, ProposalScreen)

    assert look(act, size=size, new=False)


@pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=["small", "large"])
def test_a_passage_whole(look: Look, remembered: Memory, size: tuple[int, int]) -> None:
    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        await sought(app, pilot, "boiler")
        await pilot.press("ctrl+o")
        await shown(app, pilot, PassageScreen)

    assert look(act, size=size, new=False, memory=remembered)


async def sought(app: PalimpsestApp, pilot: Pilot[None], text: str) -> None:
    """/search, answered, and what stands around the first hit read."""
    app.chat.queue.add(f"/search {text}")
    async with asyncio.timeout(20):
        while not (isinstance(app.screen, SearchScreen) and app.screen.is_up_to_date):
            await pilot.pause(0.02)
        while app.screen.rows and app.screen.selected.key not in app.screen.contexts:
            await pilot.pause(0.02)
    await pilot.pause()


@pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=["small", "large"])
def test_the_search_with_what_it_found(
    look: Look, remembered: Memory, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = live_search.find_rows

    def steady(*asked: Any, **named: Any) -> Any:
        """What is found, always as likely and in the same time; the second superseded by the first, the last twice."""
        found = seen(*asked, **named)
        likely = (0.93, 0.61, 0.4, 0.2)
        rows = [structs.replace(row, score=score) for row, score in zip(found.rows, likely, strict=False)]
        rows[1] = structs.replace(rows[1], superseded_by=rows[0].id)
        rows[2] = structs.replace(rows[2], duplicates=(rows[1].id,))
        return structs.replace(found, rows=tuple(rows), took_ms=3.0)

    monkeypatch.setattr("agent.services.live_search.find_rows", steady)

    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        await sought(app, pilot, "boiler 锅炉")
        await pilot.press("down")
        await sought_around(app, pilot)

    assert look(act, size=size, new=False, memory=remembered)


async def sought_around(app: PalimpsestApp, pilot: Pilot[None]) -> None:
    async with asyncio.timeout(20):
        while app.screen.selected.key not in app.screen.contexts:
            await pilot.pause(0.02)
    await pilot.pause()


def test_the_search_that_found_nothing(look: Look, remembered: Memory) -> None:
    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        await sought(app, pilot, "kind:page zeppelin 齐柏林 🙂")

    assert look(act, new=False, memory=remembered)


def test_the_search_with_a_filter_that_cannot_be(look: Look, remembered: Memory) -> None:
    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        await sought(app, pilot, "boiler trust:maybe")

    assert look(act, new=False, memory=remembered)


@pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=["small", "large"])
def test_a_page_as_a_picture(look: Look, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn(_memory: object, page: str, _start: int | None = None) -> PagePicture:
        return PagePicture(
            PICTURE,
            PageRow(
                id=page,
                archive=1,
                number=1,
                mode="tiny",
                width=512,
                height=512,
                chars=1_402,
                sha256="",
                pack="",
                position=0,
                text_tokens=505,
                vision_tokens=64,
            ),
        )

    monkeypatch.setattr("tui.passages.page_screen.page_picture", drawn)

    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        app.push_screen(PictureScreen(None, ("pg_19ab", "pg_20cd"), "blocks"))
        await shown(app, pilot, PictureScreen)

    assert look(act, size=size, new=False)


def test_an_attached_picture_stands_under_its_message(look: Look, tmp_path: Path) -> None:
    (tmp_path / "page.png").write_bytes(PICTURE.read_bytes())
    assert look(saying("What does @page.png say? 上面写着什么？"), new=False, events=answer("It is about a boiler."))


def test_more_below_is_hinted_at(look: Look) -> None:
    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        await saying("first")(app, pilot)
        await pilot.press("pageup")
        await saying("second")(app, pilot)
        await pilot.press("pageup", "pageup")
        app.chat.transcript.post_message(Transcript.NewBelowChanged(has_new=True))

    assert look(act)


@pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=["small", "large"])
def test_the_keys_of_the_place_and_the_commands(look: Look, size: tuple[int, int]) -> None:
    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        await pilot.press("f1")
        await shown(app, pilot, PaletteScreen)

    assert look(act, size=size)


@pytest.mark.parametrize("theme", [LIGHT, CONTRAST_DARK, "nord", "ansi-dark"])
def test_the_palette_in_every_kind_of_theme(look: Look, theme: str) -> None:
    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        await pilot.press("ctrl+p")
        await shown(app, pilot, PaletteScreen)

    assert look(act, size=(120, 36), theme=theme)


@pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=["small", "large"])
def test_the_settings_with_who_set_them(look: Look, size: tuple[int, int]) -> None:
    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        app.push_screen(SettingsScreen(ThreeSettings()))
        await shown(app, pilot, SettingsScreen)
        await pilot.press("down", "enter")

    assert look(act, size=size)


class ThreeSettings:
    """A switch that was changed, a number that is being changed, and a choice."""

    async def rows(self) -> list[SettingRow]:
        names = {"context.use_memory": ("false", "config.yaml, line 2"), "models.window": ("8192", "default")}
        names["screen.pictures"] = ("auto", "default")
        return [
            SettingRow(
                setting=all_settings()[name],
                written=value,
                origin=origin,
                of_workspace=False,
                is_secret=False,
                holds=holds(name),
            )
            for name, (value, origin) in names.items()
        ]

    async def change(self, name: str, text: str | None, *, user: bool) -> str:
        raise AssertionError(name, text, user)


@pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=["small", "large"])
def test_the_picker_of_conversations(look: Look, picked: Memory, size: tuple[int, int]) -> None:
    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        level = ConversationLevel(picked, today=lambda: NOW.date())
        app.push_screen(PickerScreen(PickerSource(memory=picked), level))
        await shown(app, pilot, PickerScreen)
        await pilot.pause(0.3)

    assert look(act, size=size)


@pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=["small", "large"])
def test_the_picker_of_turns(look: Look, picked: Memory, size: tuple[int, int]) -> None:
    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        level = TurnLevel(picked, picked.conversations.find("c_boiler"), today=lambda: NOW.date())
        app.push_screen(PickerScreen(PickerSource(memory=picked), level))
        await shown(app, pilot, PickerScreen)
        await pilot.pause(0.3)

    assert look(act, size=size)


@pytest.fixture
def picked(tmp_path: Path) -> Iterator[Memory]:
    """Conversations of three days, in two languages; one of them with two branches and a label."""
    (tmp_path / "picked").mkdir()
    memory = Memory.open(Workspace(tmp_path / "picked"), SystemClock())
    stored = memory.conversations

    def said(conversation: int, id_: str, parent: int | None, role: Role, text: str, moment: datetime) -> int:
        draft = EntryDraft(
            conversation=conversation,
            parent=parent,
            kind=EntryKind.MESSAGE,
            role=role,
            text=clear(text),
            id=clear(id_),
            time=moment,
        )
        return stored.append(draft).seq

    titles = (
        ("c_tea", "Tea at four", 0, "At four?", "As ever."),
        ("c_boiler", "锅炉 🙂 The boiler", 1, "When is the boiler serviced? 锅炉什么时候保养？", "In May. 每年五月。"),
        ("c_harbour", "The harbour", 2, "Where is the lighthouse?", "Behind the mole."),
    )
    for id_, title, days, question, reply in titles:
        moment = NOW - timedelta(days=days)
        (conversation,) = stored.open_imported(
            [ImportedConversation(EMPTY, clear(id_), clear(title), moment - timedelta(hours=1))]
        )
        first = said(conversation.seq, f"e_{id_}1", None, Role.USER, question, moment - timedelta(minutes=9))
        answered = said(conversation.seq, f"e_{id_}2", first, Role.ASSISTANT, reply, moment - timedelta(minutes=8))
        if id_ == "c_boiler":
            other = said(conversation.seq, "e_5", answered, Role.USER, "And the pump?", moment - timedelta(minutes=5))
            said(conversation.seq, "e_6", other, Role.ASSISTANT, "In June.", moment - timedelta(minutes=4))
            last = said(conversation.seq, "e_7", answered, Role.USER, "Who comes?", moment - timedelta(minutes=3))
            said(conversation.seq, "e_8", last, Role.ASSISTANT, "Ann.", moment - timedelta(minutes=2))
            set_turn_label(memory, conversation.seq, f"e_{id_}1", "start")
            stored.label(conversation.seq, clear("scope:house"))
    yield memory
    memory.close()


@pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=["small", "large"])
def test_the_find_bar_with_its_matches(look: Look, size: tuple[int, int]) -> None:
    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        await saying("When is the boiler serviced? 锅炉什么时候保养？ 🙂")(app, pilot)
        await pilot.press("ctrl+f")
        app.screen.query_one("#find-query", QueryInput).value = "锅炉"
        async with asyncio.timeout(20):
            while " of " not in str(app.screen.query_one("#find-count", Static).content):
                await pilot.pause(0.02)
        await pilot.press("down")

    assert look(act, size=size, new=False)
