"""A1: what a plan lacks is found before its first step, all at once, each with a code, a place and what to do."""

import asyncio

import pytest
from errand_tools import SHOP
from hypothesis import given
from hypothesis import strategies as st
from random_plans import a_plan

from perdure import Engine, Plan, run_sync, tool
from perdure.agents import Agent
from perdure.agents.cheapest import WORDS, cheapest
from perdure.agents.feasibility import Means, infeasible
from perdure.agents.roster import WAYS
from perdure.core.growth import Finish
from perdure.models import Models
from perdure.plan.index import Index
from perdure.plan.measures import measure
from perdure.plan.problems import PlanError, written
from perdure.testing.models import ScriptedModel
from perdure.testing.scripted import Scripted
from perdure.tools import BUILTIN

KNOWN = {each.name: each for each in (*BUILTIN, *SHOP.values())}


def priced(id_, usd=1, **more):
    return {"id": id_, "tool": "flow.echo", "with": {"value": 1}, "estimate": {"usd": usd}, **more}


def cost(*steps, word="usd", **plan):
    index = Index(Plan.model_validate({"steps": list(steps), **plan}))
    return cheapest(index, KNOWN, word)[index.root]


def test_a1_everything_that_is_missing_is_told_at_once_with_its_place():
    plan = Plan.model_validate(
        {
            "inputs": {"who": {"type": "string"}, "how": {"type": "string", "default": "well"}},
            "budget": {"usd": 1},
            "steps": [
                {"id": "find", "tool": "customers.fnd", "with": {"name": "${inputs.who}"}},
                {"id": "send", "tool": "mail.send", "with": {"to": "a", "text": "b", "api_key": "${secrets.KEY}"}},
                {"id": "judge", "agent": "critic", "skills": ["reviewing"], "estimate": {"usd": 2}},
            ],
        }
    )
    found = infeasible(plan, Means(KNOWN, secrets=("OTHER",)))
    assert [(problem.code, written(problem.path), problem.severity) for problem in found] == [
        ("PRD1401", "steps[0].tool", "error"),
        ("PRD4212", "inputs.who", "error"),
        ("PRD4211", "steps[2].skills[0]", "error"),
        ("PRD4213", "steps[1].with.api_key", "error"),
        ("PRD4214", "budget.usd", "error"),
    ]
    assert all(problem.help for problem in found)


def test_a1_with_all_that_it_needs_nothing_stands_in_the_way():
    plan = Plan.model_validate(
        {
            "inputs": {"city": {"type": "string"}},
            "budget": {"usd": 1, "steps": 1},
            "steps": [{"id": "look", "tool": "meteo.now", "with": {"city": "${inputs.city}"}, "skills": ["weather"]}],
        }
    )
    assert infeasible(plan, Means(KNOWN, inputs={"city": "Berlin"}, secrets=())) == []


def test_what_is_not_known_is_not_looked_at():
    plan = Plan.model_validate({"steps": [{"id": "a", "tool": "flow.echo", "with": {"value": "${secrets.KEY}"}}]})
    assert infeasible(plan, Means(KNOWN)) == []


def test_a_tool_that_nothing_could_stand_in_for_is_a_warning():
    plan = Plan.model_validate(
        {"steps": [{"id": "a", "tool": "timer.set", "with": {"minutes": 1}, "skills": ["waiting"]}]}
    )
    (found,) = infeasible(plan, Means(KNOWN))
    assert (found.code, found.severity) == ("PRD4211", "warning")


