"""E4 E18 E23: effects are taken back in reverse order of completion, with retries, through a crash, and with a report."""

import itertools

import pytest
from driven import LATER, NO, driven, tool

from perdure.core import events as e
from perdure.core.calls import Approval, Failure, Outcome
from perdure.core.refusing import NoStep, Over, Refused
from perdure.core.seeing import with_secrets
from perdure.core.values import Value
from perdure.testing.worlds import HANGS, LOST, Takes, World


def deed(id_, **more):
    """A step that can be taken back."""
    return tool(id_, undo={"tool": "un.do", "with": {"of": id_, "id": "${output}"}}, **more)


BACK = {"id": "back", "rollback": "mark"}
MARK = {"id": "mark", "checkpoint": True}

# ------------------------------------------------------------------------------- rollback


def test_e4_a_rollback_goes_back_to_the_checkpoint_in_reverse_order():
    group = {"id": "g", "parallel": [deed("b"), deed("c")]}
    plan = [
        deed("before"),
        MARK,
        deed("a"),
        group,
        tool("d", on={"failure": "back"}),
        {"id": "end", "done": True},
        BACK,
        {"id": "f", "fail": True},
    ]
    world = driven(plan, {"a": 1, "b": Takes(2, 2), "c": Takes(1, 3), "d": NO})
    assert world.done("undo") == ["b", "c", "a"]
    assert next(made.call.arguments for made in world.made if made.deed == "undo") == {"of": "b", "id": 2}
    assert (world.status, world.state.cells["a"].result.undone, world.state.cells["before"].result.undone) == (
        "failed",
        True,
        False,
    )


def test_what_was_undone_is_null():
    plan = [MARK, deed("a"), BACK, tool("z", **{"with": {"value": "${steps.a.output}"}})]
    assert driven(plan, {"a": 1}).output is None


def test_every_visit_of_a_loop_is_taken_back():
    inner = {"id": "g", "max_visits": 2, "steps": [deed("a")], "on": {"success": "g", "exhausted": "back"}}
    world = driven([MARK, inner, BACK], {"a": [1, 2]})
    assert [made.call.arguments["id"] for made in world.made if made.deed == "undo"] == [2, 1]


def test_a_checkpoint_that_was_passed_again_counts():
    plan = [
        {**MARK, "max_visits": 2, "on": {"exhausted": "done"}},
        deed("a", on={"failure": "back"}),
        tool("t", on={"failure": "mark"}),
        BACK,
    ]
    world = driven(plan, {"a": [1, NO], "t": NO})
    assert world.done("undo") == []


def test_a_checkpoint_that_was_not_passed_takes_nothing_back():
    assert driven([{**MARK, "when": "false"}, deed("a"), BACK]).done("undo") == []
    assert driven([deed("a", on={"success": "back"}), MARK, BACK]).done("undo") == []


def test_a_rollback_in_a_group_takes_back_what_was_done_around_it():
    plan = [MARK, deed("a"), {"id": "g", "steps": [deed("b"), BACK]}]
    assert driven(plan).done("undo") == ["b", "a"]


def test_nothing_is_taken_back_twice():
    plan = [MARK, deed("a"), BACK, {"id": "again", "rollback": "mark"}]
    assert driven(plan).done("undo") == ["a"]


# ------------------------------------------------------------------------------- what has something to take back


@pytest.mark.parametrize(
    ("step", "gives", "undone"),
    [
        (deed("a"), 1, True),
        (deed("a", on={"failure": "next"}), NO, False),
        (deed("a", accept=["output == 2"], on={"failure": "next"}), 1, True),
        ({"id": "a", "steps": [tool("in")], "undo": {"tool": "un.do"}}, 1, True),
        (
            {
                "id": "a",
                "steps": [tool("in")],
                "undo": {"tool": "un.do"},
                "accept": ["false"],
                "on": {"failure": "next"},
            },
            1,
            False,
        ),
        ({"id": "a", "map": [1, 2], "steps": [tool("in")], "undo": {"tool": "un.do"}}, 1, True),
    ],
)
def test_e18_what_was_done_can_be_taken_back_even_if_it_was_not_good_enough(step, gives, undone):
    world = driven([MARK, step, BACK], {"a": gives})
    assert world.done("undo") == (["a"] if undone else [])


