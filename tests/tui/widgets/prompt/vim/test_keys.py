"""Vim keys in the chat."""

import asyncio

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from textual.events import Key, Paste
from textual.widgets.text_area import Selection

from tests.examples import examples
from tests.tui.conftest import Chat, Open
from tui.widgets.prompt.vim.state import VimMode


async def type_all(chat: Chat, keys: str) -> None:
    """Types the keys; `⎋` is Esc."""
    names = {"⎋": "escape", " ": "space", "$": "dollar_sign", '"': "quotation_mark"}
    await chat.press(*(names.get(key, key) for key in keys))


async def test_escape_leads_to_normal_mode_and_the_status_line_says_so(open_chat: Open) -> None:
    async with open_chat(vim_keys=True) as chat:
        prompt = chat.screen.prompt
        await chat.until(lambda: "INSERT" in chat.seen[-1])
        await type_all(chat, "one two⎋")
        await chat.until(lambda: "NORMAL" in chat.seen[-1])
        await type_all(chat, "2d")
        await chat.until(lambda: "NORMAL 2d" in chat.seen[-1])
        await type_all(chat, "b")
        assert prompt.text == "o"
        await type_all(chat, "u")
        assert prompt.text == "one two"
        await chat.press("ctrl+r")
        assert prompt.text == "o"
        await type_all(chat, "A 中文⎋hx")
        assert prompt.text == "o 文"


async def test_an_insertion_is_undone_and_redone_in_one_step(open_chat: Open) -> None:
    async with open_chat(vim_keys=True) as chat:
        prompt = chat.screen.prompt
        await type_all(chat, "one two⎋0cwthree")
        await chat.press("ctrl+j")
        await type_all(chat, "中文⎋")
        await type_all(chat, "ofour⎋")
        assert (last := prompt.text) == "three\n中文 two\nfour"
        await type_all(chat, "u")
        assert prompt.text == "three\n中文 two"
        await type_all(chat, "u")
        assert prompt.text == "one two"
        await chat.press("ctrl+r")
        await chat.press("ctrl+r")
        assert prompt.text == last
        await type_all(chat, "xp2uu")
        assert prompt.text == "three\n中文 two"
        await type_all(chat, "5u")
        assert prompt.text == ""


async def test_without_the_setting_escape_and_letters_are_as_ever(open_chat: Open) -> None:
    async with open_chat() as chat:
        await type_all(chat, "ab⎋x")
        assert chat.screen.prompt.text == "abx"
        assert "INSERT" not in chat.seen[-1]


async def test_enter_sends_from_normal_mode_and_the_next_text_is_typed(open_chat: Open) -> None:
    async with open_chat(vim_keys=True) as chat:
        await type_all(chat, "old⎋")
        await chat.press("enter")
        await chat.quiet()
        assert chat.session.sent[0][0] == "old"
        await type_all(chat, "new⎋k")
        assert chat.screen.prompt.text == "old"
        await type_all(chat, "j")
        assert chat.screen.prompt.text == "new"


async def test_a_selection_is_seen_with_the_unit_under_the_cursor(open_chat: Open) -> None:
    async with open_chat(vim_keys=True) as chat:
        prompt = chat.screen.prompt
        await type_all(chat, "abcd⎋0lvl")
        assert prompt.selection == Selection((0, 1), (0, 2))
        await type_all(chat, "hh")
        assert prompt.selection == Selection((0, 2), (0, 0))
        await type_all(chat, "⎋V")
        assert prompt.selection == Selection((0, 0), (0, 4))
        await type_all(chat, "d")
        assert prompt.text == ""


async def test_a_chip_is_one_unit(open_chat: Open) -> None:
    async with open_chat(vim_keys=True) as chat:
        await type_all(chat, "a ")
        chat.screen.prompt.post_message(Paste("line\n" * 40))
        await chat.pilot.pause()
        await type_all(chat, " b⎋0wx")
        assert chat.screen.prompt.text == "a  b"
        await type_all(chat, "u")
        assert chat.screen.prompt.full_text == "a " + "line\n" * 40 + " b"


async def test_escape_in_normal_mode_stops_the_answer(open_chat: Open) -> None:
    def never(_text: str) -> list[asyncio.Event]:
        return [asyncio.Event()]

    async with open_chat(vim_keys=True, answers=never) as chat:
        await chat.say("go")
        await chat.until(lambda: chat.screen.queue.busy)
        await type_all(chat, "a⎋")
        assert chat.screen.queue.busy
        await chat.press("escape")
        await chat.until(lambda: not chat.screen.queue.busy)


async def test_turning_them_off_takes_hold_at_once(open_chat: Open) -> None:
    async with open_chat(vim_keys=True) as chat:
        await type_all(chat, "ab⎋")
        chat.screen.prompt.use_vim_keys(False)
        await type_all(chat, "x")
        assert "x" in chat.screen.prompt.text
        await chat.until(lambda: "NORMAL" not in chat.seen[-1])


KEYS = st.sampled_from([*"hlwbex0$iaAoOdcyDCpPrJ~vV.j2(", "escape", "中", "backspace"])


@settings(max_examples=examples(12), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(KEYS, max_size=25))
async def test_every_change_can_be_taken_back(open_chat: Open, keys: list[str]) -> None:
    async with open_chat(vim_keys=True) as chat:
        prompt = chat.screen.prompt
        prompt.insert("one 中文 (two)\n\n👩\u200d👧 three")
        first = prompt.text
        await chat.press("escape")
        for key in keys:
            await prompt._on_key(Key(key, key if len(key) == 1 else None))  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - the test looks inside
        await chat.press("escape", "escape", "escape")
        vim = prompt._vim  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - the test looks inside
        assert vim is not None and vim.state.mode is VimMode.NORMAL
        undone = 0
        while prompt.text != first:
            await chat.press("ctrl+z")
            undone += 1
            assert undone < 60
