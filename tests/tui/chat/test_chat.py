"""A conversation on the screen: messages, answers, stopping, waiting, leaving."""

import asyncio
from pathlib import Path
from typing import Any

from msgspec import structs

from agent.commands.results import Choice, Choices, Copy, TextResult
from agent.events import (
    Compacted,
    ContextReady,
    Notice,
    Prefill,
    ReasoningDelta,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnFailed,
)
from context.compaction.compact import CompactionReceipt
from models.chat.port import Profile
from models.messages import ToolCall
from tests.tui.fakes import RECALLED, REPORT, FakeSession, answer
from tui.dialogs.choices import ChoicesScreen


async def test_a_message_is_answered(open_chat: Any) -> None:
    async with open_chat() as chat:
        await chat.say("hello")
        await chat.quiet()
        assert "❯ hello" in chat.lines
        assert "◆ You said hello." in chat.lines
        assert chat.screen.status.info.tokens == REPORT.total_tokens


async def test_what_was_recalled_stands_under_the_answer_with_its_trust(open_chat: Any) -> None:
    async with open_chat(answers=lambda _: answer("In May.", recalled=RECALLED)) as chat:
        await chat.say("when?")
        await chat.quiet()
        assert "  recalled  [House · Ann · 2026-03-14 · e_4kx7] exact" in chat.lines
        assert "            [保修单 · 2026-03-14 · pg_19ab] verified" in chat.lines


async def test_a_superseded_passage_says_so_and_wrapped_lines_stand_under_it(open_chat: Any) -> None:
    old = structs.replace(RECALLED[0], superseded="2026-05-01", likelihood=0.47, off_branch=True)
    async with open_chat(answers=lambda _: answer("In May.", recalled=(old, RECALLED[1]))) as chat:
        await chat.say("when?")
        await chat.quiet()
        first = chat.lines.index("  recalled  [House · Ann · 2026-03-14 · e_4kx7] exact · superseded on")
        assert chat.lines[first + 1] == " " * 12 + "2026-05-01 · on a branch that was left"


async def test_text_after_a_tool_result_stands_apart_from_it(open_chat: Any) -> None:
    call = ToolCall("call_1", "search_memory", "{}")
    tool = [ToolStarted(call, "search memory for “key”"), ToolFinished(call, "", 31, failed=False, entry="e_3")]
    events = answer("Let me look.")
    async with open_chat(answers=lambda _: [*events[:-2], *tool, TextDelta("In the tin."), *events[-2:]]) as chat:
        await chat.say("where?")
        await chat.quiet()
        row = chat.lines.index("    ✓ 31 characters")
        assert chat.lines[row - 1] == "  ▸ search memory for “key”"
        assert [line.strip() for line in chat.lines[row + 1 : row + 3]] == ["", "◆ In the tin."]


async def test_an_answer_streams_into_view_while_the_person_types(open_chat: Any) -> None:
    hold = asyncio.Event()
    events = answer("The first words. And the rest.")
    async with open_chat(answers=lambda _: [*events[:5], hold, *events[5:]]) as chat:
        await chat.say("go")
        await chat.until(lambda: "The first" in chat.text)
        await chat.type("next")
        assert chat.screen.prompt.text == "next"
        hold.set()
        await chat.quiet()
        assert "◆ The first words. And the rest." in chat.lines
        assert chat.screen.prompt.text == "next"


async def test_escape_stops_the_answer_and_keeps_what_came(open_chat: Any) -> None:
    events = answer("Some words that go on.")
    async with open_chat(answers=lambda _: [*events[:6], asyncio.Event()]) as chat:
        await chat.say("go")
        await chat.until(lambda: "Some words" in chat.text)
        await chat.press("escape")
        await chat.quiet()
        assert "stopped; the partial answer is saved" in chat.text


async def test_a_message_sent_while_it_answers_waits_its_turn(open_chat: Any) -> None:
    hold = asyncio.Event()
    async with open_chat(answers=lambda text: [*([hold] if text == "one" else []), *answer(f"re {text}")]) as chat:
        await chat.say("one")
        await chat.until(lambda: chat.screen.queue.busy)
        await chat.say("two")
        assert any("queued: two" in line for line in chat.seen)
        assert "1 waiting" in chat.seen[-1]
        hold.set()
        await chat.quiet()
        assert [sent[0] for sent in chat.session.sent] == ["one", "two"]


async def test_stopping_gives_what_waits_back_unsent(open_chat: Any) -> None:
    async with open_chat(answers=lambda _: [asyncio.Event()]) as chat:
        await chat.say("one")
        await chat.until(lambda: chat.screen.queue.busy)
        await chat.say("two")
        await chat.press("escape")
        await chat.quiet()
        assert chat.screen.prompt.text == "two"
        assert [sent[0] for sent in chat.session.sent] == ["one"]


