"""Packs on S3Storage, or what speaks like it. Keys come from where S3Storage tools find them: the environment,
`~/.aws`, a role.

`AWS_ENDPOINT_URL` names another server than Amazon's.
"""

from typing import Any

from foundation.errors import Misuse
from foundation.names import ARCHIVE_FILE, Grammar
from memory.archive.packs.remote import RemoteStorage, need


class S3Storage(RemoteStorage):
    """`s3://bucket/prefix`. An object is put whole or not at all."""

    def __init__(self, address: str, grammar: Grammar = ARCHIVE_FILE) -> None:
        bucket, _, prefix = address.removeprefix("s3://").partition("/")
        if "@" in bucket or ":" in bucket:
            raise Misuse(
                "Archive storage",
                "Do not put a key into the address.",
                "Keys come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or from ~/.aws/credentials.",
            )
        super().__init__(address.rstrip("/"), f"{bucket}/{prefix}".rstrip("/"), grammar)
        need("s3fs", "Packs on S3", "s3")
        import botocore.exceptions

        self.trouble = (OSError, botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError)

    def _connect(self) -> Any:
        import s3fs

        return s3fs.S3FileSystem(
            anon=False,
            use_listings_cache=False,
            skip_instance_cache=True,
            config_kwargs={"connect_timeout": 10, "read_timeout": 60, "retries": {"max_attempts": 3}},
        )

    def _end(self, connection: Any) -> None:
        connection.close_session(connection.loop, connection._s3)

    def _get(self, fs: Any, path: str, start: int, end: int) -> bytes:
        return fs.cat_file(path, start=start, end=end)

    def upload(self, fs: Any, path: str, data: bytes) -> None:
        fs.pipe_file(path, data)
