"""E5 E13 E21: `tree`, proposals that are judged and pruned, level by level."""

import asyncio
import json
import re

import pytest
from puzzles import TwentyFour, propose
from thinkers import agent, grown_by, prompts, step_of, thought, world_of

from perdure import Engine, Plan
from perdure.agents import Agent
from perdure.agents.strategies.options import OptionsError
from perdure.core import events as e
from perdure.core.calls import Failure
from perdure.ports import Returned, Said
from perdure.testing.models import ScriptedModel, calls

PATH = {"judge": {"expr": "double(output) / 1000.0"}, "width": 3, "beam": 2, "depth": 3}
"""Proposals are numbers; the largest are the best."""


def chosen_in(prompt):
    """What a proposal goes on from."""
    found = re.search(r"This was chosen:\n(.*?)\n\n", prompt, re.DOTALL)
    return found[1] if found else ""


def digits(prompt, step):
    """The n-th proposal adds the digit n + 1 to what was chosen."""
    number = re.search(r"proposal (\d+)", prompt)
    return f"{chosen_in(prompt)}{int(number[1]) + 1}" if number else "?"


def acting(done):
    """An act that leaves a trace, and takes it away again."""
    act = {
        "tool": "x.put",
        "with": {"name": "${inputs.branch}", "what": "${inputs.output}"},
        "undo": {"tool": "x.take", "with": {"name": "${inputs.branch}"}},
    }
    return act, {
        "x.put": lambda name, what: done.update({name: what}) or what,
        "x.take": lambda name: done.pop(name, None),
    }


# ------------------------------------------------------------------------------- searching


def test_e5_a_search_goes_on_from_the_best():
    world = thought(agent("tree", PATH), digits)
    assert world.output == {"answer": "444", "line": ["4", "44", "444"], "score": 0.444}
    assert len(world.made) == 3 + 6 + 6
    afters = [step.get("after") for step in grown_by(world)]
    assert afters == [None] * 3 + ["s3", "s2"] * 3 + ["s8", "s6"] * 3


def test_proposals_may_be_made_together():
    def say(prompt, _):
        most = int(re.search(r"At most (\d+)", prompt)[1])
        return {"thoughts": [f"{chosen_in(prompt)}{n}" for n in range(1, most + 2)]}

    world = thought(agent("tree", {**PATH, "together": True}), say)
    assert world.output["line"] == ["3", "33", "333"]  # one more than was asked for is not looked at
    assert len(world.made) == 1 + 2 + 2


def test_structured_proposals():
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    options = {"thought": schema, "judge": {"expr": "output.n"}, "depth": 1}
    said = {"ag/1.1": '{"n": 1}', "ag/1.2": '{"n": 2}', "ag/1.3": '{"m": 9}'}
    assert thought(agent("tree", options), lambda _, step: said[step]).output["answer"] == {"n": 2}


@pytest.mark.parametrize(
    ("judge", "judged"),
    [({"tool": "x.rate"}, 9), ({"model": "strong"}, 9), ({"votes": 3}, 0), ({"expr": "double(output)"}, 0)],
)
def test_e13_proposals_are_judged_by_tools_critics_votes_or_rules(judge, judged):
    def say(prompt, step):
        if "What is to be judged" in prompt:
            return {"score": float(prompt.rpartition("\n")[2]) / 1000, "fixes": ["be larger"]}
        if "stand for election" in prompt:
            standing = re.findall(r"(\d+)\. (\d+)", prompt)
            return {"best": int(max(standing, key=lambda each: int(each[1]))[0])}
        return digits(prompt, step)

    options = {**PATH, "judge": judge, "beam": 1}
    world = thought(agent("tree", options), say, {"x.rate": lambda output: {"score": float(output)}})
    assert world.output["line"] == ["4", "44", "444"]
    assert sum(step.endswith("judge") for step in world.done()) == judged
    if "model" in judge:
        assert "be larger" in prompts(world)[-4]  # whoever goes on hears what was wrong


def test_the_same_proposal_is_tried_once():
    tools = {"x.rate": lambda output: 1.0 * len(output)}
    world = thought(agent("tree", {"judge": {"tool": "x.rate"}, "depth": 1}), lambda *_: "same", tools)
    assert (world.output["score"], len(world.made)) == (4, 4)


