"""Paths that try to leave the project: whatever a model names, no tool reads or writes anything outside.

Each path is given to each file tool, with permission. Outside lies a canary: it must be in no output, and no file out
there may change. A folder that is swapped for a link, again and again, while the tools work, changes nothing of that.
"""

import os
import socket
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from agent.tools.port import ToolFailure
from foundation.errors import PalimpsestError
from foundation.files import beneath, exchange
from tests.agent.tools.files.conftest import ProjectTools
from tests.hostile.workspaces import fingerprint

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links, FIFOs and devices are POSIX's here")

CANARY = "canary-5b1f"
PATCHES = (
    "*** Begin Patch\n*** Add File: {0}\n+written\n*** End Patch",
    "*** Begin Patch\n*** Delete File: {0}\n*** End Patch",
    "*** Begin Patch\n*** Update File: {0}\n@@\n-" + CANARY + "\n+written\n*** End Patch",
    "*** Begin Patch\n*** Update File: inside.txt\n*** Move to: {0}\n@@\n-inside\n+written\n*** End Patch",
    "--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-" + CANARY + "\n+written\n",
)
TARGETS = ("secret.txt", "new.txt", "deep/secret.txt", "", "deep")
LINKS = ("out", "chain", "up", "absolute", "file", "loop", "mixed/out", "self/out", "dangling", "dots", "state", "proc")
UPWARDS = (
    "../outside/{}", "./../outside/{}", "a/../../outside/{}", "a/./.././../outside/{}", "a//..//..//outside/{}",
    "missing/../../outside/{}", "../project/../outside/{}", "../../{base}/outside/{}", "a/b/../../../outside/{}",
)  # fmt: skip
ABSOLUTE = ("{outside}/{}", "{root}/../outside/{}", "/{outside}/{}", "{root}/./a/../../outside/{}", "{root}-state/{}")
SPECIAL = (
    "/proc/self/environ", "/proc/self/root/etc/hostname", "/proc/self/fd/0", "/proc/kmsg", "/dev/zero", "/dev/stdin",
    "/dev/tty", "/dev/random", "/sys/kernel/notes", "/etc/passwd", "~/.bashrc", "~root/.bashrc", "~", "fifo", "socket",
    "a/fifo", "link-to-fifo", "link-to-zero", "fifo/x", "inside.txt/../../outside/secret.txt", "inside.txt/x",
    ".palimpsest/cold.db", ".PALIMPSEST/cold.db", "a/../.palimpsest/cold.db", ".palimpsest./cold.db",
    "PALIMP~1/cold.db",
    ".palimpsest\u200c/cold.db", ".ｐalimpsest/cold.db", "to-state/cold.db", "..", "../", "../..", "/", "//", "/..",
    "../outside", "../project-state", "../projectx/secret.txt", "x" * 300, "a/" * 2000 + "x",
    "../" * 300 + "etc/passwd",
    "a\0b", "../outside/secret.txt\0.txt", "\0", "\ud800", "a/\udcff/b", "../outside/secret.txt\udc80",
    "%2e%2e/outside",
    "..\\outside\\secret.txt", "C:\\Windows\\win.ini", "c:/windows/win.ini", "\\\\server\\share\\x", "//server/share/x",
    "\\\\?\\C:\\x", "CON\\x", "secret.txt::$DATA\\x", "..%2foutside/secret.txt", "．．/outside/secret.txt",
    "‥/outside/secret.txt", "../OUTSIDE/secret.txt", "OUT/secret.txt", "file:///etc/passwd", "$HOME/.bashrc",
    "out/../out/secret.txt", "out/./secret.txt", "out//secret.txt", "out/deep/../secret.txt", "out/deep/../../outside",
    "link-a/link-b/secret.txt", "a/to-root/outside/secret.txt",
)  # fmt: skip


def escapes(root: Path, outside: Path) -> list[str]:
    forms = [f"{link}/{target}".rstrip("/") for link in LINKS for target in TARGETS]
    names = {"outside": outside, "root": root, "base": root.parent.name}
    forms += [form.format(target, **names) for form in (*UPWARDS, *ABSOLUTE) for target in TARGETS]
    return list(dict.fromkeys([*forms, *SPECIAL]))


def respelled(paths: list[str]) -> list[str]:
    """The paths in other spellings, which name the same files."""
    ways = ("./{0}", "a/../{0}", "{0}/", "{0}/.", "a/b/..//../{0}", "././/{0}")
    found = dict.fromkeys(paths)
    for number, path in enumerate(path for path in paths if path and len(path) < 200):
        for way in ways[number % 2 :: 2]:
            found[way.format(path)] = None
    return list(found)


