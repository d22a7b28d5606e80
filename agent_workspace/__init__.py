"""The default workspace: data that is copied to a person's own folder at first run. From then on it is theirs."""

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath

from foundation.files import exists, is_folder, make_folder, write_atomically

DATA = (".md", ".yaml")


def default_files() -> Iterator[tuple[PurePosixPath, bytes]]:
    """Each file of the default workspace, by its relative path, with its bytes, in order."""
    yield from _below(files(__name__), PurePosixPath())


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
