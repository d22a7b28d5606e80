"""Laws: what an audit lists is never dropped, and what the working set reduces comes back to the letter."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from context.compaction.audit import AuditFailed, AuditSources, audit
from foundation.paths import Workspace
from memory.observations.observation import identifiers
from memory.records import EntryKind
from memory.search import Query, SearchResults
from models.messages import Role, ToolResult
from tests.context.conversation import Talk
from tests.examples import examples
from tests.fakes import FakeClock

pytestmark = pytest.mark.timeout(120)  # by the wall clock: a busy machine takes ten times as long

FACTS = st.sampled_from(
    [
        "port {n}417",
        "src/part_{n}.py",
        "https://example.org/{n}",
        "build_{n}_id",
        "v{n}.4.1",
        "flag --level-{n}",
        "€{n}20",
    ]
)
SENTENCES = st.sampled_from(
    [
        "The value is {fact}.",
        "We decided to keep {fact}.",
        "Don't forget {fact} before Friday.",
        "Which of them has {fact}?",
        "我们决定使用 {fact}。",
        "Fine.",
    ]
)
SAID = st.lists(st.tuples(SENTENCES, FACTS, st.booleans(), st.booleans()), min_size=1, max_size=8)


def _finds_nothing(query: Query) -> SearchResults:
    return SearchResults(query=query.text, hits=(), took_ms=0, total=0, likelihood=0.0)


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=SAID, room=st.integers(0, 600))
def test_what_an_audit_lists_is_in_the_summary_or_indexed_or_carried_or_cancels(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[str, str, bool, bool]], room: int
) -> None:
    """Each turn: a sentence, a fact in it, whether the summary has it, and whether the index has its entry."""
    talk = Talk(Workspace(tmp_path_factory.mktemp("law")), FakeClock())
    try:
        texts = [sentence.format(fact=fact.format(n=n)) for n, (sentence, fact, _, _) in enumerate(said)]
        for text in texts:
            talk.send("Go on.", text)
        answers = [entry for entry in talk.memory.conversations.path(talk.leaf or 0) if entry.role is Role.ASSISTANT]
        answers.reverse()
        indexed = {entry.seq for entry, (_, _, _, has) in zip(answers, said, strict=True) if has}
        summary = "\n".join(text for text, (_, _, has, _) in zip(texts, said, strict=True) if has)
        sources = AuditSources(answers, lambda entry: entry.text or "", indexed, _finds_nothing)
        found = audit(sources, summary, lambda lines: len(lines) <= room)
        kept = "\n".join([summary, *found.carried])
        missing = [
            token
            for entry in answers
            if entry.seq not in indexed
            for token in identifiers(entry.text or "")
            if token not in kept
        ]
        assert all(any(token in line for line in found.lost) for token in missing)
        assert len("\n".join(found.carried)) <= room
        if missing:
            with pytest.raises(AuditFailed):
                found.require()
    finally:
        talk.close()


@settings(max_examples=examples(3), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(outputs=st.lists(st.tuples(st.integers(1, 400), SENTENCES, FACTS), min_size=12, max_size=24))
def test_what_the_working_set_reduces_is_recalled_to_the_letter(
    tmp_path_factory: pytest.TempPathFactory, outputs: list[tuple[int, str, str]]
) -> None:
    """Outputs: lines, and a sentence with a fact that each of them has."""
    talk = Talk(
        Workspace(tmp_path_factory.mktemp("law")), FakeClock(), window=32_768, working_tokens=8_000, recall=False
    )
    try:
        talk.send("Look at all of them.", None)
        whole: dict[str, str] = {}
        for n, (lines, sentence, fact) in enumerate(outputs):
            text = f"{n}: " + (sentence.format(fact=fact.format(n=n)) + "\n") * lines
            talk.call_tool(f"call_{n}", text)
            entry = talk.memory.cold.entry(talk.leaf or 0)
            assert entry.kind is EntryKind.TOOL_RESULT
            whole[entry.id] = text
            talk.go_on()
        assert talk.assembled is not None
        parts = [part for message in talk.assembled.request.messages for part in message.parts]
        shown = "\n".join(part.text for part in parts if isinstance(part, ToolResult))
        for item in talk.assembled.report.reduced:
            assert item.after <= item.before
            assert talk.memory.passage(talk.memory.cold.find(item.entry)).text == whole[item.entry]
            assert f"recall {item.entry}" in shown
    finally:
        talk.close()
