"""E12 X2 X7 X8 E19: plans that agents and planners change while they are carried out, in a real engine."""

import json

import pytest

from perdure import Agent, Engine, Plan, ToolFailure, tool
from perdure.core import events as e
from perdure.core.events import decode
from perdure.ports import Answered, Returned
from perdure.testing.models import ScriptedModel, calls
from perdure.testing.replays import assert_replays

pytestmark = pytest.mark.anyio
BREAD = {"steps": [{"id": "buy", "tool": "market.buy", "with": {"what": "${steps.wish.output}"}}]}


@tool(name="shop.buy", repeat="safe", effects=["network"], skills=["buying"])
def shop(what: str, floor: int = 1) -> str:
    """Buy in the shop, which is closed."""
    raise ToolFailure("logic", "the shop is closed")


@tool(name="market.buy", repeat="safe", effects=["network"], skills=["buying"])
def market(what: str) -> str:
    """Buy at the market."""
    return f"{what} from the market"


@tool(name="kiosk.buy", repeat="safe", effects=["network"])
def kiosk(what: str) -> str:
    """Buy at the kiosk, which nobody can be sent to instead."""
    raise ToolFailure("logic", "the kiosk is gone")


@tool(name="bank.pay", repeat="never", effects=["irreversible"], skills=["paying"])
def pay(what: str) -> str:
    """Pay; and nobody knows whether it was done."""
    raise ToolFailure("in_doubt", "the line broke")


@tool(name="cash.pay", repeat="never", effects=["irreversible"], skills=["paying"])
def cash(what: str) -> str:
    """Pay in cash."""
    return "paid twice"


TOOLS = [shop, market, kiosk, pay, cash]
WISH = {"id": "wish", "tool": "flow.echo", "with": {"value": "bread"}}
GO = {"id": "go", "agent": "scout", "task": "See to it."}
BUY = {"id": "buy", "tool": "shop.buy", "with": {"what": "${steps.wish.output}", "floor": 2}}
GONE = {"id": "buy", "tool": "kiosk.buy", "with": {"what": "x"}}
TELL = {"id": "tell", "tool": "flow.echo", "with": {"value": "got ${steps.buy.output}"}}
SCOUT = Agent(name="scout", tools=("market.*", "flow.*"))
PLANNER = Agent(name="planning", strategy="draft")
DOER = Agent(name="doer", tools=("market.*",))


def one_by_one(*wishes):
    """What an agent says in its conversation, one after another; then it is done."""

    def say(request):
        turn = sum(isinstance(each, Answered) for each in request.remarks)
        return wishes[turn] if turn < len(wishes) else "done"

    return say


def replan(**said):
    return calls("planning.replan", reason="it is closed", **said)


async def carried_out(steps, say, planning=True, agents=(SCOUT, PLANNER, DOER), plans=None, **more):
    """What came of a plan, the revisions of it, and what the model was asked; replayed in all three ways."""
    model = ScriptedModel(say)
    said = {"agents": agents, "agent_planning": planning, "plans": plans}
    async with Engine.open(tools=TOOLS, models={"default": model}, **said) as engine:
        run = await engine.start(Plan.model_validate({"goal": "Get bread", "steps": steps, **more}))
        result = await run.result()
        _, entries = await engine.journal.load(run.id)
        facts = [decode(each.type, each.body) for each in entries]
        await assert_replays(engine.journal, run.id)
        assert (await engine.redecide(run.id)).difference is None
        assert (await engine.stub(run.id)).is_same
        return result, [each for each in facts if isinstance(each, (e.RunRevised, e.RevisionRefused))], model.asked


def heard(asked):
    """What came of the calls of an agent, as its model heard it last."""
    return [each.text for each in asked[-1].remarks if isinstance(each, Returned)]


# ------------------------------------------------------------------------------- by an agent


async def test_x8_a_tool_with_the_same_skills_stands_in_for_what_would_fail():
    result, [revised], asked = await carried_out([WISH, GO, BUY, TELL], one_by_one(replan(failed_steps=["buy"])))
    assert result.output == "got bread from the market"
    assert (revised.by, revised.after, revised.why) == ("planning.replan", "go/1.2", "it is closed")
    assert (result.steps["buy"].exit, result.steps["wish"].visits) == ("success", 1)
    assert json.loads(heard(asked)[0])["plan"][2] == "buy: market.buy; to come"


