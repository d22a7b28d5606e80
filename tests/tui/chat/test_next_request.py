"""The context meter shows what the next request will hold."""

import asyncio
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from foundation.paths import Workspace
from models.settings import ModelSettings
from tests.agent.sessions import open_session
from tests.loopback import Loopback, json_reply
from tests.loopback import chat as reply
from tests.paths import ROOT
from tests.tui.conftest import Open
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


async def test_the_meter_shows_the_window_of_a_model_that_is_chosen(
    open_chat: Open, workspace: Workspace, tmp_path: Path
) -> None:
    with Loopback() as server:
        server.answers("/props", json_reply({"default_generation_settings": {"n_ctx": 16_384}}))
        session = open_session(workspace, tmp_path)
        async with open_chat(session=session, size=(120, 30)) as chat:
            await chat.say("The zebra is called Otto.")
            await chat.quiet()
            await chat.say(f"/model openai:coder@{server.address}")
            await chat.until(lambda: "/12.3k)" in meter(chat))


async def test_the_meter_is_read_again_once_another_process_has_changed_the_memory(
    open_chat: Open, workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.chat.background.PERIOD", 0.05)
    session = open_session(workspace, tmp_path)
    reads: list[int] = []
    preview = session.preview_request

    async def counted(*asked: Any) -> Any:
        reads.append(1)
        return await preview(*asked)

    async with open_chat(session=session, size=(120, 30)) as chat:
        await chat.say("The zebra is called Otto.")
        await chat.quiet()
        await asyncio.sleep(1)  # what the chat itself wrote is over
        monkeypatch.setattr(session, "preview_request", counted)
        await asyncio.sleep(0.5)
        assert reads == [], "nothing changed"
        words = ("-m", "tui.main", "--workspace", str(workspace.root), "-p", "Anything?", "--model", "offline")
        done = await asyncio.to_thread(subprocess.run, [sys.executable, *words], capture_output=True, cwd=ROOT)
        assert done.returncode == 0, done.stderr
        await chat.until(lambda: reads)
        await asyncio.sleep(1)
        assert len(reads) < 4, "reading changes nothing"
        reads.clear()
        (workspace.root / "MEMORY.md").write_text("- By hand.\n", encoding="utf-8")
        await chat.until(lambda: reads)


async def test_a_compaction_that_was_stopped_is_in_no_figure(
    open_chat: Open, workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = " ".join(f"Jar {number} holds {number * 7 % 90} grams of glaze number {number}." for number in range(210))
    with Loopback() as server:
        for _ in range(6):  # observations of what was said are asked for, too
            server.plays(reply(text))
        session = open_session(workspace, tmp_path, server, models=ModelSettings(window=8_192, retries=0))
        async with open_chat(session=session, size=(120, 30)) as chat:
            await chat.say("fill")
            await chat.quiet()
            await chat.say("again")
            await chat.quiet()
            assemble, goes_on = session.context.assemble, threading.Event()

            def held_up(*asked: Any, **how: Any) -> Any:
                made = assemble(*asked, **how)
                goes_on.wait(20)
                return made

            monkeypatch.setattr(session.context, "assemble", held_up)
            await chat.say("hi again 你好")
            await chat.until(lambda: "searching memory" in chat.seen[-1])
            await chat.press("escape")
            goes_on.set()
            await chat.quiet()
            await chat.until(lambda: "compacts with the next message" in chat.seen[-1])
            sent = await session.preview_request()
            archive = await session.compaction.preview()
            assert sent.compaction is not None and archive is not None
            figures = (sent.compaction.plan.unchanged, sent.report.total_tokens)
            assert figures == (sent.report.before_compaction, sent.compaction.after)
            assert figures == (archive.tokens_before, archive.tokens_after)
            assert chat.screen.status.info.tokens == sent.report.before_compaction
            await chat.say("/context")
            await chat.until(
                lambda: any(f"{figures[0]:,} now, compacts with the next message" in line for line in chat.seen)
            )
