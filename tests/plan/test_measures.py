import random
from itertools import count

import pytest

from perdure.plan.measures import Measures, measure, sentence
from perdure.plan.model.document import Plan

COSTS = ("seconds", "usd", "tokens", "calls")


def tool(name, seconds=None, **more):
    return {"id": name, "tool": "a.b", **({"estimate": {"seconds": seconds}} if seconds is not None else {}), **more}


def measured(*steps, **more):
    return measure(Plan.model_validate({"steps": list(steps), **more}))


# ------------------------------------------------------------------------------- by hand


def test_counts():
    found = measured(
        tool("a", on={"failure": "a"}, max_visits=2),
        {
            "id": "p",
            "parallel": [tool("b"), {"id": "g", "steps": [{"id": "q", "ask": "?"}, tool("c", on={"failure": "a"})]}],
        },
        {"id": "end", "done": True},
    )
    assert (found.steps, found.acting, found.depth, found.widest) == (7, 4, 3, 2)
    assert (found.questions, found.loops, found.open_ended) == (1, 2, False)
    assert found.path == ("a", "q", "c")
    assert (found.path_seconds, found.seconds, found.usd, found.tokens, found.calls) == (None,) * 5


def test_seconds_decide_the_longest_path_and_the_number_of_steps_where_there_are_none():
    steps = [tool("a"), tool("b", needs=["a"]), tool("c", needs=["b"]), tool("slow", needs=["a"])]
    assert measured(*steps).path == ("a", "b", "c")
    found = measured(*steps[:3], tool("slow", 5, needs=["a"]))
    assert (found.path, found.path_seconds) == (("a", "slow"), 5)


def test_a_serial_path_follows_the_flow_and_no_jump_back():
    found = measured(
        tool("a", on={"failure": "late"}),
        {"id": "end", "done": True},
        tool("never"),
        tool("late", 9, on={"success": "a"}),
    )
    assert (found.path, found.path_seconds, found.loops) == (("a", "late"), 9, 1)


def test_a_limit_and_the_declared_times_bound_what_is_live_at_once():
    four = [tool(f"s{number}") for number in range(4)]
    assert measured(*four, mode="graph").widest == 4
    assert measured(*four, mode="graph", limit=3).widest == 3
    early, late = tool("early", 1), tool("late", 10)
    follows = [tool(f"f{number}", 1, needs=["early"]) for number in range(3)]
    assert measured(early, late, *follows).widest == 4
    assert measured(tool("early", 20), late, *follows).widest == 3
    assert measured(early, late, *follows, limit=2).widest == 2


def test_what_has_priority_starts_first():
    def wide(name, seconds, priority):
        return {"id": name, "parallel": [tool(f"{name}{n}", seconds) for n in range(3)], "priority": priority}

    steps = [wide("a", 1, 0), tool("b", 9)]
    assert measured(*steps, wide("c", 9, 0), mode="graph", limit=2).widest == 4
    assert measured(*steps, wide("c", 9, 1), mode="graph", limit=2).widest == 6


