import pytest

from perdure.core.calls import Call
from perdure.ports import Attempt


@pytest.fixture
def an_attempt():
    """An attempt at a call of a tool; `heard` of the fixture collects its reports."""

    def made(name, arguments=None, seconds=None, kind="tool"):
        call = Call(kind, name, arguments or {})
        return Attempt("r_1", "fetch", 2, 3, "key-1", call, seconds, lambda *report: made.heard.append(report))

    made.heard = []
    return made
