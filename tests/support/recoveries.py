"""Plans with other ways and recovery tables by lot."""

KINDS = ("logic", "transient", "timeout", "unmet", "invalid", "denied", "stalled", "other")
RUNGS = ("retry", "simplify", "relax", "alternate", "replan", "ask", "rollback", "continue", "fail")
GROWN = {"agent": "grower", "task": "Grow", "with": {"value": 2}}
WAYS = ({"tool": "x.z"}, {"tool": "x.y", "with": {"value": 1}}, {"model": "weak", "prompt": "Think"}, {"tool": "x.w"})


def straying(rng, raw):
    """A plan whose groups and agents have other ways too, agents among them, and whose steps may say their skills."""
    for step in _steps_in(recovering(rng, raw)):
        if step.keys() & {"steps", "parallel", "map", "plan", "agent"}:
            _offer_instead(rng, step)
        if "tool" in step and rng.random() < 0.3:
            step["skills"] = rng.choice((["look"], ["look", "buy"]))
    return raw


def persisting(rng, raw):
    """The same, and groups and agents may be done again as a whole."""
    for step in _steps_in(straying(rng, raw)):
        if step.keys() & {"steps", "parallel", "map", "plan", "agent"} and rng.random() < 0.7:
            step["retry"] = {"attempts": rng.randint(2, 4), "wait": rng.choice([0, 1, 3])}
            if rng.random() < 0.2:
                step["retry"]["within"] = 8
    return raw


def _steps_in(raw):
    inside = [*raw.get("steps", []), *raw.get("parallel", [])]
    if isinstance(raw.get("plan"), dict):
        inside += _steps_in(raw["plan"])
    return [each for step in inside for each in (step, *(_steps_in(step)))]


def _offer_instead(rng, raw):
    if rng.random() < 0.6:
        raw["alternates"] = rng.sample((*WAYS, GROWN), rng.randint(1, 3))
    if rng.random() < 0.3:
        raw["simpler"] = rng.choice((*WAYS, GROWN))
    if rng.random() < 0.4:
        raw |= {"accept": ["output == 3"], "relaxed": ["output != 4"]}
    if rng.random() < 0.2:
        raw["timeout"] = 5


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
