"""A change set that git itself has drawn up, applied to a real repository with faults and kills at every point: in the
end the tree is the wanted one to the bit, or after a rollback the one it was."""

import random

import pytest
from git_shop import git
from hands_plans import call, gated
from hands_points import looking, points_in
from hands_scene import assert_each_before_or_after, differences, sound, start_of, tree_of
from history_by_lot import history_by_lot

DEEDS = ({"signal": "KILL"}, {"signal": "KILL"}, {"error": "ENOSPC"}, {"error": "EIO"}, {"error": "EROFS"})
SEED = 5


@pytest.fixture
def change(scene, tmp_path, strace):
    """A way to make a place that is to be changed, and what it is to become."""
    start, patch, wanted = history_by_lot(tmp_path / "history", random.Random(SEED))

    def make():
        place = scene(origin=start)
        place.plan = gated([call("change", "files.patch", patch=patch)])
        return place

    return make, wanted


@pytest.mark.campaign("faults and kills at each system call of a large change", "R6 I9", of="faults")
def test_whatever_fails_and_wherever_it_is_killed_the_tree_is_the_wanted_one_or_the_one_it_was(change, trials):
    make, wanted = change
    place = make()
    assert clean(place.shop, place.shop)
    assert place.live(trace=looking(place.place / "log"))
    assert_wanted(place, wanted)
    points = points_in(place.place / "log")
    assert len(points) > 200
    for point in trials.among(points, 4):
        draw = random.Random(f"{SEED} {trials.seed}")
        ends_well(point, draw.choice(DEEDS), make(), wanted, on=draw.random() < 0.5)


def ends_well(point, deed, place, wanted, *, on):
    """With a fault at a point, and then to the end, or back to the start."""
    place.live("try", trace=point.trace(place.place / "log", **deed))
    assert_each_before_or_after(tree_of(place.shop), place.start["tree"], tree_of(wanted))
    if place.status() == "failed":
        assert differences(start_of(place.shop), place.start) == {}, (point, deed)
    if on:
        assert place.live("retry")
        assert_wanted(place, wanted)
    assert place.live("undo")
    assert (place.end().status, place.end().failure) == ("rolled_back", None), (point, deed)
    assert differences(start_of(place.shop), place.start) == {}, (point, deed)
    assert clean(place.shop, place.shop), (point, deed)
    sound(place.shop)
    place.remove()


def assert_wanted(place, wanted):
    assert place.status() == "succeeded", place.end()
    assert tree_of(place.shop) == tree_of(wanted)
    assert clean(place.shop, wanted), "git sees no difference either"


def clean(tree, repository):
    """Whether git finds nothing to say of a tree: nothing changed, nothing new, nothing ignored."""
    words = ("status", "--porcelain", "--ignored", "--untracked-files=all")
    return not git(tree, f"--git-dir={repository}/.git", f"--work-tree={tree}", "--no-optional-locks", *words)
