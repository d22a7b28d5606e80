"""The context meter shows what the next request will hold."""

import asyncio
from types import SimpleNamespace
from typing import Any

from msgspec.structs import replace

from tests.tui.fakes import REPORT, FakeSession, answer
from tui.widgets.status import fit_line

LONG = "Hansen comes in May. 汉森五月来 🗓 " * 400


def meter(chat: Any) -> str:
    return fit_line(chat.screen.status.info, 200)[0]


async def test_a_stored_answer_counts_at_once_and_then_exactly(open_chat: Any) -> None:
    session = FakeSession(lambda _: answer(LONG, chunk=500))
    counting = asyncio.Event()

    async def counted(text: str = "") -> Any:
        await counting.wait()
        return replace(REPORT, total_tokens=9_000)

    session.context_report = counted  # type: ignore[method-assign]  # a slow store
    async with open_chat(session=session, size=(200, 50)) as chat:
        await chat.say("When?")
        await chat.quiet()
        assert chat.screen.status.info.tokens == REPORT.total_tokens + len(LONG) // 4
        counting.set()
        await chat.until(lambda: "context 87.9 % (9.0k/10.2k)" in meter(chat))


async def test_figures_that_were_read_before_a_newer_request_are_dropped(open_chat: Any) -> None:
    first, holds = asyncio.Event(), asyncio.Event()
    session = FakeSession(lambda text: [*answer("Yes.")[:3], holds] if text == "two" else answer("Yes."))
    reports = [replace(REPORT, total_tokens=9_000)]

    async def counted(text: str = "") -> Any:
        await first.wait()
        return reports[0]

    session.context_report = counted  # type: ignore[method-assign]  # a slow store
    async with open_chat(session=session, size=(200, 50)) as chat:
        await chat.say("one")
        await chat.quiet()
        await chat.say("two")
        await chat.until(lambda: chat.screen.status.info.tokens == REPORT.total_tokens)
        first.set()
        await chat.pilot.pause()
        assert chat.screen.status.info.tokens == REPORT.total_tokens
        holds.set()
        await chat.quiet()


async def test_a_resumed_conversation_shows_its_meter_at_once(open_chat: Any) -> None:
    session = FakeSession(lambda _: answer("Yes."))

    async def latest() -> Any:
        session.conversation = SimpleNamespace(id="c_1", title="House")
        return session.conversation

    session.resume_latest = latest  # type: ignore[attr-defined]  # as the store would
    async with open_chat(session=session, size=(200, 50), latest=True) as chat:
        await chat.until(lambda: "context 42.0 % (4.3k/10.2k)" in meter(chat))
        assert session.sent == []
