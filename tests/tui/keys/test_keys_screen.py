"""F1: the keys of the place where one is, read from its bindings, and the commands."""

from tests.tui.conftest import Open
from tui.chat.screen import ChatScreen
from tui.keys.rows import EVERYWHERE, HERE, key_rows, shown_key
from tui.keys.screen import KeysScreen


def test_keys_are_written_as_on_keyboards() -> None:
    keys = ("ctrl+f", "pageup", "shift+ctrl+up", "g", "G", "f1", "ctrl+end")
    assert [shown_key(key) for key in keys] == ["Ctrl+F", "PgUp", "Shift+Ctrl+↑", "g", "G", "F1", "Ctrl+End"]


async def test_f1_lists_keys_and_commands_and_enter_does_it(open_chat: Open) -> None:
    async with open_chat() as chat:
        await chat.press("f1")
        await chat.until(lambda: isinstance(chat.app.screen, KeysScreen))
        assert "Keys and commands" in "\n".join(chat.seen)
        await chat.type("/rec")
        await chat.press("enter")
        assert isinstance(chat.app.screen, ChatScreen)
        assert chat.screen.prompt.text == "/recall "


async def test_f1_again_closes_it_and_changes_nothing(open_chat: Open) -> None:
    async with open_chat() as chat:
        await chat.insert("a draft")
        await chat.press("f1")
        await chat.until(lambda: isinstance(chat.app.screen, KeysScreen))
        await chat.press("f1")
        await chat.until(lambda: isinstance(chat.app.screen, ChatScreen))
        assert chat.screen.prompt.text == "a draft"


async def test_a_chosen_key_does_what_it_does(open_chat: Open) -> None:
    async with open_chat() as chat:
        await chat.press("f1")
        await chat.until(lambda: isinstance(chat.app.screen, KeysScreen))
        await chat.type("permission mode")  # typed in the prompt only: it has no action
        await chat.press("enter")
        assert isinstance(chat.app.screen, ChatScreen)


async def test_own_keys_take_the_place_of_the_old_ones(open_chat: Open) -> None:
    async with open_chat() as chat:
        assert chat.app.use_keys({"chat.search": "f6", "chat.serch": "f7"}) == [
            "screen.keys: there is no action “chat.serch”. Did you mean chat.search?"
        ]
        rows = {row.id: row.keys for row in key_rows(chat.app.screen) if row.place in {HERE, EVERYWHERE}}
        assert (rows["chat.search"], rows["app.keys"]) == ("F6", "F1")