@pytest.mark.parametrize(
    ("steps", "usd"),
    [
        ([priced("a"), priced("b")], 2),
        ([priced("a"), priced("b", when="1 == 2")], 1),
        ([priced("a", on={"failure": "c"}), priced("b", 5), {"id": "c", "done": True}], 1),
        ([priced("a", on={"success": "done"}), priced("b", 5)], 1),
        ([priced("a"), {"id": "b", "fail": "no"}], 0),
        (
            [
                {"id": "d", "decide": "'x'", "choices": ["x", "y"]},
                priced("x", 7, on={"success": "done"}),
                priced("y", 3),
            ],
            3,
        ),
        ([{"id": "p", "parallel": [priced("a"), priced("b", 2)]}], 3),
        ([{"id": "p", "parallel": [priced("a"), priced("b", 2)], "join": "any"}], 1),
        ([{"id": "p", "parallel": [priced("a"), priced("b", 2), priced("c", 4)], "join": {"quorum": 2}}], 3),
        ([{"id": "p", "parallel": [priced("a"), priced("b", 2)], "join": {"tolerate": 1}}], 1),
        ([{"id": "m", "map": [1, 2, 3], "steps": [priced("a")]}], 3),
        ([{"id": "m", "map": "${inputs.x}", "steps": [priced("a")]}], 0),
        ([{"id": "g", "estimate": {"usd": 9}, "steps": [priced("a")]}], 9),
    ],
)
def test_a1_the_cheapest_way_is_found(steps, usd):
    assert cost(*steps, inputs={"x": {"type": "array"}}) == usd


def test_a_step_whose_needs_may_all_be_skipped_is_free_wherever_they_stand():
    steps = [priced("c", needs=["b"]), priced("b", needs=["a"]), priced("a", when="1 == 2"), priced("d", needs=[])]
    assert cost(*steps, mode="graph") == 1


def test_steps_beside_each_other_take_the_time_of_the_longest():
    slow = [{**priced(id_), "estimate": {"seconds": seconds}} for id_, seconds in (("a", 3), ("b", 5))]
    assert cost({"id": "p", "parallel": slow}, word="seconds") == 5


def test_what_a_tool_declares_counts_where_the_step_says_nothing():
    @tool(name="dear.call", estimate={"usd": 4})
    def dear() -> None:
        """Cost something."""

    plan = Plan.model_validate({"budget": {"usd": 3}, "steps": [{"id": "a", "tool": "dear.call"}]})
    (found,) = infeasible(plan, Means({dear.name: dear}))
    assert found.message == "a budget of 3 usd does not suffice: the cheapest way takes 4"


def _estimated(raw):
    """Every step says that it costs one; how many there are is counted otherwise."""
    if isinstance(raw, dict):
        priced_ = {"estimate": {"usd": 1}} if "id" in raw and {"tool", "model", "agent"} & set(raw) else {}
        return {**{key: _estimated(value) for key, value in raw.items()}, **priced_}
    return [_estimated(each) for each in raw] if isinstance(raw, list) else raw


@given(st.randoms(use_true_random=False))
def test_the_cheapest_way_never_costs_more_than_all_steps_together(rng):
    plan = a_plan(rng, change=_estimated)
    index, whole = Index(plan), measure(plan)
    for word in WORDS:
        found = cheapest(index, {}, word)[index.root]
        most = whole.acting if word in {"steps", "calls"} else getattr(whole, word) or 0
        assert found >= 0
        assert found <= most or any(node.step.kind == "map" for node in index.nodes)  # its items count one by one


# ------------------------------------------------------------------------------- who works and thinks

HELPER = Agent(name="helper", model="strong", skills=("helping",))
HEADS = {"agents": lambda: {"helper": HELPER}, "strategies": lambda: WAYS}


def lacking_heads(*steps, models=None, **more):
    means = Means(KNOWN, models=Models(models or {}).find, **HEADS, **more)
    found = infeasible(Plan.model_validate({"steps": list(steps)}), means)
    return [(problem.code, written(problem.path), problem.severity) for problem in found]


