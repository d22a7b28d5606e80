"""What was read lately is at hand, within a bound; what changed or was deleted is not."""

from itertools import count

from msgspec.structs import replace

from foundation.trust import Trust
from memory.memory import Memory
from memory.pages.types import Passage
from memory.passage_cache import Fragments, fragments_of
from tests.memory.search.talk import Talk


def test_a_value_is_made_once() -> None:
    kept, made = Fragments(), count()
    assert [kept.get("key", 1, 100, lambda: next(made)) for _ in range(3)] == [0, 0, 0]


def test_what_was_used_longest_ago_goes_first() -> None:
    kept = Fragments(most=1000)
    for name in ("a", "b", "c", "d"):
        kept.get(name, name, 250, name.upper)
    kept.get("a", "a", 250, lambda: "made again")
    kept.get("e", "e", 250, "e".upper)
    assert kept.get("a", "a", 250, lambda: "made again") == "A"
    assert kept.get("b", "b", 250, lambda: "made again") == "made again"
    assert kept.bytes <= 1000


def test_one_that_is_larger_than_a_quarter_of_the_room_is_not_kept() -> None:
    kept = Fragments(most=1000)
    kept.get("huge", 1, 251, lambda: "x")
    assert (len(kept), kept.bytes) == (0, 0)


def test_what_is_deleted_leaves_with_the_next_question(talk: Talk) -> None:
    talk.say("The locker code of the marina is harbour nine two.", to="secret")
    talk.say("The marina has a locker.", to="other")
    assert len(talk.found("locker marina")) == 2
    kept = fragments_of(talk.memory.cold)
    assert "harbour" in str(kept.keys())
    talk.memory.vault.delete_conversation(talk.seqs["secret"])
    talk.found("marina")
    assert "harbour" not in str(kept.keys())
    assert len(kept) > 0


def test_a_passage_that_is_not_exact_is_read_anew(talk: Talk) -> None:
    archived = replace(talk.say("The locker code."), text=None)
    kept, read = Fragments(), list[Trust]()

    def reading(trust: Trust) -> Passage:
        read.append(trust)
        return Passage("The locker code.", trust)

    for trust in (Trust.APPROXIMATE, Trust.APPROXIMATE, Trust.EXACT, Trust.EXACT):
        kept.passage(archived, lambda _, trust=trust: reading(trust))
    assert read == [Trust.APPROXIMATE, Trust.APPROXIMATE, Trust.EXACT]


def test_one_store_has_one_set_of_fragments(memory: Memory) -> None:
    assert fragments_of(memory.cold) is fragments_of(memory.cold)


def test_what_was_made_of_words_that_are_gone_meanwhile_is_not_kept(talk: Talk) -> None:
    talk.say("One.")
    kept = Fragments()
    kept.keep_up(talk.memory.cold)

    def make() -> str:
        talk.say("Two.")
        kept.keep_up(talk.memory.cold)
        return "made"

    kept.get("key", 1, 10, make)
    assert len(kept) == 0
