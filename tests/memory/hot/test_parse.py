"""How Markdown becomes notes."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.hot.parse import LONGEST_BLOCK, lines_of, parse


def headings(text: str, path: str = "MEMORY.md") -> list[tuple[str, str]]:
    return [(note.heading, note.text) for note in parse(text, path)]


def test_paragraphs_before_any_heading_are_notes_one_by_one() -> None:
    assert headings("one\nstill one\n\n\ntwo\n") == [("", "one\nstill one"), ("", "two")]


def test_each_heading_of_a_hand_written_file_begins_a_note() -> None:
    assert headings("# A\na\n\nb\n## B\nc\n") == [("A", "a\n\nb"), ("B", "c")]


def test_a_heading_with_nothing_below_it_and_comments_and_front_matter_are_no_notes() -> None:
    assert headings("---\ntitle: x\n---\n# Memory\n<!-- many\nlines\n# here -->\n\n# B\nwords\n") == [("B", "words")]


def test_an_entry_with_a_heading_alone_is_a_note() -> None:
    (note,) = parse("<!-- 2024-03-15T14:30:00Z -->\n# Only this\n", "MEMORY.md")
    assert (note.heading, note.text, note.line_first, note.line_last) == ("Only this", "", 1, 2)


@pytest.mark.parametrize(
    "stamp",
    ["2024-03-15T14:30:00Z", "2024-03-15T15:30:00+01:00", "2024-03-15 14:30", "2024-03-15T14:30:00.000Z"],
)
def test_times_are_read_in_the_forms_that_people_and_programs_write(stamp: str) -> None:
    (note,) = parse(f"<!-- {stamp} -->\n# x\ny\n", "MEMORY.md")
    assert note.time is not None and note.time.isoformat() == "2024-03-15T14:30:00+00:00"


def test_a_comment_that_is_no_date_is_a_comment() -> None:
    assert headings("<!-- 2024-13-45T99:00:00Z -->\nwords\n") == [("", "words")]


def test_headings_in_a_fence_are_words() -> None:
    assert headings("# A\n```\n# not a heading\n```\nb\n") == [("A", "```\n# not a heading\n```\nb")]


def test_a_fence_that_was_never_closed_does_not_swallow_the_timeline() -> None:
    text = "# A\n```\nopen\n<!-- 2024-03-15T14:30:00Z -->\n# B\nb\n"
    assert [heading for heading, _ in headings(text)] == ["A", "B"]


def test_a_long_section_is_cut_where_paragraphs_end() -> None:
    paragraph = "word " * 200 + "\n\n"
    notes = parse("# Long\n" + paragraph * 12, "memory/long.md")
    assert len(notes) > 3
    assert all(len(note.text) < 2 * LONGEST_BLOCK and note.heading == "Long" for note in notes)
    assert len({note.id for note in notes}) == len(notes)
    assert all(before.line_last < after.line_first for before, after in pairwise(notes))


ENTRY = "<!-- 2024-03-15T14:30:00Z -->\n- The boiler is serviced in May.\n"


@pytest.mark.parametrize(
    ("above", "added"),
    [
        (ENTRY, "The shed code is 5521, added by hand.\n"),
        (ENTRY, "\nThe shed code is 5521.\nAsk Ann.\n"),
        (ENTRY.replace("May.", "May"), "The shed code is 5521\n"),
        (ENTRY + "  by Mr Okonkwo\n", "5521 is the shed code\n"),
        (ENTRY.replace("\n- ", "\n# Boiler\n- Gas\n- "), "The shed code is 5521.\n"),
        ("<!-- 2024-03-15T14:30:00Z -->\n- 锅炉五月检修\n", "棚屋密码是5521。\n"),
        (ENTRY + "- Conversation: [#c_4k](./conversations/c_4k.md)\n", "the shed code is 5521\n"),
    ],
)
def test_a_line_added_below_a_list_is_a_note_with_its_own_lines(above: str, added: str) -> None:
    (entry,) = parse(above, "MEMORY.md")
    first, second = parse(above + added, "MEMORY.md")
    assert first == entry
    assert (second.heading, second.text, second.time) == ("", added.strip(), None)
    assert second.line_first == above.count("\n") + (2 if added.startswith("\n") else 1)


@pytest.mark.parametrize(
    "body",
    [
        "- The boiler is serviced in May\nby Mr Okonkwo.\n",
        "- Address:\nMain Street 5\n",
        "- The boiler in the cellar of the old house by the river is serviced by\nMr Okonkwo.\nin May.\n",
        "A sentence.\nAnother sentence.\n\nA paragraph.\n",
        "To pack:\n- a\n- b\nThe tickets are in the drawer.\n",
        "- a\nBetween the items.\n- b\n",
        "- a\n```\nCode\n```\nWords.\n",
        "- a\n## Part\nWords.\n",
        "- a\nIt is in [#c_4k](conversations/c_4k.md), I think.\n",
    ],
)
def test_what_goes_on_with_an_entry_is_a_part_of_it(body: str) -> None:
    (note,) = parse("<!-- 2024-03-15T14:30:00Z -->\n# Boiler\n" + body, "MEMORY.md")
    assert note.text == body.strip()


@pytest.mark.parametrize(
    "link",
    [
        "[#c_4k](./conversations/c_4k.md)",
        "- 关联对话: [#c_4k](./conversations/c_4k.md)",
        "* Conversation: [c_4k](../conversations/c_4k.md)",
        "see [#c_4k](conversations/c_4k.md) for more",
    ],
)
def test_the_link_to_a_conversation_is_found(link: str) -> None:
    (note,) = parse(f"<!-- 2024-03-15T14:30:00Z -->\n# x\n- y\n{link}\n", "MEMORY.md")
    assert note.conversation == "c_4k"
    assert ("see" in link) == ("conversations" in note.text)


def test_notes_that_are_alike_have_ids_of_their_own() -> None:
    notes = parse("# A\nsame\n# A\nsame\n# A\nsame\n", "MEMORY.md")
    assert len({note.id for note in notes}) == 3


def test_the_same_words_in_two_files_are_two_notes() -> None:
    assert parse("# A\nx\n", "memory/a.md")[0].id != parse("# A\nx\n", "memory/b.md")[0].id


def test_ten_megabytes_are_read_in_a_few_seconds() -> None:
    entry = "<!-- 2024-03-15T14:30:00Z -->\n# A heading\n" + "- an item of some forty characters or so\n" * 20
    text = entry * 12_000
    began = time.process_time()
    assert len(parse(text, "MEMORY.md")) == 12_000
    assert time.process_time() - began < 5


MARKDOWN = st.lists(
    st.sampled_from(
        [
            "# A\n",
            "## B\n",
            "text\n",
            "A sentence.\n",
            "\n",
            "- item\n",
            "<!-- 2024-03-15T14:30:00Z -->\n",
            "<!-- x -->\n",
            "<!--\n",
            "-->\n",
            "```\n",
            "~~~~\n",
            "---\n",
            "[#c_1](./conversations/c_1.md)\n",
            "\ufeff",
            "x\r\n",
            "\r\n",
            "# \n",
            "end",
        ]
    ),
    max_size=16,
).map("".join)


@given(MARKDOWN)
def test_lines_are_within_the_file_in_order_and_hold_the_text(text: str) -> None:
    lines = lines_of(text)
    assert "".join(lines) == text
    last = 0
    for note in parse(text, "MEMORY.md"):
        assert last < note.line_first <= note.line_last <= len(lines)
        last = note.line_last
        block = "".join(lines[note.line_first - 1 : note.line_last]).replace("\r\n", "\n")
        assert all(line in block for line in note.text.split("\n"))
        assert note.line_first <= note.words_first <= note.line_last + 1
    assert len({note.id for note in parse(text, "MEMORY.md")}) == len(parse(text, "MEMORY.md"))


@given(MARKDOWN, MARKDOWN)
def test_ids_survive_edits_elsewhere(above: str, below: str) -> None:
    entry = "<!-- 2020-01-01T00:00:00Z -->\n# Mine\n- words\n"
    stamp = "<!-- 2021-01-01T00:00:00Z -->\n"
    (alone,) = parse(entry, "MEMORY.md")
    assert alone.id in {note.id for note in parse(stamp + above + "\n-->\n" + entry + stamp + below, "MEMORY.md")}
