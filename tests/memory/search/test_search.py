import json
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from foundation.privacy import clear
from foundation.text.cross_language import held_languages
from foundation.text.term_codec import unpack_terms
from foundation.trust import Trust
from memory.errors import NotFound
from memory.memory import Memory
from memory.records import EntryKind
from memory.search import Query, parse_query, to_json
from memory.search_options import SearchOptions
from models.messages import Role
from tests.fakes import FakeClock
from tests.memory.search.conversation import Talk

LEDGER = "The harbour keeps a ledger of ships. " * 60


def test_a_question_finds_what_was_said_in_other_words_of_the_same_stem(talk: Talk) -> None:
    talk.say("We decided to buy the green boat.")
    talk.say("The weather was cold.", to="other")
    assert talk.found("what did they decide about boats?") == ["We decided to buy the green boat."]


def test_nothing_is_found_where_no_word_of_the_question_occurs(talk: Talk) -> None:
    talk.say("We decided to buy the green boat.")
    results = talk.ask("quantum chromodynamics")
    assert not results.found
    assert results.hits == ()
    assert not talk.ask("what did we do and why was that?").found  # weak words alone find nothing


def test_one_common_word_of_many_is_not_enough(talk: Talk) -> None:
    for number in range(30):
        talk.say(f"A green thing number {number}.", to=f"c{number}")
    assert not talk.ask("kubernetes ingress certificate renewal on a green cluster").found
    assert talk.ask("green").found  # the control: on its own the word finds


def test_one_rare_word_of_a_long_question_is_not_enough_either(talk: Talk) -> None:
    for number in range(30):
        talk.say(f"A green thing number {number}.", to=f"c{number}")
    talk.say("The library wants the renewal slip back.", to="library")
    assert not talk.ask("Does the certificate of the kubernetes ingress controller need renewal?").found
    assert talk.ask("Which renewal slip does the library want?").found


def test_the_answer_is_found_by_the_question_before_it(talk: Talk) -> None:
    talk.say("How is the parrot called?", speaker="Ann")
    answer = talk.say("Admiral Bertrand.", speaker="Bo")
    talk.say("Nice.", speaker="Ann")
    for number in range(20):
        talk.say(f"Something else entirely, {number}.", to="other")
    assert answer.seq in {hit.entry for hit in talk.ask("name of the parrot").hits}


def test_days_apart_are_no_neighbours(talk: Talk) -> None:
    talk.say("How is the parrot called?", day="2026-03-01")
    later = talk.say("Admiral Bertrand.", day="2026-03-09")
    assert later.seq not in {hit.entry for hit in talk.ask("What is the parrot called?").hits}
    soon = talk.say("And it is green.", day="2026-03-09")
    talk.say("The parrot sings.", day="2026-03-09")
    assert soon.seq in {hit.entry for hit in talk.ask("What is the parrot called?").hits}


def test_whom_the_question_names_goes_first(talk: Talk) -> None:
    talk.say("I love sailing on the lake.", speaker="Ann", to="a")
    talk.say("I love sailing on the lake, too, at night.", speaker="Bo", to="b")
    assert talk.ask("What does Bo love?").hits[0].speaker == "Bo"
    assert talk.ask("What does Ann love?").hits[0].speaker == "Ann"


def test_the_day_that_the_question_speaks_of_goes_first(talk: Talk) -> None:
    for day in ("2026-01-10", "2026-02-10", "2026-03-10"):
        talk.say(f"The meeting was long; minutes of room {day[5:7]}.", day=day, to=day)
    assert talk.ask("the meeting on 9 February 2026").hits[0].conversation == "2026-02-10"
    assert talk.ask("the meeting in March").hits[0].conversation == "2026-03-10"


def test_the_newest_goes_first_among_equals(talk: Talk) -> None:
    talk.say("tea with lemon", day="2026-01-01", to="a")
    talk.say("tea with mint", day="2026-03-01", to="b")
    talk.say("tea with honey", day="2026-02-01", to="c")
    assert talk.found("tea") == ["tea with mint", "tea with honey", "tea with lemon"]


def test_near_duplicates_are_folded_into_the_earliest(talk: Talk) -> None:
    text = "The boiler was serviced by Meyer and the warranty runs until the end of May next year"
    old = talk.say(text, to="a", day="2026-01-01")
    new = talk.say(text + ".", to="b", day="2026-02-01")
    (hit,) = talk.ask("boiler warranty").hits
    assert hit.entry == old.seq
    assert hit.like == (new.id,)


