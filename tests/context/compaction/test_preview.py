"""What a compaction would do, told before: it must be near what is done."""

import pytest

from context.compaction.preview import modes_for
from memory.settings import ArchiveSettings


@pytest.mark.parametrize(
    ("cells", "modes"),
    [
        (0, []),
        (1, ["tiny"]),
        (7_900, ["base"]),
        (3_000, ["small"]),
        (20_000, ["base", "base", "base"]),
        (17_000, ["base", "base", "tiny"]),
    ],
)
def test_full_pages_and_the_smallest_that_holds_the_rest(cells: int, modes: list[str]) -> None:
    assert [mode.name for mode in modes_for(cells, ArchiveSettings())] == modes


def test_dense_pages_hold_more() -> None:
    dense = modes_for(20_000, ArchiveSettings(dense=True))
    assert len(dense) == 2
    assert dense[0].cell.name == "6x12"
