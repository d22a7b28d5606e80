"""What another device forgot goes here, too, and does not come later."""

from pathlib import Path

from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import clear
from memory.forget.foreign import ForeignTombstones
from memory.forget.job import Forgetting
from memory.forgotten.tombstones import ForgottenName
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from models.messages import Role
from tests.memory.forget.bytes_of import places_of


def test_an_entry_of_that_token_is_forgotten_and_its_token_is_kept(workspace: Workspace, tmp_path: Path) -> None:
    memory = Memory.open(workspace, SystemClock())
    conversation = memory.conversations.new()
    draft = EntryDraft(
        conversation=conversation.seq,
        parent=None,
        kind=EntryKind.MESSAGE,
        role=Role.USER,
        text=clear("The code of the cellar door is zqbluefin-7731, as the locksmith told me."),
    )
    entry = memory.conversations.append(draft)
    here, later = ForgottenName("", conversation.id, entry.id), ForgottenName("", "c_far", "e_far")
    foreign = ForeignTombstones(memory, Forgetting(memory, SystemClock()))
    job = foreign.forget([here.token, later.token], 1_700_000_000_000)
    assert job is not None
    assert job.receipt is not None
    assert job.receipt.found == ()
    assert foreign.tokens() == {here.token, later.token}
    assert foreign.forget([here.token, later.token], 1) is None
    assert memory.conversations.tombstones.has(later)
    memory.close()
    assert places_of(workspace.root, ["zqbluefin"]) == {}
