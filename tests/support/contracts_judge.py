"""Judges plans from contracts without knowing the planner: it reads the document by itself and does what the plan says.

It shares no line with the planner: facts are read anew, actions are tried with all objects, and the best plan of a small
problem is found by looking at everything.
"""

from heapq import heappop, heappush
from itertools import count, permutations


class Invalid(AssertionError):
    """A plan does what cannot be done, or does not reach what is wanted."""


def literal(text, bound=None):
    """`not at(?t, ?a:place)` as (False, ("at", truck, depot))."""
    holds = not text.startswith("not ")
    name, _, rest = text.removeprefix("not ").strip().partition("(")
    terms = [each.strip() for each in rest.rstrip(")").split(",")] if rest else []
    return holds, (name, *(objects_for(each, bound or {}) for each in terms))


def objects_for(term, bound):
    return bound[term[1:].partition(":")[0]] if term.startswith("?") else term


def variables(action):
    """Each variable of an action with its kind."""
    found = {}
    for text in (*action.get("requires", ()), *action["effects"]):
        for term in text.partition("(")[2].rstrip(")").split(","):
            name, _, kind = term.strip()[1:].partition(":")
            if term.strip().startswith("?") and (kind or name not in found):
                found[name] = kind or name
    return found


def allowed(document, action, bound):
    kinds, objects = variables(action), document.get("objects", {})
    if set(kinds) != set(bound) or len(set(bound.values())) != len(bound):
        return False
    return all(bound[name] in objects[kind] for name, kind in kinds.items())


def possible(action, bound, state):
    asked = (literal(text, bound) for text in action.get("requires", ()))
    return all((atom in state) == holds for holds, atom in asked)


def done(action, bound, state):
    """What holds afterwards; what is made true and false at once is true."""
    changes = [literal(text, bound) for text in action["effects"]]
    return (state - {atom for holds, atom in changes if not holds}) | {atom for holds, atom in changes if holds}


def start_of(document):
    return frozenset(literal(text)[1] for text in document.get("given", ()))


def reaches(document, state):
    return all((atom in state) == holds for holds, atom in map(literal, document["wanted"]))


def action_of(document, step):
    """The action of a step, and the objects it was called with: the documents of tests hand all of them over."""
    found = [each for name, each in document["actions"].items() if each.get("tool", name) == step.tool]
    assert len(found) == 1, step.tool
    return found[0], dict(step.with_)


def carry_out(document, steps):
    """What the steps cost together, done one after another; `Invalid` if that cannot be."""
    state, cost = start_of(document), 0
    for step in steps:
        action, bound = action_of(document, step)
        if not allowed(document, action, bound):
            raise Invalid(f"{step.id} is called with {bound}")
        if not possible(action, bound, state):
            raise Invalid(f"{step.id} cannot be done when {sorted(state)}")
        told = {literal(text) for text in step.effects}
        if not told <= {literal(text, bound) for text in action["effects"]}:
            raise Invalid(f"{step.id} says it makes {step.effects}")
        state = frozenset(done(action, bound, state))
        cost += action.get("cost", 1)
    if not reaches(document, state):
        raise Invalid(f"in the end there is {sorted(state)}")
    return cost


def by_lot(plan, random):
    """The steps of a graph in any order that its needs allow."""
    over, left, order = set(), list(plan.steps), []
    while left:
        ready = [each for each in left if set(each.needs) <= over]
        chosen = random.choice(ready)
        left.remove(chosen)
        over.add(chosen.id)
        order.append(chosen)
    return order


# ------------------------------------------------------------------------------- looking at everything


def every_way(document):
    """Each action with all objects it can be done with."""
    for name, action in document["actions"].items():
        kinds = variables(action)
        everything = sorted({each for listed in document.get("objects", {}).values() for each in listed})
        for chosen in permutations(everything, len(kinds)):
            bound = dict(zip(kinds, chosen, strict=True))
            if allowed(document, action, bound):
                yield name, action, bound


def cheapest(document, most=200_000):
    """The cost of the best plan, None if there is none; `OverflowError` beyond so many states."""
    ways, number, start = list(every_way(document)), count(), start_of(document)
    known, heap = {start: 0}, [(0, next(number), start)]
    while heap:
        cost, _, state = heappop(heap)
        if cost > known[state]:
            continue
        if reaches(document, state):
            return cost
        if len(known) > most:
            raise OverflowError(most)
        for _, action, bound in ways:
            if possible(action, bound, state):
                after, price = frozenset(done(action, bound, state)), cost + action.get("cost", 1)
                if price < known.get(after, price + 1):
                    known[after] = price
                    heappush(heap, (price, next(number), after))
    return None
