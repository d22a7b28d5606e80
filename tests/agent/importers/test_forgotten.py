"""An import does not bring back what was forgotten, by its id or by its text, and says how many it left out."""

from agent.importers.jsonl import read_jsonl
from memory.cold import ColdStore
from memory.conversations import Conversations
from memory.forgotten.tombstones import EntryTombstone, ForgottenName
from tests.agent.importers.stored import branch, lines, stored

SECRET = "The code of the door is bluefin-7731."


def _said(id_: str, text: str, **more: object) -> dict[str, object]:
    return {"id": id_, "conversation": "c", "role": "user", "text": text, **more}


def test_a_forgotten_entry_stays_out_and_its_reply_stands_on_what_was_above_it(cold: ColdStore) -> None:
    name = ForgottenName("s", "c", "b")
    Conversations(cold).tombstones.add([EntryTombstone(token=name.token, forgotten_ms=1)])
    told = lines(
        _said("a", "Hello"),
        _said("b", SECRET, palimpsest={"parent": "a"}),
        _said("c", "Bye", palimpsest={"parent": "b"}),
    )
    report = stored(cold, read_jsonl(told, "c"))
    assert report.forgotten == 1
    assert [entry.text for entry in branch(cold, "c")] == ["Hello", "Bye"]


def test_an_entry_of_the_same_text_stays_out_under_another_id(cold: ColdStore) -> None:
    stones = Conversations(cold).tombstones
    stones.add([EntryTombstone(token="0" * 64, text=stones.hash_of(SECRET), forgotten_ms=1)])
    report = stored(cold, read_jsonl(lines({"text": SECRET}, {"text": "Something else."}), "c"))
    assert (report.entries, report.forgotten) == (1, 1)


def test_an_export_of_ours_does_not_bring_back_our_own_entry(cold: ColdStore) -> None:
    name = ForgottenName("", "c", "b")
    Conversations(cold).tombstones.add([EntryTombstone(token=name.token, forgotten_ms=1)])
    report = stored(cold, read_jsonl(lines(_said("b", "yes", palimpsest={"source": ""}), _said("d", "no")), "c"))
    assert (report.entries, report.forgotten) == (1, 1)