def test_a1_agents_strategies_and_models_that_are_not_there_are_found_wherever_they_are_called():
    found = lacking_heads(
        {"id": "a", "model": "weak", "prompt": "x"},
        {"id": "b", "agent": "helpr", "task": "x", "strategy": "reakt"},
        {"id": "c", "agent": "helper", "task": "x"},
        {"id": "d", "decide": {"model": "openai:x", "prompt": "y"}, "choices": ["e"]},
        {"id": "e", "tool": "timer.set", "with": {"minutes": 1}, "accept": [{"agent": "nobody"}]},
    )
    assert found == [
        ("PRD4215", "steps[0].model", "error"),
        ("PRD1402", "steps[1].agent", "error"),
        ("PRD4216", "steps[1].strategy", "error"),
        ("PRD4215", "steps[2].agent", "error"),
        ("PRD4215", "steps[3].decide.model", "error"),
        ("PRD1402", "steps[4].accept[0].agent", "error"),
    ]


def test_a1_what_is_only_likely_to_be_missed_is_a_warning():
    spare = {"alternates": [{"model": "weak", "prompt": "x"}], "simpler": {"agent": "nobody"}}
    assert lacking_heads({"id": "a", "tool": "timer.set", "with": {"minutes": 1}, **spare}) == [
        ("PRD4215", "steps[0].alternates[0].model", "warning"),
        ("PRD1402", "steps[0].simpler.agent", "warning"),
    ]


def test_a1_a_way_that_is_for_agents_of_other_frameworks_is_said_to_be_so():
    step = {"id": "a", "agent": "helper", "strategy": "adapted", "task": "x"}
    here = Means(KNOWN, agents=lambda: {"helper": Agent(name="helper")})
    (found,) = infeasible(Plan.model_validate({"steps": [step]}), here)
    assert (found.code, written(found.path), found.message) == (
        "PRD4216",
        "steps[0].agent",
        '"helper" cannot work by "adapted"',
    )
    assert "agents that another framework has made" in found.help


def test_with_models_and_agents_nothing_stands_in_the_way():
    steps = [
        {"id": "a", "model": "weak", "prompt": "x"},
        {"id": "b", "agent": "helper", "task": "x", "strategy": "react", "skills": ["helping"]},
    ]
    assert lacking_heads(*steps, models={"default": ScriptedModel(["y"])}) == []


def test_a1_work_for_anybody_needs_somebody_who_has_all_skills_and_can_think():
    step = {"id": "a", "agent": "any", "task": "x", "skills": ["helping"]}
    assert lacking_heads(step) == [("PRD4215", "steps[0].agent", "error")]
    assert lacking_heads(step, models={"default": ScriptedModel(["y"])}) == []
    both = {**step, "skills": ["helping", "weather"]}  # which a tool has, and no agent
    assert lacking_heads(both, models={"default": ScriptedModel(["y"])}) == [("PRD4211", "steps[0].agent", "error")]


def test_a_way_of_working_of_ones_own_needs_no_agent():
    steps = [{"id": "a", "agent": "anybody", "strategy": "mine"}, {"id": "b", "agent": "she"}]
    assert lacking_heads(*steps, own=("mine", "agent:she")) == []


def test_a1_every_step_that_asks_a_model_takes_a_call():
    steps = [{"id": id_, "model": "default", "prompt": "x"} for id_ in "ab"]
    plan = Plan.model_validate({"budget": {"calls": 1}, "steps": steps})
    (found,) = infeasible(plan, Means())
    assert (found.code, written(found.path)) == ("PRD4214", "budget.calls")
    assert infeasible(Plan.model_validate({"budget": {"calls": 2}, "steps": steps}), Means()) == []


@pytest.mark.parametrize(
    ("step", "budget", "is_told"),
    [
        ({}, {"tokens": 2_000}, True),
        ({}, {"tokens": 2_100}, False),
        ({"tokens": 500}, {"tokens": 600}, False),
        ({"tokens": 500}, {"tokens": 500}, True),
        ({"estimate": {"tokens": 90}}, {"tokens": 100}, False),
        ({}, {"usd": 1}, False),
    ],
)
def test_a1_a_call_that_would_not_begin_in_its_budget_is_told(step, budget, is_told):
    """As a run shows: what is told would not begin, and what is not told does."""
    asks = {"id": "a", "model": "default", "prompt": "x", **step}
    document = {"steps": [{"id": "g", "budget": budget, "steps": [asks]}]}
    found = infeasible(Plan.model_validate(document), Means())
    assert [(problem.code, problem.severity) for problem in found] == [("PRD4214", "warning")] * is_told
    result = run_sync(Plan.model_validate(document), models={"default": ScriptedModel(["y"])})
    assert (result.failure.kind if result.failure else "") == ("budget" if is_told else "")


