"""The tools that a model is offered: in a small window fewer, in a fixed order."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.commands import registry
from agent.commands.results import TextResult
from agent.events import Notice
from agent.session import Session
from agent.tools.settings import ToolSettings
from foundation.paths import Workspace
from models.chat.port import Profile
from models.settings import ModelSettings
from models.tokens import Estimate, tool_tokens
from tests.agent.sessions import open_session, turn
from tests.loopback import Loopback, chat

KEPT_FIRST = (
    *("read_file", "search_files", "edit_file", "run_command", "memory_search", "write_file", "find_files", "recall"),
    *("command_output", "remember", "ask_user", "fetch_url", "open_skill", "update_plan", "apply_patch", "delegate"),
)  # as the catalogue lists them


@pytest.fixture
async def session(workspace: Workspace, tmp_path: Path) -> AsyncIterator[Session]:
    opened = open_session(workspace, tmp_path)
    yield opened
    await opened.close()


def profile(window: int, *, text: bool = False) -> Profile:
    return Profile(spec="openai:m", name="m", window=window, tools=not text, text_tools=text)


@pytest.mark.parametrize("text", [False, True])
async def test_in_a_small_window_fewer_are_offered_in_the_order_in_which_they_are_kept(
    session: Session, text: bool
) -> None:
    box = session.toolbox
    assert box.offered(profile(131_072, text=text)) == box.definitions
    fewer = len(box.definitions)
    for window in (16_384, 8_192, 6_000, 4_096, 2_048, 1_024, 200):
        offered = box.offered(profile(window, text=text))
        assert tool_tokens(offered, Estimate(), in_text=text) <= window * box.settings.window_share or not offered
        assert len(offered) <= fewer
        names = [tool.name for tool in offered]
        assert names == sorted(names)
        known = [name for name in KEPT_FIRST if name in {tool.name for tool in box.definitions}]
        assert set(names) <= {tool.name for tool in box.definitions}
        assert set(names) == set(known[: len(names)]) or len(names) > len(known)
        fewer = len(names)
    assert fewer == 0


async def test_a_model_that_takes_no_tools_is_offered_none(session: Session) -> None:
    assert session.toolbox.offered(Profile(spec="offline", name="offline", window=100_000)) == ()


async def test_tools_that_a_small_window_leaves_out_are_named_once_and_in_the_report(
    workspace: Workspace, tmp_path: Path, server: Loopback
) -> None:
    small = ModelSettings(window=5_000, tools=True, retries=0)
    session = open_session(workspace, tmp_path, server, models=small, tools=ToolSettings(offer="all"))
    server.answers_all(lambda _: chat("Good."))
    box, seen = session.toolbox, await turn(session, "Hello.")
    offered = len(box.offered(session.profile))
    (sentence,) = [event.text for event in seen if isinstance(event, Notice)]
    assert f"5,000 tokens has room for {offered} of {len(box.definitions)} tools. Not offered: " in sentence
    assert "delegate" in sentence or "more" in sentence
    assert not [event for event in await turn(session, "And again?") if isinstance(event, Notice)]
    outcome = await registry.run(session, "/context")
    assert isinstance(outcome, TextResult)
    assert f"tools ({len(box.definitions) - offered})" in outcome.markdown and sentence in outcome.markdown
    await session.close()


async def test_a_window_with_room_for_all_tools_is_told_nothing(
    workspace: Workspace, tmp_path: Path, server: Loopback
) -> None:
    session = open_session(workspace, tmp_path, server, models=ModelSettings(window=131_072, tools=True, retries=0))
    server.plays(chat("Good."))
    assert not [event for event in await turn(session, "Hello.") if isinstance(event, Notice)]
    await session.close()
