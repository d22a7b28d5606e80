"""The prompt destroys nothing."""

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agent.services.drafts import Drafts
from foundation.paths import Workspace
from tui.widgets.prompt.chips import MAX_PASTE_CHARS, ChipBuffer
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


@given(st.text(min_size=MAX_PASTE_CHARS + 1, max_size=MAX_PASTE_CHARS + 50))
def test_a_folded_paste_is_sent_to_the_letter(text: str) -> None:
    pastes = ChipBuffer()
    mark = pastes.fold(text)
    assert len(mark) < 60
    assert pastes.unfold(f"before {mark} after [Pasted text #9]") == f"before {text} after [Pasted text #9]"


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


async def test_a_full_width_slash_begins_a_command(open_chat: Any) -> None:
    from textual.events import Key, Paste

    async with open_chat() as chat:
        chat.screen.prompt.post_message(Key("fullwidth_solidus", "／"))
        await chat.type("he")
        assert chat.screen.prompt.text == "/he"
        chat.screen.prompt.clear()
        chat.screen.prompt.post_message(Paste("／ｈｅｌｐ"))
        await chat.pilot.pause()
        assert chat.screen.prompt.text == "/help"
        chat.screen.prompt.clear()
        await chat.type("a")
        chat.screen.prompt.post_message(Key("fullwidth_solidus", "／"))
        await chat.type("b")
        assert chat.screen.prompt.text == "a／b"
