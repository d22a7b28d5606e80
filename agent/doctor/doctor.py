"""A look at the installation: what is there, what is missing, and the one command that would bring it."""

import asyncio
import importlib.util
import platform
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from agent.config.config import read_config
from agent.doctor.model_checks import CheckResult, embed_findings, ocr_findings
from agent.version import version
from foundation.errors import PalimpsestError
from foundation.install_hints import DISTRIBUTION, install_command, install_extra
from foundation.paths import Workspace
from foundation.program import PROGRAM, own_command
from foundation.workspace_trust import trust_command, trust_store
from memory.settings import ArchiveSettings

SPARE_BYTES = 500_000_000


class OptionalLibrary(Struct, frozen=True):
    """A library that is fine to be without: its module, our extra that brings it, what it gives.

    Without an extra it comes with the program, on Apple's own chips alone.
    """

    module: str
    extra: str
    gives: str


OPTIONAL = (
    OptionalLibrary("mlx_lm", "", "MLX models run on this machine"),
    OptionalLibrary("mlx_vlm", "", "DeepSeek-OCR reads pictures that are not our own pages"),
    OptionalLibrary("rapidocr", "rapidocr", "PP-OCR reads pictures that are not our own pages"),
    OptionalLibrary("tesserocr", "tesseract", "Tesseract reads pictures that are not our own pages"),
    OptionalLibrary("s3fs", "s3", "packs can live on S3"),
    OptionalLibrary("sshfs", "ssh", "packs can live on a host over SSH"),
    OptionalLibrary("zfec", "parity", "packs can keep parity"),
    OptionalLibrary("onnxruntime", "embed", "ONNX models embed on this machine"),
    OptionalLibrary("numkong", "embed", "vectors are compared at the speed of memory"),
    OptionalLibrary("pypdfium2", "knowledge", "PDF files can be added to knowledge"),
    OptionalLibrary("docx", "knowledge", "Word documents can be added to knowledge"),
    OptionalLibrary("pptx", "knowledge", "slides can be added to knowledge"),
)
"""What an engine needs beside its library is looked at in agent.doctor.model_checks."""


def examine(workspace: Workspace, environment: Mapping[str, str]) -> Iterator[CheckResult]:
    """Every finding, quick ones first. Reads; changes nothing; servers are asked for a second at most."""
    yield CheckResult(
        "program", "ok", f"palimpsest {version()}, Python {platform.python_version()}, {platform.platform()}"
    )
    yield _sqlite()
    yield from _workspace(workspace, environment)
    yield from _libraries()
    yield from ocr_findings(environment)
    yield from embed_findings(workspace, read_config(workspace, environment, {}).config, environment)
    yield _terminal(environment)
    yield from _models(environment)


def _sqlite() -> CheckResult:
    try:
        from memory.access import sqlite_version

        version = sqlite_version()
    except PalimpsestError as error:
        return CheckResult("sqlite", "wrong", error.message, error.hint)
    except ImportError as error:
        return CheckResult("sqlite", "wrong", f"apsw cannot be loaded: {error}.", f"Install {DISTRIBUTION} again.")
    return CheckResult("sqlite", "ok", version)


def _workspace(workspace: Workspace, environment: Mapping[str, str]) -> Iterator[CheckResult]:
    if not workspace.is_workspace:
        yield CheckResult(
            "workspace", "missing", f"{workspace.root} is no workspace yet.", f"`{PROGRAM} init` makes it one."
        )
        return
    yield CheckResult("workspace", "ok", str(workspace.root))
    reading = read_config(workspace, environment, {})
    yield _trust(workspace, environment, [one.name for one in reading.ignored])
    for problem in reading.problems:
        yield CheckResult("configuration", "wrong", f"{problem.where}: {problem.sentence}", "Correct that line.")
    for notice in reading.notices:
        yield CheckResult("configuration", "missing", notice)
    yield _disk(workspace.root)
    if workspace.database.exists():
        yield _store(workspace)
        if reading.config.archive.storage:
            yield _packs(workspace, reading.config.archive)


