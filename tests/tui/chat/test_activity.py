"""The status line of a server that is slow: never stalled while it computes its prompt."""

import asyncio
from typing import Any

from agent.events import ContextReady, ModelConnected, Prefill, TextDelta
from tests.tui.fakes import REPORT
from tui.chat.activity import SILENT_S, STALL_S, Activity
from tui.widgets.status import StatusBar


class Time:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_long_batch_of_a_prompt_is_no_stall() -> None:
    clock, status = Time(), StatusBar()
    activity = Activity(status, clock)
    activity.show("reading", "512 of 1.9k", gap=" ", left=lambda: "about 40 s left")
    clock.now += SILENT_S - 1
    activity.tick()
    assert (status.info.doing, status.info.seconds) == ("reading 512 of 1.9k · about 40 s left · Esc stops", 0)
    activity.show("reading", "1.0k of 1.9k", gap=" ", left=str)
    clock.now += 23
    activity.tick()
    assert (status.info.doing, status.info.seconds) == ("reading 1.0k of 1.9k · Esc stops", int(SILENT_S) + 22)
    clock.now += SILENT_S
    activity.tick()
    assert status.info.doing == "reading 1.0k of 1.9k · no response for 5 min 23 s · Esc stops"


def test_an_answer_that_stops_is_stalled() -> None:
    clock, status = Time(), StatusBar()
    activity = Activity(status, clock)
    activity.show("answering", may_stall=True)
    clock.now += STALL_S - 1
    activity.tick()
    assert "stalled" not in status.info.doing
    clock.now += 1
    activity.tick()
    assert status.info.doing == "answering · stalled 30 s · Esc stops"


async def test_reading_is_shown_from_the_request_to_the_first_word(open_chat: Any) -> None:
    ready, read, word = asyncio.Event(), asyncio.Event(), asyncio.Event()
    request = ContextReady(REPORT, unread=1_900, tokens_per_second=1.0)
    events = [request, ModelConnected(), ready, Prefill(500, 1_900), read, Prefill(1_900, 1_900), word, TextDelta("x")]
    async with open_chat(answers=lambda _: events) as chat:
        await chat.say("go")
        await chat.until(lambda: "waiting for the first words · about 1.9k tokens · Esc stops" in chat.seen[-1])
        ready.set()
        await chat.until(lambda: "reading 500 of 1.9k · about 24 min left · Esc stops" in chat.seen[-1])
        read.set()
        await chat.until(lambda: "waiting for the first words · Esc stops" in chat.seen[-1])
        word.set()
        await chat.quiet()
