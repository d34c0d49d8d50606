"""T3: what comes next is chosen at run time; errors lead to recovery, and recovery may end with a person."""

import asyncio
import re

import pytest
from branching_scene import GOAL, PLANS, SCRIPT, choice_in, plans
from snapshots import difference, snapshot
from ways import BRANCH, TEST, Workshop, plan_of, told_in

from perdure import Engine
from perdure.core.calls import Failure
from perdure.kits.coding.report import markdown
from perdure.testing.models import calls

STEPS = (
    "shape_planning", "shape_choose", "shape_implement", "shape_write_tests", "shape_refine", "shape_error_recovery",
    "shape_manual_intervention", "shape_used_up", "shape_stopped", "shape_finish",
)  # fmt: skip


def names(done):
    return [step.removeprefix("shape_") for step, _ in done.path(*STEPS)]


def test_t3_the_next_step_is_chosen_each_time_and_work_returns_to_planning(tmp_path):
    done = Workshop(tmp_path, SCRIPT).carry("branching", inputs=GOAL)
    turn = ["planning", "choose"]
    assert names(done) == [*turn, "write_tests", *turn, "implement", *turn, "finish"]
    done.assert_kept()
    assert done.changed() == {"calc.py", "test_texts.py"}
    assert done.log() == [GOAL["goal"]]
    assert [each.tests for each in done.report.rounds] == ["all 2 tests pass", "all 3 tests pass", "all 3 tests pass"]
    chosen = [request for request in done.asked if request.choices]
    assert {tuple(each.choices) for each in chosen} == {("implement", "write_tests", "refine", "finish")}


def test_t3_work_that_fails_returns_to_planning_which_sees_why(tmp_path):
    def plan(request):
        told = told_in(request)
        return PLANS["mend"] if "the editor is broken" in told and "refuses" not in told else plans(request)

    script = {**SCRIPT, "Say what to do next": plan, PLANS["write"]: Failure("invalid", "the editor is broken")}
    done = Workshop(tmp_path, script).carry("branching", inputs=GOAL)
    done.assert_kept()
    assert done.path("shape_write_tests", "shape_implement") == [
        ("shape_write_tests", "failure"),
        ("shape_implement", "success"),
    ]
    assert names(done)[2:4] == ["write_tests", "planning"]


def test_t3_a_choice_that_is_not_declared_is_invalid_and_leads_to_recovery(tmp_path):
    def choose(request):
        return "dance" if "bad luck" not in told_in(request) else choice_in(told_in(request))

    done = Workshop(tmp_path, {**SCRIPT, "What comes next": choose}).carry("branching", inputs=GOAL)
    done.assert_kept()
    assert names(done)[:4] == ["planning", "choose", "error_recovery", "planning"]
    failed = next(each for each in done.visits if each.step == "shape_choose")
    assert (failed.exit, failed.failure.kind) == ("failure", "invalid")
    assert "dance" in failed.failure.message


def test_t3_failed_planning_leads_to_recovery(tmp_path):
    def plan(request):
        return plans(request) if "bad luck" in told_in(request) else Failure("invalid", "no idea")

    done = Workshop(tmp_path, {**SCRIPT, "Say what to do next": plan}).carry("branching", inputs=GOAL)
    done.assert_kept()
    assert names(done)[:3] == ["planning", "error_recovery", "planning"]
    assert "no idea" in done.told("Something went wrong")[0]


STUCK = {
    **SCRIPT,
    "Say what to do next": Failure("invalid", "no idea"),
    "Something went wrong": {"verdict": "give_up", "answer": "Nobody can plan this."},
}


@pytest.mark.parametrize(
    "recovery", [STUCK["Something went wrong"], Failure("invalid", "no critic")], ids=["verdict", "fails"]
)
def test_t3_recovery_can_end_with_a_person_who_stops_it(tmp_path, recovery):
    done = Workshop(tmp_path, {**STUCK, "Something went wrong": recovery}).carry("branching", ["stop"], GOAL)
    assert names(done) == ["planning", "error_recovery", "manual_intervention", "stopped"]
    done.assert_nothing_kept("somebody has stopped it")
    assert "It could not be done" in markdown(done.report)
    assert len(done.report.rounds) == 1


def test_t3_the_question_waits_while_nobody_is_there_and_is_answered_elsewhere(tmp_path):
    shop = Workshop(tmp_path, STUCK)
    before = snapshot(shop.repo)

    async def ask():
        async with Engine.open(tmp_path / "runs.db", **shop.settings()) as engine:
            run = await engine.start(plan_of("branching"), {**GOAL, "branch": BRANCH, "test": TEST})
            return run.id, (await run.rested()).status

    async def answer(id_):
        async with Engine.open(tmp_path / "runs.db", resume=True, **shop.settings()) as engine:
            run = engine.run(id_)
            await run.answer("q_shape_manual_intervention_1", "stop")
            return await run.result()

    id_, status = asyncio.run(ask())
    assert status == "waiting"
    assert asyncio.run(answer(id_)).failure.message == "it came no further, and somebody has stopped it"
    assert difference(before, snapshot(shop.repo)) == {}


def test_t3_a_person_can_let_it_go_on_and_take_what_there_is(tmp_path):
    def plan(request):
        told = told_in(request)
        return PLANS["write"] if "A test for texts" not in told and '"again"' in told else Failure("invalid", "no idea")

    script = {
        **STUCK,
        "Say what to do next": plan,
        PLANS["write"]: [calls("files.write", path="notes.txt", text="texts\n"), "A test for texts is there."],
    }
    done = Workshop(tmp_path, script).carry("branching", ["again", "take"], GOAL)
    done.assert_kept()
    stuck = ["planning", "error_recovery", "manual_intervention"]
    assert names(done) == [*stuck, "planning", "choose", "write_tests", *stuck, "finish"]
    assert done.changed() == {"notes.txt"}


def busy(plan):
    """Somebody who finds work for ever, and never does any."""
    return {**SCRIPT, "Say what to do next": plan, "First write": "Nothing was to be written."}


def numbered(request):
    """A plan of which the number is one more than that of the last."""
    last = re.search(r"texts. Turn (\d+)", told_in(request))
    return f"{PLANS['write']} Turn {int(last.group(1)) + 1 if last else 1}"


def test_t3_who_plans_for_ever_is_bounded_and_a_person_stops_it(tmp_path):
    done = Workshop(tmp_path, busy(numbered)).carry("branching", ["stop"], GOAL)
    assert names(done) == [*["planning", "choose", "write_tests"] * 12, "used_up", "stopped"]
    done.assert_nothing_kept("somebody has stopped it")


def test_t3_who_goes_in_circles_is_found_out_and_a_person_stops_it(tmp_path):
    done = Workshop(tmp_path, busy(PLANS["write"])).carry("branching", ["fail"], GOAL)
    assert names(done).count("planning") < 6
    done.assert_nothing_kept("everything came out the same")
