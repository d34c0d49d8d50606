"""What a run can still call, whatever shape its plan has and wherever it stands (upgrade safety)."""

import pytest
from driven import driven, tool

from perdure.core import events as e
from perdure.core.calling import Called, still_called
from perdure.core.calls import Failure
from perdure.core.evolve import evolve
from perdure.core.growth import Finish, Move
from perdure.testing.worlds import HANGS, LOST


def named(id_, name=None, **more):
    return {"id": id_, "tool": name or f"{id_}.x", **more}


def called(world, kind="tool"):
    return {each.name for each in still_called(world.state) if each.kind == kind}


def test_what_is_over_is_not_called_and_what_is_under_way_and_to_come_is():
    world = driven([named("a"), named("b"), named("c")], {"b": HANGS})
    assert called(world) == {"b.x", "c.x"}
    assert {each.step for each in still_called(world.state)} == {"b", "c"}


def test_a_run_that_has_not_begun_a_step_calls_all_and_one_that_is_over_none():
    asks = {"id": "ok", "ask": "?"}
    assert called(driven([asks, named("a"), {**named("b"), "when": "false"}], {})) == {"a.x", "b.x"}
    assert called(driven([named("a")], {"a": 1})) == set()


def test_steps_that_a_loop_leads_back_to_are_called_again():
    again = {"id": "again", "decide": {"tool": "judge.x"}, "choices": ["b", "on"], "on": {"on": "next"}}
    world = driven([named("a"), named("b", max_visits=3), named("c"), again, named("d")], {"c": HANGS})
    assert called(world) == {"b.x", "c.x", "judge.x", "d.x"}
    inner = {
        "id": "g",
        "steps": [named("e", max_visits=3), {"id": "f", "decide": {"tool": "f.x"}, "choices": ["e", "no"]}],
    }
    world = driven([named("a"), {**inner, "max_visits": 2}, {**again, "choices": ["g", "on"]}], {"e": HANGS})
    assert called(world) == {"e.x", "f.x", "judge.x"}


def test_a_graph_calls_what_was_not_begun():
    steps = [named("a"), named("b"), named("c", needs=["a"]), named("d", needs=["c"])]
    world = driven([{"id": "g", "mode": "graph", "steps": steps}], {"b": HANGS, "c": HANGS})
    assert called(world) == {"b.x", "c.x", "d.x"}


def test_a_map_calls_its_steps_while_items_are_left():
    steps = [named("a"), named("b")]
    group = {"id": "m", "map": [1, 2, 3], "limit": 1, "steps": steps}
    assert called(driven([group], {"m/1[0].b": HANGS})) == {"a.x", "b.x"}
    assert called(driven([group], {"m/1[2].b": HANGS})) == {"b.x"}
    assert called(driven([{**group, "map": "${inputs.items}", "accept": [{"tool": "ok.x"}]}, named("z")], {
        "m/1[2].b": HANGS}, {"items": [1, 2, 3]})) == {"b.x", "ok.x", "z.x"}  # fmt: skip


def test_every_way_of_a_step_is_called_until_it_was_gone():
    ways = {"simpler": {"tool": "s.x"}, "alternates": [{"tool": "t.x"}, {"agent": "z"}, {"tool": "u.x"}]}
    more = {"undo": {"tool": "back.x"}, "accept": ["true", {"tool": "ok.x"}], "relaxed": [{"tool": "fine.x"}]}
    step = named("a", **ways, **more, retry={"attempts": 1})
    everything = {"a.x", "s.x", "t.x", "u.x", "back.x", "ok.x", "fine.x"}
    assert called(driven([{"id": "ok", "ask": "?"}, step], {})) == everything
    assert called(driven([step], {"a": HANGS})) == everything
    bad = Failure("logic", "no")
    assert called(driven([step], {"a": [bad, HANGS]})) == everything - {"a.x"}
    assert called(driven([step], {"a": [bad, bad, HANGS]})) == everything - {"a.x", "s.x"}
    assert called(driven([step], {"a": [bad, bad, bad, HANGS]})) == everything - {"a.x", "s.x", "t.x"}


def test_a_plan_that_is_called_by_name_is_looked_into_as_it_is_today():
    inner = {"steps": [named("i"), {"id": "self", "plan": "inner"}]}
    world = driven([{"id": "ok", "ask": "?"}, {"id": "p", "plan": "inner"}, {"id": "q", "plan": "gone"}], {},
                   plans={"inner": inner})  # fmt: skip
    assert (called(world), called(world, "plan")) == ({"i.x"}, {"inner", "gone"})


