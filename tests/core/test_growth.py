"""E5 T9: agents grown by strategies, which are pure functions of what the core lets them see."""

import pytest
from driven import NO, driven, tool

from perdure.core import events as e
from perdure.core.calls import Failure, Outcome
from perdure.core.earlier import siblings
from perdure.core.growth import MOST_ADDED, Finish, Move
from perdure.errors import PerdureError
from perdure.testing.worlds import HANGS, Takes, World

AGENT = {"id": "ag", "agent": "coder", "task": "Fix ${inputs.what}", "with": {"hint": "${inputs.what}!"}}


def grown(strategy, script=None, step=None, then=(), **dials):
    return driven(
        [{**AGENT, **(step or {})}, *then], script, {"what": "it"}, strategies={"agent:coder": strategy}, **dials
    )


def once(*steps, then=None, **move):
    """A strategy that makes one move, and finishes when all is over."""
    end = then or Finish(output="done")
    return lambda view: Move(add=steps, **move) if view.first else None if view.live else end


# ------------------------------------------------------------------------------- reasoning


def react(view):
    """Think, act, think again, until the model says that it is done."""
    if view.first:
        return Move(add=[{"model": "weak", "prompt": f"{view.task} {view.facts['hint']}"}], memo=(1,))
    [news] = view.fresh
    if news.tag == "act":
        return Move(
            add=[{"model": "weak", "prompt": f"Saw ${{steps.{news.id}.output}}"}],
            memo=[*view.memo, news.output],
        )
    if news.output == "done":
        return Finish(output={"memo": view.memo, "last": f"${{steps.{news.id}.output}}"})
    return Move(
        add=[{"tool": "x.look", "with": {"value": f"${{steps.{news.id}.output}}"}}],
        tags={f"s{view.born + 1}": "act"},
        memo=view.memo,
    )


def test_e5_a_linear_react_loop():
    world = grown(react, {"ag/1.1": "look here", "ag/1.3": "look there", "ag/1.5": "done"})
    assert world.output == {"memo": [1, "look here", "look there"], "last": "done"}
    assert [made.call.arguments.get("prompt", made.call.arguments.get("value")) for made in world.made] == [
        "Fix it it!", "look here", "Saw look here", "look there", "Saw look there",
    ]  # fmt: skip
    assert [event.step for event in world.find(e.StepEntered, e.AttemptStarted)] == [
        "ag",
        *(f"ag/1.{n}" for n in range(1, 6)),
    ]


def beam(view):
    """Three branches at once; the first that is good enough wins, the others are stopped."""
    if view.first:
        branch = {"steps": [tool("try_it", undo={"tool": "un.do"}), tool("score")]}
        return Move(add=[branch] * 3)
    best = [child for child in view.fresh if child.exit == "success" and child.output >= 5]
    return Finish(output=f"${{steps.{best[0].id}.output}}", keep=[best[0].id]) if best else None


def test_e5_a_beam_with_an_early_stop_undoes_what_it_dropped():
    script = {"ag/1.1.score": Takes(1, 3), "ag/1.2.score": Takes(2, 8), "ag/1.3.score": HANGS}
    world = grown(beam, script)
    assert world.output == 8
    assert sorted(world.done("undo")) == ["ag/1.1.try_it", "ag/1.3.try_it"]
    assert grown(beam, script, {"losers": "keep"}).done("undo") == []


def test_agents_within_agents():
    def outer(view):
        if view.first:
            return Move(add=[{"agent": "helper", "task": "${inputs.task} and more", "strategy": "inner"}])
        return Finish(output=["${steps.s1.output}"])

    inner = once(tool("ignored", **{"with": {"value": "${inputs.task}"}}), then=Finish(output="${steps.s1.output}"))
    world = driven([AGENT], inputs={"what": "it"}, strategies={"agent:coder": outer, "inner": inner})
    assert world.output == ["Fix it and more"]
    assert world.done() == ["ag/1.1/1.1"]


def test_e17_agents_that_grow_agents_without_an_end_are_stopped():
    def ever(view):
        return Move(add=[{"agent": "coder"}]) if view.first else Finish("failure", failure=view.fresh[0].failure)

    assert "8 agents" in driven([{"id": "ag", "agent": "coder"}], strategies={"agent:coder": ever}).failure.message


