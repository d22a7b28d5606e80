"""Memory: its files, search, passages, pages, the picker of conversations, and the figures."""

import asyncio
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import pytest
from msgspec import structs
from textual.pilot import Pilot

from agent.services import live_search
from agent.services.browse import PagePicture
from agent.services.memory_files import SavedNotes
from agent.services.statistics_view import DaySeries, StatisticsView
from agent.spending.report import SpendingReport, Spent
from context.report import PageUsage, archive_of
from memory.memory import Memory
from memory.pages.types import ArchiveRow, PageRow
from memory.records import Statistics
from memory.upkeep.disk import DiskPart, DiskUse
from memory.upkeep.idle import KEPT
from memory.upkeep.proposal import CleaningProposal
from memory.upkeep.retention import PlannedConversation
from tests.tui.fakes import NOW, REPORT, FakeSession
from tests.tui.pictures.acts import Act, pushing, shown
from tests.tui.pictures.conftest import Picture
from tui.app import PalimpsestApp
from tui.overview.archive_screen import ArchiveScreen
from tui.overview.clean_screen import CleanScreen
from tui.overview.context_screen import ContextScreen
from tui.overview.edit_screen import EditScreen
from tui.overview.memory_screen import MemoryScreen
from tui.overview.restore_dialog import RestoreScreen
from tui.overview.statistics_screen import StatisticsScreen
from tui.overview.versions_screen import VersionsScreen
from tui.passages.image_screen import ImageFileScreen
from tui.passages.page_screen import PictureScreen
from tui.passages.screen import PassageScreen
from tui.passages.text_screen import TextScreen
from tui.picker.browser import PickerSource
from tui.picker.conversations import ConversationLevel
from tui.picker.screen import PickerScreen
from tui.picker.turns import TurnLevel
from tui.search.screen import SearchScreen
from tui.widgets.transcript.block import BlockText

PAGE = Path(__file__).parents[1] / "data" / "page.png"
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
    disk=DiskUse(
        parts=(DiskPart("database", 4_200_000, "Entries."), DiskPart("packs", 80_000, "Archived pages, compressed.")),
        free=120_000_000_000,
    ),
    budget_mb=5_000,
    spending=SpendingReport(
        today=structs.replace(SPENT, key="2026-03-14"),
        daily_tokens=0,
        daily_cost=0.0,
        days=(SPENT,),
        conversations=(structs.replace(SPENT, title="House 锅炉"),),
        purposes=(structs.replace(SPENT, key="chat"),),
    ),
)


def searching(text: str, *keys: str, opens: type[Any] | None = None) -> Act:
    """/search, answered, and what stands around the selected hit read; then keys."""

    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        app.chat.queue.add(f"/search {text}")
        async with asyncio.timeout(20):
            while not (isinstance(app.screen, SearchScreen) and app.screen.is_up_to_date):
                await pilot.pause(0.02)
            while app.screen.rows and app.screen.selected.key not in app.screen.contexts:
                await pilot.pause(0.02)
        for key in keys:
            await pilot.press(key)
        if opens:
            await shown(app, pilot, opens)
        while (
            isinstance(app.screen, SearchScreen)
            and app.screen.rows
            and app.screen.selected.key not in app.screen.contexts
        ):
            await pilot.pause(0.02)

    return act


