"""A picker over a real memory."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from foundation.clock import SystemClock
from foundation.paths import Workspace
from foundation.privacy import clear
from memory.memory import Memory
from memory.records import Conversation, EntryDraft, EntryKind
from memory.sync.renewal import LocationAccess
from models.messages import Role
from tests.tui.fakes import FakeSession, answer
from tui.picker.browser import PickerChoice, PickerSource
from tui.picker.screen import PickerScreen
from tui.picker.turns import TurnLevel

BEGAN = datetime(2026, 3, 14, 9, 26, tzinfo=UTC)
TURNS = ["The harbour faces north.", "锅炉每年五月保养 🙂 and no end of it " * 6, "Which oil?", "A storm."]
Say = Callable[..., Conversation]


@pytest.fixture
def memory(workspace: Workspace) -> Iterator[Memory]:
    opened = Memory.open(workspace, SystemClock())
    yield opened
    opened.close()


@pytest.fixture
def say(memory: Memory) -> Say:
    """`say(title, *texts, moment=…)`: a conversation of these messages, each with an answer."""

    def said(title: str, *texts: str, moment: datetime = BEGAN, reply: str = "Yes.") -> Conversation:
        stored = memory.conversations
        conversation = stored.open_imported([imported(title, moment)])[0]
        parent: int | None = None
        for number, text in enumerate(texts):
            at = moment + timedelta(minutes=number)
            parent = append(memory, conversation.seq, parent, Role.USER, text, at)
            parent = append(memory, conversation.seq, parent, Role.ASSISTANT, reply, at)
        return stored.at(conversation.seq)

    return said


def imported(title: str, moment: datetime) -> Any:
    from memory.conversations import ImportedConversation

    id_ = f"c_{abs(hash(title)):x}"[:14]
    return ImportedConversation(clear(""), clear(id_), clear(title), moment)


def append(memory: Memory, conversation: int, parent: int | None, role: Role, text: str, moment: datetime) -> int:
    draft = EntryDraft(
        conversation=conversation, parent=parent, kind=EntryKind.MESSAGE, role=role, text=clear(text), time=moment
    )
    return memory.conversations.append(draft).seq


@pytest.fixture
def harbour(memory: Memory, say: Say) -> Conversation:
    """harbour → boiler → oil, and from harbour another branch: storm."""
    conversation = say("House", TURNS[0])
    first = memory.conversations.at(conversation.seq).leaf
    boiler = append(memory, conversation.seq, first, Role.USER, TURNS[1], BEGAN + timedelta(hours=9))
    boiler = append(memory, conversation.seq, boiler, Role.ASSISTANT, "Yes.", BEGAN + timedelta(hours=9))
    oil = append(memory, conversation.seq, boiler, Role.USER, TURNS[2], BEGAN + timedelta(hours=18))
    append(memory, conversation.seq, oil, Role.ASSISTANT, "Yes.", BEGAN + timedelta(hours=18))
    storm = append(memory, conversation.seq, first, Role.USER, TURNS[3], BEGAN + timedelta(hours=27))
    append(memory, conversation.seq, storm, Role.ASSISTANT, "Yes.", BEGAN + timedelta(hours=27))
    return memory.conversations.at(conversation.seq)


Picking = Callable[..., AbstractAsyncContextManager[Any]]


@pytest.fixture
def picking(open_chat: Any, memory: Memory) -> Picking:
    """`async with picking(turns_of=…, opened=…) as chat`; `chat.chosen` has what the picker gave."""

    @asynccontextmanager
    async def opened_picker(
        *,
        turns_of: Conversation | None = None,
        opened: Conversation | None = None,
        rewrites: bool = False,
        query: str = "",
        is_answering: bool = False,
        locations: LocationAccess | None = None,
        **more: Any,
    ) -> AsyncIterator[Any]:
        async with open_chat(session=FakeSession(lambda text: answer(text)), **more) as chat:
            source = PickerSource(memory=memory, opened=opened, is_answering=lambda: is_answering, locations=locations)
            level = TurnLevel(memory, turns_of, rewrites=rewrites) if turns_of else None
            chosen: list[PickerChoice | None] = []
            picker = PickerScreen(source, level, query)
            chat.app.push_screen(picker, chosen.append)
            await chat.until(lambda: chat.app.screen is picker and picker.is_read)
            await chat.pilot.pause(0.2)
            chat.chosen, chat.picker = chosen, picker
            yield chat

    return opened_picker
