"""ripgrep, where it is installed: says which files may hold a match, so that only those are read and searched.

It only narrows the choice. What is shown comes from files that were opened by descriptor, and the expression that
decides is ours, so that a project gives the same results with ripgrep and without. For that, ripgrep is asked only for
expressions that mean the same to it, and it names every file with a character beyond printable ASCII too.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from threading import Event
from typing import Final

FEWEST_FILES: Final = 200  # below that, reading them takes no longer than starting a program
_BATCH: Final = 20_000 if os.name == "nt" else 100_000  # characters of names that one command gets
_OTHER: Final = r"(?-u:[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\xff]|\r[^\n])"
_ATOM: Final = (
    r"(?:[^\\.^$|?*+()\[\]{}]|\\[dDwWst]|\\[^\w\s<>]|\.|\[\^?(?:[^\\\[\]^&~-]|\\[dwst]|\\[^\w\s<>]|\w-\w)+\])"
)
_REPEAT: Final = r"(?:[*+?]|\{\d{1,3}(?:,\d{0,3})?\})\??(?![*+?{])"
_SAME: Final = re.compile(rf"(?:\(\?i\))?(?:{_ATOM}(?:{_REPEAT})?|\\b|\^|\$|\||\((?:\?:)?|\)(?:{_REPEAT})?)*")
_DOLLAR: Final = re.compile(r"(\\.|\[(?:\\.|[^\]\\])*\])|\$")


def installed_ripgrep(project: Sequence[Path], environment: Mapping[str, str] = os.environ) -> str:
    """The program; "" where there is none, or it lies in the project, which may not run its own."""
    path = os.pathsep.join(filter(os.path.isabs, environment.get("PATH", "").split(os.pathsep)))
    program = shutil.which("rg", path=path)
    if program is None:
        return ""
    real = Path(os.path.realpath(program))
    return "" if any(real.is_relative_to(folder) for folder in project) else str(real)


def ripgrep_expression(pattern: str) -> str:
    """The pattern as ripgrep has it; "" where it might mean something else there."""
    if _SAME.fullmatch(pattern) is None or (pattern.startswith("(?i)") and not pattern.isascii()):
        return ""
    return _DOLLAR.sub(lambda match: match[1] or r"(?:\r?$)", pattern)


def candidates(
    program: str, expression: str, root: Path, names: Sequence[str], stopped: Event
) -> frozenset[str] | None:
    """Those of the files (relative to `root`) that may hold a match; None where ripgrep failed or was stopped."""
    found = set[str]()
    for batch in _batches(names):
        output = _run(program, expression, root, batch, stopped)
        if output is None:
            return None
        found.update(os.fsdecode(name).removeprefix("./") for name in output.split(b"\0") if name)
    return frozenset(found)


def _run(program: str, expression: str, root: Path, names: Sequence[str], stopped: Event) -> bytes | None:
    environment = {name: value for name, value in os.environ.items() if name != "RIPGREP_CONFIG_PATH"}
    command = [program, "--no-config", "--no-follow", "--text", "--files-with-matches", "--null", "--no-messages"]
    command += ["--color=never", "-e", expression, "-e", _OTHER, "--", *(f"./{name}" for name in names)]
    try:
        process = subprocess.Popen(
            command, cwd=root, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
    except OSError:
        return None
    with process:
        while True:
            try:
                output, _ = process.communicate(timeout=0.1)
            except subprocess.TimeoutExpired:
                if stopped.is_set():
                    process.kill()
                    return None
                continue
            return output if process.returncode in {0, 1} else None


def _batches(names: Sequence[str]) -> Iterator[list[str]]:
    batch, size = list[str](), 0
    for name in names:
        batch.append(name)
        size += len(os.fsencode(name)) + 3
        if size > _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
