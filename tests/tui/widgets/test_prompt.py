"""The prompt destroys nothing."""

import threading
from concurrent.futures import ThreadPoolExecutor
from errno import ENOSPC
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.services.attachments import mentioned_files
from agent.services.drafts import PASTE_BEGINS, PASTE_ENDS, Drafts
from agent.services.path_completion import suggest_paths, typed_path
from foundation.paths import Workspace
from foundation.privacy import clear
from tui.dialogs.permission import PermissionScreen
from tui.widgets.prompt import history as history_module
from tui.widgets.prompt.chips import MAX_PASTE_CHARS, ChipBuffer
from tui.widgets.prompt.history import HistoryCursor, PromptHistory
from tui.widgets.prompt.suggestions import Suggestion


async def test_enter_sends_and_other_keys_begin_a_line(open_chat: Any) -> None:
    async with open_chat() as chat:
        for key in ("shift+enter", "ctrl+j"):
            await chat.type("a")
            await chat.press(key)
        await chat.say("b")
        await chat.quiet()
        assert chat.session.sent[0][0] == "a\na\nb"


async def test_ctrl_c_clears_the_prompt_into_the_history(open_chat: Any) -> None:
    async with open_chat() as chat:
        await chat.type("a thought")
        await chat.press("ctrl+c")
        assert chat.screen.prompt.text == ""
        await chat.press("up")
        assert chat.screen.prompt.text == "a thought"


async def test_going_up_and_down_keeps_what_is_being_written(open_chat: Any) -> None:
    async with open_chat() as chat:
        await chat.say("old")
        await chat.quiet()
        await chat.type("new")
        await chat.press("up")
        assert chat.screen.prompt.text == "old"
        await chat.press("down")
        assert chat.screen.prompt.text == "new"


async def test_up_moves_within_a_text_of_several_lines_first(open_chat: Any) -> None:
    async with open_chat() as chat:
        await chat.say("old")
        await chat.quiet()
        await chat.type("a")
        await chat.press("ctrl+j")
        await chat.type("b")
        await chat.press("up")
        assert chat.screen.prompt.text == "a\nb"
        await chat.press("up")
        assert chat.screen.prompt.text == "old"


async def test_a_long_paste_is_folded_sent_whole_and_unfolded_by_pasting_again(open_chat: Any) -> None:
    from textual.events import Paste

    long = "line of text\n" * 40
    async with open_chat() as chat:
        chat.screen.prompt.post_message(Paste(long))
        await chat.pilot.pause()
        assert chat.screen.prompt.text == "[Pasted text #1 · 40 lines]"
        await chat.say(" what is it?")
        await chat.quiet()
        assert chat.session.sent[0][0] == long + " what is it?"
        assert chat.session.pastes == (long,)
        await chat.press("up")
        assert chat.screen.prompt.text == "[Pasted text #1 · 40 lines] what is it?"
        assert chat.screen.prompt.full_text == long + " what is it?"
        chat.screen.prompt.clear()
        chat.screen.prompt.post_message(Paste(long))
        await chat.pilot.pause()
        chat.screen.prompt.post_message(Paste(long))
        await chat.pilot.pause()
        assert chat.screen.prompt.text == long


async def test_a_long_message_of_an_earlier_session_comes_back_folded(open_chat: Any) -> None:
    long = "line of text\n" * 5000
    async with open_chat() as chat:
        chat.screen.prompt.prompt_history.add(long)
        await chat.press("up")
        assert chat.screen.prompt.text == "[Pasted text #1 · 5,000 lines]"
        assert chat.screen.prompt.full_text == long


async def test_a_paste_names_no_files_and_stays_folded_in_the_transcript(open_chat: Any, tmp_path: Path) -> None:
    from textual.events import Paste

    (tmp_path / "mail.txt").write_text("x", encoding="utf-8")
    async with open_chat() as chat:
        chat.screen.prompt.post_message(Paste("see @mail.txt\n" * 60))
        await chat.pilot.pause()
        await chat.say(" what is it?")
        await chat.quiet()
        assert chat.session.sent[0][1] == ()
        assert "[Pasted text · 60 lines] what is it?" in chat.text


