"""Settings that a running session takes up, over real files."""

from pathlib import Path

import pytest

from agent.config.settings import all_settings
from agent.permissions.mode import PermissionMode
from agent.services.live_settings import AT_ONCE, NEXT_REQUEST, NEXT_START, holds, take_up
from agent.services.settings import change_setting
from foundation.paths import Workspace
from tests.agent.sessions import environment_of, open_session


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("context.use_memory", "false", lambda session: session.context.state.settings.use_memory is False),
        ("context.vision_share", "0.1", lambda session: session.context.state.pages.settings.vision_share == 0.1),
        ("context.recall_most", "3", lambda session: session.config.context.recall_most == 3),
        ("tools.result_chars", "99", lambda session: session.toolbox.settings.result_chars == 99),
        ("tools.mode", "edit", lambda session: session.permissions.mode is PermissionMode.EDIT),
        ("screen.pictures", "off", lambda session: session.config.screen.pictures == "off"),
    ],
)
async def test_a_running_session_takes_up_what_it_can(
    workspace: Workspace, tmp_path: Path, name: str, text: str, expected: object
) -> None:
    session = open_session(workspace, tmp_path)
    assert callable(expected) and not expected(session)
    change_setting(workspace, environment_of(tmp_path), name, text, user=True)
    take_up(session, name)
    assert expected(session)
    await session.close()


async def test_the_next_request_is_made_by_the_new_settings(workspace: Workspace, tmp_path: Path) -> None:
    session = open_session(workspace, tmp_path)
    before = (await session.context_report("hello")).reserve
    change_setting(workspace, environment_of(tmp_path), "context.reserve", "1000", user=True)
    take_up(session, "context.reserve")
    assert (before, (await session.context_report("hello")).reserve) != (1_000, before)
    assert (await session.context_report("hello")).reserve == 1_000
    await session.close()


async def test_what_is_read_at_opening_stays(workspace: Workspace, tmp_path: Path) -> None:
    session = open_session(workspace, tmp_path)
    before = session.config
    change_setting(workspace, environment_of(tmp_path), "context.summary_tokens", "400", user=True)
    take_up(session, "archive.dense")
    assert session.config is before
    await session.close()


def test_each_setting_says_from_when_it_holds() -> None:
    said = {name: holds(name) for name in all_settings()}
    assert set(said.values()) == {AT_ONCE, NEXT_REQUEST, NEXT_START}
    assert said["screen.theme"] == said["tools.mode"] == AT_ONCE
    assert said["context.use_memory"] == NEXT_REQUEST
    assert said["context.summary_model"] == said["model"] == said["archive.dense"] == NEXT_START