async def test_a_failed_turn_is_one_panel_and_the_chat_goes_on(open_chat: Any) -> None:
    failed = TurnFailed("refused", "No answer", "127.0.0.1:8080 refused the connection.", "Start the server.")
    async with open_chat(answers=lambda text: [failed] if text == "one" else answer("Now.")) as chat:
        await chat.say("one")
        await chat.quiet()
        assert chat.lines[-3:] == [
            "▌ No answer",
            "▌ 127.0.0.1:8080 refused the connection.",
            "▌ Start the server.",
        ]
        await chat.say("two")
        await chat.quiet()
        assert "◆ Now." in chat.lines


async def test_a_defect_in_a_turn_is_told_and_the_chat_goes_on(open_chat: Any) -> None:
    def broken(text: str) -> list[Any]:
        if text == "one":
            raise ZeroDivisionError("a secret [value]")
        return answer("Now.")

    async with open_chat(answers=broken) as chat:
        await chat.say("one")
        await chat.quiet()
        assert "▌ A bug in Palimpsest" in chat.lines
        await chat.say("two")
        await chat.quiet()
        assert "◆ Now." in chat.lines


async def test_receipts_and_notices_are_quiet_lines(open_chat: Any) -> None:
    receipt = CompactionReceipt(text="Archived 4 older turns on 2 pages. Request: 5,120 → 1,900 tokens.", entries=8)
    events = [Notice("info", "AGENTS.md was read again."), Compacted(receipt), *answer("Yes.")]
    async with open_chat(answers=lambda _: events) as chat:
        await chat.say("go")
        await chat.quiet()
        assert "  AGENTS.md was read again." in chat.lines
        assert f"  ▸ {receipt.text}" in chat.lines


async def test_reading_the_prompt_and_thinking_show_in_the_status(open_chat: Any) -> None:
    hold, later = asyncio.Event(), asyncio.Event()
    events = [ContextReady(REPORT), Prefill(1_200, 4_000), hold, ReasoningDelta("hm " * 500), later, TextDelta("x")]
    async with open_chat(answers=lambda _: events) as chat:
        await chat.say("go")
        await chat.until(lambda: "reading 1.2k of 4.0k · Esc stops" in chat.seen[-1])
        hold.set()
        await chat.until(lambda: "thinking · 1.5k characters" in chat.seen[-1])
        later.set()
        await chat.quiet()


async def test_a_command_shows_what_it_answers(open_chat: Any, monkeypatch: Any) -> None:
    async def run(_session: Any, line: str) -> Any:
        return TextResult(f"**{line}** | done")

    monkeypatch.setattr("agent.commands.registry.run", run)
    async with open_chat() as chat:
        await chat.say("/recall boiler")
        await chat.quiet()
        assert "  /recall boiler | done" in chat.lines


async def test_a_list_is_narrowed_and_picked_from(open_chat: Any, monkeypatch: Any) -> None:
    asked: list[str] = []

    async def run(_session: Any, line: str) -> Any:
        asked.append(line)
        picks = (Choice("c_1", "Trip", "2026-03-14"), Choice("c_2", "The boiler [x]", "锅炉"))
        return Choices("Conversations", picks, "/resume") if line == "/resume" else TextResult("Taken up.")

    monkeypatch.setattr("agent.commands.registry.run", run)
    async with open_chat() as chat:
        await chat.type("/resume")
        await chat.press("enter")
        await chat.until(lambda: isinstance(chat.app.screen, ChoicesScreen))
        assert any("The boiler [x]" in line for line in chat.seen)
        await chat.type("boil")
        await chat.press("enter")
        await chat.quiet()
        assert asked == ["/resume", "/resume c_2"]


async def test_leaving_a_list_does_nothing(open_chat: Any, monkeypatch: Any) -> None:
    async def run(_session: Any, line: str) -> Any:
        return Choices("Models", (Choice("a", "a"),), "/model")

    monkeypatch.setattr("agent.commands.registry.run", run)
    async with open_chat() as chat:
        await chat.say("/model")
        await chat.until(lambda: isinstance(chat.app.screen, ChoicesScreen))
        await chat.press("escape")
        await chat.quiet()
        assert chat.app.screen is chat.screen