@pytest.mark.parametrize(
    ("items", "limit", "widest", "path"),
    [([1, 2, 3], None, 6, 1), ([1, 2, 3], 2, 4, 1), ("${x}", 5, 2, 1), ([], None, 0, 0)],
)
def test_a_map_multiplies_by_its_items(items, limit, widest, path):
    body = {"id": "m", "map": items, "parallel": [tool("a", 10), tool("b", 10)], **({"limit": limit} if limit else {})}
    found = measured(body)
    assert (found.widest, len(found.path), found.open_ended) == (widest, path, isinstance(items, str))
    times = 1 if isinstance(items, str) else len(items)
    assert found.seconds == 20 * times
    assert found.path_seconds == (10 * (-(-times // (limit or times or 1))))


def test_what_a_group_declares_counts_instead_of_what_is_in_it():
    inner = [tool("a", estimate={"seconds": 5, "usd": 1}), tool("b", estimate={"seconds": 5})]
    found = measured(
        {"id": "g", "steps": inner, "estimate": {"seconds": 60}}, tool("c", estimate={"usd": 0.5, "calls": 2})
    )
    assert (found.seconds, found.usd, found.tokens, found.calls) == (60, 1.5, None, 2)
    assert (found.path, found.path_seconds) == (("a", "b", "c"), 60)


def test_a_circle_of_needs_is_measured_all_the_same():
    assert measured(tool("a", needs=["b"]), tool("b", needs=["a"])).steps == 2


def test_as_json_is_plain_data():
    found = measured(tool("a", 3)).as_json()
    assert found["path"] == ["a"]
    assert found["path_seconds"] == 3
    assert set(found) == set(Measures.__dataclass_fields__)


# ------------------------------------------------------------------------------- for people


def test_a_jump_back_that_never_returns_is_no_loop():
    found = measured(tool("a", on={"failure": "c"}), tool("b", on={"success": "done"}), tool("c", on={"success": "b"}))
    assert (found.loops, found.path) == (0, ("a", "c", "b"))


def test_the_sentence():
    found = measured(
        tool("fetch", estimate={"seconds": 10, "usd": 0.1}),
        {"id": "parts", "parallel": [tool("models", 60), tool("api", 20)]},
        {"id": "tests", "tool": "a.b", "estimate": {"seconds": 40, "tokens": 52000}, "on": {"failure": "fetch"}},
        {"id": "ok", "ask": "?"},
        {"id": "each", "map": "${x}", "steps": [tool("one", estimate={"usd": 0.3, "calls": 1})]},
    )
    assert sentence(found) == (
        "8 steps, 2 deep, at most 2 at once; longest path 5 steps, 1m50s: fetch → models → tests → ok → one; "
        "declared: 2m10s, $0.40, 52,000 tokens, 1 call; 1 question to people; 1 loop; "
        "open-ended: a map over a computed list counts as one item"
    )


def test_a_long_path_is_shortened():
    found = sentence(measured(*(tool(f"s{number}") for number in range(20))))
    assert (
        found == "20 steps, 1 deep, at most 1 at once; longest path 20 steps: s0 → s1 → s2 → s3 → … → s17 → s18 → s19"
    )


# ------------------------------------------------------------------------------- by brute force


def written(rng, ids, depth):
    """A random group as plain data."""
    names = [f"s{next(ids)}" for _ in range(rng.randint(1, 5))]
    steps = []
    mode = rng.choice(("serial", "graph"))
    for place, name in enumerate(names):
        step = tool(name, rng.choice((None, 1, 2, 5, 9)), priority=rng.randint(-1, 1))
        if depth and rng.random() < 0.4:
            step = {"id": name, **written(rng, ids, depth - 1), "priority": rng.randint(-1, 1)}
            if rng.random() < 0.3:
                step["map"] = [0] * rng.randint(1, 3)
            if rng.random() < 0.2:
                step["estimate"] = {"seconds": 7}
        if mode == "graph":
            step["needs"] = rng.sample(names[:place], rng.randint(0, min(2, place)))
        else:
            step["on"] = {
                word: rng.choice([*names, "done", "next"])
                for word in rng.sample(["success", "failure"], rng.randint(0, 2))
            }
        steps.append(step)
    return {
        "mode": mode,
        "steps": steps,
        **({"limit": rng.randint(1, 3)} if rng.random() < 0.4 and mode == "graph" else {}),
    }


def reached(start, after):
    """Everything that can follow, the start included."""
    seen, left = {start}, [start]
    while left:
        fresh = after[left.pop()] - seen
        seen |= fresh
        left += fresh
    return seen


def ways(group):
    """Every way through a group, as lists of positions."""
    steps = group["steps"]
    place = {step["id"]: number for number, step in enumerate(steps)}
    after = {number: set() for number in range(len(steps))}
    for number, step in enumerate(steps):
        if group["mode"] == "graph":
            for needed in step["needs"]:
                after[place[needed]].add(number)
            continue
        for target in {"success": "next", **step["on"]}.values():
            to = number + 1 if target == "next" else place.get(target, -1)
            after[number] |= {to} if 0 <= to < len(steps) else set()
    after = {
        number: {to for to in found if to > number or number not in reached(to, after)}
        for number, found in after.items()
    }
    starts = [0] if group["mode"] == "serial" else range(len(steps))
    stack = [[start] for start in starts]
    while stack:
        way = stack.pop()
        yield way
        stack += [[*way, to] for to in after[way[-1]]]


def brute(step):
    """Seconds and steps on the longest way, how long it lasts, how wide it gets, and the declared seconds."""
    said = step.get("estimate", {}).get("seconds")
    if "steps" not in step:
        return said or 0, 1, 1 if said is None else said, 1, said
    inside = [brute(child) for child in step["steps"]]
    seconds, length = max((sum(inside[n][0] for n in way), sum(inside[n][1] for n in way)) for way in ways(step))
    is_map = "map" in step
    limit = None if is_map else step.get("limit")
    lasts, wide = ticked(step, inside, limit or 99)
    declared = [child[4] for child in inside if child[4] is not None]
    total = sum(declared) if declared else None
    if is_map:
        times = len(step["map"])
        once = min(times, step.get("limit", times))
        rounds = -(-times // once)
        seconds, lasts, wide, total = seconds * rounds, lasts * rounds, wide * once, total and total * times
    return (seconds, length, lasts, wide, total) if said is None else (said, length, said, wide, said)


def ticked(step, inside, limit):
    """Second by second."""
    if step["mode"] == "serial":
        return max(sum(inside[n][2] for n in way) for way in ways(step)), max(child[3] for child in inside)
    steps = step["steps"]
    left = [child[2] for child in inside]
    over, live, widest, now = set(), set(), 0, 0
    while len(over) < len(steps):
        ended = {n for n in live if left[n] == 0}
        over, live = over | ended, live - ended
        names = {steps[n]["id"] for n in over}
        ready = [n for n in range(len(steps)) if n not in over | live and set(steps[n]["needs"]) <= names]
        for n in sorted(ready, key=lambda n: (-steps[n]["priority"], n))[: limit - len(live)]:
            live.add(n)
        widest = max(widest, sum(inside[n][3] for n in live))
        for n in live:
            left[n] -= 1
        now += bool(live)
    return now, widest


@pytest.mark.parametrize("seed", range(400))
def test_random_plans_against_brute_force(seed):
    rng = random.Random(seed)
    group = written(rng, count(), 2)
    found = measure(Plan.model_validate(group))
    seconds, length, _, widest, declared = brute(group)
    assert (len(found.path), found.widest, found.seconds) == (length, widest, declared)
    assert found.path_seconds == (seconds if declared is not None else None)
