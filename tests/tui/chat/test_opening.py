"""Taking a conversation up: the screen stays usable, and nothing that was written is lost or glued together."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import apsw
import pytest
from textual import events
from textual.pilot import Pilot

from agent.cli.launch import LaunchOptions
from agent.config.config import Config
from agent.permissions.mode import PermissionMode
from agent.permissions.rules import Verdict, parse_rule
from agent.services.drafts import NEW, OPENING, Drafts
from foundation.clock import SystemClock
from foundation.paths import Workspace
from memory.cold import ColdStore
from memory.cold.sql import run
from models.messages import Role
from tests.tui.displayed import displayed_lines
from tests.tui.fakes import FakeSession, answer, spoken
from tui.app import PalimpsestApp
from tui.chat.start import ChatStart
from tui.launch import create_app

LONG = "\n\n".join(f"Paragraph {number} of a very long answer. " * 12 for number in range(700))


async def test_keys_typed_while_a_conversation_opens_go_to_the_prompt(workspace: Workspace, tmp_path: Any) -> None:
    Drafts(workspace.drafts).save("c_9", "my unsent draft 草稿")
    session, gate = FakeSession(lambda _: answer("Yes.")), asyncio.Event()
    session.entries = [spoken(1, Role.USER, "hello"), spoken(2, Role.ASSISTANT, "Hi.")]

    async def slow() -> Any:
        await gate.wait()
        return session

    app = PalimpsestApp(ChatStart(workspace=workspace, model="offline", working_directory=tmp_path, latest=True), slow)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        seen = "\n".join(displayed_lines(app))
        assert seen.count("opening the conversation …") == 2
        await pilot.press("g", "o")
        gate.set()
        async with asyncio.timeout(5):
            while not app.chat.is_idle:
                await asyncio.sleep(0.01)
        await pilot.pause(0.1)
        assert app.chat.prompt.text == "go"
        await pilot.press("up")
        assert app.chat.prompt.text == "my unsent draft 草稿"
        seen = "\n".join(displayed_lines(app))
        assert "opening" not in seen


async def test_what_is_typed_while_a_conversation_opens_survives_a_kill(workspace: Workspace, tmp_path: Any) -> None:
    Drafts(workspace.drafts).save("c_9", "an older draft")
    session, gate = FakeSession(lambda _: answer("Yes.")), asyncio.Event()
    session.entries = [spoken(1, Role.USER, "hello"), spoken(2, Role.ASSISTANT, "Hi.")]

    async def slow() -> Any:
        await gate.wait()
        return session

    def opened() -> PalimpsestApp:
        start = ChatStart(workspace=workspace, model="offline", working_directory=tmp_path, latest=True)
        return PalimpsestApp(start, slow)

    app = opened()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("g", "o")
        async with asyncio.timeout(5):
            while Drafts(workspace.drafts).load(OPENING).text != "go":
                await asyncio.sleep(0.01)
        app.chat.draft_keeper.release()  # as where the process is killed: what is saved at the end is not
    Drafts(workspace.drafts).save(OPENING, "go")
    gate.set()
    app = opened()
    async with app.run_test(size=(80, 24)) as pilot:
        async with asyncio.timeout(5):
            while app.chat.prompt.text != "go":
                await asyncio.sleep(0.01)
            while Drafts(workspace.drafts).has(OPENING) or Drafts(workspace.drafts).load("c_9").text != "go":
                await asyncio.sleep(0.01)
        await pilot.press("up")
        assert app.chat.prompt.text == "an older draft"


async def test_a_draft_does_not_get_between_what_is_typed_since(workspace: Workspace, tmp_path: Any) -> None:
    Drafts(workspace.drafts).save("c_9", "my unsent draft 草稿")
    session, gate = FakeSession(lambda _: answer("Yes.")), asyncio.Event()
    session.entries = [spoken(1, Role.USER, "hello"), spoken(2, Role.ASSISTANT, "Hi.")]

    async def slow() -> Any:
        await gate.wait()
        return session

    app = PalimpsestApp(ChatStart(workspace=workspace, model="offline", working_directory=tmp_path, latest=True), slow)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.pause()
        await pilot.press("g", "o", "enter")  # sent: the prompt is empty when the draft comes
        gate.set()
        async with asyncio.timeout(5):
            while "This conversation has a saved draft" not in "\n".join(displayed_lines(app)):
                await asyncio.sleep(0.01)
        assert app.chat.prompt.text == ""
        await pilot.press("up", "up")
        assert "my unsent draft 草稿" in app.chat.prompt.prompt_history.entries


async def test_a_draft_waits_for_the_keys_that_are_on_their_way(
    workspace: Workspace, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    Drafts(workspace.drafts).save("c_9", "my unsent draft 草稿")
    session = FakeSession(lambda _: answer("Yes."))
    session.entries = [spoken(1, Role.USER, "hello"), spoken(2, Role.ASSISTANT, "Hi.")]

    async def opened() -> Any:
        return session

    app = PalimpsestApp(
        ChatStart(workspace=workspace, model="offline", working_directory=tmp_path, latest=True), opened
    )

    def late(texts: Any) -> list[Any]:
        if any("draft" in text for text in texts):
            for key in "go":
                app.post_message(events.Key(key, key))
        return []

    monkeypatch.setattr("tui.chat.drafts._images_in", late)
    async with app.run_test(size=(80, 24)) as pilot:
        async with asyncio.timeout(5):
            while not app.chat.is_idle:
                await asyncio.sleep(0.01)
        await pilot.pause(0.1)
        assert app.chat.prompt.text == "go"
        await pilot.press("up")
        assert app.chat.prompt.text == "my unsent draft 草稿"


async def test_up_replaces_a_restored_draft_which_becomes_the_newest_of_the_history(
    open_chat: Any, workspace: Workspace
) -> None:
    Drafts(workspace.drafts).save(NEW, "my unsent draft 草稿")
    workspace.prompt_history.parent.mkdir(parents=True, exist_ok=True)
    workspace.prompt_history.write_text('"older"\n"go"\n')
    async with open_chat() as chat:
        await chat.until(lambda: chat.screen.prompt.text)
        await chat.press("up")
        assert chat.screen.prompt.text == "go"
        await chat.press("enter")
        await chat.quiet()
        await chat.press("up", "up")
        assert chat.screen.prompt.text == "my unsent draft 草稿"


async def test_a_conversation_keeps_its_own_draft(open_chat: Any, workspace: Workspace) -> None:
    Drafts(workspace.drafts).save(NEW, "for a new one")
    Drafts(workspace.drafts).save("c_9", "for the old one")
    session = FakeSession(lambda _: answer("Yes."))
    session.entries = [spoken(1, Role.USER, "hello")]
    async with open_chat(session=session, latest=True) as chat:
        await chat.until(lambda: chat.screen.prompt.text == "for the old one")
    assert Drafts(workspace.drafts).load(NEW).text == "for a new one"


async def test_a_draft_follows_the_conversation_that_its_first_message_begins(
    open_chat: Any, workspace: Workspace
) -> None:
    async with open_chat() as chat:
        await chat.say("hello")
        await chat.quiet()
        await chat.type("and then")
        await chat.until(lambda: any(workspace.drafts.glob("*.md")))
        assert Drafts(workspace.drafts).load("c_1").text == "and then"
        assert Drafts(workspace.drafts).load(NEW).text == ""


async def test_where_the_memory_cannot_be_opened_what_was_sent_is_a_draft_again(
    workspace: Workspace, tmp_path: Any
) -> None:
    """It waited for a session that never came, and was lost at the end."""
    Drafts(workspace.drafts).save(NEW, "an older draft")
    gate = asyncio.Event()

    async def newer() -> Any:
        await gate.wait()
        return await asyncio.to_thread(open_newer_store, tmp_path / "newer.db")

    app = PalimpsestApp(
        ChatStart(workspace=workspace, model="offline", working_directory=tmp_path, message="first"), newer
    )
    async with app.run_test(size=(80, 24)) as pilot:
        prompt = app.chat.prompt
        await until(pilot, lambda: prompt.text == "an older draft")
        prompt.set_text("second")
        await pilot.press("enter")
        await until(pilot, lambda: "queued: second" in seen(app))
        gate.set()
        await until(pilot, lambda: "newer than this program" in seen(app))
        assert prompt.text == "first\n\nsecond"
        assert "waits" not in seen(app)
        await pilot.press("enter")
        await until(pilot, lambda: seen(app).count("newer than this program") == 2)
        assert prompt.text == "first\n\nsecond"
        app.chat.leave()
        await until(pilot, lambda: not app.is_running or app.chat.is_leaving)
    assert Drafts(workspace.drafts).load(NEW).text == "first\n\nsecond"


async def test_where_no_conversation_can_be_taken_up_no_draft_is_lost(workspace: Workspace, tmp_path: Any) -> None:
    Drafts(workspace.drafts).save(NEW, "for a new one")

    async def newer() -> Any:
        return await asyncio.to_thread(open_newer_store, tmp_path / "newer.db")

    app = PalimpsestApp(ChatStart(workspace=workspace, model="offline", working_directory=tmp_path, latest=True), newer)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "newer than this program" in seen(app))
        assert app.chat.prompt.text == "for a new one"
        assert "opening the conversation" not in seen(app)
        app.chat.prompt.set_text("/exit")
        await pilot.press("enter")
        await until(pilot, lambda: app.chat.is_leaving)


async def test_what_was_sent_while_the_memory_opens_is_kept_where_the_chat_ends_first(
    workspace: Workspace, tmp_path: Any
) -> None:
    app = PalimpsestApp(
        ChatStart(workspace=workspace, model="offline", working_directory=tmp_path), asyncio.Event().wait
    )
    async with app.run_test(size=(80, 24)) as pilot:
        app.chat.prompt.set_text("too early")
        await pilot.press("enter")
        await until(pilot, lambda: "queued: too early" in seen(app))
        app.chat.leave()
        await until(pilot, lambda: Drafts(workspace.drafts).load(NEW).text)
    assert Drafts(workspace.drafts).load(NEW).text == "too early"


def open_newer_store(path: Path) -> None:
    """Raises CannotOpen, as for a store that a later version wrote."""
    db = apsw.Connection(str(path))
    run(db, "PRAGMA user_version = 999")
    db.close()
    ColdStore.open(path, analyse=lambda *_: [], clock=SystemClock())


def seen(app: PalimpsestApp) -> str:
    return "\n".join(displayed_lines(app))


async def until(pilot: Pilot[None], holds: Callable[[], Any]) -> None:
    async with asyncio.timeout(30):
        while not holds():
            await asyncio.sleep(0.01)
    await pilot.pause()


async def test_a_very_long_conversation_opens_at_its_end(open_chat: Any) -> None:
    session = FakeSession(lambda _: answer("Yes."))
    session.entries = [spoken(seq, Role.ASSISTANT, LONG) for seq in range(1, 5)]
    async with open_chat(session=session) as chat:
        session.conversation = SimpleNamespace(id="c_9", title="Long")
        await chat.screen.controller.show_newest()
        await chat.until(lambda: "Paragraph 699" in "\n".join(chat.seen))
        assert chat.screen.transcript.is_following


async def test_messages_that_wait_when_the_chat_is_left_are_a_draft(open_chat: Any, workspace: Workspace) -> None:
    gate = asyncio.Event()
    async with open_chat(answers=lambda text: [gate, *answer(f"You said {text}.")]) as chat:
        await chat.say("one")
        await chat.until(lambda: chat.screen.queue.busy)
        await chat.say("two")
        await chat.say("three")
        await chat.press("ctrl+q")
        await chat.until(lambda: chat.session.closed)
    assert Drafts(workspace.drafts).load("c_1").text == "two\n\nthree"


async def test_the_mode_and_the_rules_of_the_command_line_are_in_force(workspace: Workspace) -> None:
    rule = parse_rule(Verdict.DENY, "run_command(git push *)")
    config = Config(environment={"PALIMPSEST_DETECT": "off"})
    app = create_app(LaunchOptions(workspace=workspace, config=config, mode=PermissionMode.EDIT, rules=(rule,)))
    async with app.run_test(size=(80, 24)) as pilot:
        async with asyncio.timeout(30):
            while "mode edit" not in displayed_lines(app)[-1]:
                await pilot.pause(0.05)
        assert app.chat.controller
        assert list(app.chat.controller.session.permissions.rules.rules) == [rule]


async def test_what_happened_to_files_since_the_last_session_is_shown(workspace: Workspace, tmp_path: Any) -> None:
    session = FakeSession(lambda _: answer("Yes."))
    session.happened = ("A change of 1 file was interrupted: none changed.\x1b[2J",)

    async def open_session() -> Any:
        return session

    app = PalimpsestApp(ChatStart(workspace=workspace, model="offline", working_directory=tmp_path), open_session)
    async with app.run_test(size=(80, 24)) as pilot:
        async with asyncio.timeout(5):
            while not app.chat.is_idle:
                await asyncio.sleep(0.01)
        await pilot.pause(0.1)
        assert "A change of 1 file was interrupted: none changed.␛[2J" in "\n".join(displayed_lines(app))


@pytest.mark.parametrize(
    ("typed", "text"), [("hello\r", "hello"), ("one\rtwo\r\r", "one\ntwo"), ("\r", ""), ("你好", "你好")]
)
async def test_what_is_typed_before_the_screen_waits_in_the_prompt(open_chat: Any, typed: str, text: str) -> None:
    async with open_chat(typed=typed) as chat:
        await chat.until(lambda: chat.screen.prompt.text == text)
        await chat.quiet()
        assert chat.session.sent == []
