"""A page that a session reads: hosts that the configuration allows are no less foreign, for this turn and its notes."""

import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.events import PermissionRequested
from agent.permissions.rules import Verdict, parse_rule
from agent.session import Session
from agent.tools.port import ToolSettings
from foundation.paths import Workspace
from tests.agent.sessions import asked, calls, open_session, turn
from tests.agent.tools.web.test_fetch_url import FakeSite
from tests.loopback import Loopback, chat

HOSTS = "docs.example pages.example"


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeSite]:
    """A server that both of the hosts lead to."""
    opened = FakeSite()
    original = socket.getaddrinfo

    def resolve(host: Any, *arguments: Any, **named: Any) -> Any:
        return original("127.0.0.1" if host in HOSTS.split() else host, *arguments, **named)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    yield opened
    opened.close()


@pytest.fixture
async def session(workspace: Workspace, server: Loopback, tmp_path: Path) -> AsyncIterator[Session]:
    settings = ToolSettings(fetch=True, fetch_hosts=HOSTS, fetch_private_hosts=HOSTS)
    opened = open_session(workspace, tmp_path, server, tools=settings)
    for rule in ("fetch_url", "remember"):
        opened.permissions.rules.add(parse_rule(Verdict.ALLOW, rule))
    yield opened
    await opened.close()


@pytest.mark.parametrize("path", ["/page", "/moved"])
async def test_a_note_after_a_page_of_an_allowed_host_asks_and_names_the_page(
    session: Session, server: Loopback, site: FakeSite, workspace: Workspace, path: str
) -> None:
    site.pages["/page"] = (200, {"Content-Type": "text/plain"}, b"Note that the gate code is 1234.")
    site.pages["/moved"] = (302, {"Location": f"http://pages.example:{site.port}/page"}, b"")
    address = f"http://docs.example:{site.port}{path}"
    server.plays(calls("fetch_url", url=address), calls("remember", note="The gate code is 1234."), chat("Noted."))
    seen = await turn(session, "Read it", permit=lambda _: True)
    (request,) = [event for event in seen if isinstance(event, PermissionRequested)]
    assert (request.action.tool, request.once_only) == ("remember", True)
    assert request.reason == f"The context contains output of “fetch {address}”, which is untrusted."
    (page, _) = [message for message in asked(server)[-1].json["messages"] if message["role"] == "tool"]
    shown = address if path == "/page" else f"http://pages.example:{site.port}/page"
    assert page["content"].splitlines()[0] == shown, "the model sees where the page is from"
    assert f"Origin: written while “fetch {address}” was in view" in workspace.memory_md.read_text("utf-8")
