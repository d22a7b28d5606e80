"""What counts as evidence, what is only near, and how short quotes are set."""

from datetime import UTC, datetime

from foundation.trust import Citation, Trust
from models.chat.offline.phrases import ENGLISH
from models.chat.offline.provider import answer
from models.chat.offline.quotes import QuoteSource, best_quotes
from models.messages import Message, MessagePart, RecalledSpan, Text, assistant, system, user
from tests.models.chat.events import request

MARCH = datetime(2026, 3, 14, tzinfo=UTC)


def recalled(text: str, ref: str, speaker: str = "Ann") -> RecalledSpan:
    return RecalledSpan(text, Citation(kind="entry", ref=ref, title="Talk", speaker=speaker), Trust.EXACT, 1.0, MARCH)


def ask(question: str, *parts: MessagePart, before: tuple[Message, ...] = ()) -> str:
    return answer(request(*before, user(*parts, Text(question))))


def quoted(text: str) -> list[str]:
    return [line.removeprefix("> ") for line in text.splitlines() if line.startswith("> ")]


def test_the_same_question_in_other_words_is_no_evidence() -> None:
    before = (user("What time does BA117 leave?"), assistant("I do not know."))
    assert quoted(ask("When does flight BA117 leave?", before=before)) == []


def test_a_line_that_holds_nothing_beyond_the_question_is_no_evidence() -> None:
    head = system(Text("# Boiler service\n\n- Ask Bob for the service.", injected="memory"))
    assert "Boiler service" not in quoted(ask("When is the boiler service?", before=(head,)))


def test_a_month_that_is_a_common_word_is_an_answer() -> None:
    said = "The boiler is serviced in May."
    assert quoted(ask("When is the boiler serviced?", recalled(said, "e_1"))) == [said]


def test_a_yes_or_no_question_may_be_answered_in_its_own_words() -> None:
    assert quoted(ask("Is the flight late?", recalled("The flight is late.", "e_1"))) == ["The flight is late."]


def test_sentences_that_follow_one_another_stay_in_one_paragraph() -> None:
    together = "The vault opens at nine. The vault closes at five."
    assert quoted(ask("When is the vault open, when does it close?", recalled(together, "e_1"))) == [together]


def test_a_heading_that_its_note_says_again_is_left_out() -> None:
    head = system(Text("# The boiler is serviced\n- The boiler is serviced on Tuesday.", injected="memory"))
    assert quoted(ask("When is the boiler serviced?", before=(head,))) == ["The boiler is serviced on Tuesday."]


def test_what_covers_little_of_the_question_is_called_near() -> None:
    others = recalled("Bob went to the harbour with Carol and bought a lamp.", "e_2", "Bob")
    thanks = recalled("Thanks for the tip about the lamp, Carol!", "e_1", "Dora")
    assert ENGLISH.nothing in ask("Which glaciers did Carol research for her doctorate?", thanks, others)
    assert ENGLISH.nearest in ask(
        "Did Bob buy telescopes, chandeliers, wheelbarrows, xylophones, umbrellas at the harbour?", thanks, others
    )
    assert ENGLISH.quoting in ask("Who bought a lamp at the harbour?", thanks, others)


def test_who_is_asked_about_is_heard_before_who_speaks_to_them() -> None:
    spoken_to = recalled("Carol, you and the market are great friends today.", "e_1", "Dora")
    own = recalled("I sold nine pots at the market this morning.", "e_2", "Carol")
    assert quoted(ask("What did Carol do at the market?", spoken_to, own))[0] == own.text


def test_an_old_turn_in_view_is_found_however_long_the_conversation() -> None:
    chat = [user("The shed key hangs behind the clock."), assistant("Kept.")]
    for n in range(30):
        chat += [user(f"Line {n} of a talk about rain and wind."), assistant("Kept.")]
    assert quoted(ask("Where does the shed key hang?", before=tuple(chat)))[0] == "The shed key hangs behind the clock."


def test_what_was_asked_before_in_this_conversation_is_no_evidence() -> None:
    before = (user("When does Anna's flight leave? And from where?"), assistant("I do not know."))
    assert quoted(ask("What time is the flight BA117?", before=before)) == []


def test_a_note_recalled_now_is_cited_by_its_place_though_a_change_tells_it_too() -> None:
    told = Text("…:\n- new in MEMORY.md (m_0123456789ab): The boiler is red / - The boiler is red.", injected="changes")
    said = ask("What colour is the boiler?", told, recalled("The boiler is red.", "e_1"))
    assert "· e_1" in said


def test_what_was_superseded_is_quoted_behind_what_stands() -> None:
    old, new = "My favourite colour is blue.", "My favourite colour changed: it is green"
    for superseded, first in ((False, old), (True, new)):
        sources = [QuoteSource(new, "[new]"), QuoteSource(old, "[old]", superseded=superseded)]
        assert best_quotes("What is my favourite colour?", sources)[0].lines == (first,)


def test_a_name_that_is_a_function_word_elsewhere_decides_whose_statement_is_quoted() -> None:
    talk = "Anna: My canoe is at the lake.\nBen: Mine is better.\nBen: My canoe is at the river.\n"
    for name, line in (("Ben", "Ben: My canoe is at the river."), ("Anna", "Anna: My canoe is at the lake.")):
        quotes = best_quotes(f"Where is {name}'s canoe?", [QuoteSource(talk, "[chat]", document=True)])
        assert quotes[0].lines == (line,)
    said = [
        QuoteSource(f"{name} says the kiln is in the {room}", name)
        for name, room in (("Anna", "attic"), ("Ben", "barn"))
    ]
    assert [quote.source.cited for quote in best_quotes("Where is Ben's kiln?", said)] == ["Ben"]
