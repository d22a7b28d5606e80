"""Fetching a page: which addresses, how much, how long, and what the model reads of it."""

import gzip
import ipaddress
import socket
import ssl
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpcore2
import pytest

from agent.permissions.action import Access
from agent.permissions.policy import Policy
from agent.permissions.rules import RuleSet, Verdict, parse_rule
from agent.tools.port import ToolFailure, ToolRun, ToolSettings
from agent.tools.web.fetch_url import MAX_HOPS, MAX_URL, FetchUrl
from agent.tools.web.guarded_backend import GuardedBackend, is_public

Page = tuple[int, dict[str, str], bytes]
HTML = {"Content-Type": "text/html; charset=utf-8"}
ARTICLE = (
    "<html><head><title>Boats</title><style>p{}</style></head><body><nav>menu</nav><main><h1>Ferries</h1>"
    "<p>The <a href='/x'>ferry</a> costs <b>40 €</b>, 渡轮.</p><script>alert(1)</script><form>Your password?</form>"
    "<ul><li>one</li><li>two</li></ul></main></body></html>"
)


class FakeSite:
    """A server on loopback; `pages` gives an answer by path. `asked` are the paths, with their Host headers."""

    def __init__(self) -> None:
        self.pages: dict[str, Page | Callable[[BaseHTTPRequestHandler], None]] = {}
        self.asked: list[tuple[str, str]] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append((self.path, self.headers["Host"]))
                page = site.pages.get(self.path, (404, {}, b"nothing"))
                if callable(page):
                    page(self)
                    return
                status, headers, body = page
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        self.address = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def site() -> Iterator[FakeSite]:
    opened = FakeSite()
    yield opened
    opened.close()


def settings(**changes: Any) -> ToolSettings:
    return ToolSettings(**{"fetch": True, "fetch_private_hosts": "127.0.0.1", "fetch_seconds": 5, **changes})


def fetch(url: str, stopped: threading.Event | None = None, **changes: Any) -> str:
    return FetchUrl(settings(**changes)).run({"url": url}, ToolRun("e_test", stopped or threading.Event()))


def refused(url: str, **changes: Any) -> str:
    with pytest.raises(ToolFailure) as failure:
        fetch(url, **changes)
    return f"{failure.value.title}: {failure.value.message}"


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0"),
        *("224.0.0.1", "255.255.255.255", "198.18.0.1", "192.0.2.1", "240.0.0.1", "192.0.0.8", "192.88.99.1"),
        *("::1", "::", "fe80::1", "fc00::1", "fd12::1", "ff02::1", "fec0::1", "2001:db8::1", "::127.0.0.1"),
        *(
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "100::1",
            "2002:7f00:1::",
            "2002:a00:1::1",
        ),
        "2001:0:7f00:1:0:0:f5ff:fffe",  # Teredo, of 10.0.0.1
    ],
)
def test_an_address_within_is_not_public(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address", ["93.184.215.14", "1.1.1.1", "2606:4700::1111", "64:ff9b::101:101", "2002:101:101::1"]
)
def test_an_address_of_the_internet_is_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


def test_a_page_is_read_as_markdown(site: FakeSite) -> None:
    site.pages["/a?q=%C3%A9"] = (200, HTML, ARTICLE.encode())
    text = fetch(f"{site.address}/a?q=é#part")
    assert text.startswith(f"{site.address}/a?q=é\n\n")
    assert "# Ferries" in text and "[ferry](/x) costs **40 €**, 渡轮." in text and "* one" in text
    assert not any(word in text for word in ("alert", "menu", "p{}", "password"))


def test_fetching_leaves_the_machine_and_asks_for_it() -> None:
    action = FetchUrl(settings()).action({"url": "https://example.org/a#b"})
    assert (action.access, action.subject) == (Access.NETWORK, "https://example.org/a")


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "[::1]", "0.0.0.0", "2130706433", "0x7f.1", "127.1", "[::ffff:127.0.0.1]"]
)
def test_nothing_within_is_reached(site: FakeSite, host: str) -> None:
    assert "ublic" in refused(f"http://{host}:{site.port}/", fetch_private_hosts="") or host == "[::1]"
    assert site.asked == []


