import time
import tracemalloc
from collections import Counter
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.text import analysis
from foundation.text.analysis import analyse, term_list, token_spans, unpack_terms
from foundation.text.folding import fold
from foundation.text.stemming import bare_stem, stem
from foundation.text.stopwords import is_weak
from foundation.text.word_forms import IRREGULAR, spellings

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("She went to buy shoes and bought them", "she go to buy shoe and buy them"),
        ("Caroline's children don't lie", "carolin child do lie"),
        ("ＡＢＣ Café ﬁle STRASSE straße", "abc cafe file strass strass"),
        ("使用Python3开发", "使用 python3 python 3 开发"),
        ("猫", "猫"),
        ("ｶﾞラス", "ガラ ラス"),
        ("हिन्दी में", "हिन्दी में"),
        ("src/http_client.py", "src/http_client.py src http client py"),
        ("getHTTPResponse", "gethttprespons get http respons"),
        ("v3.51.3 and 3.51", "3.51 3.51.3 and 3.51"),
        ("2026-03-09", "2026-03-09 2026 3 9"),
        ("commit d36ef81a", "commit d36ef81a"),
        ("e-mail email", "email e mail email"),
        ("and/or 1,234 5th", "and or 1234 5"),
        ("C++ C# c", "c++ c# c"),
        ("https://www.example.org/a_b?q=1.", "example.org/a_b?q=1 example.org exampl org a b q 1"),
        ("ann@example.org", "ann@example.org ann exampl org"),
        ("children mice taught bought bigger", "child mous teach buy big"),
        ("weight colour travelling organised grandmother", "weight color travel organiz grandma"),
        ("軟體 软体 颱風 學校裡", "软体 台风 学校 校里"),
        ("학교에서", "학교 교에 에서"),
        ("👩🏽‍💻 🎉 🇩🇪", "👩 💻 🎉 🇩🇪"),
        ("#Travel @ann-lee a#b", "#travel travel @ann-lee annle ann lee a b"),
        ("1,200.50 1,200 2.50", "1200.50 1200 2.50"),
        ("Łódź İstanbul ışık ёлка", "lodz istanbul isik елка"),
        ("كِتَابٌ ٣٤", "كتاب 34"),
        ("l'avion", "l avion"),
        ("ไปเที่ยว", "ไป ปเ เท ที ี่ ่ย ยว"),
        ("かなカナ漢字", "かな なカ カナ ナ汉 汉字"),
        ("", ""),
    ],
)
def test_text_becomes_the_terms_that_it_is_found_by(text: str, terms: str) -> None:
    assert set(term_list(text)) == set(terms.split())


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        # the worked examples of the algorithm's own page, snowballstem.org/algorithms/english/stemmer.html
        ("consigned", "consign"),
        ("consistency", "consist"),
        ("consolation", "consol"),
        ("knightly", "knight"),
        ("knackeries", "knackeri"),
        ("knotted", "knot"),
        ("hopping", "hop"),
        ("hoping", "hope"),
        ("generously", "generous"),
        ("cries", "cri"),
        ("ties", "tie"),
        ("gas", "gas"),
        ("this", "this"),
        ("dying", "die"),
        ("organizations", "organiz"),
        ("happily", "happili"),
        ("archaeologist", "archaeolog"),
        ("skies", "sky"),
        ("women", "woman"),
        ("went", "go"),
        ("understood", "understand"),
    ],
)
def test_words_get_the_stem_that_the_published_algorithm_gives(word: str, expected: str) -> None:
    assert stem(word) == expected


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("学校", "學校"),
        ("软体", "軟體"),
        ("台风", "颱風"),
        ("학교", "학교에서"),
        ("1200", "1,200"),
        ("1.2", "v1.2.3"),
        ("travel", "#travel"),
        ("colour", "COLORS"),
        ("centre", "Centers"),
        ("buy", "bought"),
        ("mouse", "mice"),
        ("organize", "organisation"),
        ("analyse", "analyzed"),
        ("🎉", "party🎉"),
        ("ann", "ann@example.org"),
        ("http", "getHTTPResponse"),
        ("naïve", "naive"),
        ("strasse", "Straße"),
    ],
)
def test_what_is_asked_in_one_form_finds_what_was_said_in_another(asked: str, said: str) -> None:
    assert set(term_list(asked)) <= set(term_list(said)) or set(term_list(asked)) & set(term_list(said))


@pytest.mark.parametrize(
    "pair", ["universe university", "policy police", "promise exercise", "precise prize", "news new"]
)
def test_words_that_only_look_alike_stay_apart(pair: str) -> None:
    one, other = pair.split()
    assert term_list(one) != term_list(other)


def test_every_spelling_of_a_word_is_one_term_and_no_form_is_of_two() -> None:
    seen: dict[str, str] = {}
    for first, *others in spellings():
        assert {stem(word) for word in others} == {stem(first)}
        for bare in {bare_stem(IRREGULAR.get(word, word)) for word in (first, *others)}:
            assert seen.setdefault(bare, first) == first


def test_no_word_that_says_something_becomes_one_that_does_not() -> None:
    for row in spellings():
        assert not any(is_weak(stem(word)) for word in row), row


