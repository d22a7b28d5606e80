"""A note that gets another text: which heading stands above it, and who hears of it."""

from foundation.paths import Workspace
from foundation.privacy import clear
from memory.hot import HotMemory
from memory.hot.edits import rewrite_note


def test_a_heading_made_of_the_old_words_goes_with_them(workspace: Workspace, hot: HotMemory) -> None:
    words = clear("The boiler is serviced in May.")
    note = hot.remember(words, heading=words)  # as older versions wrote a note of one line
    new = hot.rewrite(note.id, clear("The boiler is serviced in June."))
    text = workspace.memory_md.read_text(encoding="utf-8")
    assert "May" not in text
    assert (new.heading, new.time) == ("The boiler is serviced in June.", note.time)
    again = hot.rewrite(new.id, clear("The boiler was sold."))
    assert "June" not in workspace.memory_md.read_text(encoding="utf-8")
    assert [one.id for one in hot.notes()] == [again.id]


def test_a_note_of_one_line_is_said_once_and_can_be_rewritten(workspace: Workspace, hot: HotMemory) -> None:
    note = hot.remember(clear("The boiler is serviced in May."), conversation="c_4kx7")
    text = workspace.memory_md.read_text(encoding="utf-8")
    assert text.count("boiler") == 1
    assert "- The boiler is serviced in May.\n- Conversation: [#c_4kx7]" in text
    new = hot.rewrite(note.id, clear("The boiler was sold."))
    assert [(one.id, one.text, one.conversation) for one in hot.notes()] == [
        (new.id, "- The boiler was sold.", "c_4kx7")
    ]
    assert hot.remember(clear("The boiler was sold.")).id != new.id


def test_a_line_added_by_hand_below_a_note_is_a_note_of_its_own(workspace: Workspace, hot: HotMemory) -> None:
    first = hot.remember(clear("Tea is at four."), conversation="c_4kx7")
    path = workspace.memory_md
    path.write_text(path.read_text(encoding="utf-8") + "\nThe shed key hangs behind the clock.\n", encoding="utf-8")
    hot.refresh()
    notes = hot.notes()
    assert [note.text for note in notes] == ["- Tea is at four.", "The shed key hangs behind the clock."]
    assert notes[0].id == first.id
    assert notes[1].line_first == notes[1].line_last == notes[0].line_last + 2


def test_a_line_that_was_remembered_below_an_item_is_a_part_of_the_note(hot: HotMemory) -> None:
    note = hot.remember(clear("- Tea is at four.\nBiscuits are in the tin.\n\nAnn has the key."))
    assert [(one.id, one.text) for one in hot.notes()] == [
        (note.id, "- Tea is at four.\n  Biscuits are in the tin.\n\n  Ann has the key.")
    ]
    assert hot.rewrite(note.id, clear(note.text)).text == note.text


def test_a_heading_that_was_given_stays(workspace: Workspace, hot: HotMemory) -> None:
    note = hot.remember(clear("It is serviced in May."), heading=clear("Boiler"))
    assert hot.rewrite(note.id, clear("It is serviced in June.")).id == note.id
    assert "# Boiler\n" in workspace.memory_md.read_text(encoding="utf-8")


def test_rewriting_twice_is_rewriting_once(workspace: Workspace, hot: HotMemory) -> None:
    words = clear("The boiler is serviced in May.")
    note = hot.remember(words, heading=words)
    assert note.time is not None
    edit = rewrite_note(note, "It is serviced in June.", (note.time, "It is serviced in June."))
    once = edit(workspace.memory_md.read_text(encoding="utf-8"))
    assert edit(once) == once and once.count("June") == 2


def test_what_we_wrote_ourselves_can_be_left_out_of_what_changed(workspace: Workspace, hot: HotMemory) -> None:
    hot.refresh()
    hot.remember(clear("tea"))
    hot.remember(clear("milk"))
    assert hot.refresh(ours=False) == []
    workspace.memory_md.write_text("# By hand\n\ncoffee\n", encoding="utf-8")
    hot.remember(clear("cocoa"))
    assert hot.refresh(ours=False) == ["MEMORY.md"]