async def test_x8_steps_that_an_author_has_numbered_do_not_stand_in_for_each_other():
    """`buy_2` calls the market for itself: so nobody has tried it in the place of `buy_1`."""
    steps = [WISH, GO, {**BUY, "id": "buy_1"}, {"id": "buy_2", "tool": "market.buy", "with": {"what": "milk"}}]
    result, [revised], _ = await carried_out(steps, one_by_one(replan(failed_steps=["buy_1"])))
    assert (result.steps["buy_1"].output, len(revised.edits)) == ("bread from the market", 1)


async def test_x8_what_has_failed_stays_marked_and_those_after_it_take_the_new_result():
    failed = {**BUY, "recovery": {"logic": ["continue"]}}
    result, [revised], _ = await carried_out([WISH, failed, GO, TELL], one_by_one(replan(failed_steps=["buy"])))
    assert (result.output, result.missing) == ("got bread from the market", ("buy",))
    assert result.steps["buy"].failure.kind == "logic"
    assert [edit.get("insert", {}).get("id") or edit.get("amend") for edit in revised.edits] == ["buy_2", "tell"]


async def test_x8_in_a_graph_others_go_on_meanwhile():
    failed = {**BUY, "needs": ["wish"], "on": {"failure": "next"}}
    steps = [WISH, failed, {**GO, "needs": ["buy"]}, {**TELL, "needs": ["buy", "go"]}]
    result, [_], _ = await carried_out(steps, one_by_one(replan(failed_steps=["buy"])), output="${steps.tell.output}")
    assert result.output == "got bread from the market"


async def test_x8_what_no_tool_can_stand_in_for_is_dropped_with_all_that_takes_its_results():
    gone = {**BUY, "tool": "kiosk.buy", "with": {"what": "x"}}
    last = {"id": "last", "tool": "flow.echo", "with": {"value": "home"}}
    result, [revised], _ = await carried_out([WISH, GO, gone, TELL, last], one_by_one(replan(failed_steps=["buy"])))
    assert (result.output, result.steps["buy"].exit, result.steps["tell"].exit) == ("home", "skipped", "skipped")
    assert [edit["amend"] for edit in revised.edits] == ["buy", "tell"]


async def test_x8_where_nothing_would_be_left_it_is_refused_and_the_agent_hears_why():
    gone = {**BUY, "tool": "kiosk.buy", "with": {"what": "x"}}
    result, [refused], asked = await carried_out([WISH, GO, gone, TELL], one_by_one(replan(failed_steps=["buy"])))
    assert (result.status, result.cause) == ("failed", "buy")
    assert isinstance(refused, e.RevisionRefused)
    assert "there is no other way: buy calls nothing that says which skills it has" in heard(asked)[0]


async def test_what_may_have_been_done_is_not_done_in_another_way():
    paid = {"id": "buy", "tool": "bank.pay", "with": {"what": "x"}, "recovery": {"in_doubt": ["continue"]}}
    steps = [paid, GO, {"id": "end", "tool": "flow.echo", "with": {"value": 1}}]
    model = ScriptedModel(one_by_one(replan(failed_steps=["buy"])))
    async with Engine.open(tools=TOOLS, agents=[SCOUT], models={"default": model}, agent_planning=True) as engine:
        run = await engine.start(Plan.model_validate({"steps": steps, "adjust": {"planner": "tools"}}))
        await run.rested()
        [question] = (await engine.host.runner(run.id)).state.questions
        await run.answer(question, "give_up")
        result = await run.result()
    assert (result.output, "buy_2" in result.steps) == (1, False)
    assert "nothing stands in by itself for what ended in_doubt" in result.steps["go/1.2"].failure.message


async def test_x2_steps_of_its_own_are_put_in_under_names_that_nobody_has():
    wanted = [
        {"id": "wish", "tool": "flow.echo", "with": {"value": "rolls"}},
        {"id": "buy", "tool": "market.buy", "with": {"what": "${steps.wish.output}"}, "needs": ["wish"]},
    ]
    say = one_by_one(replan(failed_steps=["buy"], steps=wanted))
    result, [_], _ = await carried_out([WISH, GO, BUY, TELL], say)
    assert result.output == "got rolls from the market"
    assert {"wish_2", "buy_2"} <= set(result.steps)


async def test_x2_further_steps_come_after_the_agents_own():
    more = [{"id": "more", "tool": "market.buy", "with": {"what": "milk"}}]
    result, [revised], _ = await carried_out([WISH, GO, TELL | {"with": {"value": 1}}], one_by_one(replan(steps=more)))
    assert result.steps["more"].output == "milk from the market"
    assert revised.edits[0]["after"] == "go"


