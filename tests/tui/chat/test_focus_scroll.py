"""Going to a block above: what it belongs to comes into view with it."""

import pytest
from msgspec import structs

from tests.tui.conftest import Open
from tests.tui.fakes import RECALLED, answer

FIVE = tuple(
    structs.replace(RECALLED[0], citation=structs.replace(RECALLED[0].citation, ref=f"e_{number}"))
    for number in range(5)
)


@pytest.mark.parametrize("size", [(80, 24), (80, 12), (200, 50)])
async def test_the_count_of_further_passages_is_shown_with_the_passages_above_it(
    open_chat: Open, size: tuple[int, int]
) -> None:
    long = "\n\n".join(f"第{number} line" for number in range(60))
    async with open_chat(answers=lambda text: answer(long, recalled=FIVE), size=size) as chat:
        await chat.say("when?")
        await chat.quiet()
        await chat.press("ctrl+up", "ctrl+up")  # the answer, then the last line above it
        at = next(number for number, line in enumerate(chat.seen) if "▌" in line)
        assert "and 2 more" in chat.seen[at]
        assert "recalled  [House" in chat.seen[at - 3]
