"""What a person and the program do to MEMORY.md."""

import asyncio
import os
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from foundation.errors import Misuse
from foundation.files import NotUtf8
from foundation.paths import Workspace
from foundation.privacy import clear
from memory.hot import HotMemory, NoSuchNote, NoteChanged, UnwritableNotes, files
from tests.fakes import FakeClock
from tests.read_only_folder import sealed

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long

BY_HAND = """# Memory

<!-- What is kept here is read at the start of each talk.
A comment is no note. -->

<!-- 2024-03-15T14:30:00Z -->
# 航班值机确认
- 航空公司: CA1234
- 座位: 32A
- 关联对话: [#125](./conversations/125.md)

### Meal
plums

# Food
Ann cannot eat nuts.

She likes plums.
"""


def test_an_entry_of_the_timeline_is_read_with_its_time_heading_lines_and_link(
    workspace: Workspace, hot: HotMemory
) -> None:
    workspace.memory_md.write_text(BY_HAND, encoding="utf-8")
    flight, food = hot.notes()
    assert flight.heading == "航班值机确认"
    assert flight.time is not None and flight.time.isoformat() == "2024-03-15T14:30:00+00:00"
    assert flight.text == "- 航空公司: CA1234\n- 座位: 32A\n\n### Meal\nplums"
    assert (food.heading, food.text, food.time) == ("Food", "Ann cannot eat nuts.\n\nShe likes plums.", None)
    assert flight.conversation == "125"
    lines = BY_HAND.split("\n")
    assert lines[flight.line_first - 1] == "<!-- 2024-03-15T14:30:00Z -->"
    assert lines[flight.line_last - 1] == "plums"
    assert (lines[food.line_first - 1], lines[food.line_last - 1]) == ("# Food", "She likes plums.")


def test_what_is_remembered_stands_in_the_file_as_the_timeline_has_it(workspace: Workspace, hot: HotMemory) -> None:
    note = hot.remember(clear("Ann lives in Oslo"), heading=clear("Where Ann lives"), conversation="c_4kx7")
    assert workspace.memory_md.read_text(encoding="utf-8") == (
        "<!-- 2026-03-14T09:26:53Z -->\n# Where Ann lives\n- Ann lives in Oslo\n"
        "- Conversation: [#c_4kx7](./conversations/c_4kx7.md)\n"
    )
    assert (note.line_first, note.line_last, note.text) == (1, 4, "- Ann lives in Oslo")
    assert note.conversation == "c_4kx7"
    assert hot.note(note.id) == note


def test_every_byte_of_the_persons_own_text_stays(workspace: Workspace, hot: HotMemory) -> None:
    mine = "\ufeff# Mine\r\n\r\n  odd   spacing\t\r\n<b>html</b>\r\n".encode()
    workspace.memory_md.write_bytes(mine)
    hot.remember(clear("one"))
    after = workspace.memory_md.read_bytes()
    assert after.startswith(mine)
    assert after.count(b"\n") == after.count(b"\r\n")


def test_the_same_thing_remembered_twice_in_a_second_is_two_notes(hot: HotMemory) -> None:
    first, second = hot.remember(clear("tea")), hot.remember(clear("tea"))
    assert first.id != second.id
    assert [note.id for note in hot.notes()] == [first.id, second.id]


def test_an_id_survives_edits_elsewhere(workspace: Workspace, hot: HotMemory) -> None:
    note = hot.remember(clear("tea"))
    text = workspace.memory_md.read_text(encoding="utf-8")
    workspace.memory_md.write_text("# Above\n\nnew words\n\n" + text + "\n# Below\nmore\n", encoding="utf-8")
    assert hot.refresh() == ["MEMORY.md"]
    assert hot.note(note.id).line_first == 5


def test_a_hand_edit_is_seen_at_the_next_refresh_however_fast_and_even_if_the_size_is_the_same(
    workspace: Workspace, hot: HotMemory
) -> None:
    workspace.memory_md.write_text("# A\naaaa\n", encoding="utf-8")
    hot.refresh()
    for word in ("bbbb", "cccc", "dddd"):
        workspace.memory_md.write_text(f"# A\n{word}\n", encoding="utf-8")
        assert hot.refresh() == ["MEMORY.md"]
        assert hot.notes()[0].text == word
    assert hot.refresh() == []


