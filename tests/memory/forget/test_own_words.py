"""The law of what goes: an entry whose own text holds the words; of all others what holds them, and no more."""

from datetime import UTC, datetime
from itertools import product

import pytest

from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import clear, cleared_fields
from foundation.trust import Citation, Trust
from memory.forget.choice import choose_conversation, choose_named
from memory.forget.job import Forgetting
from memory.forget.pieces import pieces_of
from memory.forget.plan import ForgetPlan, plan_forgetting
from memory.memory import Memory
from memory.records import Entry
from models.cleared_parts import cleared_parts
from models.messages import RecalledSpan, Role
from tests.memory.forget.bytes_of import places_of
from tests.memory.forget.conftest import say

NOW = datetime(2026, 11, 1, tzinfo=UTC)
WORDS = "zqpurple lantern"
LANTERN = f"The greenhouse has a {WORDS} above the door."
KEY = "The greenhouse key hangs behind the blue door in the hall."


def forget(memory: Memory, plan: ForgetPlan) -> None:
    forgetting = Forgetting(memory, SystemClock())
    job = forgetting.run(forgetting.begin(plan))
    assert job.receipt is not None
    assert (job.receipt.found, forgetting.journal.open_ids()) == ((), [])


def spans_of(entry: Entry) -> list[str]:
    return [part.text for part in entry.sent if isinstance(part, RecalledSpan)]


def recalled(*passages: tuple[str, str]) -> tuple[RecalledSpan, ...]:
    return tuple(
        RecalledSpan(text=text, citation=Citation(kind="message", ref=ref), trust=Trust.EXACT) for ref, text in passages
    )


def test_every_way_in_which_an_entry_can_hold_the_words(memory: Memory, workspace: Workspace) -> None:
    far = memory.conversations.new(clear("Far")).seq
    lantern, key = say(memory, far, LANTERN), say(memory, far, KEY)
    ways = list(product((Role.USER, Role.ASSISTANT), *[(False, True)] * 4))
    entries: list[Entry] = []
    for number, (role, in_text, in_sent, in_reasoning, in_speaker) in enumerate(ways):
        talk = memory.conversations.new(clear(f"Anniversary {number}")).seq
        passages = [(key.id, KEY), *([(lantern.id, LANTERN)] if in_sent else [])]
        reasoning = f"Thought {number}" + (f" of a {WORDS}." if in_reasoning else ".")
        entry = say(
            memory,
            talk,
            f"What of my anniversary {number}" + (f" and the {WORDS.upper()}?" if in_text else "?"),
            role=role,
            sent=cleared_parts(recalled(*passages)),
            meta=cleared_fields({"reasoning": reasoning}),
            speaker=clear(f"Ben {number}" + (f" {WORDS}" if in_speaker else "")),
        )
        entries.append(entry)

    plan = plan_forgetting(memory, choose_named(memory, WORDS), NOW)
    going = {entry.id for entry, way in zip(entries, ways, strict=True) if way[1]}
    changing = {entry.id for entry, way in zip(entries, ways, strict=True) if not way[1] and any(way[2:])}
    assert {entry.id for entry in plan.entries} == going | {lantern.id}
    assert {entry.id for entry in plan.derived} == changing
    assert {entry.why for entry in plan.entries} == {"contains the text"}
    assert all("its own text is kept" in entry.why for entry in plan.derived)
    forget(memory, plan)

    assert places_of(workspace.root, [WORDS]) == {}
    assert memory.conversations.entry(key.seq).text == KEY
    for before, (_role, in_text, in_sent, in_reasoning, in_speaker) in zip(entries, ways, strict=True):
        now = memory.conversations.entry(before.seq)
        assert now.text == ("[forgotten]" if in_text else before.text)
        assert now.speaker == (before.speaker.replace(WORDS, "[forgotten]") if in_speaker else before.speaker)
        assert memory.conversations.at(before.conversation_seq).title.startswith("Anniversary")
        if in_text:
            assert (spans_of(now), "reasoning" in now.meta) == ([], False)
        else:
            assert spans_of(now) == [KEY, *(["[forgotten]"] if in_sent else [])]
            assert now.meta["reasoning"] == before.meta["reasoning"].replace(WORDS, "[forgotten]")
            assert ("[forgotten]" in now.meta["reasoning"]) == in_reasoning
    assert memory.cold.check() == []


