"""The person's own keys: what is taken, and a sentence for what is not."""

import pytest

from tests.tui.conftest import Open
from tui.app import PalimpsestApp
from tui.bindings import BOUND, default_keys, known_actions
from tui.output.app import ChangesOnlyApp
from tui.palette.own_keys import lost_keys, own_keymap

KNOWN = known_actions(PalimpsestApp)


@pytest.mark.parametrize(
    ("written", "taken"),
    [
        ("ctrl+o", "ctrl+o"),
        ("Ctrl+O, F3", "ctrl+o,f3"),
        ("Esc", "escape"),
        ("alt+Up", "alt+up"),
        ("G", "G"),
        ("?", "?"),
    ],
)
def test_keys_are_taken_as_people_write_them(written: str, taken: str) -> None:
    assert own_keymap({"chat.search": written}, KNOWN) == ({"chat.search": taken}, [])


@pytest.mark.parametrize("written", ["", "ctrl+", "hold+x", "ctrl+o,", "banana", "ctrl o"])
def test_what_is_no_key_is_told(written: str) -> None:
    keymap, (problem,) = own_keymap({"chat.search": written}, KNOWN)
    assert keymap == {}
    assert "is not a key" in problem


def test_an_action_that_there_is_not_is_told_with_the_nearest() -> None:
    keymap, (problem,) = own_keymap({"chat.serch": "ctrl+o"}, KNOWN)
    assert (keymap, problem) == ({}, "screen.keys: there is no action “chat.serch”. Did you mean chat.search?")


def test_two_actions_of_a_place_with_one_key_are_told() -> None:
    keymap, (problem,) = own_keymap({"chat.search": "f6", "chat.newest": "f6", "picker.name": "f6"}, KNOWN)
    assert keymap == {"chat.search": "f6", "picker.name": "f6"}
    assert "chat.newest and chat.search have the same key" in problem


def test_an_action_that_loses_its_key_is_named() -> None:
    defaults = default_keys(PalimpsestApp)
    keymap, problems = own_keymap({"chat.search": "ctrl+o, f3"}, KNOWN)
    assert problems == []
    (lost,) = lost_keys(keymap, defaults)
    assert lost.startswith("screen.keys: chat.search takes ctrl+o from prompt.open (Open the pasted text or image")
    assert "which has no key now: give prompt.open another one" in lost
    assert lost_keys({**keymap, "prompt.open": "alt+s"}, defaults) == []
    assert lost_keys({"chat.search": "alt+s,f3"}, defaults) == []


async def test_a_lost_key_is_told_when_the_chat_opens(open_chat: Open) -> None:
    async with open_chat() as chat:
        assert any("prompt.open" in problem for problem in chat.app.use_keys({"chat.search": "ctrl+o"}))


def test_each_key_of_a_screen_has_an_id_of_its_own_and_a_sentence() -> None:
    """Except where the answer gives or takes trust: its keys stay where they are."""
    bindings = [
        binding for kind in (PalimpsestApp, ChangesOnlyApp, *BOUND) for binding in kind.__dict__.get("BINDINGS", ())
    ]
    assert [binding for binding in bindings if not (binding.id and binding.description)] == []
    ids = [binding.id for binding in bindings]
    assert len(ids) == len(set(ids))
    assert set(ids) == set(KNOWN)
