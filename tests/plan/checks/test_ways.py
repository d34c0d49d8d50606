"""A6: other ways and looser criteria that would never be used are refused."""

import pytest

from perdure.plan import Plan
from perdure.plan.checks import check

ALT = {"alternates": [{"tool": "x.y"}]}
TOOL = {"id": "a", "tool": "x.y"}
ASK = {"id": "a", "ask": "May I?"}
PICK = {"id": "a", "decide": "'left'", "choices": ["left"], "on": {"left": "next"}}
GROUP = {"id": "a", "steps": [{"id": "b", "tool": "x.y"}]}
JUDGED = {"accept": [{"tool": "x.judge"}]}


def problems(step):
    before = {"id": "save", "checkpoint": True}
    found = check(Plan.model_validate({"steps": [before, step]}))
    return [(each.code, each.path[2:], each.message) for each in found]


@pytest.mark.parametrize(
    ("step", "path", "words"),
    [
        (ASK | ALT, ("alternates",), "a question to a person"),
        (ASK | {"simpler": {"tool": "x.y"}}, ("simpler",), "a question to a person"),
        (ASK | {"accept": ["true"], "relaxed": ["true"]}, ("relaxed",), "a question to a person"),
        ({"id": "a", "rollback": "save"} | ALT, ("alternates",), "a rollback"),
        (PICK | ALT, ("alternates",), "a decision by an expression"),
        (TOOL | {"relaxed": ["true"]}, ("relaxed",), "no `accept`"),
        (GROUP | {"accept": ["true"], "relaxed": [{"tool": "x.judge"}]}, ("relaxed", 0), "nobody is asked"),
        (GROUP | JUDGED, ("accept", 0), "not a group"),
        ({"id": "a", "map": [1], "steps": GROUP["steps"]} | JUDGED, ("accept", 0), "not a group"),
        ({"id": "a", "plan": {"steps": GROUP["steps"]}} | JUDGED, ("accept", 0), "not a group"),
    ],
)
def test_what_would_never_be_used_is_refused(step, path, words):
    ((code, place, message),) = problems(step)
    assert (code, place) == ("PRD1415", path)
    assert words in message


@pytest.mark.parametrize(
    "step",
    [
        TOOL | ALT | JUDGED,
        GROUP | ALT | {"simpler": {"model": "weak", "prompt": "?"}, "accept": ["true"], "relaxed": ["true"]},
        {"id": "a", "decide": {"tool": "x.y"}, "choices": ["left"], "on": {"left": "next"}} | ALT,
        {"id": "a", "plan": "other"} | ALT,
        {"id": "a", "agent": "coder"} | ALT | JUDGED,
    ],
)
def test_what_can_be_used_is_not(step):
    assert problems(step) == []
