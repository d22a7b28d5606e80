"""`palimpsest keys`, and the key that a model of a service needs."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from models.chat.errors import Endpoint, refused_error, timeout_error
from models.chat.service_keys import MissingKey, require_key, service_of
from models.chat.spec import key_of, parse_spec
from tests.agent.conftest import Run

KEY = "sk-Ab9_c.d-e~f"
pytestmark = pytest.mark.timeout(60)


@pytest.fixture(autouse=True)
def without_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for provider in ("OPENAI", "ANTHROPIC"):
        for name in (f"{provider}_API_KEY", f"PALIMPSEST_{provider}_KEY", f"{provider}_BASE_URL"):
            monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PALIMPSEST_CONFIG_DIR", str(tmp_path / "config"))


def test_a_key_is_read_listed_and_removed_and_never_shown(run: Run, root: Path) -> None:
    stored = run("keys", "set", "openai", stdin=f"{KEY}\n".encode())
    assert stored.status == 0
    listed = run("keys")
    assert "api.openai.com" in listed.out
    assert run("keys", "--json").json["keys"] == [{"service": "api.openai.com", "place": "file"}]
    removed = run("keys", "remove", "https://api.openai.com/v1")
    assert removed.status == 0
    assert run("keys", "remove", "openai").status == 2
    assert KEY not in stored.out + stored.err + listed.out + listed.err + removed.out + removed.err
    assert not [path for path in root.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


@pytest.mark.parametrize("raw", [b"", b"sk-\xc3\xa4bc\n", "sk-abc” def".encode()])
def test_a_bad_key_is_refused_without_being_shown(run: Run, raw: bytes) -> None:
    failed = run("keys", "set", "openai", stdin=raw)
    assert failed.status == 2
    assert "sk-" not in failed.out + failed.err


def test_a_model_of_a_service_without_a_key_is_refused_before_anything_is_sent(run: Run) -> None:
    failed = run("--model", "openai:gpt-4o", "-p", "hello")
    assert failed.status == 1
    assert "api.openai.com needs a key" in failed.err and "keys set api.openai.com" in failed.err
    assert "Start the server" not in failed.err
    assert run("-p", "/model openai:gpt-4o").status == 1


def test_a_key_goes_to_its_own_service_and_never_unencrypted_over_the_internet(run: Run, tmp_path: Path) -> None:
    environment = {"PALIMPSEST_CONFIG_DIR": str(tmp_path / "config")}
    run("keys", "set", "openai", stdin=KEY.encode())
    assert key_of(parse_spec("openai:gpt-4o"), environment) == KEY
    for spec in ("openai:m@https://openrouter.ai/api/v1", "anthropic:m", "openai:m@http://127.0.0.1:1/v1"):
        assert key_of(parse_spec(spec), environment) == ""
    assert key_of(parse_spec("openai:m@http://api.openai.com/v1"), environment) == ""
    assert service_of(parse_spec("openai:m@http://api.openai.com/v1"), environment) == ""
    require_key(parse_spec("openai:gpt-4o"), environment)
    require_key(parse_spec("openai:m@https://models.example.org/v1"), environment)  # it may need none
    with pytest.raises(MissingKey, match=r"openrouter\.ai needs a key"):
        require_key(parse_spec("openai:m@https://openrouter.ai/api/v1"), environment)


class _Refusing(BaseHTTPRequestHandler):
    """Echoes the key that it was sent in its refusal."""

    seen: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        key = (self.headers.get("authorization") or "").removeprefix("Bearer ")
        self.seen.append(key)
        body = json.dumps({"error": {"message": f"Incorrect API key provided: {key}."}}).encode()
        self.send_response(400)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        pass


@pytest.fixture
def refusing() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), _Refusing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def test_a_stored_key_is_sent_and_a_server_that_echoes_it_does_not_get_it_shown(run: Run, refusing: str) -> None:
    assert run("keys", "set", refusing, stdin=f" {KEY}\r\n".encode()).status == 0
    failed = run("--model", f"openai:m@{refusing}", "-p", "hello")
    assert failed.status == 1 and KEY in _Refusing.seen
    assert KEY not in failed.out + failed.err
    assert "Incorrect API key" in failed.err


@pytest.mark.parametrize("provider", ["openai", "ollama", "lmstudio", "llamacpp", "anthropic"])
def test_an_address_of_the_internet_is_never_to_be_started(provider: str) -> None:
    far, near = (
        Endpoint(provider, "m", f"{address}/v1") for address in ("https://api.example.org", "http://127.0.0.1:1")
    )
    for error in (refused_error(far, "no route"), timeout_error(far, "connect", 5)):
        assert "tart" not in error.hint and "server runs" not in error.hint
        assert "network" in error.hint
    assert "server is running" in timeout_error(near, "connect", 5).hint