def test_where_one_is_clearly_ahead_the_others_are_dropped():
    scores = {"2": 0.9, "3": 0.85, "4": 0.1}
    near, far = {**scores}, {**scores, "3": 0.2}
    for given, gone_on_with in ((near, {"s1", "s2"}), (far, {"s1"})):
        tools = {"x.rate": lambda output, given=given: given.get(output, 0.5)}
        world = thought(agent("tree", {**PATH, "judge": {"tool": "x.rate"}, "depth": 2}), digits, tools)
        assert {step["after"] for step in grown_by(world) if "after" in step} == gone_on_with
    world = thought(agent("tree", {**PATH, "judge": {"tool": "x.rate"}, "depth": 2, "lead": 1}), digits, tools)
    assert len({step["after"] for step in grown_by(world) if "after" in step}) == 2


def test_a_goal_ends_the_search_at_once_and_is_wanted():
    world = thought(agent("tree", {**PATH, "goal": 0.04}), digits)
    assert (world.output["answer"], len(world.made)) == ("42", 4)
    world = thought(agent("tree", {**PATH, "goal": 9, "again": 0}), digits)
    assert world.failure == Failure("unmet", "the best proposal has a score of 0.444, and 9 is wanted")


def test_nothing_that_can_be_judged_is_an_honest_failure():
    world = thought(agent("tree", PATH), lambda *_: "no number")
    assert world.failure == Failure("unmet", "no proposal could be judged")
    world = thought(agent("tree", PATH), lambda *_: Failure("denied", "no key"))
    assert world.failure == Failure("unmet", "no proposal could be judged: no key")
    critic = {**PATH, "judge": {"model": "strong"}}
    world = thought(agent("tree", critic), lambda prompt, _: "fine" if "to be judged" in prompt else "4")
    assert world.failure.message.startswith("no proposal could be judged: it is no JSON")


def test_a_level_that_gives_nothing_leaves_what_was_best_before():
    def say(prompt, step):
        return "stuck" if len(chosen_in(prompt)) == 2 else digits(prompt, step)

    assert thought(agent("tree", PATH), say).output["line"] == ["4", "44"]


def test_e13_a_line_that_leads_nowhere_is_left_for_one_that_was_dropped():
    def say(prompt, step):
        return "stuck" if chosen_in(prompt).startswith("4") else digits(prompt, step)

    options = {**PATH, "beam": 1}
    assert thought(agent("tree", options), say).output["line"] == ["3", "34", "344"]
    assert thought(agent("tree", {**options, "again": 0}), say).output["line"] == ["4"]


def test_where_nothing_was_dropped_a_search_for_a_goal_begins_again_with_other_proposals():
    world = thought(agent("tree", {**PATH, "width": 1, "depth": 2, "goal": 0.04}), digits)
    assert (world.output["line"], len(world.made)) == (["4", "42"], 4)


def test_how_often_it_goes_back_is_bounded():
    world = thought(agent("tree", {**PATH, "goal": 9, "again": 1, "depth": 2}), digits)
    assert (world.failure.kind, len(world.made)) == ("unmet", 3 + 6 + 3)


def test_an_answer_in_the_form_that_is_wanted():
    def say(prompt, step):
        if "Now say the answer" in prompt:
            return "oops"
        return {"n": 5} if "not what was asked for" in prompt else digits(prompt, step)

    returns = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    world = thought(agent("tree", PATH), say, step=step_of(returns=returns))
    assert world.output == {"n": 5}
    world = thought(agent("tree", {**PATH, "repairs": 0}), say, step=step_of(returns=returns))
    assert world.failure.kind == "invalid"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"width": 0}, "width must be greater than or equal to 1"),
        ({"breadth": 2}, "breadth is not known here; they may be: width, beam"),
        ({"judge": {"expr": "1", "tool": "x.y"}}, "exactly one of expr, tool, agent, model, votes"),
        ({"judge": {"expr": "1 +"}}, "expr: "),
    ],
)
def test_options_are_refused_with_a_reason(options, said):
    with pytest.raises(OptionsError) as refused:
        thought(agent("tree", options), digits)
    assert said in f"{refused.value.message}; {refused.value.help}"


