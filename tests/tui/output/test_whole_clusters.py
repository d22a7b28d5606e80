"""No cut goes through a grapheme, and none changes how many cells there are."""

from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from textual.strip import Strip

from tui.output.app import ChangesOnlyApp
from tui.output.whole_clusters import split_cells

FAMILY = "👩\u200d👩\u200d👧"
PARTS = ("a", " ", "页", "é", "e\u0301", "🙂", FAMILY, "❤️", "1️⃣", "🇩🇪", "\u200b", "─", "ﷺ")


def parts(segment: Segment, cut: int) -> tuple[str, str]:
    before, after = split_cells(segment, cut)
    return before.text, after.text


def test_a_family_at_the_edge_stays_whole() -> None:
    assert parts(Segment(f"words {FAMILY} of"), 8) == (f"words {FAMILY}", " of")
    assert parts(Segment(f"words {FAMILY} of"), 7) == ("words  ", "  of")


def test_textual_crops_rows_so_once_the_application_is_loaded() -> None:
    assert ChangesOnlyApp
    assert Strip([Segment(f"words {FAMILY}  ")]).crop(0, 8).text == f"words {FAMILY}"


@given(st.lists(st.sampled_from(PARTS), max_size=12), st.data())
def test_every_cut_keeps_the_cells_and_the_graphemes(words: list[str], data: st.DataObject) -> None:
    segment = Segment("".join(words))
    cut = data.draw(st.integers(0, segment.cell_length + 1))
    before, after = split_cells(segment, cut)
    assert before.cell_length == min(cut, segment.cell_length)
    assert before.cell_length + after.cell_length == segment.cell_length
    assert "\u200d" not in (before.text + "\n" + after.text).replace(FAMILY, "")
