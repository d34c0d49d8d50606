"""Somebody who approves tools of a server, one after the other, in a process of their own."""

from perdure.tools.mcp.definition import Definition
from perdure.tools.mcp.pins import Pins


def definition(text="Adds."):
    return Definition({"name": "add", "description": text, "inputSchema": {"type": "object"}})


def approve_many(path, server):
    for n in range(20):
        Pins(path).approve(server, {f"{server}.t{n}": definition()})