def test_an_agent_without_a_strategy_is_performed_as_a_whole():
    world = driven([AGENT, {"id": "b", "agent": "other", "strategy": "unknown"}], {"ag": 1, "b": 2}, {"what": "it"})
    assert world.done() == ["ag", "b"]


def test_an_agent_may_lose_its_strategy_between_visits():
    plan = {"steps": [{"id": "ag", "agent": "coder", "max_visits": 2, "on": {"success": "ag", "exhausted": "done"}}]}

    def forgetting(_view):
        world.rules.strategies = {}
        return Finish()

    world = World(plan, strategies={"agent:coder": forgetting}, forgetful=True)
    assert (world.run().status, world.done()) == ("succeeded", ["ag"])


def test_a_grown_group_may_have_needs():
    world = grown(once(tool("x"), {"steps": [tool("in")], "needs": ["s1"]}))
    assert world.done() == ["ag/1.1", "ag/1.2.in"]


def test_an_agent_may_be_visited_again():
    world = grown(once(tool("x")), step={"max_visits": 2, "on": {"success": "ag", "exhausted": "done"}})
    assert world.done() == ["ag/1.1", "ag/2.1"]


# ------------------------------------------------------------------------------- needs


def test_needs_between_grown_steps():
    world = grown(once(tool("x"), tool("x", needs=["s1"]), tool("x", needs=["s1", "s2"])))
    assert world.done() == ["ag/1.1", "ag/1.2", "ag/1.3"]


def test_grown_steps_whose_needs_failed_are_skipped():
    world = grown(once(tool("x"), tool("x", needs=["s1"]), tool("x", needs=["s2"])), {"ag/1.1": NO})
    assert dict(world.exits())["ag/1.3"] == "skipped"


@pytest.mark.parametrize(("gives", "exit_"), [(NO, "skipped"), (1, "success")])
def test_a_grown_step_may_need_one_that_is_over_already(gives, exit_):
    def strategy(view):
        if view.born < 2:
            return Move(add=[tool("x", needs=["s1", "s1"][: 2 * view.born])])
        return Finish(output=view.child("s2").exit)

    assert grown(strategy, {"ag/1.1": gives}).output == exit_


# ------------------------------------------------------------------------------- what a strategy sees


def test_a_view_of_its_group():
    seen = []

    def strategy(view):
        seen.append((view.first, view.memo, view.born, view.live, [child.id for child in view.fresh]))
        if view.first:
            return Move(add=[tool("x"), tool("y", verdicts=["odd"])], tags={"s1": {"k": 1}}, memo={"n": 1})
        if view.live:
            child, other = view.child("s1"), view.child("s2")
            seen.append(
                (
                    child.exit,
                    child.output,
                    child.tag,
                    child.failure.kind if child.failure else None,
                    other.exit,
                    other.failure,
                    other.tag,
                )
            )
            assert [view.child(name) for name in ("s3", "x1", "s", "s0", "s01", "")] == [None] * 6
            return None
        return Finish(output=[child.exit for child in view.fresh])

    world = World(
        {"steps": [{"id": "ag", "agent": "coder"}]},
        {"ag/1.1": NO, "ag/1.2": Takes(1, Outcome(2, "odd"))},
        strategies={"agent:coder": strategy},
    ).run()
    assert world.output == ["failure", "odd"]
    assert seen[:3] == [
        (True, None, 0, 0, []),
        (False, {"n": 1}, 2, 1, ["s1"]),
        ("failure", None, {"k": 1}, "logic", "", None, None),
    ]
    assert seen[-1] == (False, {"n": 1}, 2, 0, ["s1", "s2"])


def test_e21_a_strategy_may_ask_what_a_call_would_be_promised():
    def strategy(view):
        return Finish(output=dict(view.expected("weak", 70, 50)))

    def estimate(call):
        return {"usd": call.arguments["tokens"] / 100}

    assert grown(strategy, estimate=estimate).output == {"usd": 0.5, "tokens": 70}


def test_a_strategy_that_cannot_go_by_what_it_is_told_says_why():
    def strategy(_view):
        raise PerdureError("no width", "write width")

    assert grown(strategy).failure == Failure("invalid", "no width; write width")


