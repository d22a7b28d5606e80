"""The dialog that asks for permission: it shows the whole action, and typed text grants nothing."""

import asyncio
from typing import Any

import pytest
from msgspec import structs

from agent.events import PermissionRequested
from agent.permissions.action import Access, Action, PermissionAnswer, Scope
from models.messages import ToolCall
from tests.tui.fakes import FakeSession, answer
from tui.dialogs.permission import PermissionScreen, diff_colours

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long

LONG = "\n".join(f"line {number} of the note" for number in range(60))
ACTION = Action(tool="remember", access=Access.NOTE, summary="add to MEMORY.md", detail=LONG)


async def opened(chat: Any) -> tuple[PermissionScreen, list[PermissionAnswer | None]]:
    answers: list[PermissionAnswer | None] = []
    dialog = PermissionScreen(ACTION, "Memory is written only with a yes.")
    chat.app.push_screen(dialog, answers.append)
    await chat.until(lambda: chat.app.screen is dialog)
    return dialog, answers


@pytest.mark.parametrize("typed", ["yes, yes 1 your way is maybe", "y", "1 more", "22", "9"])
async def test_typed_text_and_enter_grant_nothing(open_chat: Any, typed: str) -> None:
    async with open_chat() as chat:
        dialog, answers = await opened(chat)
        await chat.press(*["space" if letter == " " else letter for letter in typed.replace(",", "")], "enter")
        assert answers == []
        assert dialog.typed == typed.replace(",", "") + "\n"


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (("down", "enter", "enter"), PermissionAnswer(True)),  # the first one scrolls to the end
        (("down", "down", "enter", "enter"), PermissionAnswer(True, Scope.SESSION)),
        (("down", "down", "down", "enter"), PermissionAnswer(False)),
        (("up", "n", "o", "enter"), PermissionAnswer(False, reason="no")),
        (("1",), PermissionAnswer(True)),
        (("2",), PermissionAnswer(True, Scope.SESSION)),
        (("2", "enter"), PermissionAnswer(True, Scope.SESSION)),
        (("3",), PermissionAnswer(False)),
        (("4", "n", "o", "1", "enter"), PermissionAnswer(False, reason="no1")),
        (("1", "backspace", "escape"), PermissionAnswer(False)),
        (("escape",), PermissionAnswer(False)),
    ],
)
async def test_a_chosen_answer_is_given_with_enter(
    open_chat: Any, keys: tuple[str, ...], answer: PermissionAnswer
) -> None:
    async with open_chat() as chat:
        _, answers = await opened(chat)
        await chat.press(*keys)
        await chat.until(lambda: answers == [answer])


async def click(chat: Any, row: int) -> None:
    await chat.pilot.click(".sheet-answers", offset=(6, row))
    await chat.press()


async def test_a_click_on_an_answer_gives_it(open_chat: Any) -> None:
    async with open_chat() as chat:
        _, answers = await opened(chat)
        await click(chat, 1)
        await chat.until(lambda: answers == [PermissionAnswer(True, Scope.SESSION)])


async def test_a_click_on_the_answer_with_a_reason_waits_for_it(open_chat: Any) -> None:
    async with open_chat() as chat:
        _, answers = await opened(chat)
        await click(chat, 3)
        assert answers == []
        await chat.press("n", "o", "enter")
        await chat.until(lambda: answers == [PermissionAnswer(False, reason="no")])


async def test_a_click_that_was_meant_for_the_chat_grants_nothing(open_chat: Any) -> None:
    answers: list[PermissionAnswer | None] = []
    async with open_chat() as chat:
        dialog = PermissionScreen(RUN, "No rule decides.", settle_s=3_600)
        chat.app.push_screen(dialog, answers.append)
        await chat.until(lambda: chat.app.screen is dialog)
        await click(chat, 0)
        await click(chat, 2)
        assert answers == []


