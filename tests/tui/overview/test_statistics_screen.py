"""The statistics screen over a real store: charts by day, what is on disk."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.spending.report import Spent
from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import clear
from foundation.sizes import format_size
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from memory.settings import DiskSettings
from memory.upkeep.disk import measure
from models.messages import Role
from models.settings import ModelSettings
from tests.tui.conftest import Chat, Open
from tests.tui.fakes import FakeSession, answer
from tui.overview.archive_screen import ArchiveScreen
from tui.overview.bars import bar, columns
from tui.overview.statistics_screen import StatisticsScreen, spending_rows
from tui.passages.page_screen import PictureScreen
from tui.passages.text_screen import TextScreen


@pytest.fixture
def session(workspace: Workspace) -> Iterator[Any]:
    fake: Any = FakeSession(answer)
    fake.workspace, fake.clock = workspace, SystemClock()
    fake.memory = Memory.open(workspace, fake.clock)
    fake.config = SimpleNamespace(screen=fake.config.screen, models=ModelSettings(), disk=DiskSettings())
    yield fake
    fake.memory.close()


def said(memory: Memory, count: int) -> None:
    house = memory.cold.new_conversation(clear("House"))
    for number in range(count):
        memory.cold.append(
            EntryDraft(
                conversation=house.seq,
                parent=None,
                kind=EntryKind.MESSAGE,
                role=Role.USER,
                text=clear(f"The boiler is serviced in May, {number}."),
            )
        )


def seen(chat: Chat) -> str:
    return "\n".join(chat.seen)


async def opened(chat: Chat, line: str, kind: type[Any]) -> Any:
    chat.screen.queue.add(line)
    await chat.until(lambda: isinstance(chat.app.screen, kind) and chat.app.screen.is_read)
    return chat.app.screen


async def test_messages_by_day_are_a_chart_and_open_as_a_list(open_chat: Open, session: Any) -> None:
    said(session.memory, 7)
    delegate = session.memory.cold.new_conversation(clear("Look it up"), kind="delegate")
    session.memory.cold.append(
        EntryDraft(
            conversation=delegate.seq, parent=None, kind=EntryKind.MESSAGE, role=Role.USER, text=clear("The oil?")
        )
    )
    async with open_chat(session=session, size=(120, 36)) as chat:
        await opened(chat, "/stats", StatisticsScreen)
        assert "conversations 1 · messages 7" in seen(chat)
        assert "messages: 7 in 30 days, 7 at most" in seen(chat)
        assert sum("█" in line for line in chat.seen) > 3
        assert "No model was called yet" in seen(chat)
        await chat.press("enter")
        await chat.until(lambda: isinstance(chat.app.screen, TextScreen) and "7 messages" in seen(chat))


async def test_sizes_are_those_of_the_files(open_chat: Open, session: Any) -> None:
    session.workspace.memory_md.write_bytes(b"x" * 5_000)
    (session.workspace.versions / "MEMORY.md").mkdir(parents=True)
    (session.workspace.versions / "MEMORY.md" / "old.md").write_bytes(b"y" * 70_000)
    sizes = {part.name: part.size for part in measure(session.workspace).parts}
    assert sizes["notes"] == 5_000 and sizes["versions"] == 70_000
    async with open_chat(session=session, size=(80, 40)) as chat:
        await opened(chat, "/stats", StatisticsScreen)
        assert any("versions" in line and format_size(70_000) in line for line in chat.seen)


async def test_an_archive_opens_as_a_picture_and_says_where_it_is(open_chat: Open, session: Any) -> None:
    archived = session.memory.vault.archive_text(clear("The boiler. " * 2_000), label="A letter")
    async with open_chat(session=session, size=(120, 36)) as chat:
        await opened(chat, "/archive --list", ArchiveScreen)
        pack = session.memory.vault.pages()[0].pack
        assert "A letter" in seen(chat)
        await chat.until(lambda: "24,000 characters" in seen(chat) and pack[:20] in seen(chat))
        await chat.press("t")
        await chat.until(lambda: isinstance(chat.app.screen, TextScreen) and archived.pages[0].id in seen(chat))
        await chat.press("escape", "enter")
        await chat.until(lambda: isinstance(chat.app.screen, PictureScreen) and "▀" in seen(chat))
        assert chat.app.screen.zoom.level == 0


def test_all_bars_of_a_kind_are_shares_of_the_same_whole() -> None:
    def spent(key: str, tokens: int) -> Spent:
        return Spent(
            key=key,
            requests=1,
            prompt_tokens=tokens,
            completion_tokens=0,
            cached_tokens=0,
            money={},
            local=0,
            unpriced=0,
        )

    groups: Any = SimpleNamespace(purposes=(spent("chat", 900),), conversations=(spent("锅炉", 300), spent("b", 600)))
    rows = spending_rows(cast("Any", SimpleNamespace(spending=groups)))
    assert [row.share for row in rows if row.id] == [1.0, 300 / 900, 600 / 900]


async def test_one_page_is_one_page_and_a_long_title_keeps_off_its_bar(open_chat: Open, session: Any) -> None:
    session.memory.vault.archive_text(clear("The boiler."), label="A letter about the boiler " * 4)
    async with open_chat(session=session) as chat:
        await opened(chat, "/archive --list", ArchiveScreen)
        await chat.until(lambda: "characters on 1 page (" in " ".join(seen(chat).split()))
        assert "1 archived · 1 page · " in seen(chat)
        assert "1 pages" not in seen(chat)
        assert any("… █" in line for line in chat.seen)


async def test_an_empty_archive_says_how_to_fill_it(open_chat: Open, session: Any) -> None:
    async with open_chat(session=session) as chat:
        await opened(chat, "/archive --list", ArchiveScreen)
        assert "`/archive FILE` archives a file" in " ".join(seen(chat).split())


@given(st.lists(st.floats(0, 1e9), max_size=80), st.integers(1, 200), st.integers(1, 20))
def test_columns_keep_within_their_width_and_the_largest_fills_the_height(
    values: list[float], width: int, height: int
) -> None:
    rows = columns(values, width, height)
    assert len(rows) == height and all(len(row) <= width for row in rows)
    if values and max(values) > 0 and len(values) <= width:
        assert "█" in rows[0]


@given(st.floats(-1, 3), st.integers(0, 60))
def test_a_bar_keeps_within_its_width(share: float, width: int) -> None:
    assert len(bar(share, width)) <= width