def test_chinese_is_found_in_mixed_text(talk: Talk) -> None:
    talk.say("锅炉的保修期到明年五月，维修电话在 README.md 里。")
    talk.say("今天天气很好，我们去公园散步。", to="b")
    assert talk.found("锅炉保修到什么时候？") == ["锅炉的保修期到明年五月，维修电话在 README.md 里。"]
    assert not talk.ask("量子纠缠是什么").found


def test_one_chinese_character_finds_the_words_that_it_is_in(talk: Talk) -> None:
    talk.say("那只黑猫咪睡着了")
    assert talk.ask("猫").found
    assert not talk.ask("狗").found


def test_identifiers_are_found_whole_and_in_parts(talk: Talk) -> None:
    talk.say("The fault is in src/http_client.py, see getHTTPResponse and SQLite 3.51.3.")
    for question in ("http_client.py", "getHTTPResponse", "http response", "3.51.3", "3.51", "src/http_client.py"):
        assert talk.ask(question).found, question
    assert not talk.ask("3.52").found


def test_what_is_in_view_is_left_out(talk: Talk) -> None:
    first, second = talk.say("tea with lemon", to="a"), talk.say("tea with milk", to="b")
    assert [hit.entry for hit in talk.ask("tea", exclude=frozenset({second.seq})).hits] == [first.seq]


def test_notes_are_found_as_soon_as_a_hand_has_written_them(talk: Talk, memory: Memory) -> None:
    talk.say("Tea is what she drinks.")
    memory.hot.remember(clear("The gate's code is stored with the neighbour"), heading=clear("Gate"))
    (hit,) = talk.ask("code of the gate").hits
    assert (hit.kind, hit.entry, hit.trust) == ("memory", None, Trust.EXACT)
    assert hit.note == hit.id
    assert str(hit.citation).startswith("[Gate · 2026-03-14 · MEMORY.md#L")
    path = memory.workspace.memory_md
    path.write_text(path.read_text("utf-8").replace("gate", "portcullis"), "utf-8")
    assert talk.ask("portcullis").found
    assert set(memory.hot.refresh()) == {"MEMORY.md"}  # the search looked, and others still hear of it


def test_looking_for_new_words_does_not_swallow_what_others_wait_to_hear(talk: Talk, memory: Memory) -> None:
    memory.hot.refresh()
    memory.workspace.memory_md.write_text("# Boat\nThe boat is green\n", "utf-8")
    assert talk.ask("boat").found
    assert memory.hot.refresh() == ["MEMORY.md"]


def test_archived_text_is_found_and_read_back_from_its_page(talk: Talk, memory: Memory) -> None:
    archived = memory.vault.archive_text(clear("The lighthouse keeper wrote about eleven storms.\n" * 3), label="log")
    (hit,) = talk.ask("storms at the lighthouse").hits
    assert hit.id == archived.pages[0].id
    assert (hit.kind, hit.trust, hit.citation.page) == ("page", Trust.EXACT, archived.pages[0].id)
    assert "eleven storms" in hit.snippet
    assert talk.ask("lighthouse", label="log").found
    assert not talk.ask("lighthouse", label="other").found


def test_an_archived_turn_is_found_after_its_text_has_gone_into_pixels(talk: Talk, memory: Memory) -> None:
    entry = talk.say("The parrot is called Admiral Bertrand.")
    assert talk.ask("parrot").found
    memory.vault.archive_entries([entry], label="old talk")
    assert memory.cold.entry(entry.seq).text is None
    (hit,) = talk.ask("parrot").hits
    assert (hit.snippet, hit.trust) == ("The parrot is called Admiral Bertrand.", Trust.EXACT)
    assert hit.id == entry.id
    assert hit.citation.page.startswith("pg_")


def test_filters_leave_what_fits(talk: Talk, memory: Memory) -> None:
    talk.say("tea by a user", to="a", speaker="Ann", day="2026-01-05")
    talk.say("tea by a model", to="b", role=Role.ASSISTANT, day="2026-02-05")
    talk.say("tea from a tool", to="c", role=Role.TOOL, kind=EntryKind.TOOL_RESULT, day="2026-03-05")
    memory.cold.label(talk.conversation("b"), "kitchen")
    memory.hot.remember(clear("tea as a note"))
    day = datetime(2026, 2, 1, tzinfo=UTC)
    assert talk.found("tea", role="assistant") == ["tea by a model"]
    assert talk.found("tea", speaker="ann") == ["tea by a user"]
    assert talk.found("tea", kinds=("tool_result",)) == ["tea from a tool"]
    assert talk.found("tea", kinds=("memory",)) == ["- tea as a note"]
    assert talk.found("tea", conversation="c") == ["tea from a tool"]
    assert talk.found("tea", label="kitchen") == ["tea by a model"]
    assert talk.found("tea", until=day) == ["tea by a user"]
    assert talk.found("tea", since=day, kinds=("message",)) == ["tea by a model"]
    assert len(talk.found("tea", trust=Trust.EXACT)) == 4
    assert talk.found("tea", trust=Trust.APPROXIMATE) == []
    assert talk.found("tea", threshold=0.99) == []
    with pytest.raises(NotFound):
        talk.ask("tea", conversation="nowhere")