@pytest.mark.parametrize("by_lineage", [False, True])
def test_a_passage_goes_from_an_archived_message_that_stays(
    memory: Memory, workspace: Workspace, by_lineage: bool
) -> None:
    far, talk = memory.conversations.new().seq, memory.conversations.new().seq
    lantern = say(memory, far, LANTERN)
    passage = (lantern.id, "It has a light of some colour.") if by_lineage else ("e_other", LANTERN)
    asked = say(memory, talk, "What of the house?", sent=cleared_parts(recalled(passage)))
    memory.vault.archive_entries([asked], label="away")
    forget(memory, plan_forgetting(memory, choose_named(memory, WORDS), NOW))
    assert places_of(workspace.root, [WORDS]) == {}
    now = memory.conversations.entry(asked.seq)
    assert memory.passage(now).text == "What of the house?"
    assert spans_of(now)[0].startswith("[forgotten]")
    assert memory.vault.check() == []


@pytest.mark.parametrize("archived", [False, True])
def test_a_conversation_goes_whose_text_another_one_holds_too(memory: Memory, archived: bool) -> None:
    answer = "\n\n".join(f"Paragraph {n}. The dog is near Marker{n}.Paragraph {n} ENDS." for n in range(12))
    first, second = (memory.conversations.new(clear("LONG")) for _ in range(2))
    for conversation in (first, second):
        say(memory, conversation.seq, "LONG")
        said = say(memory, conversation.seq, answer, role=Role.ASSISTANT)
    if archived:
        memory.vault.archive_entries([said], label="away")
    plan = plan_forgetting(memory, choose_conversation(memory, first.id), NOW)
    assert [found.id for found in plan.also_in] == [second.id]
    forget(memory, plan)
    assert memory.passage(memory.conversations.entry(said.seq)).text == answer
    assert memory.conversations.at(second.seq).title == "LONG"


@pytest.mark.parametrize(
    ("goes", "said"),
    [
        ("I heard of Marker7.Paragraph there.", "It is MARKER7.paragraph, he says."),
        ("He calls it “Zażółć gęślą jaźń 7”, or so.", "He calls it “Zażółć gęślą jaźń 7”, or so."),
    ],
)
def test_what_another_says_is_left_in_each_form(memory: Memory, goes: str, said: str) -> None:
    """In the index in small letters, and in JSON behind escapes."""
    first, second, third = (memory.conversations.new().seq for _ in range(3))
    say(memory, first, goes)
    stays = say(memory, second, said)
    asked = say(memory, third, "What is it?", sent=cleared_parts(recalled((stays.id, said))))
    memory.search.update()
    name = memory.conversations.at(first).id
    forget(memory, plan_forgetting(memory, choose_conversation(memory, name), NOW))
    assert memory.conversations.entry(stays.seq).text == said
    assert spans_of(memory.conversations.entry(asked.seq)) == [said]


@pytest.mark.parametrize("other", ["You said “[private]”, and nothing else.", "You said nothing else."])
def test_marks_in_the_place_of_words_are_not_looked_for(memory: Memory, other: str) -> None:
    assert pieces_of("[forgotten]\n[private] and [secret: github-pat]") == []
    assert pieces_of("You asked for [forgotten] in the other house.") == ["You asked for", "in the other house."]
    first, second = (memory.conversations.new(clear("[private]")) for _ in range(2))
    say(memory, first.seq, "[private]")
    stays = say(memory, second.seq, other, role=Role.ASSISTANT)
    forget(memory, plan_forgetting(memory, choose_conversation(memory, first.id), NOW))
    assert memory.conversations.entry(stays.seq).text == other
    assert memory.conversations.at(second.seq).title == "[private]"