def test_files_that_appear_move_and_go_are_followed(workspace: Workspace, hot: HotMemory) -> None:
    workspace.memory_dir.mkdir()
    (workspace.memory_dir / "people.md").write_text("# Ann\nOslo\n", encoding="utf-8")
    assert hot.refresh() == ["memory/people.md"]
    (workspace.memory_dir / "people.md").rename(workspace.memory_dir / "friends.md")
    assert hot.refresh() == ["memory/friends.md", "memory/people.md"]
    assert [note.path for note in hot.notes()] == ["memory/friends.md"]
    (workspace.memory_dir / "friends.md").unlink()
    assert hot.refresh() == ["memory/friends.md"]
    assert hot.notes() == ()


def test_a_daily_file_gives_its_day_to_its_notes(workspace: Workspace, hot: HotMemory) -> None:
    workspace.memory_dir.mkdir()
    (workspace.memory_dir / "2026-03-01.md").write_text("Rain all day.\n", encoding="utf-8")
    assert str(hot.notes()[0].time) == "2026-03-01 00:00:00+00:00"


def test_the_text_kept_beside_an_archive_is_no_note(workspace: Workspace, hot: HotMemory) -> None:
    workspace.kept_texts.mkdir(parents=True)
    (workspace.kept_texts / "book.md").write_text("# Long\nbook\n", encoding="utf-8")
    assert hot.notes() == ()


def test_our_own_write_is_reported_by_the_next_refresh(hot: HotMemory) -> None:
    hot.refresh()
    hot.remember(clear("tea"))
    assert hot.refresh() == ["MEMORY.md"]


def test_a_rewritten_note_keeps_its_time_heading_link_and_id(workspace: Workspace, hot: HotMemory) -> None:
    hot.remember(clear("before"))
    note = hot.remember(clear("old words\nmore"), heading=clear("H"), conversation="c_1")
    hot.remember(clear("after"))
    new = hot.rewrite(note.id, clear("new words"))
    assert (new.id, new.text, new.heading, new.conversation, new.time) == (
        note.id,
        "- new words",
        "H",
        "c_1",
        note.time,
    )
    text = workspace.memory_md.read_text(encoding="utf-8")
    assert "old" not in text
    assert [n.text for n in hot.notes()] == ["- before", "- new words", "- after"]


def test_a_removed_note_is_gone_and_its_version_is_kept(workspace: Workspace, hot: HotMemory) -> None:
    workspace.memory_md.write_text("# Mine\nkeep\n", encoding="utf-8")
    note = hot.remember(clear("secret plan"))
    hot.remove(note.id)
    assert workspace.memory_md.read_text(encoding="utf-8") == "# Mine\nkeep\n\n"
    kept = [path.read_text(encoding="utf-8") for path in (workspace.versions / "MEMORY.md").iterdir()]
    assert any("secret plan" in text for text in kept)


def test_a_note_that_a_person_changed_meanwhile_is_not_removed(workspace: Workspace, hot: HotMemory) -> None:
    note = hot.remember(clear("tea"), heading=clear("Drinks"))
    path = workspace.memory_md
    path.write_text(path.read_text(encoding="utf-8").replace("tea", "coffee"), encoding="utf-8")
    with pytest.raises(NoteChanged):
        hot.remove(note.id)
    assert "coffee" in path.read_text(encoding="utf-8")


def test_a_note_that_a_person_changed_meanwhile_is_merged(workspace: Workspace, hot: HotMemory) -> None:
    note = hot.remember(clear("one\ntwo\nthree\nfour"), heading=clear("List"))
    path = workspace.memory_md
    path.write_text(path.read_text(encoding="utf-8").replace("one", "ONE"), encoding="utf-8")
    new = hot.rewrite(note.id, clear("- one\n- two\n- three\n- FOUR"))
    assert new.text == "- ONE\n- two\n- three\n- FOUR"


def test_where_both_changed_one_line_both_versions_stay_and_no_marker(workspace: Workspace, hot: HotMemory) -> None:
    note = hot.remember(clear("tea"), heading=clear("Drinks"))
    path = workspace.memory_md
    path.write_text(path.read_text(encoding="utf-8").replace("tea", "coffee"), encoding="utf-8")
    ours = hot.rewrite(note.id, clear("water"))
    text = path.read_text(encoding="utf-8")
    assert ours.id != note.id and ours.text == "- water"
    assert "- coffee" in text and not re.search("<<<<|>>>>|====", text)