@pytest.mark.parametrize(
    "call", [{"model": "weak", "prompt": "Undo ${output}"}, {"agent": "mender", "task": "Undo ${output}"}]
)
def test_models_and_agents_may_undo(call):
    world = driven([MARK, tool("a", undo=call), BACK], {"a": 5})
    assert "Undo 5" in str(world.made[-1].call)


def test_a_call_with_large_arguments_is_kept_apart():
    plan = [MARK, tool("a", undo={"tool": "un.do", "with": {"text": "${output}"}}), BACK]
    world = driven(plan, {"a": "x" * 9000})
    assert world.made[-1].call.arguments == {"text": "x" * 9000}
    assert max(len(body) for _, body, _ in world.facts) < 1000


# ------------------------------------------------------------------------------- tries


def test_taking_back_has_tries_of_its_own():
    world = driven([MARK, deed("a", retry={"attempts": 3, "wait": 1, "jitter": 0}), BACK], {"a!": [LATER, LOST, 1]})
    assert (world.status, len(world.done("undo"))) == ("succeeded", 3)
    times = [made.at for made in world.made if made.deed == "undo"]
    assert [after - before for before, after in itertools.pairwise(times)] == [1000, 1000], (
        "one that was lost was no try"
    )


@pytest.mark.parametrize(("losses", "status"), [(10, "taken back"), (11, "kept")])
def test_a_process_that_dies_while_it_takes_back_was_no_try(losses, status):
    world = driven([MARK, deed("a"), BACK], {"a!": [*[LOST] * losses, 1]})
    assert [each.step for each in world.find(e.EffectKept)] == (["a"] if status == "kept" else [])


def test_e4_what_could_not_be_taken_back_is_said():
    plan = [MARK, deed("a"), deed("b", retry={"attempts": 1}), BACK]
    world = driven(plan, {"b!": NO})
    [kept] = world.find(e.EffectKept)
    assert (kept.step, kept.failure, world.done("undo")) == ("b", NO, ["b", "a"])
    assert (world.status, world.failure.message) == ("failed", "could not be taken back: b")


def test_an_undo_whose_arguments_cannot_be_made_is_kept():
    plan = [MARK, tool("a", undo={"tool": "un.do", "with": {"x": "${output.id}"}}), deed("b"), BACK]
    world = driven(plan, {"a": 1})
    assert (world.done("undo"), [each.step for each in world.find(e.EffectKept)]) == (["b"], ["a"])


@pytest.mark.parametrize(("repeat", "kept"), [("never", 1), ("keyed", 0)])
def test_an_undo_that_must_not_be_repeated_is_not(repeat, kept):
    world = driven([MARK, deed("a"), BACK], {"a!": [LOST, 1]}, repeat=repeat)
    assert len(world.find(e.EffectKept)) == kept


def test_an_undo_that_hangs_is_stopped_and_tried_again():
    world = driven(
        [MARK, deed("a"), BACK], {"a!": [HANGS, 1]}, seconds=lambda call: 5 if call.name == "un.do" else None
    )
    assert (world.status, len(world.find(e.AttemptStopping))) == ("succeeded", 1)


def test_nothing_is_taken_back_while_the_run_is_paused():
    world = World({"steps": [MARK, tool("w"), deed("a"), BACK]}, {"a": Takes(1), "a!": 1}, forgetful=True).start()
    world.step()
    world.pause()
    world.pass_time(5)
    world.send(e.AttemptEnded(step="a"))
    assert world.find(e.AttemptStarted)[-1].deed == "do"
    world.resume()
    assert world.run().done("undo") == ["a"]


def test_progress_of_an_undo_is_no_progress_of_the_step():
    world = World({"steps": [MARK, deed("a"), BACK]}, {"a!": HANGS}, forgetful=True).run()
    world.send(e.AttemptProgressed(step="a", deed="undo", fraction=0.5))
    assert world.state.cells["a"].work.fraction == 0.0


# ------------------------------------------------------------------------------- rule 12: losers and regions

RACE = {"id": "g", "join": "any", "parallel": [{"id": "s", "steps": [deed("a"), tool("b")]}, tool("c")]}


@pytest.mark.parametrize(("losers", "undone"), [({}, ["a"]), ({"losers": "keep"}, [])])
def test_rule_12_what_losers_did_is_undone_before_the_group_ends(losers, undone):
    world = driven([{**RACE, **losers}, tool("z")], {"b": HANGS, "c": Takes(1)})
    assert (world.done("undo"), world.status) == (undone, "succeeded")
    assert world.done().index("z") == len(world.done()) - 1


