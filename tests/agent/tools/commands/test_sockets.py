"""A command in the sandbox reaches sockets of the project and of its own temporary folder, and no other."""

import os
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Event

import pytest

from agent.tools.commands.commands import Commands
from agent.tools.commands.sandbox import SandboxKind, bound_sockets
from tests.agent.tools.commands.conftest import Confined, run
from tests.paths import ROOT

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="these sandboxes are Linux's")
PYTHON = os.path.realpath(sys.executable)


def listen(stack: ExitStack, address: str | bytes, kind: socket.SocketKind = socket.SOCK_STREAM) -> None:
    if isinstance(address, str):
        Path(address).parent.mkdir(parents=True, exist_ok=True)
    listener = stack.enter_context(socket.socket(socket.AF_UNIX, kind))
    listener.bind(address)
    if kind is not socket.SOCK_DGRAM:
        listener.listen()


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """A folder that no sandbox covers, with a short path: those of sockets have 108 bytes."""
    with tempfile.TemporaryDirectory(prefix=".s-", dir=ROOT) as folder:
        yield Path(folder)


CONNECT = """
import socket, sys
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
    for way in ("connect", "sendto", "pair"):
        try:
            make = socket.socket if way != "pair" else lambda *which: socket.socketpair(*which)[0]
            made = make(socket.AF_UNIX, kind)
            address = sys.argv[1] if sys.argv[1][0] != "@" else "\\0" + sys.argv[1][1:]
            made.connect(address) if way == "connect" else made.sendto(b"x", address)
            print("reached")
        except Exception as error:
            pass
"""


def reached(commands: Commands, folder: Path, address: str) -> bool:
    (folder / "connect.py").write_text(CONNECT)
    return "reached" in run(commands, f"{PYTHON} connect.py '{address}'", seconds=20)


@pytest.mark.parametrize("network", [False, True])
@pytest.mark.parametrize("kind_of_socket", [socket.SOCK_STREAM, socket.SOCK_DGRAM])
def test_no_socket_outside_is_reached(
    confined: Confined, project: Path, elsewhere: Path, network: bool, kind_of_socket: socket.SocketKind
) -> None:
    home = elsewhere / "h"
    places = [f"{home}/.docker/run/docker.sock", f"{home}/.colima/docker.sock", f"{elsewhere}/other.sock"]
    places += [f"/run/palimpsest-{os.getpid()}.sock"] if os.access("/run", os.W_OK) else []
    commands = confined(home=home, network=network)
    with ExitStack() as stack:
        for place in places:
            stack.callback(Path(place).unlink, missing_ok=True)
            listen(stack, place, kind_of_socket)
        listen(stack, f"\0palimpsest-{os.getpid()}".encode(), kind_of_socket)
        assert [place for place in (*places, f"@palimpsest-{os.getpid()}") if reached(commands, project, place)] == []


@pytest.mark.skipif(not os.access("/run", os.W_OK), reason="needs to write /run")
def test_a_socket_that_is_created_later_in_run_is_not_reached(confined: Confined, project: Path) -> None:
    (project / "connect.py").write_text(CONNECT)
    place = f"/run/palimpsest-{os.getpid()}-later.sock"
    commands = confined()
    handle = commands.start(f"while ! test -e go; do sleep 0.05; done; {PYTHON} connect.py {place}; echo ended")
    with ExitStack() as stack:
        stack.callback(Path(place).unlink, missing_ok=True)
        listen(stack, place)
        (project / "go").touch()
        told = commands.output(handle, 10, Event(), lambda _: None)
    assert "ended" in told
    assert "reached" not in told


def test_the_control_reaches_them(commands: Commands, project: Path, elsewhere: Path) -> None:
    with ExitStack() as stack:
        listen(stack, f"{elsewhere}/stream.sock")
        listen(stack, f"{elsewhere}/datagram.sock", socket.SOCK_DGRAM)
        listen(stack, f"\0palimpsest-{os.getpid()}-control".encode())
        assert Path(f"{elsewhere}/stream.sock") in bound_sockets()
        for place in (f"{elsewhere}/stream.sock", f"{elsewhere}/datagram.sock", f"@palimpsest-{os.getpid()}-control"):
            assert reached(commands, project, place)


def test_a_socket_of_the_project_is_reached(
    confined: Confined, kind: SandboxKind, elsewhere: Path, project: Path
) -> None:
    if kind is SandboxKind.LANDLOCK:
        pytest.skip("with Landlock alone there are no Unix sockets, and it says so")
    project.rmdir()
    (elsewhere / "p").mkdir()
    project.symlink_to(elsewhere / "p")
    commands = confined()
    with ExitStack() as stack:
        listen(stack, f"{elsewhere}/p/own.sock")
        assert reached(commands, elsewhere / "p", f"{elsewhere}/p/own.sock")
    code = "import socket; s = socket.socket(socket.AF_UNIX); s.bind('/tmp/t.sock'); s.listen(); "
    code += "socket.socket(socket.AF_UNIX).connect('/tmp/t.sock'); print('reached')"
    assert "reached" in run(commands, f'{PYTHON} -c "{code}"')
