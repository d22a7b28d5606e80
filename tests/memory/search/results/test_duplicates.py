"""What says the same is shown once; what differs in a value is not the same."""

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from foundation.trust import Trust
from memory.search import Hit
from memory.search.results import diversify
from memory.search.results.diversify import deduplicate
from tests.memory.search.results.hits import hit

FERRY = "The ferry to Hydra leaves in the morning from the far end of the old harbour, said Ann on the phone again"


def ids(hits: list[Hit]) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.id, one.like) for one in hits]


def test_the_earliest_of_those_that_are_alike_is_shown_in_the_place_of_the_best() -> None:
    said = [hit(FERRY, 1, day=1, score=0.9), hit("Bring sunscreen.", 2), hit(f"{FERRY}!", 3, day=5, score=0.4)]
    assert ids(deduplicate(said, 10)) == [("e_1", ("e_3",)), ("e_2", ())]
    assert deduplicate(said, 10)[0].score == 0.9


def test_the_exact_one_is_shown_before_a_newer_that_is_approximate() -> None:
    said = [hit(FERRY, 1, day=9, trust=Trust.APPROXIMATE), hit(FERRY, 2, day=1)]
    assert ids(deduplicate(said, 10)) == [("e_2", ("e_1",))]


def test_a_hit_is_not_listed_as_its_own_duplicate_and_no_other_twice() -> None:
    page, other = hit(FERRY, 1, day=1), hit(FERRY, 2, day=2)
    hits = [page, replace(page, entry=11, entry_id="e_11"), other, replace(other, entry=12, entry_id="e_12")]
    assert ids(deduplicate(hits, 10)) == [("e_1", ("e_2",))]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("from gate E8 and not before", "from gate E9 and not before"),
        ("at 09:40 in the morning", "at 10:20 in the morning"),
        ("for 40 euros a head", "for 55 euros a head"),
        ("on Friday with the others", "on Sunday with the others"),
        ("with our friend Maria aboard", "with our friend Petros aboard"),
        ("and it is late", "and it is not late"),
    ],
)
def test_those_that_differ_in_a_value_are_both_shown(one: str, other: str) -> None:
    long = "The boat to the island where we were in summer leaves from the old harbour with all that we own"
    assert len(deduplicate([hit(f"{long} {one}", 1), hit(f"{long} {other}", 2)], 10)) == 2
    assert len(deduplicate([hit(f"{long} {one}", 1), hit(f"{long} {one}", 2)], 10)) == 1


def test_chinese_that_differs_in_a_value_is_both_shown() -> None:
    long = "我们夏天去过的那个小岛的渡轮从老港口的尽头出发"
    assert len(deduplicate([hit(f"{long}，周五走", 1), hit(f"{long}，周日走", 2)], 10)) == 2
    assert len(deduplicate([hit(f"{long}，周五走", 1), hit(f"{long}，周五走。", 2)], 10)) == 1


def test_what_two_people_say_of_themselves_is_two_things() -> None:
    text = "I am allergic to nuts and to all that was near them, ever since I was a child in Lyon"
    assert len(deduplicate([hit(text, 1, speaker="Ann"), hit(text, 2, speaker="Bob")], 10)) == 2
    assert len(deduplicate([hit(text, 1, speaker=""), hit(text, 2, speaker="model", role="assistant")], 10)) == 1


def test_a_part_of_what_another_says_is_folded_into_it() -> None:
    whole = " ".join(f"{FERRY} {word}" for word in ("first", "second", "third"))
    assert len(deduplicate([hit(whole, 1), hit(FERRY, 2)], 10)) == 1


def test_no_more_is_read_than_is_wanted() -> None:
    read: list[int] = []

    def coming() -> Iterator[Hit]:
        for n in range(100):
            read.append(n)
            yield hit(f"word{n}", n)

    assert len(deduplicate(coming(), 5)) == 6
    assert len(read) == 6


def near_duplicates() -> list[Hit]:
    """A thousand that share most of their words and differ in a number: none is another's twin."""
    long = "the boat to the island where we were in summer leaves from the old harbour with all that we own and more "
    return [hit(f"{long * 3} at number {n}", n) for n in range(1000)]


def test_a_thousand_near_duplicates_are_not_compared_each_with_each(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0
    alike = diversify.alike

    def term_counts(one: object, other: object) -> bool:
        nonlocal compared
        compared += 1
        return alike(one, other)

    monkeypatch.setattr(diversify, "alike", term_counts)
    letters = str.maketrans("0123456789", "bcdfghjkmn")
    own = [" ".join(f"{word * 7919}x" for word in range(20 * n, 20 * n + 20)).translate(letters) for n in range(1000)]
    said = [hit(f"{FERRY} {words}", n) for n, words in enumerate(own)]
    assert len(deduplicate(said, 2000)) == 1000
    assert 1000 <= compared <= 1000 * 8


def test_a_thousand_that_say_the_same_are_one() -> None:
    (face,) = deduplicate([hit(FERRY, n, day=n) for n in range(1000)], 10)
    assert (face.id, len(face.like)) == ("e_0", 999)
    assert len(deduplicate(near_duplicates(), 2000)) == 1000
