"""What the screen says by itself: edited files, a context read anew, a second Ctrl+C."""

import asyncio
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import pytest
from msgspec.structs import replace

from agent.commands.results import SendMessage, SessionSwitched
from agent.events import Compacted, EpochChanged, Notice, Recall, ResultsReduced, Retrying, TurnFailed
from agent.services.context_view import source_labels
from agent.services.turn_sentences import ARCHIVED, MODEL_CHANGED, epoch_notice
from agent.tools.commands.commands import RunningCommand
from context.compaction.compact import CompactionReceipt
from context.notice import FileNotice
from context.report import Reduction
from context.working_set.receipt import ReductionReceipt
from foundation.errors import PalimpsestError
from models.messages import Role
from tests.tui.fakes import RECALLED, REPORT, answer, spoken
from tui.widgets.status import StatusBar


async def test_an_edited_file_is_told_without_a_message(open_chat: Any) -> None:
    async with open_chat() as chat:
        chat.session.notices = [FileNotice("info", "was read again.", "AGENTS.md")]
        await chat.until(lambda: "  AGENTS.md: was read again." in chat.lines)
        assert chat.session.sent == []


async def test_a_background_command_that_ends_is_told_and_leaves_the_status_bar(open_chat: Any) -> None:
    async with open_chat() as chat:
        chat.session.working = "1 command runs"
        await chat.until(lambda: "1 command runs" in chat.seen[-1])
        ended = [RunningCommand("c1", "make 茶", 3.2, "exit 2")]
        chat.session.working, chat.session.commands.take_ended = "", lambda: [ended.pop()] if ended else []
        await chat.until(lambda: "  The background command c1 has ended: make 茶 · exit 2, 3 s" in chat.lines)
        assert "1 command runs" not in chat.seen[-1]


async def test_what_the_program_says_meanwhile_does_not_cut_an_answer_in_two(open_chat: Any) -> None:
    waits = [asyncio.Event() for _ in range(3)]
    told = answer("one word and another", chunk=6)
    events = [*told[:4], waits[0], told[4], waits[1], told[5], waits[2], *told[6:]]
    async with open_chat(answers=lambda _: events) as chat:
        await chat.say("go")
        await chat.until(lambda: "one wo" in chat.text)
        chat.app.use_keys = lambda _: []
        chat.app._take_up_own()  # noqa: SLF001 - no public way to have it come late
        waits[0].set()
        await chat.until(lambda: "one word and" in chat.text)
        chat.app.use_keys = lambda _: ["keys.yaml: no such key"]
        chat.app._take_up_own()  # noqa: SLF001 - no public way to have it come late
        waits[1].set()
        await chat.until(lambda: "one word and anoth" in chat.text)
        chat.screen.controller.show_error(PalimpsestError("Full", "The disk is full."))
        waits[2].set()
        await chat.quiet()
        assert "◆ one word and another" in chat.lines
        assert "keys.yaml: no such key" in chat.text
        assert "The disk is full." in chat.text


