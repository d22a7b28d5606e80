"""The sizes that pages go through, by reader and by room."""

from context.pages.select import size_ladder
from memory.pages.cost.profiles import profile_named


def sizes(name: str, room: int) -> list[tuple[str, str]]:
    return [(mode.name, mode.cell.name) for mode in size_ladder(profile_named(name), room)]


def test_with_room_the_newest_are_large_and_age_to_tiny() -> None:
    assert [name for name, _ in sizes("qwen3-vl", 20_000)] == ["large", "base", "small", "tiny"]
    assert [name for name, _ in sizes("claude", 20_000)] == ["base", "small", "tiny"]  # large would be scaled down


def test_no_page_takes_more_than_half_of_the_room() -> None:
    assert [name for name, _ in sizes("qwen3-vl", 2500)] == ["base", "small", "tiny"]
    assert [name for name, _ in sizes("qwen3-vl", 900)] == ["small", "tiny"]
    assert [name for name, _ in sizes("qwen3-vl", 300)] == ["tiny"]


def test_the_larger_cells_are_for_readers_whom_they_save_half() -> None:
    assert sizes("gemini", 20_000) == [("large", "8x16")]
    assert sizes("deepseek-ocr", 20_000)[0] == ("large", "8x16")
    assert {cell for _, cell in sizes("qwen3-vl", 20_000)} == {"6x12"}
