"""The sandbox of commands: which one this system has, what it holds, and how a command is started in it."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from threading import Event, Lock
from typing import Final

from msgspec import Struct, structs

from agent.tools.commands.confinement import Confinement
from agent.tools.commands.git_folders import folders_between
from agent.tools.commands.guarded_files import FileGuard, GuardedPaths
from agent.tools.commands.home_folders import missed, visible_in_home
from agent.tools.commands.process import CommandProcess, Launch, shell_arguments
from agent.tools.port import ToolFailure
from foundation.files import remove_tree

_PROBE_SECONDS: Final = 5.0
_KEPT_CAPABILITIES: Final = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID")  # of root
_GIT_SETTINGS: Final = (".gitconfig", ".config/git/config")
_RUN: Final = ("/run", "/var/run")
"""Folders of sockets, by which a command could have another program act for it: Docker's, D-Bus's, an agent's."""
_IN_RUN: Final = ("/run/current-system", "/run/opengl-driver", "/run/wrappers", os.path.realpath("/etc/resolv.conf"))
STATE: Final = ".palimpsest"
_NOTHING_GUARDED: Final = GuardedPaths([], [])


class SandboxKind(StrEnum):
    """By what commands are confined."""

    NAMESPACES = "namespaces"  # of Linux, with Landlock where there is one
    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "Landlock"
    SEATBELT = "sandbox-exec"
    NONE = "none"


class SandboxState(Struct, frozen=True, kw_only=True):
    """What the sandbox of this system holds. `reason` says why it is not more; "" where it is all.

    `writes`: only the project and temporary folders can be written. `secrets`: the home folder and the program's state
    cannot be read, git's hooks not be changed. `no_network`: nothing leaves the machine.
    """

    kind: SandboxKind
    writes: bool = False
    secrets: bool = False
    no_network: bool = False
    reason: str = ""

    @property
    def holds(self) -> bool:
        """Whether commands may run unasked in it."""
        return self.writes and self.secrets

    @property
    def circumstances(self) -> str:
        """How a command would run, in a sentence for the question whether it may."""
        if not self.writes:
            return "No sandbox: it can write any of your files and use the network."
        network = "no network" if self.no_network else "the network is open"
        keys = "" if self.secrets else ", it can change git's hooks while it runs"
        return f"In the sandbox: it can only write to the project and temporary folders, {network}{keys}."


class SandboxFolders(Struct, frozen=True, kw_only=True):
    """`writable` are the project's folders and those of `tools.sandbox_folders`; `hidden` are the program's own.

    `read_only` is what each request is made of: it is written only with a yes. `programs` are files that run outside
    the sandbox: of hooks and MCP servers. `workspace` has instructions; `git_settings` are the user's own.
    """

    writable: Sequence[Path]
    read_only: Sequence[Path] = ()
    programs: Sequence[Path] = ()
    hidden: Sequence[Path] = ()
    home: Path
    workspace: Path | None = None
    git_settings: Sequence[Path] = ()


