"""Disks that are full, broken or read-only under an engine with hands: a clear word, nothing half done, and it goes on
after repair, or is taken back (R11)."""

import random
import re

import pytest
from hands_plans import PIECES, gated
from hands_points import looking, points_in
from hands_scene import differences, outcome_of, sound, start_of, user_of
from small_disks import small_disks

ERRORS = {"ENOSPC": "No space left on device", "EIO": "Input/output error", "EROFS": "Read-only file system"}
DISKS = ("shop", "runs.db.hands")
"""The workspace, and the engine's own place."""
_ON_DISK = re.compile(r"/(shop|runs\.db\.hands)\b")


@pytest.fixture(scope="module")
def wholes():
    return {}


@pytest.fixture
def whole(scene, wholes, strace):
    """What comes of a piece where nothing fails, and the points on the way there that are on one of the two disks."""

    def look(piece, way="do"):
        if (piece, way) not in wholes:
            place = staged(scene(), piece)
            assert way == "do" or place.live()
            assert place.live(way, trace=looking(place.place / "log"))
            points = [each for each in points_in(place.place / "log") if _ON_DISK.search(each.what)]
            wholes[piece, way] = outcome_of(place), points
        return wholes[piece, way]

    return look


def staged(place, piece):
    """One try at each step: what a disk says is to be seen, not what comes of trying again."""
    plan = gated(PIECES[piece])
    place.plan = plan | {"steps": [step | {"retry": {"attempts": 1}} for step in plan["steps"]]}
    return place


@pytest.mark.campaign("system calls that fail under hands (full, broken, read-only)", "I1 I9 I10", of="failing calls")
@pytest.mark.parametrize("piece", PIECES)
def test_a_call_that_fails_leaves_all_or_nothing(piece, scene, whole, trials):
    wanted, points = whole(piece)
    for point in trials.among(points, 1):
        draw = random.Random(f"{piece} {trials.seed}")
        error, place = draw.choice([*ERRORS]), staged(scene(), piece)
        assert place.live("try", trace=point.trace(place.place / "log", error=error)), "the engine lives on"
        assert_told(place, wanted, ERRORS[error])
        assert_goes_on_or_back(place, wanted, draw)
        place.remove()


@pytest.mark.campaign("system calls that fail while work is taken back", "R6 I9 I10", of="failing calls")
@pytest.mark.parametrize("piece", PIECES)
def test_a_call_that_fails_on_the_way_back_is_not_the_end(piece, scene, whole, trials):
    """What could not be taken back is told, and can be taken back after repair."""
    _, points = whole(piece, "undo")
    for point in trials.among(points, 1):
        draw = random.Random(f"{piece} {trials.seed}")
        place = staged(scene(), piece)
        assert place.live()
        assert place.live("undo", trace=point.trace(place.place / "log", error=draw.choice([*ERRORS])))
        if place.end().failure is not None:
            assert place.live("undo anew")
        assert_back(place)
        place.remove()


@pytest.mark.campaign("disks that fill up under hands", "I1 I9 I10", of="full disks")
@pytest.mark.parametrize("piece", PIECES)
def test_a_disk_that_fills_up_leaves_all_or_nothing(piece, scene, whole, trials):
    """Pages or names run out somewhere on the way, and stay out until somebody mends it."""
    wanted, _ = whole(piece)
    for seed in trials(1):
        draw = random.Random(f"{piece} {seed}")
        with small_disks() as make:
            name = draw.choice(DISKS)
            place = staged(scene(lambda at, name=name: make(at / name)), piece)
            draw.choice([place.disk.leave, place.disk.leave_names])(draw.randrange(40))
            assert place.live("try")
            assert_told(place, wanted, ERRORS["ENOSPC"])
            place.disk.mend()
            assert_goes_on_or_back(place, wanted, draw)
        place.remove()


@pytest.mark.parametrize(("piece", "name"), [("change", "shop"), ("stage", "runs.db.hands"), ("commit", "shop")])
def test_a_disk_that_is_read_only_is_told_and_nothing_is_done(piece, name, scene, whole):
    wanted, _ = whole(piece)
    with small_disks() as make:
        place = staged(scene(lambda at: make(at / name)), piece)
        place.disk.lock()
        assert place.live("try")
        assert place.status() == "failed"
        assert_told(place, wanted, ERRORS["EROFS"])
        place.disk.mend()
        assert place.live("retry")
        assert_done(place, wanted)


# ------------------------------------------------------------------------------- what must hold


def assert_told(place, wanted, words):
    """It is done; or nothing is, and the disk is named; or somebody is asked."""
    status = place.status()
    if status == "succeeded":
        assert_done(place, wanted)
    elif status == "failed":
        failure = place.end().failure
        assert words in str(failure), failure
        assert ".perdure-" not in str(failure), "a person knows no drafts"
        assert failure.kind in ("unavailable", "logic"), failure
        assert differences(start_of(place.shop), place.start) == {}, "nothing is half done"
    else:
        [question] = [each for each in place.facts() if each.type == "question_asked"]
        assert (status, question.about) == ("waiting", "doubt")


def assert_goes_on_or_back(place, wanted, draw):
    if draw.random() < 0.5:
        assert place.live("retry")
        assert_done(place, wanted)
    assert place.live("undo")
    assert_back(place)


def assert_done(place, wanted):
    assert place.status() == "succeeded", place.end()
    now = outcome_of(place)
    assert {each: now[each] for each in ("tree", "status", "commits")} == {
        each: wanted[each] for each in ("tree", "status", "commits")
    }
    assert differences(user_of(place.shop), place.start) == {}, "that is theirs"


def assert_back(place):
    assert (place.end().status, place.end().failure) == ("rolled_back", None)
    assert differences(start_of(place.shop), place.start) == {}
    sound(place.shop)
