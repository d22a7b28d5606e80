"""CPU time until a question for permission is on screen, by the lines of the file that is to be written.

    python -m benchmarks.question [--lines 30 3000 30000] [--json]

The real dialog in a headless app of 120×40: from `push_screen` until its frame is drawn, the best of three.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agent.permissions.action import Access, Action
from agent.tools.files.changes import file_diff
from foundation.paths import Workspace
from tui.app import PalimpsestApp
from tui.chat.start import ChatStart
from tui.dialogs.permission import PermissionScreen

SIZE = (120, 40)
RUNS = 3


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.question", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--lines", nargs="+", type=int, default=[30, 3_000, 30_000])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    rows = [{"lines": lines, "cpu_ms": min(asyncio.run(_asked(lines)) for _ in range(RUNS))} for lines in options.lines]
    if options.json:
        print(json.dumps(rows))
    else:
        print("\n".join([f"{'lines':>8}{'CPU ms':>9}", *(f"{row['lines']:>8}{row['cpu_ms']:>9.0f}" for row in rows)]))
    return 0


async def _asked(lines: int) -> float:
    """CPU milliseconds of one question."""
    text = "".join(
        f"def function_{number}(value): return value + {number}  # 第{number}行\n" for number in range(lines)
    )
    action = Action(
        tool="write_file",
        access=Access.EDIT,
        summary="write big.py",
        subject="big.py",
        detail=file_diff("big.py", None, text.encode()),
        is_diff=True,
    )
    with tempfile.TemporaryDirectory() as folder:
        start = ChatStart(workspace=Workspace(Path(folder)), model="offline", working_directory=Path(folder))
        app = PalimpsestApp(start, _never)
        async with app.run_test(size=SIZE) as pilot:
            await pilot.pause()
            began = time.process_time()
            await app.push_screen(PermissionScreen(action, "No rule decides."))
            await pilot.pause()
            return (time.process_time() - began) * 1000


async def _never() -> Any:
    """A session that does not open: the question needs none."""
    await asyncio.Event().wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
