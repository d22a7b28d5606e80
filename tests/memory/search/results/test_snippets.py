import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.search.results.snippets import best_window, best_windows
from models.tokens import estimate

FILLER = "The gulls were loud over the harbour again. Nobody on the pier had slept a minute.\n"


def cut(text: str, tokens: int = 200, **worth: float) -> str:
    start, end = best_window(text, worth, tokens)
    return text[start:end]


def test_a_short_text_is_its_own_snippet() -> None:
    assert cut("  The boat is green.\n", boat=1.0) == "The boat is green."


def test_the_window_holds_the_words_of_the_question_in_whole_sentences() -> None:
    text = FILLER * 40 + "The warranty of the boiler runs until May. Meyer has the papers.\n" + FILLER * 40
    snippet = cut(text, warranti=5.0, boiler=5.0)
    assert "The warranty of the boiler runs until May." in snippet
    assert snippet.startswith(("The ", "Nobody"))
    assert snippet.endswith((".", "minute."))
    assert 100 <= estimate(snippet) <= 220


def test_two_words_together_beat_one_of_them_often() -> None:
    text = "boiler boiler boiler boiler.\n" + FILLER * 40 + "The boiler's warranty.\n" + FILLER * 40
    assert "warranty" in cut(text, 60, boiler=3.0, warranti=3.0)


def test_what_the_snippet_lacks_is_shown_by_a_further_part() -> None:
    text = '[mailer]\nname = "mailer"\n' + FILLER * 40 + "pool_size = 35826\n" + FILLER * 40
    (start, end), (first, last) = best_windows(text, {"mailer": 7.0, "pool": 5.0}, 100)
    assert "mailer" in text[start:end]
    assert "pool_size = 35826" in text[first:last]
    assert end <= first
    assert estimate(text[first:last]) <= 80


@pytest.mark.parametrize("worth", [{"mailer": 7.0}, {"mailer": 7.0, "pool": 0.5}, {"mailer": 7.0, "warranti": 7.0}])
def test_nothing_further_is_shown_for_words_that_are_light_or_nowhere_else(worth: dict[str, float]) -> None:
    text = '[mailer]\nname = "mailer"\n' + FILLER * 40 + "pool_size = 35826\n" + FILLER * 40
    assert len(best_windows(text, worth, 100)) == 1


def test_at_most_two_further_parts_are_shown_in_the_order_of_the_text() -> None:
    words = {"mailer": 7.0, "pool": 5.0, "timeout": 5.0, "retri": 5.0}
    text = FILLER * 40 + "timeout = 3\n" + FILLER * 40 + "mailer\n" + FILLER * 40 + "pool\n" + FILLER * 40 + "retries\n"
    best, *further = best_windows(text, words, 100)
    assert "mailer" in text[slice(*best)]
    assert len(further) == 2 and further == sorted(further)


def test_chinese_is_cut_at_its_own_full_stops() -> None:
    text = "今天天气很好，我们去公园散步。" * 60 + "锅炉的保修期到明年五月。" + "晚上吃了饺子，大家都很开心。" * 60
    snippet = cut(text, 100, 锅炉=5.0, 保修=5.0)
    assert "锅炉的保修期到明年五月。" in snippet
    assert snippet.endswith("。")
    assert snippet[0] in "今锅晚"


def test_a_megabyte_is_cut_without_analysing_all_of_it() -> None:
    text = "x = compute(value)\n" * 30_000 + "the boiler has a warranty\n" + "y = compute(value)\n" * 30_000
    best_window(FILLER * 10, {"boiler": 1.0})
    began = time.process_time()
    assert "boiler" in cut(text, boiler=5.0, comput=1.0)
    assert time.process_time() - began < 1


@pytest.mark.parametrize("word", ["x", "boiler", "Qm9pbGVy", "\u0130"])
def test_a_giant_word_is_searched_for_many_words_in_little_time(word: str) -> None:
    text = word * (4_000_000 // len(word)) + " The valve has a Warranty."
    worth = {f"{chr(97 + n % 26)}{n}term": 1.0 for n in range(150)} | {"xxxxxxxx": 1.0, "boiler": 1.0, "warranti": 9.0}
    began = time.process_time()
    start, end = best_window(text, worth)
    assert time.process_time() - began < 1.5
    assert "Warranty" in text[start:end]


def test_one_line_without_a_blank_is_cut_too() -> None:
    assert 0 < estimate(cut("字" * 50_000, 字字=1.0)) <= 250


@given(st.text(st.sampled_from("ab .。\n,，字")), st.integers(5, 60))
def test_a_window_lies_within_and_keeps_its_size(text: str, tokens: int) -> None:
    start, end = best_window(text * 20, {"a": 1.0, "字": 1.0}, tokens)
    assert 0 <= start <= end <= len(text) * 20
    assert estimate((text * 20)[start:end]) <= max(3 * tokens, 150)
    spans = sorted(best_windows(text * 20, {"a": 1.0, "字": 1.0}, tokens))
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))
