"""Hostile workspaces: copies of a real one, each with a few seeded attacks on files outside of it."""

import errno
import hashlib
import os
import random
import shutil
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import apsw
from msgspec import Struct

from foundation.paths import Workspace
from memory.cold.sql import run as execute

VICTIMS = {
    "thesis.pdf": b"years of work",
    ".bashrc": b"export PATH\n",
    "Cargo.lock": b"[[package]]\n",
    "notes/diary.md": b"# Diary\n\nmine\n",
    "notes/cold.db": b"not yours",
    "notes/new.md": b"a draft of mine",
}


class Ground(Struct, frozen=True):
    """Where one attack happens: the workspace, and the folder of victims beside it."""

    root: Path
    outside: Path
    rng: random.Random


def make(template: Path, place: Path, seed: int) -> tuple[Ground, list[str]]:
    """A hostile workspace below `place`, and what is hostile in it."""
    rng = random.Random(seed)
    outside = place / "outside"
    for name, body in VICTIMS.items():
        path = outside / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
    root = place / "workspace"
    shutil.copytree(template, root, symlinks=True)
    ground = Ground(root, outside, rng)
    told: list[str] = []
    for attack in rng.sample(ATTACKS, rng.choice([1, 1, 2, 3])):
        told.append(attack(ground))
    return ground, told


def fingerprint(folder: Path) -> dict[str, str]:
    """Every name below, with its kind, mode, owner, length, time and bytes; links are not followed."""
    found: dict[str, str] = {}
    for path in [folder, *folder.rglob("*")]:
        seen = path.lstat()
        body = (
            path.read_bytes()
            if stat.S_ISREG(seen.st_mode)
            else str(path.readlink()).encode()
            if path.is_symlink()
            else b""
        )
        digest = hashlib.sha256(body).hexdigest()[:12]
        found[str(path.relative_to(folder))] = f"{seen.st_mode:o} {seen.st_uid} {seen.st_mtime_ns} {digest}"
    return found


# ── paths that the program touches ──


def _paths(root: Path) -> list[Path]:
    space = Workspace(root)
    packs = sorted(path for path in space.packs.iterdir()) if space.packs.is_dir() else []
    mirrors = sorted(space.conversations.glob("*.md"))
    kept = sorted(space.kept_texts.glob("*.md"))
    state = space.state
    return [
        space.system_yaml,
        space.memory_md,
        space.agents_md,
        space.soul_md,
        space.entities_yaml,
        space.skills,
        space.skills / "x" / "SKILL.md",
        space.memory_dir,
        space.kept_texts,
        space.conversations,
        *mirrors,
        *kept,
        space.database,
        *(state / f"cold.db{end}" for end in ("-wal", "-shm", "-journal")),
        state / "cold.db-writers",
        state / "cold.db.rebuilding",
        space.packs,
        *packs,
        space.packs / "deleted.ids",
        space.packs / "workspace.id",
        space.pack_cache,
        space.page_cache,
        space.knowledge,
        space.postings,
        space.postings / "postings.lock",
        space.vectors,
        space.versions,
        space.hot_lock,
        state / "mirrors.lock",
        state / "repack.lock",
        state / "delete.lock",
        space.drafts,
        space.drafts / "new.md",
        space.prompt_history,
        space.config,
        space.last_good_system,
        space.log,
        space.damaged,
        state,
    ]


