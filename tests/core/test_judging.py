"""E14: criteria that tools judge, one after the other, also across crashes."""

import pytest
from driven import NO, driven, tool

from perdure.core import events as e
from perdure.core.calls import Approval, Failure, Outcome, Usage
from perdure.core.deciding import Deciding, Moment
from perdure.core.growth import Finish
from perdure.core.judging import judging_call
from perdure.core.turn import settle
from perdure.testing.worlds import HANGS, LOST, Takes, World

LATER = Failure("unavailable", "later")


def judged(*tools, **more):
    accept = [{"tool": each, "with": {"of": "${output}"}} for each in tools]
    return [tool("a", accept=accept, **more), tool("b")]


def asked(world):
    return [(made.call.name, dict(made.call.arguments)) for made in world.made if made.deed == "judge"]


@pytest.mark.parametrize("said", [True, {"met": True}, {"met": True, "why": "fine"}])
def test_a_judge_that_is_content(said):
    world = driven(judged("x.one", "x.two"), {"a": 7, "a~": said})
    assert world.status == "succeeded"
    assert asked(world) == [("x.one", {"of": 7}), ("x.two", {"of": 7})]
    assert world.done() == ["a", "b"]


@pytest.mark.parametrize(
    ("said", "kind", "words"),
    [
        (False, "unmet", "not met: x.one"),
        ({"met": False, "why": "too long"}, "unmet", "not met: x.one: too long"),
        ({"met": False, "fixes": ["cut it", "or go"]}, "unmet", "not met: x.one: to mend it: cut it; or go"),
        ("perhaps", "invalid", "x.one says 'perhaps'; a judge says true, false or {met, why}"),
        ({"met": 1}, "invalid", "a judge says"),
        (NO, "logic", "x.one, which judges it, failed: no"),
    ],
)
def test_a_judge_that_is_not(said, kind, words):
    world = driven(judged("x.one", "x.two"), {"a": 7, "a~": said})
    assert (world.status, world.failure.kind) == ("failed", kind)
    assert words in world.failure.message
    assert len(asked(world)) == 1


def test_what_is_not_good_enough_is_tried_again_and_judged_again():
    world = driven(judged("x.one", retry={"attempts": 2}), {"a": [1, 2], "a~": [False, True]})
    assert (world.status, [given["of"] for _, given in asked(world)]) == ("succeeded", [1, 2])


def test_a_judge_that_cannot_be_reached_is_asked_again_but_not_for_ever():
    assert driven(judged("x.one"), {"a~": [LATER, LOST, HANGS, True]}).status == "succeeded"
    world = driven(judged("x.one", recovery={"unavailable": ["fail"]}), {"a~": LATER})
    assert (world.failure.kind, len(asked(world))) == ("unavailable", 4)
    world = driven(judged("x.one", recovery={"unavailable": ["fail"]}), {"a~": LOST})
    assert "its process died" in world.failure.message


def test_nobody_judges_what_failed_or_ended_with_a_word_of_its_own():
    assert asked(driven(judged("x.one"), {"a": NO})) == []
    assert asked(driven([tool("a", accept=[{"expr": "output > 9"}, {"tool": "x.one"}])], {"a": 7})) == []


def test_what_a_probe_found_and_what_a_person_said_is_judged_too():
    found = {"a": LOST, "a?": {"happened": True, "output": 5}, "a~": True}
    world = driven(judged("x.one"), found, repeat="never", probes={"x.y"})
    assert asked(world) == [("x.one", {"of": 5})]
    for answer, given in (({"choice": "happened", "output": 4}, 4), ("happened", None)):
        world = World({"steps": judged("x.one")}, {"a": LOST, "a~": True}, repeat="never").start().run()
        world.answer(answer)
        world.run()
        assert (world.status, asked(world)) == ("succeeded", [("x.one", {"of": given})])


ALLOW = Outcome(approval=Approval("d", "write it"))


@pytest.mark.parametrize("forgetful", [False, True])
@pytest.mark.parametrize(("said", "status"), [(True, "succeeded"), (False, "failed")])
def test_a_person_is_asked_where_a_judge_needs_to_be_allowed(said, status, forgetful):
    plan = {"steps": judged("x.one", "x.two", locks=["desk"])}
    world = World(plan, {"a~": [LATER, ALLOW, LATER, True]}, forgetful=forgetful).start().run()
    (question,) = world.state.questions.values()
    assert (question.deed, question.about, question.approves) == ("judge", "policy", "d")
    assert question.text == "To judge a by x.one: write it"
    assert world.state.locks == {}
    world.answer(said)
    world.run()
    assert world.status == status
    approved = [each.approved for each in world.find(e.AttemptStarted) if each.deed == "judge"]
    assert approved == ([(), (), ("d",), ("d",), ()] if said else [(), ()])
    assert said or (world.failure.kind, world.done()) == ("denied", ["a"])


