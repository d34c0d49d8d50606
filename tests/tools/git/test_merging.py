"""E18: merges without a working tree."""

import pytest


@pytest.fixture
def sides(shop):
    """Two branches that went apart at v1."""
    for name, text in (("left", "a = 'left'\n"), ("right", "a = 'right'\n")):
        shop.git("checkout", "-q", "-b", name, "v1")
        shop.write("src/a.py", text)
        shop.write(f"{name}.txt", name)
        shop.git("add", ".")
        shop.git("commit", "-qm", name)
    shop.git("checkout", "-q", "main")
    return shop


def test_forward_where_that_is_enough(shop):
    output = shop.do("git.merge", source="main", into="older")
    assert (output["how"], output["commit"]) == ("forward", shop.git("rev-parse", "main"))
    assert shop.do("git.merge", source="v1", into="older")["how"] == "nothing to do"


def test_both_sides_are_in_a_merge(sides):
    sides.git("checkout", "-q", "-b", "third", "v1")
    sides.write("src/b.py", "b = 3\n")
    sides.git("commit", "-qam", "third")
    sides.git("checkout", "-q", "main")
    before = sides.theirs()
    output = sides.do("git.merge", key="k", source="third", into="left", message="Together")
    assert output["how"] == "merge"
    assert sides.git("log", "-1", "--format=%P %s", "left") == f"{output['before']} {output['source']} Together"
    assert sides.git("show", "left:src/b.py") == "b = 3"
    assert sides.do("git.merge", key="k", source="third", into="left", message="Together") == output
    assert sides.undo("git.merge", output, source="third", into="left").failure is None
    assert sides.theirs() == before


def test_conflicts_are_told_and_nothing_is_merged(sides):
    before = sides.theirs()
    failure = sides.fail("git.merge", source="right", into="left")
    assert failure.kind == "unmet"
    [conflict] = failure.detail["conflicts"]
    assert conflict["path"] == "src/a.py"
    assert sides.git("cat-file", "blob", conflict["ours"]) == "a = 'left'"
    assert sides.git("cat-file", "blob", conflict["theirs"]) == "a = 'right'"
    assert "<<<<<<<" in conflict["text"]
    assert sides.theirs() == before


def test_a_file_that_one_side_took_away_is_a_conflict(sides):
    sides.git("checkout", "-q", "-b", "gone", "v1")
    sides.git("rm", "-q", "src/a.py")
    sides.git("commit", "-qm", "gone")
    sides.git("checkout", "-q", "main")
    [conflict] = sides.fail("git.merge", source="left", into="gone").detail["conflicts"]
    assert (conflict["path"], "ours" in conflict, "theirs" in conflict) == ("src/a.py", False, True)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"source": "left", "into": "main"}, "PRD5206"),
        ({"source": "left", "into": "nowhere"}, "PRD5205"),
        ({"source": "nothing", "into": "right"}, "PRD5205"),
    ],
)
def test_what_cannot_be_merged(arguments, code, sides):
    assert sides.fail("git.merge", **arguments).detail["code"] == code


def test_strangers_have_nothing_to_merge_by(shop):
    stranger = shop.git("commit-tree", "-m", "stranger", "HEAD^{tree}")
    assert "in common" in shop.fail("git.merge", source=stranger, into="older").message
