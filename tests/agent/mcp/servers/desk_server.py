"""An MCP server without the SDK: `time` tells the time and converts it, `files` reads the folder that follows."""

import json
import sys
from pathlib import Path
from typing import Any

NAMES = {"time": ("get_current_time", "convert_time"), "files": ("read_text", "list_folder", "search", "file_info")}


def called(name: str, arguments: dict[str, Any]) -> str:
    if name in NAMES["time"]:
        return "2026-11-28T09:00:00+01:00"
    path = Path(sys.argv[2]) / str(arguments.get("path", "."))
    return (
        path.read_text(encoding="utf-8")
        if name == "read_text"
        else "\n".join(sorted(p.name for p in path.parent.iterdir()))
    )


def result_of(request: dict[str, Any]) -> dict[str, Any]:
    match request["method"]:
        case "initialize":
            about = {"name": "desk", "version": "1"}
            return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": about}
        case "tools/list":
            schema = {"type": "object", "properties": {"path": {"type": "string"}}}
            return {"tools": [{"name": n, "description": n, "inputSchema": schema} for n in NAMES[sys.argv[1]]]}
        case "tools/call":
            text = called(request["params"]["name"], request["params"].get("arguments", {}))
            return {"content": [{"type": "text", "text": text}], "isError": False}
        case _:
            return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        known = message["method"] in {"initialize", "tools/list", "tools/call", "ping"}
        answer = {"result": result_of(message)} if known else {"error": {"code": -32601, "message": "unknown"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