def test_a_name_that_also_has_an_address_within_is_refused(site: FakeSite, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [(0, 0, 0, "", ("93.184.215.14", 80)), (0, 0, 0, "", ("10.0.0.1", 80))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answers)
    assert "10.0.0.1" in refused("http://example.org/", fetch_private_hosts="")


@pytest.mark.parametrize("name", ["rebinding.example", "rebinding.example."])
def test_a_name_is_resolved_once_and_its_address_connected_to(
    site: FakeSite, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    site.pages["/"] = (200, {"Content-Type": "text/plain"}, b"Hello")
    resolved: list[str] = []
    original = socket.getaddrinfo

    def resolve(host: str, *arguments: Any, **named: Any) -> Any:
        if host != name:
            return original(host, *arguments, **named)
        resolved.append(host)
        return [(0, 0, 0, "", ("127.0.0.1", site.port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    fetch(f"http://{name}:{site.port}/", fetch_private_hosts="rebinding.example")
    assert resolved == [name]
    assert site.asked == [("/", f"{name}:{site.port}")]


def test_each_redirect_is_checked(site: FakeSite) -> None:
    site.pages["/"] = (302, {"Location": f"http://localhost:{site.port}/inner"}, b"")
    site.pages["/inner"] = (200, HTML, b"secret")
    assert "localhost" in refused(f"{site.address}/")
    assert [path for path, _ in site.asked] == ["/"]
    site.pages["/file"] = (302, {"Location": "file:///etc/passwd"}, b"")
    assert "Not an address" in refused(f"{site.address}/file")
    site.pages["/loop"] = (302, {"Location": "/loop"}, b"")
    assert "redirects" in refused(f"{site.address}/loop")
    assert [path for path, _ in site.asked].count("/loop") == MAX_HOPS + 1


def test_a_host_outside_the_list_is_refused_also_by_a_redirect(site: FakeSite) -> None:
    assert "fetch_hosts" in refused("http://example.org/", fetch_hosts="*.python.org docs.example.org")
    site.pages["/"] = (301, {"Location": "http://example.org/"}, b"")
    assert "fetch_hosts" in refused(f"{site.address}/", fetch_hosts="127.0.0.1")
    listed = FetchUrl(settings(fetch_hosts="*.Python.ORG")).action({"url": "https://docs.python.org./3"})
    assert listed.subject == "https://docs.python.org./3"


def test_a_redirect_to_what_a_rule_denies_is_not_followed(site: FakeSite) -> None:
    site.pages["/"] = (301, {"Location": "/a/%2e%2E/inner"}, b"")
    site.pages["/inner"] = (200, HTML, b"secret")
    policy = Policy(RuleSet((parse_rule(Verdict.DENY, f"fetch_url({site.address}/inner)"),)))
    tool = FetchUrl(settings(fetch_private_hosts="127.0.0.1"), policy.withheld)
    with pytest.raises(ToolFailure, match="a permission rule keeps"):
        tool.run({"url": f"{site.address}/"}, ToolRun("e_1", threading.Event()))
    assert [path for path, _ in site.asked] == ["/"]


@pytest.mark.parametrize(
    ("given", "judged"),
    [
        ("/3/../4/./x", "/4/x"),
        ("/%2e%2E/../4/%78", "/4/x"),
        ("/a//b/..", "/a//"),
        ("/a%2fb/%e4", "/a%2Fb/%E4"),
        ("", ""),
        ("/", "/"),
        ("/a/.", "/a/"),
    ],
)
def test_rules_judge_the_path_that_a_server_sees(given: str, judged: str) -> None:
    action = FetchUrl(settings()).action({"url": f"https://example.org{given}?q=/../x"})
    assert action.subject == f"https://example.org{judged}?q=/../x"


@pytest.mark.parametrize(
    "url",
    [
        *(
            "ftp://example.org/",
            "file:///etc/passwd",
            "example.org",
            "http://",
            "http://a:b@example.org/",
            "http://[x/",
        ),
        *("http://example.org/" + "x" * MAX_URL, "http://example.org/\x1b[2J", "http://example.org/\u202egnp.exe"),
    ],
)
def test_only_plain_web_addresses_are_taken(url: str) -> None:
    assert refused(url).startswith("Not an address")


def test_too_much_is_refused_compressed_or_not(site: FakeSite) -> None:
    site.pages["/large"] = (200, {"Content-Type": "text/plain"}, b"x" * (2**20 + 1))
    site.pages["/bomb"] = (200, {"Content-Encoding": "gzip"}, gzip.compress(b"x" * (64 * 2**20)))
    site.pages["/fits"] = (200, {"Content-Encoding": "gzip", "Content-Type": "text/plain"}, gzip.compress(b"Fits"))
    assert "Too large" in refused(f"{site.address}/large", fetch_mb=1)
    assert "Too large" in refused(f"{site.address}/bomb", fetch_mb=1)
    assert fetch(f"{site.address}/fits", fetch_mb=1).endswith("Fits")


def test_a_compression_that_was_not_asked_for_is_not_shown_as_text(site: FakeSite) -> None:
    site.pages["/"] = (200, {"Content-Encoding": "br", "Content-Type": "text/plain"}, b"\x0b\x02\x80Hello\x03")
    assert "compressed as br" in refused(f"{site.address}/")


def test_a_page_that_unpacks_to_gigabytes_takes_little_memory(site: FakeSite) -> None:
    site.pages["/bomb"] = (200, {"Content-Encoding": "gzip"}, gzip.compress(b"x" * (64 * 2**20)))
    tracemalloc.start()
    try:
        assert "Too large" in refused(f"{site.address}/bomb", fetch_mb=1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 16 * 2**20  # bytes; with the whole of it unpacked 64 MB and more


class FakeStream(httpcore2.NetworkStream):
    def start_tls(self, *_: Any, **__: Any) -> httpcore2.NetworkStream:
        return self

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return b"x"


def test_the_addresses_that_were_judged_are_tried_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def connect(_: object, address: str, *__: object) -> FakeStream:
        tried.append(address)
        if len(tried) < 2:
            raise httpcore2.ConnectError("no route")
        return FakeStream()

    answers = [(0, 0, 0, "", (address, 80)) for address in ("2606:4700::1111", "1.1.1.1", "1.1.1.1", "1.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answers)
    monkeypatch.setattr(httpcore2.SyncBackend, "connect_tcp", connect)
    backend = GuardedBackend(time.monotonic() + 60, threading.Event(), lambda _: False)
    assert backend.connect_tcp("example.org", 80).read(1) == b"x"
    assert tried == ["2606:4700::1111", "1.1.1.1"]
    answers.clear()
    with pytest.raises(httpcore2.ConnectError, match="has no address"):
        backend.connect_tcp("example.org", 80)


def test_no_socket_file_is_opened_and_an_encrypted_connection_is_limited_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(httpcore2.SyncBackend, "connect_tcp", lambda *_: FakeStream())
    stopped = threading.Event()
    backend = GuardedBackend(time.monotonic() + 60, stopped, lambda _: True)
    with pytest.raises(ToolFailure, match="no web address"):
        backend.connect_unix_socket("/run/docker.sock")
    stream = backend.connect_tcp("127.0.0.1", 443).start_tls(ssl.create_default_context())
    assert stream.read(1) == b"x"
    stopped.set()
    with pytest.raises(ToolFailure, match="stopped"):
        stream.read(1)


def test_a_server_that_drips_is_cut_off_and_a_stop_ends_it(site: FakeSite) -> None:
    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        try:
            for _ in range(100):
                handler.wfile.write(b"x")
                time.sleep(0.05)
        except OSError:
            return

    site.pages["/"] = drip
    assert "Too slow" in refused(f"{site.address}/", fetch_seconds=1)
    stopped = threading.Event()
    threading.Timer(0.3, stopped.set).start()
    with pytest.raises(ToolFailure, match="stopped"):
        fetch(f"{site.address}/", stopped)


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({"Content-Type": "text/html; charset=gb18030"}, "<p>锅炉</p>".encode("gb18030")),
        ({"Content-Type": "text/html"}, '<meta charset="gbk"><p>锅炉</p>'.encode("gbk")),
        ({"Content-Type": "text/plain; charset=nonsense"}, "锅炉".encode()),
        ({"Content-Type": "application/json"}, '{"锅炉": 1}'.encode()),
    ],
)
def test_the_charset_is_the_servers_or_the_pages(site: FakeSite, headers: dict[str, str], body: bytes) -> None:
    site.pages["/"] = (200, headers, body)
    assert "锅炉" in fetch(f"{site.address}/")


def test_what_is_no_text_or_an_error_is_said(site: FakeSite) -> None:
    site.pages["/"] = (200, {"Content-Type": "image/png"}, b"\x89PNG")
    assert "image/png" in refused(f"{site.address}/")
    assert "404" in refused(f"{site.address}/none")


@pytest.mark.timeout(60)  # the limit of a conversion is ten seconds
def test_a_page_nested_too_deep_fails_alone(site: FakeSite) -> None:
    site.pages["/"] = (200, HTML, b"<div>" * 100_000)
    assert "Not readable" in refused(f"{site.address}/")