async def test_x2_what_is_refused_goes_back_and_can_be_mended():
    bad = [{"id": each, "tool": "market.buy", "with": {"what": each}} for each in ("a", "b")]
    good = [*bad, {"id": "buy", "tool": "flow.echo", "with": {"value": "${steps.a.output}"}, "needs": ["a"]}]
    say = one_by_one(replan(failed_steps=["buy"], steps=bad), replan(failed_steps=["buy"], steps=good))
    result, [refused, revised], asked = await carried_out([WISH, GO, BUY, TELL], say)
    assert result.output == "got a from the market"
    assert (type(refused), type(revised)) == (e.RevisionRefused, e.RunRevised)
    assert "several of the new steps could stand for what failed" in heard(asked)[0]
    assert "give one of them the id buy" in heard(asked)[0]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({}, "name `failed_steps`, or say `steps` or `edits`. The plan as it is:\ngo: scout; at work\nbuy: shop.buy"),
        ({"failed_steps": ["bye"]}, 'the plan has no step "bye"; did you mean "buy"?'),
        ({"failed_steps": ["go"]}, '"go" is at work; name steps that have failed, or that are still to come'),
        ({"failed_steps": ["inner"]}, '"inner" stands inside a map or a plan'),
        ({"steps": [{"id": "x", "tool": "shop.buy", "with": {"what": "y"}}]}, "x calls the tool 'shop.buy'; whoever"),
        ({"steps": [{"id": "x", "tool": "planning.replan", "with": {"reason": "y"}}]}, "the tool 'planning.replan'"),
        ({"steps": [{"id": "x", "tool": "market.buy", "with": {}}]}, "PRD1"),
        ({"steps": [{"id": "x", "tool": "market.buy", "with": {"what": "y"}, "needs": ["tell"]}]}, "which is not over"),
        ({"steps": [{"id": "x", "tool": "market.buy", "with": {"what": "y"}, "needs": ["who"]}]}, "which is not over"),
        ({"steps": [{"id": "x", "what": 7}]}, "PRD1"),
        ({"edits": [{"remove": "buy"}]}, "PRD1202"),
        ({"failed_steps": ["not an id"]}, "failed_steps"),
        ({"failed_steps": ["buy"], "otherwise": "doer"}, "there is no other way"),
    ],
)
async def test_x2_what_does_not_fit_is_refused_with_what_to_say_instead(said, why):
    each = {"id": "each", "map": [1], "steps": [{"id": "inner", "tool": "flow.echo", "with": {"value": 1}}]}
    gone = (
        {**BUY, "tool": "kiosk.buy", "with": {"what": "x"}} if "otherwise" in said else {**BUY, "with": {"what": "x"}}
    )
    steps = [GO, gone, TELL] if "otherwise" in said else [GO, gone, TELL, each]
    result, facts, asked = await carried_out(steps, one_by_one(replan(**said)))
    assert result.cause == "buy"
    assert not [each for each in facts if isinstance(each, e.RunRevised)]
    assert why in heard(asked)[0]


async def test_edits_are_taken_as_they_are():
    edits = [{"remove": "tell"}, {"replace": "buy", "step": {"id": "buy", "tool": "market.buy", "with": {"what": "x"}}}]
    result, [_], _ = await carried_out([WISH, GO, BUY, TELL], one_by_one(replan(edits=edits)))
    assert (result.output, "tell" in result.steps) == ("x from the market", False)


# ------------------------------------------------------------------------------- what stays

PAY = {"id": "pay", "tool": "cash.pay", "with": {"what": "x"}}
HELD = {**PAY, "policy": {"ask": ["irreversible"]}}
NOTE = {"id": "note", "tool": "flow.echo", "with": {"value": 1}}
SURE = {"id": "sure", "ask": "Shall we pay?"}
CALLS, CALLS_HELD = ({"id": "called", "plan": name} for name in ("sure", "held"))
TELLER = Agent(name="scout", tools=("cash.*", "flow.*"))


