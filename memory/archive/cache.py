"""The page cache: PNGs for a person to open and for a vision model to be sent. What is in it can be made again."""

import os
from datetime import timedelta
from pathlib import Path

from foundation.clock import Clock
from foundation.files import make_private_folder, write_atomically

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
        path = self._folder / f"{page_id}.png"
        if not path.exists() or path.read_bytes() != png:
            write_atomically(path, png, sync=False)  # compared above before it is given out again
        now = self._clock.now().timestamp()
        os.utime(path, (now, now))
        return path

    def drop(self, page_id: str) -> None:
        (self._folder / f"{page_id}.png").unlink(missing_ok=True)

    def _sweep(self) -> None:
        """Once an hour at most: what nobody asked for in a day goes."""
        now = self._clock.now().timestamp()
        if self._swept_at is not None and now - self._swept_at < 3600:
            return
        self._swept_at = now
        for path in self._folder.glob("pg_*.png"):
            if now - path.stat().st_mtime > KEPT_FOR.total_seconds():
                path.unlink(missing_ok=True)
