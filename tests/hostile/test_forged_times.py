"""Times that are none, in rows and lists that anybody may have written: each command and screen shows what it has."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.services.statistics_view import statistics_view
from foundation.clock import EARLIEST, EARLIEST_MS, LATEST, LATEST_MS, SystemClock, from_ms, iso, parse_ms, to_ms
from foundation.paths import Workspace
from memory.memory import Memory
from memory.settings import DiskSettings
from memory.sync.last_run import LastRun, sync_sentence
from memory.versions.cause import BY_HAND
from memory.versions.store import VersionStore
from models.settings import ModelSettings
from tests.agent.conftest import Run, bare, root, run  # noqa: F401 - fixtures
from tests.tui.conftest import Open, open_chat  # noqa: F401 - a fixture
from tests.tui.fakes import FakeSession, answer
from tui.overview.archive_screen import ArchiveScreen
from tui.overview.statistics_screen import StatisticsScreen
from tui.overview.versions_screen import VersionsScreen
from tui.picker.browser import PickerSource
from tui.picker.screen import PickerScreen

pytestmark = pytest.mark.timeout(120)

FORGED = (2**63 - 1, -(2**63), LATEST_MS + 1, EARLIEST_MS - 1)
COMMANDS = (
    ("archive", "--list"),
    ("memory", "log"),
    ("memory", "list"),
    ("stats",),
    ("conversations", "list"),
    ("conversations", "tree", "c_one"),
    ("conversations", "show", "c_one"),
    ("knowledge", "list"),
    ("knowledge", "stats"),
    ("search", "boiler"),
    ("context",),
    ("retention", "--dry-run"),
    ("export",),
    ("doctor",),
    ("check",),
    ("conversations", "delete", "c_gone", "--yes"),
)


@given(st.integers())
def test_any_number_is_shown_and_the_times_are_exact(ms: int) -> None:
    moment = from_ms(ms)
    assert EARLIEST <= moment <= LATEST
    assert iso(moment.astimezone()).endswith("Z")
    assert f"{moment.astimezone():%Y-%m-%d %H:%M}"
    if EARLIEST_MS <= ms <= LATEST_MS:
        assert to_ms(moment) == ms
        assert parse_ms(ms) == moment
    else:
        with pytest.raises(ValueError, match="is not a time"):
            parse_ms(ms)


@given(st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=-23)), timezone(timedelta(hours=23))])))
def test_any_moment_is_written(moment: datetime) -> None:
    assert len(iso(moment)) == len("2026-03-14T09:26:53Z")


def forge(workspace: Workspace, ms: int) -> int:
    """Gives each time of each row, and of versions and runs of sync, this value; gives the number of columns."""
    count = 0
    db = apsw.Connection(str(workspace.database))
    for (table,) in list(
        db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    ):
        for column in [row[1] for row in db.execute(f"PRAGMA table_info({table})") if str(row[1]).endswith("_ms")]:
            with suppress(apsw.ConstraintError):  # a key
                db.execute(f"UPDATE {table} SET {column} = ?", (ms,))
                count += 1
    db.close()
    VersionStore(workspace.versions, SystemClock()).record("MEMORY.md", b"- forged\n", BY_HAND, time_ms=ms)
    return count


@pytest.fixture
def filled(run: Run, root: Path, tmp_path: Path) -> Workspace:  # noqa: F811
    lines = '{"id":"a","conversation":"%s","role":"user","text":"The boiler is serviced in May."}\n'
    for name in ("c_one", "c_gone"):
        (tmp_path / f"{name}.jsonl").write_text(lines % name, "utf-8")
        assert run("import", str(tmp_path / f"{name}.jsonl"), "--source", "").status == 0
    assert run("conversations", "delete", "c_gone", "--yes").status == 0
    (tmp_path / "long.txt").write_text("The boiler, once more.\n" * 80, "utf-8")
    assert run("archive", str(tmp_path / "long.txt"), "--label", "boiler").status == 0
    assert run("knowledge", "add", str(tmp_path / "long.txt")).status == 0
    assert run("remember", "The boiler is serviced in May.").status == 0
    assert run("-p", "When is the boiler serviced?").status == 0
    return Workspace(root)


@pytest.mark.parametrize("ms", FORGED)
def test_no_command_fails_for_a_forged_time(run: Run, filled: Workspace, ms: int) -> None:  # noqa: F811
    assert forge(filled, ms) > 12
    for command in COMMANDS:
        for words in (command, (*command, "--json")):
            ran = run(*words)
            assert "internal" not in ran.out + ran.err, (words, ran.err)
            assert "Traceback" not in ran.err, (words, ran.err)
            assert ran.status in {0, 1}, (words, ran.err)


def test_a_forged_note_of_a_run_of_sync_is_shown(root: Path, run: Run) -> None:  # noqa: F811
    (root / ".palimpsest" / "sync.json").write_text(f'[{{"location":"there","time_ms":{2**63},"done_ms":{2**63}}}]')
    assert "9999" in sync_sentence(Workspace(root), ["there"], datetime.now(UTC))
    assert LastRun(location="there", time_ms=0, done_ms=-(2**70)).done == EARLIEST


@pytest.fixture
def memory(filled: Workspace) -> Iterator[Memory]:
    opened = Memory.open(filled, SystemClock())
    yield opened
    opened.close()


@pytest.mark.parametrize("ms", FORGED[:2])
async def test_no_screen_fails_for_a_forged_time(open_chat: Open, filled: Workspace, memory: Memory, ms: int) -> None:  # noqa: F811
    forge(filled, ms)
    fake: Any = FakeSession(answer)
    fake.workspace, fake.clock, fake.memory = filled, SystemClock(), memory
    fake.config = SimpleNamespace(screen=fake.config.screen, models=ModelSettings(), disk=DiskSettings())

    screens: tuple[Any, ...] = (
        ArchiveScreen(memory),
        VersionsScreen(memory, "MEMORY.md"),
        StatisticsScreen(lambda: statistics_view(fake)),
        PickerScreen(PickerSource(memory=memory)),
    )
    async with open_chat(session=fake, size=(120, 40)) as chat:
        for screen in screens:
            chat.app.push_screen(screen)
            await chat.until(lambda screen=screen: chat.app.screen is screen and screen.is_read)
            shown = "\n".join(chat.seen)
            assert ("9999-12" if ms > 0 else "1-01-0") in shown or screen in screens[2:], (type(screen).__name__, shown)
            await chat.press("escape")
