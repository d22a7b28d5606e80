"""A database that is lost where the workspace has no packs: the readable copies of conversations tell of it."""

import os
from pathlib import Path

import pytest

from agent.cli.launch import LaunchOptions
from agent.config.config import load_config
from foundation.paths import Workspace
from tests.agent.conftest import Run
from tui.session_opener import Opening

LOST = "1 readable copy of a conversation is in "
HINT = "`palimpsest check --repair` restores conversations from there"


@pytest.fixture
def conversation(run: Run) -> str:
    """The id of the workspace's only conversation."""
    said = run("-p", "The safe's number is 4431 and lies in Lugano.", "--json")
    assert said.status == 0, said.err
    return said.json["conversation"]


def remove_database(root: Path) -> None:
    for path in (root / ".palimpsest").glob("cold.db*"):
        if path.is_file():
            path.unlink()


def opened_warnings(root: Path) -> tuple[str, ...]:
    """What the chat's opener warns of."""
    space = Workspace(root)
    opening = Opening(LaunchOptions(workspace=space, config=load_config(space, os.environ, {}).config))
    session = opening.open_session()
    try:
        return tuple(said for said in session.jobs.take_warnings() if "readable cop" in said)
    finally:
        session.memory.close()


def test_each_command_warns_until_the_copies_are_restored(run: Run, root: Path, conversation: str) -> None:
    assert "readable cop" not in run("search", "Lugano").err
    remove_database(root)
    for words in (("conversations", "list"), ("search", "Lugano"), ("remember", "one"), ("search", "Lugano")):
        warned = run(*words).err
        assert LOST in warned and HINT in warned, words
    run("check", "--repair")
    found = run("search", "Lugano")
    assert "4431" in found.out and "readable cop" not in found.err
    assert conversation in run("conversations", "list", "--json").out


def test_an_answer_without_a_screen_warns_too(run: Run, root: Path, conversation: str) -> None:
    remove_database(root)
    assert LOST in run("-p", "hello").err


def test_the_chat_warns_once_whether_or_not_a_new_database_was_made(
    run: Run, root: Path, conversation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[tuple[str, ...]] = []

    def open_screen(options: LaunchOptions) -> int:
        shown.append(tuple(notice for notice in options.notices if "readable cop" in notice))
        return 0

    monkeypatch.setattr("agent.cli.chat.at_a_terminal", lambda: True)
    remove_database(root)
    assert run(open_screen=open_screen).status == 0
    assert [LOST in notice for notice in shown[0]] == [True]
    assert opened_warnings(root) == (), "the command line has said so"
    assert run(open_screen=open_screen).status == 0
    assert shown[1] == ()
    (warning,) = opened_warnings(root)
    assert LOST in warning


def test_a_new_workspace_and_one_without_a_conversation_left_warn_of_nothing(
    run: Run, root: Path, conversation: str
) -> None:
    assert run("conversations", "delete", conversation, "--yes").status == 0
    assert not list((root / "conversations").glob("*.md"))
    assert run("conversations", "list").err == ""
    assert opened_warnings(root) == ()


def test_an_old_copy_of_a_deleted_conversation_is_no_lost_database(run: Run, root: Path, conversation: str) -> None:
    (mirror,) = (root / "conversations").glob("*.md")
    copy = mirror.read_bytes()
    run("conversations", "delete", conversation, "--yes")
    mirror.write_bytes(copy)
    assert "readable cop" not in run("search", "Lugano").err


def test_a_persons_own_files_among_the_copies_are_no_conversations(run: Run, root: Path) -> None:
    assert run("conversations", "list").err == ""
    (root / "conversations").mkdir(exist_ok=True)
    (root / "conversations" / "notes.md").write_text("---\ntitle: mine\n---\n\nhello\n", "utf-8")
    assert "readable cop" not in run("conversations", "list").err
    assert opened_warnings(root) == ()


def test_a_folder_in_the_place_of_the_database_is_called_one(run: Run, root: Path, conversation: str) -> None:
    remove_database(root)
    (root / ".palimpsest" / "cold.db").mkdir()
    refused = run("check", "--repair")
    assert (refused.status, "cold.db is a folder, not a file." in refused.err) == (1, True), refused.err


def test_the_note_of_a_missing_copy_says_which_turn_writes_it_anew(run: Run, root: Path, conversation: str) -> None:
    (mirror,) = (root / "conversations").glob("*.md")
    mirror.unlink()
    assert "as does the next turn in the conversation" in run("check").err
    run("-p", "hello")
    assert not mirror.exists(), "it was a turn in another conversation"
    run("-p", "hello", "-r", conversation)
    assert mirror.exists()