class Sandbox:
    """The sandbox of a session's commands."""

    def __init__(self, folders: SandboxFolders, *, enabled: bool = True, network: bool = False) -> None:
        """`network`: commands may use it (`tools.sandbox_network`)."""
        self._folders = folders
        self._enabled = enabled
        self._network = network
        self._state: SandboxState | None = None
        self._temporary: Path | None = None
        settings = folders.git_settings or [folders.home / name for name in _GIT_SETTINGS]
        self._guard = FileGuard(folders.home, folders.workspace, settings)
        self._lock = Lock()
        self._is_used = False
        self._visible: list[Path] = []

    def add_writable(self, folder: Path) -> None:
        """Has commands from now on write below this folder, too."""
        self._folders = structs.replace(self._folders, writable=[*self._folders.writable, folder])

    @property
    def state(self) -> SandboxState:
        """What holds, tried out with a command the first time, which blocks for about 0.2 s."""
        with self._lock:
            if self._state is None:
                self._state = self._probe()
            return self._state

    def describe(self) -> str:
        """What is confined and what is not, in sentences."""
        state = self.state
        if state.kind is SandboxKind.NONE:
            return f"Commands run without a sandbox: {state.reason}"
        sentences = [
            f"Commands run in a sandbox ({state.kind}): they can only write to the project and temporary folders"
        ]
        if state.secrets:
            sentences.append(
                "of your home folder they see only toolchains and the project, Palimpsest's own state is hidden, and "
                "what git, editors and CI run by themselves is read-only"
            )
        sentences.append("the network is off" if state.no_network else "the network is allowed")
        return "; ".join(sentences) + "." + (f" {state.reason}" if state.reason else "")

    def launch(
        self,
        command: str,
        folder: Path,
        environment: Mapping[str, str],
        *,
        inside: bool = True,
        alone: bool = True,
    ) -> Launch:
        """How the command is started; `inside` the sandbox where there is one. `alone`: no other runs inside."""
        kind = self.state.kind if inside else SandboxKind.NONE
        if kind is SandboxKind.NONE:
            return self._launch(kind, shell_arguments(command), folder, environment)
        self._is_used = True
        tops = [Path(path) for path in self._writable()]
        guarded = self._guard.protect(tops, is_new=alone, creates=kind is not SandboxKind.LANDLOCK)
        return self._launch(kind, shell_arguments(command), folder, environment, guarded)

    def accept(self, paths: set[Path]) -> None:
        """Takes what a tool wrote with permission for right, and empties the set."""
        self._guard.accept(paths)
        paths.clear()

    def after_command(self, *, inside: bool = True) -> str:
        """Undoes what no mount prevents; gives sentences about it, "" where there was nothing.

        `inside`: the command ran in the sandbox.
        """
        if not inside or not self._is_used:
            return ""
        return "; ".join(self._guard.undo([Path(path) for path in self._writable()]))

    def close(self) -> None:
        """Removes the temporary folder."""
        self.after_command()
        with self._lock:
            temporary, self._temporary = self._temporary, None
        if temporary is not None:
            with suppress(OSError):
                remove_tree(temporary)

    def _launch(
        self,
        kind: SandboxKind,
        arguments: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        guarded: GuardedPaths = _NOTHING_GUARDED,
    ) -> Launch:
        if kind is SandboxKind.NONE:
            return Launch(arguments=arguments, folder=folder, environment=environment)
        plan = self._plan(kind, guarded, environment.get("PATH", ""))
        environment = {**environment, **_temporary_folders(plan)}
        if kind is SandboxKind.BUBBLEWRAP:
            arguments = [*bubblewrap_arguments(plan, str(folder)), *arguments]
        elif kind is SandboxKind.SEATBELT:
            arguments = ["/usr/bin/sandbox-exec", "-p", seatbelt_profile(plan), *arguments]
        in_supervisor = kind in {SandboxKind.NAMESPACES, SandboxKind.LANDLOCK}
        return Launch(
            arguments=arguments, folder=folder, environment=environment, confinement=plan if in_supervisor else None
        )

    def _plan(self, kind: SandboxKind, guarded: GuardedPaths, search_path: str) -> Confinement:
        temporary = str(self.temporary_folder())
        folders = self._folders
        writable = self._writable()
        hidden = [*folders.hidden, *(Path(path) / STATE for path in writable)]
        hidden += [path for path in bound_sockets() if not any(path.is_relative_to(top) for top in writable)]
        home = Path(os.path.realpath(folders.home))
        enclosing = [path for path in map(_enclosing_repository, writable) if path is not None]
        visible = visible_in_home(home, search_path, [*self._guard.git_folders, *enclosing])
        self._visible = [*visible, *map(Path, writable)]
        programs = [Path(path) for path in _existing(self._folders.programs)]
        pinned = [*guarded.pinned]
        pinned += [parent for path in programs for top in writable for parent in folders_between(Path(top), path)]
        in_namespaces = kind is not SandboxKind.LANDLOCK and kind is not SandboxKind.SEATBELT
        return Confinement(
            namespaces=kind is SandboxKind.NAMESPACES,
            landlock=kind in {SandboxKind.NAMESPACES, SandboxKind.LANDLOCK} and _has_landlock(),
            network=self._network,
            writable=writable if in_namespaces else [*writable, temporary],
            read_only=_existing([*folders.read_only, *programs, *guarded.read_only]),
            pinned=sorted(set(pinned), key=lambda path: (path.count(os.sep), path)),  # the outer before the inner
            hidden=_existing(hidden),
            temporary=temporary,
            covered=[str(path) for path in (home, *map(Path, _RUN)) if path != Path("/") and not path.is_symlink()],
            visible=_existing([*visible, *(Path(path) for path in _IN_RUN)]),
            links=[[str(path), str(path.readlink())] for path in map(Path, (*visible, *_IN_RUN)) if path.is_symlink()],
        )

    def missed(self, output: str) -> str:
        """Which files of the home folder a command's output names that it did not see; "" for none."""
        names = missed(output, Path(os.path.realpath(self._folders.home)), self._visible) if self._visible else []
        verb = "is" if len(names) == 1 else "are"
        return (
            f"{', '.join(names[:3])} {verb} not visible in the sandbox; the user shows a folder with /add-dir"
            if names
            else ""
        )

    def _writable(self) -> list[str]:
        return [os.path.realpath(path) for path in self._folders.writable if path.exists()]

    def temporary_folder(self) -> Path:
        """The folder that stands for /tmp in the sandbox; made when it is first needed."""
        if self._temporary is None:
            self._temporary = Path(os.path.realpath(tempfile.mkdtemp(prefix="palimpsest-")))
        return self._temporary

    def _probe(self) -> SandboxState:
        if not self._enabled:
            return _none("tools.sandbox is off.")
        if unsuitable := self._unsuitable():
            return _none(unsuitable)
        if sys.platform == "darwin":
            return self.try_kind(SandboxKind.SEATBELT) or _none("sandbox-exec does not start a command here.")
        if not sys.platform.startswith("linux"):
            return _none("there is none for this system.")
        for kind in (SandboxKind.NAMESPACES, SandboxKind.BUBBLEWRAP, SandboxKind.LANDLOCK):
            if (kind is not SandboxKind.BUBBLEWRAP or shutil.which("bwrap")) and (state := self.try_kind(kind)):
                return state
        return _none("the kernel supports neither namespaces nor Landlock, and bubblewrap is not installed.")

    def _unsuitable(self) -> str:
        """Why the project's folders cannot bound writes; "" where they can."""
        home = Path(os.path.realpath(self._folders.home))
        for folder in self._folders.writable:
            if home.is_relative_to(os.path.realpath(folder)):
                return f"{folder} is or contains your home folder, so restricting writes to it is no protection."
        return ""

    def try_kind(self, kind: SandboxKind) -> SandboxState | None:
        """What this kind holds, where a command starts in it."""
        launch = self._launch(kind, shell_arguments("exit 42"), Path("/"), {"PATH": os.defpath})
        try:
            process = CommandProcess(launch, most_output=1_000)
        except ToolFailure:
            return None
        if not process.wait(_PROBE_SECONDS, Event(), lambda _: None):
            process.stop()
            return None
        if process.status is None or process.status.exit != 42:
            return None
        if kind is not SandboxKind.LANDLOCK:
            return SandboxState(kind=kind, writes=True, secrets=True, no_network=not self._network)
        from agent.tools.commands.linux import can_deny_sockets

        reason = (
            "Without namespaces, what git and editors run by themselves can be changed until the command ends, "
            "Palimpsest's state in the project be read, and the modes and times of files outside be set; there are no "
            "Unix sockets."
        )
        return SandboxState(kind=kind, writes=True, no_network=not self._network and can_deny_sockets(), reason=reason)