def test_data_that_looks_like_a_reference_stays_data():
    options = {"judge": {"tool": "x.rate"}, "depth": 2, "ask": "Say ${inputs.task}."}
    world = thought(agent("tree", options), lambda *_: "${1/0}", {"x.rate": lambda output: 1}, what="${1/0}")
    assert world.output["line"] == ["${1/0}", "${1/0}"]
    assert "Say ${inputs.task}." in prompts(world)[0]
    assert "1/0" not in str(grown_by(world))


# ------------------------------------------------------------------------------- branches that act


def test_e5_exactly_the_effects_of_the_winning_line_stay():
    done = {}
    act, tools = acting(done)
    world = world_of(agent("tree", {**PATH, "act": act}), digits, tools).run()
    assert world.output["line"] == ["4", "44", "444"]
    assert sorted(done.values()) == sorted(world.output["line"])
    assert len(world.done("undo")) == len([step for step in world.done() if step.endswith("act")]) - 3


def test_what_was_done_is_undone_when_the_goal_is_not_reached():
    done = {}
    act, tools = acting(done)
    world = world_of(agent("tree", {**PATH, "act": act, "goal": 9}), digits, tools).run()
    assert (world.failure.kind, done) == ("unmet", {})


def test_an_expression_may_look_at_what_an_act_gave():
    act, tools = acting({})
    options = {**PATH, "act": act, "judge": {"expr": "double(steps.act.output)"}, "depth": 1}
    assert thought(agent("tree", options), digits, {**tools, "x.take": lambda name: name}).output["answer"] == "4"


@pytest.mark.parametrize("goal", [None, 0.4])
def test_the_effects_are_the_same_in_any_order(goal):
    for order in range(25):
        done = {}
        act, tools = acting(done)
        options = {**PATH, "act": act, **({"goal": goal} if goal else {})}
        world = world_of(agent("tree", options), digits, tools, order=order).run()
        assert sorted(done.values()) == sorted(world.output["line"])
        assert goal or world.output["answer"] == "444"


# ------------------------------------------------------------------------------- crashes


def puzzled(puzzle):
    def say(prompt, _):
        state = json.loads(chosen_in(prompt) or json.dumps(puzzle.start))
        found = propose(puzzle, state, prompt.rpartition("\n")[2])
        return found[0] if found else "stuck"

    done = {}
    act, tools = acting(done)
    tools["x.rate"] = lambda output: {"score": puzzle.score(output)}
    options = {"width": 3, "depth": 3, "thought": {"type": "object"}, "judge": {"tool": "x.rate"}, "act": act}
    return done, world_of(agent("tree", options), say, tools)


def test_e5_killed_at_every_turn_it_goes_on_there_and_pays_for_nothing_twice():
    _, world = puzzled(TwentyFour(2))
    expected, turns = world.run().output, len(world.made)
    assert expected["answer"]["left"] == ["24"]
    for turn in range(1, turns + 12):
        done, world = puzzled(TwentyFour(2))
        for _ in range(turn):
            world.step()
        world.crash()
        world.run()
        assert world.output == expected
        calls = [(made.step, made.deed) for made in world.made]
        assert len(calls) == len(set(calls))  # nothing that was finished is done again
        assert sorted(map(str, done.values())) == sorted(map(str, expected["line"]))


# ------------------------------------------------------------------------------- budgets


def first_level(calls):
    world = world_of(agent("tree", {**PATH, "width": 8}), digits, step=step_of(budget={"calls": calls})).run()
    assert len(world.made) <= calls
    return sum("after" not in step for step in grown_by(world))


def test_e21_the_tree_narrows_as_the_budget_shrinks():
    widths = [first_level(calls) for calls in range(1, 40)]
    assert widths == sorted(widths)
    assert (widths[0], widths[2], widths[5], widths[-1]) == (1, 1, 2, 8)


def test_e21_with_one_call_left_it_ends_with_what_it_has():
    world = thought(agent("tree", PATH), digits, step=step_of(budget={"calls": 1}))
    assert world.output["line"] == ["2"]


