"""E21: whatever is limited, and whatever calls take of what they were promised, no strategy spends more; and all of them end."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thinkers import agent, answers, bound, step_of

from perdure.agents.strategies.costs import affordable, budgets, fits, lacking
from perdure.core import events as e
from perdure.core.calls import Failure, Outcome, Usage
from perdure.testing.models import calls, calls_all
from perdure.testing.worlds import World

MODEL = {"usd": 0.01}
RATE = {"tool": "x.rate"}
ACT = {
    "tool": "x.put",
    "with": {"name": "${inputs.branch}"},
    "undo": {"tool": "x.take", "with": {"name": "${inputs.branch}"}},
}
WAYS = {
    "single": [{}, {"repairs": 4}],
    "sample": [
        {},
        {"answers": 9},
        {"judge": RATE},
        {"judge": {"model": "strong"}},
        {"judge": {"expr": "size(output)"}},
    ],
    "reflexion": [
        {"strategy": "single"},
        {"strategy": "single", "rounds": 6, "judge": RATE},
        {"strategy": "sample", "accept": ["size(output) > 9"]},
        {"strategy": "react", "judge": {"expr": "size(output)"}, "score": 9},
    ],
    "react": [{}, {"rounds": 5}, {"repairs": 0}],
    "draft": [{}, {"repairs": 4}],
    "plan": [{}, {"replans": 4}],
    "tree": [
        {},
        {"judge": RATE, "act": ACT},
        {"judge": {"model": "strong"}, "act": ACT, "width": 5},
        {"judge": {"votes": 2}},
        {"judge": {"expr": "size(output)"}, "depth": 6, "beam": 3},
        {"judge": RATE, "together": True, "width": 6, "goal": 9},
    ],
}
KINDS = {"budget", "unmet", "invalid", "logic", "transient", "stalled"}
NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


class Payer:
    """A world in which answers and what they take are drawn by lot; nothing takes more than it was promised."""

    def __init__(self, strategy, options, step, seed):
        self.rng = random.Random(seed)
        script = answers(
            self.say,
            {"x.rate": lambda output: self.rng.random(), "x.put": lambda name: name, "x.take": lambda name: name},
        )
        self.script = script
        plan = {"steps": [step]}
        expected = {
            "estimate": self.expected,
            "strategies": bound([agent(strategy, options, tokens=100, tools=("x.rate",))]),
        }
        self.world = World(plan, self.given, **expected, order=seed).start({"what": "it"})

    def given(self, command):
        usual = self.script(command)
        if command.deed != "do":
            return usual
        return lambda call: self.paid(command, call, usual(call)) if call.kind == "model" else usual(call)

    def paid(self, command, call, outcome):
        promised = self.world.state.cells[command.step].work.reserved
        part = self.rng.choice([0.0, 0.3, 1.0, 1.0])
        used = Usage(tokens=int(part * promised.tokens), usd=part * (promised.usd or 0), calls=promised.calls)
        return Outcome(outcome.output, outcome.exit, outcome.failure, usage=used)

    def expected(self, call):
        """As the performer of models counts: all that is given, and the longest answer."""
        if call.kind != "model":
            return {}
        return {"tokens": len(str(call.arguments)) // 3 + call.arguments.get("tokens", 1), **MODEL}

    def say(self, prompt, step):
        if self.rng.random() < 0.1:
            return Failure(self.rng.choice(["logic", "transient"]), "no")
        return self.rng.choice(
            [
                '{"lesson": "x"}',
                '{"score": 0.5}',
                '{"thoughts": ["a", "b", "c"]}',
                '{"n": 1}',
                '{"best": 1}',
                '{"steps": [{"id": "a", "tool": "model.think", "with": {"prompt": "x"}}, {"id": "b", "tool": "x.y"}]}',
                '{"steps": [{"id": "a", "tool": "model.think", "with": {"prompt": "x"}}]}',
                calls("x.rate", output=self.rng.random()),
                calls_all(calls("x.rate", output=1), calls("x.none"), calls("x.rate", output=2)),
                "word",
                "words",
            ]
        )


@given(
    way=st.sampled_from([(name, options) for name, all_ in WAYS.items() for options in all_]),
    limits=st.dictionaries(
        st.sampled_from(["tokens", "calls", "usd", "steps"]),
        st.floats(0, 1),
        min_size=1,
    ),
    then=st.sampled_from(["fail", "finish"]),
    returns=st.booleans(),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=250, deadline=None)
def test_e21_no_strategy_spends_more_than_there_is_and_every_one_ends(way, limits, then, returns, seed):
    most = {"tokens": 12_000, "calls": 40, "usd": 0.4, "steps": 60}
    budget = {word: share * most[word] if word == "usd" else int(share * most[word]) for word, share in limits.items()}
    about = {"budget": {**budget, "then": then}, "recovery": {"stalled": ["fail"]}}
    step = step_of(**about, **({"returns": NUMBER} if returns else {}))
    world = Payer(*way, step, seed).world.run()
    assert world.status in {"succeeded", "failed"}
    assert world.failure is None or world.failure.kind in KINDS
    if (
        way[0] in {"sample", "reflexion", "tree"}
        and world.failure
        and "the budget of ag is used up" in world.failure.message
    ):
        assert world.made == []  # one that has begun says itself what came of it
    ledgers = world.state.books.ledgers
    for ledger in ledgers.values():
        for word in ledger.limits:
            assert ledger.spent.get(word, 0) <= ledger.limits[word]
            assert ledger.reserved.get(word, 0) == 0


@pytest.mark.parametrize("options", WAYS["tree"])
@pytest.mark.parametrize(("word", "most"), [("calls", 40), ("tokens", 16_000), ("usd", 0.4), ("steps", 60)])
def test_e21_a_tree_never_grows_wider_when_there_is_less(options, word, most):
    def width(share):
        amount = most * share / 20
        budget = {word: amount if word == "usd" else int(amount), "then": "fail"}
        payer = Payer("tree", options, step_of(budget=budget), 7)
        grown = payer.world.find(e.StepsGrown)[0]
        asked = [step["prompt"].rpartition("At most ")[2] for step in grown.add]
        return int(asked[0].strip(".")) if options.get("together") else len(asked)

    widths = [width(share) for share in range(1, 21)]
    assert widths == sorted(widths)
    assert widths[0] < widths[-1] or options.get("together")  # one call proposes few as well as many


@given(
    st.lists(st.fixed_dictionaries({"tokens": st.integers(0, 50), "calls": st.integers(0, 2)}), min_size=1, max_size=8)
)
def test_shares_are_never_more_than_there_is_and_never_less_than_is_taken(costs):
    left = {
        "tokens": sum(each["tokens"] for each in costs) + 17,
        "calls": sum(each["calls"] for each in costs),
        "depth": 3,
    }
    shares = [each["budget"] for each in budgets(left, costs)]
    for word in ("tokens", "calls"):
        assert sum(share[word] for share in shares) <= left[word]
        assert all(share[word] >= cost[word] for share, cost in zip(shares, costs, strict=True))
    assert affordable(costs, left) == len(costs)


def test_what_fits_and_what_lacks():
    assert fits({"calls": 2}, {"calls": 2, "depth": 0})
    assert not fits({}, {"seconds": 0})
    assert fits({"usd": 1}, {})
    assert lacking({"calls": 2, "tokens": 5}, {"calls": 1, "tokens": 4}) == (
        "5 tokens are needed and 4 left, 2 calls are needed and 1 left"
    )
    assert lacking({}, {"seconds": 0}) == "no time is left"
