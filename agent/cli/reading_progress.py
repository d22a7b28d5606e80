"""What is being done to a picture, on one line of a terminal that replaces itself; silent elsewhere."""

import sys
from typing import Self

import click

from foundation.terminal_text import visible


class ReadingProgress:
    """`with ReadingProgress("scan.png") as progress:` the line is gone when it ends."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._shown = 0

    def __enter__(self) -> Self:
        self.stage("reading")
        return self

    def stage(self, doing: str) -> None:
        """From now on this is done."""
        self._stage = doing
        self._show(doing)

    def lines(self, done: int, of: int) -> None:
        """OCR has read so many lines."""
        self._show(f"{self._stage}: {done:,} of {of:,} lines")

    def __exit__(self, *_: object) -> None:
        if self._shown:
            click.echo("\r" + " " * self._shown + "\r", nl=False, err=True)

    def _show(self, doing: str) -> None:
        if not sys.stderr.isatty():
            return
        text = visible(f"{self._name}: {doing} …")
        click.echo("\r" + text.ljust(self._shown), nl=False, err=True)
        self._shown = max(self._shown, len(text))