def test_a_plan_that_is_under_way_calls_what_is_left_of_it():
    steps = [named("i"), named("j"), named("k")]
    for plan, plans in (({"steps": steps}, {}), ("inner", {"inner": {"steps": steps}})):
        script = {"j": HANGS, "p/1.j": HANGS}
        assert called(driven([{"id": "p", "plan": plan}, named("z")], script, plans=plans)) == {"j.x", "k.x", "z.x"}


AGENT = {"id": "ag", "agent": "coder", "strategy": "careful"}


def test_a_strategy_is_called_as_long_as_its_group_grows():
    def careful(view):
        steps = [{"tool": "one.x"}, {"tool": "two.x", "needs": ["s1"]}, {"tool": "three.x"}]
        return Move(add=steps) if view.first else None if view.live else Finish()

    world = driven([AGENT, {**AGENT, "id": "later"}], {"ag/1.1": HANGS}, strategies={"careful": careful})
    assert called(world) == {"one.x", "two.x"}
    found = [each for each in still_called(world.state) if each.kind == "strategy"]
    assert found == [Called("strategy", "careful", "later", agent="coder"), Called("strategy", "careful", "ag")]


def test_what_takes_back_what_was_done_is_called():
    steps = [tool("a"), named("b", undo={"tool": "back.x", "with": {"n": "${output}"}}), named("c")]
    world = driven(steps, {"b": 3, "c": HANGS}, undo={"x.y": ("id",)})
    found = [each for each in still_called(world.state) if each.step in "ab"]
    assert found == [Called("undo", "x.y", "a", {}), Called("tool", "back.x", "b", {"n": 3})]


def test_what_is_taken_back_by_an_agent_or_not_at_all_calls_no_tool():
    asked = {"id": "a", "agent": "z", "undo": {"agent": "z", "task": "back"}}
    broken = {"id": "b", "agent": "z", "undo": {"tool": "back.x", "with": {"n": "${output.none}"}}}
    world = driven([asked, broken, named("c")], {"a": 1, "b": 1, "c": HANGS})
    assert (called(world), len(world.state.effects)) == ({"c.x"}, 2)


def test_what_was_taken_back_is_not():
    world = driven([tool("a"), named("c")], {"c": HANGS}, undo={"x.y": ()})
    world.cancel(exit="rolled_back")
    world.run()
    assert world.status == "rolled_back"
    assert not list(still_called(world.state))


def test_one_that_is_to_stop_may_have_done_something_all_the_same():
    steps = [{"id": "g", "mode": "graph", "steps": [named("a"), named("b")]}, named("z")]
    world = driven(steps, {"a": HANGS, "b": HANGS}, slots=1)
    world.send(e.StepStopping(step="g"))
    assert called(world) == {"a.x", "z.x"}
    assert all(each.given is None for each in still_called(world.state) if each.name == "a.x")
    world = driven([{"id": "m", "model": "weak", "prompt": "?"}], {"m": HANGS})
    world.send(e.StepStopping(step="m"))
    assert called(world) == set()


def test_a_group_that_a_person_is_asked_about_may_begin_again():
    group = {"id": "g", "steps": [named("a"), named("b", recovery={"logic": ["fail"]})], "recovery": {"logic": ["ask"]}}
    world = driven([group, named("z")], {"a": 1, "b": Failure("logic", "no")})
    [cell] = world.state.asked.values()
    assert (cell.key, cell.status, called(world)) == ("g", "stopping", {"a.x", "b.x", "z.x"})


@pytest.mark.parametrize("count", [2_000])
def test_it_is_told_once_for_every_step_and_no_more(count):
    steps = [named(f"a{n}", "x.y") for n in range(count)]
    world = driven([{"id": "ok", "ask": "?"}, {"id": "g", "mode": "graph", "steps": steps}], {})
    assert len(list(still_called(world.state))) == count


def test_an_attempt_that_was_lost_is_still_to_be_settled():
    world = driven([named("a")], {"a": LOST}, repeat="never")
    assert called(world) == {"a.x"}


def test_a_step_that_is_to_be_entered_anew_is_called_again():
    failed = {"b": Failure("logic", "no")}
    world = driven([named("a"), named("b"), named("c")], failed)
    evolve(world.state, e.RunReopened(step="a"), world.now)
    assert called(world) == {"a.x", "b.x", "c.x"}
    world = driven([{"id": "g", "mode": "graph", "steps": [named("a"), named("b")]}], failed)
    evolve(world.state, e.RunReopened(step="b"), world.now)
    assert called(world) == {"b.x"}
