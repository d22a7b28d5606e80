"""Notifications: what is written to which terminal, and that it is written only while the person looks elsewhere."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from textual import events

from agent.session import Session
from foundation.paths import Workspace
from tests.agent.sessions import open_session
from tests.hostile.payloads import FORBIDDEN, sample
from tui.output.notification import (
    MAX_TITLE,
    desktop_command,
    notification_text,
    run_desktop,
    terminal_notification,
)


@pytest.fixture
async def session(workspace: Workspace, tmp_path: Path) -> AsyncIterator[Session]:
    opened = open_session(workspace, tmp_path)
    yield opened
    await opened.close()


@pytest.mark.parametrize(
    ("environment", "written"),
    [
        ({"TERM": "xterm-256color"}, "\a"),
        ({"TERM_PROGRAM": "iTerm.app"}, "\x1b]9;Palimpsest: “A; b” asks\a"),
        ({"TERM": "xterm-kitty"}, "\x1b]9;Palimpsest: “A; b” asks\a"),
        ({"TERM": "foot"}, "\x1b]777;notify;Palimpsest;“A, b” asks\a"),
        ({"TERM": "xterm-kitty", "TMUX": "/tmp/s,1,0"}, "\a"),
    ],
)
def test_auto_goes_by_the_terminal(environment: dict[str, str], written: str) -> None:
    assert terminal_notification("auto", notification_text("A; b", "asks"), environment) == written


def test_a_sequence_is_wrapped_for_a_multiplexer() -> None:
    assert terminal_notification("osc9", "x", {"TMUX": "s"}) == "\x1bPtmux;\x1b\x1b]9;Palimpsest: x\a\x1b\\"
    assert terminal_notification("osc9", "x", {"STY": "s"}) == "\x1bP\x1b]9;Palimpsest: x\a\x1b\\"
    assert terminal_notification("off", "x", {"TERM": "foot"}) == ""


def test_a_hostile_title_brings_no_sequence_and_has_a_bound() -> None:
    for payload in sample(60):
        text = notification_text(f"a{payload}b" * 9, "answered")
        assert FORBIDDEN.search(text) is None and "\n" not in text, ascii(text)
        assert len(text) <= MAX_TITLE + len("“” answered")
        written = terminal_notification("osc777", text, {})
        assert written.count(";") == 3 and written.count("\x1b") == 1 and written.count("\a") == 1


def test_the_desktop_gets_the_text_as_an_argument() -> None:
    def installed(name: str) -> str:
        return f"/usr/bin/{name}"

    assert desktop_command("<b>-x", {}, "linux", installed)[-2:] == ("Palimpsest", "&lt;b&gt;-x")
    assert desktop_command('"; x', {}, "darwin", installed)[-1] == '"; x'
    assert desktop_command("x", {"SSH_CONNECTION": "a"}, "linux", installed) == ()
    assert desktop_command("x", {}, "linux", lambda _: None) == ()


@pytest.mark.skipif(sys.platform == "win32", reason="a program of POSIX")
async def test_a_program_that_fails_or_is_missing_is_reported(tmp_path: Path) -> None:
    assert await run_desktop((sys.executable, "-c", "pass"))
    assert not await run_desktop((sys.executable, "-c", "raise SystemExit(1)"))
    assert not await run_desktop((str(tmp_path / "none"),))


async def test_an_answer_is_notified_only_without_focus(
    open_chat: Any, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TMUX", "STY", "TERM_PROGRAM", "TERM"):
        monkeypatch.delitem(os.environ, name, raising=False)
    async with open_chat(session=session) as chat:
        written: list[str] = []
        monkeypatch.setattr(chat.app, "write_sequence", written.append)
        await chat.say("the boiler")
        await chat.quiet()
        assert written == []
        chat.screen.prompt.insert("and the valve")
        await chat.press("enter")  # a key means that somebody is there
        chat.app.post_message(events.AppBlur())
        await chat.until(lambda: not chat.app.app_focus)
        await chat.quiet()
        chat.screen.queue.add("and the pump")
        await chat.quiet()
        assert written and set(written) == {"\a"}
        before = len(written)
        chat.app.post_message(events.AppFocus())
        await chat.until(lambda: chat.app.app_focus)
        chat.screen.queue.add("and the tap")
        await chat.quiet()
        await asyncio.sleep(0)
        assert len(written) == before


async def test_off_is_silent(open_chat: Any, session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_chat(session=session, notify="off") as chat:
        written: list[str] = []
        monkeypatch.setattr(chat.app, "write_sequence", written.append)
        chat.app.post_message(events.AppBlur())
        await chat.until(lambda: not chat.app.app_focus)
        chat.screen.queue.add("the boiler")
        await chat.quiet()
        assert written == []
