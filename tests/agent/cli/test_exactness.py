"""What is called exact was compared with its hash: recall, search, an answer and the library agree on what is not."""

import json
from pathlib import Path

import apsw
import pytest

from agent.services.recall import describe, recall
from foundation.paths import Workspace
from foundation.privacy import clear
from foundation.trust import Citation, Trust
from memory.cold.sql import fetch, run
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from memory.search import Query
from models.messages import RecalledSpan, Role
from tests.agent.conftest import Run
from tests.fakes import FakeClock

ACCOUNT = "The account of the boiler firm is 11112222, to be paid in May."
LONG = "The ferry to Bornholm leaves at 09:40 from quay 7. " * 60


def stored(workspace: Workspace, text: str, **rest: object) -> str:
    memory = Memory.open(workspace, FakeClock())
    conversation = memory.cold.new_conversation(clear("House"))
    draft = EntryDraft(
        conversation=conversation.seq, parent=None, kind=EntryKind.MESSAGE, role=Role.USER, text=clear(text), **rest
    )
    entry = memory.cold.append(draft)
    memory.close()
    return entry.id


def changed(workspace: Workspace, sql: str, values: tuple[object, ...] = ()) -> None:
    """By another program."""
    other = apsw.Connection(str(workspace.database))
    run(other, sql, values)
    other.close()


FORGED = "UPDATE entries SET body = CAST(replace(CAST(body AS TEXT), '11112222', '99998888') AS BLOB)"


@pytest.fixture
def forged(workspace: Workspace) -> str:
    id_ = stored(workspace, ACCOUNT)
    changed(workspace, FORGED)
    return id_


def test_a_text_that_was_changed_in_the_store_is_never_exact(workspace: Workspace, forged: str) -> None:
    memory = Memory.open(workspace, FakeClock())
    (by_id,) = recall(memory, forged).hits
    (by_question,) = recall(memory, "boiler firm account").hits
    (found,) = memory.search.query(Query(text="boiler firm account")).hits
    (whole,) = memory.recall(forged)
    assert "99998888" in by_id.text
    assert {by_id.trust, by_question.trust, found.trust, whole.trust} == {Trust.APPROXIMATE}
    assert "its SHA-256 differs" in by_id.warnings[0]
    assert by_question.warnings == by_id.warnings
    assert describe(by_id) == "approximate, from the store"
    memory.close()


def test_an_answer_and_its_request_call_it_approximate(run: Run, root: Path) -> None:
    stored(Workspace(root), ACCOUNT)
    sound = run("-p", "boiler firm account", "--output-format", "json").json
    assert [part["trust"] for part in sound["recalled"]] == ["exact"]
    changed(Workspace(root), FORGED)
    request = run("context", "boiler firm account", "--json").json
    assert 'trust=\\"approximate\\"' in json.dumps(request)
    assert 'trust=\\"exact\\"' not in json.dumps(request)
    answer = run("-p", "what is the boiler firm account", "--output-format", "json").json
    assert [part["trust"] for part in answer["recalled"] if "9999" in part["text"]] == ["approximate"]
    shown = run("recall", "boiler firm account")
    assert "its SHA-256 differs" in shown.err


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE entries SET speaker = 'Eve'",
        "UPDATE entries SET time_ms = time_ms + 86400000",
        "UPDATE entries SET id = 'e_another'",
        "UPDATE entries SET role = 'assistant'",
    ],
)
def test_who_said_it_and_when_is_part_of_what_is_exact(workspace: Workspace, sql: str) -> None:
    stored(workspace, ACCOUNT, speaker="Ann")
    changed(workspace, sql)
    memory = Memory.open(workspace, FakeClock())
    (hit,) = recall(memory, "boiler firm account").hits
    assert (hit.trust, hit.text) == (Trust.APPROXIMATE, ACCOUNT)
    assert "Its row is damaged:" in hit.warnings[0]
    memory.close()


def test_what_was_recalled_into_a_damaged_message_is_no_longer_exact(workspace: Workspace) -> None:
    part = RecalledSpan("The boat is red.", Citation(kind="entry", ref="e_1"), Trust.EXACT)
    id_ = stored(workspace, ACCOUNT, sent=(part,))
    memory = Memory.open(workspace, FakeClock())
    assert memory.cold.find(id_).sent == (part,)
    changed(workspace, "UPDATE entries SET sent = CAST(replace(CAST(sent AS TEXT), 'red', 'rad') AS BLOB)")
    (damaged,) = memory.cold.find(id_).sent
    assert isinstance(damaged, RecalledSpan)
    assert (damaged.text, damaged.trust) == ("The boat is rad.", Trust.APPROXIMATE)
    memory.close()


def test_a_frame_with_a_flipped_bit_is_refused_by_its_checksum(workspace: Workspace) -> None:
    id_ = stored(workspace, LONG)
    memory = Memory.open(workspace, FakeClock())
    ((body, packed),) = memory.cold.read(lambda db: fetch(db, "SELECT body, packed FROM entries"))
    assert (packed, body[4] & 4) == (1, 4)  # the frame header's checksum flag
    for at in range(0, len(body) * 8, 7):
        flipped = bytearray(body)
        flipped[at // 8] ^= 1 << at % 8
        memory.cold.write(lambda db, flipped=flipped: run(db, "UPDATE entries SET body = ?", (bytes(flipped),)))
        entry = memory.cold.find(id_)
        assert entry.text is None or entry.trust is Trust.APPROXIMATE or entry.text == LONG
    memory.close()
