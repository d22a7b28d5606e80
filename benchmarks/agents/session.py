"""Drives `Session.send` through a trace, in a process of its own, and gives what the server and the system counted."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.agents.traces import Trace

HERE = Path(__file__).resolve().parent.parent.parent

CLIENT = """
import asyncio, json, os, resource, sys, time
from pathlib import Path

from agent.session import Session
from foundation.paths import Workspace
from models.settings import ModelSettings

try:
    from agent.config.config import Config
except ImportError:  # 0.3.0
    from agent.config import Config
try:
    from agent.tools.port import ToolSettings
except ImportError:
    from agent.tools.toolbox import ToolSettings
from context.settings import ContextSettings


async def main(root, address, window, calls, messages, settings):
    workspace = Workspace(Path(root))
    tools = {"most_calls": calls + 1, **settings.get("tools", {})}
    if "sandbox" in ToolSettings.__struct_fields__:
        tools["sandbox"] = False
    config = Config(
        model=f"openai:m@{address}/v1",
        environment=dict(os.environ),
        models=ModelSettings(tools=True, window=window),
        tools=ToolSettings(**tools),
        context=ContextSettings(**settings.get("context", {})),
    )
    session = Session.open(workspace, config)
    last, compactions, assembled, finished, at_100 = None, 0, [], 0, 0.0
    assemble = session.context.assemble

    def timed(*given, **named):
        begun = time.thread_time()
        try:
            return assemble(*given, **named)
        finally:
            assembled.append(1000 * (time.thread_time() - begun))

    session.context.assemble = timed
    for message in messages:
        async for event in session.send(message):
            last = event
            compactions += type(event).__name__ == "Compacted"
            if type(event).__name__ == "ToolFinished":
                finished += 1
                if finished == 100:
                    at_100 = highest()
            answer = getattr(event, "answer", None)
            if answer is not None and not answer.done():
                try:
                    from agent.permissions.action import PermissionAnswer

                    answer.set_result(PermissionAnswer(True))
                except ImportError:
                    answer.set_result(True)
    last_call = highest()
    await session.close()
    assembled.sort()
    p50, p95 = (round(assembled[int(len(assembled) * share)], 1) if assembled else 0 for share in (0.5, 0.95))
    ended = f"{type(last).__name__} {getattr(last, 'message', '')}".strip()
    figures = {"assembly_ms": [p50, p95], "mb_at_100": at_100, "mb_before_close": last_call}
    print(json.dumps({"ended": ended, "compactions": compactions, **figures}))


def highest():
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), *map(json.loads, sys.argv[5:])))
"""


After = Callable[[Path, str, Mapping[str, str]], Any]
"""Looks at the workspace after the trace, while the server answers: its folder, the address, the environment."""


def measure(
    make: Callable[[Path], Trace],
    window: int,
    checkout: Path = HERE,
    settings: Mapping[str, Any] | None = None,
    after: After | None = None,
    *,
    llama: bool = False,
) -> dict[str, Any]:
    """The figures of one version of this program. `make` writes the project's files into a folder; `llama`: a real
    llama.cpp reads the requests too."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "ws"
        environment = {
            **os.environ,
            "PYTHONPATH": str(checkout),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PALIMPSEST_CONFIG_DIR": f"{folder}/config",
            "PALIMPSEST_DETECT": "off",
        }
        init = [sys.executable, "-P", "-m", "tui.main", "init", str(root)]
        subprocess.run(init, cwd=folder, env=environment, check=True, capture_output=True)
        trace = make(root)
        file = Path(folder) / "trace.json"
        file.write_bytes(msgspec.json.encode(trace))
        server = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.agents.server", str(file), str(window), *(["llama"] if llama else [])],
            cwd=HERE,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert server.stdin is not None
        assert server.stdout is not None
        port = int(server.stdout.readline())
        begun = time.monotonic()
        messages = json.dumps([turn.message for turn in trace.turns])
        told = [str(root), f"http://127.0.0.1:{port}", str(window), str(trace.calls), messages]
        client = subprocess.Popen(
            [sys.executable, "-P", "-c", CLIENT, *told, json.dumps(settings or {})],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert client.stdout is not None
        said = client.stdout.read().strip()
        _, status, used = os.wait4(client.pid, 0)
        client.returncode = os.waitstatus_to_exitcode(status)
        seen = after(root, f"http://127.0.0.1:{port}", environment) if after else None
        counted, _ = server.communicate("")
        outputs = _outputs(root)
    return {
        "version": checkout.name,
        "trace": trace.name,
        "calls": trace.calls,
        **(json.loads(said.splitlines()[-1]) if said else {"ended": f"exit {client.returncode}", "compactions": 0}),
        **json.loads(counted.strip().splitlines()[-1]),
        "outputs": outputs,
        "cpu_s": round(used.ru_utime + used.ru_stime, 1),
        "wall_s": round(time.monotonic() - begun, 1),
        "peak_mb": round(used.ru_maxrss / 1024, 1),
        **({"after": seen} if after else {}),
    }


def _outputs(root: Path) -> list[int]:
    """Bytes of each stored result, in order: what a client that sends all would send again and again."""
    import apsw

    store = apsw.Connection(str(root / ".palimpsest" / "cold.db"), flags=apsw.SQLITE_OPEN_READONLY)
    rows = store.execute("SELECT chars FROM entries WHERE kind = 'tool_result' ORDER BY seq")
    found = [int(size) for (size,) in rows]
    store.close()
    return found
