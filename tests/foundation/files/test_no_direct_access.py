"""File access goes through foundation/files: a call that opens, writes, renames or deletes by path elsewhere fails."""

import ast
from collections.abc import Iterator

import pytest

from tests.paths import ROOT

PACKAGES = ("foundation", "models", "memory", "context", "agent", "tui", "agent_workspace")
HOME = "foundation/files/"

ANY_ARGUMENTS = {
    "read_bytes",
    "read_text",
    "write_bytes",
    "write_text",
    "unlink",
    "touch",
    "mkdir",
    "rmdir",
    "chmod",
    "lchmod",
    "symlink_to",
    "hardlink_to",
    "iterdir",
    "glob",
    "rglob",
}
"""Methods of Path, whatever they are called on."""
OF_OS = {
    "open",
    "replace",
    "rename",
    "renames",
    "unlink",
    "remove",
    "rmdir",
    "mkdir",
    "makedirs",
    "removedirs",
    "chmod",
    "chown",
    "link",
    "symlink",
    "truncate",
    "mkfifo",
    "mknod",
    "utime",
    "listdir",
    "scandir",
    "walk",
    "fwalk",
}
OF_SHUTIL = {"rmtree", "copy", "copy2", "copyfile", "copytree", "move", "chown"}
MODULES = {"filelock", "sqlite3"}

ALLOWED = {
    "agent/turn/store.py rename": "a conversation's title",
    "foundation/privacy/secret_rules.py read_bytes": "package data",
    "memory/cold/schema.py iterdir": "package data",
    "memory/cold/schema.py read_text": "package data",
    "memory/cold/integrity/foreign_objects.py glob": "package data",
    "memory/cold/integrity/foreign_objects.py read_text": "package data",
    "foundation/text/folding.py read_text": "package data",
    "foundation/text/synonyms.py read_bytes": "package data",
    "foundation/text/synonyms.py read_text": "package data",
    "models/prompts/__init__.py read_text": "package data",
    "agent/importers/import_files.py glob": "names that the user's pattern stands for",
    "agent/importers/import_files.py walk": "names in a folder that the user names",
    "agent/importers/opencode.py sqlite3": "another program's database; is_storage opens it first, which refuses ours",
    "agent/importers/store.py rename": "a conversation's title",
    "agent/tools/commands/read_files.py glob": "names that a command would read",
    "agent/tools/commands/read_files.py rglob": "names that a command would read",
    "agent/tools/offer.py scandir": "names in the user's folder, none opened",
    "memory/pages/font/glyphs.py read_bytes": "package data",
    "agent_workspace/__init__.py iterdir": "package data",
    "agent_workspace/__init__.py read_bytes": "package data",
    "memory/pages/font/build.py write_bytes": "makes package data, run by a developer",
    "memory/pages/font/sources.py read_bytes": "makes package data, run by a developer",
    "memory/pages/font/sources.py read_text": "makes package data, run by a developer",
    "models/chat/mlx/files.py read_bytes": "a model's folder, full of links where a hub keeps it",
    "models/chat/mlx/files.py read_text": "a model's folder, full of links where a hub keeps it",
    "models/embed/manifest.py open": "a model's folder, full of links where a hub keeps it",
    "models/embed/manifest.py read_text": "a model's folder, full of links where a hub keeps it",
    "models/embed/mlx.py glob": "a model's folder, full of links where a hub keeps it",
    "models/embed/mlx_encoder.py glob": "a model's folder, full of links where a hub keeps it",
    "models/ocr/checkpoints.py glob": "model folders, full of links where a hub keeps them",
    "models/ocr/checkpoints.py read_text": "a model's folder, full of links where a hub keeps it",
    "models/ocr/tesseract.py glob": "the system's folder of languages",
    "memory/archive/packs/ssh.py open": "a file on another machine",
    "memory/archive/packs/ssh.py rename": "a file on another machine",
    "memory/cold/connection.py StoreConnection": "SQLite opens by name; its files are checked first (check_store)",
    "memory/cold/read_only.py StoreConnection": "SQLite opens by name; its files are checked first (check_store)",
    "memory/cold/store_file.py VFSFile": "the database that is open, which has been checked",
    "memory/cold/read_only.py Connection": "SQLite opens by name; its files are checked first (check_store)",
    "memory/cold/schema.py Connection": "a database in memory, for the tables of each released schema",
    "memory/cold/store.py rename": "a conversation's title",
    "memory/conversations.py rename": "a conversation's title",
    "agent/commands/conversation.py rename": "a conversation's title",
    "agent/cli/conversations.py rename": "a conversation's title",
    "memory/knowledge/readers/reader_process.py read_text": "Linux's own figures of this process",
    "memory/knowledge/ingest/add.py touch": "a row of the store",
    "memory/knowledge/ingest/walk.py scandir": "walks a person's folders, which may be anywhere, and changes nothing",
    "agent/services/found_conversations.py scandir": "lists names in folders of other programs, and opens nothing",
    "tui/chat/chat_find.py open": "opens the find bar",
    "tui/chat/screen.py open": "opens the find bar",
    "tui/picker/changes.py rename": "gives a conversation another title",
    "tui/picker/edit.py rename": "the same",
    "tui/search/hit_actions.py open": "opens a screen",
    "agent/services/path_completion.py scandir": "completes a name in any folder, and opens nothing",
    "agent/cli/main.py open": "the null device",
    "agent/mcp/servers.py open": "a connection",
    "agent/tools/commands/confinement.py makedirs": "folders of the sandbox's own file system",
    "agent/tools/commands/confinement.py open": "mounts in the sandbox's own file system, and devices",
    "agent/tools/commands/commands.py iterdir": "lists what the sandbox makes read-only, and opens nothing",
    "agent/tools/commands/confinement.py listdir": "the sandbox's own file system",
    "agent/tools/commands/confinement.py symlink": "the sandbox's own file system",
    "agent/tools/commands/git_folders.py iterdir": "a git folder made by a command: names alone",
    "agent/tools/commands/guarded_files.py chmod": "the mode of a file that was restored",
    "agent/tools/commands/guarded_files.py scandir": "lists names in the project, and opens nothing",
    "agent/tools/commands/guarded_files.py symlink_to": "restores a link of the project that a command replaced",
    "agent/tools/commands/sandbox.py read_text": "Linux's list of sockets",
    "agent/tools/commands/git_folders.py scandir": "lists git folders of the project, and opens nothing",
    "agent/tools/commands/linux.py open": "Linux's own figures, and folders that a rule of Landlock names",
    "agent/tools/commands/supervisor.py listdir": "Linux's list of processes",
    "agent/tools/commands/supervisor.py open": "the null device, and Linux's own figures",
}
"""`file call` and why it is no access to a workspace's files."""
OPENERS = {"Memory", "ColdStore", "Session", "Image", "Pillow", "archive", "pack", "cls"}
"""What else has an `open` that takes no path, or takes a workspace."""


