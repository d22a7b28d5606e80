"""The callback that is asked before Python from a checkpoint is run."""

from collections.abc import Callable, Sequence
from pathlib import Path

Consent = Callable[[Path, Sequence[str]], bool]
"""Given the checkpoint's folder and the files of Python in it: may they run, with all that this program may do?"""