async def asked_after(steps, say, **more):
    """The questions and the steps of a run that waits for a person, and its revisions."""
    agents = [TELLER, PLANNER, DOER]
    here = {"tools": TOOLS, "agents": agents, "models": {"default": ScriptedModel(say)}, "agent_planning": True}
    async with Engine.open(**here) as engine:
        run = await engine.start(Plan.model_validate({"goal": "Get bread", "steps": steps, **more}))
        await run.rested()
        state = (await engine.host.runner(run.id)).state
        _, entries = await engine.journal.load(run.id)
        facts = [decode(each.type, each.body) for each in entries]
        return [*state.questions], state.cells, [each for each in facts if isinstance(each, e.RunRevised)]


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([GO, SURE, PAY], {"failed_steps": ["sure"]}),
        ([GO, NOTE, {**SURE, "ask": "${steps.note.output}?"}, PAY], {"failed_steps": ["note"]}),
        ([GO, NOTE, SURE, PAY], {"failed_steps": ["note", "sure"], "steps": [{**NOTE, "id": "other"}]}),
        ([GO, NOTE, SURE, PAY], {"failed_steps": ["sure"], "steps": [{**NOTE, "id": "other"}]}),
        ([GO, {"id": "both", "steps": [SURE]}, PAY], {"edits": [{"amend": "both", "fields": {"when": "false"}}]}),
        ([GO, {"id": "both", "steps": [SURE]}, PAY], {"failed_steps": ["both"]}),
        ([GO, NOTE, SURE, PAY], {"edits": [{"amend": "note", "fields": {"on": {"success": "pay"}}}]}),
    ],
)
async def test_x2_no_agent_takes_a_question_away_in_whatever_words(steps, said):
    questions, cells, revisions = await asked_after(steps, one_by_one(replan(**said)))
    assert (len(questions), revisions, "pay" in cells) == (1, [], False)


async def test_x2_where_a_step_is_planned_anew_the_question_about_it_is_asked_about_the_new_one():
    steps = [WISH, {**BUY, "recovery": {"logic": ["continue"]}}, GO, {**SURE, "ask": "${steps.buy.output}?"}, PAY]
    say = one_by_one(replan(failed_steps=["buy"], steps=[{**NOTE, "with": {"value": "rolls"}}]))
    questions, cells, [_] = await asked_after(steps, say)
    assert (len(questions), cells["note"].result.exit, "pay" in cells) == (1, "success", False)


@pytest.mark.parametrize("said", [{"edits": [{"amend": "pay", "fields": {"title": "Pay"}}]}, {"failed_steps": ["pay"]}])
async def test_x2_what_a_policy_wants_approved_is_asked_about_after_any_change(said):
    questions, cells, _ = await asked_after([GO, HELD], one_by_one(replan(**said)))
    assert (len(questions), cells["pay"].result) == (1, None)


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([GO, HELD], {"edits": [{"amend": "pay", "fields": {"policy": None}}]}),
        ([GO, HELD], {"edits": [{"replace": "pay", "step": PAY}]}),
        ([GO, HELD], {"edits": [{"remove": "pay"}, {"insert": PAY, "after": "go"}]}),
        (
            [GO, {"id": "all", "policy": HELD["policy"], "steps": [PAY]}],
            {"edits": [{"amend": "all", "fields": {"policy": None}}]},
        ),
        ([GO, {"id": "all", "steps": [HELD]}], {"edits": [{"replace": "all", "step": PAY}]}),
        ([GO, {"id": "all", "steps": [HELD]}], {"failed_steps": ["all"], "steps": [PAY]}),
    ],
)
async def test_x2_no_agent_lifts_a_policy(steps, said):
    questions, cells, revisions = await asked_after(steps, one_by_one(replan(**said)))
    assert (len(questions), revisions, cells["pay"].result) == (1, [], None)


async def test_x2_what_comes_in_the_place_of_a_step_has_its_policy():
    questions, cells, [revised] = await asked_after([GO, HELD], one_by_one(replan(failed_steps=["pay"], steps=[PAY])))
    assert (len(questions), cells["pay_2"].result) == (1, None)
    assert revised.edits[0]["step"]["policy"]["ask"] == ["irreversible"]


async def test_x2_no_agent_lifts_a_budget():
    group = {"id": "all", "budget": {"steps": 1, "then": "fail"}, "steps": [NOTE, {**NOTE, "id": "more"}]}
    say = one_by_one(replan(edits=[{"amend": "all", "fields": {"budget": None}}]))
    result, [refused], _ = await carried_out([GO, group], say)
    assert (result.failure.kind, type(refused)) == ("budget", e.RevisionRefused)
    assert 'budget of "all" is not for an agent to change' in refused.reason


@pytest.mark.parametrize("planner", ["tools", "planning"])
@pytest.mark.parametrize(
    "last", [SURE, {"id": "both", "steps": [SURE]}, HELD, {**NOTE, "budget": {"steps": 1}}, CALLS, CALLS_HELD]
)
async def test_x7_nobody_goes_on_without_a_plan_past_a_question_or_a_limit(planner, last):
    """An agent that does what is left in its own way would know of neither; drafted plans have such an agent, too."""
    gone = {**BUY, "tool": "kiosk.buy", "with": {"what": "x"}}
    more = {"adjust": {"planner": planner, "otherwise": "doer"}}
    plans = {name: Plan.model_validate({"steps": [step]}) for name, step in (("sure", SURE), ("held", HELD))}
    result, facts, _ = await carried_out([WISH, gone, last], lambda _: "no", plans=plans, **more)
    assert (result.status, result.failure.kind, result.unplanned) == ("failed", "logic", "")
    assert "nobody goes on without a plan where" in facts[-1].reason


