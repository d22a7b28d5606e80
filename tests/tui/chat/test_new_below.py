"""The hint in the corner: something new came below, or entries are to be loaded there."""

from typing import Any

from tui.widgets.transcript.items import MutedLine


def hint(chat: Any) -> str:
    return next((line.strip() for line in chat.seen if "↓" in line and "Ctrl+End" in line), "")


async def test_what_was_only_unloaded_is_not_called_new(open_chat: Any) -> None:
    async with open_chat() as chat:
        transcript = chat.screen.transcript
        lines = [MutedLine(f"Zeile {number} 行 🏺") for number in range(200)]
        transcript.add(*lines)
        await chat.press("pageup")
        assert hint(chat) == ""
        transcript.drop_after(lines[190])
        await chat.pilot.pause()
        assert hint(chat) == "↓ more · Ctrl+End"
        transcript.add(MutedLine("something came"))
        await chat.pilot.pause()
        assert hint(chat) == "↓ new · Ctrl+End"
        transcript.drop_after(lines[189])
        await chat.pilot.pause()
        assert hint(chat) == "↓ new · Ctrl+End", "it came, whether it is loaded or not"
        transcript.follow_end()
        await chat.pilot.pause()
        assert hint(chat) == ""


async def test_a_block_that_opens_above_brings_nothing_new(open_chat: Any) -> None:
    async with open_chat() as chat:
        transcript = chat.screen.transcript
        lines = [MutedLine(f"Zeile {number}") for number in range(200)]
        transcript.add(*lines)
        await chat.press("pageup")
        transcript.replace_item(lines[100], [MutedLine("one"), MutedLine("two"), MutedLine("three")])
        await chat.pilot.pause()
        assert hint(chat) == ""