def test_traditional_characters_fold_to_ones_that_stay() -> None:
    pairs = files("foundation.text").joinpath("data", "simplified.txt").read_text("utf-8").replace("\n", "")
    assert len(pairs) == 2 * 2690
    assert all(fold(pairs[at]) == fold(pairs[at + 1]) == pairs[at + 1] for at in range(0, len(pairs), 2))


def test_the_speaker_is_a_term_too() -> None:
    assert unpack_terms(analyse("I like tea", "Ann").packed) == {
        "=person:ann": 1,
        "ann": 1,
        "i": 1,
        "like": 1,
        "tea": 1,
    }


def test_length_counts_repeats_and_counts_stop_at_a_byte() -> None:
    terms = analyse("tea " * 1000)
    assert terms.length == 1000
    assert unpack_terms(terms.packed) == {"tea": 255}


@given(st.text())
def test_packing_keeps_every_term(text: str) -> None:
    found = term_list(text)
    packed = {term: count for term, count in unpack_terms(analyse(text).packed).items() if not term.startswith("=")}
    assert packed == {term: min(found.count(term), 255) for term in set(found)}


@given(st.text())
def test_analysing_is_the_same_each_time(text: str) -> None:
    assert analyse(text) == analyse(text)


@given(st.text(st.characters(codec=None)))
def test_no_text_breaks_it_and_spans_lie_within(text: str) -> None:
    for terms, start, end in token_spans(text):
        assert 0 <= start < end <= len(text)
        assert all("\n" not in term and "\0" not in term for term in terms)


@given(st.text(st.sampled_from("我们在東京灣軟體裏面が゙가ｶﾞ〇々一丁龥鿿ไทย"), min_size=2))
def test_pairs_of_a_run_are_those_of_each_pair(text: str) -> None:
    for terms, start, end in token_spans(text):
        assert terms == analysis.terms_of(text[start:end], "unspaced")


def test_every_han_character_is_folded_by_itself() -> None:
    every = "".join(map(chr, range(0x4E00, 0xA000)))
    assert fold(every) == "".join(map(fold, every))
    assert len(fold(every)) == len(every)


def test_a_long_row_of_numbers_and_dots_is_no_version() -> None:
    assert "1.2.3.4" in unpack_terms(analyse("it is 1.2.3.4.5").packed)
    assert len(unpack_terms(analyse(".".join(map(str, range(1000)))).packed)) <= 1001
    assert len(unpack_terms(analyse("/".join(f"aB{number}" for number in range(1000))).packed)) <= 2100


def test_a_very_long_line_takes_no_longer_than_other_text() -> None:
    began = time.process_time()
    for text in ("a" * 200_000, "a." * 100_000, "aB" * 100_000, "1" * 200_000, "'" * 200_000, "1." * 100_000):
        analyse(text)
    assert time.process_time() - began < 3


_PIECES = st.sampled_from(
    [
        *"aB1_ #@&/.:-+'~,\\\n\x1c\x1f<>)]é’汉字。\u0301ß١\x85\u2028あก་🇩🇪😀",
        *("http://", "c++", "C#", "www.", "::"),
    ]
)


@given(st.lists(_PIECES, max_size=20).map("".join))
def test_the_scanner_of_whole_texts_finds_the_tokens_that_each_token_is_known_by(text: str) -> None:
    scanned = [(match[kind], kind) for match in analysis.SCANNER.finditer(text) if (kind := match.lastgroup)]
    assert scanned == [(match[0], match.lastgroup) for match in analysis.TOKEN.finditer(text)]


@given(st.lists(_PIECES, max_size=20).map("".join))
def test_the_scanner_of_ascii_texts_finds_the_same_tokens(text: str) -> None:
    text = text.encode("ascii", "ignore").decode()
    scanned = [match[0] for match in analysis.TOKEN.finditer(text)]
    assert [token for token in analysis.ASCII_SCANNER.findall(text) if token] == scanned


@given(st.lists(_PIECES, max_size=20).map("".join))
def test_counting_the_tokens_of_an_ascii_text_gives_its_terms(text: str) -> None:
    text = text.encode("ascii", "ignore").decode()
    counts = unpack_terms(analyse(text).packed)
    assert {term: count for term, count in counts.items() if term[0] != "="} == Counter(term_list(text))


def test_a_title_counts_as_words_of_the_text_and_anything_else_in_its_place_does_not() -> None:
    titled = unpack_terms(analyse("limit = 3", "", {"summary": "read mailer.toml"}).packed)
    plain = unpack_terms(analyse("limit = 3").packed)
    assert "mailer" in str(titled) and "mailer" not in str(plain)
    assert analyse("limit = 3", "", {"summary": ["read mailer.toml"]}).packed == analyse("limit = 3").packed


def test_new_words_do_not_fill_the_memory() -> None:
    """An agent reads files whose names never end."""

    def read(start: int) -> None:
        analyse(" ".join(f"name_{number:x} Kind{number:x}" for number in range(start, start + 15_000)))

    read(0)
    tracemalloc.start()
    try:
        read(20_000)
        before = tracemalloc.get_traced_memory()[0]
        read(40_000)
        assert tracemalloc.get_traced_memory()[0] - before < 1_000_000
    finally:
        tracemalloc.stop()
