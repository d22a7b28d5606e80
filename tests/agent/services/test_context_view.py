"""The request as it is shown: its parts add up, hold the exact text, and say where it differs from the last one."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.services.context_view import context_view
from foundation.paths import Workspace
from models.messages import Message, MessagePart, Text
from tests.agent.sessions import open_session, turn
from tests.loopback import Loopback, chat


def unmarked(part: MessagePart) -> MessagePart:
    """Without the mark of the tail's instructions (at night there are some), which each assembly makes anew."""
    return replace(part, nonce="") if isinstance(part, Text) else part


async def test_the_parts_add_up_and_hold_what_is_sent(workspace: Workspace, tmp_path: Path, server: Loopback) -> None:
    session = open_session(workspace, tmp_path, server)
    server.answers_all(lambda _: chat("Good."))
    await turn(session, "The boiler is serviced in May. 锅炉")
    view = await context_view(session, "When is it serviced?")
    assert sum(part.tokens for part in view.parts) == view.report.total_tokens
    for zone in view.report.zones:
        assert sum(part.tokens for part in view.parts if part.zone == zone.name) == zone.tokens
    for layer in view.report.layers:
        assert sum(part.tokens for part in view.parts if part.layer == layer.name) == layer.tokens
    assert "When is it serviced?" in view.parts[-1].text
    assembled = await session.preview_request("When is it serviced?")
    sent = [unmarked(part) for message in assembled.request.messages for part in message.parts]
    assert [unmarked(part) for shown in view.parts for part in shown.contents] == sent
    assert all(isinstance(message, Message) for message in assembled.request.messages)
    await session.close()


async def test_the_first_new_byte_is_behind_all_that_was_sent(
    workspace: Workspace, tmp_path: Path, server: Loopback
) -> None:
    session = open_session(workspace, tmp_path, server)
    server.answers_all(lambda _: chat("Good."))
    await turn(session, "The boiler is serviced in May.")
    view = await context_view(session)
    new = [part for part in view.parts if not part.is_unchanged]
    assert [part.text for part in new if part.zone == "C"] == ["Good."]
    assert "the first new byte is byte" in view.sentences[0] and "“model: Good.”" in view.sentences[0]
    await session.close()


async def test_an_edited_head_is_where_the_request_changed(
    workspace: Workspace, tmp_path: Path, server: Loopback
) -> None:
    workspace.soul_md.write_text("Be kind.\n", encoding="utf-8")
    session = open_session(workspace, tmp_path, server)
    server.answers_all(lambda _: chat("Good."))
    await turn(session, "Hello.")
    workspace.soul_md.write_text("Be brief.\n", encoding="utf-8")
    session.context.reload()
    view = await context_view(session)
    changed = next(part for part in view.parts if not part.is_unchanged)
    assert changed.zone == "A" and not next(part for part in view.parts if part.source == "SOUL.md").is_unchanged
    before = view.parts[: view.parts.index(changed)]
    first = sum(len(part.text.encode()) for part in before) + 1
    assert (
        f"the first changed byte is byte {first:,} of the text, at the start of “{changed.source}”" in view.sentences[0]
    )
    await session.close()


async def test_before_the_first_request_nothing_is_compared(
    workspace: Workspace, tmp_path: Path, server: Loopback
) -> None:
    session = open_session(workspace, tmp_path, server)
    view = await context_view(session)
    assert not any(part.is_unchanged for part in view.parts)
    assert view.sentences == ()
    await session.close()


async def test_a_file_that_would_be_asked_about_is_named_and_not_read(
    workspace: Workspace, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("elsewhere") / "密钥.txt"
    outside.write_text("not for everybody", encoding="utf-8")
    session = open_session(workspace, tmp_path)
    view = await context_view(session, f"read @{outside}")
    assert any(f"{outside} is outside the project" in sentence for sentence in view.sentences)
    assert not any("not for everybody" in part.text for part in view.parts)
    await session.close()