def test_the_losers_of_plans():
    inner = {key: value for key, value in RACE.items() if key in {"join", "parallel"}}
    for plan in (inner, [{"id": "p", "plan": inner}], [{"id": "p", "plan": "named"}]):
        assert driven(plan, {"b": HANGS, "c": Takes(1)}, plans={"named": inner}).done("undo")[-1].endswith("a")


def test_a_loser_that_finished_while_it_was_stopped_is_undone():
    world = World({"steps": [{"id": "g", "join": "any", "parallel": [deed("a"), tool("c")]}]}, forgetful=True).start()
    world.send(e.AttemptEnded(step="c"))
    world.send(e.AttemptEnded(step="a", output=e.Value(data=9)))
    assert world.run().done("undo") == ["a"]


def test_what_a_loser_did_in_an_earlier_round_stays():
    race = {"id": "g", "join": "any", "max_visits": 2, "parallel": [deed("a"), tool("c")], "on": {"success": "again"}}
    again = {
        "id": "again",
        "decide": "steps.g.visits < 2 ? 'more' : 'enough'",
        "choices": ["more", "enough"],
        "on": {"more": "g", "enough": "done"},
    }
    world = driven([race, again], {"a": [Takes(1, 1), HANGS], "c": [HANGS, Takes(1, 2)]})
    assert (world.done("undo"), world.status) == ([], "succeeded")


def test_rule_12_a_cancelled_region_is_undone_and_a_cancelled_run_is_not():
    plan = {"steps": [{"id": "g", "on": {"cancelled": "next"}, "steps": [deed("a"), tool("b")]}]}
    region = World(plan, {"b": HANGS}, forgetful=True).run()
    region.cancel("g")
    assert (region.run().status, region.done("undo")) == ("succeeded", ["a"])
    run = World(plan, {"b": HANGS}, forgetful=True).run()
    run.cancel()
    assert (run.run().status, run.done("undo")) == ("cancelled", [])


def test_rule_12_cancel_with_undo_is_a_rollback():
    world = World(
        {"steps": [deed("a"), {"id": "g", "steps": [deed("b"), tool("c")]}]}, {"c": HANGS}, forgetful=True
    ).run()
    world.cancel(exit="rolled_back")
    assert (world.run().status, world.done("undo")) == ("rolled_back", ["b", "a"])


def test_a_paused_run_that_is_cancelled_ends():
    world = World({"steps": [deed("a"), tool("c")]}, {"c": HANGS}, forgetful=True).run()
    world.pause()
    world.pass_time(9)
    world.cancel(exit="rolled_back")
    assert (world.run().status, world.done("undo")) == ("rolled_back", ["a"])


def test_a_rollback_that_is_stopped_finishes_the_try_it_is_at():
    plan = {"steps": [MARK, deed("a"), {**BACK, "on": {"cancelled": "next"}}]}
    world = World(plan, {"a!": HANGS}, forgetful=True).run()
    world.cancel("back")
    assert world.status == "running"
    world.send(e.AttemptEnded(step="a", deed="undo", exit="failure", failure=Failure("logic", "no")))
    assert (world.status, world.exit_of("back")) == ("succeeded", "cancelled")


def test_a_cancelled_leaf_inside_a_stopping_region():
    plan = {
        "steps": [
            {
                "id": "g",
                "parallel": [deed("a"), deed("b"), {"id": "h", "steps": [deed("c"), tool("d")]}],
                "on": {"cancelled": "next"},
            }
        ]
    }
    world = World(plan, {"b": HANGS, "d": HANGS}, forgetful=True).run()
    world.cancel("h")
    world.cancel("g")
    assert (world.run().status, world.done("undo")) == ("succeeded", ["c", "a"])


# ------------------------------------------------------------------------------- in the tool's own way


OWN = {"undo": {"x.y": ("path", "missing")}}


def test_e18_a_tool_takes_back_in_its_own_way_what_it_gave():
    plan = [tool("a", **{"with": {"path": "p", "text": "long"}}), tool("b", **{"with": {"path": "q"}})]
    world = driven(plan, {"a": {"old": 1}, "b": 2}, **OWN)
    assert [each.undo for each in world.find(e.StepEnded)] == [
        {"own": "x.y", "with": {"path": "p"}},
        {"own": "x.y", "with": {"path": "q"}},
    ]
    world.send(e.RunStopping(exit="rolled_back"))
    effects = list(world.state.effects.values())
    assert [each.output.load(world.read) for each in effects] == [{"old": 1}, 2]
    assert (world.run().status, world.done("undo")) == ("rolled_back", ["b", "a"])