async def test_a_pasted_escape_is_seen_and_does_nothing(open_chat: Any) -> None:
    from textual.events import Paste

    async with open_chat() as chat:
        chat.screen.prompt.post_message(Paste("a\x1b]52;c;AAAA\x07b"))
        await chat.pilot.pause()
        assert chat.screen.prompt.text == "a␛]52;c;AAAA␇b"


async def test_a_draft_survives(open_chat: Any, workspace: Workspace) -> None:
    async with open_chat() as chat:
        await chat.type("half a thou")
        await chat.until(lambda: any(workspace.drafts.glob("*.md")))
    async with open_chat() as chat:
        assert chat.screen.prompt.text == "half a thou"
        await chat.press("enter")
        await chat.quiet()
        assert not any(workspace.drafts.glob("*.md"))


async def test_a_slash_offers_commands_and_tab_takes_one(open_chat: Any) -> None:
    async with open_chat() as chat:
        await chat.type("/rem")
        await chat.until(lambda: chat.screen.suggestions.display)
        assert any("/remember TEXT" in line and "MEMORY.md" in line for line in chat.seen)
        await chat.press("tab")
        assert chat.screen.prompt.text == "/remember "


async def test_an_at_offers_files_and_enter_takes_one(open_chat: Any, tmp_path: Path) -> None:
    (tmp_path / "my plan.txt").write_text("x")
    async with open_chat() as chat:
        await chat.type("see @plan")
        await chat.until(lambda: chat.screen.suggestions.display)
        await chat.press("enter")
        assert chat.screen.prompt.text == 'see @"my plan.txt" '


async def test_ctrl_r_finds_what_was_typed(open_chat: Any) -> None:
    async with open_chat() as chat:
        await chat.say("the boiler")
        await chat.quiet()
        await chat.say("something else")
        await chat.quiet()
        await chat.press("ctrl+r")
        await chat.until(lambda: chat.app.screen is not chat.screen)
        await chat.type("boil")
        await chat.press("enter")
        assert chat.screen.prompt.text == "the boiler"


def test_the_history_on_disk_holds_nothing_private(tmp_path: Path) -> None:
    history = PromptHistory(tmp_path / "state" / "history.jsonl")
    history.add("I live in <private>Rosenweg 5</private>.\nSecond line 中文")
    on_disk = (tmp_path / "state" / "history.jsonl").read_text()
    assert "Rosenweg" not in on_disk
    assert "Rosenweg" in history.entries[-1]
    again = PromptHistory(tmp_path / "state" / "history.jsonl")
    again.load()
    assert again.entries == ("I live in [private].\nSecond line 中文",)


def test_a_broken_line_of_the_history_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(b'"one"\n{broken\n\xff\n42\n"two"\n')
    history = PromptHistory(path)
    history.load()
    assert history.entries == ("one", "two")


def test_a_draft_on_disk_holds_nothing_private(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path / "drafts")
    drafts.save("c_1", "key <private>x</private>")
    assert drafts.load("c_1").text == "key [private]"
    assert [path.name for path in (tmp_path / "drafts").iterdir()] == ["c_1.md"]


def test_a_strange_conversation_id_stays_inside_the_drafts_folder(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path / "drafts")
    drafts.save("../../etc/passwd:x", "text")
    (written,) = (tmp_path / "drafts").iterdir()
    assert written.parent == tmp_path / "drafts"
    assert ":" not in written.name


@given(st.lists(st.text(min_size=1), max_size=5), st.text(), st.lists(st.booleans(), max_size=20))
def test_a_walk_through_the_history_always_leads_back(entries: list[str], unsent: str, steps: list[bool]) -> None:
    walk = HistoryCursor(tuple(entries), unsent)
    current = unsent
    for back in steps:
        found = walk.back(current) if back else walk.forward(current)
        current = current if found is None else found
    while (found := walk.forward(current)) is not None:
        current = found
    assert current == unsent


@given(st.text(min_size=MAX_PASTE_CHARS + 1, max_size=MAX_PASTE_CHARS + 50))
def test_a_folded_paste_is_sent_to_the_letter(text: str) -> None:
    pastes = ChipBuffer()
    mark = pastes.fold(text)
    assert len(mark) < 60
    assert pastes.unfold(f"before {mark} after [Pasted text #9]") == f"before {text} after [Pasted text #9]"


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


