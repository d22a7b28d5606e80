"""An import does not bring back what was forgotten, by its id or by its text, and says how many it left out."""

from pathlib import Path

from agent.importers.forgotten import ForgottenHere
from agent.importers.jsonl import read_jsonl
from foundation.clock import from_ms
from memory.cold import ColdStore
from memory.conversations import Conversations
from memory.forgotten.fingerprints import Fingerprints
from memory.forgotten.journal import ForgetJob, ForgetJournal
from memory.forgotten.tombstones import EntryTombstone, ForgottenName
from tests.agent.conftest import Run
from tests.agent.importers.stored import branch, lines, stored
from tests.memory.forget.bytes_of import places_of

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


def test_an_entry_whose_words_were_forgotten_in_part_is_known_again(run: Run, root: Path, tmp_path: Path) -> None:
    moment = {"conversation": "c", "time": "2024-01-02T03:04:05Z"}
    file = tmp_path / "far.jsonl"
    told = lines(
        moment | {"id": "a", "role": "user", "text": SECRET},
        moment | {"id": "b", "role": "assistant", "text": f"You said:\n{SECRET}\nNoted."},
    )
    file.write_bytes(b"".join(told))
    assert run("import", str(file)).status == 0
    assert run("forget", "a", "--yes").status == 0
    again = run("import", str(file))
    assert "1 was already stored; 1 entry not imported because deleted here with `forget`" in again.out
    assert places_of(root, ["bluefin"]) == {}


def test_words_forgotten_before_a_text_was_written_stay_in_its_names(cold: ColdStore) -> None:
    cold_words = ForgottenHere(Conversations(cold))
    stones = Conversations(cold).tombstones
    stones.add([EntryTombstone(token="0" * 64, forgotten_ms=1)])
    prints = Fingerprints.of([b"Zqibble"], cold.secret).prints
    ForgetJournal(cold.database.with_name("forgotten")).write(ForgetJob(id="f_1", begun_ms=1_000_000, prints=prints))
    assert cold_words.without_words("Mr Zqibble", from_ms(999_999)) == "Mr [forgotten]"
    assert cold_words.without_words("Mr Zqibble", None) == "Mr [forgotten]"
    assert cold_words.without_words("Mr Zqibble", from_ms(1_000_001)) == "Mr Zqibble"
