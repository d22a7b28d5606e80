"""One conversation does not fill the page where others answer as well."""

from memory.search.results.diversify import diversify_hits
from tests.memory.search.conversation import Talk
from tests.memory.search.results.hits import hit


def test_the_seventh_of_one_conversation_gives_way_to_one_that_is_nearly_as_good() -> None:
    hits = [hit("x", n, score=0.9 - n / 100, conversation="long") for n in range(10)]
    other = hit("x", 20, score=0.79, conversation="other")
    assert [one.id for one in diversify_hits([*hits, other], 10)][:8] == [*(f"e_{n}" for n in range(6)), "e_20", "e_6"]


def test_it_does_not_give_way_to_one_that_is_much_worse() -> None:
    hits = [hit("x", n, score=0.9 - n / 100, conversation="long") for n in range(10)]
    other = hit("x", 20, score=0.3, conversation="other")
    assert diversify_hits([*hits, other], 10) == [*hits, other]


def test_where_all_is_in_one_conversation_nothing_changes() -> None:
    hits = [hit("x", n, score=0.9 - n / 1000) for n in range(30)]
    assert diversify_hits(hits, 10) == hits


def test_the_search_shows_others_on_its_first_page(talk: Talk) -> None:
    for n in range(14):
        talk.say(f"The boiler in house {n * 7919} was cold, said the plumber {chr(97 + n) * 5}.", to="long")
    talk.say("The boiler in the cellar was warm, said the plumber.", to="other")
    pages = [talk.ask("plumber boiler", limit=10, page=page) for page in (1, 2)]
    assert "other" in {one.conversation for one in pages[0].hits}
    figures = [one.shown_score for page in pages for one in page.hits]
    assert figures == sorted(figures, reverse=True), "each list is in the order of its figures"
    assert len({one.id for page in pages for one in page.hits}) == 15
