"""The way out of a sandbox: a socket comes out, or nothing is begun."""

import os
from types import SimpleNamespace

import pytest

from perdure.tools.sandbox import SandboxFailed
from perdure.tools.sandbox.outlet import Outlet


async def test_where_no_socket_comes_out_nothing_goes_out():
    """As when the first program inside has died before it could open one."""
    served, theirs = [], []
    outlet = Outlet(SimpleNamespace(start=served.append, stop=lambda: served.append("stopped")))
    outlet.start(theirs)
    os.close(theirs[0])
    with pytest.raises(SandboxFailed, match="the sandbox has no way out: no socket came out"):
        await outlet.open()
    await outlet.close()
    assert served == []
