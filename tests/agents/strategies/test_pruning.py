"""E5 rule 12: what a search will not come back to is undone when it is pruned, and nothing else is."""

import random
import re

from hypothesis import given, settings
from hypothesis import strategies as st
from thinkers import agent, world_of

from perdure.core import events as e
from perdure.core.calls import Failure

ACT = {
    "tool": "x.put",
    "with": {"name": "${inputs.branch}", "what": "${inputs.output}"},
    "undo": {"tool": "x.take", "with": {"name": "${inputs.branch}"}},
}


class Ground:
    """Where branches leave traces. What is proposed there, and how good it is, is drawn by lot."""

    def __init__(self, seed, **options):
        self.rng, self.done, self.put = random.Random(seed), {}, []
        tools = {"x.put": self.act, "x.take": self.undo, "x.rate": lambda output: self.often(self.rng.random())}
        me = agent("tree", {"act": ACT, "judge": {"tool": "x.rate"}, **options})
        self.world = world_of(me, self.say, tools, order=seed)

    def often(self, value):
        return value if self.rng.random() < 0.85 else Failure("logic", "no")

    def say(self, prompt, _):
        if (most := re.search(r"At most (\d+)", prompt)) is not None:
            return {"thoughts": [self.word() for _ in range(int(most[1]))]}
        return self.often(self.word())

    def word(self):
        return f"{self.rng.randrange(10**9)}"

    def act(self, name, what):
        if isinstance(said := self.often(what), str):
            self.put.append(name)
            self.done[name] = what
        return said

    def undo(self, name):
        return self.done.pop(name)


def lines_in(memo, tags):
    """The trials of all that stands, with all that led to it."""
    best, spare, again = memo["held"]
    left = [*memo["parents"], *([best] if best else []), *(spare if again else [])]
    found = set()
    while left:
        id_, _, trial, *_ = left.pop()
        found.add(trial)
        left += [tags[id_][0]] if tags[id_][0] else []
    return found


def check_drops(world):
    """Held against all lines, looked through from end to end: with every new level all that fell is dropped, once."""
    tags, tried, dropped = {}, set(), []
    for event in world.find(e.StepsGrown):
        tags |= event.tags
        dropped += event.drop
        if event.memo["phase"] == "propose":
            assert set(dropped) == tried - lines_in(event.memo, tags)
        if event.memo["phase"] == "try":
            tried |= {step["id"] for step in event.add}
    assert len(dropped) == len(set(dropped))
    return dropped


@given(
    seed=st.integers(0, 2**32),
    sizes=st.fixed_dictionaries({"width": st.integers(1, 4), "beam": st.integers(1, 3), "depth": st.integers(1, 6)}),
    again=st.integers(0, 3),
    goal=st.sampled_from([{}, {"goal": 0.9}]),
    together=st.booleans(),
)
@settings(max_examples=100, deadline=None)
def test_e5_exactly_what_fell_is_dropped_and_exactly_the_winning_line_stands(seed, sizes, again, goal, together):
    ground = Ground(seed, **sizes, **goal, again=again, together=together)
    world = ground.world.run()
    check_drops(world)
    assert world.status in {"succeeded", "failed"}
    assert len(ground.put) == len(set(ground.put))  # nothing is done anew that was undone too early
    assert sorted(ground.done.values()) == (sorted(world.output["line"]) if world.status == "succeeded" else [])


def test_rule_12_what_is_pruned_is_undone_before_the_search_is_over():
    ground = Ground(7, width=3, beam=1, depth=4, again=0)
    ground.often = lambda value: value
    world = ground.world.run()
    assert [len(each.drop) for each in world.find(e.StepsGrown)] == [0, 0, 2, 0, 2, 0, 2, 0]
    ends = [(each.step, each.deed) for each in world.find(e.AttemptEnded)]
    last = max(n for n, (step, deed) in enumerate(ends) if deed == "do")
    assert sum(deed == "undo" for _, deed in ends[:last]) == 6
    assert sum(deed == "undo" for _, deed in ends[last:]) == 2  # those of the last level lose at the end


def test_e10_killed_at_every_turn_what_fell_is_undone_once_and_what_won_stands():
    whole = Ground(3, width=2, beam=1, depth=3, again=1).world.run()
    turns = len(whole.made) + 12
    for turn in range(1, turns):
        ground = Ground(3, width=2, beam=1, depth=3, again=1)
        for _ in range(turn):
            ground.world.step()
        ground.world.crash()
        world = ground.world.run()
        check_drops(world)
        assert sorted(ground.done.values()) == sorted(world.output["line"])
    assert whole.find(e.StepsGrown)[-1].drop or any(each.drop for each in whole.find(e.StepsGrown))


def test_losers_that_are_to_be_kept_are_not_undone_when_they_are_pruned():
    ground = Ground(7, width=3, beam=1, depth=3, again=0)
    ground.often = lambda value: value
    kept = world_of(
        agent("tree", {"act": ACT, "judge": {"tool": "x.rate"}, "width": 3, "beam": 1, "depth": 3, "again": 0}),
        ground.say,
        {"x.put": ground.act, "x.take": ground.undo, "x.rate": lambda output: ground.rng.random()},
        {"id": "ag", "agent": "me", "task": "x", "losers": "keep"},
    ).run()
    assert (kept.done("undo"), len(ground.done)) == ([], 9)
