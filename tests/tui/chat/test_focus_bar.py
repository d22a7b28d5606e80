"""The keys of a focused block or message are all to be seen, also on a narrow terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.tui.conftest import Open
from tui.widgets.focus_bar import BACK, MORE, action_rows

MESSAGE = ["e whole", "c copy", "i quote", "r edit and resend", "b branch", "m bookmark", "d delete"]


@pytest.mark.parametrize(("size", "rows"), [((40, 24), 3), ((80, 24), 2), ((120, 40), 1)])
async def test_every_action_of_a_message_is_shown(open_chat: Open, size: tuple[int, int], rows: int) -> None:
    async with open_chat(size=size) as chat:
        await chat.say("When is the boiler serviced? 🙂")
        await chat.quiet()
        await chat.press("ctrl+up", "ctrl+up")
        bar = chat.screen.foot.focus_bar
        assert bar.size.height == rows
        shown = " · ".join(bar.render().plain.split("\n"))
        assert shown == " · ".join([*MESSAGE[:4], "b branch", "m bookmark", "d delete", BACK])
        await chat.press("escape")
        assert not bar.display and chat.screen.status.display


async def test_the_prompt_stays_in_its_row_from_one_block_to_the_next(open_chat: Open) -> None:
    async with open_chat(size=(80, 24)) as chat:
        await chat.say("hello")
        await chat.quiet()
        await chat.press("ctrl+up", "ctrl+up")
        row = chat.screen.prompt.region.y
        await chat.press("down")
        assert chat.screen.prompt.region.y == row


async def test_a_low_terminal_gives_one_row_and_the_key_of_the_list(open_chat: Open) -> None:
    async with open_chat(size=(60, 10)) as chat:
        await chat.say("hello")
        await chat.quiet()
        await chat.press("ctrl+up", "ctrl+up")
        assert chat.screen.foot.focus_bar.size.height == 1
        assert chat.screen.foot.focus_bar.render().plain.endswith(f"{MORE} · {BACK}")


@given(
    st.lists(st.text("abcé书🙂 ", min_size=1, max_size=30), min_size=1, max_size=12),
    st.integers(12, 120),
    st.integers(1, 4),
)
def test_rows_fit_and_the_way_back_is_last(actions: list[str], width: int, most: int) -> None:
    rows = action_rows(actions, width, most)
    assert 1 <= len(rows) <= most
    assert all(cell_len(row) <= width for row in rows)
    if len(rows) > 1:
        assert rows[-1].endswith(BACK)
