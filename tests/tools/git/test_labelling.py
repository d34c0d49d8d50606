"""E18: branches and tags, made and taken away and brought back."""

import pytest
from git_shop import git

MADE = [
    ("git.branch", {"name": "fresh"}),
    ("git.tag", {"name": "v2"}),
    ("git.tag", {"name": "v2", "message": "Zwei\n\n-- ü"}),
]
TAKEN = [
    ("git.branch", {"name": "older", "delete": True}),
    ("git.tag", {"name": "v1", "delete": True}),
    ("git.tag", {"name": "said", "delete": True}),
]


@pytest.mark.parametrize(("tool", "arguments"), [*MADE, *TAKEN])
def test_done_again_is_done_once_and_undone_is_as_before(tool, arguments, shop):
    shop.git("tag", "-m", "annotated", "said")
    shop.git("pack-refs", "--all")
    before = shop.theirs()
    output = shop.do(tool, key="k", **arguments)
    after = shop.refs()
    assert after != before["refs"]
    assert shop.do(tool, key="k", **arguments) == output
    assert shop.refs() == after
    for _ in range(2):
        assert shop.undo(tool, output, **arguments).failure is None
        assert shop.theirs() == before


def test_a_tag_with_a_message_is_an_object_of_its_own(shop):
    output = shop.do("git.tag", name="v2", target="older", message="Zwei")
    assert git(shop.root, "cat-file", "-t", "v2") == "tag"
    assert output["commit"] == shop.git("rev-parse", "v2^{commit}") == shop.git("rev-parse", "older")


def test_what_is_there_already_is_not_moved(shop):
    for tool, name in (("git.branch", "older"), ("git.tag", "v1")):
        failure = shop.fail(tool, name=name)
        assert (failure.kind, failure.detail["code"]) == ("unmet", "PRD5206")
    assert shop.fail("git.branch", name="nowhere", delete=True).detail["code"] == "PRD5205"
    assert shop.fail("git.branch", name="main", delete=True).detail["code"] == "PRD5206"


def test_what_was_deleted_outlives_garbage_collection(shop):
    shop.git("checkout", "-q", "-b", "lonely")
    shop.write("only.txt", "here")
    shop.git("add", ".")
    shop.git("commit", "-qm", "only here")
    commit = shop.git("rev-parse", "HEAD")
    shop.git("checkout", "-q", "main")
    output = shop.do("git.branch", name="lonely", delete=True)
    shop.git("reflog", "expire", "--expire=now", "--all")
    shop.git("gc", "-q", "--prune=now")
    assert shop.undo("git.branch", output, name="lonely", delete=True).failure is None
    assert shop.git("rev-parse", "lonely") == commit


def test_undo_is_refused_where_somebody_else_was(shop):
    made = shop.do("git.branch", name="fresh")
    shop.git("update-ref", "refs/heads/fresh", "older")
    refused = shop.undo("git.branch", made, name="fresh")
    assert refused.failure.detail["code"] == "PRD5204"
    gone = shop.do("git.branch", name="older", delete=True)
    shop.git("branch", "older", "main")
    assert shop.undo("git.branch", gone, name="older", delete=True).failure.detail["code"] == "PRD5204"
    assert shop.git("rev-parse", "older") == shop.git("rev-parse", "main")
