"""An MCP server on standard streams whose every text is hostile: `python mcp_server.py TEXTS.json`."""

import json
import sys
from pathlib import Path
from typing import Any


def result_of(method: str, text: str) -> dict[str, Any]:
    match method:
        case "initialize":
            about = {"name": text, "version": text, "title": text}
            return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": about}
        case "tools/list":
            schema = {"type": "object", "properties": {"x": {"type": "string", "description": text}}}
            return {"tools": [{"name": "look", "title": text, "description": text, "inputSchema": schema}]}
        case _:
            return {"content": [{"type": "text", "text": text}], "isError": False}


def main() -> None:
    text = "\n".join(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    print(text.encode("ascii", "backslashreplace"), file=sys.stderr, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            reply = {"jsonrpc": "2.0", "id": request["id"], "result": result_of(request["method"], text)}
            print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
