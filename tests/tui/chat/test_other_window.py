"""Two windows on one conversation: what the other one said opens here."""

from pathlib import Path
from typing import Any

import pytest

from foundation.paths import Workspace
from models.settings import ModelSettings
from tests.agent.sessions import open_session, turn
from tests.loopback import Loopback, chat

MODELS = ModelSettings(window=20_000, tools=False, retries=0)


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_the_messages_of_another_window_open_below_their_notice(
    open_chat: Any, workspace: Workspace, tmp_path: Path, size: tuple[int, int]
) -> None:
    with Loopback() as server:
        server.answers_all(lambda _: chat("In the cellar. 地下室"))
        here = open_session(workspace, tmp_path, server, models=MODELS)
        await turn(here, "Where is the boiler?")
        assert here.conversation is not None
        async with open_chat(session=here, size=size) as window:
            other = open_session(workspace, tmp_path, server, models=MODELS)
            await other.resume(here.conversation.id)
            await turn(other, "And the key [red]🗝[/red]?")
            await other.close()
            await window.say("And the meter?")
            await window.quiet()
            assert "continued in another window: 2 messages" in " ".join(window.text.split())
            assert "🗝" not in window.text
            await window.press("ctrl+up", "up", "enter")
            await window.until(lambda: "❯ And the key [red]🗝[/red]?" in window.text)
            assert "◆ In the cellar. 地下室" in window.text
