"""S9: a yes holds for exactly what was shown: this step, this call, these deeds, this text, these rules, this tool."""

import pytest

from perdure.core.calls import Call
from perdure.core.policy import Deed, Layer, Terms
from perdure.ports import Attempt
from perdure.tools.failure import ToolFailure
from perdure.tools.guard import Guard, Unapproved

RULES = (Layer("user", files_write=Terms(ask=("**",))),)
SHOWN = {
    "step": "edit", "call": Call("tool", "files.write", {"path": "a.py"}), "deeds": (Deed("write", "a.py"),), "shown": "+ one line",
    "layers": RULES, "tool": "sha256:1",
}  # fmt: skip
OTHERWISE = {
    "step": "edit2",
    "call": Call("tool", "files.write", {"path": "a.py", "text": "more"}),
    "deeds": (Deed("write", "a.py"), Deed("write", "b.py")),
    "shown": "+ another line",
    "layers": (*RULES, Layer("the plan", files_write=Terms(allow=("*.py",)))),
    "tool": "sha256:2",
}


def checked(approved=(), **what):
    """Go on if it is approved; else the digest of what would have to be."""
    said = {**SHOWN, **what}
    attempt = Attempt(
        "r_1", said["step"], 1, 1, "key", said["call"], layers=said["layers"], approved=frozenset(approved)
    )
    try:
        Guard(attempt, lambda: said["tool"]).check(said["deeds"], said["shown"])
    except Unapproved as asked:
        return asked.approval.digest
    return ""


def test_what_was_agreed_to_goes_on():
    digest = checked()
    assert digest
    assert checked({digest}) == ""


@pytest.mark.parametrize("what", OTHERWISE)
def test_s9_whatever_has_changed_is_asked_about_anew(what):
    digest = checked()
    other = checked({digest}, **{what: OTHERWISE[what]})
    assert other not in {"", digest}


@pytest.mark.parametrize("forged", ["", "*", "0" * 64, "approved", "True"])
def test_a_forged_digest_is_no_yes(forged):
    assert checked({forged}) not in {"", forged}


def test_no_yes_overrules_a_no():
    denied = (*RULES, Layer("the plan", files_write=Terms(deny=("**",))))
    with pytest.raises(ToolFailure, match="denied"):
        checked({checked()}, layers=denied)
