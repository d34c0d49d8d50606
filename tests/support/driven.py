"""Runs that are driven twice, as they are and with the journal folded anew before every message: both must agree."""

from laws import check_journal, check_rest, check_state

from perdure.core.calls import Failure
from perdure.testing.worlds import World

NO = Failure("logic", "no")
LATER = Failure("transient", "later")


def tool(id_, **more):
    """A step that acts."""
    return {"id": id_, "tool": "x.y", **more}


def driven(plan, script=None, inputs=None, **dials):
    """A run that came to rest."""
    steps = {"steps": plan} if isinstance(plan, list) else plan
    start = {name: dials.pop(name) for name in ("seed", "due") if name in dials}
    worlds = [World(steps, script, forgetful=each, **dials).start(inputs, **start).run() for each in (False, True)]
    assert worlds[0].facts == worlds[1].facts
    check_journal(worlds[0].events)
    for world in worlds:
        check_state(world.state, world.slots, world.limits)
        check_rest(world)
    return worlds[1]
