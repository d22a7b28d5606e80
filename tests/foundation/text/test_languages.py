"""A text in another language is found by that language's stems, and a keyword in any of them."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.text.analysis import analyse, term_list, unpack_terms
from foundation.text.cross_language import alternatives, question_terms
from foundation.text.languages import LANGUAGES, language_of, stem_in
from foundation.text.stopwords import is_weak
from tests.paths import ROOT

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Ich habe gestern die Häuser in Berlin gesehen", "german"),
        ("Wo ist mein Schlüssel?", "german"),
        ("Je suis allé à Paris avec mes amis", "french"),
        ("¿Dónde está la biblioteca?", "spanish"),
        ("Ieri sono andato al mercato", "italian"),
        ("Ontem fui ao mercado com minha mãe", "portuguese"),
        ("Gisteren ben ik naar de markt geweest", "dutch"),
        ("Igår gick jag till marknaden", "swedish"),
        ("Вчера я был на рынке и купил книги", "russian"),
        ("Dün pazara gittim ve bir kitap aldım", "turkish"),
        ("Wczoraj byłem na targu, ale nie kupiłem książki", "polish"),
        ("Včera jsem byl na trhu", "czech"),
        ("Tegnap a piacon voltam és vettem egy könyvet", "hungarian"),
        ("Το βιβλίο είναι στο τραπέζι", "greek"),
        ("ذهبت إلى السوق مع أمي", "arabic"),
        ("I went to the market yesterday and bought books", ""),
        ("Hey Mel! Good to see you, how have you been?", ""),
        ("The die was cast in a war", ""),
        ("We ate at La Dolce Vita on Via del Corso, de facto the best", ""),
        ("C'est la vie, she said", ""),
        ("git commit -m 'fix' && git push origin main", ""),
        ("我昨天去了市场", ""),
        ("שלום לכולם", ""),
        ("München", ""),
        ("Jeg har ikke det her", ""),  # Danish as well as Norwegian
        ("", ""),
    ],
)
def test_a_language_shows_by_its_function_words(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("Ich habe die Häuser gesehen", "Das Haus ist groß und alt"),
        ("Les chevaux sont dans le pré avec nous", "Il est à cheval pour nous"),
        ("Я был на рынке и купил книги", "Эта книга была у меня"),
        ("Bu kitaplar benim için çok güzel", "Ben bir kitap aldım ve okudum"),
        ("Οι δρόμοι είναι άδειοι", "Ο δρόμος είναι μακρύς"),
    ],
)
def test_forms_of_a_word_become_one(text: str, same: str) -> None:
    shared = {term for term in set(term_list(text)) & set(term_list(same)) if not is_weak(term)}
    assert shared


def test_the_mark_says_the_language_and_english_has_none() -> None:
    assert "=language:german" in unpack_terms(analyse("Ich habe das Buch nicht", "Ann").packed)
    assert not any(term.startswith("=language") for term in unpack_terms(analyse("I have the book", "Ann").packed))


def test_the_speakers_name_is_the_same_in_every_language() -> None:
    for text in ("I have the book", "Ich habe das Buch nicht", "Je suis allé à Paris avec nous"):
        assert {"carolin", "jame"} <= set(unpack_terms(analyse(text, "Caroline James").packed))


def test_a_keyword_is_looked_up_in_every_language_that_is_held() -> None:
    assert alternatives("Häuser") == ("hauser",)
    assert "haus" in alternatives("Häuser", held=("german",))
    assert question_terms("kitaplar", ("turkish", "german")) == [("kitaplar", "kitap")]
    assert question_terms("Häuser v1.2", ("german",)) == [("hauser", "haus"), ("1.2",)]
    assert question_terms("the houses, the HOUSE") == [("the",), ("hous",)]


def test_a_question_in_a_language_finds_what_was_too_short_to_show_it() -> None:
    (house,) = [terms for terms in question_terms("Wo ist mein Haus in der Stadt") if "haus" in terms]
    assert house[0] == stem_in("german", "Haus")
    (key,) = [terms for terms in question_terms("Wo ist mein Schlüssel?") if terms[0].startswith("schl")]
    assert set(term_list("Schlüssel")) <= set(key)


def test_who_has_no_accents_on_the_keys_is_understood() -> None:
    assert term_list("décisions") == term_list("decisions")
    assert set(question_terms("decisiones", ("spanish",))[0]) & {stem_in("spanish", "decisión"), "decision"}


def test_function_words_of_other_languages_say_little() -> None:
    for text in ("Wo habe ich nicht", "où est ce que nous avons été", "где это было у меня"):
        assert all(map(is_weak, term_list(text)))
    for word in ("care", "take", "war", "die", "son"):
        assert not any(map(is_weak, term_list(word)))


def test_each_language_has_a_stemmer() -> None:
    for language in LANGUAGES:
        assert stem_in(language, "Ababab")


def test_threads_do_not_disturb_each_others_stems() -> None:
    endings = ("ung", "ungen", "lichkeiten", "ische", "erei", "schaft", "en", "heit")
    some = [f"{start}{middle}{end}" for start in endings for middle in ("bild", "zeit", "haus") for end in endings]
    expected = [stem_in("german", word) for word in some]
    stem_in.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(partial(stem_in, "german"), some)) == expected


@given(st.text(st.characters(codec=None)), st.sampled_from(LANGUAGES))
def test_no_text_breaks_it(text: str, language: str) -> None:
    for terms in question_terms(text, (language,)):
        assert terms and all(term and "\n" not in term and "\0" not in term for term in terms)
    assert all("\n" not in term and "\0" not in term and len(term) <= 64 for term in term_list(text, language))


def test_english_loads_no_stemmer_of_another_language() -> None:
    program = (
        "import sys; from foundation.text.analysis import analyse; analyse('I went to the market', 'Ann', None);"
        "assert not {'snowballstemmer', 'foundation.text.dates.spans'} & {*sys.modules}"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)