@pytest.mark.parametrize(("then", "severity"), [("fail", "error"), ("ask", "warning"), ("finish", "warning")])
def test_a_budget_that_ends_otherwise_than_by_failing_may_be_meant(then, severity):
    plan = Plan.model_validate({"budget": {"usd": 1, "then": then}, "steps": [priced("a", 2)]})
    (found,) = infeasible(plan, Means(KNOWN))
    assert (found.code, found.severity) == ("PRD4214", severity)


# ------------------------------------------------------------------------------- an engine


def lacks(steps, **world):
    async def go():
        async with Engine.open(**world) as engine:
            return [problem.code for problem in engine.lacks(Plan.model_validate({"steps": steps}))]

    return asyncio.run(go())


def test_a1_an_engine_says_what_it_lacks_for_a_plan():
    steps = [
        {"id": "a", "model": "default", "prompt": "x"},
        {"id": "b", "agent": "helper", "task": "x"},
        {"id": "c", "tool": "flow.echo", "with": {"value": "${secrets.KEY}"}},
        {"id": "d", "tool": "flow.ecko"},
    ]
    assert lacks(steps) == ["PRD1401", "PRD4215", "PRD1402", "PRD4213"]
    world = {"models": {"default": ScriptedModel(["y"])}, "agents": [HELPER], "secrets": {"KEY": "a long secret"}}
    assert lacks(steps[:3], **world) == []
    assert lacks(steps[:3], models={}, agents=[HELPER], secrets={"KEY": "x"}) == ["PRD4215", "PRD4215"]


def started(step, **world):
    """What keeps an engine from beginning a run, by code; empty: nothing."""

    async def go():
        async with Engine.open(**world) as engine:
            try:
                run = await engine.start(Plan.model_validate({"steps": [{"id": "a", **step}]}))
            except PlanError as error:
                return [problem.code for problem in error.problems]
            await run.result()
            return []

    return asyncio.run(go())


@pytest.mark.parametrize(
    ("step", "codes"),
    [
        ({"agent": "helpr", "task": "x"}, ["PRD1402"]),
        ({"agent": "helper", "task": "x", "strategy": "reakt"}, ["PRD4216"]),
        ({"agent": "helper", "task": "x", "strategy": "adapted"}, ["PRD4216"]),
        ({"tool": "flow.echo", "with": {"value": 1}, "accept": [{"agent": "nobody"}]}, ["PRD1402"]),
        ({"agent": "helper", "task": "x"}, []),
        ({"agent": "helper", "task": "x", "strategy": "mine"}, []),
        ({"agent": "whoever", "task": "x", "strategy": "mine"}, []),
        ({"tool": "flow.echo", "with": {"value": 1}, "simpler": {"agent": "nobody"}}, []),
    ],
)
def test_a1_no_run_begins_with_work_for_agents_that_are_not_there(step, codes):
    world = {"models": {"default": ScriptedModel(["y"])}, "agents": [HELPER]}
    assert started(step, **world, strategies={"mine": lambda view: Finish(output=1)}) == codes
    assert started(step, performer=Scripted(default=1)) == []


def test_what_another_performer_can_do_is_not_known():
    steps = [{"id": "a", "model": "default", "prompt": "x"}, {"id": "b", "agent": "x"}, {"id": "c", "tool": "x.y"}]
    assert lacks(steps, performer=Scripted(default=1)) == []