async def test_a_suggestion_for_what_was_typed_before_is_never_taken(open_chat: Any) -> None:
    """Keys may come faster than offers: Enter then sends what stands there."""
    async with open_chat() as chat:
        prompt = chat.screen.prompt
        late = Suggestion("/help", "", "/help", "/h", sends=True)
        prompt.text = "/remember tea is at fou"
        prompt.move_cursor(prompt.document.end)
        prompt.suggestions.offer([late])
        prompt.respond_to_key("enter")  # before anything else on the loop has seen the new text
        assert prompt.prompt_history.entries[-1] == "/remember tea is at fou"
        assert late.fits("/h")


async def test_a_family_that_is_typed_stays_one_glyph(open_chat: Any) -> None:
    from rich.cells import cell_len
    from textual.events import Key

    family = "👩\u200d👩\u200d👧\u200d👦"
    async with open_chat() as chat:
        for character in family:  # as a terminal sends it
            chat.screen.prompt.post_message(Key(f"U+{ord(character):X}", character))
        await chat.until(lambda: chat.screen.prompt.text == family)
        await chat.press("enter")
        await chat.quiet()
        assert chat.session.sent[0][0] == family
        assert f"❯ {family}" in chat.lines
        assert cell_len(family) == 2


def test_texts_are_stored_in_the_order_in_which_they_were_typed(tmp_path: Path) -> None:
    history = PromptHistory(tmp_path / "history.jsonl")
    texts = [f"{number} 你好" for number in range(200)]
    with ThreadPoolExecutor(8) as pool:
        for text in texts:
            history.remember(text)
            pool.submit(history.write)
    stored = PromptHistory(tmp_path / "history.jsonl")
    stored.load()
    assert stored.entries == tuple(texts)


async def test_what_is_sent_is_stored_off_the_event_loop(open_chat: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[int] = []

    def noted(text: str) -> str:
        threads.append(threading.get_ident())
        return clear(text)

    monkeypatch.setattr(history_module, "clear_marked", noted)
    async with open_chat() as chat:
        await chat.say("hi 你好")
        await chat.quiet()
        await chat.until(lambda: threads)
    assert threading.get_ident() not in threads


async def test_pasted_texts_of_an_earlier_session_are_folded_again(open_chat: Any, workspace: Workspace) -> None:
    long = "line of text 中文\n" * 40
    async with open_chat() as chat:
        chat.screen.prompt.paste_text(long)
        await chat.say(" what is it?")
        await chat.quiet()
        await chat.until(lambda: workspace.prompt_history.exists())
    async with open_chat() as chat:
        await chat.until(lambda: chat.screen.prompt.prompt_history.entries)
        await chat.press("up")
        assert chat.screen.prompt.text == "[Pasted text #1 · 40 lines] what is it?"
        assert chat.screen.prompt.full_text == long + " what is it?"


def test_no_mark_keeps_a_secret_apart_from_its_beginning_or_its_name(tmp_path: Path) -> None:
    body = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5"
    history, drafts = PromptHistory(tmp_path / "history.jsonl"), Drafts(tmp_path / "drafts")
    for before in ("ghp_", "api_key="):
        marked = f"{before}{PASTE_BEGINS}{body}\n中文{PASTE_ENDS}"
        history.remember(f"{before}{body}\n中文", marked)
        history.write()
        drafts.save("c_1", marked)
        assert body not in (tmp_path / "history.jsonl").read_text() + drafts.load("c_1").text


def test_what_could_not_be_stored_is_stored_the_next_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(ENOSPC, "No space left on device")

    history = PromptHistory(tmp_path / "history.jsonl")
    with monkeypatch.context() as patched:
        patched.setattr(history_module, "append", full)
        with pytest.raises(OSError, match="No space"):
            history.add("one")
    history.add("two")
    stored = PromptHistory(tmp_path / "history.jsonl")
    stored.load()
    assert stored.entries == ("one", "two")


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


def test_a_prompt_after_one_that_a_full_disk_cut_off_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    PromptHistory(path).add("the first")
    with path.open("ab") as file:
        file.write(b'"the seco')
    PromptHistory(path).add("the third")
    loaded = PromptHistory(path)
    loaded.load()
    assert loaded.entries == ("the first", "the third")
