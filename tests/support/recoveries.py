"""Plans with other ways and recovery tables by lot."""

KINDS = ("logic", "transient", "timeout", "unmet", "invalid", "denied", "stalled", "other")
RUNGS = ("retry", "simplify", "relax", "alternate", "replan", "ask", "rollback", "continue", "fail")
WAYS = ({"tool": "x.z"}, {"tool": "x.y", "with": {"value": 1}}, {"model": "weak", "prompt": "Think"}, {"tool": "x.w"})


def recovering(rng, raw, inside=False):
    """A plan, as it is written, whose steps have other ways, and tables that say when they are taken."""
    if rng.random() < (0.4 if inside else 0.7) and _may_recover(raw):
        raw["recovery"] = {kind: rng.sample(RUNGS, rng.randint(1, 3)) for kind in rng.sample(KINDS, rng.randint(1, 4))}
    if inside and raw.keys() & {"tool", "model", "agent"}:
        _offer(rng, raw)
    for steps in (raw.get("steps", []), raw.get("parallel", [])):
        for step in steps:
            recovering(rng, step, inside=True)
    if isinstance(raw.get("plan"), dict):
        recovering(rng, raw["plan"], inside=False)
    return raw


def _offer(rng, raw):
    if rng.random() < 0.6:
        raw["alternates"] = rng.sample(WAYS, rng.randint(1, 3))
    if rng.random() < 0.4:
        raw["simpler"] = rng.choice(WAYS)
    if rng.random() < 0.3:
        raw |= {"accept": ["output != 3 && output != 4"], "relaxed": ["output != 3"]}
    if rng.random() < 0.2:
        judges = [{"tool": f"judge.{word}", "with": {"of": "${output}"}} for word in ("one", "two")]
        raw["accept"] = [*raw.get("accept", []), *judges[: rng.randint(1, 2)]]


def _may_recover(raw):
    return not raw.keys() & {"done", "fail", "wait", "checkpoint"}
