"""A6: tools that may stand in for another: those that have the skills, take the arguments, and do no more."""

import pytest

from perdure import tool
from perdure.core.calls import Call
from perdure.tools.box import by_name
from perdure.tools.describing import described
from perdure.tools.skills import standing_in


def a_tool(name, skills=("weather",), effects=("network",), **more):
    @tool(name=name, repeat=more.pop("repeat", "safe"), skills=list(skills), effects=effects, **more)
    def asked(town: str, days: int = 1) -> str:
        return town

    return asked


def found(*tools, own=None, skills=("weather",), **given):
    known = by_name([own or a_tool("a.get", ()), *tools])
    return standing_in(known, Call("tool", "a.get", given or {"town": "Ulm"}), skills)


def test_the_cheapest_comes_first_and_then_it_goes_by_name():
    tools = [
        a_tool("c.get"),
        a_tool("b.get"),
        a_tool("z.get", estimate={"usd": 0.1}),
        a_tool("y.get", estimate={"usd": 0}),
    ]
    assert found(*tools) == found(*reversed(tools)) == ["y.get", "z.get", "b.get", "c.get"]


@pytest.mark.parametrize(
    ("skills", "wanted"),
    [(["weather"], ["b.get", "c.get"]), (["weather", "archive"], ["c.get"]), (["tides"], [])],
)
def test_all_skills_have_to_be_there(skills, wanted):
    assert found(a_tool("b.get"), a_tool("c.get", ["archive", "weather"]), skills=skills) == wanted


@pytest.mark.parametrize(
    ("own", "effects", "is_found"),
    [
        (("network",), ("network",), True),
        (("network",), (), True),
        (("network",), None, False),
        (("network",), ("network", "writes"), False),
        ((), ("network",), False),
        (None, ("network", "irreversible"), True),
        (None, ("costs",), False),
    ],
)
def test_one_that_does_more_to_the_world_or_does_not_say_is_not_found(own, effects, is_found):
    """A tool that says nothing and may not be repeated is taken to do anything but cost."""
    usual = a_tool("a.get", (), own, repeat="never" if own is None else "safe")
    assert found(a_tool("b.get", effects=effects), own=usual) == (["b.get"] if is_found else [])


@pytest.mark.parametrize(
    ("given", "is_found"),
    [({"town": "Ulm"}, True), ({"town": "Ulm", "days": 2}, True), ({"town": 3}, False), ({"place": "Ulm"}, False)],
)
def test_arguments_are_taken_as_they_are_or_not_at_all(given, is_found):
    assert found(a_tool("b.get"), **given) == (["b.get"] if is_found else [])


def test_for_a_tool_that_is_not_known_none_is_found():
    assert standing_in(by_name([a_tool("b.get")]), Call("tool", "a.get", {"town": "Ulm"}), ["weather"]) == []


def test_skills_are_told_and_belong_to_what_is_promised():
    plain, skilled = a_tool("b.get", ()), a_tool("b.get")
    assert (described(plain)["skills"], described(skilled)["skills"]) == ([], ["weather"])
    assert plain.definition != skilled.definition
