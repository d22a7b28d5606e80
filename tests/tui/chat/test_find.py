"""Finding in the open conversation. The memory is real."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.session import Session
from foundation.paths import Workspace
from foundation.privacy import clear, cleared_fields
from memory.memory import Memory
from memory.records import EntryDraft, EntryKind
from models.messages import Role
from tests.agent.sessions import open_session
from tests.tui.fakes import FakeSession, answer
from tests.tui.search.screen_state import BOILER, HARBOUR, seen, talk
from tui.search.screen import SearchScreen
from tui.widgets.transcript.find_marks import CURRENT, MATCH


@pytest.fixture
def session(workspace: Workspace, tmp_path: Path) -> Iterator[Session]:
    """A real session, which answers from memory alone."""
    opened = open_session(workspace, tmp_path)
    yield opened
    opened.memory.close()


def remarks(memory: Memory, count: int, **others: str) -> None:
    """A conversation of so many remarks, some of which are others: `at_90="…"`."""
    texts = [f"Remark number {number} about nothing." for number in range(count)]
    for name, text in others.items():
        texts[int(name.removeprefix("at_"))] = text
    talk(memory, *texts)


async def find(chat: Any, query: str) -> None:
    await chat.press("ctrl+f")
    field = chat.screen.query_one("#find-query")
    await chat.until(lambda: field.has_focus)  # before that, keys go to the prompt
    if query.isascii():
        await chat.type(query)
    else:  # an input method sends more than a key
        field.value = query


def count(chat: Any) -> str:
    return str(chat.screen.query_one("#find-count").content)


async def counted(chat: Any, text: str) -> None:
    try:
        await chat.until(lambda: count(chat) == text)
    except TimeoutError:
        raise AssertionError(f"{count(chat)!r} is not {text!r}") from None


def marked(chat: Any, style: Any = CURRENT) -> list[str]:
    """The visible text in this style."""
    strips = chat.screen._compositor.render_strips()
    segments = [segment for strip in strips for segment in strip]
    wanted = (style.reverse, style.underline)
    found = [s.text for s in segments if s.style and (s.style.reverse, s.style.underline) == wanted]
    return [text for text in found if text.strip(" ▁▂▃▄▅▆▇█")]  # not the scrollbar


async def test_it_finds_as_one_types_in_the_whole_conversation(open_chat: Any, session: Session) -> None:
    remarks(session.memory, 400, at_90=BOILER, at_300="And the Boiler again.", at_301="No boiler here: boiler.")
    await session.resume("House")
    async with open_chat(session=session) as chat:
        await find(chat, "boiler")
        await counted(chat, "4 of 4")  # the nearest above what was visible
        assert "No boiler here" in seen(chat)
        assert marked(chat) == ["boiler"]
        assert marked(chat, MATCH) == ["Boiler", "boiler"]
        await chat.press("f3")  # around the end
        await counted(chat, "1 of 4")
        assert "The boiler is serviced in May" in seen(chat)
        await chat.press("enter")
        await counted(chat, "2 of 4")
        assert "And the Boiler again." in seen(chat)
        await chat.press("up")
        await counted(chat, "1 of 4")
        await chat.press("shift+f3")
        await counted(chat, "4 of 4")
        assert "▸ match" not in chat.text


async def test_esc_returns_to_where_one_was_and_tab_stays(open_chat: Any, session: Session) -> None:
    remarks(session.memory, 400, at_90=BOILER)
    await session.resume("House")
    async with open_chat(session=session) as chat:
        await chat.type("half a thought")
        await chat.press("pageup")
        before = seen(chat)
        await find(chat, "boiler")
        await counted(chat, "1 of 1")
        assert "The boiler is serviced" in seen(chat)
        await chat.press("escape")
        await chat.until(lambda: "Remark number 39" in seen(chat))
        assert next(line for line in before.splitlines() if "Remark" in line) in seen(chat)
        assert chat.screen.prompt.text == "half a thought"
        assert chat.screen.prompt.has_focus
        await find(chat, "boiler")
        await counted(chat, "1 of 1")
        await chat.press("tab")
        await chat.until(lambda: chat.screen.prompt.has_focus)
        assert "The boiler is serviced" in seen(chat)
        assert marked(chat) == []
        await chat.press("ctrl+end")
        await chat.until(lambda: "Remark number 399" in seen(chat))


async def test_esc_at_the_end_follows_the_end_again(open_chat: Any, session: Session) -> None:
    remarks(session.memory, 400, at_90=BOILER)
    await session.resume("House")
    async with open_chat(session=session) as chat:
        await find(chat, "boiler")
        await counted(chat, "1 of 1")
        await chat.press("escape")
        await chat.until(lambda: "Remark number 399" in seen(chat))
        assert chat.screen.transcript.is_following


async def test_case_chinese_emoji_and_wrapped_words_are_found(open_chat: Any, session: Session) -> None:
    talk(session.memory, HARBOUR, "long " * 15 + "锅炉每年五月保养。🙂 " * 5 + "**The End** of (it).", "x")
    await session.resume("House")
    async with open_chat(session=session) as chat:
        for query, total in (
            ("HARBOUR office", 1),
            ("五月", 5),
            ("🙂", 5),
            ("long long long", 5),
            ("(it).", 1),
            (".*", 0),
        ):
            await find(chat, query)
            await chat.until(lambda total=total: count(chat) == (f"1 of {total}" if total else "not found"))
            if total:
                wanted = query.replace(" ", "").casefold()
                await chat.until(lambda w=wanted: "".join(marked(chat)).replace(" ", "").casefold() == w)
            await chat.press("escape")
            await chat.until(lambda: chat.screen.prompt.has_focus)


async def test_what_is_folded_is_opened_at_the_match_and_folded_again(open_chat: Any, session: Session) -> None:
    (asked,) = talk(session.memory, "\n".join(f"line {number}" for number in range(100)) + "\nthe zeppelin")
    output = "\n".join(f"row {number}" for number in range(500)) + "\nzeppelin lands\n" + "more\n" * 50
    session.memory.cold.append(
        EntryDraft(
            conversation=asked.conversation_seq,
            parent=asked.seq,
            kind=EntryKind.TOOL_RESULT,
            role=Role.TOOL,
            text=clear(output),
            meta=cleared_fields({"name": "read_file", "summary": "read_file Zeppelin.txt", "call_id": "c1"}),
        )
    )
    await session.resume("House")
    async with open_chat(session=session) as chat:
        await find(chat, "line 50")
        await counted(chat, "in your message · 1 of 1")
        assert "line 50" in seen(chat)
        assert "line 49" in seen(chat)
        await chat.press("escape")
        await chat.until(lambda: "line 50" not in seen(chat))
        await find(chat, "zeppelin")
        await counted(chat, "1 of 3")
        await chat.press("down")
        await counted(chat, "2 of 3")  # in the line of the call
        assert marked(chat) == ["Zeppelin"]
        await chat.press("down")
        await counted(chat, "in read_file Zeppelin.txt · 3 of 3")
        assert "zeppelin lands" in seen(chat)
        assert "e shows all" in chat.text
        assert marked(chat) == ["zeppelin"]
        await chat.press("down")
        await counted(chat, "1 of 3")
        assert "zeppelin lands" not in chat.text  # folded again


async def test_while_an_answer_comes_one_finds_far_above_and_returns(open_chat: Any, session: Session) -> None:
    remarks(session.memory, 400, at_90=BOILER)
    hold, more = asyncio.Event(), asyncio.Event()
    events = answer("The first words of a boiler. And the boiler's rest.")
    fake = FakeSession(lambda _: [*events[:6], hold, *events[6:-3], more, *events[-3:]])
    fake.memory, fake.branch = session.memory, session.branch
    await session.resume("House")
    async with open_chat(session=fake) as chat:
        await chat.screen.controller.show_newest()
        await chat.say("go")
        await chat.until(lambda: "The first" in chat.text)
        await find(chat, "boiler")
        await counted(chat, "1 of 1")
        assert "The boiler is serviced in May" in seen(chat)
        assert "the messages in between are not shown" in chat.text
        hold.set()
        await counted(chat, "1 of 3")
        assert "The boiler is serviced in May" in seen(chat)  # the answer does not take the view along
        await chat.press("down")
        await counted(chat, "2 of 3")
        assert "first words of a boiler" in seen(chat)
        await chat.press("escape")
        await chat.until(lambda: "the messages in between" not in chat.text and "Remark number 399" in chat.text)
        more.set()
        await chat.quiet()
        assert "◆ The first words of a boiler. And the boiler's rest." in chat.text
        assert chat.text.count("❯ go") == 1


async def test_what_was_said_in_this_session_is_found(open_chat: Any, session: Session) -> None:
    remarks(session.memory, 100, at_10=BOILER)
    await session.resume("House")
    async with open_chat(session=session) as chat:
        await chat.say("Tell me of the gasket, please.")
        await chat.quiet()
        await find(chat, "gasket")
        await chat.until(lambda: count(chat).startswith("1 of"))
        total = int(count(chat).split()[-1])
        await chat.press("escape")
        await find(chat, "boiler is")
        await chat.until(lambda: count(chat).startswith("1 of"))
        await chat.press("tab")  # far above: what was said is among the stored entries now
        await find(chat, "gasket")
        await counted(chat, f"1 of {total}")
        assert "gasket" in seen(chat)


async def test_from_far_above_one_goes_to_what_was_said_in_this_session(open_chat: Any, session: Session) -> None:
    remarks(session.memory, 100, at_10="A gasket far above.")
    await session.resume("House")
    async with open_chat(session=session) as chat:
        await chat.say("Tell me of the gasket, please.")
        await chat.quiet()
        await find(chat, "gasket")
        await chat.until(lambda: " of " in count(chat) and "…" not in count(chat))
        total = int(count(chat).split()[-1])
        await chat.press(*["down"] * total)
        await chat.press(*["up"] * (int(count(chat).split(" of ")[0].split()[-1]) - 1))
        await counted(chat, f"1 of {total}")
        await chat.until(lambda: "A gasket far above." in seen(chat))
        await chat.press("up")
        await counted(chat, f"{total} of {total}")
        await chat.until(lambda: marked(chat) == ["gasket"])
        await chat.press("up")
        await chat.until(lambda: marked(chat) == ["gasket"] and count(chat) == f"{total - 1} of {total}")


async def test_ctrl_f_again_looks_everywhere(open_chat: Any, session: Session) -> None:
    remarks(session.memory, 10)
    talk(session.memory, BOILER, title="Other")
    await session.resume("House")
    async with open_chat(session=session) as chat:
        await find(chat, "boiler")
        await counted(chat, "not found")
        await chat.press("ctrl+f")
        await chat.until(lambda: isinstance(chat.app.screen, SearchScreen) and chat.app.screen.rows)
        assert chat.app.screen.query_text == "boiler"
        await chat.press("escape")
        await chat.until(lambda: chat.app.screen is chat.screen)
        assert chat.screen.prompt.has_focus
        for keys in (["f3"], ["ctrl+shift+f"], ["ctrl+f", "ctrl+shift+f"]):
            await chat.press(*keys)
            await chat.until(lambda: isinstance(chat.app.screen, SearchScreen))
            await chat.press("escape")


async def test_in_an_empty_conversation_nothing_is_found(open_chat: Any, session: Session) -> None:
    async with open_chat(session=session) as chat:
        await find(chat, "boiler")
        await counted(chat, "not found")
        await chat.press("enter", "up", "escape")
        assert chat.screen.prompt.has_focus


async def test_the_bar_names_the_key_that_the_person_chose(open_chat: Any, session: Session) -> None:
    async with open_chat(session=session) as chat:
        await chat.press("ctrl+f")
        assert "Tab stay here · Ctrl+F everywhere · Esc back" in "\n".join(chat.seen)
        await chat.press("escape")
        assert chat.app.use_keys({"chat.find": "ctrl+x"}) == []
        await chat.press("ctrl+x")
        assert "Tab stay here · Ctrl+X everywhere · Esc back" in "\n".join(chat.seen)