async def test_copy_goes_to_the_clipboard_to_the_letter(open_chat: Any, monkeypatch: Any) -> None:
    async def run(_session: Any, line: str) -> Any:
        return Copy("a\tb ", "the answer")

    monkeypatch.setattr("agent.commands.registry.run", run)
    async with open_chat() as chat:
        await chat.say("/copy")
        await chat.quiet()
        assert chat.app.clipboard == "a\tb "
        await chat.until(lambda: "Copied the answer." in chat.seen[-1])  # covers no output
        assert not chat.app.screen.query("Toast")


async def test_a_path_is_a_message_and_no_command(open_chat: Any) -> None:
    async with open_chat() as chat:
        await chat.say("/usr/bin/env is a path")
        await chat.quiet()
        assert chat.session.sent[0][0] == "/usr/bin/env is a path"


async def test_a_mentioned_file_goes_with_the_message(open_chat: Any, tmp_path: Path) -> None:
    (tmp_path / "plan.txt").write_text("a plan")
    async with open_chat() as chat:
        await chat.say("see @plan.txt, and @nothing.txt")
        await chat.quiet()
        assert chat.session.sent == [("see @plan.txt, and @nothing.txt", ("plan.txt",), "")]
        assert "  ▸ with plan.txt" in chat.lines


async def test_a_found_model_is_offered_and_f2_takes_it(open_chat: Any) -> None:
    class Found:
        spec = "openai:qwen3@http://127.0.0.1:8080/v1"
        profile = Profile(spec=spec, name="qwen3")

    session = FakeSession(lambda text: answer(text), models=[Found()], spec="offline")
    async with open_chat(session=session) as chat:
        await chat.until(lambda: "is running on this machine" in chat.text)
        await chat.press("f2")
        await chat.until(lambda: chat.session.profile.name.startswith("openai:qwen3"))
        await chat.quiet()
        assert "qwen3" in chat.seen[-1]
        assert "a chat and coding agent that remembers" in chat.text


async def test_ctrl_c_twice_leaves_and_closes_the_session(open_chat: Any) -> None:
    async with open_chat() as chat:
        await chat.press("ctrl+c")
        assert not chat.session.closed
        await chat.press("ctrl+c")
        await chat.until(lambda: chat.session.closed)


async def test_ctrl_c_stops_the_answer_and_leaves_only_where_nothing_goes_on(open_chat: Any) -> None:
    async with open_chat(answers=lambda text: [*answer("A long answer 长")[:4], asyncio.Event()]) as chat:
        await chat.say("go on")
        await chat.until(lambda: "A long" in chat.text)
        await chat.press("ctrl+c")
        await chat.until(lambda: "stopped" in chat.text)
        await chat.quiet()
        assert "again quits" not in chat.seen[-1]
        await chat.press("ctrl+c")
        await chat.until(lambda: chat.seen[-1].endswith("Ctrl+C again quits"))
        assert not chat.session.closed and not chat.screen.is_leaving
        await chat.press("ctrl+c")
        await chat.until(lambda: chat.session.closed)


async def test_ctrl_c_during_an_answer_empties_a_prompt_first(open_chat: Any) -> None:
    async with open_chat(answers=lambda text: [*answer("A long answer 长")[:4], asyncio.Event()]) as chat:
        await chat.say("go on")
        await chat.until(lambda: "A long" in chat.text)
        await chat.insert("half a thought")
        await chat.press("ctrl+c")
        assert chat.screen.prompt.text == "" and chat.screen.queue.busy
        await chat.press("ctrl+c")
        await chat.until(lambda: "stopped" in chat.text)


async def test_ctrl_d_leaves_only_when_the_prompt_is_empty(open_chat: Any) -> None:
    async with open_chat() as chat:
        await chat.type("ab")
        await chat.press("home", "ctrl+d")
        assert chat.screen.prompt.text == "b"
        assert not chat.session.closed
        await chat.press("ctrl+d", "ctrl+d")
        await chat.until(lambda: chat.session.closed)


async def test_a_message_sent_before_the_memory_is_open_is_sent_when_it_is(open_chat: Any) -> None:
    async with open_chat(message="from the command line") as chat:
        await chat.until(lambda: chat.session.sent)
        assert chat.session.sent[0][0] == "from the command line"


async def test_words_marked_with_the_mouse_are_copied_with_ctrl_c(open_chat: Any) -> None:
    async with open_chat(answers=lambda _: answer("The boiler 锅炉 is here.")) as chat:
        await chat.say("x")
        await chat.quiet()
        line = next(number for number, text in enumerate(chat.seen) if "boiler" in text)
        await chat.pilot.mouse_down(offset=(6, line))
        await chat.pilot.hover(offset=(17, line))
        await chat.pilot.mouse_up(offset=(17, line))
        await chat.press("ctrl+c")
        assert chat.app.clipboard == "boiler 锅炉"
        assert not chat.session.closed
