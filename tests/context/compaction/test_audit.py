"""Nothing is lost by a compaction: the user's words, the files touched, decisions, and names."""

import json
from collections.abc import Callable, Iterator, Mapping

import msgspec
import pytest

from context.compaction.audit import AuditFailed, AuditSources, audit
from context.compaction.projection import ProjectedCompaction
from context.errors import UselessCompaction
from foundation.paths import Workspace
from memory.observations.rules import RulesMaker
from memory.observations.store import RULES_CURSOR, StoredObservation
from memory.records import EntryKind
from memory.search import Query, SearchResults
from models.messages import Role
from tests.context.conversation import Talk
from tests.fakes import FakeClock

pytestmark = pytest.mark.timeout(120)  # by the wall clock: a busy machine takes ten times as long


@pytest.fixture
def roomy_talk(workspace: Workspace, clock: FakeClock) -> Iterator[Talk]:
    """A window of 32,768 tokens with a working set of 8,000."""
    held = Talk(workspace, clock, window=32_768, working_tokens=8_000)
    yield held
    held.close()


def call_file(talk: Talk, number: int, name: str, path: str, *, failed: bool = False) -> None:
    arguments = json.dumps({"path": path})
    talk.append(Role.ASSISTANT, "", meta={"tool_calls": [{"id": f"c{number}", "name": name, "arguments": arguments}]})
    meta = {"call_id": f"c{number}", "name": name, "failed": failed}
    talk.append(Role.TOOL, f"Contents of {path}. " * 60, kind=EntryKind.TOOL_RESULT, meta=meta, speaker=name)


def work(talk: Talk, first: int, files: int) -> None:
    """A turn whose calls read files, and change every third."""
    talk.send(f"Please look at part {first} and keep port {9000 + first} free.", None)
    for n in range(first, first + files):
        call_file(talk, n, "edit_file" if n % 3 == 0 else "read_file", f"src/part/file_{n:03d}.py", failed=n % 10 == 7)
    talk.go_on(f"Part {first} is done.")


def test_the_files_touched_are_exact_and_survive_the_joining_of_summaries(roomy_talk: Talk) -> None:
    for first in range(0, 120, 6):
        work(roomy_talk, first, 6)
    roomy_talk.receipts.append(receipt) if (receipt := roomy_talk.compact()) else None
    assert len(roomy_talk.receipts) >= 2
    view = roomy_talk.context.state.history.view(roomy_talk.leaf, 1_000_000)
    fields = [summary.meta["files"] for summary in view.summaries if "files" in summary.meta]
    changed = {path for field in fields for path in field["changed"]}
    read = {path for field in fields for path in field["read"]}
    left = max(int(path[-6:-3]) for path in changed | read)
    numbers = [n for n in range(left + 1) if n % 10 != 7]
    assert changed == {f"src/part/file_{n:03d}.py" for n in numbers if n % 3 == 0}
    assert read == {f"src/part/file_{n:03d}.py" for n in numbers if n % 3}
    assert any("Files changed: src/part/{file_" in (summary.text or "") for summary in view.summaries)


def test_the_users_own_words_stay_word_for_word(roomy_talk: Talk) -> None:
    said: list[str] = []
    while len(roomy_talk.receipts) < 3:
        said.append(
            f"Message {len(said)}: the boiler stays at {len(said) + 40} degrees, whatever else changes.\nSecond line."
        )
        roomy_talk.send(said[-1], "Understood. " + "More of this and that was said here. " * 60)
    view = roomy_talk.context.state.history.view(roomy_talk.leaf, 1_000_000)
    held = "\n".join(entry.text or "" for entry in (*view.summaries, *view.entries))
    assert all(text in held for text in said)


def test_a_reminder_that_no_search_finds_is_carried_word_for_word(talk: Talk) -> None:
    talk.send("Hello.", "Don't forget the blue key under the third stone.")
    entry = talk.memory.cold.entry(talk.leaf or 0)
    sources = AuditSources([entry], lambda e: e.text or "", {entry.seq}, _finds_nothing)
    found = audit(sources, "Earlier.", lambda _: True)
    assert found.searched == 1 and "blue key under the third stone" in found.carried[0] and entry.id in found.carried[0]
    sources = AuditSources([entry], lambda e: e.text or "", {entry.seq}, talk.memory.search.query)
    assert audit(sources, "Earlier.", lambda _: True).carried == ()  # the real search finds it


