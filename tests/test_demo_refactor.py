"""E22: the refactoring of the demo is honest: real changes, one caller forgotten, and a repair that is all it needs."""

import itertools
import subprocess
from collections import Counter

import demo
import pytest
from changes_world import context_of, hands_at
from demo import CHANGES, FIX, REFACTOR

from perdure.tools.builtin.files import Edit, edit
from perdure.tools.builtin.files import write as write_file
from perdure.tools.changes.merging import merged

SHARED = "README.md"


@pytest.fixture(scope="module")
def first_round():
    return demo.changed(demo.files(), *CHANGES.values())


def test_each_change_says_what_it_touches_and_why():
    for change in [*CHANGES.values(), FIX]:
        named = {each["path"] for each in [*change.get("write", []), *change["edits"]]}
        assert named == set(change["files"]), change["id"]
        assert change["title"]
        assert change["why"]


def test_changes_share_one_file_alone():
    counts = Counter(name for change in CHANGES.values() for name in change["files"])
    assert {name for name, count in counts.items() if count > 1} == {SHARED}
    assert 4 <= len(CHANGES) <= 6
    assert sum(name.startswith("till/") for name in counts) >= 7
    assert sum(name.startswith("tests/") for name in counts) >= 3


def test_nobody_thought_of_the_one_that_is_mended():
    assert not set(FIX["files"]) & {name for change in CHANGES.values() for name in change["files"]}


def test_the_order_of_the_changes_does_not_matter(first_round):
    for order in itertools.permutations(CHANGES.values()):
        assert demo.changed(demo.files(), *order) == first_round


def test_exactly_the_forgotten_callers_tests_fail(first_round, tmp_path):
    before, failed = demo.tested(demo.write(tmp_path / "before", demo.files()))
    assert failed == []
    after, failed = demo.tested(demo.write(tmp_path / "after", first_round))
    assert failed == REFACTOR["fails"]
    assert {name.split(".")[1] for name in failed} == {"test_reports"}
    assert after > before, "there are tests of what is new"


def test_with_the_repair_all_tests_pass(first_round, tmp_path):
    mended = demo.changed(first_round, FIX)
    assert demo.tested(demo.write(tmp_path, mended))[1] == []
    assert [name for name, text in mended.items() if name.startswith("till/") and "float" in text] == []


def test_without_one_of_the_changes_more_is_broken(tmp_path):
    """Each of them is needed: none is there to look like work."""
    for left_out in CHANGES:
        others = [change for name, change in CHANGES.items() if name != left_out]
        place = demo.write(tmp_path / left_out, demo.changed(demo.files(), *others, FIX))
        assert demo.tested(place)[1], left_out


def test_the_shared_file_is_merged_line_by_line(first_round, tmp_path):
    base = demo.files()[SHARED]
    ours, theirs = (demo.changed(demo.files(), c)[SHARED] for c in CHANGES.values() if SHARED in c["files"])
    for name, text in {"ours": ours, "base": base, "theirs": theirs}.items():
        (tmp_path / name).write_text(text)
    done = subprocess.run(
        ["/usr/bin/git", "merge-file", "-p", "ours", "base", "theirs"], cwd=tmp_path, capture_output=True, check=True
    )
    assert done.stdout.decode() == first_round[SHARED]
    assert merged(base.encode(), ours.encode(), theirs.encode()) == first_round[SHARED]


def test_the_tools_make_the_same_of_it(first_round, tmp_path):
    hands = hands_at(tmp_path)
    demo.write(hands.workspace, demo.files())
    for change in [*CHANGES.values(), FIX]:
        for number, new in enumerate(change.get("write", [])):
            write_file(**new, must="create", context=context_of(hands, f"{change['id']} {number}"))
        edit([Edit(**each) for each in change["edits"]], context=context_of(hands, change["id"]))
    found = {str(p.relative_to(hands.workspace)): p.read_text() for p in hands.workspace.rglob("*") if p.is_file()}
    assert found == demo.changed(first_round, FIX)
