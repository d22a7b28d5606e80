"""`!command` runs in the shell and stays out of the model's context; `#note` is kept; Ctrl+G opens the editor."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from foundation.paths import Workspace
from tests.agent.sessions import open_session
from tests.tui.conftest import Chat, Open
from tests.tui.pty_screen import Terminal
from tui.passages.text_screen import TextScreen
from tui.widgets.prompt.prefixes import prefixed
from tui.widgets.transcript.block import BlockText
from tui.widgets.transcript.line_numbers import numbered_pieces
from tui.widgets.transcript.view import Transcript

posix = pytest.mark.skipif(os.name != "posix", reason="the commands are those of a POSIX shell")


@pytest.mark.parametrize(
    ("text", "kind", "meant"),
    [
        ("!ls -la", "!", "ls -la"),
        ("! ls", "!", "ls"),
        ("!cat <<A\nb\nA", "!", "cat <<A\nb\nA"),
        ("!!make", "!!", "make"),
        ("!! make -j 2", "!!", "make -j 2"),
        ("!vim notes.md", "!!", "vim notes.md"),
        ("!git log | less", "!!", "git log | less"),
        ("!LANG=C /usr/bin/top", "!!", "LANG=C /usr/bin/top"),
        ("!man ls | cat", "!", "man ls | cat"),
        ("!python3", "!!", "python3"),
        ("!python3.11 ", "!!", "python3.11"),
        ("!.venv/bin/python -i", "!!", ".venv/bin/python -i"),
        ("!sqlite3 notes.db", "!!", "sqlite3 notes.db"),
        ("!fish", "!!", "fish"),
        ("!read", "!!", "read"),
        ("!read name; echo $name", "!!", "read name; echo $name"),
        ("!python3 run.py", "!", "python3 run.py"),
        ("!python3 -V", "!", "python3 -V"),
        ("!python3 < run.py", "!", "python3 < run.py"),
        ("!sqlite3 notes.db 'select 1'", "!", "sqlite3 notes.db 'select 1'"),
        ("!psql --version", "!", "psql --version"),
        ("!cat names | read first", "!", "cat names | read first"),
        ("!echo 'print(1)' | python3", "!", "echo 'print(1)' | python3"),
        ("#The cat is called Ada", "#", "The cat is called Ada"),
        ("# buy clay", "#", "buy clay"),
    ],
)
def test_the_first_character_says_what_is_meant(text: str, kind: str, meant: str) -> None:
    found = prefixed(text)
    assert found is not None
    assert (found.kind, found.text) == (kind, meant)


@pytest.mark.parametrize(
    "text", ["", "!", "! ", "!!", "!! ", "#", "# ", "## Plan", "# Plan\n\nfirst", " !ls", " #note", "hi!"]
)
def test_everything_else_is_a_message(text: str) -> None:
    assert prefixed(text) is None


async def ran(chat: Chat, line: str) -> None:
    await chat.say(line)
    await chat.quiet()


@posix
async def test_a_command_shows_its_output_to_no_model(open_chat: Open, workspace: Workspace, tmp_path: Path) -> None:
    session = open_session(workspace, tmp_path)
    async with open_chat(session=session) as chat:
        await ran(chat, "!printf 'gl%s\\n' aze; exit 3")
        assert "! printf 'gl%s\\n' aze; exit 3\n    exit 3" in chat.text
        assert "glaze" in chat.text
        report = await session.context_report("hello")
        assert "glaze" not in "".join(message.text for message in report.messages)
        assert session.conversation is None


@posix
async def test_a_key_puts_the_output_into_the_prompt(open_chat: Open, workspace: Workspace, tmp_path: Path) -> None:
    session = open_session(workspace, tmp_path)
    async with open_chat(session=session) as chat:
        await ran(chat, "!seq 60")
        await chat.press("ctrl+up", "i")
        await chat.until(lambda: chat.screen.prompt.text)
        assert chat.screen.prompt.text.startswith("[Output of seq 60 #1 · 62 lines]")
        assert "\n59\n60" in chat.screen.prompt.full_text
        assert "seq 60" in chat.screen.prompt.full_text


@posix
@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_a_key_ends_a_command_with_what_it_started(
    open_chat: Open, workspace: Workspace, tmp_path: Path, key: str
) -> None:
    session = open_session(workspace, tmp_path)
    late = tmp_path / "late"
    async with open_chat(session=session) as chat:
        await chat.say(f"!echo begun; (sleep 1; touch {late}) & echo $! > {tmp_path / 'child'}; sleep 60; touch {late}")
        await chat.until(lambda: "begun" in chat.text.partition("echo begun")[2])
        await chat.press(key)
        await chat.quiet()
        assert "stopped by the user" in chat.text
        assert "begun" in chat.text.rpartition("stopped by the user")[2], "what it printed stays"
        child = int((tmp_path / "child").read_text(encoding="utf-8"))
        with pytest.raises(ProcessLookupError):
            os.kill(child, 0)
        assert not late.exists()
        assert chat.app.is_running
        assert "again quits" not in chat.seen[-1]


@posix
async def test_a_command_without_output_says_so_once(open_chat: Open, workspace: Workspace, tmp_path: Path) -> None:
    session = open_session(workspace, tmp_path)
    async with open_chat(session=session) as chat:
        await chat.say("!sleep 60")
        await chat.until(lambda: "! sleep 60" in chat.text)
        await chat.press("escape")
        await chat.quiet()
        assert chat.text.count("no output") == 1
        assert "no text" not in chat.text
        await chat.press("ctrl+up", "enter")  # nothing opens
        assert "no text" not in chat.text
        await chat.press("i")
        await chat.until(lambda: "sleep 60" in chat.screen.prompt.full_text)


async def test_a_command_of_the_terminal_stays_where_it_was_when_the_conversation_is_loaded_again(
    open_chat: Open, workspace: Workspace, tmp_path: Path
) -> None:
    session = open_session(workspace, tmp_path)
    async with open_chat(session=session) as chat:
        await ran(chat, "Where is the kiln? 窑")
        await ran(chat, "!!true")
        before = [line for line in chat.lines if line.strip()]
        assert before[-2] == "  ! true"
        await chat.screen.controller.return_to_newest()
        assert [line for line in chat.lines if line.strip()][-2:] == before[-2:]


async def test_a_note_is_kept_in_memory(open_chat: Open, workspace: Workspace, tmp_path: Path) -> None:
    session = open_session(workspace, tmp_path)
    async with open_chat(session=session) as chat:
        await ran(chat, "#The cat is called Ada")
        assert "The cat is called Ada" in workspace.memory_md.read_text(encoding="utf-8")


async def test_the_prompt_says_what_enter_will_do(open_chat: Open) -> None:
    async with open_chat() as chat:
        await chat.insert("!ls")
        assert "Enter runs it in the shell" in chat.seen[-1]
        await chat.press("backspace", "backspace", "backspace")
        assert "Enter" not in chat.seen[-1]


@posix
@pytest.mark.timeout(60)
def test_an_editor_has_the_text_and_gives_it_back(tmp_path: Path) -> None:
    with_ = {"EDITOR": "sed -i s/cat/dog/", "PALIMPSEST_CONFIG_DIR": str(tmp_path / "config")}
    terminal = Terminal("--workspace", str(tmp_path / "work"), **with_)
    try:
        terminal.until(lambda shown: "❯ Ask" in shown)
        terminal.type("the cat 锅炉")
        terminal.until(lambda shown: "the cat 锅炉" in shown)
        terminal.type("\x07")
        terminal.until(lambda shown: "the dog 锅炉" in shown)
    finally:
        terminal.close()


@posix
@pytest.mark.timeout(60)
@pytest.mark.parametrize("editor", ["false", "/no/such/editor"])
def test_an_editor_that_fails_leaves_the_text_and_the_screen(editor: str, tmp_path: Path) -> None:
    with_ = {"EDITOR": editor, "PALIMPSEST_CONFIG_DIR": str(tmp_path / "config")}
    terminal = Terminal("--workspace", str(tmp_path / "work"), **with_)
    try:
        terminal.until(lambda shown: "❯ Ask" in shown)
        terminal.type("the cat")
        terminal.until(lambda shown: "the cat" in shown)
        terminal.type("\x07")
        terminal.until(lambda shown: "The text was not changed" in shown)
        terminal.type(" sat")
        terminal.until(lambda shown: "the cat sat" in shown)
    finally:
        terminal.close()


@posix
@pytest.mark.timeout(60)
def test_ctrl_c_in_an_editor_ends_the_editor_and_not_the_chat(tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\necho it edits\nexec sleep 60\n", encoding="utf-8")
    editor.chmod(0o755)
    with_ = {"EDITOR": str(editor), "PALIMPSEST_CONFIG_DIR": str(tmp_path / "config")}
    terminal = Terminal("--workspace", str(tmp_path / "work"), **with_)
    try:
        terminal.until(lambda shown: "❯ Ask" in shown)
        terminal.type("the cat 锅炉")
        terminal.until(lambda shown: "the cat 锅炉" in shown)
        terminal.type("\x07")
        terminal.until(lambda shown: "it edits" in shown)
        terminal.type("\x03")
        terminal.until(lambda shown: "The text was not changed" in shown and "the cat 锅炉" in shown)
        terminal.type(" sat")
        terminal.until(lambda shown: "the cat 锅炉 sat" in shown)
    finally:
        terminal.close()


@posix
async def test_the_end_of_a_long_output_is_shown(open_chat: Open, workspace: Workspace, tmp_path: Path) -> None:
    session = open_session(workspace, tmp_path)
    async with open_chat(session=session) as chat:
        await ran(chat, "!seq 100; exit 2")
        assert "100" in chat.lines[-2]
        assert "80 lines above: e shows all" in chat.text


@posix
async def test_a_failure_is_on_screen_below_a_long_output(
    open_chat: Open, workspace: Workspace, tmp_path: Path
) -> None:
    session = open_session(workspace, tmp_path)
    async with open_chat(session=session, size=(80, 24)) as chat:
        await ran(chat, "!seq 100; exit 3")
        assert any("exit 3" in line for line in chat.seen)
        assert "exit 3 · 80 lines above: e shows all" in chat.lines[-1]
        await ran(chat, "!seq 100")
        assert chat.lines[-1].strip() == "80 lines above: e shows all"
        await ran(chat, "!echo short; exit 4")
        assert chat.text.count("exit 4") == 2, "the line and the header"


@posix
@pytest.mark.timeout(90)
def test_a_command_may_have_the_terminal_for_itself(tmp_path: Path) -> None:
    terminal = Terminal("--workspace", str(tmp_path / "work"), PALIMPSEST_CONFIG_DIR=str(tmp_path / "config"))
    try:
        terminal.until(lambda shown: "offline" in shown.rpartition("\n")[2] or "❯ Ask" in shown)
        terminal.type("!!test -t 0 && test -t 1 && echo a 终端 of its own\r")
        terminal.until(
            lambda shown: "a 终端 of its own" in shown and "Press Enter to return to the chat" in shown, within=60
        )
        terminal.type("\r")
        terminal.until(lambda shown: "in the terminal · exit 0" in shown)
        terminal.type("still here")
        terminal.until(lambda shown: "still here" in shown)
    finally:
        terminal.close()


@posix
async def test_colour_codes_are_taken_out_and_other_sequences_are_shown(
    open_chat: Open, workspace: Workspace, tmp_path: Path
) -> None:
    session = open_session(workspace, tmp_path)
    async with open_chat(session=session) as chat:
        await ran(chat, r"!printf '\033[1;31mred\033[0m \033]0;title\007'")
        assert "red ␛]0;title␇" in chat.text
        await chat.press("ctrl+up", "e")
        await chat.until(lambda: any("red ␛]0;title␇" in line for line in chat.seen))


async def test_the_first_lines_of_a_very_long_text_are_there_at_once(
    open_chat: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on = threading.Event()

    def held_up(*asked: Any, **how: Any) -> Iterator[Any]:
        pieces = numbered_pieces(*asked, **how)
        yield next(pieces)
        goes_on.wait(10)
        yield from pieces

    monkeypatch.setattr("tui.passages.text_screen.numbered_pieces", held_up)
    text = "\n".join(f"line {number}" for number in range(400_000))
    async with open_chat() as chat:
        chat.app.push_screen(TextScreen("long", lambda: BlockText(text)))
        await chat.until(lambda: any("line 3" in line for line in chat.seen))
        screen = chat.app.screen
        shown = len(screen.query_one(Transcript))
        assert shown < 9_000, "not all of it was waited for"
        goes_on.set()
        await chat.until(lambda: len(screen.query_one(Transcript)) == 10_000)
        await chat.press("end")
        await chat.until(lambda: any("line 399999" in line for line in chat.seen))