def test_grown_steps_do_not_see_the_plan_around_the_agent():
    world = driven(
        [tool("s1"), AGENT],
        {"s1": "outer", "ag/1.1": "inner"},
        {"what": "it"},
        strategies={"agent:coder": once(tool("x"), then=Finish(output="${steps.s1.output}"))},
    )
    assert world.output == "inner"


# ------------------------------------------------------------------------------- stopping children


def test_a_move_stops_children_and_undoes_what_they_did():
    def strategy(view):
        if view.first:
            return Move(
                add=[
                    {"steps": [tool("a", undo={"tool": "un.do"}), tool("b")]},
                    tool("x"),
                    tool("x", needs=["s2"]),
                    tool("x", needs=["s3"]),
                ]
            )
        if view.fresh[-1].id == "s2":
            return Move(stop=["s1", "s3", "s2", "s9", "zz"])
        return None if view.live else Finish(output={n: view.child(n).exit for n in ("s1", "s3", "s4")})

    script = {"b": HANGS, "ag/1.2": Takes(1)}
    world = grown(strategy, script)
    assert world.output == {"s1": "cancelled", "s3": "cancelled", "s4": "skipped"}
    assert world.done("undo") == ["ag/1.1.a"]
    assert grown(strategy, script, {"losers": "keep"}).done("undo") == []


# ------------------------------------------------------------------------------- dropping what is over

UNDO = {"undo": {"tool": "un.do"}}


def dropping(end):
    """Deeds of which some are dropped when all are over, while something else is done; then the end."""

    def strategy(view):
        if view.first:
            return Move(add=[{"steps": [tool("a", **UNDO), tool("b", **UNDO)]}, tool("c", **UNDO)])
        if view.live:
            return None
        return Move(add=[tool("x")], drop=["s1", "s1", "s7", "zz"]) if view.born == 2 else end()

    return strategy


def keeping_all():
    return Finish(output="${steps.s3.output}")


@pytest.mark.parametrize("keep", [None, ["s2", "s3"]])
def test_e5_what_is_dropped_is_undone_at_once_while_the_group_goes_on(keep):
    strategy = dropping(lambda: Finish(output="${steps.s3.output}", keep=keep))
    world = grown(strategy, {"ag/1.3": Takes(5, "done")}, then=[tool("z")])
    assert (world.status, world.done("undo")) == ("succeeded", ["ag/1.1.b", "ag/1.1.a"])
    steps = [each.step for each in world.find(e.AttemptEnded)]
    assert steps[-4:] == ["ag/1.1.b", "ag/1.1.a", "ag/1.3", "z"]
    assert [each.drop for each in world.find(e.StepsGrown)] == [(), ("s1",)]


@pytest.mark.parametrize("wrong", [False, True])
def test_e5_a_group_is_not_over_before_what_it_dropped_is_undone(wrong):
    script = {"ag/1.1.b!": Takes(9)}
    world = grown(dropping(keeping_all) if not wrong else dropping(lambda: 1 / 0), script, then=[tool("z")])
    assert world.done("undo") == ["ag/1.1.b", "ag/1.1.a"]
    ends = [each.step for each in world.find(e.StepEnded, e.AttemptEnded) if each.step in {"ag", "ag/1.1.a"}]
    assert ends[-2:] == ["ag/1.1.a", "ag"]
    assert world.status == ("failed" if wrong else "succeeded")


def test_e5_a_group_that_keeps_its_losers_drops_nothing():
    world = grown(dropping(keeping_all), step={"losers": "keep"})
    assert (world.status, world.done("undo"), world.find(e.StepsGrown)[1].drop) == ("succeeded", [], ())


def test_e5_what_was_dropped_and_cannot_be_undone_stays_and_is_tried_again_by_nobody_but_a_rollback():
    world = grown(dropping(keeping_all), {"ag/1.1.b!": [NO, NO, NO, 1]})
    assert [each.step for each in world.find(e.EffectKept)] == ["ag/1.1.b"]
    assert (world.status, world.done("undo")[-1]) == ("succeeded", "ag/1.1.a")
    world.send(e.RunStopping(exit="rolled_back"))
    assert world.run().done("undo")[-2:] == ["ag/1.1.b", "ag/1.2"]
    assert world.status == "rolled_back"


