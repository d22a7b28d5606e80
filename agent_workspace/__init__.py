"""The default workspace: data that is copied to a person's own folder at first run. From then on it is theirs."""

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from typing import Final

from foundation.files import exists, is_folder, make_folder, read_bytes, write_atomically

DATA = (".md", ".yaml")
OUTDATED: Final = {
    ("AGENTS.md", "3d3c41c3fbac4df2ed7394e4c6acbe2d377d6eeb9924b6271035498833385f5a"): "0.1.0 to 0.3.2",
    ("SOUL.md", "d96defdb37c9bac263a2590279b6888e74f2c79c1a29cb8c692add6334089cab"): "0.1.0 to 0.3.2",
    ("system.yaml", "267df851bacd54ef9d64b6d25cc717d406cf660f89aaf110c7316c1296154e75"): "0.1.0 to 0.3.1",
    ("system.yaml", "bddd403504302a15e688b975cde7cef1cbb198a388914b1cf51c0a52cdb604f3"): "0.3.2, early",
    ("system.yaml", "ae0d3af2ecdc30c00d14727e0c91960b9ce90d28d08091d05481a8e9c786ffa7"): "0.3.2",
    (
        "skills/code-review/SKILL.md",
        "829d35edce50a462ed733005c777523400c18548b1e9a4d946c883d8f97651e0",
    ): "0.1.0 to 0.3.2",
    (
        "skills/meeting-notes/SKILL.md",
        "0d427d203a51bd3784bed8e9efcec6f29e51136bd60422b02c5ccc1a0f5c0993",
    ): "0.1.0 to 0.3.2",
}
"""Default texts of earlier releases: the name and the SHA-256 of each, and the releases that had it."""


def default_files() -> Iterator[tuple[PurePosixPath, bytes]]:
    """Each file of the default workspace, by its relative path, with its bytes, in order."""
    yield from _below(files(__name__), PurePosixPath())


def outdated_files(root: Path) -> dict[str, tuple[bytes, bytes]]:
    """The files that hold exactly a default text of an earlier release: by name, this text and the present one."""
    present = {path.as_posix(): body for path, body in default_files()}
    found: dict[str, tuple[bytes, bytes]] = {}
    for name in dict.fromkeys(name for name, _ in OUTDATED):
        with suppress(OSError):
            body = read_bytes(root / name)
            if (name, hashlib.sha256(body).hexdigest()) in OUTDATED:
                found[name] = body, present[name]
    return found


def lay_out(target: Path) -> list[Path]:
    """Copies the default workspace to `target`, which is made if it is missing; gives the files that were written.

    Nothing that is there is touched, be it a file, a folder or a link that leads nowhere: what a person has is theirs.
    """
    written: list[Path] = []
    make_folder(target)
    for relative, body in default_files():
        path = target / relative
        if _blocked(target, relative) or exists(path):
            continue
        make_folder(path.parent)
        write_atomically(path, body)
        written.append(path)
    return written


def _blocked(target: Path, relative: PurePosixPath) -> bool:
    """Whether something that is no folder, a link to one included, is where a folder is needed."""
    parents = [target / parent for parent in reversed(relative.parents)]
    return any(exists(path) and not is_folder(path) for path in parents)


def _below(folder: Traversable, at: PurePosixPath) -> Iterator[tuple[PurePosixPath, bytes]]:
    for child in sorted(folder.iterdir(), key=lambda child: child.name):
        if child.is_dir():
            if not child.name.startswith(("_", ".")):
                yield from _below(child, at / child.name)
        elif child.name.endswith(DATA):
            yield at / child.name, child.read_bytes()