# ------------------------------------------------------------------------------- who has it


async def test_x2_every_agent_has_it_where_plans_may_change_unless_it_does_without():
    quiet = Agent(name="quiet", replans=False, tools=("flow.*", "planning.*"))
    steps = [{**GO, "id": f"go_{n}", "agent": name} for n, name in enumerate(("scout", "quiet"))]
    _, _, asked = await carried_out(steps, one_by_one(), agents=[SCOUT, quiet])
    offered = [[tool.name for tool in each.offers] for each in asked]
    assert ["planning.replan" in each for each in offered] == [True, False]


async def test_x2_it_is_there_also_where_others_perform_the_tools():
    class Nobody:
        async def perform(self, attempt):
            raise AssertionError(attempt.call)

    model = ScriptedModel(one_by_one(replan(edits=[{"remove": "buy"}])))
    here = {"agents": [SCOUT], "models": {"default": model}, "performer": Nobody(), "agent_planning": True}
    async with Engine.open(**here) as engine:
        result = await (await engine.start(Plan.model_validate({"steps": [GO, BUY | {"with": {}}]}))).result()
    assert (result.output, [*result.steps]) == ("done", ["go", "go/1.1", "go/1.2", "go/1.3"])


async def test_e19_with_the_gate_closed_nobody_has_it_and_who_names_it_is_told_how_to_open_it():
    named = Agent(name="scout", tools=("planning.replan",))
    all_ = Agent(name="all", tools=("*",))
    steps = [GO, {**GO, "id": "other", "agent": "all"}, {"id": "buy", "tool": "flow.echo", "with": {"value": 1}}]
    say = one_by_one(replan(failed_steps=["buy"]))
    result, facts, asked = await carried_out(steps, say, planning=False, agents=[named, all_])
    assert (result.output, facts) == (1, [])
    assert "agent_planning=True" in result.steps["go/1.2"].failure.message
    assert "planning.replan" not in [tool.name for tool in asked[2].offers]


async def test_x2_an_agent_that_wants_ever_other_plans_comes_to_an_end():
    def say(request):
        turn = sum(isinstance(each, Answered) for each in request.remarks)
        return replan(steps=[{"id": f"more_{turn}", "tool": "market.buy", "with": {"what": f"{turn}"}}])

    agent = SCOUT.model_copy(update={"options": {"rounds": 12}})
    plan = {"adjust": {"most": 5}, "recovery": {"stalled": ["continue"]}}
    result, facts, asked = await carried_out([GO], say, agents=[agent], **plan)
    assert (len(facts), len(asked)) == (5, 12)
    assert result.steps["go"].failure.kind == "stalled"
    assert "as often by itself as it may" in heard(asked)[5]


# ------------------------------------------------------------------------------- by a planner


async def test_e12_a_planner_finds_another_way_with_what_is_known_and_what_is_done_stays():
    result, revisions, asked = await carried_out([WISH, BUY, TELL], lambda _: BREAD, adjust={"planner": "planning"})
    assert (result.output, result.missing) == ("got bread from the market", ("buy",))
    assert [(each.by, each.after, each.kind) for each in revisions] == [
        ("planner", "buy", "logic"),
        ("planning.replan", "buy_take", ""),
    ]
    told = asked[0].remarks[0].text
    assert "buy failed (logic: the shop is closed)" in told
    assert "tell: flow.echo; to come" in told
    assert '"step":"wish","exit":"success","output":"bread"' in told
    assert result.steps["wish"].visits == 1


async def test_e12_a_planner_may_use_what_the_plan_itself_was_given():
    inputs = {"wish": {"type": "string", "description": "What to buy.", "default": "rye bread"}}
    way = {"steps": [{"id": "buy", "tool": "market.buy", "with": {"what": "${inputs.wish}"}}]}
    more = {"adjust": {"planner": "planning"}, "inputs": inputs}
    result, _, asked = await carried_out([WISH, BUY, TELL], lambda _: way, **more)
    assert result.output == "got rye bread from the market"
    assert '"description":"What to buy."' in asked[0].remarks[0].text


async def test_e12_in_a_graph_what_needs_it_waits_and_the_others_go_on():
    steps = [WISH, {**BUY, "needs": ["wish"]}, {**WISH, "id": "side", "needs": []}, {**TELL, "needs": ["buy"]}]
    more = {"adjust": {"planner": "planning"}, "output": "${steps.tell.output}"}
    result, [_, _], _ = await carried_out(steps, lambda _: BREAD, **more)
    assert (result.output, result.steps["side"].exit) == ("got bread from the market", "success")


