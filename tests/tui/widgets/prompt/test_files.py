"""Files that a message mentions."""

from pathlib import Path
from typing import Any

import pytest

from agent.services.attachments import mentioned_files
from agent.services.path_completion import suggest_paths, typed_path
from tui.dialogs.permission import PermissionScreen


async def test_an_at_offers_files_and_enter_takes_one(open_chat: Any, tmp_path: Path) -> None:
    (tmp_path / "my plan.txt").write_text("x")
    async with open_chat() as chat:
        await chat.type("see @plan")
        await chat.until(lambda: chat.screen.suggestions.display)
        await chat.press("enter")
        assert chat.screen.prompt.text == 'see @"my plan.txt" '


def test_file_names_are_offered_best_first(tmp_path: Path) -> None:
    for name in ("notes.md", "my-notes.md", "n-o-t.md", ".notes"):
        (tmp_path / name).touch()
    (tmp_path / "notebook").mkdir()
    assert [offer.text for offer in suggest_paths("not", tmp_path)] == [
        "notebook/",
        "notes.md",
        "my-notes.md",
        "n-o-t.md",
    ]
    assert typed_path("see @src/a") == "src/a"
    assert typed_path("mail a@b") is None


def test_the_home_of_nobody_is_a_folder_that_there_is_not(tmp_path: Path) -> None:
    assert suggest_paths("~nobody-of-this-name/x", tmp_path) == []


async def test_names_with_spaces_are_quoted_and_tab_goes_on_below_them(open_chat: Any, tmp_path: Path) -> None:
    folder = tmp_path / "my letters" / "to Ann"
    folder.mkdir(parents=True)
    (folder / "first draft.md").write_text("Dear Ann")
    (tmp_path / "two words.md").touch()
    async with open_chat() as chat:
        prompt = chat.screen.prompt

        async def complete(wanted: str) -> None:
            await chat.until(lambda: prompt.suggestions.display)
            await chat.press("tab")
            await chat.until(lambda: prompt.text == wanted)

        await chat.type("see @my")
        await complete('see @"my letters/')
        await complete('see @"my letters/to Ann/')
        await complete('see @"my letters/to Ann/first draft.md" ')
        assert mentioned_files(prompt.text, tmp_path) == [folder / "first draft.md"]
        await chat.type("and @tw")
        await complete('see @"my letters/to Ann/first draft.md" and @"two words.md" ')
        assert len(mentioned_files(prompt.text, tmp_path)) == 2


async def test_a_mention_of_no_file_is_said_and_the_message_is_sent(open_chat: Any) -> None:
    async with open_chat() as chat:
        await chat.say("what says @nofile.txt?")
        await chat.quiet()
        assert "@nofile.txt names no file in" in chat.text
        assert chat.session.sent[0][:2] == ("what says @nofile.txt?", ())


@pytest.fixture
def outside_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("elsewhere") / "keys.txt"
    path.write_text("not for everybody", encoding="utf-8")
    return path


async def test_a_file_outside_the_project_asks_once_for_the_session(open_chat: Any, outside_file: Path) -> None:
    async with open_chat() as chat:
        await chat.say(f"read @{outside_file}")
        await chat.until(lambda: isinstance(chat.app.screen, PermissionScreen))
        assert "Attach a file from outside the project?" in "\n".join(chat.seen)
        await chat.pilot.pause(1.0)
        await chat.press("2")
        await chat.quiet()
        assert chat.session.sent[-1][1] == ("keys.txt",)
        await chat.say(f"again @{outside_file}")
        await chat.quiet()
        assert chat.session.sent[-1][1] == ("keys.txt",)


async def test_a_file_outside_the_project_that_is_declined_is_said(open_chat: Any, outside_file: Path) -> None:
    async with open_chat() as chat:
        await chat.say(f"read @{outside_file}")
        await chat.until(lambda: isinstance(chat.app.screen, PermissionScreen))
        await chat.press("escape")
        await chat.quiet()
        assert chat.session.sent[-1][1] == ()
        assert "is not attached: you declined it." in " ".join(chat.text.split())


def test_generated_and_binary_files_are_offered_last(tmp_path: Path) -> None:
    for name in ("price.pyc", "price.zip", "the_price.py"):
        (tmp_path / name).write_text("")
    assert suggest_paths("price", tmp_path)[0].text == "the_price.py"