@pytest.mark.parametrize(("then", "status"), [("fail", "failed"), ("finish", "succeeded"), ("ask", "waiting")])
def test_e21_a_search_that_cannot_begin_is_left_to_the_budget(then, status):
    options = {**PATH, "judge": {"model": "strong"}}
    world = thought(agent("tree", options), digits, step=step_of(budget={"calls": 1, "then": then}))
    assert (world.status, world.made) == (status, [])  # a proposal that could not be judged is not asked for


def test_one_branch_that_needs_too_much_fails_alone():
    def say(prompt, step):
        return Failure("transient", "later") if step == "ag/1.3" else digits(prompt, step)

    world = thought(agent("tree", PATH), say, step=step_of(budget={"calls": 9}))
    assert world.exit_of("ag/1.3") == "failure"
    assert world.output["line"] == ["3", "32", "322"]  # what it took is gone for what follows


# ------------------------------------------------------------------------------- branches that are agents

NAMED = re.compile(r"Write (\w+) into (\S+)")


def writing(request):
    """A writer writes once, and says what; whoever searches proposes longer and longer words."""
    said = [each.text for each in request.remarks if isinstance(each, Said)]
    if (asked := NAMED.search(said[0])) is None:
        return digits(said[-1], "")
    if any(isinstance(each, Returned) for each in request.remarks):
        return asked[1]
    return calls("files.write", path=asked[2], text=asked[1])


def test_e5_branches_may_be_agents_that_write_files_and_only_those_of_the_winner_stay(tmp_path):
    act = {"agent": "writer", "task": "Write ${inputs.output} into try/${inputs.branch}.txt"}
    options = {"act": act, "judge": {"expr": "double(output)"}, "width": 2, "beam": 1, "depth": 3, "again": 0}
    agents = [agent("tree", options), Agent(name="writer", tools=("files.write",))]
    seen = []

    async def go():
        models = {"default": ScriptedModel(writing)}
        async with Engine.open(workspace=tmp_path, agents=agents, models=models) as engine:
            run = await engine.start(Plan.model_validate({"steps": [{"id": "ag", "agent": "me", "task": "Search."}]}))
            result = await run.result()
            _, entries = await engine.journal.load(run.id)
            seen.extend(e.decode(each.type, each.body) for each in entries)
            return result

    result = asyncio.run(go())
    assert (result.status, result.output["line"]) == ("succeeded", ["3", "33", "333"])
    assert sorted(file.read_text() for file in (tmp_path / "try").iterdir()) == ["3", "33", "333"]
    assert [len(each.drop) for each in seen if isinstance(each, e.StepsGrown) and each.step == "ag"] == [
        0,
        0,
        1,
        0,
        1,
        0,
    ]


# ------------------------------------------------------------------------------- branches on copies

WRITING = {
    "steps": [
        {"id": "put", "tool": "files.write", "with": {"path": "plan.txt", "text": "${inputs.output}"}},
        {"id": "mine", "tool": "files.write", "with": {"path": "${inputs.branch}.txt", "text": "${inputs.output}"}},
        {"id": "all", "tool": "files.search", "with": {"text": "3"}},
    ]
}
STAGED = {"act": WRITING, "staged": True, "judge": {"expr": "double(output)"}, "width": 2, "beam": 1, "depth": 3}


def staged(place, options=STAGED, *, script=None, plan=None, **settings):
    """A search on copies of `place/work`; the result, and what was seen there whenever somebody was asked."""
    workspace, seen = place / "work", []
    workspace.mkdir(exist_ok=True)
    (workspace / "plan.txt").write_text("none")

    def say(request):
        seen.append({each.name: each.read_text() for each in workspace.iterdir()})
        said = [each.text for each in request.remarks if isinstance(each, Said)]
        return script(request) if script else digits(said[-1], "")

    async def go():
        agents, models = [agent("tree", options)], {"default": ScriptedModel(say)}
        opened = Engine.open(place / "runs.db", workspace=workspace, agents=agents, models=models, **settings)
        async with opened as engine:
            step = {"id": "ag", "agent": "me", "task": "Search.", **(plan or {})}
            run = await engine.start(Plan.model_validate({"steps": [step]}))
            return await run.result()

    return asyncio.run(asyncio.wait_for(go(), 60)), seen


def left_in(place):
    """The workspace, and how many copies there are."""
    copies = [each for each in (place / "runs.db.hands/branches").iterdir() if each.is_dir()]
    return {each.name: each.read_text() for each in (place / "work").iterdir()}, len(copies)


