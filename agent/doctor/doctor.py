"""Checks of the installation: what is there, what is missing, and the command that installs it."""

import asyncio
import importlib.util
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from agent.config.config import read_config
from agent.doctor.mcp_checks import mcp_findings
from agent.doctor.model_checks import CheckResult, embed_findings, ocr_findings
from agent.tools.commands.commands import open_commands
from agent.tools.files.project import ProjectFolders
from agent.version import version
from foundation.clock import SystemClock
from foundation.errors import PalimpsestError
from foundation.figures import counted
from foundation.install_hints import DISTRIBUTION, install_command, install_extra
from foundation.paths import Workspace
from foundation.program import PROGRAM, own_command
from foundation.sizes import MEGABYTE, format_size
from foundation.workspace_trust import trust_command, trust_store
from memory.access import first_entry, sqlite_version, trust_notice
from memory.backup.reminder import last_backup, overdue, renewal
from memory.settings import ArchiveSettings, DiskSettings
from memory.sync.last_run import has_trouble, sync_sentence
from memory.upkeep.disk import ADVICE, disk_warning, is_low, measure
from memory.upkeep.integrity import REPAIR, faults_sentence, integrity_sentence
from memory.upkeep.state import read_state
from models.chat.detect import detect


class OptionalLibrary(Struct, frozen=True):
    """An optional library: its module, our extra that installs it, its purpose.

    Without an extra it is installed with the program, on Apple's own chips only.
    """

    module: str
    extra: str
    gives: str


OPTIONAL = (
    OptionalLibrary("mlx_lm", "", "MLX models run on this machine"),
    OptionalLibrary("mlx_vlm", "", "DeepSeek-OCR reads pictures other than archived pages"),
    OptionalLibrary("rapidocr", "rapidocr", "PP-OCR reads pictures other than archived pages"),
    OptionalLibrary("tesserocr", "tesseract", "Tesseract reads pictures other than archived pages"),
    OptionalLibrary("s3fs", "s3", "packs can be stored on S3"),
    OptionalLibrary("sshfs", "ssh", "packs can be stored on a host over SSH"),
    OptionalLibrary("zfec", "parity", "packs can have parity data"),
    OptionalLibrary("onnxruntime", "embed", "ONNX models embed on this machine"),
    OptionalLibrary("numkong", "embed", "vector search is faster"),
    OptionalLibrary("pypdfium2", "knowledge", "PDF files can be added to knowledge"),
    OptionalLibrary("docx", "knowledge", "Word documents can be added to knowledge"),
    OptionalLibrary("pptx", "knowledge", "slides can be added to knowledge"),
    OptionalLibrary("keyring", "keyring", "service keys are stored in the system's keyring"),
    OptionalLibrary("mcp", "mcp", "MCP servers can give the model tools"),
)
"""An engine's other requirements are checked in agent.doctor.model_checks."""


def run_checks(workspace: Workspace, environment: Mapping[str, str]) -> Iterator[CheckResult]:
    """All results, quick checks first. Changes nothing; waits a second at most for servers."""
    yield CheckResult(
        "program", "ok", f"palimpsest {version()}, Python {platform.python_version()}, {platform.platform()}"
    )
    yield _sqlite()
    yield from _workspace(workspace, environment)
    yield from _libraries()
    yield from ocr_findings(environment)
    yield from embed_findings(workspace, read_config(workspace, environment, {}).config, environment)
    yield from mcp_findings(read_config(workspace, environment, {}).config.mcp, environment)
    yield _sandbox(workspace, environment)
    yield _terminal(environment)
    yield from _models(environment)


def _sqlite() -> CheckResult:
    try:
        version = sqlite_version()
    except PalimpsestError as error:
        return CheckResult("sqlite", "wrong", error.message, error.hint)
    except ImportError as error:
        return CheckResult("sqlite", "wrong", f"apsw cannot be loaded: {error}.", f"Install {DISTRIBUTION} again.")
    return CheckResult("sqlite", "ok", version)


def _workspace(workspace: Workspace, environment: Mapping[str, str]) -> Iterator[CheckResult]:
    if not workspace.is_workspace:
        yield CheckResult(
            "workspace", "missing", f"{workspace.root} is not a workspace yet.", f"Create one with `{PROGRAM} init`."
        )
        return
    yield CheckResult("workspace", "ok", str(workspace.root))
    reading = read_config(workspace, environment, {})
    yield _trust(workspace, environment, [setting.name for setting in reading.ignored])
    for problem in reading.problems:
        yield CheckResult("configuration", "wrong", f"{problem.location}: {problem.sentence}", "Correct that line.")
    for notice in reading.notices:
        yield CheckResult("configuration", "missing", notice)
    yield _disk(workspace, reading.config.disk)
    yield from _integrity(workspace)
    yield from _backup(workspace, reading.config.backup.remind_days)
    yield from _sync(workspace, reading.config.sync.locations)
    if workspace.database.exists():
        yield _store(workspace)
        if reading.config.archive.storage:
            yield _packs(workspace, reading.config.archive)


def _trust(workspace: Workspace, environment: Mapping[str, str], ignored: Sequence[str]) -> CheckResult:
    """`ok` only where the workspace is trusted and all of its content is in force."""
    trust = trust_store(environment).state(workspace, first_entry(workspace.database))
    notice = trust_notice(workspace, trust, ignored)
    if not notice:
        return CheckResult("trust", "ok", "The workspace is fully trusted.")
    problem, _, _ = notice.partition(" If it is yours: " if not trust.trusted else " To allow it: ")
    return CheckResult("trust", "missing", problem, f"`{trust_command(workspace)}`")


