"""One near-duplicate test: symmetric, reflexive, and careful with phrases that are part of other texts."""

from hypothesis import given
from hypothesis import strategies as st

from foundation.text.similarity import alike, near_duplicates, overlap, resemblance, shingles, sketch

LONG = "We decided to take the ferry from Piraeus at 09:40 on Friday and to stay for three nights at Hotel Aurora"


@given(st.text(max_size=60), st.text(max_size=60))
def test_every_measure_is_symmetric_and_a_text_is_alike_itself(one: str, other: str) -> None:
    mine, theirs = shingles(one), shingles(other)
    assert alike(mine, theirs) is alike(theirs, mine)
    assert overlap(mine, theirs) == overlap(theirs, mine)
    assert resemblance(sketch(one), sketch(other)) == resemblance(sketch(other), sketch(one))
    assert alike(mine, mine) and overlap(mine, mine) == 1


def test_case_and_punctuation_are_no_difference_and_one_word_of_many_is_little() -> None:
    assert shingles(LONG) == shingles(LONG.upper().replace(" and", ", and"))
    assert alike(shingles(LONG), shingles(f"{LONG} gladly"))
    assert not alike(shingles(LONG), shingles("We sold the boat in Naxos last year and bought bicycles instead of it"))


def test_a_long_part_is_alike_its_whole_and_a_phrase_only_where_it_is_asked_for() -> None:
    whole = shingles(f"{LONG}. Then the weather turned and we rented a car to see the other coast of the island.")
    phrase = shingles("to take the ferry from Piraeus at 09:40")
    assert alike(shingles(LONG), whole)
    assert not alike(phrase, whole)
    assert alike(phrase, whole, within=0.8, shortest=1)


def test_characters_of_a_script_without_spaces_are_words() -> None:
    text = "我们决定坐早上九点四十分的渡轮去那克索斯"
    assert alike(shingles(text), shingles(f"{text}。"))
    assert not alike(shingles(text), shingles("他们卖了船，去年在那克索斯买了自行车"))


def test_only_the_keys_asked_for_are_compared() -> None:
    sketches = {1: sketch(LONG), 2: sketch(LONG), 3: sketch(LONG)}
    assert near_duplicates(sketches) == [(1, 2), (1, 3), (2, 3)]
    assert near_duplicates(sketches, [3, 1, 9]) == [(1, 3)]