def _clear(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif os.path.lexists(path):
        path.unlink()
    path.parent.mkdir(parents=True, exist_ok=True)


def _reachable(ground: Ground) -> Path:
    """A path whose parents are no links of an earlier attack."""
    while True:
        path = ground.rng.choice(_paths(ground.root))
        parents = [parent for parent in path.parents if parent.is_relative_to(ground.root)]
        if not any(parent.is_symlink() or (parent.exists() and not parent.is_dir()) for parent in parents):
            return path


def _link(ground: Ground) -> str:
    rng, path = ground.rng, _reachable(ground)
    target = ground.outside / rng.choice([*VICTIMS, "notes", "nothing-yet", "notes/nothing-yet.md"])
    _clear(path)
    match rng.randrange(3):
        case 0:
            path.symlink_to(target)
        case 1:
            path.symlink_to(os.path.relpath(target, path.parent))
        case _:
            step = path.with_name(f"step-{rng.randrange(1000)}")
            step.symlink_to(target)
            path.symlink_to(step.name)
    return f"link {path.relative_to(ground.root)} -> {target.name}"


def _hard_link(ground: Ground) -> str:
    """A file outside under a name inside, or a file of the workspace under a name outside, as `cp -al` leaves it."""
    path = _reachable(ground)
    name = str(path.relative_to(ground.root))
    if ground.rng.random() < 0.5 and path.is_file() and not path.is_symlink():
        os.link(path, ground.outside / f"linked-{path.name}")
        return f"hard link of {name} outside"
    victim = ground.outside / ground.rng.choice(list(VICTIMS))
    _clear(path)
    os.link(victim, path)
    return f"hard link {name} of {victim.name}"


def _special(ground: Ground) -> str:
    path = _reachable(ground)
    _clear(path)
    kind = ground.rng.choice(["fifo", "socket", "device", "folder", "file"])
    try:
        match kind:
            case "fifo":
                os.mkfifo(path)
            case "socket":
                _socket(path)
            case "device":
                os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 7))  # /dev/full
            case "folder":
                path.mkdir()
            case _:
                path.write_bytes(ground.rng.randbytes(200))
    except (OSError, AttributeError):  # no right to make it, or no such thing on this system
        path.write_bytes(b"\x00")
    return f"{kind} at {path.relative_to(ground.root)}"


def _socket(path: Path) -> None:
    here = os.open(path.parent, os.O_RDONLY)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(f"/proc/self/fd/{here}/{path.name}")  # the path itself may be too long for a socket's address
    finally:
        os.close(here)


def _owner(ground: Ground) -> str:
    path = _reachable(ground)
    if not path.exists() or not hasattr(os, "chown"):
        return "owner (nothing there)"
    try:
        os.chown(path, 54321, 54321)
    except OSError as error:
        if error.errno != errno.EPERM:
            raise
        return "owner (no right)"
    return f"owner of {path.relative_to(ground.root)}"


# ── rows ──


def _names(ground: Ground, below: Path) -> str:
    rng = ground.rng
    victim = ground.outside / rng.choice(list(VICTIMS))
    return rng.choice(
        [
            str(victim),
            os.path.relpath(victim, below),
            os.path.relpath(victim.with_suffix(""), below),
            str(victim.with_suffix("")),
            "..",
            "",
            "a/../../../../x.pages",
            "x" * 5000,
            "a\nb.pages",
            "con.pages",
            "\\\\server\\share\\x",
            "C:\\x.pages",
            "a\x00b.pages",
            "\x1b]52;c;ZXZpbA==\x07",
        ]
    )


_ROWS: tuple[tuple[str, str], ...] = (
    ("INSERT OR REPLACE INTO leaving VALUES (?, '')", "packs"),
    ("INSERT OR REPLACE INTO leaving VALUES ('aaaa.pages', ?)", "packs"),
    ("INSERT OR REPLACE INTO answers VALUES ((SELECT max(seq) FROM entries), ?)", "cold.db-writers"),
    ("INSERT OR REPLACE INTO unsealed VALUES (?)", "packs"),
    ("UPDATE pages SET pack = ?", "packs"),
    ("UPDATE packs SET name = ?", "packs"),
    ("UPDATE pages SET id = ? WHERE rowid = (SELECT min(rowid) FROM pages)", "pages"),
    ("UPDATE knowledge_views SET picture = ?", "knowledge"),
    ("UPDATE knowledge SET source = ?", "knowledge"),
    ("UPDATE conversations SET id = ? WHERE seq = 1", "conversations"),
    ("UPDATE conversations SET source = ? WHERE seq = 1", "conversations"),
    ("UPDATE entries SET id = ? WHERE seq = 1", "conversations"),
    ("UPDATE archives SET label = ?", "packs"),
)
_BEGUN = "INSERT OR REPLACE INTO deletions (token, name, conversation, deleted_ms, pages, finished) VALUES "


