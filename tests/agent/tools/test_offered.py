"""The tools that a model is offered: in a small window fewer, in a fixed order."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.session import Session
from agent.tools.registry import _KEPT_FIRST  # type: ignore[reportPrivateUsage]  # held against the tools that there are
from foundation.paths import Workspace
from models.chat.port import Profile
from models.tokens import Estimate, tool_tokens
from tests.agent.sessions import open_session


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
        known = [name for name in _KEPT_FIRST if name in {tool.name for tool in box.definitions}]
        assert set(names) <= {tool.name for tool in box.definitions}
        assert set(names) == set(known[: len(names)]) or len(names) > len(known)
        fewer = len(names)
    assert fewer == 0


async def test_a_model_that_takes_no_tools_is_offered_none(session: Session) -> None:
    assert session.toolbox.offered(Profile(spec="offline", name="offline", window=100_000)) == ()
