"""The tree screen: rows, keys, sizes. The memory is real."""

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from rich.cells import cell_len
from textual.widgets import Input, OptionList

from agent.services.conversation_tree import read_tree, set_pruned, set_turn_label
from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import clear
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from models.messages import Role
from tests.tui.fakes import FakeSession, answer
from tui.tree.screen import TreeScreen

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long

BEGAN = datetime(2026, 3, 14, 9, 26, tzinfo=UTC)
TURNS = ["The harbour faces north.", "锅炉每年五月保养 🙂 and no end of it " * 6, "Which oil?", "A storm."]


@pytest.fixture
def memory(workspace: Workspace) -> Iterator[Memory]:
    opened = Memory.open(workspace, SystemClock())
    yield opened
    opened.close()


def said(memory: Memory, count: int = 0) -> int:
    """harbour → boiler → oil, and from harbour another branch: storm; or a line of so many turns. Gives its seq."""
    conversation = memory.conversations.new(clear("House"))
    parents = {0: None, 1: 0, 2: 1, 3: 0}
    seqs: list[int] = []
    texts = [f"Question number {number} on the boiler" for number in range(count)] or TURNS
    for number, text in enumerate(texts):
        above = number - 1 if count else parents[number]
        moment = BEGAN + timedelta(hours=9 * number)
        parent = seqs[above] if above is not None and above >= 0 else None
        entry = memory.conversations.append(draft(conversation.seq, parent, Role.USER, text, moment))
        seqs.append(memory.conversations.append(draft(conversation.seq, entry.seq, Role.ASSISTANT, "Yes.", moment)).seq)
    return conversation.seq


def draft(conversation: int, parent: int | None, role: Role, text: str, moment: datetime) -> EntryDraft:
    return EntryDraft(
        conversation=conversation, parent=parent, kind=EntryKind.MESSAGE, role=role, text=clear(text), time=moment
    )


@asynccontextmanager
async def looking(open_chat: Any, memory: Memory, seq: int, **more: Any) -> AsyncIterator[Any]:
    async def load() -> Any:
        return read_tree(memory, memory.conversations.at(seq), lambda _: {})

    async def run(line: str) -> str:
        _, verb, turn, *rest = line.split(" ", 3)
        if verb == "prune":
            tree = await load()
            set_pruned(memory, seq, turn, pruned=not tree.turns[turn].is_pruned)
        else:
            set_turn_label(memory, seq, turn, "".join(rest))
        return "done"

    async with open_chat(session=FakeSession(lambda text: answer(text)), **more) as chat:
        chosen: list[str | None] = []
        chat.app.push_screen(TreeScreen(load, run), chosen.append)
        await chat.until(lambda: isinstance(chat.app.screen, TreeScreen) and chat.app.screen.rows)
        await chat.pilot.pause()
        chat.chosen = chosen
        yield chat


def seen(chat: Any) -> str:
    return "\n".join(chat.seen)


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_rows_fit_the_screen_and_say_without_colour_where_it_stands(
    open_chat: Any, memory: Memory, size: tuple[int, int]
) -> None:
    async with looking(open_chat, memory, said(memory), size=size) as chat:
        text = seen(chat)
        assert "├╴○" in text
        assert "◆" in text
        assert "锅炉每年五月保养" in text
        assert "4 turns" in text
        assert all(cell_len(line) <= size[0] for line in chat.seen)
        assert "tokens" in text
        assert "Esc back" in text


async def test_keys_choose_go_branch_and_compare(open_chat: Any, memory: Memory) -> None:
    seq = said(memory)
    tree = read_tree(memory, memory.conversations.at(seq), lambda _: {})
    harbour, boiler, oil, storm = tree.turns
    async with looking(open_chat, memory, seq) as chat:
        assert chat.app.screen.chosen.id == storm
        await chat.press("up")
        assert chat.app.screen.chosen.id == oil
        await chat.press("pageup")
        assert chat.app.screen.chosen.id == harbour
        await chat.press("enter")
        await chat.until(lambda: chat.chosen)
        assert chat.chosen == [f"/tree go {harbour}"]
    async with looking(open_chat, memory, seq) as chat:
        await chat.press("c", "up", "c")
        await chat.until(lambda: chat.chosen)
        assert chat.chosen == [f"/tree compare {storm} {oil}"]
    async with looking(open_chat, memory, seq) as chat:
        await chat.press("up", "up", "b")
        await chat.until(lambda: chat.chosen)
        assert chat.chosen == [f"/branch {boiler}"]


async def test_a_label_is_typed_and_a_branch_is_pruned_and_shown_again(open_chat: Any, memory: Memory) -> None:
    seq = said(memory)
    async with looking(open_chat, memory, seq) as chat:
        await chat.press("l")
        await chat.press(*"bpl", "enter")  # letters of commands are letters here
        await chat.until(lambda: "[bpl]" in seen(chat))
        assert not chat.app.screen.query_one("#tree-label", Input).display
        await chat.press("p")  # the current branch
        await chat.until(lambda: "cannot be pruned" in seen(chat))
        await chat.press("up", "up", "p")
        await chat.until(lambda: "2 pruned hidden" in seen(chat))
        assert "Which oil" not in seen(chat)
        await chat.press("h")
        await chat.until(lambda: "2 pruned shown" in seen(chat))
        assert "Which oil" in seen(chat)
        await chat.press("l", "escape")
        assert isinstance(chat.app.screen, TreeScreen)
        await chat.press("escape")
        await chat.until(lambda: chat.chosen == [None])


async def test_a_thousand_turns_open_and_move_without_delay(open_chat: Any, memory: Memory) -> None:
    seq = said(memory, 1000)
    began = time.process_time()
    async with looking(open_chat, memory, seq, size=(120, 40)) as chat:
        opened = time.process_time() - began
        assert chat.app.screen.query_one(OptionList).option_count > 1000
        began = time.process_time()
        await chat.press(*["pageup"] * 20)
        moved = time.process_time() - began
        assert "Question number 799" in seen(chat)
        assert opened < 5  # 0.4 CPU s where this was written, with the app itself
        assert moved < 5
