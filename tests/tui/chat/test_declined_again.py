"""A call that the person declined reads the same when its conversation is resumed. Real sessions."""

from pathlib import Path

import pytest

from foundation.paths import Workspace
from tests.agent.conftest import server  # noqa: F401 - a fixture
from tests.agent.sessions import calls, open_session
from tests.loopback import Loopback
from tests.loopback import chat as chat_reply
from tests.tui.conftest import Chat, Open
from tui.dialogs.permission import PermissionScreen


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("run_command", {"command": "echo hi; ls; sleep 3; rm -f made.txt"}),
        ("run_command", {"command": "echo 1\necho 2 > $X; rm -f 锅炉"}),
        ("remember", {"note": "The user likes strong green tea."}),
    ],
)
@pytest.mark.parametrize("is_archived", [False, True])
async def test_a_declined_call_reads_the_same_after_resuming(
    tool: str,
    arguments: dict[str, str],
    is_archived: bool,
    open_chat: Open,
    workspace: Workspace,
    tmp_path: Path,
    server: Loopback,  # noqa: F811
) -> None:
    def shown(chat: Chat) -> list[str]:
        return [line.strip() for line in chat.lines if line.strip().startswith(("▸", "✗"))]

    session = open_session(workspace, tmp_path, server, project=(tmp_path,))
    server.plays(calls(tool, **arguments))
    server.plays(chat_reply("Well."))
    async with open_chat(session=session, size=(110, 44)) as chat:
        await chat.say("Do it.")
        await chat.until(lambda: isinstance(chat.app.screen, PermissionScreen))
        await chat.press("escape")
        await chat.quiet()
        live = shown(chat)
        assert any("not done: The user declined." in line for line in live)
    session = open_session(workspace, tmp_path, server, project=(tmp_path,))
    if is_archived:
        conversations = session.memory.conversations
        path = list(conversations.path(conversations.at(1).leaf or 0))
        session.memory.vault.archive_entries(path[::-1], label="Tools")
        assert all(session.memory.cold.entry(entry.seq).text is None for entry in path)
    async with open_chat(session=session, size=(110, 44), latest=True) as chat:
        await chat.until(lambda: "Well." in chat.text)
        again = shown(chat)
        assert again == live
