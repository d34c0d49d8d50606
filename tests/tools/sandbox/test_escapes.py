"""E6: ways out of the sandbox, as root and as an ordinary user; and that they would be noticed where a door is open."""

import json

import pytest
import unprivileged

KNOWN = 87
HARMLESS_EVERYWHERE = {
    "write outside",  # is looked for outside, not inside
    "stop what started it",  # is not tried in the open
    "gain rights by running", "have a terminal",  # hold in the control too
    "use numbers of x32", "use numbers of the future", "use ciphers of the kernel",  # as the kernel was built
    "restart the machine", "load a module", "start another kernel", "make a disk",
}  # fmt: skip
"""Ways that the control cannot notice, or not on every machine."""


@pytest.fixture(scope="module", params=unprivileged.users())
def tried(request):
    return json.loads(unprivileged.start(request.param, "escape_driver.py"))


def test_no_way_leads_out(tried):
    assert len(tried["inside"]) >= KNOWN
    assert {name: found for name, found in tried["inside"].items() if found} == {}
    assert tried["leaked"] == []


def test_nothing_real_was_changed(tried):
    assert tried["intact"] == [".git", "engine.dgram", "engine.sock", "file", "inner", "leak"]


def test_where_the_doors_are_open_the_ways_lead_out(tried):
    """Else a way could be blocked by a mistake in the test."""
    noticed = {name for name, found in tried["control"].items() if found}
    assert not [found for found in tried["control"].values() if "broken test" in found]
    missed = set(tried["control"]) - noticed - HARMLESS_EVERYWHERE
    assert len(noticed) >= 50
    if "read passwords" in noticed:  # by root, to whom everything is open
        assert missed <= {
            "read through the root of process 1",
            "see the environment of process 1",
            "write through process 1",
        }