def test_e5_staged_branches_do_not_see_each_other_and_exactly_the_winners_files_stand(tmp_path):
    result, seen = staged(tmp_path)
    assert result.status == "succeeded", result.failure
    assert result.output["line"] == ["3", "33", "333"]
    assert left_in(tmp_path) == ({"plan.txt": "333", "s4.txt": "3", "s8.txt": "33", "s12.txt": "333"}, 0)
    assert {json.dumps(each) for each in seen} == {'{"plan.txt": "none"}'}, "nothing was touched before the end"


def test_staged_the_end_may_be_said_after_placing(tmp_path):
    def say(request):
        said = [each.text for each in request.remarks if isinstance(each, Said)][-1]
        return {"n": 333} if "Now say the answer" in said else digits(said, "")

    schema = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
    result, _ = staged(tmp_path, script=say, plan={"returns": schema})
    assert (result.output, left_in(tmp_path)[0]["plan.txt"]) == ({"n": 333}, "333")


def test_staged_where_the_goal_is_not_reached_nothing_is_placed(tmp_path):
    result, _ = staged(tmp_path, {**STAGED, "goal": 1000, "again": 0})
    assert (result.failure.kind, left_in(tmp_path)) == ("unmet", ({"plan.txt": "none"}, 0))


def test_staged_where_somebody_else_has_written_it_is_a_conflict_and_theirs_stays(tmp_path):
    def say(request):
        (tmp_path / "work/plan.txt").write_text("mine")
        said = [each.text for each in request.remarks if isinstance(each, Said)]
        return digits(said[-1], "")

    def later(request):
        said = [each.text for each in request.remarks if isinstance(each, Said)]
        return say(request) if "33" in said[-1] else digits(said[-1], "")

    result, _ = staged(tmp_path, script=later)
    assert "plan.txt was changed by somebody else meanwhile" in result.failure.message
    assert left_in(tmp_path) == ({"plan.txt": "mine"}, 0)


def test_staged_a_goal_that_is_reached_early_stops_the_others(tmp_path):
    result, _ = staged(tmp_path, {**STAGED, "goal": 3, "width": 3})
    assert result.status == "succeeded", result.failure
    found, copies = left_in(tmp_path)
    assert (found["plan.txt"], len(found), copies) == (result.output["answer"], 2, 0)


def test_staged_what_does_not_stay_on_a_copy_fails_its_trial_with_the_reason(tmp_path):
    act = {"tool": "http.get", "with": {"url": "http://127.0.0.1:1/"}}
    result, _ = staged(tmp_path, {**STAGED, "act": act, "again": 0})
    assert 'no proposal could be judged: "http.get" is not called in a branch' in result.failure.message
    assert left_in(tmp_path) == ({"plan.txt": "none"}, 0)


@pytest.mark.parametrize(
    ("steps", "line"), [(5, None), (6, ["2"]), (10, ["2"]), (11, ["2", "22"]), (31, ["3", "33", "333"])]
)
def test_e21_staged_fits_into_its_budget_of_steps(tmp_path, steps, line):
    result, _ = staged(tmp_path, plan={"budget": {"steps": steps}, "recovery": {"budget": ["fail"]}})
    assert (result.output and result.output["line"]) == line, "opening and placing are steps, and are put aside for"
    assert result.usage.budgets["ag"]["steps"].spent <= steps
    found = (tmp_path / "work/plan.txt").read_text()
    assert found == (line[-1] if line else "none")


def test_e5_staged_commands_judge_what_stands_on_their_copy(tmp_path):
    act = {
        "steps": [
            {"id": "put", "tool": "files.write", "with": {"path": "plan.txt", "text": "${inputs.output}"}},
            {"id": "tests", "tool": "shell.run", "with": {"command": ["grep", "-q", "33", "plan.txt"], "check": False}},
        ]
    }
    judge = {"expr": "steps.act.output.code == 0 ? 1.0 : 0.0"}
    result, _ = staged(tmp_path, {**STAGED, "act": act, "judge": judge, "goal": 1, "beam": 2})
    assert result.status == "succeeded", result.failure
    assert left_in(tmp_path) == ({"plan.txt": "33"}, 0)