def test_who_was_asked_whether_a_judge_may_is_not_asked_again_meanwhile():
    world = World({"steps": judged("x.one")}, {"a~": ALLOW}).start().run()
    making = Deciding(world.state, Moment(world.now))
    settle(making, world.state.cells["a"])
    assert making.events == []


def test_nobody_need_answer_whether_a_step_may_be_judged_that_is_stopped():
    world = World({"steps": judged("x.one")}, {"a~": ALLOW}).start().run()
    world.cancel()
    assert (world.run().status, world.state.questions) == ("cancelled", {})


@pytest.mark.parametrize("forgetful", [False, True])
@pytest.mark.parametrize("first", [NO, 1])
@pytest.mark.parametrize(("said", "status"), [(True, "succeeded"), (False, "failed")])
def test_what_a_person_has_done_after_a_failure_is_judged_too(said, status, first, forgetful):
    """Also if it was a judge who was not content with what there was before, and needs to be allowed."""
    plan = {"steps": judged("x.one", recovery={"other": ["ask"]})}
    before = [] if first is NO else [False]
    world = World(plan, {"a": first, "a~": [*before, ALLOW, said]}, forgetful=forgetful).start().run()
    world.answer({"choice": "done", "output": 9})
    world.run()
    world.answer(True)
    world.run()
    assert (world.status, asked(world)[-1]) == (status, ("x.one", {"of": 9}))
    assert said or world.failure.kind == "unmet"


def test_a_question_that_a_judge_cannot_be_asked_fails_the_step():
    plan = [tool("a", accept=[{"tool": "x.one", "with": {"of": "${output.nothing}"}}])]
    assert driven(plan, {"a": {}}).failure.kind == "invalid"


def test_e13_an_agent_may_judge():
    plan = [tool("a", accept=[{"agent": "critic", "title": "Is it two?", "with": {"limit": 2}}])]
    world = driven(plan, {"a": 1, "a~": {"met": False, "why": "it is one"}})
    assert world.failure.message == "not met: Is it two?: it is one"
    call = next(made.call for made in world.made if made.deed == "judge")
    assert (call.kind, call.name) == ("agent", "critic")
    assert (call.arguments["task"], call.arguments["with"]) == ("Is it two?", {"output": 1, "limit": 2})
    assert driven(plan, {"a": 2, "a~": {"met": True, "why": ""}}).output == 2


def test_agents_and_groups_are_not_judged_in_silence():
    world = driven([{"id": "g", "steps": [tool("a")], "accept": [{"agent": "critic"}]}], {"a": 1})
    assert "an agent judges what one call gives" in world.failure.message
    world = driven([{"id": "g", "steps": [tool("a")], "accept": [{"tool": "x.one"}]}], {"a": 1})
    assert "a tool judges what one call gives" in world.failure.message
    agent = {"id": "g", "agent": "coder", "accept": [{"tool": "x.one"}]}
    world = driven([agent], {}, strategies={"agent:coder": lambda _: Finish(output=1)})
    assert "a tool judges what one call gives" in world.failure.message


def test_a_step_that_is_stopped_while_it_is_judged_has_done_what_it_did():
    world = World({"steps": judged("x.one", undo={"tool": "x.back"})}, {"a~": HANGS}).start()
    world.perform(world.commands()[0])
    assert [each.deed for each in world.commands()] == ["judge"]
    world.cancel()
    world.run()
    assert (world.status, world.exit_of("a")) == ("cancelled", "success")


def test_a_judge_takes_no_place_and_its_time_is_up_some_day():
    world = driven(judged("x.one"), {"a~": [HANGS, True]}, slots=1)
    assert world.status == "succeeded"
    assert [each.deed for each in world.find(e.AttemptStopping)] == ["judge"]


def test_a_judge_may_be_given_a_secret():
    plan = [tool("a", accept=[{"tool": "x.one", "with": {"key": "${secrets.KEY}"}}])]
    world = World({"steps": plan}, {"a~": HANGS}).start()
    world.perform(world.commands()[0])
    cell = world.state.cells["a"]
    assert judging_call(world.state, cell).arguments == {"key": {"secret": "KEY"}}
    assert judging_call(world.state, cell, {"KEY": "k"}).arguments == {"key": "k"}


# ------------------------------------------------------------------------------- what judging takes

CRITIC = {"accept": [{"agent": "critic"}]}


def priced(*judges, budget, **more):
    """A step that is judged, in a run with a budget; whoever judges is promised as much as `promised` says."""
    accept = [{"agent": each} for each in judges]
    return {"steps": [tool("a", accept=accept, **more), tool("b")], "budget": budget}


def promised(**amounts):
    """Judges are expected to take this, steps nothing."""
    return {"estimate": lambda call: amounts if call.kind == "agent" else {}}


