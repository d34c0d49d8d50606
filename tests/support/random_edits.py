"""Edits of a plan that is being carried out: some fit, some do not."""

from perdure.core import events as e

FIELDS = (
    {"title": "another"}, {"priority": 3}, {"when": "1 == 1"}, {"when": "1 == 2"}, {"when": None}, {"max_visits": 2},
    {"limit": 2}, {"retry": {"attempts": 2}}, {"needs": []}, {"mode": "graph"}, {"budget": {"steps": 3}},
)  # fmt: skip
OF_PLAN = ({"limit": 2}, {"name": "x"}, {"timeout": 3}, {"budget": None}, {"policy": {"deny": ["costs"]}})
"""A budget is not lowered here: the auditor would take what was promised before for too much."""


def some_revision(state, rng):
    index = state.cells[""].scope.outline.index
    names = sorted(index.by_id)
    edits = tuple(some_edit(state, index, names, number, rng) for number in range(rng.choice((1, 1, 1, 2, 3))))
    base = rng.choice((state.revision, state.revision, state.revision, -1, state.revision + 1))
    return e.RunRevised(base=base, edits=edits, by="somebody", why="why not", widen=rng.random() < 0.2)


def some_edit(state, index, names, number, rng):
    name = rng.choice(names)
    new = f"n{state.revision}_{number}"
    draw = rng.random()
    if draw < 0.5:
        return _insert(index, names, name, new, rng)
    if draw < 0.65:
        return {"remove": name}
    if draw < 0.8:
        return {"replace": name, "step": _step(rng.choice((name, new)), f"{new}_in", rng)}
    if draw < 0.85:
        return {"amend": "", "fields": rng.choice(OF_PLAN)}
    return {"amend": name, "fields": rng.choice(FIELDS)}


def _insert(index, names, name, new, rng):
    step = _step(new, f"{new}_in", rng)
    group = index.by_id[name].parent
    if not group.serial and rng.random() < 0.6:
        step["needs"] = rng.sample([each.id for each in group.children], min(2, len(group.children)))
    places = ({"after": name}, {"before": name}, {"into": name}, {"into": ""}, {"into": group.id})
    return {"insert": step, **rng.choice(places)}


def _step(new, inner, rng):
    return rng.choice((
        {"id": new, "tool": "x.y", "with": {"value": 1}, "undo": {"tool": "un.do"}},
        {"id": new, "tool": "x.z", "with": {"value": "a"}},
        {"id": new, "ask": "may it?", "answer": "approval"},
        {"id": new, "checkpoint": True},
        {"id": new, "steps": [{"id": inner, "tool": "x.y"}, {"id": f"{inner}2", "tool": "x.z"}]},
        {"id": new, "parallel": [{"id": inner, "tool": "x.y"}, {"id": f"{inner}2", "tool": "x.z"}], "join": "any"},
        {"id": new, "map": [1, 2], "steps": [{"id": inner, "tool": "x.y", "with": {"value": "${item}"}}]},
        {"id": new, "tool": "x.y", "with": {"value": "${steps.?" + new + ".output}"}},
    ))  # fmt: skip