async def test_lines_that_are_typed_for_the_prompt_keep_their_breaks(open_chat: Any) -> None:
    async with open_chat() as chat:
        dialog, answers = await opened(chat)
        await chat.press("o", "n", "e", "enter", "enter", "t", "w", "o", "enter")
        assert dialog.typed == "one\n\ntwo\n"
        assert answers == []


@pytest.mark.parametrize("draft", ["", "half a thou"])
async def test_enter_alone_grants_nothing(open_chat: Any, draft: str) -> None:
    future = asyncio.get_running_loop().create_future()
    request = PermissionRequested(ToolCall("call_1", "remember", "{}"), ACTION, "Why.", future)
    hold = asyncio.Event()
    async with open_chat(session=FakeSession(lambda _: [hold, request, *answer("Well.")])) as chat:
        await chat.say("go")
        await chat.insert(draft)
        hold.set()
        await chat.until(lambda: "↑ ↓ choose" in "\n".join(chat.seen))
        assert "›" not in "\n".join(line for line in chat.seen if "Once" in line)
        await chat.press("enter", "enter")
        assert not future.done() and isinstance(chat.app.screen, PermissionScreen)
        await chat.press("1")
        await chat.until(future.done)
        assert future.result() == PermissionAnswer(True)
        await chat.quiet()
        assert chat.screen.prompt.text == draft


@pytest.mark.parametrize(("typed", "left"), [("y", ""), ("no", ""), ("yet another", "yet another")])
async def test_a_typed_yes_or_no_is_no_draft_afterwards(open_chat: Any, typed: str, left: str) -> None:
    future = asyncio.get_running_loop().create_future()
    request = PermissionRequested(ToolCall("call_1", "remember", "{}"), ACTION, "Why.", future)
    async with open_chat(session=FakeSession(lambda _: [request, *answer("Well.")])) as chat:
        await chat.say("go")
        await chat.until(lambda: isinstance(chat.app.screen, PermissionScreen))
        await chat.type(typed)
        await chat.press("escape")
        await chat.quiet()
        assert future.result() == PermissionAnswer(False)
        assert chat.screen.prompt.text == left


async def test_ctrl_c_stops_the_turn_and_grants_nothing(open_chat: Any) -> None:
    stopped: list[bool] = []
    async with open_chat() as chat:
        dialog, answers = await opened(chat)
        dialog.stop_turn = lambda: stopped.append(True)
        assert "Ctrl+C stops" in "\n".join(chat.seen)
        await chat.press("down", "ctrl+c")
        await chat.until(lambda: answers == [PermissionAnswer(False)])
        assert stopped == [True]


async def test_ctrl_c_in_the_dialog_reaches_the_turn(open_chat: Any) -> None:
    future = asyncio.get_running_loop().create_future()
    request = PermissionRequested(ToolCall("call_1", "remember", "{}"), ACTION, "Why.", future)
    session = FakeSession(lambda _: [request, *answer("Well.")])
    stopped: list[bool] = []
    session.stop = lambda: stopped.append(True)  # type: ignore[method-assign]  # seen without ending the fake's answer
    async with open_chat(session=session) as chat:
        await chat.say("go")
        await chat.until(lambda: isinstance(chat.app.screen, PermissionScreen))
        await chat.press("ctrl+c")
        await chat.until(future.done)
        assert stopped == [True] and future.result() == PermissionAnswer(False)
        await chat.quiet()


async def test_no_line_of_the_transcript_is_cut_beside_the_dialog(open_chat: Any) -> None:
    async with open_chat(size=(80, 24)) as chat:
        dialog, _ = await opened(chat)
        assert dialog.query_one(".sheet").region.width == 80


async def test_what_asks_each_time_is_not_offered_for_the_session(open_chat: Any) -> None:
    async with open_chat() as chat:
        chat.app.push_screen(PermissionScreen(ACTION, "Memory is written only with a yes.", once_only=True))
        await chat.until(lambda: "Once" in "\n".join(chat.seen))
        assert "For this session" not in "\n".join(chat.seen)


