"""SIGKILL at each system call of an engine that could write, of each of its threads: it goes on to the same end (R2).

The calls of one thread are counted from a gate on, and strace kills at one of them. What is built in finds out by
itself how far it came (R5); what is opaque is asked about, always.

E10.
"""

import pytest
import unprivileged
from hands_plans import BRANCHES, gated, opaque
from hands_plans import PIECES as DEEDS
from hands_points import looking, points_in
from hands_scene import (
    assert_each_before_or_after,
    assert_nothing_over_began_again,
    differences,
    outcome_of,
    sound,
    start_of,
    tree_of,
    user_of,
)
from hands_victim import notes

ROOT, *OTHERS = unprivileged.users()
PIECES = {**DEEDS, **BRANCHES}
WAYS = [(piece, way, ROOT) for piece in PIECES for way in ("do", "undo")]
WAYS += [(piece, "do", user) for piece in PIECES for user in OTHERS]
FLOOR = {"do": 90, "undo": 20}
"""Calls that write, at the least; else they are not looked at."""
FEW = 2
"""Kills for each way, where there is no time for more."""


def whole(place, piece, way):
    """All points of a life that nobody ends, and what comes of it."""
    place.plan = gated(PIECES[piece])
    assert way == "do" or place.live()
    assert place.live(way, trace=looking(place.place / "log"))
    assert place.end().failure is None, place.end()
    points = points_in(place.place / "log")
    assert {each.thread for each in points} <= {"MainThread", "asyncio_0", "perdure-journal", "perdure-tool"}
    return points, outcome_of(place) if way == "do" else None


@pytest.mark.campaign("a kill at each system call of an engine with hands", "I1 I2 I3 I9", of="kills")
@pytest.mark.parametrize(("piece", "way", "user"), WAYS)
def test_killed_at_any_system_call_it_comes_to_the_same_end(piece, way, scene, strace, trials):
    points, wanted = whole(scene(), piece, way)
    assert len(points) >= FLOOR[way]
    kills = 0
    for point in trials.among(points, len(points) if trials.is_quick else FEW):
        kills += killed_at(point, scene(), gated(PIECES[piece]), way, wanted)
        if trials.is_quick and kills == FEW:
            return
    often = kills >= trials.tried * 0.7
    assert often or not trials.are_all, "how often a journal is written is not the same each time"


def killed_at(point, place, plan, way, wanted):
    place.plan = plan
    assert way == "do" or place.live()
    done = tree_of(place.shop)
    killed = not place.live(way, trace=point.trace(place.place / "log", signal="KILL"))
    assert_each_before_or_after(tree_of(place.shop), place.start["tree"], wanted["tree"] if wanted else done)
    assert place.live(way), "the next one comes to the end"
    assert not [each for each in place.facts() if each.type == "question_asked"], f"{point}: nothing is in doubt"
    if way == "do":
        assert place.end().status == "succeeded"
        assert differences(outcome_of(place), wanted) == {}, point
        assert differences(user_of(place.shop), place.start) == {}, point
        assert_nothing_over_began_again(place.facts())
        assert place.live("undo")
    assert (place.end().status, place.end().failure) == ("rolled_back", None), point
    assert differences(start_of(place.shop), place.start) == {}, point
    sound(place.shop)
    place.remove()
    return killed


@pytest.mark.campaign("a kill at each system call of a deed nobody can look up", "I3 I4", of="kills")
@pytest.mark.parametrize(("step", "sign"), [("pay", "paid"), ("letter", "POST /letter"), ("book", "tools/call")])
def test_what_nobody_can_find_out_about_is_always_asked(step, sign, scene, strace, trials):
    """R5: killed anywhere in an opaque deed, it is asked about if it was begun; and never done twice."""
    place, log = letting(scene(), step), "log"
    assert place.live(trace=looking(place.place / log))
    points = [each for each in points_in(place.place / log, sent=True) if each.thread != "perdure-journal"]
    it = next(n for n, each in enumerate(points) if sign in each.what)
    few = points[it : it + FEW] if trials.is_quick else trials.among(points, FEW)
    asked = [asked_about(point, letting(scene(), step), step) for point in few]
    assert any(asked) or not trials.is_quick


def letting(place, step):
    place.plan = gated(opaque(step, place.post.port))
    return place


def asked_about(point, place, step):
    place.live(trace=point.trace(place.place / "log", signal="KILL"))
    begun = {each.type for each in place.facts() if getattr(each, "step", "") == step}
    in_doubt = "attempt_started" in begun and "attempt_ended" not in begun
    assert place.live("try")
    questions = [each for each in place.facts() if each.type == "question_asked" and each.about == "doubt"]
    assert [each.step for each in questions] == [step] * in_doubt, point
    assert place.live()
    assert place.end().status == "succeeded"
    assert [each[1] for each in notes(place.world)] == [step], point
    assert_nothing_over_began_again(place.facts())
    place.remove()
    return in_doubt
