"""Names that stand for others: chains, circles, and rules about the old name (upgrade safety)."""

import pytest

from perdure.core import events as e
from perdure.core.calls import Call
from perdure.core.names import Names, flaw_in
from perdure.core.policy import Deed, Layer, Terms, judge


def mapped(*said, kind="tools"):
    names = Names()
    for each in said:
        names = names.after(e.NamesMapped(**{kind: each}))
    return names


@pytest.mark.parametrize(
    ("said", "is_called"),
    [
        ([{"a.x": "b.x"}], {"a.x": "b.x", "b.x": "b.x", "c.x": "c.x"}),
        ([{"a.x": "b.x"}, {"b.x": "c.x"}], {"a.x": "c.x", "b.x": "c.x"}),
        ([{"a.x": "b.x", "b.x": "c.x"}], {"a.x": "c.x", "b.x": "c.x"}),
        ([{"b.x": "c.x"}, {"a.x": "b.x"}], {"a.x": "c.x", "b.x": "c.x"}),
        ([{"a.x": "b.x"}, {"a.x": "c.x"}], {"a.x": "c.x", "b.x": "b.x"}),
        ([{"a.x": "b.x"}, {"a.x": "a.x"}], {"a.x": "a.x", "b.x": "b.x"}),
    ],
)
def test_the_end_of_a_chain_is_what_is_meant(said, is_called):
    names = mapped(*said)
    assert {word: names.tool(word) for word in is_called} == is_called


def test_each_kind_has_names_of_its_own():
    names = mapped({"a": "b"}, kind="plans")
    assert (names.plans, names.strategies, names.tools) == ({"a": "b"}, {}, {})


def test_a_call_keeps_its_arguments_and_only_tools_are_called_otherwise():
    names = mapped({"a.x": "b.x"})
    assert names.called(Call("tool", "a.x", {"n": 1})) == Call("tool", "b.x", {"n": 1})
    assert names.called(Call("agent", "a.x", {})) == Call("agent", "a.x", {})
    assert names.called(Call("tool", "c.x", {})).name == "c.x"


@pytest.mark.parametrize(
    ("said", "more", "flaw"),
    [
        ([], {}, "nothing"),
        ([], {"a.x": "a.x"}, "itself already"),
        ([], {"a.x": "b.x", "b.x": "a.x"}, "circle"),
        ([{"a.x": "b.x"}], {"b.x": "a.x"}, "a.x=a.x takes that back"),
        ([{"a.x": "b.x"}, {"b.x": "c.x"}], {"c.x": "a.x"}, "circle"),
        ([{"a.x": "b.x"}], {"a.x": "a.x"}, ""),
        ([{"a.x": "b.x"}], {"b.x": "c.x"}, ""),
    ],
)
def test_what_goes_round_in_a_circle_or_says_nothing_is_refused(said, more, flaw):
    found = flaw_in(mapped(*said), e.NamesMapped(tools=more))
    assert flaw in found
    assert bool(flaw) is bool(found)


USER, PLAN = "the policy", "the plan"


@pytest.mark.parametrize(
    ("user", "plan", "verdict"),
    [
        (Terms(), Terms(), "allow"),
        (Terms(), Terms(ask=("mail.send",)), "ask"),
        (Terms(), Terms(deny=("mail.*",)), "deny"),
        (Terms(), Terms(allow=("mail.send",)), "allow"),
        (Terms(), Terms(allow=("files.*",)), "deny"),
        (Terms(ask=("mail.send",)), Terms(), "ask"),
        (Terms(deny=("mail.send",)), Terms(), "deny"),
        (Terms(allow=("mail.send",)), Terms(), "deny"),
        (Terms(allow=("mail.send", "post.*")), Terms(), "allow"),
        (Terms(ask=("post.letter",)), Terms(allow=("mail.send",)), "ask"),
    ],
)
def test_a_rule_about_the_old_name_is_about_the_new_one_but_what_the_user_allows_is_not(user, plan, verdict):
    names = mapped({"mail.send": "post.letter"})
    layers = names.layers("mail.send", (Layer(USER, tools=user),), (Layer(PLAN, tools=plan),))
    assert judge(layers, Deed("call", "post.letter")).verdict == verdict


def test_a_tool_that_stands_for_itself_has_the_rules_that_are_written():
    outer, inner = (Layer(USER),), (Layer(PLAN, tools=Terms(ask=("mail.send",))),)
    assert mapped({"a.x": "b.x"}).layers("mail.send", outer, inner) == (*outer, *inner)