def test_words_that_would_break_the_timeline_are_made_harmless(hot: HotMemory) -> None:
    nasty = "- a\n# heading\n<!-- 2020-01-01T00:00:00Z -->\n```\nopen fence"
    first, second = hot.remember(clear(nasty)), hot.remember(clear("next"))
    assert [note.id for note in hot.notes()] == [first.id, second.id]


def test_a_file_that_is_not_utf8_is_told_and_left_alone(workspace: Workspace, hot: HotMemory) -> None:
    workspace.memory_md.write_bytes("caf\xe9\n".encode("latin-1"))
    assert hot.notes() == ()
    assert "MEMORY.md" in hot.problems[0].text and "line 1" in hot.problems[0].text
    with pytest.raises(NotUtf8):
        hot.remember(clear("x"))
    assert workspace.memory_md.read_bytes() == b"caf\xe9\n"


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")
def test_a_link_out_of_the_workspace_is_neither_read_nor_written(
    workspace: Workspace, hot: HotMemory, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("# Not mine\nsecret\n", encoding="utf-8")
    workspace.memory_md.symlink_to(outside)
    assert hot.notes() == ()
    assert "leads out" in hot.problems[0].text
    with pytest.raises(UnwritableNotes):
        hot.remember(clear("x"))
    assert outside.read_text(encoding="utf-8") == "# Not mine\nsecret\n"


def test_nothing_to_remember_is_a_misuse(hot: HotMemory) -> None:
    with pytest.raises(Misuse):
        hot.remember(clear("  \n"))


def test_an_unknown_id_says_how_to_find_the_right_one(hot: HotMemory) -> None:
    with pytest.raises(NoSuchNote) as error:
        hot.note("m_nothing")
    assert "memory list" in error.value.hint


def test_a_person_may_delete_our_note_by_hand_and_it_stays_deleted_but_kept(
    workspace: Workspace, hot: HotMemory
) -> None:
    hot.remember(clear("unwanted"))
    workspace.memory_md.write_text("", encoding="utf-8")
    hot.refresh()
    hot.refresh()
    assert hot.notes() == () and workspace.memory_md.read_text(encoding="utf-8") == ""
    kept = [path.read_text(encoding="utf-8") for path in (workspace.versions / "MEMORY.md").iterdir()]
    assert any("unwanted" in text for text in kept)


def test_two_memories_of_one_workspace_do_not_lose_each_others_notes(
    workspace: Workspace, hot: HotMemory, clock: FakeClock
) -> None:
    other = HotMemory(workspace, clock)
    for number in range(10):
        (hot, other)[number % 2].remember(clear(f"note {number}"))
    hot.refresh()
    assert [note.text for note in hot.notes()] == [f"- note {number}" for number in range(10)]


def test_a_hand_edit_is_hinted_at_and_then_seen_within_two_seconds(workspace: Workspace, hot: HotMemory) -> None:
    hot.remember(clear("tea"))
    hot.refresh()

    async def first_hint() -> set[Path]:
        async for paths in hot.watch():
            return paths
        return set()

    async def edit_and_wait() -> float:
        hint = asyncio.create_task(first_hint())
        began = asyncio.get_running_loop().time()
        while not hint.done() and asyncio.get_running_loop().time() - began < 5:
            with workspace.memory_md.open("a", encoding="utf-8") as file:
                file.write("# By hand\nplums\n")
            await asyncio.wait({hint}, timeout=0.2)
        assert {path.name for path in await hint} == {"MEMORY.md"}
        return asyncio.get_running_loop().time() - began

    assert asyncio.run(edit_and_wait()) < 2
    assert hot.refresh() == ["MEMORY.md"]
    assert any(note.text == "plums" for note in hot.notes())


def test_a_huge_file_is_read_and_added_to(workspace: Workspace, hot: HotMemory) -> None:
    entry = "<!-- 2024-03-15T14:30:00Z -->\n# A heading\n" + "- an item of some forty characters or so\n" * 100
    workspace.memory_md.write_text(entry * 2_500, encoding="utf-8")
    assert workspace.memory_md.stat().st_size > 10_000_000
    note = hot.remember(clear("one more"))
    assert len(hot.notes()) == 2_501 and hot.notes()[-1] == note


def test_threads_of_one_process_do_not_lose_each_others_notes(hot: HotMemory) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: hot.remember(clear(f"note {number}")), range(40)))
    assert {note.text for note in hot.notes()} == {f"- note {number}" for number in range(40)}