async def test_the_search_with_what_it_found(
    picture: Picture, remembered: Memory, monkeypatch: pytest.MonkeyPatch
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
    await picture(searching("boiler 锅炉", "down"), memory=remembered)


async def test_the_search_that_found_nothing(picture: Picture, remembered: Memory) -> None:
    await picture(searching("kind:page zeppelin 齐柏林 🙂"), memory=remembered)


async def test_the_search_with_a_filter_that_cannot_be(picture: Picture, remembered: Memory) -> None:
    await picture(searching("boiler trust:maybe"), memory=remembered)


async def test_a_passage_whole(picture: Picture, remembered: Memory) -> None:
    await picture(searching("boiler", "ctrl+o", opens=PassageScreen), memory=remembered)


async def test_a_page_as_a_picture(picture: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn(_memory: object, page: str, *_: object, **__: object) -> PagePicture:
        row = PageRow(
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
        )
        return PagePicture(PAGE, row)

    monkeypatch.setattr("tui.passages.page_screen.page_picture", drawn)
    await picture(pushing(lambda: PictureScreen(SimpleNamespace(), ("pg_19ab", "pg_20cd"), "blocks")))


async def test_an_image_file(picture: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PAGE.parent)
    await picture(pushing(lambda: ImageFileScreen(Path(PAGE.name), "blocks")))


async def test_a_long_text_in_the_pager(picture: Picture) -> None:
    lines = "\n".join(f"行 {number} of the list 🏺" for number in range(1, 300))
    await picture(pushing(lambda: TextScreen("read 锅炉/list.txt", lambda: BlockText(lines)), "slash", *"299", "enter"))


# The picker


async def test_the_picker_of_conversations(picture: Picture, picked: Memory) -> None:
    def level() -> ConversationLevel:
        return ConversationLevel(picked, today=lambda: NOW.date())

    await picture(pushing(lambda: PickerScreen(PickerSource(memory=picked), level())))


async def test_the_picker_of_turns(picture: Picture, picked: Memory) -> None:
    def level() -> TurnLevel:
        return TurnLevel(picked, picked.conversations.find("c_boiler"), today=lambda: NOW.date())

    await picture(pushing(lambda: PickerScreen(PickerSource(memory=picked), level())))


# What there is


async def test_the_context_by_layer_and_part(picture: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = PageUsage(7, 4_175, 9_393)
    report = structs.replace(REPORT, pages=pages, archive=archive_of(118_018, pages))
    monkeypatch.setattr(FakeSession, "context_report", AsyncMock(return_value=report))

    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        app.chat.queue.add("/context")
        await shown(app, pilot, ContextScreen)

    await picture(act)


async def test_the_context_where_older_turns_leave_first(picture: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
    report = structs.replace(REPORT, before_compaction=REPORT.total_tokens + 5_400)
    monkeypatch.setattr(FakeSession, "context_report", AsyncMock(return_value=report))

    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        app.chat.queue.add("/context")
        await shown(app, pilot, ContextScreen)

    await picture(act)


async def test_the_files_of_memory(picture: Picture, remembered: Memory) -> None:
    folder = remembered.workspace.root
    text = "# Memory\n\n- The boiler is serviced in May. 锅炉 🙂\n"
    (folder / "MEMORY.md").write_text(text, encoding="utf-8")
    (folder / "memory").mkdir(exist_ok=True)
    (folder / "memory" / "people.md").write_text("- Ann plays the cello.\n" * 40, encoding="utf-8")

    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        app.chat.queue.add("/memory")
        await shown(app, pilot, MemoryScreen)

    await picture(act, memory=remembered)


async def test_the_versions_of_a_file(picture: Picture, versioned: Memory) -> None:
    await picture(pushing(lambda: VersionsScreen(versioned, "MEMORY.md")), memory=versioned)


async def test_the_versions_of_all_files_filtered(picture: Picture, versioned: Memory) -> None:
    await picture(pushing(lambda: VersionsScreen(versioned), "slash", *"model"), memory=versioned)


async def test_a_version_to_restore(picture: Picture, versioned: Memory) -> None:
    async def act(app: PalimpsestApp, pilot: Pilot[None]) -> None:
        await pushing(lambda: VersionsScreen(versioned, "MEMORY.md"), "end", "r")(app, pilot)
        await until_on_top(app, pilot, RestoreScreen)

    await picture(act, memory=versioned)


async def until_on_top(app: PalimpsestApp, pilot: Pilot[None], screen: type[RestoreScreen]) -> None:
    async with asyncio.timeout(20):
        while not isinstance(app.screen, screen):
            await pilot.pause(0.02)


async def test_a_file_of_memory_in_the_editor(picture: Picture) -> None:
    async def save(_base: str, text: str) -> SavedNotes:
        return SavedNotes(text)

    text = "# Memory\n\n- The boiler is serviced in May. 锅炉 🙂\n" + "- Ann plays the cello.\n" * 40
    await picture(pushing(lambda: EditScreen("MEMORY.md", text, save), "down", "down", "x"))


async def test_the_statistics_with_a_chart(picture: Picture) -> None:
    async def load() -> StatisticsView:
        return STATISTICS

    await picture(pushing(lambda: StatisticsScreen(load)))


async def test_what_nobody_touched(picture: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
    def planned(number: int, title: str, size: int, stays: str = "") -> PlannedConversation:
        return PlannedConversation(
            seq=number,
            conversation=f"c_{number}",
            title=title,
            touched=NOW - timedelta(days=30 + number),
            entries=number * 12,
            bytes=size,
            rule=0,
            action="keep" if stays else "archive",
            stays=stays,
        )

    proposed = CleaningProposal(
        days=30,
        time=NOW,
        leaving=(
            planned(1, "锅炉 🙂 The boiler", 3_400_000),
            planned(2, "Trip to the harbour", 812_000),
            planned(3, "", 4_100),
        ),
        staying=(planned(4, "Warranty", 96_000, "pinned"), planned(5, "保修单 🧾", 2_100, KEPT)),
    )
    monkeypatch.setattr("memory.upkeep.proposal.proposal", lambda *_: proposed)
    session: Any = SimpleNamespace(
        memory=None, clock=SimpleNamespace(now=lambda: NOW), config=SimpleNamespace(retention=None)
    )
    await picture(pushing(lambda: CleanScreen(session)))


async def test_the_archive(picture: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
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
    await picture(pushing(lambda: ArchiveScreen(memory)))
