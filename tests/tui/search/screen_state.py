"""What the search on the screen is asked, and what it shows."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from textual.widgets import Input

from agent.session import Session
from foundation.privacy import clear
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from models.messages import Role
from tui.search.screen import SearchScreen

BEGAN = datetime(2026, 3, 14, 9, 26, tzinfo=UTC)
BOILER = "The boiler is serviced in May by Hansen. 锅炉每年五月保养。 🙂"
HARBOUR = "The harbour office moved to Quay 7."


def talk(memory: Memory, *texts: str, title: str = "House", parent: int | None = None, into: int = 0) -> list[Any]:
    """A conversation of Ann's, each message after the other; gives its entries."""
    conversation = into or memory.cold.new_conversation(clear(title)).seq
    entries: list[Any] = []
    for number, text in enumerate(texts):
        role = Role.ASSISTANT if number % 2 else Role.USER
        draft = EntryDraft(
            conversation=conversation,
            parent=parent,
            kind=EntryKind.MESSAGE,
            role=role,
            text=clear(text),
            speaker="" if number % 2 else "Ann",
            time=BEGAN + timedelta(minutes=number),
        )
        entries.append(memory.cold.append(draft))
        parent = entries[-1].seq
    return entries


@asynccontextmanager
async def searching(open_chat: Any, session: Session, query: str = "", **more: Any) -> AsyncIterator[Any]:
    async with open_chat(session=session, **more) as chat:
        await chat.insert(f"/search {query}".strip())
        await chat.press("escape", "enter")
        await chat.until(lambda: isinstance(chat.app.screen, SearchScreen))
        await answered(chat)
        yield chat


async def answered(chat: Any) -> None:
    await chat.until(lambda: chat.app.screen.is_up_to_date)


def seen(chat: Any) -> str:
    return "\n".join(chat.seen)


def flat(chat: Any) -> str:
    """The screen's words, however they were wrapped."""
    return " ".join(seen(chat).split())


async def field(chat: Any, text: str) -> None:
    """Puts this text into the field, as if it were typed."""
    chat.app.screen.query_one(Input).value = text
    await chat.until(lambda: chat.app.screen.query_text == text)
    await answered(chat)
