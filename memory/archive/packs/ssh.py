"""Packs over SSH (SFTP). Keys come from the agent and `~/.ssh`; the host must stand in known_hosts already."""

import asyncio
import secrets
from contextlib import suppress
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from foundation.errors import Misuse
from foundation.names import ARCHIVE_FILE, Grammar
from memory.archive.packs.remote import RemoteStorage, need
from memory.errors import StorageUnreachable


class SshStorage(RemoteStorage):
    """`ssh://[user@]host[:port]/folder`; `/~/folder` begins where the user is at home."""

    def __init__(self, address: str, grammar: Grammar = ARCHIVE_FILE) -> None:
        parts = urlsplit(address)
        if parts.password is not None:
            raise Misuse(
                "Archive storage",
                "Do not put a password into the address.",
                "Use a key: `ssh-keygen`, then `ssh-copy-id HOST`.",
            )
        folder = unquote(parts.path).rstrip("/")
        super().__init__(address.rstrip("/"), folder.removeprefix("/~/") or "/", grammar)
        self._host = parts.hostname or ""
        self._who = {"username": parts.username, "port": parts.port}
        need("sshfs", "Packs over SSH", "ssh")
        import asyncssh

        self.trouble = (OSError, asyncssh.Error, asyncio.TimeoutError)
        self._not_verifiable = asyncssh.HostKeyNotVerifiable

    def _connect(self) -> Any:
        import sshfs

        fs = cast("Any", sshfs).SSHFileSystem(
            self._host,
            **{key: value for key, value in self._who.items() if value is not None},
            known_hosts=(),  # the user's own file decides; sshfs by itself would take any host
            connect_timeout=10,
            login_timeout=20,
            keepalive_interval=15,
            skip_instance_cache=True,
        )
        fs.makedirs(self._folder, exist_ok=True)
        return fs

    def _end(self, connection: Any) -> None:
        connection._finalize(connection.loop, connection._pool, connection._stack)

    def _get(self, fs: Any, path: str, start: int, end: int) -> bytes:
        from fsspec import asyn

        return cast("Any", asyn).sync(fs.loop, _read_part, fs, path, start, end)

    def upload(self, fs: Any, path: str, data: bytes) -> None:
        from fsspec import asyn

        folder, _, name = path.rpartition("/")
        cast("Any", asyn).sync(fs.loop, _write_beside, fs, f"{folder}/.{name}.{secrets.token_hex(6)}.tmp", path, data)

    def _unreachable(self, error: BaseException) -> StorageUnreachable:
        if isinstance(error, self._not_verifiable):
            return StorageUnreachable(
                "An unknown host",
                f"{self._host} is not in your known_hosts, or its key has changed. Nothing was sent.",
                f"Verify its key with `ssh {self._host}` first; unknown hosts are never trusted.",
            )
        return super()._unreachable(error)


async def _read_part(fs: Any, path: str, start: int, end: int) -> bytes:
    """sshfs itself reads a file whole, however long it is."""
    import asyncssh

    async with fs._pool.get() as channel:
        try:
            async with channel.open(path, "rb") as file:
                return await file.read(end - start, start)
        except asyncssh.SFTPNoSuchFile as error:
            raise FileNotFoundError(path) from error


async def _write_beside(fs: Any, beside: str, path: str, data: bytes) -> None:
    """A file of another name, synced where the server can, then renamed: whole, or not at all."""
    import asyncssh

    async with fs._pool.get() as channel:
        try:
            async with channel.open(beside, "wb", asyncssh.SFTPAttrs(permissions=0o600)) as file:
                await file.write(data)
                with suppress(asyncssh.SFTPOpUnsupported):
                    await file.fsync()
            try:
                await channel.posix_rename(beside, path)
            except asyncssh.SFTPOpUnsupported:  # a plain rename takes no name that is there
                if await channel.exists(path):
                    await channel.remove(path)
                await channel.rename(beside, path)
        except BaseException:
            if await channel.exists(beside):
                await channel.remove(beside)
            raise
