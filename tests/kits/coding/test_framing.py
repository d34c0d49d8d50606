"""Ways of working, and the frame around them."""

import re
from pathlib import Path

import pytest

from perdure import Plan, PlanError
from perdure.agents.reading import stock
from perdure.agents.roster import Roster
from perdure.kits.coding.agents import agents
from perdure.kits.coding.framing import USUAL, framed, template_for, templates
from perdure.kits.coding.tools import TOOLS
from perdure.plan.checks import check
from perdure.plan.index import Index
from perdure.plan.model.parts import AgentCall
from perdure.plan.model.steps import DecideStep
from perdure.tools import BUILTIN, toolbox_of
from perdure.tools.builtin import HANDS

ROOT = Path(__file__).parents[3]
KNOWN = {each.name: each for each in (*BUILTIN, *HANDS, *TOOLS)}
WAYS = {
    "branching", "context", "linear", "loop", "memory", "parallel", "parallel_settled", "parallel_tolerant", "project", "refactor", "refine", "rollout", "serial", "tests_first",
}  # fmt: skip


def test_t2_to_t10_there_is_a_way_for_each_shape():
    assert set(templates()) >= WAYS


@pytest.mark.parametrize("name", sorted(WAYS))
def test_a_framed_way_stands_for_itself_and_calls_only_what_there_is(name):
    plan = framed(templates()[name].plan)
    assert check(plan, toolbox_of(KNOWN.values())) == []
    nodes = Index(plan).nodes
    assert not [node.id for node in nodes if isinstance(getattr(node.step, "plan", None), str)]
    assert {_agent(node.step) for node in nodes} - {None} <= {each.name for each in (*agents(), *stock())}
    assert plan.meta["kit"] == "coding"


def test_the_guide_names_the_agents_that_templates_call():
    nodes = [node for each in templates().values() for node in Index(framed(each.plan)).nodes]
    guide = (ROOT / "docs/guides/agents.md").read_text(encoding="utf-8")
    table = guide.partition("| name | is given |")[2].partition("\n\n")[0]
    names = {
        name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1] if "|" in row else "")
    }
    assert names == {_agent(node.step) for node in nodes} - {None}


def _agent(step):
    called = step.decide if isinstance(step, DecideStep) else step
    return called.agent if isinstance(called, AgentCall) else None


def test_t11_the_stock_agents_are_there_and_can_be_what_they_say():
    roster = Roster([*agents(), *stock()], KNOWN)
    wanted = {
        "planning", "comprehensive_planner", "branching", "code", "context_aware_code", "file", "test", "validation",
        "integration", "quality", "refinement", "reminiscing",
    }  # fmt: skip
    assert wanted <= set(roster.names)
    for each in agents():
        assert len(each.instructions) > 200, each.name
        assert each.skills, each.name


@pytest.mark.parametrize(
    ("goal", "way"),
    [
        ("Rename the class Order to Purchase everywhere", "refactor"),
        ("Write tests for the parser and fix what they find", "tests_first"),
        ("Build a library for reading bank statements", "project"),
        ("Fix the typo in the greeting", "linear"),
        ("Roll the new logger out module by module", "rollout"),
        ("Xyzzy plugh", USUAL),
    ],
)
def test_the_way_that_fits_the_goal_is_chosen_and_it_is_said_why(goal, way):
    found, why = template_for(goal)
    assert found.name == way
    assert way in why


def test_a_way_of_ones_own_is_framed_the_same():
    own = {
        "inputs": {name: {} for name in ("goal", "test", "report", "seconds", "before", "options")},
        "steps": [{"id": "write", "tool": "files.write", "with": {"path": "a.txt", "text": "${inputs.goal}"}}],
        "output": {"summary": "Write it", "changes": [], "rest": "Write it"},
    }
    plan = framed(Plan.model_validate(own))
    assert "shape_write" in {node.id for node in Index(plan).nodes}
    with pytest.raises((PlanError, ValueError)):
        framed(Plan.model_validate({"steps": []}))
