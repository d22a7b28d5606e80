"""What was made of a forgotten entry goes by its lineage, also where it says the same in other words."""

from datetime import UTC, datetime

import pytest

from foundation.clock import SystemClock
from foundation.privacy import cleared_fields
from foundation.trust import Citation, Trust
from memory.errors import StorageUnreachable
from memory.forget.choice import choose_named
from memory.forget.job import Forgetting
from memory.forget.plan import plan_forgetting
from memory.memory import Memory
from memory.records import EntryKind
from models.cleared_parts import cleared_parts
from models.messages import RecalledSpan, Role
from tests.memory.forget.conftest import say

NOW = datetime(2026, 11, 1, tzinfo=UTC)


def forget(memory: Memory, name: str) -> Forgetting:
    forgetting = Forgetting(memory, SystemClock())
    job = forgetting.run(forgetting.begin(plan_forgetting(memory, choose_named(memory, name), NOW)))
    assert job.receipt is not None
    assert job.receipt.found == ()
    return forgetting


def test_observations_summaries_and_recalled_copies_go_and_what_remains_is_made_anew(memory: Memory) -> None:
    talk, other = memory.conversations.new().seq, memory.conversations.new().seq
    secret = say(memory, talk, "My sister Ottilie moves to Lisbon in spring, do not tell anybody.")
    stays = say(memory, talk, "The boiler is serviced in May.")
    note = say(
        memory,
        talk,
        "A relative goes south",
        kind=EntryKind.OBSERVATION,
        role=Role.ASSISTANT,
        parent=secret.seq,
        beside=True,
        meta=cleared_fields({"maker": "rules"}),
    )
    lines = f"Earlier (2 entries).\n- A sibling relocates. [{secret.id}]\n- Service in May. [{stays.id}]\nAll of it."
    covers = cleared_fields({"covers": [secret.seq, stays.seq], "first_kept": None, "prior": []})
    summary = say(memory, talk, lines, kind=EntryKind.SUMMARY, meta=covers)
    spans = tuple(
        RecalledSpan(text=text, citation=Citation(kind="entry", ref=of.id), trust=Trust.EXACT)
        for text, of in (("a sibling relocates", secret), ("service in May", stays))
    )
    recalled = say(memory, other, "What did I say?", sent=cleared_parts(spans))

    forget(memory, secret.id)

    assert memory.conversations.entries([note.seq]) == {}
    assert memory.conversations.entry(summary.seq).text == f"Earlier (2 entries).\n- Service in May. [{stays.id}]"
    texts = [span.text for span in memory.conversations.entry(recalled.seq).sent if isinstance(span, RecalledSpan)]
    assert texts == ["[forgotten]", "service in May"]
    assert memory.conversations.entry(stays.seq).text == "The boiler is serviced in May."
    assert memory.cold.check() == []


def test_an_entry_that_says_a_part_by_itself_stays_and_is_named(memory: Memory) -> None:
    talk, other = memory.conversations.new().seq, memory.conversations.new().seq
    said = "The annual assembly of the owners is on the second Tuesday."
    twice = say(memory, talk, f"{said}\nAnd the code is zqbluefin-7731.")
    stays = say(memory, other, said)
    plan = plan_forgetting(memory, choose_named(memory, twice.id), NOW)
    assert plan.also_said == (stays.id,)
    forget(memory, twice.id)
    assert memory.conversations.entry(stays.seq).text == said


def test_pages_out_of_reach_keep_the_job_open(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    talk = memory.conversations.new().seq
    secret = say(memory, talk, "The code of the cellar door is zqbluefin-7731, as the locksmith told me.")
    memory.vault.archive_entries([secret], label="away")
    forgetting = Forgetting(memory, SystemClock())
    plan = plan_forgetting(memory, choose_named(memory, secret.id), NOW)

    def unreachable(*_: object) -> bytes:
        raise StorageUnreachable("Out of reach", "The packs do not answer.")

    with monkeypatch.context() as offline:
        offline.setattr(type(memory.vault.storage), "read", unreachable, raising=False)
        offline.setattr(memory.vault.page_reader, "png", unreachable)
        memory.passages.clear()
        with pytest.raises(StorageUnreachable):
            forgetting.run(forgetting.begin(plan))
    assert forgetting.journal.open_ids() == [plan.job.id]
    (job,) = forgetting.finish_open()
    assert job.receipt is not None
    assert job.receipt.found == ()
    assert memory.vault.pages() == []