async def test_e12_what_the_run_refuses_goes_back_to_the_planner():
    bad = {"steps": [{"id": each, "tool": "market.buy", "with": {"what": each}} for each in ("a", "b")]}

    def say(request):
        return BREAD if "several of the new steps" in request.remarks[-1].text else bad

    result, [_, refused, _], asked = await carried_out([WISH, BUY, TELL], say, adjust={"planner": "planning"})
    assert result.output == "got bread from the market"
    assert "\nrefused: the plan is as it was: several of the new steps" in asked[-1].remarks[0].text
    assert isinstance(refused, e.RevisionRefused)
    assert result.steps["buy_draft"].visits == 2


async def test_e12_where_the_planner_fails_tools_with_the_same_skills_stand_in_and_it_is_said():
    result, [_, revised], asked = await carried_out([WISH, BUY, TELL], lambda _: "no", adjust={"planner": "planning"})
    assert (result.output, len(asked)) == ("got bread from the market", 3)
    assert "planning finds no plan: there is no plan that can be carried out" in revised.why


async def test_e12_where_nobody_finds_another_way_it_fails_as_it_did_and_says_who_was_asked():
    gone = {**BUY, "tool": "kiosk.buy", "with": {"what": "x"}}
    result, facts, _ = await carried_out([WISH, gone, TELL], lambda _: "no", adjust={"planner": "planning"})
    assert (result.status, result.failure.kind) == ("failed", "logic")
    assert [type(each) for each in facts] == [e.RunRevised, e.RevisionRefused]  # nobody plans how to plan
    for words in ("buy failed (logic: the kiosk is gone)", "planning finds no plan", "there is no other way"):
        assert words in result.failure.message


async def test_x7_what_is_left_is_done_without_a_plan_where_the_plan_says_by_whom():
    def say(request):
        if request.remarks[0].text.startswith("Goal:"):
            return "no"
        turn = sum(isinstance(each, Answered) for each in request.remarks)
        return calls("market.buy", what="rolls") if not turn else "rolls it is"

    gone = {**BUY, "tool": "kiosk.buy", "with": {"what": "x"}}
    more = {"adjust": {"planner": "planning", "otherwise": "doer"}, "output": "${steps.tell.output}"}
    result, [_, revised], asked = await carried_out([WISH, gone, TELL], say, **more)
    assert (result.output, "tell" in result.steps) == ("rolls it is", False)
    assert revised.why.endswith("it goes on without a plan")
    assert "there is no other way" in result.unplanned
    assert asked[-1].remarks[0].text.startswith("Get bread\n\nThe plan for this could not be carried out")


async def test_e12_without_a_model_tools_stand_in():
    result, [revised], asked = await carried_out([WISH, BUY, TELL], lambda _: "no", adjust={"planner": "tools"})
    assert (result.output, revised.by, asked) == ("got bread from the market", "planner", [])


async def test_x8_no_tool_is_tried_twice_in_the_place_of_another():
    @tool(name="mill.buy", repeat="safe", effects=[], skills=["milling"])
    def mill(what: str) -> str:
        """Never works."""
        raise ToolFailure("logic", "no wind")

    @tool(name="barn.buy", repeat="safe", effects=[], skills=["milling"])
    def barn(what: str) -> str:
        """Never works either."""
        raise ToolFailure("logic", "no corn")

    plan = {"steps": [{**BUY, "tool": "mill.buy", "with": {"what": "x"}}], "adjust": {"planner": "tools"}}
    async with Engine.open(tools=[mill, barn], agent_planning=True) as engine:
        result = await (await engine.start(Plan.model_validate(plan))).result()
    assert (result.status, [*result.steps]) == ("failed", ["buy", "buy_2"])
    assert result.failure.message.startswith("no corn; the planner tools was asked for another way")


async def test_x8_nor_where_one_stands_in_for_one_that_stood_in():
    def mill(name):
        @tool(name=name, repeat="safe", effects=[], skills=["milling"])
        def grind() -> str:
            """Never works."""
            raise ToolFailure("logic", name)

        return grind

    plan = {"steps": [{"id": "buy", "tool": "a.mill"}], "adjust": {"planner": "tools"}}
    async with Engine.open(tools=[mill(f"{each}.mill") for each in "abc"], agent_planning=True) as engine:
        result = await (await engine.start(Plan.model_validate(plan))).result()
    assert [each.failure.message.split(";")[0] for each in result.steps.values()] == ["a.mill", "b.mill", "c.mill"]


