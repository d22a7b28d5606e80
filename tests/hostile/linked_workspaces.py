"""Workspaces made by somebody else: links at every path that the program touches."""

import os
import random
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ALSO_TOUCHED = (
    "MEMORY.md",
    "SOUL.md",
    "entities.yaml",
    "memory/archive/letter-2.md",
    "memory/archive/report.md",
    ".palimpsest/cold.db-journal",
    ".palimpsest/cold.db-shm",
    ".palimpsest/cold.db-wal",
    ".palimpsest/cold.db.rebuilding",
    ".palimpsest/config.yaml",
    ".palimpsest/damaged",
    ".palimpsest/delete.lock",
    ".palimpsest/drafts",
    ".palimpsest/drafts/new.md",
    ".palimpsest/hot.lock",
    ".palimpsest/knowledge",
    ".palimpsest/log.txt",
    ".palimpsest/mirrors.lock",
    ".palimpsest/pack-cache",
    ".palimpsest/packs/deleted.ids",
    ".palimpsest/packs/workspace.id",
    ".palimpsest/prompt-history.jsonl",
    ".palimpsest/repack.lock",
    ".palimpsest/secret",
    ".palimpsest/secret.copy",
    ".palimpsest/secret.lock",
    ".palimpsest/system.last-good.yaml",
    ".palimpsest/vectors",
    ".palimpsest/versions",
    ".palimpsest/versions/head",
)
"""Paths that a workspace may not have yet, and that some command makes."""
FORMS = ("absolute", "relative", "dangling", "circle")


class Attack(NamedTuple):
    """A link at `path` (relative to the workspace). `form` is one of FORMS; it leads to a copy of what was there, or
    for a relative one to a file of the user's."""

    path: str
    form: str


def attacks(template: Path) -> list[Attack]:
    """Every attack on a workspace like `template`: at each file and folder that it has or may have, in each form."""
    paths = {path.relative_to(template).as_posix() for path in template.rglob("*")} | set(ALSO_TOUCHED)
    return [Attack(path, form) for path in sorted(paths) for form in FORMS]


def sample(template: Path, count: int, seed: int) -> list[Attack]:
    """Some of them, another choice for another seed."""
    return random.Random(seed).sample(attacks(template), count)


def build(template: Path, root: Path, outside: Path, attack: Attack) -> None:
    """A copy of `template` at `root` with the attack's link, and in `outside` what the link leads to."""
    for place in (root, outside):
        shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(template, root, symlinks=True)
    outside.mkdir()
    (outside / "thesis.pdf").write_bytes(b"the only copy")
    (outside / "empty").mkdir()
    link, target = root / attack.path, outside / f"of {Path(attack.path).name}"
    link.parent.mkdir(parents=True, exist_ok=True)
    if link.is_dir():
        shutil.copytree(link, target)
        (target / "a file of the user").write_bytes(b"theirs")
        shutil.rmtree(link)
    elif link.exists():
        if attack.form == "absolute":
            shutil.copyfile(link, target)
        else:
            target.write_bytes(b"theirs\n")
        link.unlink()
    else:
        target.write_bytes(b"theirs\n")
    match attack.form:
        case "absolute":
            link.symlink_to(target)
        case "relative":
            link.symlink_to(os.path.relpath(target, link.parent))
        case "dangling":
            link.symlink_to(outside / "empty" / "not there yet")
        case _:
            link.symlink_to(link.name)


def state(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file, folder and link below `folder`: its mode, and its bytes or where it leads."""
    return dict(_below(folder, folder))


def _below(folder: Path, root: Path) -> Iterator[tuple[str, tuple[int, bytes]]]:
    yield folder.relative_to(root).as_posix(), (stat.S_IMODE(folder.lstat().st_mode), b"")
    for path in sorted(folder.iterdir()):
        found = path.lstat()
        name = path.relative_to(root).as_posix()
        if stat.S_ISDIR(found.st_mode):
            yield from _below(path, root)
        elif stat.S_ISLNK(found.st_mode):
            yield name, (0, os.fsencode(path.readlink()))
        else:
            yield name, (stat.S_IMODE(found.st_mode), path.read_bytes())
