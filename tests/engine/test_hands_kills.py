"""Engines with hands at work on a real repository, SIGKILL at any moment: each effect once, or taken back to the bit.

E10.
"""

import json
import random
import time
from collections import Counter

import pytest
import unprivileged
from hands_plans import by_lot, with_a_push, with_every_tool
from hands_scene import (
    assert_nothing_over_began_again,
    differences,
    outcome_of,
    sound,
    start_of,
    user_of,
)
from hands_victim import notes

from perdure.tools.builtin import HANDS

# ------------------------------------------------------------------------------- tests


def test_the_plan_uses_every_tool_that_has_hands():
    flat = json.dumps(with_a_push(with_every_tool(1)))
    left = [each.name for each in HANDS if f'"{each.name}"' not in flat]
    assert left == ["branch.open", "branch.place", "branch.close"], "these have kills of their own, in test_*_kills"


@pytest.mark.campaign("kills of an engine that uses every tool", "I1 I2 I3 I9", of="runs, each killed again and again")
def test_each_effect_is_there_once_however_often_the_engine_is_killed(scene, killer, trials):
    wanted, pace = undisturbed(scene())
    for seed in trials(2):
        draw, place = random.Random(seed), scene()
        place.plan = with_a_push(with_every_tool(place.post.port))
        place.until_over(draw, pace * draw.uniform(0.1, 0.6))
        assert place.end().status == "succeeded"
        assert differences(outcome_of(place), wanted) == {}
        assert differences(user_of(place.shop), place.start) == {}, "that is theirs"
        assert_done_once(place)
        assert_nothing_over_began_again(place.facts())
        place.remove()
    assert killer.ask("orphans") == []


def undisturbed(place):
    """What comes out if nobody is killed, and how long that takes."""
    place.plan = with_a_push(with_every_tool(place.post.port))
    began = time.monotonic()
    assert place.live()
    took = time.monotonic() - began
    assert place.end().status == "succeeded", place.end()
    assert_done_once(place)
    return outcome_of(place), took


@pytest.mark.campaign("kills while a run is taken back", "R6 I2 I9", of="runs, each killed again and again")
@pytest.mark.parametrize("user", unprivileged.users())
def test_a_rollback_that_is_killed_ends_at_the_start(scene, killer, trials):
    for seed in trials(2):
        draw, place = random.Random(seed), scene()
        place.plan = by_lot(draw, draw.randrange(6, 14))
        bring_far(place, draw)
        place.until_over(draw, draw.uniform(0.4, 1.5), "undo")
        assert place.end().status == "rolled_back"
        assert place.end().failure is None, place.end().failure
        assert differences(start_of(place.shop), place.start) == {}, f"seed {seed}"
        sound(place.shop)
        place.remove()
    assert killer.ask("orphans") == []


@pytest.mark.campaign("kills while a run is taken back that cannot be", "R6 I4", of="runs, each killed again and again")
def test_what_a_rollback_cannot_take_back_is_told(scene, killer, trials):
    for seed in trials(1):
        draw, place = random.Random(seed), scene()
        place.plan = with_every_tool(place.post.port)
        bring_far(place, draw)
        place.until_over(draw, draw.uniform(0.4, 1.5), "undo")
        failure = place.end().failure
        told = {each["step"] for each in failure.detail} if failure else set()
        done = {step for _, step, _ in notes(place.world)}
        assert done <= told <= {"pay", "order", "put", "letter", "book", "pay_again"}, (
            "what may have been sent is told too"
        )
        assert differences(start_of(place.shop), place.start) == {}, f"seed {seed}"
        sound(place.shop)
        place.remove()


def bring_far(place, draw):
    """Let a run come to its end, or somewhere before it, with some killed on the way."""
    for _ in range(draw.randrange(1, 4)):
        place.live_and_die(draw, draw.uniform(0.5, 3))
    if draw.random() < 0.5:
        assert place.live()
        assert place.end().status == "succeeded", place.end()


def assert_done_once(place):
    """Each payment and each letter once; whatever has a key once for its key."""
    done = Counter(step for _, step, _ in notes(place.world))
    assert done == dict.fromkeys(["pay", "order", "put", "letter", "book", "pay_again"], 1)
    asked = Counter(path for _, path, _ in place.post.asked)
    assert asked["/letter"] == 1, "nobody promised that it can be sent twice"
    keys = {path: {key for _, known, key in place.post.asked if known == path} for path in asked}
    assert all(len(each) == 1 for each in keys.values()), keys