@pytest.mark.parametrize("kind", ["cancelled", "budget"])
async def test_e12_nobody_plans_round_what_was_stopped(kind):
    @tool(name="bank.look", repeat="safe", effects=["reads"], skills=["looking"])
    def look() -> str:
        """Ends so."""
        raise ToolFailure(kind, "the line broke")

    @tool(name="cash.look", repeat="safe", effects=["reads"], skills=["looking"])
    def other() -> str:
        """Could stand in."""
        return "seen"

    plan = {"steps": [{"id": "look", "tool": "bank.look"}], "adjust": {"planner": "tools"}}
    async with Engine.open(tools=[look, other], agent_planning=True) as engine:
        result = await (await engine.start(Plan.model_validate(plan))).result()
    assert (result.failure.kind, [*result.steps]) == (kind, ["look"])


async def test_e12_a_plan_that_names_nobody_is_not_planned_anew():
    result, facts, _ = await carried_out([WISH, BUY, TELL], lambda _: BREAD)
    assert (result.status, facts) == ("failed", [])


async def test_a_planner_who_is_not_there_is_told():
    result, [refused], _ = await carried_out([WISH, BUY, TELL], lambda _: BREAD, adjust={"planner": "nobody"})
    assert (result.status, refused.by) == ("failed", "planner")
    assert refused.reason == 'there is no agent "nobody" that could plan'
    assert result.failure.kind == "logic"
    assert result.failure.message == (
        'the shop is closed; the planner nobody was asked for another way: there is no agent "nobody" that could plan'
    )


@pytest.mark.parametrize("steps", [[GONE], [{"id": "all", "parallel": [GONE], "on": {"failure": "recover"}}]])
async def test_e12_where_no_tool_stands_in_it_fails_as_it_did_and_says_who_was_asked(steps):
    result, [refused], _ = await carried_out([WISH, *steps], lambda _: "no", adjust={"planner": "tools"})
    assert (result.failure.kind, result.cause, refused.by) == ("logic", "buy", "planner")
    assert result.failure.message == f"the kiosk is gone; the planner tools was asked for another way: {refused.reason}"
    assert refused.reason.startswith("there is no other way: buy calls nothing")


async def test_e12_a_group_that_fails_by_itself_says_so_too():
    """Its time is up: no step in it is to blame, and the planner is asked about the group."""
    slow = {"id": "slow", "timeout": "10ms", "steps": [{"id": "nap", "wait": "1h"}]}
    result, [refused], _ = await carried_out([slow], lambda _: "no", adjust={"planner": "tools"})
    assert (result.failure.kind, refused.after) == ("timeout", "slow")
    assert "the planner tools was asked for another way: there is no other way" in result.failure.message


async def test_e12_whoever_answers_for_a_failure_reads_who_was_asked():
    plan = {"steps": [GONE], "adjust": {"planner": "tools"}, "recovery": {"logic": ["replan", "ask"]}}
    async with Engine.open(tools=TOOLS, agent_planning=True) as engine:
        run = await engine.start(Plan.model_validate(plan))
        await run.rested()
        [asked] = (await engine.host.runner(run.id)).state.questions.values()
        await run.cancel()
    assert "the planner tools was asked for another way" in str(asked)


# ------------------------------------------------------------------------------- without a plan, once


def paying_and_breaking(paid):
    """An agent that does what cannot be undone, and breaks when it thinks on; and a planner that has no plan."""

    @tool(name="till.pay", repeat="never", effects=["irreversible"])
    def till(what: str) -> str:
        """Pay at the till."""
        paid.append(what)
        return "paid"

    def say(request):
        if request.remarks[0].text.startswith("Goal:"):
            return "no"
        if any(isinstance(each, Answered) for each in request.remarks):
            raise RuntimeError("the line broke")
        return calls("till.pay", what="bread")

    return till, say


ALL = {"unknown": ["replan", "fail"], "logic": ["replan", "fail"]}


@pytest.mark.parametrize("planner", ["tools", "planning"])
@pytest.mark.parametrize("steps", [[GONE, TELL], [{"id": "all", "steps": [GONE], "recovery": ALL}]])
async def test_x7_nobody_plans_round_who_has_failed_without_a_plan(planner, steps):
    """It may have done anything, so it is tried once in a run, and its failure is the end of that way."""
    paid = []
    till, say = paying_and_breaking(paid)
    agents = [PLANNER, Agent(name="doer", tools=("till.pay",))]
    plan = {"goal": "Get bread", "steps": steps, "adjust": {"planner": planner, "otherwise": "doer"}}
    async with Engine.open(
        tools=[*TOOLS, till], agents=agents, models={"default": ScriptedModel(say)}, agent_planning=True
    ) as engine:
        result = await (await engine.start(Plan.model_validate(plan))).result()
    assert (paid, result.status) == (["bread"], "failed")
    assert [name for name in result.steps if name.startswith("rest") and "/" not in name] == ["rest"]
    assert result.steps["rest"].failure.kind == "unknown"
    assert {name for name in result.steps if name.endswith("_plan")} <= {"buy_plan"}
    assert "the line broke" in result.failure.message


