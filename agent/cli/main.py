"""Entry point of the command line: runs one command, reports each error once, gives the exit status.

0 done · 1 failed · 2 misused · 75 not yet · 130 interrupted. A closed pipe is no error.
"""

import errno
import itertools
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

import click

from agent.cli import output
from agent.cli.headless_flags import prompt_words
from agent.cli.invocation import Invocation, OpenScreen
from agent.cli.root import palimpsest
from foundation.errors import Misuse, PalimpsestError
from foundation.program import PROGRAM

INTERRUPTED = 130
_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT})


class UnexpectedError(PalimpsestError):
    """An unexpected exception: a bug in this program."""

    code = "internal"


class DiskRefused(PalimpsestError):
    """The operating system refused an operation."""

    code = "os"


def main(open_screen: OpenScreen | None = None, argv: Sequence[str] | None = None) -> int:
    """Runs one command line and gives its exit status. `open_screen` opens the chat and returns when it is closed."""
    words = prompt_words(list(sys.argv[1:] if argv is None else argv), palimpsest.params)
    invocation = Invocation(
        environment=dict(os.environ), started_in=_current_folder(), home=Path.home(), open_screen=open_screen
    )
    try:
        status = _run(words, invocation)
        sys.stdout.flush()
    except OSError as error:
        if not _pipe_closed(error):
            raise
        _quiet_stdout()
        return 0
    return status


def _current_folder() -> Path | None:
    """None if the folder was deleted."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return None


def _run(words: list[str], invocation: Invocation) -> int:
    try:
        with palimpsest.make_context("palimpsest", words, obj=invocation) as context:
            palimpsest.invoke(context)
        return invocation.status
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except (click.Abort, KeyboardInterrupt):
        output.narrate("Interrupted.")
        return INTERRUPTED
    except click.ClickException as error:
        problem = _misuse(error)
    except PalimpsestError as error:
        problem = error
    except OSError as error:
        if _pipe_closed(error):
            raise
        problem = _disk_refused(error)
    except Exception as error:  # the edge: a bug is reported as an error
        if invocation.environment.get("PALIMPSEST_DEBUG"):
            raise
        problem = unexpected_error(error)
    output.error(problem, as_data=invocation.json or _asks_for_json(words))
    return problem.exit_status


def _misuse(error: click.ClickException) -> Misuse:
    context = error.ctx if isinstance(error, click.UsageError) else None
    path = context.command_path if context else "palimpsest"
    sentence = error.format_message()
    return Misuse("Misused", sentence, f"See `{PROGRAM}{path.removeprefix('palimpsest')} --help`.")


def _disk_refused(error: OSError) -> PalimpsestError:
    where = f": {error.filename}" if error.filename else ""
    hint = "Data stored before this is safe."
    if error.errno in _NO_SPACE:
        hint = f"Free some space on that disk, then run it again. {hint}"
    return DiskRefused("System error", f"{error.strerror or error}{where}.", hint)


def unexpected_error(error: Exception) -> PalimpsestError:
    if isinstance(error, OverflowError) and "_PyTime_t" in str(error):  # the limit of Python's clock
        message = "The system clock is past the year 2262."
        return PalimpsestError("Wrong clock", message, "Set the system clock, then try again.")
    last = traceback.extract_tb(error.__traceback__)[-1]
    return UnexpectedError(
        "Internal error",
        f"{type(error).__name__}: {error} ({Path(last.filename).name}, line {last.lineno}).",
        "Please report it; PALIMPSEST_DEBUG=1 shows the full traceback.",
    )


def _asks_for_json(words: list[str]) -> bool:
    """Whether errors are printed as JSON, even where the arguments could not be parsed."""
    options = words[: words.index("--")] if "--" in words else words
    json_flags = {"--json", "--output-format=json", "--output-format=stream-json"}
    pairs = itertools.pairwise(options)
    return any(word in json_flags for word in options) or any(
        first == "--output-format" and second.endswith("json") for first, second in pairs
    )


def _pipe_closed(error: OSError) -> bool:
    return isinstance(error, BrokenPipeError) or error.errno in {errno.EPIPE, errno.ESHUTDOWN}


def _quiet_stdout() -> None:
    """Redirects stdout to the null device after a closed pipe, so that the final flush cannot fail."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123 - the null device is no path of ours
        try:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        except (OSError, ValueError):  # stdout has no file behind it
            sys.stdout = nowhere
