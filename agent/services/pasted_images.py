"""Deletion of images that were pasted from the clipboard: after a month, and with the conversation they belong to.

A message that was sent has its own copy. So the file is needed by prompts alone: by drafts, and by what was typed.
"""

import re
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from foundation.files import child, list_files, make_private_folder, read_bytes, remove, write_atomically
from foundation.paths import Workspace

KEPT_S: Final = 30 * 24 * 3600  # seconds that an image is kept
NAMES: Final = "clipboard-*.png"
_NAME: Final = re.compile(r"clipboard-[0-9a-f]{12}\.png")


def store_pasted_image(folder: Path, digest: str, data: bytes) -> Path:
    """Stores the image and removes old ones. Raises OSError."""
    make_private_folder(folder)
    path = child(folder, f"clipboard-{digest[:12]}.png")
    remove_old_images(folder)
    write_atomically(path, data)
    return path


def remove_old_images(folder: Path) -> None:
    """Removes the images of more than a month ago. Raises OSError."""
    for path in list_files(folder, NAMES):
        if time.time() - path.stat().st_mtime > KEPT_S:
            remove(path, missing_ok=True)


def remove_images(workspace: Workspace, names: Iterable[str]) -> int:
    """Removes these images of forgotten messages, but for those that a draft or another prompt attaches, too; gives
    their number. Call it once the drafts and prompts of the messages are removed."""
    wanted = frozenset(names)
    images = [path for path in list_files(workspace.pasted_images, NAMES) if path.name in wanted]
    if not images:
        return 0
    prompts = [path for path in (workspace.prompt_history, *list_files(workspace.drafts)) if path.is_file()]
    needed = {name.decode() for path in prompts for name in re.findall(_NAME.pattern.encode(), read_bytes(path))}
    removed = [path for path in images if path.name not in needed]
    for path in removed:
        remove(path, missing_ok=True)
    return len(removed)