def test_what_can_neither_be_carried_nor_recalled_fails_the_audit(talk: Talk) -> None:
    talk.send("Hello.", "The build id is 7f3a9c21 and the port is 8417.")
    entry = talk.memory.cold.entry(talk.leaf or 0)
    sources = AuditSources([entry], lambda e: e.text or "", (), _finds_nothing)
    carried = audit(sources, "Earlier: port 8417.", lambda _: True)
    assert "7f3a9c21" in carried.carried[0] and "8417" not in carried.carried[0] and not carried.lost
    with pytest.raises(AuditFailed, match="7f3a9c21"):
        audit(sources, "Earlier.", lambda _: False).require()


def observe(talk: Talk) -> None:
    observations, maker = talk.memory.observations, RulesMaker()
    while (batch := observations.batch(RULES_CURSOR, 32)) is not None:
        observations.store(batch, maker.make(batch.originals, batch.known), maker.name, RULES_CURSOR)


def test_what_an_observation_holds_that_a_search_brings_is_found(talk: Talk) -> None:
    talk.send("Hello.", "I fixed net/http.py, the build id is 7f3a9c21.")
    observe(talk)
    entry = talk.memory.cold.entry(talk.leaf or 0)
    observed = talk.memory.observations.of([entry.seq])
    assert entry.seq in observed

    def found(search: Callable[[Query], SearchResults], held: Mapping[int, StoredObservation]) -> bool:
        sources = AuditSources([entry], lambda e: e.text or "", (), search, held)
        return not audit(sources, "Earlier.", lambda _: False).lost

    assert found(talk.memory.search.query, observed)
    assert not found(talk.memory.search.query, {})
    assert not found(_finds_nothing, observed)
    talk.memory.observations.delete(observed[entry.seq].id)
    assert not found(talk.memory.search.query, observed)  # it lives no more


def test_an_open_question_is_carried_until_it_is_answered(talk: Talk) -> None:
    question = "Which database should the importer write to?"
    talk.send("Fix it.", f"Done. {question}")
    aside = "By the way, the header of the billing page is too large and has a wrong colour; make it smaller and blue."
    talk.send(aside, "It is smaller.")
    entries = [*talk.memory.conversations.all_entries(talk.conversation.seq)] if talk.conversation else []
    sources = AuditSources(entries[:3], lambda e: e.text or "", {e.seq for e in entries}, talk.memory.search.query)
    (line,) = audit(sources, "Earlier.", lambda _: True).carried
    assert line == f"- Open question to the user: {question} [{entries[1].id}]"
    assert audit(sources, f"Earlier. {question}", lambda _: True).carried == ()
    later = AuditSources(entries[3:], lambda e: e.text or "", {e.seq for e in entries}, talk.memory.search.query)
    assert line in audit(later, "Earlier.", lambda _: True, [line]).carried  # a summary that replaces this one has it
    talk.send("The importer should write to the database of the archive.", "Good.")
    later = msgspec.structs.replace(later, kept=[talk.memory.cold.entry((talk.leaf or 0) - 1)])
    assert audit(later, "Earlier.", lambda _: True, [line]).carried == ()


def test_a_compaction_carries_the_open_question(talk: Talk) -> None:
    question = "Which database should the importer write to, Postgres or the archive?"
    talk.send("Fix the importer.", f"It reads the files now. {question}")
    number = 0
    while not talk.receipts:
        number += 1
        figures = " ".join(f"Boiler {number * n} in Ulm-{n}{number} costs €{number * 37 + n}." for n in range(2, 22))
        talk.send(f"Tell me of the boilers of part {number}: their price, their place and their number. " * 2, figures)
    summary = talk.memory.cold.entry(talk.receipts[0].summary_seq)
    assert f"- Open question to the user: {question} [" in (summary.text or "")


def test_a_failed_audit_archives_nothing(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(12):
        talk.send(f"Question {n}.", " ".join(f"id-{n}x{m}" for m in range(60)))
    leaf = talk.leaf
    monkeypatch.setattr(talk.context.state.conversations, "recallable", lambda _: frozenset[int]())
    monkeypatch.setattr("context.compaction.projection.CARRY_SHARE", 0.0)
    with pytest.raises(AuditFailed, match="would be lost"):
        talk.compact()
    assert talk.leaf == leaf and not talk.memory.vault.archives()


def test_a_compaction_that_would_not_shrink_the_request_is_refused(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(12):
        talk.send(f"Question {n}.", "And more words. " * 60)
    leaf = talk.leaf
    monkeypatch.setattr(ProjectedCompaction, "after", property(lambda self: self.plan.before))
    with pytest.raises(UselessCompaction, match="would not get smaller"):
        talk.compact()
    assert talk.leaf == leaf and not talk.memory.vault.archives()


def _finds_nothing(query: Query) -> SearchResults:
    return SearchResults(query=query.text, hits=(), took_ms=0, total=0, likelihood=0.0)