@pytest.fixture
def outside(tools: ProjectTools) -> Path:
    """Canaries outside of the project, and a project full of ways to them."""
    root, outside = tools.root, tools.root.parent / "outside"
    for path in (outside / "secret.txt", outside / "deep/secret.txt", root.parent / "projectx/secret.txt"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{CANARY}\n")
    tools.write("inside.txt", "inside\n")
    tools.write("a/b/c.txt", "inside\n")
    tools.write("mixed/x.txt", "inside\n")
    tools.write(".palimpsest/cold.db", CANARY)
    links = {
        "out": "../outside", "chain": "up/outside", "up": "..", "absolute": str(outside), "loop": "loop",
        "file": "../outside/secret.txt", "mixed/out": "../../outside", "self": ".", "dangling": "../outside/new.txt",
        "dots": "a/../../outside", "state": str(root.parent / "project-state"), "proc": "/proc/self/root",
        "link-to-zero": "/dev/zero", "link-to-fifo": "fifo", "to-state": ".palimpsest", "link-a": "a",
        "a/link-b": "../../outside", "a/to-root": "../..",
    }  # fmt: skip
    for name, target in links.items():
        (root / name).symlink_to(target)
    os.mkfifo(root / "fifo")
    os.mkfifo(root / "a/fifo")
    with socket.socket(socket.AF_UNIX) as listener, suppress(OSError):  # its path may be too long here
        listener.bind(str(root / "socket"))
    return outside


def outputs(tools: ProjectTools, path: str) -> Iterator[str]:
    """What each file tool says on the path, with permission."""
    calls: list[tuple[str, dict[str, object]]] = [
        ("read_file", {"path": path}),
        ("find_files", {"path": path}),
        ("find_files", {"pattern": "*secret*", "path": path}),
        ("find_files", {"pattern": path or "x"}),
        ("search_files", {"pattern": CANARY[:6], "path": path}),
        ("search_files", {"pattern": CANARY[:6], "glob": path or "x"}),
        ("write_file", {"path": path, "content": "written\n"}),
        ("edit_file", {"path": path, "old": CANARY, "new": "written"}),
        *(("apply_patch", {"patch": patch.format(path)}) for patch in PATCHES),
    ]
    for name, arguments in calls:
        try:
            asks = "outside the project" in tools.action(name, **arguments).concern
            yield f"{name}: {'the user is asked' if asks else tools.call(name, **arguments)}"
        except PalimpsestError as error:
            yield f"{name}: {error.message} {error.hint}"


def test_there_are_200_escapes(tools: ProjectTools, outside: Path) -> None:
    assert len(escapes(tools.root, outside)) >= 200


@pytest.mark.parametrize(
    "is_whole",
    [
        pytest.param(False, marks=[pytest.mark.slow, pytest.mark.timeout(120)], id="sample"),
        pytest.param(True, marks=[pytest.mark.soak, pytest.mark.timeout(1800)], id="whole"),
    ],
)
def test_no_path_leads_out(tools: ProjectTools, outside: Path, is_whole: bool) -> None:
    paths = escapes(tools.root, outside)
    if is_whole:
        paths = respelled(paths)
        assert len(paths) >= 500
    print(f"{len(paths)} paths")
    before = fingerprint(outside), fingerprint(tools.root.parent / "projectx")
    tools.call("read_file", path="inside.txt")
    for path in paths:
        for output in outputs(tools, path):
            assert CANARY not in output.replace(path, ""), (path, output)
            output.encode()  # it can be stored
    assert (fingerprint(outside), fingerprint(tools.root.parent / "projectx")) == before
    assert (tools.root / ".palimpsest/cold.db").read_text() == CANARY
    written = {path.name for path in tools.root.parent.iterdir()} - {"project", "outside", "projectx", "project-state"}
    assert not written


@pytest.mark.timeout(120)
@pytest.mark.slow
def test_the_canary_is_found_where_a_path_may_lead_there(tools: ProjectTools, outside: Path) -> None:
    """The control: with the folder outside in the project, the same calls read and change it."""
    tools = ProjectTools(tools.root, outside)
    assert CANARY in "".join(outputs(tools, "out/secret.txt"))
    assert not (outside / "secret.txt").exists()  # the last of the calls deletes it


def test_links_that_stay_inside_are_followed(tools: ProjectTools, outside: Path) -> None:
    assert tools.call("read_file", path="link-a/b/c.txt") == "inside\n"
    assert tools.call("read_file", path="self/self/a/../inside.txt") == "inside\n"
    assert tools.call("read_file", path=f"{tools.root}/link-a/b/c.txt") == "inside\n"
    assert tools.call("read_file", path="../project/inside.txt") == "inside\n"
    action = tools.action("write_file", path="link-a/new.txt", content="x")
    assert action.subject == "a/new.txt"


@contextmanager
def swapping(folder: Path, link: Path) -> Generator[None]:
    """Swaps the folder for the link, and back, as fast as it can."""
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            exchange(folder, link)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@pytest.mark.timeout(120)
@pytest.mark.slow
def test_a_folder_swapped_for_a_link_while_tools_work_leads_nowhere(tools: ProjectTools, outside: Path) -> None:
    before = fingerprint(outside)
    tools.write("race/secret.txt", "inside\n")
    tools.write("race/deep/secret.txt", "inside\n")
    worked = failed = 0
    (tools.root / "aside").symlink_to(outside)
    with swapping(tools.root / "race", tools.root / "aside"):
        for number in range(60):
            for name, arguments in (
                ("read_file", {"path": "race/secret.txt"}),
                ("find_files", {"path": "race"}),
                ("search_files", {"pattern": "canary|inside"}),
                ("write_file", {"path": f"race/new{number}.txt", "content": "written\n"}),
                ("write_file", {"path": f"race/deep/made{number}/new.txt", "content": "written\n"}),
                ("edit_file", {"path": "race/secret.txt", "old": "inside", "new": "inside", "all": True}),
                ("apply_patch", {"patch": PATCHES[0].format(f"race/deep/p{number}.txt")}),
                ("apply_patch", {"patch": PATCHES[2].format("race/secret.txt")}),
            ):
                try:
                    output = tools.call(name, **arguments)
                    worked += 1
                except PalimpsestError as error:
                    output, failed = f"{error.message} {error.hint}", failed + 1
                assert CANARY not in output
    assert fingerprint(outside) == before
    assert worked and failed  # the race was run: some calls met the folder, some the link


def test_a_file_swapped_for_a_link_between_permission_and_run_is_not_followed(
    tools: ProjectTools, outside: Path
) -> None:
    path = tools.write("note.txt", "inside\n")
    tools.call("read_file", path="note.txt")
    read = tools.action("read_file", path="note.txt")
    write = tools.action("write_file", path="note.txt", content="written\n")
    new = tools.action("write_file", path="a/new.txt", content="written\n")
    path.unlink()
    path.symlink_to(outside / "secret.txt")
    (tools.root / "a").rename(tools.root / "b")
    (tools.root / "a").symlink_to(outside)
    for name, action, arguments in (
        ("read_file", read, {"path": "note.txt"}),
        ("write_file", write, {"path": "note.txt", "content": "written\n"}),
        ("write_file", new, {"path": "a/new.txt", "content": "written\n"}),
    ):
        with pytest.raises(PalimpsestError):
            tools.run(name, action, **arguments)
    assert (outside / "secret.txt").read_text() == f"{CANARY}\n"
    assert not (outside / "new.txt").exists()


def test_a_hard_link_to_a_file_outside_is_replaced_and_not_written_into(tools: ProjectTools, outside: Path) -> None:
    os.link(outside / "secret.txt", tools.root / "hard.txt")
    tools.call("read_file", path="hard.txt")
    with suppress(PalimpsestError):
        tools.call("write_file", path="hard.txt", content="written\n")
    assert (outside / "secret.txt").read_text() == f"{CANARY}\n"


def test_a_name_in_another_case_is_the_name_on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the file system knows names in any case, so that rules and concerns see the one name."""
    assert beneath.stored_name("SRC", ["docs", "src"], lambda name: name == "src") == "src"
    assert beneath.stored_name("src", ["SRC", "src"], lambda _: True) == "src"  # both, on others
    assert beneath.stored_name("e\u0301", ["\u00e9"], lambda _: True) == "\u00e9"


def test_a_failure_names_no_path_outside_beyond_what_was_given(tools: ProjectTools, outside: Path) -> None:
    with pytest.raises(ToolFailure) as failure:
        tools.action("read_file", path="out/secret.txt")
    assert "outside" not in failure.value.message
