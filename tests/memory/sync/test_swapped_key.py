"""What a device wrote with another key is written anew with its own."""

from pathlib import Path

import pytest

from memory.sync.encryption import Keys, new_secret
from tests.memory.sync.devices import Laptop


@pytest.mark.timeout(60)
def test_what_was_written_with_a_swapped_key_is_read_once_the_key_is_back(tmp_path: Path, place: Path) -> None:
    secret = new_secret()
    desk = Laptop(tmp_path / "a" / "ws", "desk", keys=Keys(secret, ()))
    laptop = Laptop(tmp_path / "b" / "ws", "laptop", keys=Keys(secret, ()))
    conversation = desk.talk("One")
    desk.run(place)
    laptop.run(place)
    for swapped, text in ((new_secret(), "Written with the swapped key"), (secret, "")):
        desk.close()
        desk.keys = Keys(swapped, ())
        desk.open()
        if text:
            desk.say(conversation, text)
        desk.run(place)
    result = laptop.run(place)
    assert result.unread == ()
    found = laptop.found(conversation)
    texts = [laptop.memory.passage(entry).text for entry in laptop.memory.conversations.all_entries(found.seq)]
    assert texts == ["One", "Written with the swapped key"]
    desk.close()
    laptop.close()
