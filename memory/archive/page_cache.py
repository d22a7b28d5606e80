"""The page cache: PNGs for a person to open and for a vision model to be sent. What is in it can be made again."""

from datetime import timedelta
from pathlib import Path

from foundation.clock import Clock
from foundation.files import child, exists, make_private_folder, read_bytes, remove, scan, touch, write_atomically

KEPT_FOR = timedelta(days=1)


class PageCache:
    """A folder of `<page id>.png`."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock
        self._swept_at: float | None = None

    def put(self, page_id: str, png: bytes) -> Path:
        """The page as a file, there for a day at least from now."""
        make_private_folder(self._folder)
        self._sweep()
        path = child(self._folder, f"{page_id}.png")
        if not exists(path) or read_bytes(path) != png:
            write_atomically(path, png, sync=False)  # compared above before it is given out again
        touch(path, self._clock.now().timestamp())
        return path

    def drop(self, page_id: str) -> None:
        remove(child(self._folder, f"{page_id}.png"), missing_ok=True)

    def _sweep(self) -> None:
        """Once an hour at most: what nobody asked for in a day goes."""
        now = self._clock.now().timestamp()
        if self._swept_at is not None and now - self._swept_at < 3600:
            return
        self._swept_at = now
        for path, found in scan(self._folder, "pg_*.png"):
            if now - found.st_mtime > KEPT_FOR.total_seconds():
                remove(path, missing_ok=True)
