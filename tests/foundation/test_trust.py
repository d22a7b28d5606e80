"""Citations: short enough for a line, and never less than the reference."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from foundation.trust import TITLE_CELLS, Citation

DAY = datetime(2026, 3, 14, tzinfo=UTC)


def test_a_short_title_stands_whole() -> None:
    citation = Citation(kind="entry", ref="e_4kx7", title="Trip planning", speaker="Ann", time=DAY)
    assert str(citation) == "[Trip planning · Ann · 2026-03-14 · e_4kx7]"


def test_a_long_title_is_shortened_at_a_word() -> None:
    title = "Note 1: the vault code for room 1 is ZX-1037. Ledger fog…"
    citation = Citation(kind="entry", ref="e_1mszmkps7abx", title=title, speaker="assistant", time=DAY)
    assert str(citation) == "[Note 1: the vault code for room… · assistant · 2026-03-14 · e_1mszmkps7abx]"
    assert len(str(citation)) <= 80
    assert citation.title == title


def test_wide_characters_count_two_cells() -> None:
    title = "温室的备用钥匙在奥孔克沃太太那里密码是孔雀石七号"
    assert str(Citation(kind="entry", ref="e_1", title=title)) == f"[{title[:15]}… · e_1]"


def test_a_word_too_long_for_it_is_cut() -> None:
    assert str(Citation(kind="entry", ref="e_1", title="x" * 40)) == f"[{'x' * 31}… · e_1]"


@given(st.text())
def test_no_title_takes_more_than_its_cells_or_more_than_a_line(title: str) -> None:
    shown = str(Citation(kind="entry", ref="e_1", title=title))
    assert shown.endswith("e_1]")
    assert len(shown) <= TITLE_CELLS + len("[ · e_1]") or any(ord(character) > 127 for character in title)
    assert not any(character in shown for character in "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")
