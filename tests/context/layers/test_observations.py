"""The index of observations: what is chosen, what a line says, and when the head keeps it."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from context.assembly.tokens import MessageCounter
from context.errors import NO_ROOM
from context.layers.observations import index_line, observation_index
from context.working_set.reductions import reductions_of
from foundation.privacy import clear, cleared_fields
from memory.observations.observation import Importance, Observation
from memory.observations.rules import RulesMaker
from memory.observations.store import RULES_CURSOR, StoredObservation
from memory.records import EntryDraft, EntryKind
from models.chat.port import ImageRule
from models.messages import Role
from models.tokens import Estimate
from tests.context.conversation import Talk

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
COUNTING = MessageCounter(Estimate(), next(iter(ImageRule)))
DECISION = "We decided to keep SQLite for the queue of jobs."


def stored(
    seq: int = 1,
    title: str = "Keep SQLite",
    importance: Importance = Importance.DECISION,
    *,
    days: float = 0,
    type_: str = "decision",
    subject: str = "",
    read: tuple[str, ...] = (),
    changed: tuple[str, ...] = (),
) -> StoredObservation:
    return StoredObservation(
        id=f"e_{seq:012}",
        seq=seq,
        original=seq - 1,
        conversation="c_1",
        conversation_seq=1,
        time=NOW - timedelta(days=days),
        maker="rules",
        observation=Observation(
            type=type_,
            title=title,
            importance=importance,
            subject=subject,
            read=read,
            changed=changed,
            sources=("e_0",),
            original_tokens=4200,
        ),
    )


def indexed(*items: StoredObservation, most: int = 50, room: int = 2_000, **more: object) -> list[str]:
    """The lines of the index, without its heading."""
    made = observation_index(items, NOW, COUNTING, most=most, room=room, **more)  # pyright: ignore[reportArgumentType] -- several types
    return made.piece.text.split("\n")[1:] if made else []


def test_a_line_says_when_how_important_what_and_what_each_step_costs() -> None:
    item = stored(title="Keep [SQLite] · for the queue")
    tokens = item.observation.tokens
    moment = f"{NOW.astimezone():%Y-%m-%d %H:%M}"
    assert index_line(item) == f"{moment} 🟤 decision e_000000000001 Keep (SQLite) - for the queue · {tokens}→4,200"
    assert Estimate().count(index_line(stored(title="x" * 300))) <= 100


def test_there_is_no_index_of_nothing() -> None:
    assert indexed() == []
    assert indexed(stored(), most=0) == []
    assert indexed(stored(), room=10) == []


def test_what_is_important_stays_longer_than_what_is_information() -> None:
    read = {"importance": Importance.INFORMATION, "type_": "discovery"}
    assert len(indexed(stored(days=200))) == 1
    assert len(indexed(stored(days=10, **read))) == 1  # pyright: ignore[reportArgumentType] -- several types
    assert indexed(stored(days=60, **read)) == []  # pyright: ignore[reportArgumentType] -- several types


def test_where_there_is_no_room_for_all_importance_and_age_decide_and_lines_stand_in_order_of_time() -> None:
    information = [
        stored(n, f"Read {n}", Importance.INFORMATION, days=n, type_="discovery", subject=f"f{n}") for n in range(1, 9)
    ]
    failure = stored(20, "Tests fail", Importance.CRITICAL, days=9, type_="discovery")
    lines = indexed(*information, failure, stored(21, days=4), most=3)
    assert [line.split(" ")[2] for line in lines] == ["🔴", "🟤", "🔵"]
    assert "Read 1" in lines[-1]


def test_a_failure_that_is_fixed_is_not_shown() -> None:
    fixed = stored(9, "pytest: passes now", Importance.INFORMATION, type_="bugfix", subject="pytest")
    failed = stored(8, "pytest: 1 failed", Importance.CRITICAL, type_="discovery", subject="pytest")
    (line,) = indexed(fixed, failed)
    assert "passes now" in line


def test_files_that_the_project_does_not_have_weigh_less() -> None:
    here = stored(2, "a.py changed", Importance.INFORMATION, type_="change", changed=("a.py",))
    gone = stored(3, "b.py changed", Importance.INFORMATION, type_="change", changed=("b.py",))
    (line,) = indexed(here, gone, most=1, has_file=lambda name: name == "a.py")
    assert "a.py" in line
    (line,) = indexed(here, gone, most=1, has_file=lambda name: name == "b.py")
    assert "b.py" in line


def test_what_is_in_view_is_left_out() -> None:
    assert indexed(stored(5), in_view={4}) == []


ITEMS = st.builds(
    stored,
    st.integers(1, 10**6),
    st.text(min_size=1, max_size=200),
    st.sampled_from(Importance),
    days=st.floats(0, 500),
)


@given(st.lists(ITEMS, max_size=60, unique_by=lambda item: item.seq), st.integers(0, 60), st.integers(0, 3_000))
def test_an_index_keeps_its_limits(items: list[StoredObservation], most: int, room: int) -> None:
    made = observation_index(items, NOW, COUNTING, most=most, room=room)
    if made is not None:
        assert len(made.piece.text.split("\n")) - 1 == made.usage.count <= most
        assert COUNTING.text(made.piece.text) <= room


# ── in a conversation's requests ──


def observe(talk: Talk) -> None:
    observations, maker = talk.memory.observations, RulesMaker()
    while (batch := observations.batch(RULES_CURSOR, 32)) is not None:
        made = maker.make(batch.originals, batch.known)
        observations.store(batch, made, maker.name, RULES_CURSOR)


def put_decision(talk: Talk, text: str) -> str:
    """A decision in a conversation of its own, observed; gives the id of the observation."""
    conversation = talk.memory.conversations.new()
    draft = EntryDraft(
        conversation=conversation.seq,
        parent=None,
        kind=EntryKind.MESSAGE,
        role=Role.USER,
        text=clear(text),
        meta=cleared_fields({}),
    )
    talk.memory.conversations.append(draft)
    observe(talk)
    return talk.memory.observations.newest(1)[0].id


def head(talk: Talk) -> str:
    assert talk.assembled is not None
    return "\n".join(part.text for part in talk.assembled.parts if part.zone == "A")


def test_a_greeting_in_an_empty_project_brings_no_index(talk: Talk) -> None:
    talk.assembled = talk.send("Hello!")
    assert talk.assembled.report.observations is None
    assert "Notes of earlier work" not in head(talk)


def test_a_new_conversation_begins_with_the_observations_of_others_and_says_what_they_cost(talk: Talk) -> None:
    ref = put_decision(talk, DECISION)
    talk.assembled = talk.send("Hello!")
    assert f"🟤 decision {ref} {DECISION}" in head(talk)
    usage = talk.assembled.report.observations
    assert usage is not None
    assert usage.count == 1
    conversation = next(layer for layer in talk.assembled.report.layers if layer.name == "conversation")
    assert [(source.name, source.tokens) for source in conversation.sources][:1] == [("observations (1)", usage.tokens)]
    assert sum(layer.tokens for layer in talk.assembled.report.layers) == talk.assembled.report.total_tokens


def test_within_an_epoch_the_index_stays_as_it_is(talk: Talk) -> None:
    put_decision(talk, DECISION)
    talk.assembled = talk.send("Hello!")
    before = head(talk)
    put_decision(talk, "We decided to use port 9090.")
    talk.assembled = talk.send("And now?")
    assert talk.assembled.epoch_changed == ""
    assert head(talk) == before
    talk.reopen()
    talk.assembled = talk.send("And now?")
    assert head(talk) == before
    assert talk.assembled.report.prefix_stability == 1.0


def test_a_new_epoch_keeps_the_index_where_the_server_has_read_the_head(talk: Talk) -> None:
    put_decision(talk, DECISION)
    talk.assembled = talk.send("Hello!")
    before = head(talk)
    put_decision(talk, "We decided to use port 9090.")
    talk.profile = replace(talk.profile, window=talk.profile.window - 8)
    talk.assembled = talk.send("And now?")
    assert talk.assembled.epoch_changed
    assert head(talk) == before
    assert talk.assembled.report.observations is not None


def test_an_edited_head_takes_the_observations_of_now(talk: Talk) -> None:
    put_decision(talk, DECISION)
    talk.assembled = talk.send("Hello!")
    put_decision(talk, "We decided to use port 9090.")
    (talk.workspace.root / "AGENTS.md").write_text("Write tests first.")
    talk.assembled = talk.send("And now?")
    assert "port 9090" in head(talk)


@pytest.mark.parametrize("change", ["delete", "correct", "conversation"])
def test_what_is_deleted_or_corrected_leaves_the_head_with_the_next_request(talk: Talk, change: str) -> None:
    ref = put_decision(talk, DECISION)
    other = put_decision(talk, "We decided to use port 9090.")
    talk.assembled = talk.send("Hello!")
    assert DECISION in head(talk)
    match change:
        case "delete":
            talk.memory.observations.delete(ref)
        case "correct":
            talk.memory.observations.correct(ref, clear("Keep Postgres"))
        case _:
            talk.memory.cold.delete_conversation(talk.memory.observations.find(ref).conversation_seq)
    talk.assembled = talk.send("And now?")
    assert DECISION not in head(talk)
    assert ("Keep Postgres" in head(talk)) == (change == "correct")
    assert other in head(talk)


def test_the_index_can_be_switched_off(workspace, clock) -> None:  # pyright: ignore -- fixtures
    talk = Talk(workspace, clock, observations=0)
    put_decision(talk, DECISION)
    talk.assembled = talk.send("Hello!")
    assert talk.assembled.report.observations is None
    talk.close()


def test_in_a_small_window_the_index_takes_a_tenth_of_the_working_set(small_talk: Talk) -> None:
    for number in range(40):
        put_decision(small_talk, f"We decided to use port {9000 + number} for service number {number}.")
    small_talk.assembled = small_talk.send("Hello!")
    usage = small_talk.assembled.report.observations
    assert usage is None or usage.tokens <= 220


def test_a_message_that_needs_the_room_goes_without_the_index(talk: Talk) -> None:
    for number in range(9):
        put_decision(talk, f"We decided to use port {9000 + number} for service {number}.")
    talk.assembled = talk.send("Hello!")
    usage = talk.assembled.report.observations
    assert usage is not None
    free = talk.assembled.report.budget - talk.assembled.report.total_tokens
    text = "word " * ((free + usage.tokens // 2) * 1_000 // Estimate().count("word " * 1_000))
    preview = talk.preview(text)
    assert preview.report.total_tokens <= preview.report.budget
    assert preview.report.observations is None
    assert preview.epoch_changed == NO_ROOM


def test_a_reduced_result_says_what_its_observation_does(talk: Talk) -> None:
    conversation = talk.memory.conversations.new()
    call = {"id": "call_1", "name": "run_command", "arguments": '{"command": "pytest -q"}'}
    asks = EntryDraft(
        conversation=conversation.seq,
        parent=None,
        kind=EntryKind.MESSAGE,
        role=Role.ASSISTANT,
        text=clear(""),
        meta=cleared_fields({"tool_calls": [call], "reason": "tool_calls"}),
    )
    output = "[exit 1 after 2 s]\n" + "...\n" * 99 + "E       assert 120 == 121\n1 failed, 3 passed in 1.2s\n"
    gives = EntryDraft(
        conversation=conversation.seq,
        parent=talk.memory.conversations.append(asks).seq,
        kind=EntryKind.TOOL_RESULT,
        role=Role.TOOL,
        speaker=clear("run_command"),
        text=clear(output),
        meta=cleared_fields({"call_id": "call_1"}),
    )
    entry = talk.memory.conversations.append(gives)
    plain = reductions_of([entry], lambda entry: entry.text or "")[entry.seq]
    observe(talk)
    line = reductions_of([entry], lambda entry: entry.text or "", talk.memory.observations.of)[entry.seq]
    assert line == plain.partition(" It showed: ")[0] + (
        " It showed: pytest -q: E assert 120 == 121; exit 1; 1 failed, 3 passed in 1.2s]"
    )
    assert Estimate().count(line) <= 100
