"""What a message tells of a file that was edited: what holds now, and the words that no longer do."""

from pathlib import Path

from tests.context.conversation import Talk, begins_with, texts

BOILER = """# Memory

<!-- 2026-03-14T10:00:00Z -->
## The boiler's service is on Tuesday
- The boiler's service is on Tuesday
- It costs 90 euros
"""


def edit(talk: Talk, was: str, now: str) -> None:
    path: Path = talk.workspace.memory_md
    path.write_text(path.read_text(encoding="utf-8").replace(was, now), encoding="utf-8")


def changes(talk: Talk, message: str) -> str:
    """The part of the message that tells of changes."""
    text = texts(talk.send(message))[-1]
    return text.partition("<palimpsest-changes>")[2].partition("</palimpsest-changes>")[0]


def test_a_change_names_the_words_that_it_replaces(talk: Talk) -> None:
    talk.write("MEMORY.md", BOILER)
    talk.send("One.")
    edit(talk, "- The boiler's service is on Tuesday", "- The boiler's service is on Friday")
    told = changes(talk, "Two.")
    assert "MEMORY.md now says" in told and "service is on Friday" in told
    edit(talk, "## The boiler's service is on Tuesday", "## Boiler")
    assert "  replaces: The boiler's service is on Tuesday\n" in changes(talk, "Three.") + "\n"
    assert "costs 90 euros" not in [line.strip() for line in told.split("\n") if "replaces" in line]


def test_an_edit_that_changes_the_heading_too_is_a_change_of_the_same_note(talk: Talk) -> None:
    talk.write("MEMORY.md", BOILER)
    talk.send("One.")
    edit(talk, "Tuesday", "Friday")
    told = changes(talk, "Two.")
    assert "replaces: The boiler's service is on Tuesday" in told
    assert "replaces: It costs" not in told
    assert "new in" not in told and "was removed" not in told


def test_a_second_change_replaces_the_words_that_the_first_told(talk: Talk) -> None:
    talk.write("MEMORY.md", BOILER)
    talk.send("One.")
    edit(talk, "- The boiler's service is on Tuesday", "- Service on Friday")
    changes(talk, "Two.")
    edit(talk, "- Service on Friday", "- Service on Sunday")
    told = changes(talk, "Three.")
    assert "Service on Sunday" in told and "replaces: Service on Friday" in told
    edit(talk, "- Service on Sunday", "- The boiler's service is on Tuesday")
    told = changes(talk, "Four.")
    assert "again as it was" in told and "replaces: Service on Sunday" in told


def test_a_note_that_is_gone_says_what_no_longer_holds(talk: Talk) -> None:
    talk.write("MEMORY.md", BOILER)
    talk.send("One.")
    talk.write("MEMORY.md", "# Memory\n")
    assert "replaces: It costs 90 euros" in changes(talk, "Two.")


def test_later_requests_still_hold_the_change(talk: Talk) -> None:
    talk.write("MEMORY.md", BOILER)
    talk.send("One.")
    edit(talk, "Tuesday", "Friday")
    second = talk.send("Two.")
    talk.reopen()
    third = talk.send("Three.")
    assert begins_with(third.request, second.request)
    assert any("replaces: The boiler's service is on Tuesday" in text for text in texts(third)[:-1])


def test_a_note_in_the_head_that_changed_is_recalled_again(talk: Talk) -> None:
    talk.write("MEMORY.md", BOILER)
    assert not talk.send("When is the boiler's service?").recalled
    edit(talk, "- The boiler's service is on Tuesday", "- The boiler's service is on Friday")
    (passage,) = [part for part in talk.send("Which day is the boiler's service on?").recalled if "Friday" in part.text]
    assert passage.citation.ref == "MEMORY.md"


def test_a_passage_that_no_note_says_any_more_does_not_keep_the_new_one_out(talk: Talk) -> None:
    talk.write("memory/travel.md", "# Flight\n\nAnna's flight BA117 leaves from Heathrow terminal five at 09:40\n")
    assert "09:40" in talk.send("When does flight BA117 leave from Heathrow?").recalled[0].text
    talk.write("memory/travel.md", "# Flight\n\nAnna's flight BA117 leaves from Heathrow terminal five at 10:55\n")
    again = talk.send("And what time is it that Anna's flight BA117 leaves from Heathrow?")
    assert "10:55" in " ".join(part.text for part in again.recalled)
    assert "replaces: Anna's flight BA117 leaves from Heathrow terminal five at 09:40" in texts(again)[-1]
