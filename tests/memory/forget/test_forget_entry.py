"""An entry that is forgotten by its id is gone from every byte of the workspace, and the receipt says so."""

from datetime import UTC, datetime

from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import clear
from memory.forget.choice import choose_named
from memory.forget.job import Forgetting
from memory.forget.plan import plan_forgetting
from memory.memory import Memory
from models.messages import Role
from tests.memory.forget.bytes_of import places_of
from tests.memory.forget.conftest import say

NOW = datetime(2026, 11, 1, tzinfo=UTC)
SECRET = "The code of the cellar door is zqbluefin-7731, as the locksmith told me."
STAYS = "The boiler was serviced in May by the same firm as last year."


def test_it_is_gone_from_every_byte_and_what_stays_is_whole(memory: Memory, workspace: Workspace) -> None:
    conversation = memory.conversations.new(clear("The code of the cellar door is zqbluefin-7731, as the…"))
    secret = say(memory, conversation.seq, SECRET)
    say(memory, conversation.seq, "Noted: the code of the cellar door is zqbluefin-7731.", role=Role.ASSISTANT)
    stays = say(memory, conversation.seq, STAYS)
    memory.mirrors.update(conversation.seq)
    memory.search.update()
    assert places_of(workspace.root, ["zqbluefin"])

    plan = plan_forgetting(memory, choose_named(memory, secret.id), NOW)
    assert [entry.id for entry in plan.entries] == [secret.id]
    forgetting = Forgetting(memory, SystemClock())
    job = forgetting.run(forgetting.begin(plan))

    assert job.receipt is not None
    assert job.receipt.found == ()
    assert job.receipt.finished_ms
    assert job.receipt.places > 5
    assert places_of(workspace.root, ["zqbluefin"]) == {}
    assert memory.conversations.entry(stays.seq).text == STAYS
    assert memory.conversations.entry(secret.seq).text == "[forgotten]"
    assert not memory.cold.check()
    assert forgetting.journal.open_ids() == []
