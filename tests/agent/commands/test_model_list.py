"""`/model`: what was found, what was used before and whether it responds, and how to get one."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.commands import registry
from agent.commands.results import Choices, CommandFailed, OpenNamedScreen, SessionSwitched
from agent.config.used_models import UsedModels
from agent.session import Session
from foundation.paths import Workspace
from tests.agent.sessions import open_session
from tests.loopback import Loopback, json_reply


@pytest.fixture
async def session(workspace: Workspace, tmp_path: Path) -> AsyncIterator[Session]:
    opened = open_session(workspace, tmp_path)
    yield opened
    await opened.close()


async def listed(session: Session, line: str = "/model") -> Choices:
    outcome = await registry.run(session, line)
    if isinstance(outcome, OpenNamedScreen):
        outcome = await outcome.printed()
    assert isinstance(outcome, Choices), outcome
    return outcome


async def test_with_nothing_there_it_says_how_to_get_one(session: Session) -> None:
    choices = await listed(session)
    assert [item.id for item in choices.items] == ["offline"]
    assert "in use" in choices.items[0].detail
    assert choices.takes_text
    for way in ("Ollama", "LM Studio", "llama.cpp", "MLX", "a service", "address"):
        assert any(way in note for note in choices.notes)


async def test_what_was_used_before_is_listed_with_whether_it_answers(
    session: Session, server: Loopback, tmp_path: Path
) -> None:
    server.answers("/v1/models", json_reply({"data": [{"id": "here", "owned_by": "vllm"}]}))
    here, gone = f"openai:here@{server.address}/v1", "openai:x@http://127.0.0.1:9/v1"
    elsewhere, other = "openai:y@https://models.example/v1", f"openai:other@{server.address}/v1"
    used = UsedModels.of(session.config.environment)
    for spec in (here, gone, elsewhere, other, f"mlx:{tmp_path}/none"):
        used.answered(spec)
    details = {item.id: item.detail for item in (await listed(session)).items}
    assert details[here] == "used before · it responds"
    assert details[gone] == "used before · no response from http://127.0.0.1:9/v1"
    assert details[elsewhere].startswith("used before · on another machine") and "not checked" in details[elsewhere]
    assert "does not list it" in details[other]
    assert details[f"mlx:{tmp_path}/none"] == "used before · its folder does not exist"
    await registry.run(session, f"/model {gone}")
    assert (await listed(session)).items[0].detail == "in use · no response from http://127.0.0.1:9/v1"


async def test_an_address_is_asked_for_its_models(session: Session, server: Loopback) -> None:
    server.answers("/v1/models", json_reply({"data": [{"id": "one", "owned_by": "vllm"}]}))
    switched = await registry.run(session, f"/model {server.address}")
    assert isinstance(switched, SessionSwitched)
    assert session.profile.spec == f"openai:one@{server.address}/v1"
    server.answers("/v1/models", json_reply({"data": [{"id": n, "owned_by": "vllm"} for n in ("one", "two")]}))
    assert [item.id for item in (await listed(session, f"/model {server.address}/v1")).items] == [
        f"openai:{name}@{server.address}/v1" for name in ("one", "two")
    ]
    failed = await registry.run(session, "/model http://127.0.0.1:9")
    assert (
        isinstance(failed, CommandFailed) and "No model server responds at http://127.0.0.1:9" in failed.error.message
    )


async def test_with_a_model_that_answers_it_does_not_say_that_none_does(session: Session, server: Loopback) -> None:
    server.answers("/v1/models", json_reply({"data": [{"id": "one", "owned_by": "vllm"}]}))
    await registry.run(session, f"/model {server.address}")
    choices = await listed(session)
    assert choices.items[0].detail == "in use · it responds"
    assert not choices.notes


async def test_the_other_models_of_the_server_in_use_are_listed(session: Session, server: Loopback) -> None:
    names = ("one", "通义千问-7b", "three")
    server.answers("/v1/models", json_reply({"data": [{"id": name, "owned_by": "vllm"} for name in names]}))
    one, other, three = (f"openai:{name}@{server.address}/v1" for name in names)
    await registry.run(session, f"/model {other}")
    choices = await listed(session)
    assert [item.id for item in choices.items] == [other, one, three, "offline"]
    assert choices.items[0].detail == "in use · it responds"
    assert not any("used before" in item.detail for item in choices.items)
    assert not choices.notes
    await registry.run(session, "/model offline")
    assert one not in [item.id for item in (await listed(session)).items], "only of the server in use"
