"""The permissions on screen: the order of the decision, rules changed where they are stored, a line tested."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.permissions.mode import PermissionMode
from agent.permissions.rules import RuleSource, Verdict, parse_rule
from agent.session import Session
from foundation.paths import Workspace
from tests.agent.conftest import server  # noqa: F401 - a fixture
from tests.agent.sessions import calls, open_session
from tests.loopback import Loopback
from tests.loopback import chat as chat_reply
from tests.tui.conftest import Chat, Open
from tui.dialogs.line import LineScreen
from tui.dialogs.permission import PermissionScreen
from tui.overview.permissions_screen import PermissionsScreen


@pytest.fixture
async def session(workspace: Workspace, tmp_path: Path) -> AsyncIterator[Session]:
    opened = open_session(workspace, tmp_path)
    yield opened
    await opened.close()


async def permissions(chat: Chat) -> PermissionsScreen:
    chat.screen.queue.add("/permissions")
    await chat.until(lambda: isinstance(chat.app.screen, PermissionsScreen) and chat.app.screen.is_read)
    screen = chat.app.screen
    assert isinstance(screen, PermissionsScreen)
    return screen


def words(chat: Chat) -> str:
    return " ".join(" ".join(chat.seen).split())


async def go_to(chat: Chat, screen: PermissionsScreen, label: str) -> None:
    await chat.until(lambda: any(label in row.label for row in screen.contents.rows))
    await chat.press("home")
    for _ in screen.contents.rows:
        if screen.chosen and label in screen.chosen.label:
            return
        await chat.press("down")
    raise AssertionError(label)


async def test_rules_stand_in_the_order_in_which_they_decide(open_chat: Open, session: Session) -> None:
    for verdict, text, source in (
        (Verdict.ALLOW, "run_command(git status *)", RuleSource.USER),
        (Verdict.DENY, "edit_file(密/**)", RuleSource.PROJECT),
        (Verdict.ASK, "fetch_url", RuleSource.SESSION),
    ):
        session.permissions.rules.add(parse_rule(verdict, text, source))
    async with open_chat(session=session, size=(110, 44)) as chat:
        screen = await permissions(chat)
        places = {row.label: number for number, row in enumerate(screen.contents.rows)}
        order = ["deny edit_file(密/**)", "ask fetch_url", "allow run_command(git status *)"]
        assert [places[label] for label in order] == sorted(places[label] for label in order)
        figures = {row.label: row.figure for row in screen.contents.rows}
        assert [figures[label] for label in order] == ["this project", "this session", "all your projects"]
        assert "mode ask: reading is allowed; everything else needs confirmation." in words(chat)


async def test_a_key_changes_the_mode(open_chat: Open, session: Session) -> None:
    async with open_chat(session=session) as chat:
        await permissions(chat)
        await chat.press("m")
        await chat.until(lambda: "Mode read-only" in words(chat))
        assert session.permissions.mode is PermissionMode.READ_ONLY


async def test_a_rule_is_added_where_it_is_to_hold(open_chat: Open, session: Session) -> None:
    async with open_chat(session=session) as chat:
        screen = await permissions(chat)
        await chat.press("a")
        await chat.until(lambda: isinstance(chat.app.screen, LineScreen))
        await chat.type("deny fetch")
        await chat.press("enter")
        await chat.until(lambda: "There is no tool “" in words(chat))
        await chat.type("_url")
        await chat.press("tab", "enter")
        await chat.until(lambda: chat.app.screen is screen and "deny fetch_url applies to this project" in words(chat))
        [rule] = session.permissions.rules.rules
        assert rule.source is RuleSource.PROJECT


async def test_a_rule_is_changed_and_removed_in_its_file(open_chat: Open, session: Session) -> None:
    session.permissions.rules.add(parse_rule(Verdict.ALLOW, "run_command(ls *)", RuleSource.USER))
    async with open_chat(session=session) as chat:
        screen = await permissions(chat)
        await go_to(chat, screen, "ls *")
        await chat.press("enter")
        await chat.until(lambda: isinstance(chat.app.screen, LineScreen))
        await chat.press("end", *["backspace"] * len("ls *)"))
        await chat.type("git log *)")
        await chat.press("enter")
        await chat.until(lambda: "git log *) applies to all your projects" in words(chat))
        assert [rule.text for rule in session.permissions.rules.rules] == ["run_command(git log *)"]
        await go_to(chat, screen, "git log *")
        await chat.press("d")
        await chat.until(lambda: "Removed:" in words(chat))
        assert list(session.permissions.rules.rules) == []


async def test_what_is_built_in_cannot_be_removed(open_chat: Open, session: Session) -> None:
    async with open_chat(session=session) as chat:
        await permissions(chat)
        await chat.press("d")
        await chat.until(lambda: "Built-in rules cannot be removed" in words(chat))


async def test_a_test_says_which_rule_decides_and_goes_to_it(open_chat: Open, session: Session) -> None:
    session.permissions.rules.add(parse_rule(Verdict.DENY, "run_command(git push *)", RuleSource.USER))
    async with open_chat(session=session) as chat:
        screen = await permissions(chat)
        await chat.press("t")
        await chat.until(lambda: isinstance(chat.app.screen, LineScreen))
        await chat.type("git push origin")
        await chat.press("enter")
        await chat.until(lambda: "A rule of yours denies it" in words(chat))
        assert screen.chosen and screen.chosen.label == "deny run_command(git push *)"
        await chat.press("t")
        await chat.until(lambda: isinstance(chat.app.screen, LineScreen))
        await chat.type("edit_file src/a.py")
        await chat.press("enter")
        await chat.until(lambda: "ask edit_file(src/a.py)" in words(chat))
        assert "No rule matches" in words(chat)


async def test_all_edits_of_this_session_is_an_answer_and_shift_tab_works_in_the_question(
    open_chat: Open,
    workspace: Workspace,
    tmp_path: Path,
    server: Loopback,  # noqa: F811
) -> None:
    session = open_session(workspace, tmp_path, server, project=(tmp_path,))
    for name in ("锅炉.txt", "b.txt", ".git/config"):
        server.plays(calls("write_file", path=name, content="x"))
    server.plays(chat_reply("Done."))
    async with open_chat(session=session, size=(110, 44)) as chat:
        await chat.say("Write them.")
        await chat.until(lambda: "↑ ↓ choose" in words(chat))
        await chat.press("shift+tab")
        await chat.until(lambda: chat.screen.status.info.mode == "read-only")
        assert session.permissions.mode is PermissionMode.READ_ONLY
        await chat.press(*["shift+tab"] * 4)
        await chat.until(lambda: chat.screen.status.info.mode == "ask")
        assert "3 All edits in this session" in words(chat)
        await chat.press("3")
        await chat.until(lambda: ".git/config" in words(chat) and "Once" in words(chat))
        await chat.until(lambda: "↑ ↓ choose" in words(chat))
        assert chat.screen.status.info.mode == "edit" and "All edits" not in words(chat)
        await chat.press("escape")
        await chat.quiet()
        assert (tmp_path / "锅炉.txt").exists() and (tmp_path / "b.txt").exists()
        assert session.permissions.mode is PermissionMode.EDIT
    await session.close()


async def test_what_was_decided_in_this_session_is_listed(
    open_chat: Open,
    workspace: Workspace,
    tmp_path: Path,
    server: Loopback,  # noqa: F811
) -> None:
    session = open_session(workspace, tmp_path, server, project=(tmp_path,))
    server.plays(calls("write_file", path="neu/锅炉.txt", content="x"), chat_reply("Done."))
    async with open_chat(session=session, size=(110, 44)) as chat:
        await chat.say("Write it.")
        await chat.until(lambda: isinstance(chat.app.screen, PermissionScreen))
        await chat.press("escape")
        await chat.quiet()
        screen = await permissions(chat)
        await go_to(chat, screen, "write_file(neu/锅炉.txt)")
        assert screen.chosen and screen.chosen.figure == "not done"
    await session.close()
