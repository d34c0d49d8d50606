"""What is asked at every turn is worked out once for each plan."""

import hashlib

from perdure.core.outline import Outline
from perdure.plan import Plan

PLAN = Plan.model_validate(
    {"mode": "graph", "steps": [{"id": "a", "tool": "x.y"}, {"id": "b", "tool": "x.y", "needs": ["a"]}]}
)


def test_a_plan_is_named_by_its_bytes():
    outline = Outline(PLAN)
    assert outline.digest == hashlib.sha256(outline.data).hexdigest()


def test_what_was_worked_out_is_kept():
    outline = Outline(PLAN)
    root = outline.index.root
    assert outline.wiring(root) is outline.wiring(root)
    assert (outline.wiring(root).needs, outline.wiring(root).dependents, outline.wiring(root).free) == (
        [0, 1],
        [[1], []],
        [((0, -2_000_000), 0)],
    )
    traits = outline.traits(root.children[0])
    assert outline.traits(root.children[0]) is traits
    assert outline.target(root.children[0], "success") == outline.target(root.children[0], "success") == "next"


def test_a_run_of_its_own_is_lent_what_was_worked_out():
    outline = Outline(PLAN)
    outline.make_ready()
    own = outline.own()
    assert own.index.root is not outline.index.root
    assert all(own.traits(node) is outline.traits(outline.index.by_id[node.id]) for node in own.index.nodes)
    assert [node.id for node in own.naming({"a"}, set())] == ["b"]
    assert own.naming({"a"}, set(own.index.nodes)) == []
