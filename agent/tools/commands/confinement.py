"""Confines a process before it runs a command: what the sandbox's plan says, by the system calls of Linux.

Standard library alone: the supervisor runs without the program's libraries.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from agent.tools.commands import linux


class Confinement(NamedTuple):
    """What a command may do. Paths are absolute, without links, and exist.

    `namespaces`: own mounts, network, processes and IPC. `landlock`: writes are denied by Landlock. Without namespaces
    `hidden`, `read_only` and `temporary` have no effect, and Landlock denies reading the first of `covered`.
    """

    namespaces: bool
    landlock: bool
    network: bool
    writable: list[str]
    read_only: list[str]  # within what is writable
    pinned: list[str]  # folders within what is writable that cannot be renamed
    hidden: list[str]
    temporary: str  # a folder that takes the place of /tmp and /var/tmp
    covered: list[str]  # folders of which only what is `visible`, `links` or `writable` is seen: the home folder first
    visible: list[str]
    links: list[list[str]]  # each path, and where it leads


def enter_namespaces(plan: Confinement) -> None:
    """Moves this process into its namespaces; its next child is the first process of the new process namespace.

    Root keeps the user namespace it is in, where it may, so that files of any owner stay as accessible as before.
    """
    spaces = linux.CLONE_NEWNS | linux.CLONE_NEWPID | linux.CLONE_NEWIPC
    if not plan.network:
        spaces |= linux.CLONE_NEWNET
    user, group = os.geteuid(), os.getegid()
    if user == 0:
        with suppress(OSError):
            linux.unshare(spaces)
            return
    linux.unshare(spaces | linux.CLONE_NEWUSER)
    linux.map_own_user(user, group)


def arrange_mounts(plan: Confinement) -> None:
    """Makes everything read-only but what is writable, hides what is hidden, and gives own /tmp, /proc and terminals.

    Runs as the first process of the new process namespace.
    """
    linux.mount("none", "/", "", linux.MS_REC | linux.MS_PRIVATE)
    linux.mount("proc", "/proc", "proc", linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC)
    if not plan.network:
        linux.bring_up_loopback()
    held = {path: os.open(path, os.O_PATH) for path in plan.writable}  # before /tmp is covered: they may lie in it
    shown = {path: os.open(path, os.O_PATH) for path in plan.visible}
    linux.set_read_only("/", True, below=True)
    if plan.temporary:
        temporary = os.open(plan.temporary, os.O_PATH)
        for folder in ("/tmp", "/var/tmp"):
            if os.path.isdir(folder) and not os.path.islink(folder):
                _bind(temporary, folder, read_only=False)
    covered = [path for path in plan.covered if os.path.isdir(path)]
    for path in covered:
        linux.mount("none", path, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "mode=0755,size=1m")
    for path, target in plan.links:
        if _is_below(path, covered):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.symlink(target, path)
    for path, descriptor in {**{each: shown[each] for each in shown if _is_below(each, covered)}, **held}.items():
        _make_mount_point(path, descriptor)
        _bind(descriptor, path, read_only=path in shown)
    for path in covered:
        linux.set_read_only(path, True, below=False)
    for path in plan.pinned:  # a mount point cannot be renamed
        with suppress(FileNotFoundError):
            _bind(os.open(path, os.O_PATH), path, read_only=False)
    for path in plan.read_only:
        with suppress(FileNotFoundError):
            _bind(os.open(path, os.O_PATH), path, read_only=True)
    with suppress(OSError):
        linux.mount("none", "/dev/shm", "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "mode=1777")
    with suppress(OSError):  # commands can do without a terminal
        linux.mount("devpts", "/dev/pts", "devpts", linux.MS_NOSUID | linux.MS_NOEXEC, "newinstance,ptmxmode=0666")
        _bind(os.open("/dev/pts/ptmx", os.O_PATH), "/dev/ptmx", read_only=False)
    for path in plan.hidden:
        with suppress(FileNotFoundError, NotADirectoryError):
            _hide(path)


def confine(plan: Confinement) -> None:
    """Confines this process, and what it starts from now on."""
    linux.forbid_new_privileges()
    linux.drop_capabilities()
    if not plan.namespaces and linux.can_deny_sockets():
        linux.deny_sockets(unix_only=plan.network)
    if plan.landlock:
        own = ("/tmp", "/var/tmp", "/dev/pts") if plan.namespaces else ()
        devices = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx")
        paths = [path for path in (*plan.writable, *own, *devices, "/dev/shm") if os.path.exists(path)]
        readable = [] if plan.namespaces or not plan.covered else [*_beside(plan.covered[0]), *plan.visible, *paths]
        linux.restrict_files(paths, readable, network=plan.network or plan.namespaces)


def _beside(path: str) -> Iterator[str]:
    """All that is neither in the path nor above it: the entries of each folder on the way but the next one."""
    above = "/"
    for part in path.strip("/").split("/"):
        with suppress(OSError):
            yield from (os.path.join(above, name) for name in os.listdir(above) if name != part)
        above = os.path.join(above, part)


def _bind(source: int, target: str, *, read_only: bool) -> None:
    linux.mount(f"/proc/self/fd/{source}", target, "", linux.MS_BIND | linux.MS_REC)
    linux.set_read_only(target, read_only, below=False)


def _make_mount_point(path: str, descriptor: int) -> None:
    """The path, where a covered /tmp no longer has it."""
    if os.path.exists(path):
        return
    if stat.S_ISDIR(os.fstat(descriptor).st_mode):
        os.makedirs(path, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY))


def _hide(path: str) -> None:
    if os.path.isdir(path):
        linux.mount("none", path, "tmpfs", linux.MS_RDONLY | linux.MS_NOSUID | linux.MS_NODEV, "mode=0555,size=4k")
    else:
        linux.mount("/dev/null", path, "", linux.MS_BIND)


def _is_below(path: str, folders: list[str]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)