def bubblewrap_arguments(plan: Confinement, folder: str) -> list[str]:
    """The arguments that have bubblewrap (0.4 and newer) confine what follows them."""
    arguments = ["bwrap", "--die-with-parent", "--unshare-user-try", "--unshare-ipc", "--unshare-pid"]
    if not plan.network:
        arguments.append("--unshare-net")
    arguments += ["--cap-drop", "ALL"]  # root could unmount otherwise
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments += [part for name in _KEPT_CAPABILITIES for part in ("--cap-add", f"CAP_{name}")]
    arguments += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/dev/shm"]
    for target in ("/tmp", "/var/tmp"):
        arguments += ["--bind", plan.temporary, target]
    for covered in plan.covered:
        inside = [path for path in plan.visible if path.startswith(f"{covered}/")]
        arguments += ["--tmpfs", covered, *(part for path in inside for part in ("--ro-bind", path, path))]
        links = [(target, path) for path, target in plan.links if path.startswith(f"{covered}/")]
        arguments += [part for link in links for part in ("--symlink", *link)]
    for path in (*plan.writable, *plan.pinned):
        arguments += ["--bind", path, path]
    for path in plan.read_only:
        arguments += ["--ro-bind", path, path]
    for path in plan.hidden:
        arguments += ["--tmpfs", path] if Path(path).is_dir() else ["--ro-bind", "/dev/null", path]
    arguments += [part for path in plan.covered for part in ("--remount-ro", path)]
    return [*arguments, "--chdir", folder, "--"]