def _trust(workspace: Workspace, environment: Mapping[str, str], ignored: Sequence[str]) -> CheckResult:
    """A tick only where the workspace is trusted and all that it brings is in force."""
    from memory.access import first_entry, trust_notice

    standing = trust_store(environment).standing(workspace, first_entry(workspace.database))
    notice = trust_notice(workspace, standing, ignored)
    if not notice:
        return CheckResult("trust", "ok", "The workspace is trusted, and all that it brings is in force.")
    said, _, _ = notice.partition(" If it is yours: " if not standing.trusted else " To allow it: ")
    return CheckResult("trust", "missing", said, f"`{trust_command(workspace)}`")


def _disk(root: Path) -> CheckResult:
    free = shutil.disk_usage(root).free
    sentence = f"{free / 1e9:,.1f} GB free at {root}"
    return (
        CheckResult("disk", "ok", sentence)
        if free > SPARE_BYTES
        else CheckResult("disk", "wrong", sentence, "Free some space.")
    )


def _store(workspace: Workspace) -> CheckResult:
    from memory.memory import Memory

    try:
        memory = Memory.open(workspace)
    except PalimpsestError as error:
        return CheckResult("store", "wrong", error.message, error.hint)
    try:
        figures = memory.statistics()
        left = memory.renewing.left()
    finally:
        memory.close()
    return CheckResult(
        "store",
        "ok",
        f"{figures.entries:,} entries in {figures.conversations:,} conversations, {figures.pages:,} pages"
        + (f"; {left:,} entries are analysed anew after each turn" if left else ""),
    )


def _packs(workspace: Workspace, settings: ArchiveSettings) -> CheckResult:
    """Whether the place elsewhere where packs stand answers."""
    from memory.memory import Memory

    memory = Memory.open(workspace, settings=settings)
    try:
        names = memory.vault.storage.names()
    except PalimpsestError as error:
        return CheckResult("packs", "wrong", error.message, error.hint)
    finally:
        memory.close()
    return CheckResult("packs", "ok", f"{settings.storage} answers; {len(names):,} files stand there and here.")


def _libraries() -> Iterator[CheckResult]:
    for one in OPTIONAL:
        if importlib.util.find_spec(one.module) is not None:
            yield CheckResult(one.module, "ok", f"{one.gives}.")
        elif one.extra or _is_apple():
            hint = install_extra(one.extra) if one.extra else install_command(DISTRIBUTION)
            yield CheckResult(one.module, "missing", f"Not installed. With it, {one.gives}.", hint)


def _is_apple() -> bool:
    """Whether this is a Mac with Apple's own chip, where MLX comes with the program."""
    return platform.system() == "Darwin" and platform.machine() == "arm64"


def _terminal(environment: Mapping[str, str]) -> CheckResult:
    encoding = (getattr(sys.stdout, "encoding", "") or "").lower().replace("-", "")
    name = environment.get("TERM", "unknown")
    if encoding not in {"utf8", "cp65001"}:
        return CheckResult(
            "terminal", "wrong", f"{name}; output is {encoding or 'unknown'}, not UTF-8.", "Set PYTHONUTF8=1."
        )
    return CheckResult("terminal", "ok", f"{name}, UTF-8")


def _models(environment: Mapping[str, str]) -> Iterator[CheckResult]:
    from models.chat.detect import detect

    found = asyncio.run(detect(environment, timeout=1.0))
    for one in found:
        yield CheckResult(
            "model",
            "ok",
            f"{one.spec}, window {one.profile.window:,}",
            own_command("models", "use", one.spec),
        )
    if not found:
        yield CheckResult(
            "model",
            "missing",
            "No model server answers and no key is set; offline quotes from memory.",
            "Start Ollama, LM Studio or llama.cpp, or set a key.",
        )
