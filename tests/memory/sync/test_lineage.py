"""An entry of another device is hidden from search as a repetition only where it can repeat something that is here."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from memory.search import Query
from models.messages import Role
from tests.memory.sync.devices import Laptop
from tests.memory.sync.test_hostile_segments import GOOD, put


def found(device: Laptop, words: str) -> int:
    device.memory.search.update()
    return len(device.memory.search.query(Query(text=words)).hits)


@pytest.mark.parametrize(
    ("role", "meta"),
    [
        ("assistant", {"derived_from": ["e_000000000000"]}),
        ("assistant", {"derived_from": [GOOD.id]}),  # itself
        ("assistant", {"derived_from": []}),
        ("assistant", {"derived_from": {"derived_from": 1}}),
        ("assistant", {"other": {"derived_from": ["e_000000000000"]}}),
        ("assistant", {"other": [["derived_from"]]}),
        ("user", {"derived_from": ["e_zzzzzzzzzzzz"]}),
    ],
)
def test_a_lineage_that_names_nothing_hides_nothing(
    laptop: Laptop, place: Path, role: str, meta: dict[str, Any]
) -> None:
    first = replace(GOOD, id="e_zzzzzzzzzzzz", text=b"Something else.")
    forged = replace(GOOD, parent=first.id, role=role, text=b"The zanzibar account is 4711.", meta=meta)
    put(place, first, forged)
    assert laptop.run(place).taken.entries == 2
    assert found(laptop, "zanzibar") == 1
    assert laptop.memory.cold.check() == []


def test_an_answer_that_repeats_an_entry_stays_derived(desk: Laptop, laptop: Laptop, place: Path) -> None:
    trip = desk.talk("The zanzibar tent is in the cellar.")
    (entry,) = desk.memory.conversations.all_entries(trip.seq)
    desk.say(trip, "The zanzibar tent is in the cellar.", Role.ASSISTANT, meta={"derived_from": [entry.id]})
    desk.run(place)
    laptop.run(place)
    assert found(laptop, "zanzibar") == found(desk, "zanzibar") == 1
