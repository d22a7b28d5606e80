"""Sessions as tests open them: settings of their own, a scripted server, and what its model asks for."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agent.config.config import Config
from agent.config.workspaces import prepare_workspace
from agent.events import CallLimitReached, PermissionRequested, SessionEvent
from agent.permissions.action import PermissionAnswer
from agent.session import Session
from foundation.paths import Workspace
from tests.agent.turn.event_order import assert_in_order
from tests.loopback import Loopback, Received, Reply, data, delta, stream


def environment_of(tmp_path: Path) -> dict[str, str]:
    return {"PALIMPSEST_CONFIG_DIR": str(tmp_path / "user-config"), "PALIMPSEST_DETECT": "off"}


def open_session(
    workspace: Workspace,
    tmp_path: Path,
    server: Loopback | None = None,
    *,
    project: Sequence[Path] = (),
    environment: Mapping[str, str] | None = None,
    **settings: Any,
) -> Session:
    """A session with the server's model, or offline. `settings` are fields of Config."""
    variables = environment_of(tmp_path) if environment is None else dict(environment)
    prepare_workspace(workspace, variables)
    if server is not None:
        settings["model"] = f"openai:m@{server.address}/v1"
    return Session.open(workspace, Config(environment=variables, **settings), project=project)


async def turn(
    session: Session,
    text: str,
    permit: Callable[[PermissionRequested], bool] | bool | None = None,
    *,
    stop_at: type | None = None,
    further: list[PermissionAnswer] | None = None,
) -> list[Any]:
    """The turn's events. Without `permit` nothing may be asked; `further` answers where the limit of calls is reached,
    and nobody does without it. At the first event of type `stop_at` the answer is stopped."""
    seen: list[SessionEvent] = []
    async for event in session.send(text):
        seen.append(event)
        if stop_at is not None and isinstance(event, stop_at):
            session.stop()
        elif isinstance(event, PermissionRequested):
            assert permit is not None, "nothing may be asked here"
            event.answer.set_result(PermissionAnswer(permit if isinstance(permit, bool) else permit(event)))
        elif isinstance(event, CallLimitReached):
            event.answer.set_result(further.pop(0) if further else PermissionAnswer(False, attended=False))
    assert_in_order(seen)
    return seen


def calls(name: str, **arguments: Any) -> Reply:
    """The model asks for a tool."""
    return several_calls((name, arguments))


def several_calls(*wanted: tuple[str, dict[str, Any]], before: str = "") -> Reply:
    """The model asks for tools, at once, after the words `before`."""
    steps = [delta(content=before)] if before else []
    for index, (name, arguments) in enumerate(wanted):
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"index": index, "id": f"call_{index}", "type": "function", "function": function}
        steps.append(delta(tool_calls=[call]))
    return stream(*map(data, steps), data(delta("tool_calls")), data("[DONE]"))


def asked(server: Loopback) -> list[Received]:
    """The chat requests, in order."""
    return [post for post in server.posts if post.path.endswith("/chat/completions")]


def told(server: Loopback) -> dict[str, Any]:
    """The tool's message in the last request."""
    return [message for message in asked(server)[-1].json["messages"] if message["role"] == "tool"][-1]


def only(seen: Sequence[Any], kind: type) -> Any:
    """The one event of this kind."""
    (found,) = [event for event in seen if isinstance(event, kind)]
    return found