async def test_a_long_action_scrolls_and_its_answers_stay_in_view(open_chat: Any) -> None:
    async with open_chat(size=(80, 24)) as chat:
        await opened(chat)
        assert "line 0 of" in "\n".join(chat.seen)
        await chat.press(*["pagedown"] * 8)
        await chat.until(lambda: "line 59 of" in "\n".join(chat.seen))
        assert "Once" in "\n".join(chat.seen) and "↑ ↓ choose" in "\n".join(chat.seen)


async def with_guard(chat: Any, **arguments: Any) -> tuple[PermissionScreen, list[PermissionAnswer | None]]:
    answers: list[PermissionAnswer | None] = []
    dialog = PermissionScreen(RUN, "No rule decides.", settle_s=1.2, **arguments)
    chat.app.push_screen(dialog, answers.append)
    await chat.until(lambda: chat.app.screen is dialog)
    return dialog, answers


@pytest.mark.parametrize(
    ("early", "later"), [(("1",), ("1",)), (("1", "1"), ("down", "enter")), (("4", "enter"), ("1",))]
)
async def test_a_number_that_was_pressed_too_early_goes_nowhere_and_then_keys_answer(
    open_chat: Any, early: tuple[str, ...], later: tuple[str, ...]
) -> None:
    async with open_chat() as chat:
        dialog, answers = await with_guard(chat)
        await chat.press(*early)
        assert "too early" in "\n".join(chat.seen)
        await chat.until(lambda: "1–4 ↑ ↓ choose" in "\n".join(chat.seen))
        assert answers == [] and "typed, for the prompt" not in "\n".join(chat.seen)
        await chat.press(*later)
        await chat.until(lambda: answers == [PermissionAnswer(True)])
        assert dialog.unsent == ""


async def test_a_number_that_is_pressed_on_does_not_put_off_the_answers(open_chat: Any) -> None:
    async with open_chat() as chat:
        dialog, answers = await with_guard(chat)
        async with asyncio.timeout(8):
            while dialog.settles_in > 0:
                await chat.press("1")
                await asyncio.sleep(0.1)
        assert answers == []


async def test_after_text_for_the_prompt_a_number_chooses_and_enter_answers(open_chat: Any) -> None:
    async with open_chat(size=(100, 24)) as chat:
        dialog, answers = await with_guard(chat)
        await chat.press("s", "e", "e")
        await chat.until(lambda: "1–4 ↑ ↓ choose · Enter breaks the line" in "\n".join(chat.seen))
        await chat.press("1")
        assert "› 1 Once" in "\n".join(chat.seen)
        await asyncio.sleep(1.5)  # who types slowly goes on now
        assert answers == []
        await chat.press("0")
        assert dialog.typed == "see10"
        await chat.until(lambda: "choose" in "\n".join(chat.seen))
        await chat.press("2", "enter")
        await chat.until(lambda: answers == [PermissionAnswer(True, Scope.SESSION)])
        assert dialog.unsent == "see10"


async def test_a_number_in_the_middle_of_a_message_is_part_of_it(open_chat: Any) -> None:
    async with open_chat() as chat:
        dialog, answers = await with_guard(chat, in_message=True)
        await chat.press("1")
        await asyncio.sleep(1.5)
        await chat.press("escape")
        await chat.until(lambda: answers == [PermissionAnswer(False)])
        assert dialog.unsent == "1"


RUN = Action(tool="run_command", access=Access.RUN, summary="run git status", subject="git status -s")


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_the_end_of_a_padded_command_is_in_view(open_chat: Any, size: tuple[int, int]) -> None:
    command = f"echo 安全{' ' * 400}x{chr(10) * 61}rm -rf ~"
    padded = structs.replace(RUN, summary="run echo 安全", subject=command, detail=command)
    async with open_chat(size=size) as chat:
        chat.app.push_screen(PermissionScreen(padded, "No rule decides."))
        await chat.until(lambda: "↑ ↓ choose" in "\n".join(chat.seen))
        shown = "\n".join(chat.seen)
        assert "rm -rf ~" in shown and "⋯ 60 empty lines" in shown and "⋯ 400 blanks ⋯" in shown