def test_tool_calls_are_found_only_where_they_are_asked_for(talk: Talk) -> None:
    talk.say('read_file {"path": "tea.txt"}', kind=EntryKind.TOOL_CALL, role=Role.ASSISTANT)
    assert not talk.ask("tea.txt").found
    assert talk.ask("tea.txt", kinds=("tool_call",)).found


def test_a_summary_is_found_only_where_it_is_asked_for(talk: Talk) -> None:
    """What it stands for is found itself, with its own speaker and day."""
    talk.say("The samovar goes to Odessa in a crate.")
    talk.say("Earlier: the samovar goes to Odessa.", kind=EntryKind.SUMMARY)
    assert talk.found("samovar to Odessa") == ["The samovar goes to Odessa in a crate."]
    assert talk.found("samovar to Odessa", kinds=("summary",)) == ["Earlier: the samovar goes to Odessa."]


def test_without_words_two_that_say_the_same_are_two_and_no_text_is_compared(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[str] = []
    monkeypatch.setattr("memory.search.results.features.shingles", compared.append)
    for number in range(30):
        said = f"The boiler was serviced by the same man, with the same tools, in the same house, visit {number}."
        talk.say(said, day=f"2026-03-{number + 1:02d}")
    listed = talk.memory.search.query(Query(limit=10))
    assert len(listed.hits) == 10 and listed.total == 30 and listed.next == 2
    assert "visit 29" in listed.hits[0].snippet
    assert compared == []


def test_without_words_the_filters_list_newest_first(talk: Talk) -> None:
    talk.say("one", day="2026-01-01", to="a")
    talk.say("two", day="2026-03-01", to="b")
    talk.say("three", day="2026-02-01", to="c")
    assert talk.found() == ["two", "three", "one"]
    assert talk.found(since=datetime(2026, 1, 15, tzinfo=UTC), limit=1) == ["two"]


def test_pages_of_hits_follow_one_another(talk: Talk) -> None:
    colours = ["amber", "beige", "coral", "denim", "ecru", "flax", "gold"]
    for colour in colours:
        talk.say(f"tea in {colour}", to=colour)
    seen: list[str] = []
    page: int | None = 1
    while page:
        results = talk.ask("tea", limit=3, page=page)
        seen += [hit.snippet for hit in results.hits]
        page = results.next
    assert sorted(seen) == [f"tea in {colour}" for colour in colours]
    assert results.total == 7
    assert talk.ask("tea", limit=3, page=9).hits == ()


def test_results_as_json_have_the_shape_that_is_promised(talk: Talk) -> None:
    entry = talk.say("tea with lemon", speaker="Ann", day="2026-03-02")
    shape = to_json(talk.ask("lemon tea"))
    assert list(shape) == ["schema", "query", "took_ms", "found", "total", "next", "hits", "likelihood"]
    assert (shape["schema"], shape["found"], shape["total"], shape["next"]) == (1, True, 1, None)
    (hit,) = json.loads(json.dumps(shape))["hits"]
    assert 0 < hit.pop("score") <= 1
    assert hit == {
        "id": entry.id,
        "kind": "message",
        "origin": "user",
        "conversation": "c",
        "entry": entry.id,
        "time": "2026-03-02T00:00:00Z",
        "role": "user",
        "speaker": "Ann",
        "snippet": "tea with lemon",
        "citation": f"[c · Ann · 2026-03-02 · {entry.id}]",
        "device": None,
        "trust": "exact",
        "superseded_by": None,
        "marks": [[0, 3], [9, 14]],
        "like": [],
    }
    nothing = to_json(talk.ask("zeppelin"))
    assert (nothing["found"], nothing["total"], nothing["hits"]) == (False, 0, [])


def test_explaining_says_what_the_score_is_made_of(talk: Talk) -> None:
    talk.say("tea with lemon", speaker="Ann")
    (hit,) = talk.ask("When did Ann have tea?", explain=True).hits
    assert {"tea", "ann", "said by Ann"} <= set(hit.parts)
    assert all(part > 0 for part in hit.parts.values())
    assert talk.ask("tea").hits[0].parts == {}


def test_a_query_is_read_from_words_as_they_are_typed(clock: FakeClock) -> None:
    query = parse_query(
        "tea", SearchOptions(kinds=("Message",), since="30d", trust="exact", limit=5, page=2), clock=clock
    )
    assert query == Query(
        text="tea",
        kinds=("message",),
        since=datetime(2026, 2, 12, 9, 26, 53, tzinfo=UTC),
        trust=Trust.EXACT,
        limit=5,
        page=2,
    )


def test_opening_a_memory_loads_no_numpy() -> None:
    code = "import sys, memory.memory, memory.search; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_only_asks_the_same_goes_after_what_answers(talk: Talk) -> None:
    talk.say("What is the vault code for room 1?", to="asked", day="2026-03-09")
    talk.say("Note 1: the vault code for room 1 is ZX-1037. " + LEDGER, to="note")
    for number in range(2, 9):
        talk.say(f"Note {number}: the vault code for room {number} is ZX-{number}. {LEDGER}", to=f"n{number}")
    for question in ("What is the vault code for room 1?", "vault code for room 1"):
        found = talk.found(question)
        assert found[0].startswith("Note 1:"), question
        assert "What is the vault code for room 1?" in found  # it is there all the same


def test_a_longer_question_goes_after_what_answers_too(talk: Talk) -> None:
    talk.say("When did Melanie paint a sunrise?", to="asked")
    talk.say("That lake sunrise was painted last year, it is special to me, and it hangs in the hall.", to="told")
    assert talk.ask("sunrise").hits[0].conversation == "told"


def test_chinese_questions_ask_too(talk: Talk) -> None:
    talk.say("备用钥匙的密码是什么？", to="asked")
    talk.say("温室的备用钥匙在奥孔克沃太太那里，密码是孔雀石七号，请不要忘记告诉园丁先生。", to="told")
    assert talk.ask("备用钥匙的密码").hits[0].conversation == "told"


def test_a_quotation_is_found_by_the_entry_that_says_just_that(talk: Talk) -> None:
    quotation = "The greenhouse key is in the blue tin"
    talk.say(quotation, to="said")
    talk.say("The greenhouse has a tin roof, and its key, painted blue, hangs by the door of the shed.", to="other")
    assert talk.found(quotation)[0] == quotation


def test_what_stands_beside_the_asking_goes_after_what_holds_the_words(talk: Talk) -> None:
    talk.say("What is the vault code for room 1?", to="asked")
    talk.say("The lighthouse keeper term_counts seven white ships.", to="asked", role=Role.ASSISTANT)
    talk.say("Note 1: the vault code for room 1 is ZX-1037. " + LEDGER, to="note")
    for number in range(2, 9):
        talk.say(f"Note {number}: the key of hall {number} is ZX-{number}. {LEDGER}", to=f"n{number}")
    assert talk.found("What is the vault code for room 1?")[0].startswith("Note 1:")


def test_what_offline_answered_is_found_only_where_it_is_asked_for(talk: Talk) -> None:
    quoting = "From memory, word for word: the parrot is called Admiral Bertrand."
    talk.say("The parrot is called Admiral Bertrand, and it is green.", to="told")
    talk.say("I like trains.", to="asked")
    talk.say(quoting, to="asked", role=Role.ASSISTANT, speaker="offline")
    talk.say("Thank you kindly, that helps.", to="asked")
    assert talk.found("How is the parrot called?") == ["The parrot is called Admiral Bertrand, and it is green."]
    assert talk.found("parrot", speaker="offline") == [quoting]
    assert quoting in talk.found("parrot", kinds=("message",))
    talk.say("A person may call herself so, and keep a parrot.", to="her", speaker="offline")
    assert "A person may call herself so, and keep a parrot." in talk.found("parrot")


def test_what_is_in_view_lends_its_words_to_nothing(talk: Talk) -> None:
    answer = talk.say("The lighthouse keeper term_counts seven white ships in a vault.", role=Role.ASSISTANT)
    question = talk.say("What is the vault code?")
    scores = {hit.entry: hit.score for hit in talk.ask("What is the vault code?").hits}
    (hit,) = talk.ask("What is the vault code?", exclude=frozenset({question.seq})).hits
    assert hit.entry == answer.seq
    assert hit.score < scores[answer.seq]


def test_held_languages_are_those_whose_mark_stands_in_the_store(talk: Talk) -> None:
    talk.say("Ich habe das Buch nicht gelesen")
    terms = unpack_terms(talk.memory.cold.terms_of([1])[1].packed)
    assert held_languages(terms.__contains__) == ("german",)
