"""What is forgotten leaves the locations of sync, from wherever it was forgotten; one that is away is tried again."""

import errno
from pathlib import Path

import pytest

from agent.commands import registry
from agent.commands.results import Cancelled, Proposal, SessionSwitched
from agent.services.forget import finish_pending, forgetting, plan
from agent.session import Session
from foundation.paths import Workspace
from memory.backup.place import LocalPlace
from memory.memory import Memory
from memory.settings import SyncSettings
from memory.sync.renewal import pending_locations
from memory.sync.status import stale_locations
from memory.sync.sync import Sync
from tests.agent.cli.test_retention import Talk, confirmed, settle, talk
from tests.agent.conftest import Run
from tests.agent.sessions import open_session, turn
from tests.loopback import Loopback, chat
from tests.memory.forget.bytes_of import places_of

pytestmark = pytest.mark.timeout(60)

WORD = "zqbluefin"
__all__ = ["talk"]  # a fixture


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "共享"


@pytest.fixture
def synced(run: Run, place: Path) -> Run:
    """A workspace whose location holds WORD."""
    assert run("sync", "add", str(place), "--no-encrypt", "--name", "desk").status == 0
    assert run("-p", f"The code of the door is {WORD}-7731.").status == 0
    assert run("-p", "The boiler is serviced in May.").status == 0
    assert run("sync", "now").status == 0
    assert places_of(place, [WORD])
    return run


def opened(root: Path, tmp_path: Path, place: Path, server: Loopback | None = None) -> Session:
    return open_session(Workspace(root), tmp_path, server, sync=SyncSettings(locations=[str(place)]))


def id_of(run: Run) -> str:
    (hit,) = run("search", WORD, "--json").json["hits"]
    return str(hit["conversation"])


async def forgotten(session: Session, words: str = WORD) -> str:
    proposal = await registry.run(session, f"/forget {words}")
    assert isinstance(proposal, Proposal)
    done = await registry.carry_out(proposal, lambda _: None)
    assert isinstance(done, SessionSwitched), done
    return done.notice


async def test_the_chat_takes_it_from_there_at_once(
    synced: Run, root: Path, tmp_path: Path, place: Path, server: Loopback
) -> None:
    session = opened(root, tmp_path, place, server)
    server.plays(chat("Noted."))
    await turn(session, "Not sent yet.")
    files = {file.name for file in place.glob("*.segment")}
    notice = await forgotten(session)
    await session.close()
    assert places_of(place, [WORD]) == {}
    assert {file.name for file in place.glob("*.segment")} != files
    assert "sync now` there." in notice
    assert "could not" not in notice
    assert places_of(place, ["boiler"]), "the rest stays there"


async def test_a_location_that_is_away_is_named_and_the_next_chat_goes_on(
    synced: Run, root: Path, tmp_path: Path, place: Path
) -> None:
    away = place.rename(tmp_path / "away")
    session = opened(root, tmp_path, place)
    notice = await forgotten(session)
    assert f"could not be deleted from {place} (" in notice
    assert "the next start of the chat try again" in notice
    await session.close()
    session = opened(root, tmp_path, place)
    session.begin_background()
    await session.background.idle()
    assert "forgotten text is still at a location" in session.background.status
    await session.close()
    away.rename(place)
    assert places_of(place, [WORD])
    session = opened(root, tmp_path, place)
    session.begin_background()
    await session.background.idle()
    assert places_of(place, [WORD]) == {}
    assert any(str(place) in sentence for sentence in session.jobs.news.take())
    assert pending_locations(session.memory) == ()
    assert not session.jobs.leaving.due()
    await session.close()


async def test_what_is_to_be_written_anew_for_another_reason_waits_for_sync_now(
    synced: Run, root: Path, tmp_path: Path, place: Path
) -> None:
    """Nobody asked for it: `sync.background` is off."""
    memory = Memory.open(Workspace(root))
    Sync(memory, None).renew_recipients()
    assert stale_locations(memory) == [str(place)]
    memory.close()
    before = {file.name: file.stat().st_mtime_ns for file in place.iterdir()}
    session = opened(root, tmp_path, place)
    session.begin_background()
    await session.background.idle()
    await session.close()
    assert {file.name: file.stat().st_mtime_ns for file in place.iterdir()} == before


async def test_a_kill_before_the_locations_leaves_them_for_the_next_start(
    synced: Run, root: Path, tmp_path: Path, place: Path
) -> None:
    memory = Memory.open(Workspace(root))
    forgets = forgetting(memory)
    forgets.begin(plan(memory, named=WORD))  # and here the process ended
    memory.close()
    memory = Memory.open(Workspace(root))
    assert finish_pending(memory).finished == 1
    assert pending_locations(memory) == (str(place),)
    memory.close()
    assert places_of(place, [WORD])
    session = opened(root, tmp_path, place)
    session.begin_background()
    await session.background.idle()
    await session.close()
    assert places_of(place, [WORD]) == {}