def _row(ground: Ground) -> str:
    space = Workspace(ground.root)
    if not space.database.is_file() or space.state.is_symlink() or space.database.is_symlink():
        return "row (no store)"
    sql, below = ground.rng.choice(_ROWS)
    value = _names(ground, space.state / below)
    try:
        db = apsw.Connection(str(space.database), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            execute(db, "PRAGMA foreign_keys = OFF")
            execute(db, sql, (value,))
            if ground.rng.random() < 0.6:
                execute(db, f"{_BEGUN} ('aa', 'bb', 99999, 1, '[]', 0)")
            if ground.rng.random() < 0.3:
                execute(db, f"{_BEGUN} ('{'a' * 64}', 'bb', 1, 1, ?, 0)", (f'["{value[:40]}"]',))
            execute(db, "PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            db.close()
    except (apsw.Error, UnicodeError) as error:
        return f"row (refused: {type(error).__name__})"
    return f"{sql} with {value[:40]!r}"


_SCHEMAS = (
    "CREATE TRIGGER evil AFTER INSERT ON entries BEGIN DELETE FROM labels; END",
    "CREATE TRIGGER evil AFTER DELETE ON entries BEGIN INSERT INTO leaving VALUES ('../../x', ''); END",
    "ALTER TABLE labels RENAME TO l2; CREATE VIEW labels AS SELECT * FROM l2",
    "ALTER TABLE entries RENAME TO e2; CREATE VIEW entries AS SELECT * FROM e2",
    "CREATE VIRTUAL TABLE words USING fts5(text)",
    "PRAGMA user_version = 3",
    "PRAGMA user_version = 99",
    "DROP TABLE leaving",
)


def _schema(ground: Ground) -> str:
    space = Workspace(ground.root)
    if not space.database.is_file() or space.state.is_symlink() or space.database.is_symlink():
        return "schema (no store)"
    sql = ground.rng.choice(_SCHEMAS)
    try:
        db = apsw.Connection(str(space.database), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            execute(db, sql)
            execute(db, "PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            db.close()
    except apsw.Error as error:
        return f"schema (refused: {type(error).__name__})"
    return sql


# ── files beside the packs, and the configuration ──


def _beside(ground: Ground) -> str:
    packs = Workspace(ground.root).packs
    if not packs.is_dir() or packs.is_symlink():
        return "beside (no packs)"
    rng = ground.rng
    name = rng.choice(["deleted.ids", "workspace.id", *(path.name for path in packs.glob("*.manifest"))])
    victim = os.path.relpath(ground.outside / "thesis.pdf", packs)
    body = rng.choice(
        [
            b'{"schema":1,"deleted":[{"token":"../../x","deleted_ms":1,"pages":["%s"]}]}' % victim.encode(),
            b'{"schema":1,"deleted":[{"token":"%s","deleted_ms":1,"pages":["%s"]}]}' % (b"a" * 64, victim.encode()),
            victim.encode(),
            b"[" * 5000,
            rng.randbytes(400),
            b"",
        ]
    )
    path = packs / name
    _clear(path)
    path.write_bytes(body)
    return f"{name} holds {body[:30]!r}"


def _config(ground: Ground) -> str:
    config = Workspace(ground.root).config
    if config.parent.is_symlink() or not config.parent.is_dir():
        return "config (no state)"
    _clear(config)
    outside = ground.outside
    config.write_text(
        ground.rng.choice(
            [
                f"archive:\n  storage: ssh://127.0.0.1{outside}\n",
                f"embed:\n  embedder: onnx:{outside}\n",
                "model: openai:x@http://127.0.0.1:9\n",
                "a: &a [*a, *a]\n",
                "\x00",
            ]
        )
    )
    return "config.yaml"


ATTACKS: list[Callable[[Ground], str]] = [
    _link,
    _link,
    _link,
    _hard_link,
    _hard_link,
    _special,
    _row,
    _row,
    _row,
    _schema,
    _owner,
    _beside,
    _config,
]