async def test_the_first_enter_scrolls_where_the_end_was_not_in_view(open_chat: Any) -> None:
    async with open_chat(size=(80, 24)) as chat:
        _, answers = await opened(chat)
        await chat.press("down")
        await chat.until(lambda: "Enter scrolls first" in "\n".join(chat.seen))
        await chat.press("enter")
        await chat.until(lambda: "line 59 of" in "\n".join(chat.seen))
        assert answers == [] and "Enter answers" in "\n".join(chat.seen)
        await chat.press("enter")
        await chat.until(lambda: answers == [PermissionAnswer(True)])


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_without_colours_lines_part_the_question_from_the_transcript(
    open_chat: Any, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with open_chat(size=size) as chat:
        chat.app.push_screen(PermissionScreen(structs.replace(RUN, summary="run 茶 🍵"), "No rule decides."))
        await chat.until(lambda: "↑ ↓ choose" in "\n".join(chat.seen))
        title = next(number for number, line in enumerate(chat.seen) if "The model wants" in line)
        assert any("─" * 60 in line for line in chat.seen[max(title - 2, 0) : title])
        keys = next(number for number, line in enumerate(chat.seen) if "↑ ↓ choose" in line)
        assert any("─" * 60 in line for line in chat.seen[keys : keys + 3])


OFFERS = ("run_command(git status -s)", "run_command(git status *)")


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (("down", "down", "down", "enter"), PermissionAnswer(True, Scope.PROJECT, rule=OFFERS[0])),
        (("up", "up", "up", "enter"), PermissionAnswer(True, Scope.PROJECT, rule=OFFERS[1])),
        (("4",), PermissionAnswer(True, Scope.PROJECT, rule=OFFERS[1])),
        (("down", "x", "enter", "escape"), PermissionAnswer(False)),
    ],
)
async def test_what_is_remembered_is_shown_and_typing_takes_a_choice_back(
    open_chat: Any, keys: tuple[str, ...], answer: PermissionAnswer
) -> None:
    answers: list[PermissionAnswer | None] = []
    async with open_chat(size=(80, 24)) as chat:
        chat.app.push_screen(PermissionScreen(RUN, "No rule decides.", offers=OFFERS), answers.append)
        await chat.until(lambda: "Always in this project: run_command(git status *)" in "\n".join(chat.seen))
        await chat.press(*keys)
        await chat.until(lambda: answers == [answer])


async def test_text_typed_before_a_reason_is_not_the_reason(open_chat: Any) -> None:
    answers: list[PermissionAnswer | None] = []
    async with open_chat() as chat:
        dialog = PermissionScreen(RUN, "No rule decides.", offers=OFFERS)
        chat.app.push_screen(dialog, answers.append)
        await chat.until(lambda: chat.app.screen is dialog)
        await chat.press("y", "e", "s", "up", "n", "o", "enter")
        await chat.until(lambda: answers == [PermissionAnswer(False, reason="no")])
        assert dialog.typed == "yes"