def test_a1_e12_who_is_to_find_another_way_and_is_not_there_is_told():
    steps = [{"id": "a", "tool": "flow.echo", "with": {"value": 1}}]
    plan = Plan.model_validate({"steps": steps, "adjust": {"planner": "zz", "otherwise": "helpr"}})
    found = infeasible(plan, Means(KNOWN, agents=lambda: {"helper": Agent(name="helper")}))
    assert [(each.code, written(each.path), each.severity) for each in found] == [
        ("PRD1402", "adjust.planner", "error"),
        ("PRD1402", "adjust.otherwise", "error"),
    ]
    assert found[1].help == 'did you mean "helper"?'
    assert infeasible(plan, Means(KNOWN)) == []  # nobody knows who is here
    assert infeasible(plan, Means(KNOWN, agents=dict, own=("agent:zz", "agent:helpr"))) == []


def test_a1_e12_what_they_would_think_with_may_never_be_needed():
    steps = [{"id": "a", "tool": "flow.echo", "with": {"value": 1}}]
    plan = Plan.model_validate({"steps": steps, "adjust": {"planner": "tools", "otherwise": "helper"}})
    here = {"helper": Agent(name="helper", model="strong")}
    (found,) = infeasible(plan, Means(KNOWN, agents=lambda: here, models=Models({}).find))
    assert (found.code, written(found.path), found.severity) == ("PRD4215", "adjust.otherwise", "warning")


async def _lacks(plan, **here):
    async with Engine.open(**here) as engine:
        return [(each.code, written(each.path)) for each in engine.lacks(plan)]


def test_a1_e12_an_engine_tells_it_before_the_first_step():
    steps = [{"id": "a", "tool": "flow.echo", "with": {"value": 1}}]
    plan = Plan.model_validate({"steps": steps, "adjust": {"planner": "zz", "otherwise": "yy"}})
    found = asyncio.run(_lacks(plan, agents=[Agent(name="helper")]))
    assert found == [("PRD1402", "adjust.planner"), ("PRD1402", "adjust.otherwise")]


@pytest.mark.parametrize("word", ["planner", "otherwise"])
def test_e12_nobody_is_chosen_to_find_another_way(word):
    adjust = {"planner": "tools", word: "any"}
    plan = Plan.model_validate({"steps": [{"id": "a", "tool": "flow.echo", "with": {"value": 1}}], "adjust": adjust})
    (found,) = infeasible(plan, Means(KNOWN))
    assert (found.code, written(found.path), found.help) == ("PRD1418", f"adjust.{word}", "name an agent")
    with pytest.raises(PlanError, match="nobody is chosen for this"):
        run_sync(plan)


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ({"agent": "cooc", "task": "Cook it."}, 'there is no agent "cooc"'),
        ({"steps": [{"id": "a", "agent": "any", "task": "Cook it.", "skills": ["x"]}]}, ""),
        ({"tool": "customers.fnd"}, 'there is no tool "customers.fnd"'),
        ({"steps": [{"id": "a", "tool": "timer.set", "with": {}, "accept": [{"agent": "nobody"}]}]}, 'agent "nobody"'),
        ({"agent": "finder", "task": "Again."}, ""),
        ({"tol": "timer.set"}, "`act` in the options"),
    ],
)
def test_a1_who_and_what_an_agent_has_do_its_work_has_to_be_there(step, told):
    finder = Agent(name="finder", strategy="tree", options={"act": step, "judge": {"expr": "1"}})
    means = Means(KNOWN, agents=lambda: {"finder": finder})
    plan = Plan.model_validate({"steps": [{"id": "go", "agent": "finder", "task": "Find it."}]})
    found = infeasible(plan, means)
    assert [(each.severity, told in each.message) for each in found] == ([("error", True)] if told else [])
    again = Agent(name="finder", strategy="reflexion", options={"attempt": {"agent": "cook", "task": "x"}})
    (missing,) = infeasible(plan, Means(KNOWN, agents=lambda: {"finder": again}))
    assert missing.message == '`attempt` in the options of the agent "finder": there is no agent "cook"'