def _disk(workspace: Workspace, settings: DiskSettings) -> CheckResult:
    """The room that memory takes and what is free. `wrong` where little is free, `missing` near the budget."""
    use = measure(workspace)
    free = "" if use.free is None else f"{format_size(use.free)} free at {workspace.root}; "
    budget = f" of {format_size(settings.budget_mb * MEGABYTE)}" if settings.budget_mb else ""
    sentence = f"{free}memory takes {format_size(use.size)}{budget}"
    warning = disk_warning(use, settings, advice="")
    if not warning:
        return CheckResult("disk", "ok", sentence)
    return CheckResult("disk", "wrong" if is_low(use, settings) else "missing", warning, f"Free some space. {ADVICE}")


def _integrity(workspace: Workspace) -> Iterator[CheckResult]:
    """What the last checks of memory found; nothing before the first one."""
    state = read_state(workspace)
    if state.faults:
        yield CheckResult("integrity", "wrong", faults_sentence(state.faults), REPAIR)
    elif sentence := integrity_sentence(state):
        yield CheckResult("integrity", "ok", f"{sentence[:1].upper()}{sentence[1:]}.")


def _backup(workspace: Workspace, remind_days: int) -> Iterator[CheckResult]:
    """The age of the last backup; nothing where none was ever made from here."""
    last, now = last_backup(workspace), SystemClock().now()
    if last is None:
        return
    if old := overdue(workspace, now, remind_days):
        yield CheckResult("backup", "missing", f"The last backup is {old.partition(':')[0]}.", renewal(last))
    else:
        yield CheckResult("backup", "ok", f"{last.time.astimezone():%Y-%m-%d %H:%M} at {last.place}")


def _sync(workspace: Workspace, locations: Sequence[str]) -> Iterator[CheckResult]:
    """When the workspace was last synced; nothing where no location was added."""
    if sentence := sync_sentence(workspace, locations, SystemClock().now()):
        is_fine = not has_trouble(workspace, locations)
        yield CheckResult("sync", "ok" if is_fine else "missing", sentence, "" if is_fine else f"`{PROGRAM} sync now`")


def _store(workspace: Workspace) -> CheckResult:
    from memory.memory import Memory

    try:
        memory = Memory.open(workspace)
    except PalimpsestError as error:
        return CheckResult("store", "wrong", error.message, error.hint)
    try:
        figures = memory.statistics()
        unanalysed = memory.renewing.left()
    finally:
        memory.close()
    return CheckResult(
        "store",
        "ok",
        f"{figures.entries:,} entries in {counted(figures.conversations, 'conversation')}, "
        + counted(figures.pages, "page")
        + (f"; {unanalysed:,} entries are being re-indexed after turns" if unanalysed else ""),
    )


def _packs(workspace: Workspace, settings: ArchiveSettings) -> CheckResult:
    """Whether the remote storage of packs answers."""
    from memory.memory import Memory

    memory = Memory.open(workspace, settings=settings)
    try:
        names = memory.vault.storage.names()
    except PalimpsestError as error:
        return CheckResult("packs", "wrong", error.message, error.hint)
    finally:
        memory.close()
    return CheckResult("packs", "ok", f"{settings.storage} responds; {len(names):,} files are stored there and here.")


def _libraries() -> Iterator[CheckResult]:
    extras: dict[str, None] = {}
    for library in OPTIONAL:
        if importlib.util.find_spec(library.module) is not None:
            yield CheckResult(library.module, "ok", f"{library.gives}.")
        elif library.extra or _is_apple():
            extras |= {library.extra: None} if library.extra else {}
            hint = "" if library.extra else install_command(DISTRIBUTION)
            yield CheckResult(library.module, "missing", f"Not installed. With it, {library.gives}.", hint)
    if extras:
        names = ",".join(extras)
        yield CheckResult(
            "extras",
            "missing",
            "This installs everything missing; leave out what you do not need.",
            install_extra(names),
        )


def _is_apple() -> bool:
    """Whether this is a Mac with Apple's own chip, where MLX is installed with the program."""
    return platform.system() == "Darwin" and platform.machine() == "arm64"


def _sandbox(workspace: Workspace, environment: Mapping[str, str]) -> CheckResult:
    """What confines the commands that a model runs in this folder."""
    settings = read_config(workspace, environment, {}).config.tools
    commands = open_commands(workspace, ProjectFolders((Path.cwd(),)), settings, environment)
    try:
        state, sentence = commands.sandbox.state, commands.sandbox.describe()
    finally:
        commands.close()
    if state.holds:
        return CheckResult("sandbox", "ok", sentence)
    hint = (
        "Install bubblewrap; without a sandbox, `auto` needs confirmation for each command."
        if sys.platform == "linux"
        else ""
    )
    return CheckResult("sandbox", "missing", sentence, hint)


def _terminal(environment: Mapping[str, str]) -> CheckResult:
    encoding = (getattr(sys.stdout, "encoding", "") or "").lower().replace("-", "")
    name = environment.get("TERM", "unknown")
    if encoding not in {"utf8", "cp65001"}:
        return CheckResult(
            "terminal", "wrong", f"{name}; output is {encoding or 'unknown'}, not UTF-8.", "Set PYTHONUTF8=1."
        )
    return CheckResult("terminal", "ok", f"{name}, UTF-8")


def _models(environment: Mapping[str, str]) -> Iterator[CheckResult]:
    detected = asyncio.run(detect(environment, timeout=1.0))
    for model in detected:
        yield CheckResult(
            "model",
            "ok",
            f"{model.spec}, window {model.profile.window:,}",
            own_command("models", "use", model.spec),
        )
    if not detected:
        yield CheckResult(
            "model",
            "missing",
            "No model server responds and no key is set; offline answers quote from memory.",
            "Start Ollama, LM Studio or llama.cpp, or set a key.",
        )
