"""A vault over a real store, in a folder of its own."""

from collections.abc import Callable, Iterator

import pytest

from foundation.paths import Workspace
from memory.archive.vault import Vault
from memory.cold import ColdStore
from memory.records import Entry, EntryDraft, EntryKind
from models.messages import Role
from tests.fakes import FakeClock
from tests.memory.cold.drafts import FakeAnalyser, FakeTerms


class FewWords(FakeAnalyser):
    """Stores three words of a text, so that a test can look for the others in the file."""

    def __call__(self, text: str, speaker: str = "", meta: object = None, at: object = None, /) -> FakeTerms:
        return super().__call__(" ".join(text.split()[:3]), speaker, meta, at)


fake_analyse = FewWords()

Say = Callable[..., Entry]


@pytest.fixture
def cold(workspace: Workspace, clock: FakeClock) -> Iterator[ColdStore]:
    workspace.state.mkdir(mode=0o700)
    store = ColdStore.open(workspace.database, analyse=fake_analyse, clock=clock)
    yield store
    store.close()


@pytest.fixture
def vault(workspace: Workspace, cold: ColdStore, clock: FakeClock) -> Vault:
    return Vault(workspace.packs, workspace.page_cache, cold, clock)


@pytest.fixture
def say(cold: ColdStore, clock: FakeClock) -> Say:
    """Adds an entry to the one conversation of the test."""
    conversation = cold.new_conversation()

    def say(text: str, speaker: str = "Ann", role: Role = Role.USER) -> Entry:
        clock.advance(60)
        parent = cold.conversation_at(conversation.seq).leaf
        return cold.append(
            EntryDraft(
                conversation=conversation.seq,
                parent=parent,
                kind=EntryKind.MESSAGE,
                role=role,
                speaker=speaker,
                text=text,
            )
        )

    return say
