"""S9, S14: what people write becomes the layers that judge, one for each author, from the outside in."""

from perdure.core.layers import layer_of, layers_at
from perdure.core.policy import Layer, Terms
from perdure.plan import Plan
from perdure.plan.index import Index
from perdure.plan.model.parts import Policy

WHOLE = {
    "files": {"read": ["a/**"], "write": ["b/**"], "ask": ["c/**"], "deny": ["d/**"]},
    "network": {"allow": ["e.example"], "ask": ["f.example"], "deny": ["g.example"]},
    "commands": {"allow": [["h"]], "ask": [["i"]], "deny": [["j"]]},
    "tools": {"allow": ["k.*"]},
    "resources": {"allow": ["l"]},
    "ask": ["costs"],
    "deny": ["irreversible"],
    "contained": True,
}


def layer(**said):
    return layer_of(Policy.model_validate(said), "who")


def test_every_word_of_a_policy_has_its_place():
    assert layer(**WHOLE) == Layer(
        "who",
        files_read=Terms(("a/**",), (), ("d/**",)),
        files_write=Terms(("b/**",), ("c/**",), ("d/**",)),
        network=Terms(("e.example",), ("f.example",), ("g.example",)),
        commands=Terms((("h",),), (("i",),), (("j",),)),
        tools=Terms(("k.*",)),
        resources=Terms(("l",)),
        effects=Terms(None, ("costs",), ("irreversible",)),
        contained=True,
    )


def test_what_is_left_out_is_not_mentioned():
    assert layer() == Layer("who")
    assert layer(commands={"allow": [["h"]]}) == Layer("who", commands=Terms((("h",),)))
    assert layer(network=[]) == Layer("who", network=Terms(()))


def test_the_layers_of_a_step_lie_around_it():
    no, inner = {"policy": {"network": []}}, {"id": "a", "tool": "x.y", "policy": {"tools": {"allow": []}}}
    plan = {"perdure": 1, "goal": "g", **no, "steps": [{"id": "g", **no, "steps": [inner, {"id": "b", "tool": "x.y"}]}]}
    index = Index(Plan.model_validate(plan))
    around = (Layer("user"),)
    assert [each.name for each in layers_at(index.by_id["a"], around)] == ["user", "the plan", "step g", "step a"]
    assert [each.name for each in layers_at(index.by_id["b"])] == ["the plan", "step g"]


def test_a_plan_inside_a_step_is_told_as_that():
    inner = {"perdure": 1, "goal": "h", "policy": {"network": []}, "steps": [{"id": "a", "tool": "x.y"}]}
    plan = {"perdure": 1, "goal": "g", "steps": [{"id": "p", "plan": inner, "policy": {"network": []}}]}
    index = Index(Plan.model_validate(plan))
    told = [each.name for each in layers_at(index.by_id["a"])]
    assert told == ["step p", "the plan in p"]