def test_a_large_argument_that_is_needed_to_take_back_is_kept_apart():
    world = driven([tool("a", **{"with": {"path": "p" * 20_000}})], {"a": 1}, **OWN)
    [ended] = world.find(e.StepEnded)
    assert list(ended.undo) == ["sha256"]
    world.send(e.RunStopping(exit="rolled_back"))
    world.run()
    assert world.made[-1].call.arguments == {"path": "p" * 20_000}


def test_what_the_plan_says_about_taking_back_comes_first():
    world = driven([tool("a", undo={"tool": "un.do"})], {"a": 1}, **OWN)
    assert world.find(e.StepEnded)[0].undo == {"tool": "un.do", "with": {}}


@pytest.mark.parametrize("later", [0, 2])
def test_arguments_that_cannot_be_told_again_are_said_and_nothing_is_taken_back_blindly(later):
    given = {"with": {"path": "${1 / int(steps.?b.?output.orValue(1))}"}}
    plan = {"mode": "graph", "steps": [tool("a", **given), tool("b")]}
    world = World(plan, {"a": HANGS, "b": later}, undo={"x.y": ("path",)}, forgetful=True).run()
    world.send(e.AttemptEnded(step="a"))
    assert world.find(e.StepEnded)[-1].undo == {"error": "what it was given cannot be told any more"}
    world.send(e.RunStopping(exit="rolled_back"))
    assert world.run().failure.message == "could not be taken back: a"


def stranger(plan, script, **dials):
    """A world that knows no tool, as whoever only hands on a message."""
    world = World(plan, script, repeat="never", **dials)
    world.rules.knows = lambda _: False
    return world


def becomes_known(world, undo=(), lasts=()):
    world.rules.knows, world.rules.undo, world.rules.lasts = lambda _: True, dict(undo).get, lasts.__contains__
    world.send(e.RunStopping(exit="rolled_back"))
    return world.run()


def test_who_does_not_know_a_tool_leaves_it_to_others_to_take_back_what_it_may_have_done():
    world = stranger({"steps": [tool("a", **{"with": {"path": "p", "text": "t"}})]}, {"a": LOST}).run()
    world.cancel()
    assert world.find(e.StepEnded)[-1].undo == {"own": "x.y", "with": {"path": "p", "text": "t"}}
    found = becomes_known(world, {"x.y": ("path",)})
    assert (found.status, found.failure, found.done("undo")) == ("rolled_back", None, ["a"])


@pytest.mark.parametrize(("lasts", "left"), [((), None), (("x.y",), "could not be taken back: a")])
def test_a_tool_that_turns_out_not_to_take_itself_back_leaves_behind_what_it_did(lasts, left):
    world = stranger({"steps": [tool("a")]}, {"a": LOST}).run()
    world.cancel()
    found = becomes_known(world, lasts=lasts)
    assert (found.status, found.done("undo")) == ("rolled_back", [])
    assert (found.failure and found.failure.message) == left
    assert [each.failure.message for each in found.find(e.EffectKept)] == ["nothing takes x.y back"]


def test_what_cannot_be_told_again_is_not_taken_back_blindly_by_others_either():
    given = {"with": {"path": "${1 / int(steps.?b.?output.orValue(1))}"}}
    plan = {"mode": "graph", "steps": [tool("a", **given), tool("b")]}
    world = stranger(plan, {"a": HANGS, "b": 0}, forgetful=True).run()
    world.send(e.AttemptLost(step="a"))
    world.cancel()
    assert world.find(e.StepEnded)[-1].undo == {"error": "what it was given cannot be told any more"}


@pytest.mark.parametrize("many", [1, 6])
def test_a_failure_says_what_was_to_be_taken_back_and_stays(many):
    steps = [deed(f"a{number}", retry={"attempts": 1}) for number in range(many)]
    script = {f"a{number}!": Failure("logic", "stuck") for number in range(many)} | {"b": NO}
    world = driven([{"id": "g", "steps": [*steps, tool("b")], "recovery": {"logic": ["rollback"]}}], script)
    told = ", ".join(f"a{number} (stuck)" for number in range(many)[::-1][:5]) + (", …" if many > 5 else "")
    assert world.failure.message.endswith(f"; could not be taken back: {told}")


