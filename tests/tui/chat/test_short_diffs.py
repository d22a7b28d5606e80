"""A short diff is open in the transcript, a long one and a long note are folded; a message has its own ground."""

from typing import Any

import pytest
from rich.style import Style

from agent.events import ToolFinished, ToolStarted
from agent.permissions.action import Access, Action
from agent.tools.files.changes import file_diff
from agent.tools.memory.recall import RememberNote
from models.messages import ToolCall
from tests.tui.conftest import Open
from tests.tui.fakes import FakeSession, answer
from tui.chat.blocks import MAX_OPEN_DIFF
from tui.themes.own import THEMES
from tui.themes.variables import variables_for
from tui.widgets.transcript.items import UserItem
from tui.widgets.transcript.styles import TranscriptStyles


@pytest.mark.parametrize(("lines", "is_open"), [(MAX_OPEN_DIFF, True), (MAX_OPEN_DIFF + 1, False)])
async def test_a_short_diff_is_open(open_chat: Open, lines: int, is_open: bool) -> None:
    call = ToolCall("1", "write_file", "{}")
    action = Action(tool="write_file", access=Access.EDIT, summary="write a.py", subject="a.py")
    diff = file_diff("a.py", None, b"".join(b"x%d = 1\n" % number for number in range(lines)))
    stored, *others = answer("Done.")
    done = ToolFinished(call, "written", 7, failed=False, entry="e_3", diff=diff)
    session = FakeSession(lambda _: [stored, ToolStarted(call, action.summary, action), done, *others])
    async with open_chat(session=session, size=(80, 50)) as chat:
        await chat.say("write it")
        await chat.quiet()
        assert any(" 1 +x0 = 1" in line for line in chat.seen) is is_open, chat.seen


def test_the_line_of_a_long_note_is_short() -> None:
    note = "\n".join(f"line {number} of the note" for number in range(60))
    action = RememberNote(None, lambda: None).action({"note": note})  # type: ignore[arg-type]  # it asks nothing of a memory
    assert action.summary == "add to MEMORY.md: “line 0 of the note…”"
    assert action.detail == note


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_a_message_has_a_ground_of_its_own_to_the_edge(theme: Any) -> None:
    styles = TranscriptStyles.of_theme({**variables_for(theme), **theme.variables}, Style(bgcolor=theme.background))
    assert styles.user.bgcolor not in (None, styles.text.bgcolor, styles.panel.bgcolor)
    _, *lines = UserItem("hello\n" * 100).lines(40, styles)
    assert all(sum(len(segment.text) for segment in line) == 40 for line in lines)
    assert {segment.style.bgcolor for line in lines for segment in line if segment.style} == {styles.user.bgcolor}