async def test_a_file_that_cannot_be_looked_at_is_told_once(open_chat: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("tui.chat.background.PERIOD", 0.02)
    looks: list[int] = []

    def broken() -> Any:
        looks.append(1)
        raise PermissionError(13, "Permission denied", "AGENTS.md")

    async with open_chat() as chat:
        chat.session.context.reload = broken
        await chat.until(lambda: len(looks) > 3)
        assert chat.text.count("Permission denied") == 1


async def test_an_edited_file_reads_the_context_anew_in_plain_words(open_chat: Any) -> None:
    events = [EpochChanged("AGENTS.md changed"), *answer("Yes.")]
    async with open_chat(answers=lambda _: events) as chat:
        await chat.say("go")
        await chat.quiet()
        assert "  AGENTS.md changed: the model reads the whole context anew." in chat.lines


async def test_a_model_that_the_person_chose_is_not_told_again(open_chat: Any, monkeypatch: Any) -> None:
    from agent.commands.results import SessionSwitched

    async def run(session: Any, line: str) -> Any:
        await session.use_model("openai:other")
        return SessionSwitched("openai:other answers now.")

    monkeypatch.setattr("agent.commands.registry.run", run)
    async with open_chat(answers=lambda _: [EpochChanged(MODEL_CHANGED), *answer("Yes.")]) as chat:
        await chat.say("/model openai:other")
        await chat.quiet()
        await chat.say("go")
        await chat.quiet()
        assert "anew" not in chat.text
        await chat.say("again")
        await chat.quiet()
        assert "Another model answers now: the model reads the whole context anew." in chat.text


async def test_archived_turns_are_told_once(open_chat: Any) -> None:
    events = [
        Compacted(CompactionReceipt(text="2 turns archived.", entries=4)),
        EpochChanged(ARCHIVED),
        *answer("Yes."),
    ]
    async with open_chat(answers=lambda _: events) as chat:
        await chat.say("go")
        await chat.quiet()
        assert "anew" not in chat.text


async def test_reduced_results_are_told_as_an_archiving_is(open_chat: Any) -> None:
    text = "Request: 20,000 → 8,000 tokens. 7 old tool results were cut to one line each. All of it can be recalled."
    reduced = ResultsReduced(ReductionReceipt(text, 20_000, 8_000, (Reduction("e_1", "read_file", 4_000, 60),)))
    async with open_chat(answers=lambda _: [reduced, *answer("Yes.")]) as chat:
        await chat.say("go")
        await chat.quiet()
        assert text in " ".join(chat.text.split())
        assert "anew" not in chat.text


def test_every_reason_of_the_context_has_plain_words() -> None:
    import msgspec

    from context.assembly.builder import HEAD_TOO_LARGE
    from context.epoch import EpochBasis, EpochState, reason_to_end

    ground = EpochBasis(model="a", window=9, tools="t", files={}, summary=None)
    state = msgspec.convert({"model": "a", "window": 9, "tools": "t", "files": {}, "summary": None}, EpochState)
    now = {"model": "b", "window": 8, "tools": "u", "summary": 3}
    whys = [reason_to_end(state, msgspec.structs.replace(ground, **{name: value})) for name, value in now.items()]
    assert (whys[0], whys[3]) == (MODEL_CHANGED, ARCHIVED)
    told = [epoch_notice(why) for why in [*whys, HEAD_TOO_LARGE]]
    assert all(words[0].isupper() and "epoch" not in words for words in told)


async def test_ctrl_c_asks_in_the_status_bar_and_covers_nothing(open_chat: Any) -> None:
    async with open_chat() as chat:
        await chat.press("ctrl+c")
        assert chat.seen[-1].endswith("Ctrl+C again quits")
        assert sum("Ctrl+C" in line for line in chat.seen) == 1
        assert any("Ask, or / for commands" in line for line in chat.seen)
        await chat.type("x")
        assert "Ctrl+C" not in chat.seen[-1]


def beside_the_bar(chat: Any) -> list[str]:
    """The transcript's rows without their last column, where the scroll bar grows shorter."""
    width = chat.screen.size.width - 1
    return [line.ljust(width)[:width] for line in chat.seen[: chat.screen.transcript.size.height]]


async def test_more_below_stands_in_a_row_of_its_own(open_chat: Any) -> None:
    long = "\n\n".join(f"line {number}" for number in range(60))
    async with open_chat(answers=lambda _: answer(long, chunk=400)) as chat:
        await chat.say("one")
        await chat.quiet()
        await chat.press("pageup")
        before = beside_the_bar(chat)
        chat.session.notices = [FileNotice("info", "changed", "AGENTS.md")]
        await chat.until(lambda: any("↓ new" in line for line in chat.seen))
        assert beside_the_bar(chat) == before
        await chat.pilot.click("#newer")
        await chat.until(lambda: chat.screen.transcript.is_following)
        assert not any("↓ new" in line for line in chat.seen)


def test_recalled_parts_are_named_by_their_conversation() -> None:
    import msgspec

    entry = spoken(5, Role.USER, "x")
    memory = SimpleNamespace(
        references=SimpleNamespace(find=lambda _ref: (entry,)),
        conversations=SimpleNamespace(at=lambda _seq: SimpleNamespace(title="House")),
    )
    layer = msgspec.structs.replace(
        REPORT.layers[3],
        sources=tuple(msgspec.structs.replace(s, name="recalled e_5") for s in REPORT.layers[3].sources),
    )
    report = msgspec.structs.replace(REPORT, layers=(layer,))
    names = source_labels(report, memory)
    assert names == {"recalled e_5": "recalled “House”, 2026-03-14"}


async def test_a_retry_is_counted_in_the_status_and_says_why_in_the_transcript(open_chat: Any) -> None:
    pause, events = asyncio.Event(), answer("Here.")
    retry = Retrying(2, 3, 4.0, "`m` failed with status 503: busy")
    scripted = [*events[:3], Retrying(0, 3, 1.0, "loading"), retry, pause, *events[3:]]
    async with open_chat(answers=lambda _: scripted) as chat:
        await chat.say("hello")
        await chat.until(lambda: chat.app.screen.query_one(StatusBar).info.doing == "Retry 2 of 3 in 4 s · Esc stops")
        assert "Retry 2 of 3 in 4 s: `m` failed with status 503: busy" in chat.text
        assert "loading" not in chat.text
        pause.set()
        await chat.quiet()
        assert "Here." in chat.text


async def test_the_retries_of_a_request_are_one_notice_and_a_failure_takes_the_old_speed_away(open_chat: Any) -> None:
    failed = TurnFailed("unreachable", "The model is not there", "It is busy.", "Try later.")
    retries = [Retrying(number, 3, 0.0, "`m` failed with status 503: busy") for number in (1, 2, 3)]
    fails = [*answer("x")[:3], *retries, failed]
    async with open_chat(answers=lambda text: fails if text == "fail" else answer("Here.")) as chat:
        chat.screen.status.update_info(speed=47.0)
        await chat.say("fail")
        await chat.quiet()
        assert chat.text.count("failed with status 503") == 1 and "Retry 3 of 3" in chat.text
        assert "It is busy." in chat.text
        assert chat.screen.status.info.speed == 0.0


async def test_a_message_sent_again_is_not_shown_twice(open_chat: Any, monkeypatch: Any) -> None:
    async def run(session: Any, line: str) -> Any:
        return SendMessage("hello there", again=True, notice="Resending the last message.")

    monkeypatch.setattr("agent.commands.registry.run", run)
    async with open_chat(answers=lambda _: answer("Here.")) as chat:
        await chat.say("hello there")
        await chat.quiet()
        await chat.say("/retry")
        await chat.quiet()
        assert chat.text.count("hello there") == 1
        assert "sent again" in chat.text


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_a_rewind_to_the_first_message_leaves_its_notice_and_its_text(
    open_chat: Any, monkeypatch: Any, size: tuple[int, int]
) -> None:
    async def run(session: Any, line: str) -> Any:
        session.entries = []
        return SessionSwitched("The conversation is rewound: 你好 🎉 is in the prompt.", "你好 🎉")

    monkeypatch.setattr("agent.commands.registry.run", run)
    async with open_chat(size=size) as chat:
        await chat.say("你好 🎉")
        await chat.quiet()
        chat.session.context_report = AsyncMock(return_value=replace(REPORT, total_tokens=2_050))
        await chat.say("/rewind e_1 conversation")
        await chat.quiet()
        shown = [line.strip() for line in chat.lines if line.strip()]
        assert shown[0] == "The conversation is rewound: 你好 🎉 is in the prompt."
        assert " ".join(shown[1:]) == "The branch is created when you send the message. Esc cancels it."
        assert chat.screen.prompt.text == "你好 🎉"
        assert any(line.strip() == "❯ 你好 🎉" for line in chat.seen)
        await chat.until(lambda: "context 20.0 %" in chat.seen[-1])


async def test_notices_stand_apart_from_what_was_recalled_and_together(open_chat: Any) -> None:
    notices = [Notice("info", "AGENTS.md was read again."), Notice("warning", "A hook is slow. 🐢")]
    events = answer("Yes.", recalled=RECALLED)
    at = next(number for number, event in enumerate(events) if isinstance(event, Recall)) + 1
    async with open_chat(answers=lambda _: [*events[:at], *notices, *events[at:]]) as chat:
        await chat.say("go")
        await chat.quiet()
        row = chat.lines.index("  AGENTS.md was read again.")
        assert "recalled" in chat.text
        assert chat.lines[row - 1] == ""
        assert chat.lines[row - 2]
        assert chat.lines[row + 1] == "  A hook is slow. 🐢"
        assert chat.lines[row + 2] == "", "the answer stands apart from them"
