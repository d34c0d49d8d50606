"""A planner of others as the oracle: Fast Downward, through the library unified-planning. Only the tests need it.

A document is put into their words whole, with its variables: grounding, search and the proof that there is no plan are
theirs. Kinds become facts about objects, and two variables are two objects.
"""

import os
import warnings
from contextlib import chdir
from itertools import combinations
from tempfile import TemporaryDirectory

import pytest
from contracts_judge import literal, variables

try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import unified_planning.shortcuts as up
        import up_fast_downward  # noqa: F401  it is found by its name, and this says that it is there
except ImportError:
    up = None


def oracle():
    """Whether there is one; where everything has to be tested it is part of the tests."""
    if up is None and os.environ.get("CI") == "true":
        pytest.fail("unified-planning and up-fast-downward are not installed")
    return up or pytest.skip("unified-planning and up-fast-downward are not installed")


def cheapest_by_oracle(document):
    """The cost of the best plan; None if it is proved that there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem, costs = translated(document)
        up.get_environment().credits_stream = None
        result, proofs = solved(problem, "fast-downward-opt"), ("SOLVED_OPTIMALLY", "UNSOLVABLE_PROVEN")
        if result.status.name == "UNSUPPORTED_PROBLEM":  # its own translation has conditional effects now and then
            blind = {"fast_downward_search_config": "astar(blind())"}
            result, proofs = (
                solved(problem, "fast-downward", params=blind),
                ("SOLVED_SATISFICING", "UNSOLVABLE_INCOMPLETELY"),
            )
    assert result.status.name == proofs[result.plan is None]
    return None if result.plan is None else sum(costs[each.action.name] for each in result.plan.actions)


def solved(problem, name, **settings):
    """What their planner says. It writes to where it stands, as its neighbours would, so each has a place of its own."""
    with TemporaryDirectory() as place, chdir(place), up.OneshotPlanner(name=name, **settings) as planner:
        return planner.solve(problem, timeout=120)


def translated(document):
    """The document in the words of unified-planning, and what each action costs."""
    return _Translation(document).run()


class _Translation:
    def __init__(self, document):
        self.document = document
        self.problem = up.Problem("contracts")
        self.thing = up.UserType("thing")
        self.fluents, self.objects = {}, {}

    def run(self):
        for kind, names in self.document.get("objects", {}).items():
            for name in names:
                self.problem.set_initial_value(self.fluent(f"is {kind}", 1)(self.an_object(name)), True)
        for text in self.document.get("given", ()):
            self.problem.set_initial_value(self.atom(literal(text)[1]), True)
        costs = {}
        for name, action in self.document["actions"].items():
            made = self.action(name, action)
            costs[made] = up.Int(action.get("cost", 1))
        for text in self.document["wanted"]:
            self.problem.add_goal(self.condition(literal(text)))
        self.problem.add_quality_metric(up.MinimizeActionCosts(costs))
        return self.problem, {each.name: price.constant_value() for each, price in costs.items()}

    def fluent(self, name, count):
        if name not in self.fluents:
            parameters = {f"o{n}": self.thing for n in range(count)}
            self.fluents[name] = up.Fluent(f"f{len(self.fluents)}", up.BoolType(), **parameters)
            self.problem.add_fluent(self.fluents[name], default_initial_value=False)
        return self.fluents[name]

    def an_object(self, name):
        if name not in self.objects:
            self.objects[name] = self.problem.add_object(f"o{len(self.objects)}", self.thing)
        return self.objects[name]

    def atom(self, atom):
        name, *terms = atom
        return self.fluent(name, len(terms))(
            *(self.an_object(each) if isinstance(each, str) else each for each in terms)
        )

    def condition(self, asked):
        holds, atom = asked
        return self.atom(atom) if holds else up.Not(self.atom(atom))

    def action(self, name, action):
        kinds = variables(action)
        made = up.InstantaneousAction(f"a{len(self.problem.actions)}", **{f"v_{each}": self.thing for each in kinds})
        bound = {each: made.parameter(f"v_{each}") for each in kinds}
        for each, kind in kinds.items():
            made.add_precondition(self.fluent(f"is {kind}", 1)(bound[each]))
        for one, other in combinations(bound.values(), 2):
            made.add_precondition(up.Not(up.Equals(one, other)))
        for text in action.get("requires", ()):
            made.add_precondition(self.condition(literal(text, bound)))
        for holds, atom in sorted((literal(text, bound) for text in action["effects"]), key=lambda each: each[0]):
            made.add_effect(self.atom(atom), holds)
        self.problem.add_action(made)
        return made