async def test_arrows_and_enter_that_were_meant_for_the_prompt_grant_nothing(open_chat: Any) -> None:
    answers: list[PermissionAnswer | None] = []
    async with open_chat() as chat:
        dialog = PermissionScreen(RUN, "No rule decides.", offers=OFFERS, settle_s=3_600)
        chat.app.push_screen(dialog, answers.append)
        await chat.until(lambda: chat.app.screen is dialog)
        await chat.press("down", "enter", "up", "enter")
        assert answers == []


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_a_long_diff_scrolls_to_its_end_and_says_how_much_is_left(open_chat: Any, size: tuple[int, int]) -> None:
    lines = [f"{'+-'[number % 2]}行 {number} 👩\u200d💻 of the file" for number in range(2_000)]
    diff = Action(
        tool="edit_file",
        access=Access.EDIT,
        summary="edit src/店.py",
        subject="src/店.py",
        detail="\n".join(["--- a", "+++ b", "@@ -1,2 +1,2 @@", *lines]),
        is_diff=True,
    )
    async with open_chat(size=size) as chat:
        chat.app.push_screen(PermissionScreen(diff, "No rule decides.", offers=("edit_file(/src/店.py)",)))
        await chat.until(lambda: "more lines" in "\n".join(chat.seen))
        assert "Always in this project: edit_file(/src/店.py)" in "\n".join(chat.seen)
        await chat.press("end")
        await chat.until(lambda: "行 1999" in "\n".join(chat.seen))
        assert "more lines" not in "\n".join(chat.seen) and "↑ ↓ choose" in "\n".join(chat.seen)


async def test_a_reason_is_waited_for_where_that_answer_is_chosen(open_chat: Any) -> None:
    answers: list[PermissionAnswer | None] = []
    async with open_chat(size=(80, 24)) as chat:
        chat.app.push_screen(PermissionScreen(RUN, "No rule decides.", offers=OFFERS), answers.append)
        await chat.until(lambda: "for a reason" in "\n".join(chat.seen))
        await chat.press("up", "enter", "space", "enter")
        await chat.until(lambda: "type it, then Enter" in "\n".join(chat.seen))
        assert answers == []
        await chat.press("n", "o", "enter")
        await chat.until(lambda: answers == [PermissionAnswer(False, reason="no")])


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_a_short_command_is_shown_once(open_chat: Any, size: tuple[int, int]) -> None:
    action = structs.replace(RUN, summary="run echo 茶 🍵", subject="echo 茶 🍵", detail="echo 茶 🍵")
    async with open_chat(size=size) as chat:
        chat.app.push_screen(PermissionScreen(action, "No rule decides."))
        await chat.until(lambda: "Once" in "\n".join(chat.seen))
        assert "\n".join(chat.seen).count("echo 茶 🍵") == 1


async def test_the_dialog_shows_characters_that_hide_in_a_command_or_a_path(open_chat: Any) -> None:
    command = "rm\u00a0-rf a\u00adb\u2800c"
    run = structs.replace(RUN, summary=f"run {command}", subject=command, detail=command)
    edit = structs.replace(ACTION, summary="edit a\u00adb.py", detail="+10\u00a0000 €")
    async with open_chat(size=(80, 24)) as chat:
        chat.app.push_screen(PermissionScreen(run, "No rule decides.", offers=(f"run_command({command})",)))
        await chat.until(lambda: "rm⟨U+00A0⟩-rf a⟨U+00AD⟩b⟨U+2800⟩c" in "\n".join(chat.seen))
        assert "Always in this project: exactly this" in "\n".join(chat.seen)
    async with open_chat(size=(80, 24)) as chat:
        chat.app.push_screen(PermissionScreen(edit, "No rule decides."))
        await chat.until(lambda: "edit a⟨U+00AD⟩b.py" in "\n".join(chat.seen))
        assert "⟨U+00A0⟩" not in "\n".join(chat.seen)


def test_lines_of_a_hunk_that_look_like_headers_are_coloured() -> None:
    diff = """--- a/x.sql
+++ b/x.sql
@@ -1,3 +1,3 @@
 select 1
--- old
+++ new
-++ x
+-- y
@@ -9 +9,0 @@
---
--- a/y.lua
+++ b/y.lua
@@ -0,0 +1 @@
+++ z
\\ No newline at end of file
--- a/z
"""
    colours = [name for _, name in diff_colours(diff)]
    hunk = ["muted", "", "error-ink", "good-ink", "error-ink", "good-ink", "muted", "error-ink"]
    assert colours == ["", "", *hunk, "", "", "muted", "good-ink", "", ""]
