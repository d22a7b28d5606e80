"""Citations in a text lead back to what they cite."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.citations import cited_refs, single_citation
from foundation.trust import Citation

WORDS = st.text(st.characters(exclude_characters="[]·", exclude_categories=["C", "Z"]), max_size=40)


def test_each_citation_of_a_text_is_named_once_in_order() -> None:
    text = "As in [House · Ann · 2026-03-14 · e_2] and [e_1], not [x] · y; again [保修单 · pg_19ab] [House · e_2]."
    assert cited_refs(text) == ("e_2", "e_1", "pg_19ab")


@pytest.mark.parametrize("text", ["", "[ ] to do", "[x] done", "[a link](http://x.example)", "e_1", "list[int]", "[1]"])
def test_what_is_no_citation_names_nothing(text: str) -> None:
    assert cited_refs(text) == ()
    assert single_citation(text) == ""


def test_a_place_in_a_file_is_cited_by_its_lines() -> None:
    assert single_citation("[Boiler · MEMORY.md#L3-L7]") == "MEMORY.md#L3-L7"
    assert single_citation("[memory/house.md#L3-L7]") == "memory/house.md#L3-L7"


def test_an_imported_id_is_cited_as_it_came() -> None:
    assert single_citation("[garden · Ann · 2026-03-05 · t100]") == "t100"


def test_brackets_within_a_title_do_not_end_its_citation() -> None:
    assert cited_refs("See [Plan [draft] · Ann · e_1], please") == ("e_1",)
    assert cited_refs("See [a · b] · Ann · e_1], please") == ("e_1",)


@given(title=WORDS, speaker=WORDS, ref=st.from_regex(r"[A-Za-z0-9_.-]{1,20}", fullmatch=True))
def test_what_a_citation_says_leads_back_to_its_reference(title: str, speaker: str, ref: str) -> None:
    made = Citation(kind="entry", ref=ref, title=title, speaker=speaker, time=datetime(2026, 3, 14, tzinfo=UTC))
    assert single_citation(str(made)) == ref
    assert cited_refs(f"See {made}, please.")[-1] == ref