async def test_what_a_person_stops_is_gone_here_and_named(synced: Run, root: Path, tmp_path: Path, place: Path) -> None:
    session = opened(root, tmp_path, place)
    proposal = await registry.run(session, f"/forget {WORD}")
    assert isinstance(proposal, Proposal)

    def stop(done: int) -> None:
        if done >= proposal.pages:  # the last step is the location
            raise Cancelled("The forgetting")

    done = await registry.carry_out(proposal, stop)
    assert isinstance(done, SessionSwitched), done
    assert f"could not be deleted from {place} (it was stopped)" in done.notice
    await session.close()
    assert places_of(root, [WORD]) == {}
    assert places_of(place, [WORD])
    assert synced("forget").status == 0
    assert places_of(place, [WORD]) == {}


@pytest.mark.parametrize("later", [("forget",), ("sync", "now")])
def test_deleting_a_conversation_takes_it_from_there(
    synced: Run, root: Path, tmp_path: Path, place: Path, later: tuple[str, ...]
) -> None:
    id_ = id_of(synced)
    away = place.rename(tmp_path / "away")
    deleted = synced("conversations", "delete", id_, "--yes")
    assert (deleted.status, f"could not be deleted from {place} (" in deleted.err) == (75, True)
    assert places_of(root, [WORD]) == {}
    away.rename(place)
    assert places_of(place, [WORD])
    assert synced(*later).status == 0
    assert places_of(place, [WORD]) == {}


def test_deleting_a_conversation_is_done_where_the_location_answers(synced: Run, place: Path) -> None:
    deleted = synced("conversations", "delete", id_of(synced), "--yes")
    assert (deleted.status, "could not" in deleted.err) == (0, False)
    assert places_of(place, [WORD]) == {}
    assert places_of(place, ["boiler"])


def test_what_retention_deletes_leaves_the_location(run: Run, tmp_path: Path, place: Path, talk: Talk) -> None:
    run("sync", "add", str(place), "--no-encrypt")
    for name in ("first", "second"):
        talk(name, 400, words=f"{WORD} {name} ")
    run("sync", "now")
    settle(run, delete_days=365)
    assert places_of(place, [WORD])
    away = place.rename(tmp_path / "away")
    assert run("conversations", "delete", "first", "--yes").status == 75
    ran = run(*confirmed())
    assert (ran.status, f"could not be deleted from {place} (" in ran.err) == (75, True)
    assert "1 conversation deleted." in ran.err
    away.rename(place)
    assert run("forget").status == 0
    assert places_of(place, [WORD]) == {}


# ── a location that was removed ──


def test_a_removed_location_is_named_once_and_keeps_nothing_open(synced: Run, root: Path, place: Path) -> None:
    assert synced("sync", "remove", str(place)).status == 0
    done = synced("forget", WORD, "--yes")
    assert (done.status, done.out.count(f"{place} is no longer a location of this workspace")) == (0, 1), done.err
    assert "Delete them there yourself." in done.out
    assert "sync now" not in done.out, "nothing that it does reaches that location"
    again = synced("forget")
    assert (again.status, str(place) in again.out) == (0, False), again.out
    assert "No deletion is in progress" in again.out
    other = synced("forget", "boiler", "--yes")
    assert (other.status, other.out.count(str(place))) == (0, 1), "its words may be there, too"


def test_a_location_that_was_away_and_is_removed_ends_what_was_open(
    synced: Run, root: Path, tmp_path: Path, place: Path
) -> None:
    away = place.rename(tmp_path / "away")
    assert synced("forget", WORD, "--yes").status == 75
    assert synced("forget").status == 75
    assert synced("sync", "remove", str(place)).status == 0
    shown = synced("forget", "--dry-run")
    assert "is no longer a location" not in shown.out, "a look changes nothing"
    done = synced("forget")
    assert (done.status, done.out.count("is no longer a location of this workspace")) == (0, 1), done.out
    assert str(place) not in synced("forget").out
    assert places_of(away, [WORD]), "nothing took it from there"


def test_a_removed_location_that_is_added_again_is_taken_up_with_what_was_forgotten(
    synced: Run, root: Path, place: Path
) -> None:
    synced("sync", "remove", str(place))
    synced("forget", WORD, "--yes")
    assert places_of(place, [WORD])
    assert synced("sync", "add", str(place), "--no-encrypt").status == 0
    assert synced("sync", "now").status == 0
    assert places_of(place, [WORD]) == {}


def test_a_location_that_could_never_be_written_to_keeps_nothing_open_once_it_is_removed(
    run: Run, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_self: LocalPlace, name: str, _data: bytes, *, sync: bool = False) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", name)

    monkeypatch.setattr(LocalPlace, "write", refuse)
    assert run("sync", "add", str(place), "--no-encrypt", "--name", "desk").status == 0
    assert run("-p", f"The code of the door is {WORD}-7731.").status == 0
    assert run("sync", "now").status != 0
    assert run("forget", WORD, "--yes").status == 75
    assert run("sync", "remove", str(place)).status == 0
    assert run("forget").status == 0
    assert str(place) not in run("forget").out
