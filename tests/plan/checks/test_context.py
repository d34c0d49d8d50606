"""T8: a context that nobody would be shown is refused, with what to write instead."""

import pytest

from perdure.plan import Plan
from perdure.plan.checks import check

MODEL = {"model": "weak", "prompt": "?"}
AGENT = {"agent": "coder"}
TOOL = {"tool": "x.y"}


def problems(**step):
    found = check(
        Plan.model_validate({"steps": [{"id": "first", "tool": "x.y"}, {"id": "a", "context": "all", **step}]})
    )
    return [(each.code, each.path, each.message) for each in found]


@pytest.mark.parametrize(
    "step",
    [
        TOOL,
        {**TOOL, "accept": [{"agent": "judge"}], "undo": AGENT},
        {"ask": "May I?"},
        {"decide": "'x'", "choices": ["x"], "on": {"x": "next"}},
        {"steps": [{"id": "b", **MODEL}]},
    ],
)
def test_t8_a_context_that_nobody_is_shown_is_refused(step):
    assert (
        "PRD1417",
        ("steps", 1, "context"),
        "nobody is shown this context: it is for models and agents",
    ) in problems(**step)


def test_t8_an_agent_has_one_context():
    [(code, _, message)] = problems(**AGENT, **{"with": {"context": 1}})
    assert (code, message) == ("PRD1417", "`with` has a `context` too, and an agent sees only one")


@pytest.mark.parametrize(
    "step",
    [
        MODEL,
        AGENT,
        {**TOOL, "simpler": MODEL},
        {**TOOL, "alternates": [TOOL, AGENT]},
        {"decide": MODEL, "choices": ["x"], "on": {"x": "next"}},
        {"steps": [{"id": "b", **TOOL}], "alternates": [AGENT]},
        {**MODEL, "context": {"from": "needs", "tokens": 20}},
    ],
)
def test_t8_what_a_model_or_an_agent_is_shown_is_not(step):
    assert problems(**step) == []