def test_a_note_below_a_persons_own_text_is_rewritten_without_touching_a_byte_of_it(
    workspace: Workspace, hot: HotMemory
) -> None:
    mine = "\ufeff# Mine\r\n\r\n<!-- a comment -->\r\n\todd  \r\n".encode()
    workspace.memory_md.write_bytes(mine)
    note = hot.remember(clear("old"), conversation="c_1")
    hot.rewrite(note.id, clear("new\nlines"))
    after = workspace.memory_md.read_bytes()
    assert after.startswith(mine)
    assert after.endswith(b"- new\r\n- lines\r\n- Conversation: [#c_1](./conversations/c_1.md)\r\n")


def test_a_comment_that_a_person_put_into_a_note_survives_its_rewriting(workspace: Workspace, hot: HotMemory) -> None:
    workspace.memory_md.write_text("# Ann\nold words\n<!-- ask her again -->\nmore\n", encoding="utf-8")
    hot.rewrite(hot.notes()[0].id, clear("- new words"))
    assert workspace.memory_md.read_text(encoding="utf-8") == "# Ann\n- new words\n<!-- ask her again -->\n"


def test_what_is_not_a_file_is_no_place_to_write_to(workspace: Workspace, hot: HotMemory) -> None:
    workspace.memory_md.mkdir()
    assert hot.notes() == ()
    with pytest.raises(UnwritableNotes):
        hot.remember(clear("x"))


def test_an_edit_within_one_tick_of_the_filesystems_clock_is_seen(
    workspace: Workspace, hot: HotMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    tick = time.time_ns()
    monkeypatch.setattr(files, "_signature", lambda _path: (tick, tick, 6, 1))
    workspace.memory_md.write_text("# A\naa\n", encoding="utf-8")
    hot.refresh()
    workspace.memory_md.write_text("# A\nbb\n", encoding="utf-8")
    assert hot.refresh() == ["MEMORY.md"]


def test_a_note_of_several_lines_is_a_heading_and_a_list(hot: HotMemory, workspace: Workspace) -> None:
    note = hot.remember(clear("航班值机确认\n- 航空公司: CA1234\n- 座位: 32A"), conversation="c_125")
    assert (note.heading, note.text) == ("航班值机确认", "- 航空公司: CA1234\n- 座位: 32A")
    assert (
        (workspace.root / "MEMORY.md")
        .read_text("utf-8")
        .endswith("# 航班值机确认\n- 航空公司: CA1234\n- 座位: 32A\n- 关联对话: [#c_125](./conversations/c_125.md)\n")
    )
    plain = hot.remember(clear("The boiler\nserviced by Meyer\n* every May"))
    assert (plain.heading, plain.text) == ("The boiler", "- serviced by Meyer\n* every May")


def test_control_characters_are_visible_in_the_file(hot: HotMemory, workspace: Workspace) -> None:
    hot.remember(clear("Red \x1b[31mletters\x1b[0m\nand a bell \x07"))
    written = (workspace.root / "MEMORY.md").read_bytes()
    assert b"\x1b" not in written and b"\x07" not in written
    assert "␛[31mletters" in written.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps rights in another way")
def test_on_a_disk_that_is_read_only_a_sentence_says_why_nothing_is_remembered(
    hot: HotMemory, workspace: Workspace, clock: FakeClock
) -> None:
    hot.remember(clear("Tea at four."), heading=None, conversation=None)
    with sealed(workspace.root) as folder:
        there = HotMemory(Workspace(folder), clock)
        assert "Tea at four." in "".join(note.text for note in there.notes())
        with pytest.raises(UnwritableNotes, match="notes can be read but not added"):
            there.remember(clear("Coffee."), heading=None, conversation=None)
