import asyncio
import gc
import json
import sys
from pathlib import Path

import pytest

from perdure.core.calls import Call
from perdure.ports import Attempt
from perdure.tools import ToolPerformer
from perdure.tools.mcp import Pins, Toolset
from perdure.tools.mcp.references import Values
from perdure.tools.mcp.servers import Server

SCRIPT = Path(__file__).parents[2] / "support" / "hostile_server.py"
PYTHON = getattr(sys, "_base_executable", None) or sys.executable
ANYTHING = {"type": "object"}


class Place:
    """A server in a directory of its own, with pins beside it."""

    def __init__(self, root):
        self.root = root
        self.listing = root / "listing.json"
        self.pins = Pins(root / "state" / "pins.json")
        self.toolset = None
        self.heard = []

    def offers(self, *tools):
        whole = [
            {"inputSchema": ANYTHING, **each} if isinstance(each, dict) and "name" in each else each for each in tools
        ]
        self.listing.write_text(json.dumps(whole))

    def open(self, *, secrets=None, words=(), tier="bwrap", **more):
        command = (PYTHON, "-I", "-S", str(SCRIPT), str(self.listing), *map(str, words))
        server = Server("shop", command, **more)
        self.toolset = Toolset({"shop": server}, self.pins, Values(secrets or {}, {}), tier)
        return self.toolset

    async def approved(self, *names, **more):
        """The server is connected, and all that it offers is approved."""
        self.offers(*({"name": name} for name in names))
        toolset = self.open(**more)
        self.pins.approve("shop", (await toolset.look("shop")).tools)
        return toolset

    async def call(self, name, within=None, layers=(), **arguments):
        """What comes of a call."""
        return await ToolPerformer(self.toolset.tools()).perform(self.attempt(name, within, layers, arguments))

    def attempt(self, name, seconds, layers, arguments):
        call = Call("tool", f"shop.{name}", arguments)
        return Attempt("r_1", "s", 1, 1, "key-1", call, seconds, lambda *each: self.heard.append(each), layers=layers)


@pytest.fixture
async def place(tmp_path):
    made = Place(tmp_path)
    yield made
    if made.toolset is not None:
        await made.toolset.close()
    assert [each for each in asyncio.all_tasks() if each.get_name().startswith("mcp:")] == []


@pytest.fixture(autouse=True)
def nothing_left_open():
    """What a connection has left unclosed is a warning, and warnings are errors."""
    yield
    gc.collect()
