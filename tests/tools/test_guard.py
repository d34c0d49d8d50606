"""S9: a yes holds for exactly what was shown: this step, this call, these deeds, this text, these rules, this tool."""

import pytest

from perdure.core.calls import Call
from perdure.core.policy import Deed, Layer, Terms
from perdure.ports import Attempt
from perdure.tools.failure import ToolFailure
from perdure.tools.guard import MOST_KEPT, MOST_SHOWN, Guard, Unapproved

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


# ------------------------------------------------------------------------------- what is asked, refused and remembered

MIXED = (
    Layer(
        "user", files_read=Terms(allow=("**",)), files_write=Terms(ask=("b/**",), deny=("c/**",)), tools=Terms(("t",))
    ),
)


def guard(layers=MIXED, thorough=False, **more):
    given = {"step": "edit", "call": Call("tool", "files.write", {}), "layers": layers, **more}
    attempt = Attempt("r_1", given.pop("step"), 1, 1, "key", given.pop("call"), **given)
    return Guard(attempt, thorough=thorough)


def test_strict_verdicts_come_first_and_nothing_is_no_decision():
    made = guard()
    for kind, what in (("read", "a"), ("write", "a"), ("write", "b/x"), ("write", "c/x")):
        made.verdict(Deed(kind, what))
    assert [(each.deed.what, each.verdict) for each in made.judged] == [
        ("b/x", "ask"), ("c/x", "deny"), ("a", "allow"),
    ]  # fmt: skip
    assert made.layers == MIXED


def test_who_wants_all_is_told_what_nobody_minded():
    made = guard(thorough=True)
    made.verdict(Deed("write", "a"))
    assert [each.verdict for each in made.judged] == ["allow"]
    assert guard().judged == ()


def test_only_so_much_is_kept_and_the_strict_ones_of_it():
    made = guard()
    for number in range(MOST_KEPT):
        made.verdict(Deed("read", f"a{number}"))
    made.verdict(Deed("write", "c/x"))
    assert len(made.judged) == MOST_KEPT
    assert made.judged[0].verdict == "deny"


def test_whoever_asks_for_too_much_is_not_remembered_for_ever(monkeypatch):
    monkeypatch.setattr("perdure.tools.guard.MOST_NOTED", 3)
    made = guard()
    for number in range(9):
        made.verdict(Deed("read", f"a{number}"))
    assert [each.deed.what for each in made.judged] == ["a0", "a1", "a2"]


def test_a_refusal_names_what_is_denied_and_nothing_else():
    deeds = [Deed("read", "a"), Deed("write", "b/x"), *(Deed("write", f"c/{n}") for n in range(5))]
    with pytest.raises(ToolFailure) as caught:
        guard().check(deeds)
    failure = caught.value.failure
    assert failure.kind == "denied"
    assert failure.message == (
        "write c/0 is denied by c/** (says user); write c/1 is denied by c/** (says user); "
        "write c/2 is denied by c/** (says user); and 2 more"
    )
    assert [(each["deed"]["what"], each["verdict"]) for each in failure.detail["deeds"]] == [
        (f"c/{n}", "deny") for n in range(5)
    ]


def test_a_refusal_of_a_few_names_all_of_them():
    with pytest.raises(ToolFailure) as caught:
        guard().check([Deed("write", f"c/{n}") for n in range(3)])
    assert caught.value.failure.message.endswith("write c/2 is denied by c/** (says user)")


def test_only_so_many_deeds_are_told():
    with pytest.raises(ToolFailure) as caught:
        guard().check([Deed("write", f"c/{n}") for n in range(MOST_SHOWN + 5)])
    assert len(caught.value.failure.detail["deeds"]) == MOST_SHOWN


def test_a_question_says_who_wants_what_and_shows_it():
    with pytest.raises(Unapproved) as caught:
        guard().check([Deed("read", "a"), Deed("write", "b/x")], "+ a line")
    told = "edit wants to call files.write: write b/x needs approval by b/** (says user)."
    assert caught.value.approval.text == f"{told}\n\n+ a line"
    with pytest.raises(Unapproved) as caught:
        guard().check([Deed("write", "b/x")])
    assert caught.value.approval.text == told


def test_a_tool_can_ask_where_no_rule_does():
    made = guard()
    with pytest.raises(
        Unapproved, match=r"edit wants to call files\.write: it goes out \(says perdure\)\.\n\nto there"
    ) as caught:
        made.ask(Deed("read", "a"), "it goes out", "to there")
    assert ("ask", "perdure") in [(each.verdict, each.by) for each in made.judged]
    again = guard(approved=frozenset({caught.value.approval.digest}))
    again.ask(Deed("read", "a"), "it goes out", "to there")


def test_what_a_rule_has_said_is_not_asked_in_other_words():
    with pytest.raises(ToolFailure, match=r"write c/x is denied"):
        guard().ask(Deed("write", "c/x"), "it goes out", "")
    with pytest.raises(Unapproved, match=r"needs approval by b/\*\* \(says user\)\.$"):
        guard().ask(Deed("write", "b/x"), "it goes out", "")


def test_a_tool_adds_rules_of_its_own():
    with pytest.raises(ToolFailure, match=r"says its own"):
        guard().check([Deed("read", "a")], also=(Layer("its own", files_read=Terms(deny=("a",))),))


def test_what_was_agreed_to_holds_in_later_releases():
    """Runs wait for months: what is agreed to is put together as it was when the first of them asked."""
    assert checked() == "65b6172d6dbefda1008482d99610ef85aff16310fe0e4ab24815e5603282d3a5"


def test_what_is_agreed_to_on_a_copy_is_not_agreed_to_elsewhere():
    layers = (Layer("user", files_write=Terms(ask=("**",)), contained=True),)
    assert checked(layers=layers) not in {"", checked()}


def test_what_is_allowed_goes_on_without_a_word():
    made = guard()
    made.check([Deed("read", "a"), Deed("write", "a")])
    assert [each.verdict for each in made.judged] == ["allow"]


def test_a_host_is_named_by_the_outermost_layer_alone():
    layers = (Layer("user", network=Terms(("localhost:80", "*.example"))), Layer("plan", network=Terms(("inner:80",))))
    assert guard(layers).names(Deed("connect", "localhost:80"))
    assert not guard(layers).names(Deed("connect", "a.example"))
    assert not guard(layers).names(Deed("connect", "inner:80"))