def test_e5_a_run_that_only_waits_for_what_it_dropped_is_running_and_not_stalled():
    def strategy(view):
        return Move(add=[tool("a", **UNDO)]) if view.first else None if view.memo else Move(drop=["s1"], memo="dropped")

    world = grown(strategy, {"ag/1.1!": Takes(3)}, {"recovery": {"stalled": ["fail"]}})
    assert (world.done("undo"), world.failure.kind) == (["ag/1.1"], "stalled")


def test_what_is_dropped_while_it_works_or_waits_is_stopped_and_undone():
    def strategy(view):
        if view.first:
            return Move(add=[{"steps": [tool("a", **UNDO), tool("b")]}, tool("c"), tool("d", needs=["s1"])])
        if not view.memo:
            return Move(drop=["s1", "s3"], memo=1) if view.child("s2").exit else None
        return None if view.live else Finish(output=[view.child(each).exit for each in ("s1", "s3")])

    world = grown(strategy, {"b": HANGS, "ag/1.2": Takes(1)})
    assert (world.output, world.done("undo")) == (["cancelled", "cancelled"], ["ag/1.1.a"])


def test_e10_what_is_dropped_while_the_run_is_paused_is_undone_when_it_goes_on():
    script = dict.fromkeys(["ag/1.1.a", "ag/1.1.b", "ag/1.2"], HANGS)
    rules = {"strategies": {"agent:coder": dropping(keeping_all)}, "forgetful": True}
    world = World({"steps": [AGENT]}, script, **rules).start({"what": "it"})
    world.send(e.AttemptEnded(step="ag/1.1.a"))
    world.pause()
    world.send(e.AttemptEnded(step="ag/1.2"))
    world.send(e.AttemptEnded(step="ag/1.1.b"))
    assert [each.drop for each in world.find(e.StepsGrown)] == [(), ("s1",)]
    assert {each.deed for each in world.find(e.AttemptStarted)} == {"do"}
    world.resume()
    assert world.run().done("undo") == ["ag/1.1.b", "ag/1.1.a"]


def test_an_agent_that_is_late_or_stopped_stops_its_children():
    world = grown(once(tool("x")), {"ag/1.1": HANGS}, {"timeout": "5s"})
    assert (world.failure.kind, world.exit_of("ag/1.1")) == ("timeout", "cancelled")


# ------------------------------------------------------------------------------- finishing


ODD = {"verdicts": ["odd"], "on": {"odd": "next"}}
NUMBERED = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("finish", "step", "exit_", "kind"),
    [
        (Finish(output=1), {}, "success", None),
        (Finish("odd", 1), ODD, "odd", None),
        (Finish(output={"n": 1}), {"returns": NUMBERED}, "success", None),
        (Finish(output={"n": "${inputs.task}"}), {"returns": NUMBERED}, "failure", "invalid"),
        (Finish(), {"returns": NUMBERED}, "failure", "invalid"),
        (Finish(judged=True), {"returns": NUMBERED, "accept": ["false"]}, "failure", "invalid"),
        (Finish("odd", 1), {"returns": NUMBERED, **ODD}, "failure", "invalid"),
        (Finish("odd"), {"returns": NUMBERED, **ODD}, "odd", None),
        (Finish("failure", 1), {"returns": NUMBERED}, "failure", "logic"),
        (Finish("odd", 1), {}, "failure", "invalid"),
        (Finish("failure"), {}, "failure", "logic"),
        (Finish("failure", failure=Failure("denied", "no")), {}, "failure", "denied"),
        (Finish(output="${steps.s9.output}"), {}, "failure", "invalid"),
        (Finish(output={1, 2}), {}, "failure", "invalid"),
        (Finish(output=1), {"accept": ["output == 2"]}, "failure", "unmet"),
        (Finish(output=1), {"accept": ["output.x"]}, "failure", "invalid"),
    ],
)
def test_rule_10_an_agent_ends_with_what_its_strategy_finished_with(finish, step, exit_, kind):
    for strategy in (
        lambda _: finish,
        once(tool("x"), then=finish),
        lambda view: Move(add=[tool("x"), tool("y")]) if view.first else finish,
    ):
        world = grown(strategy, {"ag/1.2": HANGS}, step)
        assert (world.exit_of("ag"), world.failure.kind if world.failure else None) == (exit_, kind)


