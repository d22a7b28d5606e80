"""The picker's turns of one conversation: rows, keys, sizes."""

import time
from typing import Any

import pytest
from rich.cells import cell_len

from agent.services.conversation_tree import read_tree
from memory.memory import Memory
from memory.records import Conversation
from tests.tui.picker.conftest import Picking, Say
from tui.passages.text_screen import TextScreen
from tui.picker.browser import PickerChoice
from tui.picker.conversations import ConversationLevel


def seen(chat: Any) -> str:
    return "\n".join(chat.seen)


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_rows_fit_the_screen_and_say_without_colour_where_it_stands(
    picking: Picking, harbour: Conversation, size: tuple[int, int]
) -> None:
    async with picking(turns_of=harbour, opened=harbour, size=size) as chat:
        text = seen(chat)
        for part in ("├╴○", "◆", "锅炉每年五月保养", "4 turns", "tokens", "Esc", "14 March 2026"):
            assert part in text
        assert all(cell_len(line) <= size[0] for line in chat.seen)


async def test_keys_choose_go_and_branch(picking: Picking, memory: Memory, harbour: Conversation) -> None:
    first, boiler, oil, storm = read_tree(memory, harbour, lambda _: {}).turns
    async with picking(turns_of=harbour, opened=harbour) as chat:
        assert chat.picker.turn.id == storm
        await chat.press("up", "up")  # the heading of the day
        assert chat.picker.turn.id == oil
        await chat.press("pageup", "down")
        assert chat.picker.turn.id == first
        await chat.press("enter")
        assert chat.chosen == [PickerChoice((f"/tree go {first}",))]
    async with picking(turns_of=harbour) as chat:  # another conversation is open
        await chat.press("up", "up", "up", "ctrl+b")
        assert chat.chosen == [PickerChoice((f"/resume {harbour.id}", f"/branch {boiler}"))]
    async with picking(turns_of=harbour, opened=harbour, rewrites=True) as chat:
        assert "Enter rewrite" in seen(chat)
        await chat.press("enter")
        assert chat.chosen == [PickerChoice((f"/branch {storm}",))]


async def test_two_branches_are_compared_in_place(picking: Picking, harbour: Conversation) -> None:
    async with picking(turns_of=harbour) as chat:
        await chat.press("ctrl+t", "up", "up", "ctrl+t")
        await chat.until(lambda: isinstance(chat.app.screen, TextScreen))
        await chat.until(lambda: "They share 1 turn" in seen(chat))
        assert "Which oil?" in seen(chat)
        await chat.press("escape")
        assert chat.app.screen is chat.picker


async def test_a_label_is_typed_and_a_branch_is_pruned_and_shown_again(picking: Picking, harbour: Conversation) -> None:
    async with picking(turns_of=harbour) as chat:
        await chat.press("ctrl+r")
        await chat.press(*"mast", "enter")
        await chat.until(lambda: "[mast]" in seen(chat))
        await chat.press("ctrl+x")  # the current branch
        await chat.until(lambda: "cannot be pruned" in seen(chat))
        await chat.press("up", "up", "up", "ctrl+x")
        await chat.until(lambda: "2 pruned hidden" in seen(chat))
        assert "Which oil" not in seen(chat)
        await chat.press("ctrl+o")
        await chat.until(lambda: "2 pruned shown" in seen(chat))
        assert "Which oil" in seen(chat)
        await chat.press("ctrl+r", "escape")
        assert chat.app.screen is chat.picker
        await chat.press("escape")
        await chat.until(lambda: chat.chosen == [PickerChoice()])


async def test_what_is_typed_finds_turns_by_their_message_and_their_answer(picking: Picking, say: Say) -> None:
    conversation = say("House", "one", "two", "three")
    say("Other", "four", reply="A lighthouse.")
    async with picking(turns_of=conversation) as chat:
        await chat.press(*"tw")
        await chat.until(lambda: "1 found" in seen(chat))
        assert chat.picker.turn.id
        assert "three" not in seen(chat)


async def test_left_goes_back_to_the_list_and_right_in_again(picking: Picking, harbour: Conversation, say: Say) -> None:
    say("Boiler", "When?")
    async with picking(turns_of=harbour) as chat:
        await chat.press("left")
        await chat.until(lambda: isinstance(chat.picker.level, ConversationLevel) and "Boiler" in seen(chat))
        assert chat.picker.conversation == harbour
        await chat.press("right")
        await chat.until(lambda: chat.picker.turn is not None)
        assert chat.picker.level.of == harbour


async def test_a_thousand_turns_open_and_move_without_delay(picking: Picking, say: Say) -> None:
    conversation = say("Long", *(f"Question number {number} on the boiler" for number in range(1000)))
    began = time.process_time()
    async with picking(turns_of=conversation, size=(120, 40)) as chat:
        opened = time.process_time() - began
        assert chat.picker.level.count > 1000
        began = time.process_time()
        await chat.press(*["pageup"] * 20)
        moved = time.process_time() - began
        await chat.until(lambda: "Question number 799" in seen(chat))
        assert opened < 5
        assert moved < 5
