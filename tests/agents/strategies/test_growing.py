"""E5: a thousand grown steps cost a thousand times what one costs: in work, in what is remembered, and on the disk."""

import json
import sys

import pytest
from thinkers import agent, world_of

from perdure.core import events as e

WAYS = {
    "tree": (lambda steps: {"width": 2, "beam": 1, "depth": steps // 4, "judge": {"tool": "x.rate"}}, "word"),
    "reflexion": (lambda steps: {"rounds": steps // 3, "accept": ["false"], "strategy": "single"}, '{"lesson": "x"}'),
}


def measured(strategy, steps):
    """How many functions a strategy calls, how much it remembers, and how much the journal holds, for so many steps."""
    options, said = WAYS[strategy]
    world = world_of(agent(strategy, options(steps)), lambda *_: said, {"x.rate": lambda output: 0.5})
    calls = 0

    def count(_frame, event, _arg):
        nonlocal calls
        calls += event == "call"

    def counted(strategy):
        def asked(view):
            sys.setprofile(count)
            try:
                return strategy(view)
            finally:
                sys.setprofile(None)

        return asked

    world.rules.strategies = {name: counted(each) for name, each in world.rules.strategies.items()}
    world.run()
    memo = max(len(json.dumps(event.memo)) for event in world.find(e.StepsGrown))
    grown = sum(1 for event in world.find(e.StepsGrown) for _ in event.add)
    return grown, calls / grown, memo, sum(len(body) for _, body, _ in world.facts) / grown


@pytest.mark.parametrize("strategy", WAYS)
def test_e5_work_memory_and_journal_stay_linear(strategy):
    few, *small = measured(strategy, 1000)
    many, *large = measured(strategy, 4000)
    assert many > 2.9 * few > 500
    for one, other in zip(small, large, strict=True):
        assert other < 1.15 * one
