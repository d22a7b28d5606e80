"""Undo is the inverse of a compaction: the request before it, byte for byte."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from foundation.errors import Misuse
from foundation.paths import Workspace
from memory.records import EntryKind
from models.chat.port import ImageRule
from models.messages import Request, Role
from tests.context.conversation import Talk, begins_with
from tests.examples import examples
from tests.fakes import FakeClock

pytestmark = pytest.mark.timeout(120)  # by the wall clock: a busy machine takes ten times as long


def fill(talk: Talk, turns: int, since: int = 0) -> None:
    for n in range(since, since + turns):
        talk.send(
            f"Question {n}: is CA12{n:02d} still on 2026-03-{n % 28 + 1:02d}?", f"Answer {n}: yes. " + "More. " * 40
        )


@pytest.fixture
def roomy_talk(workspace: Workspace, clock: FakeClock) -> Iterator[Talk]:
    """A window of 8,192 tokens with a working set of 2,000."""
    held = Talk(workspace, clock, working_tokens=2_000)
    yield held
    held.close()


def undo(talk: Talk) -> str:
    assert talk.conversation is not None
    return talk.context.undo_compaction(talk.conversation, talk.profile, talk.counter).text


def next_request(talk: Talk) -> Request:
    """What the next message would be sent with, but for the letters that each message draws anew."""
    return talk.preview("And now?").request


def sent_part(request: Request) -> Request:
    """Zones A to C: what stands before the message."""
    return Request(model=request.model, messages=request.messages[: request.zones[2]], zones=(0, 0, 0, 0))


def test_a_compaction_that_was_asked_for_is_undone_to_the_byte(talk: Talk) -> None:
    fill(talk, 12)
    before = next_request(talk)
    assert talk.compact() is not None
    assert sent_part(next_request(talk)) != sent_part(before)
    text = undo(talk)
    assert "older turns are back in the context" in text
    assert sent_part(next_request(talk)) == sent_part(before)
    talk.reopen()
    assert sent_part(next_request(talk)) == sent_part(before)


def test_undo_holds_until_the_window_is_full(roomy_talk: Talk) -> None:
    while not roomy_talk.receipts:
        fill(roomy_talk, 1, len(roomy_talk.receipts) + (roomy_talk.leaf or 0))
    assert roomy_talk.assembled is not None
    undo(roomy_talk)
    count = len(roomy_talk.receipts)
    roomy_talk.send("And then?")
    assert len(roomy_talk.receipts) == count  # above the working set, within the window
    for n in range(120):
        roomy_talk.send(f"Filling {n}.", "And some more words. " * 12)
    assert len(roomy_talk.receipts) > count


def test_an_automatic_compaction_is_undone_after_messages_were_sent(roomy_talk: Talk) -> None:
    sent: list[Request] = []
    n = 0
    while not roomy_talk.receipts:
        if roomy_talk.assembled is not None:
            sent.append(roomy_talk.assembled.request)
        fill(roomy_talk, 1, n)
        n += 1
    last = sent[-1]
    roomy_talk.send("What came after?", "This.")
    text = undo(roomy_talk)
    assert "The 3 messages since then follow them." in text
    after = next_request(roomy_talk)
    assert begins_with(after, last)
    texts = [message.text for message in after.messages]
    assert any("What came after?" in part for part in texts) and not any("palimpsest-summary" in part for part in texts)


def test_compactions_are_undone_one_after_the_other(talk: Talk) -> None:
    fill(talk, 12)
    first = next_request(talk)
    talk.compact()
    fill(talk, 6, 12)
    second = next_request(talk)
    talk.compact()
    undo(talk)
    assert sent_part(next_request(talk)) == sent_part(second)
    undo(talk)
    assert begins_with(next_request(talk), sent_part(first))
    with pytest.raises(Misuse, match="No turns of this branch were archived"):
        undo(talk)


def test_what_was_undone_can_be_archived_again(talk: Talk) -> None:
    fill(talk, 12)
    talk.compact()
    undo(talk)
    before = next_request(talk)
    receipt = talk.compact()
    assert receipt is not None and receipt.tokens_after < receipt.tokens_before
    undo(talk)
    assert sent_part(next_request(talk)) == sent_part(before)


def test_a_branch_from_before_the_undo_still_has_its_summary(talk: Talk) -> None:
    fill(talk, 12)
    talk.compact()
    assert talk.conversation is not None
    compacted, leaf = next_request(talk), talk.leaf
    undo(talk)
    fill(talk, 1, 12)
    talk.memory.conversations.set_leaf(talk.conversation.seq, leaf)
    request = next_request(talk)
    assert [message.text for message in sent_part(request).messages][1:2] != []
    assert len(request.messages) == len(compacted.messages)


def test_a_compaction_after_which_nothing_fits_is_not_undone(small_talk: Talk) -> None:
    small_talk.send("Hello.", "word " * 6000)
    small_talk.send("What was that?")
    with pytest.raises(Misuse, match="fit into the window"):
        undo(small_talk)


STEPS = st.lists(st.sampled_from(["turn", "tool", "compact", "reopen", "note"]), min_size=1, max_size=8)


@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, sees=st.booleans())
def test_undo_is_the_inverse_of_compaction(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str], sees: bool
) -> None:
    root: Path = tmp_path_factory.mktemp("undo")
    talk = Talk(Workspace(root), FakeClock())
    talk.profile = replace(talk.profile, images=ImageRule.QWEN2 if sees else ImageRule.NONE)
    try:
        fill(talk, 8)
        for n, step in enumerate(steps):
            match step:
                case "turn":
                    fill(talk, 2, 8 + 2 * n)
                case "tool":
                    talk.send(f"Look {n}.", None)
                    talk.call_tool(f"call_{n}", f"found {n}: " + "the harbour was mentioned " * 200)
                    talk.go_on(f"Seen {n}.")
                case "compact":
                    talk.compact()
                case "note":
                    talk.write("MEMORY.md", f"# Memory\n\n- The boiler is serviced in month {n}.\n")
                case _:
                    talk.reopen()
        fill(talk, 1, 50)
        before = sent_part(next_request(talk))
        if talk.compact() is not None:
            undo(talk)
            assert sent_part(next_request(talk)) == before
            talk.reopen()
            assert sent_part(next_request(talk)) == before
    finally:
        talk.close()


def test_the_entries_of_an_undo_are_marked(talk: Talk) -> None:
    fill(talk, 12)
    receipt = talk.compact()
    assert receipt is not None
    undo(talk)
    entry = talk.memory.cold.entry(talk.leaf or 0)
    assert entry.kind is EntryKind.SUMMARY and entry.role is Role.USER
    assert entry.meta["undoes"] == receipt.summary_seq
    assert not talk.memory.cold.check()
