"""Sixty ways to make a fetch reach a server within: none does. The control: with its host allowed, the same server is
reached."""

import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from agent.tools.port import ToolFailure, ToolRun, ToolSettings
from agent.tools.web.fetch_url import FetchUrl
from tests.agent.tools.web.test_fetch_url import FakeSite

SPELLED = (
    "127.0.0.1", "127.1", "127.0.1", "0", "0.0.0.0", "127.0.0.2", "127.255.255.254", "2130706433", "0x7f000001",
    "0x7f.0.0.1", "0x7F.1", "017700000001", "0177.0.0.1", "0177.1", "00000177.0.0.1", "127.0x0.0.1", "127.0.0.1.",
    "①②⑦.⓪.⓪.①", "１２７.0.0.1", "127。0。0。1", "127．0．0．1", "%31%32%37.0.0.1", "127.0.0.1%00.example.org",
    "localhost", "LOCALHOST", "localhost.", "ⓛocalhost", "loc\u00adalhost", "localhost.localdomain", "ip6-localhost",
    "[::1]", "[0:0:0:0:0:0:0:1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]",
    "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[::1%25lo]", "[fe80::1%25lo]", "169.254.169.254",
    "metadata.google.internal",
)  # fmt: skip
"""Hosts that are this machine, or its network, for some program."""
CONFUSED = (
    "http://127.0.0.1:{port}\\@example.org/", "http://example.org@127.0.0.1:{port}/", "http://example.org:80@localhost:{port}/",
    "http://example.org#@127.0.0.1:{port}/", "http:127.0.0.1:{port}/", "http:///127.0.0.1:{port}/",
    "http:\\\\127.0.0.1:{port}\\", "//127.0.0.1:{port}/", "hTTp://127.0.0.1:{port}/", "http://127.0.0.1:{port}?.example.org",
    "http://127.0.0.1\t:{port}/", "http://127.0.0.1\n:{port}/", "gopher://127.0.0.1:{port}/_x", "dict://127.0.0.1:{port}/x",
)  # fmt: skip
"""Addresses whose host parsers disagree on, and other protocols."""
RESOLVED = ("10.0.0.1", "127.0.0.1", "::1", "192.168.1.1", "169.254.169.254", "fd00::1", "::ffff:127.0.0.1")
"""What the name of a stranger resolves to."""


@pytest.fixture
def site() -> Iterator[FakeSite]:
    opened = FakeSite()
    opened.pages["/"] = opened.pages["/inner"] = (200, {"Content-Type": "text/plain"}, b"within")
    yield opened
    opened.close()


def is_refused(url: str, **changes: Any) -> bool:
    settings = ToolSettings(**{"fetch": True, "fetch_private_hosts": "", "fetch_seconds": 5, **changes})
    try:
        FetchUrl(settings).action({"url": url})
        FetchUrl(settings).run({"url": url}, ToolRun("e_test", threading.Event()))
    except ToolFailure:
        return True
    return False


def attempts(port: int) -> list[str]:
    return [f"http://{host}:{port}/" for host in SPELLED] + [form.format(port=port) for form in CONFUSED]


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names are resolved by the hosts file alone; strangers are not there."""
    real = socket.getaddrinfo

    def resolve(host: Any, *rest: Any, **named: Any) -> Any:
        if (
            isinstance(host, str)
            and any(letter.isalpha() for letter in host)
            and "local" not in host.lower()
            and ":" not in host
        ):
            raise socket.gaierror(socket.EAI_NONAME, "no such host")
        return real(host, *rest, **named)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)


def test_there_are_sixty_attempts() -> None:
    assert len(set(attempts(1))) + len(RESOLVED) >= 60


@pytest.mark.timeout(60)
def test_no_spelling_reaches_a_server_within(site: FakeSite) -> None:
    assert [url for url in attempts(site.port) if not is_refused(url)] == []
    assert site.asked == []


@pytest.mark.timeout(60)
def test_no_redirect_reaches_a_server_within(site: FakeSite) -> None:
    """The first server may be asked; what it sends us to may not."""
    for number, url in enumerate(attempts(site.port)):
        location = url.rstrip("/").translate({9: None, 10: None}).encode().decode("latin-1") + "/inner"
        site.pages["/"] = ((301, 302, 303, 307, 308)[number % 5], {"Location": location}, b"")
        if "127.0.0.1" in url:  # the host that the control allows
            continue
        assert is_refused(f"http://127.0.0.1:{site.port}/", fetch_private_hosts="127.0.0.1"), url
    assert {path for path, _ in site.asked} == {"/"}


@pytest.mark.parametrize("address", RESOLVED)
def test_no_name_of_a_stranger_leads_within(site: FakeSite, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(family, 0, 0, "", (address, site.port))])
    assert is_refused(f"http://stranger.example:{site.port}/")
    assert site.asked == []


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_no_proxy_of_the_environment_leads_within(site: FakeSite, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, site.address)
    assert is_refused("http://stranger.example/")
    assert site.asked == []


def test_the_same_server_is_reached_where_its_host_is_allowed(site: FakeSite) -> None:
    """The control."""
    assert not is_refused(f"http://127.0.0.1:{site.port}/", fetch_private_hosts="127.0.0.1")
    assert not is_refused(f"http://localhost:{site.port}/", fetch_private_hosts="localhost")
    assert [path for path, _ in site.asked] == ["/", "/"]
