"""`/tree`: the conversation as a tree of turns, in real sessions."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.commands import registry
from agent.commands.results import CommandFailed, OpenPicker, SessionSwitched, ShowEntry, TextResult
from agent.commands.tree import MOST_HEADING, load_tree
from agent.services.conversation_tree import ConversationTree
from agent.session import Session
from context.settings import ContextSettings
from foundation.paths import Workspace
from tests.agent.conftest import Run
from tests.agent.sessions import calls, open_session, turn
from tests.loopback import Loopback, chat, varied


@pytest.fixture
async def session(workspace: Workspace, tmp_path: Path, server: Loopback) -> AsyncIterator[Session]:
    project = tmp_path / "project"
    project.mkdir()
    opened = open_session(
        workspace, tmp_path, server, project=(project,), context=ContextSettings(use_compression=True)
    )
    yield opened
    await opened.close()


async def branched(session: Session, server: Loopback) -> ConversationTree:
    """harbour → lamp (writes a file) → oil; and from harbour another branch: storm 🌊."""
    server.plays(chat("Noted."))
    await turn(session, "The harbour of Morwenna faces north.")
    server.plays(calls("write_file", path="lamp.txt", content="oil"), chat("Written."))
    await turn(session, "Write the lamp down.", permit=True)
    server.plays(chat("Whale oil, as in the log."))
    await turn(session, "Which oil does it burn?")
    tree = await load_tree(session)
    lamp = list(tree.turns.values())[1]
    await registry.run(session, f"/branch {lamp.id}")
    server.plays(chat("Noted."))
    await turn(session, "暴风雨来了 🌊: a storm comes.")
    return await load_tree(session)


async def test_turns_stand_under_their_days_with_what_they_took(session: Session, server: Loopback) -> None:
    tree = await branched(session, server)
    harbour, lamp, oil, storm = tree.turns.values()
    assert [turn.parent for turn in tree.turns.values()] == ["", harbour.id, lamp.id, harbour.id]
    assert [turn.is_current for turn in tree.turns.values()] == [True, False, False, True]
    assert storm.is_leaf
    assert lamp.files == ("lamp.txt",)
    assert lamp.entries == 4  # the message, a call, its result, the answer
    assert all(turn.tokens > 0 for turn in tree.turns.values())
    assert "harbour" in harbour.summary
    rows = tree.rows()
    assert rows[0].turn is None
    assert "4 turns" in rows[0].heading
    assert "1 file" in rows[0].heading
    drawn = [(row.turn.id, row.depth, row.begins) for row in rows if row.turn]
    assert drawn == [(harbour.id, 0, False), (lamp.id, 1, True), (oil.id, 1, False), (storm.id, 0, False)]


async def test_going_to_a_turn_shows_it_or_takes_its_branch(session: Session, server: Loopback) -> None:
    tree = await branched(session, server)
    harbour, lamp, oil, storm = tree.turns.values()
    assert await registry.run(session, f"/tree go {storm.id}") == ShowEntry(storm.seq)
    switched = await registry.run(session, f"/tree go {lamp.id}")
    assert isinstance(switched, SessionSwitched)
    assert switched.branch
    server.plays(chat("From the log."))
    await turn(session, "Where from?")
    messages = str(server.posts[-1].json["messages"])
    assert "Which oil does it burn?" in messages
    assert "a storm comes" not in messages
    now = await load_tree(session)
    assert now.turns[oil.id].is_current
    assert not now.turns[storm.id].is_current
    assert harbour.id in now.turns


async def test_labels_and_pruning_last_and_delete_nothing(session: Session, server: Loopback) -> None:
    tree = await branched(session, server)
    harbour, lamp, oil, _ = tree.turns.values()
    await registry.run(session, f"/tree label {harbour.id} the  beginning 起点")
    assert isinstance(await registry.run(session, f"/tree prune {harbour.id}"), CommandFailed)  # the current branch
    await registry.run(session, f"/tree prune {lamp.id}")
    assert session.conversation is not None
    await session.resume(session.conversation.id)
    tree = await load_tree(session)
    assert tree.turns[harbour.id].label == "the beginning 起点"
    shown = {row.turn.id for row in tree.rows() if row.turn}
    assert not shown & {lamp.id, oil.id}
    assert {row.turn.id for row in tree.rows(pruned=True) if row.turn} == tree.turns.keys()
    assert session.memory.conversations.find_entry(oil.id).text == "Which oil does it burn?"
    await registry.run(session, f"/tree prune {lamp.id}")
    await registry.run(session, f"/tree label {harbour.id}")
    tree = await load_tree(session)
    assert {row.turn.id for row in tree.rows() if row.turn} == tree.turns.keys()
    assert tree.turns[harbour.id].label == ""


async def test_two_branches_are_compared(session: Session, server: Loopback) -> None:
    tree = await branched(session, server)
    harbour, lamp, oil, storm = tree.turns.values()
    compared = await registry.run(session, f"/tree compare {lamp.id} {storm.id}")
    assert isinstance(compared, TextResult)
    assert "They share 1 turn, up to “The harbour of Morwenna faces north.”" in compared.markdown
    assert "**2 turns**" in compared.markdown
    assert "`lamp.txt`" in compared.markdown
    assert "no file changed" in compared.markdown
    same = await registry.run(session, f"/tree compare {harbour.id} {storm.id}")
    assert isinstance(same, TextResult)
    assert "same branch" in same.markdown
    for words in ("go e_nothing", "go", "sideways x", f"compare {oil.id}"):
        assert isinstance(await registry.run(session, f"/tree {words}"), CommandFailed)


async def test_the_tree_is_printed_without_a_screen(session: Session, server: Loopback) -> None:
    assert isinstance(await registry.run(session, "/tree"), CommandFailed)  # before the first message
    await branched(session, server)
    opened = await registry.run(session, "/tree")
    assert isinstance(opened, OpenPicker)
    printed = await opened.printed()
    assert isinstance(printed, TextResult)
    assert "├╴○" in printed.markdown
    assert "◆" in printed.markdown
    assert "暴风雨来了 🌊" in printed.markdown


def test_the_command_line_draws_the_tree(run: Run) -> None:
    run("-p", "The harbour faces north.")
    conversation = run("conversations", "list", "--json").json["conversations"][0]["id"]
    assert "◆" in run("conversations", "tree", conversation).out
    (only,) = run("conversations", "tree", conversation, "--json").json["turns"]
    assert only["text"] == "The harbour faces north."
    assert only["is_leaf"]


async def test_a_printed_day_takes_a_line(session: Session, server: Loopback) -> None:
    server.plays(
        chat(varied("The lamp of Morwenna burns whale oil, 12 litres a night, as its log of 1871 tells. ", 40))
    )
    await turn(session, "What does the log say about the lamp, the oil, the storm and the harbour?" * 8)
    outcome = await registry.run(session, "/tree")
    assert isinstance(outcome, OpenPicker)
    printed = await outcome.printed()
    assert isinstance(printed, TextResult)
    heading = printed.markdown.splitlines()[1]
    assert "1 turn · " in heading and heading.endswith("…") and len(heading) <= MOST_HEADING


def test_a_question_of_print_mode_is_listed_once_it_goes_on(run: Run) -> None:
    run("-p", "The harbour faces north.")
    assert "/resume" not in run("-p", "/resume").out.replace("1 of -p not shown", "")
    conversation = run("conversations", "list", "--json").json["conversations"][0]
    assert conversation["labels"] == ["one-shot"]
    run("-p", "And the lamp?", "-r", conversation["id"])
    assert conversation["id"] in run("-p", "/resume").out