def test_a_doubt_that_could_not_be_taken_back_is_not_said_to_be_gone():
    world = driven([tool("a", retry={"attempts": 1})], {"a": LOST, "a!": NO}, repeat="never", undo={"x.y": ()})
    world.answer("undo")
    message = f"nobody knows whether it had its effect; could not be taken back: a ({NO.message})"
    assert (world.run().failure.kind, world.failure.message) == ("in_doubt", message)


# ------------------------------------------------------------------------------- a run that is over


@pytest.mark.parametrize("status", ["succeeded", "failed", "cancelled"])
def test_e4_a_run_that_is_over_can_be_taken_back(status):
    plan = [tool("a"), tool("b", on={"cancelled": "fail"})]
    world = driven(plan, {"a": 1, "b": {"succeeded": 2, "failed": NO, "cancelled": HANGS}[status]}, **OWN)
    if status == "cancelled":
        world.cancel()
        world.run()
    assert world.status == status
    world.send(e.RunStopping(exit="rolled_back"))
    assert world.status == "stopping"
    done = ["a"] if status == "failed" else ["b", "a"]  # nobody knows what one that was cancelled has done
    assert (world.run().status, world.done("undo")) == ("rolled_back", done)
    with pytest.raises(Over):
        world.send(e.RunStopping(exit="rolled_back"))
    with pytest.raises(Refused):
        world.retry()


def test_e4_back_to_a_checkpoint_and_no_further():
    plan = [tool("a"), {"id": "here", "checkpoint": True}, tool("b"), tool("c")]
    world = driven(plan, {"a": 1, "b": 2, "c": NO}, **OWN)
    with pytest.raises(NoStep):
        world.send(e.RunStopping(exit="rolled_back", to="there"))
    world.send(e.RunStopping(exit="rolled_back", to="here"))
    assert (world.run().status, world.done("undo")) == ("rolled_back", ["b"])
    assert world.failure is None
    world.send(e.RunStopping(exit="rolled_back"))
    assert (world.run().status, world.done("undo")) == ("rolled_back", ["b", "a"])


def test_what_was_left_behind_is_said():
    plan = [tool("a"), tool("b", tool="un.undoable"), tool("c")]
    world = World({"steps": plan}, {"a": 1, "a!": NO, "b": 2, "c": NO}, undo=OWN["undo"], forgetful=True)
    world.rules.lasts = {"un.undoable"}.__contains__
    world.run().send(e.RunStopping(exit="rolled_back"))
    world.run()
    assert (world.status, world.failure.message) == ("rolled_back", "could not be taken back: a, b")
    assert [each["kind"] for each in world.failure.detail] == ["logic", "irreversible"]


def test_a_long_list_of_what_was_left_is_told_shortly():
    plan = [tool(f"s{n}", tool="un.undoable") for n in range(7)]
    world = World({"steps": [tool("a"), *plan]}, undo=OWN["undo"])
    world.rules.lasts = {"un.undoable"}.__contains__
    world.run().send(e.RunStopping(exit="rolled_back"))
    assert world.run().failure.message == "could not be taken back: s0, s1, s2, s3, s4, …"


def test_what_may_not_be_taken_back_that_way_is_not_tried_again():
    world = driven([MARK, deed("a"), BACK], {"a": 1, "a!": Failure("denied", "not that way")})
    assert len(world.done("undo")) == 1
    assert [event.failure.kind for event in world.find(e.EffectKept)] == ["denied"]


def test_a_tools_own_way_back_is_gone_again_after_a_crash_whatever_the_tool_says_about_itself():
    world = World({"steps": [tool("a")]}, {"a": 1, "a!": [LOST, LOST, 1]}, repeat="never", forgetful=True, **OWN)
    world.run().send(e.RunStopping(exit="rolled_back"))
    assert (world.run().status, world.failure, world.done("undo")) == ("rolled_back", None, ["a", "a", "a"])


# ------------------------------------------------------------------------------- approval

MAY_IT = Outcome(exit="failure", approval=Approval("d1", "un.do wants to delete x"))
OTHER = Outcome(exit="failure", approval=Approval("d2", "un.do wants to delete y"))


def taken_back(*undo):
    """A run that was rolled back, as far as it comes by itself."""
    world = driven([deed("a"), deed("b")], {"a": 1, "b": 2, "a!": list(undo)})
    world.cancel(exit="rolled_back")
    return world.run()


def asked(world):
    [question] = world.state.questions.values()
    return question


