"""Two processes on one workspace: what one forgets the other one does not write back, and it waits where it must."""

import time
from pathlib import Path

import pytest

from agent.services.drafts import Drafts
from agent.services.forget import NotForgottenYet, finish_pending, forget, plan
from foundation.clock import SystemClock
from foundation.files import FileLock
from foundation.paths import Workspace
from foundation.privacy import clear
from memory.forgotten.guard import ForgottenWords
from memory.forgotten.journal import ForgetJournal
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from models.messages import Role
from tests.memory.forget.bytes_of import places_of
from tui.widgets.prompt.history import PromptHistory

pytestmark = pytest.mark.timeout(60)

WORDS = "the code is zqbluefin-7731"


def draft_of(memory: Memory, seq: int, parent: int | None, role: Role, text: str) -> EntryDraft:
    return EntryDraft(conversation=seq, parent=parent, kind=EntryKind.MESSAGE, role=role, text=clear(text))


def test_an_open_draft_a_late_prompt_and_a_late_version_do_not_bring_it_back(workspace: Workspace) -> None:
    ours, theirs = (Memory.open(workspace, SystemClock()) for _ in range(2))
    theirs.hot.remember(clear(WORDS))  # what it wrote itself it keeps when somebody replaces it
    theirs.hot.refresh()
    conversation = ours.conversations.new()
    ours.conversations.append(draft_of(ours, conversation.seq, None, Role.USER, WORDS))
    history = PromptHistory(workspace.prompt_history)
    history.remember(WORDS)
    Drafts(workspace.drafts).save(conversation.id, f"as I said: {WORDS}")

    forget(ours, plan(ours, named="zqbluefin"))
    Drafts(workspace.drafts).save(conversation.id, f"as I said: {WORDS}, and more")
    history.write()
    assert history.entries == ()
    theirs.hot.refresh()
    theirs.versions.seen("MEMORY.md", f"- {WORDS}\n")
    entry = theirs.conversations.first_entries(conversation.seq, 1)[0]
    theirs.mirrors.update(conversation.seq)
    assert theirs.passage(entry).text == "[forgotten]"
    theirs.search.update()
    ours.close()
    theirs.close()
    assert places_of(workspace.root, ["zqbluefin"]) == {}
    assert Drafts(workspace.drafts).load(conversation.id).text == "as I said: [forgotten], and more"


def test_what_is_said_again_later_is_kept(workspace: Workspace) -> None:
    memory = Memory.open(workspace, SystemClock())
    memory.hot.remember(clear(WORDS))
    forget(memory, plan(memory, named="zqbluefin"))
    later = ForgottenWords(workspace.forgotten, workspace.secret, since_ms=int(time.time() * 1000) + 1)
    assert memory.forgotten_words.holds(WORDS.encode())
    assert not later.holds(WORDS.encode())
    memory.close()


def test_an_answer_under_way_and_another_forgetting_are_waited_for(workspace: Workspace) -> None:
    memory = Memory.open(workspace, SystemClock())
    conversation = memory.conversations.new()
    said = memory.conversations.append(draft_of(memory, conversation.seq, None, Role.USER, WORDS))
    answer = memory.conversations.begin_answer(draft_of(memory, conversation.seq, said.seq, Role.ASSISTANT, ""))
    with pytest.raises(NotForgottenYet) as refused:
        forget(memory, plan(memory, named="zqbluefin"))
    assert refused.value.exit_status == 75
    answer.write(clear("Yes."))
    answer.finish(clear("Yes."))
    with _held(workspace.forgotten / "forget.lock"):
        assert finish_pending(memory).finished == 0
    assert ForgetJournal(workspace.forgotten).open_ids()
    assert finish_pending(memory).finished == 1
    memory.close()
    assert places_of(workspace.root, ["zqbluefin"]) == {}


def _held(path: Path) -> FileLock:
    return FileLock(path, timeout=0)
