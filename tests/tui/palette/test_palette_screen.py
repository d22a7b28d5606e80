"""F1: the keys of the place where one is, read from its bindings, and the commands."""

from textual import events

from tests.tui.conftest import Open
from tui.chat.screen import ChatScreen
from tui.palette.key_rows import EVERYWHERE, HERE, key_rows, shown_key
from tui.palette.rows import FIRST, command_rows, matching, setting_rows, theme_rows
from tui.palette.screen import PaletteScreen
from tui.search.screen import SearchScreen


def test_keys_are_written_as_on_keyboards() -> None:
    keys = ("ctrl+f", "pageup", "shift+ctrl+up", "g", "G", "f1", "ctrl+end")
    assert [shown_key(key) for key in keys] == ["Ctrl+F", "PgUp", "Shift+Ctrl+↑", "g", "G", "F1", "Ctrl+End"]


async def test_f1_lists_keys_and_commands_and_enter_does_it(open_chat: Open) -> None:
    async with open_chat() as chat:
        await chat.press("f1")
        await chat.until(lambda: isinstance(chat.app.screen, PaletteScreen))
        assert "Keys and commands" in "\n".join(chat.seen)
        await chat.type("/remember")
        await chat.press("enter")
        assert isinstance(chat.app.screen, ChatScreen)
        assert chat.screen.prompt.text == "/remember "


async def test_f1_shows_each_explanation_whole_where_there_is_room(open_chat: Open) -> None:
    async with open_chat(size=(200, 50)) as chat:
        await chat.press("f1")
        await chat.until(lambda: isinstance(chat.app.screen, PaletteScreen))
        for _ in range(12):
            lines = [line for line in chat.seen if line.rstrip().endswith("…")]
            assert lines == []
            await chat.press("pagedown")


async def test_a_question_mark_in_an_empty_prompt_shows_the_keys(open_chat: Open) -> None:
    async with open_chat() as chat:
        await chat.press("?")
        await chat.until(lambda: isinstance(chat.app.screen, PaletteScreen))
        assert "Keys and commands" in "\n".join(chat.seen)
        first = "\n".join(chat.seen)
        assert "Send, or take the suggestion" in first and "Stop the answer" in first, "what is needed first"
        await chat.press("down", "escape")
        await chat.until(lambda: isinstance(chat.app.screen, ChatScreen))
        assert chat.screen.prompt.text == ""
        await chat.type("why")
        await chat.press("?")
        assert isinstance(chat.app.screen, ChatScreen)
        assert chat.screen.prompt.text == "why?"


async def test_what_is_typed_after_a_question_mark_is_a_message(open_chat: Open) -> None:
    async with open_chat() as chat:
        for key in "?ka 窑":  # at once, as fast fingers do
            chat.app.post_message(events.Key({"?": "question_mark", " ": "space"}.get(key, key), key))
        await chat.until(lambda: chat.screen.prompt.text.endswith("窑"))
        assert chat.screen.prompt.text == "?ka 窑"
        assert isinstance(chat.app.screen, ChatScreen)
        await chat.press("ctrl+c", "?")
        await chat.until(lambda: isinstance(chat.app.screen, PaletteScreen))
        await chat.press("?")
        await chat.until(lambda: chat.screen.prompt.text == "?")


async def test_enter_does_what_is_chosen_after_a_question_mark(open_chat: Open) -> None:
    async with open_chat() as chat:
        await chat.press("?")
        await chat.until(lambda: isinstance(chat.app.screen, PaletteScreen))
        keys = chat.app.screen
        assert isinstance(keys, PaletteScreen)
        while "Search everywhere" not in (keys.chosen.sentence if keys.chosen else ""):
            await chat.press("down")
        await chat.press("enter")
        await chat.until(lambda: isinstance(chat.app.screen, SearchScreen))


async def test_f1_again_closes_it_and_changes_nothing(open_chat: Open) -> None:
    async with open_chat() as chat:
        await chat.insert("a draft")
        await chat.press("f1")
        await chat.until(lambda: isinstance(chat.app.screen, PaletteScreen))
        await chat.press("f1")
        await chat.until(lambda: isinstance(chat.app.screen, ChatScreen))
        assert chat.screen.prompt.text == "a draft"


async def test_a_chosen_key_does_what_it_does(open_chat: Open) -> None:
    async with open_chat() as chat:
        await chat.press("f1")
        await chat.until(lambda: isinstance(chat.app.screen, PaletteScreen))
        await chat.type("permission mode")  # typed in the prompt only: it has no action
        await chat.press("enter")
        assert isinstance(chat.app.screen, ChatScreen)


async def test_own_keys_take_the_place_of_the_old_ones(open_chat: Open) -> None:
    async with open_chat() as chat:
        assert chat.app.use_keys({"chat.search": "alt+s", "chat.serch": "f7"}) == [
            "screen.keys: there is no action “chat.serch”. Did you mean chat.search?"
        ]
        rows = {row.id: row.label for row in key_rows(chat.app.screen) if row.place in {HERE, EVERYWHERE}}
        assert (rows["chat.search"], rows["app.keys"]) == ("Alt+S", "F1")


async def test_the_palette_has_everything_and_runs_what_is_chosen(open_chat: Open) -> None:
    async with open_chat() as chat:
        await chat.press("ctrl+p")
        await chat.until(lambda: isinstance(chat.app.screen, PaletteScreen))
        await chat.type("solarized-light")
        await chat.press("enter")
        await chat.until(lambda: chat.said == 1)
        assert chat.screen.prompt.text == ""


async def test_letters_in_order_find_what_no_word_does(open_chat: Open) -> None:
    rows = [*command_rows(), *setting_rows(), *theme_rows(["nord", "palimpsest-light"])]
    assert [row.label for row in matching(rows, "pmplght")] == ["palimpsest-light"]
    assert [row.label for row in matching(rows, "use_memory")] == ["context.use_memory"]
    assert matching(rows, "") == rows


async def test_the_palette_is_of_the_chat_alone(open_chat: Open) -> None:
    async with open_chat() as chat:
        await chat.press("f1")
        await chat.until(lambda: isinstance(chat.app.screen, PaletteScreen))
        first = chat.app.screen
        await chat.press("ctrl+p")
        assert chat.app.screen is first


async def test_the_palette_shows_twelve_commands_until_something_is_typed(open_chat: Open) -> None:
    async with open_chat(size=(120, 40)) as chat:
        await chat.press("ctrl+p")
        await chat.until(lambda: isinstance(chat.app.screen, PaletteScreen))
        shown = "\n".join(chat.seen)
        assert len(FIRST) == 12 and all(f"/{name}" in shown for name in FIRST)
        assert "/forget" not in shown and "type to search all" in shown
        await chat.type("forget")
        await chat.until(lambda: "/forget" in "\n".join(chat.seen))
