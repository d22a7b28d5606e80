"""The table of words that are near in meaning, as it ships."""

import subprocess
import sys
from pathlib import Path

import pytest

from foundation.text import synonyms as module
from foundation.text.analysis import term_list
from foundation.text.stopwords import is_weak
from foundation.text.synonyms import MOST, Synonym, encode_table, synonyms_of


@pytest.fixture
def every_term() -> list[str]:
    return module.stored_table().terms


def test_a_word_is_known_by_those_near_it() -> None:
    assert {"vehicl", "automobil", "truck"} <= {synonym.term for synonym in synonyms_of("car")}
    assert {"doctor", "nurs"} & {synonym.term for synonym in synonyms_of("physician")}
    assert "car" in {synonym.term for synonym in synonyms_of("vehicl")}


@pytest.mark.parametrize("term", ["carolin", "lisbon", "锅炉", "", "the", "=type:decision", "car "])
def test_names_function_words_and_other_scripts_have_none(term: str) -> None:
    assert synonyms_of(term) == ()


SAMPLE = (
    "car cars bought children travelling colour coffee disease response happier running ships early financial"
    " increased agreed degrees surprise horse neighbours organised teeth professional promise"
)


@pytest.mark.parametrize("word", SAMPLE.split())
def test_what_an_entry_is_found_by_is_what_the_table_goes_by(word: str) -> None:
    """A change of stems asks for a new table."""
    (term,) = term_list(word)
    assert synonyms_of(term)


def test_nearly_all_terms_are_their_own(every_term: list[str]) -> None:
    """Stems are no fixed points, all of them: `coffe` would become `coff`."""
    changed = [term for term in every_term if term_list(term) != [term]]
    assert len(every_term) == 12_000
    assert len(changed) < 0.04 * len(every_term)


def test_shares_fall_and_nobody_is_its_own_synonym(every_term: list[str]) -> None:
    for term in every_term:
        synonyms = synonyms_of(term)
        shares = [share for _, share in synonyms]
        assert shares == sorted(shares, reverse=True), term
        assert all(0 < share <= 1 for share in shares), term
        assert len({term, *(name for name, _ in synonyms)}) == len(synonyms) + 1 <= MOST + 1, term


def test_no_term_says_little(every_term: list[str]) -> None:
    assert [term for term in every_term if is_weak(term)] == []


def test_a_table_is_read_as_it_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = {
        "boat": [Synonym("ship", 1.0), Synonym("ferri", 0.4)],
        "ship": [Synonym("boat", 1.0)],
        "ferri": [],
        "émigré": [Synonym("boat", 1 / 255)],
    }
    (tmp_path / "synonyms.zst").write_bytes(encode_table(table))
    monkeypatch.setattr(module, "_FILE", tmp_path / "synonyms.zst")
    module.stored_table.cache_clear()
    try:
        assert {term: list(synonyms_of(term)) for term in table} == table
        assert synonyms_of("car") == ()
    finally:
        module.stored_table.cache_clear()


def test_the_table_is_read_when_a_word_is_asked_for() -> None:
    code = (
        "from foundation.text import synonyms as k; assert not k.stored_table.cache_info().currsize;"
        "k.synonyms_of('car'); assert k.stored_table.cache_info().currsize"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
