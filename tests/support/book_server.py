"""An MCP server with one tool, which writes a line into the file it is started with. Nobody can ask it about that."""

import json
import os
import sys

NOTE = {"name": "note", "description": "Writes a line.", "inputSchema": {"type": "object"}}


def write(entry):
    file = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND)
    os.write(file, json.dumps(entry).encode() + b"\n")
    os.close(file)


def answer_to(method, params):
    if method == "initialize":
        about = {"name": "books", "version": "1"}
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        return {"tools": [NOTE]}
    if method == "tools/call":
        write(["booked", params["arguments"]["step"], ""])
        return {"content": [{"type": "text", "text": "noted"}]}
    return {}


if __name__ == "__main__":
    for line in sys.stdin:
        message = json.loads(line)
        if (number := message.get("id")) is not None:
            answer = answer_to(message["method"], message.get("params") or {})
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": number, "result": answer}) + "\n")
            sys.stdout.flush()