# ------------------------------------------------------------------------------- strategies that go wrong


def ends_in_a_loop(_):
    loop = {"steps": [{"id": "k", "checkpoint": True, "on": {"success": "k"}}]}
    return Move(add=[loop])


@pytest.mark.parametrize(
    ("strategy", "kind", "said"),
    [
        (lambda _: None, "stalled", "nothing at work"),
        (lambda _: Move(), "stalled", "nothing at work"),
        (once(tool("x"), then="neither"), "stalled", "nothing at work"),
        (lambda _: Move(add=[tool("x")] * (MOST_ADDED + 1)), "invalid", "257 steps in one move"),
        (lambda _: Move(add=[{"nothing": 1}]), "invalid", "cannot be"),
        (lambda _: Move(add=[tool("x", needs=["s1"])]), "invalid", "s1 needs 's1'"),
        (lambda _: Move(add=[tool("x", needs=["other"])]), "invalid", "needs 'other'"),
        (lambda _: Move(add=[tool("x")], memo={1, 2}), "invalid", "cannot be"),
        (ends_in_a_loop, "invalid", "no bound"),
        (lambda view: view.nothing, "unknown", "AttributeError"),
    ],
)
def test_a_strategy_that_goes_wrong_fails_its_agent(strategy, kind, said):
    world = grown(strategy, step={"recovery": {"stalled": ["fail"]}})
    assert (world.status, world.failure.kind, world.state.ended.cause) == ("failed", kind, "ag")
    assert said in world.failure.message


def test_a_strategy_that_goes_wrong_later_stops_what_is_at_work():
    world = grown(lambda view: Move(add=[tool("x"), tool("x")]) if view.first else 1 / 0, {"ag/1.2": HANGS})
    assert (world.failure.kind, world.exit_of("ag/1.2")) == ("unknown", "cancelled")


def test_a_task_that_cannot_be_made_is_invalid():
    world = driven(
        [{**AGENT, "task": "${1 / 0}"}],
        inputs={"what": "it"},
        strategies={"agent:coder": lambda view: Finish(output=view.task)},
    )
    assert world.failure.kind == "invalid"


def test_a_strategy_that_is_gone_after_an_upgrade_is_said_loudly():
    world = World(
        {"steps": [{"id": "ag", "agent": "coder"}]}, {"ag/1.1": HANGS}, strategies={"agent:coder": once(tool("x"))}
    ).run()
    world.rules.strategies = {}
    world.send(e.AttemptEnded(step="ag/1.1"))
    assert world.failure == Failure("unavailable", "there is no strategy 'agent:coder' any more")


def test_every_grown_step_may_be_a_group_with_jumps_inside():
    group = {"steps": [tool("a", max_visits=2, on={"failure": "b"}), tool("b", on={"success": "done"})]}
    world = grown(
        once(
            group,
            {"map": [1, 2], "steps": [tool("m", **{"with": {"value": "${item}"}})]},
            then=Finish(output="${steps.s2.output}"),
        ),
        {"a": NO},
    )
    assert world.output == [1, 2]
    assert world.done() == ["ag/1.1.a", "ag/1.2/1[0].m", "ag/1.2/1[1].m", "ag/1.1.b"]


# ------------------------------------------------------------------------------- what the engine asks


def test_what_was_called_before_is_found_for_a_grown_step_and_a_planned_one_has_the_plan():
    world = grown(once({"tool": "x.one"}, {"tool": "x.two"}), {"ag/1.1": 1, "ag/1.2": 2}, then=[tool("b")])
    first, second = (world.state.cells[f"ag/1.{n}"] for n in (1, 2))
    assert siblings(world.state, first) == []
    assert [(each.step, each.call.name, each.output) for each in siblings(world.state, second)] == [
        ("ag/1.1", "x.one", 1)
    ]
    assert siblings(world.state, world.state.cells["b"]) == []


def test_a_step_is_found_by_its_key_as_long_as_it_stands():
    state = grown(once({"tool": "x.one"}), step={"max_visits": 2, "on": {"success": "b"}}, then=[tool("b")]).state
    assert [state.find(each) for each in ("", "ag", "ag/1.1", "nobody")] == [
        *(state.cells[each] for each in ("", "ag", "ag/1.1")),
        None,
    ]
