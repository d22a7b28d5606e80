"""Observations in a real store: off the branch, made once, found, and deleted with what they are of."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foundation.errors import Misuse
from foundation.paths import Workspace
from foundation.privacy import clear, cleared_fields
from memory.errors import NotFound
from memory.memory import Memory
from memory.observations.observation import Importance, Observation
from memory.observations.rules import RulesMaker
from memory.observations.store import MODEL_CURSOR, RULES_CURSOR, StoredObservation
from memory.origin import DERIVED_FROM, UNTRUSTED
from memory.records import Conversation, Entry, EntryDraft, EntryKind
from memory.search import Query
from models.messages import Role
from tests.examples import examples
from tests.fakes import FakeClock

DECISION = "We decided to keep SQLite for the queue of jobs."


@pytest.fixture
def memory(workspace: Workspace, clock: FakeClock) -> Iterator[Memory]:
    opened = Memory.open(workspace, clock)
    yield opened
    opened.close()


def put(
    memory: Memory,
    conversation: Conversation,
    text: str,
    *,
    role: Role = Role.USER,
    kind: EntryKind = EntryKind.MESSAGE,
    speaker: str = "",
    **meta: Any,
) -> Entry:
    leaf = memory.conversations.at(conversation.seq).leaf
    return memory.conversations.append(
        EntryDraft(
            conversation=conversation.seq,
            parent=leaf,
            kind=kind,
            role=role,
            speaker=clear(speaker),
            text=clear(text),
            meta=cleared_fields(meta),
        )
    )


def put_result(memory: Memory, conversation: Conversation, tool: str, text: str, arguments: str, **meta: Any) -> Entry:
    """The answer that calls the tool, and its result."""
    call = {"id": "call_1", "name": tool, "arguments": arguments}
    put(memory, conversation, "", role=Role.ASSISTANT, tool_calls=[call], reason="tool_calls")
    return put(
        memory, conversation, text, role=Role.TOOL, kind=EntryKind.TOOL_RESULT, speaker=tool, call_id="call_1", **meta
    )


def observe_all(memory: Memory, batch: int = 32) -> list[StoredObservation]:
    made: list[StoredObservation] = []
    maker = RulesMaker()
    while (next_ := memory.observations.batch(RULES_CURSOR, batch)) is not None:
        made += memory.observations.store(next_, maker.make(next_.originals, next_.known), maker.name, RULES_CURSOR)
    return made


def test_an_observation_is_below_its_original_and_on_no_branch(memory: Memory) -> None:
    conversation = memory.conversations.new()
    said = put(memory, conversation, DECISION)
    answer = put(memory, conversation, "Good.", role=Role.ASSISTANT)
    before = memory.conversations.at(conversation.seq)
    (made,) = observe_all(memory)
    after = memory.conversations.at(conversation.seq)
    assert (after.leaf, after.updated) == (before.leaf, before.updated) == (answer.seq, before.updated)
    assert made.original == said.seq
    assert [entry.seq for entry in memory.conversations.path(answer.seq)] == [answer.seq, said.seq]
    assert [entry.seq for entry in memory.conversations.neighbours(said.seq, 0, 5)] == [said.seq, answer.seq]
    assert memory.conversations.entry(made.seq).meta[DERIVED_FROM] == [said.id]


def test_the_call_and_the_question_of_a_result_are_named_as_sources(memory: Memory) -> None:
    conversation = memory.conversations.new()
    question = put(memory, conversation, "Run the tests.")
    output = "[exit 1 after 1 s]\nE       assert 120 == 121\n1 failed in 0.1s\n"
    result = put_result(memory, conversation, "run_command", output, '{"command": "pytest"}')
    (made,) = observe_all(memory)
    call = memory.conversations.entry(result.parent or 0)
    assert made.observation.sources == (result.id, call.id, question.id)
    assert (made.observation.subject, made.observation.narrative) == ("pytest", "Run the tests.")


def test_of_each_branch_the_question_is_its_own(memory: Memory) -> None:
    conversation = memory.conversations.new()
    for number in range(3):
        question = put(memory, conversation, f"Question {number}: run it again.")
        put_result(memory, conversation, "run_command", f"[exit 1 after 1 s]\nError: {number}\n", '{"command": "make"}')
        (made,) = observe_all(memory)
        assert question.id in made.observation.sources


DERIVED: list[dict[str, Any]] = [
    {"role": Role.ASSISTANT, "derived_from": ["e_1"]},
    {"role": Role.ASSISTANT, "speaker": "offline"},
    {"role": Role.USER, "derived_from": ["e_1"]},
    {"role": Role.TOOL, "kind": EntryKind.TOOL_RESULT, "speaker": "recall"},
    {"role": Role.TOOL, "kind": EntryKind.TOOL_RESULT, "speaker": "memory_search"},
    {"role": Role.TOOL, "kind": EntryKind.TOOL_RESULT, "speaker": "read_file", "derived_from": ["e_1"]},
    {"role": Role.ASSISTANT, "kind": EntryKind.SUMMARY},
    {"role": Role.ASSISTANT, "kind": EntryKind.OBSERVATION},
    {"role": Role.ASSISTANT, "kind": EntryKind.TOOL_CALL},
    {"role": Role.TOOL, "kind": EntryKind.TOOL_RESULT, "speaker": "fetch_url"},
    {"role": Role.TOOL, "kind": EntryKind.TOOL_RESULT, "speaker": "server__ask_user"},
    {"role": Role.TOOL, "kind": EntryKind.TOOL_RESULT, "speaker": "run_command", UNTRUSTED: "a page"},
]


@given(st.lists(st.sampled_from([*DERIVED, {"role": Role.USER}]), max_size=12))
@settings(max_examples=examples(40), deadline=None)
def test_derived_and_untrusted_text_never_becomes_an_observation(
    tmp_path_factory: pytest.TempPathFactory, entries: list[dict[str, Any]]
) -> None:
    memory = Memory.open(Workspace(tmp_path_factory.mktemp("w")), FakeClock())
    try:
        conversation = memory.conversations.new()
        own: set[int] = set()
        for number, fields in enumerate(entries):
            stored = put(memory, conversation, f"[exit 1 after 1 s]\nWe decided to use port {9000 + number}.", **fields)
            if fields == {"role": Role.USER}:
                own.add(stored.seq)
        made = observe_all(memory)
        assert {item.original for item in made} == own
        assert observe_all(memory) == []
    finally:
        memory.close()


@given(
    st.lists(
        st.sampled_from([DECISION, "Hello.", "We decided to use port 9090.", "Never push on Friday."]), max_size=9
    ),
    st.integers(1, 5),
)
@settings(max_examples=examples(25), deadline=None)
def test_making_twice_gives_nothing_new(tmp_path_factory: pytest.TempPathFactory, texts: list[str], batch: int) -> None:
    memory = Memory.open(Workspace(tmp_path_factory.mktemp("w")), FakeClock())
    try:
        conversation = memory.conversations.new()
        for text in texts:
            put(memory, conversation, text)
        first = observe_all(memory, batch)
        assert len(first) == len({text for text in texts if text != "Hello."})
        assert observe_all(memory, batch) == []
        assert not memory.observations.is_due(RULES_CURSOR)
        assert len(memory.observations.newest(100)) == len(first)
    finally:
        memory.close()


def test_two_processes_that_made_the_same_batch_store_it_once(memory: Memory) -> None:
    put(memory, memory.conversations.new(), DECISION)
    batch = memory.observations.batch(RULES_CURSOR, 32)
    assert batch is not None
    made = RulesMaker().make(batch.originals, {})
    stored: list[list[StoredObservation]] = []
    threads = [
        threading.Thread(target=lambda: stored.append(memory.observations.store(batch, made, "rules", RULES_CURSOR)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(len, stored)) == [0, 0, 0, 1]
    assert len(memory.observations.newest(9)) == 1


def test_an_observation_that_names_what_its_original_does_not_is_left_out(memory: Memory) -> None:
    said = put(memory, memory.conversations.new(), DECISION)
    batch = memory.observations.batch(RULES_CURSOR, 32)
    assert batch is not None
    lie = Observation(
        type="decision",
        title="Port 9090 was chosen",
        importance=Importance.DECISION,
        sources=(said.id,),
        original_tokens=9,
    )
    made = {said.seq: lie}
    assert memory.observations.store(batch, made, "a model", RULES_CURSOR) == []
    assert not memory.observations.is_due(RULES_CURSOR)


def test_an_entry_that_is_being_written_is_waited_for(memory: Memory) -> None:
    conversation = memory.conversations.new()
    answer = memory.conversations.begin_answer(
        EntryDraft(
            conversation=conversation.seq, parent=None, kind=EntryKind.MESSAGE, role=Role.ASSISTANT, text=clear("")
        )
    )
    put(memory, conversation, DECISION)
    assert not memory.observations.is_due(RULES_CURSOR)
    answer.finish(clear("I fixed src/http.py because it was slow."))
    assert [item.observation.title for item in observe_all(memory)] == [
        "I fixed src/http.py because it was slow.",
        DECISION,
    ]


def test_what_was_imported_and_what_was_delegated_is_left_alone(memory: Memory) -> None:
    imported = memory.cold.new_conversation(source=clear("chatgpt"), id=clear("x"))
    put(memory, imported, DECISION)
    put(memory, memory.conversations.new(kind="delegate"), DECISION)
    assert not memory.observations.is_due(RULES_CURSOR)


def test_observations_are_found_by_kind_type_concept_and_file_and_never_beside_their_originals(memory: Memory) -> None:
    conversation = memory.conversations.new()
    put(memory, conversation, DECISION)
    arguments = '{"path": "src/http.py", "old": "LIMIT = 5", "new": "LIMIT = 7"}'
    put_result(memory, conversation, "edit_file", "src/http.py: 1 replacement at line 3.", arguments)
    made = {item.observation.type: item.id for item in observe_all(memory)}

    def found(**filters: Any) -> list[str]:
        return [hit.id for hit in memory.search.query(Query(**filters)).hits]

    assert sorted(found(kinds=("observation",))) == sorted(made.values())
    assert found(text="SQLite", kinds=("observation",))[0] == made["decision"]
    assert found(text="queue", types=("decision",)) == [made["decision"]]
    assert made["change"] in found(concepts=("what-changed",))
    assert made["change"] in found(text="limit", files=("http.py",))
    assert not set(found(text="SQLite queue jobs")) & set(made.values())
    assert not set(found()) & set(made.values())


def test_recall_brings_the_detail_and_its_sources_bring_the_original(memory: Memory) -> None:
    said = put(memory, memory.conversations.new(), DECISION)
    (made,) = observe_all(memory)
    (detail,) = memory.recall(made.id)
    assert detail.text == f"{DECISION}\nFrom: {said.id}"
    (exact,) = memory.recall(made.observation.sources[0])
    assert exact.text == DECISION


def test_a_correction_longer_than_an_observation_may_be_is_refused(memory: Memory) -> None:
    put(memory, memory.conversations.new(), DECISION)
    (made,) = observe_all(memory)
    with pytest.raises(Misuse, match="the limit is 500"):
        memory.observations.correct(made.id, clear("long " * 20_000))
    assert memory.observations.find(made.id) == made


def test_a_corrected_observation_keeps_its_id_and_is_not_made_again(memory: Memory) -> None:
    put(memory, memory.conversations.new(), DECISION)
    (made,) = observe_all(memory)
    corrected = memory.observations.correct(made.id, clear("Keep Postgres\n- port 5432"))
    assert (corrected.id, corrected.corrected, corrected.original) == (made.id, True, made.original)
    assert (corrected.observation.title, corrected.observation.facts) == ("Keep Postgres", ("port 5432",))
    assert corrected.observation.type == "decision"
    assert memory.observations.find(made.id) == corrected
    hits = memory.search.query(Query(text="Postgres", kinds=("observation",))).hits
    assert [hit.id for hit in hits] == [made.id]
    batch = memory.observations.batch(RULES_CURSOR, 32)
    assert batch is None


def test_a_deleted_observation_is_gone_and_its_original_is_not(memory: Memory) -> None:
    said = put(memory, memory.conversations.new(), DECISION)
    (made,) = observe_all(memory)
    memory.observations.delete(made.id)
    assert memory.observations.newest(9) == []
    assert memory.search.query(Query(kinds=("observation",))).hits == ()
    assert memory.conversations.entry(said.seq).text == DECISION
    assert observe_all(memory) == []
    with pytest.raises(NotFound):
        memory.observations.find(said.id)


def test_observations_are_deleted_with_their_conversation(memory: Memory, workspace: Workspace) -> None:
    conversation = memory.conversations.new()
    put(memory, conversation, "We decided to call it Quetzalcoatl-77.")
    assert len(observe_all(memory)) == 1
    memory.cold.delete_conversation(conversation.seq)
    memory.search.update()
    assert memory.observations.newest(9) == []
    files = [path for path in Path(workspace.own).rglob("*") if path.is_file()]
    assert not any(b"Quetzalcoatl" in path.read_bytes() for path in files)


def test_private_text_is_in_no_observation(memory: Memory) -> None:
    put(memory, memory.conversations.new(), "We decided to use port 9090. <private>We decided to use 4711.</private>")
    (made,) = observe_all(memory)
    assert "4711" not in made.observation.text


def test_an_original_whose_text_went_to_the_archive_is_read_from_its_pages(memory: Memory) -> None:
    conversation = memory.conversations.new()
    said = put(memory, conversation, DECISION)
    memory.vault.archive_entries([said], label="old")
    assert memory.conversations.entry(said.seq).text is None
    assert [item.observation.title for item in observe_all(memory)] == [DECISION]


def test_an_observation_stays_where_its_conversation_is_archived_by_age(memory: Memory, clock: FakeClock) -> None:
    talk = memory.conversations.new()
    put(memory, talk, DECISION)
    (made,) = observe_all(memory)
    (overdue,) = memory.vault.overdue.conversations(clock.now() + timedelta(days=1))
    memory.vault.overdue.archive_conversation(overdue, label="jobs", most=2**20)
    assert memory.conversations.entry(made.seq).text, "it is not on a page"
    assert (memory.observations.newest(5), memory.observations.find(made.id)) == ([made], made)


def test_one_that_an_earlier_release_archived_is_read_from_its_page(memory: Memory) -> None:
    put(memory, memory.conversations.new(), DECISION)
    (made,) = observe_all(memory)
    memory.vault.archive_entries([memory.conversations.entry(made.seq)], label="jobs")
    assert memory.conversations.entry(made.seq).text is None
    assert (memory.observations.newest(5), memory.observations.find(made.id)) == ([made], made)


def test_the_rules_do_not_replace_what_a_model_made(memory: Memory) -> None:
    conversation = memory.conversations.new()
    put(memory, conversation, DECISION)
    batch = memory.observations.batch(MODEL_CURSOR, 9)
    assert batch is not None
    made = RulesMaker().make(batch.originals, batch.known)
    memory.observations.store(batch, made, "openai:m", MODEL_CURSOR)
    assert observe_all(memory) == []
    assert [item.maker for item in memory.observations.newest(9)] == ["openai:m"]
