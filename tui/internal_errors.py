"""Reports a defect of the program as an error without a trace or values, which may be private."""

import asyncio
import errno
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

from foundation.errors import PalimpsestError

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


_DISK_REFUSES = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})


class InternalError(PalimpsestError):
    """An unexpected exception: a bug in this program."""

    code = "internal"


def internal_error(error: BaseException) -> PalimpsestError:
    """The report of `error`, which becomes its cause. A full or read-only disk is no defect."""
    if isinstance(error, OSError) and error.errno in _DISK_REFUSES:
        where = f": {error.filename}" if error.filename else ""
        hint = "Everything stored so far is safe. Free some space or check how the disk is mounted, then try again."
        refusal = PalimpsestError("The disk cannot be written", f"{error.strerror or error}{where}.", hint)
        refusal.__cause__ = error
        return refusal
    location = ""
    trace = error.__traceback__
    while trace is not None:
        location = f" ({Path(trace.tb_frame.f_code.co_filename).name}, line {trace.tb_lineno})"
        trace = trace.tb_next
    report = InternalError(
        "A bug in Palimpsest",
        f"{type(error).__name__}: {error}{location}",
        "Everything stored so far is safe. Please report this. PALIMPSEST_DEBUG=1 prints the full traceback on exit.",
    )
    report.__cause__ = error
    return report


async def in_thread(work: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
    """Runs `work` in a thread. Any exception is raised as a PalimpsestError: for the edge of a worker."""
    try:
        return await asyncio.to_thread(work, *args, **kwargs)
    except PalimpsestError:
        raise
    except Exception as error:
        raise internal_error(error) from error