def calls(source: str) -> Iterator[tuple[str, int]]:
    """Each banned call or import of a module's source, with its line."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module in MODULES:
            yield node.module, node.lineno
        elif isinstance(node, ast.Import):
            yield from ((name.name, node.lineno) for name in node.names if name.name in MODULES)
        elif isinstance(node, ast.Call) and (name := _banned(node)):
            yield name, node.lineno


def _banned(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id="open"):
            return "open"
        case ast.Attribute(value=ast.Name(id="os" | "io"), attr=name):
            return name if name in OF_OS else ""
        case ast.Attribute(value=ast.Name(id="shutil"), attr=name):
            return name if name in OF_SHUTIL else ""
        case ast.Attribute(value=ast.Name(id="apsw"), attr="Connection" | "VFSFile" as name):
            return name
        case ast.Name(id="StoreConnection"):
            return "StoreConnection"
        case ast.Attribute(value=ast.Name(id="np"), attr="memmap" | "fromfile" | "load" | "save" as name):
            return name
        case ast.Attribute(value=holder, attr="open"):
            return "" if isinstance(holder, ast.Name) and holder.id in OPENERS else "open"
        case ast.Attribute(attr="replace"):  # a string's takes two arguments, a moment's and a struct's take names
            return "replace" if len(call.args) == 1 and not call.keywords else ""
        case ast.Attribute(attr="rename"):
            return "rename"
        case ast.Attribute(attr=name) if name in ANY_ARGUMENTS:
            of_rows = isinstance(call.func.value, ast.Name) and call.func.value.id == "files"
            return "" if of_rows and name == "read_text" else name
    return ""


def test_no_module_reaches_a_file_past_foundation_files() -> None:
    found = [
        (f"{path.relative_to(ROOT).as_posix()} {name}", line)
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        if not path.relative_to(ROOT).as_posix().startswith(HOME)
        for name, line in calls(path.read_text(encoding="utf-8"))
    ]
    assert [f"{what} (line {line})" for what, line in found if what not in ALLOWED] == []
    assert sorted(set(ALLOWED) - {what for what, _ in found}) == [], "no longer there: take it out of the list"


@pytest.mark.parametrize(
    "line",
    [
        "open(path)",
        "path.open('rb')",
        "path.read_bytes()",
        "(folder / name).write_text('')",
        "path.unlink()",
        "a.rename(b)",
        "a.replace(b)",
        "path.touch()",
        "path.mkdir(parents=True)",
        "os.open(path, 0)",
        "os.replace(a, b)",
        "os.remove(a)",
        "shutil.rmtree(a)",
        "shutil.copyfile(a, b)",
        "path.hardlink_to(b)",
        "from filelock import FileLock",
        "import filelock",
        "apsw.Connection('x')",
        "apsw.VFSFile('', 'x', [1, 0])",
        "StoreConnection(path, 'x', flags=1, vfs=None)",
        "folder.glob('*')",
    ],
)
def test_each_way_past_it_is_seen(line: str) -> None:
    assert len(list(calls(line))) == 1


@pytest.mark.parametrize(
    "line", ["text.replace('a', 'b')", "moment.replace(day=1)", "Memory.open(place)", "read_bytes(path)"]
)
def test_what_is_no_file_access_is_let_through(line: str) -> None:
    assert list(calls(line)) == []
