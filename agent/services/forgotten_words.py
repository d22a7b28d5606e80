"""Takes what was forgotten while this process is open out of what it is about to write: drafts and typed prompts."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from foundation.files import exists, list_names

if TYPE_CHECKING:  # the first frame must not load the store
    from memory.forgotten.guard import ForgottenWords

JOBS: Final = "forgotten"  # the folder of the jobs, in a workspace's state


def jobs_of(state: Path) -> tuple[str, ...]:
    """The names of the jobs' files: others where something was forgotten meanwhile. Blocks."""
    return tuple(sorted(list_names(state / JOBS))) if exists(state / JOBS) else ()


def without_forgotten(state: Path, text: str) -> str:
    """The text with `[forgotten]` in the place of such words. Quick where nothing was ever forgotten. Blocks."""
    return _words(state).without(text) if exists(state / JOBS) else text


@cache
def _words(state: Path) -> ForgottenWords:
    from memory.forgotten.guard import ForgottenWords

    return ForgottenWords(state / JOBS, state / "secret.key")