def says(met=True, **usage):
    return Outcome({"met": met, "why": ""}, usage=Usage(**usage))


@pytest.mark.parametrize("forgetful", [False, True])
def test_r10_what_a_judge_may_take_is_reserved_before_it_is_asked_and_settled_after(forgetful):
    plan = priced("one", "two", budget={"tokens": 100, "calls": 2})
    made = World(plan, {"a~": [HANGS]}, forgetful=forgetful, **promised(tokens=40)).start()
    made.perform(made.commands()[0])
    ledger = made.state.books.ledgers[""]
    assert (ledger.reserved, ledger.open) == ({"tokens": 40, "calls": 1}, 1)
    world = driven(plan, {"a~": [says(tokens=30, calls=1), says(tokens=50, calls=1)]}, **promised(tokens=40))
    assert world.status == "succeeded"
    ledger = world.state.books.ledgers[""]
    assert (ledger.spent, {*ledger.reserved.values()}, ledger.open) == ({"tokens": 80, "calls": 2}, {0}, 0)
    assert world.state.books.used["tokens"] == 80


@pytest.mark.parametrize("word", ["tokens", "calls", "usd"])
def test_r10_no_judge_is_asked_beyond_a_budget(word):
    budget = {"tokens": 60, "calls": 1, "usd": 0.6}
    plan = priced("one", "two", budget={word: budget[word]})
    world = driven(plan, {"a~": says(tokens=30, calls=1, usd=0.3)}, **promised(tokens=40, usd=0.4))
    assert (world.status, world.failure.kind, len(asked(world))) == ("failed", "budget", 1)
    assert f"{word} spent" in world.failure.message


def test_who_has_its_own_budget_is_over_unjudged_where_that_is_what_it_says():
    step = tool("a", **CRITIC, budget={"tokens": 10, "then": "finish"})
    world = driven([step], {"a": 7}, **promised(tokens=40))
    assert (world.status, world.output, asked(world)) == ("succeeded", 7, [])
    assert world.find(e.StepEnded)[0].partial


@pytest.mark.parametrize("forgetful", [False, True])
def test_r10_a_judge_waits_for_what_others_may_leave(forgetful):
    """The other one was promised nearly all, and takes little: then there is enough."""
    steps = [tool("a", **CRITIC), tool("b", estimate={"tokens": 80})]
    plan = {"steps": [{"id": "both", "parallel": steps}], "budget": {"tokens": 100}}
    script = {"b": Takes(5, Outcome(1, usage=Usage(tokens=5))), "a~": says(tokens=1)}
    world = World(plan, script, forgetful=forgetful, **promised(tokens=40)).start()
    world.perform(world.commands()[0])
    assert (asked(world), world.status, list(world.state.unjudged)) == ([], "running", ["a"])
    assert (world.run().status, len(asked(world)), world.state.unjudged) == ("succeeded", 1, {})


@pytest.mark.parametrize("forgetful", [False, True])
@pytest.mark.parametrize(("answer", "status"), [(50, "succeeded"), ("fail", "failed"), ("finish", "succeeded")])
def test_r10_a_person_is_asked_for_more_where_a_judge_does_not_fit(answer, status, forgetful):
    plan = priced("one", budget={"tokens": 30, "then": "ask"})
    world = World(plan, {"a~": says(tokens=35)}, forgetful=forgetful, **promised(tokens=40)).start().run()
    [question] = world.state.questions.values()
    assert (world.status, question.of, asked(world)) == ("waiting", "tokens", [])
    world.crash()
    world.answer(answer)
    assert (world.run().status, len(asked(world))) == (status, int(answer == 50))


def test_r10_a_judge_whose_process_died_may_have_taken_all_it_was_promised():
    world = driven(priced("one", budget={"tokens": 100}), {"a~": [LOST, says(tokens=1)]}, **promised(tokens=40))
    assert (world.status, world.state.books.ledgers[""].spent["tokens"]) == ("succeeded", 41)


def test_r10_time_goes_by_while_somebody_judges():
    world = World(priced("one", budget={"seconds": 5}), {"a~": HANGS}).start().run()
    assert (world.status, world.failure.kind) == ("failed", "budget")


def test_what_a_person_allows_and_what_they_have_done_is_judged_as_soon_as_it_can_be_afforded():
    plan = priced("one", budget={"tokens": 100, "then": "ask"}, recovery={"other": ["ask"]})
    world = World(plan, {"a": NO, "a~": says(tokens=1)}, **promised(tokens=400)).start().run()
    world.answer({"choice": "done", "output": 9})
    assert (world.run().status, [each.about for each in world.state.questions.values()]) == ("waiting", ["budget"])
    world.fold()
    world.answer(1000)
    assert (world.run().status, [given["with"]["output"] for _, given in asked(world)]) == ("succeeded", [9])