async def test_x7_after_it_the_ladder_goes_on_to_a_person():
    till, say = paying_and_breaking([])
    plan = {"goal": "Get bread", "steps": [GONE], "adjust": {"planner": "tools", "otherwise": "doer"}}
    doer, model = Agent(name="doer", tools=("till.pay",)), ScriptedModel(say)
    async with Engine.open(
        tools=[*TOOLS, till], agents=[doer], models={"default": model}, agent_planning=True
    ) as engine:
        run = await engine.start(Plan.model_validate({**plan, "recovery": {"unknown": ["replan", "ask"]}}))
        await run.rested()
        state = (await engine.host.runner(run.id)).state
        assert [each.step.split("/")[0] for each in state.questions.values()] == ["rest"]
        await run.cancel()


async def test_x7_what_fails_later_is_not_given_to_it_a_second_time():
    """It does what is left of a group; for what fails after that, nobody is left."""
    steps = [{"id": "one", "steps": [GONE]}, {**GONE, "id": "late"}]
    plan = {"adjust": {"planner": "tools", "otherwise": "doer"}}
    result, facts, asked = await carried_out(steps, lambda _: "done", **plan)
    assert [type(each) for each in facts] == [e.RunRevised, e.RevisionRefused]
    assert (result.status, result.cause, result.failure.kind, len(asked)) == ("failed", "late", "logic", 1)


async def test_x7_nor_is_it_by_a_planner_that_finds_nothing():
    def say(request):
        return "no" if request.remarks[0].text.startswith("Goal:") else "done"

    steps = [{"id": "one", "steps": [GONE]}, {**GONE, "id": "late"}]
    result, facts, _ = await carried_out(steps, say, adjust={"planner": "planning", "otherwise": "doer"})
    assert [each.by for each in facts] == ["planner", "planning.replan"] * 2
    assert isinstance(facts[-1], e.RevisionRefused)
    assert (result.status, result.failure.kind, "rest_2" in result.steps) == ("failed", "logic", False)


async def test_x7_a_name_that_nobody_has_is_tried_once():
    plan = {"adjust": {"planner": "tools", "otherwise": "zzz"}, "recovery": {"unavailable": ["replan", "fail"]}}
    result, [_], _ = await carried_out([GONE, TELL], lambda _: "no", **plan)
    assert (result.status, result.failure.kind, [*result.steps]) == ("failed", "unavailable", ["buy", "rest"])


async def test_e12_planning_anew_comes_to_an_end():
    again = {"steps": [{"id": "buy", "tool": "shop.buy", "with": {"what": "x"}}]}
    more = {"adjust": {"planner": "planning", "most": 6}}
    result, facts, _ = await carried_out([WISH, BUY, TELL], lambda _: again, **more)
    assert (result.status, len(facts)) == ("failed", 6)


async def test_e12_what_a_planner_wants_to_call_and_was_not_shown_is_refused():
    """A draft says by schema which tools it may call; a plan that lends fewer lends no more to its planner."""
    step = {"id": "ask", "tool": "planning.replan", "with": {"reason": "?", "tools": ["market.*"], "steps": []}}
    step["with"]["steps"] = [{"id": "x", "tool": "shop.buy", "with": {"what": "y"}}]
    result, [refused], _ = await carried_out([step], lambda _: "no")
    assert result.status == "failed"
    assert "x calls the tool 'shop.buy'; whoever asks for it may call: market.*" in refused.reason


async def test_who_drafts_without_tools_of_its_own_is_shown_all_but_those_that_plan():
    """That every agent has `planning.replan` does not keep a planner from planning with what there is."""
    plan = {"steps": [{"id": "draft", "agent": "planning", "task": "Get bread"}]}
    async with Engine.open(
        tools=TOOLS,
        agents=[PLANNER],
        models={
            "default": (
                model := ScriptedModel([BREAD | {"steps": [{"id": "a", "tool": "market.buy", "with": {"what": "x"}}]}])
            )
        },
        agent_planning=True,
    ) as engine:
        assert (await (await engine.start(Plan.model_validate(plan))).result()).ok
    assert "- market.buy(what: string)" in model.asked[0].instructions
    assert "planning.replan" not in model.asked[0].instructions
