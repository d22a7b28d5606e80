"""Where the question's words stand in what is shown."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from foundation.text.analysis import term_list
from memory.search.results.snippets import marked


def shown(snippet: str, question: str) -> list[str]:
    return [snippet[start:end] for start, end in marked(snippet, dict.fromkeys(term_list(question), 1.0))]


def test_words_are_marked_as_they_stand_whatever_their_ending() -> None:
    assert shown("The boats left; a Boat came.", "Which boat did I leave?") == ["boats left", "Boat"]


def test_words_that_say_little_are_not_marked_beside_others() -> None:
    assert shown("What is the boat? It is what it is.", "what is the boat") == ["boat"]
    assert shown("To be or not to be.", "to be") == ["To be", "to be"]


def test_chinese_is_marked_in_runs() -> None:
    assert shown("昨天锅炉的保修期到了。", "锅炉保修") == ["锅炉", "保修"]
    assert shown("锅炉保修卡", "锅炉保修") == ["锅炉保修"]


def test_other_scripts_are_marked() -> None:
    assert shown("Паром уходит в семь.", "паром") == ["Паром"]
    assert shown("レストランを予約しました。", "予約") == ["予約"]
    assert shown("Café Central", "cafe") == ["Café"]
    assert shown("부산으로 가는 배", "부산") == ["부산"]


def test_of_a_path_the_part_that_was_asked_for_is_marked() -> None:
    assert shown("see src/http_client.py there", "client") == ["client"]
    assert shown("see src/http_client.py there", "src/http_client.py") == ["src", "http", "client", "py"]
    assert shown("we run v2.14.1 now", "2.14.1") == ["v2.14.1"]


def test_nothing_is_marked_where_nothing_was_asked() -> None:
    assert marked("The boat is green.", {}) == ()


@given(st.text(max_size=80), st.text(max_size=20))
def test_marks_lie_within_in_order_and_apart(snippet: str, question: str) -> None:
    marks = marked(snippet, dict.fromkeys(term_list(question), 1.0))
    edges = [edge for mark in marks for edge in mark]
    assert edges == sorted(edges)
    assert all(0 <= start < end <= len(snippet) for start, end in marks)
    assert all(snippet[one[1] : other[0]].strip(" ") for one, other in pairwise(marks))
