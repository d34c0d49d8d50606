"""The bound on work: the same everywhere, growing with the values, and wide enough for honest use."""

import os
import subprocess
import sys

import pytest

from perdure.plan.expr import ExpressionError, parse


def refusal(source, scope):
    try:
        parse(source).evaluate(scope)
    except ExpressionError as error:
        return error.code if error.code == "PRD1211" else None
    return None


FAMILIES = {
    "numbers": ("size(inputs.l) > 0", lambda n: [0] * n),
    "objects": ("size(inputs.l) > 0", lambda n: [{"a": 1, "b": "x"} for _ in range(n)]),
    "loop": ("inputs.l.exists(i, i == 1)", lambda n: [0] * n),
    "loop in loop": ("inputs.l.exists(i, inputs.l.exists(j, i > j))", lambda n: [0] * n),
    "equality": ("inputs.l.exists(i, inputs.l != inputs.l)", lambda n: [0] * n),
    "search": ("inputs.l.exists(i, -1 in inputs.l)", lambda n: [0] * n),
    "size": ("inputs.l.exists(i, size(i) < 0)", lambda n: ["x" * 1000] * n),
    "contains": ("inputs.l.exists(i, i.contains('xy'))", lambda n: ["x" * 100] * n),
    "lookup": ("inputs.l.exists(i, inputs.l[i] == 1)", lambda n: [0] * n),
    "errors": ("inputs.l.exists(i, i.x == 1 || i < 'a')", lambda n: [0] * n),
    "inner lists": ("inputs.l.all(i, i.t.exists(t, t == 'a'))", lambda n: [{"t": ["b"] * 3}] * n),
    "outer variable": ("inputs.l.all(i, i.t.all(t, i.t.exists(u, u == t)))", lambda n: [{"t": ["b"] * 3}] * n),
    "result": ("[inputs.l, 1]", lambda n: [0] * n),
    "optional": ("inputs.l.all(i, i.?x.y.orValue(1) == 1)", lambda n: [{"x": {"y": 1}}] * n),
    "times": ("inputs.l.all(i, timestamp(i).getHours() == 0)", lambda n: [0] * n),
}


def boundary(name):
    """The largest number of elements that is taken."""
    source, make = FAMILIES[name]
    taken, refused = 0, 200_000
    while refused - taken > 1:
        middle = (taken + refused) // 2
        if refusal(source, {"inputs": {"l": make(middle)}}):
            refused = middle
        else:
            taken = middle
    return taken


def test_the_bound_is_the_same_in_every_process():
    def in_a_process(seed):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, __file__], env=env, check=True, capture_output=True, text=True)
        return done.stdout

    assert in_a_process("1") == in_a_process("2")


@pytest.mark.parametrize("name", FAMILIES)
def test_more_values_are_never_cheaper(name):
    source, make = FAMILIES[name]
    most = boundary(name)
    assert most > 20
    for n in range(0, most, max(1, most // 15)):
        assert not refusal(source, {"inputs": {"l": make(n)}})
    for n in (most + 1, most * 2, most * 10):
        assert refusal(source, {"inputs": {"l": make(n)}})


@pytest.mark.parametrize(("outer", "inner", "refused"), [(99, 100, None), (100, 100, "PRD1211"), (1, 9_999, None)])
def test_all_rounds_are_counted_before_the_first(outer, inner, refused):
    scope = {"inputs": {"a": [0] * outer, "b": [0] * inner}}
    assert refusal("inputs.a.exists(i, inputs.b.exists(j, true))", scope) == refused


def test_a_loop_over_an_object_does_not_depend_on_the_order_of_its_keys():
    scope = {"inputs": {"m": {f"k{n}": [0] * 1000 for n in range(20)}}}
    assert refusal("inputs.m.exists(k, k == 'k0' || inputs.m[k].exists(i, i == 1))", scope) == "PRD1211"


def test_inner_lists_count_by_their_own_lengths():
    uneven = [{"t": [0] * 3000}, *({"t": [0]} for _ in range(500))]
    assert refusal("inputs.l.all(i, i.t.all(t, t == 0))", {"inputs": {"l": uneven}}) is None


def test_a_large_element_counts_once():
    texts = ["x" * 500_000, *("y" for _ in range(900))]
    assert refusal("inputs.l.all(i, size(i) > 0)", {"inputs": {"l": texts}}) is None
    assert refusal("inputs.l.all(i, size(inputs.l[0]) > 0)", {"inputs": {"l": texts}}) == "PRD1211"


def test_a_size_is_not_asked_of_a_list():
    assert refusal("inputs.l.all(i, size(inputs.l) > 0)", {"inputs": {"l": ["x" * 900] * 1000}}) is None


def test_keys_are_found_without_a_search():
    scope = {"inputs": {"l": [f"k{n}" for n in range(2000)], "m": {f"k{n}": 1 for n in range(2000)}}}
    assert refusal("inputs.l.all(i, i in inputs.m && inputs.m[i] == 1)", scope) is None
    assert refusal("inputs.l.all(i, i in inputs.l)", scope) == "PRD1211"


if __name__ == "__main__":
    sys.stdout.write(str([(name, boundary(name)) for name in FAMILIES]))