def seatbelt_profile(plan: Confinement) -> str:
    """The profile for macOS's sandbox-exec. The last rule that matches decides."""
    devices = ("/dev/null", "/dev/zero", "/dev/tty", "/dev/ptmx", "/dev/dtracehelper")
    lines = [
        "(version 1)",
        "(allow default)",
        "(deny file-write*)",
        *(f"(deny file-read* (subpath {_quoted(path)}))" for path in plan.covered),
        *(f"(allow file-read* (subpath {_quoted(path)}))" for path in (*plan.visible, *plan.writable)),
        *(f"(allow file-read-metadata (literal {_quoted(path)}))" for path in _above(plan)),
        *(f"(allow file-write* (subpath {_quoted(path)}))" for path in plan.writable),
        *(f"(allow file-write* (literal {_quoted(path)}))" for path in devices),
        '(allow file-write* (regex #"^/dev/ttys[0-9]+$"))',
        *(f"(deny file-write-unlink (literal {_quoted(path)}))" for path in plan.pinned),
        *(f"(deny file-write* (subpath {_quoted(path)}))" for path in plan.read_only),
        *(f"(deny file-read* file-write* (subpath {_quoted(path)}))" for path in plan.hidden),
    ]
    if plan.network:
        lines.append("(deny network-outbound (remote unix-socket))")
        lines.append('(allow network-outbound (literal "/private/var/run/mDNSResponder"))')
    else:
        lines += [
            "(deny network*)",
            '(allow network* (local ip "localhost:*"))',
            '(allow network-outbound (remote ip "localhost:*"))',
        ]
    for path in plan.writable:
        lines.append(f"(allow network-outbound (remote unix-socket (subpath {_quoted(path)})))")
        lines.append(f"(allow network-bind (local unix-socket (subpath {_quoted(path)})))")
    return "\n".join(lines) + "\n"


def _above(plan: Confinement) -> list[str]:
    """The home folder, and the folders in it on the way to what is seen: a path is resolved through them."""
    seen = [*plan.visible, *plan.writable, *(path for path, _ in plan.links)]
    parents = {parent for path in seen for parent in Path(path).parents}
    return sorted(str(parent) for parent in parents for top in plan.covered if parent.is_relative_to(top))


def _enclosing_repository(folder: str) -> Path | None:
    """The nearest folder above with a `.git`, of which the project folder is a part."""
    if os.path.lexists(Path(folder, ".git")):
        return None
    return next((above for above in Path(folder).parents if os.path.lexists(above / ".git")), None)


def _quoted(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _temporary_folders(plan: Confinement) -> dict[str, str]:
    """Where temporary files and caches go: the caches outside cannot be written."""
    folder = plan.temporary if not _covers_tmp(plan) else "/tmp"
    return {"TMPDIR": folder, "XDG_CACHE_HOME": f"{folder}/.cache"}


def _covers_tmp(plan: Confinement) -> bool:
    return plan.temporary not in plan.writable


def _existing(paths: Iterable[Path]) -> list[str]:
    """Those that exist, with their links resolved, each once."""
    return list(dict.fromkeys(os.path.realpath(path) for path in paths if path.exists()))


def bound_sockets() -> list[Path]:
    """The Unix sockets of this machine that have a path; none where the system does not list them."""
    try:
        listed = Path("/proc/net/unix").read_text("utf-8", "replace").splitlines()[1:]
    except OSError:
        return []
    paths = [fields[7] for line in listed if len(fields := line.split(maxsplit=7)) == 8]
    return [Path(path) for path in paths if path.startswith("/")]


def _has_landlock() -> bool:
    from agent.tools.commands.linux import LEAST_LANDLOCK, landlock_version

    return landlock_version() >= LEAST_LANDLOCK


def _none(reason: str) -> SandboxState:
    return SandboxState(kind=SandboxKind.NONE, reason=reason)
