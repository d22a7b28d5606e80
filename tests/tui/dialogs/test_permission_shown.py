"""What the dialog that asks for permission shows: the whole action, at every size."""

from typing import Any

import pytest
from msgspec import structs

from agent.permissions.action import Access, Action
from tests.tui.dialogs.permission_asked import ACTION, RUN, opened
from tui.dialogs.permission import PermissionScreen, diff_colours

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long


async def test_no_line_of_the_transcript_is_cut_beside_the_dialog(open_chat: Any) -> None:
    async with open_chat(size=(80, 24)) as chat:
        dialog, _ = await opened(chat)
        assert dialog.query_one(".sheet").region.width == 80


async def test_what_asks_each_time_is_not_offered_for_the_session(open_chat: Any) -> None:
    async with open_chat() as chat:
        chat.app.push_screen(PermissionScreen(ACTION, "Writing memory always needs confirmation.", once_only=True))
        await chat.until(lambda: "Once" in "\n".join(chat.seen))
        assert "For this session" not in "\n".join(chat.seen)


async def test_a_long_action_scrolls_and_its_answers_stay_in_view(open_chat: Any) -> None:
    async with open_chat(size=(80, 24)) as chat:
        await opened(chat)
        assert "line 0 of" in "\n".join(chat.seen)
        await chat.press(*["pagedown"] * 8)
        await chat.until(lambda: "line 59 of" in "\n".join(chat.seen))
        assert "Once" in "\n".join(chat.seen) and "↑ ↓ choose" in "\n".join(chat.seen)


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_the_end_of_a_padded_command_is_in_view(open_chat: Any, size: tuple[int, int]) -> None:
    command = f"echo 安全{' ' * 400}x{chr(10) * 61}rm -rf ~"
    padded = structs.replace(RUN, summary="run echo 安全", subject=command, detail=command)
    async with open_chat(size=size) as chat:
        chat.app.push_screen(PermissionScreen(padded, "No rule decides."))
        await chat.until(lambda: "↑ ↓ choose" in "\n".join(chat.seen))
        shown = "\n".join(chat.seen)
        assert "rm -rf ~" in shown and "⋯ 60 empty lines" in shown and "⋯ 400 blanks ⋯" in shown


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