def agree(world, answer):
    world.answer(answer)
    world.run()


def test_s9_what_takes_back_may_need_approval_too():
    world = taken_back(MAY_IT, None)
    question = asked(world)
    assert (world.status, question.about, question.deed, question.approves) == ("waiting", "policy", "undo", "d1")
    assert question.text == "To take it back: un.do wants to delete x"
    agree(world, True)
    assert (world.status, world.state.cells["a"].result.undone) == ("rolled_back", True)
    assert [each.approved for each in world.find(e.AttemptStarted) if each.deed == "undo"] == [(), (), ("d1",)]


def test_s9_who_says_no_wants_it_to_stay():
    world = taken_back(MAY_IT)
    world.send(e.QuestionAnswered(question=asked(world).question, value=Value(False), reason="we need it"))
    [kept] = world.run().find(e.EffectKept)
    assert (world.status, kept.step, kept.failure.kind) == ("rolled_back", "a", "denied")
    assert kept.failure.message == "a person was asked, and said no: we need it"


def test_s9_another_thing_to_agree_to_is_another_question():
    world = taken_back(MAY_IT, OTHER, None)
    first = asked(world).question
    agree(world, True)
    second = asked(world)
    assert (second.approves, second.question != first) == ("d2", True)
    agree(world, "approved")
    assert world.status == "rolled_back"
    assert world.find(e.AttemptStarted)[-1].approved == ("d1", "d2")


def test_to_ask_is_no_try():
    patient = tool("a", undo={"tool": "un.do"}, retry={"attempts": 2})
    world = driven([patient], {"a": 1, "a!": [MAY_IT, LATER, None]})
    world.cancel(exit="rolled_back")
    world.run()
    agree(world, True)
    assert (world.status, world.state.cells["a"].result.undone) == ("rolled_back", True)


def test_a_question_about_taking_back_outlives_its_process():
    world = taken_back(MAY_IT, None)
    world.crash()
    assert world.status == "waiting"
    agree(world, True)
    assert (world.status, world.state.cells["a"].result.undone) == ("rolled_back", True)


def test_a_rollback_inside_a_plan_waits_for_the_answer_while_others_work():
    side = {"id": "side", "steps": [tool("slow"), tool("after")]}
    main = {"id": "main", "steps": [MARK, deed("a"), BACK, tool("z")]}
    world = driven([{"id": "g", "parallel": [main, side]}], {"a": 1, "a!": [MAY_IT, None], "slow": Takes(5, 1)})
    assert (world.status, world.state.cells["after"].status) == ("waiting", "over")
    agree(world, True)
    assert (world.status, world.state.cells["a"].result.undone) == ("succeeded", True)


# ------------------------------------------------------------------------------- once more


def test_e4_what_could_not_be_taken_back_is_tried_again_when_somebody_asks_for_it():
    world = driven([deed("a"), deed("b")], {"a": 1, "b": 2, "b!": [NO, NO, NO, None]})
    world.cancel(exit="rolled_back")
    assert [each.step for each in world.run().find(e.EffectKept)] == ["b"]
    world.cancel(exit="rolled_back")
    assert (world.run().status, world.failure, world.state.cells["b"].result.undone) == ("rolled_back", None, True)
    assert world.done("undo").count("a") == 1, "what was taken back is not taken back again"
    with pytest.raises(Over):
        world.cancel(exit="rolled_back")


def test_the_secrets_of_an_agent_that_takes_back_are_not_written_down():
    undo = {"agent": "x", "task": "Take it back.", "with": {"token": "${secrets.T}"}}
    world = driven([tool("a", undo=undo)], {"a": 1, "a!": None})
    world.cancel(exit="rolled_back")
    call = next(made.call for made in world.run().made if made.deed == "undo")
    assert (call.kind, call.name, call.arguments["with"]["token"]) == ("agent", "x", "${secrets.T}")


def test_the_secrets_of_a_tool_that_takes_back_are_put_in_when_it_is_called():
    undo = {"tool": "x.y", "with": {"token": "${secrets.T}", "n": "${output}", "text": "a $${b}"}}
    world = driven([tool("a", undo=undo)], {"a": 1, "a!": None})
    world.cancel(exit="rolled_back")
    call = next(made.call for made in world.run().made if made.deed == "undo")
    assert with_secrets(call, {"T": "hush"}).arguments == {"token": "hush", "n": 1, "text": "a ${b}"}
