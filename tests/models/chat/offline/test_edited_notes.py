"""Offline never quotes a note as it was before somebody edited it."""

from datetime import UTC, datetime

from msgspec.structs import replace

from foundation.trust import Citation, Trust
from models.chat.offline.provider import answer
from models.messages import Message, MessagePart, RecalledSpan, Text, assistant, system, user
from tests.models.chat.events import request

MARCH = datetime(2026, 3, 14, tzinfo=UTC)
ASKED = "When does flight BA117 leave?"
HEAD = system(Text("# Memory\n\n## Trip\n- Flight BA117 leaves at 09:40.\n- The hotel is the Alba.", injected="memory"))


def changes(*lines: str) -> Text:
    return Text("\n".join(["Changed since this conversation's head was written:", *lines]), injected="changes")


def note(text: str, *, speaker: str = "", title: str = "Trip", kind: str = "memory") -> RecalledSpan:
    citation = Citation(kind=kind, ref="MEMORY.md", title=title, time=MARCH, lines=(5, 8), speaker=speaker)
    return RecalledSpan(text, citation, Trust.EXACT, 1.0, MARCH)


EDIT = changes(
    "- MEMORY.md now says (m_0123456789ab, 2026-03-14): Trip / Flight BA117 leaves at 10:55.",
    "  replaces: Flight BA117 leaves at 09:40.",
)


def ask(*before: Message, now: tuple[MessagePart, ...] = (), question: str = ASKED) -> str:
    return answer(request(*before, user(*now, Text(question))))


def quoted(text: str) -> list[str]:
    return [line.removeprefix("> ") for line in text.splitlines() if line.startswith("> ")]


def test_a_change_told_now_replaces_what_the_head_says() -> None:
    said = ask(HEAD, now=(EDIT,))
    assert quoted(said) == ["Flight BA117 leaves at 10:55."]
    assert "[MEMORY.md] · exact" in said


def test_what_the_change_leaves_alone_is_quoted_still() -> None:
    assert quoted(ask(HEAD, now=(EDIT,), question="Which hotel is it?")) == ["The hotel is the Alba."]


def test_a_change_told_earlier_in_the_conversation_holds_too() -> None:
    said = ask(HEAD, user(EDIT, Text("Thanks.")), assistant("Kept."))
    assert quoted(said) == ["Flight BA117 leaves at 10:55."]


def test_a_note_recalled_before_the_change_is_old() -> None:
    earlier = user(note("Flight BA117 leaves at 09:40."), Text("Tell me of the flight."))
    assert quoted(ask(earlier, assistant("…"), now=(EDIT,))) == ["Flight BA117 leaves at 10:55."]


def test_part_of_a_replaced_line_is_old_too() -> None:
    earlier = user(note("… BA117 leaves at 09:40."), Text("Tell me of the flight."))
    assert quoted(ask(earlier, assistant("…"), now=(EDIT,))) == ["Flight BA117 leaves at 10:55."]


def test_the_last_of_two_changes_counts() -> None:
    again = changes(
        "- MEMORY.md now says (m_0123456789ab, 2026-03-14): Trip / Flight BA117 leaves at 11:30.",
        "  replaces: Flight BA117 leaves at 10:55.",
    )
    said = ask(HEAD, user(EDIT, Text("Thanks.")), assistant("Kept."), now=(again,))
    assert quoted(said) == ["Flight BA117 leaves at 11:30."]


def test_a_change_taken_back_makes_the_old_words_hold_again() -> None:
    back = changes(
        "- note m_0123456789ab is again as it was: Trip / Flight BA117 leaves at 09:40.",
        "  replaces: Flight BA117 leaves at 10:55.",
    )
    said = ask(HEAD, user(EDIT, Text("Thanks.")), assistant("Kept."), now=(back,))
    assert quoted(said) == ["Flight BA117 leaves at 09:40."]


def test_a_removed_note_is_not_quoted() -> None:
    gone = changes("- note m_0123456789ab was removed.", "  replaces: Flight BA117 leaves at 09:40.")
    assert quoted(ask(HEAD, now=(gone,))) == []


def test_a_note_recalled_now_wins_over_the_same_recalled_before() -> None:
    earlier = user(note("Flight BA117 leaves at 09:40."), Text("Tell me of the flight."))
    said = ask(earlier, assistant("…"), now=(note("Flight BA117 leaves at 10:55."),))
    assert quoted(said) == ["Flight BA117 leaves at 10:55."]


def test_a_note_recalled_before_and_never_changed_is_quoted() -> None:
    earlier = user(note("Flight BA117 leaves at 09:40."), Text("Tell me of the flight."))
    assert quoted(ask(earlier, assistant("…"))) == ["Flight BA117 leaves at 09:40."]


def test_what_offline_quoted_once_is_no_source() -> None:
    echoed = note("From memory: flight BA117 leaves at 09:40.", speaker="offline", kind="entry")
    assert quoted(ask(now=(echoed,))) == []


def test_a_comment_in_a_file_of_notes_is_no_note() -> None:
    told = "# Memory\n\n<!-- Yours to edit. The flight\nBA117 would be an entry below. -->\n\n- Flight BA117 is late."
    assert quoted(ask(system(Text(told, injected="memory")))) == ["Flight BA117 is late."]


def test_a_quote_of_the_head_is_cited_by_the_line_where_it_begins() -> None:
    held = "- The hotel is\n  the Alba.\n- Flight BA117 leaves\n  at 10:55."
    for lines, cited in (
        ((5, 8), "[Trip · 2026-03-14 · MEMORY.md:7] · exact"),
        ((5, 9), "[Trip · 2026-03-14 · MEMORY.md#L5-L9] · exact"),
    ):
        citation = Citation(kind="memory", ref="MEMORY.md", title="Trip", time=MARCH, lines=lines)
        asked = request(system(Text(f"## Trip\n{held}", injected="memory")), user(Text(ASKED)))
        said = answer(replace(asked, notes=(RecalledSpan(held, citation, Trust.EXACT, 1.0),)))
        assert quoted(said) == ["Flight BA117 leaves at 10:55."]
        assert f"— {cited}" in said
