"""Places for packs that really run, on loopback: an S3 server and an SSH server with keys made for the test."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import asyncssh


@contextmanager
def s3_server(monkeypatch: Any, bucket: str = "packs") -> Iterator[Any]:
    """moto's server on a port of its own, with one bucket; the environment holds keys that open nothing else."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "fake",
        "AWS_SECRET_ACCESS_KEY": "fake",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, value)
    urlopen(Request(f"http://{host}:{port}/moto-api/reset", method="POST")).close()  # one process, one state
    client = boto3.client("s3")
    client.create_bucket(Bucket=bucket)
    try:
        yield client
    finally:
        client.close()
        server.stop()


class SshServer:
    """An SFTP server over `root`, on a thread and loop of its own."""

    def __init__(self, root: Path, host_key: Path, client_key: Path) -> None:
        self.root = root
        self._host_key = host_key
        self._client_key = client_key
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server: asyncssh.SSHAcceptor | None = None
        self._connections: list[asyncssh.SSHServerConnection] = []
        self.port = 0

    def start(self) -> None:
        self._run(self._start())

    def stop(self) -> None:
        self._run(self._stop())

    def end(self) -> None:
        self._run(self._hang_up())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work: Any) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    async def _start(self) -> None:
        self._server = await asyncssh.listen(
            "127.0.0.1",
            self.port,
            server_host_keys=[str(self._host_key)],
            authorized_client_keys=f"{self._client_key}.pub",
            sftp_factory=lambda chan: asyncssh.SFTPServer(chan, chroot=str(self.root)),
            acceptor=self._connections.append,
        )
        self.port = self._server.get_port()

    async def _stop(self) -> None:
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()
            self._server = None

    async def _hang_up(self) -> None:
        """Ends what clients left open: nobody would once the loop has stopped."""
        for connection in self._connections:
            connection.abort()
        await asyncio.gather(*(connection.wait_closed() for connection in self._connections))
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        if tasks:
            await asyncio.wait(tasks, timeout=5)


@contextmanager
def ssh_server(home: Path, monkeypatch: Any, *, trusted: bool = True) -> Iterator[SshServer]:
    """A server, and a home folder with a key that opens it and, where `trusted`, its own key in known_hosts."""
    folder, root = home / ".ssh", home.parent / "server"
    folder.mkdir(parents=True, mode=0o700)
    root.mkdir()
    host_key, client_key = home.parent / "host_key", folder / "id_ed25519"
    for path in (host_key, client_key):
        key = asyncssh.generate_private_key("ssh-ed25519")
        key.write_private_key(str(path))
        key.write_public_key(f"{path}.pub")
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    server = SshServer(root, host_key, client_key)
    server.start()
    if trusted:
        public = Path(f"{host_key}.pub").read_text("utf-8")
        (folder / "known_hosts").write_text(f"[127.0.0.1]:{server.port} {public}")
    try:
        yield server
    finally:
        server.stop()
        server.end()
